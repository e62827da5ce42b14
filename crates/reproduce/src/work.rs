//! Many runs on all cores, with progress.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use costep_core::{Code, Error, Result};

/// With what a study is computed.
pub struct Work<'a> {
    /// Number of threads.
    pub threads: usize,
    /// Coarser grids, for a quick look.
    pub quick: bool,
    /// Called with (done, all) while jobs end; an error stops the study.
    pub progress: &'a (dyn Fn(usize, usize) -> Result<()> + Sync),
}

impl Work<'_> {
    /// Does all jobs, in any order, and gives their results in the order of the jobs. Each job is worked out by one
    /// thread alone: results do not depend on their number.
    pub fn map<J: Sync, R: Send>(&self, jobs: &[J], work: impl Fn(&J) -> Result<R> + Sync) -> Result<Vec<R>> {
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let results = Mutex::new((0..jobs.len()).map(|_| None).collect::<Vec<Option<R>>>());
        let failure = Mutex::new(None);
        let worker = || {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(job) = jobs.get(index) else { return };
                let outcome = work(job).and_then(|result| {
                    lock(&results)[index] = Some(result);
                    (self.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, jobs.len())
                });
                if let Err(error) = outcome {
                    next.store(jobs.len(), Ordering::Relaxed);
                    lock(&failure).get_or_insert(error);
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.threads.clamp(1, jobs.len().max(1)) {
                scope.spawn(worker);
            }
            worker();
        });
        if let Some(error) = lock(&failure).take() {
            return Err(error);
        }
        let results = lock(&results).drain(..).collect::<Option<Vec<R>>>();
        results.ok_or_else(|| Error::new(Code::Bug, "a job of a study has no result"))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_for_any_number_of_threads() {
        let jobs: Vec<usize> = (0..100).collect();
        for threads in [0, 1, 2, 7] {
            let seen = AtomicUsize::new(0);
            let progress = |_, _| {
                seen.fetch_add(1, Ordering::Relaxed);
                Ok(())
            };
            let squares =
                Work { threads, quick: false, progress: &progress }.map(&jobs, |job| Ok(job * job)).unwrap();
            assert_eq!(squares, jobs.iter().map(|job| job * job).collect::<Vec<_>>());
            assert_eq!(seen.into_inner(), 100);
        }
    }

    #[test]
    fn an_error_ends_all() {
        let progress = |done, _| match done {
            3 => Err(Error::new(Code::Stopped, "stopped")),
            _ => Ok(()),
        };
        let outcome = Work { threads: 2, quick: false, progress: &progress }.map(&[0; 1000], |_| Ok(()));
        assert_eq!(outcome.unwrap_err().code(), Code::Stopped);
    }
}
