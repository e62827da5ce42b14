//! Applies parameter values, from the innermost level outwards, so that outer levels win; within a level the
//! last one wins.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use costep_core::{Code, Error};
use costep_fmu_file::{Causality, Variability, VariableType, short};

use crate::flat::SetValue;
use crate::flatten::passages::{Carried, PassError, pass};
use crate::flatten::ports::unit_of;
use crate::flatten::{Flattener, NamedValue, Spot};
use crate::model::{Passage, Value};
use crate::note::Severity;

/// What a name stands for.
enum Target {
    Port(usize),
    Variable(usize, usize),
}

/// Values by component and variable.
type Assigned = HashMap<(usize, usize), (Value, Spot)>;

/// A value of a set, wherever it is bound: file, line and the name it is applied to.
type Origin = (Arc<str>, u32, String);

/// Values that nothing took where they are bound, and those that something took somewhere.
#[derive(Default)]
struct Unused {
    without_target: Vec<(usize, String, Spot)>,
    seen: HashSet<Origin>,
    used: HashSet<Origin>,
}

/// The candidate that is nearest to a name, if one is near.
pub(super) fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    let error = Error::new(Code::UnknownName, "").suggest(name, candidates);
    Some(error.details().hint.as_deref()?.strip_prefix("did you mean `")?.strip_suffix("`?")?.to_owned())
}

impl Flattener {
    pub(super) fn apply_parameters(&mut self) {
        let (mut assigned, mut unused) = (Assigned::new(), Unused::default());
        for instance in 0..self.instances.len() {
            for value in std::mem::take(&mut self.instances[instance].values) {
                let named_at = value.named_at();
                let origin = (named_at.file.clone(), named_at.line, value.name.clone());
                let targets = self.find_targets(instance, &value.name);
                // A value may be bound in very many places: it is kept once.
                if !targets.is_empty() {
                    unused.used.insert(origin);
                    self.apply(targets, &value, &mut assigned);
                } else if unused.seen.insert(origin) {
                    let named_at = named_at.clone();
                    unused.without_target.push((instance, value.name, named_at));
                }
            }
        }
        self.note_unused(unused);
        let mut assigned: Vec<_> = assigned.into_iter().collect();
        assigned.sort_by_key(|(place, _)| *place);
        for ((component, variable), (value, spot)) in assigned {
            let name = self.sources[component].description.variables()[variable].name.clone();
            self.components[component].set.push(SetValue { name, value, place: spot.place() });
        }
    }

    fn apply(&mut self, targets: Vec<Target>, value: &NamedValue, assigned: &mut Assigned) {
        let direct = Passage::default();
        for target in targets {
            let passage = value.passage.as_deref().unwrap_or(&direct);
            let carried = (value.value.clone(), value.unit.clone());
            match target {
                Target::Variable(component, variable) => {
                    self.assign((component, variable), carried, passage, value, assigned);
                }
                Target::Port(port) => {
                    let mut way = Vec::new();
                    self.flow(port, carried, passage, value, &mut way, assigned);
                }
            }
        }
    }

    /// All that has this hierarchical name below an instance; different things may have the same.
    fn find_targets(&self, instance: usize, name: &str) -> Vec<Target> {
        let mut targets = Vec::new();
        self.add_targets(instance, name, &mut targets);
        targets
    }

    fn add_targets(&self, instance: usize, name: &str, targets: &mut Vec<Target>) {
        let instance = &self.instances[instance];
        if let Some(component) = instance.component {
            let variable = self.sources[component].description.find(name);
            targets.extend(variable.map(|variable| Target::Variable(component, variable)));
            return;
        }
        targets.extend(instance.ports.get(name).map(|port| Target::Port(*port)));
        for (dot, _) in name.match_indices('.') {
            if let Some(child) = instance.children.get(&name[..dot]) {
                self.add_targets(*child, &name[dot + 1..], targets);
            }
        }
    }

    /// Tells of values that nothing takes. SSP allows it: a set may serve several systems. Where something is called nearly like one,
    /// it is most likely misspelt, and the run goes on with the value that the FMU has.
    fn note_unused(&mut self, unused: Unused) {
        // Comparing names takes long.
        let mut compared = 50;
        for (instance, name, named_at) in unused.without_target {
            if unused.used.contains(&(named_at.file.clone(), named_at.line, name.clone())) {
                continue;
            }
            let message = format!("nothing is called `{}`: the value is not used", short(&name));
            match self.nearest_target(instance, &name, &mut compared) {
                Some(near) => {
                    self.misspelt(&named_at, message, format!("did you mean `{}`?", short(&near)));
                }
                None => self.note(Severity::Remark, Code::SspUnused, &named_at, message),
            }
        }
    }

