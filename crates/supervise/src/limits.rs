//! Limits that the shell sets for this process (`ulimit`), and what is left of them.

use std::time::Duration;

use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

/// A limit, as it counts and as it may be raised to; nothing if it cannot be read. The system is asked by a file: some filters of
/// calls refuse the call, and `rustix` then panics.
pub(crate) fn limit(resource: Resource) -> Option<Rlimit> {
    let name = match resource {
        Resource::Cpu => "Max cpu time",
        Resource::Stack => "Max stack size",
        Resource::Data => "Max data size",
        Resource::Fsize => "Max file size",
        Resource::Nofile => "Max open files",
        Resource::Core => "Max core file size",
        _ => return None,
    };
    of_text(&std::fs::read_to_string("/proc/self/limits").ok()?, name)
}

fn of_text(text: &str, name: &str) -> Option<Rlimit> {
    let mut values = text.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace();
    let mut value = || match values.next()? {
        "unlimited" => Some(None),
        number => number.parse().ok().map(Some),
    };
    Some(Rlimit { current: value()?, maximum: value()? })
}

/// Bytes that the stack of the first thread may have, if there is a limit.
pub fn stack_limit() -> Option<u64> {
    limit(Resource::Stack)?.current
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
        let limit = Duration::from_secs(limit(Resource::Cpu)?.current?);
        let used = clock_gettime(ClockId::ProcessCPUTime);
        let used = Duration::try_from(used).unwrap_or_default();
        Some(Self { limit, left: limit.saturating_sub(used) })
    }
}

/// Has the system say that the processor time is used up (SIGXCPU), where it would kill without a reason, for this process and all
/// that it starts.
pub fn name_the_end_of_processor_time() {
    if let Some(Rlimit { current, maximum: Some(most) }) = limit(Resource::Cpu)
        && most > 1
        && current.is_none_or(|current| current >= most)
    {
        // Without it the end is the same, and only its reason is not told.
        let _ = setrlimit(Resource::Cpu, Rlimit { current: Some(most - 1), maximum: Some(most) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_those_that_the_system_tells() {
        let text = "Limit                     Soft Limit           Hard Limit           Units     \n\
                    Max cpu time              2                    unlimited            seconds   \n";
        assert_eq!(of_text(text, "Max cpu time"), Some(Rlimit { current: Some(2), maximum: None }));
        assert_eq!(of_text(text, "Max stack size"), None);
        for resource in [
            Resource::Cpu,
            Resource::Stack,
            Resource::Data,
            Resource::Fsize,
            Resource::Nofile,
            Resource::Core,
        ] {
            assert_eq!(limit(resource), Some(rustix::process::getrlimit(resource)), "{resource:?}");
        }
    }
}
