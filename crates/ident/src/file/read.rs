//! Files of identified models as they are read: what does not fit is said with file and line.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use costep_core::{Code, Description, Error, Place, Result};
use toml::de::DeTable;

use super::check::{Misfit, short};
use super::{InitialModel, ModelFile};
use crate::resample::InputForm;

/// No file of models is larger, in bytes.
const MAX_SIZE: u64 = 64 << 20;

/// Models with the file that they come from.
#[derive(Clone, Debug)]
pub struct StoredModels {
    models: ModelFile,
    path: PathBuf,
    text: String,
}

impl StoredModels {
    /// Reads and checks a file.
    pub fn read(path: &Path) -> Result<Self> {
        let text = text(path)?;
        let models = toml::from_str(&text).map_err(|cause| not_models(path, &text, &cause))?;
        let stored = Self { models, path: path.into(), text };
        stored.models.check().map_err(|misfit| stored.locate(misfit))?;
        Ok(stored)
    }

    /// The models alone.
    pub fn models(&self) -> &ModelFile {
        &self.models
    }

    /// What the parts of a system start from, as [`ModelFile::fit`] has it.
    pub fn fit<'a>(
        &self,
        parts: impl Iterator<Item = &'a Description> + Clone,
        at: (f64, InputForm),
    ) -> Result<Vec<Option<InitialModel>>> {
        self.models.find_starts(parts, at).map_err(|misfit| self.locate(misfit))
    }

    fn locate(&self, misfit: Misfit) -> Error {
        // What has been read once has no mistakes in its syntax.
        let offset = DeTable::parse(&self.text).ok().and_then(|root| find(root.get_ref(), &misfit));
        misfit.into_error().at(place(&self.path, &self.text, offset))
    }
}

fn text(path: &Path) -> Result<String> {
    let unreadable = |cause: &dyn std::fmt::Display| {
        Error::new(Code::FileNotReadable, "cannot read the file of identified models")
            .in_file(path)
            .because(cause)
            .hint("`costep identify SYSTEM --out FILE` writes one")
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
    Ok(text)
}

/// Where in the text it is.
fn find(root: &DeTable<'_>, misfit: &Misfit) -> Option<usize> {
    let table = match misfit.model {
        None => root,
        Some(i) => root.get("model")?.get_ref().get(i)?.get_ref().as_table()?,
    };
    let (key, mut value) = table.get_key_value(misfit.key?)?;
    let mut offset = key.span().start;
    for index in &misfit.entry {
        value = value.get_ref().as_array()?.get(*index)?;
        offset = value.span().start;
    }
    Some(offset)
}

fn place(path: &Path, text: &str, offset: Option<usize>) -> Place {
    let before = offset.and_then(|offset| text.get(..offset));
    let line = before.map(|before| before.matches('\n').count() + 1);
    let words = line.and_then(|line| text.lines().nth(line - 1)).map(|line| short(line.trim()));
    Place::File { path: path.into(), line, text: words }
}

/// What is not a file of models, in our words where the mistake is a common one.
fn not_models(path: &Path, text: &str, cause: &toml::de::Error) -> Error {
    let place = place(path, text, cause.span().map(|span| span.start));
    let words = cause.message().lines().next().unwrap_or_default();
    let named = |start: &str| words.strip_prefix(start)?.split('`').next();
    if let Some(key) = named("unknown field `") {
        let known = words.split('`').skip(3).step_by(2);
        return Error::new(
            Code::ModelFile,
            format!("unknown key `{}` in a file of identified models", short(key)),
        )
        .at(place)
        .because("such files have no other keys than those that `costep identify` writes")
        .suggest(key, known);
    }
    if let Some(key) = named("missing field `") {
        let message = format!("`{key}` is missing in a file of identified models");
        let error = Error::new(Code::ModelFile, message).at(place);
        return error.because("the models are incomplete without it").hint(WRITES);
    }
    Error::new(Code::ModelFile, "this is not a file of identified models")
        .at(place)
        .because(short(words))
        .hint(WRITES)
}

const WRITES: &str = "`costep identify SYSTEM --out FILE` writes such files";
