//! Outputs between communication points, where the parts tell them: for pictures, in which a few long steps would otherwise look
//! like a polygon.

use std::fs;
use std::path::{Path, PathBuf};

use costep_core::{MicroSamples, Result};
use costep_engine::Engine;
use costep_project::Project;
use costep_results::{Column, Recording};

use crate::supervised;

/// The file beside the recording.
pub const SAMPLES: &str = "samples.arrows";

/// Pictures are about a thousand pixels wide: runs with more steps need nothing between them.
const MOST_STEPS: u64 = 1000;
/// Runs with more are not asked for it by themselves: their points are near enough to each other.
const FEW_STEPS: u64 = 300;
/// Systems with more outputs are looked at signal by signal, if at all.
const MOST_OUTPUTS: usize = 64;
/// Rows inside of a step.
const INSIDE: usize = 15;

/// Whether the parts are asked for it: where the project says so, else native ones, of runs that are worth it.
pub(crate) fn is_wanted(project: &Project) -> bool {
    let outputs = project.model.layout().outputs();
    let is_native = || project.model.parts.iter().all(|part| part.ode().is_some());
    let has_few = || project.model.experiment.steps() <= FEW_STEPS && outputs <= MOST_OUTPUTS;
    project.record.between.unwrap_or_else(|| project.control.is_none() && has_few() && is_native())
}

/// Whether it is written, if there is anything to write: few steps of one length, few outputs, unless the project says it.
pub(crate) fn is_written(project: &Project, engine: &Engine) -> bool {
    let has_equal_steps = engine.progress_at(0).is_some();
    let has_few = engine.experiment().steps() <= MOST_STEPS && engine.outputs().len() <= MOST_OUTPUTS;
    project.record.between.unwrap_or(has_equal_steps && has_few)
}

/// Writes what lies between the communication points.
pub(crate) struct Between {
    recording: Recording,
    path: PathBuf,
    /// Indices into y.
    outputs: Vec<usize>,
    /// Whether any part has told anything.
    has_values: bool,
}

impl Between {
    /// A file beside the recording, for these columns and outputs.
    pub(crate) fn create(recording: &Path, columns: &[Column], outputs: &[usize]) -> Result<Self> {
        let path = recording.with_file_name(SAMPLES);
        let file = Recording::create(&path, columns, &[])?;
        let recording = if supervised::is_watched() { file.detached()? } else { file };
        Ok(Self { recording, path, outputs: outputs.to_vec(), has_values: false })
    }

    /// Takes away what an earlier run has left.
    pub(crate) fn forget(recording: &Path) {
        // It is not there, or the run will say why nothing can be written here.
        let _ = fs::remove_file(recording.with_file_name(SAMPLES));
    }

    /// Writes rows inside of the step that was just done.
    pub(crate) fn look(&mut self, engine: &Engine) -> Result<()> {
        let (micro, layout, last) = (engine.micro(), engine.layout(), engine.last_step());
        let tells = |part: usize| micro.micro_samples(part).is_some_and(|samples| samples.times.len() > 2);
        if engine.k() == 0 || !(0..micro.subsystems()).any(tells) {
            return Ok(());
        }
        self.has_values = true;
        for inside in 1..=INSIDE {
            let t = last.start + (last.end - last.start) * inside as f64 / (INSIDE + 1) as f64;
            let outputs = &self.outputs;
            self.recording.row_with(|row| {
                row[0] = t;
                for (value, output) in row[1..].iter_mut().zip(outputs) {
                    let part = layout.output_owner(*output);
                    let port = *output - layout.output_range(part).start;
                    let width = layout.output_range(part).len();
                    let samples = micro.micro_samples(part).filter(|samples| samples.times.len() > 1);
                    *value = samples.map_or(f64::NAN, |samples| at(&samples, (port, width), t));
                }
            })?;
        }
        Ok(())
    }

    /// Closes the file; without any values it goes.
    pub(crate) fn finish(self) -> Result<()> {
        self.recording.finish()?;
        if !self.has_values {
            Self::forget(&self.path);
        }
        Ok(())
    }
}

/// An output at a time, on straight lines between its samples.
fn at(samples: &MicroSamples<'_>, (port, width): (usize, usize), t: f64) -> f64 {
    let times = samples.times;
    let after = times.partition_point(|time| *time < t).clamp(1, times.len() - 1);
    let value = |k: usize| samples.outputs[k * width + port];
    let (from, to) = (times[after - 1], times[after]);
    let share = if to > from { ((t - from) / (to - from)).clamp(0.0, 1.0) } else { 1.0 };
    value(after - 1) + share * (value(after) - value(after - 1))
}

#[cfg(test)]
mod tests {
    use costep_core::MicroSampling;

    use super::*;

    #[test]
    fn values_lie_on_lines_between_samples() {
        let samples = MicroSamples {
            times: &[0.0, 1.0, 4.0],
            outputs: &[0.0, 5.0, 2.0, 5.0, 8.0, 5.0],
            sampling: MicroSampling::End,
            known_mean: None,
        };
        let values = [-1.0, 0.5, 1.0, 2.0, 9.0].map(|t| at(&samples, (0, 2), t));
        assert_eq!(values, [0.0, 1.0, 2.0, 4.0, 8.0]);
        assert_eq!(at(&samples, (1, 2), 3.0), 5.0);
    }
}
