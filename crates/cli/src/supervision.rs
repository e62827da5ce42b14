//! Runs with FMUs are done by a second process, which this one looks after: an FMU that crashes or hangs ends only that
//! one, and this one tells what happened. Runs of native models stay in one process: they have nothing to fear.

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use costep_core::{Code, Error, Result};
use costep_project::Project;

use crate::args::LimitArgs;
use crate::failure::Failure;
use crate::style::Output;

/// The exit code so far, for the process that watches.
static EXIT: AtomicU8 = AtomicU8::new(0);

/// An exit code, remembered for the process that watches.
pub(crate) fn exit_code(code: u8) -> ExitCode {
    EXIT.store(code, Ordering::Relaxed);
    ExitCode::from(code)
}

pub(crate) use system::{
    begin, elsewhere, elsewhere_at_any_cost, elsewhere_within, end, hold_back, host, in_own_process,
    is_watched, own_command, say,
};

/// The variable by which a process that is watched is told how wide the terminal is, if there is one.
pub(crate) const TERMINAL: &str = "COSTEP_TERMINAL_WIDTH";

/// Elsewhere all is done in one process.
#[cfg(not(target_os = "linux"))]
mod system {
    use super::*;

    pub(crate) fn begin(_files: &str) -> Result<()> {
        Ok(())
    }

    pub(crate) fn is_watched() -> bool {
        false
    }

    pub(crate) fn say(_text: &str) -> bool {
        false
    }

    pub(crate) fn end(_json: bool) {}

    pub(crate) fn host() {}

    pub(crate) fn hold_back(_text: &str) -> bool {
        false
    }

    pub(crate) fn elsewhere_at_any_cost(
        _project: &Project,
        _output: Output,
    ) -> Result<Option<ExitCode>, Failure> {
        Ok(None)
    }

    pub(crate) fn elsewhere_within(
        _project: &Project,
        _time: Duration,
        _output: Output,
    ) -> Result<Option<ExitCode>, Failure> {
        Ok(None)
    }

    pub(crate) fn own_command() -> Result<std::process::Command> {
        let own = std::env::current_exe();
        own.map(std::process::Command::new)
            .map_err(|cause| Error::new(Code::FileNotReadable, "this program is not found").because(cause))
    }

    pub(crate) fn in_own_process(
        _part: Option<&str>,
        _more: &[std::ffi::OsString],
        _output: Output,
    ) -> Result<()> {
        Err(Error::new(Code::NeedsMissing, "FMUs can run in their own process on Linux only"))
    }

