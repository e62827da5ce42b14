//! Bohl exponents of time-varying discrete systems x^(k+1) = Phi^k x^k [T (3.15), (3.16)].
//!
//! ```text
//! beta(p) = max over k0 of |Phi^(k0+p-1) ... Phi^(k0)|^(1/p)
//! ```
//!
//! The exponent is the limit of beta(p) for large p. A run has a finite number of steps, so beta is always that of a window p: beta(p) < 1
//! for one p shows that every perturbation decays over p steps, wherever in the run it begins. Spectral radii of the single
//! matrices show nothing of the kind.

use costep_linalg::{Matrix, Svd};

/// beta of one window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BohlExponent {
    /// p, number of steps.
    pub window: usize,
    /// beta(p), growth per step: below 1 perturbations decay.
    pub beta: f64,
    /// k0, the step at which the window with the greatest growth begins.
    pub worst: usize,
}

impl BohlExponent {
    /// ln(beta) / h: the exponent per unit of time.
    pub fn rate(&self, h: f64) -> f64 {
        self.beta.ln() / h
    }
}

/// beta(p) of square matrices of one size. None if there are fewer than p of them, p is 0, or one is not
/// finite.
///
/// The products of all windows take three products per step whatever p is: each window is split at a multiple c of p
/// into a product that ends at c and one that begins there.
pub fn bohl_exponent(steps: &[Matrix], window: usize) -> Option<BohlExponent> {
    let size = steps.first()?.rows();
    if window == 0 || steps.len() < window || !steps.iter().all(Matrix::is_finite) {
        return None;
    }
    let mut before = vec![Scaled::identity(size); window + 1];
    let (mut after, mut whole) = (Scaled::identity(size), Scaled::identity(size));
    let (mut svd, mut spare) = (Svd::new(size, size), Matrix::zeros(size, size));
    let (mut greatest, mut worst) = (f64::NEG_INFINITY, 0);
    for start in (0..=steps.len() - window).step_by(window) {
        let joint = start + window;
        // before[j] = Phi^(joint-1) ... Phi^(start+j).
        before[window].set_identity();
        for j in (0..window).rev() {
            let (left, right) = before.split_at_mut(j + 1);
            left[j].set_product(&right[0], &steps[start + j]);
        }
        after.set_identity();
        // The window from the joint on is the first of the next round.
        for (j, before) in before.iter().take(window).enumerate() {
            if j > 0 {
                let Some(step) = steps.get(joint + j - 1) else { break };
                after.multiply_from_left(step, &mut spare);
            }
            whole.set_joined(&after, before);
            let growth = whole.log_norm(&mut svd);
            if growth.is_nan() {
                return None;
            }
            if growth > greatest {
                (greatest, worst) = (growth, start + j);
            }
        }
    }
    Some(BohlExponent { window, beta: (greatest / window as f64).exp(), worst })
}

/// A matrix times a power of two: products of thousands of matrices neither overflow nor vanish.
#[derive(Clone, Debug)]
struct Scaled {
    matrix: Matrix,
    exponent: i64,
}

impl Scaled {
    fn identity(size: usize) -> Self {
        let mut matrix = Matrix::zeros(size, size);
        matrix.set_identity();
        Self { matrix, exponent: 0 }
    }

    fn set_identity(&mut self) {
        self.matrix.set_identity();
        self.exponent = 0;
    }

    /// a b.
    fn set_product(&mut self, a: &Self, b: &Matrix) {
        self.matrix.set_product(&a.matrix, b);
        self.exponent = a.exponent;
        self.normalise();
    }

    /// a self.
    fn multiply_from_left(&mut self, a: &Matrix, spare: &mut Matrix) {
        spare.set_product(a, &self.matrix);
        std::mem::swap(spare, &mut self.matrix);
        self.normalise();
    }

    /// a b.
    fn set_joined(&mut self, a: &Self, b: &Self) {
        self.matrix.set_product(&a.matrix, &b.matrix);
        self.exponent = a.exponent + b.exponent;
        self.normalise();
    }

    /// Greatest entry between 1 and 2. Powers of two change no digit.
    fn normalise(&mut self) {
        let greatest = self.matrix.data().iter().fold(0.0, |a: f64, b| a.max(b.abs()));
        if greatest > 0.0 && greatest.is_finite() {
            // Within what a power of two can be; what is beyond takes a second time, with the next product.
            let power = (greatest.log2().floor() as i32).clamp(-1000, 1000);
            self.matrix.scale(2f64.powi(-power));
            self.exponent += i64::from(power);
        }
    }

