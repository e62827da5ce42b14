//! References: the same parts solved as one system, or, where equations are not known, coupled at a much smaller step.
//! Each can say what it may itself be wrong by: how far a second solution is from it.

use std::time::{Duration, Instant};

use costep_core::{
    Capable, Code, Description, Error, Experiment, InputPolynomials, Interval, Layout, Result, Subsystem,
};
use costep_engine::{Engine, Flow, Observer};
use costep_integrate::multistep::{AtPoint, Family};
use costep_integrate::{Integrated, Solver};
use costep_system::SystemDescription;

use crate::amplitude_windows::{Amplitudes, shares};
use crate::measures::mean_error;
use crate::trace::Trace;

/// What a run is compared with, sampled at the same communication points.
#[derive(Clone, Debug)]
pub struct Reference {
    /// How it was made.
    pub kind: ReferenceKind,
    /// Its outputs.
    pub trace: Trace,
    /// Its amplitudes, inside the steps as well.
    pub amplitudes: Amplitudes,
}

/// How a reference was made.
#[derive(Clone, Debug, PartialEq)]
pub enum ReferenceKind {
    /// The monolithic system.
    Monolithic {
        /// By this solver.
        solver: Solver,
        /// By how much another solution differs from it, as `eps_mono`; none if that is not known.
        own_error: Option<f64>,
    },
    /// The coupled system at a smaller step.
    FineStep {
        /// That step in s.
        step: f64,
        /// Its coupling method.
        method: String,
        /// By how much a run half as fine differs from it, as `eps_mono`: what the reference itself may be wrong by.
        own_error: f64,
    },
}

impl ReferenceKind {
    /// What the reference itself may be wrong by, as `eps_mono`, where that is known.
    pub fn own_error(&self) -> Option<f64> {
        match self {
            Self::Monolithic { own_error, .. } => *own_error,
            Self::FineStep { own_error, .. } => Some(*own_error),
        }
    }
}

/// An error once nobody waits for a reference any more.
pub type Patience<'a> = &'a dyn Fn() -> Result<()>;

/// Waits for ever.
const FOREVER: Patience<'_> = &|| Ok(());

/// How long a second solution may take in any case; longer only if the first did.
const SECOND_SOLUTION: Duration = Duration::from_secs(2);
/// Tolerance of a second solution where the first has none.
const SECOND_TOLERANCE: f64 = 1e-8;
/// A tolerance that is as good as the exact solution: the second one is looser.
const TIGHT: f64 = 1e-9;

/// A solver to check another by: with another tolerance, or with one in place of inner steps of a fixed length. None for exact
/// solutions.
pub fn second_solver(solver: Solver) -> Option<Solver> {
    match (solver, solver.tolerance()) {
        (Solver::Exact, _) => None,
        (_, Some(tolerance)) if tolerance > TIGHT => Some(solver.with_tolerance(0.1 * tolerance)),
        (_, Some(tolerance)) => Some(solver.with_tolerance(10.0 * tolerance)),
        // Stable where explicit steps are not.
        (_, None) => Some(Solver::Multistep(Family::Bdf, SECOND_TOLERANCE, AtPoint::Proceed)),
    }
}

impl Reference {
    /// Solves the whole model as one, over the communication points of `experiment`.
    pub fn new(
        model: &SystemDescription,
        solver: Solver,
        experiment: &Experiment,
        micro: bool,
    ) -> Result<Self> {
        Self::waited_for(model, solver, experiment, (micro, FOREVER))
    }

