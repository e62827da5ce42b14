//! Picks a coupling method from what the subsystems offer, and says which and why.
//!
//! Local models of all subsystems: `predictive` of order 2, less for inputs of subsystems that take less. Without them, an
//! algebraic loop of subsystems that can go back and take ramps: `iqn-ils`, which solves it in every step, at two steps for one. Else
//! `identified`, which learns them while the run goes; with ramps where every subsystem takes them, and with a fall-back
//! without stale feedthrough where all subsystems provide theirs. That is better than `feedthrough` itself, which holds
//! what it could learn. Where the lengths of steps vary, held inputs are formed by `nepce`, except round an algebraic loop: it is as good
//! there, and gives back what a step lacked.
//!
//! Cost is steps of subsystems: nothing here does more than one per macro step, but where a loop cannot be solved without.

use costep_core::{
    AlgebraicLoop, Arrival, CouplingMethod, Description, Deviations, Evaluation, InterfaceModel,
    Linearisation, MethodEntry, ModelsSpec, Options, Request, Result, Signals, StateReader, StateWriter,
    StepContext, SystemView, Verdict,
};

use crate::identified::{self, HoldOrRamp, IdentifiedOptions};
use crate::{iqn_ils, nepce, predictive};

/// Row of the registry.
pub const ENTRY: MethodEntry = MethodEntry {
    id: "auto",
    title: "the best method that the subsystems allow",
    summary: "Predictive coupling where all subsystems give local models, of the highest order they take; else \
              models identified during the run, with the direct feedthrough where that is known, or `nepce` where steps vary and inputs are held; \
              algebraic loops of subsystems that can go back are iterated. Reports its choice.",
    equations: "that of the chosen method",
    source: "costep",
    convergence_order: 6,
    deviations: Deviations::NONE,
    models: &[],
    options: &[],
    papers: None,
    build,
};

/// Default degree of the input polynomials of `predictive`. More accuracy is seldom worth its sensitivity to errors of
/// the model.
const ORDER: usize = 2;

struct Auto {
    picked: Box<dyn CouplingMethod>,
    reason: String,
    /// None of its own: what it picks reads its defaults from them.
    options: Options,
    models: ModelsSpec,
}

fn build(options: &Options, models: &ModelsSpec) -> Box<dyn CouplingMethod> {
    Box::new(Auto {
        picked: identified(options, HoldOrRamp::Hold, false),
        reason: String::new(),
        options: options.clone(),
        models: models.clone(),
    })
}

/// For subsystems without local models.
fn identified(options: &Options, form: HoldOrRamp, feedthrough: bool) -> Box<dyn CouplingMethod> {
    identified::with_options(IdentifiedOptions { form, feedthrough, ..IdentifiedOptions::read(options) })
}

/// The way round an algebraic loop of which the parts are sure, if every subsystem can repeat steps until it is solved, and takes
/// ramps: held inputs that come to the right value at the end of a step are of first order, and worse than what is learnt.
fn loop_to_iterate(system: &SystemView<'_>) -> Option<String> {
    let takes_ramps = system.inputs.iter().all(|j| system.order_of_input(j) > 0);
    if !takes_ramps || !system.capabilities.iter().all(|can| can.rollback) {
        return None;
    }
    sure_loop(system)
}

/// The way round an algebraic loop of which the parts are sure.
fn sure_loop(system: &SystemView<'_>) -> Option<String> {
    let SystemView { descriptions, layout, coupling, .. } = *system;
    let evaluation = Evaluation::new(descriptions, layout, coupling);
    let is_sure = |of: &&AlgebraicLoop| !of.parts.iter().any(|i| descriptions[*i].assumes_feedthrough);
    evaluation.loops().find(is_sure).map(|of| of.path(descriptions, layout, coupling))
}

