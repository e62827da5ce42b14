//! Algebraic loops at the start: inputs that fit the outputs that they cause.

use costep_core::evaluation::input_name;
use costep_core::{AlgebraicLoop, Code, Error, Result};
use costep_linalg::RootFinder;

use crate::exchange::Exchange;
use crate::initialise::evaluate;
use crate::plan::Plan;
use crate::plant::Plant;

/// Solves a loop for its inputs, from their present values on. False if outputs are not finite there.
pub(crate) fn solve_loop(
    plant: &mut Plant,
    plan: &Plan,
    exchange: &mut Exchange,
    of: &AlgebraicLoop,
) -> Result<bool> {
    let sizes: Vec<f64> = of.inputs.iter().map(|j| size(plan, *j)).collect();
    let mut u: Vec<f64> = of.inputs.iter().map(|j| exchange.coupled[*j]).collect();
    let mut finder = RootFinder::new(of.inputs.len());
    let outcome = finder.solve(&mut u, &sizes, |u, residual| {
        of.inputs.iter().zip(u).for_each(|(j, u)| exchange.coupled[*j] = *u);
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
        for (n, j) in of.inputs.iter().enumerate() {
            let fed = plan.coupling.row(*j, &exchange.y) + exchange.external[*j];
            residual[n] = fed - u[n];
        }
        Ok(())
    })?;
    if !outcome.residual.is_finite() {
        return Ok(false);
    }
    if !outcome.is_found {
        return Err(unsolved(plan, of, (outcome.residual, outcome.worst)));
    }
    of.inputs.iter().zip(&u).for_each(|(j, u)| exchange.coupled[*j] = *u);
    of.parts.iter().try_fold(true, |all, i| Ok(all & evaluate(plant, plan, exchange, *i)?))
}

/// Typical size of an input, 1 if it is not known, as FMI has it.
fn size(plan: &Plan, input: usize) -> f64 {
    let owner = plan.layout.input_owner(input);
    let port = &plan.descriptions[owner].inputs[input - plan.layout.input_range(owner).start];
    port.nominal.map(f64::abs).filter(|size| *size > 0.0 && size.is_finite()).unwrap_or(1.0)
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
