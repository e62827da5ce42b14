//! The nonlinear lines against a tight monolithic solution.

use costep_analysis::Trace;
use costep_core::Result;
use costep_integrate::Solver;

use crate::case::Case;
use crate::cpu::timed;

/// Distance of the points at which errors are taken [V14 section 3.4: the print interval].
pub(super) const PRINT_US: usize = 50;
/// The coupling variables p_1 and f_2 among the outputs.
pub(super) const SIGNALS: [usize; 2] = [0, 1];

/// The lines and what they should do.
pub(super) struct Lines {
    case: Case,
    reference: Trace,
}

/// What a run costs and how wrong it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    /// RMS of the errors of p_1 in Pa and f_2 in m3/s; infinite if the run did not end.
    pub(super) rms: [f64; 2],
    /// CPU time in s.
    pub(super) cpu: f64,
}

impl Lines {
    /// Over the whole two seconds, or in a hurry over the first jump of the flow.
    pub(super) fn new(quick: bool) -> Result<Self> {
        let case = Case::new("hydraulic", &[], if quick { 0.15 } else { 2.0 });
        let reference = case.solved(Solver::Dopri5(1e-11), PRINT_US as f64 / 1e6)?.trace;
        Ok(Self { case, reference })
    }

    /// The tight monolithic solution, every 50 us.
    pub(super) fn reference(&self) -> &Trace {
        &self.reference
    }

    /// The case itself.
    pub(super) fn case(&self) -> &Case {
        &self.case
    }

    /// A run at a step that divides the print interval or is a multiple of it.
    pub(super) fn run(&self, method: &str, step_us: usize) -> Result<Outcome> {
        // Divided, so that the jumps of the flow are communication points to the last bit.
        let (run, cpu) = timed(|| self.case.run(method, step_us as f64 / 1e6, false))?;
        let rms = if run.ended { self.rms(&run.trace, step_us) } else { [f64::INFINITY; 2] };
        Ok(Outcome { rms, cpu })
    }

    /// RMS of the difference from the tight solution at the points that both have.
    pub(super) fn rms(&self, trace: &Trace, step_us: usize) -> [f64; 2] {
        let (own, theirs) = ((PRINT_US / step_us).max(1), (step_us / PRINT_US).max(1));
        let rows = (trace.times.len() - 1) / own;
        SIGNALS.map(|signal| {
            let error = |k: usize| trace.row(k * own)[signal] - self.reference.row(k * theirs)[signal];
            let squares: f64 = (1..=rows).map(|k| error(k).powi(2)).sum();
            (squares / rows as f64).sqrt()
        })
    }
}
