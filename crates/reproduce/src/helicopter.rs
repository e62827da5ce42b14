//! The helicopter as the thesis runs it [T 4.1]: what its studies have in common.

use costep_analysis::measure;
use costep_core::Result;
use costep_engine::Engine;
use costep_ident::ModelFile;
use costep_integrate::Solver;

use crate::case::{Case, Run};

/// End of all runs, in s.
pub(crate) const STOP: f64 = 150.0;
/// Length of the learning phase (timeLearning), in s.
pub(crate) const LEARNING: f64 = 12.0;
/// With loaded parameters, in s.
pub(crate) const SHORT_LEARNING: f64 = 2.0;
/// Length of the switch phase (timeSwitchphase), in s. On Fig. 4.25 the text says 2 s.
const SWITCHING: f64 = 1.0;
/// Inner solver of both subsystems.
const SOLVER: Solver = Solver::Euler(2e-3);

/// What is said of all of these runs.
macro_rules! setup {
    ($more:literal) => {
        concat!(
            "Helicopter, pilot commands after the text (the thesis' own are known as pictures only), controller `bookI` (the \
             thesis' own is not published, see genser2020-eq4.5): 150 s, explicit Euler with 2 ms inside, learning phase 12 s, switch phase \
             1 s, as the thesis says. Pre-Step SI: prestep:source=rls,paper=true, with the error differential equation as Table 3.12 \
             says; MBCorr exact and SI: mbcorr:paper=true, without our guard. Error eps_mean: per subsystem the mean over its outputs \
             and over time of |y - y_mono| / range(y_mono), Euclidean norm over subsystems; results from 1 on are useless, as in the \
             thesis. ",
            $more
        )
    };
}
pub(crate) use setup;

/// The helicopter under a pilot, up to this time.
pub(crate) fn case(pilot: u32, stop: f64) -> Case {
    Case::new("helicopter", &[("pilot", f64::from(pilot))], stop).altered(|mut model| {
        model.solver = SOLVER;
        model
    })
}

/// A way to couple, as the thesis calls it.
#[derive(Clone, Copy)]
pub(crate) struct Way {
    /// In figures and tables.
    pub(crate) name: &'static str,
    /// Without its phases.
    pub(crate) method: &'static str,
    /// Length of its learning phase in s, if it learns.
    pub(crate) learning: Option<f64>,
}

impl Way {
    /// A way without phases.
    pub(crate) const fn plain(name: &'static str, method: &'static str) -> Self {
        Self { name, method, learning: None }
    }

    /// A way that learns for the time of the thesis.
    pub(crate) const fn learning(name: &'static str, method: &'static str) -> Self {
        Self { name, method, learning: Some(LEARNING) }
    }

    /// With its phases at a step.
    pub(crate) fn text(&self, step: f64) -> String {
        let steps = |seconds: f64| (seconds / step).round().max(1.0);
        match self.learning {
            Some(learning) => {
                format!("{},learning={},switching={}", self.method, steps(learning), steps(SWITCHING))
            }
            None => self.method.into(),
        }
    }
}

/// The ways of Figs. 4.11 to 4.20, in the thesis' order.
pub(crate) const WAYS: [Way; 5] = [
    Way::plain("zoh", "zoh"),
    Way::plain("nepce", "nepce"),
    Way::plain("MBCorr exact", "mbcorr:paper=true"),
    Way::learning("MBCorr SI", "mbcorr:source=rls,paper=true"),
    Way::learning("Pre-Step SI", "prestep:source=rls,paper=true"),
];
pub(crate) const ZOH: usize = 0;
pub(crate) const NEPCE: usize = 1;
pub(crate) const CORRECTOR: usize = 2;
pub(crate) const CORRECTOR_SI: usize = 3;
pub(crate) const PRE_STEP_SI: usize = 4;

/// Error and sigma of runs at a step; infinite where a run did not come to its end.
pub(crate) fn errors(case: &Case, step: f64, runs: &[Run]) -> Result<Vec<(f64, f64)>> {
    let reference = case.monolithic(step, false)?;
    let descriptions = case.descriptions()?;
    let of = |run: &Run| match run.ended {
        true => {
            let measures = measure(&descriptions, &run.trace, &reference);
            (measures.eps_mean, measures.sigma_mono)
        }
        false => (f64::INFINITY, f64::INFINITY),
    };
    Ok(runs.iter().map(of).collect())
}

/// Parameters of Pre-Step SI at this time of a run at 0.1 s, with which the loaded ones of the thesis begin.
pub(crate) fn saved(until: f64) -> Result<ModelFile> {
    case(1, until).identify(&WAYS[PRE_STEP_SI].text(EARLIER), EARLIER)
}

/// Step of the run that parameters are saved from, in s.
const EARLIER: f64 = 0.1;
/// When they are saved: "around 8 s".
pub(crate) const SAVED_AT: f64 = 8.0;

/// Pre-Step SI from parameters of an earlier run.
pub(crate) const LOADED: Way =
    Way { name: "loaded", method: "prestep:source=from-file,paper=true", learning: Some(SHORT_LEARNING) };

/// Runs a way, from saved parameters if it starts from such.
pub(crate) fn run(
    case: &Case,
    way: &Way,
    step: f64,
    models: Option<&ModelFile>,
    show: &mut dyn FnMut(&Engine),
) -> Result<Run> {
    match models {
        Some(models) => case.run_from(&way.text(step), step, models, show),
        None => case.run_shown(&way.text(step), step, show),
    }
}
