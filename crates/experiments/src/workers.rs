//! Jobs on all cores. Results come back one by one, in the order in which they are done, to the thread that asked for them.

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;

use costep_core::{Code, Error, Result};

/// Threads for runs, each of which takes one core.
pub fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Threads that do jobs. Each job is worked out by one of them alone: results do not depend on their number.
#[derive(Clone, Copy, Debug)]
pub struct Workers {
    /// How many of them.
    pub threads: usize,
}

impl Workers {
    /// Does the jobs 0 to `jobs`. `take` gets their results as they are done; once it refuses one, no further job is begun.
    pub fn each<R: Send>(
        &self,
        jobs: usize,
        work: impl Fn(usize) -> R + Sync,
        mut take: impl FnMut(usize, R) -> Result<()>,
    ) -> Result<()> {
        let (next, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
        let threads = self.threads.clamp(1, jobs.max(1));
        // Room for a few results, so that nobody waits while one of them is written.
        let (done, results) = sync_channel(2 * threads);
        std::thread::scope(|scope| {
            for _ in 0..threads {
                let (done, work, next, is_over) = (done.clone(), &work, &next, &is_over);
                scope.spawn(move || {
                    loop {
                        let job = next.fetch_add(1, Ordering::Relaxed);
                        if job >= jobs
                            || is_over.load(Ordering::Relaxed)
                            || done.send((job, work(job))).is_err()
                        {
                            return;
                        }
                    }
                });
            }
            drop(done);
            for (job, result) in results {
                take(job, result).inspect_err(|_| is_over.store(true, Ordering::Relaxed))?;
            }
            Ok(())
        })
    }

    /// Does all jobs and gives their results in the order of the jobs. `progress` hears how many are done; the first error ends all.
    pub fn map<J: Sync, R: Send>(
        &self,
        jobs: &[J],
        work: impl Fn(&J) -> Result<R> + Sync,
        mut progress: impl FnMut(usize, usize) -> Result<()>,
    ) -> Result<Vec<R>> {
        let mut results: Vec<Option<R>> = jobs.iter().map(|_| None).collect();
        let mut done = 0;
        self.each(
            jobs.len(),
            |job| work(&jobs[job]),
            |job, result| {
                results[job] = Some(result?);
                done += 1;
                progress(done, jobs.len())
            },
        )?;
        let results = results.into_iter().collect::<Option<Vec<R>>>();
        results.ok_or_else(|| Error::new(Code::Bug, "a job has no result"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_for_any_number_of_threads() {
        let jobs: Vec<usize> = (0..100).collect();
        for threads in [0, 1, 2, 7] {
            let mut seen = Vec::new();
            let progress = |done, all| {
                seen.push((done, all));
                Ok(())
            };
            let squares = Workers { threads }.map(&jobs, |job| Ok(job * job), progress).unwrap();
            assert_eq!(squares, jobs.iter().map(|job| job * job).collect::<Vec<_>>());
            assert_eq!(seen, (1..=100).map(|done| (done, 100)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn whoever_refuses_a_result_ends_all() {
        let begun = AtomicUsize::new(0);
        let work = |_| begun.fetch_add(1, Ordering::Relaxed);
        let mut taken = 0;
        let take = |_, _| {
            taken += 1;
            if taken < 3 { Ok(()) } else { Err(Error::new(Code::Stopped, "stopped")) }
        };
        let outcome = Workers { threads: 2 }.each(1000, work, take);
        assert_eq!(outcome.unwrap_err().code(), Code::Stopped);
        assert_eq!(taken, 3);
        assert!(begun.into_inner() < 20);
    }

    #[test]
    fn nothing_to_do_is_done() {
        assert!(Workers { threads: 3 }.each(0, |_| (), |_, ()| Ok(())).is_ok());
    }
}
