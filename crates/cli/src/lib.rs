//! The `costep` program as a function: one file per verb in `verbs/`, everything they share next to it. The program
//! itself is `main.rs`; the Python package calls the same function.

mod args;
mod examples;
mod failure;
mod fmu_logs;
mod live;
mod messages;
mod phrases;
mod progress;
mod stop;
mod style;
mod supervision;
mod table;
mod usage;
mod verbs;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::OnceLock;

use clap::Parser;
#[cfg(target_os = "linux")]
use costep_core::{Code, Error};

use crate::args::{Cli, Verb};
use crate::failure::Failure;

/// The command line, with the name of the program.
static ARGUMENTS: OnceLock<Vec<OsString>> = OnceLock::new();

/// Words of the command line, without the name of the program.
pub(crate) fn arguments() -> impl Iterator<Item = OsString> {
    ARGUMENTS.get().into_iter().flatten().skip(1).cloned()
}

/// Does what this command line says, the name of the program first. A process does that once.
pub fn main(command_line: impl IntoIterator<Item = OsString>) -> ExitCode {
    let words = ARGUMENTS.get_or_init(|| command_line.into_iter().collect());
    be_told_of_full_files();
    #[cfg(target_os = "linux")]
    costep_supervise::name_the_end_of_processor_time();
    supervision::host();
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => return usage::report(&error),
    };
    let json = cli.json;
    if let Some(Err(error)) = cli.watched.as_ref().map(|files| supervision::begin(files)) {
        return Failure::from(error).report(json);
    }
    let code = match dispatch(cli) {
        Ok(code) => code,
        Err(failure) => failure.report(json),
    };
    // Nothing of an FMU is left now that could still fail.
    supervision::end(json);
    code
}

/// Does the work with a stack that suffices, whatever the shell allows (`ulimit -s`).
pub fn with_room<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    #[cfg(target_os = "linux")]
    {
        const ROOM: usize = 8 << 20;
        if costep_supervise::stack_limit().is_some_and(|limit| limit < ROOM as u64) {
            return costep_supervise::with_stack(ROOM, work).unwrap_or_else(|cause| {
                let error = Error::new(Code::NoProcess, "a thread with a stack of 8 MiB cannot be started");
                style::print_error(&error.because(cause));
                std::process::exit(i32::from(Code::NoProcess.entry().exit.code()))
            });
        }
    }
    work()
}

/// A file that grows beyond the limit of the shell (`ulimit -f`) is an error of its writing, not the end of the program.
#[cfg(unix)]
fn be_told_of_full_files() {
    use nix::sys::signal::{SigSet, Signal};
    let mut set = SigSet::empty();
    set.add(Signal::SIGXFSZ);
    // Threads and processes that are started later inherit it. Without it the program still works.
    let _ = set.thread_block();
}

#[cfg(not(unix))]
fn be_told_of_full_files() {}

fn dispatch(cli: Cli) -> Result<ExitCode, Failure> {
    let output = style::Output { json: cli.json, quiet: cli.quiet };
    match cli.verb {
        Verb::Demo(args) => verbs::demo::run(&args, output),
        Verb::New(args) => verbs::new::run(&args, output),
        Verb::Check(args) => verbs::check::run(&args, output),
        Verb::Run(args) => verbs::run::run(&args, output),
        Verb::Resume(args) => verbs::run::resume(&args, output),
        Verb::Compare(args) => verbs::compare::run(&args, output),
        Verb::Advise(args) => verbs::advise::run(&args, output),
        Verb::Map(args) => verbs::map::run(&args, output),
        Verb::Doe(args) => verbs::doe::run(&args, output),
        Verb::Stability(args) => verbs::stability::run(&args, output),
        Verb::Identify(args) => verbs::identify::run(&args, output),
        Verb::Methods(args) => verbs::methods::run(&args, output),
        Verb::Models(args) => verbs::models::run(&args, output),
        Verb::Export(args) => verbs::export::run(&args, output),
        Verb::ExportFmu(args) => verbs::export_fmu::run(&args, output),
        Verb::Reproduce(args) => verbs::reproduce::run(&args, output),
        Verb::Graph(args) => verbs::graph::run(&args, output),
        Verb::Plot(args) => verbs::plot::run(&args, output),
        Verb::Report(args) => verbs::report::run(&args, output),
        Verb::Import(args) => verbs::import::run(&args, output),
        Verb::Survey(args) => verbs::survey::run(&args, output),
        Verb::Inspect(args) => verbs::inspect::run(&args, output),
        Verb::Explain(args) => verbs::explain::run(&args, output),
        Verb::Schema => verbs::shell::schema(),
        Verb::Completions(args) => verbs::shell::completions(&args, output),
        Verb::Man(args) => verbs::shell::man(&args, output),
    }
}
