//! What a project asks of its parts that they do not have, found out before any FMU is loaded: its engine is put together from
//! stand-ins that offer what the model descriptions promise.

use costep_core::{
    Batch, Capabilities, Capable, Code, Description, EnvironmentModel, EnvironmentStep, Error, Experiment,
    InputSegment, Interval, Linearisation, Linearised, LocalModel, MicroRecorder, MicroSampling, ModelOrigin,
    Persistence, Result, Rollback, StepOutcome, Subsystem, Telemetry,
};
use costep_methods::{MethodSpec, auto, monolithic};
use costep_project::Project;
use costep_system::Component;

use crate::assemble::{self, Choice};
use crate::comparison::Comparison;
use crate::system::System;

/// What an FMU offers at most, where only making it would tell.
const EVERYTHING: Capabilities = Capabilities {
    rollback: true,
    linearisation: Linearisation::Full,
    states: 0,
    micro_samples: None,
    environment: true,
};

impl System {
    /// What methods and control of steps need of parts that do not offer it, as a run would say it, with the line or option
    /// that asks for it. Nothing is loaded: what only a part itself can tell is not found.
    pub fn missing_capabilities(&self) -> Vec<Error> {
        let project = &*self.project;
        let methods = || project.groups.iter().map(|group| &group.method);
        let takes_anything = methods().all(|method| method.entry.id == auto::ENTRY.id);
        if project.control.is_none() && takes_anything || methods().any(monolithic::is_monolithic) {
            return Vec::new();
        }
        match assemble::of_stand_ins(project, &Choice::of(project), |part| stand_in(part, project)) {
            Err(error) if matches!(error.code(), Code::NeedsMissing | Code::ControlNeeds) => vec![error],
            // Stand-ins cannot start, and what else is wrong has been said.
            _ => Vec::new(),
        }
    }
}

impl System {
    /// An error if parts lack what each of these methods needs: nothing would be left to compare.
    pub(crate) fn refuse_impossible(&self, methods: &[MethodSpec]) -> Result<()> {
        let missing: Vec<(String, Error)> =
            methods.iter().filter_map(|method| Some((method.label(), self.missing_for(method)?))).collect();
        if missing.is_empty() || missing.len() < methods.len() {
            return Ok(());
        }
        let each: Vec<String> =
            missing.iter().map(|(label, error)| format!("{label}: {}", error.details().message)).collect();
        let all = Comparison::all_methods(&self.registry)?;
        let possible: Vec<&str> = all
            .iter()
            .filter(|method| self.missing_for(method).is_none())
            .map(|method| method.entry.id)
            .collect();
        let message = match &missing[..] {
            [(label, _)] => format!("`{label}` is not possible here"),
            _ => "none of these methods is possible here".to_owned(),
        };
        let message = Error::new(Code::NeedsMissing, message).because(each.join("; "));
        Err(message.hint(format!("possible here, by what the parts offer: auto, {}", possible.join(", "))))
    }

    /// What parts lack for a method in the place of that of the project.
    fn missing_for(&self, method: &MethodSpec) -> Option<Error> {
        if monolithic::is_monolithic(method) || method.entry.id == auto::ENTRY.id {
            return None;
        }
        let project = &*self.project;
        let choice = Choice { method, ..Choice::of(project) };
        let engine = assemble::of_stand_ins(project, &choice, |part| stand_in(part, project));
        engine.err().filter(|error| error.code() == Code::NeedsMissing)
    }
}

fn stand_in(part: &dyn Component, project: &Project) -> Result<Box<dyn Subsystem>> {
    if part.ode().is_some() {
        return part.subsystem(&project.model.solver);
    }
    let can = part.promises().unwrap_or(EVERYTHING);
    Ok(Box::new(StandIn { description: part.description().clone(), can }))
}

/// Offers something, and does nothing.
struct StandIn {
    description: Description,
    can: Capabilities,
}

impl StandIn {
    #[cold]
    fn nothing<T>(&self) -> Result<T> {
        Err(Error::new(Code::Stopped, format!("`{}` only stands for a part", self.description.name)))
    }
}

impl Subsystem for StandIn {
    fn description(&self) -> &Description {
        &self.description
    }

    fn initialise(&mut self, _: &Experiment) -> Result<()> {
        self.nothing()
    }

    fn initial_outputs(&mut self, _: &[f64], _: &mut [f64]) -> Result<()> {
        self.nothing()
    }

    fn step(&mut self, _: Interval, _: InputSegment<'_>, _: &mut [f64]) -> Result<StepOutcome> {
        self.nothing()
    }

    fn terminate(&mut self) {}
}

impl Capable for StandIn {
    fn rollback(&mut self) -> Option<&mut dyn Rollback> {
        if self.can.rollback { Some(self) } else { None }
    }

    fn linearised(&mut self) -> Option<&mut dyn Linearised> {
        if self.can.linearisation != Linearisation::None || self.can.states > 0 { Some(self) } else { None }
    }

    fn micro_recorder(&mut self) -> Option<&mut dyn MicroRecorder> {
        if self.can.micro_samples.is_some() { Some(self) } else { None }
    }

    fn environment(&mut self) -> Option<&mut dyn EnvironmentStep> {
        if self.can.environment { Some(self) } else { None }
    }

    fn persistence(&self) -> Option<&dyn Persistence> {
        None
    }

    fn persistence_mut(&mut self) -> Option<&mut dyn Persistence> {
        None
    }

    fn telemetry(&self) -> Option<&dyn Telemetry> {
        None
    }

    fn join_batch(self: Box<Self>, _: &mut Option<Box<dyn Batch>>) -> Result<(), Box<dyn Subsystem>> {
        Err(self)
    }
}

impl Rollback for StandIn {
    fn snapshot(&mut self) -> Result<()> {
        self.nothing()
    }

    fn restore(&mut self) -> Result<()> {
        self.nothing()
    }
}

impl Linearised for StandIn {
    fn level(&self) -> Linearisation {
        self.can.linearisation
    }

    fn states(&self) -> usize {
        self.can.states
    }

    fn origin(&self) -> ModelOrigin {
        ModelOrigin::Exact
    }

    fn local_model(&mut self, _: &[f64], _: &mut LocalModel) -> Result<()> {
        self.nothing()
    }

    fn read_state(&mut self, _: &[f64], _: &mut [f64], _: &mut [f64]) -> Result<bool> {
        self.nothing()
    }
}

impl MicroRecorder for StandIn {
    fn sampling(&self) -> MicroSampling {
        self.can.micro_samples.unwrap_or(MicroSampling::End)
    }

    fn record(&mut self, _: bool, _: &Experiment) {}

    fn pause(&mut self, _: bool) {}
}

impl EnvironmentStep for StandIn {
    fn step_with(
        &mut self,
        _: Interval,
        _: InputSegment<'_>,
        _: &EnvironmentModel,
        _: &mut [f64],
    ) -> Result<StepOutcome> {
        self.nothing()
    }
}
