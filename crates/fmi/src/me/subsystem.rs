//! The trait that every subsystem has, what an FMU can do beyond it, and how a state is written and put back.

use costep_core::{
    Capable, Code, Description, EnvironmentModel, EnvironmentStep, Error, Experiment, InputSegment, Interval,
    Linearisation, Linearised, LocalModel, MicroRecorder, MicroSamples, MicroSampling, ModelOrigin,
    Persistence, Result, Rollback, RowMember, SolverCounts, StateReader, StateWriter, StepOutcome, Subsystem,
    Telemetry, unsupported,
};
use costep_fmu_file::settings::Moment;
use costep_integrate::{DIAGNOSTICS, Dynamics, Sampler};

use super::beside::{Beside, Step};
use super::dynamics::{MicroBuffer, Slopes, Told};
use super::signature::RollbackBy;
use super::{EVENT_SAMPLES, ModelExchangeSubsystem, Phase, memory};
use crate::call::states::FmuState;

impl Subsystem for ModelExchangeSubsystem {
    fn description(&self) -> &Description {
        &self.description
    }

    fn initialise(&mut self, experiment: &Experiment) -> Result<()> {
        self.integrator.check_step(experiment.step)?;
        if self.phase != Phase::Instantiated {
            self.phase = Phase::Terminated;
            self.instance().reset()?;
            self.phase = Phase::Instantiated;
        }
        self.instance().alive()?;
        if self.settings.iter().any(|setting| setting.moment == Moment::Configuration) {
            self.instance().configuration(true)?;
            self.set(Moment::Configuration)?;
            self.instance().configuration(false)?;
        }
        self.set(Moment::Before)?;
        self.instance().enter_initialization(experiment, self.tolerance)?;
        self.phase = Phase::Initialising;
        (self.t, self.saved.t) = (experiment.start, f64::NAN);
        self.dynamics.told.u.fill(f64::NAN);
        (self.dynamics.told.t, self.dynamics.told.last_event) = (f64::NAN, f64::NEG_INFINITY);
        (self.dynamics.may_go_back, self.dynamics.discarded) = (false, None);
        self.integrator.reset();
        self.beside = None;
        self.beside_saved.clear();
        self.set(Moment::Within)
    }

    fn initial_outputs(&mut self, u: &[f64], y: &mut [f64]) -> Result<()> {
        self.instance().alive()?;
        if self.phase != Phase::Initialising {
            let what = "initial outputs are asked for after the initialisation";
            return Err(self.instance().error(Code::Bug, what));
        }
        self.dynamics.set_inputs(u)?;
        self.dynamics.outputs.get(self.instance(), y)
    }

    fn step(&mut self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        self.start()?;
        self.dynamics.forget_samples();
        let Self { driver, integrator, dynamics, x, sampler, .. } = self;
        let sampler = sampler.as_deref_mut().filter(|_| dynamics.micro.is_some());
        if let Err(error) = driver.advance(&mut **integrator, dynamics, interval, u, x, sampler) {
            return Err(self.explained(error));
        }
        dynamics.evaluate_own_outputs(interval.end, x, driver.inputs(), y)?;
        if let Some(beside) = &mut self.beside {
            beside.set_inputs(driver.inputs());
        }
        self.t = interval.end;
        Ok(StepOutcome { reached: interval.end })
    }

    fn terminate(&mut self) {
        if self.phase == Phase::Initialising && self.instance().alive().is_ok() {
            // Only an initialised FMU can be terminated.
            let _ = self.start_slowly();
        }
        if self.phase == Phase::Stepping {
            self.instance().terminate();
        }
        self.phase = Phase::Terminated;
    }
}

impl Capable for ModelExchangeSubsystem {
    fn rollback(&mut self) -> Option<&mut dyn Rollback> {
        if self.rollback == RollbackBy::No { None } else { Some(self) }
    }

    fn linearised(&mut self) -> Option<&mut dyn Linearised> {
        if self.x.is_empty() { None } else { Some(self) }
    }

    fn micro_recorder(&mut self) -> Option<&mut dyn MicroRecorder> {
        Some(self)
    }

    fn environment(&mut self) -> Option<&mut dyn EnvironmentStep> {
        Some(self)
    }

    fn persistence(&self) -> Option<&dyn Persistence> {
        if self.serializes() || self.is_memoryless() { Some(self) } else { None }
    }

    fn persistence_mut(&mut self) -> Option<&mut dyn Persistence> {
        if self.serializes() || self.is_memoryless() { Some(self) } else { None }
    }

    fn telemetry(&self) -> Option<&dyn Telemetry> {
        Some(self)
    }

    fn row_member(&mut self) -> Option<&mut dyn RowMember> {
        None
    }
}

