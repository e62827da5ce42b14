//! Exact steps of linear systems with constant coefficients under polynomial inputs.
//!
//! x' = A x + B u, u = sum_a c_a s^a:  x(h) = E x + sum_a G_a c_a. With the chain w_a' = w_(a+1) for the
//! derivatives of u, [E G] is one block row of the exponential of an augmented matrix. Cached by (h, order).

use costep_core::{Code, Error, InputSegment, Interval, Result};
use nalgebra::DMatrix;

use crate::dynamics::Dynamics;
use crate::integrator::{Integrator, REPORTED_POINTS, Sampler, Start, Stretch};

/// Exact steps.
#[derive(Clone, Debug)]
pub(crate) struct ExactLti {
    a: DMatrix<f64>,
    b: DMatrix<f64>,
    /// Maps for the whole step and, if watched, for the points inside.
    cache: Vec<Map>,
    x_start: Vec<f64>,
    between: Vec<f64>,
    u: Vec<f64>,
}

#[derive(Clone, Debug)]
struct Map {
    length: f64,
    order: usize,
    /// [E G_0 .. G_p], row-major, n rows.
    rows: Vec<f64>,
}

impl ExactLti {
    pub(crate) fn new<D: Dynamics>(dynamics: &mut D) -> Result<Self> {
        let Some(model) = dynamics.linear() else {
            let message = format!("`{}` is not linear, so it has no exact steps", dynamics.name());
            return Err(Error::new(Code::BadValue, message).hint("use `--solver dopri5` or `--solver rk4`"));
        };
        let (n, m) = (model.states, model.inputs);
        Ok(Self {
            a: DMatrix::from_row_slice(n, n, &model.a),
            b: DMatrix::from_row_slice(n, m, &model.b),
            cache: Vec::new(),
            x_start: vec![0.0; n],
            between: vec![0.0; n],
            u: vec![0.0; m],
        })
    }

    /// Fills the cache; nothing to do while step and order stay the same.
    fn prepare(&mut self, h: f64, order: usize) {
        if self.cache.last().is_some_and(|map| map.length == h && map.order == order) {
            return;
        }
        self.cache = (1..=REPORTED_POINTS)
            .map(|point| self.map(h * (point as f64 / REPORTED_POINTS as f64), order))
            .collect();
    }

    fn map(&self, length: f64, order: usize) -> Map {
        let (n, m) = (self.b.nrows(), self.b.ncols());
        let size = n + m * (order + 1);
        // Block rows: x' = A x + B w_0, w_a' = w_(a+1). In units of the step, so that the entries stay moderate.
        let mut augmented = DMatrix::zeros(size, size);
        augmented.view_mut((0, 0), (n, n)).copy_from(&(&self.a * length));
        augmented.view_mut((0, n), (n, m)).copy_from(&(&self.b * length));
        for a in 0..order {
            for j in 0..m {
                augmented[(n + a * m + j, n + (a + 1) * m + j)] = 1.0;
            }
        }
        let exponential = augmented.exp();
        let mut rows = Vec::with_capacity(n * size);
        for i in 0..n {
            rows.extend((0..n).map(|k| exponential[(i, k)]));
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

impl<D: Dynamics> Integrator<D> for ExactLti {
    fn begin(&mut self, _stretch: &Stretch<'_>, _start: Start, _dynamics: &mut D, x: &[f64]) -> Result<()> {
        self.x_start.copy_from_slice(x);
        Ok(())
    }

    fn inner_step(&mut self, stretch: &Stretch<'_>, dynamics: &mut D, x: &mut [f64]) -> Result<f64> {
        self.interpolate(stretch, dynamics, stretch.to, x)?;
        Ok(stretch.to)
    }

    fn interpolate(&mut self, stretch: &Stretch<'_>, dynamics: &mut D, s: f64, x: &mut [f64]) -> Result<()> {
        if stretch.from != 0.0 {
            // The maps are for polynomials that are counted from the start of the step.
            let message = format!("`{}` has events, so it has no exact steps", dynamics.name());
            return Err(Error::new(Code::BadValue, message));
        }
        apply(&self.map(s, stretch.input.order()), &self.x_start, stretch.input, x);
        Ok(())
    }

    // Kept out of line, so that the hot path of the small integrator has a small frame.
    #[inline(never)]
    fn advance(
        &mut self,
        dynamics: &mut D,
        interval: Interval,
        input: InputSegment<'_>,
        x: &mut [f64],
        sampler: Option<&mut Sampler>,
    ) -> Result<()> {
        self.prepare(interval.length, input.order());
        self.x_start.copy_from_slice(x);
        if sampler.is_none() {
            apply(&self.cache[REPORTED_POINTS - 1], &self.x_start, input, x);
            return Ok(());
        }
        input.evaluate(0.0, &mut self.u);
        dynamics.see(interval.start, x, &self.u)?;
        for (point, map) in self.cache.iter().enumerate() {
            let is_end = point + 1 == REPORTED_POINTS;
            apply(map, &self.x_start, input, &mut self.between);
            input.evaluate(map.length, &mut self.u);
            let t = if is_end { interval.end } else { interval.start + map.length };
            dynamics.see(t, &self.between, &self.u)?;
        }
        x.copy_from_slice(&self.between);
        Ok(())
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
