//! The trait that every subsystem has, and what an FMU can do beyond it.

use costep_core::{
    Batch, Capable, Code, Description, EnvironmentStep, Experiment, InputSegment, Interval, Linearisation,
    Linearised, LocalModel, MicroRecorder, MicroSamples, MicroSampling, ModelOrigin, Persistence, Port,
    Result, Rollback, SolverCounts, StateReader, StateWriter, StepOutcome, Subsystem, Telemetry, unsupported,
};
use costep_fmu_file::settings::Moment;

use super::events::Kept;
use super::{CoSimulationSubsystem, Phase};
use crate::call::instance::Instance;
use crate::call::intermediate::Samples;
use crate::call::lockstep::Lockstep;
use crate::call::states::FmuState;

impl Subsystem for CoSimulationSubsystem {
    fn description(&self) -> &Description {
        &self.description
    }

    fn initialise(&mut self, experiment: &Experiment) -> Result<()> {
        if self.phase != Phase::Instantiated || self.instance.alive().is_err() {
            self.instance.reset()?;
            self.phase = Phase::Instantiated;
        }
        self.instance.alive()?;
        if self.settings.iter().any(|setting| setting.moment == Moment::Configuration) {
            self.instance.configuration(true)?;
            self.set(Moment::Configuration)?;
            self.instance.configuration(false)?;
        }
        self.instance.setup_experiment(experiment, self.tolerance)?;
        self.set(Moment::Before)?;
        self.instance.enter_initialization(experiment, self.tolerance)?;
        self.phase = Phase::Initialising;
        self.time.set(experiment.start);
        self.saved.time = f64::NAN;
        self.given = 0;
        self.set(Moment::Within)
    }

    fn initial_outputs(&mut self, u: &[f64], y: &mut [f64]) -> Result<()> {
        self.instance.alive()?;
        if self.phase != Phase::Initialising {
            return Err(self
                .instance
                .error(Code::Bug, "initial outputs are asked for after the initialisation"));
        }
        if !self.instance.takes_initial_inputs()
            && *self.active.get_mut() != u
            && self.instance.begin_again()?
            && let Err(error) = self.set_up_again(u)
        {
            // Some FMUs take no values after a reset.
            if !self.instance.replace_after_reset()? {
                return Err(error);
            }
            self.set_up_again(u)?;
        }
        if self.instance.takes_initial_inputs() {
            self.set_inputs(u)?;
            if !self.active.get_mut().is_empty() {
                self.active.get_mut().copy_from_slice(u);
            }
        }
        if let Some(events) = &mut self.events {
            events.note_inputs(u);
        }
        self.instance.begin(false)?;
        self.get_outputs(y)
    }

    fn begin(&mut self, y: &mut [f64]) -> Result<()> {
        let before = y.to_vec();
        self.start()?;
        self.get_outputs(y)?;
        // With an event mode that is what it is for.
        if let (None, Some(at)) = (&self.events, (0..y.len()).find(|at| before[*at] != y[*at])) {
            let Port { name, .. } = &self.description.outputs[at];
            let text = format!("`{name}` is {} once it has been initialised, {} before", y[at], before[at]);
            self.instance.warn(Code::LateOutputs, text);
        }
        Ok(())
    }

    fn step(&mut self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        self.do_one_step(interval, u, y)
    }

    fn terminate(&mut self) {
        if self.phase == Phase::Initialising && self.instance.alive().is_ok() {
            // Only an initialised FMU can be terminated.
            let _ = self.start_slowly();
        }
        if self.phase == Phase::Stepping {
            self.instance.terminate();
        }
        self.phase = Phase::Terminated;
    }
}

impl Capable for CoSimulationSubsystem {
    fn rollback(&mut self) -> Option<&mut dyn Rollback> {
        if self.capabilities.rollback { Some(self) } else { None }
    }

    fn linearised(&mut self) -> Option<&mut dyn Linearised> {
        let has_level = self.capabilities.linearisation != Linearisation::None;
        if has_level || self.linear.is_some() { Some(self) } else { None }
    }

    fn micro_recorder(&mut self) -> Option<&mut dyn MicroRecorder> {
        if self.capabilities.micro_samples.is_some() { Some(self) } else { None }
    }

    /// The solver is that of the FMU, which nothing can be put beside.
    fn environment(&mut self) -> Option<&mut dyn EnvironmentStep> {
        None
    }

    fn persistence(&self) -> Option<&dyn Persistence> {
        if self.can_be_saved() { Some(self) } else { None }
    }

    fn persistence_mut(&mut self) -> Option<&mut dyn Persistence> {
        if self.can_be_saved() { Some(self) } else { None }
    }

    /// Nothing but micro samples can be read.
    fn telemetry(&self) -> Option<&dyn Telemetry> {
        if self.capabilities.micro_samples.is_some() { Some(self) } else { None }
    }

    fn join_batch(self: Box<Self>, batch: &mut Option<Box<dyn Batch>>) -> Result<(), Box<dyn Subsystem>> {
        if self.mixed || self.events.is_some() { Err(self) } else { Lockstep::join(self, batch) }
    }
}

impl CoSimulationSubsystem {
    /// Value references of its inputs and outputs.
    pub(crate) fn references(&self) -> (&[u32], &[u32]) {
        (&self.inputs.references, &self.outputs.references)
    }

    pub(crate) fn instance(&self) -> &Instance {
        &self.instance
    }

