//! A second solution beside a run that has ended, at the points of which the run has kept samples: the monolithic system, or the
//! same coupling at half the step. What a verdict rests on if no reference is asked for.

use costep_core::{Description, Experiment, Result};
use costep_engine::{Engine, Flow};
use costep_integrate::Solver;
use costep_system::SystemDescription;

use crate::amplitude_windows::Amplitudes;
use crate::compared_outputs::ComparedOutputs;
use crate::measures::Accuracy;
use crate::reference::{Patience, equal_steps, solve};
use crate::samples::Samples;
use crate::stability::Growth;
use crate::watch::RunWatch;

/// By how much the difference of two runs, one at half the step, has to be multiplied to give the error of the first: 2 for methods of
/// order 1, 4/3 for order 2, 1 where the first one is far off.
const FROM_HALF_STEP: f64 = 1.5;

/// What a run is compared with where nobody has asked for a reference.
#[derive(Clone, Debug)]
pub struct Companion {
    /// Of the compared outputs.
    amplitudes: Amplitudes,
    /// Of the difference between run and companion.
    errors: Amplitudes,
    /// The difference as an error of the run.
    pub accuracy: Accuracy,
    /// How much of the run was compared, and at how many points.
    pub share: f64,
    /// See `share`.
    pub points: usize,
}

impl Companion {
    /// The whole model solved as one.
    pub fn monolithic(
        model: &SystemDescription,
        solver: Solver,
        experiment: &Experiment,
        (run, patience): (&RunWatch, Patience<'_>),
    ) -> Result<Self> {
        let mut pairs = Pairs::new(run.samples(), model.layout().outputs());
        let see = |t: f64, y: &[f64], _: &_| {
            pairs.add(t, y);
            patience().map(|()| Flow::Continue)
        };
        // At all points, for the amplitudes; where steps varied, at those of the samples.
        let amplitudes = match run.samples().varying_steps() {
            None => solve(model, solver, (experiment, equal_steps(experiment)), see),
            Some(steps) => solve(model, solver, (experiment, steps), see),
        }?;
        let descriptions: Vec<_> = model.parts.iter().map(|part| part.description().clone()).collect();
        Ok(pairs.compare(amplitudes, &descriptions, 1.0))
    }

    /// The same coupled system at half the step, up to this share of the run. `observe` sees every communication point of it, and may
    /// end it before.
    pub fn half_step(
        engine: &mut Engine,
        run: &RunWatch,
        share: f64,
        mut observe: impl FnMut(&Engine) -> Result<Flow>,
    ) -> Result<Self> {
        let outputs = engine.outputs().len();
        let mut pairs = Pairs::new(run.samples(), outputs);
        let mut amplitudes = Amplitudes::new(outputs);
        engine.run_with(|engine| {
            amplitudes.add(engine.progress(), engine.outputs());
            pairs.add(engine.time(), engine.outputs());
            let flow = observe(engine)?;
            Ok(if engine.progress() >= share { Flow::Stop } else { flow })
        })?;
        let share = if engine.is_over() { 1.0 } else { engine.progress() };
        Ok(Self { share, ..pairs.compare(amplitudes, engine.descriptions(), FROM_HALF_STEP) })
    }

    /// Whether the run is bad by this companion.
    pub fn says_bad(&self, run: &RunWatch) -> bool {
        self.accuracy.is_inaccurate() || self.says_unstable(run)
    }

    /// Whether the run is unstable by this companion: growth shows in a whole run only.
    pub fn says_unstable(&self, run: &RunWatch) -> bool {
        if self.share < 1.0 {
            return false;
        }
        let own = run.amplitudes();
        let each = self.accuracy.outputs.iter().zip(&self.amplitudes.0).zip(&self.errors.0);
        each.map(|((i, reference), error)| Growth { own: own.0[*i], reference: *reference, error: *error })
            .any(|growth| growth.is_unstable(run.can_judge()))
    }
}

/// Rows of the run and of its companion at the same times.
struct Pairs<'a> {
    samples: &'a Samples,
    /// Samples that have found their counterpart, in the order of time.
    found: usize,
    other: Vec<f64>,
    errors: Amplitudes,
    difference: Vec<f64>,
}

impl<'a> Pairs<'a> {
    fn new(samples: &'a Samples, outputs: usize) -> Self {
        let (other, errors) = (Vec::new(), Amplitudes::new(outputs));
        Self { samples, found: 0, other, errors, difference: vec![0.0; outputs] }
    }

    fn add(&mut self, time: f64, y: &[f64]) {
        let Some((row, share)) = self.samples.at(self.found, time, y.len()) else { return };
        self.difference.iter_mut().zip(row).zip(y).for_each(|((difference, own), y)| *difference = own - y);
        self.errors.add(share, &self.difference);
        self.other.extend_from_slice(y);
        self.found += 1;
    }

    fn compare(self, amplitudes: Amplitudes, descriptions: &[Description], factor: f64) -> Companion {
        let compared = ComparedOutputs::of(descriptions);
        let own = compared.rows(&self.samples.rows()[..self.other.len()]);
        let (other, weights) = (compared.rows(&self.other), self.samples.weights(self.found));
        let [amplitudes, errors] = [&amplitudes, &self.errors].map(|all| compared.amplitudes(all));
        let accuracy = Accuracy::of(&own, &other, (&compared, &weights), &amplitudes).scaled(factor);
        Companion { amplitudes, errors, accuracy, share: 1.0, points: self.found }
    }
}
