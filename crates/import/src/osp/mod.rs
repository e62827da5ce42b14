//! `OspSystemStructure.xml` of the Open Simulation Platform, as libcosim reads it.
//!
//! Functions are dissolved: what goes into a linear transformation or a sum goes to where it comes out.
//! Values are passed on without conversion of units, as libcosim does.

mod attributes;
mod groups;
pub(crate) use groups::terminals;

use std::collections::HashMap;
use std::path::Path;

use costep_core::suggest::nearest;
use costep_core::{Code, Error, Place, Result};
use costep_fmu_file::xml::{self, Element, literal};
use costep_fmu_file::{Limits, short};
use costep_ssp::{Flat, Reach, Value, number_alone};

use crate::builder::{Builder, Passage, Port, Role};
use crate::format::read_bytes;
use groups::{Group, Groups, Pairs};

const ROOT: &str = "OspSystemStructure";
const NAMESPACE: &str = "http://opensimulationplatform.com/MSMI/OSPSystemStructure";

pub(crate) fn read(path: &Path, reach: Reach) -> Result<Flat> {
    let bytes = read_bytes(path)?;
    let limits = Limits { list: 1_000_000, ..Limits::default() };
    xml::read(&bytes[..], path, &limits, |root| {
        if root.name() != ROOT {
            let place = Place::File { path: path.into(), line: Some(root.line() as usize), text: None };
            let message = format!("the root element is <{}> instead of <{ROOT}>", short(root.name()));
            return Err(Error::new(Code::SspSchema, message).at(place));
        }
        let mut reader = Reader {
            builder: Builder::new(path, "OSP", reach),
            functions: HashMap::new(),
            groups: Groups::default(),
        };
        reader.system(root);
        Ok(reader.builder.finish())
    })
}

/// What comes out of a function, and where it goes.
#[derive(Default)]
struct Function {
    factor: f64,
    offset: f64,
    /// Signals that go in, each with one value per dimension.
    inputs: Vec<Option<Vec<Port>>>,
    outputs: Vec<(Vec<Port>, u32)>,
    dimension: usize,
    /// Whether something at it could not be found, which has been said.
    is_lost: bool,
    /// Which of the functions it is.
    number: usize,
    line: u32,
}

struct Reader {
    builder: Builder,
    functions: HashMap<String, Function>,
    groups: Groups,
}

impl Reader {
    fn system(&mut self, root: &Element) {
        if root.namespace() != NAMESPACE {
            let message = format!(
                "<{ROOT}> is of the namespace `{}` instead of `{NAMESPACE}`",
                short(root.namespace())
            );
            self.builder.warning(root.line(), message);
        }
        self.builder.flat.version = root.get("version").unwrap_or_default().to_owned();
        self.check_known(root, &["version"], &SECTIONS);
        self.builder.flat.start = self.number_of(root, "StartTime");
        self.builder.flat.stop = self.number_of(root, "EndTime");
        for (name, key) in KEYS {
            root.child(name).into_iter().for_each(|node| self.builder.say_place(key, node.line()));
        }
        self.algorithm(root);
        for node in root.inside("Simulators") {
            if self.expect(&node, "Simulator") {
                self.simulator(&node);
            }
        }
        for node in root.inside("Functions") {
            self.function(&node);
        }
        for node in root.inside("Connections") {
            self.connection(&node);
        }
        self.dissolve_functions();
    }

    fn algorithm(&mut self, root: &Element) {
        let ecco = root.child("EccoConfiguration");
        let step = self.number_of(root, "BaseStepSize");
        let step = step.or_else(|| ecco.as_ref().and_then(|node| self.number_of(node, "StepSize")));
        if let Some(step) = step {
            self.builder.set_step(step);
        }
        let Some(node) = root.child("Algorithm") else { return };
        if !node.content().eq_ignore_ascii_case("fixedStep") {
            let message = format!(
                "the algorithm `{}` is not taken over: steps are of equal length unless a tolerance is given, and the coupling method is that of `--method`",
                short(node.content())
            );
            self.builder.warning(node.line(), message);
        }
        if let Some(node) = ecco {
            self.builder.unused(node.line(), "<EccoConfiguration> is not used");
        }
    }

