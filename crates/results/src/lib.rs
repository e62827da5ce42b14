//! Crash-safe recordings: an Arrow IPC *stream* (`.arrows`) of `f64` columns, its reader, and its export to
//! CSV and Parquet.
//!
//! A stream needs no footer, so a recording is readable at any moment of a run and after `kill -9`; at most
//! the last batch ([`Recording::MAX_ROWS`] rows or [`Recording::MAX_AGE`]) and one that is being written are missing. Any Arrow library opens
//! the file, e.g. `pyarrow.ipc.open_stream("run.arrows").read_all()`.
//!
//! | module | role |
//! |---|---|
//! | `recording` | the writer: gathers rows |
//! | `writer`, `file` | who writes batches to the file, and how |
//! | `encoding` | rows to Arrow messages |
//! | `checksum` | in every message, where Arrow libraries see padding |
//! | `frames`, `message`, `stream` | bytes to messages to batches; every length is checked before it is used |
//! | `reader` | a whole recording in memory |
//! | `summary`, `curves` | what it holds, and chosen signals to be drawn, in little memory |
//! | `export`, `select` | CSV and Parquet, and which columns |
//! | `typed` | tables of words and numbers as Parquet |
//! | `replace` | a temporary file beside the target, renamed when whole |
//!
//! ```
//! use costep_results::{Column, Recording, Table};
//!
//! # fn main() -> costep_core::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("run.arrows");
//! let columns = [Column::new("t", Some("s")), Column::new("engine.speed", Some("rad/s"))];
//! let mut recording = Recording::create(&path, &columns, &[("method".into(), "zoh".into())])?;
//! recording.row(&[0.0, 150.0])?;
//! recording.row(&[0.1, 151.5])?;
//! recording.finish()?;
//!
//! let table = Table::open(&path)?;
//! assert_eq!(table.column("engine.speed")?, [150.0, 151.5]);
//! assert!(table.complete());
//! # Ok(())
//! # }
//! ```

mod batch_writer;
mod checksum;
mod clock;
mod column;
mod curves;
mod encoding;
mod export;
mod file;
mod frames;
mod message;
mod reader;
mod recording;
mod replace;
mod select;
mod stream;
mod summary;
mod typed;

pub use column::Column;
pub use curves::{Curves, each_row, matching_names};
pub use export::{Exported, export_csv, export_feather, export_parquet, write_file};
pub use reader::Table;
pub use recording::Recording;
pub use summary::{Summary, read_metadata};
pub use typed::{TypedColumn, write_parquet};