impl EnvironmentStep for ModelExchangeSubsystem {
    fn step_with(
        &mut self,
        interval: Interval,
        input: InputSegment<'_>,
        environment: &EnvironmentModel,
        y: &mut [f64],
    ) -> Result<StepOutcome> {
        self.start()?;
        self.dynamics.forget_samples();
        let Self { beside, driver, dynamics, x, sampler, .. } = self;
        let beside = match beside {
            Some(beside) => beside,
            None => {
                let new =
                    Beside::new(&self.solver, dynamics, &self.description, environment, &self.beside_saved)?;
                beside.insert(Box::new(new))
            }
        };
        let sampler = sampler.as_deref_mut().filter(|_| dynamics.micro.is_some());
        let step = Step { driver, sampler, interval, input };
        if let Err(error) = beside.advance(dynamics, step, environment, x, y) {
            return Err(self.explained(error));
        }
        self.t = interval.end;
        Ok(StepOutcome { reached: interval.end })
    }
}

impl Rollback for ModelExchangeSubsystem {
    fn snapshot(&mut self) -> Result<()> {
        self.start()?;
        if self.rollback == RollbackBy::FmuState {
            self.dynamics.instance.get_state(&mut self.saved.state)?;
        }
        self.saved.t = self.t;
        self.saved.x.copy_from_slice(&self.x);
        self.saved.told.copy_from(&self.dynamics.told);
        self.saved.nominal.copy_from_slice(&self.dynamics.nominal);
        self.saved.end = self.instance().end().unwrap_or(f64::NAN);
        self.dynamics.may_go_back = true;
        self.driver.snapshot();
        self.integrator.snapshot();
        if let Some(beside) = &mut self.beside {
            beside.integrator_mut().snapshot();
        }
        Ok(())
    }

    fn restore(&mut self) -> Result<()> {
        if self.saved.t.is_nan() {
            return Err(unsupported(&self.description, "to go back without a stored state"));
        }
        self.start()?;
        if self.rollback == RollbackBy::FmuState {
            self.dynamics.instance.set_state(&self.saved.state)?;
            self.dynamics.told.copy_from(&self.saved.told);
        } else if self.dynamics.told.last_event > self.saved.t {
            let t = self.dynamics.told.last_event;
            let message = format!("`{}` cannot go back over its event at t = {t} s", self.description.name);
            return Err(Error::new(Code::NeedsMissing, message)
                .because("the FMU cannot store its state")
                .hint("use a coupling method that does not repeat steps"));
        }
        self.instance().set_end(self.saved.end);
        self.t = self.saved.t;
        self.x.copy_from_slice(&self.saved.x);
        self.dynamics.nominal.copy_from_slice(&self.saved.nominal);
        self.driver.restore();
        self.integrator.restore();
        if let Some(beside) = &mut self.beside {
            beside.integrator_mut().restore();
        }
        Ok(())
    }
}

impl Linearised for ModelExchangeSubsystem {
    fn level(&self) -> Linearisation {
        Linearisation::Full
    }

    fn states(&self) -> usize {
        self.x.len()
    }

    fn origin(&self) -> ModelOrigin {
        match self.dynamics.slopes {
            Some(Slopes::Directional(_)) => ModelOrigin::Exact,
            _ => ModelOrigin::Differences,
        }
    }

    fn local_model(&mut self, u: &[f64], model: &mut LocalModel) -> Result<()> {
        // In initialisation mode derivatives are those of the initialisation.
        self.start()?;
        self.dynamics.linearise(self.t, &self.x, u, model)?;
        model.x.copy_from_slice(&self.x);
        model.nominal.copy_from_slice(&self.dynamics.nominal);
        model.euler_step = self.euler_step;
        Ok(())
    }

    fn read_state(&mut self, u: &[f64], x: &mut [f64], x_dot: &mut [f64]) -> Result<bool> {
        self.start()?;
        x.copy_from_slice(&self.x);
        self.dynamics.derivatives(self.t, &self.x, u, x_dot)?;
        Ok(true)
    }
}

impl MicroRecorder for ModelExchangeSubsystem {
    fn sampling(&self) -> MicroSampling {
        self.sampling
    }

    fn record(&mut self, on: bool, experiment: &Experiment) {
        // Too many are refused in `initialise`; here they must only not be asked for.
        let too_many = self.integrator.check_step(experiment.step).is_err();
        let points =
            if too_many { 0 } else { self.integrator.points(experiment.step).saturating_add(EVENT_SAMPLES) };
        let width = self.description.outputs.len();
        self.dynamics.micro = on.then(|| {
            let outputs = Vec::with_capacity(points * width);
            Box::new(MicroBuffer { times: Vec::with_capacity(points), outputs })
        });
        self.paused = None;
        self.sampler = on.then(|| Box::new(Sampler::new(self.x.len(), self.description.inputs.len())));
    }

    fn pause(&mut self, on: bool) {
        if on == self.paused.is_none() {
            std::mem::swap(&mut self.paused, &mut self.dynamics.micro);
        }
    }
}

