//! What foreign code prints: passed on line by line, up to a limit.
//!
//! FMUs in processes of their own have a pipe each, on which their process first writes who it is.

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
/// Bytes for the stack of a thread that reads.
const STACK: usize = 256 << 10;
/// Lines kept for a report.
const KEPT: usize = 5;

/// Begins the line that names an FMU.
const NAME: char = '\u{1}';

/// The line that names the FMU whose output follows on its pipe.
pub(crate) fn name_line(name: &str) -> String {
    format!("{NAME}{}\n", harmless(name))
}

/// Lines read so far.
#[derive(Default)]
struct Lines {
    last: VecDeque<String>,
    total: u64,
    /// Pipes that have not ended.
    open: usize,
}

/// Reads what foreign code prints.
pub(crate) struct Output {
    shared: Arc<(Mutex<Lines>, Condvar)>,
}

impl Output {
    /// Reads from pipes until their end and gives the first lines to `pass_on`, with the name of the FMU where it is known:
    /// never on the first pipe.
    pub(crate) fn read(
        pipes: Vec<OwnedFd>,
        pass_on: impl Fn(Option<&str>, &str) + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let lines = Lines { open: pipes.len(), ..Lines::default() };
        let shared = Arc::new((Mutex::new(lines), Condvar::new()));
        let pass_on = Arc::new(pass_on);
        for (number, pipe) in pipes.into_iter().enumerate() {
            let (theirs, pass_on) = (Arc::clone(&shared), Arc::clone(&pass_on));
            let work = move || {
                let mut reader = LineReader {
                    pipe: pipe.into(),
                    line: Vec::new(),
                    name: None,
                    may_be_named: number > 0,
                    shared: &theirs,
                    pass_on: &*pass_on,
                };
                reader.run();
                theirs.0.lock().unwrap_or_else(PoisonError::into_inner).open -= 1;
                theirs.1.notify_all();
            };
            std::thread::Builder::new().name("output of FMUs".into()).stack_size(STACK).spawn(work)?;
        }
        Ok(Self { shared })
    }

    /// The last lines and how many were not passed on. Waits a little for those on their way.
    pub(crate) fn end(&self) -> (Vec<String>, u64) {
        let lines = self.shared.0.lock().unwrap_or_else(PoisonError::into_inner);
        let patience = Duration::from_millis(200);
        let (lines, _) = self
            .shared
            .1
            .wait_timeout_while(lines, patience, |lines| lines.open > 0)
            .unwrap_or_else(PoisonError::into_inner);
        (lines.last.iter().cloned().collect(), lines.total.saturating_sub(PASSED_ON))
    }
}

struct LineReader<'a, F> {
    pipe: File,
    line: Vec<u8>,
    name: Option<String>,
    may_be_named: bool,
    shared: &'a (Mutex<Lines>, Condvar),
    pass_on: &'a F,
}

impl<F: Fn(Option<&str>, &str)> LineReader<'_, F> {
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
        if self.may_be_named && self.name.is_none() && self.line.first() == Some(&(NAME as u8)) {
            self.name = Some(harmless(&String::from_utf8_lossy(&self.line[1..])));
            return self.line.clear();
        }
        let text = harmless(&String::from_utf8_lossy(&self.line));
        self.line.clear();
        if text.is_empty() {
            return;
        }
        let mut lines = self.shared.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.total += 1;
        let is_early = lines.total <= PASSED_ON;
        if is_early {
            (self.pass_on)(self.name.as_deref(), &text);
        }
        if lines.last.len() == KEPT {
            lines.last.pop_front();
        }
        lines.last.push_back(match &self.name {
            Some(name) => format!("{name}: {text}"),
            None => text,
        });
    }
}

/// A text without what a terminal would obey, and without its end.
fn harmless(text: &str) -> String {
    let shown = |c: char| if c.is_control() && c != '\t' { '\u{FFFD}' } else { c };
    text.trim_end().chars().map(shown).collect()
}
