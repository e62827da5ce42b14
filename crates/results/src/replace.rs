//! Files that appear whole or not at all: written to a temporary file beside the target, then renamed over it.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::{Builder, TempPath};

use crate::file::cannot_sync;

/// A temporary file on its way to replace a target. It is removed if it is dropped before.
pub(crate) struct Replacement {
    temporary: TempPath,
    target: PathBuf,
}

impl Replacement {
    /// Creates the temporary file in the folder of the target, because a rename works within one disk only.
    pub(crate) fn beside(target: &Path) -> io::Result<(File, Self)> {
        // a link stays a link: what it points to is replaced
        let target = fs::canonicalize(target).unwrap_or_else(|_| target.to_owned());
        let name = target.file_name().ok_or(io::ErrorKind::InvalidFilename)?.to_string_lossy();
        let prefix = format!(".{name}.");
        let mut builder = Builder::new();
        builder.prefix(&prefix).suffix(".part");
        #[cfg(unix)]
        {
            // as any other new file, not private as temporary files are
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let folder = folder_of(&target);
        fs::metadata(folder)?;
        // The words of the cause would name the temporary file.
        let made = builder.tempfile_in(folder).map_err(|cause| io::Error::from(cause.kind()))?;
        let (file, temporary) = made.into_parts();
        Ok((file, Self { temporary, target }))
    }

    /// Puts the file in the place of the target, after its content has reached the disk.
    pub(crate) fn commit(self, file: &File) -> io::Result<()> {
        match file.sync_all() {
            Err(cause) if !cannot_sync(&cause) => return Err(cause),
            _ => {}
        }
        self.temporary.persist(&self.target).map_err(|refused| refused.error)?;
        sync_folder(&self.target);
        Ok(())
    }
}

/// Lets `write` fill a file that replaces `target` if it succeeds. Pipes and devices (`/dev/stdout`) are
/// written to directly: a rename would replace the device itself.
pub(crate) fn write_whole<T, E: From<io::Error>>(
    target: &Path,
    write: impl FnOnce(&File) -> Result<T, E>,
) -> Result<T, E> {
    if fs::metadata(target).is_ok_and(|metadata| !metadata.is_file()) {
        return write(&OpenOptions::new().write(true).open(target)?);
    }
    let (file, replacement) = Replacement::beside(target)?;
    let result = write(&file)?;
    replacement.commit(&file)?;
    Ok(result)
}

/// Makes a new name in a folder survive a power loss. Not every system can; the file itself is safe already.
pub(crate) fn sync_folder(path: &Path) {
    if let Ok(folder) = File::open(folder_of(path)) {
        let _ = folder.sync_all();
    }
}

/// The folder of a file; a bare name is in the current one.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_failure_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("out.csv");
        fs::write(&target, "old").unwrap();
        let result: io::Result<()> = write_whole(&target, |mut file| {
            file.write_all(b"half")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert!(result.is_err());
        assert_eq!(fs::read_to_string(&target).unwrap(), "old");
        assert_eq!(names(folder.path()), ["out.csv"]);
    }

    #[test]
    fn success_replaces_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("out.csv");
        fs::write(&target, "old").unwrap();
        write_whole(&target, |mut file| file.write_all(b"new")).unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
        assert_eq!(names(folder.path()), ["out.csv"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_and_a_device_a_device() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real.csv"), folder.path().join("link.csv"));
        fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write_whole(&link, |mut file| file.write_all(b"new")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "new");

        let device = folder.path().join("device");
        std::os::unix::fs::symlink("/dev/null", &device).unwrap();
        write_whole(&device, |mut file| file.write_all(b"new")).unwrap();
        assert!(!fs::metadata(&device).unwrap().is_file());
    }
}
