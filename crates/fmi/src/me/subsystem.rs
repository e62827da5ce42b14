//! The trait that every subsystem has, and how a state is written and put back.

use costep_core::{
    Code, Companion, Description, Error, Experiment, InputSegment, Interval, LocalModel, MicroSamples,
    ModelOrigin, Result, SolverCounts, StateReader, StateWriter, StepOutcome, Subsystem,
};
use costep_fmu_file::settings::Moment;
use costep_integrate::{DIAGNOSTICS, Dynamics, Sampler};

use super::beside::{Beside, Step};
use super::dynamics::{MicroBuffer, Slopes, Told};
use super::signature::Rollback;
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
        if let Err(error) =
            driver.advance(&mut **integrator, dynamics, interval, u, x, sampler.as_deref_mut())
        {
            return Err(self.explained(error));
        }
        dynamics.evaluate_own_outputs(interval.end, x, driver.inputs(), y)?;
        if let Some(beside) = &mut self.beside {
            beside.set_inputs(driver.inputs());
        }
        self.t = interval.end;
        Ok(StepOutcome { reached: interval.end })
    }

    fn step_with(
        &mut self,
        interval: Interval,
        input: InputSegment<'_>,
        rest: &Companion,
        y: &mut [f64],
    ) -> Result<StepOutcome> {
        self.start()?;
        self.dynamics.forget_samples();
        let Self { beside, driver, dynamics, x, sampler, .. } = self;
        let beside = match beside {
            Some(beside) => beside,
            None => {
                let new = Beside::new(&self.solver, dynamics, &self.description, rest, &self.beside_saved)?;
                beside.insert(Box::new(new))
            }
        };
        let step = Step { driver, sampler: sampler.as_deref_mut(), interval, input };
        if let Err(error) = beside.advance(dynamics, step, rest, x, y) {
            return Err(self.explained(error));
        }
        self.t = interval.end;
        Ok(StepOutcome { reached: interval.end })
    }

    fn input_at_end(&self) -> Option<&[f64]> {
        self.beside.as_ref().map(|beside| beside.inputs())
    }

    fn snapshot(&mut self) -> Result<()> {
        if self.rollback == Rollback::No {
            return Err(self.unsupported("rollback"));
        }
        self.start()?;
        if self.rollback == Rollback::FmuState {
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
            return Err(self.unsupported("to go back without a stored state"));
        }
        self.start()?;
        if self.rollback == Rollback::FmuState {
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

    fn states(&self) -> usize {
        self.x.len()
    }

    fn local_model_origin(&self) -> ModelOrigin {
        match self.dynamics.slopes {
            Some(Slopes::Directional(_)) => ModelOrigin::Exact,
            _ => ModelOrigin::Differences,
        }
    }

    fn local_model(&mut self, u: &[f64], model: &mut LocalModel) -> Result<()> {
        // In initialisation mode derivatives are those of the initialisation.
        self.start()?;
        if self.x.is_empty() {
            return Err(self.unsupported("a local model"));
        }
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

    fn record_micro_samples(&mut self, on: bool, experiment: &Experiment) {
        // Too many are refused in `initialise`; here they must only not be asked for.
        let too_many = self.integrator.check_step(experiment.step).is_err();
        let points =
            if too_many { 0 } else { self.integrator.points(experiment.step).saturating_add(EVENT_SAMPLES) };
        let width = self.description.outputs.len();
        self.dynamics.micro = on.then(|| {
            let outputs = Vec::with_capacity(points * width);
            Box::new(MicroBuffer { times: Vec::with_capacity(points), outputs })
        });
        self.sampler = on.then(|| Box::new(Sampler::new(self.x.len(), self.description.inputs.len())));
    }

    fn micro_samples(&self) -> Option<MicroSamples<'_>> {
        let buffer = self.dynamics.micro.as_ref()?;
        Some(MicroSamples { times: &buffer.times, outputs: &buffer.outputs })
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
        let interface = &self.library().model_exchange().interface;
        if interface.can_serialize_state && self.instance().can_serialize_states() {
            return self.serialized();
        }
        let is_memoryless =
            memory::is_memoryless(self.library().description(), self.library().model_exchange());
        if is_memoryless && no_times { Ok(Vec::new()) } else { Err(self.unsupported("checkpoints")) }
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
            return Err(self.unsupported("checkpoints"));
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
