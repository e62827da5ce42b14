//! A local model of a subsystem from a record of a run, where it can neither be asked nor be put back: held inputs, and outputs at
//! the ends of the steps.
//!
//! ```text
//! y^k = sum_(i=1..N) A_i y^(k-i) + sum_(i=0..N) B_i u^(k-i) + c      by least squares, N as small as explains the record
//! ```
//!
//! u^k is the input that was held over the step that ends with y^k. The responses of that model to pulses then give A, B, C, D as
//! those of a subsystem itself do (`realise.rs`). N = 0 is a part without memory. Outputs that follow from u^k alone are left out
//! of what y^k depends on: beside u^(k-i) they say nothing, and a model could take them for a state.

use costep_core::LocalModel;
use costep_linalg::{Matrix, PseudoInverse, Triangle};

use super::realise::Responses;

/// Most steps that a model looks back.
const MOST_LAGS: usize = 6;
/// Rows per column that a record needs.
const ROWS_PER_COLUMN: usize = 3;
/// Singular values of the regressors below this share count as zero.
const CUT: f64 = 1e-11;
/// More lags than explain the record to this share of the ranges are not looked for.
const EXPLAINED: f64 = 1e-10;
/// An order is taken if it explains the record up to so many times what the best one leaves.
const NEARLY_BEST: f64 = 3.0;

/// What was seen of a subsystem in a run.
#[derive(Clone, Debug)]
pub struct Record {
    inputs: usize,
    outputs: usize,
    spacing: f64,
    /// Step by step u, then y.
    rows: Vec<f64>,
}

/// A model that explains a record.
#[derive(Clone, Debug)]
pub struct RecordedModel {
    /// A, B, C, D.
    pub model: LocalModel,
    /// Greatest root mean square of what it leaves of an output from step to step, as a share of the range of that output.
    pub unexplained: f64,
    /// How many steps it looks back.
    pub lags: usize,
}

/// y^k as a linear function of the last ones, in units of the ranges.
struct Regression {
    lags: usize,
    /// One column per output.
    theta: Matrix,
    /// What it leaves of each output, and the most of these.
    left: Vec<f64>,
    unexplained: f64,
}

impl Record {
    /// Of a subsystem with so many signals, over steps of this length.
    pub fn new(inputs: usize, outputs: usize, spacing: f64) -> Self {
        Self { inputs, outputs, spacing, rows: Vec::new() }
    }

    /// Takes in the input that was held over a step, and the outputs at its end.
    pub fn push(&mut self, u: &[f64], y: &[f64]) {
        self.rows.extend_from_slice(u);
        self.rows.extend_from_slice(y);
    }

    /// The model of fewest states that explains the record. None if it is too short, nothing moves, or no model explains it.
    pub fn model(&self) -> Option<RecordedModel> {
        if self.outputs == 0 || self.inputs == 0 {
            // Nothing that a coupling could move, or that it could see.
            let model = LocalModel::new(0, self.inputs, self.outputs);
            return Some(RecordedModel { model, unexplained: 0.0, lags: 0 });
        }
        let units = self.units()?;
        let at_once = self.regress(0, &units, &[])?;
        let has_memory: Vec<bool> = at_once.left.iter().map(|left| *left > EXPLAINED).collect();
        let mut found: Vec<Regression> = vec![at_once];
        // Without memory there is nothing to look back for.
        let most = if has_memory.contains(&true) { MOST_LAGS } else { 0 };
        for lags in 1..=most {
            let Some(regression) = self.regress(lags, &units, &has_memory) else { break };
            let enough = regression.unexplained <= EXPLAINED;
            found.push(regression);
            if enough {
                break;
            }
        }
        let best = found.iter().map(|of| of.unexplained).fold(f64::INFINITY, f64::min);
        // Nearly without memory is with memory.
        let is_possible = |of: &Regression| of.lags > 0 || of.unexplained <= EXPLAINED;
        let is_good = |of: &Regression| of.unexplained <= NEARLY_BEST * best.max(EXPLAINED);
        let chosen = found.into_iter().find(|of| is_possible(of) && is_good(of))?;
        let responses = self.pulses(&chosen, &units);
        let cut = (10.0 * chosen.unexplained).clamp(1e-9, 0.05);
        let model = responses.realise(cut).filter(|model| responses.are_explained_by(model))?;
        Some(RecordedModel { model, unexplained: chosen.unexplained, lags: chosen.lags })
    }

    fn width(&self) -> usize {
        self.inputs + self.outputs
    }

    fn steps(&self) -> usize {
        self.rows.len() / self.width()
    }

