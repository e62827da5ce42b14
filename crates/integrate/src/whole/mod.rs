//! Coupled parts solved as one system by one integrator: x' = f(t, x) with u = L y + r(t) at every instant.
//! It has the state, time and step events of all parts, and corners of r(t) as time events: between them integrators see
//! smooth signals. Or it has none of them, as a reference by steps of a fixed length.

mod loops;
mod member;

use std::ops::Range;

use costep_core::{
    Code, Connection, Coupling, Description, Error, Evaluation, Experiment, External, Layout, LocalModel,
    Port, Result,
};
use costep_linalg::ClosedLoop;

use crate::equations::{AfterEvent, Equations, Events};
use crate::solver::Solver;
use loops::LoopSolver;

pub use member::members;

/// Share of the size of an input by which the solution of an algebraic loop is no other one.
const SETTLED: f64 = 1e-9;
/// Most rounds of one event: events of parts that trigger events of other parts.
const MAX_ROUNDS: usize = 100;

/// The parts as one system without inputs, whose outputs are those of all parts.
pub struct Whole {
    parts: Vec<Box<dyn Equations>>,
    states: Vec<Range<usize>>,
    indicators: Vec<Range<usize>>,
    layout: Layout,
    coupling: Coupling,
    externals: Vec<(usize, External)>,
    /// Parts to evaluate, level by level: outputs of a level need only inputs fed by lower levels.
    evaluation: Evaluation,
    /// For the algebraic loops, in the order of the levels.
    solvers: Vec<LoopSolver>,
    description: Description,
    /// Whether there are events, jumps of external inputs among them.
    has_events: bool,
    /// Time of the last event, and one before the next: external inputs are those of the piece between.
    since: f64,
    inside: f64,
    /// Time of the next time event of each part.
    next: Vec<Option<f64>>,
    u: Vec<f64>,
    y: Vec<f64>,
    /// Inputs that the last round of an event was done with.
    seen: Vec<f64>,
    /// By how much each may differ from it: not at all without algebraic loops, which are solved no more exactly than that.
    settled: Vec<f64>,
    /// Local models of the parts, for the Jacobian of the whole.
    models: Vec<LocalModel>,
    closed_loop: ClosedLoop,
    /// Whether its integrator relies on Jacobians.
    takes_jacobians: bool,
}

impl Whole {
    /// Couples the parts. Outputs that depend on themselves without delay are solved for at every instant.
    pub fn new(
        mut parts: Vec<Box<dyn Equations>>,
        connections: &[Connection],
        externals: Vec<(usize, External)>,
    ) -> Result<Self> {
        let descriptions: Vec<Description> = parts.iter().map(|part| part.description().clone()).collect();
        let layout = Layout::of(&descriptions);
        let coupling = Coupling::new(layout.inputs(), connections);
        let evaluation = Evaluation::new(&descriptions, &layout, &coupling);
        let solver = |of| LoopSolver::new(of, &descriptions, &layout, &coupling);
        let solvers: Vec<_> = evaluation.loops().map(solver).collect();
        let states = ranges(parts.iter().map(|part| part.states()));
        let indicators =
            ranges(parts.iter_mut().map(|part| part.events().map_or(0, |events| events.indicators())));
        let model = |(states, of): (&Range<usize>, &Description)| {
            LocalModel::new(states.len(), of.inputs.len(), of.outputs.len())
        };
        let models: Vec<_> = states.iter().zip(&descriptions).map(model).collect();
        let sizes = models.iter().map(|model| [model.states, model.inputs, model.outputs]);
        let closed_loop = ClosedLoop::new(sizes, coupling.links(0..layout.inputs()), (Vec::new(), 0));
        let settled = |j: usize| {
            if solvers.is_empty() { 0.0 } else { SETTLED * loops::size(&descriptions, &layout, j) }
        };
        Ok(Self {
            next: vec![None; parts.len()],
            settled: (0..layout.inputs()).map(settled).collect(),
            u: vec![0.0; layout.inputs()],
            seen: vec![0.0; layout.inputs()],
            y: vec![0.0; layout.outputs()],
            since: f64::NEG_INFINITY,
            inside: f64::NEG_INFINITY,
            description: describe(&descriptions),
            has_events: true,
            parts,
            states,
            indicators,
            layout,
            coupling,
            externals,
            evaluation,
            solvers,
            models,
            closed_loop,
            takes_jacobians: false,
        })
    }

