//! External inputs over a step: from corner to corner, so that integrals are exact wherever a signal jumps.

use super::External;
use crate::Interval;
use crate::quadrature::GAUSS;

/// A corner nearer to an end of the interval, in its lengths, is at that end.
const SLIVER: f64 = 1e-9;
/// Most pieces that are looked at one by one; beyond, a signal is noise.
const MOST_PIECES: usize = 1000;

impl External {
    /// Shows the nodes of a quadrature between two times: their places and weights as shares of the interval, and the value.
    pub fn each_node(&self, (from, to): (f64, f64), mut show: impl FnMut(f64, f64, f64)) {
        let length = to - from;
        self.each_piece((from, to), |start, end| {
            let (first, share, middle) =
                ((start - from) / length, (end - start) / length, 0.5 * (start + end));
            for (theta, weight) in GAUSS {
                let value = self.continued(middle, start + theta * (end - start));
                show(first + theta * share, weight * share, value);
            }
        });
    }

    /// The mean between two times.
    pub fn mean(&self, from: f64, to: f64) -> f64 {
        if let Self::Constant(value) = self {
            return *value;
        }
        let mut sum = 0.0;
        self.each_node((from, to), |_, weight, value| sum += weight * value);
        sum
    }

    /// What a method applies over a step, in powers of the time since its start. Order 0: the mean. Where it is smooth,
    /// the line through its ends, or the parabola through its middle too. Where it has corners inside, a line of the
    /// same mean that stays within its values: a polynomial of higher degree would go beyond them.
    pub fn over(&self, step: &Interval, order: usize) -> [f64; 3] {
        let (from, to, h) = (step.start, step.end, step.length);
        if let Self::Constant(value) = self {
            return [*value, 0.0, 0.0];
        }
        if order == 0 {
            return [self.mean(from, to), 0.0, 0.0];
        }
        let (start, end) = (self.value_after(from), self.value_before(to));
        if self.corner_between(from, to).is_some() {
            return self.line_within((from, to), (start, end), h);
        }
        let slope = (end - start) / h;
        if order == 1 {
            return [start, slope, 0.0];
        }
        let curvature = 2.0 * (start - 2.0 * self.value(0.5 * (from + to)) + end) / (h * h);
        [start, slope - h * curvature, curvature]
    }

    /// As steep as its ends, or less, where that would leave its values.
    fn line_within(&self, (from, to): (f64, f64), (start, end): (f64, f64), h: f64) -> [f64; 3] {
        let (mut mean, mut least, mut most) = (0.0, start.min(end), start.max(end));
        self.each_node((from, to), |_, weight, value| {
            mean += weight * value;
            (least, most) = (least.min(value), most.max(value));
        });
        let room = 2.0 * (most - mean).min(mean - least).max(0.0);
        let rise = (end - start).clamp(-room, room);
        [mean - 0.5 * rise, rise / h, 0.0]
    }

    /// The first corner well inside an interval.
    fn corner_between(&self, from: f64, to: f64) -> Option<f64> {
        let sliver = SLIVER * (to - from);
        self.next_corner(from + sliver).filter(|corner| *corner < to - sliver)
    }

    /// Shows the pieces between corners, each short enough for a quadrature.
    fn each_piece(&self, (from, to): (f64, f64), mut show: impl FnMut(f64, f64)) {
        let longest = match self {
            Self::Sine { frequency, .. } | Self::Burst { frequency, .. } => 0.25 / frequency.abs(),
            _ => f64::INFINITY,
        };
        let mut start = from;
        for _ in 1..MOST_PIECES {
            let corner = self.corner_between(start, to).unwrap_or(to);
            let end = corner.min(start + longest);
            show(start, end);
            if end >= to {
                return;
            }
            start = end;
        }
        show(start, to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }

    #[test]
    fn means_are_exact_wherever_a_signal_jumps() {
        close(External::Constant(3.0).mean(5.0, 7.0), 3.0);
        close(External::Table(vec![(0.0, 0.0), (10.0, 20.0)]).mean(2.0, 3.0), 5.0);
        close(External::Table(vec![(0.0, 0.0), (0.5, 1.0)]).mean(0.0, 1.0), 0.75);
        for (start, wanted) in [(1.75, 0.25), (1.0, 1.0), (0.0, 1.0), (2.0, 0.0), (1.001, 0.999)] {
            close(External::Step { value: 1.0, start }.mean(1.0, 2.0), wanted);
        }
        let square = External::Square { high: 3.0, low: -1.0, frequency: 10.0, phase: 0.3, start: 0.0 };
        close(square.mean(0.05, 1.05), 1.0);
        let sine = External::Sine { amplitude: 2.0, frequency: 3.25, phase: 0.0, start: 0.0 };
        let omega = 6.5 * std::f64::consts::PI;
        assert!((sine.mean(0.0, 1.0) - 2.0 * (1.0 - omega.cos()) / omega).abs() < 1e-10);
        // Far more jumps than anybody means: an answer all the same.
        let noise = External::Square { high: 1.0, low: -1.0, frequency: 1e12, phase: 0.0, start: 0.0 };
        assert!(noise.mean(0.0, 1.0).abs() <= 1.0);
    }

    #[test]
    fn a_step_gets_the_mean_of_a_signal_and_none_of_other_values() {
        let over = |signal: &External, order: usize| {
            let [c0, c1, c2] = signal.over(&Interval::new(2.0, 4.0), order);
            let at = |t: f64| c0 + t * (c1 + t * c2);
            ([at(0.0), at(2.0)], 2.0 * c0 + 2.0 * c1 + 8.0 / 3.0 * c2)
        };
        let ends = External::Table(vec![(0.0, 0.0), (3.0, 3.0)]);
        for order in 1..=2 {
            let (values, integral) = over(&ends, order);
            close(values[0], 2.5);
            close(values[1], 3.0);
            close(integral, 5.5);
            for start in [2.0, 2.2, 3.0, 3.9, 4.0, 5.0] {
                let step = External::Step { value: 1.0, start };
                let (values, integral) = over(&step, order);
                assert!(values.iter().all(|value| (-1e-12..=1.0 + 1e-12).contains(value)), "{values:?}");
                close(integral, (4.0 - start).max(0.0));
            }
        }
        close(over(&ends, 0).1, 5.5);
        // Smooth ones as they are at both ends.
        let sine = External::Sine { amplitude: 1.0, frequency: 0.1, phase: 0.0, start: 0.0 };
        let (values, _) = over(&sine, 2);
        close(values[0], sine.value(2.0));
        close(values[1], sine.value(4.0));
    }
}
