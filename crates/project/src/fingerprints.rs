//! What tells one FMU file from another, so that a run does not go on with an FMU that has been replaced.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use costep_core::{Code, Error, Result};

use crate::Project;

impl Project {
    /// One line per FMU with size and checksum of its file. Checkpoints keep it as it is written here.
    pub fn fmu_fingerprints(&self) -> Result<String> {
        let mut marks = String::new();
        for fmu in &self.given.fmus {
            let (bytes, sum) = mark(&fmu.path).map_err(|cause| {
                Error::new(Code::FileNotReadable, "cannot read the FMU").in_file(&fmu.path).because(cause)
            })?;
            // Writing to a text does not fail.
            let _ = writeln!(marks, "fmu {}: {bytes} bytes, check sum {sum:08x}", fmu.name);
        }
        Ok(marks)
    }
}

fn mark(path: &Path) -> std::io::Result<(u64, u32)> {
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
