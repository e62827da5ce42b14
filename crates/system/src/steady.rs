//! A start at rest: the states of all parts at which nothing changes under the inputs that come from outside just before the start.
//!
//! Pseudo-transient continuation: implicit Euler steps of the whole system, longer from step to step, so that it first goes the way
//! that the system would go and ends as Newton's method. States that nothing holds, such as the place of a body without a spring,
//! come to rest where that way leads them.

use std::sync::{Arc, OnceLock};

use costep_core::{Code, Description, Error, External, LocalModel, MicroSampling, Result, Subsystem};
use costep_integrate::{Equations, Integrated, Ode, Solver, Stepper, Whole};
use costep_linalg::Lu;

use crate::{Component, MakeTrial, SystemDescription, Variation};

/// Steps until there has to be rest.
const MOST_STEPS: usize = 500;
/// How much longer or shorter a step is than the one before, at most.
const GROWTH: f64 = 10.0;
/// How much longer a step is at least if the one before has made it calmer: else a first step far below all time scales
/// would stay there.
const LEAST_GROWTH: f64 = 1.5;
/// First step, as a share of the run.
const FIRST: f64 = 1e-3;
/// Rest: a state changes by less than this share of what could change it.
const REST: f64 = 1e-17;
/// What counts as rest if it becomes no better, by round-off.
const ALMOST: f64 = 1e-8;

impl SystemDescription {
    /// The same system with parts that begin at rest. Rest is looked for at once where all parts are native; with FMUs when the
    /// first part is made, because only then are FMUs called.
    ///
    /// # Errors
    /// A part whose equations are not known, or no rest that is found.
    pub fn at_rest(&self) -> Result<Self> {
        if let Some(part) = self.parts.iter().find(|part| !part.has_equations()) {
            let name = &part.description().name;
            return Err(Error::new(Code::NoRest, format!("`{name}` cannot start at rest"))
                .because("its derivatives are not known: it is an FMU for Co-Simulation, or one in a process of its own")
                .hint(format!(
                    "`interface = \"me\"` in [fmu.{name}] if it is also for Model Exchange; else run it before the start, with constant inputs"
                )));
        }
        let mut still = self.clone();
        for (_, signal) in &mut still.externals {
            *signal = External::Constant(signal.value_before(self.experiment.start));
        }
        let rest = Arc::new(Rest { still, found: OnceLock::new() });
        let mut rested = self.clone();
        for (index, part) in rested.parts.iter_mut().enumerate() {
            *part = match self.has_equations() {
                true => part.started_at(rest.states(index)?)?,
                false => Box::new(AtRest { part: part.duplicate(), rest: Arc::clone(&rest), index }),
            };
        }
        Ok(rested)
    }
}

/// Where a system comes to rest, looked for once.
struct Rest {
    /// The system under inputs that stay as they are just before the start.
    still: SystemDescription,
    /// States, part by part.
    found: OnceLock<Result<Vec<Vec<f64>>>>,
}

impl Rest {
    fn states(&self, part: usize) -> Result<&[f64]> {
        let found = self.found.get_or_init(|| self.find());
        found.as_ref().map(|states| states[part].as_slice()).map_err(Clone::clone)
    }

    fn find(&self) -> Result<Vec<Vec<f64>>> {
        let search = Search::new(&self.still)?;
        let parts = 0..self.still.parts.len();
        let ranges: Vec<_> = parts.map(|part| search.whole.states_of(part)).collect();
        let x = search.rest()?;
        let states: Vec<Vec<f64>> = ranges.into_iter().map(|range| x[range].to_vec()).collect();
        if !self.still.has_equations() {
            self.check(&x, &states)?;
        }
        Ok(states)
    }

    /// FMUs are given start values: what they make of them is looked at.
    fn check(&self, x: &[f64], states: &[Vec<f64>]) -> Result<()> {
        let mut started = self.still.clone();
        for (part, x) in started.parts.iter_mut().zip(states) {
            *part = part.started_at(x)?;
        }
        Search::new(&started)?.check(x)
    }
}

/// The way to rest.
struct Search {
    whole: Whole,
    t: f64,
    /// First step in s.
    first: f64,
    model: LocalModel,
    lu: Lu,
    nominal: Vec<f64>,
}

impl Search {
    fn new(system: &SystemDescription) -> Result<Self> {
        let run = &system.experiment;
        let mut whole = system.as_one()?.without_events();
        whole.initialise(run)?;
        Ok(Self::of(whole, run.start, run.stop - run.start))
    }

