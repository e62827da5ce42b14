//! What computing costs.

use std::time::Instant;

use costep_core::Result;

/// Does the work and gives its CPU time in s: that of this thread where the system tells, else the time on the clock.
pub(crate) fn timed<R>(work: impl FnOnce() -> Result<R>) -> Result<(R, f64)> {
    let (clock, before) = (Instant::now(), thread_seconds());
    let result = work()?;
    let spent = thread_seconds().zip(before).map(|(after, before)| after - before);
    Ok((result, spent.unwrap_or_else(|| clock.elapsed().as_secs_f64())))
}

/// CPU time of this thread so far. Linux brings it up to date every few milliseconds.
fn thread_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(1e-9 * text.split_whitespace().next()?.parse::<f64>().ok()?)
}
