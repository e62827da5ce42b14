//! Identified models at another communication step.
//!
//! ARX with N = M = 1 [T (4.13), (4.14)]: a~ = a^q, b~ = b (1 + a + .. + a^(q-1)). For a ratio that is no whole number
//! the thesis interpolates between the neighbours; its sums must end one term earlier than printed, else b~ is wrong
//! for whole ratios.
//!
//! Interface Jacobians, whole ratios, for held and for ramped inputs:
//!
//! ```text
//! both  Sy~ = Sy^q, c~ = sum_{i<q} Sy^i c
//! hold  Su~ = Sy^(q-1) Su, Sp~ = sum_{i<q} Sy^i Sp + sum_{i<q-1} Sy^i Su
//! ramp  Sp~ = sum_j Sy^(q-j) (Sp j + Su (j-1)) / q, Su~ = sum_j Sy^(q-j) (Sp (q-j) + Su (q-j+1)) / q,  j = 1 .. q
//! ```

use costep_core::InterfaceModel;
use costep_linalg::Matrix;

/// How the input goes over a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputForm {
    /// Held at u^(k+1).
    Hold,
    /// Linear from u^k to u^(k+1).
    Ramp,
}

/// Factors of a and b of y' = a y + b u for a step `ratio` times as long: (a~, b~/b).
pub fn resample_arx(a: f64, ratio: f64) -> (f64, f64) {
    let whole = ratio.floor();
    let share = ratio - whole;
    let at = |q: f64| {
        let q = q.min(1e9) as u32;
        (a.powi(q as i32), geometric_sum(a, q))
    };
    let (lower, upper) = (at(whole), at(whole + 1.0));
    if share == 0.0 {
        return lower;
    }
    (lower.0 + share * (upper.0 - lower.0), lower.1 + share * (upper.1 - lower.1))
}

/// 1 + a + .. + a^(q-1).
fn geometric_sum(a: f64, q: u32) -> f64 {
    // The closed form loses digits near 1, where the sum is short of surprises anyway.
    if q > 64 && (a - 1.0).abs() > 1e-6 {
        (1.0 - a.powi(q as i32)) / (1.0 - a)
    } else {
        (0..q).fold(0.0, |sum, _| sum * a + 1.0)
    }
}

/// The model for a step `ratio` times as long. By rolling the fine model: exact, and any form of input is one line.
pub fn resample(fine: &InterfaceModel, ratio: usize, form: InputForm) -> InterfaceModel {
    let (n, m) = (fine.outputs, fine.inputs);
    let matrix = |rows, columns, data: &[f64]| Matrix::from_rows(rows, columns, data);
    let (s_y, s_u) = (matrix(n, n, &fine.d_y), matrix(n, m, &fine.d_u));
    let (s_p, c) = (matrix(n, m, &fine.d_up), matrix(n, 1, &fine.offset));
    let mut power = Matrix::zeros(n, n);
    power.set_identity();
    let (mut d_u, mut d_up, mut offset) = (Matrix::zeros(n, m), Matrix::zeros(n, m), Matrix::zeros(n, 1));
    let q = ratio as f64;
    for i in 0..ratio {
        // power = Sy^i acts on fine step j = q - i; its input before and after, as a share of u^(k+1).
        let j = (ratio - i) as f64;
        let (before, after) = match form {
            InputForm::Hold => (f64::from(u8::from(i + 1 < ratio)), 1.0),
            InputForm::Ramp => ((j - 1.0) / q, j / q),
        };
        d_up.add_product(after, &power, &s_p);
        d_up.add_product(before, &power, &s_u);
        d_u.add_product(1.0 - after, &power, &s_p);
        d_u.add_product(1.0 - before, &power, &s_u);
        offset.add_product(1.0, &power, &c);
        let mut next = Matrix::zeros(n, n);
        next.set_product(&power, &s_y);
        power = next;
    }
    InterfaceModel {
        inputs: m,
        outputs: n,
        d_y: power.data().to_vec(),
        d_u: d_u.data().to_vec(),
        d_up: d_up.data().to_vec(),
        offset: offset.data().to_vec(),
    }
}
