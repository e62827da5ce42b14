//! The trait of everything that can be coupled: native models, later FMUs.

use crate::{
    Code, Companion, Description, Error, InputSegment, LocalModel, MicroSamples, ModelOrigin, Result, Row,
    StateReader, StateWriter, StepLengths,
};

/// The time span a run covers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Experiment {
    /// Start time in s.
    pub start: f64,
    /// End time in s.
    pub stop: f64,
    /// Macro step in s.
    pub step: f64,
}

impl Experiment {
    /// Number of macro steps: the run ends at the first communication point at or after the stop time, so
    /// that all steps are equal.
    pub fn steps(&self) -> u64 {
        let steps = (self.stop - self.start) / self.step;
        // A stop time that is a multiple of the step up to the round-off of the times gets no step more.
        let round_off =
            8.0 * f64::EPSILON * (self.start.abs().max(self.stop.abs()) / self.step + steps.abs());
        (steps - round_off).ceil().max(0.0) as u64
    }

    /// Time of communication point k. Always computed from k: adding h step by step would drift.
    #[inline]
    pub fn time(&self, k: u64) -> f64 {
        // There are far fewer steps than 2^63, and a signed number is converted by one instruction.
        self.start + k as i64 as f64 * self.step
    }

    /// Macro step k.
    #[inline]
    pub fn interval(&self, k: u64) -> Interval {
        Interval { start: self.time(k), end: self.time(k + 1), length: self.step }
    }
}

/// One macro step. The end of a step is bit for bit the start of the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// T^k.
    pub start: f64,
    /// T^(k+1).
    pub end: f64,
    /// h as it was asked for. `end - start` differs from it by the round-off of the time, late in a run by much;
    /// integrators and methods use this one, so that equal steps are equal and a resumed run has the same bits.
    pub length: f64,
}

impl Interval {
    /// An interval whose length is the difference of its ends.
    pub fn new(start: f64, end: f64) -> Self {
        Self { start, end, length: end - start }
    }
}

/// What a step that did not fail reports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepOutcome {
    /// The time the subsystem has reached; the engine compares it with the end asked for.
    pub reached: f64,
}

/// What an integrator with error control has done so far in this process, discarded attempts included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SolverCounts {
    /// Accepted inner steps.
    pub steps: u64,
    /// Evaluations of the equations, those for corrections and differences included.
    pub evaluations: u64,
    /// Jacobians.
    pub jacobians: u64,
    /// Inner steps repeated because of their error.
    pub error_failures: u64,
    /// Inner steps repeated because Newton's iteration did not converge.
    pub convergence_failures: u64,
}

/// A simulator of one part.
///
/// Call order: `initialise`, `initial_outputs` (any number of times), then `step` with intervals that join.
/// `snapshot` and `restore` between steps; `save` and `load` after `initialise`; `terminate` last.
pub trait Subsystem: Send {
    /// Ports, feed-through, capabilities. Never changes.
    fn description(&self) -> &Description;

    /// Puts the subsystem into its initial state.
    fn initialise(&mut self, experiment: &Experiment) -> Result<()>;

    /// The outputs of the initial state under these inputs.
    fn initial_outputs(&mut self, u: &[f64], y: &mut [f64]) -> Result<()>;

