//! Exact local models: A, B, C, D from the subsystem itself (native Jacobians, directional derivatives).

use costep_core::{
    Capabilities, Code, Description, Error, Experiment, Learning, Linearisation, LocalModel, ModelKind,
    ModelSource, ModelsOffer, Observation, Result, SourceEntry, StateReader, StateWriter, Subsystem,
};

use crate::renewal::{Refresh, RenewalOptions, Renewed};

/// Row of the registry.
pub(crate) const ENTRY: SourceEntry = SourceEntry {
    id: "exact",
    title: "Jacobians of the subsystems",
    summary: "Asks each subsystem for A, B, C and D at communication points: native models have exact Jacobians, FMUs \
              directional derivatives.",
    needs: "Jacobians; for methods that use D alone the direct feedthrough",
    source: "costep",
    kind: ModelKind::Local,
    options: RenewalOptions::SPECS,
    settle: |_| {},
    offer: |options| ModelsOffer {
        kind: ModelKind::Local,
        current: RenewalOptions::read(options).refresh() == Refresh::Every(1),
        learning: Learning::Nothing,
        micro_samples: false,
        trial_steps: false,
    },
    build: |options| Box::new(Exact::new(RenewalOptions::read(options).refresh())),
};

/// Exact models. Between renewals only the states are read; the models of linear subsystems are read once.
pub struct Exact {
    refresh: Refresh,
    models: Vec<Renewed>,
    /// Subsystems that have said that their matrices hold for ever.
    constant: Vec<bool>,
    /// Rooms for what subsystems of one size say, shared by them.
    rooms: Vec<LocalModel>,
    room_of: Vec<usize>,
    /// x, then x', of one subsystem after the other: they are read in every step, the matrices are not.
    states: Vec<f64>,
    /// Where those of each subsystem start, and the end.
    starts: Vec<usize>,
    reads_states: bool,
    /// What every subsystem has to give.
    least: Linearisation,
    generation: u64,
}

impl Exact {
    /// Models that are renewed like this: `Exact::new(1)` at every communication point.
    pub fn new(refresh: impl Into<Refresh>) -> Self {
        Self {
            refresh: refresh.into(),
            models: Vec::new(),
            constant: Vec::new(),
            rooms: Vec::new(),
            room_of: Vec::new(),
            states: Vec::new(),
            starts: Vec::new(),
            reads_states: true,
            least: Linearisation::Full,
            generation: 0,
        }
    }

    /// A model that may change.
    fn renew(&mut self, i: usize, subsystem: &mut dyn Subsystem, seen: &Observation<'_>) -> Result<()> {
        let (known, fresh) = (&mut self.models[i], &mut self.rooms[self.room_of[i]]);
        let before = known.version;
        let all = self.refresh == Refresh::Every(1);
        let read = !all && {
            let LocalModel { x, x_dot, .. } = &mut known.model;
            subsystem.read_state(seen.u, x, x_dot)?
        };
        if !read || known.is_due(self.refresh, seen.k, seen.u, seen.y) {
            // What one subsystem leaves at zero must not be what another has written.
            fresh.clear();
            subsystem.demand_linearised()?.local_model(seen.u, fresh)?;
            if !read {
                known.model.x.copy_from_slice(&fresh.x);
                known.model.x_dot.copy_from_slice(&fresh.x_dot);
            }
            if known.is_due(self.refresh, seen.k, seen.u, seen.y) {
                known.take(fresh, &subsystem.description().name, seen.u, seen.y)?;
            }
        }
        self.constant[i] = known.model.is_constant;
        if known.version != before {
            self.generation += 1;
        }
        let (x, x_dot) = self.states[self.starts[i]..self.starts[i + 1]].split_at_mut(known.model.states);
        x.copy_from_slice(&known.model.x);
        x_dot.copy_from_slice(&known.model.x_dot);
        Ok(())
    }
}

impl ModelSource for Exact {
    fn name(&self) -> &'static str {
        "exact"
    }

    fn prepare(
        &mut self,
        descriptions: &[Description],
        capabilities: &[Capabilities],
        _: &Experiment,
    ) -> Result<()> {
        let mut each = descriptions.iter().zip(capabilities);
        if let Some((description, can)) = each.find(|(_, can)| can.linearisation < self.least) {
            return Err(missing(&description.name, can.linearisation, can.rollback));
        }
        let each = descriptions.iter().zip(capabilities);
        self.models = each.map(|(d, can)| Renewed::new(room_for(d, can), self.refresh)).collect();
        self.constant = vec![false; descriptions.len()];
        self.rooms.clear();
        self.room_of = self.models.iter().map(|known| room_of(&mut self.rooms, &known.model)).collect();
        self.starts = vec![0];
        for known in &self.models {
            self.starts.push(self.starts[self.starts.len() - 1] + 2 * known.model.states);
        }
        self.states = vec![0.0; self.starts[descriptions.len()]];
        Ok(())
    }

    fn observe(&mut self, i: usize, subsystem: &mut dyn Subsystem, seen: &Observation<'_>) -> Result<()> {
        if !self.constant[i] {
            return self.renew(i, subsystem, seen);
        }
        if self.reads_states {
            let states = &mut self.states[self.starts[i]..self.starts[i + 1]];
            let (x, x_dot) = states.split_at_mut(states.len() / 2);
            if !subsystem.read_state(seen.u, x, x_dot)? {
                return self.renew(i, subsystem, seen);
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

    fn generation(&self) -> Option<u64> {
        Some(self.generation)
    }

    fn state(&self, i: usize) -> Option<(&[f64], &[f64])> {
        let states = self.states.get(*self.starts.get(i)?..*self.starts.get(i + 1)?)?;
        Some(states.split_at(states.len() / 2))
    }

    fn leave_out_states(&mut self) {
        self.reads_states = false;
    }

    fn settle_for_feedthrough(&mut self) {
        self.least = Linearisation::Feedthrough;
    }

    fn save(&self, out: &mut StateWriter) {
        self.models.iter().for_each(|known| known.save(out));
        out.reals(&self.states);
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.generation += 1;
        self.models.iter_mut().try_for_each(|known| known.load(from))?;
        from.reals(&mut self.states)
    }
}

/// What to do about a subsystem that gives no local model and of which no differences can be taken.
pub(crate) const NEITHER: &str = "it offers neither derivatives nor rollback: use `identified`, which learns from the run itself, or `auto`";

/// What is missing, and what the user can do without it.
fn missing(name: &str, given: Linearisation, rollback: bool) -> Error {
    let message = match given {
        Linearisation::Feedthrough => {
            format!("`{name}` gives no Jacobians of its states")
        }
        _ => format!("`{name}` gives no Jacobians"),
    };
    Error::new(Code::NeedsMissing, message).hint(match rollback {
        true => "choose `source=finite-difference`, or a method that needs no local model: `costep methods`",
        false => NEITHER,
    })
}

/// The room for models of this size.
fn room_of(rooms: &mut Vec<LocalModel>, model: &LocalModel) -> usize {
    let size = |model: &LocalModel| (model.states, model.inputs, model.outputs);
    rooms.iter().position(|room| size(room) == size(model)).unwrap_or_else(|| {
        rooms.push(model.clone());
        rooms.len() - 1
    })
}

/// A model of the size of a subsystem.
pub(crate) fn room_for(description: &Description, can: &Capabilities) -> LocalModel {
    LocalModel::new(can.states, description.inputs.len(), description.outputs.len())
}
