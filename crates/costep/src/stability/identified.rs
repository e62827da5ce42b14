//! Models of parts that can neither be asked nor be put back: identified from a run whose held inputs are shaken.

use std::sync::{Arc, Mutex, PoisonError};

use costep_core::{
    Arrival, Code, CouplingMethod, Description, Error, Experiment, InputSet, LocalModel, Request, Result,
    Signals, StepContext, SystemView, Variation, Verdict,
};
use costep_engine::Engine;
use costep_ident::Record;
use costep_methods::MethodSpec;
use costep_project::Project;

use super::steps_before;
use crate::assemble;

/// Couples black boxes well enough that they stay where a run would be.
const METHOD: &str = "identified";
/// Macro steps that are recorded.
const STEPS: u64 = 600;
/// By what share of its range so far an input is shaken; one that does not move, by a share of its nominal value.
const SHAKE: f64 = 0.1;
const SHAKE_AT_REST: f64 = 1e-3;
/// Models that leave more of an output from step to step are not believed.
const UNEXPLAINED: f64 = 0.02;

/// What was found at a point of a run: models, or why there are none.
type Found = std::result::Result<Vec<LocalModel>, String>;
/// The same with the point.
type FoundAt = (Option<f64>, Found);

/// Models that were identified, or why there are none, and the point of the run: one run at the step of the project serves all
/// steps and methods.
#[derive(Clone, Default)]
pub(crate) struct IdentifiedModels(Arc<Mutex<Option<FoundAt>>>);

impl IdentifiedModels {
    /// Those that are there.
    pub(super) fn known(&self, at: Option<f64>) -> Option<Vec<LocalModel>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().filter(|(point, _)| *point == at).and_then(|(_, found)| found.clone().ok())
    }

    /// Those that are there, or from a run; an error if that was interrupted.
    pub(super) fn find(&self, project: &Project, at: Option<f64>) -> Result<Found> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = known.as_ref().filter(|(point, _)| *point == at) {
            return Ok(found.clone());
        }
        let step = project.equal_step();
        let found = match identified_models(project, step, steps_before(project, at, step)) {
            Ok(models) if models.iter().any(|of| of.states > 0) => Ok(models),
            Ok(_) => Err("a run shows no dynamics of any part".into()),
            Err(error) if matches!(error.code(), Code::Stopped | Code::TimeLimit) => return Err(error),
            Err(error) => {
                let details = error.details();
                Err(format!("{}: {}", details.message, details.cause.as_deref().unwrap_or_default()))
            }
        };
        *known = Some((at, found.clone()));
        Ok(found)
    }
}

/// Models of all parts by a run at this step, from `before` steps on.
fn identified_models(project: &Project, step: f64, before: u64) -> Result<Vec<LocalModel>> {
    let start = project.model.experiment.start;
    let last = before + STEPS;
    let stop = project.model.experiment.stop.max(start + (last + 1) as f64 * step);
    let experiment = Experiment { start, stop, step }.with_equal_steps();
    let method = MethodSpec::parse(METHOD)?;
    let shake = |inner| Box::new(Shaken::new(inner)) as Box<dyn CouplingMethod>;
    let mut engine = assemble::wrapped_engine(project, &method, experiment, shake)?;
    let layout = engine.layout().clone();
    // A linear model explains real numbers; what switches stays as it is near the point.
    let seen: Vec<Vec<usize>> = engine.descriptions().iter().map(real_outputs).collect();
    let of = |i: usize| Record::new(layout.input_range(i).len(), seen[i].len(), step);
    let mut records: Vec<Record> = (0..layout.subsystems()).map(of).collect();
    for _ in 0..last {
        // What was seen before a run ended may be enough.
        match engine.step() {
            Ok(()) if engine.k() > before => take(&engine, &seen, &mut records),
            Ok(()) => {}
            Err(error) if matches!(error.code(), Code::Stopped | Code::TimeLimit) => return Err(error),
            Err(_) => break,
        }
    }
    let model = |(i, record): (usize, &Record)| {
        let part = &engine.descriptions()[i].name;
        let found =
            record.model().ok_or_else(|| unknown(part, "no linear model explains what was seen of it"))?;
        if found.unexplained > UNEXPLAINED {
            let left = 100.0 * found.unexplained;
            let cause = format!(
                "the best linear model leaves {left:.1} % of the range of an output from step to step"
            );
            return Err(unknown(part, &cause));
        }
        Ok(with_all_outputs(found.model, &seen[i], layout.output_range(i).len()))
    };
    records.iter().enumerate().map(model).collect()
}

