//! `costep check --probe`: every part called on its own. FMUs are called in processes of their own, one
//! after the other: none can disturb another one, and whoever fails is the one to blame.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use costep::{Code, Error, PartProbe, ProbeReport, RateAdvice, System};
use costep_fmi::Notice;
use costep_fmu_file::PrivateFolder;
use serde_json::{Value, json};

#[cfg(target_os = "linux")]
use costep_supervise::SANDBOX;

use crate::failure::Failure;
use crate::style::{BAD, GOOD, Output, STRONG, WARN, paint, print_error_text, say};
use crate::supervision;
use crate::table::{number, wall};

/// What was found out about all parts.
#[derive(Default)]
pub(crate) struct Probes {
    pub(crate) cards: Vec<Card>,
    /// Parts that are good alone do not get along.
    pub(crate) error: Option<Error>,
    /// What comes of looking for rates, null for runs that are quick anyway.
    pub(crate) rates: Value,
}

/// What was found out about one part, as it is shown. Parts that are called elsewhere send it as JSON.
pub(crate) struct Card {
    pub(crate) is_good: bool,
    pub(crate) json: Value,
    line: String,
    /// An error in words.
    error: Option<String>,
}

/// What a confined FMU opens, and what is refused to it.
#[derive(Clone, Default)]
struct Deeds(Arc<Mutex<Vec<String>>>);

impl Deeds {
    /// Gathers them from now on.
    fn listen() -> Self {
        let deeds = Self::default();
        let gathered = deeds.clone();
        costep_fmi::listen(move |_, notice| match notice {
            Notice::Logged(message) if message.category == SANDBOX => {
                let mut gathered = gathered.0.lock().unwrap_or_else(PoisonError::into_inner);
                // There are several instances.
                if !gathered.contains(&message.text) {
                    gathered.push(message.text.clone());
                }
            }
            _ => {}
        });
        deeds
    }

