//! The watched side: shows what it does on the status page, and ends when its watcher does.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{OwnedFd, RawFd};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use costep_core::{Code, Error, Result};
use costep_fmu_file::HeldFile;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{
    Signal, getpid, getppid, kill_current_process_group, kill_process, set_parent_process_death_signal,
};

use crate::clock::CallClock;
use crate::hand_over::read_some;
use crate::memory::inherited;
use crate::output::name_line;
use crate::page::Page;
use crate::report::Culprit;
use crate::signals;
use crate::voice::Stream;

static WATCHED: OnceLock<Watched> = OnceLock::new();

/// This process, as one that is watched.
pub struct Watched {
    page: Page,
    outputs: Mutex<Outputs>,
}

/// Pipes for what FMUs in processes of their own print, and whose they have become.
struct Outputs {
    pipes: Vec<HeldFile>,
    names: Vec<String>,
}

/// This process as a watched one; nothing if nobody watches it.
#[inline]
pub fn watched() -> Option<&'static Watched> {
    WATCHED.get()
}

/// Takes this process under the watch of the one that started it, as its first deed. `files` is the text that the flag
/// [`WATCHED_FLAG`](crate::WATCHED_FLAG) came with. Standard output and error are those of foreign code from now on, and go
/// to the watcher; what this program has to say goes by [`Watched::say`]. No file is left open that matters.
pub fn be_watched(files: &str) -> Result<&'static Watched> {
    let numbers: Option<Vec<RawFd>> = files.split(',').map(|number| number.parse().ok()).collect();
    match numbers.as_deref() {
        Some([lifeline, page, output, outputs @ ..]) => {
            try_be_watched([*lifeline, *page, *output], outputs).map_err(refused)
        }
        _ => Err(refused(std::io::ErrorKind::InvalidInput.into())),
    }
}

fn try_be_watched(
    [lifeline, page, output]: [RawFd; 3],
    outputs: &[RawFd],
) -> std::io::Result<&'static Watched> {
    // Before there are threads that do anything: the first one waits (`room.rs`).
    signals::keep_inside();
    die_with_parent(inherited(lifeline)?)?;
    // Sooner than the lifeline, and where its thread cannot run.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let (page, output) = (Page::open(inherited(page)?)?, inherited(output)?);
    rustix::stdio::dup2_stdout(&output)?;
    rustix::stdio::dup2_stderr(&output)?;
    let pipes = outputs.iter().map(|number| Ok(HeldFile::new(inherited(*number)?.into())));
    let pipes = pipes.collect::<std::io::Result<Vec<_>>>()?;
    let outputs = Mutex::new(Outputs { pipes, names: Vec::new() });
    let watched = WATCHED.get_or_init(|| Watched { page, outputs });
    watched.page.show();
    Ok(watched)
}

pub(crate) fn refused(cause: std::io::Error) -> Error {
    // What the system refuses is not a mistake of whoever started it.
    let code = if cause.raw_os_error().is_some() { Code::NoProcess } else { Code::Bug };
    Error::new(code, "this process was not started as it should have been").because(cause)
}

/// The numbers of files in a text such as `3,4,5`.
pub(crate) fn numbers<const N: usize>(text: &str) -> Result<[RawFd; N]> {
    let numbers: Option<Vec<RawFd>> = text.split(',').map(|number| number.parse().ok()).collect();
    let numbers = numbers.and_then(|numbers| numbers.try_into().ok());
    numbers.ok_or_else(|| refused(std::io::ErrorKind::InvalidInput.into()))
}

/// Time between two looks for a process whose end of the lifeline was closed.
const LOOK: Duration = Duration::from_millis(5);

/// Whether nobody holds the other end of a lifeline.
fn is_cut(lifeline: &mut File) -> std::io::Result<bool> {
    let flags = fcntl_getfl(&*lifeline)?;
    fcntl_setfl(&*lifeline, flags | OFlags::NONBLOCK)?;
    let outcome = lifeline.read(&mut [0; 16]);
    fcntl_setfl(&*lifeline, flags)?;
    Ok(outcome.is_ok_and(|length| length == 0))
}

