//! The trait of coupling methods: how the inputs over a macro step are formed from what is known at its start.

use crate::{
    Capabilities, Coupling, Description, Division, EnvironmentModel, External, History, InputPolynomials,
    InterfaceModel, Interval, Layout, MicroView, ModelKind, ModelSource, ModelsSpec, OptionSpec, Options,
    Request, Result, StateReader, StateWriter,
};

/// The inputs that a method is responsible for: the targets of its group of connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputSet {
    /// All of this many inputs.
    All(usize),
    /// These.
    Some(Vec<usize>),
}

impl InputSet {
    /// The indices into u, rising.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let (all, some) = match self {
            Self::All(count) => (0..*count, &[][..]),
            Self::Some(list) => (0..0, &list[..]),
        };
        all.chain(some.iter().copied())
    }

    /// Whether an input is one of them.
    pub fn contains(&self, input: usize) -> bool {
        match self {
            Self::All(count) => input < *count,
            Self::Some(list) => list.binary_search(&input).is_ok(),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::All(count) => *count,
            Self::Some(list) => list.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Copies the entries of the set from one stacked vector to another.
    pub fn copy(&self, from: &[f64], to: &mut [f64]) {
        match self {
            Self::All(_) => to.copy_from_slice(from),
            Self::Some(list) => list.iter().for_each(|j| to[*j] = from[*j]),
        }
    }
}

/// The system as a method sees it while it prepares.
pub struct SystemView<'a> {
    /// One per subsystem.
    pub descriptions: &'a [Description],
    /// One per subsystem.
    pub capabilities: &'a [Capabilities],
    /// Where their signals are.
    pub layout: &'a Layout,
    /// L.
    pub coupling: &'a Coupling,
    /// The inputs of the method's group.
    pub inputs: &'a InputSet,
    /// h; where steps vary, the longest.
    pub step: f64,
    /// Whether all steps are of that length.
    pub equal_steps: bool,
    /// How macro steps are divided, by what the subsystems can do.
    pub division: Division,
    /// Inputs whose sources have stepped before, stage by stage: they are not formed by a method, unless it asks for that.
    pub known_inputs: &'a [Vec<usize>],
}

impl SystemView<'_> {
    /// Highest order of a polynomial that input `j` of the whole system takes.
    pub fn order_of_input(&self, j: usize) -> usize {
        let owner = self.layout.input_owner(j);
        self.descriptions[owner].order_of_input(j - self.layout.input_range(owner).start)
    }
}

/// Where the run is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepContext {
    /// Number of the macro step, from 0.
    pub k: u64,
    /// T^k, or the start of a part of the step.
    pub t: f64,
    /// T^(k+1), or the end of a part of the step.
    pub t_next: f64,
    /// h, or that of a part, as asked for: `t_next - t` differs from it by round-off.
    pub h: f64,
    /// Length of the step, or part, before; 0 at the start of the run.
    pub h_before: f64,
    /// 0 for the first try of this step, then the number of tries before, whether they were repeated or rejected.
    pub repetition: u32,
}

impl StepContext {
    /// The step as an interval.
    pub fn interval(&self) -> Interval {
        Interval { start: self.t, end: self.t_next, length: self.h }
    }

    /// Length of the step before, or that of this one at the start of the run.
    pub fn h_before_or_now(&self) -> f64 {
        if self.h_before > 0.0 { self.h_before } else { self.h }
    }

    /// A piece of the step.
    pub fn over(&self, piece: Interval) -> Self {
        Self { t: piece.start, t_next: piece.end, h: piece.length, ..*self }
    }
}

/// The signals of the whole system. A method fills the polynomials of its own inputs only.
pub struct Signals<'a> {
    /// y^k, outputs at the start of the step, under the inputs that were active at the end of the last one.
    pub y: &'a [f64],
    /// z^k = L y^k + r(T^k), the coupled inputs at the start of the step.
    pub coupled: &'a [f64],
    /// y^(k+1) of the current try; valid in `post_step` and when a step is repeated.
    pub y_next: &'a [f64],
    /// r(T^k), after a jump there.
    pub external: &'a [f64],
    /// r(T^(k+1)), before a jump there: external inputs are known in advance.
    pub external_next: &'a [f64],
    /// The mean of r over the step.
    pub external_mean: &'a [f64],
    /// r(t) itself: (index into u, signal).
    pub externals: &'a [(usize, External)],
    /// L.
    pub coupling: &'a Coupling,
    /// Earlier z - r.
    pub history: &'a History,
    /// The inputs over the step. In `pre_step` on entry: those of the last step.
    pub inputs: &'a mut InputPolynomials,
    /// Outputs inside the last step.
    pub micro: &'a dyn MicroView,
    /// One per subsystem.
    pub descriptions: &'a [Description],
    /// Local models of the subsystems at T^k.
    pub models: &'a dyn ModelSource,
    /// The rest of the system as each subsystem sees it; empty if no method needs it.
    pub environments: &'a mut [EnvironmentModel],
    /// u(T^k) at the end of the last step: the inputs that y^k was read under. Only kept if a method needs local
    /// models or forms its coupled inputs.
    pub u_end: &'a [f64],
}

