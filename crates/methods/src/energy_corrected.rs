//! Energy-corrected exchange: any method, with what its inputs have lost or made at power bonds given back in the
//! next step (after the residual power of Sadjina & Pedersen 2016, by what `nepce` does to single signals).
//!
//! ```text
//! R^k   energy that the first side of a bond gave and the other did not get, from the start on
//! input c of the second side, d of the first, with sizes s_c and s_d: their changes over the step are the least, x_c^2 + x_d^2, with
//!       h (y_a s_d x_d / g_d - y_b s_c x_c / g_c) = -R^k
//! hence x_c = q b, x_d = -q a,  a = y_a s_d / g_d,  b = y_b s_c / g_c,  q = R^k / (h (a^2 + b^2 + floor))
//! ```
//!
//! R is measured with the inputs as they were, corrections included: what a correction misses is given back
//! later. The floor is a share of the greatest a^2 + b^2 so far: where no power flows, none can be given
//! back. Inputs change by at most a tenth of their size. A method that loses nothing, that repeats steps or
//! divides them, or whose inputs follow inside the step, is left alone.

use costep_core::{
    AfterStep, Arrival, Connection, CouplingMethod, InputDefect, InterfaceModel, Moments, PowerBond, Request,
    Result, Signals, StateReader, StateWriter, StepContext, SystemView, Verdict,
};

/// Share of the greatest a^2 + b^2 so far below which no power flows.
const FLOOR: f64 = 1e-2;
/// Greatest change of an input, of its size.
const MOST: f64 = 0.1;

/// The method with inputs that give back what was lost or made at these bonds.
pub fn energy_corrected(method: Box<dyn CouplingMethod>, bonds: &[PowerBond]) -> Box<dyn CouplingMethod> {
    Box::new(EnergyCorrected {
        method,
        is_active: false,
        looks: false,
        order: 0,
        bonds: bonds.iter().cloned().map(CorrectedBond::new).collect(),
        seen: f64::NAN,
        before: Before::default(),
        seen_before: Before::default(),
    })
}

/// A bond and what it owes.
struct CorrectedBond {
    bond: PowerBond,
    /// R^k, and what the step that was looked at last adds to it.
    owed: f64,
    new: f64,
    /// Greatest value of each input so far, and greatest a^2 + b^2.
    sizes: [f64; 2],
    greatest: f64,
}

impl CorrectedBond {
    fn new(bond: PowerBond) -> Self {
        Self { bond, owed: 0.0, new: 0.0, sizes: [0.0; 2], greatest: 0.0 }
    }

    /// Changes of the inputs there and back over a step of this length.
    fn changes(&mut self, y: &[f64], h: f64) -> [f64; 2] {
        let [there, back] = &self.bond.connections;
        let [size_c, size_d] = self.sizes;
        let (a, b) = (y[there.output] * size_d / back.gain, y[back.output] * size_c / there.gain);
        self.greatest = self.greatest.max(a * a + b * b);
        let q = self.owed / (h * (a * a + b * b + FLOOR * self.greatest));
        let limited =
            |share: f64, size: f64| if share.is_finite() { share.clamp(-MOST, MOST) * size } else { 0.0 };
        [limited(q * b, size_c), limited(-q * a, size_d)]
    }
}

/// Outputs at the start of a step, and its length.
#[derive(Default)]
struct Before {
    y: Vec<f64>,
    h: f64,
}

struct EnergyCorrected {
    method: Box<dyn CouplingMethod>,
    /// Whether it corrects anything.
    is_active: bool,
    /// The method itself looks at the outcome of steps.
    looks: bool,
    order: usize,
    /// Those of its group.
    bonds: Vec<CorrectedBond>,
    /// End of the step that was looked at last; not a number if all is known of the one before this.
    seen: f64,
    /// The last step that was kept, and the one that was looked at.
    before: Before,
    seen_before: Before,
}

/// Whether a method loses energy that can be given back.
fn can_be_corrected(request: &Request) -> bool {
    let is_simple = request.after_step != AfterStep::Judge && request.divides == 0;
    is_simple && !request.inputs.has_environment() && !request.projected
}

impl EnergyCorrected {
    /// Takes over what a step has shown that ended here, and was kept.
    fn arrive(&mut self, t: f64) {
        if self.seen == t {
            self.bonds.iter_mut().for_each(|bond| bond.owed += std::mem::take(&mut bond.new));
            std::mem::swap(&mut self.before, &mut self.seen_before);
            self.seen = f64::NAN;
        }
    }

    /// What an input of a connection has lacked.
    fn defect(&self, step: &StepContext, signals: &Signals<'_>, connection: &Connection) -> Moments {
        let j = connection.input;
        let row = |y: &[f64]| signals.coupling.row(j, y);
        InputDefect {
            connected: [row(&self.before.y), row(signals.y), row(signals.y_next)],
            external: [signals.external[j], signals.external_next[j], signals.external_mean[j]],
            lengths: [self.before.h, step.h],
            inputs: (signals.inputs, j),
            order: self.order,
            is_projected: false,
        }
        .moments()
    }
}

