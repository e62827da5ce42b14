//! What is left of a supervised run that could not come to its own end.

use std::path::Path;

use costep_core::Result;
use costep_results::{Recording, Summary};
use costep_supervise::Report;

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