impl CouplingMethod for Auto {
    fn choose(&mut self, system: &SystemView<'_>) -> Result<()> {
        let gives_less = |least| {
            let mut each = system.descriptions.iter().zip(system.capabilities);
            each.find(move |(_, can)| can.linearisation < least).map(|(description, _)| description)
        };
        if let Some(first) = gives_less(Linearisation::Full) {
            if let Some(path) = loop_to_iterate(system) {
                self.picked = (iqn_ils::ENTRY.build)(&self.options, &self.models);
                self.picked.choose(system)?;
                self.reason = format!(
                    "iqn-ils, because the outputs of {path} depend on themselves without delay, `{}` gives no local model, and all \
                     subsystems can go back",
                    first.name
                );
                return Ok(());
            }
            let holds = system.inputs.iter().find(|j| system.order_of_input(*j) == 0);
            // `nepce` gives back what a step lacked: round an algebraic loop that is more from step to step.
            if let Some(j) = holds.filter(|_| !system.equal_steps && sure_loop(system).is_none()) {
                self.picked = (nepce::ENTRY.build)(&self.options, &self.models);
                self.reason = format!(
                    "nepce, because `{}` gives no local model, steps vary, and `{}` takes held inputs only",
                    first.name,
                    system.descriptions[system.layout.input_owner(j)].name
                );
                return self.picked.choose(system);
            }
            let form = if holds.is_none() { HoldOrRamp::Ramp } else { HoldOrRamp::Hold };
            let follows_at_once = |d: &Description| d.feedthrough.iter().any(|inputs| !inputs.is_empty());
            let feedthrough = gives_less(Linearisation::Feedthrough).is_none()
                && system.descriptions.iter().any(follows_at_once);
            self.picked = identified(&self.options, form, feedthrough);
            self.picked.choose(system)?;
            let form = form.word();
            self.reason = match feedthrough {
                true => format!(
                    "identified:form={form},feedthrough=true, because all subsystems give their direct feedthrough, but \
                     `{}` no local model",
                    first.name
                ),
                false => format!("identified:form={form}, because `{}` gives no local model", first.name),
            };
            return Ok(());
        }
        self.picked = (predictive::ENTRY.build)(&self.options, &self.models);
        self.picked.choose(system)?;
        let held = system.inputs.iter().find(|j| system.order_of_input(*j) < ORDER);
        self.reason = match held {
            None => format!("predictive of order {ORDER}, because all subsystems give local models"),
            Some(j) => format!(
                "predictive, because all subsystems give local models; with inputs of order {} where `{}` and others take \
                 no higher ones",
                system.order_of_input(j),
                system.descriptions[system.layout.input_owner(j)].name
            ),
        };
        Ok(())
    }

    fn remark(&self) -> Option<&str> {
        Some(&self.reason)
    }

    fn warning(&self) -> Option<&str> {
        self.picked.warning()
    }

    fn request(&self) -> Request {
        self.picked.request()
    }

    fn prepare(&mut self, system: &SystemView<'_>) -> Result<()> {
        self.picked.prepare(system)
    }

    fn divides(&mut self, step: &StepContext, signals: &Signals<'_>) -> bool {
        self.picked.divides(step, signals)
    }

    fn form_coupled(&mut self, arrival: &Arrival<'_>, coupled: &mut [f64]) -> Result<()> {
        self.picked.form_coupled(arrival, coupled)
    }

    fn pre_step(&mut self, step: &StepContext, signals: &mut Signals<'_>) -> Result<()> {
        self.picked.pre_step(step, signals)
    }

    fn post_step(&mut self, step: &StepContext, signals: &Signals<'_>) -> Result<Verdict> {
        self.picked.post_step(step, signals)
    }

    fn diagnostic_names(&self) -> Vec<String> {
        self.picked.diagnostic_names()
    }

    fn diagnostics(&self, row: &mut [f64]) {
        self.picked.diagnostics(row);
    }

    fn switched_inputs(&self) -> Vec<usize> {
        self.picked.switched_inputs()
    }

    fn learnt_model(&self, subsystem: usize) -> Option<InterfaceModel> {
        self.picked.learnt_model(subsystem)
    }

    fn stop_learning(&mut self) -> bool {
        self.picked.stop_learning()
    }

    fn save(&self, out: &mut StateWriter) {
        self.picked.save(out);
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.picked.load(from)
    }
}
