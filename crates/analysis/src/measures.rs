//! Error measures of a co-simulation against its monolithic reference.

use costep_core::{Description, Result};
use costep_system::SystemDescription;

use crate::amplitude_windows::{Amplitudes, has_equal_steps};
use crate::compared_outputs::ComparedOutputs;
use crate::noise::noise_variance;
use crate::reference::{Reference, outputs_at};
use crate::stability::{FEWEST_STEPS, growth, is_passing};
use crate::trace::Trace;

/// Everything measured against a reference.
#[derive(Clone, Debug)]
pub struct Measures {
    /// RMS over the communication points (where steps vary, over time) of the mean over all outputs of |y - y_mono| / range(y_mono): the
    /// reading of [T (3.9), (3.10)] that fits its figures.
    pub eps_mono: f64,
    /// Per subsystem the mean over its outputs and over time of |y - y_mono| / range(y_mono), then the Euclidean norm
    /// over the subsystems: the other reading of [T (3.9), (3.10)], in which its chapter 4 is compared.
    pub eps_mean: f64,
    /// Standard deviation of the noise on y - y_mono [Garcia 2010], which is what an unstable coupling first looks like: the
    /// mean over the outputs of a subsystem, summed over the subsystems [T (4.11)]; in units of the range of
    /// the reference, since outputs may have any unit.
    pub sigma_mono: f64,
    /// `eps_mono` over the ends of all inner steps.
    pub eps_mono_micro: Option<f64>,
    /// Relative RMS error per output of real numbers.
    pub signals: Vec<SignalError>,
    /// (E - E_mono) at the end, relative to the largest energy of the reference.
    pub energy_drift: Option<f64>,
    /// Greatest ratio of the amplitudes in the last and in the first fifth of the run [T 3.3.1].
    pub amplitude_ratio: f64,
    /// Whether there are enough communication points to tell stable from unstable.
    pub judged: bool,
    /// Whether amplitudes or errors grow beyond what the reference accounts for.
    pub unstable: bool,
    /// Whether the error is so large that nobody should trust the result, stable or not.
    pub inaccurate: bool,
    /// Names of outputs that are that wrong alone, the worst first.
    pub wrong: Vec<String>,
    /// Error of the worst output relative to its size.
    pub worst: f64,
    /// From when to when it was measured, in s.
    pub between: (f64, f64),
}

impl Measures {
    /// Whether a verdict on accuracy could be another one if the reference is wrong by this mean error.
    pub fn is_doubtful(&self, own_error: f64) -> bool {
        let is_inaccurate = |eps: f64| eps > LARGE_MEAN_ERROR;
        !self.unstable
            && self.wrong.is_empty()
            && is_inaccurate(self.eps_mono - own_error) != is_inaccurate(self.eps_mono + own_error)
    }
}

/// A mean error of so much of the range of the signals is large: the curves are visibly other ones.
const LARGE_MEAN_ERROR: f64 = 0.1;
/// One signal is wrong if its error is so much of it, whatever the others are, and not small beside a peak that it has had.
const LARGE_SIGNAL_ERROR: f64 = 0.5;
/// A signal that changes by less than this part of its size does not move.
const AT_REST: f64 = 1e-6;
/// An error below this part of the nominal value is round-off of a signal that rests.
const NEGLIGIBLE: f64 = 1e-6;

/// Error of one output.
#[derive(Clone, Debug, PartialEq)]
pub struct SignalError {
    /// `subsystem.port`.
    pub name: String,
    /// sqrt(sum (y - y_mono)^2 / sum y_mono^2) over the communication points after the start; without a
    /// reference signal (all zero) the absolute RMS error relative to the nominal value.
    pub rel_rms: f64,
}

/// How far outputs are from those of a reference.
#[derive(Clone, Debug, PartialEq)]
pub struct Accuracy {
    /// `eps_mono`: RMS over the points of the mean over all compared outputs of |y - y_ref| / range(y_ref).
    pub mean: f64,
    /// The outputs that are compared.
    pub(crate) outputs: Vec<usize>,
    /// `rel_rms` of each output, the same relative to its range, and its greatest error relative to its nominal value.
    signals: Vec<f64>,
    of_range: Vec<f64>,
    greatest: Vec<f64>,
}

