//! What an FMU has and costep does not use: listed for the user, never left out silently.

use crate::description::ModelDescription;
use crate::description::enumerations::{Causality, IntervalVariability, VariableType};
use crate::description::interface::Use;
use crate::description::variable::Variable;
use crate::text::{listed, short};

/// Names shown of each kind.
const SHOWN: usize = 5;

impl ModelDescription {
    /// What is not supported in a use, one sentence for each kind of thing.
    pub fn unsupported(&self, usage: Use) -> Vec<String> {
        let is_triggered = |variable: &Variable| {
            let clock = variable.clock.as_deref();
            clock.is_some_and(|clock| clock.interval_variability == Some(IntervalVariability::Triggered))
        };
        let is_clock = |variable: &Variable| variable.kind == VariableType::Clock;
        let clocked = |variable: &Variable| {
            matches!(variable.causality, Causality::Input | Causality::Output) && !variable.clocks.is_empty()
        };
        let mut list = Vec::new();
        let mut add = |what: &str, names: Vec<&str>| list.extend(sentence(what, &names));
        match usage {
            Use::CoSimulation => {
                add("triggered clocks are not connected and never tick", self.named(is_triggered));
            }
            Use::ModelExchange => {
                add("clocks of Model Exchange FMUs never tick", self.named(is_clock));
            }
        }
        add("clocked variables are not exchanged", self.named(clocked));
        list
    }

    fn named(&self, wanted: impl Fn(&Variable) -> bool) -> Vec<&str> {
        self.variables().iter().filter(|v| wanted(v)).map(|v| v.name.as_str()).collect()
    }
}

fn sentence(what: &str, names: &[&str]) -> Option<String> {
    let names_shown = || listed(names, SHOWN, |name| format!("`{}`", short(name)));
    (!names.is_empty()).then(|| format!("{what}: {}", names_shown()))
}
