//! An FMU as a part of a model.

use std::sync::Arc;

use costep_core::{Code, Description, Error, Result, Subsystem};
use costep_fmi::{
    CoSimulationOptions, CoSimulationSubsystem, ModelExchangeOptions, ModelExchangeSubsystem, Use,
};
use costep_integrate::{Component, Ode, Part, Solver};

use crate::fmus::{FmuFile, Isolation};

fn check_isolation(isolation: Isolation) -> Result<()> {
    match isolation {
        Isolation::Process => {
            let message = "an FMU cannot have a process of its own yet";
            Err(Error::new(Code::NotPossibleYet, message).hint("leave `isolation` out"))
        }
        _ => Ok(()),
    }
}

/// An instance of an FMU for Co-Simulation.
#[derive(Clone)]
pub(crate) struct CoSimulationPart {
    file: Arc<FmuFile>,
    options: Arc<CoSimulationOptions>,
    description: Description,
    isolation: Isolation,
}

impl CoSimulationPart {
    /// An instance under a name. Nothing of the FMU is loaded yet.
    pub(crate) fn new(
        file: Arc<FmuFile>,
        name: &str,
        options: CoSimulationOptions,
        isolation: Isolation,
    ) -> Result<Self> {
        let description = CoSimulationSubsystem::describe(&file.description, name, &options)?;
        Ok(Self { file, options: Arc::new(options), description, isolation })
    }
}

impl Part for CoSimulationPart {
    fn description(&self) -> &Description {
        &self.description
    }

    fn subsystem(&self, _solver: &Solver) -> Result<Box<dyn Subsystem>> {
        check_isolation(self.isolation)?;
        let library = self.file.library(Use::CoSimulation)?;
        Ok(Box::new(CoSimulationSubsystem::new(&library, &self.description.name, &self.options)?))
    }

    fn equations(&self) -> Option<Box<dyn Ode>> {
        None
    }

    fn duplicate(&self) -> Box<dyn Part> {
        Box::new(self.clone())
    }

    fn renamed(&self, name: &str) -> Box<dyn Part> {
        let mut copy = self.clone();
        copy.description.name = name.into();
        Box::new(copy)
    }
}

/// An instance of an FMU for Model Exchange with its integrator.
#[derive(Clone)]
pub(crate) struct ModelExchangePart {
    file: Arc<FmuFile>,
    options: Arc<ModelExchangeOptions>,
    description: Description,
    isolation: Isolation,
}

impl ModelExchangePart {
    /// An instance under a name. Nothing of the FMU is loaded yet.
    pub(crate) fn new(
        file: Arc<FmuFile>,
        name: &str,
        options: ModelExchangeOptions,
        isolation: Isolation,
    ) -> Result<Self> {
        let description = ModelExchangeSubsystem::describe(&file.description, name, &options)?;
        Ok(Self { file, options: Arc::new(options), description, isolation })
    }
}

impl Part for ModelExchangePart {
    fn description(&self) -> &Description {
        &self.description
    }

    /// The solver is its own: that of the project is for native parts, whose time scales are others.
    fn subsystem(&self, _solver: &Solver) -> Result<Box<dyn Subsystem>> {
        check_isolation(self.isolation)?;
        let library = self.file.library(Use::ModelExchange)?;
        Ok(Box::new(ModelExchangeSubsystem::new(&library, &self.description.name, &self.options)?))
    }

    fn component(&self) -> Result<Box<dyn Component>> {
        check_isolation(self.isolation)?;
        let library = self.file.library(Use::ModelExchange)?;
        Ok(Box::new(ModelExchangeSubsystem::new(&library, &self.description.name, &self.options)?))
    }

    fn can_be_component(&self) -> bool {
        true
    }

    fn equations(&self) -> Option<Box<dyn Ode>> {
        None
    }

    fn duplicate(&self) -> Box<dyn Part> {
        Box::new(self.clone())
    }

    fn renamed(&self, name: &str) -> Box<dyn Part> {
        let mut copy = self.clone();
        copy.description.name = name.into();
        Box::new(copy)
    }
}
