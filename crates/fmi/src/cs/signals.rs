//! The inputs and outputs of an FMU as ports: all types, arrays flattened.

use std::cell::RefCell;

use costep_core::{InputList, Port, Result, StateReader, StateWriter, Variation};
use costep_fmu_file::settings::elements;
use costep_fmu_file::{
    Attributes, Causality, Dimension, ModelDescription, Number, Variability, Variable, VariableType,
};

use crate::call::batch::{Batch, carrier};
use crate::call::instance::Instance;
use crate::call::texts::Texts;
use crate::cs::input_routing::RoutedInputs;

/// The variables of one direction. Those with a point in 64 bits come first; what is not said of others is said of them.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Signals {
    /// Their value references; the first field, because every step needs them and nothing else.
    pub(crate) references: Vec<u32>,
    /// Indices of the variables.
    pub(crate) variables: Vec<usize>,
    /// Number of elements of each.
    pub(crate) elements: Vec<usize>,
    /// Those of other types, if there are any.
    others: Option<Box<Others>>,
    /// What happens to them on their way, if anything.
    routing: Option<Box<RoutedInputs>>,
    /// Those that the FMU has with the other sign, if there are any.
    negated: Option<Box<Negated>>,
}

/// Negated aliases (FMI 1): places among all elements, and whether each is a Boolean.
#[derive(Debug)]
struct Negated {
    places: Vec<(usize, bool)>,
    values: RefCell<Vec<f64>>,
}

impl Negated {
    fn turn(&self, values: &mut [f64]) {
        for (place, is_boolean) in &self.places {
            let value = &mut values[*place];
            *value = if *is_boolean { 1.0 - *value } else { -*value };
        }
    }
}

/// Inputs that can follow polynomials: their references, and the place of each element among all inputs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Followed {
    pub(crate) references: Vec<u32>,
    pub(crate) places: Vec<usize>,
}

/// Variables that go over in calls of their own and are converted.
#[derive(Debug, Default)]
struct Others {
    variables: Vec<usize>,
    elements: Vec<usize>,
    width: usize,
    batches: RefCell<Vec<Batch>>,
    /// Text and bytes, behind all others.
    texts: RefCell<Vec<Texts>>,
}

impl Signals {
    /// All outputs that are not clocks and belong to none. Text and bytes come last.
    pub(crate) fn outputs(description: &ModelDescription, sizes: &[(usize, u64)]) -> Result<Self> {
        Self::of(description, description.with_causality(Causality::Output), sizes)
    }

    /// Those of the inputs and tuned parameters that are wanted, in the same order.
    pub(super) fn inputs(
        description: &ModelDescription,
        sizes: &[(usize, u64)],
        tuned: &[usize],
        wanted: impl Fn(usize) -> bool,
    ) -> Result<Self> {
        let all = description.with_causality(Causality::Input).chain(tuned.iter().copied());
        Self::of(description, all.filter(|index| wanted(*index)), sizes)
    }

    fn of(
        description: &ModelDescription,
        variables: impl Iterator<Item = usize>,
        sizes: &[(usize, u64)],
    ) -> Result<Self> {
        let (mut signals, mut others, mut texts) = (Self::default(), Vec::new(), Vec::new());
        for index in variables {
            let variable = &description.variables()[index];
            match variable.kind {
                _ if !variable.clocks.is_empty() => {}
                // They are held over a step: nothing that is said of other real numbers holds for them.
                kind if is_tuned(variable) => others.push((carrier(description.fmi_version, kind), index)),
                VariableType::Float64 => signals.push(description, index, sizes)?,
                VariableType::Clock => {}
                kind @ (VariableType::String | VariableType::Binary) => texts.push((kind, index)),
                kind => others.push((carrier(description.fmi_version, kind), index)),
            }
        }
        others.append(&mut texts);
        if !others.is_empty() {
            signals.others = Some(Box::new(Others::new(description, &others, sizes)?));
        }
        signals.find_negated(description);
        Ok(signals)
    }

    /// Before FMI 3 every variable has one element.
    fn find_negated(&mut self, description: &ModelDescription) {
        let mut places = Vec::new();
        for (place, (index, _)) in self.all().enumerate() {
            let variable = &description.variables()[index];
            if variable.is_negated() {
                places.push((place, variable.kind == VariableType::Boolean));
            }
        }
        if !places.is_empty() {
            let values = RefCell::new(vec![0.0; self.total()]);
            self.negated = Some(Box::new(Negated { places, values }));
        }
    }

