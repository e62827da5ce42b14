//! Steps as long as a method that repeats them converges: a fifth of one that does not, and twice one that
//! does. MasterSim adapts its steps like this without an error control.

use costep_core::{AfterStep, Code, Error, Interval, Result, StateReader, StateWriter, StepContext};

use super::ControlEntry;
use super::pacing::Pacing;
use crate::step_control::{ControlView, StepControl, StepCounts};

pub(super) const ENTRY: ControlEntry = ControlEntry {
    id: "convergence",
    summary: "Steps that do not converge are done again at a fifth of their length, and those that do are followed by one of \
              twice their length. No error is looked at.",
    needs: "a method that repeats steps, with `without_convergence=halve`",
    cost: "1",
    takes_tolerance: false,
    build: |spec, experiment, _| Box::new(Convergence { pacing: Pacing::new(spec, experiment) }),
};

const SHRINKS: f64 = 0.2;
const GROWS: f64 = 2.0;

struct Convergence {
    pacing: Pacing,
}

impl StepControl for Convergence {
    fn prepare(&mut self, system: &ControlView<'_>) -> Result<()> {
        if !system.repeats {
            let message = "`convergence` needs a method that repeats steps, and this one does each once";
            return Err(Error::new(Code::ControlNeeds, message).hint(
                "use `fixed-point:without_convergence=halve`, or a `tolerance` with `control = \"defect\"`",
            ));
        }
        self.pacing.prepare(system)
    }

    fn next_step(&self, _k: u64) -> Interval {
        self.pacing.next_step()
    }

    fn is_over(&self, _k: u64) -> bool {
        self.pacing.is_over()
    }

    fn is_uniform(&self) -> bool {
        false
    }

    fn rejected(&mut self, step: &StepContext, shorter: f64) -> Result<()> {
        self.pacing.rejected(step, shorter.min(SHRINKS * step.h))
    }

    fn accepted(&mut self, step: &StepContext) {
        self.pacing.wish_for(step, GROWS * step.h);
        self.pacing.accepted(step);
    }

    fn after_step(&self) -> AfterStep {
        AfterStep::Nothing
    }

    fn counts(&self) -> Option<StepCounts> {
        Some(self.pacing.counts())
    }

    fn save(&self, out: &mut StateWriter) {
        self.pacing.save(out);
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.pacing.load(from)
    }
}
