//! What systems are made of.

use costep_core::{Capabilities, Code, Description, Error, PortSize, Result, Subsystem};
use costep_integrate::{Equations, Integrated, Ode, Renamable, Solver, Stepper};

use crate::steady::StartedAt;

/// An instance for trials, and start values of its inputs.
pub type TrialPart = (Box<dyn Subsystem>, Vec<f64>);

/// Makes one.
pub type MakeTrial<'a> = Box<dyn Fn() -> Result<TrialPart> + 'a>;

/// What differs in a copy of a component.
#[derive(Clone, Copy, Debug, Default)]
pub struct Variation<'a> {
    /// Another name for the instance.
    pub name: Option<&'a str>,
    /// Other sizes of some ports.
    pub sizes: &'a [PortSize],
}

impl Variation<'_> {
    /// Changes a description.
    pub fn apply(&self, description: &mut Description) {
        if let Some(name) = self.name {
            description.name = name.into();
        }
        description.resize(self.sizes);
    }
}

/// Something that subsystems can be made of: equations, which can also be solved with those of others as
/// one system, or a simulator whose equations nobody knows, such as an FMU.
pub trait Component: Send + Sync {
    /// Ports and direct feedthrough.
    fn description(&self) -> &Description;

    /// A subsystem of its own; equations are integrated by this solver.
    fn subsystem(&self, solver: &Solver) -> Result<Box<dyn Subsystem>>;

    /// The same for a state that is kept elsewhere; only native equations can do that.
    fn stepper(&self, _solver: &Solver) -> Result<Box<dyn Stepper>> {
        let message = format!("the equations of `{}` are not known", self.description().name);
        Err(Error::new(Code::NeedsMissing, message))
    }

    /// Its equations, to be solved with those of others as one system.
    fn equations(&self) -> Result<Box<dyn Equations>> {
        let message = format!("the equations of `{}` are not known", self.description().name);
        Err(Error::new(Code::NeedsMissing, message)
            .because("only native models and FMUs for Model Exchange can be solved as one"))
    }

    /// Whether [`Component::equations`] gives some.
    fn has_equations(&self) -> bool {
        false
    }

    /// What a subsystem of it can do at most, where that is known before one is made.
    fn promises(&self) -> Option<Capabilities> {
        None
    }

    /// Makes instances for trials, each in a process of its own: whatever one does, others do not notice. Nothing where
    /// that is not possible, or not needed.
    fn for_trials(&self) -> Option<Result<MakeTrial<'_>>> {
        None
    }

    /// A copy of its equations, if they are those of a native model.
    fn ode(&self) -> Option<Box<dyn Ode>>;

    /// A copy that starts in these states.
    fn started_at(&self, x: &[f64]) -> Result<Box<dyn Component>> {
        match self.ode() {
            Some(_) => Ok(Box::new(StartedAt::new(self.duplicate(), x.to_vec()))),
            None => {
                let message = format!("`{}` cannot start in given states", self.description().name);
                Err(Error::new(Code::NoRest, message))
            }
        }
    }

    /// A copy that differs by this.
    fn varied(&self, by: &Variation<'_>) -> Box<dyn Component>;

    /// A copy.
    fn duplicate(&self) -> Box<dyn Component> {
        self.varied(&Variation::default())
    }

    /// A copy under another name.
    fn renamed(&self, name: &str) -> Box<dyn Component> {
        self.varied(&Variation { name: Some(name), ..Variation::default() })
    }

    /// A copy some of whose ports have other sizes.
    fn resized(&self, sizes: &[PortSize]) -> Box<dyn Component> {
        self.varied(&Variation { sizes, ..Variation::default() })
    }
}

impl Clone for Box<dyn Component> {
    fn clone(&self) -> Self {
        self.duplicate()
    }
}

impl<S: Ode + Clone + Renamable + Sync + 'static> Component for S {
    fn description(&self) -> &Description {
        Ode::description(self)
    }

    fn subsystem(&self, solver: &Solver) -> Result<Box<dyn Subsystem>> {
        Ok(Box::new(Integrated::new(self.clone(), solver)?))
    }

    fn stepper(&self, solver: &Solver) -> Result<Box<dyn Stepper>> {
        Ok(Box::new(Integrated::new(self.clone(), solver)?))
    }

    fn equations(&self) -> Result<Box<dyn Equations>> {
        Ok(Box::new(self.clone()))
    }

    fn has_equations(&self) -> bool {
        true
    }

    fn ode(&self) -> Option<Box<dyn Ode>> {
        Some(Box::new(self.clone()))
    }

    fn varied(&self, by: &Variation<'_>) -> Box<dyn Component> {
        let mut copy = self.clone();
        by.apply(copy.description_mut());
        Box::new(copy)
    }
}
