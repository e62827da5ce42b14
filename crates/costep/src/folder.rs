//! The folder of a run: its files, and the lock that keeps a second run out.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use costep_core::{Code, Error, Result};
use costep_engine::CHECKPOINTS;
use costep_project::ssp::FMU_FOLDER;
use costep_supervise::HeldFile;

use crate::between::SAMPLES;

/// The recording.
pub const RECORDING: &str = "results.arrows";
/// The recording of the run before.
pub(crate) const PREVIOUS_RECORDING: &str = "results.previous.arrows";
/// The project as it was run.
pub const PROJECT_COPY: &str = "run.toml";
/// What came out of the run, for its page and pictures: the run object of the JSON contract.
pub const OUTCOME: &str = "outcome.json";
/// Holds the lock and the number of the process that has it. It stays: removing it could take it away from
/// another run.
const LOCK: &str = ".costep.lock";
/// How long a lock may take to come free. A child sees the death of its parent within a second.
const PATIENCE: Duration = Duration::from_secs(2);

/// A folder that no other run may write into while this or a copy of it lives. The lock is the operating
/// system's, so that it ends with the process, however that ends.
///
/// ```
/// let place = std::env::temp_dir().join(format!("costep-doc-{}", std::process::id()));
/// let folder = costep::RunFolder::lock(&place)?;
/// let outcome = costep::System::open("dual-mass")?.run(costep::Run::new().record(&folder))?;
/// assert!(folder.recording().is_file() && outcome.recorded.unwrap().rows > 1);
/// # std::fs::remove_dir_all(place).unwrap();
/// # Ok::<(), costep::Errors>(())
/// ```
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
    /// The same wherever FMUs lead the process.
    absolute: PathBuf,
    /// The working folder of the process before any FMU was called.
    here: PathBuf,
    locks: Arc<Mutex<Locks>>,
}

/// What holds the lock: a file, which somebody may remove, and the copy of the project once it is there. Nothing where the file
/// system has no locks.
#[derive(Debug, Default)]
struct Locks {
    #[expect(dead_code, reason = "held, not read")]
    file: Option<HeldFile>,
    copy: Option<HeldFile>,
}

impl RunFolder {
    /// Its place from the root: FMUs may change the working folder.
    pub fn absolute(&self) -> &Path {
        &self.absolute
    }

    /// How it is reached now: as it was given or, if an FMU has led the process elsewhere, from the root.
    pub(crate) fn reached(&self) -> &Path {
        let is_there = std::env::current_dir().is_ok_and(|now| now == self.here);
        if is_there { &self.path } else { &self.absolute }
    }

    /// A path as it was meant when the folder was locked.
    pub(crate) fn meant(&self, path: &Path) -> PathBuf {
        self.here.join(path)
    }

    /// Makes the folder if it is not there, and locks it.
    pub fn lock(folder: &Path) -> Result<Self> {
        let locks = Arc::new(Mutex::new(locks(folder)?));
        let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.into());
        let here = std::env::current_dir().unwrap_or_default();
        Ok(Self { path: folder.into(), absolute, here, locks })
    }

    /// Locks the copy of the project, which has just been written, if it was not there before.
    pub(crate) fn hold_copy(&self) -> Result<()> {
        let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        if locks.copy.is_none() {
            locks.copy = locked_copy(self.reached())?;
        }
        Ok(())
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The recording in it.
    pub fn recording(&self) -> PathBuf {
        self.path.join(RECORDING)
    }

    /// The project as it was run.
    pub fn project_copy(&self) -> PathBuf {
        self.path.join(PROJECT_COPY)
    }
}

fn locks(folder: &Path) -> Result<Locks> {
    fs::create_dir_all(folder).map_err(|cause| unwritable(folder, &cause))?;
    refuse_odd_files(folder)?;
    let path = folder.join(LOCK);
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
    let mut file = file.map_err(|cause| {
        Error::new(Code::FileNotReadable, "cannot write into the folder of the run")
            .in_file(folder)
            .because(cause)
            .hint("name another folder with `--out DIR`, or record nothing: `--no-record`")
    })?;
    let is_locked = is_locked(&file).ok_or_else(|| busy(folder, Some(&mut file)))?;
    let copy = locked_copy(folder)?;
    if is_locked {
        // Only the message of another process needs the number.
        let _ = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
    }
    Ok(Locks { file: is_locked.then(|| HeldFile::new(file)), copy })
}

