//! Algebraic loops inside the whole: inputs that fit the outputs that they cause, at every instant.

use costep_core::evaluation::input_name;
use costep_core::{AlgebraicLoop, Code, Coupling, Description, Error, Layout, Place, Result};
use costep_linalg::{Matrix, RootFinder, RootProblem};

use super::Whole;

/// Solves one loop again and again, from its last solution on.
pub(super) struct LoopSolver {
    of: AlgebraicLoop,
    finder: RootFinder,
    sizes: Vec<f64>,
    u: Vec<f64>,
    /// For messages.
    path: String,
    names: Vec<String>,
}

impl LoopSolver {
    pub(super) fn new(
        of: &AlgebraicLoop,
        descriptions: &[Description],
        layout: &Layout,
        coupling: &Coupling,
    ) -> Self {
        Self {
            finder: RootFinder::new(of.inputs.len()),
            sizes: of.inputs.iter().map(|j| size(descriptions, layout, *j)).collect(),
            u: vec![0.0; of.inputs.len()],
            path: of.path(descriptions, layout, coupling),
            names: of.inputs.iter().map(|j| input_name(descriptions, layout, *j)).collect(),
            of: of.clone(),
        }
    }
}

/// Typical size of an input, 1 if it is not known, as FMI has it.
pub(super) fn size(descriptions: &[Description], layout: &Layout, input: usize) -> f64 {
    let owner = layout.input_owner(input);
    let port = &descriptions[owner].inputs[input - layout.input_range(owner).start];
    port.nominal.map(f64::abs).filter(|size| *size > 0.0 && size.is_finite()).unwrap_or(1.0)
}

/// A loop at a time and with states: L y + r - u under its inputs.
struct LoopAt<'a> {
    whole: &'a mut Whole,
    of: &'a AlgebraicLoop,
    t: f64,
    x: &'a [f64],
}

impl RootProblem for LoopAt<'_> {
    type Error = Error;

    fn residual(&mut self, u: &[f64], residual: &mut [f64]) -> Result<()> {
        let Self { whole, of, t, x } = self;
        of.inputs.iter().zip(u).for_each(|(j, u)| whole.u[*j] = *u);
        whole.evaluate(&of.parts, *t, x)?;
        for (n, j) in of.inputs.iter().enumerate() {
            residual[n] = whole.coupling.row(*j, &whole.y) + whole.external(*j, *t) - u[n];
        }
        Ok(())
    }

    /// By D of the parts, where all of them know it.
    fn jacobian(&mut self, u: &[f64], jacobian: &mut Matrix) -> Result<bool> {
        let Self { whole, of, t, x } = self;
        of.inputs.iter().zip(u).for_each(|(j, u)| whole.u[*j] = *u);
        let Whole { parts, states, layout, coupling, models, u, takes_jacobians, .. } = &mut **whole;
        for i in of.parts.iter().copied() {
            let part = &mut *parts[i];
            // Whose code is not ours is asked only if the integrator asks it too.
            if part.lifecycle().is_some() && !*takes_jacobians {
                return Ok(false);
            }
            let (x, u) = (&x[states[i].clone()], &u[layout.input_range(i)]);
            if !part.exact_feedthrough(*t, x, u, &mut models[i])? {
                return Ok(false);
            }
        }
        for n in 0..of.inputs.len() {
            for m in 0..of.inputs.len() {
                jacobian[(n, m)] = of.slope((n, m), layout, coupling, |part| &models[part].d);
            }
        }
        Ok(true)
    }
}

impl Whole {
    /// A step begins: what loops are solved with follows from its start alone, so that a run can go on from there.
    pub(super) fn begin_loops(&mut self) {
        self.solvers.iter_mut().for_each(|solver| solver.finder.forget());
    }

    /// Fills consistent inputs and outputs of a loop; those of lower levels are known.
    pub(super) fn solve_loop(&mut self, number: usize, t: f64, x: &[f64]) -> Result<()> {
        let mut solver = std::mem::replace(&mut self.solvers[number], LoopSolver::nothing());
        let outcome = self.solve_with(&mut solver, t, x);
        self.solvers[number] = solver;
        outcome
    }

    fn solve_with(&mut self, solver: &mut LoopSolver, t: f64, x: &[f64]) -> Result<()> {
        let LoopSolver { of, finder, sizes, u, .. } = solver;
        u.iter_mut().zip(&of.inputs).for_each(|(u, j)| *u = self.u[*j]);
        let found = finder.solve(u, sizes, &mut LoopAt { whole: self, of, t, x })?;
        u.iter().zip(&of.inputs).for_each(|(u, j)| self.u[*j] = *u);
        match found.is_found {
            true => self.evaluate(&of.parts, t, x),
            false => Err(unsolved(solver, t, (found.residual, found.worst))),
        }
    }

    fn evaluate(&mut self, parts: &[usize], t: f64, x: &[f64]) -> Result<()> {
        parts.iter().try_for_each(|i| {
            let (u, y) = (&self.u[self.layout.input_range(*i)], &mut self.y[self.layout.output_range(*i)]);
            self.parts[*i].outputs(t, &x[self.states[*i].clone()], u, y)
        })
    }

    /// r(t) of an input.
    fn external(&self, input: usize, t: f64) -> f64 {
        let own = self.externals.iter().filter(|(j, _)| *j == input);
        own.map(|(_, signal)| self.external_value(signal, t)).sum()
    }
}

impl LoopSolver {
    fn nothing() -> Self {
        Self {
            of: AlgebraicLoop::default(),
            finder: RootFinder::default(),
            sizes: Vec::new(),
            u: Vec::new(),
            path: String::new(),
            names: Vec::new(),
        }
    }
}

#[cold]
fn unsolved(solver: &LoopSolver, t: f64, (residual, worst): (f64, usize)) -> Error {
    let message = format!(
        "the algebraic loop {} has no solution that can be found: a residual of {residual:.1e} is left at `{}`",
        solver.path, solver.names[worst]
    );
    let place = Place::Run { subsystem: None, signal: None, time: t, step: 0 };
    Error::new(Code::AlgebraicLoop, message).at(place)
}
