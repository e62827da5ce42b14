//! Power bonds of a run: the power that goes through each, and the energy that is lost or made on the way
//! because inputs are not what they are connected to.
//!
//! Over a step each side of a bond sees the mean of its own output, by the trapezoidal rule, times the mean
//! of the input that it was given. What both sides see differs by the residual energy of the step (Sadjina
//! et al. 2016); without coupling error there is none.

use costep_core::{PowerBond, Result, StateReader, StateWriter};
use costep_engine::Engine;

/// What has gone through a bond.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BondEnergy {
    /// Power at the last communication point, the mean of what both sides see, in W if the signals are in
    /// SI units.
    pub power: f64,
    /// Energy that one side gave and the other did not get, with its sign, in J.
    pub residual: f64,
    /// The same without its sign, step by step.
    pub lost: f64,
    /// Energy that has gone to and fro, in J.
    pub exchanged: f64,
}

impl BondEnergy {
    /// Energy lost or made, step by step, as a share of what has gone to and fro; nothing if that is none.
    pub fn error(&self) -> Option<f64> {
        (self.exchanged > 0.0).then(|| self.lost / self.exchanged)
    }
}

/// Watches the power bonds of a run at every communication point.
#[derive(Clone, Debug, Default)]
pub struct BondWatch {
    bonds: Vec<PowerBond>,
    energies: Vec<BondEnergy>,
    /// Outputs at the last point, and the means of the inputs over the last step.
    y: Vec<f64>,
    mean: Vec<f64>,
    u: Vec<f64>,
    next: u64,
}

impl BondWatch {
    /// Of these bonds.
    pub fn new(bonds: Vec<PowerBond>) -> Self {
        Self { energies: vec![BondEnergy::default(); bonds.len()], bonds, ..Self::default() }
    }

    /// The bonds with what has gone through them.
    pub fn energies(&self) -> impl Iterator<Item = (&PowerBond, BondEnergy)> {
        self.bonds.iter().zip(self.energies.iter().copied())
    }

    /// Names of result columns, with their units.
    pub fn columns(&self) -> impl Iterator<Item = (String, &'static str)> {
        self.bonds.iter().flat_map(|bond| {
            [(format!("bond.{}.power", bond.name), "W"), (format!("bond.{}.energy_error", bond.name), "J")]
        })
    }

    /// Values of the result columns.
    pub fn fill(&self, row: &mut [f64]) {
        for (values, energy) in row.chunks_exact_mut(2).zip(&self.energies) {
            values.copy_from_slice(&[energy.power, energy.residual]);
        }
    }

    /// Looks at the communication point of an engine.
    #[inline]
    pub fn look(&mut self, engine: &Engine) {
        if !self.bonds.is_empty() {
            self.add(engine);
        }
    }

    #[inline(never)]
    fn add(&mut self, engine: &Engine) {
        if self.y.is_empty() {
            self.y = vec![0.0; engine.outputs().len()];
            (self.mean, self.u) = (self.y.clone(), vec![0.0; engine.coupled().len()]);
        }
        let y = engine.outputs();
        if engine.k() > 0 && engine.k() == self.next {
            let h = engine.last_step().length;
            engine.mean_inputs(&mut self.u);
            self.mean.iter_mut().zip(self.y.iter().zip(y)).for_each(|(mean, (a, b))| *mean = 0.5 * (a + b));
            for (bond, energy) in self.bonds.iter().zip(&mut self.energies) {
                let [a, b] = bond.powers(&self.mean, &self.u);
                energy.residual += h * (a - b);
                energy.lost += h * (a - b).abs();
                energy.exchanged += 0.5 * h * (a + b).abs();
            }
        }
        engine.inputs_at_end(&mut self.u);
        for (bond, energy) in self.bonds.iter().zip(&mut self.energies) {
            let [a, b] = bond.powers(y, &self.u);
            energy.power = 0.5 * (a + b);
        }
        self.y.copy_from_slice(y);
        self.next = engine.k() + 1;
    }

    /// Writes what it has seen to a checkpoint.
    pub fn save(&self, out: &mut StateWriter) {
        for BondEnergy { power, residual, lost, exchanged } in self.energies.iter().copied() {
            out.reals(&[power, residual, lost, exchanged]);
        }
        if !self.bonds.is_empty() {
            out.integer(self.next);
            out.reals(&self.y);
        }
    }

    /// Reads it from a checkpoint of the system of this engine.
    pub fn load(&mut self, engine: &Engine, from: &mut StateReader<'_>) -> Result<()> {
        for energy in &mut self.energies {
            let mut values = [0.0; 4];
            from.reals(&mut values)?;
            let [power, residual, lost, exchanged] = values;
            *energy = BondEnergy { power, residual, lost, exchanged };
        }
        if !self.bonds.is_empty() {
            self.next = from.integer()?;
            self.y = vec![0.0; engine.outputs().len()];
            (self.mean, self.u) = (self.y.clone(), vec![0.0; engine.coupled().len()]);
            from.reals(&mut self.y)?;
        }
        Ok(())
    }
}