impl Accuracy {
    /// Of rows of the compared outputs, where the amplitudes of the reference are known inside the steps too.
    pub(crate) fn of(
        rows: &[f64],
        reference: &[f64],
        (compared, weights): (&ComparedOutputs, &[f64]),
        amplitudes: &Amplitudes,
    ) -> Self {
        let nominal = &compared.nominal[..];
        let outputs = nominal.len();
        let mut ranges = ranges(reference, nominal);
        let mut signals = relative_rms(rows, reference, (nominal, weights));
        for (i, windows) in amplitudes.0.iter().enumerate() {
            // With half a period per step a signal may pass through zero at every communication point: these do not show its size.
            let seen = reference.iter().skip(i).step_by(outputs).fold(0.0, |most: f64, y| most.max(y.abs()));
            if windows.peak() > 2.0 * seen {
                signals[i] *= seen / windows.peak();
                ranges[i] = ranges[i].max(windows.peak());
            }
        }
        Self {
            mean: mean_error_of(rows, reference, (&ranges, weights)),
            outputs: compared.chosen.clone(),
            of_range: rms_of_range(rows, reference, (&ranges, weights)),
            signals,
            greatest: (0..outputs)
                .map(|i| worst_error(rows, reference, outputs, i) / nominal[i].abs().max(f64::MIN_POSITIVE))
                .collect(),
        }
    }

    /// All errors times a factor.
    pub(crate) fn scaled(mut self, factor: f64) -> Self {
        self.mean *= factor;
        let Self { signals, of_range, greatest, .. } = &mut self;
        signals.iter_mut().chain(of_range).chain(greatest).for_each(|error| *error *= factor);
        self
    }

    /// Outputs that are wrong, whatever the others are, the worst first.
    pub fn wrong(&self) -> Vec<usize> {
        let is_wrong = |i: &usize| {
            self.signals[*i] > LARGE_SIGNAL_ERROR
                && self.of_range[*i] > LARGE_MEAN_ERROR
                && self.greatest[*i] > NEGLIGIBLE
        };
        let mut wrong: Vec<_> = (0..self.signals.len()).filter(is_wrong).collect();
        wrong.sort_by(|a, b| self.signals[*b].total_cmp(&self.signals[*a]));
        wrong.into_iter().map(|i| self.outputs[i]).collect()
    }

    /// Error of the worst output relative to its size.
    pub fn worst(&self) -> f64 {
        self.signals.iter().copied().fold(0.0, f64::max)
    }

    /// So far off that nobody should trust the result. An error that is not a number is not a small one.
    pub fn is_inaccurate(&self) -> bool {
        self.mean.is_nan() || self.mean > LARGE_MEAN_ERROR || !self.wrong().is_empty()
    }
}

/// Measures a run that went to its end.
pub fn measure(descriptions: &[Description], run: &Trace, reference: &Reference) -> Measures {
    let compared = ComparedOutputs::of(descriptions);
    let mono = &reference.trace;
    let (rows, mono_rows) = (&*compared.rows(&run.rows), &*compared.rows(&mono.rows));
    let (nominal, reference_amplitudes) = (&compared.nominal, compared.amplitudes(&reference.amplitudes));
    let outputs = nominal.len();
    let weights = weights(&run.times);
    let accuracy = Accuracy::of(rows, mono_rows, (&compared, &weights), &reference_amplitudes);
    let amplitudes = Amplitudes::of(&run.times, rows, outputs);
    let judged = run.times.len() as u64 > FEWEST_STEPS;
    let mean_errors = mean_errors(rows, mono_rows, (nominal, &weights));
    let is_passing = |i: usize| {
        let pairs = rows.iter().zip(mono_rows).skip(i).step_by(outputs.max(1));
        is_passing(pairs.map(|(y, mono)| y - mono), mean_errors[i])
    };
    let names: Vec<String> = descriptions
        .iter()
        .flat_map(|d| d.outputs.iter().map(move |port| format!("{}.{}", d.name, port.name)))
        .collect();
    let relative = relative_rms(rows, mono_rows, (nominal, &weights));
    let signal = |(i, rel_rms): (&usize, f64)| SignalError { name: names[*i].clone(), rel_rms };
    Measures {
        inaccurate: accuracy.is_inaccurate(),
        wrong: accuracy.wrong().into_iter().map(|i| names[i].clone()).collect(),
        worst: accuracy.worst(),
        between: (run.times.first().copied().unwrap_or(0.0), run.times.last().copied().unwrap_or(0.0)),
        eps_mono: mean_relative_error(rows, mono_rows, (nominal, &weights)),
        eps_mean: norm_over_subsystems(&compared.per_subsystem, &mean_errors),
        sigma_mono: means_of_subsystems(&compared.per_subsystem, &noise(rows, mono_rows, nominal)).sum(),
        eps_mono_micro: match (&run.micro, &mono.micro) {
            (Some(run), Some(mono)) if run.times.len() == mono.times.len() => {
                let (rows, mono_rows) = (compared.rows(&run.rows), compared.rows(&mono.rows));
                Some(mean_relative_error(&rows, &mono_rows, (nominal, &[])))
            }
            _ => None,
        },
        signals: compared.chosen.iter().zip(relative).map(signal).collect(),
        energy_drift: energy_drift(&run.energy, &mono.energy),
        amplitude_ratio: amplitudes.ratio(),
        judged,
        unstable: growth(&run.times, rows, mono_rows, &reference_amplitudes)
            .iter()
            .enumerate()
            .any(|(i, growth)| growth.is_unstable(judged) && !is_passing(i)),
    }
}

