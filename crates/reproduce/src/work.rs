//! Many runs on all cores.

use costep_core::Result;
use costep_experiments::Workers;

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
    /// Does all jobs, in any order, and gives their results in the order of the jobs.
    pub fn map<J: Sync, R: Send>(&self, jobs: &[J], work: impl Fn(&J) -> Result<R> + Sync) -> Result<Vec<R>> {
        Workers { threads: self.threads }.map(jobs, work, self.progress)
    }
}
