//! What foreign code prints: passed on line by line, up to a limit.

use std::collections::VecDeque;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::hand_over::read_some;

/// Lines that are passed on.
const PASSED_ON: u64 = 10_000;
/// Bytes of a line.
const LINE: usize = 1000;
/// Lines kept for a report.
const KEPT: usize = 5;

/// Lines read so far.
#[derive(Default)]
struct Lines {
    last: VecDeque<String>,
    total: u64,
    ended: bool,
}

/// Reads what foreign code prints.
pub(crate) struct Output {
    shared: Arc<(Mutex<Lines>, Condvar)>,
}

impl Output {
    /// Reads from a pipe until its end and gives the first lines to `pass_on`.
    pub(crate) fn read(pipe: OwnedFd, pass_on: impl Fn(&str) + Send + 'static) -> std::io::Result<Self> {
        let shared = Arc::new((Mutex::new(Lines::default()), Condvar::new()));
        let theirs = Arc::clone(&shared);
        let work = move || {
            let mut reader =
                LineReader { pipe: pipe.into(), line: Vec::new(), shared: &theirs, pass_on: &pass_on };
            reader.run();
            theirs.0.lock().unwrap_or_else(PoisonError::into_inner).ended = true;
            theirs.1.notify_all();
        };
        std::thread::Builder::new().name("output of FMUs".into()).spawn(work)?;
        Ok(Self { shared })
    }

    /// The last lines and how many were not passed on. Waits a little for those on their way.
    pub(crate) fn end(&self) -> (Vec<String>, u64) {
        let lines = self.shared.0.lock().unwrap_or_else(PoisonError::into_inner);
        let patience = Duration::from_millis(200);
        let (lines, _) = self
            .shared
            .1
            .wait_timeout_while(lines, patience, |lines| !lines.ended)
            .unwrap_or_else(PoisonError::into_inner);
        (lines.last.iter().cloned().collect(), lines.total.saturating_sub(PASSED_ON))
    }
}

struct LineReader<'a, F> {
    pipe: File,
    line: Vec<u8>,
    shared: &'a (Mutex<Lines>, Condvar),
    pass_on: &'a F,
}

impl<F: Fn(&str)> LineReader<'_, F> {
    fn run(&mut self) {
        let mut bytes = [0; 8192];
        loop {
            let count = read_some(&mut self.pipe, &mut bytes);
            if count == 0 {
                break;
            }
            for byte in &bytes[..count] {
                match byte {
                    b'\n' => self.take(),
                    _ if self.line.len() < LINE => self.line.push(*byte),
                    _ => {}
                }
            }
        }
        self.take();
    }

    fn take(&mut self) {
        let text = harmless(&String::from_utf8_lossy(&self.line));
        self.line.clear();
        if text.is_empty() {
            return;
        }
        let mut lines = self.shared.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.total += 1;
        let is_early = lines.total <= PASSED_ON;
        if is_early {
            (self.pass_on)(&text);
        }
        if lines.last.len() == KEPT {
            lines.last.pop_front();
        }
        lines.last.push_back(text);
    }
}

/// A text without what a terminal would obey, and without its end.
fn harmless(text: &str) -> String {
    let shown = |c: char| if c.is_control() && c != '\t' { '\u{FFFD}' } else { c };
    text.trim_end().chars().map(shown).collect()
}
