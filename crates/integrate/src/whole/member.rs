//! The whole as subsystems: each part shows its own ports, and whichever is stepped first steps all of them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use costep_core::{
    Connection, Description, Experiment, External, InputPolynomials, InputSegment, Interval, MicroRecorder,
    MicroSamples, MicroSampling, Persistence, Result, SolverCounts, StateReader, StateWriter, StepLengths,
    StepOutcome, Subsystem, Telemetry, handles,
};

use super::{Component, MicroBuffer, Whole};
use crate::dynamics::Dynamics as _;
use crate::events::EventDriver;
use crate::integrator::{DIAGNOSTICS, Integrator, Sampler};
use crate::solver::Solver;

/// Room for samples at events, beyond those between.
const EVENT_SAMPLES: usize = 64;

/// One subsystem per part, all of which are one system inside: the inputs they are given do not matter, those of the
/// whole are exact at every instant.
pub fn members(
    parts: Vec<Box<dyn Component>>,
    connections: &[Connection],
    externals: Vec<(usize, External)>,
    solver: &Solver,
) -> Result<Vec<Box<dyn Subsystem>>> {
    let mut whole = Whole::new(parts, connections, externals)?;
    let states = whole.states();
    let integrator = solver.integrator(&mut whole)?;
    let sampling = match solver {
        Solver::Euler(_) => MicroSampling::End,
        _ => MicroSampling::Continuous,
    };
    let descriptions: Vec<_> = whole.parts.iter().map(|part| part.description().clone()).collect();
    let running = Running {
        driver: EventDriver::new(states, 0, crate::dynamics::Hybrid::indicators(&whole)),
        whole,
        integrator,
        sampler: None,
        tolerance: solver.tolerance(),
        no_inputs: InputPolynomials::new(0, 0),
        t: 0.0,
        x: vec![0.0; states],
        phase: Phase::New,
    };
    let shared = Arc::new(Mutex::new(running));
    let member = |(index, description): (usize, Description)| -> Box<dyn Subsystem> {
        Box::new(Member {
            shared: Arc::clone(&shared),
            index,
            // What a simulator of its own would take does not matter here.
            description: Description { input_order: 0, step_lengths: StepLengths::Any, ..description },
            energy: None,
            inputs: Vec::new(),
            sampling,
            micro: None,
            is_paused: false,
        })
    };
    Ok(descriptions.into_iter().enumerate().map(member).collect())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Not initialised, or used up.
    New,
    /// Initial values are being sought.
    Initialising,
    /// Steps can be done.
    Stepping,
}

/// The whole with its integrator and its present state.
struct Running {
    whole: Whole,
    driver: EventDriver,
    integrator: Box<dyn Integrator<Whole>>,
    sampler: Option<Box<Sampler>>,
    tolerance: Option<f64>,
    no_inputs: InputPolynomials,
    t: f64,
    x: Vec<f64>,
    phase: Phase,
}

impl Running {
    fn initialise(&mut self, experiment: &Experiment) -> Result<()> {
        self.integrator.check_step(experiment.step)?;
        self.integrator.reset();
        self.whole.since = f64::NEG_INFINITY;
        (self.t, self.phase) = (experiment.start, Phase::Initialising);
        Ok(())
    }

    /// Ends the initialisation, if that has not been done.
    fn start(&mut self) -> Result<()> {
        if self.phase != Phase::Stepping {
            let after = self.whole.start(self.t, &mut self.x)?;
            self.driver.start(&mut self.whole, (self.t, &mut self.x, &[]), after)?;
            self.phase = Phase::Stepping;
        }
        Ok(())
    }

    /// Steps to the end of the interval, unless that has been done for another member.
    fn advance(&mut self, interval: Interval) -> Result<()> {
        if self.phase == Phase::Stepping && self.t == interval.end {
            return Ok(());
        }
        self.start()?;
        if let Some(buffer) = &mut self.whole.micro {
            buffer.times.clear();
            buffer.outputs.clear();
        }
        let Self { whole, driver, integrator, x, sampler, no_inputs, .. } = self;
        let inputs = no_inputs.segment(0..0, 0);
        driver.advance(&mut **integrator, whole, interval, inputs, x, sampler.as_deref_mut())?;
        whole.resolve(interval.end, x)?;
        self.t = interval.end;
        Ok(())
    }

    fn record(&mut self, on: bool, experiment: &Experiment) {
        let too_many = self.integrator.check_step(experiment.step).is_err();
        let points =
            if too_many { 0 } else { self.integrator.points(experiment.step).saturating_add(EVENT_SAMPLES) };
        self.whole.micro = on.then(|| {
            let outputs = Vec::with_capacity(points * self.whole.outputs());
            Box::new(MicroBuffer { times: Vec::with_capacity(points), outputs })
        });
        self.sampler = on.then(|| Box::new(Sampler::new(self.x.len(), 0)));
    }

