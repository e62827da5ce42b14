//! Small subsystems for the tests.

use std::sync::{Arc, Mutex};

use costep_core::{
    Connection, Description, Experiment, InputSegment, Interval, Linearisation, Linearised, LocalModel,
    ModelOrigin, Persistence, Port, Result, Rollback, StateReader, StateWriter, StepOutcome, Subsystem,
};
use costep_engine::{Engine, System};
use costep_integrate::{Ode, Renamable};
use costep_methods::MethodSpec;

type Rule = Box<dyn FnMut(f64, &[f64], &mut [f64]) -> Result<()> + Send>;

/// A subsystem without state: its outputs follow from time and inputs.
pub struct Toy {
    /// What it says about itself, to be changed by tests.
    pub description: Description,
    /// How far beyond the end of the step it claims to be.
    pub overshoot: f64,
    rule: Rule,
    start: f64,
    u: Vec<f64>,
}

impl Toy {
    /// A toy with ports `u0`, `u1`, ... and `y0`, `y1`, ...
    pub fn new(
        name: &str,
        inputs: usize,
        outputs: usize,
        rule: impl FnMut(f64, &[f64], &mut [f64]) -> Result<()> + Send + 'static,
    ) -> Self {
        Self {
            description: describe(name, inputs, outputs, true),
            overshoot: 0.0,
            rule: Box::new(rule),
            start: 0.0,
            u: vec![0.0; inputs],
        }
    }

    /// A toy with one output that is a function of time.
    pub fn source(name: &str, signal: impl Fn(f64) -> f64 + Send + 'static) -> Self {
        Self::new(name, 0, 1, move |t, _, y| {
            y[0] = signal(t);
            Ok(())
        })
    }

    /// A toy whose single output is 1, and the list of everything its single input has been.
    pub fn listener(name: &str) -> (Self, Arc<Mutex<Vec<f64>>>) {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let ear = Arc::clone(&heard);
        let toy = Self::new(name, 1, 1, move |_, u, y| {
            ear.lock().unwrap().push(u[0]);
            y[0] = 1.0;
            Ok(())
        });
        (toy, heard)
    }

    /// The toy with a typical size for its first output.
    pub fn with_nominal(mut self, nominal: f64) -> Self {
        self.description.outputs[0].nominal = Some(nominal);
        self
    }

    /// The toy as a subsystem.
    pub fn boxed(self) -> Box<dyn Subsystem> {
        Box::new(self)
    }
}

fn describe(name: &str, inputs: usize, outputs: usize, feedthrough: bool) -> Description {
    let port = |letter: &str, i: usize| Port { name: format!("{letter}{i}"), ..Port::default() };
    let through: costep_core::InputList = if feedthrough { (0..inputs).collect() } else { [].into() };
    Description {
        name: name.into(),
        inputs: (0..inputs).map(|i| port("u", i)).collect(),
        outputs: (0..outputs).map(|i| port("y", i)).collect(),
        feedthrough: vec![through; outputs],
        input_order: usize::MAX,
        ..Description::default()
    }
}

impl Subsystem for Toy {
    fn description(&self) -> &Description {
        &self.description
    }

    fn initialise(&mut self, experiment: &Experiment) -> Result<()> {
        self.start = experiment.start;
        Ok(())
    }

    fn initial_outputs(&mut self, u: &[f64], y: &mut [f64]) -> Result<()> {
        (self.rule)(self.start, u, y)
    }

    fn step(&mut self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        u.evaluate(interval.length, &mut self.u);
        (self.rule)(interval.end, &self.u, y)?;
        Ok(StepOutcome { reached: interval.end + self.overshoot })
    }

    fn terminate(&mut self) {}
}

costep_core::handles!(Toy {
    rollback: some,
    linearised: some,
    micro_recorder: none,
    environment: none,
    persistence: some,
    telemetry: none
});

/// A model without states that does not know the rule: right for constants, and a prediction of constants otherwise.
impl Linearised for Toy {
    fn level(&self) -> Linearisation {
        Linearisation::Full
    }

    fn states(&self) -> usize {
        0
    }

    fn origin(&self) -> ModelOrigin {
        ModelOrigin::Exact
    }

    fn local_model(&mut self, _u: &[f64], model: &mut LocalModel) -> Result<()> {
        model.d.fill(0.0);
        Ok(())
    }

    fn read_state(&mut self, _u: &[f64], _x: &mut [f64], _x_dot: &mut [f64]) -> Result<bool> {
        Ok(false)
    }
}

impl Rollback for Toy {
    fn snapshot(&mut self) -> Result<()> {
        Ok(())
    }

    fn restore(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Persistence for Toy {
    fn save(&self, _out: &mut StateWriter) -> Result<()> {
        Ok(())
    }

    fn load(&mut self, _from: &mut StateReader<'_>) -> Result<()> {
        Ok(())
    }
}

/// x' = u - x, y = gain x.
#[derive(Clone)]
pub struct Lag {
    description: Description,
    gain: f64,
    start: f64,
}

impl Lag {
    /// A lag with its state at the start.
    pub fn new(name: &str, gain: f64, start: f64) -> Self {
        Self { description: describe(name, 1, 1, false), gain, start }
    }
}

impl Renamable for Lag {
    fn description_mut(&mut self) -> &mut Description {
        &mut self.description
    }
}

impl Ode for Lag {
    fn description(&self) -> &Description {
        &self.description
    }

    fn states(&self) -> usize {
        1
    }

    fn initial_state(&self, x: &mut [f64]) {
        x[0] = self.start;
    }

    fn derivatives(&self, _t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) {
        x_dot[0] = u[0] - x[0];
    }

    fn outputs(&self, _t: f64, x: &[f64], _u: &[f64], y: &mut [f64]) {
        y[0] = self.gain * x[0];
    }

    fn jacobians(&self, _t: f64, _x: &[f64], _u: &[f64], model: &mut LocalModel) {
        (model.a[0], model.b[0], model.c[0], model.d[0]) = (-1.0, 1.0, self.gain, 0.0);
    }

    fn is_linear(&self) -> bool {
        true
    }
}

/// Subsystems with connections (output, input) of gain 1 under one method, in steps of 0.1 s.
pub fn wired(
    subsystems: Vec<Box<dyn Subsystem>>,
    connections: &[(usize, usize)],
    method: &MethodSpec,
) -> System {
    let connect = |(output, input): &(usize, usize)| Connection { output: *output, input: *input, gain: 1.0 };
    System::new(
        subsystems,
        connections.iter().map(connect).collect(),
        (method.build(), method.models()),
        Experiment { start: 0.0, stop: 10.0, step: 0.1 },
    )
}

/// The error that ends a run, wherever it comes up.
///
/// # Panics
///
/// If none does.
pub fn error_of(system: System) -> costep_core::Error {
    match Engine::new(system).and_then(|mut engine| engine.run(&mut [])) {
        Ok(()) => panic!("the run did not fail"),
        Err(error) => error,
    }
}

/// Everything a run shows after some steps, bit by bit.
///
/// # Panics
///
/// If a step fails.
pub fn bits_after(engine: &mut Engine, steps: usize) -> Vec<u64> {
    let mut bits = Vec::new();
    for _ in 0..steps {
        engine.step().unwrap();
        let signals = [engine.outputs(), engine.coupled(), engine.inputs().raw()];
        bits.extend(signals.into_iter().flatten().map(|value| value.to_bits()));
    }
    bits
}
