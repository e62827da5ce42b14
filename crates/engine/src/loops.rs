//! Algebraic loops at the start: inputs that fit the outputs that they cause.

use costep_core::evaluation::input_name;
use costep_core::{AlgebraicLoop, Code, Error, LocalModel, Port, Result};
use costep_linalg::{Matrix, RootFinder, RootProblem};

use crate::exchange::Exchange;
use crate::initialise::evaluate;
use crate::plan::Plan;
use crate::plant::Plant;

/// Rounds in which the integers and switches of a loop may still change. Without a cycle they settle in as many as there are of them.
const MAX_ROUNDS: usize = 100;

/// Solves a loop for its inputs, from their present values on. False if outputs are not finite there.
///
/// Real inputs are roots, found under integers, switches and enumerations that rest meanwhile: these take no values in between.
/// They follow their sources round by round.
pub(crate) fn solve_loop(
    plant: &mut Plant,
    plan: &Plan,
    exchange: &mut Exchange,
    of: &AlgebraicLoop,
) -> Result<bool> {
    let mut solver = LoopSolver::new(plan, of);
    let mut rounds = 1;
    while solver.solve_reals(plant, plan, exchange)? {
        match solver.follow_sources(plant, plan, exchange)? {
            None => return Ok(true),
            Some(change) if rounds == MAX_ROUNDS => return Err(unsettled(plan, of, &change)),
            Some(_) => rounds += 1,
        }
    }
    Ok(false)
}

/// An integer or switch that has changed.
struct Change {
    input: usize,
    from: f64,
    to: f64,
}

struct LoopSolver<'a> {
    of: &'a AlgebraicLoop,
    /// Real inputs, places in the loop.
    reals: Vec<usize>,
    sizes: Vec<f64>,
    finder: RootFinder,
}

impl<'a> LoopSolver<'a> {
    fn new(plan: &Plan, of: &'a AlgebraicLoop) -> Self {
        let is_real = |n: &usize| port(plan, of.inputs[*n]).is_real();
        let reals: Vec<usize> = (0..of.inputs.len()).filter(is_real).collect();
        Self {
            of,
            sizes: reals.iter().map(|n| size(plan, of.inputs[*n])).collect(),
            finder: RootFinder::new(reals.len()),
            reals,
        }
    }

    /// The root of the real inputs, and all outputs there. False if they are not finite.
    fn solve_reals(&mut self, plant: &mut Plant, plan: &Plan, exchange: &mut Exchange) -> Result<bool> {
        let Self { of, reals, sizes, finder } = self;
        let mut u: Vec<f64> = reals.iter().map(|n| exchange.coupled[of.inputs[*n]]).collect();
        finder.forget();
        let mut problem = LoopAtStart { plant, plan, exchange, of, reals };
        let outcome = finder.solve(&mut u, sizes, &mut problem)?;
        if !outcome.residual.is_finite() {
            return Ok(false);
        }
        if !outcome.is_found {
            return Err(unsolved(plan, of, (outcome.residual, reals[outcome.worst])));
        }
        problem.set(&u);
        of.parts.iter().try_fold(true, |all, i| Ok(all & evaluate(plant, plan, exchange, *i)?))
    }

    /// Integers and switches take the values of their sources, part by part; one that has changed.
    fn follow_sources(
        &self,
        plant: &mut Plant,
        plan: &Plan,
        exchange: &mut Exchange,
    ) -> Result<Option<Change>> {
        let mut last = None;
        for i in self.of.parts.iter().copied() {
            let own = plan.layout.input_range(i);
            let mut has_changed = false;
            for j in self.of.inputs.iter().copied().filter(|j| own.contains(j) && !port(plan, *j).is_real()) {
                let change = Change { input: j, from: exchange.coupled[j], to: fed(plan, exchange, j) };
                if change.from != change.to {
                    exchange.coupled[j] = change.to;
                    (has_changed, last) = (true, Some(change));
                }
            }
            if has_changed {
                evaluate(plant, plan, exchange, i)?;
            }
        }
        Ok(last)
    }
}

