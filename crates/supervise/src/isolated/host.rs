//! The process that hosts a subsystem.

use std::sync::OnceLock;

use costep_core::{
    Code, Error, Experiment, InputPolynomials, Interval, LocalModel, Result, StateReader, StateWriter,
    Subsystem,
};
use rustix::process::{Signal, set_parent_process_death_signal};

use super::area::{Area, Sizes, load_bytes, store_bytes};
use super::error_bytes::write_error;
use super::facts::Facts;
use super::mailbox::{Mailbox, Request};
use crate::child::{die_with_parent, numbers, refused};
use crate::memory::inherited;
use crate::{signals, stopping_exceptions};

static MAILBOX: OnceLock<Mailbox> = OnceLock::new();

/// Hosts a subsystem until the process that asked for it has enough. `files` is the text that the flag
/// [`WORKER_FLAG`](super::WORKER_FLAG) came with; `prepare` reads the order and confines this process, `make`
/// makes the subsystem and is the first to touch foreign code. `messages` gives what is to be said beside the next answer, in at most so many bytes.
pub fn host<P>(
    files: &str,
    prepare: impl FnOnce(&[u8]) -> Result<P>,
    make: impl FnOnce(P) -> Result<Box<dyn Subsystem>>,
    messages: fn(usize) -> Vec<u8>,
) -> Result<()> {
    let [lifeline, memory] = numbers(files)?;
    // Before there are threads that do anything: the first one waits (`room.rs`).
    signals::keep_inside();
    let lifeline = inherited(lifeline).map_err(refused)?;
    let mailbox = inherited(memory).and_then(Mailbox::open).map_err(refused)?;
    let mailbox = MAILBOX.get_or_init(|| mailbox);
    let [inputs, outputs, states, order, length, parent_lives_long, extra] =
        [0, 1, 2, 3, 4, 5, 6].map(|index| mailbox.word(index) as usize);
    if parent_lives_long > 0 {
        // Sooner than the lifeline. The signal comes when the thread ends that started this process, so that it is no
        // good if that is not the main one.
        set_parent_process_death_signal(Some(Signal::KILL)).map_err(|cause| refused(cause.into()))?;
    }
    let area = Area::new(Sizes { inputs, outputs, states, order })
        .filter(|area| length <= extra && area.length(extra) == mailbox.memory.length())
        .ok_or_else(|| refused(std::io::ErrorKind::InvalidData.into()))?;
    mailbox.show();
    let order = load_bytes(mailbox, area.extra_at(), length);
    let prepared = prepare(&order);
    // Its thread is confined only if it is started after that.
    die_with_parent(lifeline).map_err(refused)?;
    let (turn, _) = mailbox.next(0);
    let reporter = Reporter { mailbox, place: area.extra_at(), room: extra, messages };
    match prepared.and_then(make).and_then(|subsystem| Host::new(reporter, area.clone(), subsystem)) {
        Ok(mut host) => {
            reporter.answer(turn, false);
            host.serve(turn)
        }
        Err(error) => {
            area.store_bytes(mailbox, &write_error(&error));
            reporter.answer(turn, true);
        }
    }
    Ok(())
}

/// Answers, with messages if there are any.
#[derive(Clone, Copy)]
struct Reporter {
    mailbox: &'static Mailbox,
    /// Where the messages go, and how many bytes of them.
    place: usize,
    room: usize,
    messages: fn(usize) -> Vec<u8>,
}

impl Reporter {
    fn answer(&self, turn: u32, failed: bool) {
        let messages = (self.messages)(self.room);
        if !messages.is_empty() && messages.len() <= self.room {
            store_bytes(self.mailbox, self.place, &messages);
            self.mailbox.set_messages(messages.len());
        }
        self.mailbox.answer(turn, failed);
    }
}

/// The subsystem, and memory for what goes to and fro.
struct Host {
    mailbox: &'static Mailbox,
    reporter: Reporter,
    area: Area,
    subsystem: Option<Box<dyn Subsystem>>,
    polynomials: InputPolynomials,
    u: Vec<f64>,
    y: Vec<f64>,
    /// Taken when it is first asked for.
    model: Option<LocalModel>,
    states: [Vec<f64>; 2],
    /// A state on its way to or from a checkpoint.
    bytes: Vec<u8>,
    samples: bool,
    /// Steps are trials, whose micro samples nobody wants.
    paused: bool,
    /// As many as the subsystem has.
    diagnostics: Vec<f64>,
}

impl Host {
    fn new(reporter: Reporter, area: Area, mut subsystem: Box<dyn Subsystem>) -> Result<Self> {
        let mailbox = reporter.mailbox;
        let Sizes { inputs, outputs, order, .. } = area.sizes;
        let description = subsystem.description();
        if (description.inputs.len(), description.outputs.len()) != (inputs, outputs) {
            return Err(Error::new(Code::Bug, "the subsystem has other signals than described"));
        }
        let facts = Facts::of(&mut *subsystem)?;
        let bytes = facts.write();
        if area.store_bytes(mailbox, &bytes) < bytes.len() {
            return Err(Error::new(Code::Bug, "the subsystem has too much to say about itself"));
        }
        mailbox.set_word(0, bytes.len() as u64);
        let (states, names) = (facts.states(), facts.telemetry.map_or(0, |names| names.len()));
        let mut host = Self {
            mailbox,
            reporter,
            polynomials: InputPolynomials::new(inputs, order),
            u: vec![0.0; inputs],
            y: vec![0.0; outputs],
            model: None,
            states: [vec![0.0; states], vec![0.0; states]],
            bytes: Vec::new(),
            samples: false,
            paused: false,
            diagnostics: vec![0.0; names],
            subsystem: Some(subsystem),
            area,
        };
        host.show_telemetry();
        Ok(host)
    }