    /// The same for somebody who may lose patience.
    pub fn waited_for(
        model: &SystemDescription,
        solver: Solver,
        experiment: &Experiment,
        (micro, patience): (bool, Patience<'_>),
    ) -> Result<Self> {
        Self::over(model, solver, experiment, (equal_steps(experiment), micro), patience)
    }

    /// The same over the communication points of a run that has been done, whose steps may have any length.
    pub fn along(
        model: &SystemDescription,
        solver: Solver,
        experiment: &Experiment,
        (run, patience): (&Trace, Patience<'_>),
    ) -> Result<Self> {
        let steps = run.times.windows(2).map(|ends| Interval::new(ends[0], ends[1]));
        Self::over(
            model,
            solver,
            experiment,
            (steps.zip(shares(&run.times).skip(1)), run.micro.is_some()),
            patience,
        )
    }

    fn over(
        model: &SystemDescription,
        solver: Solver,
        experiment: &Experiment,
        (steps, micro): (impl Iterator<Item = (Interval, f64)>, bool),
        patience: Patience<'_>,
    ) -> Result<Self> {
        let mut trace = Trace::new(model.layout().outputs(), micro);
        let amplitudes = solve(model, solver, (experiment, steps), |t, y, twin| {
            trace.push(t, y, twin[0].telemetry().and_then(|last| last.energy()), twin);
            patience().map(|()| Flow::Continue)
        })?;
        let kind = ReferenceKind::Monolithic { solver, own_error: None };
        Ok(Self { kind, trace, amplitudes })
    }

    /// With its own error, by a second solution over the same communication points. Nothing is said where that fails, or takes
    /// longer than the first one, which took `first`, and than a little while.
    pub fn checked(mut self, model: &SystemDescription, experiment: &Experiment, first: Duration) -> Self {
        let ReferenceKind::Monolithic { solver, own_error } = &mut self.kind else { return self };
        let Some(second) = second_solver(*solver) else { return self };
        let deadline = Instant::now() + first.max(SECOND_SOLUTION);
        let mut trace = Trace::new(self.trace.outputs, false);
        let solved = solve(model, second, (experiment, equal_steps(experiment)), |t, y, twin| {
            trace.push(t, y, None, twin);
            Ok(if Instant::now() < deadline { Flow::Continue } else { Flow::Stop })
        });
        if solved.is_ok() && check_times(&trace, &self.trace).is_ok() {
            let descriptions: Vec<_> = model.parts.iter().map(|part| part.description().clone()).collect();
            *own_error = Some(mean_error(&descriptions, &trace, &self.trace));
        }
        self
    }

    /// Runs an engine whose subsystems are one system inside.
    pub fn whole(mut engine: Engine, solver: Solver, patience: Patience<'_>) -> Result<Self> {
        let (trace, amplitudes) = sampled(&mut engine, 1, patience)?;
        Ok(Self { kind: ReferenceKind::Monolithic { solver, own_error: None }, trace, amplitudes })
    }

    /// With its own error, by a second reference.
    pub fn checked_by(mut self, second: &Self, descriptions: &[Description]) -> Self {
        if let ReferenceKind::Monolithic { own_error, .. } = &mut self.kind
            && check_times(&second.trace, &self.trace).is_ok()
        {
            *own_error = Some(mean_error(descriptions, &second.trace, &self.trace));
        }
        self
    }

    /// Runs the coupled system at `1 / refinement` of the macro step and at twice that step. `engine` makes engines for
    /// an experiment.
    pub fn fine_step(
        engine: impl Fn(&Experiment) -> Result<Engine>,
        experiment: &Experiment,
        (refinement, method): (u64, &str),
        patience: Patience<'_>,
    ) -> Result<Self> {
        let refinement = refinement.next_multiple_of(2).max(2);
        // A run that cannot do a shorter last step passes its stop time, and so has its reference to.
        let is_whole = experiment.last_step() == experiment.step;
        let stop = if is_whole { experiment.stop } else { engine(experiment)?.experiment().stop };
        let fine = |refinement: u64| {
            let step = experiment.step / refinement as f64;
            let mut run = engine(&Experiment { step, stop, ..*experiment })?;
            let (trace, amplitudes) = sampled(&mut run, refinement, patience)?;
            Ok((trace, amplitudes, step, run))
        };
        let (trace, amplitudes, step, engine) = fine(refinement)?;
        let half = fine(refinement / 2)?.0;
        check_times(&half, &trace)?;
        let own_error = mean_error(engine.descriptions(), &half, &trace);
        Ok(Self {
            kind: ReferenceKind::FineStep { step, method: method.into(), own_error },
            trace,
            amplitudes,
        })
    }

    /// Runs the coupled system in so many steps per step of a run, and in half of them: two engines whose steps are those parts.
    pub fn refined(
        (mut fine, parts): (Engine, u64),
        mut half: Engine,
        method: &str,
        patience: Patience<'_>,
    ) -> Result<Self> {
        let (trace, amplitudes) = sampled(&mut fine, parts, patience)?;
        let (coarse, _) = sampled(&mut half, parts / 2, patience)?;
        check_times(&coarse, &trace)?;
        let own_error = mean_error(fine.descriptions(), &coarse, &trace);
        let steps = trace.times.len().max(2) as u64 - 1;
        let step = (fine.time() - trace.times[0]) / (steps * parts) as f64;
        Ok(Self {
            kind: ReferenceKind::FineStep { step, method: method.into(), own_error },
            trace,
            amplitudes,
        })
    }

    /// The same at every n-th of its communication points, and at the last: the reference of a run with n times its step.
    pub fn at_every(&self, n: usize) -> Self {
        let Trace { outputs, times, energy, .. } = &self.trace;
        let last = times.len().saturating_sub(1);
        let points: Vec<usize> = (0..last).step_by(n.max(1)).chain([last]).collect();
        let trace = Trace {
            outputs: *outputs,
            times: points.iter().map(|k| times[*k]).collect(),
            rows: points.iter().flat_map(|k| self.trace.row(*k)).copied().collect(),
            energy: points.iter().filter_map(|k| energy.get(*k)).copied().collect(),
            micro: None,
        };
        Self { kind: self.kind.clone(), trace, amplitudes: self.amplitudes.clone() }
    }

    /// Refuses runs that were not sampled when it was, such as one that passed its stop time.
    pub fn check_times(&self, run: &Trace) -> Result<()> {
        check_times(run, &self.trace)
    }
}

/// Samples of different times say nothing about errors.
fn check_times(run: &Trace, reference: &Trace) -> Result<()> {
    let ends = [run, reference].map(|trace| trace.times.last().copied().unwrap_or(f64::NAN));
    // Far more than round-off, and far less than a step.
    let near = 1e-6 * (ends[1] - reference.times[0]) / reference.times.len() as f64;
    let is_near = |(a, b): (&f64, &f64)| (a - b).abs() <= near.max(4.0 * f64::EPSILON * b.abs());
    if run.times.len() == reference.times.len() && run.times.iter().zip(&reference.times).all(is_near) {
        return Ok(());
    }
    let message =
        format!("the run, up to {} s, and its reference, up to {} s, have other times", ends[0], ends[1]);
    Err(Error::new(Code::NeedsMissing, message).hint("choose a stop time that is a multiple of the step"))
}

/// The outputs at every `refinement`-th communication point and at the last, and the amplitudes at all of them.
fn sampled(engine: &mut Engine, refinement: u64, patience: Patience<'_>) -> Result<(Trace, Amplitudes)> {
    let mut trace = Trace::new(engine.outputs().len(), false);
    let mut amplitudes = Amplitudes::new(engine.outputs().len());
    trace.observe(engine)?;
    amplitudes.add(0.0, engine.outputs());
    while !engine.is_over() {
        patience()?;
        engine.step()?;
        let share = engine.progress();
        amplitudes.add(share, engine.outputs());
        amplitudes.add_inner(share, engine.layout(), engine.micro());
        if engine.k().is_multiple_of(refinement) || engine.is_over() {
            trace.observe(engine)?;
        }
    }
    Ok((trace, amplitudes))
}

/// The equal steps of a run, with how much of it is done after each.
pub(crate) fn equal_steps(experiment: &Experiment) -> impl Iterator<Item = (Interval, f64)> {
    let (run, steps) = (*experiment, experiment.steps());
    (0..steps).map(move |k| (run.interval(k), (k + 1) as f64 / steps as f64))
}

/// Solves the whole model as one over these steps, each with how much of the run is done after it, shows every
/// communication point until that says no, and gives the amplitudes.
pub(crate) fn solve(
    model: &SystemDescription,
    solver: Solver,
    (experiment, steps): (&Experiment, impl Iterator<Item = (Interval, f64)>),
    mut show: impl FnMut(f64, &[f64], &Vec<Box<dyn Subsystem>>) -> Result<Flow>,
) -> Result<Amplitudes> {
    let mut twin = Integrated::new(model.monolithic_for(&solver)?, &solver)?;
    if let Some(recorder) = twin.micro_recorder() {
        recorder.record(true, experiment);
    }
    twin.initialise(experiment)?;
    let mut y = vec![0.0; twin.description().outputs.len()];
    twin.initial_outputs(&[], &mut y)?;
    let layout = Layout::of(std::slice::from_ref(twin.description()));
    let mut twin: Vec<Box<dyn Subsystem>> = vec![Box::new(twin)];
    let mut amplitudes = Amplitudes::new(y.len());
    amplitudes.add(0.0, &y);
    show(experiment.start, &y, &twin)?;
    let nothing = InputPolynomials::new(0, 0);
    for (interval, share) in steps {
        twin[0].step(interval, nothing.segment(0..0, 0), &mut y)?;
        check_finite(&y, interval.end)?;
        amplitudes.add(share, &y);
        amplitudes.add_inner(share, &layout, &twin);
        if show(interval.end, &y, &twin)? == Flow::Stop {
            break;
        }
    }
    Ok(amplitudes)
}

/// Outputs of the monolithic system at these rising instants, one row each.
pub fn outputs_at(
    model: &SystemDescription,
    solver: Solver,
    start: f64,
    instants: &[f64],
) -> Result<Vec<f64>> {
    let mut twin = Integrated::new(model.monolithic_for(&solver)?, &solver)?;
    let outputs = twin.description().outputs.len();
    twin.initialise(&Experiment { start, stop: start, step: 1.0 })?;
    let mut y = vec![0.0; outputs];
    twin.initial_outputs(&[], &mut y)?;
    let nothing = InputPolynomials::new(0, 0);
    let mut rows = Vec::with_capacity(instants.len() * outputs);
    let mut t = start;
    for instant in instants.iter().copied() {
        if instant > t {
            twin.step(Interval::new(t, instant), nothing.segment(0..0, 0), &mut y)?;
            check_finite(&y, instant)?;
            t = instant;
        }
        rows.extend_from_slice(&y);
    }
    Ok(rows)
}

fn check_finite(y: &[f64], t: f64) -> Result<()> {
    if y.iter().all(|y| y.is_finite()) {
        return Ok(());
    }
    Err(Error::new(Code::NotFinite, format!("the monolithic reference became infinite or NaN at t = {t} s"))
        .hint(
            "the model itself is unstable with this solver: try a smaller `micro_step` or `--solver dopri5`",
        ))
}
