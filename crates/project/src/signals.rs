//! The names of all inputs and outputs, `part.port`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use costep_core::pattern::matches;
use costep_core::{Code, Description, Error, Port, PortKind};
use costep_fmu_file::{Causality, TypeDefinition, Variable, VariableType};
use costep_models::ParameterSpec;

use crate::document::Origin;
use crate::fmus::{self, FmuFile, find_port};
use crate::problems::{Problems, shortened, suggest, suggested};
use crate::units::PortUnit;

/// Signals beyond this number are not looked through for one that may be meant.
const MOST_COMPARED: usize = 10_000;

/// Splits `part.port`. Names of parts have no dot, names of ports may.
pub fn split_signal(text: &str) -> Option<(&str, &str)> {
    text.split_once('.').filter(|(part, port)| !part.is_empty() && !port.is_empty())
}

/// Which way a signal goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Input,
    Output,
}

impl Side {
    fn word(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Output => "output",
        }
    }

    fn other(self) -> Self {
        match self {
            Self::Input => Self::Output,
            Self::Output => Self::Input,
        }
    }
}

/// The names of one side.
#[derive(Default)]
struct Names {
    names: Vec<String>,
    units: Vec<Option<PortUnit>>,
    kinds: Vec<PortKind>,
    index: HashMap<String, usize>,
}

impl Names {
    fn add(&mut self, part: &str, ports: &[Port], unit: impl Fn(&Port) -> Option<PortUnit>) {
        for port in ports {
            let name = format!("{part}.{}", port.name);
            self.index.insert(name.clone(), self.names.len());
            self.names.push(name);
            self.units.push(unit(port));
            self.kinds.push(port.kind);
        }
    }
}

/// All inputs and outputs of a system, in the order of the stacked vectors.
#[derive(Default)]
pub(crate) struct Signals {
    inputs: Names,
    outputs: Names,
    parts: Vec<String>,
    /// Components that could not be built: nobody knows which ports they have.
    broken: HashSet<String>,
    /// The whole model could not be built.
    all_broken: bool,
    /// Inputs and outputs of FMUs that cannot be connected, and why.
    unsuitable: HashMap<String, String>,
    /// FMUs by their names, for their other variables.
    fmus: HashMap<String, Arc<FmuFile>>,
    /// Parameters of native parts.
    parameters: HashMap<String, &'static [ParameterSpec]>,
}

const PARAMETER: &str = "a parameter";

/// What a variable is that is neither input nor output.
fn kind_word(causality: Causality) -> &'static str {
    match causality {
        Causality::Parameter | Causality::CalculatedParameter | Causality::StructuralParameter => PARAMETER,
        Causality::Independent => "the time",
        _ => "a local variable",
    }
}

/// Why a variable of an FMU is not a port.
fn unsuitable(variable: &Variable) -> String {
    if !variable.clocks.is_empty() || variable.kind == VariableType::Clock {
        return "clocks and what belongs to them cannot be connected".into();
    }
    if variable.is_array() {
        let name = &variable.name;
        return format!("it is an array: name an element, as in `{name}[1]`");
    }
    format!("signals of type {} cannot be exchanged", variable.kind)
}

