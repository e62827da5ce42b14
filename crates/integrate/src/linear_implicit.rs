//! Linearly implicit Euler with a fixed inner step: backward Euler with one Newton iteration, and so without any for linear
//! equations. The solver that [G18, remark after (66)] takes for stiff equations.
//!
//! ```text
//! (I - dt A) (x^(j+1) - x^j) = dt f(t^(j+1), x^j, u(t^(j+1))),   A = df/dx there
//! ```
//!
//! Of first order and stable for every decaying linear equation, whatever dt: for stiff parts whose fast modes do not matter.
//! A Jacobian and a factorisation per inner step; those of linear equations are kept.

use costep_core::{Code, Error, LocalModel, Result};
use costep_linalg::Lu;

use crate::equations::Equations;
use crate::inner_steps::{InnerSteps, check_inner_steps};
use crate::integrator::{Integrator, Start, Stretch};

/// Linearly implicit Euler.
pub(crate) struct LinearImplicit {
    inner: InnerSteps,
    /// Number of the next inner step.
    j: usize,
    model: LocalModel,
    factors: Lu,
    /// The inner step that the factors are of, where they hold for all; 0 if there are none.
    factored: f64,
    /// f, then the change of x.
    change: Vec<f64>,
    before: Vec<f64>,
    u: Vec<f64>,
}

impl LinearImplicit {
    pub(crate) fn new(micro_step: f64, equations: &dyn Equations) -> Self {
        let description = equations.description();
        let (n, m) = (equations.states(), description.inputs.len());
        Self {
            inner: InnerSteps::new(micro_step),
            j: 0,
            model: LocalModel::new(n, m, description.outputs.len()),
            factors: Lu::new(n),
            factored: 0.0,
            change: vec![0.0; n],
            before: vec![0.0; n],
            u: vec![0.0; m],
        }
    }

    /// I - dt A at (t, x, u).
    fn factor(&mut self, equations: &mut dyn Equations, (t, x): (f64, &[f64]), dt: f64) -> Result<()> {
        if self.factored == dt {
            return Ok(());
        }
        equations.jacobians(t, x, &self.u, &mut self.model)?;
        let n = x.len();
        let matrix = self.factors.matrix_mut();
        for i in 0..n {
            for k in 0..n {
                matrix[(i, k)] = f64::from(u8::from(i == k)) - dt * self.model.a[i * n + k];
            }
        }
        if !self.factors.factor() {
            return Err(Error::new(Code::NotFinite, format!("I - dt A is singular at t = {t} s"))
                .hint("another inner step: `--solver linear-implicit:10us`"));
        }
        self.factored = if equations.is_linear() { dt } else { 0.0 };
        Ok(())
    }
}

impl Integrator for LinearImplicit {
    fn begin(
        &mut self,
        stretch: &Stretch<'_>,
        _start: Start,
        _equations: &mut dyn Equations,
        _x: &[f64],
    ) -> Result<()> {
        self.inner.divide(stretch.to - stretch.from);
        self.j = 0;
        Ok(())
    }

    fn inner_step(
        &mut self,
        stretch: &Stretch<'_>,
        equations: &mut dyn Equations,
        x: &mut [f64],
    ) -> Result<f64> {
        let (steps, dt) = self.inner.division();
        self.before.copy_from_slice(x);
        self.j += 1;
        let s = if self.j >= steps { stretch.to } else { stretch.from + self.j as f64 * dt };
        stretch.input.evaluate(s, &mut self.u);
        self.factor(equations, (stretch.start + s, x), dt)?;
        equations.derivatives(stretch.start + s, x, &self.u, &mut self.change)?;
        self.change.iter_mut().for_each(|f| *f *= dt);
        self.factors.solve(&mut self.change);
        x.iter_mut().zip(&self.change).for_each(|(x, change)| *x += change);
        Ok(s)
    }

    /// A line, whose error is of the order of that of the steps.
    fn interpolate(
        &mut self,
        stretch: &Stretch<'_>,
        _equations: &mut dyn Equations,
        s: f64,
        x: &mut [f64],
    ) -> Result<()> {
        let dt = self.inner.division().1;
        let theta = (s - stretch.from) / dt - (self.j - 1) as f64;
        for ((x, before), change) in x.iter_mut().zip(&self.before).zip(&self.change) {
            *x = before + theta * change;
        }
        Ok(())
    }

    fn has_fixed_steps(&self) -> bool {
        true
    }

    fn points(&self, h: f64) -> usize {
        self.inner.points(h)
    }

    fn check_step(&self, h: f64) -> Result<()> {
        check_inner_steps(self.inner.points(h), h)
    }
}