    /// Adds a variable with a point in 64 bits.
    pub(crate) fn push(
        &mut self,
        description: &ModelDescription,
        index: usize,
        sizes: &[(usize, u64)],
    ) -> Result<()> {
        self.variables.push(index);
        self.references.push(description.variables()[index].value_reference);
        self.elements.push(elements(description, index, sizes)?);
        Ok(())
    }

    /// Number of elements.
    pub(crate) fn width(&self) -> usize {
        self.elements.iter().sum()
    }

    /// Number of elements, with those of other types.
    pub(crate) fn total(&self) -> usize {
        self.width() + self.others.as_ref().map_or(0, |others| others.width)
    }

    /// Whether there is more to do than to hand numbers over: there are variables of other types or signs,
    /// or ways of their own.
    pub(crate) fn is_mixed(&self) -> bool {
        self.others.is_some() || self.routing.is_some() || self.is_negated()
    }

    /// Whether the FMU has some of them with the other sign.
    pub(crate) fn is_negated(&self) -> bool {
        self.negated.is_some()
    }

    pub(super) fn set_routing(&mut self, routing: RoutedInputs) {
        self.routing = Some(Box::new(routing));
    }

    /// Whether a variable is ever set.
    pub(crate) fn sets(&self, variable: usize) -> bool {
        self.routing.as_ref().is_none_or(|routing| routing.sets(variable))
    }

    /// Makes inputs that have been read back not numbers where values are exchanged on the way in.
    pub(crate) fn forget_mapped(&self, u: &mut [f64]) {
        if let Some(routing) = &self.routing {
            routing.forget_mapped(u);
        }
    }

    /// Those with a point in 64 bits that are set.
    pub(super) fn followed(&self) -> Followed {
        let mut followed = Followed::default();
        let mut place = 0;
        for ((variable, reference), count) in self.variables.iter().zip(&self.references).zip(&self.elements)
        {
            if self.sets(*variable) {
                followed.references.push(*reference);
                followed.places.extend(place..place + count);
            }
            place += count;
        }
        followed
    }

    /// Sets all variables.
    pub(crate) fn set(&self, instance: &Instance, u: &[f64]) -> Result<()> {
        if let Some(routing) = &self.routing {
            return routing.set(instance, u);
        }
        match &self.negated {
            None => self.hand_over(instance, u),
            Some(negated) => {
                let mut values = negated.values.borrow_mut();
                values.copy_from_slice(u);
                negated.turn(&mut values);
                self.hand_over(instance, &values)
            }
        }
    }

    fn hand_over(&self, instance: &Instance, u: &[f64]) -> Result<()> {
        let (reals, rest) = u.split_at(u.len() - self.others.as_ref().map_or(0, |others| others.width));
        if !reals.is_empty() {
            instance.set_reals(&self.references, reals)?;
        }
        self.others.as_ref().map_or(Ok(()), |others| others.set(instance, rest))
    }

    /// Gets all variables.
    pub(crate) fn get(&self, instance: &Instance, y: &mut [f64]) -> Result<()> {
        let others = self.others.as_ref().map_or(0, |others| others.width);
        let (reals, rest) = y.split_at_mut(y.len() - others);
        if !reals.is_empty() {
            instance.get_reals(&self.references, reals)?;
        }
        self.others.as_ref().map_or(Ok(()), |others| others.get(instance, rest))?;
        if let Some(negated) = &self.negated {
            negated.turn(y);
        }
        Ok(())
    }

    /// Gives derivatives of those with a point in 64 bits their sign.
    pub(crate) fn turn_derivatives(&self, values: &mut [f64]) {
        for (place, _) in self.negated.iter().flat_map(|negated| &negated.places) {
            if let Some(value) = values.get_mut(*place) {
                *value = -*value;
            }
        }
    }

    /// Texts and bytes as they are, for a checkpoint: numbers stand for them that mean nothing elsewhere.
    pub(crate) fn save_texts(&self, out: &mut StateWriter) {
        let Some(others) = &self.others else { return };
        others.texts.borrow().iter().flat_map(Texts::values).for_each(|text| out.block(text));
    }

