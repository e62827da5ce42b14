//! Coupling of black boxes by models that are identified from inputs and outputs while the run goes.
//!
//! Per subsystem two models of the change over a step (`ident::Bank`) and a measure of trust; where a model is not trusted, its outputs
//! are extrapolated. The inputs follow from all models together (`shared/law.rs`). The run starts with parts of the step,
//! where a hold is still stable, until the models are trusted; then they are taken over to the whole step (`start.rs`):
//!
//! ```text
//! quiet   nothing moves: one step with held inputs
//! small   4 parts per step (6 for ramps), or about as many as the subsystems can do; models of such a part; held inputs are shaken (`excitation.rs`)
//! between 2 steps under inputs from the small-step models rolled ahead; outputs still read in parts
//! large   one step at a time, models of the whole step
//! ```
//!
//! Where the models, coupled at the whole step, diverge by themselves (`trial.rs`), the steps stay small; where a run does so with large steps
//! (`alarm.rs`), they become small again. Models of an earlier run (`file`) are where
//! both begin; the start then lasts as long as they need to be believed, about two steps.
//!
//! Order: ramps 2. Holds are of order 1 in the end, with a constant hundreds of times below that of `zoh`: the gains S are never quite right, as a
//! closed loop excites them little, and the correction for direct feedthrough depends on them alone.
//!
//! Where the lengths of steps vary, there is neither start nor parts: short steps come first anyway, and each length has models of its own
//! (`ladder.rs`).
//!
//! Subsystems that cannot divide their step start with `large`: a hold until the models are trusted. No settings are needed. Cost per subsystem and
//! step: about 4 q^2 operations per order, q = p outputs + (p + 1) inputs + 1, and one interface system for all.

mod alarm;
mod begin;
mod checkpoint;
mod columns;
mod direct;
mod excitation;
mod frozen;
mod ladder;
mod memory;
mod outside;
mod phases;
mod points;
mod scope;
mod start;
mod switches;
mod trail;
mod trial;
pub mod tuning;
mod whole_step_start;

use std::path::Path;

use costep_core::{
    CouplingMethod, Deviations, InputSet, InputShape, InterfaceModel, KnownInputs, Layout, LengthDemand,
    MethodEntry, ModelDemand, ModelsSpec, Options, Request, Result, Signals, StateReader, StateWriter,
    StepContext, SystemView, choice, options,
};
use costep_ident::{Affine, Bank, InitialModel, InputForm, Reference, StoredModels, resample};

use crate::shared::interface::is_torn;
use crate::shared::law::{Form, Guard, Law};
use alarm::Alarm;
use begin::Begin;
use columns::column_names;
use excitation::Excitation;
use ladder::Ladder;
use outside::Outside;
use phases::{Course, LearningPhase};
use scope::Scope;
use start::Record;
use switches::Ranges;
use trail::Trail;
use trial::Trial;
use tuning::Tuning;
use whole_step_start::WholeStepStart;

/// Row of the registry.
pub const ENTRY: MethodEntry = MethodEntry {
    id: "identified",
    title: "models identified during the run",
    summary: "For black boxes: learns from inputs and outputs alone how each subsystem responds, and \
              forms inputs that are consistent with all responses. Starts with about a quarter of the step \
              where the subsystems allow it, and falls back to extrapolation where a model cannot be \
              trusted. No settings are needed.",
    equations: "y^(k+1) = F + S u by recursive least squares; u = L (y^k + y^(k+1))/2 + r (hold) or u^(k+1) = L y^(k+1) + r (ramp)",
    source: "costep; after [T] chapters 2.3, 2.4 and [H18]",
    convergence_order: 1,
    deviations: Deviations {
        // What is learnt, and how long steps stay small at the start, depends on the step.
        order_scatters: true,
        // It learns from the inputs of its group alone.
        partition_matters: true,
        ..Deviations::NONE
    },
    // Of the subsystems it wants D at most.
    models: &[],
    options: IdentifiedOptions::SPECS,
    papers: None,
    build,
};

choice! {
    /// Shape of the inputs over a step, as a word.
    pub enum HoldOrRamp {
        /// Held at the mean of the coupling signal.
        Hold = "hold",
        /// Linear.
        Ramp = "ramp",
    }
}

choice! {
    /// How a run begins.
    pub enum StartKind {
        /// With parts of the macro step.
        Small = "small",
        /// With a hold over whole steps.
        Plain = "plain",
    }
}

