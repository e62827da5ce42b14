//! Outputs that change as they never did, all of a subsystem at a time: the sign of a coupling that diverges.
//!
//! What diverges takes everything with it. An external input that moves one output after the other does not. And a coupling that diverges does so
//! from step to step; growth that the steps resolve is what the system does: prey that multiply.

use costep_core::{Layout, Result, StateReader, StateWriter};

use super::checkpoint::MAX_COUNT;
use super::tuning::AlarmTuning;

/// A change is rough if it differs from the one before by more than this share of itself: in an oscillation that has fewer than twelve steps.
const ROUGH: f64 = 0.5;

/// The greatest change of each output over a macro step, up to a factor, and when it was unusual.
#[derive(Default)]
pub(super) struct Alarm {
    tuning: AlarmTuning,
    layout: Layout,
    last: Vec<f64>,
    /// The last change, with its sign.
    change: Vec<f64>,
    greatest: Vec<f64>,
    /// Number of the macro step, 0 for never.
    unusual_at: Vec<u64>,
    points: u64,
}

impl Alarm {
    pub(super) fn new(layout: &Layout, tuning: &AlarmTuning) -> Self {
        let outputs = layout.outputs();
        Self {
            tuning: *tuning,
            layout: layout.clone(),
            last: vec![0.0; outputs],
            change: vec![0.0; outputs],
            greatest: vec![0.0; outputs],
            unusual_at: vec![0; outputs],
            points: 0,
        }
    }

    /// Takes in the outputs at a macro step, and tells whether all outputs of a subsystem have changed unusually.
    pub(super) fn rings(&mut self, y: &[f64]) -> bool {
        self.points += 1;
        for (i, y) in y.iter().enumerate() {
            let change = if self.points == 1 { 0.0 } else { y - self.last[i] };
            let is_rough = (change - self.change[i]).abs() >= ROUGH * change.abs();
            self.change[i] = change;
            if change.abs() > self.tuning.unusual * self.greatest[i] {
                if is_rough && self.greatest[i] > 0.0 && self.points > self.tuning.fewest as u64 {
                    self.unusual_at[i] = self.points;
                }
                self.greatest[i] = change.abs();
            }
        }
        self.last.copy_from_slice(y);
        // All are asked, also after the first that says so: each tells it once.
        (0..self.layout.subsystems()).filter(|i| self.is_unusual(*i)).count() > 0
    }

    /// Whether all outputs of a subsystem have lately changed as never before; tells it once.
    fn is_unusual(&mut self, i: usize) -> bool {
        let AlarmTuning { recent, recent_part, .. } = self.tuning;
        let (now, recent) = (self.points, (recent as u64).max(self.points / recent_part as u64));
        let unusual_at = &mut self.unusual_at[self.layout.output_range(i)];
        let all =
            !unusual_at.is_empty() && unusual_at.iter().all(|at| *at > 0 && now.saturating_sub(*at) < recent);
        if all {
            unusual_at.fill(0);
        }
        all
    }

    pub(super) fn save(&self, out: &mut StateWriter) {
        out.reals(&self.last);
        out.reals(&self.change);
        out.reals(&self.greatest);
        self.unusual_at.iter().for_each(|at| out.integer(*at));
        out.integer(self.points);
    }

    pub(super) fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        from.reals(&mut self.last)?;
        from.reals(&mut self.change)?;
        from.reals(&mut self.greatest)?;
        for at in &mut self.unusual_at {
            *at = from.index(MAX_COUNT)? as u64;
        }
        self.points = from.index(MAX_COUNT)? as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of the points at which it rings.
    fn rings(y: impl Fn(i32) -> [f64; 4]) -> Vec<i32> {
        let mut alarm = Alarm::new(&Layout::new([(0, 2), (0, 2)]), &AlarmTuning::DEFAULT);
        (0..100).filter(|k| alarm.rings(&y(*k))).collect()
    }

    #[test]
    fn it_rings_with_every_doubling_of_what_runs_away() {
        let growing = |k: i32| 1.2_f64.powi(k) * (2.0 * f64::from(k)).sin();
        let found = rings(|k| [growing(k), 1e3 * growing(k), 0.0, 0.0]);
        assert!((15..=30).contains(&found.len()), "{found:?}");
    }

    #[test]
    fn it_keeps_quiet_while_things_go_on_as_before_or_one_output_moves_alone() {
        let wave = |k: i32| (0.3 * f64::from(k)).sin();
        assert!(rings(|k| [wave(k), wave(k + 3), -wave(k), 2.0 * wave(k)]).is_empty());
        let jump = |k: i32| if k > 50 { 1e3 * wave(k) } else { wave(k) };
        assert!(rings(|k| [wave(k), jump(k), jump(k), wave(k)]).is_empty());
        let late = |k: i32| if k > 80 { 1e3 * wave(k) } else { wave(k) };
        assert!(rings(|k| [late(k), jump(k), wave(k), wave(k)]).is_empty());
        let grows = |k: i32| (0.2 * f64::from(k)).exp();
        assert!(rings(|k| [grows(k), 2.0 * grows(k), 0.0, 0.0]).is_empty());
    }
}