    fn simulator(&mut self, node: &Element) {
        self.check_known(node, &["name", "source", "stepSize"], &["InitialValues"]);
        let (Some(name), Some(source)) = (self.required(node, "name"), self.required(node, "source")) else {
            return self.builder.lose_part();
        };
        self.builder.add_fmu(name, source, node.line());
        if let Some(step) = node.get("stepSize") {
            let message = format!(
                "`{}` is stepped with the others in every macro step, not every {} s as its `stepSize` says",
                short(name),
                short(step)
            );
            self.builder.warning(node.line(), message);
        }
        for initial in node.inside("InitialValues") {
            if self.expect(&initial, "InitialValue") {
                self.initial_value(name, &initial);
            }
        }
    }

    fn initial_value(&mut self, simulator: &str, node: &Element) {
        let Some(variable) = self.required(node, "variable") else { return };
        let Some(given) = node.children().next() else {
            return self.builder.error(node.line(), format!("`{}` is given no value", short(variable)));
        };
        let Some(text) = self.required(&given, "value") else { return };
        let finite = |text: &str| literal::number(text).filter(|value| value.is_finite());
        let value = match given.name() {
            "Real" => finite(text).map(|value| Value::Real(vec![value])),
            "Integer" | "Enumeration" => literal::integer(text).map(|value| Value::Integer(vec![value])),
            "Boolean" => literal::truth(text).map(|value| Value::Boolean(vec![value])),
            "String" => Some(Value::Text(vec![text.to_owned()])),
            other => {
                let message = format!(
                    "<{}> is no type of a value: write <Real>, <Integer>, <Boolean>, <String> or <Enumeration>",
                    short(other)
                );
                return self.builder.error(given.line(), message);
            }
        };
        let Some(value) = value else {
            let message = format!(
                "`{}` cannot be the value of `{}`, a <{}>{}",
                short(text),
                short(variable),
                short(given.name()),
                number_alone(text, None)
            );
            return self.builder.error(given.line(), message);
        };
        if let Some(port) = self.builder.variable(simulator, variable, Role::Start, node.line()) {
            self.builder.set(port, value, node.line());
        }
    }

    fn function(&mut self, node: &Element) {
        let Some(name) = self.required(node, "name") else { return };
        let mut function = Function { factor: 1.0, dimension: 1, line: node.line(), ..Function::default() };
        let mut inputs = 1;
        match node.name() {
            "LinearTransformation" => {
                function.factor = self.number(node, "factor").unwrap_or(1.0);
                function.offset = self.number(node, "offset").unwrap_or(0.0);
            }
            kind @ ("Sum" | "VectorSum") => {
                inputs = self.count(node, "inputCount").unwrap_or(0);
                if kind == "VectorSum" {
                    function.dimension = self.count(node, "dimension").unwrap_or(0);
                }
            }
            other => {
                let near = nearest(other, &FUNCTIONS).map(|near| format!(": did you mean <{near}>?"));
                let message =
                    format!("the function <{}> is not known{}", short(other), near.unwrap_or_default());
                return self.builder.unsupported(node.line(), message);
            }
        }
        function.inputs = vec![None; inputs];
        function.number = self.functions.len();
        if self.functions.insert(name.to_owned(), function).is_some() || self.builder.has_part(name) {
            self.builder.error(node.line(), format!("the name `{}` is there twice", short(name)));
        }
    }