impl Signals<'_> {
    /// Puts what the external inputs of a group will be over the step, in this order, in place of r(T^k) that the polynomials
    /// begin with.
    pub fn put_in_externals(&mut self, step: &StepContext, order: usize, inputs: &InputSet) {
        for (j, _) in self.externals.iter().filter(|(j, _)| inputs.contains(*j)) {
            self.inputs.coefficients_mut(0)[*j] = self.coupled[*j] - self.external[*j];
        }
        self.add_externals(step, order, inputs);
    }

    /// Adds what the external inputs of a group will be over the step, in this order, to the polynomials.
    pub fn add_externals(&mut self, step: &StepContext, order: usize, inputs: &InputSet) {
        for (j, signal) in self.externals.iter().filter(|(j, _)| inputs.contains(*j)) {
            let known = signal.over(&step.interval(), order);
            for (a, c) in known.into_iter().enumerate().take(order + 1) {
                self.inputs.coefficients_mut(a)[*j] += c;
            }
        }
    }
}

/// What is known on arrival at a communication point, before the coupled inputs are formed.
pub struct Arrival<'a> {
    /// y^(k-1) and y^k.
    pub y_before: &'a [f64],
    /// Outputs under the inputs that were active at the end of the step.
    pub y: &'a [f64],
    /// u(T^k) of the step that has just ended.
    pub u_end: &'a [f64],
    /// r(T^k).
    pub external: &'a [f64],
    /// L.
    pub coupling: &'a Coupling,
    /// Outputs inside the step; there are none yet at the start.
    pub micro: &'a dyn MicroView,
    /// Local models of the subsystems at T^k.
    pub models: &'a dyn ModelSource,
}

/// What a method says after a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// Go on.
    Accept,
    /// Go back and do the same step again with better inputs.
    Repeat,
    /// Go back and do a step that is at most this long, in s.
    Reject {
        /// Its length.
        shorter: f64,
    },
}

impl Verdict {
    /// What both want: the shortest step, else a repetition.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Reject { shorter: a }, Self::Reject { shorter: b }) => Self::Reject { shorter: a.min(b) },
            (reject @ Self::Reject { .. }, _) | (_, reject @ Self::Reject { .. }) => reject,
            (Self::Accept, Self::Accept) => Self::Accept,
            _ => Self::Repeat,
        }
    }
}

/// How inputs are formed between communication points. A method holds numerics only: graph, scheduling,
/// rollback, guards and recording belong to the engine.
pub trait CouplingMethod: Send {
    /// Lets it choose how to work from what the subsystems offer. Called first.
    fn choose(&mut self, _system: &SystemView<'_>) -> Result<()> {
        Ok(())
    }

    /// What it has chosen and why, for people.
    fn remark(&self) -> Option<&str> {
        None
    }

    /// Where it does less than it could with other subsystems or steps, and what to do about it, for people. Asked after
    /// `prepare`.
    fn warning(&self) -> Option<&str> {
        None
    }

    /// Why another method does all of its work here, for people: it runs, but not as itself. Asked after `prepare`.
    fn stands_aside(&self) -> Option<&str> {
        None
    }

    /// What has turned out in the run about what it relies on, for people. Asked at its end.
    fn conclusion(&self) -> Option<&str> {
        None
    }

    /// What it asks for; asked once, after `choose` and before `prepare`.
    fn request(&self) -> Request;

