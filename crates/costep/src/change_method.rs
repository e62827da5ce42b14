//! Another coupling method in the middle of a run.

use std::sync::Arc;

use costep_core::{Code, Error, Result};
use costep_project::Project;

use crate::assemble::{self, Choice};
use crate::run::MethodChoice;
use crate::simulation::Simulation;

impl Simulation {
    /// Goes on with another coupling method for the inputs that are in no group. It begins as at a start, and learns what
    /// it needs anew; what was computed so far stays. Snapshots of before cannot be restored any more. An error, and no
    /// change, if a part cannot save its state.
    ///
    /// ```
    /// let system = costep::System::open("dual-mass")?;
    /// let mut run = system.start(costep::Run::new().method("zoh").step(1e-3))?;
    /// run.run_until(0.01)?;
    /// run.change_method("predictive", system.registry())?;
    /// run.run_until(0.02)?;
    /// assert_eq!(run.number(), 20);
    /// # Ok::<(), costep::Errors>(())
    /// ```
    pub fn change_method(
        &mut self,
        method: impl Into<MethodChoice>,
        registry: &costep_project::Registry,
    ) -> Result<()> {
        if let Some(error) = self.ended() {
            return Err(error.clone());
        }
        if self.is_recorded() {
            return Err(Error::new(Code::NeedsMissing, "the method of a recorded run cannot be changed")
                .because("checkpoints belong to one method")
                .hint("run it without recording"));
        }
        let mut project = Project::clone(self.project());
        project.groups[0].method = method.into().spec(registry)?;
        let choice = Choice { step: self.engine().experiment().step, ..Choice::of(&project) };
        let mut engine = assemble::engine(&project, &choice, false)?;
        engine.take_over(self.engine())?;
        self.go_on_with(Arc::new(project), engine);
        Ok(())
    }
}
