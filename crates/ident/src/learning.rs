//! Models that are identified from inputs and outputs while the run goes, as a source for coupling methods.
//!
//! One estimator per subsystem ([`Algorithm`]) learns from every communication point, or from `samples` points per step where the
//! subsystem gives micro samples: it then has a model of short steps, which is taken over to the whole step
//! ([`Resampler`]; inputs are held). What it gives is the discrete Interface Jacobian model of one step; its quality is told beside it.
//!
//! It may start from the models of an earlier run (`file/`): they are there at once, for the step of this run, and go on learning.

use std::path::PathBuf;

use costep_core::{
    Capabilities, Description, Experiment, InterfaceModel, Learning as Learns, LocalModel, MicroSamples,
    ModelKind, ModelQuality, ModelSource, ModelsOffer, Observation, Options, Result, StateReader,
    StateWriter, Subsystem, options,
};

use crate::estimator::{Algorithm, Estimator};
use crate::file::{InitialModel, ModelFile, StoredModels};
use crate::judge::Judge;
use crate::resample::{InputForm, Resampler};
use crate::rls::RlsSettings;

/// Settings of [`Learning`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LearningSettings {
    /// How.
    pub algorithm: Algorithm,
    /// Samples per step, where a subsystem gives micro samples.
    pub samples: usize,
    /// Points that the range in eps_SI is taken from; 0 for the whole past.
    pub range: usize,
}

options! {
    /// Options of sources that learn from a run.
    pub(crate) struct SampleOptions {
        /// samples per macro step to identify from, where a subsystem gives micro samples
        samples: usize = 1 in 1..=100;
        /// communication points that the ranges of the outputs in eps_SI are taken from; 0: all so far
        range: usize = 100 in 0..=100_000;
    }
}

options! {
    /// Options of recursive least squares. Defaults: [T table 3.12].
    pub(crate) struct RecursiveOptions {
        /// lambda per sample
        forgetting: f64 = 0.996 in 0.5..=1.0;
        /// diagonal of the covariance at the start
        variance: f64 = 1e6 in 1e-6..=1e12;
    }
}

/// What sources give that learn while the run goes.
pub(crate) fn discrete(learning: Learns, options: &Options) -> ModelsOffer {
    let micro_samples = SampleOptions::read(options).samples > 1;
    ModelsOffer { kind: ModelKind::Discrete, current: false, learning, micro_samples, trial_steps: false }
}

/// The source.
pub struct Learning {
    settings: LearningSettings,
    earlier: Option<Earlier>,
    parts: Vec<SubsystemRecord>,
}

/// Models of an earlier run.
enum Earlier {
    File(PathBuf),
    Models(ModelFile),
}

/// One subsystem.
struct SubsystemRecord {
    estimator: Estimator,
    /// Samples per step.
    samples: usize,
    /// Samples so far.
    count: u64,
    started: bool,
    /// The estimator knows parameters of an earlier run, so that it need not wait for samples.
    loaded: bool,
    u_before: Vec<f64>,
    y_before: Vec<f64>,
    /// Model of the time between two samples, and of the whole step.
    fine: InterfaceModel,
    model: InterfaceModel,
    resampler: Resampler,
    usable: bool,
    version: u64,
    judge: Judge,
    excitation: f64,
    y: Vec<f64>,
    ahead: Vec<f64>,
}

/// A saved count beyond this is damage.
const MAX_COUNT: usize = 1 << 53;

impl Learning {
    /// Nothing known yet.
    pub fn new(settings: LearningSettings) -> Self {
        Self { settings, earlier: None, parts: Vec::new() }
    }

    /// The same from the samples that checked options ask for.
    pub(crate) fn by(algorithm: Algorithm, options: &Options) -> Self {
        let SampleOptions { samples, range } = SampleOptions::read(options);
        Self::new(LearningSettings { algorithm, samples, range })
    }

    /// Starts from the models of an earlier run. They go on as what they were if that was ARX with N = M = 1, which [T (4.13), (4.14)] take
    /// over to another step, else as Interface Jacobians. `settings` say how fast, not which; they learn from communication points alone.
    pub fn from_file(settings: LearningSettings, file: impl Into<PathBuf>) -> Self {
        Self { settings, earlier: Some(Earlier::File(file.into())), parts: Vec::new() }
    }

    /// The same from models that are at hand.
    pub fn from_models(settings: LearningSettings, models: ModelFile) -> Self {
        Self { settings, earlier: Some(Earlier::Models(models)), parts: Vec::new() }
    }

