//! How the equations of an FMU begin and end, and how what the FMU remembers is stored and put back.

use std::sync::Arc;

use costep_core::{Code, Error, Experiment, Result, StateReader, StateWriter, unsupported};
use costep_fmu_file::FmiVersion;
use costep_fmu_file::settings::Moment;
use costep_integrate::{AfterEvent, Lifecycle};

use super::equations::{FmuEquations, SentValues, Slopes};
use super::signature::{RollbackBy, Signature, differences};
use super::{ModelExchangeOptions, memoryless};
use crate::call::instance::Instance;
use crate::call::library::{DEFAULT_TIMEOUT, FmuLibrary};
use crate::call::states::FmuState;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Made, reset or ended.
    Instantiated,
    /// In initialisation mode.
    Initialising,
    /// In continuous-time mode: steps can be done.
    Stepping,
    /// Ended; only a reset helps.
    Terminated,
}

/// What belongs to the last snapshot.
pub(super) struct Saved {
    /// Not a number: there is none.
    t: f64,
    sent: SentValues,
    nominal: Vec<f64>,
    /// Time at which the FMU had asked for the end by then; not a number = it had not.
    end: f64,
    state: FmuState,
    /// The FMU may be put back to it.
    pub(super) may_be_used: bool,
}

impl FmuEquations {
    /// An instance of an FMU under a name. The library has been loaded for Model Exchange.
    pub fn new(library: &Arc<FmuLibrary>, name: &str, options: &ModelExchangeOptions) -> Result<Self> {
        let fmu = library.description();
        let kind = library.model_exchange();
        let mut signature = Signature::of(fmu, kind, name, options)?;
        let logging = options.logging.unwrap_or(fmu.fmi_version == FmiVersion::V3);
        let limit = Some(options.step_timeout.unwrap_or(DEFAULT_TIMEOUT)).filter(|limit| !limit.is_zero());
        let instance = Instance::new(library, name, logging, None, limit)?;
        // The description promises; the library has to have the functions too.
        if signature.rollback == RollbackBy::FmuState && !instance.can_store_states() {
            signature.rollback = RollbackBy::No;
        }
        let has_slopes = match kind.interface.provides_directional_derivatives {
            true => instance.has_directional(),
            false => instance.has_adjoint(),
        };
        if matches!(signature.slopes, Slopes::Directional(_)) && !has_slopes {
            signature.slopes =
                differences(signature.states, &signature.outputs, &signature.description.inputs);
        }
        let nominal = vec![1.0; signature.states];
        let sent = SentValues {
            t: f64::NAN,
            u: vec![f64::NAN; signature.inputs.total()],
            last_event: f64::NEG_INFINITY,
        };
        Ok(Self {
            description: signature.description,
            phase: Phase::Instantiated,
            instance,
            settings: signature.settings,
            inputs: signature.inputs,
            outputs: signature.outputs,
            state_names: signature.state_names,
            indicators: signature.indicators,
            continuous_inputs: signature.continuous_inputs,
            wants_completed_steps: kind.needs_completed_integrator_step,
            has_times: false,
            slopes: Some(signature.slopes),
            discarded: None,
            bad_nominal: None,
            rollback: signature.rollback,
            saved: Saved {
                t: f64::NAN,
                sent: sent.clone(),
                nominal: nominal.clone(),
                end: f64::NAN,
                state: FmuState::none(),
                may_be_used: false,
            },
            sent,
            nominal,
        })
    }

    fn set(&self, moment: Moment) -> Result<()> {
        for setting in self.settings.iter().filter(|setting| setting.moment == moment) {
            self.instance.set_setting(setting)?;
        }
        Ok(())
    }

    /// Ends the initialisation and reads states and nominal values.
    pub(super) fn leave_initialisation(&mut self, t: f64, x: &mut [f64]) -> Result<AfterEvent> {
        self.instance.alive()?;
        if self.phase != Phase::Initialising {
            return Err(self.instance.error(Code::Bug, "it is used before its initialisation"));
        }
        self.instance.exit_initialization()?;
        // Now it is in event mode.
        let mut after = self.iterate(t, x)?;
        if !x.is_empty() {
            self.instance.get_states(x)?;
        }
        self.read_nominals()?;
        (self.sent.t, self.sent.last_event) = (t, t);
        if self.sent.u.iter().any(|u| u.is_nan()) {
            // Nobody has asked for initial outputs: the inputs are what the FMU has.
            self.inputs.get(&self.instance, &mut self.sent.u)?;
            self.inputs.forget_mapped(&mut self.sent.u);
        }
        after.states_changed = true;
        (self.phase, self.has_times) = (Phase::Stepping, after.next.is_some());
        Ok(after)
    }

    /// The state of the FMU for a checkpoint; empty for one that needs none, unless it has events at times.
    pub(super) fn state_bytes(&self, has_times: bool) -> Result<Vec<u8>> {
        self.instance.alive()?;
        if self.serializes() {
            return self.serialized();
        }
        let needs_none = self.is_memoryless() && !has_times;
        if needs_none { Ok(Vec::new()) } else { Err(unsupported(&self.description, "checkpoints")) }
    }

    /// Whether a checkpoint can hold it.
    pub(super) fn can_be_saved(&self) -> bool {
        self.serializes() || self.is_memoryless()
    }

    /// Whether the FMU can give its state as bytes.
    fn serializes(&self) -> bool {
        let interface = &self.instance.library.model_exchange().interface;
        interface.can_serialize_state && self.instance.can_serialize_states()
    }

