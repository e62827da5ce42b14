//! Results of papers, computed again: `costep reproduce` prints what they claim beside what comes out. To add one:
//! write its file, then add one line to [`STUDIES`].
//!
//! | module | role |
//! |---|---|
//! | `registry` | the list of studies |
//! | `study`, `rules` | claims and verdicts; what kinds of claims there are and how each is judged |
//! | `case`, `work`, `series` | running systems, on all cores; curves and colours |
//! | `cpu` | what computing costs |
//! | `helicopter`, `flight` | the runs of chapter 4 of the thesis |
//! | `data` | the table behind a figure |
//! | `genser2018_*`, `genser2020_*`, `haid2018`, `viel2014`, `andersson2016` | one file per figure or group of figures |
//!
//! Paper tags: \[G18] Genser & Benedikt 2018, \[T] Genser's thesis 2020, \[H18] Haid 2018, \[V14] Viel 2014,
//! \[A16] Andersson et al. 2016.

mod andersson2016;
mod case;
mod cpu;
mod data;
mod flight;
mod genser2018_angles;
mod genser2018_errors;
mod genser2020_accuracy;
mod genser2020_bohl;
mod genser2020_doe;
mod genser2020_errors;
mod genser2020_flight;
mod genser2020_helicopter;
mod genser2020_identified;
mod genser2020_jacobians;
mod genser2020_loaded;
mod genser2020_regions;
mod genser2020_signals;
mod haid2018;
mod helicopter;
mod registry;
mod rules;
mod series;
mod study;
mod viel2014;
mod work;

pub use case::{Case, Run};
pub use data::Data;
pub use registry::{STUDIES, find};
pub use rules::{Kind, Measured};
pub use study::{Claim, Claimed, Computed, Finding, Study, Verdict, number, short, statement};
pub use work::Work;
