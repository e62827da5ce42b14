//! One macro step of an engine as a linear map, whatever its method, sources and subsystems are: the whole saved state is
//! changed number by number and stepped again.
//!
//! A saved state has numbers that are no states: time, tolerances, sizes of signals, models. What the states and
//! signals do not move, or what moves none of them, is left out, by what the steps show. Changes are as large as the
//! state itself where the map is linear, which two sizes of changes tell: then differences are exact to round-off. Else
//! they are central, and as large as agrees best with half of it.

use costep_core::{Code, Error, Result};
use costep_engine::{Engine, MarkedState};
use costep_linalg::{Complex, Matrix, eigenvalues, eigenvector};

/// Macro steps, or periods of slow parts, that are looked at before: what moves, and how far.
const LOOKED_AT: usize = 4;
/// Changes relative to the sizes of the numbers, and whether differences are central.
const CHANGES: [(f64, bool); 4] = [(1.0, false), (1e-2, true), (1e-4, true), (1e-6, true)];
/// Maps by two changes that agree so well are linear.
const AGREES: f64 = 1e-10;
/// Less than this of the size of a number is round-off; noise beyond it raises the bound up to the other one.
const ROUND_OFF: f64 = 1e-11;
const MOST_NOISE: f64 = 1e-6;
/// Rows that differ more than this by the two changes are of no smooth state, such as the step of a solver.
const NOT_SMOOTH: f64 = 1e-3;
/// Maps of more states take too long.
const MOST_STATES: usize = 2000;

/// A macro step as a linear map of what the run carries from one communication point to the next.
#[derive(Clone, Debug)]
pub struct StepMap {
    /// Macro steps that the map is of: more than one where parts have slower rates.
    pub period: u32,
    /// The map in units of the sizes of the states.
    matrix: Matrix,
    /// Outputs, and coupled inputs, at the end of the step from states at its start.
    outputs: Matrix,
    coupled: Matrix,
    /// How far entries may be off: by what maps of two changes differ.
    pub noise: f64,
    /// How far the spectral radius may be off, by the same.
    pub uncertainty: f64,
    /// The size of the changes, relative to that of the state.
    pub change: f64,
    values: Vec<Complex>,
}

/// Something that grows or decays by one factor from step to step.
#[derive(Clone, Debug)]
pub struct Mode {
    /// The factor of one macro step.
    pub factor: Complex,
    /// The outputs in it, in their units: amplitude and phase. The scale is free.
    pub outputs: Vec<Complex>,
    /// The coupled inputs in it.
    pub coupled: Vec<Complex>,
}

impl StepMap {
    /// Of the steps that follow, so many at a time; `progress` hears what share is done and may end it.
    pub fn of(engine: &mut Engine, period: u32, progress: &mut dyn FnMut(f64) -> Result<()>) -> Result<Self> {
        let mut neighbours = Neighbours::new(engine, period)?;
        let mut best: Option<Self> = None;
        for (number, (change, central)) in CHANGES.into_iter().enumerate() {
            let mut progress = |share: f64| progress((number as f64 + share) / CHANGES.len() as f64);
            let found = match neighbours.differences(change, central, &mut progress) {
                Ok(differences) => differences.reduced(period, &neighbours.sizes)?,
                // Too far for the guards of the run, or for a method: nearer.
                Err(error)
                    if matches!(error.code(), Code::Stopped | Code::TimeLimit | Code::StateTooLarge) =>
                {
                    return Err(error);
                }
                Err(error) if number + 1 == CHANGES.len() && best.is_none() => return Err(error),
                Err(_) => continue,
            };
            let is_linear = found.noise < AGREES;
            if best.as_ref().is_none_or(|best| found.noise < best.noise) {
                best = Some(found);
            }
            if is_linear {
                break;
            }
        }
        neighbours.engine.load(&neighbours.base.bytes)?;
        best.ok_or_else(|| not_finite(engine.k()))
    }

    /// The spectral radius of one macro step: below one all perturbations decay in the end.
    pub fn radius(&self) -> f64 {
        self.values.first().map_or(0.0, |value| value.abs().powf(1.0 / f64::from(self.period)))
    }

    /// Number of states: of the subsystems, and what method and signals carry on.
    pub fn states(&self) -> usize {
        self.matrix.rows()
    }

    /// The factors of one macro step, the greatest first; of a pair of conjugates both.
    pub fn factors(&self) -> Vec<Complex> {
        self.values.iter().map(|value| root(*value, self.period)).collect()
    }

    /// The mode that grows fastest, or decays slowest.
    pub fn leading_mode(&self) -> Option<Mode> {
        let value = *self.values.first()?;
        let vector = eigenvector(&self.matrix, value);
        let seen = |rows: &Matrix| -> Vec<Complex> {
            let sum = |i: usize| {
                let terms = rows.row(i).iter().zip(&vector);
                terms.fold(Complex::default(), |sum, (entry, x)| sum + Complex::from(*entry) * *x)
            };
            (0..rows.rows()).map(sum).collect()
        };
        let [outputs, coupled] = [seen(&self.outputs), seen(&self.coupled)];
        Some(Mode { factor: root(value, self.period), outputs, coupled })
    }
}

