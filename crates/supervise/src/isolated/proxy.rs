//! A subsystem whose calls are done by another process.

use std::any::Any;

use costep_core::{
    Code, Description, Error, Experiment, InputSegment, Interval, Linearisation, LocalModel, MicroSamples,
    ModelOrigin, Result, StateReader, StateWriter, StepLengths, StepOutcome, Subsystem,
};

use super::area::Sizes;
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
    states: usize,
    origin: ModelOrigin,
    samples: Option<Samples>,
    _kept: Box<dyn Any + Send>,
}

/// Outputs inside the last step.
#[derive(Default)]
struct Samples {
    times: Vec<f64>,
    outputs: Vec<f64>,
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
        let word = |index: usize| worker.mailbox.word(index);
        let capabilities = &mut description.capabilities;
        capabilities.rollback &= word(0) > 0;
        capabilities.linearisation = capabilities.linearisation.min(match word(1) {
            0 => Linearisation::None,
            1 => Linearisation::Feedthrough,
            _ => Linearisation::Full,
        });
        capabilities.input_order = sizes.order.min(usize::try_from(word(2)).unwrap_or(usize::MAX));
        let states = usize::try_from(word(3)).ok().filter(|states| *states <= most_states);
        let states = states.ok_or_else(|| worker.broken("it has more states than described"))?;
        let origin = if word(4) > 0 { ModelOrigin::Differences } else { ModelOrigin::Exact };
        Ok(Self { worker, description, states, origin, samples: None, _kept: kept })
    }

    /// Takes over the micro samples of the step just done, `count` of them.
    #[inline(never)]
    fn take_samples(&mut self) -> Result<()> {
        let Some(samples) = &mut self.samples else { return Ok(()) };
        let (worker, width) = (&self.worker, self.description.outputs.len());
        let count = worker.mailbox.word(1);
        if count > MOST {
            return Err(worker.broken("there are too many micro samples"));
        }
        let count = count as usize;
        samples.times.clear();
        samples.outputs.clear();
        while samples.times.len() < count {
            let first = samples.times.len();
            if first > 0 {
                worker.mailbox.set_word(0, first as u64);
                worker.ask(Request::MoreSamples)?;
            }
            for row in 0..worker.area.rows().min(count - first) {
                samples.times.push(0.0);
                samples.outputs.resize((first + row + 1) * width, 0.0);
                let place = (first + row) * width..(first + row + 1) * width;
                let time = &mut samples.times[first + row];
                worker.area.load_row(&worker.mailbox, row, time, &mut samples.outputs[place]);
            }
        }
        Ok(())
    }
}

impl Subsystem for Isolated {
    fn description(&self) -> &Description {
        &self.description
    }

    fn step_lengths(&self) -> StepLengths {
        let (mailbox, answer) = (&self.worker.mailbox, self.worker.ask(Request::StepLengths));
        match (answer.is_ok().then(|| mailbox.word(0)), mailbox.real(1)) {
            (Some(0), _) => StepLengths::Any,
            (Some(1), inner) if inner.is_finite() && inner > 0.0 => StepLengths::MultiplesOf(inner),
            _ => StepLengths::MacroSteps,
        }
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

    fn step(&mut self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        let Worker { mailbox, area, .. } = &self.worker;
        if u.order() > area.sizes.order {
            return Err(Error::new(Code::Bug, format!("inputs of order {} are too much", u.order())));
        }
        mailbox.set_reals([interval.start, interval.end, interval.length]);
        mailbox.set_word(3, u.order() as u64);
        area.store_segment(mailbox, u);
        self.worker.ask(Request::Step)?;
        area.load_outputs(mailbox, y);
        let reached = mailbox.real(0);
        if self.samples.is_some() {
            self.take_samples()?;
        }
        Ok(StepOutcome { reached })
    }

    fn snapshot(&mut self) -> Result<()> {
        self.worker.ask(Request::Snapshot)
    }

    fn restore(&mut self) -> Result<()> {
        self.worker.ask(Request::Restore)
    }

    fn states(&self) -> usize {
        self.states
    }

    fn local_model_origin(&self) -> ModelOrigin {
        self.origin
    }

    fn local_model(&mut self, u: &[f64], model: &mut LocalModel) -> Result<()> {
        let Worker { mailbox, area, .. } = &self.worker;
        let sizes = (self.states, area.sizes.inputs, area.sizes.outputs);
        if (model.states, model.inputs, model.outputs) != sizes {
            return Err(self.unsupported("a local model of this size"));
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
        if (x.len(), x_dot.len()) != (self.states, self.states) {
            return Ok(false);
        }
        area.store_inputs(mailbox, u);
        self.worker.ask(Request::ReadState)?;
        area.load_states(mailbox, x, x_dot);
        Ok(mailbox.word(0) > 0)
    }

    fn record_micro_samples(&mut self, on: bool, experiment: &Experiment) {
        let on = on && self.description.capabilities.micro_samples.is_some();
        self.worker.mailbox.set_reals([experiment.start, experiment.stop, experiment.step]);
        self.worker.mailbox.set_word(3, on.into());
        // A process that has failed says so in the next step.
        let _ = self.worker.ask(Request::Record);
        self.samples = on.then(Samples::default);
    }

    fn micro_samples(&self) -> Option<MicroSamples<'_>> {
        let samples = self.samples.as_ref()?;
        Some(MicroSamples { times: &samples.times, outputs: &samples.outputs })
    }

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

    fn terminate(&mut self) {
        self.worker.ask_at_end(Request::Terminate);
    }
}

impl Drop for Isolated {
    fn drop(&mut self) {
        self.worker.ask_at_end(Request::End);
    }
}