    fn taken(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Calls all parts of a system.
pub(crate) fn of(system: &System, output: Output) -> Result<Probes, Failure> {
    let fmus = &system.project().given.fmus;
    if fmus.is_empty() || !cfg!(target_os = "linux") {
        let cards: Vec<Card> = system.probe().iter().map(Card::of).collect();
        let rates = seconds(&cards).map_or(Value::Null, |seconds| rates_of(system, &seconds));
        return Ok(Probes { cards, error: None, rates });
    }
    let folder = PrivateFolder::new().map_err(not_possible)?;
    let task = |what: &str| folder.path().join(what);
    let (inputs, error) = match inputs_elsewhere(&task(INPUTS), output) {
        Ok(inputs) => (inputs, None),
        Err(error) => (system.external_inputs(), Some(error)),
    };
    std::fs::write(task(INPUTS), json!(inputs).to_string()).map_err(not_possible)?;
    let parts = &system.project().model.parts;
    let mut cards = Vec::with_capacity(parts.len());
    for (i, part) in parts.iter().enumerate() {
        let name = &part.description().name;
        cards.push(match fmus.iter().any(|fmu| fmu.name == *name) {
            true => card_elsewhere(name, &task(&i.to_string()), output),
            false => Card::of(&system.probe_part(i, &inputs)),
        });
    }
    let all_good = cards.iter().all(|card| card.is_good);
    let error = error.filter(|_| all_good);
    let rates = match seconds(&cards).filter(|_| error.is_none()) {
        Some(seconds) => {
            std::fs::write(task(SECONDS), json!(seconds).to_string()).map_err(not_possible)?;
            ask(None, &task(RATES), output)
                .unwrap_or_else(|error| RateAdvice::Kept(error.details().message.clone()).to_json())
        }
        None => Value::Null,
    };
    Ok(Probes { cards, error, rates })
}

/// What a step of each part takes, if all parts are good.
fn seconds(cards: &[Card]) -> Option<Vec<f64>> {
    cards.iter().map(|card| card.json["step_s"].as_f64().filter(|_| card.is_good)).collect()
}

/// What comes of looking for rates, as an object.
fn rates_of(system: &System, seconds: &[f64]) -> Value {
    system.propose_rates(seconds).map_or(Value::Null, |advice| advice.to_json())
}

/// Rates in words.
pub(crate) fn print_rates(rates: &Value) -> Result<(), Error> {
    let Some(toml) = rates["toml"].as_str() else {
        return rates["why"].as_str().map_or(Ok(()), |why| say!("rates   all parts alike: {why}"));
    };
    say!(
        "rates   saves {:.0} % of the time in steps of parts: write\n          {}\n        outputs then differ by {} of their \
         range, as they do by {} at half the step ({} macro steps tried)",
        100.0 * rates["saved"].as_f64().unwrap_or_default(),
        toml.replace('\n', "\n          "),
        number(rates["difference"].as_f64()),
        number(rates["step_error"].as_f64()),
        rates["macro_steps"],
    )
}

/// Name of the file with the inputs of the whole system; files of parts have their number for a name.
const INPUTS: &str = "inputs";
/// What steps of parts take, and what comes of that.
const SECONDS: &str = "seconds";
const RATES: &str = "rates";

/// The initial inputs of the coupled system, for which all parts are needed at once.
fn inputs_elsewhere(file: &Path, output: Output) -> Result<Vec<f64>, Error> {
    let value = ask(None, file, output)?;
    match value["inputs"].as_array() {
        Some(inputs) => Ok(inputs.iter().map(|input| input.as_f64().unwrap_or(f64::NAN)).collect()),
        None => {
            let code = value["code"].as_str().and_then(Code::of).unwrap_or(Code::SubsystemFailed);
            Err(Error::new(code, value["message"].as_str().unwrap_or_default()))
        }
    }
}

fn card_elsewhere(name: &str, file: &Path, output: Output) -> Card {
    let error = match ask(Some(name), file, output) {
        Ok(value) => return Card::read(&value),
        Err(error) => error,
    };
    Card::of(&PartProbe { name: name.to_owned(), report: Err(error) })
}

/// Has another process do a task and reads what it leaves.
fn ask(part: Option<&str>, file: &Path, output: Output) -> Result<Value, Error> {
    let flags = [OsString::from(TASK_FLAG), file.into()];
    supervision::in_own_process(part, &flags, output)?;
    let text = std::fs::read_to_string(file).map_err(not_possible)?;
    serde_json::from_str(&text).map_err(not_possible)
}

/// Elsewhere nothing is confined.
#[cfg(not(target_os = "linux"))]
const SANDBOX: &str = "sandbox";

const TASK_FLAG: &str = "--probe-task";

fn not_possible(cause: impl std::fmt::Display) -> Error {
    Error::new(Code::Bug, "the results of a process that was started to call a part are missing")
        .because(cause)
}

/// Does what another process of this program has asked for by a file that is to be written.
pub(crate) fn do_task(system: &System, file: &PathBuf) -> Result<ExitCode, Failure> {
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let number = name.parse::<usize>().ok();
    let value = match number.filter(|part| *part < system.project().model.parts.len()) {
        None if name == RATES => {
            let text = std::fs::read_to_string(file.with_file_name(SECONDS)).map_err(not_possible)?;
            let seconds: Vec<f64> = serde_json::from_str(&text).map_err(not_possible)?;
            rates_of(system, &seconds)
        }
        None => match system.initial_inputs() {
            Ok(inputs) => json!({ "inputs": inputs }),
            Err(error) => json!({ "code": error.code().entry().id, "message": error.details().message }),
        },
        Some(part) => {
            let text = std::fs::read_to_string(file.with_file_name(INPUTS)).map_err(not_possible)?;
            let inputs: Vec<f64> = serde_json::from_str(&text).map_err(not_possible)?;
            let deeds = Deeds::listen();
            let mut card = Card::of(&system.probe_part(part, &inputs));
            card.add_deeds(&deeds);
            card.to_value()
        }
    };
    std::fs::write(file, value.to_string()).map_err(not_possible)?;
    Ok(supervision::exit_code(0))
}

impl Card {
    fn of(probe: &PartProbe) -> Self {
        let name = paint(STRONG, &probe.name);
        let (line, error) = match &probe.report {
            Err(error) => (format!("{name}   {}", paint(BAD, "failed")), Some(error.to_string())),
            Ok(report) => (format!("{name}   {}", words(report)), None),
        };
        Self { is_good: probe.is_good(), json: probe.to_json(), line, error }
    }

    /// Adds what a confined FMU did: in words as far as it is not about libraries of the system, which all need.
    fn add_deeds(&mut self, deeds: &Deeds) {
        const SHOWN: usize = 20;
        let deeds = deeds.taken();
        if deeds.is_empty() {
            return;
        }
        let is_own = |deed: &&String| {
            !["/lib", "/usr", "/etc/ld.so", "/proc", "/sys"]
                .iter()
                .any(|folder| deed.starts_with(&format!("opened to read: {folder}")))
        };
        let own: Vec<&String> = deeds.iter().filter(is_own).collect();
        own.iter().take(SHOWN).for_each(|deed| self.line += &format!("\n  {deed}"));
        if own.len() > SHOWN {
            self.line += &format!("\n  and {} more (--json lists all)", own.len() - SHOWN);
        }
        self.json["sandbox"] = json!(deeds);
    }

    fn to_value(&self) -> Value {
        json!({ "is_good": self.is_good, "card": self.json, "line": self.line, "error": self.error })
    }

    fn read(value: &Value) -> Self {
        Self {
            is_good: value["is_good"].as_bool().unwrap_or(false),
            json: value["card"].clone(),
            line: value["line"].as_str().unwrap_or_default().to_owned(),
            error: value["error"].as_str().map(str::to_owned),
        }
    }

    pub(crate) fn print(&self) -> Result<(), Error> {
        say!("{}", self.line)?;
        self.error.iter().for_each(|error| print_error_text(error));
        Ok(())
    }
}

fn words(report: &ProbeReport) -> String {
    let word = |verdict: Option<bool>, no: &str| match verdict {
        Some(true) => paint(GOOD, "yes"),
        Some(false) => paint(BAD, "NO"),
        None => paint(WARN, no),
    };
    let derivatives = match report.derivative_error {
        None => "not offered".into(),
        Some(error) if error.is_nan() => paint(WARN, "cannot be judged: not a finite response"),
        Some(error) if report.derivatives_differ() => {
            paint(BAD, format!("DIFFER by {} from a step", number(Some(error))))
        }
        Some(error) => paint(GOOD, format!("agree with a step up to {}", number(Some(error)))),
    };
    format!(
        "step {}   repeatable {}   rollback {}   derivatives {derivatives}",
        wall(report.step_s),
        word(report.repeatable, "unknown: only one instance is allowed"),
        word(report.taken_back, "not offered"),
    )
}