options! {
    /// What users choose from.
    pub struct IdentifiedOptions {
        /// inputs held at the mean of the coupling signal, or linear over the step (more accurate, where
        /// all subsystems take it)
        form: HoldOrRamp;
        /// small: about a quarter of the step until the models are trusted, where the subsystems can;
        /// plain: a hold
        start: StartKind;
        /// what is not trusted yet is extrapolated without its direct feedthrough; needs subsystems that
        /// give D
        feedthrough: bool = false;
        /// lambda, of the excited direction
        forgetting: f64 = 0.98 in 0.5..=1.0;
        /// also record the identified gains of all outputs to their inputs
        parameters: bool = false;
        /// start from the models of an earlier run (`costep identify`), for any step; they are trusted as
        /// soon as they prove right
        file: String;
        /// subsystems with more inputs and outputs than this are extrapolated: memory and time of what is
        /// learnt grow with the square of their number
        largest: usize = 400 in 1..=100000;
    }
}

/// What is known of a subsystem.
struct SubsystemLearner {
    reference: Reference,
    fine: Bank,
    coarse: Bank,
    /// Banks of other lengths, where steps vary, and whether the next longer one learns from the present one.
    kept: Vec<Bank>,
    teaches: bool,
    record: Record,
    affine: Affine,
    in_loop: bool,
    name: String,
    /// Models of an earlier run, of small and of large steps.
    loaded: Option<(InitialModel, InitialModel)>,
}

/// What was asked for.
struct Settings {
    form: Form,
    wants_small_start: bool,
    with_parameters: bool,
    knows_feedthrough: bool,
    /// Of an earlier run; empty for none.
    file: String,
    /// Signals of the largest subsystem that is learnt.
    largest: usize,
    tuning: Tuning,
}

/// Where the run is in time.
struct Clock {
    /// Macro step that the phase was chosen for, one more than its number; 0 at the start.
    macro_step: u64,
    macro_start: f64,
    h: f64,
    /// Small steps in a macro step.
    parts_of_step: usize,
    /// Length of the last step or part.
    last_length: f64,
    /// Start of the last step that was formed; NaN at the start.
    arrived: f64,
}

impl Clock {
    fn new(h: f64, parts_of_step: usize) -> Self {
        Self { macro_step: 0, macro_start: 0.0, h, parts_of_step, last_length: 0.0, arrived: f64::NAN }
    }
}

/// Limits of inputs at small steps and at macro steps.
#[derive(Default)]
struct Guards {
    fine: Guard,
    coarse: Guard,
}

struct Identified {
    settings: Settings,
    inputs: InputSet,
    layout: Layout,
    law: Law,
    parts: Vec<SubsystemLearner>,
    guards: Guards,
    /// u^k, applied at the end of the last step.
    u_last: Vec<f64>,
    /// u^(k+1), the goal of this step.
    u: Vec<f64>,
    /// Where ramps begin.
    begin: Begin,
    outside: Outside,
    excitation: Excitation,
    whole_steps: WholeStepStart,
    course: Course,
    clock: Clock,
    /// Why it starts with whole steps against its wish.
    warning: Option<String>,
    trial: Trial,
    alarm: Alarm,
    ranges: Ranges,
    ladder: Ladder,
    names: Vec<String>,
}

fn build(options: &Options, _models: &ModelsSpec) -> Box<dyn CouplingMethod> {
    with_options(IdentifiedOptions::read(options))
}

/// The method with these options.
pub(crate) fn with_options(options: IdentifiedOptions) -> Box<dyn CouplingMethod> {
    let mut tuning = Tuning::DEFAULT;
    tuning.bank.rls.forgetting = options.forgetting;
    tuned(options, tuning)
}

/// The method with other constants than its own, for studies. The option `forgetting` does not count here.
pub fn tuned(options: IdentifiedOptions, tuning: Tuning) -> Box<dyn CouplingMethod> {
    Box::new(Identified {
        settings: Settings {
            form: match options.form {
                HoldOrRamp::Hold => Form::Hold,
                HoldOrRamp::Ramp => Form::Ramp,
            },
            wants_small_start: match options.start {
                StartKind::Small => true,
                StartKind::Plain => false,
            },
            with_parameters: options.parameters,
            knows_feedthrough: options.feedthrough,
            file: options.file,
            largest: options.largest,
            tuning,
        },
        inputs: InputSet::All(0),
        layout: Layout::default(),
        law: Law::default(),
        parts: Vec::new(),
        guards: Guards::default(),
        u_last: Vec::new(),
        u: Vec::new(),
        begin: Begin::default(),
        outside: Outside::default(),
        excitation: Excitation::default(),
        whole_steps: WholeStepStart::default(),
        course: Course::new(false),
        clock: Clock::new(0.0, 1),
        warning: None,
        trial: Trial::default(),
        alarm: Alarm::default(),
        ranges: Ranges::default(),
        ladder: Ladder::default(),
        names: Vec::new(),
    })
}

