//! External inputs as ramps see them: at every point their mean over the length of a step around it.
//!
//! What a step does in all is then right wherever a signal jumps, and inputs still go on from where they were, as the
//! identified models expect; values at the points themselves would lag or lead by up to half a step.
//!
//! Held inputs take the middle between both ends. But an input that nothing else is connected to and that acts by its integral alone gets the mean over
//! the step itself where the signal jumps nearby: the middle would spread the jump over two steps.

use costep_core::{External, InputSet, Result, Signals, StateReader, StateWriter, SystemView};

use crate::shared::law::Form;
use crate::shared::legendre;

/// Pieces between jumps that are looked at one by one.
const PIECES: usize = 64;
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
    /// Nothing is known of signals before this time.
    since: f64,
}

impl Outside {
    pub(super) fn new(system: &SystemView<'_>) -> Self {
        let layout = system.layout;
        let is_alone = |j: usize| {
            let owner = layout.input_owner(j);
            let port = j - layout.input_range(owner).start;
            let is_connected = system.coupling.sources(j).next().is_some();
            !is_connected && !system.descriptions[owner].feedthrough_lists().any(|list| list.contains(&port))
        };
        let nothing = vec![0.0; layout.inputs()];
        Self {
            start: nothing.clone(),
            end: nothing.clone(),
            held: nothing,
            is_alone: (0..layout.inputs()).map(is_alone).collect(),
            by_integral: vec![false; layout.inputs()],
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
        let around = |signal: &External, t: f64| mean(signal, (t - 0.5 * h).max(self.since), t + 0.5 * h);
        for (j, signal) in signals.externals.iter().filter(|(j, _)| inputs.contains(*j)) {
            let (start, end) = (around(signal, t), around(signal, t + h));
            self.start[*j] += start;
            self.end[*j] += end;
            let jumps = || signal.next_jump(t - 0.5 * h).is_some_and(|jump| jump < t + 1.5 * h);
            self.held[*j] +=
                if self.by_integral[*j] && jumps() { mean(signal, t, t + h) } else { 0.5 * (start + end) };
        }
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

/// Mean of a signal between two times, piece by piece between its jumps.
fn mean(signal: &External, from: f64, to: f64) -> f64 {
    let (mut start, mut sum) = (from, 0.0);
    for piece in 0..PIECES {
        let jump = signal.next_jump(start).filter(|jump| *jump < to && piece + 1 < PIECES);
        let end = jump.unwrap_or(to);
        legendre::each_node(|theta, weight| {
            sum += weight * (end - start) * signal.value(start + theta * (end - start));
        });
        if jump.is_none() {
            break;
        }
        start = end;
    }
    sum / (to - from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_exact_wherever_a_signal_jumps() {
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        close(mean(&External::Constant(3.0), 5.0, 7.0), 3.0);
        close(mean(&External::Table(vec![(0.0, 0.0), (10.0, 20.0)]), 2.0, 3.0), 5.0);
        let step = |start: f64| External::Step { value: 1.0, start };
        for (start, wanted) in [(1.75, 0.25), (1.0, 1.0), (0.0, 1.0), (2.0, 0.0), (1.001, 0.999)] {
            close(mean(&step(start), 1.0, 2.0), wanted);
        }
        let square = External::Square { high: 3.0, low: -1.0, frequency: 10.0, phase: 0.3, start: 0.0 };
        close(mean(&square, 0.05, 1.05), 1.0);
    }
}
