//! What is made of the outputs on arrival at a communication point: local models and coupled inputs.

use costep_core::{Arrival, External, Interval, Observation, Result, StepContext};

use super::Engine;
use crate::job::place;

impl Engine {
    /// Arrives at T^(k+1).
    #[inline]
    pub(super) fn arrive(&mut self, context: &StepContext) -> Result<()> {
        self.k += 1;
        self.sample_externals(self.experiment.time(self.k), self.experiment.time(self.k + 1));
        self.look_around(context)?;
        if self.threads.is_undecided() {
            self.decide_on_threads();
        }
        Ok(())
    }

    #[cold]
    fn decide_on_threads(&mut self) {
        self.threads.decide(self.schedule.stages.len());
        if !self.threads.is_one() {
            self.form_lanes();
        }
    }

    /// Local models and coupled inputs at the end of a step or of a part of one.
    #[inline]
    pub(super) fn look_around(&mut self, context: &StepContext) -> Result<()> {
        if self.stepped == 0 {
            self.find_own_ends();
        }
        self.observe_models(&context.interval())?;
        self.form_coupled()
    }

    /// Asks once which subsystems have inputs that end otherwise than their polynomials. With a model of the rest at hand
    /// each of them may, later on.
    #[cold]
    fn find_own_ends(&mut self) {
        let own_end =
            |i: usize| self.subsystems[i].telemetry().is_some_and(|last| last.input_at_end().is_some());
        let may = |i: &usize| !self.environments.is_empty() || own_end(*i);
        self.own_ends = (0..self.subsystems.len()).filter(may).collect();
    }

    /// Shows the model source every subsystem at T^k.
    #[inline]
    pub(super) fn observe_models(&mut self, interval: &Interval) -> Result<()> {
        match self.needs_models || !self.forming.is_empty() {
            true => self.show_to_models(*interval),
            false => Ok(()),
        }
    }

    #[inline(never)]
    fn show_to_models(&mut self, interval: Interval) -> Result<()> {
        let mut u_end = std::mem::take(&mut self.u_end);
        self.evaluate_inputs(interval.length, &mut u_end);
        self.u_end = u_end;
        if !self.needs_models {
            return Ok(());
        }
        for (i, subsystem) in self.subsystems.iter_mut().enumerate() {
            let seen = Observation {
                k: self.k,
                interval,
                u: &self.u_end[self.layout.input_range(i)],
                y: &self.y[self.layout.output_range(i)],
            };
            self.models
                .observe(i, &mut **subsystem, &seen)
                .map_err(|error| place(&**subsystem, interval.end, self.k, error))?;
        }
        Ok(())
    }

    /// r at both ends of the step, or part, to come, as seen from inside it.
    pub(super) fn sample_externals(&mut self, start: f64, end: f64) {
        if !self.externals.is_empty() {
            sample(&self.externals, &mut self.external, |signal| signal.value(start));
            sample(&self.externals, &mut self.external_next, |signal| signal.value_before(end));
        }
    }

    /// z = L y + r, or what a method makes of it.
    #[inline]
    fn form_coupled(&mut self) -> Result<()> {
        self.coupling.apply(&self.y, &mut self.coupled);
        for j in self.external_inputs.iter().copied() {
            self.coupled[j] += self.external[j];
        }
        for g in self.forming.iter().copied() {
            let arrival = Arrival {
                y_before: &self.y_next,
                y: &self.y,
                u_end: &self.u_end,
                external: &self.external,
                coupling: &self.coupling,
                micro: &self.subsystems,
                models: &*self.models,
            };
            self.groups[g].method.form_coupled(&arrival, &mut self.coupled)?;
        }
        Ok(())
    }

    /// The inputs at the end of a step of this length.
    #[inline]
    pub(super) fn evaluate_inputs(&self, length: f64, u: &mut [f64]) {
        self.inputs.evaluate(length, u);
        for i in self.own_ends.iter().copied() {
            if let Some(end) = self.subsystems[i].telemetry().and_then(|last| last.input_at_end()) {
                u[self.layout.input_range(i)].copy_from_slice(end);
            }
        }
    }
}

fn sample(externals: &[(usize, External)], values: &mut [f64], value: impl Fn(&External) -> f64) {
    for (j, _) in externals {
        values[*j] = 0.0;
    }
    for (j, signal) in externals {
        values[*j] += value(signal);
    }
}
