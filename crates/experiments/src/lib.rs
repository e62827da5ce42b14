//! Experiments of many runs: who does them, over which points, and what follows from their results. Knows nothing of systems or
//! files: a run is a function from the number of a point to a result.
//!
//! | module | role |
//! |---|---|
//! | `workers` | jobs on all cores, results one by one as they are done |
//! | `factorial` | factors, their levels, and all points of a full factorial plan |
//! | `levels` | ranges as users write them, `1e3..1e6:log:13` |
//! | `variance` | analysis of variance: mean squares of main and two-factor effects [T 3.2.1] |
//! | `sorting` | ascending sorting: what the best runs have in common [T 3.2.1] |
//! | `region` | which part of a map is stable, and its area [T 3.3.1] |
//! | `figures` | plots of all of these |

mod factorial;
mod figures;
mod levels;
mod region;
mod sorting;
mod variance;
mod workers;

pub use factorial::{Factor, Factorial};
pub use figures::{effect_map, histograms, interactions, main_effects, sorted_errors};
pub use levels::{parse_numbers, parse_range, parse_times};
pub use region::Region;
pub use sorting::{Choice, Sorting};
pub use variance::{Effect, Variance};
pub use workers::{Workers, threads};
