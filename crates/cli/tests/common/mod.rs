//! Runs the program as a user does: in a folder of its own, without colours, with an end to all patience.

#![allow(dead_code, reason = "each test file uses its own part of this one")]

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// No command of these tests takes a tenth of it on any machine; who takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// A folder in which commands run.
pub(crate) struct Sandbox(TempDir);

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A folder in memory where the system has such, for many runs that write checkpoints at every step.
    pub(crate) fn in_memory() -> Self {
        Self(tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap())
    }

    /// A file of the folder.
    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file of the folder.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// `costep` with these arguments, not started.
    pub(crate) fn command(&self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
        self.program(env!("CARGO_BIN_EXE_costep"), arguments)
    }

    /// Any program in this folder, not started.
    pub(crate) fn program(
        &self,
        program: impl AsRef<OsStr>,
        arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
    ) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.0.path()).stdin(Stdio::null());
        command.env("NO_COLOR", "1").env_remove("CLICOLOR_FORCE").env_remove("RUST_BACKTRACE");
        command
    }

    /// Runs `costep` with the words of a line as arguments, to its end.
    pub(crate) fn run(&self, line: &str) -> Done {
        finished(self.command(line.split_whitespace()), line)
    }

    /// Starts `costep` and leaves it running, silently.
    pub(crate) fn start(&self, line: &str) -> Running {
        let mut command = self.command(line.split_whitespace());
        command.stdout(Stdio::null());
        Running::of(command)
    }
}

/// Runs a command to its end and gives what it said.
pub(crate) fn finished(mut command: Command, line: impl Into<String>) -> Done {
    let (mut stdout, mut stderr) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
    command.stdout(stdout.try_clone().unwrap()).stderr(stderr.try_clone().unwrap());
    let status = Running(command.spawn().unwrap()).wait();
    Done { line: line.into(), status, stdout: text(&mut stdout), stderr: text(&mut stderr) }
}

/// All of a file that a command wrote.
pub(crate) fn text(file: &mut File) -> String {
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    String::from_utf8(bytes).expect("the output is UTF-8")
}

/// A process that dies with the test.
pub(crate) struct Running(Child);

impl Running {
    /// Starts a command; what it says on standard error is not kept.
    pub(crate) fn of(mut command: Command) -> Self {
        Self(command.stderr(Stdio::null()).spawn().unwrap())
    }

    /// A process that was started elsewhere.
    pub(crate) fn started(child: Child) -> Self {
        Self(child)
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }

    /// Waits for its end.
    pub(crate) fn wait(mut self) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status;
            }
            assert!(start.elapsed() < PATIENCE, "it hangs");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// `kill -9`.
    pub(crate) fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// Sends a signal by its name.
    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill").args(["-s", name, &self.id().to_string()]).status().unwrap();
        assert!(status.success());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Only after a failure is there anything to end.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What a command said and how it ended.
pub(crate) struct Done {
    line: String,
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Done {
    pub(crate) fn new(line: &str, status: ExitStatus, stdout: String, stderr: String) -> Self {
        Self { line: line.into(), status, stdout, stderr }
    }

    /// Passes if the exit code is this one, and nothing panicked.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.status.code(), Some(code), "{}", self.story());
        assert!(!self.stderr.contains("panicked"), "{}", self.story());
        self
    }

    /// Passes if the exit code is this one. Standard error may hold the words of a panic: that of an FMU.
    #[track_caller]
    pub(crate) fn exits_without_success(self, code: i32) -> Self {
        assert_eq!(self.status.code(), Some(code), "{}", self.story());
        self
    }

    /// Passes if standard error says this.
    #[track_caller]
    pub(crate) fn says(self, words: &str) -> Self {
        assert!(self.stderr.contains(words), "`{words}` is missing\n{}", self.story());
        self
    }

    /// The one JSON object on standard output. Nothing else is there, nor on standard error.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let values: Result<Vec<Value>, _> =
            serde_json::Deserializer::from_str(&self.stdout).into_iter().collect();
        let values = values.unwrap_or_else(|error| panic!("{error}\n{}", self.story()));
        assert_eq!(values.len(), 1, "{}", self.story());
        assert!(values[0].is_object() && self.stdout.ends_with("}\n"), "{}", self.story());
        assert_eq!(self.stderr, "", "{}", self.story());
        values[0].clone()
    }

    /// Everything, for the message of a failed test.
    pub(crate) fn story(&self) -> String {
        let Self { line, status, stdout, stderr } = self;
        format!("$ costep {line}\n{status}\nstdout:\n{stdout}\nstderr:\n{stderr}")
    }
}

/// Processes that were started with a mark in their environment and still run.
pub(crate) fn left_over(mark: &Path) -> usize {
    let mark = mark.to_str().unwrap().as_bytes();
    let has_mark = |entry: &fs::DirEntry| {
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        environment.windows(mark.len()).any(|part| part == mark)
    };
    fs::read_dir("/proc").unwrap().flatten().filter(has_mark).count()
}

/// The rows of a CSV file as numbers, and the names of its columns.
pub(crate) fn table(csv: &str) -> (Vec<&str>, Vec<Vec<f64>>) {
    let mut lines = csv.lines();
    let names = lines.next().unwrap().split(',').collect();
    (names, lines.map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect())
}
