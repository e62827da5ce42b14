//! Which subsystems have no memory: springs, valves, laws of control that do not integrate. Their outputs follow from the present inputs alone, and are
//! seen at the ends of steps only.
//!
//! There are two ways to see it. The large-step model may keep nothing of the last input; but in a closed loop that moves smoothly what an output keeps and
//! what it follows look alike, and models that predict well may share them out wrongly. So a static function of the inputs is also fitted to the
//! small steps of the start, where inputs are shaken.

use costep_ident::{Bank, Lags};
use costep_linalg::Triangle;

/// A subsystem whose outputs keep less than this share of what the last input made of them has no memory. With 0.05 masses on stiff springs
/// count as such, and lose up to seven times their accuracy; with 0.005 valves and bent springs do not.
const FORGOTTEN: f64 = 0.02;

/// A static function may leave this share of the changes of an output. With 0.02 a third of the bent springs are missed; masses leave 0.13 and
/// more.
const UNEXPLAINED: f64 = 0.07;

/// Steps that a term has to explain. With two, a pendulum that swings against another one, or a mass on a soft spring of its own, is taken for a spring in
/// the first few steps, in which all that moves goes one way.
const STEPS_PER_TERM: usize = 4;

/// Whether no output keeps anything of the last input but what shows in the model of the present one: y^(k+1) = S_p u^(k+1) + c. So it is also
/// with what has not responded at all yet.
pub(super) fn is_absent_from(coarse: &Bank, ranges: &[f64]) -> bool {
    let model = coarse.first_order();
    let kept =
        |i: usize| ranges.iter().enumerate().map(move |(j, range)| (model.left_over(i, j) * range).abs());
    let caused = |i: usize| ranges.iter().enumerate().map(move |(j, range)| (model.gain(i, j) * range).abs());
    !ranges.is_empty()
        && (0..coarse.weights().len()).all(|i| kept(i).sum::<f64>() <= FORGOTTEN * caused(i).sum::<f64>())
}

/// Least squares of the changes of an output over those of a quadratic function of the inputs: dy = g dx + d(x^T G x).
pub(super) struct StaticFit {
    inputs: usize,
    /// Whether there are points enough for the products of inputs.
    is_quadratic: bool,
    /// R of the rows (d terms, dy); of no size where there can never be points enough.
    rows: Triangle,
    row: Vec<f64>,
    /// Inputs at both ends of a step, as shares of their ranges.
    x: [Vec<f64>; 2],
}

impl StaticFit {
    /// With records of at most so many points.
    pub(super) fn new(inputs: usize, points: usize) -> Self {
        let quadratic = inputs + inputs * (inputs + 1) / 2;
        let is_quadratic = Self::needed(quadratic) <= points;
        let terms = if is_quadratic { quadratic } else { inputs };
        let columns = if Self::needed(terms) <= points { terms + 1 } else { 0 };
        Self {
            inputs,
            is_quadratic,
            rows: Triangle::new(columns),
            row: vec![0.0; columns],
            x: [vec![0.0; inputs], vec![0.0; inputs]],
        }
    }

    /// Points for so many terms.
    fn needed(terms: usize) -> usize {
        STEPS_PER_TERM * terms + 2
    }

    /// Whether it explains all changes in a record, newest first, of inputs with these ranges and of outputs.
    pub(super) fn explains(&mut self, (u, y): (&Lags, &Lags), ranges: &[f64]) -> bool {
        let terms = self.row.len().saturating_sub(1);
        if terms == 0 || y.len() < Self::needed(terms) {
            return false;
        }
        (0..y.get(0).len()).all(|i| {
            self.rows.clear();
            for lag in 0..y.len() - 1 {
                self.set_terms((u, lag), ranges);
                self.row[terms] = y.get(lag)[i] - y.get(lag + 1)[i];
                self.rows.append(&self.row);
            }
            let r = self.rows.factor();
            let whole: f64 = (0..=terms).map(|row| r[(row, terms)].powi(2)).sum();
            r[(terms, terms)].powi(2) <= UNEXPLAINED * UNEXPLAINED * whole
        })
    }

    /// Changes of the inputs and of their products over a step.
    fn set_terms(&mut self, (u, lag): (&Lags, usize), ranges: &[f64]) {
        let [now, before] = &mut self.x;
        for (x, lag) in [(&mut *now, lag), (&mut *before, lag + 1)] {
            for (j, x) in x.iter_mut().enumerate() {
                let range = if ranges[j] > 0.0 { ranges[j] } else { 1.0 };
                *x = (u.get(lag)[j] - u.get(0)[j]) / range;
            }
        }
        let mut term = self.inputs;
        for j in 0..self.inputs {
            self.row[j] = now[j] - before[j];
            for l in (j..self.inputs).filter(|_| self.is_quadratic) {
                self.row[term] = now[j] * now[l] - before[j] * before[l];
                term += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a static function explains 40 points of a system with state x under an input that moves slowly and is shaken.
    fn is_explained(shaking: f64, output: impl Fn(f64, f64) -> f64) -> bool {
        let (mut u, mut y) = (Lags::new(1, 60), Lags::new(1, 60));
        let mut x = 0.0;
        for k in 0..40 {
            let input = (0.1 * f64::from(k)).sin() + if k % 2 == 0 { shaking } else { -shaking };
            x += 0.1 * input;
            u.push(&[input]);
            y.push(&[output(x, input)]);
        }
        StaticFit::new(1, 60).explains((&u, &y), &[2.0])
    }

    #[test]
    fn bent_springs_have_no_memory_but_masses_have() {
        assert!(is_explained(0.02, |_, u| 5.0 - 3.0 * u));
        assert!(is_explained(0.02, |_, u| 5.0 - 3.0 * u + u * u));
        // The cubic of a stiffening spring is not that far from a parabola.
        assert!(is_explained(0.02, |_, u| (1.5 + u).powi(3)));
        assert!(!is_explained(0.02, |x, _| x));
        assert!(!is_explained(0.02, |x, u| x + u));
    }

    #[test]
    fn few_points_say_nothing_and_many_inputs_take_no_room() {
        let (mut u, mut y) = (Lags::new(1, 60), Lags::new(1, 60));
        for k in 0..9 {
            u.push(&[f64::from(k * k)]);
            y.push(&[f64::from(k * k)]);
        }
        let mut fit = StaticFit::new(1, 60);
        assert!(!fit.explains((&u, &y), &[64.0]));
        u.push(&[81.0]);
        y.push(&[81.0]);
        assert!(fit.explains((&u, &y), &[81.0]));
        assert!(StaticFit::new(10_000, 60).row.is_empty());
        assert_eq!(StaticFit::new(10, 60).row.len(), 11, "linear where the products are too many");
    }
}
