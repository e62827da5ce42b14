//! What FMUs have to say in a run: shown as it comes, up to a limit, and counted.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use costep_fmi::{Message, Notice, Status};
use serde::Serialize;

use crate::style::Output;

/// Messages of one FMU that are shown.
const SHOWN: u64 = 10;

/// What one FMU has said.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Said {
    /// Messages by their status.
    pub(crate) messages: BTreeMap<&'static str, u64>,
    /// Calls that returned Warning.
    pub(crate) warning_returns: u64,
    /// The last message that was not of status ok.
    pub(crate) last: Option<String>,
    #[serde(skip)]
    shown: u64,
}

impl Said {
    /// Messages that are worth a look.
    fn grave(&self) -> u64 {
        self.messages.iter().filter(|(status, _)| **status != Status::Ok.word()).map(|(_, count)| count).sum()
    }
}

static SAID: Mutex<BTreeMap<String, Said>> = Mutex::new(BTreeMap::new());

/// Shows and counts all messages from now on.
pub(crate) fn listen(output: Output) {
    // Nobody else listens in this program.
    costep_fmi::listen(move |instance, notice| hear(instance, notice, output));
}

fn hear(instance: &str, notice: Notice<'_>, output: Output) {
    let mut all = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    let said = all.entry(instance.to_owned()).or_default();
    match notice {
        Notice::Warned(_) => said.warning_returns += 1,
        Notice::Further(status, count) => {
            *said.messages.entry(status.word()).or_default() += count;
            if status != Status::Ok {
                said.shown = said.shown.max(SHOWN) + count;
            }
        }
        Notice::Logged(message) => {
            *said.messages.entry(message.status.word()).or_default() += 1;
            if message.status == Status::Ok {
                return;
            }
            let text = line(message);
            if said.shown < SHOWN {
                output.remark(&format!("{instance}: {text}"));
            }
            said.shown += 1;
            said.last = Some(text);
        }
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
    SAID.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// A line for the summary of a run: `brake 3 warnings (12 messages)`; nothing if there was nothing worth a look.
pub(crate) fn summary() -> Option<String> {
    let words: Vec<String> = said().iter().filter_map(|(name, said)| one(name, said)).collect();
    (!words.is_empty()).then(|| words.join("   "))
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
    if said.shown > SHOWN {
        words.push(format!("{} not shown", said.shown - SHOWN));
    }
    Some(format!("{name}: {}", words.join(", ")))
}
