//! Predictive coupling with identified models: inputs that equal the outputs which they will cause. A discrete model knows outputs
//! at communication points only, so inputs are held, at the mean of both ends of the step (`shared/law.rs`).

use costep_core::{InputSet, Layout, Result, StateReader, StateWriter, SystemView};
use costep_ident::Affine;

use super::{ModelLaw, Point};
use crate::shared::law::{Form, Law, Start};
use crate::shared::per_subsystem::row;

pub(super) struct Predicted {
    inputs: InputSet,
    law: Law,
    affine: Vec<Affine>,
    /// External inputs as held over the step.
    held: Vec<f64>,
    layout: Layout,
}

impl Predicted {
    pub(super) fn new() -> Self {
        Self {
            inputs: InputSet::All(0),
            law: Law::default(),
            affine: Vec::new(),
            held: Vec::new(),
            layout: Layout::default(),
        }
    }
}

impl ModelLaw for Predicted {
    fn prepare(&mut self, system: &SystemView<'_>) -> Result<()> {
        let layout = system.layout;
        self.inputs = system.inputs.clone();
        self.law = Law::new(system);
        let affine = |i: usize| Affine::new(layout.input_range(i).len(), layout.output_range(i).len());
        self.affine = (0..layout.subsystems()).map(affine).collect();
        self.held = vec![0.0; layout.inputs()];
        self.layout = layout.clone();
        Ok(())
    }

    fn pass(&mut self, _point: &Point<'_>) {}

    fn solve(&mut self, point: &Point<'_>, u: &mut [f64]) -> bool {
        for (i, affine) in self.affine.iter_mut().enumerate() {
            let Some(model) = point.models.interface(i) else { return false };
            let (y, held) = (&point.y[self.layout.output_range(i)], &point.u[self.layout.input_range(i)]);
            affine.gain.copy_from_slice(&model.d_up);
            for (k, offset) in affine.offset.iter_mut().enumerate() {
                *offset = model.offset[k] + row(&model.d_y, k, y) + row(&model.d_u, k, held);
            }
        }
        self.held.iter_mut().enumerate().for_each(|(j, held)| *held = point.mean_external(j));
        let start = Start {
            y: point.y,
            coupled: point.coupled,
            u: point.u,
            external: point.external,
            external_now: point.external.0,
            held: &self.held,
            coupling: point.coupling,
        };
        let affine = &self.affine;
        u.copy_from_slice(point.coupled);
        self.law.solve(Form::Hold, &self.inputs, &start, |i| &affine[i], u)
    }

    fn save(&self, _out: &mut StateWriter) {}

    fn load(&mut self, _from: &mut StateReader<'_>) -> Result<()> {
        Ok(())
    }
}