/// The copy of the project, locked; nothing where there is none.
fn locked_copy(folder: &Path) -> Result<Option<HeldFile>> {
    let Ok(copy) = File::open(folder.join(PROJECT_COPY)) else { return Ok(None) };
    let is_locked = is_locked(&copy).ok_or_else(|| busy(folder, None))?;
    Ok(is_locked.then(|| HeldFile::new(copy)))
}

/// Whether it is locked now; nothing if another process has locked it. Some network file systems have no locks: that is no reason
/// not to run.
fn is_locked(file: &File) -> Option<bool> {
    match patiently(|| file.try_lock()) {
        Ok(()) => Some(true),
        Err(TryLockError::WouldBlock) => None,
        Err(TryLockError::Error(_)) => Some(false),
    }
}

/// A run writes into its folder alone: a link with the name of one of its files would have it overwrite what that leads to,
/// in a folder that somebody else has filled, and a pipe would have it wait for ever.
pub(crate) fn refuse_odd_files(folder: &Path) -> Result<()> {
    let names = [LOCK, RECORDING, PREVIOUS_RECORDING, SAMPLES, PROJECT_COPY, OUTCOME, FMU_FOLDER];
    let names = names.into_iter().chain(CHECKPOINTS);
    let is_odd = |path: &PathBuf| {
        let kind = path.symlink_metadata().map(|metadata| metadata.file_type());
        kind.is_ok_and(|kind| !kind.is_file() && !kind.is_dir())
    };
    match names.map(|name| folder.join(name)).find(is_odd) {
        None => Ok(()),
        Some(path) => Err(Error::new(Code::FileNotReadable, "a file of the run is a link or a pipe")
            .in_file(path)
            .hint("remove it, or choose another folder with `--out DIR`")),
    }
}

/// Tries again for a moment: the processes of a run that was killed die one after the other.
fn patiently(mut lock: impl FnMut() -> Result<(), TryLockError>) -> Result<(), TryLockError> {
    let start = Instant::now();
    loop {
        match lock() {
            Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => thread::sleep(PATIENCE / 100),
            outcome => return outcome,
        }
    }
}

fn busy(folder: &Path, file: Option<&mut File>) -> Error {
    const LONGEST: u64 = 20;
    let mut text = String::new();
    let _ = file.map(|file| file.take(LONGEST).read_to_string(&mut text));
    let error = Error::new(Code::Busy, "another run is writing into this folder").in_file(folder);
    let error = match text.trim().parse::<u32>() {
        Ok(id) => error.because(format!("process {id} has locked it")),
        Err(_) => error,
    };
    error.hint("wait for it, or choose another folder with `--out DIR`")
}

/// The error of a file or folder that cannot be written.
pub fn unwritable(path: &Path, cause: &io::Error) -> Error {
    if cause.kind() == io::ErrorKind::AlreadyExists && !path.is_dir() {
        let what = if path.is_file() { "is a file" } else { "is a device or pipe" };
        let message = format!("`{}` {what}, not a folder", path.display());
        return Error::new(Code::FileNotReadable, message)
            .hint("name a folder; it is made if it is not there");
    }
    Error::new(Code::FileNotReadable, "cannot write").in_file(path).because(cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locked_folder_is_refused_until_it_is_free() {
        let folder = tempfile::tempdir().unwrap();
        let first = RunFolder::lock(folder.path()).unwrap();
        let error = RunFolder::lock(folder.path()).unwrap_err();
        assert_eq!(error.code(), Code::Busy);
        assert!(error.to_string().contains(&format!("process {} ", std::process::id())), "{error}");
        // One that comes free soon is waited for.
        let soon = thread::spawn(move || {
            thread::sleep(PATIENCE / 10);
            drop(first);
        });
        drop(RunFolder::lock(folder.path()).unwrap());
        soon.join().unwrap();
        // Whoever removes the file does not remove the lock of a run that has begun.
        let held = RunFolder::lock(folder.path()).unwrap();
        fs::write(held.project_copy(), "").unwrap();
        held.hold_copy().unwrap();
        fs::remove_file(folder.path().join(LOCK)).unwrap();
        assert_eq!(RunFolder::lock(folder.path()).unwrap_err().code(), Code::Busy);
        drop(held);
        // What a dead process left behind is not an obstacle.
        fs::write(folder.path().join(LOCK), "4194304\n").unwrap();
        assert!(RunFolder::lock(folder.path()).is_ok());
    }
}
