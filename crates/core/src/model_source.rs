//! Where local models of subsystems come from: exact Jacobians, differences, identification.

use crate::{
    Capabilities, Description, Experiment, InterfaceModel, Interval, LocalModel, Result, StateReader,
    StateWriter, Subsystem,
};

/// What a source sees of a subsystem at a communication point.
#[derive(Clone, Copy, Debug)]
pub struct Observation<'a> {
    /// Number of accepted steps.
    pub k: u64,
    /// The step that has just been done; of length 0 at the start.
    pub interval: Interval,
    /// The inputs that are active at its end.
    pub u: &'a [f64],
    /// The outputs at its end.
    pub y: &'a [f64],
}

/// How far an identified model is to be believed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelQuality {
    /// eps_SI [T (2.92)]: how well the model explains the last step, after it has learnt from it.
    pub eps_si: f64,
    /// rho: errors of its predictions one step ahead over the changes of the outputs; 1 is no better than a hold. None while
    /// there is nothing to judge by.
    pub rho: Option<f64>,
    /// Persistence of excitation, 0 to 1: 0 where the data say nothing about some parameter.
    pub excitation: f64,
}

/// Gives a local model of each subsystem.
pub trait ModelSource: Send {
    /// Its name in reports.
    fn name(&self) -> &'static str;

    /// Takes all memory it will ever need for these subsystems.
    fn prepare(
        &mut self,
        descriptions: &[Description],
        capabilities: &[Capabilities],
        experiment: &Experiment,
    ) -> Result<()>;

    /// Looks at subsystem `i` at a communication point.
    fn observe(&mut self, i: usize, subsystem: &mut dyn Subsystem, seen: &Observation<'_>) -> Result<()>;

    /// The model of subsystem `i`; none while there is none to be trusted.
    fn model(&self, i: usize) -> Option<&LocalModel>;

    /// The discrete model of subsystem `i` from one communication point to the next, of sources that identify one; none
    /// while there is none.
    fn interface(&self, _i: usize) -> Option<&InterfaceModel> {
        None
    }

    /// How good the discrete model of subsystem `i` is.
    fn quality(&self, _i: usize) -> ModelQuality {
        ModelQuality { eps_si: f64::INFINITY, rho: None, excitation: 0.0 }
    }

    /// Changes when A, B, C or D of subsystem `i` change: caches key on it.
    fn version(&self, i: usize) -> u64;

    /// Changes when the version of any subsystem does, so that not all of them have to be asked; none if unknown.
    fn generation(&self) -> Option<u64> {
        None
    }

    /// x and x' of subsystem `i` at the communication point; none while there is no model.
    fn state(&self, i: usize) -> Option<(&[f64], &[f64])> {
        self.model(i).map(|model| (&model.x[..], &model.x_dot[..]))
    }

    /// Nobody will ask for [`ModelSource::state`]. Called before `prepare`.
    fn leave_out_states(&mut self) {}

    /// Nobody will ask for more than D of the models. Called before `prepare`.
    fn settle_for_feedthrough(&mut self) {}

    /// Writes its memory to a checkpoint.
    fn save(&self, _out: &mut StateWriter) {}

    /// Reads its memory from a checkpoint.
    fn load(&mut self, _from: &mut StateReader<'_>) -> Result<()> {
        Ok(())
    }
}

/// The source of methods that use no models.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoModels;

impl ModelSource for NoModels {
    fn name(&self) -> &'static str {
        "none"
    }

    fn prepare(&mut self, _: &[Description], _: &[Capabilities], _: &Experiment) -> Result<()> {
        Ok(())
    }

    fn observe(&mut self, _i: usize, _subsystem: &mut dyn Subsystem, _seen: &Observation<'_>) -> Result<()> {
        Ok(())
    }

    fn model(&self, _i: usize) -> Option<&LocalModel> {
        None
    }

    fn version(&self, _i: usize) -> u64 {
        0
    }
}
