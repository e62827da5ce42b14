//! The solution that plots set beside a run: the monolithic one or, where a part does not tell its
//! equations, the same system at a much smaller step.

use costep_analysis::{Reference, ReferenceKind, Trace, outputs_at};
use costep_core::quantity::format_time;
use costep_core::{Code, Error, Result};
use costep_methods::MethodSpec;
use costep_project::Project;

use crate::assemble::{self, Choice};
use crate::names::Names;
use crate::reference::{REFINEMENT, monolithic_solver};

/// It is drawn with so many points at least.
const SMOOTH: usize = 1500;
/// Most values that are kept of it: 160 MB.
const MOST_VALUES: f64 = 2e7;

/// All outputs of a system at many instants.
#[derive(Clone, Debug)]
pub struct Solution {
    /// For the legend.
    pub name: String,
    /// What it is, as the end of a sentence.
    pub what: String,
    outputs: Vec<String>,
    times: Vec<f64>,
    rows: Vec<f64>,
}

impl Solution {
    /// One that was computed elsewhere: times, and all outputs at each of them.
    pub fn new(
        name: String,
        what: String,
        outputs: Vec<String>,
        (times, rows): (Vec<f64>, Vec<f64>),
    ) -> Self {
        Self { name, what, outputs, times, rows }
    }

    /// The solution of a system for a recording with these times, up to `end`.
    pub fn of(project: &Project, recorded: &[f64], end: f64) -> Result<Self> {
        let experiment = &project.model.experiment;
        // A damaged recording may hold any times; a run ends within a step of its stop.
        let end = end.min(experiment.stop + experiment.step);
        let outputs = output_names(project);
        if !project.model.has_equations() {
            return Self::at_fine_step(project, outputs, end);
        }
        let solver = monolithic_solver(project);
        let times = instants(recorded, end);
        let rows = outputs_at(&project.model, solver, experiment.start, &times)?;
        let what = format!("the monolithic solution, solver {}", solver.label());
        Ok(Self { name: "monolithic".into(), what, outputs, times, rows })
    }

    /// What runs were measured against.
    pub(crate) fn of_reference(reference: &Reference, project: &Project) -> Self {
        let (name, what) = match &reference.kind {
            ReferenceKind::Monolithic { solver, .. } => {
                ("monolithic", format!("the monolithic solution, solver {}", solver.label()))
            }
            ReferenceKind::FineStep { step, method, .. } => (
                "at a small step",
                format!("the same system with `{method}` at a step of {}", format_time(*step)),
            ),
        };
        let trace = &reference.trace;
        Self {
            name: name.into(),
            what,
            outputs: output_names(project),
            times: trace.times.clone(),
            rows: trace.rows.clone(),
        }
    }

    fn at_fine_step(project: &Project, outputs: Vec<String>, end: f64) -> Result<Self> {
        let experiment = &project.model.experiment;
        let step = project.equal_step() / REFINEMENT as f64;
        if (end - experiment.start) / step * outputs.len() as f64 > MOST_VALUES {
            return Err(Error::new(Code::BadValue, "the run is too long for a reference at a smaller step")
                .hint("plot less of it with `--to TIME`, or omit `--reference`"));
        }
        let method = MethodSpec::parse("auto")?;
        let mut engine = assemble::engine(project, &Choice { method: &method, step, control: None }, false)?;
        let mut trace = Trace::new(outputs.len(), false);
        let mut until = |engine: &costep_engine::Engine| {
            Ok(if engine.time() < end { costep_engine::Flow::Continue } else { costep_engine::Flow::Stop })
        };
        engine.run(&mut [&mut trace, &mut until])?;
        let what = format!("the same system with `auto` at a step of {}", format_time(step));
        Ok(Self { name: "at a small step".into(), what, outputs, times: trace.times, rows: trace.rows })
    }

    /// Its instants.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// The points of an output; nothing for other signals.
    pub fn points(&self, signal: &str) -> Option<impl Iterator<Item = (f64, f64)>> {
        let index = self.outputs.iter().position(|name| name == signal)?;
        let values = self.rows.iter().skip(index).step_by(self.outputs.len());
        Some(self.times.iter().zip(values).map(|(t, y)| (*t, *y)))
    }
}

fn output_names(project: &Project) -> Vec<String> {
    Names::new(project.model.parts.iter().map(|part| part.description())).outputs
}

/// The recorded times up to `end`, and points between them if they are few.
fn instants(recorded: &[f64], end: f64) -> Vec<f64> {
    let recorded =
        &recorded[..recorded.iter().position(|t| !t.is_finite() || *t > end).unwrap_or(recorded.len())];
    let parts = SMOOTH.div_ceil(recorded.len().max(1));
    let between = |pair: &[f64]| {
        let (from, to) = (pair[0], pair[1]);
        (0..parts).map(move |k| from + (to - from) * k as f64 / parts as f64)
    };
    recorded.windows(2).flat_map(between).chain(recorded.last().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_times_are_refined_and_damaged_ones_end_the_list() {
        let times = instants(&[0.0, 0.5, 1.0, f64::NAN, 2.0], f64::INFINITY);
        assert_eq!(times.len(), 1001);
        assert!(times.contains(&0.5) && times.is_sorted());
        assert_eq!(times.last(), Some(&1.0));
        assert!(instants(&[0.0, 0.5, 1e300], 2.0).iter().all(|t| *t <= 0.5));
        assert_eq!(instants(&[], 1.0), Vec::<f64>::new());
    }
}
