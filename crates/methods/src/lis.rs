//! Linearly implicit stabilisation \[V14]: inside a macro step each subsystem integrates a linear model of all others
//! beside its own states, so that its inputs answer to its own outputs.
//!
//! ```text
//! xi_o' = x_o'(T^k) + A_o xi_o + B_o (u_o - u_o(T^k)),   u_s = u_s(T^k) + K_so (C_o xi_o + D_o (u_o - u_o(T^k)))
//! ```
//!
//! o: all others of the same loop, coupled among themselves; s: the subsystem itself, whose outputs drive them.
//! `form = exact` integrates xi as it stands. The paper's forms take one implicit step instead: `rate` is [V14 (26)] to
//! the letter (u' from (19), whose right-hand side is xi / tau and not its derivative: first order in h with r = 1/2),
//! `value` is the algebraic form, which is the accurate one with r = 1/2. General K and D instead of (20).
//! External inputs of the others are frozen over the step. Only for what costep integrates, built-in models and FMUs
//! for Model Exchange. Where a part cannot cooperate, all inputs are held, with a warning, as [V14 3.3] has it; `predictive`
//! does the like with polynomials there. Integrators with error control take a tenth
//! of their tolerance. One small matrix per subsystem; n^3 in the states of a loop.

use costep_core::graph::Graph;
use costep_core::{
    Arrival, Code, Condition, CouplingMethod, Deviations, EnvironmentForm, EnvironmentModel, Error, InputSet,
    InputShape, KnownInputs, Layout, Linearisation, LocalModel, MethodEntry, ModelDemand, ModelsSpec,
    Options, PaperOptions, Request, Result, Signals, StepContext, SystemView, choice, options,
};
use costep_linalg::ClosedLoop;

use crate::monolithic::hold;
use crate::shared::models::no_model;
use crate::shared::seen_outputs::{SeenOutputs, singular_loop};

/// Row of the registry.
pub const ENTRY: MethodEntry = MethodEntry {
    id: "lis",
    title: "linearly implicit stabilisation",
    summary: "Each subsystem integrates a linear environment model beside its own states, so that its \
              inputs respond inside the step. Exact for linear systems while external inputs do not jump inside a step. \
              For what costep integrates: built-in models and FMUs for Model Exchange; with other parts inputs are \
              held. The mode of a multistep integrator at communication points has no effect here.",
    equations: "u_s = u_s(T^k) + K C xi,  xi' = x'(T^k) + A xi + B K (y_s - y_s(T^k))",
    source: "[V14] (15) to (26), corrected",
    convergence_order: 2,
    deviations: Deviations::NONE,
    // It asks for Jacobians at every communication point.
    models: &[],
    options: &[],
    papers: Some(&FORMS),
    build,
};

/// Loops with more states than this are refused: every subsystem would integrate all of them.
const MOST_STATES: usize = 400;

choice! {
    /// What a subsystem does with the model of the others.
    enum Form {
        /// Integrates it.
        Exact = "exact",
        /// Takes one implicit step for its rate.
        Rate = "rate",
        /// Takes one implicit step for its value.
        Value = "value",
    }
}

/// The forms of the paper.
static FORMS: PaperOptions = PaperOptions { tag: "[V14]", options: LisOptions::SPECS, settle: |_, _| {} };

options! {
    /// What follows the paper.
    struct LisOptions {
        /// integrate the model of the others, or take one implicit step for its rate or its value
        form: Form;
        /// only of the forms rate and value: 1 backward Euler, 1/2 trapezoidal
        implicitness: f64 = 1.0 in 0.0..=1.0,
            only [Condition::on("form", &[Form::Rate.word(), Form::Value.word()])];
    }
}

fn build(options: &Options, _models: &ModelsSpec) -> Box<dyn CouplingMethod> {
    let LisOptions { form, implicitness } = LisOptions::read(options);
    Box::new(Lis {
        fallback: None,
        form: match form {
            Form::Exact => EnvironmentForm::Exact,
            Form::Rate => EnvironmentForm::Rate(implicitness),
            Form::Value => EnvironmentForm::Value(implicitness),
        },
        outputs: SeenOutputs::corrected(),
        inputs: InputSet::All(0),
        layout: Layout::default(),
        rests: Vec::new(),
        versions: Vec::new(),
    })
}

struct Lis {
    /// What is done instead where a part does not cooperate, and why.
    fallback: Option<(Box<dyn CouplingMethod>, String)>,
    form: EnvironmentForm,
    /// Coupled inputs without stale feedthrough: the linearisation starts from consistent values.
    outputs: SeenOutputs,
    inputs: InputSet,
    layout: Layout,
    rests: Vec<Rest>,
    versions: Vec<Option<u64>>,
}

/// A connection between two stacked vectors: (input, output, gain).
type Link = (usize, usize, f64);

/// All others of the loop of a subsystem.
#[derive(Default)]
struct Rest {
    members: Vec<Member>,
    /// Connections between the others, from the subsystem to them, and from them to it.
    among: Vec<Link>,
    from_own: Vec<Link>,
    to_own: Vec<Link>,
    /// The others as one system; those without a loop have none.
    closed: Option<ClosedLoop>,
}

