//! The correction polynomial l and the error constants of both families for steps of any lengths.

use super::nordsieck::Nordsieck;
use super::{Family, MAX_ORDER};

/// l and the test quantities of a step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Coefficients {
    /// l_0 .. l_q: a correction e of the state changes column j by l_j e.
    pub(super) l: [f64; MAX_ORDER + 1],
    /// Error constant of one order less (tq1).
    pub(super) error_lower: f64,
    /// Error constant of this order (tq2).
    pub(super) error: f64,
    /// Error constant of one order more (tq3).
    pub(super) error_higher: f64,
    /// Scale between the corrections of two steps (tq5).
    pub(super) scale: f64,
}

/// h / (t_n - t_{n-j}) summed over the past steps.
struct Distances<'a> {
    h: f64,
    sum: f64,
    past: &'a [f64],
}

impl Distances<'_> {
    /// Goes `j` steps back from the point reached so far and gives 1 / xi.
    fn further(&mut self, j: usize) -> f64 {
        self.sum += self.past[j];
        self.h / self.sum
    }
}

impl Coefficients {
    /// For the step the history is prepared for. The constants of the neighbouring orders are only made when
    /// `all` asks for them.
    pub(super) fn set(&mut self, family: Family, history: &Nordsieck, all: bool) {
        match family {
            Family::Bdf => self.set_bdf(history, all),
            Family::Adams => self.set_adams(history, all),
        }
    }

    /// Variable-coefficient BDF with fixed leading coefficient.
    fn set_bdf(&mut self, history: &Nordsieck, all: bool) {
        let (q, h) = (history.order, history.h);
        let l = &mut self.l;
        l.fill(0.0);
        (l[0], l[1]) = (1.0, 1.0);
        let (mut inverse, mut star_inverse) = (1.0, 1.0);
        let (mut alpha_0, mut alpha_0_hat) = (-1.0, -1.0);
        let mut distances = Distances { h, sum: h, past: &history.past_steps };
        if q > 1 {
            for j in 2..q {
                inverse = distances.further(j - 1);
                alpha_0 -= 1.0 / j as f64;
                multiply(l, j, inverse);
            }
            alpha_0 -= 1.0 / q as f64;
            star_inverse = -l[1] - alpha_0;
            inverse = distances.further(q - 1);
            alpha_0_hat = -l[1] - inverse;
            multiply(l, q, star_inverse);
        }
        let order = q as f64;
        let a1 = 1.0 - alpha_0_hat + alpha_0;
        let a2 = 1.0 + order * a1;
        self.error = (a1 / (alpha_0 * a2)).abs();
        self.scale = (a2 * star_inverse / (self.l[q] * inverse)).abs();
        if all {
            let a3 = alpha_0 + 1.0 / order;
            let a4 = alpha_0_hat + inverse;
            let lower = star_inverse / self.l[q] * (1.0 - a4 + a3) / a3;
            self.error_lower = if q > 1 { lower.abs() } else { 1.0 };
            let inverse = distances.further(q);
            let a5 = alpha_0 - 1.0 / (order + 1.0);
            let a6 = alpha_0_hat - inverse;
            self.error_higher = ((1.0 - a6 + a5) / a2 / (inverse * (order + 2.0) * a5)).abs();
        }
    }

    /// Adams-Moulton: l comes from the integral of the polynomial m with zeros at the past points.
    fn set_adams(&mut self, history: &Nordsieck, all: bool) {
        let (q, h) = (history.order, history.h);
        self.l.fill(0.0);
        if q == 1 {
            (self.l[0], self.l[1]) = (1.0, 1.0);
            (self.error_lower, self.error, self.error_higher) = (1.0, 0.5, 1.0 / 12.0);
            self.scale = 1.0;
            return;
        }
        let order = q as f64;
        let mut m = [0.0; MAX_ORDER + 1];
        m[0] = 1.0;
        let mut sum = h;
        for j in 1..q {
            if j == q - 1 && all {
                self.error_lower = order * alternating(&m[..=q - 2], 2) / m[q - 2];
            }
            multiply(&mut m, j, h / sum);
            sum += history.past_steps[j];
        }
        let (m0, m1) = (alternating(&m[..q], 1), alternating(&m[..q], 2));
        self.l[0] = 1.0;
        for i in 1..=q {
            self.l[i] = m[i - 1] / (i as f64 * m0);
        }
        let xi = sum / h;
        self.error = m1 / (m0 * xi);
        self.scale = xi / self.l[q];
        if all {
            multiply(&mut m, q, 1.0 / xi);
            self.error_higher = alternating(&m[..=q], 2) / (m0 * (order + 1.0));
        }
    }
}

/// Multiplies the polynomial of degree `degree` - 1 by (1 + factor s).
fn multiply(coefficients: &mut [f64], degree: usize, factor: f64) {
    for i in (1..=degree).rev() {
        coefficients[i] += coefficients[i - 1] * factor;
    }
}

/// sum (-1)^i a_i / (i + k): the integral of s^(k-1) a(s) from -1 to 0, up to its sign.
fn alternating(a: &[f64], k: usize) -> f64 {
    let term = |(i, a): (usize, &f64)| if i % 2 == 0 { a / (i + k) as f64 } else { -a / (i + k) as f64 };
    a.iter().enumerate().map(term).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn equal_steps(order: usize) -> Nordsieck {
        let mut history = Nordsieck::new(1, 12);
        history.start(0.0, &[1.0]);
        history.past_steps.fill(0.1);
        (history.order, history.h) = (order, 0.1);
        history
    }

    #[test]
    fn bdf_with_equal_steps_has_the_textbook_leading_coefficients() {
        // sum_{j=1}^q 1/j, the leading coefficient of BDF, is l_1 in Nordsieck form.
        let mut sum = 0.0;
        for q in 1..=5 {
            sum += 1.0 / q as f64;
            let mut coefficients = Coefficients::default();
            coefficients.set(Family::Bdf, &equal_steps(q), true);
            assert!((coefficients.l[1] - sum).abs() < 1e-12, "{q}: {}", coefficients.l[1]);
            // Error constant of BDF: 1 / (q + 1) of h^(q+1) x^(q+1), over the leading coefficient's
            // normalisation.
            assert!(coefficients.error > 0.0 && coefficients.error < 0.6, "{q}");
        }
    }

    #[test]
    fn adams_with_equal_steps_has_the_textbook_coefficients() {
        // l_1 = 1 / beta_0 of Adams-Moulton: 1, 2, 12/5, 24/9, 720/251.
        let beta = [1.0, 0.5, 5.0 / 12.0, 9.0 / 24.0, 251.0 / 720.0];
        for (q, beta) in (1..).zip(beta) {
            let mut coefficients = Coefficients::default();
            coefficients.set(Family::Adams, &equal_steps(q), true);
            assert!((coefficients.l[1] * beta - 1.0).abs() < 1e-12, "{q}: {}", coefficients.l[1]);
        }
    }
}