    fn of(whole: Whole, t: f64, run: f64) -> Self {
        let (n, outputs) = (whole.states(), whole.description().outputs.len());
        let mut nominal = vec![1.0; n];
        whole.nominals(&mut nominal);
        nominal.iter_mut().filter(|size| !(**size > 0.0 && size.is_finite())).for_each(|size| *size = 1.0);
        let first = FIRST * if run > 0.0 { run } else { 1.0 };
        Self { whole, t, first, model: LocalModel::new(n, 0, outputs), lu: Lu::new(n), nominal }
    }

    fn rest(mut self) -> Result<Vec<f64>> {
        let n = self.nominal.len();
        let (mut x, mut f) = (vec![0.0; n], vec![0.0; n]);
        self.whole.start(self.t, &mut x, &mut [])?;
        self.whole.derivatives(self.t, &x, &[], &mut f)?;
        let mut step = self.first;
        let mut best = f64::INFINITY;
        for _ in 0..MOST_STEPS {
            self.whole.jacobians(self.t, &x, &[], &mut self.model)?;
            let motion = self.motion(&x, &f);
            if motion.1 <= REST || (motion.1 <= ALMOST && motion.1 >= 0.5 * best) {
                return Ok(x);
            }
            best = best.min(motion.1);
            let (tried, f_tried) = self.step(&x, &f, step)?;
            let after = self.motion(&tried, &f_tried).1;
            if !after.is_finite() {
                step /= GROWTH;
                continue;
            }
            // The calmer it becomes, the longer is the next step; and not much shorter where it does not.
            let calmer = (motion.1 / after.max(f64::MIN_POSITIVE)).min(GROWTH);
            step *= calmer.max(if calmer > 1.0 { LEAST_GROWTH } else { 0.5 });
            step = step.clamp(1e-9 * self.first, 1e15 * self.first);
            (x, f) = (tried, f_tried);
        }
        Err(self.restless(&x, &f))
    }

    /// An error unless it starts in these states, and nothing changes there.
    fn check(mut self, rest: &[f64]) -> Result<()> {
        let (mut x, mut f) = (vec![0.0; rest.len()], vec![0.0; rest.len()]);
        self.whole.start(self.t, &mut x, &mut [])?;
        let size = |i: usize| self.nominal[i].max(rest[i].abs());
        let is_there = |i: &usize| (x[*i] - rest[*i]).abs() <= ALMOST * size(*i);
        if let Some(i) = (0..x.len()).find(|i| !is_there(i)) {
            let name = self.whole.state_name(i);
            let message =
                format!("`{name}` starts at {:e} instead of {:e}, where it would rest", x[i], rest[i]);
            return Err(Error::new(Code::NoRest, message)
                .because("the FMU computes its initial states itself, whatever start values it is given"));
        }
        self.whole.derivatives(self.t, &x, &[], &mut f)?;
        self.whole.jacobians(self.t, &x, &[], &mut self.model)?;
        if self.motion(&x, &f).1 <= ALMOST { Ok(()) } else { Err(self.restless(&x, &f)) }
    }

    /// An implicit Euler step, with the slopes of its start: (1/h - A) dx = f.
    fn step(&mut self, x: &[f64], f: &[f64], h: f64) -> Result<(Vec<f64>, Vec<f64>)> {
        let n = x.len();
        let matrix = self.lu.matrix_mut();
        for (i, row) in self.model.a.chunks(n.max(1)).enumerate() {
            matrix.row_mut(i).iter_mut().zip(row).for_each(|(to, a)| *to = -a);
            matrix[(i, i)] += 1.0 / h;
        }
        let mut dx = f.to_vec();
        match self.lu.factor() {
            true => self.lu.solve(&mut dx),
            false => dx.iter_mut().for_each(|dx| *dx *= h),
        }
        let tried: Vec<f64> = x.iter().zip(&dx).map(|(x, dx)| x + dx).collect();
        let mut f = vec![0.0; n];
        self.whole.derivatives(self.t, &tried, &[], &mut f)?;
        Ok((tried, f))
    }

    /// The state that moves most, and how much: relative to what the sizes of all states could make of it.
    fn motion(&self, x: &[f64], f: &[f64]) -> (usize, f64) {
        let size = |j: usize| self.nominal[j].max(x[j].abs());
        let of_state = |i: usize| {
            let row = &self.model.a[i * x.len()..(i + 1) * x.len()];
            let could: f64 = row.iter().enumerate().map(|(j, a)| a.abs() * size(j)).sum();
            match (f[i] == 0.0, could > 0.0) {
                (true, _) => 0.0,
                (false, true) => f[i].abs() / could,
                // Nothing that the search changes can stop it.
                (false, false) => f64::MAX,
            }
        };
        let all = (0..x.len()).map(|i| (i, of_state(i)));
        all.max_by(|(_, a), (_, b)| a.total_cmp(b)).unwrap_or((0, 0.0))
    }