    /// For this solver: with one that relies on Jacobians, those of simulators of their own serve loops too.
    pub fn solved_by(mut self, solver: &Solver) -> Self {
        self.takes_jacobians = solver.takes_jacobians();
        self
    }

    /// Without events: for parts that have none, under external inputs that are taken as they come.
    /// Inner steps of a fixed length then stay where they are, as in a run that this is the reference for.
    pub fn without_events(mut self) -> Self {
        self.has_events = false;
        self.description.name = "monolithic".into();
        self
    }

    /// As a reference by this solver, for parts without events: with those of external inputs for a solver that keeps a
    /// history, which their corners are not part of.
    pub fn as_reference(self, solver: &Solver) -> Self {
        let has_events = matches!(solver, Solver::Multistep(..)) && !self.externals.is_empty();
        Self { has_events, ..self.without_events() }
    }

    /// Begins with those parts that are simulators of their own, as a run does.
    pub fn initialise(&mut self, experiment: &Experiment) -> Result<()> {
        let mut parts = self.parts.iter_mut();
        parts.try_for_each(|part| part.lifecycle().map_or(Ok(()), |life| life.initialise(experiment, None)))
    }

    /// Which of all states are those of a part.
    pub fn states_of(&self, part: usize) -> Range<usize> {
        self.states[part].clone()
    }

    /// Fills consistent inputs and outputs.
    fn resolve(&mut self, t: f64, x: &[f64]) -> Result<()> {
        self.couple(t);
        let mut solved = 0;
        for level in 0..self.evaluation.levels.len() {
            for k in 0..self.evaluation.levels[level].parts.len() {
                let i = self.evaluation.levels[level].parts[k];
                let (u, y) = (&self.u[self.layout.input_range(i)], &mut self.y[self.layout.output_range(i)]);
                self.parts[i].outputs(t, &x[self.states[i].clone()], u, y)?;
            }
            for _ in 0..self.evaluation.levels[level].loops.len() {
                self.solve_loop(solved, t, x)?;
                solved += 1;
            }
            self.couple(t);
        }
        Ok(())
    }

    /// u = L y + r(t).
    fn couple(&mut self, t: f64) {
        self.coupling.apply(&self.y, &mut self.u);
        for (j, signal) in &self.externals {
            self.u[*j] += self.external_value(signal, t);
        }
    }

    fn external_value(&self, signal: &External, t: f64) -> f64 {
        if self.has_events { signal.continued(self.inside, t) } else { signal.value(t) }
    }

    /// The time of the next event of a part or of an external input.
    fn next_event(&self, t: f64) -> Option<f64> {
        self.next.iter().copied().flatten().chain(self.next_corner(t)).min_by(f64::total_cmp)
    }

    fn next_corner(&self, t: f64) -> Option<f64> {
        self.externals.iter().filter_map(|(_, signal)| signal.next_corner(t)).min_by(f64::total_cmp)
    }

    /// Enters the smooth piece of external inputs that begins at time t.
    pub(crate) fn enter_piece(&mut self, t: f64) {
        self.since = t;
        // A corner that t misses by round-off has been reached.
        self.inside = self.next_corner(t).map_or(t.abs().mul_add(2.0, t + 1.0), |next| 0.5 * (t + next));
    }

    /// The part that owns a state, and the number of the state in it.
    fn owner(&self, state: usize) -> (usize, usize) {
        let owner = self.states.iter().position(|range| range.contains(&state)).unwrap_or(0);
        (owner, state - self.states[owner].start)
    }

