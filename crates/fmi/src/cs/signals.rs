//! The inputs and outputs of an FMU as ports: variables with a point in 64 bits, arrays flattened.

use costep_core::{Port, Result};

use crate::cs::settings::elements;
use crate::description::ModelDescription;
use crate::description::variable::{Dimension, Variable};
use crate::description::words::{Causality, VariableType};

/// The variables of one direction.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct Signals {
    /// Their value references; the first field, because every step needs them and nothing else.
    pub(crate) references: Vec<u32>,
    /// Indices of the variables.
    pub(crate) variables: Vec<usize>,
    /// Number of elements of each.
    pub(crate) elements: Vec<usize>,
}

impl Signals {
    /// All that belong to no clock.
    pub(crate) fn of(
        description: &ModelDescription,
        causality: Causality,
        sizes: &[(usize, u64)],
    ) -> Result<Self> {
        let mut signals = Self::default();
        for index in description.with_causality(causality) {
            let variable = &description.variables()[index];
            if variable.kind == VariableType::Float64 && variable.clocks.is_empty() {
                signals.push(description, index, sizes)?;
            }
        }
        Ok(signals)
    }

    /// Adds a variable.
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

    /// Number of elements of all variables.
    pub(crate) fn width(&self) -> usize {
        self.elements.iter().sum()
    }

    /// For each element the position of its variable here.
    fn owners(&self) -> impl Iterator<Item = usize> {
        self.elements.iter().enumerate().flat_map(|(at, count)| std::iter::repeat_n(at, *count))
    }

    /// One port per element.
    pub(crate) fn ports(&self, description: &ModelDescription, sizes: &[(usize, u64)]) -> Vec<Port> {
        let mut ports = Vec::with_capacity(self.width());
        for (index, count) in self.variables.iter().zip(&self.elements) {
            let variable = &description.variables()[*index];
            for element in 0..*count {
                ports.push(Port {
                    name: element_name(description, variable, element, sizes),
                    unit: variable.unit().map(str::to_owned),
                    nominal: variable.attributes.nominal,
                });
            }
        }
        ports
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
                Some(crate::Values::UInt64(values)) => values.first().copied().unwrap_or(1),
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

/// Direct feed-through of elements: for each output the inputs.
pub(crate) fn feedthrough(
    description: &ModelDescription,
    inputs: &Signals,
    outputs: &Signals,
) -> Vec<Vec<usize>> {
    let mut starts = vec![0];
    for count in &inputs.elements {
        starts.push(starts[starts.len() - 1] + count);
    }
    let rows = description.feedthrough(&inputs.variables, &outputs.variables);
    let row = |at: usize| rows[at].iter().flat_map(|input| starts[*input]..starts[input + 1]).collect();
    outputs.owners().map(row).collect()
}