    /// Whether time, states and inputs are all its memory, unless it has events at times.
    fn is_memoryless(&self) -> bool {
        let library = &self.instance.library;
        memoryless::is_memoryless(library.description(), library.model_exchange())
    }

    /// Puts the state of the FMU from a checkpoint back.
    pub(super) fn put_back(&mut self, bytes: &[u8], u: Vec<f64>, last_event: f64) -> Result<()> {
        self.saved.t = f64::NAN;
        if bytes.is_empty() {
            // Time, states and inputs are set when they are needed.
            self.sent.t = f64::NAN;
            return Ok(());
        }
        if !self.instance.can_serialize_states() {
            return Err(unsupported(&self.description, "checkpoints"));
        }
        let mut state = FmuState::none();
        self.instance.deserialize(bytes, &mut state)?;
        let outcome = self.instance.set_state(&state);
        self.instance.free_state(&mut state);
        outcome?;
        self.sent = SentValues { t: f64::NAN, u, last_event };
        if self.phase == Phase::Stepping { self.read_nominals() } else { Ok(()) }
    }

    /// The state of the FMU as bytes.
    fn serialized(&self) -> Result<Vec<u8>> {
        let mut state = FmuState::none();
        self.instance.get_state(&mut state)?;
        let bytes = self.instance.serialize(&state);
        self.instance.free_state(&mut state);
        bytes
    }
}

impl Lifecycle for FmuEquations {
    fn initialise(&mut self, experiment: &Experiment, tolerance: Option<f64>) -> Result<()> {
        if self.phase != Phase::Instantiated {
            self.phase = Phase::Terminated;
            self.instance.reset()?;
            self.phase = Phase::Instantiated;
        }
        self.instance.alive()?;
        if self.settings.iter().any(|setting| setting.moment == Moment::Configuration) {
            self.instance.configuration(true)?;
            self.set(Moment::Configuration)?;
            self.instance.configuration(false)?;
        }
        self.instance.setup_experiment(experiment, tolerance)?;
        self.set(Moment::Before)?;
        self.instance.enter_initialization(experiment, tolerance)?;
        self.phase = Phase::Initialising;
        self.sent.u.fill(f64::NAN);
        (self.sent.t, self.sent.last_event) = (f64::NAN, f64::NEG_INFINITY);
        (self.saved.t, self.saved.may_be_used, self.discarded) = (f64::NAN, false, None);
        self.set(Moment::Within)
    }

    fn initial_outputs(&mut self, u: &[f64], y: &mut [f64]) -> Result<()> {
        self.instance.alive()?;
        if self.phase != Phase::Initialising {
            let what = "initial outputs are asked for after the initialisation";
            return Err(self.instance.error(Code::Bug, what));
        }
        let changed = u != self.sent.u;
        self.set_inputs(u)?;
        self.instance.begin(changed)?;
        self.outputs.get(&self.instance, y)
    }

    fn check(&self) -> Result<()> {
        self.instance.alive()
    }

    fn terminate(&mut self) {
        if self.phase == Phase::Initialising && self.instance.alive().is_ok() {
            // Only an initialised FMU can be terminated.
            let (t, mut x) = (self.sent.t, vec![0.0; self.nominal.len()]);
            let _ = self.leave_initialisation(t, &mut x);
        }
        if self.phase == Phase::Stepping {
            self.instance.terminate();
        }
        self.phase = Phase::Terminated;
    }

    fn snapshot(&mut self, t: f64) -> Result<()> {
        if self.rollback == RollbackBy::FmuState {
            self.instance.get_state(&mut self.saved.state)?;
        }
        self.saved.t = t;
        self.saved.sent.copy_from(&self.sent);
        self.saved.nominal.copy_from_slice(&self.nominal);
        self.saved.end = self.instance.end().unwrap_or(f64::NAN);
        self.saved.may_be_used = true;
        Ok(())
    }

    fn restore(&mut self) -> Result<()> {
        if self.saved.t.is_nan() {
            return Err(unsupported(&self.description, "to go back without a stored state"));
        }
        self.instance.alive()?;
        if self.rollback == RollbackBy::FmuState {
            self.instance.set_state(&self.saved.state)?;
            self.sent.copy_from(&self.saved.sent);
        } else if self.sent.last_event > self.saved.t {
            let t = self.sent.last_event;
            let message = format!("`{}` cannot go back over its event at t = {t} s", self.description.name);
            return Err(Error::new(Code::NeedsMissing, message)
                .because("the FMU cannot store its state")
                .hint("use a coupling method that does not repeat steps"));
        }
        self.instance.set_end(self.saved.end);
        self.nominal.copy_from_slice(&self.saved.nominal);
        Ok(())
    }

    fn release(&mut self) {
        (self.saved.t, self.saved.may_be_used) = (f64::NAN, false);
    }

    fn save(&self, out: &mut StateWriter) -> Result<()> {
        let bytes = self.state_bytes(self.has_times)?;
        out.real(self.sent.last_event);
        out.reals(&self.sent.u);
        out.block(&bytes);
        Ok(())
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        let last_event = from.real()?;
        let mut u = vec![0.0; self.sent.u.len()];
        from.reals(&mut u)?;
        let bytes = from.block()?;
        self.put_back(bytes, u, last_event)
    }
}

impl Drop for FmuEquations {
    fn drop(&mut self) {
        // Then the instance is freed, and with the last one the library is unloaded and its folder removed.
        self.instance.free_state(&mut self.saved.state);
        if self.phase == Phase::Stepping {
            self.instance.terminate();
        }
    }
}