    pub(crate) fn elsewhere(
        _project: &Project,
        _folder: Option<&Path>,
        _limits: Option<&LimitArgs>,
        _output: Output,
    ) -> Result<Option<ExitCode>, Failure> {
        Ok(None)
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::ffi::OsString;
    use std::io::Write;
    use std::sync::atomic::AtomicU64;
    use std::sync::{Arc, Mutex, PoisonError};
    use std::time::Instant;

    use costep::{Kept, RECORDING, check_recordings, rescue_rows};
    use costep_core::Place;
    use costep_core::quantity::{exact_time, plain_time};
    use costep_project::{FmuSpec, Isolation, python_environment};
    use costep_supervise::{
        Ending, MOST_OUTPUTS, Program, Report, Stream, WORKER_FLAG, Watch, be_watched, host_fmu,
        late_failures, offer_workers, supervise, watched,
    };
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::failure::to_json;
    use crate::fmu_logs::Printed;
    use crate::phrases::{argument, count};
    use crate::style::{note, print_error, print_json, written};

    /// What a watched process has to say on standard output: kept to its end, because an FMU that fails while it is
    /// freed makes another result of it.
    static HELD_BACK: Mutex<String> = Mutex::new(String::new());
    /// How often Ctrl-C or a termination signal came.
    static STOPS: AtomicU64 = AtomicU64::new(0);

    /// What the other process has for standard output: kept until it is known that its files are whole.
    static SAID: Mutex<Vec<u8>> = Mutex::new(Vec::new());

    /// Who may print.
    struct Printing {
        /// FMUs that may get processes of their own: all are tried in such.
        own: usize,
        /// Those that share the process of the run; none where others may print without a name too.
        sharing: Vec<String>,
    }

    impl Printing {
        /// The FMUs of a project, those in a list in processes of their own.
        fn of(project: &Project, isolated: &[String]) -> Self {
            let fmus = &project.given.fmus;
            let shares = |fmu: &&FmuSpec| !fmu.has_own_process && !isolated.contains(&fmu.name);
            let all_are_named = fmus.len() <= MOST_OUTPUTS;
            let sharing = fmus.iter().filter(shares).filter(|_| all_are_named);
            let sharing = sharing.map(|fmu| fmu.name.clone()).collect();
            Self { own: fmus.len(), sharing }
        }
    }

    /// This process is the one that does the work.
    pub(crate) fn begin(files: &str) -> Result<()> {
        be_watched(files).map(|_| ())
    }

    pub(crate) fn is_watched() -> bool {
        watched().is_some()
    }

    /// Takes a text for standard error, if another process prints it.
    pub(crate) fn say(text: &str) -> bool {
        watched().map(|watched| watched.say(Stream::Err, text)).is_some()
    }

    /// Prints what the other process says. Colours go where they are not wanted.
    fn print(stream: Stream, text: &[u8]) {
        match stream {
            // When that is gone, nobody is left to tell.
            Stream::Err => {
                let _ = anstream::stderr().write_all(text);
            }
            Stream::Out => SAID.lock().unwrap_or_else(PoisonError::into_inner).extend(text),
        }
    }

    /// Hosts an FMU to the end of this process, if that is what it was started for. Otherwise others can be started for it from now on.
    pub(crate) fn host() {
        let first = crate::arguments().next();
        let first = first.as_ref().and_then(|first| first.to_str());
        let files = first.and_then(|first| first.strip_prefix(WORKER_FLAG)?.strip_prefix('='));
        let Some(files) = files else {
            return offer_workers();
        };
        costep_fmi::leave(match host_fmu(files) {
            Ok(()) => 0,
            Err(error) => {
                print_error(&error);
                error.code().entry().exit.code()
            }
        })
    }

    /// This program once more.
    pub(crate) fn own_command() -> Result<std::process::Command> {
        Ok(Program::this([]).command())
    }

    /// Everything is done: now standard output gets what was held back. FMUs in processes of their own that failed at
    /// their very end make another result of it. A process that has called them ends here.
    pub(crate) fn end(json: bool) {
        let Some(watched) = watched() else { return };
        let failures = late_failures();
        if !failures.is_empty() {
            HELD_BACK.lock().unwrap_or_else(PoisonError::into_inner).clear();
            Failure::from(failures).report(json);
        }
        let text = std::mem::take(&mut *HELD_BACK.lock().unwrap_or_else(PoisonError::into_inner));
        watched.say(Stream::Out, &text);
        let exit = EXIT.load(Ordering::Relaxed);
        watched.finish(exit);
        costep_fmi::leave(exit)
    }

    /// Takes text for standard output, if it has to wait.
    pub(crate) fn hold_back(text: &str) -> bool {
        if watched().is_some() {
            HELD_BACK.lock().unwrap_or_else(PoisonError::into_inner).push_str(text);
        }
        watched().is_some()
    }

    /// Has the present command done by a second process, if the project has FMUs; nothing if this process is to do it.
    /// `folder` is where it records; without `limits` a stop is not soft.
    pub(crate) fn elsewhere(
        project: &Project,
        folder: Option<&Path>,
        limits: Option<&LimitArgs>,
        output: Output,
    ) -> Result<Option<ExitCode>, Failure> {
        if project.given.fmus.is_empty() && limits.is_some_and(|limits| limits.memory_limit.is_some()) {
            output.remark(
                "`--memory-limit` changes nothing: the system has no FMUs; `ulimit -v` limits any program",
            );
        }
        if project.given.fmus.is_empty() || watched().is_some() {
            return Ok(None);
        }
        let printing = || Printing::of(project, &[]);
        let mut report =
            supervised(std::iter::empty(), (limits, folder), (limits.is_none(), printing()), output)?;
        let is_fault =
            matches!(report.ending, Ending::Died { .. } | Ending::Exited { .. } | Ending::Hung { .. });
        if let (true, Some(error)) = (is_fault && report.was_verifying(), report.error()) {
            // The run itself was good to its end; only the second one was not.
            output.remark(&format!("not verified: at half the step, {}", error.details().message));
            report = supervised(
                std::iter::once("--no-verify".into()),
                (limits, folder),
                (limits.is_none(), printing()),
                output,
            )?;
        }
        match &report.ending {
            Ending::Finished(code) => Ok(Some(ExitCode::from(*code))),
            _ => tell(project, &report, folder, output).map(Some),
        }
    }

    /// The same for a command that goes on whatever an FMU does: those that end the process get one of their
    /// own, and the command is repeated, so that they end no more than what they are used for.
    pub(crate) fn elsewhere_at_any_cost(
        project: &Project,
        output: Output,
    ) -> Result<Option<ExitCode>, Failure> {
        again_and_again(project, None, output)
    }

    /// The same for a command that has something to say when it is stopped, and that `--time` ends: a repetition gets what
    /// is left of it.
    pub(crate) fn elsewhere_within(
        project: &Project,
        time: Duration,
        output: Output,
    ) -> Result<Option<ExitCode>, Failure> {
        again_and_again(project, Some(time), output)
    }

    fn again_and_again(
        project: &Project,
        time: Option<Duration>,
        output: Output,
    ) -> Result<Option<ExitCode>, Failure> {
        if project.given.fmus.is_empty() || watched().is_some() {
            return Ok(None);
        }
        let mut isolated: Vec<String> = Vec::new();
        let start = Instant::now();
        loop {
            let flags = isolated
                .iter()
                .flat_map(|part| ["--set".into(), format!("fmu.{part}.isolation=process").into()]);
            let left = time.filter(|_| !isolated.is_empty()).map(|time| time.saturating_sub(start.elapsed()));
            let left = left.map(|left| format!("--time={}", exact_time(left.as_secs_f64())).into());
            let printing = Printing::of(project, &isolated);
            let report = supervised(flags.chain(left), (None, None), (time.is_none(), printing), output)?;
            let culprits = match &report.ending {
                Ending::Finished(code) => return Ok(Some(ExitCode::from(*code))),
                Ending::Died { culprits, .. }
                | Ending::Exited { culprits, .. }
                | Ending::Hung { culprits, .. } => culprits,
                _ => return tell(project, &report, None, output).map(Some),
            };
            let fmus = project
                .given
                .fmus
                .iter()
                .filter(|fmu| !matches!(fmu.isolation, Isolation::Process | Isolation::Sandbox));
            let is_new = |fmu: &&FmuSpec| {
                culprits.iter().any(|culprit| culprit.name == fmu.name) && !isolated.contains(&fmu.name)
            };
            let found: Vec<String> = fmus.filter(is_new).map(|fmu| fmu.name.clone()).collect();
            let (false, Some(error)) = (found.is_empty(), report.error()) else {
                return tell(project, &report, None, output).map(Some);
            };
            output.remark(&repeated(&error, &found).to_string());
            isolated.extend(found);
        }
    }

    fn repeated(error: &Error, parts: &[String]) -> Error {
        let details = error.details();
        let message = format!(
            "{} ({}); all is done again with `{}` in its own process",
            details.message,
            details.code.entry().id,
            parts.join("`, `")
        );
        Error::new(Code::IsolatedAfterCrash, message)
    }

    /// Has the present command, with further flags, done by a process of its own, which leaves its results
    /// in files; an error if it did not come to its end. It calls one part.
    pub(crate) fn in_own_process(part: Option<&str>, more: &[OsString], output: Output) -> Result<()> {
        let names = Printing { own: 1, sharing: part.into_iter().map(str::to_owned).collect() };
        supervised(more.iter().cloned(), (None, None), (true, names), output)?.error().map_or(Ok(()), Err)
    }

    /// Has the present command, with further flags, done by a second process. What its FMUs print goes to a file
    /// of the folder too. A hard stop does not wait for it.
    fn supervised(
        more: impl Iterator<Item = OsString>,
        (limits, folder): (Option<&LimitArgs>, Option<&Path>),
        (is_hard, printing): (bool, Printing),
        output: Output,
    ) -> Result<Report> {
        // Without a handler the run still works; it can only not be stopped softly.
        let _ = ctrlc::set_handler(|| {
            STOPS.fetch_add(1, Ordering::Relaxed);
        });
        let hard = u64::from(is_hard) + 1;
        let watch = Watch {
            stops: &|| STOPS.load(Ordering::Relaxed) * hard,
            memory_limit: limits.and_then(|limits| limits.memory_limit),
            time_limit: limits.and_then(|limits| limits.time_limit),
            print: &print,
            is_alone: true,
            outputs: printing.own,
            see: &|_, _| {},
        };
        let mut program = Program::this(with_flags(crate::arguments().collect(), more));
        let width = crate::progress::terminal_width().map_or(String::new(), |width| width.to_string());
        program.environment.push((TERMINAL.into(), width.into()));
        // FMUs that run in that process find what those in processes of their own find.
        program.environment.extend(python_environment());
        let printed = Arc::new(Printed::new(folder, printing.sharing));
        let theirs = Arc::clone(&printed);
        let report = supervise(&program, &watch, move |name, line| theirs.add(name, line, output));
        let report = report.map_err(|cause| {
            Error::new(Code::NoProcess, "the process for the FMUs cannot be started").because(cause)
        })?;
        // What that process unpacked goes, even if it was killed.
        costep_fmu_file::remove_abandoned_folders();
        let said = std::mem::take(&mut *SAID.lock().unwrap_or_else(PoisonError::into_inner));
        if let (Ending::Finished(0), Some(folder)) = (&report.ending, folder) {
            check_recordings(folder).inspect_err(|error| leave_outcome(folder, error))?;
        }
        if matches!(report.ending, Ending::Finished(_)) {
            let mut stdout = anstream::stdout();
            written(stdout.write_all(&said).and_then(|()| stdout.flush()))?;
        }
        if let Some(text) = printed.summary(report.unseen) {
            output.remark(&text);
        }
        Ok(report)
    }

    /// Words of a command line with further flags, which stand before those that are none (`-- -name.fmu`).
    fn with_flags(mut words: Vec<OsString>, more: impl Iterator<Item = OsString>) -> Vec<OsString> {
        let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
        words.splice(end..end, more);
        words
    }

    /// What a page of the run will say of its end; that it could not be left is no news beside the end itself.
    fn leave_outcome(folder: &Path, error: &Error) {
        let outcome = json!({
            "verdict": "failed",
            "message": error.details().message,
            "errors": [to_json(error)],
            "command": crate::verbs::report::command(),
        });
        let _ = costep::pages::write_outcome(folder, &outcome);
    }

    fn tell(
        project: &Project,
        report: &Report,
        folder: Option<&Path>,
        output: Output,
    ) -> Result<ExitCode, Failure> {
        let Some(error) = report.error() else { return Ok(ExitCode::SUCCESS) };
        let mut error = project.say_how_to_wait(error);
        let kept = match (folder, &error.details().place) {
            (Some(folder), Place::Run { .. }) => {
                rescue_rows(report, &folder.join(RECORDING)).unwrap_or_else(|lost| {
                    print_error(&lost);
                    None
                })
            }
            _ => None,
        };
        if let (Some(Kept { checkpoint: Some(time), .. }), Some(folder)) = (&kept, folder) {
            let time = plain_time(*time);
            let resume = format!("`costep resume {}` continues from t = {time} s", argument(folder));
            let hint = format!("{}; {resume}", error.help());
            error = error.hint(hint);
        }
        let code = ExitCode::from(error.code().entry().exit.code());
        if let (Some(folder), Some(_)) = (folder, &kept) {
            leave_outcome(folder, &error);
        }
        if output.json {
            let mut object = Map::new();
            object.insert("errors".into(), json!([to_json(&error)]));
            let kept = kept.zip(folder).map(|(kept, folder)| {
                let recording = folder.join(RECORDING).display().to_string();
                json!({ "recording": recording, "rows": kept.rows, "time": kept.time, "checkpoint": kept.checkpoint })
            });
            object.insert("kept".into(), kept.unwrap_or(Value::Null));
            print_json(&object)?;
            return Ok(code);
        }
        print_error(&error);
        if let (Some(kept), Some(folder)) = (kept, folder) {
            let checkpoint = kept
                .checkpoint
                .map_or(String::new(), |time| format!(", checkpoint at t = {} s", plain_time(time)));
            let file = folder.join(RECORDING);
            note(&format!(
                "  kept: {} up to t = {} s ({}){checkpoint}",
                file.display(),
                plain_time(kept.time),
                count(kept.rows, "row")
            ));
        }
        Ok(code)
    }
}
