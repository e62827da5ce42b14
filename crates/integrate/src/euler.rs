//! Explicit Euler with a fixed inner step, the inner solver of the papers.

use costep_core::{InputSegment, Interval, Result};

use crate::equations::Equations;
use crate::inner_steps::{InnerSteps, check_inner_steps};
use crate::integrator::{Integrator, Start, Stretch};
use crate::sampler::Sampler;

/// Explicit Euler.
#[derive(Clone, Debug)]
pub(crate) struct Euler {
    inner: InnerSteps,
    x_dot: Vec<f64>,
    u: Vec<f64>,
    /// For inner steps one by one. Its memory is taken when the first stretch begins.
    single: Option<Box<Single>>,
}

/// Where it stands in a stretch.
#[derive(Clone, Debug)]
struct Single {
    /// State at the start of the last inner step.
    before: Vec<f64>,
    /// Number of the next inner step.
    j: usize,
}

impl Euler {
    pub(crate) fn new(micro_step: f64, states: usize, inputs: usize) -> Self {
        Self {
            inner: InnerSteps::new(micro_step),
            x_dot: vec![0.0; states],
            u: vec![0.0; inputs],
            single: None,
        }
    }

    /// Advances x over a macro step, as [`Integrator::advance`] does, without a call through a table.
    #[inline]
    pub(crate) fn advance_unwatched<E: Equations + ?Sized>(
        &mut self,
        equations: &mut E,
        interval: Interval,
        input: InputSegment<'_>,
        x: &mut [f64],
    ) -> Result<()> {
        // Few states live in registers while they are stepped: several times faster than in memory.
        match x.len() {
            1 => self.advance_small::<1, E>(equations, interval, input, x),
            2 => self.advance_small::<2, E>(equations, interval, input, x),
            3 => self.advance_small::<3, E>(equations, interval, input, x),
            4 => self.advance_small::<4, E>(equations, interval, input, x),
            _ => {
                let division = self.inner.divide(interval.length);
                let room = (x, &mut self.x_dot[..], &mut self.u[..]);
                integrate(division, equations, interval, input, room, |_, _, _, _| Ok(()))
            }
        }
    }

    /// The same; `sampler` keeps both ends of all inner steps.
    pub(crate) fn advance_watched<E: Equations + ?Sized>(
        &mut self,
        equations: &mut E,
        interval: Interval,
        input: InputSegment<'_>,
        x: &mut [f64],
        sampler: &mut Sampler,
    ) -> Result<()> {
        let division = self.inner.divide(interval.length);
        let room = (x, &mut self.x_dot[..], &mut self.u[..]);
        integrate(division, equations, interval, input, room, |e, t, x, u| sampler.keep(e, t, x, u))
    }

    fn advance_small<const N: usize, E: Equations + ?Sized>(
        &mut self,
        equations: &mut E,
        interval: Interval,
        input: InputSegment<'_>,
        x: &mut [f64],
    ) -> Result<()> {
        let mut local = [0.0; N];
        local.copy_from_slice(x);
        let (division, unseen) =
            (self.inner.divide(interval.length), |_: &mut E, _, _: &[f64], _: &[f64]| Ok(()));
        let mut few = [0.0; FEW_INPUTS];
        let u = if input.len() <= FEW_INPUTS { &mut few[..input.len()] } else { &mut self.u[..] };
        integrate(division, equations, interval, input, (&mut local, &mut [0.0; N], u), unseen)?;
        x.copy_from_slice(&local);
        Ok(())
    }
}

/// Inputs up to this number are evaluated beside the states, not in memory that would have to be fetched.
const FEW_INPUTS: usize = 8;

