//! The signals that go from subsystem to subsystem.

use costep_core::{
    Arrival, EnvironmentModel, External, History, InputPolynomials, Interval, KnownInputs, ModelSource,
    Request, Result, SampleRule, Signals, StateReader, StateWriter, StepContext, mean_outputs,
};

use crate::guard::Moment;
use crate::ledger::Ledger;
use crate::plan::Plan;
use crate::plant::Plant;
use crate::system::Group;

/// The signals of a system at T^k and over the step that follows.
pub(crate) struct Exchange {
    /// y^k and y^(k+1).
    pub(crate) y: Vec<f64>,
    pub(crate) y_next: Vec<f64>,
    /// z^k = L y^k + r(T^k).
    pub(crate) coupled: Vec<f64>,
    /// r(T^k), r(T^(k+1)), and the mean between.
    pub(crate) external: Vec<f64>,
    pub(crate) external_next: Vec<f64>,
    pub(crate) external_mean: Vec<f64>,
    pub(crate) history: History,
    pub(crate) inputs: InputPolynomials,
    /// Length of the step, or part of one, that `inputs` are of; 0 at the start.
    pub(crate) last_length: f64,
    /// Means of outputs over the step, where inputs are held at them.
    mean: Vec<f64>,
    /// u(T^k) at the end of the last step, if somebody needs it.
    pub(crate) u_end: Vec<f64>,
    /// Subsystems whose inputs may end otherwise than their polynomials.
    own_ends: Vec<usize>,
    /// The rest of the system as each subsystem sees it, if a method asks for it.
    pub(crate) environments: Vec<EnvironmentModel>,
}

impl Exchange {
    /// Room for everything that is exchanged, with the inputs over a step.
    pub(crate) fn new(plan: &Plan, inputs: InputPolynomials, requests: &[Request]) -> Self {
        // A parabola through known inputs goes through their last value too, and what stood still had it.
        let asked = requests.iter().map(|request| request.history).max().unwrap_or(0);
        let looks_for_switches =
            requests.iter().any(|request| request.known_inputs == KnownInputs::MeanUnlessSwitched);
        let history = asked.max(usize::from(inputs.order() > 1 || looks_for_switches));
        let has_environments = requests.iter().any(|request| request.inputs.has_environment());
        let environments = if has_environments { plan.layout.subsystems() } else { 0 };
        let (u, y) = (plan.layout.inputs(), plan.layout.outputs());
        Self {
            y: vec![0.0; y],
            y_next: vec![0.0; y],
            coupled: vec![0.0; u],
            external: vec![0.0; u],
            external_next: vec![0.0; u],
            external_mean: vec![0.0; u],
            history: History::new(u, history),
            inputs,
            last_length: 0.0,
            mean: vec![0.0; y],
            u_end: vec![0.0; u],
            own_ends: Vec::new(),
            environments: vec![EnvironmentModel::default(); environments],
        }
    }

