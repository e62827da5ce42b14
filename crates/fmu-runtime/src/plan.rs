//! The text that says what an FMU is: one line each for model, part, parameters, capabilities and variables.
//!
//! ```text
//! costep-fmu 1
//! token {d2a0...}
//! model dual-mass
//! part 0
//! set m1 10
//! can directional-derivatives
//! input 1 0
//! state 2 0
//! ```
//!
//! A line of a variable is its role, its value reference, and its place among the variables of that role.

use std::fmt::{self, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use costep_core::{Code, Error, LocalModel, Result};
use costep_integrate::{Ode, Stepper};
use costep_models::{ModelEntry, Parameters};

use crate::test_systems;

/// Name of the file among the resources.
pub const PLAN_FILE: &str = "costep-fmu.txt";
const HEADER: &str = "costep-fmu 1";
/// Value references beyond this are damage.
const MAX_REFERENCE: u32 = 1 << 24;
const UNUSED: u32 = u32::MAX;

/// What a variable is. The values of an instance are stored in this order: each can be computed from those before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// A parameter of the model.
    Parameter,
    /// An input of the part.
    Input,
    /// A state.
    State,
    /// The independent variable.
    Time,
    /// An output that is not a state.
    Output,
    /// The derivative of a state.
    Derivative,
}

const ROLES: [(Role, &str); 6] = [
    (Role::Parameter, "parameter"),
    (Role::Input, "input"),
    (Role::State, "state"),
    (Role::Time, "time"),
    (Role::Output, "output"),
    (Role::Derivative, "derivative"),
];

/// What an FMU can do beyond plain steps; each can be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// Directional and (FMI 3) adjoint derivatives.
    DirectionalDerivatives,
    /// Get, set and serialise the state.
    State,
    /// Input derivatives (FMI 2).
    InputDerivatives,
    /// Intermediate update (FMI 3).
    Intermediate,
    /// Communication steps of any length. Without it the first one decides.
    VariableStep,
}

impl Capability {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::DirectionalDerivatives,
        Self::State,
        Self::InputDerivatives,
        Self::Intermediate,
        Self::VariableStep,
    ];

    /// Its name as users write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::DirectionalDerivatives => "directional-derivatives",
            Self::State => "state",
            Self::InputDerivatives => "input-derivatives",
            Self::Intermediate => "intermediate",
            Self::VariableStep => "variable-step",
        }
    }
}

/// What an FMU is.
pub struct Plan {
    /// GUID or instantiation token.
    pub token: String,
    /// The model.
    pub model: &'static ModelEntry,
    /// Which of its parts, counted from 0.
    pub part: usize,
    /// Values of all parameters of the model, in its order.
    pub parameters: Vec<f64>,
    /// What it can do.
    pub capabilities: Vec<Capability>,
    /// Role, value reference, place.
    pub variables: Vec<(Role, u32, usize)>,
    /// Where the values of a variable are, by value reference.
    slots: Vec<u32>,
    /// First value of each role, and the end.
    starts: [usize; 7],
}