impl CouplingMethod for Identified {
    fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    fn choose(&mut self, system: &SystemView<'_>) -> Result<()> {
        self.ladder.is_used = !system.equal_steps;
        Ok(())
    }

    fn request(&self) -> Request {
        let start = self.settings.tuning.start;
        let (order, known_inputs, parts) = match self.settings.form {
            Form::Hold => (0, KnownInputs::MeanUnlessSwitched, start.parts_of_hold),
            Form::Ramp => (1, KnownInputs::Interpolated, start.parts_of_ramp),
        };
        let knows = self.settings.knows_feedthrough;
        Request {
            inputs: InputShape::polynomials(order),
            known_inputs,
            models: if knows { ModelDemand::Feedthrough } else { ModelDemand::None },
            // Steps that vary begin with short ones.
            divides: if self.ladder.is_used { 0 } else { parts },
            lengths: LengthDemand::Doubled,
            // For the control of steps: held inputs are means of what is expected.
            projected: self.ladder.is_used && self.settings.form == Form::Hold,
            ..Request::default()
        }
    }

    fn prepare(&mut self, system: &SystemView<'_>) -> Result<()> {
        let layout = system.layout;
        let tuning = self.settings.tuning;
        self.inputs = system.inputs.clone();
        self.layout = layout.clone();
        let scope = Scope::new(system, self.settings.largest);
        self.law = Law::of_learning(system, |i| scope.learns(i));
        let guard = || Guard::new(layout.inputs(), tuning.limits.look_back, tuning.limits.known);
        self.guards = Guards { fine: guard(), coarse: guard() };
        self.u_last = vec![0.0; layout.inputs()];
        self.u = vec![0.0; layout.inputs()];
        self.begin = Begin::new(layout.inputs());
        self.outside = Outside::new(system, self.settings.form, &scope);
        self.ladder = Ladder::new(!system.equal_steps, Trail::new(layout.inputs(), layout.outputs()));
        let varies = self.ladder.is_used;
        let parts_of_step = if varies { 2 } else { system.division.parts().unwrap_or(1) };
        self.clock = Clock::new(system.step, parts_of_step);
        let mut loaded = self.read_models(system)?;
        self.excitation = Excitation::new(system, tuning.start.excitation);
        let part = |i: usize| {
            let (m, n) = (layout.input_range(i).len(), layout.output_range(i).len());
            let learns = scope.learns(i);
            let bank = if learns { Bank::new } else { Bank::without_models };
            SubsystemLearner {
                reference: Reference::new(m, n, &tuning.bank.rls),
                fine: bank(m, n, &tuning.bank),
                coarse: bank(m, n, &tuning.bank),
                kept: (0..self.ladder.banks()).map(|_| bank(m, n, &tuning.bank)).collect(),
                teaches: false,
                record: Record::new(m, n, self.clock.parts_of_step, &tuning),
                affine: Affine::new(if learns { m } else { 0 }, n),
                in_loop: scope.is_in_loop(i),
                name: system.descriptions[i].name.clone(),
                loaded: loaded.get_mut(i).and_then(Option::take),
            }
        };
        self.parts = (0..layout.subsystems()).map(part).collect();
        // Without a loop there is nothing to stabilise, and the order of stepping leaves nothing to extrapolate.
        let has_loop = self.parts.iter().any(|part| part.in_loop);
        let wants_small = self.settings.wants_small_start && has_loop && !varies;
        let small = wants_small && system.division.parts().is_some();
        self.course = Course::new(small);
        if !small {
            let banks = self.parts.iter_mut().flat_map(|part| part.kept.iter_mut().chain([&mut part.coarse]));
            banks.for_each(Bank::expect_held_inputs);
        }
        let knows = small || self.parts.iter().any(|part| part.loaded.is_some());
        self.whole_steps =
            if knows { WholeStepStart::default() } else { WholeStepStart::new(layout, |i| scope.learns(i)) };
        self.warning = if !has_loop && is_torn(system) {
            Some(TORN.into())
        } else if varies && !self.settings.file.is_empty() {
            Some(FILE_LEFT_ASIDE.into())
        } else {
            scope.warning(system).or_else(|| wants_small.then(|| whole_step_start(system)).flatten())
        };
        self.names = column_names(&self.parts, system, self.settings.with_parameters);
        self.alarm = Alarm::new(layout, &tuning.alarm);
        self.ranges = Ranges::new(system);
        self.trial = Trial::new(layout, &tuning.trial);
        Ok(())
    }

