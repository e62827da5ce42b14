//! Identified models in a file: written by one run, the start of others.
//!
//! A file holds per part the discrete Interface Jacobians of one step [T (2.15)], with the names of its ports, the sizes of its
//! signals and eps_SI. Nothing in it is believed before it is checked: it may have been written by hand, or for another system.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use costep_core::{Code, Description, Error, InterfaceModel, Place, Port, Result};
use serde::{Deserialize, Serialize};

use crate::resample::{InputForm, resample_by};

/// No file of models is larger, in bytes.
const MAX_SIZE: u64 = 64 << 20;
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
    /// How they were identified: `rls`, `ij-rls` or `moesp`.
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

    /// Reads and checks a file.
    pub fn read(path: &Path) -> Result<Self> {
        let unreadable = |cause: &dyn std::fmt::Display| {
            Error::new(Code::FileNotReadable, "cannot read the file of identified models")
                .in_file(path)
                .because(cause)
        };
        if path.as_os_str().is_empty() {
            return Err(Error::new(Code::BadOption, "`source=from-file` needs the file of the models")
                .hint("add `file=PATH`; `costep identify SYSTEM --out PATH` writes one"));
        }
        // Devices and pipes may have no end, or none that comes.
        let is_file = path.metadata().map_err(|cause| unreadable(&cause))?.is_file();
        if !is_file {
            return Err(unreadable(&"it is not a regular file"));
        }
        let mut text = String::new();
        let file = File::open(path).map_err(|cause| unreadable(&cause))?;
        file.take(MAX_SIZE + 1).read_to_string(&mut text).map_err(|cause| unreadable(&cause))?;
        if text.len() as u64 > MAX_SIZE {
            return Err(unreadable(&format!("it is larger than {} MiB", MAX_SIZE >> 20)));
        }
        let models: Self = toml::from_str(&text).map_err(|cause| not_models(path, &text, &cause))?;
        models.check().map_err(|error| error.in_file(path))?;
        Ok(models)
    }

    fn check(&self) -> Result<()> {
        if !["rls", "ij-rls", "moesp"].contains(&self.source.as_str()) {
            return Err(bad(format!("`source` is `{}`", short(&self.source))).hint("rls, ij-rls or moesp"));
        }
        if !(self.step > 0.0 && self.step.is_finite()) {
            return Err(bad(format!("`step` is {}", self.step)).hint("the macro step in s, more than 0"));
        }
        if self.n == 0 || self.m == 0 {
            return Err(bad("`n` and `m` are at least 1"));
        }
        self.models.iter().try_for_each(NamedModel::check)
    }

    /// What the parts of a system start from at a step with inputs of this form, in its order; nothing for parts without outputs.
    pub fn fit<'a>(
        &self,
        parts: impl Iterator<Item = &'a Description> + Clone,
        (step, form): (f64, InputForm),
    ) -> Result<Vec<Option<InitialModel>>> {
        let ratio = step / self.step;
        if !(1.0 / MAX_RATIO..=MAX_RATIO).contains(&ratio) {
            let message = format!("models of a step of {} s say nothing about one of {step} s", self.step);
            return Err(bad(message).hint(format!("steps may differ by a factor of {MAX_RATIO}")));
        }
        let known = || parts.clone().filter(|part| !part.outputs.is_empty()).map(|part| &part.name[..]);
        for (i, model) in self.models.iter().enumerate() {
            if !known().any(|name| name == model.part) {
                return Err(bad(format!("the system has no part `{}` with outputs", short(&model.part)))
                    .suggest(&model.part, known()));
            }
            if self.models[..i].iter().any(|other| other.part == model.part) {
                return Err(bad(format!("there are two models of `{}`", model.part)));
            }
        }
        let start = |part: &Description| {
            if part.outputs.is_empty() {
                return Ok(None);
            }
            let model = self.models.iter().find(|model| model.part == part.name);
            let missing = || bad(format!("there is no model of `{}`", part.name));
            model.ok_or_else(missing)?.start(part, (ratio, form)).map(Some)
        };
        parts.clone().map(start).collect()
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
            s_y: rows(&model.d_y, model.outputs),
            s_u: rows(&model.d_u, model.inputs),
            s_p: rows(&model.d_up, model.inputs),
            offset: model.offset.clone(),
        }
    }

    fn check(&self) -> Result<()> {
        let (n, m) = (self.outputs.len(), self.inputs.len());
        let wrong = |what: &str, rule: String| bad(format!("`{what}` of `{}` {rule}", short(&self.part)));
        for (what, rows, width) in [("s_y", &self.s_y, n), ("s_u", &self.s_u, m), ("s_p", &self.s_p, m)] {
            if rows.len() != n || rows.iter().any(|row| row.len() != width) {
                return Err(wrong(what, format!("is not {n} rows of {width} numbers")));
            }
            if !rows.iter().flatten().all(|x| x.is_finite()) {
                return Err(wrong(what, "has a number that is not finite".into()));
            }
        }
        let lists = [
            ("offset", &self.offset, n),
            ("output_sizes", &self.output_sizes, n),
            ("input_sizes", &self.input_sizes, m),
        ];
        for (what, values, length) in lists {
            if values.len() != length {
                return Err(wrong(what, format!("is not {length} numbers")));
            }
            if !values.iter().all(|x| x.is_finite() && (what == "offset" || *x >= 0.0)) {
                return Err(wrong(what, "has a number that is not possible".into()));
            }
        }
        for (what, eps) in [("eps_si", self.eps_si), ("eps_hold", self.eps_hold)] {
            if eps.is_nan() || eps < 0.0 {
                return Err(wrong(what, format!("is {eps}")));
            }
        }
        Ok(())
    }

    /// The model of this part for a step `ratio` times as long.
    fn start(&self, part: &Description, (ratio, form): (f64, InputForm)) -> Result<InitialModel> {
        for (what, mine, its) in
            [("inputs", &self.inputs, &part.inputs), ("outputs", &self.outputs, &part.outputs)]
        {
            let its: Vec<_> = its.iter().map(|port| port.name.as_str()).collect();
            if *mine != its {
                let message = format!("the model of `{}` has other {what} than the part", self.part);
                let list = |names: &[&str]| short(&names.join(", "));
                let mine: Vec<_> = mine.iter().map(String::as_str).collect();
                return Err(bad(message).because(format!("[{}], not [{}]", list(&mine), list(&its))));
            }
        }
        let mut fine = InterfaceModel::new(self.inputs.len(), self.outputs.len());
        fine.d_y = self.s_y.concat();
        fine.d_u = self.s_u.concat();
        fine.d_up = self.s_p.concat();
        fine.offset.copy_from_slice(&self.offset);
        let model = resample_by(&fine, ratio, form);
        if !model.is_finite() {
            return Err(bad(format!("the model of `{}` runs away over the longer step", self.part)));
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

fn bad(message: impl Into<String>) -> Error {
    Error::new(Code::ModelFile, message)
}

/// Names of hostile files may be long.
fn short(text: &str) -> String {
    const LONGEST: usize = 60;
    let cut: String = text.chars().take(LONGEST).collect();
    if cut.len() < text.len() { cut + "..." } else { cut }
}

fn not_models(path: &Path, text: &str, cause: &toml::de::Error) -> Error {
    let line =
        cause.span().and_then(|span| text.get(..span.start)).map(|before| before.matches('\n').count() + 1);
    let words = cause.message().lines().next().unwrap_or_default();
    bad("this is not a file of identified models")
        .at(Place::File { path: path.into(), line, text: None })
        .because(short(words))
        .hint("`costep identify SYSTEM --out FILE` writes one")
}
