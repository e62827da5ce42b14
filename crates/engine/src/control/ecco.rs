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
    AfterStep, Code, Error, Experiment, Interval, PowerBond, Result, Signals, StateReader, StateWriter,
    StepContext, Verdict,
};

use super::pacing::{Pacing, StepError};
use super::{ControlEntry, ControlSpec};
use crate::step_control::{ControlView, StepControl, StepCounts};

pub(super) const ENTRY: ControlEntry = ControlEntry {
    id: "ecco",
    summary: "The power that is lost or made at power bonds: what one side gives less what the other takes.",
    needs: "power bonds: connections with `bond = \"NAME\"`, in pairs",
    cost: "1",
    takes_tolerance: true,
    build: |spec, experiment, bonds| Box::new(Ecco::new(spec, experiment, bonds)),
};

struct Ecco {
    pacing: Pacing,
    tolerance: f64,
    bonds: Vec<PowerBond>,
    order: f64,
    /// Greatest power of each bond so far, and with the step that is being tried.
    powers: Vec<f64>,
    new_powers: Vec<f64>,
    u: Vec<f64>,
}

impl Ecco {
    fn new(spec: &ControlSpec, experiment: &Experiment, bonds: &[PowerBond]) -> Self {
        Self {
            pacing: Pacing::new(spec, experiment),
            tolerance: spec.tolerance,
            order: 2.0,
            powers: vec![0.0; bonds.len()],
            new_powers: vec![0.0; bonds.len()],
            bonds: bonds.to_vec(),
            u: Vec::new(),
        }
    }
}

impl StepControl for Ecco {
    fn prepare(&mut self, system: &ControlView<'_>) -> Result<()> {
        if self.bonds.is_empty() {
            return Err(Error::new(Code::ControlNeeds, "`ecco` needs power bonds, and the system has none")
                .hint("write `bond = \"NAME\"` at two connections, there and back, or use `control = \"defect\"`"));
        }
        self.pacing.prepare(system)?;
        let ends = self.bonds.iter().flat_map(|bond| bond.connections.iter().map(|end| end.input));
        let orders = ends.filter_map(|j| system.inputs[j]).map(|input| input.order + 1);
        self.order = orders.min().unwrap_or(1).max(2) as f64;
        self.u = vec![0.0; system.inputs.len()];
        Ok(())
    }

    fn next_step(&self, _k: u64) -> Interval {
        self.pacing.next_step()
    }

    fn is_over(&self, _k: u64) -> bool {
        self.pacing.is_over()
    }

    fn is_uniform(&self) -> bool {
        false
    }

    fn rejected(&mut self, step: &StepContext, shorter: f64) -> Result<()> {
        self.pacing.rejected(step, shorter)
    }

    fn accepted(&mut self, step: &StepContext) {
        self.pacing.accepted(step);
        self.powers.copy_from_slice(&self.new_powers);
    }

    fn after_step(&self) -> AfterStep {
        AfterStep::Look
    }

    fn judge(&mut self, step: &StepContext, signals: &Signals<'_>) -> Result<Verdict> {
        signals.inputs.evaluate(step.h, &mut self.u);
        let mut size = 0.0f64;
        for (i, bond) in self.bonds.iter().enumerate() {
            let [a, b] = bond.powers(signals.y_next, &self.u);
            self.new_powers[i] = self.powers[i].max(a.abs()).max(b.abs());
            if a != b {
                size = size.max((a - b).abs() / (self.new_powers[i] * self.tolerance));
            }
        }
        self.pacing.judge(step, StepError { size, order: self.order }, false);
        Ok(Verdict::Accept)
    }

    fn counts(&self) -> Option<StepCounts> {
        Some(self.pacing.counts())
    }

    fn save(&self, out: &mut StateWriter) {
        self.pacing.save(out);
        out.reals(&self.powers);
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.pacing.load(from)?;
        from.reals(&mut self.powers)
    }
}
