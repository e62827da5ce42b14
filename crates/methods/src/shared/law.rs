//! The inputs that follow from models y = F + S u of all subsystems.
//!
//! ```text
//! hold  u = L [y/2 + (F + S u)/2 + D (u - u_k)/2] + r_held
//! ramp  u = L (F + S u) + r_(k+1)
//! ```
//!
//! Held inputs take the mean of the coupling signal over the step; of C x + D u it is (y_k + y_(k+1))/2 + D (u - u_k)/2. S is D plus
//! something of the size of the step, and stands for it where nothing better is known. A ramp ends at the signal itself.
//!
//! A held input may also look at the end of the step, u = L y_(k+1) + r_(k+1): for a subsystem without memory, of which nothing but its outputs at the end is
//! ever seen. They are right there then, and their mean is (y_k + y_(k+1))/2 without D.

use costep_core::{Coupling, InputSet, Layout, Result, StateReader, StateWriter, SystemView};
use costep_ident::{Affine, Lags};
use costep_linalg::Matrix;

use super::interface::Interface;

/// How the inputs go over a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Hold,
    Ramp,
}

/// The signals at the start of a step.
pub(crate) struct Start<'a> {
    pub(crate) y: &'a [f64],
    /// z = L y + r.
    pub(crate) coupled: &'a [f64],
    /// u_k.
    pub(crate) u: &'a [f64],
    /// r at the start and at the end.
    pub(crate) external: (&'a [f64], &'a [f64]),
    /// r in z.
    pub(crate) external_now: &'a [f64],
    /// r as a held input gets it.
    pub(crate) held: &'a [f64],
    pub(crate) coupling: &'a Coupling,
}

/// The law, with room for its solution.
#[derive(Default)]
pub(crate) struct Law {
    layout: Layout,
    interface: Interface,
    /// M = th S + D/2 per subsystem.
    blocks: Vec<Matrix>,
    /// 1/2 where an output may follow an input at once, per subsystem: what S says of others is no D.
    through: Vec<Matrix>,
    /// Whether an output follows any input at once.
    follows: Vec<bool>,
    eta: Vec<f64>,
    mean_external: Vec<f64>,
    /// How far ahead held inputs look, in halves of a step: 1 for the mean over it, 2 for its end.
    halves: Vec<f64>,
}

impl Law {
    pub(crate) fn new(system: &SystemView<'_>) -> Self {
        Self::of_learning(system, |_| true)
    }

    /// The same where nothing is learnt of some subsystems: their S is zero, and takes no room.
    pub(crate) fn of_learning(system: &SystemView<'_>, learns: impl Fn(usize) -> bool) -> Self {
        let layout = system.layout;
        let inputs = |i: usize| if learns(i) { layout.input_range(i).len() } else { 0 };
        let size = |i: usize| (layout.output_range(i).len(), inputs(i));
        let through = |i: usize| {
            let mut through = Matrix::zeros(size(i).0, size(i).1);
            for (row, list) in system.descriptions[i].feedthrough.iter().enumerate() {
                list.iter().filter(|j| **j < size(i).1).for_each(|j| through[(row, *j)] = 0.5);
            }
            through
        };
        let lists = system.descriptions.iter().flat_map(|description| &description.feedthrough);
        let blocks = (0..layout.subsystems()).map(|i| Matrix::zeros(size(i).0, size(i).1)).collect();
        let through = (0..layout.subsystems()).map(through).collect();
        Self {
            layout: layout.clone(),
            blocks,
            interface: Interface::of_responding(system, 1, learns),
            through,
            follows: lists.map(|list| !list.is_empty()).collect(),
            eta: vec![0.0; layout.outputs()],
            mean_external: vec![0.0; layout.inputs()],
            halves: vec![1.0; layout.inputs()],
        }
    }

    /// Lets held inputs of a subsystem look at the end of the step, or again at its mean.
    pub(crate) fn look_at_end(&mut self, i: usize, at_end: bool) {
        self.halves[self.layout.input_range(i)].fill(if at_end { 2.0 } else { 1.0 });
    }

    /// How far ahead held inputs look, in halves of a step.
    pub(crate) fn halves(&self) -> &[f64] {
        &self.halves
    }

    /// The same, to be restored.
    pub(crate) fn halves_mut(&mut self) -> &mut [f64] {
        &mut self.halves
    }

    /// Whether all outputs of a subsystem may follow its inputs at once.
    pub(crate) fn follows_in_all_outputs(&self, i: usize) -> bool {
        self.layout.output_range(i).all(|output| self.follows_at_once(output))
    }

    /// Whether an output may follow an input at once.
    pub(crate) fn follows_at_once(&self, output: usize) -> bool {
        self.follows[output]
    }

