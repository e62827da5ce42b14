//! Which output may feed which input of FMUs that nobody has connected yet, by their names and units.

use costep_core::{Description, Port, PortKind};
use costep_fmu_file::ModelDescription;

use crate::fmus::{find_port, start_of_port};
use crate::units::{PortUnit, Relation};

/// Outputs that are listed for an input that several of them fit.
const MOST_LISTED: usize = 6;

/// An input, and what may feed it.
pub(crate) struct Proposal {
    pub(crate) input: InputPort,
    /// One if it is clear, several if it is not, none if nothing fits.
    pub(crate) sources: Vec<SourcePort>,
    /// Why these.
    pub(crate) reason: &'static str,
    /// Whether there is no doubt that is worth a question.
    pub(crate) sure: bool,
}

pub(crate) struct InputPort {
    /// `part.port`.
    pub(crate) name: String,
    unit: Option<String>,
    pub(crate) start: Option<f64>,
}

impl InputPort {
    /// Name and unit for people.
    pub(crate) fn shown(&self) -> String {
        match &self.unit {
            Some(unit) => format!("`{}` [{unit}]", self.name),
            None => format!("`{}`", self.name),
        }
    }
}

#[derive(Clone)]
pub(crate) struct SourcePort {
    /// `part.port`.
    pub(crate) name: String,
    /// Its unit is another one of the same kind.
    pub(crate) converted: bool,
}

/// A port with what it is compared by.
struct Candidate {
    part: usize,
    full: String,
    port: String,
    normalised: String,
    unit: Option<PortUnit>,
    kind: PortKind,
    /// Whether the unit says anything: `1` and no unit fit everything.
    telling: bool,
}

/// Why an output may feed an input, the best reason first.
#[derive(Clone, Copy, PartialEq)]
enum Rule {
    Name,
    Spelling,
    Unit,
}

impl Rule {
    fn fits(self, output: &Candidate, input: &Candidate) -> bool {
        match self {
            Self::Name => output.port == input.port,
            Self::Spelling => output.normalised == input.normalised,
            Self::Unit => output.telling && input.telling,
        }
    }

    fn reason(self) -> &'static str {
        match self {
            Self::Name => "the same name",
            Self::Spelling => "the same name, spelled differently",
            Self::Unit => "the same unit",
        }
    }
}

/// A proposal for every input, in the order of the FMUs.
pub(crate) fn propose(fmus: &[(Description, &ModelDescription)]) -> Vec<Proposal> {
    let outputs = candidates(fmus, |description| &description.outputs);
    let inputs = candidates(fmus, |description| &description.inputs);
    inputs.iter().map(|input| proposal(input, &inputs, &outputs, fmus)).collect()
}

fn candidates(
    fmus: &[(Description, &ModelDescription)],
    ports: impl Fn(&Description) -> &[Port],
) -> Vec<Candidate> {
    let mut all = Vec::new();
    for (part, (description, fmu)) in fmus.iter().enumerate() {
        for port in ports(description) {
            let unit = find_port(fmu, &port.name).and_then(|(at, _)| PortUnit::of(fmu, &fmu.variables()[at]));
            all.push(Candidate {
                part,
                full: format!("{}.{}", description.name, port.name),
                normalised: normalised(&port.name),
                port: port.name.clone(),
                telling: unit.as_ref().is_some_and(|unit| !matches!(unit.name(), "" | "1" | "-")),
                kind: port.kind,
                unit,
            });
        }
    }
    all
}

/// A name without case, separators and the words that tell inputs from outputs.
fn normalised(name: &str) -> String {
    let words = name.to_lowercase();
    let words = words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let kept: Vec<&str> =
        words.filter(|word| !matches!(*word, "in" | "out" | "input" | "output" | "u" | "y")).collect();
    if kept.is_empty() { name.to_lowercase() } else { kept.concat() }
}

fn relation(output: &Candidate, input: &Candidate) -> Relation {
    match (&output.unit, &input.unit) {
        (Some(from), Some(to)) => from.relation(to),
        _ => Relation::Same,
    }
}

fn proposal(
    input: &Candidate,
    inputs: &[Candidate],
    outputs: &[Candidate],
    fmus: &[(Description, &ModelDescription)],
) -> Proposal {
    let fits = |output: &&Candidate| {
        output.part != input.part
            && output.kind.feeds(input.kind)
            && matches!(relation(output, input), Relation::Same | Relation::Converted(_))
    };
    let (_, fmu) = &fmus[input.part];
    let port = InputPort {
        name: input.full.clone(),
        unit: input.unit.as_ref().map(|unit| unit.name().to_owned()),
        start: start_of_port(fmu, &input.port, &[]),
    };
    for rule in [Rule::Name, Rule::Spelling, Rule::Unit] {
        let found: Vec<&Candidate> =
            outputs.iter().filter(fits).filter(|output| rule.fits(output, input)).collect();
        let Some(first) = found.first() else { continue };
        // A unit alone is clear only if no other input could be meant.
        let rivals = inputs.iter().filter(|other| other.part != first.part && other.telling);
        let alone =
            rivals.filter(|other| matches!(relation(first, other), Relation::Same | Relation::Converted(_)));
        let by_unit = rule == Rule::Unit;
        let sure = found.len() == 1 && (!by_unit || alone.count() == 1);
        let source = |output: &&Candidate| SourcePort {
            name: output.full.clone(),
            converted: matches!(relation(output, input), Relation::Converted(_)),
        };
        let sources = found.iter().take(MOST_LISTED).map(source).collect();
        return Proposal { input: port, sources, reason: rule.reason(), sure };
    }
    Proposal { input: port, sources: Vec::new(), reason: "nothing fits", sure: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_does_not_matter() {
        assert_eq!(normalised("in_Torque.Load"), normalised("torque load"));
        assert_eq!(normalised("u"), "u");
        assert_ne!(normalised("x1"), normalised("x2"));
    }
}
