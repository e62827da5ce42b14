//! A subsystem with ports and nothing behind them: identification looks at signals alone, and the test plays its part.

use costep_core::{
    Capabilities, Description, Experiment, InputSegment, Interval, Linearisation, MicroSamples,
    MicroSampling, Port, Result, StepOutcome, Subsystem,
};

pub(crate) struct Ports {
    pub(crate) description: Description,
    /// What it shows of the inside of its last step.
    pub(crate) times: Vec<f64>,
    pub(crate) outputs: Vec<f64>,
}

impl Ports {
    pub(crate) fn new(name: &str, inputs: &[&str], outputs: &[&str], shows_inside: bool) -> Self {
        let ports = |names: &[&str]| names.iter().map(|name| Port::new(name, "1", 1.0)).collect();
        Self {
            description: Description {
                name: name.into(),
                inputs: ports(inputs),
                outputs: ports(outputs),
                feedthrough: vec![vec![]; outputs.len()],
                capabilities: Capabilities {
                    rollback: false,
                    input_order: 0,
                    linearisation: Linearisation::None,
                    micro_samples: shows_inside.then_some(MicroSampling::End),
                },
            },
            times: Vec::new(),
            outputs: Vec::new(),
        }
    }
}

impl Subsystem for Ports {
    fn description(&self) -> &Description {
        &self.description
    }

    fn initialise(&mut self, _experiment: &Experiment) -> Result<()> {
        Ok(())
    }

    fn initial_outputs(&mut self, _u: &[f64], _y: &mut [f64]) -> Result<()> {
        Ok(())
    }

    fn step(&mut self, interval: Interval, _u: InputSegment<'_>, _y: &mut [f64]) -> Result<StepOutcome> {
        Ok(StepOutcome { reached: interval.end })
    }

    fn micro_samples(&self) -> Option<MicroSamples<'_>> {
        (self.times.len() > 1).then_some(MicroSamples { times: &self.times, outputs: &self.outputs })
    }
}