/// Ends this process and all it has started when nobody holds the other end of the lifeline any more.
pub(crate) fn die_with_parent(lifeline: OwnedFd) -> std::io::Result<()> {
    let mut lifeline = File::from(lifeline);
    let parent = getppid();
    let was_there = !is_cut(&mut lifeline)?;
    let watch = move || {
        while read_some(&mut lifeline, &mut [0; 16]) > 0 {}
        // An FMU in the process at the other end may have closed what does not belong to it.
        while was_there && getppid() == parent {
            std::thread::sleep(LOOK);
        }
        let _ = kill_current_process_group(Signal::KILL);
        // A sandbox lets nobody signal others, of the same group neither.
        let _ = kill_process(getpid(), Signal::KILL);
    };
    std::thread::Builder::new().name("lifeline".into()).stack_size(64 << 10).spawn(watch)?;
    Ok(())
}

/// The calls of this process, by looks now and then.
pub struct Calls {
    watched: &'static Watched,
    clock: CallClock,
}

impl Calls {
    /// Looks at them.
    pub fn look(&mut self) {
        let tick = self.clock.tick();
        self.clock.hung(self.watched.page.slots(), tick);
    }

    /// The FMU that has been in its call far longer than calls took so far, and how long; as of the last look.
    pub fn overlong(&self) -> Option<(Culprit, Duration)> {
        let slots = self.watched.page.slots();
        let (index, time) = self.clock.overlong(slots)?;
        Some((Culprit::of(slots.get(index)?, slots)?, time))
    }
}

impl Watched {
    /// Has the watcher print a text.
    pub fn say(&self, stream: Stream, text: &str) {
        self.page.voice().say(stream, text.as_bytes());
    }

    /// The file for what the process of this FMU prints, if there is one: the same for all of its processes.
    pub(crate) fn output_of(&self, name: &str) -> Option<File> {
        let mut outputs = self.outputs.lock().unwrap_or_else(PoisonError::into_inner);
        let Outputs { pipes, names } = &mut *outputs;
        let known = names.iter().position(|known| known == name);
        let mut file = pipes.get(known.unwrap_or(names.len()))?.try_clone().ok()?;
        if known.is_none() {
            file.write_all(name_line(name).as_bytes()).ok()?;
            names.push(name.to_owned());
        }
        Some(file)
    }

    /// Shows that this many macro steps have led to this time.
    #[inline]
    pub fn show_progress(&self, steps: u64, time: f64) {
        let header = self.page.header();
        header.time.store(time.to_bits(), Relaxed);
        header.step.store(steps + 1, Relaxed);
    }

    /// Macro steps done, and the time they have led to, as last shown.
    pub(crate) fn progress(&self) -> (u64, f64) {
        self.page.progress()
    }

    /// Shows that there is a checkpoint of this time.
    pub fn show_checkpoint(&self, time: f64) {
        let header = self.page.header();
        header.checkpoint.store(time.to_bits(), Relaxed);
        header.checkpoints.fetch_add(1, Relaxed);
    }

    /// Shows that the run is complete, and what follows is done to judge it.
    pub fn show_verification(&self) {
        self.page.header().verifies.store(1, Relaxed);
    }

    /// Looks at calls from now on.
    pub fn calls(&'static self) -> Calls {
        Calls { watched: self, clock: CallClock::new() }
    }

    /// Keeps a row of the recording until it is surely written. Rows are numbered from 0.
    pub fn keep_row(&self, number: u64, row: &[f64]) {
        self.page.keep_row(number, row);
    }

    /// Whether the watcher asks to stop.
    #[inline]
    pub fn is_asked_to_stop(&self) -> bool {
        self.page.header().stop.load(Relaxed) > 0
    }

    /// Says that this process comes to its own end, with this exit code. What foreign code does afterwards does not count.
    pub fn finish(&self, code: u8) {
        self.page.finish(code);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_refuses_is_no_mistake_of_the_program() {
        let no_more_files = std::io::Error::from_raw_os_error(24);
        assert_eq!(refused(no_more_files).code(), Code::NoProcess);
        assert_eq!(refused(std::io::ErrorKind::InvalidInput.into()).code(), Code::Bug);
    }
}