impl Telemetry for ModelExchangeSubsystem {
    fn micro_samples(&self) -> Option<MicroSamples<'_>> {
        let MicroBuffer { times, outputs } = &**self.paused.as_ref().or(self.dynamics.micro.as_ref())?;
        Some(MicroSamples { times, outputs, sampling: self.sampling })
    }

    fn input_at_end(&self) -> Option<&[f64]> {
        self.beside.as_ref().map(|beside| beside.inputs())
    }

    fn diagnostic_names(&self) -> &[&'static str] {
        if self.integrator.diagnostics().is_some() { &DIAGNOSTICS } else { &[] }
    }

    fn diagnostics(&self, row: &mut [f64]) {
        let beside = self.beside.as_ref().and_then(|beside| beside.integrator().diagnostics());
        if let Some(numbers) = beside.or_else(|| self.integrator.diagnostics()) {
            row.copy_from_slice(&numbers);
        }
    }

    fn solver_counts(&self) -> Option<SolverCounts> {
        match &self.beside {
            Some(beside) => beside.integrator().counts(),
            None => self.integrator.counts(),
        }
    }

    fn energy(&self) -> Option<f64> {
        None
    }
}

impl Persistence for ModelExchangeSubsystem {
    fn save(&self, out: &mut StateWriter) -> Result<()> {
        let bytes = self.state_bytes(self.driver.counts().time == 0 && self.driver.next_event().is_none())?;
        out.integer((self.phase == Phase::Stepping).into());
        out.real(self.instance().end().unwrap_or(f64::NAN));
        out.real(self.t);
        out.real(self.dynamics.told.last_event);
        out.reals(&self.x);
        out.reals(&self.dynamics.told.u);
        self.driver.save(out);
        self.integrator.save(out);
        out.block(&self.beside_bytes());
        out.block(&bytes);
        self.dynamics.outputs.save_texts(out);
        Ok(())
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        if from.index(2)? == 1 {
            self.start()?;
        }
        let end = from.real()?;
        self.t = from.real()?;
        let last_event = from.real()?;
        from.reals(&mut self.x)?;
        let mut u = vec![0.0; self.dynamics.told.u.len()];
        from.reals(&mut u)?;
        self.driver.load(from)?;
        self.integrator.load(from)?;
        self.beside_saved = from.block()?.to_vec();
        self.beside = None;
        let bytes = from.block()?.to_vec();
        self.dynamics.outputs.load_texts(&self.dynamics.instance, from)?;
        self.put_back(&bytes, u, last_event)?;
        self.instance().set_end(end);
        Ok(())
    }
}

impl ModelExchangeSubsystem {
    /// What the integrator beside a model of the rest carries from step to step.
    fn beside_bytes(&self) -> Vec<u8> {
        let Some(beside) = &self.beside else { return self.beside_saved.clone() };
        let mut out = StateWriter::default();
        beside.integrator().save(&mut out);
        out.into_bytes()
    }

    /// The state of the FMU for a checkpoint; empty for one that needs none, unless it has `no_times` of events.
    pub(super) fn state_bytes(&self, no_times: bool) -> Result<Vec<u8>> {
        self.instance().alive()?;
        if self.serializes() {
            return self.serialized();
        }
        let needs_none = self.is_memoryless() && no_times;
        if needs_none { Ok(Vec::new()) } else { Err(unsupported(&self.description, "checkpoints")) }
    }

    /// Whether the FMU can give its state as bytes.
    fn serializes(&self) -> bool {
        let interface = &self.library().model_exchange().interface;
        interface.can_serialize_state && self.instance().can_serialize_states()
    }

    /// Whether time, states and inputs are all its memory, unless it has events at times.
    fn is_memoryless(&self) -> bool {
        memory::is_memoryless(self.library().description(), self.library().model_exchange())
    }

    /// Puts the state of the FMU from a checkpoint back.
    pub(super) fn put_back(&mut self, bytes: &[u8], u: Vec<f64>, last_event: f64) -> Result<()> {
        self.saved.t = f64::NAN;
        if bytes.is_empty() {
            // Time, states and inputs are set when they are needed.
            self.dynamics.told.t = f64::NAN;
            return Ok(());
        }
        if !self.instance().can_serialize_states() {
            return Err(unsupported(&self.description, "checkpoints"));
        }
        let mut state = FmuState::none();
        self.instance().deserialize(bytes, &mut state)?;
        let outcome = self.instance().set_state(&state);
        self.dynamics.instance.free_state(&mut state);
        outcome?;
        self.dynamics.told = Told { t: f64::NAN, u, last_event };
        if self.phase == Phase::Stepping { self.dynamics.read_nominals() } else { Ok(()) }
    }

    /// The state of the FMU as bytes.
    fn serialized(&self) -> Result<Vec<u8>> {
        let mut state = FmuState::none();
        self.instance().get_state(&mut state)?;
        let bytes = self.instance().serialize(&state);
        self.instance().free_state(&mut state);
        bytes
    }
}

impl Drop for ModelExchangeSubsystem {
    fn drop(&mut self) {
        // Then the instance is freed, and with the last one the library is unloaded and its folder removed.
        self.dynamics.instance.free_state(&mut self.saved.state);
        if self.phase == Phase::Stepping {
            self.dynamics.instance.terminate();
        }
    }
}