/// One of the others, and where its signals start in the stacked vectors.
struct Member {
    subsystem: usize,
    inputs: usize,
    outputs: usize,
}

impl CouplingMethod for Lis {
    fn choose(&mut self, system: &SystemView<'_>) -> Result<()> {
        let mut parts = system.descriptions.iter().zip(system.capabilities);
        let alone = parts.find(|(_, can)| !can.environment || can.linearisation < Linearisation::Full);
        let Some((alone, _)) = alone else { return Ok(()) };
        let mut held = hold()?.build();
        held.choose(system)?;
        let warning = format!(
            "all inputs are held, as by `zoh`: `{}` integrates no model of the other parts beside its own states; FMUs for \
             Model Exchange in this process (`interface = \"me\"`) do, or take `predictive` or `identified`",
            alone.name
        );
        self.fallback = Some((held, warning));
        Ok(())
    }

    fn stands_aside(&self) -> Option<&str> {
        self.warning()
    }

    fn warning(&self) -> Option<&str> {
        self.fallback.as_ref().map(|(_, warning)| &**warning)
    }

    fn request(&self) -> Request {
        if let Some((held, _)) = &self.fallback {
            return held.request();
        }
        Request {
            inputs: InputShape::WithEnvironment { order: 1 },
            known_inputs: KnownInputs::Kept,
            models: ModelDemand::Full { states: true },
            forms_coupled: true,
            ..Request::default()
        }
    }

    fn prepare(&mut self, system: &SystemView<'_>) -> Result<()> {
        if let Some((held, _)) = &mut self.fallback {
            return held.prepare(system);
        }
        self.outputs.prepare(system);
        self.inputs = system.inputs.clone();
        self.layout = system.layout.clone();
        self.rests = rests(system);
        self.versions = vec![None; system.layout.subsystems()];
        Ok(())
    }

    fn form_coupled(&mut self, arrival: &Arrival<'_>, coupled: &mut [f64]) -> Result<()> {
        match &mut self.fallback {
            Some((held, _)) => held.form_coupled(arrival, coupled),
            None => self.outputs.form_coupled(arrival, coupled),
        }
    }

    fn pre_step(&mut self, step: &StepContext, signals: &mut Signals<'_>) -> Result<()> {
        if let Some((held, _)) = &mut self.fallback {
            return held.pre_step(step, signals);
        }
        self.inputs.copy(signals.coupled, signals.inputs.coefficients_mut(0));
        for j in self.inputs.iter() {
            signals.inputs.coefficients_mut(1)[j] = 0.0;
        }
        signals.put_in_externals(step, 1, &self.inputs);
        self.refresh(signals)?;
        self.set_rates(signals)
    }
}

impl Lis {
    /// Assembles the rests anew if a model has changed.
    fn refresh(&mut self, signals: &mut Signals<'_>) -> Result<()> {
        let mut changed = false;
        for (i, version) in self.versions.iter_mut().enumerate() {
            if signals.models.model(i).is_none() {
                return Err(no_model(signals, i));
            }
            let new = Some(signals.models.version(i));
            changed |= *version != new;
            *version = new;
        }
        if changed {
            for (s, rest) in self.rests.iter_mut().enumerate() {
                rest.assemble(s, self.form, &self.layout, signals)?;
            }
        }
        Ok(())
    }

    /// xi'(T^k) = f(x, u(T^k)) of the others: what the model source gives is under the inputs of the last step.
    fn set_rates(&self, signals: &mut Signals<'_>) -> Result<()> {
        for (s, rest) in self.rests.iter().enumerate() {
            let mut at = 0;
            for member in &rest.members {
                let models = signals.models;
                let (Some(model), Some((_, x_dot))) =
                    (models.model(member.subsystem), models.state(member.subsystem))
                else {
                    return Err(no_model(signals, member.subsystem));
                };
                let us = self.layout.input_range(member.subsystem);
                let rates = &mut signals.environments[s].model.x_dot[at..at + model.states];
                for (i, rate) in rates.iter_mut().enumerate() {
                    let row = &model.b[i * model.inputs..(i + 1) * model.inputs];
                    let jump = |(b, j): (&f64, usize)| b * (signals.coupled[j] - signals.u_end[j]);
                    *rate = x_dot[i] + row.iter().zip(us.clone()).map(jump).sum::<f64>();
                }
                at += model.states;
            }
        }
        Ok(())
    }
}

/// The others of each subsystem, with their connections.
fn rests(system: &SystemView<'_>) -> Vec<Rest> {
    let layout = system.layout;
    let mut arrows = Vec::new();
    for j in system.inputs.iter() {
        arrows
            .extend(system.coupling.sources(j).map(|(i, _)| (layout.output_owner(i), layout.input_owner(j))));
    }
    arrows.sort_unstable();
    arrows.dedup();
    let graph = Graph::new(layout.subsystems(), &arrows);
    let mut rests: Vec<Rest> = (0..layout.subsystems()).map(|_| Rest::default()).collect();
    for mut component in graph.components().into_iter().filter(|component| graph.is_loop(component)) {
        // By name, so that round-off does not depend on how the subsystems are numbered.
        component.sort_by(|a, b| system.descriptions[*a].name.cmp(&system.descriptions[*b].name));
        for s in &component {
            rests[*s] = Rest::new(*s, component.iter().copied().filter(|o| o != s), system);
        }
    }
    rests
}