/// The factor of one step from that of a period.
fn root(value: Complex, period: u32) -> Complex {
    if period == 1 {
        return value;
    }
    let (size, angle) = (value.abs().powf(1.0 / f64::from(period)), value.angle() / f64::from(period));
    Complex::new(size * angle.cos(), size * angle.sin())
}

#[cold]
fn not_finite(step: u64) -> Error {
    Error::new(Code::NotFinite, format!("step {step} has no finite linear map"))
        .hint("a smaller step, or another point of the run")
}

/// An engine that is stepped from states beside one of its own.
struct Neighbours<'a> {
    engine: &'a mut Engine,
    period: u32,
    base: MarkedState,
    /// The numbers one period later.
    image: Vec<f64>,
    /// How large each number has been; changes are relative to it.
    sizes: Vec<f64>,
    /// Numbers of the subsystems that move by themselves, and the signals.
    seeds: Vec<usize>,
}

impl<'a> Neighbours<'a> {
    fn new(engine: &'a mut Engine, period: u32) -> Result<Self> {
        let mut base = engine.save_marked()?;
        let mut sizes: Vec<f64> = base.numbers().into_iter().map(f64::abs).collect();
        let mut moves = vec![false; sizes.len()];
        for _ in 0..LOOKED_AT {
            let kept = engine.save()?;
            let mut advance = || (0..period).try_for_each(|_| engine.step());
            if advance().is_err() {
                // What grows so fast is linearised before it has.
                engine.load(&kept)?;
                break;
            }
            let next = engine.save_marked()?;
            check_layout(&base, &next)?;
            for i in 0..sizes.len() {
                let (before, now) = (base.number(i), next.number(i));
                moves[i] |= before.to_bits() != now.to_bits();
                sizes[i] = sizes[i].max(now.abs());
            }
            base = next;
        }
        let now = engine.time();
        let of_parts = base.parts.clone().filter(|i| moves[*i] && base.number(*i) != now);
        let seeds = of_parts.chain(base.outputs.clone()).chain(base.coupled.clone()).collect();
        let mut neighbours = Self { engine, period, base, image: Vec::new(), sizes, seeds };
        let own = neighbours.base.clone();
        neighbours.image = neighbours.stepped(&own)?;
        Ok(neighbours)
    }

    /// The numbers a period later.
    fn stepped(&mut self, state: &MarkedState) -> Result<Vec<f64>> {
        self.engine.load(&state.bytes)?;
        (0..self.period).try_for_each(|_| self.engine.step())?;
        let after = self.engine.save_marked()?;
        check_layout(&self.base, &after)?;
        Ok(after.numbers())
    }

    /// What a change of number `i` does to all of them, per unit of change.
    fn column(&mut self, i: usize, change: f64, central: bool) -> Result<Vec<f64>> {
        let (own, width) = (self.base.number(i), change * self.sizes[i]);
        let mut moved = self.base.clone();
        moved.set_number(i, own + width);
        let step = moved.number(i) - own;
        // What has not moved in any bit has not moved, whether it is a number or not.
        let apart = |ahead: f64, behind: f64| {
            if ahead.to_bits() == behind.to_bits() { 0.0 } else { ahead - behind }
        };
        let mut column = self.stepped(&moved)?;
        if central {
            moved.set_number(i, own - width);
            let (back, span) = (own - moved.number(i), self.stepped(&moved)?);
            column
                .iter_mut()
                .zip(span)
                .for_each(|(ahead, behind)| *ahead = apart(*ahead, behind) / (step + back));
        } else {
            column.iter_mut().zip(&self.image).for_each(|(ahead, own)| *ahead = apart(*ahead, *own) / step);
        }
        if column.iter().all(|value| value.is_finite()) {
            Ok(column)
        } else {
            Err(not_finite(self.engine.k()))
        }
    }

    /// The columns of all numbers that the seeds move, by a change and by half of it.
    fn differences(
        &mut self,
        change: f64,
        central: bool,
        progress: &mut dyn FnMut(f64) -> Result<()>,
    ) -> Result<Differences> {
        let mut states = self.seeds.clone();
        let mut known = vec![false; self.sizes.len()];
        states.iter().for_each(|i| known[*i] = true);
        let (mut columns, mut halves) = (Vec::new(), Vec::new());
        while columns.len() < states.len() {
            let i = states[columns.len()];
            if self.sizes[i] == 0.0 {
                self.sizes[i] = 1.0;
            }
            let column = self.column(i, change, central)?;
            halves.push(self.column(i, 0.5 * change, central)?);
            for (r, entry) in column.iter().enumerate() {
                let moved = (entry * self.sizes[i]).abs();
                if moved > 0.0 && self.sizes[r] == 0.0 && !known[r] {
                    self.sizes[r] = moved;
                }
                if moved > ROUND_OFF * self.sizes[r] && !known[r] {
                    known[r] = true;
                    states.push(r);
                }
            }
            columns.push(column);
            if states.len() > MOST_STATES {
                return Err(too_large(states.len()));
            }
            progress(columns.len() as f64 / states.len() as f64)?;
        }
        let MarkedState { outputs, coupled, parts, .. } = &self.base;
        let ranges = [outputs.clone(), coupled.clone(), parts.clone()];
        Ok(Differences { states, columns, halves, ranges, change })
    }
}