    #[cold]
    fn endless(&self, t: f64) -> Error {
        let is_alike = |j: usize| {
            let [u, seen, settled] = [&self.u, &self.seen, &self.settled].map(|all| &all[j..j + 1]);
            are_alike(u, seen, settled)
        };
        let changed = (0..self.u.len()).find(|j| !is_alike(*j)).unwrap_or(0);
        let owner = self.layout.input_owner(changed);
        let description = self.parts[owner].description();
        let port = &description.inputs[changed - self.layout.input_range(owner).start].name;
        let message =
            format!("the event at t = {t} s does not end, seen at input `{}.{port}`", description.name);
        Error::new(Code::EventsWithoutEnd, message)
            .because(format!("events of parts triggered events of other parts {MAX_ROUNDS} times"))
    }
}

/// Whether inputs are the same but for what they may differ by.
fn are_alike(u: &[f64], seen: &[f64], settled: &[f64]) -> bool {
    u.iter().zip(seen).zip(settled).all(|((u, seen), settled)| u == seen || (u - seen).abs() <= *settled)
}

fn ranges(sizes: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut start = 0;
    let range = |size: usize| {
        start += size;
        start - size..start
    };
    sizes.map(range).collect()
}

fn describe(parts: &[Description]) -> Description {
    let port = |owner: &Description, port: &Port| Port {
        name: format!("{}.{}", owner.name, port.name),
        ..port.clone()
    };
    let outputs: Vec<_> = parts.iter().flat_map(|d| d.outputs.iter().map(move |p| port(d, p))).collect();
    Description {
        name: "the whole system".into(),
        feedthrough: vec![Default::default(); outputs.len()],
        outputs,
        ..Description::default()
    }
}

impl Equations for Whole {
    fn description(&self) -> &Description {
        &self.description
    }

    fn states(&self) -> usize {
        self.states.last().map_or(0, |range| range.end)
    }

    fn start(&mut self, t: f64, x: &mut [f64], _u: &mut [f64]) -> Result<AfterEvent> {
        self.enter_piece(t);
        for (i, part) in self.parts.iter_mut().enumerate() {
            let u = &mut self.u[self.layout.input_range(i)];
            self.next[i] = part.start(t, &mut x[self.states[i].clone()], u)?.next;
        }
        if !self.has_events {
            return Ok(AfterEvent { states_changed: true, next: None });
        }
        // The first event of a part may have changed its outputs.
        self.event(t, x, &[])?;
        Ok(AfterEvent { states_changed: true, next: self.next_event(t) })
    }

    fn nominals(&self, x: &mut [f64]) {
        for (part, range) in self.parts.iter().zip(&self.states) {
            part.nominals(&mut x[range.clone()]);
        }
    }

    fn derivatives(&mut self, t: f64, x: &[f64], _u: &[f64], x_dot: &mut [f64]) -> Result<()> {
        if x.iter().any(|x| !x.is_finite()) {
            // Nobody else's code has to cope with that; who is to blame stays visible.
            x_dot
                .iter_mut()
                .zip(x)
                .for_each(|(x_dot, x)| *x_dot = if x.is_finite() { 0.0 } else { f64::NAN });
            return Ok(());
        }
        self.resolve(t, x)?;
        for (i, part) in self.parts.iter_mut().enumerate() {
            let (states, inputs) = (self.states[i].clone(), self.layout.input_range(i));
            part.derivatives(t, &x[states.clone()], &self.u[inputs], &mut x_dot[states])?;
        }
        Ok(())
    }

    fn outputs(&mut self, t: f64, x: &[f64], _u: &[f64], y: &mut [f64]) -> Result<()> {
        self.resolve(t, x)?;
        y.copy_from_slice(&self.y);
        Ok(())
    }