fn real_outputs(part: &Description) -> Vec<usize> {
    (0..part.outputs.len()).filter(|i| part.outputs[*i].is_real()).collect()
}

fn take(engine: &Engine, seen: &[Vec<usize>], records: &mut [Record]) {
    let layout = engine.layout();
    let mut u = vec![0.0; layout.inputs()];
    engine.inputs_at_end(&mut u);
    for (i, record) in records.iter_mut().enumerate() {
        let y = &engine.outputs()[layout.output_range(i)];
        let seen: Vec<f64> = seen[i].iter().map(|output| y[*output]).collect();
        record.push(&u[layout.input_range(i)], &seen);
    }
}

/// A model of some of the outputs as one of all: nothing moves the others.
fn with_all_outputs(model: LocalModel, seen: &[usize], outputs: usize) -> LocalModel {
    let widened = |matrix: &[f64], columns: usize| {
        let mut rows = vec![0.0; outputs * columns];
        for (from, to) in seen.iter().enumerate() {
            rows[to * columns..][..columns].copy_from_slice(&matrix[from * columns..][..columns]);
        }
        rows
    };
    let (c, d) = (widened(&model.c, model.states), widened(&model.d, model.inputs));
    LocalModel { outputs, c, d, ..model }
}

#[cold]
fn unknown(part: &str, cause: &str) -> Error {
    Error::new(Code::NoLinearMap, format!("`{part}` was not identified from a run")).because(cause)
}

/// A method whose held inputs are moved at random by a small part of their range.
struct Shaken {
    inner: Box<dyn CouplingMethod>,
    /// Inputs that are shaken, with their sizes at rest and what was seen of them.
    inputs: Vec<(usize, f64, f64, f64)>,
    random: u64,
}

impl Shaken {
    fn new(inner: Box<dyn CouplingMethod>) -> Self {
        Self { inner, inputs: Vec::new(), random: 1 }
    }

    /// From -1 to 1.
    fn next(&mut self) -> f64 {
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// Inputs of real numbers that other parts drive, with a size.
fn moved(system: &SystemView<'_>) -> Vec<(usize, f64, f64, f64)> {
    let SystemView { layout, descriptions, coupling, .. } = *system;
    let of = |j: usize| {
        let owner = layout.input_owner(j);
        let port = &descriptions[owner].inputs[j - layout.input_range(owner).start];
        let is_real = port.is_real() && port.variation != Variation::Discrete;
        let size = port.nominal.map(f64::abs).filter(|size| size.is_normal()).unwrap_or(1.0);
        (is_real && coupling.sources(j).next().is_some()).then_some((j, size, f64::MAX, f64::MIN))
    };
    let inputs: &InputSet = system.inputs;
    inputs.iter().filter_map(of).collect()
}

impl CouplingMethod for Shaken {
    fn choose(&mut self, system: &SystemView<'_>) -> Result<()> {
        self.inner.choose(system)
    }

    fn request(&self) -> Request {
        // Whole steps only: a record is of steps of one length.
        Request { divides: 0, ..self.inner.request() }
    }

    fn prepare(&mut self, system: &SystemView<'_>) -> Result<()> {
        self.inputs = moved(system);
        self.inner.prepare(system)
    }

    fn form_coupled(&mut self, arrival: &Arrival<'_>, coupled: &mut [f64]) -> Result<()> {
        self.inner.form_coupled(arrival, coupled)
    }

    fn pre_step(&mut self, step: &StepContext, signals: &mut Signals<'_>) -> Result<()> {
        self.inner.pre_step(step, signals)?;
        for at in 0..self.inputs.len() {
            let by = self.next();
            let (j, size, least, greatest) = &mut self.inputs[at];
            let z = signals.coupled[*j];
            (*least, *greatest) = (least.min(z), greatest.max(z));
            let amplitude = (SHAKE * (*greatest - *least)).max(SHAKE_AT_REST * *size);
            signals.inputs.coefficients_mut(0)[*j] += by * amplitude;
        }
        Ok(())
    }

    fn post_step(&mut self, step: &StepContext, signals: &Signals<'_>) -> Result<Verdict> {
        self.inner.post_step(step, signals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_that_switch_are_rows_of_zeros_in_a_model() {
        let model = LocalModel { c: vec![1.0, 2.0, 3.0, 4.0], d: vec![5.0, 6.0], ..LocalModel::new(2, 1, 2) };
        let all = with_all_outputs(model, &[1, 2], 4);
        assert_eq!(all.c, [0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 0.0, 0.0]);
        assert_eq!((all.d, all.outputs, all.states), (vec![0.0, 5.0, 6.0, 0.0], 4, 2));
    }
}
