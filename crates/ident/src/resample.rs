//! Identified models at another communication step.
//!
//! ARX with N = M = 1 [T (4.13), (4.14)]: a~ = a^q, b~ = b (1 + a + .. + a^(q-1)). For a ratio that is not an integer
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
    let mut coarse = InterfaceModel::new(fine.inputs, fine.outputs);
    Resampler::new(fine.inputs, fine.outputs).compute(fine, ratio, form, &mut coarse);
    coarse
}

/// The model for a step `ratio` times as long, whole or not: between the neighbours as in [T (4.13), (4.14)]. A ratio of 0 is a step of
/// no length, over which nothing changes; so shorter steps work too, the better the slower the subsystem is.
pub fn resample_by(fine: &InterfaceModel, ratio: f64, form: InputForm) -> InterfaceModel {
    // Steps such as 0.3 and 0.1 are not exact multiples.
    let ratio = if (ratio - ratio.round()).abs() < WHOLE * ratio { ratio.round() } else { ratio };
    let share = ratio.fract();
    let mut coarse = resample(fine, ratio as usize, form);
    if share == 0.0 {
        return coarse;
    }
    let longer = resample(fine, ratio as usize + 1, form);
    let mix = |lower: &mut [f64], upper: &[f64]| {
        lower.iter_mut().zip(upper).for_each(|(lower, upper)| *lower += share * (upper - *lower));
    };
    mix(&mut coarse.d_y, &longer.d_y);
    mix(&mut coarse.d_u, &longer.d_u);
    mix(&mut coarse.d_up, &longer.d_up);
    mix(&mut coarse.offset, &longer.offset);
    coarse
}

/// Ratios this near to an integer are meant to be one.
const WHOLE: f64 = 1e-9;

/// Room for [`resample`]: takes no memory any more.
#[derive(Clone, Debug)]
pub struct Resampler {
    s_y: Matrix,
    s_u: Matrix,
    s_p: Matrix,
    c: Matrix,
    /// S_y^i and S_y^(i+1).
    power: Matrix,
    next: Matrix,
    d_u: Matrix,
    d_up: Matrix,
    offset: Matrix,
}

impl Resampler {
    /// For models of this size.
    pub fn new(inputs: usize, outputs: usize) -> Self {
        let (n, m) = (outputs, inputs);
        let square = || Matrix::zeros(n, n);
        let wide = || Matrix::zeros(n, m);
        let column = || Matrix::zeros(n, 1);
        Self {
            s_y: square(),
            s_u: wide(),
            s_p: wide(),
            c: column(),
            power: square(),
            next: square(),
            d_u: wide(),
            d_up: wide(),
            offset: column(),
        }
    }

    /// Writes the model for a step `ratio` times as long.
    pub fn compute(
        &mut self,
        fine: &InterfaceModel,
        ratio: usize,
        form: InputForm,
        coarse: &mut InterfaceModel,
    ) {
        let Self { s_y, s_u, s_p, c, power, next, d_u, d_up, offset } = self;
        s_y.data_mut().copy_from_slice(&fine.d_y);
        s_u.data_mut().copy_from_slice(&fine.d_u);
        s_p.data_mut().copy_from_slice(&fine.d_up);
        c.data_mut().copy_from_slice(&fine.offset);
        [&mut *d_u, d_up, offset].into_iter().for_each(|matrix| matrix.fill(0.0));
        power.set_identity();
        let q = ratio as f64;
        for i in 0..ratio {
            // power = Sy^i acts on fine step j = q - i; its input before and after, as a share of u^(k+1).
            let j = (ratio - i) as f64;
            let (before, after) = match form {
                InputForm::Hold => (f64::from(u8::from(i + 1 < ratio)), 1.0),
                InputForm::Ramp => ((j - 1.0) / q, j / q),
            };
            d_up.add_product(after, power, s_p);
            d_up.add_product(before, power, s_u);
            d_u.add_product(1.0 - after, power, s_p);
            d_u.add_product(1.0 - before, power, s_u);
            offset.add_product(1.0, power, c);
            next.set_product(power, s_y);
            std::mem::swap(power, next);
        }
        coarse.d_y.copy_from_slice(power.data());
        coarse.d_u.copy_from_slice(d_u.data());
        coarse.d_up.copy_from_slice(d_up.data());
        coarse.offset.copy_from_slice(offset.data());
    }
}
