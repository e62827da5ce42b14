//! Consistent initial values: y = g(x0, u), u = L y + r at the start.

use costep_core::graph::Graph;
use costep_core::{Code, Error, Evaluation, Result};

use crate::exchange::Exchange;
use crate::loops::solve_loop;
use crate::plan::Plan;
use crate::plant::{Plant, place};

/// Sweeps over all subsystems until the inputs rest. Without algebraic loop the values settle exactly.
const MAX_SWEEPS: usize = 1000;
/// Relative change at which an input counts as resting.
const TOLERANCE: f64 = 1e-13;

/// Initialises all subsystems and fills y and z = L y + r. Stops at values that are not finite, which the guard
/// then finds in y or z; no subsystem gets to see them.
pub(crate) fn initialise(plant: &mut Plant, plan: &Plan, exchange: &mut Exchange) -> Result<()> {
    let start = plan.experiment.start;
    let mut experiment = plan.experiment;
    if !plan.roles.dividing.is_empty() {
        experiment.stop = experiment.latest_sum(plan.parts);
    }
    plant.try_each((start, 0), |_, subsystem| subsystem.initialise(&experiment))?;
    let evaluation = Evaluation::new(&plan.descriptions, &plan.layout, &plan.coupling);
    let is_finite = match evaluation.loops().next() {
        None => sweep(plant, plan, exchange)?,
        Some(_) => pass(plant, plan, exchange, &evaluation)?,
    };
    if !is_finite {
        return Ok(());
    }
    let Exchange { y, coupled, external, .. } = exchange;
    plant.try_each((start, 0), |i, subsystem| subsystem.begin(&mut y[plan.layout.output_range(i)]))?;
    plan.coupling.apply(y, coupled);
    coupled.iter_mut().zip(external).for_each(|(u, r)| *u += *r);
    Ok(())
}

/// Without loops: sweeps along the direct feedthrough, until nothing changes any more. False if values are not finite.
fn sweep(plant: &mut Plant, plan: &Plan, exchange: &mut Exchange) -> Result<bool> {
    let (order, mut moving) = (feedthrough_order(plan), 0);
    for sweep in 0..MAX_SWEEPS {
        let mut at_rest = sweep > 0;
        for i in order.iter().copied() {
            if let Some(j) = couple(plan, exchange, i) {
                (at_rest, moving) = (false, j);
            }
            if !evaluate(plant, plan, exchange, i)? {
                return Ok(false);
            }
        }
        if at_rest {
            return Ok(true);
        }
    }
    Err(unsettled(plan, moving))
}

/// With loops: level by level, each loop solved for its inputs; again until nothing changes any more, should parts depend on
/// more than they say.
fn pass(plant: &mut Plant, plan: &Plan, exchange: &mut Exchange, evaluation: &Evaluation) -> Result<bool> {
    let mut solved = vec![false; plan.layout.inputs()];
    evaluation.loops().flat_map(|of| &of.inputs).for_each(|j| solved[*j] = true);
    for (j, _) in solved.iter().enumerate().filter(|(_, solved)| **solved) {
        exchange.coupled[j] = start_value(plan, j) + exchange.external[j];
    }
    let mut moving = 0;
    for pass in 0..MAX_SWEEPS {
        let mut at_rest = pass > 0;
        for level in &evaluation.levels {
            for i in
                level.parts.iter().copied().chain(level.loops.iter().flat_map(|of| of.parts.iter().copied()))
            {
                for j in plan.layout.input_range(i).filter(|j| !solved[*j]) {
                    if couple_input(plan, exchange, j) {
                        (at_rest, moving) = (false, j);
                    }
                }
            }
            for i in level.parts.iter().copied() {
                if !evaluate(plant, plan, exchange, i)? {
                    return Ok(false);
                }
            }
            for of in &level.loops {
                if !solve_loop(plant, plan, exchange, of)? {
                    return Ok(false);
                }
            }
        }
        // Parts without outputs have to see their inputs too.
        if at_rest || plan.layout.inputs() == 0 {
            return finish(plant, plan, exchange, &solved);
        }
    }
    Err(unsettled(plan, moving))
}

/// What an input is before anything is known: what it says itself, or its sources.
fn start_value(plan: &Plan, j: usize) -> f64 {
    let Plan { layout, descriptions, coupling, .. } = plan;
    let owner = layout.input_owner(j);
    let of_output = |output: usize| {
        let owner = layout.output_owner(output);
        descriptions[owner].outputs[output - layout.output_range(owner).start].start
    };
    let of_sources =
        || -> Option<f64> { coupling.sources(j).map(|(output, gain)| Some(gain * of_output(output)?)).sum() };
    let own = descriptions[owner].inputs[j - layout.input_range(owner).start].start;
    of_sources().or(own).unwrap_or(0.0)
}

/// The last inputs, for all.
fn finish(plant: &mut Plant, plan: &Plan, exchange: &mut Exchange, solved: &[bool]) -> Result<bool> {
    for i in 0..plan.descriptions.len() {
        for j in plan.layout.input_range(i).filter(|j| !solved[*j]) {
            couple_input(plan, exchange, j);
        }
        if !evaluate(plant, plan, exchange, i)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// z = L y + r of the inputs of a subsystem; one that has changed.
fn couple(plan: &Plan, exchange: &mut Exchange, i: usize) -> Option<usize> {
    let mut moving = None;
    for j in plan.layout.input_range(i) {
        if couple_input(plan, exchange, j) {
            moving = Some(j);
        }
    }
    moving
}

fn couple_input(plan: &Plan, exchange: &mut Exchange, j: usize) -> bool {
    let Exchange { y, coupled, external, .. } = exchange;
    let u = plan.coupling.row(j, y) + external[j];
    let moves = (u - coupled[j]).abs() > TOLERANCE * u.abs();
    coupled[j] = u;
    moves
}

/// The outputs of a subsystem under its coupled inputs. False if these are not finite.
pub(crate) fn evaluate(plant: &mut Plant, plan: &Plan, exchange: &mut Exchange, i: usize) -> Result<bool> {
    let Exchange { y, coupled, .. } = exchange;
    let u = &coupled[plan.layout.input_range(i)];
    if !u.iter().all(|u| u.is_finite()) {
        return Ok(false);
    }
    let subsystem = plant.subsystem_mut(i);
    let outcome = subsystem.initial_outputs(u, &mut y[plan.layout.output_range(i)]);
    outcome.map_err(|error| place(subsystem, plan.experiment.start, 0, error))?;
    Ok(true)
}

/// Sources before the subsystems that have direct feedthrough, so that no output is asked for under an input
/// that means nothing yet.
fn feedthrough_order(plan: &Plan) -> Vec<usize> {
    let mut arrows = Vec::new();
    for (i, description) in plan.descriptions.iter().enumerate() {
        for input in description.feedthrough_lists().flatten() {
            let sources = plan.coupling.sources(plan.layout.input_range(i).start + input);
            arrows.extend(sources.map(|(output, _)| (plan.layout.output_owner(output), i)));
        }
    }
    arrows.sort_unstable();
    arrows.dedup();
    let graph = Graph::new(plan.descriptions.len(), &arrows);
    graph.components().into_iter().flatten().collect()
}

fn unsettled(plan: &Plan, input: usize) -> Error {
    let name = costep_core::evaluation::input_name(&plan.descriptions, &plan.layout, input);
    Error::new(Code::AlgebraicLoop, format!("the initial values do not settle, seen at input `{name}`"))
        .because("outputs depend on inputs without delay that the model descriptions do not name")
        .hint("one of the subsystems of the loop needs a state, or the loop a smaller gain")
}