    fn save(&self, out: &mut StateWriter) -> Result<()> {
        out.integer((self.phase == Phase::Stepping).into());
        out.real(self.t);
        out.reals(&self.x);
        out.real(self.whole.since);
        for next in &self.whole.next {
            out.real(next.unwrap_or(f64::INFINITY));
        }
        self.driver.save(out);
        self.integrator.save(out);
        self.whole.parts.iter().try_for_each(|part| part.save(out))
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        if from.index(2)? == 1 {
            self.start()?;
        }
        self.t = from.real()?;
        from.reals(&mut self.x)?;
        self.whole.since = from.real()?;
        for next in &mut self.whole.next {
            *next = Some(from.real()?).filter(|next| next.is_finite());
        }
        self.driver.load(from)?;
        self.integrator.load(from)?;
        self.whole.parts.iter_mut().try_for_each(|part| part.load(from))
    }
}

/// A part of the whole.
struct Member {
    shared: Arc<Mutex<Running>>,
    index: usize,
    description: Description,
    energy: Option<f64>,
    /// The inputs at the end of the last step; none before the first.
    inputs: Vec<f64>,
    sampling: MicroSampling,
    /// Its own outputs inside the last step that was not paused.
    micro: Option<Box<MicroBuffer>>,
    is_paused: bool,
}

impl Member {
    fn running(&self) -> MutexGuard<'_, Running> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subsystem for Member {
    fn description(&self) -> &Description {
        &self.description
    }

    fn initialise(&mut self, experiment: &Experiment) -> Result<()> {
        let mut running = self.running();
        if self.index == 0 {
            running.initialise(experiment)?;
        }
        let tolerance = running.tolerance;
        running.whole.parts[self.index].initialise(experiment, tolerance)
    }

    fn initial_outputs(&mut self, u: &[f64], y: &mut [f64]) -> Result<()> {
        self.running().whole.parts[self.index].initial_outputs(u, y)
    }

    fn step(&mut self, interval: Interval, _u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        let shared = Arc::clone(&self.shared);
        let mut running = shared.lock().unwrap_or_else(PoisonError::into_inner);
        running.advance(interval)?;
        let Whole { parts, states, layout, u, y: all, micro, .. } = &running.whole;
        let own = layout.output_range(self.index);
        y.copy_from_slice(&all[own.clone()]);
        let (x, u) = (&running.x[states[self.index].clone()], &u[layout.input_range(self.index)]);
        self.energy = parts[self.index].energy(x, u);
        self.inputs.clear();
        self.inputs.extend_from_slice(u);
        let buffer = self.micro.as_mut().filter(|_| !self.is_paused);
        if let (Some(buffer), Some(micro)) = (buffer, micro) {
            buffer.times.clone_from(&micro.times);
            buffer.outputs.clear();
            for row in micro.outputs.chunks_exact(all.len().max(1)) {
                buffer.outputs.extend_from_slice(&row[own.clone()]);
            }
        }
        Ok(StepOutcome { reached: running.t })
    }

    fn terminate(&mut self) {
        let mut running = self.running();
        running.whole.parts[self.index].terminate();
        running.phase = Phase::New;
    }
}

// No part of the whole can go back alone.
handles!(Member {
    rollback: none,
    linearised: none,
    micro_recorder: some,
    environment: none,
    persistence: some,
    telemetry: some,
    row_member: none
});

impl MicroRecorder for Member {
    fn sampling(&self) -> MicroSampling {
        self.sampling
    }

    fn record(&mut self, on: bool, experiment: &Experiment) {
        if self.index == 0 {
            self.running().record(on, experiment);
        }
        self.micro = on.then(Box::default);
    }

    fn pause(&mut self, on: bool) {
        self.is_paused = on;
    }
}

impl Telemetry for Member {
    fn micro_samples(&self) -> Option<MicroSamples<'_>> {
        let MicroBuffer { times, outputs } = &**self.micro.as_ref()?;
        Some(MicroSamples { times, outputs, sampling: self.sampling })
    }

    fn input_at_end(&self) -> Option<&[f64]> {
        // Before the first step there are none.
        (self.inputs.len() == self.description.inputs.len()).then_some(&self.inputs[..])
    }

    fn diagnostic_names(&self) -> &[&'static str] {
        // One integrator has one history.
        if self.index == 0 && self.running().integrator.diagnostics().is_some() { &DIAGNOSTICS } else { &[] }
    }

    fn diagnostics(&self, row: &mut [f64]) {
        if let Some(numbers) = self.running().integrator.diagnostics().filter(|_| !row.is_empty()) {
            row.copy_from_slice(&numbers);
        }
    }

    fn solver_counts(&self) -> Option<SolverCounts> {
        if self.index == 0 { self.running().integrator.counts() } else { None }
    }

    fn energy(&self) -> Option<f64> {
        self.energy
    }
}

impl Persistence for Member {
    /// The first one speaks for all.
    fn save(&self, out: &mut StateWriter) -> Result<()> {
        if self.index == 0 { self.running().save(out) } else { Ok(()) }
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        if self.index == 0 { self.running().load(from) } else { Ok(()) }
    }
}
