//! Predictor and corrector for minimal interfaces: no rollback, no derivatives, no model. The inputs of a
//! step are predicted from the past; once it is done, the outputs that they are connected to are known and
//! correct the prediction at its end. The difference is the error of the prediction there, and its mean
//! over the step follows from the shape of the error of an extrapolation.
//!
//! ```text
//! through p + 1 points      e(s) = c s (s + g) ... : e(h) = z^(k+1) - u(h)
//! mean of e over the step   w e(h):  p = 0: 1/2,  p = 1: (2 h + 3 g) / (6 (h + g)),  p > 1: 3/8     g = length of the step before
//! error                     2 w |e(h)| / R
//! ```
//!
//! The idea is that of Kyllingstad, Sadjina & Skjong 2024 (arXiv 2406.17353); the estimate is derived here
//! from first principles, the text of theirs was not at hand. It needs the two ends of a step alone;
//! `defect` looks at means too, which pays where inputs are held at their mean (`nepce`) or projected
//! (`predictive`): seen from their ends these are far off all the time.

use costep_core::{InputPolynomials, StepContext};

use super::ControlEntry;
use super::inputs::{InputControl, InputOverStep};
use super::pacing::StepError;

pub(super) const ENTRY: ControlEntry = ControlEntry {
    id: "predictor-corrector",
    summary: "The difference between the inputs at the end of a step, as they were predicted, and the outputs that they are connected \
              to. For subsystems that can do nothing but step.",
    needs: "nothing",
    cost: "1",
    takes_tolerance: true,
    build: |spec, experiment, _| Box::new(InputControl::control(spec, experiment, error, false)),
};

fn error(input: &InputOverStep, step: &StepContext, inputs: &InputPolynomials) -> StepError {
    let (h, g) = (step.h, step.h_before_or_now());
    let difference = input.end + input.external.1 - inputs.value(input.j, h);
    let weight = match input.of.order {
        0 => 0.5,
        1 => (2.0 * h + 3.0 * g) / (6.0 * (h + g)),
        _ => 0.375,
    };
    let size = if input.range > 0.0 { 2.0 * weight * difference.abs() / input.range } else { 0.0 };
    StepError { size, order: (input.of.order + 1).max(2) as f64 }
}