    /// Takes all memory it will ever need. Also puts it into its initial state.
    fn prepare(&mut self, system: &SystemView<'_>) -> Result<()>;

    /// Whether the macro step that follows is to be done in the equal parts of [`SystemView::division`], with `pre_step`, `post_step`
    /// and `form_coupled` for each. Asked once before every macro step, if `request` says so; for all groups it is divided
    /// if one of them wants it. A system that refuses division does the whole step.
    fn divides(&mut self, _step: &StepContext, _signals: &Signals<'_>) -> bool {
        false
    }

    /// Forms z of its group in its own way, if `request` says so. On entry z = L y + r. Called on arrival at every
    /// communication point but the first; what it gives is what `pre_step` and the history see.
    fn form_coupled(&mut self, _arrival: &Arrival<'_>, _coupled: &mut [f64]) -> Result<()> {
        Ok(())
    }

    /// Fills the input polynomials of its group for the step that follows.
    fn pre_step(&mut self, step: &StepContext, signals: &mut Signals<'_>) -> Result<()>;

    /// The outputs of all subsystems that it expects at the end of the step whose inputs it has just formed, as they will be read.
    /// False if it expects nothing.
    fn expect(&mut self, _signals: &Signals<'_>, _y: &mut [f64]) -> bool {
        false
    }

    /// Looks at the outcome of the step, if `request` says so.
    fn post_step(&mut self, _step: &StepContext, _signals: &Signals<'_>) -> Result<Verdict> {
        Ok(Verdict::Accept)
    }

    /// Names of extra result columns.
    fn diagnostic_names(&self) -> Vec<String> {
        Vec::new()
    }

    /// Values of the extra result columns.
    fn diagnostics(&self, _row: &mut [f64]) {}

    /// Inputs whose signals it has seen to switch between a few values, and holds for that.
    fn switched_inputs(&self) -> Vec<usize> {
        Vec::new()
    }

    /// What it has learnt itself of a subsystem: the model of one macro step with held inputs. None if it does not learn, or not yet.
    fn learnt_model(&self, _subsystem: usize) -> Option<InterfaceModel> {
        None
    }

    /// From now on what it has learnt stays as it is, and nothing reacts to what signals do but by that: a step is an affine
    /// function of the past then, as stability is judged. False if it learns nothing itself: then nothing changes.
    fn stop_learning(&mut self) -> bool {
        false
    }

    /// Writes its memory to a checkpoint.
    fn save(&self, _out: &mut StateWriter) {}

    /// Reads its memory from a checkpoint.
    fn load(&mut self, _from: &mut StateReader<'_>) -> Result<()> {
        Ok(())
    }
}

/// Where a method does not keep to what the conformance suite asks of all methods. Methods that follow a
/// paper to the letter may have to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deviations {
    /// Options with which a system at rest does not stay at rest.
    pub drift: &'static [&'static str],
    /// Options with which that happens if a subsystem has more states than outputs.
    pub drift_of_hidden_states: &'static [&'static str],
    /// Errors scatter around their order, so that it shows over many halvings of the step only.
    pub order_scatters: bool,
    /// The result depends on how inputs are divided into groups, though no local models are used.
    pub partition_matters: bool,
    /// What comes from outside is held as it is at the start of a step, as all else.
    pub holds_external_signals: bool,
}

impl Deviations {
    /// It keeps to everything.
    pub const NONE: Self = Self {
        drift: &[],
        drift_of_hidden_states: &[],
        order_scatters: false,
        partition_matters: false,
        holds_external_signals: false,
    };
}

/// One row of the registry of coupling methods: command line, project files, documentation and the
/// conformance tests derive from it.
pub struct MethodEntry {
    /// Short name, `zoh`.
    pub id: &'static str,
    /// Long name.
    pub title: &'static str,
    /// What it does, in a few sentences.
    pub summary: &'static str,
    /// The update rule as text.
    pub equations: &'static str,
    /// Paper and place.
    pub source: &'static str,
    /// Order of the error in h at the communication points for smooth coupled systems with default options, once
    /// the start is forgotten: a method that begins with a hold has order two at most when the run begins in
    /// motion. Outputs with direct feedthrough show the input at the end of the step, so they are no better than
    /// its polynomial: one more than the order of its [`crate::InputShape`].
    pub convergence_order: u32,
    /// Where it does not keep to what the conformance suite asks of all methods.
    pub deviations: Deviations,
    /// The kinds of models of the subsystems that it can work with; empty if there is no choice.
    pub models: &'static [ModelKind],
    /// Its options.
    pub options: &'static [OptionSpec],
    /// Options that exist to follow a paper to the letter, apart from what users choose from.
    pub papers: Option<&'static PaperOptions>,
    /// Builds it from checked options, for models from this source.
    pub build: fn(&Options, &ModelsSpec) -> Box<dyn CouplingMethod>,
}

/// Options of a method that exist to follow a paper to the letter.
pub struct PaperOptions {
    /// The paper, as in comments: `[T]`.
    pub tag: &'static str,
    /// The options.
    pub options: &'static [OptionSpec],
    /// Sets the defaults of the paper, in the method and in the source, where they are asked for.
    pub settle: fn(&mut Options, &mut ModelsSpec),
}