impl Plan {
    /// A plan, checked: its part exists, and the variables are among those it has.
    pub fn new(
        token: String,
        (model, part): (&'static ModelEntry, usize),
        parameters: Vec<f64>,
        capabilities: Vec<Capability>,
        variables: Vec<(Role, u32, usize)>,
    ) -> Result<Self> {
        let mut plan = Self {
            token,
            model,
            part,
            parameters,
            capabilities,
            variables,
            slots: Vec::new(),
            starts: [0; 7],
        };
        let (built, _) = plan.build(&plan.parameters)?;
        let description = built.description();
        let (states, inputs, outputs) = (built.states(), description.inputs.len(), description.outputs.len());
        let counts = [plan.parameters.len(), inputs, states, 1, outputs, states];
        for (role, count) in counts.into_iter().enumerate() {
            plan.starts[role + 1] = plan.starts[role] + count;
        }
        let end = plan.variables.iter().map(|(_, reference, _)| *reference).max().map_or(0, |r| r + 1);
        plan.slots = vec![UNUSED; end.min(MAX_REFERENCE + 1) as usize];
        for (role, reference, place) in &plan.variables {
            let range = plan.range(*role);
            if *reference > MAX_REFERENCE || *place >= range.len() {
                return Err(damaged(&format!("variable {reference} does not exist")));
            }
            plan.slots[*reference as usize] = (range.start + place) as u32;
        }
        Ok(plan)
    }

    /// Reads the plan of the FMU with these resources.
    pub fn read(resources: &Path) -> Result<Self> {
        let path = resources.join(PLAN_FILE);
        let text = std::fs::read_to_string(&path).map_err(|error| {
            Error::new(Code::FmuFiles, "the plan of the FMU cannot be read").because(error).in_file(&path)
        })?;
        Self::parse(&text)
    }

    /// Reads a plan from its text.
    pub fn parse(text: &str) -> Result<Self> {
        let mut lines = text.lines();
        if lines.next() != Some(HEADER) {
            return Err(damaged("it has another version"));
        }
        let (mut token, mut model, mut part) = (String::new(), None, 0);
        let (mut given, mut capabilities, mut variables) = (Vec::new(), Vec::new(), Vec::new());
        for line in lines {
            let (word, rest) = line.split_once(' ').ok_or_else(|| unreadable(line))?;
            match word {
                "token" => token = rest.to_owned(),
                "model" => model = Some(test_systems::find(rest)?),
                "part" => part = rest.parse().map_err(|_| unreadable(line))?,
                "set" => {
                    let (name, value) = rest.split_once(' ').ok_or_else(|| unreadable(line))?;
                    given.push((name.to_owned(), value.parse().map_err(|_| unreadable(line))?));
                }
                "can" => {
                    let known = Capability::ALL.into_iter().find(|capability| capability.name() == rest);
                    capabilities.push(known.ok_or_else(|| unreadable(line))?);
                }
                _ => variables.push(variable(word, rest).ok_or_else(|| unreadable(line))?),
            }
        }
        let model = model.ok_or_else(|| damaged("it names no model"))?;
        let parameters = Parameters::check(model.id, model.parameters, &given)?;
        let parameters = parameters.iter().map(|(_, value)| value).collect();
        Self::new(token, (model, part), parameters, capabilities, variables)
    }

    /// The equations of the part with these values of the parameters, and what steps them.
    pub fn build(&self, parameters: &[f64]) -> Result<(Box<dyn Ode>, Box<dyn Stepper>)> {
        let given: Vec<_> = self.model.parameters.iter().zip(parameters).collect();
        let given: Vec<_> = given.iter().map(|(spec, value)| (spec.name.to_owned(), **value)).collect();
        let (_, model) = self.model.model(&given)?;
        let part = model.parts.get(self.part).ok_or_else(|| damaged("its part does not exist"))?;
        let equations = part.ode().ok_or_else(|| damaged("its part has no equations"))?;
        Ok((equations, part.stepper(&model.solver)?))
    }

    /// Whether it can do this.
    pub fn can(&self, capability: Capability) -> bool {
        self.capabilities.contains(&capability)
    }

    /// Where the values of a role are.
    #[inline]
    pub(crate) fn range(&self, role: Role) -> Range<usize> {
        self.starts[role as usize]..self.starts[role as usize + 1]
    }

    /// Number of values.
    pub(crate) fn width(&self) -> usize {
        self.starts[6]
    }

    /// Where the value of a variable is; beyond all values if there is no such variable.
    #[inline]
    pub(crate) fn slot(&self, reference: u32) -> usize {
        self.slots.get(reference as usize).map_or(UNUSED as usize, |slot| *slot as usize)
    }

    /// A local model of the size of the part.
    pub(crate) fn local_model(&self) -> LocalModel {
        let count = |role| self.range(role).len();
        LocalModel::new(count(Role::State), count(Role::Input), count(Role::Output))
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text =
            format!("{HEADER}\ntoken {}\nmodel {}\npart {}\n", self.token, self.model.id, self.part);
        for (spec, value) in self.model.parameters.iter().zip(&self.parameters) {
            // All digits: the FMU has the very numbers of the export.
            writeln!(text, "set {} {value:e}", spec.name)?;
        }
        for capability in &self.capabilities {
            writeln!(text, "can {}", capability.name())?;
        }
        for (role, reference, place) in &self.variables {
            writeln!(text, "{} {reference} {place}", ROLES[*role as usize].1)?;
        }
        f.write_str(&text)
    }
}

/// The folder that a URI of FMI 2 means; None for one of another kind.
pub fn folder_of_uri(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file:")?;
    let rest = rest.strip_prefix("//").unwrap_or(rest);
    let rest = if cfg!(windows) { rest.trim_start_matches('/') } else { rest };
    let mut bytes = Vec::with_capacity(rest.len());
    let mut from = rest.bytes();
    while let Some(byte) = from.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [from.next()?, from.next()?];
        bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
    }
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

fn variable(word: &str, rest: &str) -> Option<(Role, u32, usize)> {
    let (role, _) = ROLES.iter().find(|(_, name)| *name == word)?;
    let (reference, place) = rest.split_once(' ')?;
    Some((*role, reference.parse().ok()?, place.parse().ok()?))
}

fn unreadable(line: &str) -> Error {
    damaged(&format!("`{line}` is not understood"))
}

fn damaged(cause: &str) -> Error {
    Error::new(Code::FmuFiles, "the plan of the FMU is damaged").because(cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_reads_back_and_damage_is_refused() {
        let model = test_systems::find("dual-mass").unwrap();
        let values: Vec<f64> = model.parameters.iter().map(|spec| spec.default / 3.0).collect();
        let variables = vec![(Role::Input, 1, 0), (Role::State, 7, 1), (Role::Time, 0, 0)];
        let plan = Plan::new("{t}".into(), (model, 0), values, vec![Capability::State], variables).unwrap();
        let text = plan.to_string();
        let back = Plan::parse(&text).unwrap();
        assert_eq!((back.to_string(), &back.parameters), (text.clone(), &plan.parameters));
        assert!(back.can(Capability::State) && !back.can(Capability::Intermediate));
        assert_eq!(back.slot(7), back.range(Role::State).start + 1);
        assert!(back.slot(3) >= back.width() && back.slot(1_000_000_000) >= back.width());
        for (right, wrong) in [
            ("model dual-mass", "model dual"),
            ("part 0", "part 9"),
            ("input 1 0", "input 1 5"),
            ("state 7 1", "state 4000000000 1"),
            ("set m1 ", "set m9 "),
            ("fmu 1", "fmu 2"),
            ("can state", "can fly"),
        ] {
            assert!(Plan::parse(&text.replace(right, wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn uris_become_paths() {
        assert_eq!(folder_of_uri("file:///tmp/a%20b/%C3%A4"), Some(PathBuf::from("/tmp/a b/ä")));
        assert_eq!(folder_of_uri("file:/tmp/a"), Some(PathBuf::from("/tmp/a")));
        assert_eq!((folder_of_uri("http://a"), folder_of_uri("file:///a%2")), (None, None));
    }
}
