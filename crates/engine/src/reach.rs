//! Inputs that stay within what their sources can deliver, as far as their makers declare it.
//!
//! A model or a line through earlier values knows nothing of a valve that is shut. Declared limits are often wrong: a source that is
//! beyond them itself moves them.

use costep_core::{Coupling, Description, InputPolynomials};

/// Points at which a polynomial of higher order is looked at, as shares of the step.
const LOOKS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// The reach of one input with a single source and nothing from outside.
struct Limits {
    input: usize,
    low: f64,
    high: f64,
}

/// The inputs whose sources declare limits.
pub(crate) struct Reach(Vec<Limits>);

impl Reach {
    pub(crate) fn new(descriptions: &[Description], coupling: &Coupling, outside: &[usize]) -> Self {
        let outputs: Vec<_> = descriptions.iter().flat_map(|part| &part.outputs).collect();
        let inputs: usize = descriptions.iter().map(|part| part.inputs.len()).sum();
        let limits = |input: usize| {
            let mut sources = coupling.sources(input);
            let (source, gain) = sources.next().filter(|_| outside.binary_search(&input).is_err())?;
            let [low, high] = outputs[source].limits.filter(|_| sources.next().is_none())?;
            let (low, high) = if gain < 0.0 { (gain * high, gain * low) } else { (gain * low, gain * high) };
            (gain != 0.0).then_some(Limits { input, low, high })
        };
        Self((0..inputs).filter_map(limits).collect())
    }

    /// Puts the inputs of a step of this length back into reach: a polynomial that leaves it becomes a line.
    #[inline(always)]
    pub(crate) fn keep(&self, coupled: &[f64], length: f64, inputs: &mut InputPolynomials) {
        for limits in &self.0 {
            limits.keep(coupled[limits.input], length, inputs);
        }
    }
}

impl Limits {
    fn keep(&self, now: f64, length: f64, inputs: &mut InputPolynomials) {
        let (j, low, high) = (self.input, self.low.min(now), self.high.max(now));
        let looks = if inputs.order() == 0 { &LOOKS[..1] } else { &LOOKS[..] };
        let is_inside = |share: &f64| (low..=high).contains(&inputs.value(j, share * length));
        if looks.iter().all(is_inside) {
            return;
        }
        let ends = [0.0, length].map(|s| inputs.value(j, s).max(low).min(high));
        (1..=inputs.order()).for_each(|a| inputs.coefficients_mut(a)[j] = 0.0);
        inputs.coefficients_mut(0)[j] = ends[0];
        if ends[1] != ends[0] {
            inputs.coefficients_mut(1)[j] = (ends[1] - ends[0]) / length;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use costep_core::{Connection, Port};

    fn reach(gain: f64) -> (Reach, InputPolynomials) {
        let valve = Port { name: "flow".into(), limits: Some([0.0, 4.0]), ..Port::default() };
        let parts = [
            Description { outputs: vec![valve], ..Description::default() },
            Description { inputs: vec![Port::default(), Port::default()], ..Description::default() },
        ];
        let connections = [0, 1].map(|input| Connection { output: 0, input, gain });
        (Reach::new(&parts, &Coupling::new(2, &connections), &[1]), InputPolynomials::new(2, 2))
    }

    #[test]
    fn what_leaves_the_reach_of_its_source_becomes_a_line() {
        let (reach, mut u) = reach(1.0);
        for (now, c, kept) in [
            (1.0, [1.0, 2.0, 0.0], [1.0, 2.0, 0.0]),
            (1.0, [1.0, 20.0, 0.0], [1.0, 6.0, 0.0]),
            (1.0, [1.0, -12.0, 24.0], [1.0, 0.0, 0.0]),
            (1.0, [-6.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
            // A source that is beyond its limits.
            (5.0, [5.0, 2.0, 0.0], [5.0, 0.0, 0.0]),
        ] {
            (0..3).for_each(|a| u.coefficients_mut(a)[0] = c[a]);
            u.coefficients_mut(0)[1] = 99.0;
            reach.keep(&[now, 0.0], 0.5, &mut u);
            assert_eq!([0, 1, 2].map(|a| u.coefficients(a)[0]), kept, "{c:?}");
            assert_eq!(u.coefficients(0)[1], 99.0, "what comes from outside has no limits");
        }
    }

    #[test]
    fn a_negative_gain_turns_the_limits_round() {
        let (reach, mut u) = reach(-0.5);
        u.coefficients_mut(0)[0] = 1.0;
        reach.keep(&[-1.0, 0.0], 0.5, &mut u);
        assert_eq!(u.coefficients(0)[0], 0.0);
        u.coefficients_mut(0)[0] = -3.0;
        reach.keep(&[-1.0, 0.0], 0.5, &mut u);
        assert_eq!(u.coefficients(0)[0], -2.0);
    }
}
