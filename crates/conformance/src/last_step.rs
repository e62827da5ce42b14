//! A last step that is much shorter than the others, because the stop time is no multiple of the step.

use costep_core::{InputPolynomials, MethodEntry, Subsystem};
use costep_engine::Engine;
use costep_integrate::{Integrated, Solver};
use costep_methods::MethodSpec;

use crate::order::{LONGEST_STEP, soft_from_rest};
use crate::systems::{coupled, method};
use crate::variants::variants;

/// In the middle of the motion, in steps.
const WHOLE_STEPS: f64 = 73.0;
/// Length of the last step, in steps.
const SHARE: f64 = 0.01;

/// Error of each output: the greatest after whole steps, and that at the end.
fn errors(method: &MethodSpec) -> Vec<(f64, f64)> {
    let (model, stop) = (soft_from_rest(), (WHOLE_STEPS + SHARE) * LONGEST_STEP);
    let mut engine = Engine::new(coupled(&model, &Solver::Exact, method, stop, LONGEST_STEP)).unwrap();
    let experiment = *engine.experiment();
    let mut twin = Integrated::new(model.monolithic().unwrap(), &Solver::Dopri5(1e-12)).unwrap();
    twin.initialise(&experiment).unwrap();
    let (no_input, mut exact) = (InputPolynomials::new(0, 0), engine.outputs().to_vec());
    let mut errors = vec![(0.0f64, 0.0f64); exact.len()];
    for k in 0..experiment.steps() {
        engine.step().unwrap();
        twin.step(experiment.interval(k), no_input.segment(0..0, 0), &mut exact).unwrap();
        for ((greatest, last), (y, exact)) in errors.iter_mut().zip(engine.outputs().iter().zip(&exact)) {
            (*greatest, *last) = (greatest.max(*last), (y - exact).abs());
        }
    }
    errors
}

/// Over a short step nothing moves far: its error is of the size of those before, or of those of a plain hold,
/// since a correction that meets the middle of a whole step is right at neither end of it; options may double
/// it.
pub(crate) fn a_short_last_step_is_as_good_as_the_others(entry: &'static MethodEntry) {
    let hold = errors(&method("zoh"));
    for method in variants(entry) {
        for (i, ((greatest, last), (of_hold, _))) in errors(&method).iter().zip(&hold).enumerate() {
            let most = 3.0 * greatest.max(*of_hold);
            assert!(*last <= most, "{}: output {i}: {last:e}, at most {most:e}", method.label());
        }
    }
}