    fn serve(&mut self, mut turn: u32) {
        while self.subsystem.is_some() {
            let (next, request) = self.mailbox.next(turn);
            turn = next;
            let outcome = match request {
                Some(request) => stopping_exceptions(|| self.obey(request)),
                // The FMU has written over what was asked.
                None => Err(Error::new(Code::SubsystemFailed, "its process was asked for something unknown")
                    .because("something in that process has written to memory that is not its own")),
            };
            if let Err(error) = &outcome {
                self.area.store_bytes(self.mailbox, &write_error(error));
            }
            self.show_telemetry();
            self.reporter.answer(turn, outcome.is_err());
        }
    }

    fn obey(&mut self, request: Request) -> Result<()> {
        let Self { mailbox, area, subsystem: Some(subsystem), u, y, .. } = self else { return Ok(()) };
        match request {
            Request::Step => return self.step(),
            Request::Start => {}
            Request::Initialise => subsystem.initialise(&experiment(mailbox))?,
            Request::InitialOutputs => {
                area.load_inputs(mailbox, u);
                subsystem.initial_outputs(u, y)?;
                area.store_outputs(mailbox, y);
            }
            Request::Begin => {
                area.load_outputs(mailbox, y);
                subsystem.begin(y)?;
                area.store_outputs(mailbox, y);
            }
            Request::MoreSamples => self.show_samples(self.mailbox.word(0) as usize),
            Request::Snapshot => subsystem.demand_rollback()?.snapshot()?,
            Request::Restore => subsystem.demand_rollback()?.restore()?,
            Request::Release => subsystem.demand_rollback()?.release(),
            Request::LocalModel => {
                let (states, sizes) = (self.states[0].len(), area.sizes);
                let model =
                    self.model.get_or_insert_with(|| LocalModel::new(states, sizes.inputs, sizes.outputs));
                area.load_inputs(mailbox, u);
                area.load_model(mailbox, model);
                subsystem.demand_linearised()?.local_model(u, model)?;
                area.store_model(mailbox, model);
            }
            Request::ReadState => {
                let [x, x_dot] = &mut self.states;
                area.load_inputs(mailbox, u);
                let belongs = subsystem.read_state(u, x, x_dot)?;
                area.store_states(mailbox, x, x_dot);
                mailbox.set_word(0, belongs.into());
            }
            Request::Record => {
                self.samples = mailbox.word(3) > 0;
                if let Some(recorder) = subsystem.micro_recorder() {
                    recorder.record(self.samples, &experiment(mailbox));
                }
            }
            Request::Save => {
                let mut out = StateWriter::default();
                subsystem.demand_persistence()?.save(&mut out)?;
                self.bytes = out.into_bytes();
                area.store_bytes(mailbox, &self.bytes);
                mailbox.set_word(0, self.bytes.len() as u64);
            }
            Request::MoreBytes => {
                let first = (mailbox.word(0) as usize).min(self.bytes.len());
                area.store_bytes(mailbox, &self.bytes[first..]);
            }
            Request::TakeBytes => {
                if mailbox.word(0) == 0 {
                    self.bytes.clear();
                }
                self.bytes.extend(area.load_bytes(mailbox, mailbox.word(1) as usize));
            }
            Request::Load => {
                let mut from = StateReader::new(&self.bytes);
                subsystem.demand_persistence_mut()?.load(&mut from)?;
                from.finish()?;
            }
            Request::Terminate => subsystem.terminate(),
            Request::End => {
                self.subsystem = None;
                // Whoever asked kills this process as soon as there is an answer.
                costep_fmi::flush_printed();
            }
        }
        Ok(())
    }

    fn step(&mut self) -> Result<()> {
        let Self { mailbox, area, subsystem: Some(subsystem), polynomials, y, .. } = self else {
            return Ok(());
        };
        let interval = Interval { start: mailbox.real(0), end: mailbox.real(1), length: mailbox.real(2) };
        let order = (mailbox.word(3) as usize).min(area.sizes.order);
        let paused = mailbox.word(4) > 0;
        if paused != self.paused {
            self.paused = paused;
            if let Some(recorder) = subsystem.micro_recorder() {
                recorder.pause(paused);
            }
        }
        area.load_segment(mailbox, order, polynomials);
        let outcome = subsystem.step(interval, polynomials.segment(0..area.sizes.inputs, order), y)?;
        area.store_outputs(mailbox, y);
        mailbox.set_reals([outcome.reached]);
        if self.samples && !self.paused {
            self.show_samples(0);
        }
        Ok(())
    }

    /// Shows what can be read of the last step, with every answer: also going back changes it.
    fn show_telemetry(&mut self) {
        if let Some(telemetry) = self.subsystem.as_ref().and_then(|subsystem| subsystem.telemetry()) {
            self.area.store_telemetry(self.mailbox, telemetry, &mut self.diagnostics);
        }
    }

    /// Shows as many micro samples as there is room for, from number `first` on.
    fn show_samples(&self, first: usize) {
        let telemetry = self.subsystem.as_ref().and_then(|subsystem| subsystem.telemetry());
        let Some(samples) = telemetry.and_then(|telemetry| telemetry.micro_samples()) else {
            return self.mailbox.set_word(1, 0);
        };
        let width = self.area.sizes.outputs;
        for (row, index) in (first..samples.times.len()).take(self.area.rows()).enumerate() {
            let outputs = &samples.outputs[index * width..(index + 1) * width];
            self.area.store_row(self.mailbox, row, samples.times[index], outputs);
        }
        self.mailbox.set_word(1, samples.times.len() as u64);
    }
}

fn experiment(mailbox: &Mailbox) -> Experiment {
    Experiment { start: mailbox.real(0), stop: mailbox.real(1), step: mailbox.real(2) }
}
