//! What is true: a fine reference, and how far a run is from it.

use costep::Verify;
use costep_analysis::outputs_at;
use costep_core::Result;
use costep_integrate::Solver;
use costep_integrate::multistep::{AtPoint, Family};

use super::cases::Case;
use super::measure::run;
use super::parts::{Counts, Guise};

/// Monolithic references, the better ones first: a tolerance and the one it is checked with.
const SOLVERS: [[Solver; 2]; 3] = [
    [Solver::Dopri5(1e-11), Solver::Dopri5(1e-9)],
    [Solver::Dopri5(1e-9), Solver::Dopri5(1e-8)],
    [
        Solver::Multistep(Family::Bdf, 1e-9, AtPoint::Restart),
        Solver::Multistep(Family::Bdf, 1e-8, AtPoint::Restart),
    ],
];
/// A reference that may be wrong by more than this is made again, sharper.
const SURE: f64 = 1e-3;
/// Fewest steps per macro step of a coupled reference; it is checked with one of half as many.
const COARSEST: u64 = 128;
/// Most steps of a coupled reference.
const MOST_STEPS: u64 = 1_000_000;
/// A peak beyond so many ranges is that of a run that is unstable.
const PEAK: f64 = 5.0;
/// An error of so much of a range is that of another solution.
const HALF: f64 = 0.5;
/// Ranges below this part of the nominal value, or of the greatest value, are round-off.
const RESTS: f64 = 1e-6;

/// The outputs as they should be, at the communication points.
#[derive(Clone, Debug)]
pub struct Truth {
    rows: Vec<f64>,
    /// Middle and range of each output.
    scales: Vec<(f64, f64)>,
    /// How it was computed.
    pub by: String,
    /// What it may be wrong by.
    pub own_error: f64,
}

/// How far a run is from the truth.
#[derive(Clone, Debug, PartialEq)]
pub struct Distance {
    /// RMS over the communication points of the mean over outputs of the error as a share of the range.
    pub eps: f64,
    /// RMS error of the worst output in its ranges, and its index.
    pub worst: (f64, usize),
    /// Greatest distance from the middle of a range, in ranges.
    pub peak: f64,
    /// Why nobody should believe the run; nothing if it may be believed.
    pub bad: Option<&'static str>,
}

impl Distance {
    /// Of a run that did not come to its end.
    pub fn ended_early() -> Self {
        let worst = (f64::INFINITY, 0);
        Self { eps: f64::INFINITY, worst, peak: f64::INFINITY, bad: Some("did not come to its end") }
    }
}

impl Truth {
    /// The truth of a case; where there is none, why.
    pub fn of(case: &Case) -> std::result::Result<Self, String> {
        let nominal = case.nominal_outputs();
        let mut failures = Vec::new();
        for [fine, check] in SOLVERS.into_iter().filter(|_| case.model.has_equations()) {
            let solved = monolithic(case, fine).and_then(|rows| Ok((rows, monolithic(case, check)?)));
            match solved {
                Err(error) => failures.push(format!("{}: {error}", fine.label())),
                Ok((rows, other)) => {
                    let truth = Self::new(rows, &nominal, format!("monolithic, {}", fine.label()));
                    let truth = truth.checked_with(&other);
                    if truth.own_error <= SURE {
                        return Ok(truth);
                    }
                    failures.push(format!("{}: unsure by {:.1e}", fine.label(), truth.own_error));
                }
            }
        }
        let mut truth = Self::coupled(case, &nominal)?;
        failures.iter().for_each(|failure| truth.by += &format!("; {failure}"));
        Ok(truth)
    }

    /// At steps that become smaller until halves of them change little.
    fn coupled(case: &Case, nominal: &[f64]) -> std::result::Result<Self, String> {
        let counts = Counts::default();
        let system = case.built(Guise::Black, true, &counts).map_err(|errors| errors.first().to_string())?;
        let mut refinement = COARSEST;
        loop {
            let at = |method: &str| -> Option<Self> {
                let fine = run(case, &system, &counts, (method, Verify::Never), refinement).rows?;
                let check = run(case, &system, &counts, (method, Verify::Never), refinement / 2).rows?;
                let by = format!("{method} at 1/{refinement} of the step");
                let truth = Self::new(fine, nominal, by).checked_with(&check);
                truth.own_error.is_finite().then_some(truth)
            };
            let best = Self::agreed([at("zoh"), at("foh")]);
            refinement *= 4;
            let is_sure = best.as_ref().is_some_and(|best| best.own_error <= SURE);
            if is_sure || refinement * case.steps > MOST_STEPS {
                return best.ok_or_else(|| "no run at a small step comes to its end".into());
            }
        }
    }

    /// Of holds and ramps those that change less with the step. They have to agree.
    fn agreed(found: [Option<Self>; 2]) -> Option<Self> {
        let mut best = found.iter().flatten().min_by(|a, b| a.own_error.total_cmp(&b.own_error)).cloned()?;
        if let [Some(zoh), Some(foh)] = &found {
            let between = zoh.distance(&foh.rows).eps;
            // Errors of first order are as large as what half the step changes.
            if between > 1.5 * (zoh.own_error + foh.own_error) {
                best.own_error = between;
            }
        }
        Some(best)
    }