impl CouplingMethod for EnergyCorrected {
    fn choose(&mut self, system: &SystemView<'_>) -> Result<()> {
        self.method.choose(system)
    }

    fn remark(&self) -> Option<&str> {
        self.method.remark()
    }

    fn warning(&self) -> Option<&str> {
        const LEFT_ALONE: &str =
            "no power bond is corrected: its inputs lose next to nothing, or it repeats or divides steps";
        self.method.warning().or((!self.is_active && !self.bonds.is_empty()).then_some(LEFT_ALONE))
    }

    fn conclusion(&self) -> Option<&str> {
        self.method.conclusion()
    }

    fn request(&self) -> Request {
        let request = self.method.request();
        let looks = can_be_corrected(&request) && !self.bonds.is_empty();
        Request { after_step: if looks { AfterStep::Look } else { request.after_step }, ..request }
    }

    fn prepare(&mut self, system: &SystemView<'_>) -> Result<()> {
        let request = self.method.request();
        let is_ours = |bond: &CorrectedBond| {
            bond.bond.connections.iter().all(|connection| system.inputs.contains(connection.input))
        };
        self.bonds.retain(is_ours);
        self.is_active = can_be_corrected(&request) && !self.bonds.is_empty();
        self.looks = request.after_step != AfterStep::Nothing;
        self.order = request.inputs.order();
        let before = || Before { y: vec![0.0; system.layout.outputs()], h: 0.0 };
        (self.before, self.seen_before) = (before(), before());
        self.method.prepare(system)
    }

    fn divides(&mut self, step: &StepContext, signals: &Signals<'_>) -> bool {
        self.method.divides(step, signals)
    }

    fn form_coupled(&mut self, arrival: &Arrival<'_>, coupled: &mut [f64]) -> Result<()> {
        self.method.form_coupled(arrival, coupled)
    }

    fn pre_step(&mut self, step: &StepContext, signals: &mut Signals<'_>) -> Result<()> {
        self.method.pre_step(step, signals)?;
        if self.is_active {
            self.arrive(step.t);
            for bond in &mut self.bonds {
                let inputs = [0, 1].map(|end| bond.bond.connections[end].input);
                bond.sizes = [0, 1].map(|end| bond.sizes[end].max(signals.coupled[inputs[end]].abs()));
                let changes = bond.changes(signals.y, step.h);
                for (input, change) in inputs.into_iter().zip(changes) {
                    signals.inputs.coefficients_mut(0)[input] += change;
                }
            }
        }
        Ok(())
    }

    fn expect(&mut self, signals: &Signals<'_>, y: &mut [f64]) -> bool {
        self.method.expect(signals, y)
    }

    fn post_step(&mut self, step: &StepContext, signals: &Signals<'_>) -> Result<Verdict> {
        let verdict = if self.looks { self.method.post_step(step, signals)? } else { Verdict::Accept };
        if self.is_active {
            for i in 0..self.bonds.len() {
                let connections = self.bonds[i].bond.connections;
                let defects = connections.map(|connection| self.defect(step, signals, &connection));
                let [residual, _] = self.bonds[i].bond.powers_over_step(defects, (signals.y, signals.y_next));
                self.bonds[i].new = step.h * residual;
            }
            self.seen_before.y.copy_from_slice(signals.y);
            (self.seen_before.h, self.seen) = (step.h, step.t_next);
        }
        Ok(verdict)
    }

    fn diagnostic_names(&self) -> Vec<String> {
        self.method.diagnostic_names()
    }

    fn diagnostics(&self, row: &mut [f64]) {
        self.method.diagnostics(row);
    }

    fn switched_inputs(&self) -> Vec<usize> {
        self.method.switched_inputs()
    }

    fn learnt_model(&self, subsystem: usize) -> Option<InterfaceModel> {
        self.method.learnt_model(subsystem)
    }

    fn stop_learning(&mut self) -> bool {
        self.method.stop_learning()
    }

    fn save(&self, out: &mut StateWriter) {
        self.method.save(out);
        for CorrectedBond { owed, new, sizes: [there, back], greatest, .. } in &self.bonds {
            out.reals(&[*owed, *new, *there, *back, *greatest]);
        }
        out.reals(&[self.seen, self.before.h, self.seen_before.h]);
        [&self.before.y, &self.seen_before.y].into_iter().for_each(|y| out.reals(y));
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.method.load(from)?;
        for bond in &mut self.bonds {
            let mut values = [0.0; 5];
            from.reals(&mut values)?;
            let [owed, new, there, back, greatest] = values;
            (bond.owed, bond.new, bond.sizes, bond.greatest) = (owed, new, [there, back], greatest);
        }
        let mut times = [0.0; 3];
        from.reals(&mut times)?;
        [self.seen, self.before.h, self.seen_before.h] = times;
        [&mut self.before.y, &mut self.seen_before.y].into_iter().try_for_each(|y| from.reals(y))
    }
}
