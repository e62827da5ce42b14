//! What a macro step of a method is expected to cost, by what its trials have cost.

/// Calls per macro step grow at most by this power of the step: all calls together do not fall with shorter steps.
const MOST_POWER: f64 = 1.0;

/// Calls of doStep per macro step. Methods that iterate need fewer iterations at shorter steps, and those that begin with trial steps
/// have these once per run: so they depend on the step.
pub(super) struct CallsPerStep {
    /// Before anything is known.
    guess: f64,
    /// Steps of trials, and calls per macro step in these.
    known: Vec<(f64, f64)>,
}

impl CallsPerStep {
    pub(super) fn new(guess: f64) -> Self {
        Self { guess, known: Vec::new() }
    }

    /// A trial at this step has taken so many.
    pub(super) fn learn(&mut self, step: f64, calls: f64) {
        self.known.push((step, calls.max(1.0)));
    }

    /// At a step, by the two trials next to it: beyond them a power of the step, between them the fewer. A trial too many costs time; one
    /// that is missing, the choice.
    pub(super) fn at(&self, step: f64) -> f64 {
        let distance = |(known, _): &(f64, f64)| (known / step).ln().abs();
        let mut near = self.known.clone();
        near.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
        match near[..] {
            [] => self.guess,
            [(_, calls)] => calls,
            [(near, calls), (far, others), ..] if (near - step) * (far - step) <= 0.0 => calls.min(others),
            [(near, calls), (far, others), ..] => {
                let power = (calls / others).ln() / (near / far).ln();
                let power = if power.is_finite() { power.clamp(0.0, MOST_POWER) } else { 0.0 };
                (calls * (step / near).powf(power)).max(1.0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterations_become_fewer_with_the_step() {
        let mut calls = CallsPerStep::new(3.0);
        assert_eq!(calls.at(0.1), 3.0);
        calls.learn(0.1, 8.0);
        assert_eq!(calls.at(0.01), 8.0);
        calls.learn(0.025, 4.0);
        // The fewer between the two, a power of 1/2 beyond them.
        for (step, expected) in [(0.05, 4.0), (0.00625, 2.0), (0.4, 16.0)] {
            assert!((calls.at(step) - expected).abs() < 1e-12, "{step}: {}", calls.at(step));
        }
        // More calls at a shorter step are no trend; no step costs less than a call.
        calls.learn(0.001, 6.0);
        assert_eq!(calls.at(0.0005), 6.0);
        let mut cheap = CallsPerStep::new(2.0);
        cheap.learn(1.0, 2.0);
        cheap.learn(0.5, 1.0);
        assert_eq!(cheap.at(0.1), 1.0);
    }
}
