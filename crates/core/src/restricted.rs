//! A subsystem that shows less than it can do: black boxes, held inputs and fixed steps, for
//! tests and comparisons, and for offers of FMUs that a trial contradicts.

use crate::{
    Description, EnvironmentStep, Linearised, MicroRecorder, Persistence, Rollback, Subsystem, Wrapper,
};

/// A subsystem with some of its capabilities hidden, and perhaps another description.
pub struct Restricted {
    inner: Box<dyn Subsystem>,
    description: Description,
    keeps: Kept,
}

/// Which handles are left.
#[derive(Clone, Copy)]
struct Kept {
    rollback: bool,
    linearised: bool,
    micro_samples: bool,
    environment: bool,
    persistence: bool,
}

impl Restricted {
    /// All that it can do, under a description of its own.
    pub fn new(inner: Box<dyn Subsystem>) -> Self {
        let description = inner.description().clone();
        let keeps = Kept {
            rollback: true,
            linearised: true,
            micro_samples: true,
            environment: true,
            persistence: true,
        };
        Self { inner, description, keeps }
    }

    /// One that can do nothing but step under held inputs, and be saved.
    pub fn black_box(inner: Box<dyn Subsystem>) -> Self {
        let restricted = Self::new(inner).without_rollback().without_linearisation().without_micro_samples();
        restricted.describe(|description| description.input_order = 0).without_environment()
    }

    /// Changes the description: orders, lengths of steps, ports that are held.
    pub fn describe(mut self, change: impl FnOnce(&mut Description)) -> Self {
        change(&mut self.description);
        self
    }

    /// It cannot go back.
    pub fn without_rollback(mut self) -> Self {
        self.keeps.rollback = false;
        self
    }

    /// It gives neither Jacobians nor states.
    pub fn without_linearisation(mut self) -> Self {
        self.keeps.linearised = false;
        self
    }

    /// It shows nothing of the inside of its steps.
    pub fn without_micro_samples(mut self) -> Self {
        self.keeps.micro_samples = false;
        self
    }

    /// It does not step beside a model of the rest.
    pub fn without_environment(mut self) -> Self {
        self.keeps.environment = false;
        self
    }

    /// Its state cannot be saved.
    pub fn without_persistence(mut self) -> Self {
        self.keeps.persistence = false;
        self
    }

    /// As a subsystem.
    pub fn boxed(self) -> Box<dyn Subsystem> {
        Box::new(self)
    }
}

impl Wrapper for Restricted {
    fn inner(&self) -> &dyn Subsystem {
        &*self.inner
    }

    fn inner_mut(&mut self) -> &mut dyn Subsystem {
        &mut *self.inner
    }

    fn description(&self) -> &Description {
        &self.description
    }

    fn rollback(&mut self) -> Option<&mut dyn Rollback> {
        if self.keeps.rollback { self.inner.rollback() } else { None }
    }

    fn linearised(&mut self) -> Option<&mut dyn Linearised> {
        if self.keeps.linearised { self.inner.linearised() } else { None }
    }

    fn micro_recorder(&mut self) -> Option<&mut dyn MicroRecorder> {
        if self.keeps.micro_samples { self.inner.micro_recorder() } else { None }
    }

    fn environment(&mut self) -> Option<&mut dyn EnvironmentStep> {
        if self.keeps.environment { self.inner.environment() } else { None }
    }

    fn persistence(&self) -> Option<&dyn Persistence> {
        if self.keeps.persistence { self.inner.persistence() } else { None }
    }

    fn persistence_mut(&mut self) -> Option<&mut dyn Persistence> {
        if self.keeps.persistence { self.inner.persistence_mut() } else { None }
    }
}
