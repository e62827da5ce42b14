//! Applies parameter values, from the innermost level outwards, so that outer levels win; within a level the
//! last one wins.

use std::collections::HashMap;

use costep_core::Code;
use costep_fmu_file::{Causality, VariableType, short};

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

impl Flattener {
    pub(super) fn apply_parameters(&mut self) {
        let mut assigned = Assigned::new();
        for instance in 0..self.instances.len() {
            for value in std::mem::take(&mut self.instances[instance].values) {
                self.apply(instance, value, &mut assigned);
            }
        }
        let mut assigned: Vec<_> = assigned.into_iter().collect();
        assigned.sort_by_key(|(place, _)| *place);
        for ((component, variable), (value, spot)) in assigned {
            let name = self.sources[component].description.variables()[variable].name.clone();
            self.components[component].set.push(SetValue { name, value, place: spot.place() });
        }
    }

    fn apply(&mut self, instance: usize, value: NamedValue, assigned: &mut Assigned) {
        let mut targets = Vec::new();
        self.find_targets(instance, &value.name, &mut targets);
        if targets.is_empty() {
            let message = format!("nothing is called `{}`: the value is not used", short(&value.name));
            self.note(Severity::Remark, Code::SspUnused, &value.spot, message);
        }
        let direct = Passage::default();
        for target in targets {
            let passage = value.passage.as_deref().unwrap_or(&direct);
            match target {
                Target::Variable(component, variable) => {
                    let carried = (value.value.clone(), value.unit.clone());
                    self.assign((component, variable), carried, passage, &value, assigned);
                }
                Target::Port(port) => {
                    let mut way = Vec::new();
                    let carried = (value.value.clone(), value.unit.clone());
                    self.flow(port, carried, passage, &value, &mut way, assigned);
                }
            }
        }
    }

    /// All that has this hierarchical name below an instance; different things may have the same.
    fn find_targets(&self, instance: usize, name: &str, targets: &mut Vec<Target>) {
        let instance = &self.instances[instance];
        if let Some(component) = instance.component {
            let variable = self.sources[component].description.find(name);
            targets.extend(variable.map(|variable| Target::Variable(component, variable)));
            return;
        }
        targets.extend(instance.ports.get(name).map(|port| Target::Port(*port)));
        for (dot, _) in name.match_indices('.') {
            if let Some(child) = instance.children.get(&name[..dot]) {
                self.find_targets(*child, &name[dot + 1..], targets);
            }
        }
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
