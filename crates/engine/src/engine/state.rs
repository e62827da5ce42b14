//! The whole state as bytes, for checkpoints.

use costep_core::{Code, Error, Result, StateReader, StateWriter};

use super::Engine;

/// Counters in a saved state beyond this are damage.
const MAX_COUNT: u64 = 1 << 53;

impl Engine {
    /// The whole state as bytes.
    pub fn save(&self) -> Result<Vec<u8>> {
        let mut out = StateWriter::default();
        out.integer(self.k);
        out.integer(self.subsystem_steps);
        out.integer(self.divided_steps);
        for values in [&self.y, &self.coupled, self.inputs.raw()] {
            out.reals(values);
        }
        out.reals(&self.u_end);
        out.real(self.last_length);
        self.history.save(&mut out);
        self.models.save(&mut out);
        self.groups.iter().for_each(|group| group.method.save(&mut out));
        self.subsystems.iter().try_for_each(|subsystem| subsystem.demand_persistence()?.save(&mut out))?;
        Ok(out.into_bytes())
    }

    /// Puts back a saved state.
    pub fn load(&mut self, bytes: &[u8]) -> Result<()> {
        let mut from = StateReader::new(bytes);
        self.k = count(&mut from)?;
        self.subsystem_steps = count(&mut from)?;
        self.divided_steps = count(&mut from)?;
        from.reals(&mut self.y)?;
        from.reals(&mut self.coupled)?;
        from.reals(self.inputs.raw_mut())?;
        from.reals(&mut self.u_end)?;
        self.last_length = from.real()?;
        self.history.load(&mut from)?;
        self.models.load(&mut from)?;
        self.groups.iter_mut().try_for_each(|group| group.method.load(&mut from))?;
        let mut each = self.subsystems.iter_mut();
        each.try_for_each(|subsystem| subsystem.demand_persistence_mut()?.load(&mut from))?;
        from.finish()?;
        self.sample_externals(self.experiment.time(self.k), self.experiment.time(self.k + 1));
        self.resumed = true;
        self.failed = false;
        Ok(())
    }
}

fn count(from: &mut StateReader<'_>) -> Result<u64> {
    match from.integer()? {
        value if value < MAX_COUNT => Ok(value),
        value => Err(Error::new(Code::CheckpointDamaged, format!("the saved state counts {value} steps"))),
    }
}