    fn connection(&mut self, node: &Element) {
        let line = node.line();
        let ends: Vec<Element> = node.children().collect();
        let [a, b] = &ends[..] else {
            return self.builder.error(line, format!("<{}> has not two ends", short(node.name())));
        };
        let bond = node.get("powerBond");
        match node.name() {
            "VariableConnection" => {
                let ends = [(a, b), (b, a)].map(|(end, other)| {
                    let role = self.role_beside(other);
                    self.variable(end, role)
                });
                let [Some(a), Some(b)] = ends else { return };
                self.connect(a, b, bond, line);
            }
            "VariableGroupConnection" => {
                let [Some(a), Some(b)] = [a, b].map(|end| self.group(end)) else { return };
                self.connect_groups(&a, &b, bond, line);
            }
            "SignalConnection" | "SignalGroupConnection" => {
                let is_signal = |end: &&Element| end.name().starts_with("Signal");
                let (Some(signal), Some(variable)) =
                    (ends.iter().find(is_signal), ends.iter().find(|end| !is_signal(end)))
                else {
                    return self
                        .builder
                        .error(line, format!("<{}> needs a signal and a variable", short(node.name())));
                };
                let ports = match node.name() {
                    "SignalConnection" => {
                        // What a function gives ends at an input, what it takes comes from an output.
                        let role = match signal.get("name") {
                            Some("out") => Role::Input,
                            _ => Role::Output,
                        };
                        self.variable(variable, role).map(|port| vec![port])
                    }
                    _ => self.group(variable).and_then(|(part, group)| self.ports_of(&part, &group, line)),
                };
                match ports {
                    Some(ports) => self.connect_signal(signal, ports, line),
                    None => {
                        let function = signal.get("function").and_then(|name| self.functions.get_mut(name));
                        function.into_iter().for_each(|function| function.is_lost = true);
                    }
                }
            }
            other => {
                let near = nearest(other, &CONNECTIONS).map(|near| format!(": did you mean <{near}>?"));
                let message = format!(
                    "<{}> is not a connection that is known{}",
                    short(other),
                    near.unwrap_or_default()
                );
                self.builder.unsupported(line, message)
            }
        }
    }

    /// The variable that an end of a connection names.
    fn variable(&mut self, end: &Element, role: Role) -> Option<Port> {
        if !self.expect(end, "Variable") {
            return None;
        }
        let (simulator, name) = (self.required(end, "simulator")?, self.required(end, "name")?);
        self.builder.variable(simulator, name, role, end.line())
    }

    /// What the other end of a connection has to be.
    fn role_beside(&self, end: &Element) -> Role {
        let names = end.get("simulator").zip(end.get("name"));
        names.map_or(Role::End, |(simulator, name)| self.builder.role_beside(simulator, name))
    }

    /// The simulator and group that an end of a connection names.
    fn group(&mut self, end: &Element) -> Option<(String, Group)> {
        if !self.expect(end, "VariableGroup") {
            return None;
        }
        let (simulator, name) = (self.required(end, "simulator")?, self.required(end, "name")?);
        let component = self.builder.part(simulator, end.line())?;
        let found = self.groups.find(&mut self.builder, component, name, end.line())?;
        Some((simulator.to_owned(), found))
    }

    fn ports_of(&mut self, part: &str, group: &Group, line: u32) -> Option<Vec<Port>> {
        let ports =
            group.variables.iter().map(|(name, _)| self.builder.variable(part, name, Role::End, line));
        ports.collect()
    }

    /// Connects two variables in the direction their FMUs say.
    fn connect(&mut self, a: Port, b: Port, bond: Option<&str>, line: u32) {
        let (from, to) = if self.builder.gives(a) { (a, b) } else { (b, a) };
        let passage = Passage { bond: bond.map(str::to_owned), ..Passage::default() };
        self.builder.connect(from, to, &passage, line);
    }

