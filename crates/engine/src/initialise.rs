//! Consistent initial values: y = g(x0, u), u = L y + r at the start.

use costep_core::graph::Graph;
use costep_core::{Code, Error, Result};

use crate::exchange::Exchange;
use crate::plan::Plan;
use crate::plant::{Plant, place};

/// Sweeps over all subsystems until the inputs rest. Without algebraic loop the values settle exactly; with one
/// they are iterated.
const MAX_SWEEPS: usize = 1000;
/// Relative change at which an iterated loop counts as solved.
const TOLERANCE: f64 = 1e-13;

/// Initialises all subsystems and fills y and z = L y + r. Stops at values that are not finite, which the guard
/// then finds in y or z; no subsystem gets to see them.
pub(crate) fn initialise(plant: &mut Plant, plan: &Plan, exchange: &mut Exchange) -> Result<()> {
    let (layout, coupling, start) = (&plan.layout, &plan.coupling, plan.experiment.start);
    let Exchange { y, coupled, external, .. } = exchange;
    let mut experiment = plan.experiment;
    if !plan.roles.dividing.is_empty() {
        experiment.stop = experiment.latest_sum(plan.parts);
    }
    plant.try_each((start, 0), |_, subsystem| subsystem.initialise(&experiment))?;
    let (order, has_loops) = feedthrough_order(plan);
    let mut moving = 0;
    for sweep in 0..MAX_SWEEPS {
        let mut at_rest = sweep > 0;
        for i in order.iter().copied() {
            for j in layout.input_range(i) {
                let u = coupling.row(j, y) + external[j];
                if (u - coupled[j]).abs() > TOLERANCE * u.abs() {
                    (at_rest, moving) = (false, j);
                }
                coupled[j] = u;
            }
            let u = &coupled[layout.input_range(i)];
            if !u.iter().all(|u| u.is_finite()) {
                let grown_in_a_loop = has_loops && sweep > 0 && !y.iter().any(|y| y.is_nan());
                return if grown_in_a_loop { Err(unsolved(plan, moving)) } else { Ok(()) };
            }
            let subsystem = plant.subsystem_mut(i);
            let outcome = subsystem.initial_outputs(u, &mut y[layout.output_range(i)]);
            outcome.map_err(|error| place(subsystem, start, 0, error))?;
        }
        if at_rest {
            plant.try_each((start, 0), |i, subsystem| subsystem.begin(&mut y[layout.output_range(i)]))?;
            coupling.apply(y, coupled);
            coupled.iter_mut().zip(external).for_each(|(u, r)| *u += *r);
            return Ok(());
        }
    }
    Err(unsolved(plan, moving))
}

/// Sources before the subsystems that have direct feedthrough, so that no output is asked for under an input
/// that means nothing yet, except inside a loop; and whether there are loops.
fn feedthrough_order(plan: &Plan) -> (Vec<usize>, bool) {
    let mut arrows = Vec::new();
    for (i, description) in plan.descriptions.iter().enumerate() {
        for input in description.feedthrough.iter().flatten() {
            let sources = plan.coupling.sources(plan.layout.input_range(i).start + input);
            arrows.extend(sources.map(|(output, _)| (plan.layout.output_owner(output), i)));
        }
    }
    arrows.sort_unstable();
    arrows.dedup();
    let graph = Graph::new(plan.descriptions.len(), &arrows);
    let components = graph.components();
    let has_loops = components.iter().any(|component| graph.is_loop(component));
    (components.into_iter().flatten().collect(), has_loops)
}

fn unsolved(plan: &Plan, input: usize) -> Error {
    let owner = plan.layout.input_owner(input);
    let description = &plan.descriptions[owner];
    let port = &description.inputs[input - plan.layout.input_range(owner).start].name;
    let message = format!("the initial values do not settle, seen at input `{}.{port}`", description.name);
    Error::new(Code::AlgebraicLoop, message)
        .because("all subsystems of the loop have direct feedthrough, with a loop gain near or above one")
        .hint("one of the subsystems of the loop needs a state, or the loop a smaller gain")
}