    fn begin(
        &self,
        descriptions: &[Description],
        capabilities: &[Capabilities],
        step: f64,
        earlier: &Earlier,
    ) -> Result<Vec<SubsystemRecord>> {
        let (parts, at) = (descriptions.iter(), (step, InputForm::Hold));
        let stored;
        let (file, starts) = match earlier {
            Earlier::Models(models) => (models, models.fit(parts, at)?),
            Earlier::File(path) => {
                stored = StoredModels::read(path)?;
                (stored.models(), stored.fit(parts, at)?)
            }
        };
        let mut settings = LearningSettings { samples: 1, ..self.settings };
        if (&file.source[..], file.n, file.m) == ("rls", 1, 1)
            && let Algorithm::IjRls { forgetting, start } = settings.algorithm
        {
            settings.algorithm = Algorithm::Rls(RlsSettings { outputs: 1, inputs: 1, forgetting, start });
        }
        let part = |((description, can), start): ((&Description, &Capabilities), Option<InitialModel>)| {
            let mut part = SubsystemRecord::new(description, can, &settings);
            // One that says less than a hold would only mislead: the part learns anew, and inputs come from signals until it has.
            start.iter().filter(|start| start.beats_hold).for_each(|start| part.begin(start));
            part
        };
        Ok(descriptions.iter().zip(capabilities).zip(starts).map(part).collect())
    }
}

impl ModelSource for Learning {
    fn name(&self) -> &'static str {
        match self.settings.algorithm {
            _ if self.earlier.is_some() => "from-file",
            Algorithm::Rls(_) => "rls",
            Algorithm::IjRls { .. } => "ij-rls",
            Algorithm::Moesp { .. } => "moesp",
        }
    }

    fn prepare(
        &mut self,
        descriptions: &[Description],
        capabilities: &[Capabilities],
        experiment: &Experiment,
    ) -> Result<()> {
        self.parts = match &self.earlier {
            None => {
                let each = descriptions.iter().zip(capabilities);
                each.map(|(part, can)| SubsystemRecord::new(part, can, &self.settings)).collect()
            }
            Some(earlier) => self.begin(descriptions, capabilities, experiment.step, earlier)?,
        };
        Ok(())
    }

    fn observe(&mut self, i: usize, subsystem: &mut dyn Subsystem, seen: &Observation<'_>) -> Result<()> {
        let part = &mut self.parts[i];
        if part.started {
            part.judge_ahead(seen);
            part.learn(seen, subsystem.telemetry().and_then(|last| last.micro_samples()));
            part.renew();
            part.judge_behind(seen);
        } else {
            part.estimator.start(seen);
            part.started = true;
            if part.loaded {
                part.judge.note(seen.y);
            }
        }
        part.u_before.copy_from_slice(seen.u);
        part.y_before.copy_from_slice(seen.y);
        Ok(())
    }

    fn model(&self, _i: usize) -> Option<&LocalModel> {
        None
    }

    fn interface(&self, i: usize) -> Option<&InterfaceModel> {
        self.parts.get(i).filter(|part| part.usable).map(|part| &part.model)
    }

    fn quality(&self, i: usize) -> ModelQuality {
        let part = &self.parts[i];
        ModelQuality { eps_si: part.judge.eps_si(), rho: part.judge.rho(), excitation: part.excitation() }
    }

    fn version(&self, i: usize) -> u64 {
        self.parts[i].version
    }

    fn save(&self, out: &mut StateWriter) {
        self.parts.iter().for_each(|part| part.save(out));
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.parts.iter_mut().try_for_each(|part| part.load(from))
    }
}

impl SubsystemRecord {
    fn new(description: &Description, can: &Capabilities, settings: &LearningSettings) -> Self {
        let (m, n) = (description.inputs.len(), description.outputs.len());
        let inner = can.micro_samples.is_some();
        Self {
            estimator: Estimator::new(m, n, settings.algorithm),
            samples: if inner { settings.samples.max(1) } else { 1 },
            count: 0,
            started: false,
            loaded: false,
            u_before: vec![0.0; m],
            y_before: vec![0.0; n],
            fine: InterfaceModel::new(m, n),
            model: InterfaceModel::new(m, n),
            resampler: Resampler::new(m, n),
            usable: false,
            version: 0,
            judge: Judge::new(n, settings.range),
            excitation: 0.0,
            y: vec![0.0; n],
            ahead: vec![0.0; n],
        }
    }

    /// Knows a model from the start.
    fn begin(&mut self, start: &InitialModel) {
        self.estimator.begin(start);
        self.fine.copy_from(&start.model);
        self.model.copy_from(&start.model);
        (self.loaded, self.usable, self.version) = (true, true, 1);
        self.judge.assume(start.eps_si);
    }

