//! Control by the coupling defect: how far inputs were, over a step, from what they are connected to. Costs
//! nothing: both are known when the step has been done. Where all subsystems can go back, a step that was
//! far too long is done again.
//!
//! ```text
//! e(s) = z(s) - u(s)                    z = L y over the step, u the input polynomials of order p without their external share
//! extrapolated inputs                   error = 2 mean(e), of ramps with a quarter of the bend of z; z is the parabola through
//!                                       T^(k-1), T^k, T^(k+1)
//! projected inputs (`predictive`)       error = |e(0) + (-1)^p e(h)| / 4 + tail^2 / (R (2p + 3)),  tail = (e(h) - (-1)^p e(0)) / 2
//! ```
//!
//! R is what an input is measured by (`inputs.rs`). The mean of e is what a subsystem feels first: its states move by the
//! integral of their inputs. Inputs that are extrapolated from the start of the step have e(0) = 0 and an e
//! of one sign: its mean is of the order of the method. Inputs that are the projection of what is expected
//! have no mean error, but for that of the models, which shows at the ends of the step; what is cut off
//! (the tail, a Legendre polynomial of degree p + 1) is orthogonal to all that the step lets through up to
//! the same degree, so that its effect is the mean of the product of two tails, tail^2 / (2p + 3). That is
//! the error at communication points, h^(2p+2). Only where outputs follow an input at once, and are read
//! under its value at the end of the step, do they show the tail itself: then a part of it counts. Outputs
//! that follow at once are themselves read under what was cut off: the ends of the step tell half as much
//! about the mean.

use costep_core::{InputPolynomials, StepContext};

use super::ControlEntry;
use super::inputs::{InputControl, InputOverStep};
use super::pacing::StepError;

pub(super) const ENTRY: ControlEntry = ControlEntry {
    id: "defect",
    summary: "The difference between the inputs over a step and what they are connected to, known when the step is done. Steps that \
              were far too long are done again where all subsystems can go back.",
    needs: "nothing; rollback is used where all subsystems have it",
    cost: "1",
    takes_tolerance: true,
    build: |spec, experiment, _| Box::new(InputControl::control(spec, experiment, error, true)),
};

/// How much of the sum of both ends counts as the mean of what is projected, and how much of the tail of an
/// input that outputs follow at once.
const KNOWN: f64 = 0.25;
const SEEN: f64 = 0.2;
/// What inputs lack counts twice. But what signals do between the ends of a step, of which a ramp between the right ends knows nothing, matters
/// less: it is in phase with the signal itself, and neither drives an oscillation nor brakes it.
const ENDS: f64 = 2.0;
const BEND: f64 = 0.5;

fn error(input: &InputOverStep, step: &StepContext, inputs: &InputPolynomials) -> StepError {
    let InputOverStep { before, start, end, range, .. } = *input;
    let share = |difference: f64| if range > 0.0 { difference.abs() / range } else { 0.0 };
    let order = input.of.order;
    if input.of.is_projected {
        let sign = if order.is_multiple_of(2) { 1.0 } else { -1.0 };
        let first = start + input.external.0 - inputs.coefficients(0)[input.j];
        let last = end + input.external.1 - inputs.value(input.j, step.h);
        let (mean, tail) = (share(KNOWN * (first + sign * last)), share(0.5 * (last - sign * first)));
        let cut_off = tail * tail / (2 * order + 3) as f64;
        let exponent = if mean > cut_off { order + 1 } else { 2 * order + 2 };
        let seen = if input.of.is_direct { SEEN * tail } else { 0.0 };
        if seen > mean + cut_off {
            return StepError { size: seen, order: (order + 1) as f64 };
        }
        return StepError { size: mean + cut_off, order: exponent.max(2) as f64 };
    }
    let slope = (end - start) / step.h;
    let curvature = match step.h_before > 0.0 && before.is_finite() {
        true => (slope - (start - before) / step.h_before) / (step.h + step.h_before),
        // After the first step there are two points only.
        false => 0.0,
    };
    let lacking = 0.5 * (start + end) - input.mean;
    let bend = curvature * step.h * step.h / 6.0;
    // A parabola has the bend.
    let counts = if order == 1 { BEND } else { ENDS };
    StepError { size: share(ENDS * lacking - counts * bend), order: (order + 1).max(2) as f64 }
}