    fn connect_groups(&mut self, a: &(String, Group), b: &(String, Group), bond: Option<&str>, line: u32) {
        let pairs = match Pairs::of(&a.1, &b.1) {
            Ok(pairs) => pairs,
            Err(why) => return self.builder.error(line, why),
        };
        for pair in &pairs.differing_units {
            self.builder.warning(line, format!("{pair}: values are passed on as they are"));
        }
        for (index, (first, second)) in pairs.variables.iter().enumerate() {
            let ports = [(&a.0, first), (&b.0, second)]
                .map(|(part, name)| self.builder.variable(part, name, Role::End, line));
            let [Some(first), Some(second)] = ports else { continue };
            // A port of power has as many efforts as flows: one of each is a bond.
            let own = pairs.bonds.map(|count| format!("{}.{}[{}]", a.0, a.1.name, index % count + 1));
            self.connect(first, second, bond.or(own.as_deref()), line);
        }
    }

    fn connect_signal(&mut self, signal: &Element, ports: Vec<Port>, line: u32) {
        let (Some(function), Some(name)) = (self.required(signal, "function"), self.required(signal, "name"))
        else {
            return;
        };
        let Some(known) = self.functions.get_mut(function) else {
            let near = self.builder.near(function, self.functions.keys());
            return self.builder.missing(line, format!("there is no function `{}`{near}", short(function)));
        };
        if ports.len() < known.dimension {
            let message = format!(
                "`{}` has {} dimensions, what is connected has {}",
                short(function),
                known.dimension,
                ports.len()
            );
            return self.builder.error(line, message);
        }
        if name == "out" {
            known.outputs.push((ports, line));
            return;
        }
        let place = match name.strip_prefix("in") {
            Some("") => Some(0),
            Some(rest) => {
                rest.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')?.parse::<usize>().ok())
            }
            None => None,
        };
        match place.and_then(|place| known.inputs.get_mut(place)) {
            Some(input) if input.is_none() => *input = Some(ports),
            Some(_) => self
                .builder
                .error(line, format!("`{}` of `{}` has another source", short(name), short(function))),
            None => {
                let last = known.inputs.len().saturating_sub(1);
                let inputs = if last == 0 { "`in`".to_owned() } else { format!("`in[0]` to `in[{last}]`") };
                let message = format!(
                    "`{}` has no signal `{}`: it has {inputs} and `out`",
                    short(function),
                    short(name)
                );
                self.builder.missing(line, message)
            }
        }
    }

    /// Connects what goes into each function with where it comes out.
    fn dissolve_functions(&mut self) {
        let mut functions: Vec<(String, Function)> = self.functions.drain().collect();
        functions.sort_by_key(|(_, function)| function.number);
        for (name, function) in functions {
            if function.is_lost {
                continue;
            }
            if function.outputs.is_empty() || function.inputs.iter().any(Option::is_none) {
                let what = if function.outputs.is_empty() { "an output" } else { "an input" };
                self.builder.error(
                    function.line,
                    format!("{what} of the function `{}` is not connected", short(&name)),
                );
                continue;
            }
            for (targets, line) in &function.outputs {
                for (place, to) in targets.iter().take(function.dimension).enumerate() {
                    for input in function.inputs.iter().flatten() {
                        let passage = Passage {
                            factor: function.factor,
                            offset: function.offset,
                            sum: function.inputs.len() > 1,
                            bond: None,
                        };
                        self.builder.connect(input[place], *to, &passage, *line);
                    }
                }
            }
        }
    }
}

/// What is a key of project files under another name.
const KEYS: [(&str, &str); 3] =
    [("StartTime", "system.start"), ("EndTime", "system.stop"), ("BaseStepSize", "step.size")];

/// The kinds of functions and connections.
const FUNCTIONS: [&str; 3] = ["LinearTransformation", "Sum", "VectorSum"];
const CONNECTIONS: [&str; 4] =
    ["VariableConnection", "VariableGroupConnection", "SignalConnection", "SignalGroupConnection"];

/// The elements of a system structure.
const SECTIONS: [&str; 9] = [
    "Description",
    "StartTime",
    "EndTime",
    "BaseStepSize",
    "Algorithm",
    "Simulators",
    "Functions",
    "Connections",
    "EccoConfiguration",
];
