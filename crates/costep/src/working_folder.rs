//! The working folder of the process: code of an FMU may change it, and files of the command are named from where it was.

use std::env;
use std::path::PathBuf;

use costep_project::Project;

/// Where the process was; it is there again when this ends.
pub(crate) struct WorkingFolder(Option<PathBuf>);

impl WorkingFolder {
    /// Before the FMUs of a project are called. Without FMUs nothing is put back.
    pub(crate) fn before(project: &Project) -> Self {
        Self((!project.given.fmus.is_empty()).then(|| env::current_dir().ok()).flatten())
    }

    /// Puts it back. What cannot be reached any more is an error of the next file.
    pub(crate) fn come_back(&self) {
        if let Some(folder) = &self.0 {
            let _ = env::set_current_dir(folder);
        }
    }
}

impl Drop for WorkingFolder {
    fn drop(&mut self) {
        self.come_back();
    }
}
