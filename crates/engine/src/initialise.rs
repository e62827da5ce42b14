//! Consistent initial values: y = g(x0, u), u = L y + r at the start.

use costep_core::{Code, Coupling, Error, Experiment, Layout, Result, Subsystem};

/// Sweeps over all subsystems until the outputs rest. Without algebraic loop the values settle exactly, after
/// as many sweeps as the longest path of direct feed-through; with one they are iterated.
const MAX_SWEEPS: usize = 1000;
/// Relative change at which an iterated loop counts as solved.
const TOLERANCE: f64 = 1e-13;

/// Initialises all subsystems and fills y and z = L y + r.
pub(crate) fn initialise(
    subsystems: &mut [Box<dyn Subsystem>],
    experiment: &Experiment,
    (layout, coupling, external): (&Layout, &Coupling, &[f64]),
    y: &mut [f64],
    coupled: &mut [f64],
) -> Result<()> {
    for subsystem in subsystems.iter_mut() {
        subsystem.initialise(experiment)?;
    }
    coupled.copy_from_slice(external);
    let mut next = coupled.to_vec();
    for _ in 0..MAX_SWEEPS {
        for (i, subsystem) in subsystems.iter_mut().enumerate() {
            subsystem.initial_outputs(&coupled[layout.input_range(i)], &mut y[layout.output_range(i)])?;
        }
        coupling.apply(y, &mut next);
        next.iter_mut().zip(external).for_each(|(u, r)| *u += r);
        let at_rest =
            next.iter().zip(coupled.iter()).all(|(new, old)| (new - old).abs() <= TOLERANCE * new.abs());
        coupled.copy_from_slice(&next);
        if at_rest {
            return Ok(());
        }
        if let Some(j) = coupled.iter().position(|u| !u.is_finite()) {
            return Err(unsolved(subsystems, layout, j));
        }
    }
    let moving = next.iter().zip(coupled.iter()).position(|(new, old)| new != old).unwrap_or(0);
    Err(unsolved(subsystems, layout, moving))
}

fn unsolved(subsystems: &[Box<dyn Subsystem>], layout: &Layout, input: usize) -> Error {
    let owner = layout.input_owner(input);
    let description = subsystems[owner].description();
    let port = &description.inputs[input - layout.input_range(owner).start].name;
    let message = format!("the initial values do not settle, seen at input `{}.{port}`", description.name);
    Error::new(Code::AlgebraicLoop, message)
        .because("a loop of direct feed-through with a gain of one or more, or a value that is not finite")
}