    fn can_be_saved(&self) -> bool {
        let interface = &self.instance.library.co_simulation().interface;
        interface.can_serialize_state && self.instance.can_serialize_states()
    }
}

impl Rollback for CoSimulationSubsystem {
    fn snapshot(&mut self) -> Result<()> {
        self.start()?;
        self.instance.get_state(&mut self.saved.state)?;
        self.store_events(Kept::Snapshot);
        self.saved.time = self.time.get();
        self.saved.active.copy_from_slice(self.active.get_mut());
        self.saved.given = self.given;
        self.saved.end = self.instance.end().unwrap_or(f64::NAN);
        Ok(())
    }

    fn restore(&mut self) -> Result<()> {
        if self.saved.state.is_none() || self.saved.time.is_nan() {
            return Err(unsupported(&self.description, "to go back without a stored state"));
        }
        self.start()?;
        self.instance.set_state(&self.saved.state)?;
        self.instance.set_end(self.saved.end);
        self.restore_events(Kept::Snapshot);
        self.time.set(self.saved.time);
        self.active.get_mut().copy_from_slice(&self.saved.active);
        self.given = self.saved.given;
        Ok(())
    }

    fn release(&mut self) {
        self.saved.time = f64::NAN;
    }
}

impl Linearised for CoSimulationSubsystem {
    fn level(&self) -> Linearisation {
        self.capabilities.linearisation
    }

    fn states(&self) -> usize {
        self.capabilities.states
    }

    fn origin(&self) -> ModelOrigin {
        ModelOrigin::Exact
    }

    fn local_model(&mut self, u: &[f64], model: &mut LocalModel) -> Result<()> {
        // In initialisation mode directional derivatives are those of the initialisation.
        self.start()?;
        let derivatives = self.instance.library.co_simulation().interface.provides_derivatives();
        match (&mut self.linear, self.capabilities.linearisation) {
            (_, Linearisation::None) => Err(unsupported(&self.description, "a local model")),
            (Some(linear), _) if derivatives => {
                linear.fill(&self.instance, &self.inputs, (u, self.active.get_mut()), model)
            }
            // Of a subsystem without direct feedthrough.
            _ => {
                model.d.fill(0.0);
                Ok(())
            }
        }
    }

    fn read_state(&mut self, u: &[f64], x: &mut [f64], x_dot: &mut [f64]) -> Result<bool> {
        self.start()?;
        match &mut self.linear {
            Some(linear) => linear.read_state(&self.instance, (u, self.active.get_mut()), (x, x_dot)),
            None => Ok(false),
        }
    }
}

impl MicroRecorder for CoSimulationSubsystem {
    fn sampling(&self) -> MicroSampling {
        Samples::SAMPLING
    }

    fn record(&mut self, on: bool, experiment: &Experiment) {
        let inner = self.instance.library.co_simulation().fixed_internal_step_size;
        let expected = inner.map_or(0.0, |inner| experiment.step / inner + 2.0) as usize;
        self.instance.exchange().set_record(on, expected);
        self.samples = on.then(Box::default);
    }

    fn pause(&mut self, on: bool) {
        if let Some(samples) = &mut self.samples {
            samples.paused = on;
            self.instance.exchange().set_record(!on, 0);
        }
    }
}

impl Telemetry for CoSimulationSubsystem {
    fn micro_samples(&self) -> Option<MicroSamples<'_>> {
        self.samples.as_ref().map(|samples| samples.view())
    }

    fn input_at_end(&self) -> Option<&[f64]> {
        None
    }

    fn diagnostic_names(&self) -> &[&'static str] {
        &[]
    }

    fn diagnostics(&self, _row: &mut [f64]) {}

    fn solver_counts(&self) -> Option<SolverCounts> {
        None
    }

    fn energy(&self) -> Option<f64> {
        None
    }
}

impl Persistence for CoSimulationSubsystem {
    fn save(&self, out: &mut StateWriter) -> Result<()> {
        self.instance.alive()?;
        let mut state = FmuState::none();
        self.instance.get_state(&mut state)?;
        let bytes = self.instance.serialize(&state);
        self.instance.free_state(&mut state);
        out.integer((self.phase == Phase::Stepping).into());
        out.real(self.instance.end().unwrap_or(f64::NAN));
        out.real(self.time.get());
        out.reals(&self.active.borrow());
        out.integer(self.given as u64);
        out.block(&bytes?);
        if let Some(events) = &self.events {
            events.save(out);
        }
        self.outputs.save_texts(out);
        Ok(())
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        let stepping = from.index(2)? == 1;
        if stepping {
            self.start()?;
        }
        let end = from.real()?;
        self.time.set(from.real()?);
        from.reals(self.active.get_mut())?;
        self.given = from.index(self.description.input_order + 1)?;
        let mut state = FmuState::none();
        self.instance.deserialize(from.block()?, &mut state)?;
        let outcome = self.instance.set_state(&state);
        self.instance.free_state(&mut state);
        self.instance.set_end(end);
        self.saved.time = f64::NAN;
        if let Some(events) = &mut self.events {
            events.load(from)?;
        }
        self.outputs.load_texts(&self.instance, from)?;
        outcome
    }
}

impl Drop for CoSimulationSubsystem {
    fn drop(&mut self) {
        // Then the instance is freed, and with the last one the library is unloaded and its folder removed.
        self.instance.free_state(&mut self.saved.state);
        self.instance.free_state(&mut self.before.0);
        if self.phase == Phase::Stepping {
            self.instance.terminate();
        }
    }
}
