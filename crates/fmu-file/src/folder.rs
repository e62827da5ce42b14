//! Temporary folders that go with their owner, even if that is killed.
//!
//! The owner holds a lock on the folder, which the operating system takes back with the process. Whoever finds a folder of
//! ours that nobody holds removes it.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Once;

use tempfile::TempDir;

/// Names of temporary folders start with this.
pub const TEMPORARY_PREFIX: &str = "costep-unpacked-";

/// How often a folder is made anew because somebody took the new one for an abandoned one.
const ATTEMPTS: usize = 100;

/// A temporary folder that nobody else looks into, removed with this value.
#[derive(Debug)]
pub struct PrivateFolder {
    // Removed before the lock is given back.
    folder: TempDir,
    _lock: Option<HeldFile>,
}

impl PrivateFolder {
    /// Makes one among the temporary folders of this machine. The first one of a process removes what is abandoned.
    pub fn new() -> io::Result<Self> {
        static SWEPT: Once = Once::new();
        SWEPT.call_once(remove_abandoned_folders);
        Self::new_in(&std::env::temp_dir())
    }

    /// Makes one inside of another folder.
    pub fn new_in(parent: &Path) -> io::Result<Self> {
        for _ in 0..ATTEMPTS {
            let folder = private(parent)?;
            match lock(folder.path()) {
                // Between making and locking it looks abandoned, and may be gone.
                Ok(None) => {}
                Ok(lock) if folder.path().is_dir() => {
                    return Ok(Self { folder, _lock: lock.map(HeldFile::new) });
                }
                // Where folders cannot be locked nothing is taken for abandoned either.
                Err(error) if error.kind() == ErrorKind::Unsupported => {
                    return Ok(Self { folder, _lock: None });
                }
                // Others may be able to lock it: too many files are open here, for one.
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                Ok(_) | Err(_) => {}
            }
        }
        Err(io::Error::new(ErrorKind::NotFound, "new folders vanish"))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        // What its own way to go cannot remove.
        let _ = remove(self.folder.path());
    }
}

/// A file that is held open, as a lock is, while foreign code runs. If that closes it, its number may be that of another
/// file by now: what is not ours any more is not closed.
#[derive(Debug)]
pub struct HeldFile {
    file: Option<File>,
    identity: Option<Identity>,
}

/// Which file it is: device and number, where a system tells.
type Identity = (u64, u64);

impl HeldFile {
    /// Holds a file.
    pub fn new(file: File) -> Self {
        Self { identity: identity(&file), file: Some(file) }
    }

    /// The same file once more, unless its number is that of another one by now.
    pub fn try_clone(&self) -> io::Result<File> {
        let own = self.file.as_ref().filter(|file| identity(file) == self.identity);
        own.ok_or(ErrorKind::NotFound)?.try_clone()
    }
}

impl io::Read for HeldFile {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.file.as_mut().ok_or(ErrorKind::NotFound)?.read(bytes)
    }
}

impl io::Seek for HeldFile {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.file.as_mut().ok_or(ErrorKind::NotFound)?.seek(to)
    }
}

impl Drop for HeldFile {
    fn drop(&mut self) {
        if let Some(file) = self.file.take_if(|file| identity(file) != self.identity) {
            std::mem::forget(file);
        }
    }
}

#[cfg(unix)]
fn identity(file: &File) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    file.metadata().ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(_file: &File) -> Option<Identity> {
    None
}

fn private(parent: &Path) -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY_PREFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o700));
    }
    builder.tempdir_in(parent)
}

/// A lock on a folder for this process; nothing if another one holds it.
#[cfg(unix)]
fn lock(folder: &Path) -> io::Result<Option<File>> {
    let file = File::open(folder)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(fs::TryLockError::WouldBlock) => Ok(None),
        // Whatever the file system says: ENOLCK, for one.
        Err(fs::TryLockError::Error(_)) => Err(ErrorKind::Unsupported.into()),
    }
}

/// Elsewhere folders cannot be locked.
#[cfg(not(unix))]
fn lock(_folder: &Path) -> io::Result<Option<File>> {
    Err(ErrorKind::Unsupported.into())
}

