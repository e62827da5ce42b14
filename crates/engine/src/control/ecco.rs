//! Energy-conservation-based control (after Sadjina, Kyllingstad, Skjong & Pedersen 2016): by the power
//! that is lost or made at bonds.
//!
//! ```text
//! residual power of a bond   dP = y_a u_d - y_b u_c, what both sides see, at the end of the step: 0 without coupling error
//! error                      |dP| / P, P the greatest power so far
//! ```
//!
//! The length of the step follows from the PI control that all controls here share, not from gains of its
//! own, and the power is measured by what has gone through the bond: a tolerance means the same as for
//! other controls.

use costep_core::{
    AfterStep, Code, Error, PowerBond, Result, Signals, StateReader, StateWriter, StepContext, Verdict,
};

use super::ControlEntry;
use super::paced::{Paced, Rule};
use super::pacing::{Pacing, StepError};
use crate::step_control::ControlView;

pub(super) const ENTRY: ControlEntry = ControlEntry {
    id: "ecco",
    summary: "The power that is lost or made at power bonds: what one side gives less what the other takes.",
    needs: "power bonds: connections with `bond = \"NAME\"`, in pairs",
    cost: "1",
    takes_tolerance: true,
    build: |spec, experiment, bonds| {
        Box::new(Paced { pacing: Pacing::new(spec, experiment), rule: Ecco::new(spec.tolerance, bonds) })
    },
};

struct Ecco {
    tolerance: f64,
    bonds: Vec<PowerBond>,
    order: f64,
    /// Greatest power of each bond so far, and with the step that is being tried.
    powers: Vec<f64>,
    new_powers: Vec<f64>,
    u: Vec<f64>,
}

impl Ecco {
    fn new(tolerance: f64, bonds: &[PowerBond]) -> Self {
        Self {
            tolerance,
            order: 2.0,
            powers: vec![0.0; bonds.len()],
            new_powers: vec![0.0; bonds.len()],
            bonds: bonds.to_vec(),
            u: Vec::new(),
        }
    }
}

impl Rule for Ecco {
    fn prepare(&mut self, system: &ControlView<'_>) -> Result<()> {
        if self.bonds.is_empty() {
            return Err(Error::new(Code::ControlNeeds, "`ecco` needs power bonds, and the system has none")
                .hint("write `bond = \"NAME\"` at two connections, there and back, or use `control = \"defect\"`"));
        }
        let ends = self.bonds.iter().flat_map(|bond| bond.connections.iter().map(|end| end.input));
        let orders = ends.filter_map(|j| system.inputs[j]).map(|input| input.order + 1);
        self.order = orders.min().unwrap_or(1).max(2) as f64;
        self.u = vec![0.0; system.inputs.len()];
        Ok(())
    }

    fn after_step(&self) -> AfterStep {
        AfterStep::Look
    }

    fn judge(&mut self, step: &StepContext, signals: &Signals<'_>, pacing: &mut Pacing) -> Result<Verdict> {
        signals.inputs.evaluate(step.h, &mut self.u);
        let mut size = 0.0f64;
        for (i, bond) in self.bonds.iter().enumerate() {
            let [a, b] = bond.powers(signals.y_next, &self.u);
            self.new_powers[i] = self.powers[i].max(a.abs()).max(b.abs());
            if a != b {
                size = size.max((a - b).abs() / (self.new_powers[i] * self.tolerance));
            }
        }
        pacing.judge(step, StepError { size, order: self.order }, false);
        Ok(Verdict::Accept)
    }

    fn accepted(&mut self, _step: &StepContext, _pacing: &mut Pacing) {
        self.powers.copy_from_slice(&self.new_powers);
    }

    fn save(&self, out: &mut StateWriter) {
        out.reals(&self.powers);
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        from.reals(&mut self.powers)
    }
}
