//! Programs with switches, limits, delays, dry friction and sampling. Under held inputs all of them are
//! exact.

use std::collections::VecDeque;

use super::parts::Device;

/// A heater with two states: on below the lower temperature, off above the upper one.
#[derive(Clone)]
pub(super) struct Thermostat {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) power: f64,
    pub(super) is_on: bool,
}

impl Device for Thermostat {
    fn advance(&mut self, _from: f64, _length: f64, u: &[f64]) {
        if u[0] < self.low {
            self.is_on = true;
        } else if u[0] > self.high {
            self.is_on = false;
        }
    }

    fn outputs(&self, _u: &[f64], y: &mut [f64]) {
        y[0] = if self.is_on { self.power } else { 0.0 };
    }
}

/// A PI controller with limits that stops integrating at them. Inputs: measurement, command.
#[derive(Clone)]
pub(super) struct Limited {
    pub(super) proportional: f64,
    pub(super) integral: f64,
    pub(super) limits: (f64, f64),
    pub(super) sum: f64,
}

impl Limited {
    fn wanted(&self, u: &[f64]) -> f64 {
        self.proportional * (u[1] - u[0]) + self.sum
    }
}

impl Device for Limited {
    fn advance(&mut self, _from: f64, length: f64, u: &[f64]) {
        let (error, wanted) = (u[1] - u[0], self.wanted(u));
        let winds_up = wanted > self.limits.1 && error > 0.0 || wanted < self.limits.0 && error < 0.0;
        if !winds_up {
            self.sum += self.integral * error * length;
        }
    }

    fn outputs(&self, u: &[f64], y: &mut [f64]) {
        y[0] = self.wanted(u).clamp(self.limits.0, self.limits.1);
    }
}

/// The same law in a computer that looks every so often. Inputs: measurement, command.
#[derive(Clone)]
pub(super) struct Sampled {
    pub(super) law: Limited,
    pub(super) period: f64,
    pub(super) next: u64,
    pub(super) value: f64,
}

impl Device for Sampled {
    fn advance(&mut self, from: f64, length: f64, u: &[f64]) {
        // A hair's breadth before the end of a step belongs to the next one.
        while self.next as f64 * self.period < from + length - 1e-9 * self.period {
            self.law.advance(from, self.period, u);
            let mut value = [0.0];
            self.law.outputs(u, &mut value);
            self.value = value[0];
            self.next += 1;
        }
    }

    fn outputs(&self, _u: &[f64], y: &mut [f64]) {
        y[0] = self.value;
    }
}

/// What comes in goes out later; before that it is zero.
#[derive(Clone, Default)]
pub(super) struct Transport {
    pub(super) delay: f64,
    /// Since when the input had a value.
    past: VecDeque<(f64, f64)>,
    now: f64,
}

impl Transport {
    pub(super) fn new(delay: f64) -> Self {
        Self { delay, ..Self::default() }
    }
}

impl Device for Transport {
    fn advance(&mut self, from: f64, length: f64, u: &[f64]) {
        self.past.push_back((from, u[0]));
        self.now = from + length;
        let then = self.now - self.delay + 1e-9 * self.delay;
        while self.past.get(1).is_some_and(|(since, _)| *since <= then) {
            self.past.pop_front();
        }
    }

    fn outputs(&self, _u: &[f64], y: &mut [f64]) {
        let then = self.now - self.delay + 1e-9 * self.delay;
        y[0] = self.past.front().filter(|(since, _)| *since <= then).map_or(0.0, |(_, value)| *value);
    }
}

/// A mass on a belt with dry friction; sticks until the force is greater than that of sticking.
#[derive(Clone)]
pub(super) struct OnBelt {
    pub(super) mass: f64,
    pub(super) belt: f64,
    pub(super) sticking: f64,
    pub(super) sliding: f64,
    pub(super) position: f64,
    pub(super) speed: f64,
    pub(super) is_stuck: bool,
}

