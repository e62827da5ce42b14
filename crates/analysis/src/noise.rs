//! The variance of noise on a smooth signal, from the signal alone (`evar` of Garcia 2010).
//!
//! With z the orthonormal cosine transform of the signal and M_i = 1 - 1 / (1 + s S_i), S_i = (2 - 2 cos(pi i / n))^2:
//! minimise mean(z^2 M^2) / mean(M)^2 over s; the variance is mean(z^2 M^2) at the minimum.

use std::f64::consts::PI;

/// Longer signals are taken piece by piece: the transform costs the square of the length.
const LONGEST: usize = 2048;
/// Grid of log10 s before the search is refined.
const GRID: (f64, f64, u32) = (-8.0, 12.0, 80);

/// Estimated variance of white noise on a signal.
pub fn noise_variance(signal: &[f64]) -> f64 {
    if signal.len() < 4 || !signal.iter().all(|y| y.is_finite()) {
        return if signal.iter().all(|y| y.is_finite()) { 0.0 } else { f64::INFINITY };
    }
    let pieces = signal.len().div_ceil(LONGEST);
    let length = signal.len().div_ceil(pieces);
    let sum: f64 = signal.chunks(length).map(|piece| variance_of_piece(piece) * piece.len() as f64).sum();
    sum / signal.len() as f64
}

fn variance_of_piece(signal: &[f64]) -> f64 {
    let n = signal.len();
    let squares: Vec<f64> = cosine_transform(signal).iter().map(|z| z * z).collect();
    let stiffness: Vec<f64> =
        (0..n).map(|i| (2.0 - 2.0 * (PI * i as f64 / n as f64).cos()).powi(2)).collect();
    // (mean(z^2 M^2), mean(M)) for log10 s; both tend to zero together for small s.
    let filtered = |logarithm: f64| {
        let s = 10f64.powf(logarithm);
        let (mut noise, mut share) = (0.0, 0.0);
        for (square, stiffness) in squares.iter().zip(&stiffness) {
            let m = s * stiffness / (1.0 + s * stiffness);
            noise += square * m * m;
            share += m;
        }
        (noise / n as f64, share / n as f64)
    };
    let score = |logarithm: f64| {
        let (noise, share) = filtered(logarithm);
        noise / (share * share)
    };
    filtered(minimum(score)).0
}

/// Where a function of log10 s is least: a grid, then golden sections around its best point.
fn minimum(score: impl Fn(f64) -> f64) -> f64 {
    let (low, high, points) = GRID;
    let spacing = (high - low) / f64::from(points);
    let best = (0..=points).map(|k| low + f64::from(k) * spacing).fold((low, f64::INFINITY), |best, at| {
        let value = score(at);
        if value < best.1 { (at, value) } else { best }
    });
    let (mut low, mut high) = (best.0 - spacing, best.0 + spacing);
    let golden = 0.5 * (5f64.sqrt() - 1.0);
    for _ in 0..40 {
        let (left, right) = (high - golden * (high - low), low + golden * (high - low));
        if score(left) < score(right) { high = right } else { low = left }
    }
    0.5 * (low + high)
}

/// Orthonormal discrete cosine transform, type 2, by a recursion for each frequency.
fn cosine_transform(signal: &[f64]) -> Vec<f64> {
    let n = signal.len() as f64;
    let coefficient = |i: usize| {
        let sum: f64 = signal
            .iter()
            .enumerate()
            .map(|(k, y)| {
                // The angle modulo a full turn, in integers: exact for any length.
                let turn = (i * (2 * k + 1)) % (4 * signal.len());
                y * (PI * turn as f64 / (2.0 * n)).cos()
            })
            .sum();
        sum * if i == 0 { (1.0 / n).sqrt() } else { (2.0 / n).sqrt() }
    };
    (0..signal.len()).map(coefficient).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generator(count: usize, seed: u64) -> Vec<f64> {
        let mut state = seed;
        let mut next = || {
            state = (1_103_515_245 * state + 12345) % (1 << 31);
            2.0 * state as f64 / (1u64 << 31) as f64 - 1.0
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn noise_on_a_sine_is_found() {
        // The same signal gave 0.0031072575 in an implementation that looks for s with a tolerance of 0.1 in its
        // logarithm; the noise itself has a variance of 0.00336.
        let noise = generator(400, 7);
        let signal: Vec<f64> =
            (0..400).map(|k| (2.0 * PI * k as f64 / 400.0 * 3.0).sin() + 0.1 * noise[k]).collect();
        let variance = noise_variance(&signal);
        assert!((variance / 0.0031072574700436585 - 1.0).abs() < 2e-3, "{variance}");
    }

    #[test]
    fn smooth_signals_have_next_to_none_and_units_count_squared() {
        let smooth: Vec<f64> = (0..500).map(|k| (0.01 * f64::from(k)).sin()).collect();
        assert!(noise_variance(&smooth) < 1e-6, "{}", noise_variance(&smooth));
        let noise = generator(5000, 3);
        let scaled: Vec<f64> = noise.iter().map(|y| 1e3 * y).collect();
        let ratio = noise_variance(&scaled) / noise_variance(&noise);
        assert!((ratio - 1e6).abs() < 1.0, "{ratio}");
        assert!((noise_variance(&noise) - 1.0 / 3.0).abs() < 0.03, "{}", noise_variance(&noise));
    }

    #[test]
    fn what_cannot_be_judged_is_not() {
        assert_eq!(noise_variance(&[1.0, 2.0]), 0.0);
        assert_eq!(noise_variance(&[1.0, f64::NAN, 0.0, 1.0]), f64::INFINITY);
    }
}