    fn divides(&mut self, step: &StepContext, signals: &Signals<'_>) -> bool {
        self.arrive(step, signals);
        matches!(self.course.phase, LearningPhase::Small | LearningPhase::Between(_))
    }

    fn pre_step(&mut self, step: &StepContext, signals: &mut Signals<'_>) -> Result<()> {
        self.arrive(step, signals);
        if self.course.phase == LearningPhase::Small {
            self.outside.look((step.t, step.h), &self.inputs, signals);
            self.solve(signals);
        }
        self.clock.last_length = step.h;
        self.fill(step, signals);
        Ok(())
    }

    fn expect(&mut self, _signals: &Signals<'_>, y: &mut [f64]) -> bool {
        if !matches!(self.course.phase, LearningPhase::Small | LearningPhase::Large) {
            return false;
        }
        for (i, part) in self.parts.iter().enumerate() {
            let u = &self.u[self.layout.input_range(i)];
            self.layout.output_range(i).enumerate().for_each(|(row, at)| y[at] = part.affine.at(row, u));
        }
        true
    }

    fn diagnostic_names(&self) -> Vec<String> {
        self.names.clone()
    }

    fn diagnostics(&self, row: &mut [f64]) {
        self.fill_columns(row);
    }

    fn switched_inputs(&self) -> Vec<usize> {
        self.ranges.switched()
    }

    fn learnt_model(&self, i: usize) -> Option<InterfaceModel> {
        let part = self.parts.get(i)?;
        match self.course.phase {
            // A ramp is not a hold, and where steps vary there is no model of all of them.
            _ if self.settings.form == Form::Ramp || self.ladder.is_used => None,
            LearningPhase::Large => part.coarse.interface(&part.reference),
            _ => Some(resample(
                &part.fine.interface(&part.reference)?,
                self.clock.parts_of_step,
                InputForm::Hold,
            )),
        }
    }

    fn stop_learning(&mut self) -> bool {
        self.course.is_frozen = true;
        true
    }

    fn save(&self, out: &mut StateWriter) {
        self.write(out);
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.read(from)
    }
}

impl Identified {
    /// Models of an earlier run for small and for large steps; none if there is no file.
    fn read_models(&self, system: &SystemView<'_>) -> Result<Vec<Option<(InitialModel, InitialModel)>>> {
        // Models of a file are of steps of one length.
        if self.settings.file.is_empty() || self.ladder.is_used {
            return Ok(Vec::new());
        }
        let parts = system.descriptions.iter();
        let form = if self.settings.form == Form::Ramp { InputForm::Ramp } else { InputForm::Hold };
        let file = StoredModels::read(Path::new(&self.settings.file))?;
        let fit = |step: f64| file.fit(parts.clone(), (step, form));
        let (fine, coarse) = (fit(system.step / self.clock.parts_of_step as f64)?, fit(system.step)?);
        Ok(fine.into_iter().zip(coarse).map(|(fine, coarse)| fine.zip(coarse)).collect())
    }
}

/// Why a group of connections learns less than all of them together.
const TORN: &str = "its group does not contain a complete loop of connections: it starts with whole steps \
                    and does not see the feedback to its inputs; put all connections of a loop into one \
                    group";

/// Why models of an earlier run are not used.
const FILE_LEFT_ASIDE: &str = "the models of `file` are left aside: the lengths of steps vary";

/// Why the run starts with whole steps.
fn whole_step_start(system: &SystemView<'_>) -> Option<String> {
    let why = system.division.refusal(system.step, |i| &system.descriptions[i].name)?;
    Some(format!(
        "it identifies from whole macro steps at the start instead of shorter ones, which is less accurate: {why}"
    ))
}