/// `eps_mono` of one trace against another.
pub(crate) fn mean_error(descriptions: &[Description], run: &Trace, reference: &Trace) -> f64 {
    let compared = ComparedOutputs::of(descriptions);
    let (rows, reference) = (compared.rows(&run.rows), compared.rows(&reference.rows));
    mean_relative_error(&rows, &reference, (&compared.nominal, &weights(&run.times)))
}

/// RMS over the rows after the first of the mean over outputs of |y - y_mono| / range(y_mono). The initial
/// values count for the range only: they are the same by construction.
fn mean_relative_error(rows: &[f64], mono: &[f64], (nominal, weights): (&[f64], &[f64])) -> f64 {
    mean_error_of(rows, mono, (&ranges(mono, nominal), weights))
}

/// How much each communication point counts, in the mean 1: where steps vary, as much as the time around it. Nothing where all count
/// the same.
pub(crate) fn weights(times: &[f64]) -> Vec<f64> {
    if has_equal_steps(times) {
        return Vec::new();
    }
    let last = times.len() - 1;
    let scale = 0.5 * last as f64 / (times[last] - times[0]);
    (0..=last).map(|k| scale * (times[(k + 1).min(last)] - times[k.saturating_sub(1)])).collect()
}

fn weight(weights: &[f64], k: usize) -> f64 {
    weights.get(k).copied().unwrap_or(1.0)
}

fn mean_error_of(rows: &[f64], mono: &[f64], (ranges, weights): (&[f64], &[f64])) -> f64 {
    let outputs = ranges.len().max(1);
    let mut sum = 0.0;
    for (k, (row, mono)) in rows.chunks_exact(outputs).zip(mono.chunks_exact(outputs)).enumerate().skip(1) {
        let errors = row.iter().zip(mono).zip(ranges).map(|((y, mono), range)| (y - mono).abs() / range);
        sum += weight(weights, k) * (errors.sum::<f64>() / outputs as f64).powi(2);
    }
    (sum / ((rows.len() / outputs).max(2) - 1) as f64).sqrt()
}

/// Mean over time of |y - y_mono| / range(y_mono) per output.
fn mean_errors(rows: &[f64], mono: &[f64], (nominal, weights): (&[f64], &[f64])) -> Vec<f64> {
    let outputs = nominal.len().max(1);
    let points = (rows.len() / outputs).max(1) as f64;
    let mut errors = vec![0.0; nominal.len()];
    for (k, (row, mono)) in rows.chunks_exact(outputs).zip(mono.chunks_exact(outputs)).enumerate() {
        let weight = weight(weights, k);
        errors.iter_mut().zip(row).zip(mono).for_each(|((sum, y), mono)| *sum += weight * (y - mono).abs());
    }
    errors.iter().zip(ranges(mono, nominal)).map(|(sum, range)| sum / points / range).collect()
}

/// sqrt(evar(y - y_mono)) per output, in units of the range of the reference.
fn noise(rows: &[f64], mono: &[f64], nominal: &[f64]) -> Vec<f64> {
    let outputs = nominal.len().max(1);
    let pairs = || rows.chunks_exact(outputs).zip(mono.chunks_exact(outputs));
    let deviation = |(i, range): (usize, &f64)| {
        let differences: Vec<_> = pairs().map(|(row, mono)| (row[i] - mono[i]) / range).collect();
        noise_variance(&differences).sqrt()
    };
    ranges(mono, nominal).iter().enumerate().map(deviation).collect()
}

