//! An FMU as a part of a model.

use std::sync::Arc;

#[cfg(target_os = "linux")]
use costep_core::{Code, Error, Port};
use costep_core::{Description, Result, Subsystem};
use costep_fmi::{CoSimulationOptions, CoSimulationSubsystem, FmuEquations};
use costep_fmi::{ModelExchangeOptions, ModelExchangeSubsystem};
use costep_fmu_file::Use;
use costep_integrate::{Equations, Ode, Solver};
#[cfg(target_os = "linux")]
use costep_supervise::{IsolatedFile, IsolatedUse, isolate_fmu, try_fmu};
use costep_system::{Component, TrialPart, Variation};

use crate::fmus::{FmuFile, Isolation};
#[cfg(target_os = "linux")]
use crate::fmus::{python, start_of_port};

/// An instance for trials with start values of its inputs: what the FMU says is not passed on.
#[cfg(target_os = "linux")]
fn for_trials(
    file: &FmuFile,
    isolation: Isolation,
    description: &Description,
    usage: IsolatedUse,
) -> Option<Result<TrialPart>> {
    let program = costep_supervise::worker_program()?;
    let parameters = match &usage {
        IsolatedUse::CoSimulation(options) => &options.parameters,
        IsolatedUse::ModelExchange(options) => &options.parameters,
    };
    let start = |port: &Port| start_of_port(&file.description, &port.name, parameters).unwrap_or(0.0);
    let inputs = description.inputs.iter().map(start).collect();
    let program = &python::with_environment(program, file);
    let isolated = try_fmu(program, outside(file, isolation), &description.name, usage);
    Some(isolated.map(|isolated| (Box::new(isolated) as Box<dyn Subsystem>, inputs)))
}

/// A process for one instance of an FMU.
#[cfg(target_os = "linux")]
fn isolated(
    file: &FmuFile,
    isolation: Isolation,
    name: &str,
    usage: IsolatedUse,
) -> Result<Box<dyn Subsystem>> {
    let Some(program) = costep_supervise::worker_program() else {
        let message = format!("`{name}` cannot run in its own process");
        return Err(Error::new(Code::NeedsMissing, message)
            .because("this program cannot host FMUs in separate processes"));
    };
    let program = &python::with_environment(program, file);
    Ok(Box::new(isolate_fmu(program, outside(file, isolation), name, usage)?))
}

#[cfg(target_os = "linux")]
fn outside(file: &FmuFile, isolation: Isolation) -> IsolatedFile<'_> {
    IsolatedFile { path: &file.path, fmu: &file.description, sandboxed: isolation == Isolation::Sandbox }
}

/// An instance of an FMU for Co-Simulation.
#[derive(Clone)]
pub(crate) struct CoSimulationComponent {
    file: Arc<FmuFile>,
    options: Arc<CoSimulationOptions>,
    description: Description,
    isolation: Isolation,
}

impl CoSimulationComponent {
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

impl Component for CoSimulationComponent {
    fn description(&self) -> &Description {
        &self.description
    }

    #[cfg(target_os = "linux")]
    fn for_trials(&self) -> Option<Result<TrialPart>> {
        let usage = IsolatedUse::CoSimulation(CoSimulationOptions::clone(&self.options));
        for_trials(&self.file, self.isolation, &self.description, usage)
    }

    fn subsystem(&self, _solver: &Solver) -> Result<Box<dyn Subsystem>> {
        if self.file.needs_process(self.isolation, Use::CoSimulation, self.options.step_timeout)? {
            #[cfg(target_os = "linux")]
            return isolated(
                &self.file,
                self.isolation,
                &self.description.name,
                IsolatedUse::CoSimulation(CoSimulationOptions::clone(&self.options)),
            );
        }
        let library = self.file.library(Use::CoSimulation, self.options.step_timeout)?;
        Ok(Box::new(CoSimulationSubsystem::new(&library, &self.description.name, &self.options)?))
    }

    fn ode(&self) -> Option<Box<dyn Ode>> {
        None
    }

    fn varied(&self, by: &Variation<'_>) -> Box<dyn Component> {
        let mut copy = self.clone();
        by.apply(&mut copy.description);
        if !by.sizes.is_empty() {
            Arc::make_mut(&mut copy.options).sizes.extend_from_slice(by.sizes);
        }
        Box::new(copy)
    }
}

/// An instance of an FMU for Model Exchange with its integrator.
#[derive(Clone)]
pub(crate) struct ModelExchangeComponent {
    file: Arc<FmuFile>,
    options: Arc<ModelExchangeOptions>,
    description: Description,
    isolation: Isolation,
}

impl ModelExchangeComponent {
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

impl Component for ModelExchangeComponent {
    fn description(&self) -> &Description {
        &self.description
    }

    #[cfg(target_os = "linux")]
    fn for_trials(&self) -> Option<Result<TrialPart>> {
        let usage = IsolatedUse::ModelExchange(ModelExchangeOptions::clone(&self.options));
        for_trials(&self.file, self.isolation, &self.description, usage)
    }

    /// The solver is its own: that of the project is for native parts, whose time scales are others.
    fn subsystem(&self, _solver: &Solver) -> Result<Box<dyn Subsystem>> {
        if self.file.needs_process(self.isolation, Use::ModelExchange, self.options.step_timeout)? {
            #[cfg(target_os = "linux")]
            return isolated(
                &self.file,
                self.isolation,
                &self.description.name,
                IsolatedUse::ModelExchange(ModelExchangeOptions::clone(&self.options)),
            );
        }
        let library = self.file.library(Use::ModelExchange, self.options.step_timeout)?;
        Ok(Box::new(ModelExchangeSubsystem::new(&library, &self.description.name, &self.options)?))
    }

    fn equations(&self) -> Result<Box<dyn Equations>> {
        if self.file.is_isolated(self.isolation) {
            let message =
                format!("`{}` runs in its own process: nothing else can integrate it", self.description.name);
            return Err(costep_core::Error::new(costep_core::Code::NeedsMissing, message)
                .hint("leave `isolation` out, or for Python code write `isolation = \"none\"`"));
        }
        let library = self.file.library(Use::ModelExchange, self.options.step_timeout)?;
        Ok(Box::new(FmuEquations::new(&library, &self.description.name, &self.options)?))
    }

    fn has_equations(&self) -> bool {
        !self.file.is_isolated(self.isolation)
    }

    fn ode(&self) -> Option<Box<dyn Ode>> {
        None
    }

    fn varied(&self, by: &Variation<'_>) -> Box<dyn Component> {
        let mut copy = self.clone();
        by.apply(&mut copy.description);
        if !by.sizes.is_empty() {
            Arc::make_mut(&mut copy.options).sizes.extend_from_slice(by.sizes);
        }
        Box::new(copy)
    }
}