    /// What methods see.
    pub(crate) fn signals<'a>(
        &'a mut self,
        plan: &'a Plan,
        plant: &'a Plant,
        models: &'a dyn ModelSource,
    ) -> Signals<'a> {
        Signals {
            y: &self.y,
            coupled: &self.coupled,
            y_next: &self.y_next,
            external: &self.external,
            external_next: &self.external_next,
            external_mean: &self.external_mean,
            externals: &plan.externals,
            coupling: &plan.coupling,
            history: &self.history,
            inputs: &mut self.inputs,
            micro: plan.micro(plant),
            descriptions: &plan.descriptions,
            models,
            environments: &mut self.environments,
            u_end: &self.u_end,
        }
    }

    /// r at both ends of the step, or part, to come, as seen from inside it, and its mean.
    #[inline(always)]
    pub(crate) fn sample_externals(&mut self, plan: &Plan, step: &Interval) {
        if !plan.externals.is_empty() {
            self.sample_all(plan, step);
        }
    }

    #[inline(never)]
    fn sample_all(&mut self, plan: &Plan, step: &Interval) {
        sample(&plan.externals, &mut self.external, |_, signal| signal.value_after(step.start));
        // Discrete signals that are known at the end of a step are those from then on, as outputs are.
        sample(&plan.externals, &mut self.external_next, |j, signal| match plan.held.binary_search(&j) {
            Ok(_) => signal.value(step.end),
            Err(_) => signal.value_before(step.end),
        });
        sample(&plan.externals, &mut self.external_mean, |_, signal| signal.mean(step.start, step.end));
    }

    /// Begins with these outputs, as at a start.
    pub(crate) fn begin_with(&mut self, plan: &Plan, y: &[f64]) {
        self.y.copy_from_slice(y);
        plan.coupling.apply(&self.y, &mut self.coupled);
        for j in plan.external_inputs.iter().copied() {
            self.coupled[j] += self.external[j];
        }
        self.inputs.coefficients_mut(0).copy_from_slice(&self.coupled);
    }

    /// What comes from outside to one input has changed.
    pub(crate) fn external_has_changed(&mut self, plan: &Plan, input: usize, step: &Interval) {
        let before = self.external[input];
        self.sample_externals(plan, step);
        self.coupled[input] += self.external[input] - before;
        if plan.roles.forming.is_empty() {
            self.coupled[input] = plan.coupling.row(input, &self.y) + self.external[input];
        }
    }

    /// Inputs whose sources have already stepped go to their known end value: as a hold of that value (or of the
    /// mean, if the method prefers it), a line or a parabola, in the order of their method.
    #[inline(always)]
    pub(crate) fn interpolate_known_inputs(
        &mut self,
        plan: &Plan,
        stage: usize,
        ledger: &Ledger,
    ) -> Result<()> {
        let known = &plan.schedule.known_inputs[stage];
        if known.is_empty() { Ok(()) } else { self.interpolate_all(plan, known, &ledger.now) }
    }

    #[inline(never)]
    fn interpolate_all(&mut self, plan: &Plan, known: &[usize], step: &StepContext) -> Result<()> {
        known.iter().for_each(|j| self.interpolate(plan, *j, step));
        self.add_externals(plan, known, step);
        let lowered = known.iter().filter(|j| plan.formed_orders[**j] > plan.input_orders[**j]);
        lowered.for_each(|j| self.inputs.lower(*j, plan.input_orders[*j], step.h));
        let at = Moment { time: step.t_next, step: step.k };
        known.iter().try_for_each(|j| plan.guard.check_input(at, *j, &self.inputs))
    }

    fn interpolate(&mut self, plan: &Plan, j: usize, step: &StepContext) {
        let (h, order) = (step.h, plan.formed_orders[j]);
        if plan.is_held_at_mean(j) && !self.is_switched(plan, j) {
            self.inputs.coefficients_mut(0)[j] = plan.coupling.row(j, &self.mean) + self.external_mean[j];
            return;
        }
        let end = plan.coupling.row(j, &self.y_next);
        if order == 0 {
            self.inputs.coefficients_mut(0)[j] = end + self.external_next[j];
            return;
        }
        // Without the external share, which is known better.
        let start = self.coupled[j] - self.external[j];
        let slope = (end - start) / h;
        let curvature = if order >= 2 && !self.history.is_empty() {
            let gap = step.t - self.history.time(1);
            (slope - (start - self.history.coupled(1)[j]) / gap) / (h + gap)
        } else {
            0.0
        };
        self.inputs.coefficients_mut(0)[j] = start;
        self.inputs.coefficients_mut(1)[j] = slope - h * curvature;
        for a in 2..=order {
            self.inputs.coefficients_mut(a)[j] = if a == 2 { curvature } else { 0.0 };
        }
    }

    /// Whether what an input is connected to stood still before this step, and does not any more.
    fn is_switched(&self, plan: &Plan, j: usize) -> bool {
        if !plan.looks_for_switches(j) || self.history.is_empty() {
            return false;
        }
        let start = self.coupled[j] - self.external[j];
        start == self.history.coupled(1)[j] && start != plan.coupling.row(j, &self.y_next)
    }

    /// The external share of known inputs that are not held.
    fn add_externals(&mut self, plan: &Plan, known: &[usize], step: &StepContext) {
        let is_meant = |j: usize| {
            plan.formed_orders[j] > 0 && !plan.is_held_at_mean(j) && known.binary_search(&j).is_ok()
        };
        for (j, signal) in plan.externals.iter().filter(|(j, _)| is_meant(*j)) {
            let order = plan.formed_orders[*j];
            for (a, c) in signal.over(&step.interval(), order).into_iter().enumerate().take(order + 1) {
                self.inputs.coefficients_mut(a)[*j] += c;
            }
        }
    }

    /// Means over the step of the outputs of a stage, where a later stage may want them.
    #[inline(always)]
    pub(crate) fn take_means(&mut self, plan: &Plan, plant: &Plant, stage: usize) {
        if plan.holds_means() && stage + 1 < plan.schedule.stages.len() {
            let chosen = plan.schedule.stages[stage].iter().copied();
            let outputs = (&self.y[..], &self.y_next[..]);
            let inside = (plan.micro(plant), &plan.layout);
            mean_outputs(SampleRule::Declared, inside, chosen, outputs, &mut self.mean);
        }
    }

    /// The outputs at the end of a step, or of a part of one, become those at the start of the next.
    #[inline(always)]
    pub(crate) fn move_on(&mut self, step: Interval) {
        self.history.push(step.start, &self.coupled, &self.external);
        std::mem::swap(&mut self.y, &mut self.y_next);
        self.last_length = step.length;
    }

    /// z = L y + r, or what a method makes of it.
    #[inline(always)]
    pub(crate) fn form_coupled(
        &mut self,
        plan: &Plan,
        plant: &Plant,
        models: &dyn ModelSource,
        groups: &mut [Group],
    ) -> Result<()> {
        plan.coupling.apply(&self.y, &mut self.coupled);
        for j in plan.external_inputs.iter().copied() {
            self.coupled[j] += self.external[j];
        }
        match plan.roles.forming.is_empty() {
            true => Ok(()),
            false => self.let_methods_form_coupled(plan, plant, models, groups),
        }
    }

    #[inline(never)]
    fn let_methods_form_coupled(
        &mut self,
        plan: &Plan,
        plant: &Plant,
        models: &dyn ModelSource,
        groups: &mut [Group],
    ) -> Result<()> {
        for g in plan.roles.forming.iter().copied() {
            let arrival = Arrival {
                y_before: &self.y_next,
                y: &self.y,
                u_end: &self.u_end,
                external: &self.external,
                coupling: &plan.coupling,
                micro: plan.micro(plant),
                models,
            };
            groups[g].method.form_coupled(&arrival, &mut self.coupled)?;
        }
        Ok(())
    }

    /// Asks once which subsystems have inputs that end otherwise than their polynomials. With a model of the environment at
    /// hand each of them may, later on.
    #[cold]
    pub(crate) fn find_own_ends(&mut self, plant: &Plant) {
        let may = |i: &usize| !self.environments.is_empty() || plant.input_at_end(*i).is_some();
        self.own_ends = (0..plant.len()).filter(may).collect();
    }

    /// The inputs at the end of a step of this length.
    #[inline(always)]
    pub(crate) fn evaluate_inputs(&self, plan: &Plan, plant: &Plant, length: f64, u: &mut [f64]) {
        self.inputs.evaluate(length, u);
        for i in self.own_ends.iter().copied() {
            if let Some(end) = plant.input_at_end(i) {
                u[plan.layout.input_range(i)].copy_from_slice(end);
            }
        }
    }

    /// Whether the inputs are those over the whole of a macro step of this length.
    #[inline(always)]
    pub(crate) fn covers(&self, length: f64) -> bool {
        self.last_length == length && self.own_ends.is_empty()
    }

    /// The means of the inputs over a macro step of this length; where they are not known, the inputs at its end, and false.
    #[inline]
    pub(crate) fn mean_inputs(&self, (plan, plant): (&Plan, &Plant), length: f64, u: &mut [f64]) -> bool {
        let is_whole = self.covers(length);
        match is_whole {
            true => self.inputs.means(length, u),
            false => self.evaluate_inputs(plan, plant, self.last_length, u),
        }
        is_whole
    }

    /// The inputs over a macro step of this length, where all were held over the whole of it.
    #[inline(always)]
    pub(crate) fn held_inputs(&self, length: f64) -> Option<&[f64]> {
        let is_held = self.inputs.order() == 0 && self.covers(length);
        is_held.then(|| self.inputs.coefficients(0))
    }

    /// Keeps u(T^k) at the end of a step of this length.
    pub(crate) fn keep_inputs_at_end(&mut self, plan: &Plan, plant: &Plant, length: f64) {
        let mut u_end = std::mem::take(&mut self.u_end);
        self.evaluate_inputs(plan, plant, length, &mut u_end);
        self.u_end = u_end;
    }

    pub(crate) fn save(&self, out: &mut StateWriter) {
        for values in [&self.y, &self.coupled, self.inputs.raw(), &self.u_end] {
            out.reals(values);
        }
        out.real(self.last_length);
        self.history.save(out);
    }

    pub(crate) fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        from.reals(&mut self.y)?;
        from.reals(&mut self.coupled)?;
        from.reals(self.inputs.raw_mut())?;
        from.reals(&mut self.u_end)?;
        self.last_length = from.real()?;
        self.history.load(from)
    }
}

fn sample(externals: &[(usize, External)], values: &mut [f64], value: impl Fn(usize, &External) -> f64) {
    for (j, _) in externals {
        values[*j] = 0.0;
    }
    for (j, signal) in externals {
        values[*j] += value(*j, signal);
    }
}