    /// Signal j at a step: inputs first.
    fn at(&self, step: usize, j: usize) -> f64 {
        self.rows[step * self.width() + j]
    }

    /// Half the range of each signal; 1 for those that do not move. None if no output does, or a value is not finite.
    fn units(&self) -> Option<Vec<f64>> {
        if !self.rows.iter().all(|value| value.is_finite()) {
            return None;
        }
        let range = |j: usize| {
            let values = (0..self.steps()).map(|k| self.at(k, j));
            let (least, greatest) = values.fold((f64::MAX, f64::MIN), |(a, b), x| (a.min(x), b.max(x)));
            0.5 * (greatest - least)
        };
        let ranges: Vec<f64> = (0..self.width()).map(range).collect();
        let moves = ranges[self.inputs..].iter().any(|range| *range > 0.0);
        moves.then(|| ranges.into_iter().map(|range| if range > 0.0 { range } else { 1.0 }).collect())
    }

    fn columns(&self, lags: usize) -> usize {
        lags * self.width() + self.inputs + 1
    }

    /// What y at a step depends on: the last outputs and inputs, newest first, the input of the step, and a constant.
    fn fill(&self, step: usize, lags: usize, units: &[f64], row: &mut [f64]) {
        let mut at = 0;
        let mut put = |value: f64| {
            row[at] = value;
            at += 1;
        };
        for lag in 1..=lags {
            (0..self.width()).for_each(|j| put(self.at(step - lag, j) / units[j]));
        }
        (0..self.inputs).for_each(|j| put(self.at(step, j) / units[j]));
        put(1.0);
    }

    /// The same model with so many lags of the inputs, and of the outputs that have memory.
    fn regress(&self, lags: usize, units: &[f64], has_memory: &[bool]) -> Option<Regression> {
        let (p, n) = (self.columns(lags), self.outputs);
        let rows = self.steps().checked_sub(lags).filter(|rows| *rows >= ROWS_PER_COLUMN * p)?;
        let (mut factor, mut row) = (Triangle::new(p + n), vec![0.0; p + n]);
        for step in lags..self.steps() {
            self.fill(step, lags, units, &mut row[..p]);
            for (lag, i) in (0..lags).flat_map(|lag| (0..n).map(move |i| (lag, i))) {
                if !has_memory[i] {
                    row[lag * self.width() + self.inputs + i] = 0.0;
                }
            }
            for i in 0..n {
                row[p + i] = self.at(step, self.inputs + i) / units[self.inputs + i];
            }
            factor.append(&row);
        }
        let r = factor.factor();
        let (mut known, mut wanted) = (Matrix::zeros(p, p), Matrix::zeros(p, n));
        for k in 0..p {
            known.row_mut(k).copy_from_slice(&r.row(k)[..p]);
            wanted.row_mut(k).copy_from_slice(&r.row(k)[p..]);
        }
        let (mut inverse, mut theta) = (Matrix::zeros(p, p), Matrix::zeros(p, n));
        PseudoInverse::new(p, p).compute(&known, CUT, &mut inverse);
        theta.set_product(&inverse, &wanted);
        wanted.add_product(-1.0, &known, &theta);
        let left = |i: usize| {
            let below = (0..=i).map(|k| r[(p + k, p + i)].powi(2)).sum::<f64>();
            ((below + (0..p).map(|k| wanted[(k, i)].powi(2)).sum::<f64>()) / rows as f64).sqrt()
        };
        let left: Vec<f64> = (0..n).map(left).collect();
        let unexplained = left.iter().copied().fold(0.0, f64::max);
        Some(Regression { lags, theta, left, unexplained })
    }