/// The mean over the outputs of each subsystem that has any.
fn means_of_subsystems<'a>(outputs: &'a [usize], values: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
    let mut rest = values;
    outputs.iter().copied().filter(|outputs| *outputs > 0).map(move |outputs| {
        let (own, others) = rest.split_at(outputs);
        rest = others;
        own.iter().sum::<f64>() / outputs as f64
    })
}

/// The Euclidean norm of these means.
fn norm_over_subsystems(outputs: &[usize], values: &[f64]) -> f64 {
    means_of_subsystems(outputs, values).map(|mean| mean * mean).sum::<f64>().sqrt()
}

/// max - min of each output; its nominal value if it does not move.
fn ranges(rows: &[f64], nominal: &[f64]) -> Vec<f64> {
    let (mut least, mut most) = (vec![f64::MAX; nominal.len()], vec![f64::MIN; nominal.len()]);
    for row in rows.chunks_exact(nominal.len().max(1)) {
        for (i, y) in row.iter().enumerate() {
            least[i] = least[i].min(*y);
            most[i] = most[i].max(*y);
        }
    }
    // Beyond the normal numbers there are only signals that are not numbers, and the tolerance of a solver is no movement.
    let round_off = |i: usize| AT_REST * most[i].abs().max(least[i].abs());
    let moves = |i: usize| most[i] - least[i] >= round_off(i).max(f64::MIN_POSITIVE);
    let range = |i: usize| if moves(i) { most[i] - least[i] } else { nominal[i] };
    (0..nominal.len()).map(range).collect()
}

fn relative_rms(rows: &[f64], mono: &[f64], (nominal, weights): (&[f64], &[f64])) -> Vec<f64> {
    let outputs = nominal.len().max(1);
    let pairs = || rows.chunks_exact(outputs).zip(mono.chunks_exact(outputs)).skip(1);
    // Squares of very large and very small values are not numbers any more: everything is measured in the greatest one.
    // Beyond the normal numbers there are only signals that are not numbers.
    let mut unit = vec![0.0; outputs];
    for (row, mono) in pairs() {
        unit.iter_mut()
            .zip(row.iter().zip(mono))
            .for_each(|(u, (y, m))| *u = f64::max(*u, y.abs().max(m.abs())));
    }
    let (mut errors, mut squares) = (vec![0.0; outputs], vec![0.0; outputs]);
    for (k, (row, mono)) in pairs().enumerate() {
        let weight = weight(weights, k + 1);
        for i in (0..nominal.len()).filter(|i| unit[*i] >= f64::MIN_POSITIVE) {
            errors[i] += weight * (row[i] / unit[i] - mono[i] / unit[i]).powi(2);
            squares[i] += weight * (mono[i] / unit[i]).powi(2);
        }
    }
    let points = ((rows.len() / outputs).max(2) - 1) as f64;
    let relative = |i: usize| match squares[i] > 0.0 {
        true => (errors[i] / squares[i]).sqrt(),
        false => (errors[i] / points).sqrt() * unit[i] / nominal[i],
    };
    (0..nominal.len()).map(relative).collect()
}

/// sqrt(mean (y - y_mono)^2) / range(y_mono) per output, over the rows after the first.
fn rms_of_range(rows: &[f64], mono: &[f64], (ranges, weights): (&[f64], &[f64])) -> Vec<f64> {
    let outputs = ranges.len().max(1);
    let points = ((rows.len() / outputs).max(2) - 1) as f64;
    let mut squares = vec![0.0; ranges.len()];
    for (k, (row, mono)) in rows.chunks_exact(outputs).zip(mono.chunks_exact(outputs)).enumerate().skip(1) {
        for (i, sum) in squares.iter_mut().enumerate() {
            *sum += weight(weights, k) * ((row[i] - mono[i]) / ranges[i]).powi(2);
        }
    }
    squares.iter().map(|sum| (sum / points).sqrt()).collect()
}

/// Greatest |y - y_mono| of one output.
fn worst_error(rows: &[f64], mono: &[f64], outputs: usize, output: usize) -> f64 {
    let column =
        |rows: &'_ [f64]| rows.iter().skip(output).step_by(outputs.max(1)).copied().collect::<Vec<_>>();
    column(rows).iter().zip(column(mono)).map(|(y, mono)| (y - mono).abs()).fold(0.0, f64::max)
}

