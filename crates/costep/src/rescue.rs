//! What is left of a supervised run that could not come to its own end.

use std::path::Path;

use costep_core::{Code, Error, Result};
use costep_results::{Recording, Summary};
use costep_supervise::Report;

use crate::between::SAMPLES;
use crate::folder::RECORDING;

/// The recording of a run whose process died.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kept {
    /// Its rows.
    pub rows: u64,
    /// Time of the last one.
    pub time: f64,
    /// Time of the last checkpoint, if there is one.
    pub checkpoint: Option<f64>,
}

/// Reads the recordings in the folder of a run that has come to its end: an error if one is not whole. The run has looked
/// itself, but code of its FMUs goes on up to the end of their process.
pub fn check_recordings(folder: &Path) -> Result<()> {
    let samples = folder.join(SAMPLES);
    [folder.join(RECORDING)].into_iter().chain(samples.exists().then_some(samples)).try_for_each(|file| {
        let table = Summary::read(&file)?;
        match table.damage() {
            Some(damage) => Err(damage.clone()),
            None if table.complete() => Ok(()),
            None => {
                let message = format!("the end of the recording `{}` is missing", file.display());
                let error = Error::new(Code::RecordingFailed, message).in_file(&file);
                Err(error.because("something has changed it after the run"))
            }
        }
    })
}

/// Adds the rows to a recording that its process had no time to write. Nothing if there are no rows at all.
pub fn rescue_rows(report: &Report, file: &Path) -> Result<Option<Kept>> {
    let table = Summary::read(file)?;
    let (columns, rows) = (table.columns().to_vec(), table.rows());
    let last = table.span().map_or(f64::NAN, |(_, last)| last);
    let mut kept = Kept { rows, time: last, checkpoint: report.checkpoint() };
    let missing = report.rows_from(rows, columns.len());
    if !table.complete() && !missing.is_empty() {
        let mut recording = Recording::resume(file, &columns, rows)?;
        for row in missing.chunks_exact(columns.len()) {
            recording.row(row)?;
            kept.time = row[0];
        }
        recording.flush()?;
        kept.rows = recording.rows();
    }
    Ok((kept.rows > 0).then_some(kept))
}
