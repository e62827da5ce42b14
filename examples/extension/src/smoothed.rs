//! Local models whose matrices follow those of the subsystem with a delay: A += w (A_now - A) at every communication
//! point, and the same for B, C and D. Jumps of the Jacobians reach a method softened.

use costep_core::{
    Capabilities, Code, Description, Error, Experiment, Learning, Linearisation, LocalModel, ModelKind,
    ModelSource, ModelsOffer, Observation, Result, SourceEntry, StateReader, StateWriter, Subsystem, options,
};

/// Row of the registry.
pub static ENTRY: SourceEntry = SourceEntry {
    id: "smoothed",
    title: "Jacobians of the subsystems, smoothed",
    summary: "Matrices follow the Jacobians of the subsystems with a delay.",
    needs: "Jacobians",
    source: "an example",
    kind: ModelKind::Local,
    options: SmoothedOptions::SPECS,
    settle: |_| {},
    offer: |_| ModelsOffer {
        kind: ModelKind::Local,
        current: false,
        learning: Learning::Nothing,
        micro_samples: false,
        trial_steps: false,
    },
    build: |options| Box::new(Smoothed { weight: SmoothedOptions::read(options).weight, known: Vec::new() }),
};

options! {
    /// Its options.
    struct SmoothedOptions {
        /// w, how far the matrices go towards those of the subsystem per macro step
        weight: f64 = 0.5 in 0.01..=1.0;
    }
}

struct Smoothed {
    weight: f64,
    known: Vec<Known>,
}

/// What is known of a subsystem: the model in use, and room for what it says now.
struct Known {
    model: LocalModel,
    now: LocalModel,
    version: u64,
}

impl ModelSource for Smoothed {
    fn name(&self) -> &'static str {
        ENTRY.id
    }

    fn prepare(
        &mut self,
        descriptions: &[Description],
        capabilities: &[Capabilities],
        _experiment: &Experiment,
    ) -> Result<()> {
        let known = |(description, can): (&Description, &Capabilities)| {
            if can.linearisation < Linearisation::Full {
                let message = format!("`{}` gives no Jacobians", description.name);
                return Err(Error::new(Code::NeedsMissing, message).hint("choose another source of models"));
            }
            let model = LocalModel::new(can.states, description.inputs.len(), description.outputs.len());
            Ok(Known { now: model.clone(), model, version: 0 })
        };
        self.known = descriptions.iter().zip(capabilities).map(known).collect::<Result<_>>()?;
        Ok(())
    }

    fn observe(&mut self, i: usize, subsystem: &mut dyn Subsystem, seen: &Observation<'_>) -> Result<()> {
        let Known { model, now, version } = &mut self.known[i];
        now.clear();
        subsystem.demand_linearised()?.local_model(seen.u, now)?;
        // The first are taken as they are.
        let weight = if *version == 0 { 1.0 } else { self.weight };
        let follow = |old: &mut [f64], new: &[f64]| {
            old.iter_mut().zip(new).for_each(|(old, new)| *old += weight * (new - *old));
        };
        follow(&mut model.a, &now.a);
        follow(&mut model.b, &now.b);
        follow(&mut model.c, &now.c);
        follow(&mut model.d, &now.d);
        model.x.copy_from_slice(&now.x);
        model.x_dot.copy_from_slice(&now.x_dot);
        model.nominal.copy_from_slice(&now.nominal);
        (model.euler_step, model.is_constant) = (now.euler_step, now.is_constant);
        *version += 1;
        Ok(())
    }

    fn model(&self, i: usize) -> Option<&LocalModel> {
        self.known.get(i).filter(|known| known.version > 0).map(|known| &known.model)
    }

    fn version(&self, i: usize) -> u64 {
        self.known[i].version
    }

    fn save(&self, out: &mut StateWriter) {
        for Known { model, version, .. } in &self.known {
            out.integer(*version);
            for values in [&model.a, &model.b, &model.c, &model.d, &model.x, &model.x_dot, &model.nominal] {
                out.reals(values);
            }
            out.real(model.euler_step);
            out.integer(u64::from(model.is_constant));
        }
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        for Known { model, version, .. } in &mut self.known {
            *version = from.index(1 << 53)? as u64;
            let LocalModel { a, b, c, d, x, x_dot, nominal, .. } = model;
            for values in [a, b, c, d, x, x_dot, nominal] {
                from.reals(values)?;
            }
            model.euler_step = from.real()?;
            model.is_constant = from.index(2)? == 1;
        }
        Ok(())
    }
}
