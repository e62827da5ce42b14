//! What tells one file from another, so that a run does not go on with an FMU or a signal that has been
//! replaced.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use costep_core::{Code, Error, Result};

use crate::Project;

impl Project {
    /// One line per FMU and per file of external inputs, with its size and checksum. Checkpoints keep it as
    /// it is written here.
    pub fn file_marks(&self) -> Result<String> {
        let mut marks = String::new();
        let fmus = self.given.fmus.iter().map(|fmu| (format!("fmu {}", fmu.name), &fmu.path));
        let mut signals: Vec<&Path> = self
            .given
            .externals
            .iter()
            .filter_map(|external| Some(external.file.as_ref()?.path.as_path()))
            .collect();
        signals.dedup();
        let named = |path: &&Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let signals = signals.iter().map(|path| (format!("external {}", named(path)), *path));
        for (name, path) in fmus.map(|(name, path)| (name, path.as_path())).chain(signals) {
            let (bytes, sum) = file_mark(path).map_err(|cause| {
                Error::new(Code::FileNotReadable, format!("cannot read {name}")).in_file(path).because(cause)
            })?;
            // Writing to a text does not fail.
            let _ = writeln!(marks, "{name}: {bytes} bytes, check sum {sum:08x}");
        }
        Ok(marks)
    }
}

/// Size and checksum of a file.
pub fn file_mark(path: &Path) -> std::io::Result<(u64, u32)> {
    let (mut file, mut buffer) = (File::open(path)?, vec![0; 1 << 16]);
    let (mut total, mut hasher) = (0, crc32fast::Hasher::new());
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok((total, hasher.finalize())),
            count => {
                hasher.update(&buffer[..count]);
                total += count as u64;
            }
        }
    }
}
