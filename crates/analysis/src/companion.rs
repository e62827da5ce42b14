//! A second solution beside a run that has ended, at the points of which the run has kept samples: the monolithic system, or the
//! same coupling at half the step. What a verdict rests on if no reference is asked for.

use costep_core::{Description, Experiment, Result};
use costep_engine::{Engine, Flow};
use costep_integrate::Solver;
use costep_system::SystemDescription;

use crate::amplitude_windows::Amplitudes;
use crate::measures::{Accuracy, nominal};
use crate::reference::solve;
use crate::stability::Growth;
use crate::watch::RunWatch;

/// By how much the difference of two runs, one at half the step, has to be multiplied to give the error of the first: 2 for methods of
/// order 1, 4/3 for order 2, 1 where the first one is far off.
const FROM_HALF_STEP: f64 = 1.5;

/// What a run is compared with where nobody has asked for a reference.
#[derive(Clone, Debug)]
pub struct Companion {
    amplitudes: Amplitudes,
    /// Of the difference between run and companion.
    errors: Amplitudes,
    /// The difference as an error of the run.
    pub accuracy: Accuracy,
}

impl Companion {
    /// The whole model solved as one.
    pub fn monolithic(
        model: &SystemDescription,
        solver: Solver,
        experiment: &Experiment,
        run: &RunWatch,
    ) -> Result<Self> {
        let (outputs, steps) = (model.layout().outputs(), experiment.steps());
        let mut pairs = Pairs::new(run, steps, outputs);
        let amplitudes = solve(model, solver, experiment, |k, y, _| pairs.add(k, y))?;
        let descriptions: Vec<_> = model.parts.iter().map(|part| part.description().clone()).collect();
        Ok(pairs.compare(amplitudes, &descriptions, 1.0))
    }

    /// The same coupled system at half the step. `observe` sees every communication point of it and may end it.
    pub fn half_step(
        engine: &mut Engine,
        run: &RunWatch,
        mut observe: impl FnMut(&Engine) -> Result<Flow>,
    ) -> Result<Self> {
        let (outputs, steps) = (engine.outputs().len(), engine.experiment().steps().div_ceil(2));
        let mut pairs = Pairs::new(run, steps, outputs);
        let mut amplitudes = Amplitudes::new(outputs);
        engine.run_with(|engine| {
            amplitudes.add(engine.progress(), engine.outputs());
            if engine.k().is_multiple_of(2) {
                pairs.add(engine.k() / 2, engine.outputs());
            }
            observe(engine)
        })?;
        Ok(pairs.compare(amplitudes, engine.descriptions(), FROM_HALF_STEP))
    }

    /// Whether the run is unstable by this companion.
    pub fn says_unstable(&self, run: &RunWatch) -> bool {
        let own = run.amplitudes();
        let each = own.0.iter().zip(&self.amplitudes.0).zip(&self.errors.0);
        each.map(|((own, reference), error)| Growth { own: *own, reference: *reference, error: *error })
            .any(|growth| growth.is_unstable(run.can_judge()))
    }
}

/// Rows of the run and of its companion at the same points.
struct Pairs<'a> {
    sample: Box<dyn FnMut(u64) -> Option<&'a [f64]> + 'a>,
    steps: u64,
    own: Vec<f64>,
    other: Vec<f64>,
    errors: Amplitudes,
    difference: Vec<f64>,
}

impl<'a> Pairs<'a> {
    fn new(run: &'a RunWatch, steps: u64, outputs: usize) -> Self {
        Self {
            sample: Box::new(run.samples().reader(steps, outputs)),
            steps,
            own: Vec::new(),
            other: Vec::new(),
            errors: Amplitudes::new(outputs),
            difference: vec![0.0; outputs],
        }
    }

    fn add(&mut self, k: u64, y: &[f64]) {
        let Some(row) = (self.sample)(k) else { return };
        self.difference.iter_mut().zip(row).zip(y).for_each(|((difference, own), y)| *difference = own - y);
        self.errors.add(k as f64 / self.steps.max(1) as f64, &self.difference);
        self.own.extend_from_slice(row);
        self.other.extend_from_slice(y);
    }

    fn compare(self, amplitudes: Amplitudes, descriptions: &[Description], factor: f64) -> Companion {
        let accuracy = Accuracy::of(&self.own, &self.other, &nominal(descriptions)).scaled(factor);
        Companion { amplitudes, errors: self.errors, accuracy }
    }
}