impl Signals {
    pub(crate) fn new<'a>(descriptions: impl IntoIterator<Item = &'a Description>) -> Self {
        let mut signals = Self::default();
        for description in descriptions {
            signals.add_native(description);
        }
        signals
    }

    /// Adds a part whose equations are written here.
    pub(crate) fn add_native(&mut self, description: &Description) {
        self.add(description, |port| port.unit.as_deref().map(PortUnit::native));
    }

    /// Adds an FMU.
    pub(crate) fn add_fmu(&mut self, description: &Description, file: &Arc<FmuFile>) {
        let fmu = &file.description;
        self.fmus.insert(description.name.clone(), Arc::clone(file));
        self.add(description, |port| PortUnit::of(fmu, &fmu.variables()[find_port(fmu, &port.name)?.0]));
        for variable in fmu.variables() {
            let side = match variable.causality {
                Causality::Input => Side::Input,
                Causality::Output => Side::Output,
                _ => continue,
            };
            let name = format!("{}.{}", description.name, variable.name);
            if !self.side(side).index.contains_key(&name) {
                self.unsuitable.insert(name, unsuitable(variable));
            }
        }
    }

    fn add(&mut self, description: &Description, unit: impl Fn(&Port) -> Option<PortUnit>) {
        self.inputs.add(&description.name, &description.inputs, &unit);
        self.outputs.add(&description.name, &description.outputs, &unit);
        self.parts.push(description.name.clone());
    }

    /// Remembers the parameters of a native part, for messages.
    pub(crate) fn add_parameters(&mut self, part: &str, parameters: &'static [ParameterSpec]) {
        self.parameters.insert(part.into(), parameters);
    }

    /// Says which parts are missing because of mistakes reported elsewhere.
    pub(crate) fn with_broken(self, broken: HashSet<String>, all_broken: bool) -> Self {
        Self { broken, all_broken, ..self }
    }

    /// Names of all signals of a side.
    pub(crate) fn names(&self, side: Side) -> &[String] {
        &self.side(side).names
    }

    /// Names of all parts that could be built.
    pub(crate) fn parts(&self) -> &[String] {
        &self.parts
    }

    /// Whether something is missing because of mistakes reported elsewhere.
    pub(crate) fn incomplete(&self) -> bool {
        self.all_broken || !self.broken.is_empty()
    }

    /// Whether a part of this name may exist although it could not be built.
    pub(crate) fn may_be_part(&self, name: &str) -> bool {
        self.all_broken || self.broken.contains(name)
    }

    /// The unit of a signal.
    pub(crate) fn unit(&self, side: Side, index: usize) -> Option<&PortUnit> {
        self.side(side).units.get(index)?.as_ref()
    }

    /// What the values of a signal are.
    pub(crate) fn kind(&self, side: Side, index: usize) -> PortKind {
        self.side(side).kinds.get(index).copied().unwrap_or_default()
    }

    /// The index of a signal, if there is one of this name.
    pub(crate) fn index(&self, side: Side, name: &str) -> Option<usize> {
        self.side(side).index.get(name).copied()
    }

    /// The index of a signal. A name that does not exist is reported; then the nearest name of an existing
    /// signal is given back as a guess.
    pub(crate) fn find(
        &self,
        side: Side,
        name: &str,
        origin: Origin,
        problems: &mut Problems<'_>,
    ) -> Result<usize, Option<usize>> {
        if let Some(index) = self.side(side).index.get(name) {
            return Ok(*index);
        }
        if split_signal(name).is_some_and(|(part, _)| self.may_be_part(part)) || self.all_broken {
            return Err(None);
        }
        if problems.is_full() {
            problems.report(origin, || self.unknown(side, name));
            return Err(None);
        }
        let error = self.unknown(side, name);
        let guess = suggested(&error).and_then(|guess| self.side(side).index.get(guess)).copied();
        problems.report(origin, || error);
        Err(guess)
    }

    /// An output or input of this name; one that does not exist is reported.
    pub(crate) fn find_port(
        &self,
        name: &str,
        origin: Origin,
        problems: &mut Problems<'_>,
    ) -> Option<(Side, usize)> {
        let on = |side| self.side(side).index.get(name).map(|index| (side, *index));
        let found = on(Side::Output).or_else(|| on(Side::Input));
        let is_broken = split_signal(name).is_some_and(|(part, _)| self.may_be_part(part)) || self.all_broken;
        if found.is_none() && !is_broken {
            problems.report(origin, || {
                let error = Error::new(Code::UnknownPort, format!("unknown port `{}`", shortened(name)));
                let found = [Side::Output, Side::Input]
                    .into_iter()
                    .find_map(|side| self.of_some_part(error.clone(), side, name));
                if let Some(error) = found {
                    return error;
                }
                let names = self.outputs.names.iter().chain(&self.inputs.names).map(String::as_str);
                self.or_ports_of_part(suggest(error, name, names), Side::Output, name)
            });
        }
        found
    }

    /// The indices of all signals that fit a pattern; one that fits none is reported.
    pub(crate) fn matching(
        &self,
        side: Side,
        pattern: &str,
        origin: Origin,
        problems: &mut Problems<'_>,
    ) -> Vec<usize> {
        if let Some(index) = self.side(side).index.get(pattern) {
            return vec![*index];
        }
        if !pattern.contains('*') {
            return self.find(side, pattern, origin, problems).into_iter().collect();
        }
        let names = self.names(side);
        let found: Vec<_> = (0..names.len()).filter(|i| matches(pattern, &names[*i])).collect();
        if found.is_empty() && !self.incomplete() {
            problems.report(origin, || self.no_match(side, pattern));
        }
        found
    }

    /// Whether any signal, input or output, fits a pattern; if none does, it is reported.
    pub(crate) fn check_recorded(&self, pattern: &str, origin: Origin, problems: &mut Problems<'_>) {
        let fits = |side| {
            self.side(side).index.contains_key(pattern)
                || (pattern.contains('*') && self.names(side).iter().any(|name| matches(pattern, name)))
        };
        if !fits(Side::Output) && !fits(Side::Input) && !self.incomplete() {
            problems.report(origin, || self.no_match(Side::Output, pattern));
        }
    }

    fn no_match(&self, side: Side, pattern: &str) -> Error {
        let message = match pattern.contains('*') {
            true => format!("no {} fits `{}`", side.word(), shortened(pattern)),
            false => format!("unknown port `{}`", shortened(pattern)),
        };
        let error = Error::new(Code::UnknownPort, message);
        if let Some(error) = self.of_some_part(error.clone(), side, pattern) {
            return error;
        }
        let whole_parts: Vec<_> = self.parts.iter().map(|part| format!("{part}.*")).collect();
        let names = self.names(side).iter().chain(&whole_parts).map(String::as_str);
        self.or_ports_of_part(suggest(error, pattern, names), side, pattern)
    }

    fn unknown(&self, side: Side, name: &str) -> Error {
        if self.side(side.other()).index.contains_key(name) {
            let (is, wanted) = (side.other().word(), side.word());
            let error = Error::new(Code::UnknownPort, format!("`{name}` is an {is}, not an {wanted}"));
            return self.or_ports_of_part(error, side, name);
        }
        if let Some(reason) = self.unsuitable.get(name) {
            return Error::new(Code::PortType, format!("`{}` cannot be connected", shortened(name)))
                .because(reason);
        }
        if let Some(error) = self.no_port(side, name) {
            return error;
        }
        let error = Error::new(Code::UnknownPort, format!("unknown {} `{}`", side.word(), shortened(name)));
        if let Some((array, elements)) = self.elements(side, name) {
            let count = elements.len();
            let error = error.because(format!("`{array}` has {count} elements, counted from 1"));
            let ends = [elements.first(), elements.last()].map(|end| end.map_or("", |end| end.as_str()));
            return error.hint(format!("`{}` to `{}`", ends[0], ends[1]));
        }
        if name.contains("->") {
            return error
                .hint("a connection has two keys: `from = \"part.output\"` and `to = \"part.input\"`");
        }
        if let Some(near) = self.of_this_port(side, name) {
            return error.hint(format!("did you mean `{near}`?"));
        }
        let error = self
            .of_some_part(error.clone(), side, name)
            .unwrap_or_else(|| suggest(error, name, self.names(side).iter().map(String::as_str)));
        self.or_ports_of_part(error, side, name)
    }

    /// The only signal that a name without its part, or with too much before or between, can mean.
    fn of_this_port(&self, side: Side, name: &str) -> Option<&str> {
        let name = name.trim();
        let last = name.rsplit('.').next()?;
        let is_meant = |known: &&String| {
            let (part, port) = split_signal(known).unwrap_or_default();
            name == port
                || name.strip_suffix(known.as_str()).is_some_and(|rest| rest.ends_with('.'))
                || port == last && name.split_once('.').is_some_and(|(first, _)| first == part)
        };
        let mut meant = self.names(side).iter().take(MOST_COMPARED).filter(is_meant);
        meant.next().filter(|_| meant.next().is_none()).map(String::as_str)
    }

    /// The error of a name without its part, with the parts that have such a port.
    fn of_some_part(&self, error: Error, side: Side, name: &str) -> Option<Error> {
        const LISTED: usize = 4;
        let is_port = |whole: &&String| split_signal(whole).is_some_and(|(_, port)| port == name);
        let found: Vec<&str> =
            self.names(side).iter().filter(is_port).take(LISTED).map(String::as_str).collect();
        match found[..] {
            [] => None,
            [only] => Some(error.hint(format!("did you mean `{only}`?"))),
            _ => Some(error.hint(format!("name its part, too: `{}`", found.join("` or `")))),
        }
    }

    /// The array that an element of this name would belong to, and the elements that it has.
    fn elements<'a>(&'a self, side: Side, name: &'a str) -> Option<(&'a str, Vec<&'a String>)> {
        let (whole, _) = name.strip_suffix(']')?.rsplit_once('[')?;
        let of_whole = |known: &&String| known.strip_prefix(whole).is_some_and(|rest| rest.starts_with('['));
        let elements: Vec<&String> = self.names(side).iter().filter(of_whole).collect();
        let (_, array) = split_signal(whole)?;
        (!elements.is_empty()).then_some((array, elements))
    }

    /// The items of the enumeration that a port takes; none of other ports.
    pub(crate) fn enumeration(&self, side: Side, index: usize) -> Option<&TypeDefinition> {
        let (part, port) = split_signal(self.names(side).get(index)?)?;
        let description = &self.fmus.get(part)?.description;
        let (variable, _) = find_port(description, port)?;
        let variable = &description.variables()[variable];
        description.types.get(variable.declared_type?).filter(|_| variable.kind == VariableType::Enumeration)
    }

    /// The error for a name of something that is neither input nor output: a parameter, a local variable.
    fn no_port(&self, side: Side, name: &str) -> Option<Error> {
        let (part, port) = split_signal(name)?;
        let (what, value, table) = match (self.fmus.get(part), self.parameters.get(part)) {
            (Some(file), _) => {
                let variable = file.description.variable(port)?;
                let start = fmus::start_of_port(&file.description, port, &[]);
                (kind_word(variable.causality), start, format!("[fmu.{part}]"))
            }
            (_, Some(parameters)) => {
                let spec = parameters.iter().find(|spec| spec.name == port)?;
                ("a parameter", Some(spec.default), format!("[native.{part}]"))
            }
            _ => return None,
        };
        let error = Error::new(Code::UnknownPort, format!("`{name}` is {what}, not an {}", side.word()));
        let value = value.unwrap_or(0.0);
        Some(match (side, what == PARAMETER) {
            (Side::Output, true) => {
                error.because("it keeps its value during a run, so that there is nothing to connect").hint(
                    format!("give the input that value: [[external]] to = \"part.port\" value = {value:?}"),
                )
            }
            (Side::Input, true) => error
                .because(match self.fmus.contains_key(part) {
                    true => "of parameters only tunable ones can be driven, and it is not",
                    false => "connections feed inputs",
                })
                .hint(format!("write `set = {{ \"{port}\" = {value:?} }}` in {table}")),
            _ => error
                .because("only outputs are exchanged")
                .hint("export the FMU with this variable as an output"),
        })
    }

    /// Lists the ports of the part if there is no better hint.
    fn or_ports_of_part(&self, error: Error, side: Side, name: &str) -> Error {
        if error.details().hint.is_some() {
            return error;
        }
        let part = split_signal(name).map_or(name, |(part, _)| part);
        let is_of_part = |name: &&String| split_signal(name).is_some_and(|(owner, _)| owner == part);
        let ports: Vec<_> = self.names(side).iter().filter(is_of_part).map(String::as_str).collect();
        match (ports.is_empty(), self.parts.iter().any(|known| known == part)) {
            (false, _) => {
                error.hint(format!("{}s of `{part}`: {}", side.word(), shortened(&ports.join(", "))))
            }
            (true, true) => error.hint(format!("`{part}` has no {}s", side.word())),
            (true, false) => {
                error.hint(format!("write `part.port`; parts: {}", shortened(&self.parts.join(", "))))
            }
        }
    }

    fn side(&self, side: Side) -> &Names {
        match side {
            Side::Input => &self.inputs,
            Side::Output => &self.outputs,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_letters() {
        for (pattern, name, fits) in [
            ("*", "s1.F", true),
            ("s1.*", "s1.F", true),
            ("s1.*", "s2.F", false),
            ("*.F", "s2.F", true),
            ("s*.*x", "s1.max", true),
            ("s*.*x", "s1.F", false),
            ("a*a", "a", false),
            ("**", "", true),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }

    #[test]
    fn signals_have_a_part_and_a_port() {
        assert_eq!(split_signal("s1.inertia.J"), Some(("s1", "inertia.J")));
        assert_eq!([split_signal("s1"), split_signal("s1."), split_signal(".F")], [None; 3]);
    }
}
