//! Small steps under inputs that are not quite what the law says, so that direct feedthrough can be told from the delayed response.
//!
//! In a closed loop a position and its velocity go together: whether a force follows from the change of the one or from the value of the
//! other cannot be seen, and either predicts well. But held inputs take the mean of the coupling signal, which hangs on D alone (`shared/law.rs`). So
//! at the start each input with direct feedthrough is taken at random a quarter of a part early or late. The error is that of a
//! small step, and has no direction.

use costep_core::{Result, StateReader, StateWriter, SystemView};

/// Which inputs to shake, and chance.
#[derive(Default)]
pub(super) struct Excitation {
    /// Inputs with direct feedthrough, per subsystem.
    through: Vec<Vec<usize>>,
    /// Share of the distance from the coupling signal to the input.
    size: f64,
    /// The same for every subsystem, whatever its number.
    random: u64,
}

impl Excitation {
    pub(super) fn new(system: &SystemView<'_>, size: f64) -> Self {
        let through = |i: usize| {
            let is_through =
                |j: &usize| system.descriptions[i].feedthrough_lists().any(|row| row.contains(j));
            let (range, inputs) = (system.layout.input_range(i), &system.inputs);
            let through = (0..range.len()).filter(is_through).map(|j| range.start + j);
            through.filter(|j| inputs.contains(*j)).collect()
        };
        Self { through: (0..system.layout.subsystems()).map(through).collect(), size, random: 1 }
    }

    /// Moves inputs `u` away from the coupling signal z, or towards it.
    pub(super) fn shake(&mut self, z: &[f64], u: &mut [f64]) {
        self.random = next(self.random);
        for inputs in &self.through {
            let mut random = self.random;
            for j in inputs {
                random = next(random);
                let size = if random >> 63 == 1 { self.size } else { -self.size };
                u[*j] += size * (u[*j] - z[*j]);
            }
        }
    }

    pub(super) fn save(&self, out: &mut StateWriter) {
        out.integer(self.random);
    }

    pub(super) fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.random = from.integer()?;
        Ok(())
    }
}

/// The next 64 bits, of which the first are random enough.
fn next(random: u64) -> u64 {
    // Scrambled, so that the first numbers of neighbouring points have nothing to do with each other.
    let bits = (random ^ (random >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407)
}
