//! The `costep` program.

mod out_of_memory;

use std::process::ExitCode;

fn main() -> ExitCode {
    costep_cli::with_room(|| costep_cli::main(std::env::args_os()))
}
