//! Implicit coupling: a macro step is repeated, from the same state, until its inputs fit the outputs that they cause.
//!
//! ```text
//! unknown     U = L y at the end of the step, of the inputs whose sources have not stepped before
//! inputs      u(s) = p(s) + (U - E) w(s): a prediction p that expects E, and the shape w, w(0) = 0, w(h) = 1
//! step        H(U) = L y^(k+1) under these inputs
//! residual    R(U) = H(U) - U;   done when |R / scale|_rms <= tolerance
//! ```
//!
//! The methods differ in how the next U follows from R ([`Update`]): relaxation, quasi-Newton, Newton. Everything else is here.
//! Inputs that a subsystem can only hold get the mean of the line, or its end value where outputs follow them at once: read
//! under the mean, these would be half a step old.

pub(crate) mod columns;
pub(crate) mod options;
mod outcome;
mod predictor;
pub(crate) mod shape;
mod unknowns;

use costep_core::{
    AfterStep, Arrival, CouplingMethod, InputShape, KnownInputs, LowerOrders, ModelsSpec, Options, Request,
    Result, Signals, StateReader, StateWriter, StepContext, Sweep, SystemView, Verdict,
};

use crate::shared::interface::is_torn;
use options::{IterationOptions, SweepKind, WithoutConvergence};
use outcome::Outcome;
use predictor::Prediction;
use unknowns::Unknowns;

/// What came of the last try of a step.
pub(crate) struct Trial<'a> {
    /// U, per unknown.
    pub(crate) guess: &'a [f64],
    /// H(U).
    pub(crate) ends: &'a [f64],
    /// R(U) / scale.
    pub(crate) residual: &'a [f64],
    /// Its root mean square.
    pub(crate) norm: f64,
    /// Of each unknown.
    pub(crate) scale: &'a [f64],
    /// The input that each unknown belongs to.
    pub(crate) inputs: &'a [usize],
}

impl Trial<'_> {
    /// U + w R.
    pub(crate) fn relax(&self, factor: f64, next: &mut [f64]) {
        for (n, next) in next.iter_mut().enumerate() {
            *next = self.guess[n] + factor * (self.ends[n] - self.guess[n]);
        }
    }
}

/// What the next try is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextTry {
    /// A better U.
    Better,
    /// A look at how the outputs respond.
    Probe,
}