    /// Advances over `interval` under the inputs `u` and gives the outputs at its end, under the input that
    /// is active there.
    fn step(&mut self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome>;

    /// Joins the row of its neighbour to the left, or begins one. False if it does not.
    fn join_row(&mut self, _row: &mut Option<Box<dyn Row>>) -> bool {
        false
    }

    /// The lengths of the steps that it can do beside its macro steps.
    fn step_lengths(&self) -> StepLengths {
        StepLengths::Any
    }

    /// Whether it can do steps of this length beside its macro steps.
    fn can_step_by(&self, length: f64) -> bool {
        self.step_lengths().allow(length)
    }

    /// Advances over `interval` with a model of the rest of the system integrated beside its own states: the inputs are
    /// `u` and the answer of the rest.
    fn step_with(
        &mut self,
        _interval: Interval,
        _u: InputSegment<'_>,
        _rest: &Companion,
        _y: &mut [f64],
    ) -> Result<StepOutcome> {
        Err(self.unsupported("a model of the rest beside its own states").hint(
            "built-in models do, and Model Exchange FMUs without a process of their own; for others: `predictive`",
        ))
    }

    /// The inputs that its outputs were last read under, where these are not the ends of the polynomials it was given.
    fn input_at_end(&self) -> Option<&[f64]> {
        None
    }

    /// Remembers the state. Needs `capabilities.rollback`.
    fn snapshot(&mut self) -> Result<()> {
        Err(self.unsupported("rollback"))
    }

    /// Goes back to the last snapshot. Needs `capabilities.rollback`.
    fn restore(&mut self) -> Result<()> {
        Err(self.unsupported("rollback"))
    }

    /// Number of states of its local model, or that can be read.
    fn states(&self) -> usize {
        0
    }

    /// How [`Subsystem::local_model`] computes it.
    fn local_model_origin(&self) -> ModelOrigin {
        ModelOrigin::Exact
    }

    /// A, B, C, D, x and x' at the present state and time under the input `u`, or D alone: as much as
    /// `capabilities.linearisation` says. What is not known is left as it is.
    fn local_model(&mut self, _u: &[f64], _model: &mut LocalModel) -> Result<()> {
        Err(self.unsupported("a local model"))
    }

    /// x and x' at the present state and time under the input `u`. False if they cannot be read.
    fn read_state(&mut self, _u: &[f64], _x: &mut [f64], _x_dot: &mut [f64]) -> Result<bool> {
        Ok(false)
    }

    /// Asks for [`Subsystem::micro_samples`] of the steps that follow. Needs `capabilities.micro_samples`.
    fn record_micro_samples(&mut self, _on: bool, _experiment: &Experiment) {}

    /// Leaves the steps that follow out of [`Subsystem::micro_samples`], or takes them in again: trial steps must not
    /// hide the last real one.
    fn pause_micro_samples(&mut self, _on: bool) {}

    /// Outputs inside the last step, if asked for.
    fn micro_samples(&self) -> Option<MicroSamples<'_>> {
        None
    }

    /// Names of numbers that tell how its last step was done. Never changes.
    fn diagnostic_names(&self) -> &[&'static str] {
        &[]
    }

    /// These numbers, in the order of their names.
    fn diagnostics(&self, _row: &mut [f64]) {}

    /// What its integrator has done, if that chooses its steps itself.
    fn solver_counts(&self) -> Option<SolverCounts> {
        None
    }

    /// Stored energy at the end of the last step in J, as far as the subsystem knows it.
    fn energy(&self) -> Option<f64> {
        None
    }

    /// Writes the whole state to a checkpoint.
    fn save(&self, _out: &mut StateWriter) -> Result<()> {
        Err(self.unsupported("checkpoints"))
    }

    /// Reads the whole state from a checkpoint.
    fn load(&mut self, _from: &mut StateReader<'_>) -> Result<()> {
        Err(self.unsupported("checkpoints"))
    }

    /// Ends it. Never fails.
    fn terminate(&mut self) {}

    /// The error for something it cannot do.
    fn unsupported(&self, what: &str) -> Error {
        Error::new(Code::NeedsMissing, format!("`{}` does not support {what}", self.description().name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_covers_its_stop_time_with_equal_steps() {
        let run = |stop, step| Experiment { start: 0.0, stop, step }.steps();
        assert_eq!(run(0.1, 0.001), 100);
        assert_eq!(run(0.1, 0.003), 34);
        assert_eq!(run(0.3, 0.1), 3);
        assert_eq!(run(0.0, 0.1), 0);
        assert_eq!(run(30000.0, 0.3e-3), 100_000_000);
        assert_eq!(Experiment { start: 1e5, stop: 100_000.3, step: 1e-4 }.steps(), 3000);
    }

    #[test]
    fn times_do_not_drift_in_ten_million_steps() {
        let run = Experiment { start: 0.1, stop: 1e6, step: 0.1 };
        let mut end = run.start;
        for k in 0..10_000_000 {
            let interval = run.interval(k);
            // Where one step ends, the next one starts, and none is further than round-off from where it should be.
            assert!(interval.start == end && interval.end > interval.start && interval.length == run.step);
            end = interval.end;
            assert!((end - (k + 2) as f64 / 10.0).abs() <= 4.0 * f64::EPSILON * end, "{k}: {end}");
        }
    }
}
