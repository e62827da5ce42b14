//! Exact local models: A, B, C, D from the subsystem itself (native Jacobians, directional derivatives).

use costep_core::{
    Code, Error, LocalModel, ModelSource, Observation, Result, StateReader, StateWriter, Subsystem,
};

/// Exact models, refreshed every so many macro steps.
pub struct Exact {
    /// 1 = every step, 0 = only at the start.
    refresh: u64,
    models: Vec<LocalModel>,
    fresh: Vec<LocalModel>,
    versions: Vec<u64>,
}

impl Exact {
    /// Models refreshed every `refresh` macro steps; 0 keeps those of the start.
    pub fn new(refresh: u64) -> Self {
        Self { refresh, models: Vec::new(), fresh: Vec::new(), versions: Vec::new() }
    }
}

impl ModelSource for Exact {
    fn prepare(&mut self, subsystems: &[Box<dyn Subsystem>]) -> Result<()> {
        if let Some(subsystem) = subsystems.iter().find(|s| !s.description().capabilities.local_model) {
            let name = &subsystem.description().name;
            return Err(Error::new(Code::NeedsMissing, format!("`{name}` gives no Jacobians"))
                .hint("choose a method that needs no local model: `costep methods`"));
        }
        let model = |s: &dyn Subsystem| {
            let description = s.description();
            LocalModel::new(s.states(), description.inputs.len(), description.outputs.len())
        };
        self.models = subsystems.iter().map(|s| model(&**s)).collect();
        self.fresh = self.models.clone();
        self.versions = vec![0; subsystems.len()];
        Ok(())
    }

    fn observe(&mut self, i: usize, subsystem: &mut dyn Subsystem, seen: &Observation<'_>) -> Result<()> {
        let (model, fresh) = (&mut self.models[i], &mut self.fresh[i]);
        subsystem.local_model(seen.u, fresh)?;
        if ![&fresh.a, &fresh.b, &fresh.c, &fresh.d].iter().all(|m| m.iter().all(|x| x.is_finite())) {
            let message = format!("the Jacobians of `{}` are not finite", subsystem.description().name);
            return Err(Error::new(Code::NotFinite, message));
        }
        let due = seen.k == 0 || (self.refresh > 0 && seen.k.is_multiple_of(self.refresh));
        let changed = model.a != fresh.a || model.b != fresh.b || model.c != fresh.c || model.d != fresh.d;
        if due && (changed || self.versions[i] == 0) {
            std::mem::swap(model, fresh);
            self.versions[i] += 1;
        } else {
            model.x.copy_from_slice(&fresh.x);
            model.x_dot.copy_from_slice(&fresh.x_dot);
        }
        Ok(())
    }

    fn model(&self, i: usize) -> Option<&LocalModel> {
        self.models.get(i)
    }

    fn version(&self, i: usize) -> u64 {
        self.versions[i]
    }

    fn save(&self, out: &mut StateWriter) {
        for (model, version) in self.models.iter().zip(&self.versions) {
            out.integer(*version);
            for values in [&model.a, &model.b, &model.c, &model.d, &model.x, &model.x_dot] {
                out.reals(values);
            }
        }
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        for (model, version) in self.models.iter_mut().zip(&mut self.versions) {
            *version = from.integer()?;
            for values in
                [&mut model.a, &mut model.b, &mut model.c, &mut model.d, &mut model.x, &mut model.x_dot]
            {
                from.reals(values)?;
            }
        }
        Ok(())
    }
}
