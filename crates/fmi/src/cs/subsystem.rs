//! The trait that every subsystem has.

use costep_core::{
    Code, Description, Experiment, InputSegment, Interval, Linearisation, LocalModel, MicroSamples, Result,
    Row, StateReader, StateWriter, StepLengths, StepOutcome, Subsystem,
};
use costep_fmu_file::settings::Moment;

use super::events::Kept;
use super::{CoSimulationSubsystem, Phase};
use crate::call::place::Place;
use crate::call::states::FmuState;

impl Subsystem for CoSimulationSubsystem {
    fn description(&self) -> &Description {
        &self.description
    }

    fn step_lengths(&self) -> StepLengths {
        match self.inner_step {
            _ if !self.any_step => StepLengths::MacroSteps,
            Some(step) => StepLengths::MultiplesOf(step),
            None => StepLengths::Any,
        }
    }

    fn initialise(&mut self, experiment: &Experiment) -> Result<()> {
        self.leave_row();
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
        self.set(Moment::Before)?;
        self.instance.enter_initialization(experiment, self.tolerance)?;
        self.phase = Phase::Initialising;
        self.time = experiment.start;
        self.saved_time = f64::NAN;
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
        self.set_inputs(u)?;
        if let Some(events) = &mut self.events {
            events.note_inputs(u);
        }
        if self.linear.is_some() {
            self.active.copy_from_slice(u);
        }
        self.get_outputs(y)
    }

    fn step(&mut self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        self.catch_up();
        let begun = self.instance.place.as_ref().and_then(Place::take_interruption);
        let outcome = match begun {
            Some(interruption) => self.finish_step(interruption, interval, u.coefficients(0), y),
            None => self.step_alone(interval, u, y),
        };
        let is_ready = self.is_ready_for_plain_steps();
        if let Some(place) = &mut self.instance.place {
            place.report(is_ready);
        }
        outcome
    }

    fn join_row(&mut self, row: &mut Option<Box<dyn Row>>) -> bool {
        let place = std::ptr::from_ref(self).cast();
        let references = (&self.inputs.references[..], &self.outputs.references[..]);
        let is_plain = !self.mixed && self.events.is_none();
        is_plain && self.instance.join_row(row, place, references, self.linear.is_some())
    }

    fn snapshot(&mut self) -> Result<()> {
        if !self.description.capabilities.rollback {
            return Err(self.unsupported("rollback"));
        }
        self.leave_row();
        self.start()?;
        self.instance.get_state(&mut self.saved)?;
        self.store_events(Kept::Snapshot);
        self.saved_time = self.time;
        self.saved_active.copy_from_slice(&self.active);
        self.saved_given = self.given;
        self.saved_end = self.instance.end().unwrap_or(f64::NAN);
        Ok(())
    }

    fn restore(&mut self) -> Result<()> {
        if self.saved.is_none() || self.saved_time.is_nan() {
            return Err(self.unsupported("to go back without a stored state"));
        }
        self.leave_row();
        self.start()?;
        self.instance.set_state(&self.saved)?;
        self.instance.set_end(self.saved_end);
        self.restore_events(Kept::Snapshot);
        self.time = self.saved_time;
        self.active.copy_from_slice(&self.saved_active);
        self.given = self.saved_given;
        Ok(())
    }

    fn states(&self) -> usize {
        self.linear.as_ref().map_or(0, |linear| linear.states())
    }

    fn local_model(&mut self, u: &[f64], model: &mut LocalModel) -> Result<()> {
        self.catch_up();
        // In initialisation mode directional derivatives are those of the initialisation.
        self.start()?;
        let derivatives = self.instance.library.co_simulation().interface.provides_derivatives();
        match (&mut self.linear, self.description.capabilities.linearisation) {
            (_, Linearisation::None) => Err(self.unsupported("a local model")),
            (Some(linear), _) if derivatives => {
                linear.fill(&self.instance, &self.inputs, (u, &self.active), model)
            }
            // Of a subsystem without direct feed-through.
            _ => {
                model.d.fill(0.0);
                Ok(())
            }
        }
    }

    fn read_state(&mut self, u: &[f64], x: &mut [f64], x_dot: &mut [f64]) -> Result<bool> {
        self.catch_up();
        self.start()?;
        match &mut self.linear {
            Some(linear) => linear.read_state(&self.instance, (u, &self.active), (x, x_dot)),
            None => Ok(false),
        }
    }

    fn record_micro_samples(&mut self, on: bool, experiment: &Experiment) {
        self.leave_row();
        let on = on && self.description.capabilities.micro_samples.is_some();
        let inner = self.instance.library.co_simulation().fixed_internal_step_size;
        let expected = inner.map_or(0.0, |inner| experiment.step / inner + 2.0) as usize;
        self.instance.exchange().set_record(on, expected);
        self.samples = on.then(Box::default);
    }

    fn micro_samples(&self) -> Option<MicroSamples<'_>> {
        self.samples.as_ref().map(|samples| samples.view())
    }

    fn save(&self, out: &mut StateWriter) -> Result<()> {
        self.instance.alive()?;
        let interface = &self.instance.library.co_simulation().interface;
        if !interface.can_serialize_state || !self.instance.can_serialize_states() {
            return Err(self.unsupported("checkpoints"));
        }
        let mut state = FmuState::none();
        self.instance.get_state(&mut state)?;
        let bytes = self.instance.serialize(&state);
        self.instance.free_state(&mut state);
        out.integer((self.phase == Phase::Stepping).into());
        out.real(self.instance.end().unwrap_or(f64::NAN));
        let (mut time, mut active) = (self.time, self.active.clone());
        if let Some(missed) = self.instance.place.as_ref().and_then(Place::missed) {
            time = missed.time;
            missed.copy_inputs(&mut active);
        }
        out.real(time);
        out.reals(&active);
        out.integer(self.given as u64);
        out.block(&bytes?);
        if let Some(events) = &self.events {
            events.save(out);
        }
        self.outputs.save_texts(out);
        Ok(())
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        if !self.instance.can_serialize_states() {
            return Err(self.unsupported("checkpoints"));
        }
        self.leave_row();
        let stepping = from.index(2)? == 1;
        if stepping {
            self.start()?;
        }
        let end = from.real()?;
        self.time = from.real()?;
        from.reals(&mut self.active)?;
        self.given = from.index(self.description.capabilities.input_order + 1)?;
        let mut state = FmuState::none();
        self.instance.deserialize(from.block()?, &mut state)?;
        let outcome = self.instance.set_state(&state);
        self.instance.free_state(&mut state);
        self.instance.set_end(end);
        self.saved_time = f64::NAN;
        if let Some(events) = &mut self.events {
            events.load(from)?;
        }
        self.outputs.load_texts(&self.instance, from)?;
        outcome
    }

    fn terminate(&mut self) {
        self.leave_row();
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

impl Drop for CoSimulationSubsystem {
    fn drop(&mut self) {
        // Then the instance is freed, and with the last one the library is unloaded and its folder removed.
        self.instance.free_state(&mut self.saved);
        self.instance.free_state(&mut self.before);
        if self.phase == Phase::Stepping {
            self.instance.terminate();
        }
    }
}
