//! What happens to inputs on their way into an FMU: some are never set, values of others are exchanged for others.

use std::cell::RefCell;

use costep_core::{Code, Description, Error, PortKind, Result, Variation};
use costep_fmu_file::{Causality, ModelDescription, Variability, Variable};

use super::signals::Signals;
use crate::call::instance::Instance;

/// How inputs reach an FMU, by the names of ports. By default all are set as they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InputRouting {
    /// Inputs without a source. They are never set: start values are the FMU's own, and some FMUs take no others. An array
    /// is left alone only if all its elements are named.
    pub open: Vec<String>,
    /// Integers and enumerations: values and what the FMU gets in their place. Values that are not named stay.
    pub maps: Vec<(String, Vec<(f64, f64)>)>,
    /// Tunable parameters that something drives, by the names of variables: they are inputs behind all others.
    pub tuned: Vec<String>,
}

/// Whether signals may drive a variable although it is no input.
pub fn is_tunable(variable: &Variable) -> bool {
    variable.causality == Causality::Parameter
        && variable.variability == Variability::Tunable
        && variable.clocks.is_empty()
        && variable.kind.port_kind().is_some_and(PortKind::is_number)
}

impl InputRouting {
    /// Whether all inputs, tuned parameters among them, are set as they are.
    pub fn is_default(&self) -> bool {
        self.open.is_empty() && self.maps.is_empty()
    }

    /// Inputs without a source keep their value: nobody forms them, and it is of no use to change one.
    pub(crate) fn describe_open(&self, description: &mut Description) {
        for port in description.inputs.iter_mut().filter(|port| self.open.contains(&port.name)) {
            port.variation = Variation::Discrete;
        }
    }
}

/// A place among those that are set, with values and what takes their place.
type Map = (usize, Vec<(f64, f64)>);

/// The inputs that are set, and how.
#[derive(Debug)]
pub(super) struct RoutedInputs {
    /// The signals that are set.
    set: Signals,
    /// For each element of these, its place among all.
    places: Vec<usize>,
    maps: Vec<Map>,
    values: RefCell<Vec<f64>>,
}

impl RoutedInputs {
    /// Sets the inputs out of the values of all.
    pub(super) fn set(&self, instance: &Instance, u: &[f64]) -> Result<()> {
        let mut values = self.values.borrow_mut();
        values.iter_mut().zip(&self.places).for_each(|(value, place)| *value = u[*place]);
        for (at, entries) in &self.maps {
            if let Some((_, target)) = entries.iter().find(|(source, _)| *source == values[*at]) {
                values[*at] = *target;
            }
        }
        self.set.set(instance, &values)
    }

    /// Forgets values that the FMU may have out of a map: nobody knows what they were before.
    pub(super) fn forget_mapped(&self, u: &mut [f64]) {
        self.maps.iter().for_each(|(at, _)| u[self.places[*at]] = f64::NAN);
    }

    /// Whether a variable is set.
    pub(super) fn sets(&self, variable: usize) -> bool {
        self.set.all().any(|(other, _)| other == variable)
    }
}

/// All inputs of an FMU, on their ways.
pub(crate) fn inputs(
    description: &ModelDescription,
    sizes: &[(usize, u64)],
    routing: &InputRouting,
) -> Result<Signals> {
    let tuned = tuned(description, routing)?;
    let mut all = Signals::inputs(description, sizes, &tuned, |_| true)?;
    if routing.is_default() {
        return Ok(all);
    }
    let names: Vec<String> = all.ports(description, sizes).into_iter().map(|port| port.name).collect();
    let place_of = |name: &String| {
        names.iter().position(|other| other == name).ok_or_else(|| {
            Error::new(Code::UnknownPort, format!("there is no input `{name}`"))
                .suggest(name, names.iter().map(String::as_str))
        })
    };
    let mut is_open = vec![false; names.len()];
    for name in &routing.open {
        is_open[place_of(name)?] = true;
    }
    let (mut closed, mut places, mut start) = (Vec::new(), Vec::new(), 0);
    for (variable, count) in all.all() {
        let mut elements = start..start + count;
        if elements.any(|place| !is_open[place]) {
            closed.push(variable);
            places.extend(start..start + count);
        }
        start += count;
    }
    let mut maps = Vec::with_capacity(routing.maps.len());
    for (name, entries) in &routing.maps {
        let place = place_of(name)?;
        maps.extend(places.iter().position(|other| *other == place).map(|at| (at, entries.clone())));
    }
    let set = Signals::inputs(description, sizes, &tuned, |variable| closed.contains(&variable))?;
    let values = RefCell::new(vec![0.0; places.len()]);
    all.set_routing(RoutedInputs { set, places, maps, values });
    Ok(all)
}

/// The variables of the parameters that are driven.
fn tuned(description: &ModelDescription, routing: &InputRouting) -> Result<Vec<usize>> {
    let find = |name: &String| {
        let index = description.require(name)?;
        match is_tunable(&description.variables()[index]) {
            true => Ok(index),
            false => Err(Error::new(Code::FmuValue, format!("`{name}` is no tunable parameter"))),
        }
    };
    routing.tuned.iter().map(find).collect()
}