impl Rest {
    fn new(own: usize, others: impl Iterator<Item = usize>, system: &SystemView<'_>) -> Self {
        let layout = system.layout;
        let mut rest = Self::default();
        let (mut inputs, mut outputs) = (0, 0);
        for subsystem in others {
            rest.members.push(Member { subsystem, inputs, outputs });
            inputs += layout.input_range(subsystem).len();
            outputs += layout.output_range(subsystem).len();
        }
        for j in system.inputs.iter() {
            for (i, gain) in system.coupling.sources(j) {
                let (to, from) = (layout.input_owner(j), layout.output_owner(i));
                let input = j - layout.input_range(to).start;
                let output = i - layout.output_range(from).start;
                let place =
                    |subsystem: usize| rest.members.iter().find(|member| member.subsystem == subsystem);
                match (place(to), place(from)) {
                    (Some(to), Some(from)) => {
                        rest.among.push((to.inputs + input, from.outputs + output, gain))
                    }
                    (Some(to), None) if from == own => rest.from_own.push((to.inputs + input, output, gain)),
                    (None, Some(from)) if to == own => rest.to_own.push((input, from.outputs + output, gain)),
                    _ => {}
                }
            }
        }
        rest
    }

    /// The others as one system that the subsystem drives: r of [`ClosedLoop`] is dy, E is K_os. a = A + B K W C,
    /// b = B (I + K W D) K_os, c = K_so W C, d = K_so W D K_os.
    fn assemble(
        &mut self,
        own: usize,
        form: EnvironmentForm,
        layout: &Layout,
        signals: &mut Signals<'_>,
    ) -> Result<()> {
        if self.members.is_empty() {
            return Ok(());
        }
        let models = signals.models;
        let model = |k: usize| models.model(self.members[k].subsystem);
        let states = |k: usize| model(k).map_or(0, |model| model.states);
        let all: usize = (0..self.members.len()).map(states).sum();
        if all > MOST_STATES {
            return Err(too_large(all));
        }
        let environment = &mut signals.environments[own];
        let fits = |closed: &ClosedLoop| {
            (0..self.members.len()).all(|k| closed.place(k).state + states(k) == closed.place(k + 1).state)
        };
        if !self.closed.as_ref().is_some_and(fits) {
            let (inputs, outputs) = (layout.input_range(own).len(), layout.output_range(own).len());
            *environment = EnvironmentModel { form, model: LocalModel::new(all, outputs, inputs) };
            let sizes = self.members.iter().enumerate().map(|(k, Member { subsystem, .. })| {
                [states(k), layout.input_range(*subsystem).len(), layout.output_range(*subsystem).len()]
            });
            self.closed = Some(ClosedLoop::new(sizes, self.among.clone(), (self.from_own.clone(), outputs)));
        }
        let Some(closed) = &mut self.closed else { return Ok(()) };
        if !closed.close(|k| model(k).map_or([&[], &[]], |model| [&model.c, &model.d])) {
            return Err(singular_loop());
        }
        let LocalModel { a, b, c, d, nominal, .. } = &mut environment.model;
        closed.couple(|k| model(k).map_or([&[], &[]], |model| [&model.a, &model.b]), a, b);
        c.fill(0.0);
        d.fill(0.0);
        for (input, output, gain) in &self.to_own {
            let (by_state, by_own) = closed.outputs().row(*output).split_at(all);
            let add = |to: &mut f64, from: &f64| *to += gain * from;
            c[input * all..].iter_mut().zip(by_state).for_each(|(to, from)| add(to, from));
            d[input * by_own.len()..].iter_mut().zip(by_own).for_each(|(to, from)| add(to, from));
        }
        for (k, model) in (0..self.members.len()).filter_map(|k| Some((k, model(k)?))) {
            nominal[closed.place(k).state..][..model.states].copy_from_slice(&model.nominal);
        }
        let passes = models.model(own).is_some_and(|model| model.d.iter().any(|d| *d != 0.0));
        if passes && environment.model.d.iter().any(|d| *d != 0.0) {
            return Err(straight_loop(&signals.descriptions[own].name));
        }
        Ok(())
    }
}

#[cold]
fn too_large(states: usize) -> Error {
    Error::new(Code::NeedsMissing, format!("a loop with {states} states is too large for `lis`"))
        .because(format!("each subsystem would integrate all of them; the limit is {MOST_STATES}"))
        .hint("use `predictive`, whose cost grows linearly")
}

#[cold]
fn straight_loop(name: &str) -> Error {
    Error::new(Code::AlgebraicLoop, format!("`lis` cannot form the inputs of `{name}`"))
        .because("its outputs feed back to its inputs by direct feedthrough of the others and of itself")
        .hint("take `predictive`")
}