/// Removes the temporary folders of processes that were killed. What cannot be removed stays: nothing depends on it.
pub fn remove_abandoned_folders() {
    remove_abandoned_in(&std::env::temp_dir());
}

fn remove_abandoned_in(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let is_ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(TEMPORARY_PREFIX));
        // Not what a link points to.
        if !is_ours || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let path = entry.path();
        let held = lock(&path).or_else(|error| match error.kind() {
            ErrorKind::PermissionDenied => {
                give_rights_back(&path);
                lock(&path)
            }
            _ => Err(error),
        });
        if let Ok(Some(_held)) = held {
            let _ = remove(&path);
        }
    }
}

/// Removes a folder and what is in it, also what an FMU has made inaccessible.
fn remove(folder: &Path) -> io::Result<()> {
    fs::remove_dir_all(folder).or_else(|error| {
        if error.kind() == ErrorKind::PermissionDenied {
            give_rights_back(folder);
            return fs::remove_dir_all(folder);
        }
        Err(error)
    })
}

/// Lets us change a folder, and those in it, again. Links are not followed.
#[cfg(unix)]
fn give_rights_back(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    let Ok(entries) = fs::read_dir(folder) else { return };
    let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    entries.flatten().filter(is_folder).for_each(|entry| give_rights_back(&entry.path()));
}

#[cfg(not(unix))]
fn give_rights_back(_folder: &Path) {}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn abandoned_folders_are_removed_and_others_are_not() {
        let parent = tempfile::tempdir().unwrap();
        let held = PrivateFolder::new_in(parent.path()).unwrap();
        let abandoned = parent.path().join(format!("{TEMPORARY_PREFIX}left"));
        fs::create_dir_all(abandoned.join("resources")).unwrap();
        fs::write(abandoned.join("resources/a"), "a").unwrap();
        let (foreign, target) = (parent.path().join("foreign"), parent.path().join("target"));
        fs::create_dir(&foreign).unwrap();
        fs::create_dir(&target).unwrap();
        std::os::unix::fs::symlink(&target, parent.path().join(format!("{TEMPORARY_PREFIX}link"))).unwrap();
        remove_abandoned_in(parent.path());
        assert!(!abandoned.exists());
        assert!(held.path().is_dir() && foreign.is_dir() && target.is_dir());
        let path = held.path().to_owned();
        drop(held);
        assert!(!path.exists());
    }

    /// Whoever runs this as root could remove them anyway, but sees their rights.
    #[test]
    fn folders_that_an_fmu_has_made_inaccessible_are_removed() {
        use std::os::unix::fs::PermissionsExt;
        let rights = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let parent = tempfile::tempdir().unwrap();
        let (target, abandoned) = (parent.path().join("target"), parent.path().join("costep-unpacked-left"));
        fs::create_dir(&target).unwrap();
        rights(&target, 0o500);
        let held = PrivateFolder::new_in(parent.path()).unwrap();
        for folder in [held.path(), &abandoned] {
            fs::create_dir_all(folder.join("a/b")).unwrap();
            fs::write(folder.join("a/b/file"), "text").unwrap();
            std::os::unix::fs::symlink(&target, folder.join("link")).unwrap();
            for inner in ["a/b", "a", ""] {
                rights(&folder.join(inner), 0);
            }
        }
        give_rights_back(held.path());
        for inner in ["a/b", "a", ""] {
            let mode = fs::metadata(held.path().join(inner)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700, "{inner}");
        }
        assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o500);
        rights(&held.path().join("a"), 0);
        drop(held);
        remove_abandoned_in(parent.path());
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
    }

    #[test]
    fn nobody_loses_a_folder_that_is_being_made() {
        let parent = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            let makers: Vec<_> = (0..2)
                .map(|_| {
                    scope.spawn(|| {
                        for _ in 0..300 {
                            let folder = PrivateFolder::new_in(parent.path()).unwrap();
                            fs::write(folder.path().join("a"), "a").unwrap();
                            assert!(folder.path().join("a").is_file());
                        }
                    })
                })
                .collect();
            while makers.iter().any(|maker| !maker.is_finished()) {
                remove_abandoned_in(parent.path());
            }
        });
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }
}
