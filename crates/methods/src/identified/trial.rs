//! Whether the coupling of the identified models is stable at the whole step: they are run on by themselves, with signals
//! from outside at rest, before the subsystems are.

use costep_core::{InputSet, Layout, Signals};
use costep_ident::Past;

use super::SubsystemLearner;
use super::outside::Outside;
use super::tuning::TrialTuning;
use crate::shared::law::{Form, Law, Start};

/// Room for a trial.
#[derive(Default)]
pub(super) struct Trial {
    tuning: TrialTuning,
    pasts: Vec<Past>,
    y: Vec<f64>,
    coupled: Vec<f64>,
    u_last: Vec<f64>,
    u: Vec<f64>,
}

/// What a trial is about.
pub(super) struct Subject<'a> {
    pub(super) form: Form,
    pub(super) inputs: &'a InputSet,
    pub(super) layout: &'a Layout,
    pub(super) outside: &'a Outside,
}

impl Trial {
    pub(super) fn new(layout: &Layout, tuning: &TrialTuning) -> Self {
        let past = |i: usize| Past::new(layout.input_range(i).len(), layout.output_range(i).len());
        Self {
            tuning: *tuning,
            pasts: (0..layout.subsystems()).map(past).collect(),
            y: vec![0.0; layout.outputs()],
            coupled: vec![0.0; layout.inputs()],
            u_last: vec![0.0; layout.inputs()],
            u: vec![0.0; layout.inputs()],
        }
    }

    /// Whether the large-step models, coupled by the law, diverge from where the subsystems are.
    pub(super) fn runs_away(
        &mut self,
        subject: &Subject<'_>,
        law: &mut Law,
        parts: &mut [SubsystemLearner],
        signals: &Signals<'_>,
    ) -> bool {
        let TrialTuning { steps, growth, negligible, .. } = self.tuning;
        self.start(subject, parts, signals);
        let (mut early, mut late): (f64, f64) = (0.0, 0.0);
        for k in 0..steps {
            let change = self.step(subject, law, parts, signals);
            if !change.is_finite() {
                return true;
            }
            // Growth is judged by the greatest changes in the second quarter and in the last.
            match 4 * k / steps {
                1 => early = early.max(change),
                3 => late = late.max(change),
                _ => {}
            }
        }
        late > growth * early.max(negligible)
    }

    fn start(&mut self, subject: &Subject<'_>, parts: &[SubsystemLearner], signals: &Signals<'_>) {
        self.y.copy_from_slice(signals.y);
        self.coupled.copy_from_slice(signals.coupled);
        for (i, part) in parts.iter().enumerate() {
            let past = part.coarse.past();
            self.pasts[i].clear();
            for lag in (0..past.y.len()).rev() {
                self.pasts[i].push(past.u.get(lag), past.y.get(lag));
            }
            self.u_last[subject.layout.input_range(i)].copy_from_slice(past.u.get(0));
        }
    }

    /// One step of all models. Gives the greatest change of an output, relative to its size; not a number if one runs out of bounds.
    fn step(
        &mut self,
        subject: &Subject<'_>,
        law: &mut Law,
        parts: &mut [SubsystemLearner],
        signals: &Signals<'_>,
    ) -> f64 {
        for (part, past) in parts.iter_mut().zip(&self.pasts) {
            part.coarse.affine_from(&part.reference, past, &mut part.affine);
        }
        let start = Start {
            y: &self.y,
            coupled: &self.coupled,
            u: &self.u_last,
            external: subject.outside.ends(),
            external_now: signals.external,
            held: subject.outside.held(),
            coupling: signals.coupling,
        };
        law.solve(subject.form, subject.inputs, &start, |i| &parts[i].affine, &mut self.u);
        let mut greatest: f64 = 0.0;
        for (i, part) in parts.iter().enumerate() {
            let (us, ys) = (subject.layout.input_range(i), subject.layout.output_range(i));
            let u = &self.u[us];
            for (row, (y, weight)) in self.y[ys.clone()].iter_mut().zip(part.fine.weights()).enumerate() {
                let ahead = part.affine.at(row, u);
                // What is not a number must not be lost, not even in an output that has not moved yet.
                if !ahead.is_finite() {
                    return f64::NAN;
                }
                if *weight > 0.0 {
                    greatest = greatest.max(((ahead - *y) / weight).abs());
                }
                *y = ahead;
            }
            self.pasts[i].push(u, &self.y[ys]);
        }
        for j in subject.inputs.iter() {
            self.coupled[j] = signals.coupling.row(j, &self.y) + signals.external[j];
        }
        self.u_last.copy_from_slice(&self.u);
        greatest
    }
}