    /// Fills u of the group; u = z if the system cannot be solved, which false tells.
    pub(crate) fn solve<'a>(
        &mut self,
        form: Form,
        inputs: &InputSet,
        start: &Start<'_>,
        affine: impl Fn(usize) -> &'a Affine,
        u: &mut [f64],
    ) -> bool {
        let share = if form == Form::Hold { 0.5 } else { 1.0 };
        // Inputs of other groups are taken as they stand.
        self.mean_external.copy_from_slice(start.coupled);
        let over_step = if form == Form::Hold { start.held } else { start.external.1 };
        inputs.copy(over_step, &mut self.mean_external);
        if form == Form::Hold {
            // The mean is half way from z_k to the end: u = z_k + 2 (mean - z_k).
            for j in inputs.iter().filter(|j| self.halves[*j] > 1.0) {
                self.mean_external[j] = start.external.1[j] - (start.coupled[j] - start.external_now[j]);
            }
        }
        for i in 0..self.blocks.len() {
            self.set_up(i, share, form, start, affine(i));
        }
        let Self { interface, blocks, eta, mean_external, halves, .. } = self;
        let regular = interface.factor(|i| &blocks[i]);
        if regular {
            interface.solve(|i| &blocks[i], eta);
        }
        let sound = regular && eta.iter().all(|v| v.is_finite());
        for j in inputs.iter() {
            let halves = if form == Form::Hold { halves[j] } else { 1.0 };
            u[j] =
                if sound { halves * start.coupling.row(j, eta) + mean_external[j] } else { start.coupled[j] };
        }
        sound
    }

    /// M of a subsystem, and its part of b + M r.
    fn set_up(&mut self, i: usize, share: f64, form: Form, start: &Start<'_>, affine: &Affine) {
        let (outputs, inputs) = (self.layout.output_range(i), self.layout.input_range(i));
        let m = self.blocks[i].columns();
        let (u, r) = (&start.u[inputs.clone()], &self.mean_external[inputs.clone()]);
        let looks_at_end = form == Form::Hold && self.halves[inputs.clone()].first() == Some(&2.0);
        for (row, at) in outputs.enumerate() {
            // Under inputs of the end of the step an output is not stale.
            let has_direct = form == Form::Hold && !looks_at_end;
            let mut sum = (1.0 - share) * start.y[at] + share * affine.offset[row];
            for j in 0..m {
                let gain = affine.gain[row * m + j];
                let through = if has_direct { self.through[i][(row, j)] } else { 0.0 };
                let at_once = through * affine.direct[row * m + j];
                let entry = (share + at_once) * gain;
                self.blocks[i][(row, j)] = if looks_at_end { 2.0 * entry } else { entry };
                sum += entry * r[j] - at_once * gain * u[j];
            }
            self.eta[at] = sum;
        }
    }
}

/// Keeps inputs near the coupling signal.
#[derive(Default)]
pub(crate) struct Guard {
    /// An input stays within so many of the change of external inputs, beside that of the coupling signal.
    known: f64,
    /// z at the last point.
    last: Vec<f64>,
    started: bool,
    /// |change of z| over the last steps.
    changes: Lags,
    room: Vec<f64>,
}

impl Guard {
    /// With the greatest changes of the last `look_back` steps.
    pub(crate) fn new(inputs: usize, look_back: usize, known: f64) -> Self {
        Self {
            known,
            last: vec![0.0; inputs],
            started: false,
            changes: Lags::new(inputs, look_back),
            room: vec![0.0; inputs],
        }
    }

    /// Forgets all points.
    pub(crate) fn clear(&mut self) {
        self.started = false;
        self.changes.clear();
    }

    /// Takes note of z at a point.
    pub(crate) fn observe(&mut self, coupled: &[f64]) {
        if self.started {
            for (room, (now, last)) in self.room.iter_mut().zip(coupled.iter().zip(&self.last)) {
                *room = (now - last).abs();
            }
            self.changes.push(&self.room);
        }
        self.started = true;
        self.last.copy_from_slice(coupled);
    }

    /// Cuts inputs that go too far, by so many of the greatest changes.
    pub(crate) fn clip(&self, changes: f64, inputs: &InputSet, start: &Start<'_>, u: &mut [f64]) {
        for j in inputs.iter() {
            let greatest = (0..self.changes.len()).map(|lag| self.changes.get(lag)[j]).fold(0.0, f64::max);
            // A peak between two points is the same at both of them, and yet there.
            let known = (start.external.1[j] - start.external.0[j])
                .abs()
                .max((start.held[j] - start.external_now[j]).abs());
            let limit = changes * greatest + self.known * known;
            let z = start.coupled[j];
            let bounded = (z - limit).is_finite() && (z + limit).is_finite();
            u[j] = if bounded { u[j].clamp(z - limit, z + limit) } else { z };
        }
    }

    pub(crate) fn save(&self, out: &mut StateWriter) {
        out.reals(&self.last);
        out.integer(u64::from(self.started));
        self.changes.save(out);
    }

    pub(crate) fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        from.reals(&mut self.last)?;
        self.started = from.index(2)? == 1;
        self.changes.load(from)
    }
}
