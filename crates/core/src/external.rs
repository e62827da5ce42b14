//! External inputs of the coupled system: r(t) of u = L y + r(t).

mod pieces;

/// A known function of time that is added to an input.
#[derive(Clone, Debug, PartialEq)]
pub enum External {
    /// Always the same.
    Constant(f64),
    /// `amplitude * sin(2 pi frequency (t - start) + phase)` from `start` on, 0 before.
    Sine {
        /// Peak value.
        amplitude: f64,
        /// In Hz.
        frequency: f64,
        /// In rad.
        phase: f64,
        /// In s.
        start: f64,
    },
    /// `amplitude * sin(2 pi frequency (t - start) + phase)` from `start` until before `stop`, else 0.
    Burst {
        /// Peak value.
        amplitude: f64,
        /// In Hz.
        frequency: f64,
        /// In rad.
        phase: f64,
        /// In s.
        start: f64,
        /// In s.
        stop: f64,
    },
    /// From `start` on `high` while `sin(2 pi frequency (t - start) + phase) > 0`, else `low`; 0 before.
    Square {
        /// Value while the sine is positive.
        high: f64,
        /// Value while it is not.
        low: f64,
        /// In Hz.
        frequency: f64,
        /// In rad.
        phase: f64,
        /// In s.
        start: f64,
    },
    /// `value` from `start` on, 0 before.
    Step {
        /// Value after the step.
        value: f64,
        /// In s.
        start: f64,
    },
    /// Linear between (time, value) points with rising times, constant outside.
    Table(Vec<(f64, f64)>),
    /// From each (time, value) point with rising times its value until the next one; that of the first one
    /// before.
    Stairs(Vec<(f64, f64)>),
}

impl External {
    /// Whether all its numbers are finite, so that its values are.
    pub fn is_finite(&self) -> bool {
        match self {
            Self::Constant(value) => value.is_finite(),
            Self::Sine { amplitude, frequency, phase, start } => {
                [amplitude, frequency, phase, start].iter().all(|number| number.is_finite())
            }
            Self::Burst { amplitude, frequency, phase, start, stop } => {
                [amplitude, frequency, phase, start, stop].iter().all(|number| number.is_finite())
            }
            Self::Square { high, low, frequency, phase, start } => {
                [high, low, frequency, phase, start].iter().all(|number| number.is_finite())
            }
            Self::Step { value, start } => value.is_finite() && start.is_finite(),
            Self::Table(points) | Self::Stairs(points) => {
                points.iter().all(|(t, value)| t.is_finite() && value.is_finite())
            }
        }
    }

    /// The value at time t.
    pub fn value(&self, t: f64) -> f64 {
        match self {
            Self::Constant(value) => *value,
            Self::Sine { start, .. } | Self::Square { start, .. } | Self::Step { start, .. }
                if t < *start =>
            {
                0.0
            }
            Self::Sine { amplitude, frequency, phase, start } => {
                amplitude * oscillation(t - start, *frequency, *phase)
            }
            Self::Burst { amplitude, frequency, phase, start, stop } => {
                let active = *start <= t && t < *stop;
                if active { amplitude * oscillation(t - start, *frequency, *phase) } else { 0.0 }
            }
            Self::Square { high, low, frequency, phase, start } => {
                if oscillation(t - start, *frequency, *phase) > 0.0 { *high } else { *low }
            }
            Self::Step { value, .. } => *value,
            Self::Table(points) => interpolate(points, t, t),
            Self::Stairs(points) => last_stair(points, later(t)),
        }
    }
}

impl External {
    /// The value at time t of the smooth piece that the time `inside` lies in, which goes on beyond its ends: no
    /// round-off of t shows the other side of a jump.
    pub fn continued(&self, inside: f64, t: f64) -> f64 {
        match self {
            Self::Sine { amplitude, frequency, phase, start } if *start <= inside => {
                amplitude * oscillation(t - start, *frequency, *phase)
            }
            Self::Burst { amplitude, frequency, phase, start, stop }
                if *start <= inside && inside < *stop =>
            {
                amplitude * oscillation(t - start, *frequency, *phase)
            }
            Self::Table(points) => interpolate(points, inside, t),
            Self::Stairs(points) => last_stair(points, inside),
            // Constant, or nothing yet.
            _ => self.value(inside),
        }
    }

    /// The value just before time t: at a jump, up to round-off, that of the past. What a step that ends at t sees there.
    pub fn value_before(&self, t: f64) -> f64 {
        self.continued(self.beside(t, earlier(t), -1.0), t)
    }

