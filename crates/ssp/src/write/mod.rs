//! Writes a flat system as an SSP: the description, one parameter set per component that needs one, and the FMUs.

mod connectors;
mod document;
mod sets;
mod xml;

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use costep_core::{Code, Error, Result};
use costep_fmu_file::{Fmu, ModelDescription};
use zip::write::SimpleFileOptions;

use crate::flat::Flat;

/// An FMU and where it goes.
struct Packed {
    /// Path inside the package.
    entry: String,
    path: PathBuf,
    description: ModelDescription,
}

/// What is written, put together before the first byte is.
struct Contents<'a> {
    flat: &'a Flat,
    /// The FMU of each component.
    fmus: Vec<Arc<Packed>>,
    /// The parameter set of each component, if it has one.
    sets: Vec<Option<(String, String)>>,
}

/// Writes the .ssp. An existing file is replaced only if all went well.
pub(crate) fn write(flat: &Flat, path: &Path) -> Result<(), Vec<Error>> {
    let fmus = open_fmus(flat).map_err(|error| vec![error])?;
    let mut errors = Vec::new();
    let sets = sets::write(flat, &fmus, &mut errors);
    let contents = Contents { flat, fmus, sets };
    let document = document::write(&contents, &mut errors);
    if !errors.is_empty() {
        return Err(errors);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let unwritable = |cause: io::Error| {
        vec![Error::new(Code::FileNotReadable, format!("cannot write `{}`", path.display())).because(cause)]
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = folder.join(format!(".{name}.{}.part", std::process::id()));
    let outcome = pack(&contents, &document, &temporary).and_then(|()| fs::rename(&temporary, path));
    if outcome.is_err() {
        // The first error counts.
        let _ = fs::remove_file(&temporary);
    }
    outcome.map_err(unwritable)
}

fn open_fmus(flat: &Flat) -> Result<Vec<Arc<Packed>>> {
    let mut opened: HashMap<PathBuf, Arc<Packed>> = HashMap::new();
    let mut entries = HashSet::new();
    let mut all = Vec::with_capacity(flat.components.len());
    for component in &flat.components {
        let path = &component.file;
        if let Some(known) = opened.get(path) {
            all.push(known.clone());
            continue;
        }
        let description = Fmu::open(path)?.into_description();
        let plain = |c: char| if c.is_ascii_alphanumeric() || "_-.".contains(c) { c } else { '_' };
        let stem: String =
            path.file_stem().unwrap_or_default().to_string_lossy().chars().map(plain).collect();
        let mut entry = format!("resources/{stem}.fmu");
        let mut number = 2;
        while !entries.insert(entry.clone()) {
            entry = format!("resources/{stem}_{number}.fmu");
            number += 1;
        }
        let packed = Arc::new(Packed { entry, path: path.clone(), description });
        opened.insert(path.clone(), packed.clone());
        all.push(packed);
    }
    Ok(all)
}

fn pack(contents: &Contents<'_>, document: &str, path: &Path) -> io::Result<()> {
    let mut writer = zip::ZipWriter::new(BufWriter::new(File::create(path)?));
    let deflated = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    let mut add = |name: &str, source: &mut dyn io::Read, options| -> io::Result<()> {
        writer.start_file(name, options).map_err(io::Error::other)?;
        io::copy(source, &mut writer).map(|_| ())
    };
    add(crate::package::DEFAULT_DOCUMENT, &mut document.as_bytes(), deflated)?;
    for (name, text) in contents.sets.iter().flatten() {
        add(name, &mut text.as_bytes(), deflated)?;
    }
    // FMUs are compressed already.
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let mut seen = HashSet::new();
    for fmu in contents.fmus.iter().filter(|fmu| seen.insert(fmu.entry.clone())) {
        add(&fmu.entry, &mut File::open(&fmu.path)?, stored)?;
    }
    writer.finish().map_err(io::Error::other)?;
    Ok(())
}
