//! Stored states of instances, and their bytes.

use costep_core::{Code, Error, Result, StateReader, StateWriter};

use crate::instance::{Instance, LifecyclePhase};
use crate::plan::{Capability, Role};

/// Everything an instance has to remember.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stored {
    phase: u64,
    order: usize,
    /// What the integrator carries from step to step.
    integrator: Vec<u8>,
    /// Number of values that were valid.
    valid: usize,
    values: Vec<f64>,
    coefficients: Vec<f64>,
}

const PHASES: [LifecyclePhase; 4] = [
    LifecyclePhase::Instantiated,
    LifecyclePhase::Initialising,
    LifecyclePhase::Running,
    LifecyclePhase::Terminated,
];

impl Instance {
    /// Stores the present state; memory of a former one is used again.
    pub fn store(&self, stored: &mut Stored) -> Result<()> {
        self.need(Capability::State)?;
        stored.phase = PHASES.iter().position(|phase| *phase == self.phase).unwrap_or(0) as u64;
        (stored.order, stored.valid) = (self.order, self.valid);
        let mut out = StateWriter::default();
        self.stepper.integrator().save(&mut out);
        stored.integrator = out.into_bytes();
        stored.values.clone_from(&self.values);
        stored.coefficients.clear();
        // Held inputs stand among the values.
        if self.order > 0 {
            stored.coefficients.extend_from_slice(self.inputs.raw());
        }
        Ok(())
    }

    /// Puts a stored state back.
    pub fn put_back(&mut self, stored: &Stored) -> Result<()> {
        self.need(Capability::State)?;
        let parameters = self.plan.range(Role::Parameter);
        let changed = self.values[parameters.clone()] != stored.values[parameters]
            || self.valid <= self.plan.range(Role::State).start;
        self.values.copy_from_slice(&stored.values);
        if changed {
            self.rebuild_equations()?;
        }
        let mut from = StateReader::new(&stored.integrator);
        self.stepper.integrator_mut().load(&mut from)?;
        from.finish()?;
        self.valid = stored.valid;
        self.order = stored.order;
        if self.order > 0 {
            if self.inputs.raw().len() != stored.coefficients.len() {
                let count = self.plan.range(Role::Input).len();
                let order = stored.coefficients.len() / count.max(1);
                self.inputs = costep_core::InputPolynomials::new(count, order.max(1) - 1);
            }
            self.inputs.raw_mut().copy_from_slice(&stored.coefficients);
        } else {
            self.inputs.raw_mut().fill(0.0);
        }
        self.enter(PHASES[stored.phase as usize]);
        Ok(())
    }

    /// A stored state as bytes.
    pub fn serialize(&self, stored: &Stored) -> Vec<u8> {
        let mut out = StateWriter::default();
        out.block(self.plan.token.as_bytes());
        out.integer(stored.phase);
        out.integer(stored.order as u64);
        out.integer(stored.valid as u64);
        out.block(&stored.integrator);
        out.reals(&stored.values);
        out.reals(&stored.coefficients);
        out.into_bytes()
    }

    /// A stored state from its bytes, which may come from anywhere.
    pub fn deserialize(&self, bytes: &[u8]) -> Result<Stored> {
        self.need(Capability::State)?;
        let mut from = StateReader::new(bytes);
        if from.block()? != self.plan.token.as_bytes() {
            return Err(Error::new(Code::CheckpointDamaged, "the bytes are not a state of this FMU"));
        }
        let mut stored = Stored {
            phase: from.index(PHASES.len())? as u64,
            order: from.index(crate::instance::MAX_ORDER + 1)?,
            valid: from.index(self.plan.width() + 1)?,
            integrator: from.block()?.to_vec(),
            ..Stored::default()
        };
        stored.values = vec![0.0; self.plan.width()];
        from.reals(&mut stored.values)?;
        let inputs = self.plan.range(Role::Input).len();
        let count = if stored.order > 0 { inputs * (crate::instance::MAX_ORDER + 1) } else { 0 };
        stored.coefficients = vec![0.0; count];
        from.reals(&mut stored.coefficients)?;
        from.finish()?;
        Ok(stored)
    }
}
