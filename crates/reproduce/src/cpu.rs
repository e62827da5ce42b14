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

/// The shortest of several times on the clock of short works, in s each: what they cost when nobody disturbs them. One
/// after the other in every round, so that a busy machine slows down all of them.
pub(crate) fn shortest<const N: usize>(
    rounds: usize,
    work: impl Fn(usize) -> Result<()>,
) -> Result<[f64; N]> {
    let mut seconds = [f64::INFINITY; N];
    for _ in 0..rounds.max(1) {
        for (k, seconds) in seconds.iter_mut().enumerate() {
            let clock = Instant::now();
            work(k)?;
            *seconds = seconds.min(clock.elapsed().as_secs_f64());
        }
    }
    Ok(seconds)
}

/// CPU time of this thread so far. Linux brings it up to date every few milliseconds.
fn thread_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(1e-9 * text.split_whitespace().next()?.parse::<f64>().ok()?)
}