/// All inner steps of a macro step, with room for x' and u; `see` is shown the start and the end of each.
#[inline(always)]
fn integrate<E: Equations + ?Sized>(
    (steps, dt): (usize, f64),
    equations: &mut E,
    interval: Interval,
    input: InputSegment<'_>,
    (x, x_dot, u): (&mut [f64], &mut [f64], &mut [f64]),
    mut see: impl FnMut(&mut E, f64, &[f64], &[f64]) -> Result<()>,
) -> Result<()> {
    if input.order() == 0 {
        let u = input.coefficients(0);
        see(equations, interval.start, x, u)?;
        for j in 0..steps {
            euler_step(equations, interval.start + j as f64 * dt, dt, x, u, x_dot)?;
            see(equations, inner_end(interval, j, steps, dt), x, u)?;
        }
    } else {
        input.evaluate(0.0, u);
        see(equations, interval.start, x, u)?;
        for j in 0..steps {
            euler_step(equations, interval.start + j as f64 * dt, dt, x, u, x_dot)?;
            input.evaluate((j + 1) as f64 * dt, u);
            see(equations, inner_end(interval, j, steps, dt), x, u)?;
        }
    }
    Ok(())
}

impl Integrator for Euler {
    fn begin(
        &mut self,
        stretch: &Stretch<'_>,
        _start: Start,
        _equations: &mut dyn Equations,
        x: &[f64],
    ) -> Result<()> {
        self.inner.divide(stretch.to - stretch.from);
        self.single.get_or_insert_with(|| Box::new(Single { before: x.to_vec(), j: 0 })).j = 0;
        Ok(())
    }

    fn inner_step(
        &mut self,
        stretch: &Stretch<'_>,
        equations: &mut dyn Equations,
        x: &mut [f64],
    ) -> Result<f64> {
        let (steps, dt) = self.inner.division();
        let Some(single) = &mut self.single else { return Ok(stretch.to) };
        single.before.copy_from_slice(x);
        let s = stretch.from + single.j as f64 * dt;
        stretch.input.evaluate(s, &mut self.u);
        euler_step(equations, stretch.start + s, dt, x, &self.u, &mut self.x_dot)?;
        single.j += 1;
        Ok(if single.j >= steps { stretch.to } else { stretch.from + single.j as f64 * dt })
    }

    fn interpolate(
        &mut self,
        stretch: &Stretch<'_>,
        _equations: &mut dyn Equations,
        s: f64,
        x: &mut [f64],
    ) -> Result<()> {
        let dt = self.inner.division().1;
        if let Some(single) = &self.single {
            let start = stretch.from + (single.j - 1) as f64 * dt;
            for ((x, before), slope) in x.iter_mut().zip(&single.before).zip(&self.x_dot) {
                *x = before + (s - start) * slope;
            }
        }
        Ok(())
    }

    fn has_fixed_steps(&self) -> bool {
        true
    }

    fn holds_inputs(&self) -> bool {
        true
    }

    fn points(&self, h: f64) -> usize {
        self.inner.points(h)
    }

    fn check_step(&self, h: f64) -> Result<()> {
        check_inner_steps(self.inner.points(h), h)
    }

    fn advance(
        &mut self,
        equations: &mut dyn Equations,
        interval: Interval,
        input: InputSegment<'_>,
        x: &mut [f64],
        sampler: Option<&mut Sampler>,
    ) -> Result<()> {
        match sampler {
            None => self.advance_unwatched(equations, interval, input, x),
            Some(sampler) => self.advance_watched(equations, interval, input, x, sampler),
        }
    }
}

#[inline(always)]
fn euler_step<E: Equations + ?Sized>(
    equations: &mut E,
    t: f64,
    dt: f64,
    x: &mut [f64],
    u: &[f64],
    x_dot: &mut [f64],
) -> Result<()> {
    equations.derivatives(t, x, u, x_dot)?;
    for (x, x_dot) in x.iter_mut().zip(x_dot) {
        *x += dt * *x_dot;
    }
    Ok(())
}

/// End of inner step j; the last one ends exactly with the interval.
#[inline(always)]
fn inner_end(interval: Interval, j: usize, steps: usize, dt: f64) -> f64 {
    if j + 1 == steps { interval.end } else { interval.start + (j + 1) as f64 * dt }
}
