//! The whole as subsystems: each part shows its own ports, and whichever is stepped first steps all of them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use costep_core::{
    Connection, Description, Experiment, External, InputPolynomials, InputSegment, Interval, MicroBuffer,
    MicroRecorder, MicroSamples, MicroSampling, Persistence, Result, SolverCounts, StateReader, StateWriter,
    StepLengths, StepOutcome, Subsystem, Telemetry, handles,
};

use super::Whole;
use crate::equations::{Equations, Lifecycle};
use crate::integrated::Integrated;
use crate::integrator::DIAGNOSTICS;
use crate::solver::Solver;

/// One subsystem per part, all of which are one system inside: the inputs they are given do not matter,
/// those of the whole are exact at every instant.
pub fn members(
    parts: Vec<Box<dyn Equations>>,
    connections: &[Connection],
    externals: Vec<(usize, External)>,
    solver: &Solver,
) -> Result<Vec<Box<dyn Subsystem>>> {
    let whole = Whole::new(parts, connections, externals)?.solved_by(solver);
    let descriptions: Vec<_> = whole.parts.iter().map(|part| part.description().clone()).collect();
    let y = vec![0.0; whole.layout.outputs()];
    let whole = Integrated::new(whole, solver)?;
    let sampling = whole.sampling();
    let shared = Arc::new(Mutex::new(Running { whole, y }));
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

/// The whole with its integrator, and its present outputs.
struct Running {
    whole: Integrated<Whole>,
    y: Vec<f64>,
}

impl Running {
    fn part(&mut self, index: usize) -> &mut dyn Equations {
        &mut *self.whole.equations_mut().parts[index]
    }

    fn lifecycle(&mut self, index: usize) -> Option<&mut dyn Lifecycle> {
        self.part(index).lifecycle()
    }

    /// The outputs of a part at its start, under these inputs. Loops are solved from there on.
    fn initial_outputs(&mut self, index: usize, u: &[f64], y: &mut [f64]) -> Result<()> {
        self.outputs_at_start(index, u, y)?;
        let whole = self.whole.equations_mut();
        whole.y[whole.layout.output_range(index)].copy_from_slice(y);
        Ok(())
    }

    fn outputs_at_start(&mut self, index: usize, u: &[f64], y: &mut [f64]) -> Result<()> {
        let t = self.whole.time();
        let part = self.part(index);
        if let Some(life) = part.lifecycle() {
            return life.initial_outputs(u, y);
        }
        let mut x = vec![0.0; part.states()];
        part.start(t, &mut x, &mut u.to_vec())?;
        part.outputs(t, &x, u, y)
    }

    /// Steps to the end of the interval, unless that has been done for another member.
    fn advance(&mut self, interval: Interval) -> Result<()> {
        if self.whole.is_stepping() && self.whole.time() == interval.end {
            return Ok(());
        }
        self.whole.equations_mut().begin_loops();
        let nothing = InputPolynomials::new(0, 0);
        self.whole.step(interval, nothing.segment(0..0, 0), &mut self.y)?;
        Ok(())
    }

    fn save(&mut self, out: &mut StateWriter) -> Result<()> {
        out.integer(self.whole.is_stepping().into());
        out.real(self.whole.time());
        out.reals(self.whole.state());
        let whole = self.whole.equations();
        out.real(whole.since);
        for next in &whole.next {
            out.real(next.unwrap_or(f64::INFINITY));
        }
        if !whole.solvers.is_empty() {
            out.reals(&whole.y);
        }
        self.whole.save_solver(out);
        let mut parts = self.whole.equations_mut().parts.iter_mut();
        parts.try_for_each(|part| part.lifecycle().map_or(Ok(()), |life| life.save(out)))
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        if from.index(2)? == 1 {
            self.whole.start()?;
        }
        let (t, mut x) = (from.real()?, self.whole.state().to_vec());
        from.reals(&mut x)?;
        self.whole.set_state(t, &x);
        let whole = self.whole.equations_mut();
        let since = from.real()?;
        whole.enter_piece(since);
        for next in &mut whole.next {
            *next = Some(from.real()?).filter(|next| next.is_finite());
        }
        if !whole.solvers.is_empty() {
            from.reals(&mut whole.y)?;
        }
        self.whole.load_solver(from)?;
        let mut parts = self.whole.equations_mut().parts.iter_mut();
        parts.try_for_each(|part| part.lifecycle().map_or(Ok(()), |life| life.load(from)))
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
            running.whole.reset(experiment)?;
            running.whole.equations_mut().enter_piece(experiment.start);
        }
        let tolerance = running.whole.solver().tolerance();
        running.lifecycle(self.index).map_or(Ok(()), |life| life.initialise(experiment, tolerance))
    }

    fn initial_outputs(&mut self, u: &[f64], y: &mut [f64]) -> Result<()> {
        self.running().initial_outputs(self.index, u, y)
    }

    fn step(&mut self, interval: Interval, _u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        let shared = Arc::clone(&self.shared);
        let mut running = shared.lock().unwrap_or_else(PoisonError::into_inner);
        running.advance(interval)?;
        let Whole { parts, states, layout, u, .. } = running.whole.equations();
        let own = layout.output_range(self.index);
        y.copy_from_slice(&running.y[own.clone()]);
        let (x, u) = (&running.whole.state()[states[self.index].clone()], &u[layout.input_range(self.index)]);
        self.energy = parts[self.index].energy(x, u);
        self.inputs.clear();
        self.inputs.extend_from_slice(u);
        let buffer = self.micro.as_mut().filter(|_| !self.is_paused);
        if let (Some(buffer), Some(all)) = (buffer, running.whole.micro_samples()) {
            buffer.clear();
            for (t, row) in all.times.iter().zip(all.outputs.chunks_exact(running.y.len().max(1))) {
                buffer.push(*t).copy_from_slice(&row[own.clone()]);
            }
        }
        Ok(StepOutcome { reached: running.whole.time() })
    }

    fn terminate(&mut self) {
        let mut running = self.running();
        if let Some(life) = running.lifecycle(self.index) {
            life.terminate();
        }
        running.whole.terminate();
    }
}

// No part of the whole can go back alone.
handles!(Member {
    rollback: none,
    linearised: none,
    micro_recorder: some,
    environment: none,
    persistence: some,
    telemetry: some
});

impl MicroRecorder for Member {
    fn sampling(&self) -> MicroSampling {
        self.sampling
    }

    fn record(&mut self, on: bool, experiment: &Experiment) {
        if self.index == 0 {
            self.running().whole.record(on, experiment);
        }
        self.micro = on.then(|| Box::new(MicroBuffer::with_capacity(0, self.description.outputs.len())));
    }

    fn pause(&mut self, on: bool) {
        self.is_paused = on;
    }
}

impl Telemetry for Member {
    fn micro_samples(&self) -> Option<MicroSamples<'_>> {
        Some(self.micro.as_ref()?.samples(self.sampling))
    }

    fn input_at_end(&self) -> Option<&[f64]> {
        // Before the first step there are none.
        (self.inputs.len() == self.description.inputs.len()).then_some(&self.inputs[..])
    }

    fn diagnostic_names(&self) -> &[&'static str] {
        // One integrator has one history.
        let has_some = self.index == 0 && !self.running().whole.diagnostic_names().is_empty();
        if has_some { &DIAGNOSTICS } else { &[] }
    }

    fn diagnostics(&self, row: &mut [f64]) {
        if !row.is_empty() {
            self.running().whole.diagnostics(row);
        }
    }

    fn solver_counts(&self) -> Option<SolverCounts> {
        if self.index == 0 { self.running().whole.solver_counts() } else { None }
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
