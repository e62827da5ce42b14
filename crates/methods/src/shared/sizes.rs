//! Typical sizes of signals, for scaling: nominal values where there are any, else the values at the start of the run.

use costep_core::{Description, Port, Result, StateReader, StateWriter, SystemView};

/// One size per output and per input. Fixed from the first step on, so that nothing derived from them changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sizes {
    pub(crate) outputs: Vec<f64>,
    pub(crate) inputs: Vec<f64>,
    started: bool,
}

impl Sizes {
    pub(crate) fn new(system: &SystemView<'_>) -> Self {
        let sizes = |ports: fn(&Description) -> &Vec<Port>| -> Vec<f64> {
            let ports = system.descriptions.iter().flat_map(ports);
            ports.map(|port| port.nominal.map_or(0.0, f64::abs)).collect()
        };
        Self { outputs: sizes(|d| &d.outputs), inputs: sizes(|d| &d.inputs), started: false }
    }

    /// Fills what is not known with the present values, or 1.
    pub(crate) fn start(&mut self, y: &[f64], u: &[f64]) {
        if self.started {
            return;
        }
        self.started = true;
        for (sizes, values) in [(&mut self.outputs, y), (&mut self.inputs, u)] {
            for (size, value) in
                sizes.iter_mut().zip(values).filter(|(size, _)| **size == 0.0 || size.is_nan())
            {
                *size = if value.abs() > 0.0 && value.is_finite() { value.abs() } else { 1.0 };
            }
        }
    }

    pub(crate) fn save(&self, out: &mut StateWriter) {
        out.integer(u64::from(self.started));
        out.reals(&self.outputs);
        out.reals(&self.inputs);
    }

    pub(crate) fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.started = from.index(2)? == 1;
        from.reals(&mut self.outputs)?;
        from.reals(&mut self.inputs)
    }
}
