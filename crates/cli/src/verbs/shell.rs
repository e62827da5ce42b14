//! `costep completions`, `costep man` and `costep schema`: what shells, manuals and editors know of costep, made from the
//! definitions of the command line and of project files.

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::CommandFactory;
use costep::Registry;
use costep_core::{Code, Error};
use serde_json::json;

use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::failure::Failure;
use crate::style::{Output, print, print_json};

/// A script for a shell.
pub(crate) fn completions(args: &CompletionsArgs, output: Output) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    let mut command = Cli::command();
    clap_complete::generate(args.shell, &mut command, "costep", &mut script);
    show(&script, output)
}

/// A page of the manual: of the program, or of a verb.
pub(crate) fn man(args: &ManArgs, output: Output) -> Result<ExitCode, Failure> {
    let mut command = Cli::command();
    command.build();
    let page = match &args.verb {
        None => clap_mangen::Man::new(command),
        Some(verb) => {
            let found = command.find_subcommand(verb).cloned().ok_or_else(|| {
                let known = command.get_subcommands().map(|known| known.get_name());
                Error::new(Code::CommandLine, format!("there is no verb `{verb}`")).suggest(verb, known)
            })?;
            clap_mangen::Man::new(found).title(format!("costep-{verb}"))
        }
    };
    let mut text = Vec::new();
    page.render(&mut text)
        .map_err(|cause| Error::new(Code::FileNotReadable, "the page cannot be written").because(cause))?;
    if std::io::stdout().is_terminal() {
        output.remark("to read it:  costep man | man -l -");
    }
    show(&text, output)
}

fn show(text: &[u8], output: Output) -> Result<ExitCode, Failure> {
    let text = String::from_utf8_lossy(text);
    if output.json { print_json(&json!({ "text": text })) } else { print(&text) }?;
    Ok(ExitCode::SUCCESS)
}

/// The JSON Schema of project files.
pub(crate) fn schema() -> Result<ExitCode, Failure> {
    print_json(&Registry::standard().schema())?;
    Ok(ExitCode::SUCCESS)
}
