//! Steps as long as a method that repeats them converges: a fifth of one that does not, and twice one that
//! does. MasterSim adapts its steps like this without an error control.

use costep_core::{AfterStep, Code, Error, Result, StepContext};

use super::ControlEntry;
use super::paced::{Paced, Rule};
use super::pacing::Pacing;
use crate::step_control::ControlView;

pub(super) const ENTRY: ControlEntry = ControlEntry {
    id: "convergence",
    summary: "Steps that do not converge are done again at a fifth of their length, and those that do are followed by one of \
              twice their length. No error is looked at.",
    needs: "a method that repeats steps, with `without_convergence=halve`",
    cost: "1",
    takes_tolerance: false,
    build: |spec, experiment, _| Box::new(Paced { pacing: Pacing::new(spec, experiment), rule: Convergence }),
};

const SHRINKS: f64 = 0.2;
const GROWS: f64 = 2.0;

struct Convergence;

impl Rule for Convergence {
    fn prepare(&mut self, system: &ControlView<'_>) -> Result<()> {
        if !system.repeats {
            let message = "`convergence` needs a method that repeats steps, and this one does each once";
            return Err(Error::new(Code::ControlNeeds, message).hint(
                "use `fixed-point:without_convergence=halve`, or a `tolerance` with `control = \"defect\"`",
            ));
        }
        Ok(())
    }

    fn after_step(&self) -> AfterStep {
        AfterStep::Nothing
    }

    fn instead(&self, step: &StepContext, asked: f64) -> f64 {
        asked.min(SHRINKS * step.h)
    }

    fn accepted(&mut self, step: &StepContext, pacing: &mut Pacing) {
        pacing.wish_for(step, GROWS * step.h);
    }
}