/// How the next U follows from what came of the last ones.
pub(crate) trait Update: Send {
    /// Lets it choose how to work from what the subsystems offer.
    fn choose(&mut self, _system: &SystemView<'_>) {}

    /// What it asks for beside what all of them do: models, known inputs, equal steps.
    fn request(&self) -> Request {
        Request::default()
    }

    /// Takes its memory, for these unknowns.
    fn prepare(&mut self, system: &SystemView<'_>, unknowns: &[usize]) -> Result<()>;

    /// A step begins, or is tried anew with another length. The weights tell what an input does when its U changes.
    fn begin(&mut self, step: &StepContext, signals: &Signals<'_>, weights: &shape::Weights) -> Result<()>;

    /// The next U, in place of the last one.
    fn improve(&mut self, trial: &Trial<'_>, signals: &Signals<'_>, next: &mut [f64]) -> NextTry;

    /// Writes its memory to a checkpoint.
    fn save(&self, out: &mut StateWriter);

    /// Reads its memory from a checkpoint.
    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()>;
}

/// A method that repeats steps.
pub(crate) struct Iteration {
    id: &'static str,
    options: IterationOptions,
    sweep: SweepKind,
    update: Box<dyn Update>,
    unknowns: Unknowns,
    prediction: Prediction,
    weights: shape::Weights,
    /// U of the try that is under way, and of the next one.
    guess: Vec<f64>,
    next: Vec<f64>,
    ends: Vec<f64>,
    residual: Vec<f64>,
    /// What the last try was for.
    kind: NextTry,
    outcome: Outcome,
    /// Length of the step that is tried.
    h: f64,
    longest: f64,
    is_torn: bool,
}

/// Why a group of connections converges worse than all of them together.
const TORN: &str = "its group does not contain all loops of connections: loops through several groups are iterated without a \
                    look at each other, and may not converge; put all connections of a loop into one group";

/// A try goes no farther than so many sizes of an unknown: subsystems must not see values that mean nothing.
const FARTHEST: f64 = 100.0;
/// A step is not halved more often than this.
const MOST_HALVINGS: i32 = 12;

impl Iteration {
    /// The method of this name.
    pub(crate) fn new(
        id: &'static str,
        (options, models): (&Options, &ModelsSpec),
        sweep: SweepKind,
        update: Box<dyn Update>,
    ) -> Self {
        let own = IterationOptions::read(options);
        Self {
            id,
            sweep,
            update,
            unknowns: Unknowns::default(),
            prediction: Prediction::new(own.predictor, options, models),
            options: own,
            weights: shape::Weights::default(),
            guess: Vec::new(),
            next: Vec::new(),
            ends: Vec::new(),
            residual: Vec::new(),
            kind: NextTry::Better,
            outcome: Outcome::default(),
            h: 0.0,
            longest: 0.0,
            is_torn: false,
        }
    }

    /// Predicts the inputs of a step and takes what they expect as the first U.
    fn set_out(&mut self, step: &StepContext, signals: &mut Signals<'_>) -> Result<()> {
        self.h = step.h;
        self.kind = NextTry::Better;
        self.outcome.begin();
        self.unknowns.note(signals);
        self.weights.set(step, signals.history);
        self.prediction.predict(step, signals)?;
        self.prediction.expected(&self.unknowns.inputs, &mut self.guess);
        self.update.begin(step, signals, &self.weights)
    }

    /// R of the try that has been done, and its root mean square.
    fn look(&mut self, signals: &Signals<'_>) -> f64 {
        let Unknowns { inputs, scale, .. } = &mut self.unknowns;
        for (n, j) in inputs.iter().enumerate() {
            self.ends[n] = signals.coupling.row(*j, signals.y_next);
            if self.outcome.sweeps == 0 {
                scale[n] = scale[n].max(self.ends[n].abs()).max(self.guess[n].abs());
            }
            let difference = self.ends[n] - self.guess[n];
            self.residual[n] = if difference == 0.0 { 0.0 } else { difference / scale[n] };
        }
        let squares: f64 = self.residual.iter().map(|r| r * r).sum();
        (squares / self.residual.len().max(1) as f64).sqrt()
    }

    #[cold]
    fn accept_as_it_is(&mut self, step: &StepContext) -> Verdict {
        self.outcome.accept_as_it_is(step, self.unknowns.worst(&self.residual));
        self.outcome.describe(&self.unknowns.names, self.options.tolerance);
        Verdict::Accept
    }

    #[cold]
    fn give_up(&mut self, step: &StepContext, signals: &Signals<'_>) -> Result<Verdict> {
        let worst = self.unknowns.worst(&self.residual);
        let halved = self.longest / step.h;
        let can_halve = halved < f64::from(1 << MOST_HALVINGS);
        match self.options.without_convergence {
            WithoutConvergence::Halve if can_halve => {
                self.outcome.halve(step, worst);
                self.outcome.describe(&self.unknowns.names, self.options.tolerance);
                Ok(Verdict::Reject { shorter: 0.5 * step.h })
            }
            WithoutConvergence::Accept => Ok(self.accept_as_it_is(step)),
            WithoutConvergence::Halve | WithoutConvergence::Stop => {
                let ends = (self.guess[worst], self.ends[worst]);
                let name = &self.unknowns.names[worst];
                let error = self.outcome.error(step, (name, ends), self.options.tolerance);
                Err(error.because(self.unknowns.origin(worst, signals)))
            }
        }
    }
}

impl CouplingMethod for Iteration {
    fn choose(&mut self, system: &SystemView<'_>) -> Result<()> {
        self.update.choose(system);
        self.prediction.choose(system)
    }

    fn warning(&self) -> Option<&str> {
        self.outcome.warning().or(self.is_torn.then_some(TORN))
    }

    fn request(&self) -> Request {
        let (first, update) = (self.prediction.request(), self.update.request());
        let order = shape::order(self.options.inputs).max(first.inputs.order());
        let keeps = [first, update].iter().any(|request| request.known_inputs == KnownInputs::Kept);
        Request {
            inputs: InputShape::Polynomials { order, lower: LowerOrders::Kept },
            known_inputs: if keeps { KnownInputs::Kept } else { KnownInputs::Interpolated },
            models: first.models.and(update.models),
            after_step: AfterStep::Judge,
            history: first.history.max(1),
            lengths: first.lengths.max(update.lengths),
            // Who forms all inputs knows none of them before.
            sweep: match self.sweep {
                SweepKind::GaussSeidel if !keeps => Sweep::Sequential,
                SweepKind::GaussSeidel | SweepKind::Jacobi => Sweep::Parallel,
            },
            ..first
        }
    }

    fn divides(&mut self, step: &StepContext, signals: &Signals<'_>) -> bool {
        self.prediction.divides(step, signals)
    }

    fn form_coupled(&mut self, arrival: &Arrival<'_>, coupled: &mut [f64]) -> Result<()> {
        self.prediction.form_coupled(arrival, coupled)
    }

    fn prepare(&mut self, system: &SystemView<'_>) -> Result<()> {
        self.unknowns = Unknowns::new(system);
        self.weights = shape::Weights::new(self.options.inputs, system);
        self.prediction.prepare(self.options.inputs, system)?;
        let count = self.unknowns.inputs.len();
        for values in [&mut self.guess, &mut self.next, &mut self.ends, &mut self.residual] {
            *values = vec![0.0; count];
        }
        self.outcome = Outcome::new(self.id);
        self.longest = system.step;
        self.is_torn = is_torn(system);
        self.update.prepare(system, &self.unknowns.inputs)
    }

    fn pre_step(&mut self, step: &StepContext, signals: &mut Signals<'_>) -> Result<()> {
        if step.repetition == 0 || step.h != self.h {
            self.set_out(step, signals)?;
        }
        self.prediction.write(&self.weights, (&self.unknowns.inputs, &self.guess), signals);
        Ok(())
    }

    fn post_step(&mut self, step: &StepContext, signals: &Signals<'_>) -> Result<Verdict> {
        let norm = self.look(signals);
        let was_probe = self.kind == NextTry::Probe;
        self.outcome.note(norm, was_probe);
        if !was_probe && norm <= self.options.tolerance {
            return Ok(Verdict::Accept);
        }
        if !was_probe && step.h < self.options.accept_below {
            return Ok(self.accept_as_it_is(step));
        }
        if !was_probe && self.outcome.tries >= self.options.max_iterations {
            return self.give_up(step, signals);
        }
        let trial = Trial {
            guess: &self.guess,
            ends: &self.ends,
            residual: &self.residual,
            norm,
            scale: &self.unknowns.scale,
            inputs: &self.unknowns.inputs,
        };
        self.kind = self.update.improve(&trial, signals, &mut self.next);
        for (n, next) in self.next.iter_mut().enumerate() {
            let room = FARTHEST * self.unknowns.scale[n];
            // Not `clamp`, which panics at sizes that a damaged checkpoint may have.
            *next = next.max(self.guess[n] - room).min(self.guess[n] + room);
        }
        std::mem::swap(&mut self.guess, &mut self.next);
        Ok(Verdict::Repeat)
    }

    fn diagnostic_names(&self) -> Vec<String> {
        ["iterations", "residual"].iter().map(|name| format!("{}.{name}", self.id)).collect()
    }

    fn diagnostics(&self, row: &mut [f64]) {
        (row[0], row[1]) = (self.outcome.sweeps as f64, self.outcome.norm);
    }

    fn save(&self, out: &mut StateWriter) {
        self.unknowns.save(out);
        self.outcome.save(out);
        self.update.save(out);
        self.prediction.save(out);
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.unknowns.load(from)?;
        self.outcome.load(from)?;
        self.outcome.describe(&self.unknowns.names, self.options.tolerance);
        self.update.load(from)?;
        self.prediction.load(from)
    }
}

#[cfg(test)]
mod tests {
    use super::options::Shape;
    use super::*;

    #[test]
    fn orders_follow_the_shape() {
        assert_eq!([Shape::Held, Shape::Linear, Shape::Quadratic].map(shape::order), [0, 1, 2]);
    }
}