    /// The value just after time t: at a jump, up to round-off, that of the future.
    pub fn value_after(&self, t: f64) -> f64 {
        self.continued(self.beside(t, later(t), 1.0), t)
    }

    /// A time beside t: further away than the round-off of times, and of the phase of a square wave, but not beyond its
    /// next jump.
    fn beside(&self, t: f64, near: f64, side: f64) -> f64 {
        match *self {
            Self::Square { frequency, start, .. } if frequency != 0.0 && side > 0.0 && near >= start => {
                t.max(start) + 1e-9 / frequency.abs()
            }
            Self::Square { frequency, start, .. } if frequency != 0.0 && side < 0.0 && near > start => {
                near - (1e-9 / frequency.abs()).min(0.5 * (near - start))
            }
            // Nothing is before or after zero by a share of it.
            _ if t == 0.0 => side * f64::MIN_POSITIVE,
            _ => near,
        }
    }

    /// The first time after t at which the value may jump; one that t misses by round-off has been reached.
    pub fn next_jump(&self, t: f64) -> Option<f64> {
        let reached = later(t);
        match *self {
            Self::Constant(_) | Self::Table(_) => None,
            Self::Stairs(ref points) => {
                points.get(points.partition_point(|point| point.0 <= reached)).map(|point| point.0)
            }
            Self::Sine { start, .. } | Self::Square { start, .. } | Self::Step { start, .. }
                if reached < start =>
            {
                Some(start)
            }
            Self::Burst { start, stop, .. } => [start, stop].into_iter().find(|jump| reached < *jump),
            Self::Square { frequency, phase, start, .. } if frequency != 0.0 => {
                // The sine is zero at multiples of half a period; a hair's breadth before one counts as there.
                let half_turns = |t: f64| 2.0 * frequency.abs() * (t - start) + sign_free(phase, frequency);
                let next = (half_turns(t) + 2e-9).floor() + 1.0;
                Some(start + (next - sign_free(phase, frequency)) / (2.0 * frequency.abs()))
            }
            _ => None,
        }
    }

    /// The first time after t at which the value or its slope may jump.
    pub fn next_corner(&self, t: f64) -> Option<f64> {
        match self {
            Self::Table(points) => {
                points.get(points.partition_point(|point| point.0 <= later(t))).map(|point| point.0)
            }
            _ => self.next_jump(t),
        }
    }
}

/// Phase in half turns of a sine that is written with a positive frequency.
fn sign_free(phase: f64, frequency: f64) -> f64 {
    phase.copysign(phase * frequency) / std::f64::consts::PI
}

fn oscillation(t: f64, frequency: f64, phase: f64) -> f64 {
    (std::f64::consts::TAU * frequency * t + phase).sin()
}

/// The line between the points around the time `inside`, at time t.
fn interpolate(points: &[(f64, f64)], inside: f64, t: f64) -> f64 {
    let after = points.partition_point(|point| point.0 <= inside);
    match (after.checked_sub(1).map(|before| points[before]), points.get(after)) {
        (Some((t0, v0)), Some((t1, v1))) => v0 + (v1 - v0) * (t - t0) / (t1 - t0),
        (Some((_, value)), None) => value,
        (None, Some((_, value))) => *value,
        (None, None) => 0.0,
    }
}

/// Communication points are products, times of stairs are read: what differs by round-off is the same time.
const SAME_TIME: f64 = 1e-12;

fn later(t: f64) -> f64 {
    t + SAME_TIME * t.abs()
}

fn earlier(t: f64) -> f64 {
    t - SAME_TIME * t.abs()
}