    /// The name below an instance that one without a target is nearest to.
    fn nearest_target(&self, instance: usize, name: &str, compared: &mut usize) -> Option<String> {
        const MOST: usize = 10_000;
        let instance = &self.instances[instance];
        if *compared == 0 {
            return None;
        }
        *compared -= 1;
        if let Some(component) = instance.component {
            let variables = self.sources[component].description.variables();
            // Names in the set of a component are those of its FMU, without the component.
            let inner = name.match_indices('.').map(|(dot, _)| &name[dot + 1..]);
            let description = &self.sources[component].description;
            if let Some(own) = inner.into_iter().find(|inner| description.find(inner).is_some()) {
                return Some(own.to_owned());
            }
            let settable = variables.iter().filter(|variable| variable.variability != Variability::Constant);
            return nearest(name, settable.map(|variable| variable.name.as_str()).take(MOST));
        }
        let below = name.match_indices('.').find_map(|(dot, _)| {
            let (head, rest) = (&name[..dot], &name[dot + 1..]);
            let child = match instance.children.get(head) {
                Some(child) => (head.to_owned(), *child),
                None => {
                    let near = nearest(head, instance.children.keys().map(String::as_str).take(MOST))?;
                    let child = *instance.children.get(&near)?;
                    (near, child)
                }
            };
            let (head, child) = child;
            match self.find_targets(child, rest).is_empty() {
                true => self.nearest_target(child, rest, compared).map(|near| format!("{head}.{near}")),
                false => Some(format!("{head}.{rest}")),
            }
        });
        below.or_else(|| nearest(name, instance.ports.keys().map(String::as_str).take(MOST)))
    }

    /// Passes a value on to everything that a connector of a system is connected to.
    fn flow(
        &mut self,
        port: usize,
        (value, unit): (Value, Carried),
        passage: &Passage,
        origin: &NamedValue,
        way: &mut Vec<usize>,
        assigned: &mut Assigned,
    ) {
        if way.contains(&port) {
            // The circle itself is noted with the connections.
            return;
        }
        if let Some(variable) = self.ports[port].variable {
            return self.assign(variable, (value, unit), passage, origin, assigned);
        }
        if self.ports[port].kind.gives() == Some(true) {
            let message = format!("`{}` is computed: its start value is not used", short(&origin.name));
            return self.note(Severity::Remark, Code::SspUnused, &origin.spot, message);
        }
        let target = self.ports[port].unit.clone();
        let Some(passed) = self.passed(pass(value, &unit, passage, &target, &origin.items), &origin.spot)
        else {
            return;
        };
        way.push(port);
        for edge in self.ports[port].outgoing.clone() {
            let (to, passage) = (self.edges[edge].to, self.edges[edge].passage.clone());
            self.flow(to, passed.clone(), &passage, origin, way, assigned);
        }
        way.pop();
    }

    fn assign(
        &mut self,
        (component, variable): (usize, usize),
        (value, unit): (Value, Carried),
        passage: &Passage,
        origin: &NamedValue,
        assigned: &mut Assigned,
    ) {
        let description = &self.sources[component].description;
        let known = &description.variables()[variable];
        let target = unit_of(description, known);
        if known.causality == Causality::Independent || known.kind == VariableType::Clock {
            let message = format!("`{}` cannot be set", short(&origin.name));
            return self.error(Code::SspUnsupported, &origin.spot, message);
        }
        let outcome = pass(value, &unit, passage, &target, &origin.items);
        if let Some((value, _)) = self.passed(outcome, &origin.spot) {
            assigned.insert((component, variable), (value, origin.spot.clone()));
        }
    }

    fn passed(
        &mut self,
        outcome: Result<(Value, Carried), PassError>,
        spot: &Spot,
    ) -> Option<(Value, Carried)> {
        match outcome {
            Ok(passed) => Some(passed),
            Err(PassError::Units(error)) => {
                self.foreign_error(&error, spot);
                None
            }
            Err(PassError::Type(why)) => {
                self.error(Code::SspSchema, spot, why);
                None
            }
        }
    }
}
