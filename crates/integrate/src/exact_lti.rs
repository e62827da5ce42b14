//! Exact steps of linear systems with constant coefficients under polynomial inputs.
//!
//! x' = A x + B u, u = sum_a c_a s^a:  x(h) = E x + sum_a G_a c_a. With the chain w_a' = w_(a+1) for the
//! derivatives of u, [E G] is one block row of the exponential of an augmented matrix. Cached by (h,
//! order): trial steps and parts of steps take turns with whole ones. Who watches inside also gets the exact means of the
//! outputs over a step, as one more block row: points inside do not show the fast modes of a long step.

use costep_core::{Code, Description, Error, InputSegment, Interval, LocalModel, Result};
use costep_linalg::{Matrix, variable_order_exponential};

use crate::equations::Equations;
use crate::integrator::{Integrator, REPORTED_POINTS, Start, Stretch};
use crate::sampler::Sampler;

/// Steps of so many lengths and orders are remembered.
const KEPT: usize = 4;

/// Exact steps.
#[derive(Clone, Debug)]
pub(crate) struct ExactLti {
    a: Matrix,
    b: Matrix,
    cache: Vec<Maps>,
    /// The entry of a full cache that goes next.
    oldest: usize,
    x_start: Vec<f64>,
    between: Vec<f64>,
    u: Vec<f64>,
}

/// For steps of one length and order.
#[derive(Clone, Debug)]
struct Maps {
    whole: Map,
    /// For those who watch inside, if anybody ever did.
    watched: Option<Watched>,
}

#[derive(Clone, Debug)]
struct Watched {
    /// To the points inside.
    inside: Vec<Map>,
    /// To the mean over the step.
    mean: Map,
}

/// What a map leads to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goal {
    End,
    Mean,
}

#[derive(Clone, Debug)]
struct Map {
    length: f64,
    order: usize,
    /// [E G_0 .. G_p], row-major, n rows.
    rows: Vec<f64>,
}

impl ExactLti {
    pub(crate) fn new(equations: &mut dyn Equations) -> Result<Self> {
        if !equations.is_linear() {
            let message =
                format!("`{}` is not linear, so it has no exact steps", equations.description().name);
            return Err(Error::new(Code::BadValue, message).hint("use `--solver dopri5` or `--solver rk4`"));
        }
        let Description { inputs, outputs, .. } = equations.description();
        let (n, m) = (equations.states(), inputs.len());
        let mut model = LocalModel::new(n, m, outputs.len());
        equations.jacobians(0.0, &vec![0.0; n], &vec![0.0; m], &mut model)?;
        Ok(Self {
            a: Matrix::from_rows(n, n, &model.a),
            b: Matrix::from_rows(n, m, &model.b),
            cache: Vec::new(),
            oldest: 0,
            x_start: vec![0.0; n],
            between: vec![0.0; n],
            u: vec![0.0; m],
        })
    }

    /// Where in the cache the maps of a step are; nothing to do for steps that are known.
    fn prepare(&mut self, h: f64, order: usize, is_watched: bool) -> usize {
        let is_known = |maps: &Maps| maps.whole.length == h && maps.whole.order == order;
        let at = match self.cache.iter().position(is_known) {
            Some(at) => at,
            None => self.remember(Maps { whole: self.map(h, order, Goal::End), watched: None }),
        };
        if is_watched && self.cache[at].watched.is_none() {
            let point =
                |point: usize| self.map(h * (point as f64 / REPORTED_POINTS as f64), order, Goal::End);
            let inside = (1..REPORTED_POINTS).map(point).collect();
            self.cache[at].watched = Some(Watched { inside, mean: self.map(h, order, Goal::Mean) });
        }
        at
    }

    fn remember(&mut self, maps: Maps) -> usize {
        if self.cache.len() < KEPT {
            self.cache.push(maps);
            return self.cache.len() - 1;
        }
        let at = self.oldest;
        self.cache[at] = maps;
        self.oldest = (at + 1) % KEPT;
        at
    }