fn energy_drift(run: &[f64], mono: &[f64]) -> Option<f64> {
    let largest = mono.iter().copied().fold(0.0, f64::max);
    let drift = (run.last()? - mono.last()?) / largest;
    // The energy of very large or very small motions is not a number any more.
    (largest > 0.0 && drift.is_finite()).then_some(drift)
}

/// The error of [G18 (66)]: max over t of the sum over all outputs of |y - y_ref|, at all known points up to
/// the stop time, against a monolithic reference with the solver the model names. Nothing for models whose
/// paper does not use it.
pub fn paper_error(model: &SystemDescription, stop: f64, run: &Trace) -> Result<Option<f64>> {
    let Some(solver) = model.paper_reference else { return Ok(None) };
    let (times, rows) = match &run.micro {
        Some(micro) => (&micro.times, &micro.rows),
        None => (&run.times, &run.rows),
    };
    let within = times.partition_point(|t| *t <= stop + 1e-12 * stop.abs());
    let reference = outputs_at(model, solver, model.experiment.start, &times[..within])?;
    let sums = rows.chunks_exact(run.outputs.max(1)).zip(reference.chunks_exact(run.outputs.max(1)));
    let sum =
        |(y, reference): (&[f64], &[f64])| y.iter().zip(reference).map(|(y, r)| (y - r).abs()).sum::<f64>();
    Ok(Some(sums.map(sum).fold(0.0, f64::max)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::ReferenceKind;
    use costep_core::PortKind;

    #[test]
    fn where_steps_vary_time_counts_and_not_points() {
        // An error of 1 for the first 0.1 s in many points, of 3 for the last 0.9 s in one.
        let times: Vec<f64> = (0..=100).map(|k| 1e-3 * f64::from(k)).chain([1.0]).collect();
        let run: Vec<f64> = (0..=100).map(|_| 1.0).chain([3.0]).collect();
        let mono: Vec<f64> = times.iter().map(|_| 0.0).collect();
        let weights = weights(&times);
        assert!((weights.iter().sum::<f64>() - 101.0).abs() < 1e-9);
        // By the trapezoidal rule: 0.55 s of 1 and 0.45 s of 9, without the initial value.
        let error = mean_relative_error(&run, &mono, (&[1.0], &weights));
        assert!((error - (0.55f64 + 4.05 - 0.0005).sqrt()).abs() < 1e-3, "{error}");
        assert!(super::weights(&times[..=100]).is_empty());
    }

    #[test]
    fn the_mean_error_is_relative_to_the_range_and_leaves_the_start_out() {
        let mono = [0.0, 10.0, 2.0, 10.0, 1.0, 10.0];
        let run = [9.0, 9.0, 2.2, 10.0, 1.0, 13.0];
        // Ranges 2 and (not moving) nominal 5: errors (0.1 + 0) / 2 and (0 + 0.6) / 2.
        let eps = mean_relative_error(&run, &mono, (&[1.0, 5.0], &[]));
        assert!((eps - ((0.05f64.powi(2) + 0.3f64.powi(2)) / 2.0).sqrt()).abs() < 1e-15);
    }

    #[test]
    fn the_mean_over_time_is_taken_per_output_and_its_norm_over_subsystems() {
        let mono = [0.0, 0.0, 0.0, 2.0, 4.0, 10.0];
        let run = [0.0, 0.0, 0.0, 2.0, 4.6, 13.0];
        // Two points, ranges 2, 4, 10: means 0, 0.075, 0.15.
        let errors = mean_errors(&run, &mono, (&[1.0; 3], &[]));
        assert!(errors.iter().zip([0.0, 0.075, 0.15]).all(|(a, b)| (a - b).abs() < 1e-12), "{errors:?}");
        let norm = norm_over_subsystems(&[2, 1], &errors);
        assert!((norm - 0.0375f64.hypot(0.15)).abs() < 1e-12, "{norm}");
    }

    #[test]
    fn sigma_is_the_deviation_of_the_noise_on_the_error_alone() {
        // The reference jumps with every point: noise of its own that must not count. The error has a constant part, which must
        // not count either, and noise of +-0.1 in turns, alternating in pairs so that it is not the last frequency alone.
        let count = 400;
        let jump = |k: usize| if (k * k) % 7 < 3 { 1.0 } else { 0.0 };
        let wave = |k: usize| if (k * k * k) % 11 < 5 { 0.1 } else { -0.1 };
        let mono: Vec<f64> = (0..count).flat_map(|k| [jump(k), 2.0 * jump(k), jump(k)]).collect();
        let run = |size: f64| -> Vec<f64> {
            let row = |k: usize| {
                [jump(k) + 0.3 + size * wave(k), 2.0 * jump(k) - 5.0, jump(k) + 2.0 * size * wave(k)]
            };
            (0..count).flat_map(row).collect()
        };
        let found = noise(&run(1.0), &mono, &[1.0; 3]);
        let variance = noise_variance(&(0..count).map(wave).collect::<Vec<_>>());
        assert!((variance.sqrt() - 0.1).abs() < 0.01, "{variance}");
        assert!((found[0] / variance.sqrt() - 1.0).abs() < 1e-6 && found[1] < 1e-9, "{found:?}");
        // A deviation, so twice the noise has twice of it; the mean per subsystem, and their sum.
        assert!((found[2] / found[0] - 2.0).abs() < 1e-6, "{found:?}");
        let sigma: f64 = means_of_subsystems(&[2, 1], &found).sum();
        assert!((sigma - (0.5 * (found[0] + found[1]) + found[2])).abs() < 1e-15, "{sigma}");
        assert!(noise(&run(0.0), &mono, &[1.0; 3]).iter().all(|sigma| *sigma < 1e-9));
    }

    #[test]
    fn relative_rms_survives_the_ends_of_the_numbers() {
        for size in [1e-300, 1e-160, 1.0, 1e160, 1e300] {
            let rms =
                relative_rms(&[0.0, 3.3 * size, 4.4 * size], &[0.0, 3.0 * size, 4.0 * size], (&[1.0], &[]));
            assert!((rms[0] - 0.1).abs() < 1e-12, "{size:e}: {}", rms[0]);
        }
        assert_eq!(relative_rms(&[0.0, 0.2, 0.2], &[0.0, 0.0, 0.0], (&[2.0], &[])), [0.1]);
        assert_eq!(relative_rms(&[0.0, 0.0], &[0.0, 0.0], (&[1.0], &[])), [0.0]);
        // Two texts.
        assert_eq!(relative_rms(&[0.0, 3e-310], &[0.0, 8e-309], (&[1.0], &[])), [0.0]);
        assert_eq!(energy_drift(&[0.0, f64::INFINITY], &[f64::INFINITY, f64::INFINITY]), None);
    }

    /// A position beside a Boolean that says whether it is far out, and that flips a step too late.
    #[test]
    fn a_boolean_that_flips_late_is_no_error_of_the_run() {
        let port = |name: &str, kind| costep_core::Port { kind, ..costep_core::Port::new(name, "1", 1.0) };
        let outputs = vec![port("far", PortKind::Boolean), port("x", PortKind::Real)];
        let parts = [Description { name: "spring".into(), outputs, ..Description::default() }];
        let trace = |far_at: usize, factor: f64| {
            let mut trace = Trace::new(2, false);
            trace.times = (0..40).map(|k| 0.1 * f64::from(k)).collect();
            let row = |k: usize| [f64::from(u8::from(k == far_at)), factor * (0.3 * k as f64).sin()];
            trace.rows = (0..40).flat_map(row).collect();
            trace
        };
        let mono = trace(20, 1.0);
        let amplitudes = Amplitudes::of(&mono.times, &mono.rows, 2);
        let kind = ReferenceKind::FineStep { step: 1e-3, method: "zoh".into(), own_error: 0.0 };
        let reference = Reference { kind, trace: mono, amplitudes };
        let found = measure(&parts, &trace(21, 1.01), &reference);
        assert!(found.eps_mono < 0.01 && !found.inaccurate && !found.unstable, "{found:?}");
        assert_eq!(found.signals.len(), 1);
        // A real signal that is wrong is named.
        let found = measure(&parts, &trace(20, -1.0), &reference);
        assert!(found.inaccurate && found.wrong == ["spring.x"] && found.worst > 1.9, "{found:?}");
    }

    #[test]
    fn relative_rms_needs_no_scale() {
        let rms = relative_rms(&[0.0, 3.3, 0.0, 4.4], &[0.0, 3.0, 0.0, 4.0], (&[1.0], &[]));
        assert!((rms[0] - 0.1).abs() < 1e-15);
    }
}
