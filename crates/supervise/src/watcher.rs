//! The watching side: starts a process that hosts FMUs, looks after it, and says how it ended.

use std::os::fd::AsFd;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid};

use crate::clock::{CallClock, longest_limit};
use crate::hand_over::{Program, Started, pipe, start};
use crate::output::Output;
use crate::page::Page;
use crate::report::{Culprit, Ending, Report};
use crate::voice::Stream;

/// The flag by which a program is told that it is watched.
pub const WATCHED_FLAG: &str = "--watched";

/// Longest time between the end of a process as it sees itself and its real end.
const LAST_BREATH: Duration = Duration::from_secs(10);
/// How long a call may last beyond the time limit of the run.
const OVERTIME: Duration = Duration::from_secs(1);
/// How long what no FMU does may last beyond it: a macro step of other parts, or writing what was found.
const OWN_OVERTIME: Duration = Duration::from_secs(5);

/// What to look after.
pub struct Watch<'a> {
    /// How often the user has asked to stop: once for a soft stop, twice for an end at once.
    pub stops: &'a dyn Fn() -> u64,
    /// Bytes of memory that the process may use.
    pub memory_limit: Option<u64>,
    /// Wall time after which it stops by itself. In a call of an FMU it cannot: then it is ended.
    pub time_limit: Option<Duration>,
    /// Prints what the process itself says.
    pub print: &'a dyn Fn(Stream, &[u8]),
    /// This process does nothing else meanwhile: whatever children it has at the end are of foreign code, and are ended with it.
    pub is_alone: bool,
    /// How many FMUs in processes of their own get a pipe each for what they print; those of others come without a name.
    pub outputs: usize,
    /// Is told now and then how many macro steps have led to which time.
    pub see: &'a dyn Fn(u64, f64),
}

/// FMUs that get a pipe of their own at most. Of more, nobody knows whose lines come without a name.
pub const MOST_OUTPUTS: usize = 32;

/// Starts a program that calls [`be_watched`](crate::be_watched) and stays with it to its end. Lines that foreign code
/// prints go to `pass_on`, with the name of the FMU where it is known.
pub fn supervise(
    program: &Program,
    watch: &Watch<'_>,
    pass_on: impl Fn(Option<&str>, &str) + Send + Sync + 'static,
) -> std::io::Result<Report> {
    // What an FMU starts comes to this process when it is left alone, whatever group or session it has gone to.
    if watch.is_alone {
        let _ = set_child_subreaper(Some(getpid()));
    }
    let before = children("self").unwrap_or_default();
    let page = Page::create()?;
    let pipes = (0..=watch.outputs.min(MOST_OUTPUTS)).map(|_| pipe()).collect::<std::io::Result<Vec<_>>>()?;
    let (read, write): (Vec<_>, Vec<_>) = pipes.into_iter().unzip();
    let files: Vec<_> = [page.file()?].into_iter().chain(write.iter().map(AsFd::as_fd)).collect();
    let mut started = start(program, WATCHED_FLAG, &files, None)?;
    drop(files);
    drop(write);
    let output = Output::read(read, pass_on)?;
    let ending = Watcher {
        page: &page,
        watch,
        clock: CallClock::new(),
        elapsed: Duration::ZERO,
        finished: Duration::ZERO,
        rest: None,
    }
    .stay(&mut started)?;
    if watch.is_alone {
        end_all_but(&before);
    }
    let (lines, unseen) = output.end();
    page.voice().hear(watch.print);
    Ok(Report { ending, page, lines, unseen })
}

struct Watcher<'a> {
    page: &'a Page,
    watch: &'a Watch<'a>,
    clock: CallClock,
    /// How long it has been running.
    elapsed: Duration,
    /// How long ago the process came to its own end.
    finished: Duration,
    rest: Option<Rest>,
}

/// A time in which the process seems to do nothing.
struct Rest {
    /// How long no FMU had been called at its beginning.
    since: Duration,
    /// Processor time of the process up to then.
    computed: Duration,
}

