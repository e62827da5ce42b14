//! Starts a program with files that it finds by number, in a process group of its own.

use std::ffi::OsString;
use std::fs::File;
use std::io::{ErrorKind, Read, Result};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

use costep_fmu_file::HeldFile;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// Held while files are inheritable, so that no other program started meanwhile gets them.
static STARTING: Mutex<()> = Mutex::new(());

/// How the present program is started, where its own file is not the program.
static LAUNCHER: OnceLock<(PathBuf, Vec<OsString>)> = OnceLock::new();

/// Says, once and before the first process is started, that the present program is a script: an interpreter that is
/// told these arguments, then those of the program.
pub fn launched_by(interpreter: PathBuf, arguments: Vec<OsString>) {
    let _ = LAUNCHER.set((interpreter, arguments));
}

/// A started program, killed with all its descendants when dropped.
pub(crate) struct Started {
    child: Child,
    /// The program ends when this is closed, as by the death of this process.
    _lifeline: HeldFile,
    reaped: bool,
}

/// A pipe that programs started here do not inherit: end to read, end to write.
pub(crate) fn pipe() -> Result<(OwnedFd, OwnedFd)> {
    Ok(pipe_with(PipeFlags::CLOEXEC)?)
}

/// Reads some bytes of a pipe; none are its end, or an error. A signal that arrives meanwhile is neither: FMUs, and programs that
/// use this library, handle signals in ways that interrupt.
pub(crate) fn read_some(pipe: &mut File, bytes: &mut [u8]) -> usize {
    loop {
        match pipe.read(bytes) {
            Err(cause) if cause.kind() == ErrorKind::Interrupted => {}
            outcome => return outcome.unwrap_or(0),
        }
    }
}

/// A program to be started, with its arguments.
#[derive(Clone, Debug)]
pub struct Program {
    /// The file.
    pub path: PathBuf,
    /// What comes in front of that flag: the script of an interpreter.
    pub script: Vec<OsString>,
    /// What comes behind the flag by which it is told its role.
    pub arguments: Vec<OsString>,
    /// Variables of its environment that differ from those here.
    pub environment: Vec<(OsString, OsString)>,
}

impl Program {
    /// The present program once more, even if its file has been replaced meanwhile.
    pub fn this(arguments: impl IntoIterator<Item = OsString>) -> Self {
        let arguments = arguments.into_iter().collect();
        let (path, script) = LAUNCHER.get().cloned().unwrap_or_else(|| ("/proc/self/exe".into(), Vec::new()));
        Self { path, script, arguments, environment: Vec::new() }
    }

    /// A command that runs it once, without a role.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.args(&self.script).args(&self.arguments);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// Starts a program. Behind `flag`, its first argument, it is told the numbers of a lifeline and of these files. What it prints
/// goes to `output`, if that is given, else to where that of this process goes.
pub(crate) fn start(
    program: &Program,
    flag: &str,
    files: &[BorrowedFd<'_>],
    output: Option<File>,
) -> Result<Started> {
    let (end, lifeline) = pipe()?;
    let all: Vec<BorrowedFd<'_>> = [end.as_fd()].into_iter().chain(files.iter().copied()).collect();
    let numbers: Vec<String> = all.iter().map(|file| file.as_raw_fd().to_string()).collect();
    let mut command = Command::new(&program.path);
    if program.script.is_empty() {
        command.arg0(std::env::args_os().next().unwrap_or_else(|| "costep".into()));
    }
    command.args(&program.script).arg(format!("{flag}={}", numbers.join(","))).args(&program.arguments);
    command.envs(program.environment.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null()).process_group(0);
    if let Some(output) = output {
        command.stdout(output.try_clone()?).stderr(output);
    }
    let _turn = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    let inheritable = |flags: FdFlags| all.iter().try_for_each(|file| fcntl_setfd(file, flags));
    inheritable(FdFlags::empty())?;
    let child = command.spawn();
    inheritable(FdFlags::CLOEXEC)?;
    Ok(Started { child: child?, _lifeline: HeldFile::new(lifeline.into()), reaped: false })
}

impl Started {
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Ends it and all that it has started. Whoever has ended already is not disturbed.
    pub(crate) fn kill(&self) {
        if !self.reaped {
            let _ = kill_process_group(self.pid(), Signal::KILL);
            // It may have left its group.
            let _ = kill_process(self.pid(), Signal::KILL);
        }
    }

    /// Whether it has ended. It is not reaped by this.
    pub(crate) fn has_ended(&self) -> bool {
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let looks = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        self.reaped || !matches!(waitid(WaitId::Pid(self.pid()), looks), Ok(None))
    }

    /// Waits for its end. What it has started ends with it: its group still exists as long as it is not reaped.
    pub(crate) fn wait(&mut self) -> Result<std::process::ExitStatus> {
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        if !self.reaped {
            let _ = waitid(WaitId::Pid(self.pid()), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
            self.kill();
            self.reaped = true;
        }
        self.child.wait()
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.kill();
        let _ = self.wait();
    }
}
