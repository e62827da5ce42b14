//! The bare loop in C, in a process of its own that is asked for steps in turn with the engine.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::fmus::{Subject, c_compiler};

pub(crate) struct Bare {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// The first output after the last steps.
    pub(crate) first_output: f64,
}

impl Bare {
    /// Compiles the loop; gives the program.
    pub(crate) fn compile(folder: &Path) -> std::path::PathBuf {
        let program = folder.join("bareloop");
        c_compiler(&[], "bareloop.c", &program);
        program
    }

    /// Starts it: `shape` is `ring` or `wide`, `size` the number of FMUs or of signals.
    pub(crate) fn start(program: &Path, subject: &Subject, shape: &str, size: usize) -> Self {
        let mut command = Command::new(program);
        command.args(subject.arguments()).args([shape, &size.to_string()]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the bare loop starts");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { input: child.stdin.take(), child, output, first_output: f64::NAN }
    }

    /// Seconds per step over some steps.
    pub(crate) fn time(&mut self, steps: usize) -> f64 {
        let mut line = String::new();
        writeln!(self.input.as_mut().expect("a pipe"), "{steps}").expect("the bare loop listens");
        self.output.read_line(&mut line).expect("the bare loop answers");
        let mut words = line.split_whitespace().map(|word| word.parse::<f64>().expect("a number"));
        let seconds = words.next().expect("its time");
        self.first_output = words.next().expect("its output");
        seconds / steps as f64
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        // It ends when nobody asks any more.
        self.input = None;
        let _ = self.child.wait();
    }
}
