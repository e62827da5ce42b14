//! The watching side: starts a process that hosts FMUs, looks after it, and says how it ended.

use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use crate::hand_over::{Program, Started, pipe, start};
use crate::output::Output;
use crate::page::Page;
use crate::report::{Culprit, Ending, Report};
use crate::status::SlotData;

/// The flag by which a program is told that it is watched.
pub const WATCHED_FLAG: &str = "--watched";

/// Longest time for ending an FMU.
const GRACE: Duration = Duration::from_secs(10);
/// Longest time between the end of a process as it sees itself and its real end.
const LAST_BREATH: Duration = Duration::from_secs(10);
/// Time counted between two looks at most: while this process was suspended, so was the other.
const LONGEST_TICK: Duration = Duration::from_secs(1);

/// What to look after.
pub struct Watch<'a> {
    /// How often the user has asked to stop: once for a soft stop, twice for an end at once.
    pub stops: &'a dyn Fn() -> u64,
    /// Bytes of memory that the process may use.
    pub memory_limit: Option<u64>,
}

/// Starts a program that calls [`be_watched`](crate::be_watched) and stays with it to its end. Lines that foreign code
/// prints go to `pass_on`.
pub fn supervise(
    program: &Program,
    watch: &Watch<'_>,
    pass_on: impl Fn(&str) + Send + 'static,
) -> std::io::Result<Report> {
    let page = Page::create()?;
    let (read, write) = pipe()?;
    let mut started = start(program, WATCHED_FLAG, &[page.file(), write.as_fd()])?;
    drop(write);
    let output = Output::read(read, pass_on)?;
    let ending =
        Watcher { page: &page, watch, calls: Vec::new(), finished: Duration::ZERO }.stay(&mut started)?;
    let (lines, unseen) = output.end();
    Ok(Report { ending, page, lines, unseen })
}

/// How long an FMU has been in the same call.
struct Since {
    word: u64,
    time: Duration,
}

struct Watcher<'a> {
    page: &'a Page,
    watch: &'a Watch<'a>,
    calls: Vec<Since>,
    /// How long ago the process came to its own end.
    finished: Duration,
}

impl Watcher<'_> {
    fn stay(mut self, started: &mut Started) -> std::io::Result<Ending> {
        let (done, end) = std::sync::mpsc::channel::<()>();
        let pid = started.pid();
        std::thread::spawn(move || {
            use rustix::process::{WaitId, WaitIdOptions, waitid};
            let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
            drop(done);
        });
        let mut last = Instant::now();
        loop {
            let is_over =
                end.recv_timeout(self.pause()) == Err(std::sync::mpsc::RecvTimeoutError::Disconnected);
            if is_over {
                return started.wait().map(|status| self.natural_end(status));
            }
            let now = Instant::now();
            let tick = (now - last).min(LONGEST_TICK);
            last = now;
            if let Some(ending) = self.look(tick, started) {
                started.kill();
                started.wait()?;
                return Ok(ending);
            }
        }
    }

    /// Time to the next look. More FMUs, fewer looks: each of them costs the FMU a little.
    fn pause(&self) -> Duration {
        let slots = self.page.slots().len() as u64;
        Duration::from_millis((slots / 64).clamp(if self.watch.memory_limit.is_some() { 2 } else { 10 }, 500))
    }

    /// A reason to end the process.
    fn look(&mut self, tick: Duration, started: &Started) -> Option<Ending> {
        let stops = (self.watch.stops)();
        self.page.header().stop.store(stops, Relaxed);
        if stops > 1 {
            return Some(Ending::Stopped);
        }
        if let Some(code) = self.finished_code() {
            self.finished += tick;
            return (self.finished > LAST_BREATH).then_some(Ending::Finished(code));
        }
        if let Some(limit) = self.watch.memory_limit
            && memory(started).is_some_and(|used| used > limit)
        {
            return Some(Ending::OutOfMemory { limit, culprits: self.culprits() });
        }
        let (index, limit) = self.hung(tick)?;
        if is_debugged(started) {
            return None;
        }
        let culprits = self.page.slots().get(index).and_then(Culprit::of).into_iter().collect();
        Some(Ending::Hung { limit, culprits })
    }

    /// The FMU that has been in a call for longer than it may.
    fn hung(&mut self, tick: Duration) -> Option<(usize, Duration)> {
        let mut found = None;
        for (index, slot) in self.page.slots().iter().enumerate() {
            let view = slot.read();
            if self.calls.len() <= index {
                self.calls.push(Since { word: view.word, time: Duration::ZERO });
            }
            let since = &mut self.calls[index];
            if since.word != view.word {
                *since = Since { word: view.word, time: Duration::ZERO };
                continue;
            }
            since.time += tick;
            let (Some(call), Some(limit)) = (view.call, view.limit) else { continue };
            let limit = if call.is_ending() { limit.min(GRACE) } else { limit };
            if since.time > limit {
                found = Some((index, limit));
            }
        }
        found
    }

    fn finished_code(&self) -> Option<u8> {
        match self.page.header().outcome.load(Relaxed) {
            0 => None,
            code => Some((code - 1).min(255) as u8),
        }
    }

    fn culprits(&self) -> Vec<Culprit> {
        self.page.slots().iter().filter_map(Culprit::of).collect()
    }

    /// It ended without our doing.
    fn natural_end(&self, status: std::process::ExitStatus) -> Ending {
        match (self.finished_code(), status.signal(), status.code()) {
            (Some(code), _, _) => Ending::Finished(code),
            (None, Some(signal), _) => Ending::Died { signal, culprits: self.culprits() },
            (None, None, code) => Ending::Exited { code: code.unwrap_or(-1), culprits: self.culprits() },
        }
    }
}

impl Culprit {
    /// The FMU of a slot, if it is in a call.
    fn of(slot: &SlotData) -> Option<Self> {
        let call = slot.read().call_name()?;
        Some(Self { name: slot.name(), call, message: slot.message() })
    }
}

/// Memory a process uses, in bytes.
fn memory(started: &Started) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{}/statm", started.pid().as_raw_nonzero())).ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages.saturating_mul(rustix::param::page_size() as u64))
}

/// Somebody who looks at a process with a debugger does not want it killed.
fn is_debugged(started: &Started) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", started.pid().as_raw_nonzero()));
    status.is_ok_and(|text| {
        text.lines().filter_map(|line| line.strip_prefix("TracerPid:")).any(|tracer| tracer.trim() != "0")
    })
}