    fn new(rows: Vec<f64>, nominal: &[f64], by: String) -> Self {
        let outputs = nominal.len();
        let scales = nominal.iter().enumerate().map(|(i, nominal)| {
            let column = || rows.iter().skip(i).step_by(outputs).copied();
            let (least, most) = (column().fold(f64::MAX, f64::min), column().fold(f64::MIN, f64::max));
            let floor = RESTS * nominal.abs().max(least.abs()).max(most.abs());
            let range = most - least;
            (0.5 * (most + least), if range > floor { range } else { nominal.abs().max(floor) })
        });
        Self { scales: scales.collect(), rows, by, own_error: 0.0 }
    }

    fn checked_with(mut self, other: &[f64]) -> Self {
        self.own_error = self.distance(other).eps;
        self
    }

    /// How far rows of outputs at the same points are from it.
    pub fn distance(&self, rows: &[f64]) -> Distance {
        let outputs = self.scales.len();
        if rows.len() != self.rows.len() || rows.iter().any(|y| !y.is_finite()) {
            return Distance::ended_early();
        }
        let points = rows.len() / outputs;
        let fifth = points.div_ceil(5);
        let (mut mean_square, mut peak) = (0.0, 0.0);
        // Sums of squares over the whole run, its first and its last fifth.
        let mut squares = vec![[0.0; 3]; outputs];
        for (k, (row, truth)) in rows.chunks(outputs).zip(self.rows.chunks(outputs)).enumerate().skip(1) {
            let mut sum = 0.0;
            for (i, (y, truth)) in row.iter().zip(truth).enumerate() {
                let (middle, range) = self.scales[i];
                let error = (y - truth).abs() / range;
                sum += error;
                peak = f64::max(peak, (y - middle).abs() / range);
                let parts = [true, k <= fifth, k >= points - fifth];
                parts
                    .iter()
                    .zip(&mut squares[i])
                    .filter(|(counts, _)| **counts)
                    .for_each(|(_, sum)| *sum += error * error);
            }
            mean_square += (sum / outputs as f64).powi(2);
        }
        let count = (points.max(2) - 1) as f64;
        let rms = |square: f64, count: f64| (square / count).sqrt();
        let worst = squares.iter().map(|of| rms(of[0], count)).enumerate();
        let worst =
            worst.fold((0.0, 0), |worst, (i, error)| if error > worst.0 { (error, i) } else { worst });
        let grows = squares.iter().any(|[_, first, last]| {
            let [first, last] = [first, last].map(|square| rms(*square, fifth as f64));
            last > HALF && last > 2.0 * first
        });
        let bad = match () {
            () if peak > PEAK => Some("peaks beyond five ranges"),
            () if worst.0 > HALF => Some("off by more than half of a range"),
            () if grows => Some("the error grows beyond half of a range"),
            () => None,
        };
        Distance { eps: rms(mean_square, count), worst, peak, bad }
    }

    /// Greatest change of a sum that should stay what it is, as a share of it.
    pub(super) fn drift(conserved: &[(usize, f64)], outputs: usize, rows: &[f64]) -> Option<f64> {
        let sum = |row: &[f64]| conserved.iter().map(|(i, weight)| weight * row[*i]).sum::<f64>();
        let mut sums = rows.chunks(outputs).map(sum);
        let first = sums.next().filter(|_| !conserved.is_empty())?;
        Some(sums.map(|sum| ((sum - first) / first).abs()).fold(0.0, f64::max))
    }
}

fn monolithic(case: &Case, solver: Solver) -> Result<Vec<f64>> {
    let times: Vec<f64> = (0..=case.steps).map(|k| case.model.experiment.time(k)).collect();
    outputs_at(&case.model, solver, 0.0, &times)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn truth() -> Truth {
        let rows = (0..=100).flat_map(|k| [f64::from(k) * 0.01, 3.0]).collect();
        Truth::new(rows, &[1.0, 2.0], "hand".into())
    }

    fn with(change: impl Fn(usize) -> f64) -> Distance {
        let mut rows = truth().rows;
        rows.chunks_mut(2).enumerate().skip(1).for_each(|(k, row)| row[0] += change(k));
        truth().distance(&rows)
    }

    #[test]
    fn runs_are_labelled_by_what_they_are() {
        let small = with(|_| 0.1);
        assert!((small.eps - 0.05).abs() < 1e-12 && (small.worst.0 - 0.1).abs() < 1e-12);
        assert_eq!((small.worst.1, small.bad), (0, None));
        assert_eq!(with(|_| 0.6).bad, Some("off by more than half of a range"));
        assert_eq!(with(|k| if k == 50 { 20.0 } else { 0.0 }).bad, Some("peaks beyond five ranges"));
        // A jump that is a point late is no reason to doubt the rest.
        assert_eq!(with(|k| if k == 50 { 1.0 } else { 0.0 }).bad, None);
        assert_eq!(with(|k| 0.006 * k as f64).bad, Some("the error grows beyond half of a range"));
        assert_eq!(with(|k| if k == 99 { f64::NAN } else { 0.0 }), Distance::ended_early());
        assert_eq!(truth().distance(&[0.0; 20]), Distance::ended_early());
    }

    #[test]
    fn an_output_that_rests_is_measured_by_its_nominal_value() {
        assert_eq!(truth().scales[1], (3.0, 2.0));
        assert_eq!(Truth::drift(&[(1, 2.0)], 2, &truth().rows), Some(0.0));
        assert_eq!(Truth::drift(&[], 2, &truth().rows), None);
    }
}