impl Watcher<'_> {
    fn stay(mut self, started: &mut Started) -> std::io::Result<Ending> {
        let (done, end) = std::sync::mpsc::channel::<()>();
        let pid = started.pid();
        let wait = move || {
            use rustix::process::{WaitId, WaitIdOptions, waitid};
            let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
            drop(done);
        };
        std::thread::Builder::new().name("end of FMUs".into()).spawn(wait)?;
        loop {
            let is_over =
                end.recv_timeout(self.pause()) == Err(std::sync::mpsc::RecvTimeoutError::Disconnected);
            if is_over {
                return started.wait().map(|status| self.natural_end(status));
            }
            self.page.voice().hear(self.watch.print);
            let tick = self.clock.tick();
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
        let (steps, time) = self.page.progress();
        (self.watch.see)(steps, time);
        let stops = (self.watch.stops)();
        self.page.header().stop.store(stops, Relaxed);
        if stops > 1 {
            return Some(Ending::Stopped);
        }
        if let Some(code) = self.page.finished() {
            self.finished += tick;
            return (self.finished > LAST_BREATH).then_some(Ending::Finished(code));
        }
        if let Some(limit) = self.watch.memory_limit
            && memory(started).is_some_and(|used| used > limit)
        {
            let culprits = Culprit::anywhere(self.page.slots());
            return Some(Ending::OutOfMemory { limit, culprits });
        }
        let slots = self.page.slots();
        let culprits =
            |index: usize| slots.get(index).and_then(|slot| Culprit::of(slot, slots)).into_iter().collect();
        self.elapsed += tick;
        let hung = self.clock.hung(slots, tick).map(|(index, limit)| (culprits(index), limit));
        let hung = hung.or_else(|| self.stands_still(started).map(|limit| (Vec::new(), limit)));
        let late = self.watch.time_limit.filter(|limit| self.elapsed > limit.saturating_add(OVERTIME));
        let lasting = late.and_then(|limit| match self.clock.lasting(slots, OVERTIME) {
            Some(index) => Some((culprits(index), limit)),
            None => (self.clock.quiet() > OWN_OVERTIME).then_some((Vec::new(), limit)),
        });
        if (hung.is_some() || lasting.is_some()) && is_debugged(started) {
            return None;
        }
        let hung = hung.map(|(culprits, limit)| Ending::Hung { limit, culprits });
        hung.or(lasting.map(|(culprits, limit)| Ending::OutOfTime { limit, culprits }))
    }

    /// The longest time that a call may take, if for that long no FMU was called and nothing computed either: foreign code
    /// can stop threads outside of calls, by timers and handlers of signals.
    fn stands_still(&mut self, started: &Started) -> Option<Duration> {
        // What threads use that look at something now and then.
        const LITTLE: u32 = 100;
        let quiet = self.clock.quiet();
        // What was seen before the last call is of an earlier rest.
        if quiet.is_zero() || self.rest.as_ref().is_some_and(|rest| rest.since > quiet) {
            self.rest = None;
            return None;
        }
        let Some(Rest { since, computed }) = self.rest else {
            self.rest = computing_time(started).map(|computed| Rest { since: quiet, computed });
            return None;
        };
        let limit = longest_limit(self.page.slots()).filter(|limit| quiet.saturating_sub(since) > *limit)?;
        let now = computing_time(started)?;
        let rests = now.saturating_sub(computed) < (quiet - since) / LITTLE && !is_busy(started);
        if rests {
            return Some(limit);
        }
        self.rest = Some(Rest { since: quiet, computed: now });
        None
    }

    fn culprits(&self) -> Vec<Culprit> {
        Culprit::all(self.page.slots())
    }

    /// It ended without our doing.
    fn natural_end(&self, status: std::process::ExitStatus) -> Ending {
        match self.page.finished() {
            Some(code) => Ending::Finished(code),
            None => Ending::of(status, self.culprits()),
        }
    }
}

/// Ends all processes that have come to this one, and those that come by the end of these.
fn end_all_but(before: &[String]) {
    // Whoever starts others faster than this has to be ended by hand.
    const ROUNDS: usize = 100;
    for _ in 0..ROUNDS {
        let left = children("self").unwrap_or_default();
        let mut left = left.iter().filter(|pid| !before.contains(pid)).peekable();
        if left.peek().is_none() {
            return;
        }
        for pid in left.filter_map(|pid| Pid::from_raw(pid.parse().ok()?)) {
            let _ = kill_process(pid, Signal::KILL);
            let _ = waitpid(Some(pid), WaitOptions::empty());
        }
    }
}

/// Memory that a process and those it has started for its FMUs use, in bytes.
fn memory(started: &Started) -> Option<u64> {
    let pid = started.pid().to_string();
    let workers = children(&pid).unwrap_or_default();
    let pages: u64 = workers.iter().filter_map(|child| pages(child)).sum();
    Some(pages.saturating_add(self::pages(&pid)?).saturating_mul(rustix::param::page_size() as u64))
}

fn pages(pid: &str) -> Option<u64> {
    std::fs::read_to_string(format!("/proc/{pid}/statm")).ok()?.split_whitespace().nth(1)?.parse().ok()
}

/// Processor time that a process has used.
fn computing_time(started: &Started) -> Option<Duration> {
    let ticks = fields(format!("/proc/{}/stat", started.pid()))?;
    let ticks: u64 =
        [USER_TICKS, SYSTEM_TICKS].iter().filter_map(|at| ticks.get(*at)?.parse::<u64>().ok()).sum();
    Some(Duration::from_millis(ticks.saturating_mul(1000) / rustix::param::clock_ticks_per_second().max(1)))
}

/// Whether any thread of a process computes, or waits for a disk, right now.
fn is_busy(started: &Started) -> bool {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{}/task", started.pid())) else { return false };
    let state = |thread: std::fs::DirEntry| fields(thread.path().join("stat"))?.into_iter().next();
    threads.flatten().filter_map(state).any(|state| state == "R" || state == "D")
}

/// Places in what [`fields`] gives.
const USER_TICKS: usize = 11;
const SYSTEM_TICKS: usize = 12;

/// What the system says of a process or thread, from its state on: the name before that may contain anything.
fn fields(file: impl AsRef<Path>) -> Option<Vec<String>> {
    let text = std::fs::read(file).ok()?;
    let text = String::from_utf8_lossy(&text);
    let (_, behind) = text.rsplit_once(')')?;
    Some(behind.split_whitespace().map(str::to_owned).collect())
}

/// The processes that any thread of a process has started.
fn children(pid: &str) -> std::io::Result<Vec<String>> {
    let mut children = Vec::new();
    for thread in std::fs::read_dir(format!("/proc/{pid}/task"))?.flatten() {
        let list = std::fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        children.extend(list.split_whitespace().map(str::to_owned));
    }
    Ok(children)
}

/// Somebody who looks at a process with a debugger does not want it killed.
pub(crate) fn is_debugged(started: &Started) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", started.pid().as_raw_nonzero()));
    status.is_ok_and(|text| {
        text.lines().filter_map(|line| line.strip_prefix("TracerPid:")).any(|tracer| tracer.trim() != "0")
    })
}
