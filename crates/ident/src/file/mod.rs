//! Identified models in a file: written by one run, the start of others.
//!
//! A file holds per part the discrete Interface Jacobians of one step [T (2.15)], with the names of its ports, the sizes of its
//! signals and eps_SI. Nothing in it is believed before it is checked (`check.rs`): it may have been written by hand, or for another
//! system. What is wrong is said with its line (`read.rs`).

mod check;
mod read;

use costep_core::{
    Code, Description, Error, InterfaceModel, Learning as Learns, ModelKind, Options, Port, Result,
    SourceEntry, join, options,
};
use serde::{Deserialize, Serialize};

use crate::estimator::Algorithm;
use crate::learning::{Learning, LearningSettings, RecursiveOptions, discrete};
use crate::resample::{InputForm, resample_by};
use check::Misfit;
pub use read::StoredModels;

/// Row of the registry.
pub(crate) const ENTRY: SourceEntry = SourceEntry {
    id: "from-file",
    title: "models of an earlier run",
    summary: "Starts from models that `costep identify` has written, for any step, and continues to learn \
              from inputs and outputs.",
    needs: "parts and ports with the names in the file",
    source: "costep; [T] (4.13), (4.14)",
    kind: ModelKind::Discrete,
    options: &join::<4>(&[FileOptions::SPECS, RecursiveOptions::SPECS]),
    settle: |_| {},
    offer: |options| discrete(Learns::Earlier, options),
    build: |options| Box::new(Learning::from_file(learning(options), FileOptions::read(options).file)),
};

options! {
    /// Options of the source.
    struct FileOptions {
        /// the models, as `costep identify` writes them
        file: String;
        /// communication points that the ranges of the outputs in eps_SI are taken from; 0: all so far
        range: usize = 100 in 0..=100_000;
    }
}

/// How models of an earlier run go on learning, by checked options.
pub fn learning(options: &Options) -> LearningSettings {
    let RecursiveOptions { forgetting, variance } = RecursiveOptions::read(options);
    // The file says which of the two recursive ways goes on.
    let algorithm = Algorithm::IjRls { forgetting, start: variance };
    LearningSettings { algorithm, samples: 1, range: FileOptions::read(options).range }
}

/// How much longer or shorter than the step of the file another may be.
const MAX_RATIO: f64 = 1e4;
/// What the file begins with.
const HEAD: &str = "# Identified models: y^(k+1) = S_y y^k + S_u u^k + S_p u^(k+1) + c over one step, inputs held.\n\
                    # To start from them: costep run SYSTEM --method predictive:source=from-file,file=THIS_FILE\n\n";

/// Identified models of all parts of a system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelFile {
    /// Version of costep that wrote it.
    pub costep: String,
    /// Name of the system, for people.
    pub system: String,
    /// How they were identified: `rls`, `ij-rls`, `moesp`, or by the method `identified` itself.
    pub source: String,
    /// Orders N and M of `rls`, 1 for others.
    pub n: usize,
    /// See `n`.
    pub m: usize,
    /// Macro step in s.
    pub step: f64,
    /// One per part with outputs.
    #[serde(rename = "model", default)]
    pub models: Vec<NamedModel>,
}

/// The model of a part. Matrices are lists of rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedModel {
    /// Name of the part.
    pub part: String,
    /// Names of its inputs.
    pub inputs: Vec<String>,
    /// Names of its outputs.
    pub outputs: Vec<String>,
    /// Greatest values seen of the inputs.
    pub input_sizes: Vec<f64>,
    /// Greatest values seen of the outputs.
    pub output_sizes: Vec<f64>,
    /// eps_SI [T (2.92)] of this model over the whole run; infinite if nothing moved.
    pub eps_si: f64,
    /// The same of a hold, y^(k+1) = y^k; infinite if unknown.
    #[serde(default = "unknown")]
    pub eps_hold: f64,
    /// Order of persistent excitation of the inputs in that run [T 2.3.3]; nothing if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excitation_order: Option<usize>,
    /// The order that the model needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needed_order: Option<usize>,
    /// Outputs that are constant or linear combinations of those before them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependent_outputs: Vec<String>,
    /// S_y.
    pub s_y: Vec<Vec<f64>>,
    /// S_u.
    pub s_u: Vec<Vec<f64>>,
    /// S_p.
    pub s_p: Vec<Vec<f64>>,
    /// c.
    pub offset: Vec<f64>,
}

