//! Limits that the shell sets for this process (`ulimit`), and what is left of them.

use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

/// Bytes that the stack of the first thread may have, if there is a limit.
pub fn stack_limit() -> Option<u64> {
    getrlimit(Resource::Stack).current
}

/// A limit of processor time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessorTime {
    /// The limit.
    pub limit: Duration,
    /// What has not been used of it.
    pub left: Duration,
}

impl ProcessorTime {
    /// That of this process, if it has one.
    pub fn of_this_process() -> Option<Self> {
        let limit = Duration::from_secs(getrlimit(Resource::Cpu).current?);
        let used = clock_gettime(ClockId::ProcessCPUTime);
        let used = Duration::try_from(used).unwrap_or_default();
        Some(Self { limit, left: limit.saturating_sub(used) })
    }
}

/// Has the system say that the processor time is used up (SIGXCPU), where it would kill without a reason, for this process and all
/// that it starts.
pub fn name_the_end_of_processor_time() {
    let limit = getrlimit(Resource::Cpu);
    if let Some(most) = limit.maximum
        && most > 1
        && limit.current.is_none_or(|current| current >= most)
    {
        // Without it the end is the same, and only its reason is not told.
        let _ = setrlimit(Resource::Cpu, Rlimit { current: Some(most - 1), maximum: Some(most) });
    }
}