impl Device for OnBelt {
    fn advance(&mut self, _from: f64, length: f64, u: &[f64]) {
        let (force, mut rest) = (u[0], length);
        loop {
            self.is_stuck &= force.abs() <= self.sticking;
            if self.is_stuck {
                self.speed = self.belt;
                self.position += self.belt * rest;
                return;
            }
            let slip = self.speed - self.belt;
            let sign = if slip == 0.0 { force.signum() } else { slip.signum() };
            let acceleration = (force - sign * self.sliding) / self.mass;
            let stops = if acceleration * sign < 0.0 { -slip / acceleration } else { f64::INFINITY };
            let time = stops.min(rest);
            self.position += time * (self.speed + 0.5 * acceleration * time);
            self.speed += acceleration * time;
            if stops >= rest || time.is_nan() {
                return;
            }
            rest -= time;
            self.speed = self.belt;
            self.is_stuck = force.abs() <= self.sticking;
        }
    }

    fn outputs(&self, _u: &[f64], y: &mut [f64]) {
        y.copy_from_slice(&[self.position, self.speed]);
    }
}

/// A source that is 1 for some of every period, else 0.
#[derive(Clone)]
pub(super) struct Pulses {
    pub(super) period: f64,
    pub(super) share: f64,
    pub(super) now: f64,
}

impl Device for Pulses {
    fn advance(&mut self, from: f64, length: f64, _u: &[f64]) {
        self.now = from + length;
    }

    fn outputs(&self, _u: &[f64], y: &mut [f64]) {
        let phase = self.now / self.period + 1e-9;
        y[0] = if phase.fract() < self.share { 1.0 } else { 0.0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(device: &dyn Device, u: &[f64]) -> f64 {
        let mut y = [0.0];
        device.outputs(u, &mut y);
        y[0]
    }

    #[test]
    fn a_transport_delays_by_its_time_at_any_step() {
        for step in [0.1, 0.25, 0.07] {
            let mut transport = Transport::new(0.5);
            for k in 0..40 {
                transport.advance(f64::from(k) * step, step, &[f64::from(k) * step + 1.0]);
                let then = f64::from(k + 1) * step - 0.5;
                let expected = if then < -1e-9 { 0.0 } else { 1.0 + ((then + 1e-9) / step).floor() * step };
                assert!((value(&transport, &[]) - expected).abs() < 1e-12, "{step} {k}");
            }
        }
    }

    #[test]
    fn friction_holds_and_lets_go() {
        let mut mass = OnBelt {
            mass: 2.0,
            belt: 1.0,
            sticking: 5.0,
            sliding: 3.0,
            position: 0.0,
            speed: 1.0,
            is_stuck: true,
        };
        mass.advance(0.0, 0.5, &[-4.9]);
        assert!(mass.is_stuck && mass.position == 0.5);
        // m a = F + 3 N against the slip.
        mass.advance(0.5, 0.5, &[-6.0]);
        assert!(!mass.is_stuck && (mass.speed - (1.0 - 0.75)).abs() < 1e-12, "{}", mass.speed);
        // Comes back to the belt after 0.75 / 3 s and sticks.
        mass.advance(1.0, 1.0, &[3.0]);
        assert!(mass.is_stuck && mass.speed == 1.0);
    }

    #[test]
    fn limits_hold_and_do_not_wind_up() {
        let mut law = Limited { proportional: 1.0, integral: 1.0, limits: (-1.0, 1.0), sum: 0.0 };
        (0..100).for_each(|_| law.advance(0.0, 0.1, &[0.0, 5.0]));
        assert_eq!((value(&law, &[0.0, 5.0]), law.sum), (1.0, 0.0));
        let mut sampled = Sampled { law, period: 1.0, next: 0, value: 0.0 };
        let mut seen = Vec::new();
        for k in 0..8 {
            sampled.advance(0.25 * f64::from(k), 0.25, &[0.0, 0.1 * f64::from(k + 1)]);
            seen.push(value(&sampled, &[]));
        }
        // The first look at time 0, the second at 1 s, and nothing in between.
        assert!(seen[..4].iter().all(|value| *value == seen[0]) && seen[4] > seen[3], "{seen:?}");
    }
}
