//! What a signal-based method sees of the outputs: the last value, the mean over the step, or the value freed
//! from the stale input.
//!
//! `smooth`: the mean of each output over the last macro step, as anti-aliasing (\[G18] section 3.2). Costs half a
//! step of delay, so the order falls to one.
//!
//! `feedthrough`: an output y = C x + D u is read under the input of the step that has just ended. Put in the new
//! input: (I - D L) y = (y - D u_end) + D r. D is the exact direct feedthrough of the local models. This is the
//! parallel linear correction, MBCorr with B_d = 0 ([H18 (2)]).

use costep_core::{
    Arrival, Code, Error, InputSet, KnownInputs, Layout, ModelDemand, Options, Request, Result, SampleRule,
    SystemView, mean_outputs, options,
};
use costep_linalg::Matrix;

use super::interface::Interface;

options! {
    /// Options of methods that form inputs from signals.
    pub(crate) struct SeenOptions {
        /// couple the mean of each output over the last macro step (anti-aliasing)
        smooth: bool = false;
        /// remove the stale input from outputs with direct feedthrough; needs local models
        feedthrough: bool = false;
    }
}

/// How the coupled inputs of a group are formed from outputs.
#[derive(Default)]
pub(crate) struct SeenOutputs {
    smooth: bool,
    correct: bool,
    inputs: Option<InputSet>,
    layout: Layout,
    /// Outputs as seen, per output.
    seen: Vec<f64>,
    correction: Correction,
}

impl SeenOutputs {
    /// As the options say.
    pub(crate) fn new(options: &Options) -> Self {
        let SeenOptions { smooth, feedthrough } = SeenOptions::read(options);
        Self { smooth, correct: feedthrough, ..Self::default() }
    }

    /// Always with the stale feedthrough removed.
    pub(crate) fn corrected() -> Self {
        Self { correct: true, ..Self::default() }
    }

    /// What it adds to the request of a method.
    pub(crate) fn request(&self) -> Request {
        Request {
            micro_samples: self.smooth,
            forms_coupled: self.smooth || self.correct,
            // A smoothed input is the mean of the last step everywhere, also along feed-forward connections.
            known_inputs: if self.smooth { KnownInputs::Kept } else { KnownInputs::Interpolated },
            models: if self.correct { ModelDemand::Feedthrough } else { ModelDemand::None },
            ..Request::default()
        }
    }

    pub(crate) fn prepare(&mut self, system: &SystemView<'_>) {
        self.inputs = Some(system.inputs.clone());
        self.layout = system.layout.clone();
        self.seen = vec![0.0; system.layout.outputs()];
        if self.correct {
            self.correction = Correction::new(system);
        }
    }

    /// z = L y_seen + r for the inputs of the group.
    pub(crate) fn form_coupled(&mut self, arrival: &Arrival<'_>, coupled: &mut [f64]) -> Result<()> {
        if self.smooth {
            mean_outputs(
                SampleRule::Declared,
                (arrival.micro, &self.layout),
                0..self.layout.subsystems(),
                (arrival.y_before, arrival.y),
                &mut self.seen,
            );
        } else {
            self.seen.copy_from_slice(arrival.y);
        }
        if self.correct {
            self.correction.apply(arrival, coupled, &mut self.seen)?;
        }
        for j in self.inputs.iter().flat_map(InputSet::iter) {
            coupled[j] = arrival.coupling.row(j, &self.seen) + arrival.external[j];
        }
        Ok(())
    }
}

/// Removes the stale feedthrough.
#[derive(Default)]
struct Correction {
    layout: Layout,
    interface: Interface,
    /// D of each subsystem and the version it is of.
    blocks: Vec<Matrix>,
    versions: Vec<Option<u64>>,
    /// Whether an input belongs to the group.
    is_ours: Vec<bool>,
}

impl Correction {
    fn new(system: &SystemView<'_>) -> Self {
        let layout = system.layout;
        let block = |i: usize| Matrix::zeros(layout.output_range(i).len(), layout.input_range(i).len());
        Self {
            layout: layout.clone(),
            interface: Interface::new(system, 1),
            blocks: (0..layout.subsystems()).map(block).collect(),
            versions: vec![None; layout.subsystems()],
            is_ours: {
                let mut is_ours = vec![false; layout.inputs()];
                system.inputs.iter().for_each(|j| is_ours[j] = true);
                is_ours
            },
        }
    }

    fn apply(&mut self, arrival: &Arrival<'_>, coupled: &[f64], y: &mut [f64]) -> Result<()> {
        self.refresh(arrival)?;
        for (i, d) in self.blocks.iter().enumerate() {
            let (us, ys) = (self.layout.input_range(i), self.layout.output_range(i));
            for (row, at) in ys.enumerate() {
                // The old input goes out; what does not come through the interface comes in here.
                let fresh = |j: usize| if self.is_ours[j] { arrival.external[j] } else { coupled[j] };
                let change = |(d, j): (&f64, usize)| d * (fresh(j) - arrival.u_end[j]);
                y[at] += d.row(row).iter().zip(us.clone()).map(change).sum::<f64>();
            }
        }
        let blocks = &self.blocks;
        self.interface.solve(|i| &blocks[i], y);
        Ok(())
    }

    fn refresh(&mut self, arrival: &Arrival<'_>) -> Result<()> {
        let mut changed = false;
        for (i, block) in self.blocks.iter_mut().enumerate() {
            let Some(model) = arrival.models.model(i) else { continue };
            let version = Some(arrival.models.version(i));
            if self.versions[i] != version {
                self.versions[i] = version;
                block.data_mut().copy_from_slice(&model.d);
                changed = true;
            }
        }
        let blocks = &self.blocks;
        if changed && !self.interface.factor(|i| &blocks[i]) {
            return Err(singular_loop());
        }
        Ok(())
    }
}

/// The loop of direct feedthrough has no solution.
pub(crate) fn singular_loop() -> Error {
    Error::new(Code::AlgebraicLoop, "the loop of direct feedthrough is singular: I - D L has no inverse")
        .hint("add a delay or a state to one of the connections of the loop")
}
