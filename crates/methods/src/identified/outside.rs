//! External inputs as ramps see them: at every point their mean over the length of a step around it.
//!
//! What a step does in all is then right wherever a signal jumps, and inputs still go on from where they were, as the
//! identified models expect; values at the points themselves would lag or lead by up to half a step.
//!
//! Held inputs take the middle between both ends. But an input that nothing else is connected to and that acts by its integral alone gets the mean over
//! the step itself where the signal jumps nearby: the middle would spread the jump over two steps.
//!
//! A subsystem outside of all loops needs none of that. It gets its external signals as they are, the mean over the step or the nearest line, as
//! from any other method.

use costep_core::{External, InputSet, Interval, Result, Signals, StateReader, StateWriter, SystemView};

use super::scope::Scope;
use crate::shared::law::Form;

/// Means of a constant differ by round-off.
const ROUND_OFF: f64 = 1e-12;

/// r per input at both ends of a step, zero where nothing comes from outside.
#[derive(Default)]
pub(super) struct Outside {
    start: Vec<f64>,
    end: Vec<f64>,
    /// What held inputs get of it.
    held: Vec<f64>,
    /// Inputs without connections and without direct feedthrough,
    is_alone: Vec<bool>,
    /// and those of them that are known to act by their integral alone.
    by_integral: Vec<bool>,
    /// Inputs of subsystems outside of all loops,
    is_apart: Vec<bool>,
    /// and those of them without connections, so that all of their course is known.
    known: Vec<usize>,
    /// Inputs that get lines: these, where inputs are ramps.
    has_line: Vec<bool>,
    /// Nothing is known of signals before this time.
    since: f64,
}

impl Outside {
    pub(super) fn new(system: &SystemView<'_>, form: Form, scope: &Scope) -> Self {
        let layout = system.layout;
        let is_connected = |j: usize| system.coupling.sources(j).next().is_some();
        let is_alone = |j: usize| {
            let owner = layout.input_owner(j);
            let port = j - layout.input_range(owner).start;
            !is_connected(j)
                && !system.descriptions[owner].feedthrough_lists().any(|list| list.contains(&port))
        };
        let is_apart = |j: usize| !scope.is_in_loop(layout.input_owner(j));
        let nothing = vec![0.0; layout.inputs()];
        Self {
            start: nothing.clone(),
            end: nothing.clone(),
            held: nothing,
            is_alone: (0..layout.inputs()).map(is_alone).collect(),
            by_integral: vec![false; layout.inputs()],
            is_apart: (0..layout.inputs()).map(is_apart).collect(),
            known: system.inputs.iter().filter(|j| is_apart(*j) && !is_connected(*j)).collect(),
            has_line: (0..layout.inputs())
                .map(|j| form == Form::Ramp && is_apart(j) && !is_connected(j))
                .collect(),
            since: f64::NEG_INFINITY,
        }
    }

    /// Tells whether an input has been found to act by its integral over a step alone.
    pub(super) fn act_by_integral(&mut self, j: usize, is_found: bool) {
        self.by_integral[j] = is_found && self.is_alone[j];
    }

    /// Tells when the run begins.
    pub(super) fn begin(&mut self, t: f64) {
        self.since = t;
    }

    /// Looks at the step from t on.
    pub(super) fn look(&mut self, (t, h): (f64, f64), inputs: &InputSet, signals: &Signals<'_>) {
        for (j, _) in signals.externals {
            (self.start[*j], self.end[*j], self.held[*j]) = (0.0, 0.0, 0.0);
        }
        let around = |signal: &External, t: f64| signal.mean((t - 0.5 * h).max(self.since), t + 0.5 * h);
        for (j, signal) in signals.externals.iter().filter(|(j, _)| inputs.contains(*j)) {
            let jumps = || signal.next_jump(t - 0.5 * h).is_some_and(|jump| jump < t + 1.5 * h);
            let (start, end) = if self.has_line[*j] {
                line(signal, (t, h))
            } else {
                (around(signal, t), around(signal, t + h))
            };
            self.start[*j] += start;
            self.end[*j] += end;
            let is_itself = self.is_apart[*j] || (self.by_integral[*j] && jumps());
            self.held[*j] += if is_itself { signal.mean(t, t + h) } else { 0.5 * (start + end) };
        }
    }

    /// Puts the beginning of ramps that are known where their signals begin. Whether it was another.
    pub(super) fn begin_known(&self, u: &mut [f64]) -> bool {
        let is_another = self.known.iter().any(|j| u[*j] != self.start[*j]);
        self.known.iter().for_each(|j| u[*j] = self.start[*j]);
        is_another
    }

    /// Leaves inputs that are known what their signals are.
    pub(super) fn restore_known(&self, form: Form, u: &mut [f64]) {
        self.known.iter().for_each(|j| u[*j] = self.over_step(form)[*j]);
    }

    /// r at both ends of the step.
    pub(super) fn ends(&self) -> (&[f64], &[f64]) {
        (&self.start, &self.end)
    }

    /// What held inputs get over the step.
    pub(super) fn held(&self) -> &[f64] {
        &self.held
    }

    /// What inputs of this form get by its end.
    pub(super) fn over_step(&self, form: Form) -> &[f64] {
        if form == Form::Hold { &self.held } else { &self.end }
    }

    /// Whether r is and stays what it is now.
    pub(super) fn rests(&self, j: usize, now: f64) -> bool {
        let far = |r: f64| (r - now).abs() > ROUND_OFF * now.abs();
        !far(self.start[j]) && !far(self.end[j]) && !far(self.held[j])
    }

    pub(super) fn save(&self, out: &mut StateWriter) {
        out.reals(&self.start);
        out.reals(&self.end);
        out.reals(&self.held);
        self.by_integral.iter().for_each(|yes| out.integer(u64::from(*yes)));
        out.real(self.since);
    }

    pub(super) fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        from.reals(&mut self.start)?;
        from.reals(&mut self.end)?;
        from.reals(&mut self.held)?;
        for yes in &mut self.by_integral {
            *yes = from.index(2)? == 1;
        }
        self.since = from.real()?;
        Ok(())
    }
}

/// The ends of the line that is nearest to a signal over a step.
fn line(signal: &External, (t, h): (f64, f64)) -> (f64, f64) {
    let [start, slope, _] = signal.over(&Interval { start: t, end: t + h, length: h }, 1);
    (start, start + slope * h)
}
