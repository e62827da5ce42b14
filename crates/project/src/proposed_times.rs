//! Stop and step of systems whose authors say none: from what the FMUs propose.

use costep_fmu_file::ModelDescription;

/// Macro steps of a run for which no FMU proposes a step.
const USUAL_STEPS: f64 = 1000.0;

/// The latest stop time that an FMU proposes, and the FMU.
pub(crate) fn latest_stop<'a>(
    fmus: impl Iterator<Item = (&'a str, &'a ModelDescription)>,
) -> Option<(&'a str, f64)> {
    let stops = fmus.filter_map(|(name, fmu)| Some((name, fmu.default_experiment.stop_time?)));
    stops.filter(|(_, stop)| stop.is_finite()).max_by(|a, b| a.1.total_cmp(&b.1))
}

/// The shortest step that an FMU proposes, and the FMU.
pub(crate) fn shortest_step<'a>(
    fmus: impl Iterator<Item = (&'a str, &'a ModelDescription)>,
) -> Option<(&'a str, f64)> {
    let steps = fmus.filter_map(|(name, fmu)| Some((name, fmu.default_experiment.step_size?)));
    steps.filter(|(_, step)| *step > 0.0 && step.is_finite()).min_by(|a, b| a.1.total_cmp(&b.1))
}

/// A step of which a run of this length has about a thousand.
pub(crate) fn usual_step(length: f64) -> f64 {
    10_f64.powf((length / USUAL_STEPS).log10().round())
}
