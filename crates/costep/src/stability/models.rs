//! Local models of all parts at a point of a run, and what follows from them: eigenvalues of the parts and of the whole.

use costep_core::{Code, Error, Experiment, LocalModel, Result};
use costep_engine::Engine;
use costep_linalg::{ClosedLoop, Complex, Matrix, eigenvalues};
use costep_methods::MethodSpec;
use costep_project::Project;

use crate::assemble::{self, Steps};

use super::Foundation;
use crate::system::System;

/// Where models come from: the first of these that all parts can serve.
const SOURCES: [(&str, Foundation); 3] = [
    ("predictive:source=exact", Foundation::LocalModels),
    ("predictive:source=finite-difference", Foundation::Differences),
    ("predictive:source=probe", Foundation::Probe),
];

/// Models of all parts at a point of a run that couples them by these very models.
pub(super) fn local_models(
    system: &System,
    step: f64,
    (at, before): (Option<f64>, u64),
) -> Result<(Vec<LocalModel>, Foundation)> {
    let project = &*system.project;
    if let Some(models) = system.identified.known(at) {
        return Ok((models, Foundation::Identified));
    }
    let refused = match offered_models(project, step, before) {
        Err(error) if !matches!(error.code(), Code::Stopped | Code::TimeLimit) => error,
        offered => return offered,
    };
    let unknown = match system.identified.find(project, at)? {
        Ok(models) => return Ok((models, Foundation::Identified)),
        Err(reason) => reason,
    };
    let cause = format!("{}; {unknown}", refused.details().message);
    Err(Error::new(Code::NoLinearMap, "the parts give no local models").because(cause).hint(
        "FMUs that offer directional derivatives, that can be put back (rollback) or that behave linearly near this run can \
         be judged; for others `costep stability --bohl --method prestep --models rls`, or `costep compare`",
    ))
}

/// The same by what the parts offer alone; else why not.
pub(super) fn offered_models(
    project: &Project,
    step: f64,
    before: u64,
) -> Result<(Vec<LocalModel>, Foundation)> {
    let mut refused = None;
    for (label, foundation) in SOURCES {
        match models_by(project, label, step, before) {
            // Trial steps that are too short or too small show nothing: to call that stable would be a guess.
            Ok(models) if foundation != Foundation::LocalModels && models.iter().all(|of| of.states == 0) => {
                let message = format!("trial steps of {step:e} s show no dynamics of any part");
                refused = refused.or(Some(Error::new(Code::NoLinearMap, message)));
            }
            Ok(models) => return Ok((models, foundation)),
            Err(error) if matches!(error.code(), Code::Stopped | Code::TimeLimit) => return Err(error),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    Err(refused.unwrap_or_else(|| Error::new(Code::NoLinearMap, "the parts give no local models")))
}

fn models_by(project: &Project, label: &str, step: f64, before: u64) -> Result<Vec<LocalModel>> {
    let method = MethodSpec::parse(label)?;
    let start = project.model.experiment.start;
    let stop = project.model.experiment.stop.max(start + (before + 2) as f64 * step);
    let experiment = Experiment { start, stop, step };
    let mut project = project.clone();
    project.groups.truncate(1);
    let mut engine =
        assemble::engine_over(&project, &method, (experiment, Steps::Equal), false, |models| models)?;
    (0..before).try_for_each(|_| engine.step())?;
    read(&engine).ok_or_else(|| Error::new(Code::NoLinearMap, "a part gives no local model"))
}

fn read(engine: &Engine) -> Option<Vec<LocalModel>> {
    let models = engine.models()?;
    (0..engine.layout().subsystems())
        .map(|i| {
            let mut model = models.model(i)?.clone();
            if let Some((x, _)) = models.state(i).filter(|(x, _)| x.len() == model.states) {
                model.x.copy_from_slice(x);
            }
            Some(model)
        })
        .collect()
}

/// Eigenvalues of a part, or of all parts as one.
#[derive(Clone, Debug)]
pub struct Spectrum {
    /// Name of the part; of the system for the whole.
    pub name: String,
    /// In 1/s, the greatest first.
    pub eigenvalues: Vec<Complex>,
}

impl Spectrum {
    /// Greatest over least absolute real part [G18 (62)]; nothing where there are none or an undamped mode.
    pub fn stiffness(&self) -> Option<f64> {
        let parts = self.eigenvalues.iter().map(|value| value.re.abs());
        let (least, greatest) = parts.fold((f64::INFINITY, 0.0), |(least, greatest): (f64, f64), part| {
            (least.min(part), greatest.max(part))
        });
        let is_damped = least > f64::EPSILON * greatest;
        (is_damped && greatest > 0.0 && least.is_finite()).then(|| greatest / least)
    }

    /// The longest step that samples every mode twice per period [V14 2.3]: pi / max |lambda|.
    pub fn nyquist_step(&self) -> Option<f64> {
        self.eigenvalues
            .first()
            .map(|value| std::f64::consts::PI / value.abs())
            .filter(|step| step.is_finite())
    }
}

/// All parts as one linear system.
pub(super) struct Whole {
    pub(super) a: Matrix,
    /// Outputs per state.
    pub(super) outputs: Matrix,
}

/// x' = A x of the coupled models; an error if the loop of direct feedthrough is singular.
pub(super) fn whole(project: &Project, models: &[LocalModel]) -> Result<Whole> {
    let links = project.model.connections.iter().map(|link| (link.input, link.output, link.gain)).collect();
    let sizes = models.iter().map(|model| [model.states, model.inputs, model.outputs]);
    let n: usize = models.iter().map(|model| model.states).sum();
    let mut closed = ClosedLoop::new(sizes, links, (Vec::new(), 0));
    if !closed.close(|i| [&models[i].c, &models[i].d]) {
        return Err(Error::new(Code::AlgebraicLoop, "the loop of direct feedthrough is singular"));
    }
    let mut a = Matrix::zeros(n, n);
    closed.couple(|i| [&models[i].a, &models[i].b], a.data_mut(), &mut []);
    Ok(Whole { a, outputs: closed.outputs().clone() })
}

/// Of every part, then of the whole.
pub(super) fn spectra(project: &Project, models: &[LocalModel]) -> Result<Vec<Spectrum>> {
    let none = || Error::new(Code::NotFinite, "the eigenvalues of a local model were not found");
    let of = |name: &str, matrix: &Matrix| {
        let eigenvalues = eigenvalues(matrix).ok_or_else(none)?;
        Ok(Spectrum { name: name.into(), eigenvalues })
    };
    let parts = project.model.parts.iter().zip(models).map(|(part, model)| {
        of(&part.description().name, &Matrix::from_rows(model.states, model.states, &model.a))
    });
    let whole = whole(project, models).and_then(|whole| of(&project.name, &whole.a));
    parts.chain([whole]).collect()
}
