//! Results of papers, computed again: `costep reproduce` prints what they claim beside what comes out. To add one:
//! write its file, then add one line to [`STUDIES`].
//!
//! | module | role |
//! |---|---|
//! | `registry` | the list of studies |
//! | `study` | claim, tolerance, verdict |
//! | `case`, `work`, `series` | running systems, on all cores; curves and colours |
//! | `cpu` | what computing costs |
//! | `data` | the table behind a figure |
//! | `genser2018_*`, `genser2020_*`, `haid2018`, `viel2014`, `andersson2016` | one file per figure or group of figures |
//!
//! Paper tags: \[G18] Genser & Benedikt 2018, \[T] Genser's thesis 2020, \[H18] Haid 2018, \[V14] Viel 2014,
//! \[A16] Andersson et al. 2016.

mod andersson2016;
mod case;
mod cpu;
mod data;
mod genser2018_angles;
mod genser2018_errors;
mod genser2020_bohl;
mod genser2020_doe;
mod genser2020_errors;
mod genser2020_helicopter;
mod genser2020_identified;
mod genser2020_loaded;
mod genser2020_regions;
mod genser2020_signals;
mod haid2018;
mod registry;
mod series;
mod study;
mod viel2014;
mod work;

pub use case::{Case, Run};
pub use data::Data;
pub use registry::{STUDIES, find};
pub use study::{
    Claim, Claimed, Computed, Finding, Measured, Study, Tolerance, Verdict, number, short, statement,
};
pub use work::Work;
