//! Exceptions that leave an FMU: C++ that nobody catches, panics of Rust code inside.

/// Does work that calls FMUs. An exception of an FMU that passes through ends the process at once, as the last thing that
/// happens in that call: on its way out it would free the FMU, and whoever watches could not see any more who threw it.
/// Panics of this program go on as usual.
#[inline(always)]
pub fn stopping_exceptions<R>(work: impl FnOnce() -> R) -> R {
    struct Stop;
    impl Drop for Stop {
        fn drop(&mut self) {
            // Those of others are not known here.
            if !std::thread::panicking() {
                // The last words of the process are part of the report.
                eprintln!("a foreign exception left the call");
                std::process::abort();
            }
        }
    }
    let stop = Stop;
    let result = work();
    std::mem::forget(stop);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_and_panics_pass() {
        assert_eq!(stopping_exceptions(|| 7), 7);
        assert!(std::panic::catch_unwind(|| stopping_exceptions(|| panic!("our own"))).is_err());
    }
}
