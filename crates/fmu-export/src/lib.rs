//! Exports models as FMUs of FMI 2.0 and 3.0, for Co-Simulation and Model Exchange: each part of a model becomes
//! one FMU.
//!
//! An FMU is packed, not compiled: its shared library is the same for all of them and embedded in this program
//! (`build.rs`); a small text among its resources tells it what it is. So exporting needs no compiler.
//!
//! | module | role |
//! |---|---|
//! | `probe` | what depends on what, found by looking at the equations |
//! | `sheet` | the variables of an FMU |
//! | `test_fmus` | the layout of the FMUs that tests and benchmarks use |
//! | `units` | definitions of units |
//! | `description` | modelDescription.xml; `xml2`, `xml3` what differs between the versions |
//! | `pack` | the archive |

mod dependencies;
mod description;
mod pack;
mod test_fmus;
mod variables;
mod xml2;
mod xml3;

use std::path::{Path, PathBuf};

use costep_core::{Code, Error, Result};
use costep_fmu_file::FmiVersion;
pub use costep_fmu_runtime::Capability;
use costep_fmu_runtime::Plan;

use crate::description::Document;
pub use crate::test_fmus::TEST_FMUS;
use crate::variables::VariableTable;

/// How FMUs are exported.
#[derive(Clone, Debug)]
pub struct Options {
    /// Version of FMI, 2.0 or 3.0.
    pub version: FmiVersion,
    /// Offer Co-Simulation.
    pub co_simulation: bool,
    /// Offer Model Exchange.
    pub model_exchange: bool,
    /// What the FMUs can do beyond the necessary.
    pub capabilities: Vec<Capability>,
}

impl Default for Options {
    /// FMI 3.0, both interfaces, everything.
    fn default() -> Self {
        Self {
            version: FmiVersion::V3,
            co_simulation: true,
            model_exchange: true,
            capabilities: Capability::ALL.to_vec(),
        }
    }
}

/// An FMU that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// Name of the part.
    pub part: String,
    /// The file.
    pub path: PathBuf,
    /// Number of variables.
    pub variables: usize,
    /// Inputs that get an external signal in the model. It is not part of the FMU: whoever couples the FMU provides it.
    pub driven: Vec<String>,
}

/// Exports the parts of a model, or one of them, into a folder. `name` is a model or one of [`TEST_FMUS`].
pub fn export(
    name: &str,
    given: &[(String, f64)],
    part: Option<&str>,
    options: &Options,
    folder: &Path,
) -> Result<Vec<Exported>> {
    if options.version == FmiVersion::V1 {
        let error = Error::new(Code::FmiVersion, "FMUs are not exported in FMI 1.0");
        return Err(error.hint("choose FMI 2.0 or 3.0"));
    }
    let sheets = sheets(name, given, part)?;
    std::fs::create_dir_all(folder).map_err(|error| not_written(folder, error))?;
    sheets.iter().map(|sheet| write(sheet, options, folder)).collect()
}

/// What the FMUs of a model are.
fn sheets(name: &str, given: &[(String, f64)], wanted: Option<&str>) -> Result<Vec<VariableTable>> {
    if let Some(sheet) = test_fmus::sheet(name, given)? {
        return Ok(vec![sheet]);
    }
    let entry = costep_models::find(name)
        .map_err(|error| error.suggest(name, costep_models::MODELS.iter().map(|m| m.id).chain(TEST_FMUS)))?;
    let (parameters, model) = entry.model(given)?;
    let names: Vec<_> = model.parts.iter().map(|part| part.description().name.clone()).collect();
    let chosen: Vec<usize> = match wanted {
        None => (0..names.len()).collect(),
        Some(part) => vec![names.iter().position(|name| name == part).ok_or_else(|| {
            Error::new(Code::UnknownName, format!("model `{name}` has no part `{part}`"))
                .suggest(part, names.iter().map(String::as_str))
        })?],
    };
    chosen.into_iter().map(|part| VariableTable::new(entry, &parameters, part)).collect()
}

fn write(sheet: &VariableTable, options: &Options, folder: &Path) -> Result<Exported> {
    let plan = |token: &str| {
        let variables = sheet.variables.iter().map(|v| (v.role, v.reference, v.place)).collect();
        let parameters = sheet.parameters.clone();
        Plan::new(
            token.to_owned(),
            (sheet.model, sheet.part),
            parameters,
            options.capabilities.clone(),
            variables,
        )
        .map(|plan| plan.to_string())
    };
    let document = |token: &str| Document { sheet, options, token }.to_string();
    // The token stands for the content: the same export has the same token.
    let token = token(&(document("") + &plan("")?));
    let path = folder.join(format!("{}.fmu", sheet.identifier));
    pack::pack(&path, options.version, &sheet.identifier, &document(&token), &plan(&token)?)
        .map_err(|error| not_written(&path, error))?;
    let driven = driven(sheet)?;
    Ok(Exported { part: sheet.name.clone(), path, variables: sheet.variables.len(), driven })
}

/// Names of the inputs of a part that get external signals.
fn driven(sheet: &VariableTable) -> Result<Vec<String>> {
    let names = sheet.model.parameters.iter().map(|parameter| parameter.name.to_owned());
    let given: Vec<_> = names.zip(sheet.parameters.iter().copied()).collect();
    let (_, model) = sheet.model.model(&given)?;
    let range = model.layout().input_range(sheet.part);
    let description = model.parts[sheet.part].description();
    let is_driven = |j: &usize| model.externals.iter().any(|(input, _)| *input == range.start + j);
    Ok((0..range.len()).filter(is_driven).map(|j| description.inputs[j].name.clone()).collect())
}

/// A text of the form of a GUID from a text: FNV-1a with 128 bits.
fn token(text: &str) -> String {
    const PRIME: u128 = (1 << 88) + 0x13b;
    let mut hash: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    for byte in text.bytes() {
        hash = (hash ^ u128::from(byte)).wrapping_mul(PRIME);
    }
    let hex = format!("{hash:032x}");
    format!("{{{}-{}-{}-{}-{}}}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

fn not_written(path: &Path, error: impl std::fmt::Display) -> Error {
    Error::new(Code::FileNotReadable, "the FMU cannot be written").because(error).in_file(path)
}
