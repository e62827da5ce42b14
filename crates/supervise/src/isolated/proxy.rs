//! A subsystem whose calls are done by another process.

use std::any::Any;

use costep_core::{
    Batch, Capable, Code, Description, EnvironmentStep, Error, Experiment, InputSegment, Interval,
    Linearisation, Linearised, LocalModel, MicroBuffer, MicroRecorder, MicroSamples, MicroSampling,
    ModelOrigin, Persistence, Result, Rollback, SolverCounts, StateReader, StateWriter, StepOutcome,
    Subsystem, Telemetry, unsupported,
};

use super::area::Sizes;
use super::facts::Facts;
use super::mailbox::Request;
use super::worker::{Hear, Worker};
use crate::hand_over::Program;

/// Most micro samples of a step, and most bytes of a state: beyond, the other process lies.
const MOST: u64 = 1 << 30;

/// What a subsystem looks like, as far as it is known before it is made.
#[derive(Clone, Debug)]
pub struct Outline {
    /// From outside. What it can do may turn out to be less.
    pub description: Description,
    /// Number of states, at most.
    pub states: usize,
}

/// A subsystem in a process of its own.
pub struct Isolated {
    worker: Worker,
    description: Description,
    facts: Facts,
    samples: Option<MicroBuffer>,
    /// Steps are trials, whose micro samples nobody wants.
    paused: bool,
    /// It is killed at its end, without a word.
    abandoned: bool,
    _kept: Box<dyn Any + Send>,
}

impl Isolated {
    /// Starts a program that makes the subsystem by calling [`host`](super::host), which is given `order`. `kept` is
    /// something that has to live as long as the process; `hear` is told what the process has to say beside its answers.
    pub fn start(
        program: &Program,
        outline: Outline,
        order: &[u8],
        kept: Box<dyn Any + Send>,
        hear: Hear,
    ) -> Result<Self> {
        let Outline { mut description, states: most_states } = outline;
        let sizes = Sizes::of(&description, most_states);
        let worker = Worker::start(program, &description.name, sizes, order, hear)?;
        let length = usize::try_from(worker.mailbox.word(0)).unwrap_or(usize::MAX);
        let facts = Facts::read(&worker.area.load_bytes(&worker.mailbox, length));
        let facts = facts.map_err(|_| worker.broken("what it can do cannot be read"))?;
        if facts.states() > most_states {
            return Err(worker.broken("it has more states than described"));
        }
        description.input_order = sizes.order.min(facts.input_order);
        description.step_lengths = facts.step_lengths;
        Ok(Self { worker, description, facts, samples: None, paused: false, abandoned: false, _kept: kept })
    }

    /// Has the process killed at the end of the subsystem: whatever it would still do does not count.
    #[must_use]
    pub fn abandoned(mut self) -> Self {
        self.abandoned = true;
        self
    }

    /// Takes over the micro samples of the step just done, `count` of them.
    #[inline(never)]
    fn take_samples(&mut self) -> Result<()> {
        let Some(samples) = &mut self.samples else { return Ok(()) };
        let worker = &self.worker;
        let count = worker.mailbox.word(1);
        if count > MOST {
            return Err(worker.broken("there are too many micro samples"));
        }
        let count = count as usize;
        samples.clear();
        while samples.len() < count {
            let first = samples.len();
            if first > 0 {
                worker.mailbox.set_word(0, first as u64);
                worker.ask(Request::MoreSamples)?;
            }
            for row in 0..worker.area.rows().min(count - first) {
                worker.area.load_row(&worker.mailbox, row, samples);
            }
        }
        Ok(())
    }
}

impl Subsystem for Isolated {
    fn description(&self) -> &Description {
        &self.description
    }

    fn initialise(&mut self, experiment: &Experiment) -> Result<()> {
        self.worker.mailbox.set_reals([experiment.start, experiment.stop, experiment.step]);
        self.worker.ask(Request::Initialise)
    }

    fn initial_outputs(&mut self, u: &[f64], y: &mut [f64]) -> Result<()> {
        let Worker { mailbox, area, .. } = &self.worker;
        area.store_inputs(mailbox, u);
        self.worker.ask(Request::InitialOutputs)?;
        area.load_outputs(mailbox, y);
        Ok(())
    }

    fn begin(&mut self, y: &mut [f64]) -> Result<()> {
        let Worker { mailbox, area, .. } = &self.worker;
        area.store_outputs(mailbox, y);
        self.worker.ask(Request::Begin)?;
        area.load_outputs(mailbox, y);
        Ok(())
    }

    fn step(&mut self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        let Worker { mailbox, area, .. } = &self.worker;
        if u.order() > area.sizes.order {
            return Err(Error::new(Code::Bug, format!("inputs of order {} are too much", u.order())));
        }
        mailbox.set_reals([interval.start, interval.end, interval.length]);
        mailbox.set_word(3, u.order() as u64);
        mailbox.set_word(4, self.paused.into());
        area.store_segment(mailbox, u);
        self.worker.ask(Request::Step)?;
        area.load_outputs(mailbox, y);
        let reached = mailbox.real(0);
        if self.samples.is_some() && !self.paused {
            self.take_samples()?;
        }
        Ok(StepOutcome { reached })
    }

    fn terminate(&mut self) {
        self.worker.ask_at_end(Request::Terminate);
    }
}

impl Capable for Isolated {
    fn rollback(&mut self) -> Option<&mut dyn Rollback> {
        if self.facts.rollback { Some(self) } else { None }
    }

    fn linearised(&mut self) -> Option<&mut dyn Linearised> {
        if self.facts.linearised.is_some() { Some(self) } else { None }
    }

