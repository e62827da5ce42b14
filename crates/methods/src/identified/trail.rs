//! The last points of a run with steps of varying length, and what lies between them.

use costep_core::{Result, StateReader, StateWriter};
use costep_ident::Lags;

use crate::shared::law::Form;

/// Points that are remembered: two steps of half a length, and one more for a parabola.
const POINTS: usize = 4;
/// Times this near, as a share of how long ago they are, are the same.
const SAME: f64 = 1e-6;

/// Times, inputs that were applied at the end of the step before, and outputs.
#[derive(Default)]
pub(super) struct Trail {
    times: Lags,
    u: Lags,
    y: Lags,
    u_found: Vec<f64>,
    y_found: Vec<f64>,
}

impl Trail {
    pub(super) fn new(inputs: usize, outputs: usize) -> Self {
        Self {
            times: Lags::new(1, POINTS),
            u: Lags::new(inputs, POINTS),
            y: Lags::new(outputs, POINTS),
            u_found: vec![0.0; inputs],
            y_found: vec![0.0; outputs],
        }
    }

    pub(super) fn push(&mut self, t: f64, u: &[f64], y: &[f64]) {
        self.times.push(&[t]);
        self.u.push(u);
        self.y.push(y);
    }

    /// Inputs and outputs at the newest point.
    pub(super) fn newest(&self) -> Option<(&[f64], &[f64])> {
        (!self.times.is_empty()).then(|| (self.u.get(0), self.y.get(0)))
    }

    /// Looks for inputs and outputs so long ago. False if that is before the first point.
    pub(super) fn look_back(&mut self, ago: f64, form: Form) -> bool {
        let points = self.times.len();
        let back = |i: usize| self.times.get(0)[0] - self.times.get(i)[0];
        // The first point that is at least as long ago.
        let Some(older) = (1..points).find(|i| back(*i) >= ago * (1.0 - SAME)) else { return false };
        let is_there = (back(older) - ago).abs() <= SAME * ago;
        if is_there {
            self.u_found.copy_from_slice(self.u.get(older));
            self.y_found.copy_from_slice(self.y.get(older));
            return true;
        }
        let newer = older - 1;
        let third = if older + 1 < points { Some(older + 1) } else { newer.checked_sub(1) };
        let (a, b) = (back(newer), back(older));
        let share = (ago - a) / (b - a);
        // A parabola is the line and a part of what the third point is beside it.
        let bend = third.map(|i| (i, (back(i) - a) / (b - a)));
        for (j, found) in self.y_found.iter_mut().enumerate() {
            let line = |share: f64| (1.0 - share) * self.y.get(newer)[j] + share * self.y.get(older)[j];
            let beside = bend.map_or(0.0, |(i, at)| {
                (self.y.get(i)[j] - line(at)) * share * (share - 1.0) / (at * (at - 1.0))
            });
            *found = line(share) + beside;
        }
        for (j, found) in self.u_found.iter_mut().enumerate() {
            let (new, old) = (self.u.get(newer)[j], self.u.get(older)[j]);
            *found = if form == Form::Hold { new } else { (1.0 - share) * new + share * old };
        }
        true
    }

    /// What was found: inputs and outputs.
    pub(super) fn found(&self) -> (&[f64], &[f64]) {
        (&self.u_found, &self.y_found)
    }

    pub(super) fn save(&self, out: &mut StateWriter) {
        [&self.times, &self.u, &self.y].into_iter().for_each(|lags| lags.save(out));
    }

    pub(super) fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.times.load(from)?;
        self.u.load(from)?;
        self.y.load(from)?;
        self.times.check_same_length(&self.u)?;
        self.times.check_same_length(&self.y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parabolas_are_met_between_points_and_points_as_they_are() {
        let mut trail = Trail::new(1, 1);
        let y = |t: f64| 3.0 - 2.0 * t + 0.5 * t * t;
        assert!(!trail.look_back(0.1, Form::Hold));
        for t in [0.0, 1.0, 3.0, 4.0] {
            trail.push(t, &[t], &[y(t)]);
        }
        for (ago, form, u) in [
            (0.5, Form::Hold, 4.0),
            (0.5, Form::Ramp, 3.5),
            (1.0, Form::Hold, 3.0),
            (2.5, Form::Hold, 3.0),
            (4.0, Form::Ramp, 0.0),
        ] {
            assert!(trail.look_back(ago, form));
            let (inputs, outputs) = trail.found();
            assert!(
                (outputs[0] - y(4.0 - ago)).abs() < 1e-12 && inputs[0] == u,
                "{ago}: {inputs:?} {outputs:?}"
            );
        }
        assert!(!trail.look_back(4.1, Form::Hold));
    }
}