    /// What the model said of this step before it learns from it.
    fn judge_ahead(&mut self, seen: &Observation<'_>) {
        if self.usable {
            self.model.predict(&self.y_before, &self.u_before, seen.u, &mut self.ahead);
            self.judge.ahead(&self.y_before, seen.y, &self.ahead);
        }
    }

    /// What it says now.
    fn judge_behind(&mut self, seen: &Observation<'_>) {
        if self.usable {
            self.model.predict(&self.y_before, &self.u_before, seen.u, &mut self.ahead);
            self.judge.behind(seen.y, &self.ahead);
        } else {
            self.judge.note(seen.y);
        }
    }

    fn learn(&mut self, seen: &Observation<'_>, inner: Option<MicroSamples<'_>>) {
        if self.samples == 1 {
            self.estimator.observe(seen.u, seen.y);
            self.count += 1;
            return;
        }
        // Points at the communication points alone would be of another step: without inner ones nothing is learnt.
        let Some(inner) = inner.filter(|inner| inner.times.len() > 1) else { return };
        for j in 1..=self.samples {
            let share = j as f64 / self.samples as f64;
            interpolate(inner, share, &mut self.y);
            self.estimator.observe(seen.u, &self.y);
            self.count += 1;
        }
    }

    /// The model after this step.
    fn renew(&mut self) {
        // Before there are more samples than parameters nothing is known of them.
        let enough = self.loaded || self.count > self.estimator.size() as u64;
        if !(enough && self.estimator.renew(self.count, &mut self.fine)) {
            return;
        }
        if self.samples == 1 {
            self.model.copy_from(&self.fine);
        } else {
            self.resampler.compute(&self.fine, self.samples, InputForm::Hold, &mut self.model);
        }
        self.version += 1;
        self.usable = self.model.is_finite();
        if !self.usable {
            // Only a run that diverges comes here; what was learnt from it is worth nothing.
            self.estimator.reset();
            self.judge.reset();
            (self.count, self.loaded) = (0, false);
        } else if let Estimator::Moesp(moesp, _) = &self.estimator {
            self.excitation = moesp.excitation();
        }
    }

    fn excitation(&self) -> f64 {
        match &self.estimator {
            Estimator::Rls(rls) => rls.excitation(),
            Estimator::IjRls(rls) => rls.excitation(),
            Estimator::Moesp(..) => self.excitation,
        }
    }

    fn save(&self, out: &mut StateWriter) {
        self.estimator.save(out);
        let flags = u64::from(self.started) + 2 * u64::from(self.usable) + 4 * u64::from(self.loaded);
        [self.count, self.version, flags].iter().for_each(|x| out.integer(*x));
        for values in [&self.u_before, &self.y_before] {
            out.reals(values);
        }
        for values in [&self.model.d_y, &self.model.d_u, &self.model.d_up, &self.model.offset] {
            out.reals(values);
        }
        self.judge.save(out);
        out.real(self.excitation);
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.estimator.load(from)?;
        self.count = from.index(MAX_COUNT)? as u64;
        self.version = from.index(MAX_COUNT)? as u64;
        let flags = from.index(8)?;
        (self.started, self.usable, self.loaded) = (flags & 1 != 0, flags & 2 != 0, flags & 4 != 0);
        for values in [&mut self.u_before, &mut self.y_before] {
            from.reals(values)?;
        }
        let InterfaceModel { d_y, d_u, d_up, offset, .. } = &mut self.model;
        for values in [d_y, d_u, d_up, offset] {
            from.reals(values)?;
        }
        self.judge.load(from)?;
        self.excitation = from.real()?;
        Ok(())
    }
}

/// Outputs at a share of the step, on the line between two inner samples.
fn interpolate(inner: MicroSamples<'_>, share: f64, y: &mut [f64]) {
    let (times, n) = (inner.times, y.len());
    let last = times.len() - 1;
    let time = times[0] + share * (times[last] - times[0]);
    let after = times.partition_point(|t| *t < time).clamp(1, last);
    let width = times[after] - times[after - 1];
    // Inner steps of an event have no length: what counts is where they end.
    let across = if width > 0.0 { ((time - times[after - 1]) / width).clamp(0.0, 1.0) } else { 1.0 };
    let rows = &inner.outputs[(after - 1) * n..(after + 1) * n];
    for (i, y) in y.iter_mut().enumerate() {
        *y = rows[i] + across * (rows[n + i] - rows[i]);
    }
}
