//! Controls that look at each coupled input over a step and at the outputs that it is connected to.

use std::ops::Range;

use costep_core::{
    AfterStep, Experiment, InputPolynomials, Layout, Result, Signals, StateReader, StateWriter, StepContext,
    Verdict,
};

use super::ControlSpec;
use super::paced::{Paced, Rule};
use super::pacing::{Pacing, StepError};
use super::ranges::Ranges;
use crate::step_control::{ControlView, InputTraits};

/// One input over a step that has been tried.
pub(super) struct InputOverStep {
    /// Its number.
    pub(super) j: usize,
    pub(super) of: InputTraits,
    /// What it is connected to, L y, at T^(k-1), T^k and T^(k+1); the first is not a number at the start of
    /// a run.
    pub(super) before: f64,
    pub(super) start: f64,
    pub(super) end: f64,
    /// What its error is measured by, see [`InputControl`].
    pub(super) range: f64,
    /// Mean of the input over the step, without its external share.
    pub(super) mean: f64,
    /// Its external share at both ends.
    pub(super) external: (f64, f64),
}

/// The error of an input as a share of its range.
pub(super) type InputError = fn(&InputOverStep, &StepContext, &InputPolynomials) -> StepError;

/// Part of its greatest range so far that an input is measured by at least.
const OF_GREATEST: f64 = 0.1;
/// The least activity of outputs that is told from rest.
const AT_REST: f64 = 1e-3;

/// Steps by the greatest error of an input.
///
/// An error is measured by the range of the input lately: that is what moves the outputs of its subsystem
/// lately. By how much these are wrong counts as a share of their greatest range: if they hardly move any
/// more, so much larger may errors be. Where all signals calm down together the two cancel; where a force
/// has calmed down and what it moves has not, small errors of it matter.
pub(super) struct InputControl {
    tolerance: f64,
    error: InputError,
    inputs: Vec<Option<InputTraits>>,
    ranges: Ranges,
    /// Of the outputs, and those of each input's subsystem.
    outputs: Ranges,
    moved: Vec<Range<usize>>,
    before: Vec<f64>,
    start: Vec<f64>,
    end: Vec<f64>,
    means: Vec<f64>,
    /// y at T^(k+1).
    y: Vec<f64>,
    /// Whether steps that were too long are done again where that is possible, and whether it is.
    may_go_back: bool,
    goes_back: bool,
}

impl InputControl {
    /// A control by this error of inputs. Steps that were far too long are done again where all subsystems
    /// can go back, if `may_go_back`.
    pub(super) fn control(
        spec: &ControlSpec,
        experiment: &Experiment,
        error: InputError,
        may_go_back: bool,
    ) -> Paced<Self> {
        let rule = Self {
            tolerance: spec.tolerance,
            error,
            inputs: Vec::new(),
            ranges: Ranges::default(),
            outputs: Ranges::default(),
            moved: Vec::new(),
            before: Vec::new(),
            start: Vec::new(),
            end: Vec::new(),
            means: Vec::new(),
            y: Vec::new(),
            may_go_back,
            goes_back: false,
        };
        Paced { pacing: Pacing::by_inputs(spec, experiment), rule }
    }

    /// How much the outputs move lately that an input may move.
    fn activity(&self, j: usize) -> f64 {
        let each = self.moved[j].clone().filter_map(|i| self.outputs.activity(i));
        each.reduce(f64::max).map_or(1.0, |most| most.max(AT_REST))
    }

    /// What the error of an input is measured by in a step between these values of what it is connected to.
    fn range(&self, j: usize, ends: (f64, f64), share: f64) -> f64 {
        let lately = self.ranges.lately(j, ends, share);
        (lately / self.activity(j)).max(OF_GREATEST * self.ranges.greatest(j))
    }

    fn greatest_error(&self, step: &StepContext, signals: &Signals<'_>, share: f64) -> StepError {
        let mut greatest = StepError::NONE;
        for (j, of) in self.inputs.iter().enumerate() {
            let Some(of) = *of else { continue };
            let (start, end) = (self.start[j], self.end[j]);
            let input = InputOverStep {
                j,
                of,
                before: self.before[j],
                start,
                end,
                range: self.range(j, (start, end), share),
                mean: self.means[j] - signals.external_mean[j],
                external: (signals.external[j], signals.external_next[j]),
            };
            let StepError { size, order } = (self.error)(&input, step, signals.inputs);
            greatest = greatest.or(StepError { size: size / self.tolerance, order });
        }
        greatest
    }
}

impl Rule for InputControl {
    fn prepare(&mut self, system: &ControlView<'_>) -> Result<()> {
        self.goes_back = self.may_go_back && system.without_rollback.is_none();
        self.inputs = system.inputs.to_vec();
        let ports = system.descriptions.iter().flat_map(|description| &description.inputs);
        self.ranges = Ranges::new(ports.map(|port| port.nominal));
        let ports = system.descriptions.iter().flat_map(|description| &description.outputs);
        self.outputs = Ranges::new(ports.map(|port| port.nominal));
        let layout = Layout::of(system.descriptions);
        let moved = |j: usize| layout.output_range(layout.input_owner(j));
        self.moved = (0..system.inputs.len()).map(moved).collect();
        let room = || vec![f64::NAN; system.inputs.len()];
        (self.before, self.start, self.end, self.means) = (room(), room(), room(), room());
        self.y = vec![0.0; layout.outputs()];
        Ok(())
    }

    fn accepted(&mut self, step: &StepContext, pacing: &mut Pacing) {
        let share = pacing.share(step.h);
        for j in 0..self.inputs.len() {
            self.ranges.add(j, self.start[j], 0.0);
            self.ranges.add(j, self.end[j], share);
        }
        self.y.iter().enumerate().for_each(|(i, y)| self.outputs.add(i, *y, share));
        std::mem::swap(&mut self.before, &mut self.start);
    }

    fn after_step(&self) -> AfterStep {
        if self.goes_back { AfterStep::Judge } else { AfterStep::Look }
    }

    fn judge(&mut self, step: &StepContext, signals: &Signals<'_>, pacing: &mut Pacing) -> Result<Verdict> {
        signals.inputs.means(step.h, &mut self.means);
        for j in (0..self.inputs.len()).filter(|j| self.inputs[*j].is_some()) {
            // Not the coupled inputs that methods form: L y alone is there at both ends of a step.
            self.start[j] = signals.coupling.row(j, signals.y);
            self.end[j] = signals.coupling.row(j, signals.y_next);
        }
        self.y.copy_from_slice(signals.y_next);
        let progress = pacing.progress();
        self.ranges.see(progress);
        self.outputs.see(progress);
        let error = self.greatest_error(step, signals, pacing.share(step.h));
        let shorter = pacing.judge(step, error, self.goes_back);
        Ok(shorter.map_or(Verdict::Accept, |shorter| Verdict::Reject { shorter }))
    }

    fn save(&self, out: &mut StateWriter) {
        self.ranges.save(out);
        self.outputs.save(out);
        out.reals(&self.before);
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.ranges.load(from)?;
        self.outputs.load(from)?;
        from.reals(&mut self.before)
    }
}