/// L y + r - u of the real inputs of a loop.
struct LoopAtStart<'a> {
    plant: &'a mut Plant,
    plan: &'a Plan,
    exchange: &'a mut Exchange,
    of: &'a AlgebraicLoop,
    reals: &'a [usize],
}

impl LoopAtStart<'_> {
    fn set(&mut self, u: &[f64]) {
        self.reals.iter().zip(u).for_each(|(n, u)| self.exchange.coupled[self.of.inputs[*n]] = *u);
    }
}

impl RootProblem for LoopAtStart<'_> {
    type Error = Error;

    fn residual(&mut self, u: &[f64], residual: &mut [f64]) -> Result<()> {
        self.set(u);
        let Self { plant, plan, exchange, of, reals } = self;
        for i in of.parts.iter().copied() {
            match evaluate(plant, plan, exchange, i) {
                Ok(_) => {}
                // It could not be computed there, and says so; a shorter step may do.
                Err(error) if error.code() == Code::FmuDiscard => {
                    residual.fill(f64::NAN);
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        for (row, n) in reals.iter().enumerate() {
            residual[row] = fed(plan, exchange, of.inputs[*n]) - u[row];
        }
        Ok(())
    }

    /// By D of the subsystems, where all of them know it at the start.
    fn jacobian(&mut self, u: &[f64], jacobian: &mut Matrix) -> Result<bool> {
        self.set(u);
        let Self { plant, plan, exchange, of, reals } = self;
        let mut models = vec![LocalModel::default(); plan.descriptions.len()];
        for i in of.parts.iter().copied() {
            let (inputs, outputs) = (plan.layout.input_range(i), plan.layout.output_range(i));
            let Some(linearised) = plant.subsystem_mut(i).linearised() else { return Ok(false) };
            models[i] = LocalModel::new(linearised.states(), inputs.len(), outputs.len());
            if !linearised.initial_feedthrough(&exchange.coupled[inputs], &mut models[i])? {
                return Ok(false);
            }
        }
        for (row, n) in reals.iter().enumerate() {
            for (column, m) in reals.iter().enumerate() {
                jacobian[(row, column)] = of.slope((*n, *m), &plan.layout, &plan.coupling, |i| &models[i].d);
            }
        }
        Ok(true)
    }
}

/// L y + r of an input.
fn fed(plan: &Plan, exchange: &Exchange, j: usize) -> f64 {
    plan.coupling.row(j, &exchange.y) + exchange.external[j]
}

fn port(plan: &Plan, input: usize) -> &Port {
    let owner = plan.layout.input_owner(input);
    &plan.descriptions[owner].inputs[input - plan.layout.input_range(owner).start]
}

/// Typical size of an input, 1 if it is not known, as FMI has it.
fn size(plan: &Plan, input: usize) -> f64 {
    port(plan, input).nominal.map(f64::abs).filter(|size| *size > 0.0 && size.is_finite()).unwrap_or(1.0)
}

#[cold]
fn unsolved(plan: &Plan, of: &AlgebraicLoop, (residual, worst): (f64, usize)) -> Error {
    let path = of.path(&plan.descriptions, &plan.layout, &plan.coupling);
    let name = input_name(&plan.descriptions, &plan.layout, of.inputs[worst]);
    let message = format!(
        "the algebraic loop {path} has no solution that can be found from its start values: a residual of {residual:.1e} is \
         left at `{name}`"
    );
    Error::new(Code::AlgebraicLoop, message)
        .hint("give other start values, or a state to one of the subsystems of the loop")
}

#[cold]
fn unsettled(plan: &Plan, of: &AlgebraicLoop, change: &Change) -> Error {
    let Change { input, from, to } = *change;
    let path = of.path(&plan.descriptions, &plan.layout, &plan.coupling);
    let name = input_name(&plan.descriptions, &plan.layout, input);
    Error::new(Code::AlgebraicLoop, format!("the values of the algebraic loop {path} do not settle at the start"))
        .because(format!("`{name}` still changes after {MAX_ROUNDS} rounds, at last from {from} to {to}"))
        .hint("one of its subsystems has to decide by its state instead of its present inputs, or needs a hysteresis")
}