    /// Responses of the regression to a pulse of each input over the first step.
    fn pulses(&self, regression: &Regression, units: &[f64]) -> Responses {
        let (m, n, lags) = (self.inputs, self.outputs, regression.lags);
        let samples = (4 * lags * n + 4).clamp(12, 80);
        let mut values = vec![0.0; samples * n * m];
        for q in 0..m {
            // In units of the signals, rest before the pulse.
            let mut past = Self { rows: vec![0.0; lags * self.width()], ..self.clone() };
            let (ones, mut row) = (vec![1.0; self.width()], vec![0.0; self.columns(lags)]);
            for k in 0..samples {
                let mut now = vec![0.0; self.width()];
                now[q] = f64::from(u8::from(k == 0));
                past.rows.extend_from_slice(&now);
                let step = past.steps() - 1;
                past.fill(step, lags, &ones, &mut row);
                // A response is what the pulse adds.
                row[self.columns(lags) - 1] = 0.0;
                for i in 0..n {
                    let y: f64 = row.iter().enumerate().map(|(c, x)| x * regression.theta[(c, i)]).sum();
                    past.rows[step * self.width() + m + i] = y;
                    values[(k * n + i) * m + q] = y * units[m + i];
                }
            }
        }
        let pulses = units[..m].to_vec();
        Responses { inputs: m, outputs: n, spacing: self.spacing, values, pulses, doubt: 0.0, drift: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::place::discrete;
    use super::*;

    /// A record of a local model under inputs without a pattern.
    fn record(model: &LocalModel, h: f64, steps: usize) -> Record {
        let (o, m, n) = (model.states, model.inputs, model.outputs);
        let step = discrete(model, h).unwrap();
        let mut record = Record::new(m, n, h);
        let (mut x, mut random) = (vec![0.1; o], 1u64);
        for _ in 0..steps {
            let u: Vec<f64> = (0..m)
                .map(|_| {
                    random = random
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1_442_695_040_888_963_407);
                    (random >> 40) as f64 / f64::from(1 << 23) - 1.0
                })
                .collect();
            let row = |k: usize| -> f64 {
                let by_x: f64 = (0..o).map(|l| step.a[(k, l)] * x[l]).sum();
                by_x + (0..m).map(|q| step.b[(k, q)] * u[q]).sum::<f64>()
            };
            x = (0..o).map(row).collect();
            let output = |i: usize| -> f64 {
                let by_x: f64 = (0..o).map(|l| model.c[i * o + l] * x[l]).sum();
                by_x + (0..m).map(|q| model.d[i * m + q] * u[q]).sum::<f64>() + 3.0
            };
            let y: Vec<f64> = (0..n).map(output).collect();
            record.push(&u, &y);
        }
        record
    }

    /// Two states behind one output, direct feedthrough and an offset: eigenvalues and D are found.
    #[test]
    fn a_record_gives_the_model_that_made_it() {
        let mut model = LocalModel::new(2, 2, 1);
        model.a.copy_from_slice(&[0.0, 1.0, -1e4, -20.0]);
        model.b.copy_from_slice(&[0.0, 0.0, 1e4, 20.0]);
        model.c.copy_from_slice(&[-1e5, -1e3]);
        model.d.copy_from_slice(&[1e5, 1e3]);
        let found = record(&model, 1e-3, 300).model().unwrap();
        assert_eq!((found.model.states, found.lags), (2, 2));
        assert!(found.unexplained < 1e-9, "{:e}", found.unexplained);
        let a = &found.model.a;
        let (trace, determinant) = (a[0] + a[3], a[0] * a[3] - a[1] * a[2]);
        assert!((trace + 20.0).abs() < 1e-4 && (determinant - 1e4).abs() < 1e-2, "{trace} {determinant}");
        assert!(
            (found.model.d[0] - 1e5).abs() < 1e-2 && (found.model.d[1] - 1e3).abs() < 1e-3,
            "{:?}",
            found.model.d
        );
    }

    /// A controller that only computes has no eigenvalue, alone or beside an output that integrates.
    #[test]
    fn outputs_without_memory_have_no_states() {
        let model = LocalModel { d: vec![-100.0, -10.0], ..LocalModel::new(0, 2, 1) };
        let found = record(&model, 1e-3, 300).model().unwrap();
        assert_eq!((found.model.states, found.lags), (0, 0));
        assert!((found.model.d[0] + 100.0).abs() < 1e-9 && (found.model.d[1] + 10.0).abs() < 1e-9);
        let mut model = LocalModel { d: vec![-100.0, -10.0, 0.0, 0.0], ..LocalModel::new(1, 2, 2) };
        model.a.copy_from_slice(&[-3.0]);
        model.b.copy_from_slice(&[1.0, 0.5]);
        model.c.copy_from_slice(&[0.0, 1.0]);
        let found = record(&model, 1e-3, 300).model().unwrap();
        assert_eq!((found.model.states, found.lags), (1, 1));
        assert!((found.model.a[0] + 3.0).abs() < 1e-5, "{}", found.model.a[0]);
    }

    #[test]
    fn rest_and_short_records_give_none() {
        let mut rest = Record::new(1, 1, 1e-3);
        (0..100).for_each(|_| rest.push(&[1.0], &[2.0]));
        assert!(rest.model().is_none());
        let mut short = Record::new(1, 1, 1e-3);
        (0..5).for_each(|k| short.push(&[f64::from(k)], &[f64::from(k * k)]));
        assert!(short.model().is_none());
    }
}
