//! What FMUs have to say in a run: warnings and errors shown as they come, up to a limit, all counted and kept in log files.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use costep_fmi::{Message, Notice, Status};
use serde::Serialize;

use crate::fmu_logs::FmuLogs;
use crate::phrases::count;
use crate::style::Output;

/// Different messages of one FMU that are shown.
const SHOWN: usize = 10;

/// What one FMU has said.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Said {
    /// Messages by their status.
    pub(crate) messages: BTreeMap<&'static str, u64>,
    /// Calls that returned Warning.
    pub(crate) warning_returns: u64,
    /// The last message that was not of status ok.
    pub(crate) last: Option<String>,
    /// The file with all that it has said.
    pub(crate) log: Option<Log>,
    /// The texts that are shown, each once, and how many messages are not.
    #[serde(skip)]
    shown: Vec<String>,
    #[serde(skip)]
    hidden: u64,
}

/// A file of messages.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Log {
    file: PathBuf,
    lines: u64,
}

impl Said {
    /// Messages that are worth a look.
    fn grave(&self) -> u64 {
        self.messages.iter().filter(|(status, _)| **status != Status::Ok.word()).map(|(_, count)| count).sum()
    }
}

static SAID: Mutex<BTreeMap<String, Said>> = Mutex::new(BTreeMap::new());
static LOGS: Mutex<Option<FmuLogs>> = Mutex::new(None);
/// Time of the last communication point, as bits; not a number = none yet.
static NOW: AtomicU64 = AtomicU64::new(f64::NAN.to_bits());

/// Shows and counts all messages from now on, and writes them to these files.
pub(crate) fn listen(logs: Option<FmuLogs>, output: Output) {
    *LOGS.lock().unwrap_or_else(PoisonError::into_inner) = logs;
    // Nobody else listens in this program.
    costep_fmi::listen(move |instance, notice| hear(instance, notice, output));
}

/// Says which communication point has been reached.
pub(crate) fn at(time: f64) {
    NOW.store(time.to_bits(), Ordering::Relaxed);
}

/// Writes what has been heard to the log files.
pub(crate) fn flush() {
    if let Some(logs) = LOGS.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
        logs.flush();
    }
}

fn hear(instance: &str, notice: Notice<'_>, output: Output) {
    let mut all = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    let said = all.entry(instance.to_owned()).or_default();
    match notice {
        Notice::Warned(_) => said.warning_returns += 1,
        Notice::Further(status, count) => {
            *said.messages.entry(status.word()).or_default() += count;
            let text = format!(
                "further messages of status {}, too much at once and left out: {count}",
                status.word()
            );
            log(instance, &text, true);
            if status != Status::Ok {
                said.hidden += count;
            }
        }
        Notice::Logged(message) => {
            *said.messages.entry(message.status.word()).or_default() += 1;
            let (text, is_grave) = (line(message), message.status != Status::Ok);
            log(instance, &text, is_grave);
            if !is_grave {
                return;
            }
            if said.shown.len() < SHOWN && !said.shown.contains(&text) {
                output.remark(&format!("{instance}: {text}"));
                said.shown.push(text.clone());
            } else {
                said.hidden += 1;
            }
            said.last = Some(text);
        }
    }
}

/// Writes a line to the file of an FMU.
fn log(instance: &str, text: &str, is_grave: bool) {
    if let Some(logs) = LOGS.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
        let now = f64::from_bits(NOW.load(Ordering::Relaxed));
        logs.add(instance, Some(now).filter(|now| now.is_finite()), text, is_grave);
    }
}

/// A message in one line without anything that a terminal obeys.
fn line(message: &Message) -> String {
    let text: String = message.text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match message.category.as_str() {
        "" => format!("{}: {text}", message.status.word()),
        category => format!("{} [{}]: {text}", message.status.word(), category.escape_default()),
    }
}

/// What all FMUs have said so far, by their names.
pub(crate) fn said() -> BTreeMap<String, Said> {
    let mut all = SAID.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let logs = LOGS.lock().unwrap_or_else(PoisonError::into_inner);
    for (name, said) in &mut all {
        said.log = logs.as_ref().and_then(|logs| logs.of(name)).map(|(file, lines)| Log { file, lines });
    }
    all
}

/// A line for the summary of a run: `brake: 3 of status warning, 12 lines in run/brake.log`; nothing if there was nothing worth
/// a look.
pub(crate) fn summary() -> Option<String> {
    let words: Vec<String> = said().iter().filter_map(|(name, said)| one(name, said)).collect();
    (!words.is_empty()).then(|| words.join("   "))
}

/// A remark on the FMUs that have only chatted, together: `12 lines in run/brake.log`.
pub(crate) fn chat() -> Option<String> {
    let all = said();
    let is_chat = |said: &&Said| said.grave() == 0 && said.warning_returns == 0;
    let logs: Vec<&Log> = all.values().filter(is_chat).filter_map(|said| said.log.as_ref()).collect();
    let first = logs.first()?;
    let lines = count(logs.iter().map(|log| log.lines).sum::<u64>(), "line");
    let file = if logs.len() == 1 { first.file.clone() } else { first.file.with_file_name("*.log") };
    Some(format!("{lines} in {}", file.display()))
}

fn one(name: &str, said: &Said) -> Option<String> {
    if said.grave() == 0 && said.warning_returns == 0 {
        return None;
    }
    let mut words: Vec<String> = said
        .messages
        .iter()
        .filter(|(status, _)| **status != Status::Ok.word())
        .map(|(status, count)| format!("{count} of status {status}"))
        .collect();
    if said.warning_returns > 0 {
        words.push(format!("{} calls returned Warning", said.warning_returns));
    }
    if said.hidden > 0 {
        words.push(format!("{} not shown", said.hidden));
    }
    if let Some(log) = &said.log {
        words.push(format!("{} in {}", count(log.lines, "line"), log.file.display()));
    }
    Some(format!("{name}: {}", words.join(", ")))
}