/// The value of the last point that is not after t.
fn last_stair(points: &[(f64, f64)], t: f64) -> f64 {
    let after = points.partition_point(|point| point.0 <= t);
    points.get(after.saturating_sub(1)).map_or(0.0, |point| point.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stairs_hold_and_jump_at_their_times() {
        let stairs = External::Stairs(vec![(1.0, 10.0), (0.3 * 10.0, 20.0), (4.0, 5.0)]);
        assert_eq!([0.0, 1.0, 2.9, 3.0, 9.0].map(|t| stairs.value(t)), [10.0, 10.0, 10.0, 20.0, 5.0]);
        assert_eq!([1.0, 3.0, 4.0].map(|t| stairs.value_before(t)), [10.0, 10.0, 20.0]);
        assert_eq!(
            [0.0, 1.0, 3.0, 4.0].map(|t| stairs.next_jump(t)),
            [Some(1.0), Some(3.0), Some(4.0), None]
        );
        // A point that is missed by round-off only has been reached.
        let (below, above) = (3.0_f64.next_down(), 3.0_f64.next_up());
        assert_eq!([below, above].map(|t| stairs.value(t)), [20.0; 2]);
        assert_eq!([below, above].map(|t| stairs.value_before(t)), [10.0; 2]);
        assert_eq!(stairs.next_jump(below), Some(4.0));
        assert_eq!(External::Stairs(Vec::new()).value(1.0), 0.0);
    }

    #[test]
    fn jumps_are_announced() {
        let step = External::Step { value: 2.0, start: 1.0 };
        assert_eq!([0.0, 1.0].map(|t| step.next_jump(t)), [Some(1.0), None]);
        let burst = External::Burst { amplitude: 1.0, frequency: 1.0, phase: 1.0, start: 1.0, stop: 2.0 };
        assert_eq!([0.0, 1.0, 2.0].map(|t| burst.next_jump(t)), [Some(1.0), Some(2.0), None]);
        for (frequency, phase) in [(5.0, 0.0), (5.0, 1.0), (-5.0, 1.0), (0.3, -2.0)] {
            let square = External::Square { high: 1.0, low: -1.0, frequency, phase, start: 0.5 };
            let mut t = square.next_jump(0.0).unwrap();
            assert_eq!(t, 0.5);
            for _ in 0..20 {
                let next = square.next_jump(t).unwrap();
                assert!(next > t && next <= t + 0.5001 / frequency.abs(), "{frequency} {phase}: {t} {next}");
                assert_eq!(
                    square.value_before(next),
                    -square.value_after(next),
                    "{frequency} {phase} at {next}"
                );
                let inside = |share: f64| square.value(t + share * (next - t));
                assert_eq!([inside(0.01), inside(0.99)], [square.value_after(t); 2]);
                t = next;
            }
        }
    }

    #[test]
    fn tables_are_linear_inside_and_constant_outside() {
        let table = External::Table(vec![(1.0, 10.0), (2.0, 20.0)]);
        assert_eq!([0.0, 1.0, 1.5, 2.0, 9.0].map(|t| table.value(t)), [10.0, 10.0, 15.0, 20.0, 20.0]);
    }

    #[test]
    fn nothing_happens_before_the_start() {
        let square = External::Square { high: 2.0, low: -1.0, frequency: 1.0, phase: 0.1, start: 3.0 };
        assert_eq!([2.9, 3.0, 3.7].map(|t| square.value(t)), [0.0, 2.0, -1.0]);
        assert_eq!(External::Step { value: 5.0, start: 1.0 }.value(1.0), 5.0);
        assert_eq!(External::Table(vec![]).value(1.0), 0.0);
    }

    #[test]
    fn a_step_that_ends_at_a_jump_does_not_see_it() {
        let step = External::Step { value: 5.0, start: 1.0 };
        assert_eq!([0.5, 1.0, 1.5].map(|t| step.value_before(t)), [0.0, 0.0, 5.0]);
        let square = External::Square { high: 2.0, low: -1.0, frequency: 1.0, phase: 0.0, start: 0.0 };
        assert_eq!([0.5, 1.0, 1.25].map(|t| square.value_before(t)), [2.0, -1.0, 2.0]);
        assert_eq!(External::Constant(3.0).value_before(0.0), 3.0);
        // Nor one that stops at a jump, nor a square wave soon after its start.
        let burst = External::Burst { amplitude: 2.0, frequency: 0.25, phase: 0.0, start: 1.0, stop: 2.0 };
        assert_eq!([1.0, 2.0, 2.5].map(|t| burst.value_before(t)), [0.0, 2.0, 0.0]);
        assert_eq!([1.0, 2.0].map(|t| burst.value_after(t)), [0.0, 0.0]);
        assert_eq!([0.0, 1e-12, 1e-3].map(|t| square.value_before(t)), [0.0, 2.0, 2.0]);
        assert_eq!([0.0, 0.5, 1.0].map(|t| square.value_after(t)), [2.0, -1.0, 2.0]);
    }

    #[test]
    fn round_off_of_a_time_does_not_miss_a_jump() {
        let step = External::Step { value: 5.0, start: 0.3 };
        for t in [0.3_f64.next_down(), 0.3, 0.3_f64.next_up()] {
            assert_eq!((step.value_before(t), step.value_after(t), step.next_jump(t)), (0.0, 5.0, None));
        }
        let table = External::Table(vec![(0.0, 0.0), (0.3, 3.0), (1.0, 3.0)]);
        assert_eq!(
            [-1.0, 0.0, 0.3_f64.next_down(), 1.0].map(|t| table.next_corner(t)),
            [Some(0.0), Some(0.3), Some(1.0), None]
        );
        assert_eq!(table.continued(0.1, 0.6), 6.0);
    }
}
