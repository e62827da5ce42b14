//! The unknowns of a step: coupled inputs at its end, with the sizes that their errors are compared with.

use costep_core::{Layout, Result, Signals, StateReader, StateWriter, SystemView};

/// The inputs that are iterated.
#[derive(Debug, Default)]
pub(crate) struct Unknowns {
    /// Indices into u: inputs of the group that come from other subsystems, but for those whose sources have stepped before.
    pub(crate) inputs: Vec<usize>,
    /// Nominal value or greatest absolute value so far, whichever is larger; of this step, with what it has led to first.
    size: Vec<f64>,
    pub(crate) scale: Vec<f64>,
    /// `part.input`.
    pub(crate) names: Vec<String>,
    layout: Layout,
}

impl Unknowns {
    pub(crate) fn new(system: &SystemView<'_>) -> Self {
        let SystemView { descriptions, layout, coupling, .. } = *system;
        let mut is_known = vec![false; layout.inputs()];
        system.known_inputs.iter().flatten().for_each(|j| is_known[*j] = true);
        let is_unknown = |j: &usize| !is_known[*j] && coupling.sources(*j).next().is_some();
        let mut inputs: Vec<usize> = system.inputs.iter().filter(is_unknown).collect();
        let port = |j: usize| {
            let owner = layout.input_owner(j);
            (&descriptions[owner], &descriptions[owner].inputs[j - layout.input_range(owner).start])
        };
        // By name, so that the round-off of sums does not depend on how the subsystems are numbered.
        inputs.sort_by_key(|j| (&port(*j).0.name, &port(*j).1.name, *j));
        let output = |i: usize| {
            let owner = layout.output_owner(i);
            descriptions[owner].outputs[i - layout.output_range(owner).start].nominal
        };
        let nominal = |j: usize| {
            let of_sources = || coupling.sources(j).filter_map(|(i, gain)| Some(output(i)? * gain));
            let size = port(j).1.nominal.unwrap_or_else(|| of_sources().map(f64::abs).fold(0.0, f64::max));
            if size.is_finite() { size.abs() } else { 0.0 }
        };
        Self {
            size: inputs.iter().map(|j| nominal(*j)).collect(),
            scale: vec![0.0; inputs.len()],
            names: inputs.iter().map(|j| format!("{}.{}", port(*j).0.name, port(*j).1.name)).collect(),
            inputs,
            layout: layout.clone(),
        }
    }

    /// Takes note of the values at the start of a step.
    pub(crate) fn note(&mut self, signals: &Signals<'_>) {
        for (size, j) in self.size.iter_mut().zip(&self.inputs) {
            *size = size.max((signals.coupled[*j] - signals.external[*j]).abs());
        }
        self.scale.copy_from_slice(&self.size);
    }

    /// The unknown with the greatest residual.
    pub(crate) fn worst(&self, residual: &[f64]) -> usize {
        let size = |n: usize| residual[n].abs();
        (0..residual.len()).fold(0, |worst, n| if size(n) > size(worst) { n } else { worst })
    }

    /// Where an unknown comes from, for messages.
    #[cold]
    pub(crate) fn origin(&self, n: usize, signals: &Signals<'_>) -> String {
        let name = |output: usize| {
            let owner = self.layout.output_owner(output);
            let of = &signals.descriptions[owner];
            format!("`{}.{}`", of.name, of.outputs[output - self.layout.output_range(owner).start].name)
        };
        let sources: Vec<_> =
            signals.coupling.sources(self.inputs[n]).map(|(output, _)| name(output)).collect();
        format!("it comes from {}", sources.join(", "))
    }

    pub(crate) fn save(&self, out: &mut StateWriter) {
        out.reals(&self.size);
    }

    pub(crate) fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        from.reals(&mut self.size)
    }
}