/// What a part starts from.
#[derive(Clone, Debug)]
pub struct InitialModel {
    /// For the step of the run.
    pub model: InterfaceModel,
    /// Greatest values seen of the inputs.
    pub input_sizes: Vec<f64>,
    /// Greatest values seen of the outputs.
    pub output_sizes: Vec<f64>,
    /// eps_SI in the run that it comes from.
    pub eps_si: f64,
    /// Whether it told more about that run than a hold does. If not, it is nothing to start from.
    pub beats_hold: bool,
}

impl ModelFile {
    /// As text.
    pub fn to_toml(&self) -> Result<String> {
        let text = toml::to_string(self).map_err(|cause| {
            Error::new(Code::Bug, "identified models cannot be written as TOML").because(cause)
        })?;
        Ok(format!("{HEAD}{text}"))
    }

    /// What the parts of a system start from at a step with inputs of this form, in its order; nothing for parts without outputs.
    pub fn fit<'a>(
        &self,
        parts: impl Iterator<Item = &'a Description> + Clone,
        at: (f64, InputForm),
    ) -> Result<Vec<Option<InitialModel>>> {
        self.find_starts(parts, at).map_err(Misfit::into_error)
    }

    fn find_starts<'a>(
        &self,
        parts: impl Iterator<Item = &'a Description> + Clone,
        (step, form): (f64, InputForm),
    ) -> Result<Vec<Option<InitialModel>>, Misfit> {
        let ratio = step / self.step;
        if !(1.0 / MAX_RATIO..=MAX_RATIO).contains(&ratio) {
            let message = format!("models for a step of {} s cannot be used for one of {step} s", self.step);
            let hint = format!("steps may differ by a factor of {MAX_RATIO}");
            return Err(Misfit::in_head("step", message).hint(hint));
        }
        self.check_parts(parts.clone())?;
        let start = |part: &Description| {
            if part.outputs.is_empty() {
                return Ok(None);
            }
            let found = self.models.iter().enumerate().find(|(_, model)| model.part == part.name);
            let (i, model) = found.ok_or_else(|| Misfit::nowhere(&part.name))?;
            model.check_ports(i, part)?;
            model.start(i, (ratio, form)).map(Some)
        };
        parts.map(start).collect()
    }
}

impl NamedModel {
    /// A model with names and sizes.
    pub fn new(
        description: &Description,
        model: &InterfaceModel,
        (eps_si, eps_hold): (f64, f64),
        sizes: (&[f64], &[f64]),
    ) -> Self {
        let names = |ports: &[Port]| ports.iter().map(|port| port.name.clone()).collect();
        let rows = |values: &[f64], width: usize| -> Vec<Vec<f64>> {
            (0..model.outputs).map(|i| values[i * width..(i + 1) * width].to_vec()).collect()
        };
        Self {
            part: description.name.clone(),
            inputs: names(&description.inputs),
            outputs: names(&description.outputs),
            input_sizes: sizes.0.to_vec(),
            output_sizes: sizes.1.to_vec(),
            eps_si,
            eps_hold,
            excitation_order: None,
            needed_order: None,
            dependent_outputs: Vec::new(),
            s_y: rows(&model.d_y, model.outputs),
            s_u: rows(&model.d_u, model.inputs),
            s_p: rows(&model.d_up, model.inputs),
            offset: model.offset.clone(),
        }
    }

    /// The model of this part, the i-th in the file, for a step `ratio` times as long.
    fn start(&self, i: usize, (ratio, form): (f64, InputForm)) -> Result<InitialModel, Misfit> {
        let mut fine = InterfaceModel::new(self.inputs.len(), self.outputs.len());
        fine.d_y = self.s_y.concat();
        fine.d_u = self.s_u.concat();
        fine.d_up = self.s_p.concat();
        fine.offset.copy_from_slice(&self.offset);
        let model = resample_by(&fine, ratio, form);
        if !model.is_finite() {
            let message = format!("the model of `{}` diverges over a step {ratio} times as long", self.part);
            return Err(Misfit::of(i, "s_y", message).hint("identify with a step closer to that of the run"));
        }
        Ok(InitialModel {
            model,
            input_sizes: self.input_sizes.clone(),
            output_sizes: self.output_sizes.clone(),
            eps_si: self.eps_si,
            beats_hold: self.eps_si < self.eps_hold,
        })
    }
}

fn unknown() -> f64 {
    f64::INFINITY
}
