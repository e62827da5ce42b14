//! Foreign code in processes of its own.
//!
//! **Supervised runs**: a process that hosts an engine and FMUs is watched by another one. The two share a page on which
//! each FMU shows the call it is in ([`costep_fmi::trace`]); [`supervise`] starts the process, ends it when a call hangs or
//! memory runs out, and tells which FMU it died of.
//!
//! **Isolated subsystems**: [`Isolated`] is a subsystem whose calls another process does, which hosts nothing else;
//! [`isolate_fmu`] makes one of an FMU.
//!
//! | module | role |
//! |---|---|
//! | `memory` | shared memory; all `unsafe` code |
//! | `page` | what watcher and watched share |
//! | `child`, `watcher`, `report`, `output` | the two sides of a supervised run, how it ended, what it printed |
//! | `voice` | what the watched process itself prints |
//! | `clock` | how long calls have taken |
//! | `isolated` | subsystems in processes of their own |
//! | `isolated_fmu` | an FMU of either kind in a process of its own |
//! | `sandbox` | FMUs confined in their processes |
//! | `signals` | those of foreign code, kept inside its process |
//! | `limits` | those that the shell sets for a process |
//! | `room` | work with a stack that suffices |
//! | `hand_over` | starting processes that never outlive this one |
//!
//! Linux only. Elsewhere FMUs show their calls to nobody, and everything runs in one process.

#[cfg(target_os = "linux")]
mod child;
#[cfg(target_os = "linux")]
mod clock;
#[cfg(target_os = "linux")]
mod hand_over;
#[cfg(target_os = "linux")]
mod isolated;
#[cfg(target_os = "linux")]
mod isolated_fmu;
#[cfg(target_os = "linux")]
mod limits;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod output;
#[cfg(target_os = "linux")]
mod page;
#[cfg(target_os = "linux")]
mod report;
#[cfg(target_os = "linux")]
mod room;
#[cfg(target_os = "linux")]
mod sandbox;
#[cfg(target_os = "linux")]
mod signals;
#[cfg(target_os = "linux")]
mod voice;
#[cfg(target_os = "linux")]
mod watcher;

pub use costep_fmi::{hear_no_more, stopping_exceptions, unheard};
pub use costep_fmu_file::HeldFile;

#[cfg(target_os = "linux")]
pub use child::{Calls, Watched, be_watched, watched};
#[cfg(target_os = "linux")]
pub use hand_over::{Program, launched_by};
#[cfg(target_os = "linux")]
pub use isolated::{
    Isolated, Outline, WORKER_FLAG, give_up_when, host, late_failures, offer_workers, worker_program,
};
#[cfg(target_os = "linux")]
pub use isolated_fmu::{IsolatedFile, IsolatedUse, host_fmu, isolate_fmu, try_fmu};
#[cfg(target_os = "linux")]
pub use limits::{ProcessorTime, name_the_end_of_processor_time, stack_limit};
#[cfg(target_os = "linux")]
pub use report::{Culprit, Ending, Report};
#[cfg(target_os = "linux")]
pub use room::with_stack;
#[cfg(target_os = "linux")]
pub use sandbox::CATEGORY as SANDBOX;
#[cfg(target_os = "linux")]
pub use voice::Stream;
#[cfg(target_os = "linux")]
pub use watcher::{MOST_OUTPUTS, WATCHED_FLAG, Watch, supervise};
