//! Points of a solution inside a macro step: its start, its end, and points between.

use costep_core::{MicroBuffer, Result};

use crate::equations::Equations;
use crate::integrator::{Integrator, REPORTED_POINTS, Stretch};

/// States and inputs inside a step.
#[derive(Clone, Debug, Default)]
pub struct Path {
    /// Times, the ends of the step included.
    pub times: Vec<f64>,
    /// The states at these times, one row each.
    pub states: Vec<f64>,
    /// The inputs at these times, one row each.
    pub inputs: Vec<f64>,
}

/// Keeps points of a solution: the outputs there, or states and inputs.
#[derive(Clone, Debug)]
pub struct Sampler {
    kept: Kept,
    between: Vec<f64>,
    u: Vec<f64>,
    /// Number of the next point of the grid.
    next: usize,
}

#[derive(Clone, Debug)]
enum Kept {
    Outputs(MicroBuffer),
    Path(Path),
}

impl Sampler {
    /// Keeps outputs of equations with this many states and inputs.
    pub fn of_outputs(states: usize, inputs: usize, buffer: MicroBuffer) -> Self {
        Self { kept: Kept::Outputs(buffer), between: vec![0.0; states], u: vec![0.0; inputs], next: 0 }
    }

    /// Keeps states and inputs.
    pub fn of_path(states: usize, inputs: usize) -> Self {
        let kept = Kept::Path(Path::default());
        Self { kept, between: vec![0.0; states], u: vec![0.0; inputs], next: 0 }
    }

    /// The outputs since it was last cleared, if it keeps these.
    pub fn outputs(&self) -> Option<&MicroBuffer> {
        if let Kept::Outputs(buffer) = &self.kept { Some(buffer) } else { None }
    }

    /// States and inputs since it was last cleared, if it keeps these.
    pub fn path(&self) -> Option<&Path> {
        if let Kept::Path(path) = &self.kept { Some(path) } else { None }
    }

    /// Forgets all points: a macro step begins.
    pub fn clear(&mut self) {
        match &mut self.kept {
            Kept::Outputs(buffer) => buffer.clear(),
            Kept::Path(Path { times, states, inputs }) => {
                [times, states, inputs].into_iter().for_each(Vec::clear);
            }
        }
    }

    /// Keeps a point.
    #[inline]
    pub(crate) fn keep<E: Equations + ?Sized>(
        &mut self,
        equations: &mut E,
        t: f64,
        x: &[f64],
        u: &[f64],
    ) -> Result<()> {
        keep(&mut self.kept, equations, t, x, u)
    }

    /// Keeps the means of the outputs over the macro step, by those of states and inputs: for linear equations.
    pub(crate) fn keep_mean(
        &mut self,
        equations: &mut dyn Equations,
        (t, x): (f64, &[f64]),
        u: &[f64],
    ) -> Result<()> {
        match &mut self.kept {
            Kept::Outputs(buffer) => equations.outputs(t, x, u, buffer.set_mean()),
            Kept::Path(_) => Ok(()),
        }
    }

    /// Keeps the start of a macro step.
    pub(crate) fn start(
        &mut self,
        stretch: &Stretch<'_>,
        equations: &mut dyn Equations,
        x: &[f64],
    ) -> Result<()> {
        self.next = 1;
        self.keep_at(stretch, equations, (stretch.from, x))
    }

    /// Keeps one point, besides the grid.
    pub(crate) fn keep_at(
        &mut self,
        stretch: &Stretch<'_>,
        equations: &mut dyn Equations,
        (s, x): (f64, &[f64]),
    ) -> Result<()> {
        stretch.input.evaluate(s, &mut self.u);
        keep(&mut self.kept, equations, stretch.time(s), x, &self.u)
    }

    /// Keeps what lies between the last point kept and (s, x), which is not before the end of the last
    /// inner step's start.
    pub(crate) fn after_step<I: Integrator + ?Sized>(
        &mut self,
        stretch: &Stretch<'_>,
        integrator: &mut I,
        equations: &mut dyn Equations,
        (s, x): (f64, &[f64]),
    ) -> Result<()> {
        if integrator.has_fixed_steps() {
            return self.keep_at(stretch, equations, (s, x));
        }
        self.between.resize(x.len(), 0.0);
        while self.next <= REPORTED_POINTS {
            let is_end = self.next == REPORTED_POINTS;
            let at = if is_end {
                stretch.length
            } else {
                stretch.length * self.next as f64 / REPORTED_POINTS as f64
            };
            if at > s {
                return Ok(());
            }
            if at == s {
                self.keep_at(stretch, equations, (s, x))?;
            } else {
                integrator.interpolate(stretch, equations, at, &mut self.between)?;
                stretch.input.evaluate(at, &mut self.u);
                keep(&mut self.kept, equations, stretch.time(at), &self.between, &self.u)?;
            }
            self.next += 1;
        }
        Ok(())
    }
}

#[inline]
fn keep<E: Equations + ?Sized>(
    kept: &mut Kept,
    equations: &mut E,
    t: f64,
    x: &[f64],
    u: &[f64],
) -> Result<()> {
    match kept {
        Kept::Outputs(buffer) => equations.outputs(t, x, u, buffer.push(t)),
        Kept::Path(path) => {
            path.times.push(t);
            path.states.extend_from_slice(x);
            path.inputs.extend_from_slice(u);
            Ok(())
        }
    }
}
