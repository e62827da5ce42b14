//! A subsystem with ports and nothing behind them: identification looks at signals alone, and the test plays its part.

use costep_core::{
    Batch, Capable, Description, EnvironmentStep, Experiment, InputSegment, Interval, Linearised,
    MicroRecorder, MicroSamples, MicroSampling, Persistence, Port, Result, Rollback, SolverCounts,
    StepOutcome, Subsystem, Telemetry,
};

pub(crate) struct Ports {
    pub(crate) description: Description,
    pub(crate) shows_inside: bool,
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
                feedthrough: vec![Default::default(); outputs.len()],
                ..Description::default()
            },
            shows_inside,
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

    fn terminate(&mut self) {}
}

impl Capable for Ports {
    fn rollback(&mut self) -> Option<&mut dyn Rollback> {
        None
    }

    fn linearised(&mut self) -> Option<&mut dyn Linearised> {
        None
    }

    fn micro_recorder(&mut self) -> Option<&mut dyn MicroRecorder> {
        if self.shows_inside { Some(self) } else { None }
    }

    fn environment(&mut self) -> Option<&mut dyn EnvironmentStep> {
        None
    }

    fn persistence(&self) -> Option<&dyn Persistence> {
        None
    }

    fn persistence_mut(&mut self) -> Option<&mut dyn Persistence> {
        None
    }

    fn telemetry(&self) -> Option<&dyn Telemetry> {
        Some(self)
    }

    fn join_batch(self: Box<Self>, _batch: &mut Option<Box<dyn Batch>>) -> Result<(), Box<dyn Subsystem>> {
        Err(self)
    }
}

impl MicroRecorder for Ports {
    fn sampling(&self) -> MicroSampling {
        MicroSampling::End
    }

    fn record(&mut self, _on: bool, _experiment: &Experiment) {}

    fn pause(&mut self, _on: bool) {}
}

impl Telemetry for Ports {
    fn micro_samples(&self) -> Option<MicroSamples<'_>> {
        let (times, outputs, sampling) = (&self.times[..], &self.outputs[..], MicroSampling::End);
        (times.len() > 1).then_some(MicroSamples { times, outputs, sampling, known_mean: None })
    }

    fn input_at_end(&self) -> Option<&[f64]> {
        None
    }

    fn diagnostic_names(&self) -> &[&'static str] {
        &[]
    }

    fn diagnostics(&self, _row: &mut [f64]) {}

    fn solver_counts(&self) -> Option<SolverCounts> {
        None
    }

    fn energy(&self) -> Option<f64> {
        None
    }
}
