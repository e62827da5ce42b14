//! Outputs that change as they never did, all of a subsystem at a time: the sign of a coupling that runs away.
//!
//! What runs away takes everything with it. A signal from outside that moves one output after the other does not.

use costep_core::{Layout, Result, StateReader, StateWriter};

use super::memory::MAX_COUNT;

/// A change is news if it is so many times the greatest before.
const NEWS: f64 = 2.0;
/// Macro steps for which news are new, and the part of all steps so far: what grows slowly does not do so everywhere at once.
const RECENT: (u64, u64) = (10, 4);
/// Macro steps before which nothing is known of what is usual.
const FEWEST: u64 = 4;

/// The greatest change of each output over a macro step, up to a factor, and when that was news.
#[derive(Default)]
pub(super) struct Alarm {
    layout: Layout,
    last: Vec<f64>,
    greatest: Vec<f64>,
    /// Number of the macro step, 0 for never.
    news_at: Vec<u64>,
    points: u64,
}

impl Alarm {
    pub(super) fn new(layout: &Layout) -> Self {
        let outputs = layout.outputs();
        Self {
            layout: layout.clone(),
            last: vec![0.0; outputs],
            greatest: vec![0.0; outputs],
            news_at: vec![0; outputs],
            points: 0,
        }
    }

    /// Takes in the outputs at a macro step, and tells whether there are news of all outputs of a subsystem.
    pub(super) fn rings(&mut self, y: &[f64]) -> bool {
        self.points += 1;
        for (i, y) in y.iter().enumerate() {
            let change = if self.points == 1 { 0.0 } else { (y - self.last[i]).abs() };
            if change > NEWS * self.greatest[i] {
                if self.greatest[i] > 0.0 && self.points > FEWEST {
                    self.news_at[i] = self.points;
                }
                self.greatest[i] = change;
            }
        }
        self.last.copy_from_slice(y);
        // All are asked, also after the first with news: each tells it once.
        (0..self.layout.subsystems()).filter(|i| self.is_news(*i)).count() > 0
    }

    /// Whether all outputs of a subsystem have lately changed as never before; tells it once.
    fn is_news(&mut self, i: usize) -> bool {
        let (now, recent) = (self.points, RECENT.0.max(self.points / RECENT.1));
        let news_at = &mut self.news_at[self.layout.output_range(i)];
        let all = !news_at.is_empty() && news_at.iter().all(|at| *at > 0 && now.saturating_sub(*at) < recent);
        if all {
            news_at.fill(0);
        }
        all
    }

    pub(super) fn save(&self, out: &mut StateWriter) {
        out.reals(&self.last);
        out.reals(&self.greatest);
        self.news_at.iter().for_each(|at| out.integer(*at));
        out.integer(self.points);
    }

    pub(super) fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        from.reals(&mut self.last)?;
        from.reals(&mut self.greatest)?;
        for at in &mut self.news_at {
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
        let mut alarm = Alarm::new(&Layout::new([(0, 2), (0, 2)]));
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
    }
}