    /// ln of the spectral norm; minus infinity for zero.
    fn log_norm(&self, svd: &mut Svd) -> f64 {
        svd.compute(&self.matrix);
        svd.singular()[0].ln() + self.exponent as f64 * std::f64::consts::LN_2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scalar(a: f64) -> Matrix {
        Matrix::from_rows(1, 1, &[a])
    }

    fn rotation(size: f64, angle: f64) -> Matrix {
        let (s, c) = angle.sin_cos();
        Matrix::from_rows(2, 2, &[size * c, -size * s, size * s, size * c])
    }

    fn beta(steps: &[Matrix], window: usize) -> f64 {
        bohl_exponent(steps, window).expect("long enough").beta
    }

    #[test]
    fn a_constant_normal_matrix_gives_its_spectral_radius_for_every_window() {
        let steps = vec![rotation(0.97, 0.4); 60];
        for window in [1, 2, 7, 59, 60] {
            let found = bohl_exponent(&steps, window).unwrap();
            assert!((found.beta - 0.97).abs() < 1e-13, "{found:?}");
            assert!((found.rate(1e-3) - 0.97f64.ln() / 1e-3).abs() < 1e-9, "{found:?}");
        }
    }

    #[test]
    fn a_constant_matrix_that_is_not_normal_tends_to_it() {
        // Spectral radius 0.9, norm 100: |A^p| ~ 100 p 0.9^(p-1).
        let steps = vec![Matrix::from_rows(2, 2, &[0.9, 100.0, 0.0, 0.9]); 4000];
        assert!(beta(&steps, 1) > 100.0);
        let betas = [10, 100, 1000, 4000].map(|window| beta(&steps, window));
        assert!(betas.windows(2).all(|pair| pair[1] < pair[0]), "{betas:?}");
        let exact = ((100.0 * 4000.0 / 0.9f64).ln() / 4000.0).exp() * 0.9;
        assert!((betas[3] - exact).abs() < 1e-9, "{betas:?} {exact}");
    }

    #[test]
    fn the_greatest_growth_of_all_windows_counts_wherever_it_begins() {
        // Factors 2 and 1/8 in turns: one step grows by 2, two by 1/4, three by at most 1/2.
        let steps: Vec<_> = (0..20).map(|k| scalar(if k % 2 == 1 { 2.0 } else { 0.125 })).collect();
        for (window, exact) in [(1, 2.0), (2, 0.5), (3, 0.5f64.cbrt()), (4, 0.5), (20, 0.5)] {
            assert!((beta(&steps, window) - exact).abs() < 1e-14, "{window}");
        }
        // A short unstable stretch among stable steps, at every place.
        for place in 0..=16 {
            let steps: Vec<_> =
                (0..20).map(|k| scalar(if (place..place + 4).contains(&k) { 3.0 } else { 0.5 })).collect();
            let found = bohl_exponent(&steps, 4).unwrap();
            assert!((found.beta - 3.0).abs() < 1e-14 && found.worst == place, "{place}: {found:?}");
        }
    }

    #[test]
    fn stable_matrices_may_make_an_unstable_product() {
        // Both have spectral radius 0, their product in turns grows by 4 per pair.
        let (a, b) =
            (Matrix::from_rows(2, 2, &[0.0, 2.0, 0.0, 0.0]), Matrix::from_rows(2, 2, &[0.0, 0.0, 2.0, 0.0]));
        let steps: Vec<_> = (0..100).map(|k| if k % 2 == 0 { a.clone() } else { b.clone() }).collect();
        assert!((beta(&steps, 100) - 2.0).abs() < 1e-12);
        // And in the order in which they are zero, nothing is left.
        assert_eq!(beta(&[a.clone(), a], 2), 0.0);
    }

    #[test]
    fn products_match_those_of_plain_multiplication() {
        let entry = |k: usize, i: usize| ((7 * k + 3 * i) as f64).sin();
        let steps: Vec<_> = (0..23)
            .map(|k| Matrix::from_rows(3, 3, &std::array::from_fn::<_, 9, _>(|i| entry(k, i))))
            .collect();
        for window in [1, 2, 5, 11, 12, 23] {
            let mut greatest = 0.0f64;
            for start in 0..=23 - window {
                let mut product = steps[start].clone();
                for step in &steps[start + 1..start + window] {
                    let mut next = Matrix::zeros(3, 3);
                    next.set_product(step, &product);
                    product = next;
                }
                let mut svd = Svd::new(3, 3);
                svd.compute(&product);
                greatest = greatest.max(svd.singular()[0]);
            }
            assert!(
                (beta(&steps, window) / greatest.powf(1.0 / window as f64) - 1.0).abs() < 1e-12,
                "{window}"
            );
        }
    }

    #[test]
    fn long_products_neither_overflow_nor_vanish() {
        for factor in [1e-200, 1e-3, 0.5, 3.0, 1e200] {
            let found = beta(&vec![scalar(factor); 5000], 5000);
            assert!((found / factor - 1.0).abs() < 1e-12, "{factor}: {found}");
        }
    }

    #[test]
    fn what_cannot_be_judged_is_not() {
        assert_eq!(bohl_exponent(&[], 1), None);
        assert_eq!(bohl_exponent(&[scalar(1.0)], 0), None);
        assert_eq!(bohl_exponent(&[scalar(1.0)], 2), None);
        assert_eq!(bohl_exponent(&[scalar(f64::NAN)], 1), None);
    }
}
