//! An FMU as a part of a model.

use std::sync::Arc;

use costep_core::{Capabilities, Description, Result, Subsystem};
#[cfg(target_os = "linux")]
use costep_core::{Code, Error, Port};
use costep_fmi::{CoSimulationOptions, CoSimulationSubsystem, FmuEquations};
use costep_fmi::{ModelExchangeOptions, ModelExchangeSubsystem};
use costep_fmu_file::Use;
use costep_integrate::{Equations, Ode, Solver};
#[cfg(target_os = "linux")]
use costep_supervise::{IsolatedFile, IsolatedUse, isolate_fmu, try_fmu};
#[cfg(target_os = "linux")]
use costep_system::MakeTrial;
use costep_system::{Component, Variation};

use crate::fmus::{FmuFile, Isolation};
#[cfg(target_os = "linux")]
use crate::fmus::{python, start_of_port};

/// Makes instances for trials with start values of their inputs: what the FMU says is not passed on. It is unpacked once.
#[cfg(target_os = "linux")]
fn for_trials<'a>(
    file: &'a FmuFile,
    isolation: Isolation,
    description: &'a Description,
    usage: IsolatedUse,
) -> Option<Result<MakeTrial<'a>>> {
    let program = costep_supervise::worker_program()?;
    let parameters = match &usage {
        IsolatedUse::CoSimulation(options) => &options.parameters,
        IsolatedUse::ModelExchange(options) => &options.parameters,
    };
    let start = |port: &Port| start_of_port(&file.description, &port.name, parameters).unwrap_or(0.0);
    let inputs: Vec<f64> = description.inputs.iter().map(start).collect();
    let program = python::with_environment(program, file);
    let outside = outside(file, isolation, usage_of(&usage));
    let make = |outside: IsolatedFile<'a>| -> MakeTrial<'a> {
        Box::new(move || {
            let isolated = try_fmu(&program, outside.clone(), &description.name, usage.clone())?;
            Ok((Box::new(isolated) as Box<dyn Subsystem>, inputs.clone()))
        })
    };
    Some(outside.map(make))
}

#[cfg(target_os = "linux")]
fn usage_of(usage: &IsolatedUse) -> Use {
    match usage {
        IsolatedUse::CoSimulation(_) => Use::CoSimulation,
        IsolatedUse::ModelExchange(_) => Use::ModelExchange,
    }
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
    let outside = outside(file, isolation, usage_of(&usage))?;
    Ok(Box::new(isolate_fmu(program, outside, name, usage)?))
}

#[cfg(target_os = "linux")]
fn outside(file: &FmuFile, isolation: Isolation, usage: Use) -> Result<IsolatedFile<'_>> {
    Ok(IsolatedFile {
        path: &file.path,
        unpacked: file.unpacked(usage)?,
        fmu: &file.description,
        sandboxed: isolation == Isolation::Sandbox,
    })
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

    fn promises(&self) -> Option<Capabilities> {
        CoSimulationSubsystem::promises(&self.file.description, &self.description.name, &self.options)
    }

    #[cfg(target_os = "linux")]
    fn for_trials(&self) -> Option<Result<MakeTrial<'_>>> {
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
    fn for_trials(&self) -> Option<Result<MakeTrial<'_>>> {
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
                .hint("leave `isolation` out; with Python code only `isolation = \"none\"` does, which NumPy may not survive"));
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

    /// By start values of its states, as a user would set them.
    fn started_at(&self, x: &[f64]) -> Result<Box<dyn Component>> {
        let mut copy = self.clone();
        let values = ModelExchangeSubsystem::start_values(&self.file.description, &self.options, x).map_err(
            |cause| {
                let name = &self.description.name;
                costep_core::Error::new(costep_core::Code::NoRest, format!("`{name}` cannot start at rest"))
                    .because(cause.details().message.clone())
                    .hint(format!(
                        "`interface = \"cs\"` in [fmu.{name}] if it is also for Co-Simulation: a run before the start then finds rest"
                    ))
            },
        )?;
        let parameters = &mut Arc::make_mut(&mut copy.options).parameters;
        parameters.retain(|(name, _)| values.iter().all(|(state, _)| state != name));
        parameters.extend(values);
        Ok(Box::new(copy))
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
