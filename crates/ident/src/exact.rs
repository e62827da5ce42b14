//! Exact local models: A, B, C, D from the subsystem itself (native Jacobians, directional derivatives).

use costep_core::{
    Code, Error, Experiment, LocalModel, ModelSource, Observation, Result, StateReader, StateWriter,
    Subsystem,
};

use crate::renewal::{Refresh, Renewed};

/// Exact models. Between renewals only the states are read.
pub struct Exact {
    refresh: Refresh,
    models: Vec<Renewed>,
    fresh: Vec<LocalModel>,
}

impl Exact {
    /// Models that are renewed like this: `Exact::new(1)` at every communication point.
    pub fn new(refresh: impl Into<Refresh>) -> Self {
        Self { refresh: refresh.into(), models: Vec::new(), fresh: Vec::new() }
    }
}

impl ModelSource for Exact {
    fn name(&self) -> &'static str {
        "exact"
    }

    fn prepare(&mut self, subsystems: &[Box<dyn Subsystem>], _experiment: &Experiment) -> Result<()> {
        if let Some(subsystem) = subsystems.iter().find(|s| !s.description().capabilities.local_model) {
            let name = &subsystem.description().name;
            return Err(Error::new(Code::NeedsMissing, format!("`{name}` gives no Jacobians")).hint(
                "choose `source=finite-difference`, or a method that needs no local model: `costep methods`",
            ));
        }
        self.fresh = subsystems.iter().map(|subsystem| room_for(&**subsystem)).collect();
        self.models = self.fresh.iter().cloned().map(|model| Renewed::new(model, self.refresh)).collect();
        Ok(())
    }

    fn observe(&mut self, i: usize, subsystem: &mut dyn Subsystem, seen: &Observation<'_>) -> Result<()> {
        let (known, fresh) = (&mut self.models[i], &mut self.fresh[i]);
        let all = self.refresh == Refresh::Every(1);
        let read = !all && {
            let LocalModel { x, x_dot, .. } = &mut known.model;
            subsystem.read_state(seen.u, x, x_dot)?
        };
        if !read || known.is_due(self.refresh, seen.k, seen.u, seen.y) {
            subsystem.local_model(seen.u, fresh)?;
            if !read {
                known.model.x.copy_from_slice(&fresh.x);
                known.model.x_dot.copy_from_slice(&fresh.x_dot);
            }
            if known.is_due(self.refresh, seen.k, seen.u, seen.y) {
                known.take(fresh, &subsystem.description().name, seen.u, seen.y)?;
            }
        }
        Ok(())
    }

    fn model(&self, i: usize) -> Option<&LocalModel> {
        self.models.get(i).map(|known| &known.model)
    }

    fn version(&self, i: usize) -> u64 {
        self.models[i].version
    }

    fn save(&self, out: &mut StateWriter) {
        self.models.iter().for_each(|known| known.save(out));
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.models.iter_mut().try_for_each(|known| known.load(from))
    }
}

/// A model of the size of a subsystem.
pub(crate) fn room_for(subsystem: &dyn Subsystem) -> LocalModel {
    let description = subsystem.description();
    LocalModel::new(subsystem.states(), description.inputs.len(), description.outputs.len())
}