    #[cold]
    fn restless(&self, x: &[f64], f: &[f64]) -> Error {
        let (state, _) = self.motion(x, f);
        let name = self.whole.state_name(state);
        let message = format!("no rest is found: `{name}` still changes by {:e} per second", f[state]);
        Error::new(Code::NoRest, message)
            .because("under inputs that stay as they are just before the start, the system does not settle")
    }
}

/// A part of a system with FMUs that starts at rest.
struct AtRest {
    part: Box<dyn Component>,
    rest: Arc<Rest>,
    index: usize,
}

impl AtRest {
    fn rested(&self) -> Result<Box<dyn Component>> {
        self.part.started_at(self.rest.states(self.index)?)
    }
}

impl Component for AtRest {
    fn description(&self) -> &Description {
        self.part.description()
    }

    fn subsystem(&self, solver: &Solver) -> Result<Box<dyn Subsystem>> {
        self.rested()?.subsystem(solver)
    }

    fn stepper(&self, solver: &Solver) -> Result<Box<dyn Stepper>> {
        self.rested()?.stepper(solver)
    }

    fn equations(&self) -> Result<Box<dyn Equations>> {
        self.rested()?.equations()
    }

    fn has_equations(&self) -> bool {
        self.part.has_equations()
    }

    fn for_trials(&self) -> Option<Result<MakeTrial<'_>>> {
        self.part.for_trials()
    }

    /// As they are given: this is asked where no FMU may be called, and tells what kind of part it is.
    fn ode(&self) -> Option<Box<dyn Ode>> {
        self.part.ode()
    }

    fn varied(&self, by: &Variation<'_>) -> Box<dyn Component> {
        Box::new(Self { part: self.part.varied(by), rest: Arc::clone(&self.rest), index: self.index })
    }
}

/// A native part that starts in other states.
pub struct StartedAt {
    part: Box<dyn Component>,
    start: Vec<f64>,
}

impl StartedAt {
    /// A part, whose equations are known, with these states at the start.
    pub fn new(part: Box<dyn Component>, start: Vec<f64>) -> Self {
        Self { part, start }
    }

    fn moved(&self) -> Result<Moved> {
        let ode = self.part.ode().ok_or_else(|| Error::new(Code::Bug, "a native part has no equations"))?;
        Ok(Moved { ode, start: self.start.clone() })
    }
}

impl Component for StartedAt {
    fn description(&self) -> &Description {
        self.part.description()
    }

    fn subsystem(&self, solver: &Solver) -> Result<Box<dyn Subsystem>> {
        Ok(Box::new(Integrated::new(self.moved()?, solver)?))
    }

    fn stepper(&self, solver: &Solver) -> Result<Box<dyn Stepper>> {
        Ok(Box::new(Integrated::new(self.moved()?, solver)?))
    }

    fn equations(&self) -> Result<Box<dyn Equations>> {
        Ok(Box::new(self.moved()?))
    }

    fn has_equations(&self) -> bool {
        true
    }

    fn ode(&self) -> Option<Box<dyn Ode>> {
        self.moved().ok().map(|moved| Box::new(moved) as Box<dyn Ode>)
    }

    fn varied(&self, by: &Variation<'_>) -> Box<dyn Component> {
        Box::new(Self { part: self.part.varied(by), start: self.start.clone() })
    }
}

/// Equations with other initial states.
struct Moved {
    ode: Box<dyn Ode>,
    start: Vec<f64>,
}

impl Ode for Moved {
    fn description(&self) -> &Description {
        self.ode.description()
    }

    fn states(&self) -> usize {
        self.ode.states()
    }

    fn initial_state(&self, x: &mut [f64]) {
        x.copy_from_slice(&self.start);
    }

    fn state_name(&self, i: usize) -> String {
        self.ode.state_name(i)
    }

    fn nominal_state(&self, x: &mut [f64]) {
        self.ode.nominal_state(x);
    }

    fn derivatives(&self, t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) {
        self.ode.derivatives(t, x, u, x_dot);
    }

    fn outputs(&self, t: f64, x: &[f64], u: &[f64], y: &mut [f64]) {
        self.ode.outputs(t, x, u, y);
    }

    fn jacobians(&self, t: f64, x: &[f64], u: &[f64], model: &mut LocalModel) {
        self.ode.jacobians(t, x, u, model);
    }

    fn is_linear(&self) -> bool {
        self.ode.is_linear()
    }

    fn micro_sampling(&self) -> MicroSampling {
        self.ode.micro_sampling()
    }

    fn energy(&self, x: &[f64], u: &[f64]) -> Option<f64> {
        self.ode.energy(x, u)
    }
}
