//! Power bonds of a run: the power that goes through each, and the energy that is lost or made on the way
//! because inputs are not what they are connected to.
//!
//! The residual power is that of Sadjina et al. 2016, written with what inputs lack ([`InputDefect`]): a
//! product of what both sides see would be wrong by the quadrature of signals between points, about
//! (h omega)^2 / 12, also where nothing is lacking.

use costep_core::{Connection, External, InputDefect, Moments, PowerBond, Result, StateReader, StateWriter};
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
    /// Outputs at the last point and at the one before, and the length of the step between.
    y: Vec<f64>,
    y_before: Vec<f64>,
    h_before: f64,
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
            self.take_room(engine);
        }
        engine.inputs_at_end(&mut self.u);
        let (y, h) = (engine.outputs(), engine.last_step().length);
        let is_next = engine.k() > 0 && engine.k() == self.next;
        for i in 0..self.bonds.len() {
            let bond = &self.bonds[i];
            if is_next {
                let defects = [0, 1].map(|end| self.defect(engine, &bond.connections[end]));
                let [residual, power] = bond.powers_over_step(defects, (&self.y, y));
                let energy = &mut self.energies[i];
                energy.residual += h * residual;
                energy.lost += h * residual.abs();
                energy.exchanged += h * power.abs();
            }
            let [a, b] = bond.powers(y, &self.u);
            self.energies[i].power = 0.5 * (a + b);
        }
        std::mem::swap(&mut self.y_before, &mut self.y);
        self.y.copy_from_slice(y);
        self.h_before = if is_next { h } else { 0.0 };
        self.next = engine.k() + 1;
    }

    fn take_room(&mut self, engine: &Engine) {
        self.y = vec![0.0; engine.outputs().len()];
        (self.y_before, self.u) = (self.y.clone(), vec![0.0; engine.coupled().len()]);
    }

    /// What the input of a connection lacked over the last step.
    fn defect(&self, engine: &Engine, connection: &Connection) -> Moments {
        let (j, step) = (connection.input, engine.last_step());
        let row = |y: &[f64]| engine.coupling().row(j, y);
        let sum = |value: &dyn Fn(&External) -> f64| -> f64 {
            let own = engine.externals().iter().filter(|(input, _)| *input == j);
            own.map(|(_, signal)| value(signal)).sum()
        };
        let (start, end) = (row(&self.y), row(engine.outputs()));
        let r_end = sum(&|signal| signal.value_before(step.end));
        let Some(inputs) = engine.inputs_over_step() else {
            // Done in parts, or by an input that follows inside the step: they began without a defect.
            return Moments::of_line(0.0, end + r_end - self.u[j]);
        };
        let r_start = sum(&|signal| signal.value_after(step.start));
        InputDefect {
            connected: [row(&self.y_before), start, end],
            external: [r_start, r_end, sum(&|signal| signal.mean(step.start, step.end))],
            lengths: [self.h_before, step.length],
            inputs: (inputs, j),
            order: engine.input_order(j),
            is_projected: engine.is_projected(j),
        }
        .moments()
    }

    /// Writes what it has seen to a checkpoint.
    pub fn save(&self, out: &mut StateWriter) {
        for BondEnergy { power, residual, lost, exchanged } in self.energies.iter().copied() {
            out.reals(&[power, residual, lost, exchanged]);
        }
        if !self.bonds.is_empty() {
            out.integer(self.next);
            out.real(self.h_before);
            out.reals(&self.y);
            out.reals(&self.y_before);
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
            self.take_room(engine);
            self.next = from.integer()?;
            self.h_before = from.real()?;
            from.reals(&mut self.y)?;
            from.reals(&mut self.y_before)?;
        }
        Ok(())
    }
}