    fn jacobians(&mut self, t: f64, x: &[f64], _u: &[f64], model: &mut LocalModel) -> Result<()> {
        self.resolve(t, x)?;
        let Self { parts, states, layout, u, models, closed_loop, .. } = self;
        for (i, (part, own)) in parts.iter_mut().zip(models.iter_mut()).enumerate() {
            part.jacobians(t, &x[states[i].clone()], &u[layout.input_range(i)], own)?;
        }
        // Regular, if there is no algebraic loop; with differences in place of derivatives nearly so. A loop that was solved
        // in a singular point gives some Jacobian, which an integrator finds out.
        let _ = closed_loop.close(|i| [&models[i].c, &models[i].d]);
        closed_loop.couple(|i| [&models[i].a, &models[i].b], &mut model.a, &mut model.b);
        model.c.copy_from_slice(closed_loop.outputs().data());
        Ok(())
    }

    fn state_name(&self, state: usize) -> String {
        let (owner, state) = self.owner(state);
        format!("{}.{}", self.parts[owner].description().name, self.parts[owner].state_name(state))
    }

    fn is_linear(&self) -> bool {
        !self.has_events && self.externals.is_empty() && self.parts.iter().all(|part| part.is_linear())
    }

    fn energy(&self, x: &[f64], _u: &[f64]) -> Option<f64> {
        let energy =
            |i: usize| self.parts[i].energy(&x[self.states[i].clone()], &self.u[self.layout.input_range(i)]);
        (0..self.parts.len()).map(energy).sum()
    }

    fn events(&mut self) -> Option<&mut dyn Events> {
        if self.has_events { Some(self) } else { None }
    }
}

impl Events for Whole {
    fn indicators(&mut self) -> usize {
        self.indicators.last().map_or(0, |range| range.end)
    }

    fn event_indicators(&mut self, t: f64, x: &[f64], _u: &[f64], z: &mut [f64]) -> Result<()> {
        self.resolve(t, x)?;
        for (i, part) in self.parts.iter_mut().enumerate().filter(|(i, _)| !self.indicators[*i].is_empty()) {
            let (x, u) = (&x[self.states[i].clone()], &self.u[self.layout.input_range(i)]);
            if let Some(events) = part.events() {
                events.event_indicators(t, x, u, &mut z[self.indicators[i].clone()])?;
            }
        }
        Ok(())
    }

    /// Parts with events are told of the end of every inner step even if they do not ask: they then have
    /// the inputs of that point, not those of the stage before, and so has a checkpoint.
    fn wants_completed_steps(&mut self) -> bool {
        self.parts.iter_mut().any(|part| part.events().is_some())
    }

    fn step_completed(&mut self, t: f64, x: &[f64], _u: &[f64]) -> Result<bool> {
        self.resolve(t, x)?;
        let mut wants_event = false;
        for (i, part) in self.parts.iter_mut().enumerate() {
            let (x, u) = (&x[self.states[i].clone()], &self.u[self.layout.input_range(i)]);
            if let Some(events) = part.events() {
                wants_event |= events.wants_completed_steps() && events.step_completed(t, x, u)?;
            }
        }
        Ok(wants_event)
    }

    /// Round after round: the event of a part may change its outputs at once, and with them the inputs of
    /// others.
    fn event(&mut self, t: f64, x: &mut [f64], _u: &[f64]) -> Result<AfterEvent> {
        self.enter_piece(t);
        let mut states_changed = false;
        for round in 0.. {
            self.resolve(t, x)?;
            // The first round is for what has happened, further ones for what has become of it.
            if round > 0 && are_alike(&self.u, &self.seen, &self.settled) {
                break;
            }
            if round == MAX_ROUNDS {
                return Err(self.endless(t));
            }
            for (i, part) in self.parts.iter_mut().enumerate() {
                let inputs = self.layout.input_range(i);
                let [u, seen, settled] = [&self.u, &self.seen, &self.settled].map(|all| &all[inputs.clone()]);
                let is_concerned = round == 0 || !are_alike(u, seen, settled);
                if let Some(events) = part.events().filter(|_| is_concerned) {
                    let after = events.event(t, &mut x[self.states[i].clone()], &self.u[inputs])?;
                    states_changed |= after.states_changed;
                    self.next[i] = after.next;
                }
            }
            self.seen.copy_from_slice(&self.u);
        }
        Ok(AfterEvent { states_changed, next: self.next_event(t) })
    }
}