    fn map(&self, length: f64, order: usize, goal: Goal) -> Map {
        let (n, m) = (self.b.rows(), self.b.columns());
        let inputs_end = n + m * (order + 1);
        let (first, size) = match goal {
            Goal::End => (0, inputs_end),
            Goal::Mean => (inputs_end, inputs_end + n),
        };
        // Block rows: x' = A x + B w_0, w_a' = w_(a+1), and for a mean its integral' = x. In units of the step, so that the
        // entries stay moderate.
        let mut augmented = Matrix::zeros(size, size);
        for i in 0..n {
            let entries = self.a.row(i).iter().chain(self.b.row(i));
            augmented.row_mut(i).iter_mut().zip(entries).for_each(|(to, entry)| *to = entry * length);
        }
        for a in 0..order {
            for j in 0..m {
                augmented[(n + a * m + j, n + (a + 1) * m + j)] = 1.0;
            }
        }
        if goal == Goal::Mean {
            (0..n).for_each(|i| augmented[(first + i, i)] = 1.0);
        }
        let exponential = variable_order_exponential(&augmented);
        let mut rows = Vec::with_capacity(n * inputs_end);
        for i in first..first + n {
            rows.extend_from_slice(&exponential.row(i)[..n]);
            // w_a(0) = a! h^a c_a in units of the step.
            let mut factor = 1.0;
            for a in 0..=order {
                rows.extend((0..m).map(|j| exponential[(i, n + a * m + j)] * factor));
                factor *= (a + 1) as f64 * length;
            }
        }
        Map { length, order, rows }
    }
}

impl Integrator for ExactLti {
    fn begin(
        &mut self,
        _stretch: &Stretch<'_>,
        _start: Start,
        _equations: &mut dyn Equations,
        x: &[f64],
    ) -> Result<()> {
        self.x_start.copy_from_slice(x);
        Ok(())
    }

    fn inner_step(
        &mut self,
        stretch: &Stretch<'_>,
        equations: &mut dyn Equations,
        x: &mut [f64],
    ) -> Result<f64> {
        self.interpolate(stretch, equations, stretch.to, x)?;
        Ok(stretch.to)
    }

    fn interpolate(
        &mut self,
        stretch: &Stretch<'_>,
        equations: &mut dyn Equations,
        s: f64,
        x: &mut [f64],
    ) -> Result<()> {
        if stretch.from != 0.0 {
            // The maps are for polynomials that are counted from the start of the step.
            let message = format!("`{}` has events, so it has no exact steps", equations.description().name);
            return Err(Error::new(Code::BadValue, message));
        }
        apply(&self.map(s, stretch.input.order(), Goal::End), &self.x_start, stretch.input, x);
        Ok(())
    }

    // Kept out of line, so that the hot path of the small integrator has a small frame.
    #[inline(never)]
    fn advance(
        &mut self,
        equations: &mut dyn Equations,
        interval: Interval,
        input: InputSegment<'_>,
        x: &mut [f64],
        sampler: Option<&mut Sampler>,
    ) -> Result<()> {
        let at = self.prepare(interval.length, input.order(), sampler.is_some());
        let Maps { whole, watched } = &self.cache[at];
        self.x_start.copy_from_slice(x);
        let (Some(sampler), Some(Watched { inside, mean })) = (sampler, watched) else {
            apply(whole, &self.x_start, input, x);
            return Ok(());
        };
        input.evaluate(0.0, &mut self.u);
        sampler.keep(equations, interval.start, x, &self.u)?;
        for (map, is_end) in inside.iter().map(|map| (map, false)).chain([(whole, true)]) {
            apply(map, &self.x_start, input, &mut self.between);
            input.evaluate(map.length, &mut self.u);
            let t = if is_end { interval.end } else { interval.start + map.length };
            sampler.keep(equations, t, &self.between, &self.u)?;
        }
        x.copy_from_slice(&self.between);
        apply(mean, &self.x_start, input, &mut self.between);
        mean_input(input, interval.length, &mut self.u);
        let middle = interval.start + 0.5 * interval.length;
        sampler.keep_mean(equations, (middle, &self.between), &self.u)
    }
}

/// (1/h) int u = sum_a c_a h^a / (a + 1).
fn mean_input(input: InputSegment<'_>, h: f64, mean: &mut [f64]) {
    mean.fill(0.0);
    let mut weight = 1.0;
    for a in 0..=input.order() {
        let share = weight / (a + 1) as f64;
        mean.iter_mut().zip(input.coefficients(a)).for_each(|(mean, c)| *mean += share * c);
        weight *= h;
    }
}

fn apply(map: &Map, x: &[f64], input: InputSegment<'_>, result: &mut [f64]) {
    let (n, m) = (x.len(), input.len());
    let width = n + m * (map.order + 1);
    for (row, result) in map.rows.chunks_exact(width.max(1)).zip(result) {
        let mut sum: f64 = row[..n].iter().zip(x).map(|(e, x)| e * x).sum();
        for a in 0..=map.order {
            let gains = &row[n + a * m..n + (a + 1) * m];
            sum += gains.iter().zip(input.coefficients(a)).map(|(g, c)| g * c).sum::<f64>();
        }
        *result = sum;
    }
}
