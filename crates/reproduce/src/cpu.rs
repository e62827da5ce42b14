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

/// CPU time of several works in s, in every round one after the other, so that a busy machine slows down all of them.
/// Each is done as often as it takes for a time of at least [`LEAST`] to be seen; the times are of one.
pub(crate) fn alternating<const N: usize>(
    rounds: usize,
    work: impl Fn(usize) -> Result<()>,
) -> Result<Vec<[f64; N]>> {
    let many = |k: usize, count: usize| timed(|| (0..count).try_for_each(|_| work(k)));
    let mut counts = [1; N];
    for (k, count) in counts.iter_mut().enumerate() {
        while *count < MOST && many(k, *count)?.1 < LEAST {
            *count *= 2;
        }
    }
    let mut times = Vec::new();
    for _ in 0..rounds.max(1) {
        let mut row = [0.0; N];
        for (k, (seconds, count)) in row.iter_mut().zip(counts).enumerate() {
            *seconds = many(k, count)?.1 / count as f64;
        }
        times.push(row);
    }
    Ok(times)
}

/// Ten times what the clock of a thread is late by.
const LEAST: f64 = 0.04;
/// Most repetitions.
const MOST: usize = 1 << 12;

/// CPU time of this thread so far. Linux brings it up to date every few milliseconds.
fn thread_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(1e-9 * text.split_whitespace().next()?.parse::<f64>().ok()?)
}