    /// Makes the texts and bytes of a checkpoint known.
    pub(crate) fn load_texts(&self, instance: &Instance, from: &mut StateReader<'_>) -> Result<()> {
        let Some(others) = &self.others else { return Ok(()) };
        for texts in others.texts.borrow_mut().iter_mut() {
            for at in 0..texts.width() {
                texts.know(instance, at, from.block()?)?;
            }
        }
        Ok(())
    }

    /// Variables and numbers of elements, with those of other types.
    pub(super) fn all(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let others = self.others.as_deref();
        let others = others.map_or((&[][..], &[][..]), |others| (&others.variables, &others.elements));
        let variables = self.variables.iter().chain(others.0);
        variables.copied().zip(self.elements.iter().chain(others.1).copied())
    }

    /// One port per element, as the model description declares it. What changes at communication points
    /// only, but is a real number, is left to the coupling methods.
    pub(crate) fn ports(&self, description: &ModelDescription, sizes: &[(usize, u64)]) -> Vec<Port> {
        let mut ports = Vec::with_capacity(self.total());
        for (index, count) in self.all() {
            let variable = &description.variables()[index];
            let variation = match variable.kind {
                _ if is_tuned(variable) => Variation::Discrete,
                VariableType::Float64 if variable.variability == Variability::Continuous => {
                    Variation::Continuous
                }
                VariableType::Float64 => Variation::Stepwise,
                VariableType::Float32 if variable.causality == Causality::Output => Variation::Stepwise,
                _ => Variation::Discrete,
            };
            for element in 0..count {
                ports.push(Port {
                    name: element_name(description, variable, element, sizes),
                    unit: variable.unit().map(str::to_owned),
                    nominal: variable.attributes.nominal,
                    limits: limits(&variable.attributes),
                    start: match &variable.start {
                        Some(costep_fmu_file::Values::Float64(values)) => {
                            values.get(element).copied().filter(|start| start.is_finite())
                        }
                        _ => None,
                    },
                    kind: variable.kind.port_kind().unwrap_or_default(),
                    variation,
                });
            }
        }
        ports
    }
}

/// Whether a variable among inputs is a parameter.
fn is_tuned(variable: &Variable) -> bool {
    variable.causality == Causality::Parameter
}

/// What a variable can be, if its maker says so and makes sense.
fn limits(declared: &Attributes) -> Option<[f64; 2]> {
    let (min, max) = (declared.min.map(Number::to_f64), declared.max.map(Number::to_f64));
    let limits = [min.unwrap_or(f64::NEG_INFINITY), max.unwrap_or(f64::INFINITY)];
    (limits[0] < limits[1] && limits.iter().any(|limit| limit.is_finite())).then_some(limits)
}

impl Others {
    /// Variables with the type they are carried as, brought together by it.
    fn new(
        description: &ModelDescription,
        found: &[(VariableType, usize)],
        sizes: &[(usize, u64)],
    ) -> Result<Self> {
        let mut others = Self::default();
        let mut kinds: Vec<VariableType> = Vec::new();
        for (kind, _) in found {
            if kinds.contains(kind) {
                continue;
            }
            kinds.push(*kind);
            let (mut references, mut names) = (Vec::new(), Vec::new());
            for (_, index) in found.iter().filter(|(other, _)| other == kind) {
                let variable = &description.variables()[*index];
                let count = elements(description, *index, sizes)?;
                references.push(variable.value_reference);
                names.extend((0..count).map(|element| element_name(description, variable, element, sizes)));
                others.variables.push(*index);
                others.elements.push(count);
            }
            others.width += names.len();
            if matches!(kind, VariableType::String | VariableType::Binary) {
                others.texts.get_mut().push(Texts::new(*kind, references, names));
                continue;
            }
            let batch = Batch::new(description.fmi_version, *kind, references, names);
            others.batches.get_mut().extend(batch);
        }
        Ok(others)
    }

    fn set(&self, instance: &Instance, mut u: &[f64]) -> Result<()> {
        for batch in self.batches.borrow_mut().iter_mut() {
            let (mine, rest) = u.split_at(batch.width());
            batch.set(instance, mine)?;
            u = rest;
        }
        for texts in self.texts.borrow_mut().iter_mut() {
            let (mine, rest) = u.split_at(texts.width());
            texts.set(instance, mine)?;
            u = rest;
        }
        Ok(())
    }

