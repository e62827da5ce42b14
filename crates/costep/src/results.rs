//! The outputs of a run in memory.

use std::sync::Arc;

use costep_analysis::Trace;
use costep_core::Result;

use crate::names::Names;

/// All outputs of a run at its communication points, the start included.
///
/// ```
/// let results = costep::System::open("dual-mass")?.run(costep::Run::new())?.results.unwrap();
/// let x = results.output("s1.x")?;
/// assert_eq!(x.len(), results.times().len());
/// # Ok::<(), costep::Errors>(())
/// ```
#[derive(Clone, Debug)]
pub struct Results {
    names: Arc<Names>,
    trace: Trace,
}

impl Results {
    pub(crate) fn new(names: Arc<Names>, trace: Trace) -> Self {
        Self { names, trace }
    }

    /// `part.port` of all outputs, in the order of the rows.
    pub fn names(&self) -> &[String] {
        &self.names.outputs
    }

    /// The communication points in s.
    pub fn times(&self) -> &[f64] {
        &self.trace.times
    }

    /// An output over time.
    pub fn output(&self, name: &str) -> Result<Vec<f64>> {
        let index = self.names.output(name)?;
        Ok(self.trace.rows.iter().skip(index).step_by(self.trace.outputs.max(1)).copied().collect())
    }

    /// All outputs at communication point k.
    pub fn row(&self, k: usize) -> &[f64] {
        self.trace.row(k)
    }

    /// Sum of the energies that the parts store, over time; empty if a part does not know its own.
    pub fn energy(&self) -> &[f64] {
        &self.trace.energy
    }
}