#[cold]
fn too_large(states: usize) -> Error {
    Error::new(Code::StateTooLarge, format!("the run carries more than {states} numbers from step to step"))
        .because("its linear map would take too long")
        .hint("judge a part of the system, or compare runs: `costep compare`")
}

/// What is saved has to have one form for differences to mean anything.
fn check_layout(before: &MarkedState, after: &MarkedState) -> Result<()> {
    if before.bytes.len() == after.bytes.len() && before.marks == after.marks {
        return Ok(());
    }
    let message = "what the run carries from step to step changes its form: a step is no linear map";
    Err(Error::new(Code::NoLinearMap, message).hint("a later point of the run (`--at`), or `costep compare`"))
}

/// What was found number by number.
struct Differences {
    /// Which numbers.
    states: Vec<usize>,
    columns: Vec<Vec<f64>>,
    halves: Vec<Vec<f64>>,
    /// The numbers that are outputs, coupled inputs, and of the subsystems.
    ranges: [std::ops::Range<usize>; 3],
    change: f64,
}

impl Differences {
    /// Without what does not reach the subsystems or the outputs.
    fn reduced(self, period: u32, sizes: &[f64]) -> Result<StepMap> {
        let n = self.states.len();
        let scaled = |columns: &[Vec<f64>]| {
            let mut matrix = Matrix::zeros(n, n);
            for (j, column) in columns.iter().enumerate() {
                for (i, r) in self.states.iter().enumerate() {
                    matrix[(i, j)] = column[*r] * (sizes[self.states[j]] / sizes[*r]);
                }
            }
            matrix
        };
        let (whole, half) = (scaled(&self.columns), scaled(&self.halves));
        let gap = |i: usize, j: usize| (whole[(i, j)] - half[(i, j)]).abs();
        let [outputs, coupled, parts] = &self.ranges;
        let is_signal = |i: usize| outputs.contains(&self.states[i]) || coupled.contains(&self.states[i]);
        let is_smooth = |i: usize| (0..n).all(|j| gap(i, j) <= NOT_SMOOTH * whole[(i, j)].abs().max(1.0));
        let counts = |i: usize| is_signal(i) || (parts.contains(&self.states[i]) && is_smooth(i));
        let noise = (0..n).filter(|i| counts(*i)).flat_map(|i| (0..n).map(move |j| (i, j)));
        let noise = noise.map(|(i, j)| gap(i, j) / whole[(i, j)].abs().max(1.0)).fold(0.0, f64::max);
        let kept =
            observed(&whole, (0..n).filter(|i| counts(*i)), (10.0 * noise).clamp(ROUND_OFF, MOST_NOISE));
        let pick = |matrix: &Matrix| {
            let mut small = Matrix::zeros(kept.len(), kept.len());
            for (a, i) in kept.iter().enumerate() {
                kept.iter().enumerate().for_each(|(b, j)| small[(a, b)] = matrix[(*i, *j)]);
            }
            small
        };
        let rows = |range: &std::ops::Range<usize>| {
            let mut rows = Matrix::zeros(range.len(), kept.len());
            for (a, r) in range.clone().enumerate() {
                let entry = |j: &usize| self.columns[*j][r] * sizes[self.states[*j]];
                kept.iter().enumerate().for_each(|(b, j)| rows[(a, b)] = entry(j));
            }
            rows
        };
        let (matrix, other) = (pick(&whole), pick(&half));
        let (values, others) = (eigenvalues(&matrix), eigenvalues(&other));
        let (Some(values), Some(others)) = (values, others) else {
            return Err(Error::new(Code::NotFinite, "the eigenvalues of a macro step were not found"));
        };
        let radius = |values: &[Complex]| values.first().map_or(0.0, |value| value.abs());
        Ok(StepMap {
            period,
            outputs: rows(outputs),
            coupled: rows(coupled),
            noise,
            uncertainty: (radius(&values) - radius(&others)).abs(),
            change: self.change,
            matrix,
            values,
        })
    }
}

/// The states that move those that count, step after step, by more than the bound.
fn observed(matrix: &Matrix, counting: impl Iterator<Item = usize>, bound: f64) -> Vec<usize> {
    let n = matrix.rows();
    let mut kept = vec![false; n];
    let mut open: Vec<usize> = counting.collect();
    open.iter().for_each(|i| kept[*i] = true);
    while let Some(i) = open.pop() {
        for j in 0..n {
            if !kept[j] && matrix[(i, j)].abs() > bound {
                kept[j] = true;
                open.push(j);
            }
        }
    }
    // A number that moves nothing is overwritten: it only adds a zero.
    let moves = |j: &usize| (0..n).any(|i| kept[i] && matrix[(i, *j)].abs() > bound);
    (0..n).filter(|j| kept[*j]).filter(moves).collect()
}