    fn get(&self, instance: &Instance, mut y: &mut [f64]) -> Result<()> {
        for batch in self.batches.borrow_mut().iter_mut() {
            let (mine, rest) = y.split_at_mut(batch.width());
            batch.get(instance, mine)?;
            y = rest;
        }
        for texts in self.texts.borrow_mut().iter_mut() {
            let (mine, rest) = y.split_at_mut(texts.width());
            texts.get(instance, mine)?;
            y = rest;
        }
        Ok(())
    }
}

/// `u`, or for an element of an array `u[2,1]`, counted from 1 as names in FMI are.
fn element_name(
    description: &ModelDescription,
    variable: &Variable,
    element: usize,
    sizes: &[(usize, u64)],
) -> String {
    if !variable.is_array() {
        return variable.name.clone();
    }
    let size = |dimension: &Dimension| match dimension {
        Dimension::Fixed(size) => *size,
        Dimension::Variable(index) => {
            let start = || match &description.variables()[*index].start {
                Some(costep_fmu_file::Values::UInt64(values)) => values.first().copied().unwrap_or(1),
                _ => 1,
            };
            sizes.iter().find(|(at, _)| at == index).map_or_else(start, |(_, size)| *size)
        }
    };
    let mut rest = element as u64;
    let mut places: Vec<String> = Vec::with_capacity(variable.dimensions.len());
    for dimension in variable.dimensions.iter().rev() {
        let size = size(dimension).max(1);
        places.push((rest % size + 1).to_string());
        rest /= size;
    }
    places.reverse();
    format!("{}[{}]", variable.name, places.join(","))
}

/// Direct feedthrough of elements: for each output the inputs.
pub(crate) fn feedthrough(
    description: &ModelDescription,
    inputs: &Signals,
    outputs: &Signals,
) -> Vec<InputList> {
    let (inputs, input_elements): (Vec<usize>, Vec<usize>) = inputs.all().unzip();
    let (outputs, output_elements): (Vec<usize>, Vec<usize>) = outputs.all().unzip();
    let mut starts = vec![0];
    for count in &input_elements {
        starts.push(starts[starts.len() - 1] + count);
    }
    let rows = description.feedthrough(&inputs, &outputs);
    let of_elements =
        |row: &InputList| row.iter().flat_map(|input| starts[*input]..starts[input + 1]).collect();
    let mut lists: Vec<InputList> = Vec::new();
    for (at, count) in output_elements.iter().enumerate() {
        let list = match lists.last().filter(|_| at > 0 && rows[at].shares(&rows[at - 1])) {
            Some(same) => same.clone(),
            None => of_elements(&rows[at]),
        };
        lists.extend(std::iter::repeat_n(list, *count));
    }
    lists
}

/// The same with tuned parameters, which all outputs may depend on: dependencies do not name them.
pub(crate) fn with_tuned(
    feedthrough: Vec<InputList>,
    description: &ModelDescription,
    inputs: &Signals,
) -> Vec<InputList> {
    let of_elements = |(index, count): (usize, usize)| {
        std::iter::repeat_n(is_tuned(&description.variables()[index]), count)
    };
    let flags: Vec<bool> = inputs.all().flat_map(of_elements).collect();
    if !flags.contains(&true) {
        return feedthrough;
    }
    let with = |list: &InputList| {
        (0..flags.len()).filter(|input| flags[*input] || list.contains(input)).collect::<InputList>()
    };
    feedthrough.iter().map(with).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_that_exclude_everything_or_nothing_are_none() {
        let declared = |min: Option<f64>, max: Option<f64>| {
            let [min, max] = [min, max].map(|value| value.map(Number::Float));
            limits(&Attributes { min, max, ..Attributes::default() })
        };
        assert_eq!(declared(Some(0.0), Some(4e3)), Some([0.0, 4e3]));
        assert_eq!(declared(Some(0.0), None), Some([0.0, f64::INFINITY]));
        assert_eq!(declared(None, None), None);
        assert_eq!(declared(Some(1.0), Some(1.0)), None);
        assert_eq!(declared(Some(f64::NAN), Some(1.0)), None);
    }
}