    fn micro_recorder(&mut self) -> Option<&mut dyn MicroRecorder> {
        if self.facts.sampling.is_some() { Some(self) } else { None }
    }

    /// A model of the rest would have to be in the other process.
    fn environment(&mut self) -> Option<&mut dyn EnvironmentStep> {
        None
    }

    fn persistence(&self) -> Option<&dyn Persistence> {
        if self.facts.persistence { Some(self) } else { None }
    }

    fn persistence_mut(&mut self) -> Option<&mut dyn Persistence> {
        if self.facts.persistence { Some(self) } else { None }
    }

    fn telemetry(&self) -> Option<&dyn Telemetry> {
        if self.facts.telemetry.is_some() { Some(self) } else { None }
    }

    fn join_batch(self: Box<Self>, _batch: &mut Option<Box<dyn Batch>>) -> Result<(), Box<dyn Subsystem>> {
        Err(self)
    }
}

impl Rollback for Isolated {
    fn snapshot(&mut self) -> Result<()> {
        self.worker.ask(Request::Snapshot)
    }

    fn restore(&mut self) -> Result<()> {
        self.worker.ask(Request::Restore)
    }

    fn release(&mut self) {
        // If that fails, so does the next request.
        let _ = self.worker.ask(Request::Release);
    }
}

impl Linearised for Isolated {
    fn level(&self) -> Linearisation {
        self.facts.linearised.map_or(Linearisation::None, |linear| linear.level)
    }

    fn states(&self) -> usize {
        self.facts.states()
    }

    fn origin(&self) -> ModelOrigin {
        self.facts.linearised.map_or(ModelOrigin::Exact, |linear| linear.origin)
    }

    fn local_model(&mut self, u: &[f64], model: &mut LocalModel) -> Result<()> {
        let Worker { mailbox, area, .. } = &self.worker;
        let sizes = (self.facts.states(), area.sizes.inputs, area.sizes.outputs);
        if (model.states, model.inputs, model.outputs) != sizes {
            return Err(unsupported(&self.description, "a local model of this size"));
        }
        area.store_inputs(mailbox, u);
        // What it does not fill stays as it is.
        area.store_model(mailbox, model);
        self.worker.ask(Request::LocalModel)?;
        area.load_model(mailbox, model);
        Ok(())
    }

    fn read_state(&mut self, u: &[f64], x: &mut [f64], x_dot: &mut [f64]) -> Result<bool> {
        let Worker { mailbox, area, .. } = &self.worker;
        if (x.len(), x_dot.len()) != (self.facts.states(), self.facts.states()) {
            return Ok(false);
        }
        area.store_inputs(mailbox, u);
        self.worker.ask(Request::ReadState)?;
        area.load_states(mailbox, x, x_dot);
        Ok(mailbox.word(0) > 0)
    }
}

impl MicroRecorder for Isolated {
    fn sampling(&self) -> MicroSampling {
        self.facts.sampling.unwrap_or(MicroSampling::End)
    }

    fn record(&mut self, on: bool, experiment: &Experiment) {
        self.worker.mailbox.set_reals([experiment.start, experiment.stop, experiment.step]);
        self.worker.mailbox.set_word(3, on.into());
        // A process that has failed says so in the next step.
        let _ = self.worker.ask(Request::Record);
        self.samples = on.then(|| MicroBuffer::with_capacity(0, self.description.outputs.len()));
    }

    /// The other process is told with the next step.
    fn pause(&mut self, on: bool) {
        self.paused = on;
    }
}

/// What the other process has told with its last answer.
impl Telemetry for Isolated {
    fn micro_samples(&self) -> Option<MicroSamples<'_>> {
        Some(self.samples.as_ref()?.samples(self.facts.sampling?))
    }

    /// There are no steps beside a model of the rest.
    fn input_at_end(&self) -> Option<&[f64]> {
        None
    }

    fn diagnostic_names(&self) -> &[&'static str] {
        self.facts.telemetry.as_deref().unwrap_or_default()
    }

    fn diagnostics(&self, row: &mut [f64]) {
        self.worker.area.load_diagnostics(&self.worker.mailbox, row);
    }

    fn solver_counts(&self) -> Option<SolverCounts> {
        self.worker.area.load_counts(&self.worker.mailbox)
    }

    fn energy(&self) -> Option<f64> {
        self.worker.area.load_energy(&self.worker.mailbox)
    }
}

impl Persistence for Isolated {
    fn save(&self, out: &mut StateWriter) -> Result<()> {
        let Worker { mailbox, area, .. } = &self.worker;
        self.worker.ask(Request::Save)?;
        let length = mailbox.word(0);
        if length > MOST {
            return Err(self.worker.broken("its state is too large"));
        }
        let mut bytes = area.load_bytes(mailbox, length as usize);
        while bytes.len() < length as usize {
            mailbox.set_word(0, bytes.len() as u64);
            self.worker.ask(Request::MoreBytes)?;
            bytes.extend(area.load_bytes(mailbox, length as usize - bytes.len()));
        }
        out.block(&bytes);
        Ok(())
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        let Worker { mailbox, area, .. } = &self.worker;
        for (index, piece) in from.block()?.chunks(area.piece_bytes()).enumerate() {
            area.store_bytes(mailbox, piece);
            mailbox.set_word(0, index as u64);
            mailbox.set_word(1, piece.len() as u64);
            self.worker.ask(Request::TakeBytes)?;
        }
        self.worker.ask(Request::Load)
    }
}

impl Drop for Isolated {
    fn drop(&mut self) {
        if !self.abandoned {
            self.worker.ask_at_end(Request::End);
        }
    }
}
