//! Where a study is written, and how it is read again.

use std::fs;
use std::path::{Path, PathBuf};

use costep_core::{Code, Error, Result};
use costep_reproduce::{Computed, Study};
use costep_results::write_file;
use serde_json::Value;

/// Files of a study: its result is written last, so that what has one is complete.
pub(super) struct Files {
    pub(super) data: PathBuf,
    pub(super) plot: PathBuf,
    pub(super) result: PathBuf,
}

impl Files {
    /// Makes the folder at once: not after a minute of work.
    pub(super) fn new(folder: &Path, study: &Study) -> Result<Self> {
        fs::create_dir_all(folder).map_err(|cause| {
            Error::new(Code::FileNotReadable, "cannot make the folder").in_file(folder).because(cause)
        })?;
        let file = |ending: &str| folder.join(format!("{}.{ending}", study.id));
        Ok(Self { data: file("csv"), plot: file("svg"), result: file("json") })
    }

    pub(super) fn write_plots(&self, computed: &Computed) -> Result<()> {
        // A result of another run does not stand beside the new files.
        match fs::remove_file(&self.result) {
            Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::new(Code::FileNotReadable, "cannot be replaced")
                    .in_file(&self.result)
                    .because(cause));
            }
            _ => {}
        }
        write_file(&self.data, computed.data.to_csv().as_bytes())?;
        write_file(&self.plot, computed.figure.to_svg().as_bytes())
    }

    pub(super) fn write_result(&self, result: &Value) -> Result<()> {
        write_file(&self.result, format!("{result:#}\n").as_bytes())
    }

    /// What an earlier run of this version has left, if it is complete; a quick one only `if_quick` will do.
    pub(super) fn stored(&self, study: &Study, if_quick: bool) -> Option<Value> {
        let result: Value = serde_json::from_str(&fs::read_to_string(&self.result).ok()?).ok()?;
        let is_whole = result["id"] == study.id
            && result["costep"] == env!("CARGO_PKG_VERSION")
            && result["claims"].as_array().is_some_and(|claims| claims.len() == study.claims.len())
            && self.plot.exists()
            && self.data.exists();
        (is_whole && (if_quick || result["quick"] == false)).then_some(result)
    }

    /// The figure, as SVG.
    pub(super) fn picture(&self) -> Result<String> {
        fs::read_to_string(&self.plot).map_err(|cause| {
            Error::new(Code::FileNotReadable, "cannot be read").in_file(&self.plot).because(cause)
        })
    }
}
