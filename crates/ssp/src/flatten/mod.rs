//! From nested systems to components and the links between them.
//!
//! | file | role |
//! |---|---|
//! | `budget` | how large all of it may become: a system that is used again counts again |
//! | `instances` | walks through the systems, opens what they refer to, makes ports of connectors |
//! | `files` | parameter sets, mappings and dictionaries, inline or in files |
//! | `ports` | connectors as nodes of a graph, connections as its edges |
//! | `dictionaries` | entries of signal dictionaries as nodes of the same graph |
//! | `passages` | units and transformations on the way of a value |
//! | `links` | follows the graph back from every input to the output it gets |
//! | `bonds` | pairs of links that carry power, by the terminals of FMUs |
//! | `parameters` | applies parameter values, level by level |

mod bonds;
mod budget;
mod dictionaries;
mod exchanges;
mod files;
mod instances;
mod links;
mod parameters;
mod passages;
mod ports;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use costep_core::{Code, Error, Place, Result};
use costep_fmu_file::{ModelDescription, Terminal, Unit};

use crate::flat::{Component, Flat};
use crate::model::{Document, Mapping, ParameterSet, Passage, Settings, Value};
use crate::names::Names;
use crate::note::{Note, Notes, Severity};
use crate::package::{Location, Packages};
use crate::read::document::document;
use crate::uri::Reach;
use budget::Budget;
use files::Files;
use links::TracedPaths;
use ports::{Edge, Port};

/// An FMU that was opened.
pub(crate) struct OpenFmu {
    pub(crate) path: PathBuf,
    pub(crate) description: ModelDescription,
    pub(crate) terminals: Vec<Terminal>,
}

/// A place in a file, for notes.
#[derive(Clone)]
pub(crate) struct Spot {
    pub(crate) file: Arc<str>,
    pub(crate) line: u32,
    pub(crate) element: Arc<str>,
}

/// A parameter value with the name it is applied to.
pub(crate) struct NamedValue {
    pub(crate) name: String,
    pub(crate) value: Value,
    pub(crate) unit: Option<Unit>,
    /// Items of the enumeration, where the set defines it.
    pub(crate) items: Vec<(String, i64)>,
    pub(crate) passage: Option<Arc<Passage>>,
    pub(crate) spot: Spot,
    /// Where its name is written, if that is in a mapping. There are very many values.
    pub(crate) mapped_at: Option<Box<Spot>>,
}

impl NamedValue {
    /// Where its name is written.
    pub(crate) fn named_at(&self) -> &Spot {
        self.mapped_at.as_deref().unwrap_or(&self.spot)
    }
}

/// A system, component or reference to a dictionary at its place in the whole.
#[derive(Default)]
pub(crate) struct Instance {
    /// Ports by the names of connectors.
    pub(crate) ports: HashMap<String, usize>,
    /// Elements by name, if it is a system.
    pub(crate) children: HashMap<String, usize>,
    /// Names of elements that could not be added, which has been said.
    pub(crate) lost: HashSet<String>,
    /// Index of the component, if it is one that can be simulated.
    pub(crate) component: Option<usize>,
    /// Values of its bindings, in the order of their application.
    pub(crate) values: Vec<NamedValue>,
}

/// What is known while systems are flattened.
pub(crate) struct Flattener {
    packages: Packages,
    documents: HashMap<Location, Option<Arc<Document>>>,
    fmus: HashMap<Location, Option<Arc<OpenFmu>>>,
    /// In an order in which parts come before the systems they are part of.
    instances: Vec<Instance>,
    components: Vec<Component>,
    /// The FMU of each component.
    sources: Vec<Arc<OpenFmu>>,
    ports: Vec<Port>,
    edges: Vec<Edge>,
    /// Connectors of references to dictionaries: (port, port of the entry).
    references: Vec<(usize, usize)>,
    /// Number of elements so far.
    visited: usize,
    /// What all of it has cost so far.
    budget: Budget,
    /// How often names are still compared for a suggestion.
    suggestions: usize,
    /// Names of components that are taken.
    names: Names,
    /// Parameter sets and mappings in files, read once.
    sets: Files<ParameterSet>,
    mappings: Files<Mapping>,
    notes: Notes,
}

/// Reads and flattens an .ssp or .ssd. FMUs of archives are unpacked into `folder`.
pub(crate) fn flatten(path: &Path, folder: &Path, reach: Reach) -> Result<Flat> {
    let (packages, root) = Packages::open(path, folder, reach)?;
    let flattener = Flattener {
        packages,
        documents: HashMap::new(),
        fmus: HashMap::new(),
        instances: Vec::new(),
        components: Vec::new(),
        sources: Vec::new(),
        ports: Vec::new(),
        edges: Vec::new(),
        references: Vec::new(),
        visited: 0,
        budget: Budget::default(),
        suggestions: 50,
        names: Names::default(),
        sets: HashMap::new(),
        mappings: HashMap::new(),
        notes: Notes::default(),
    };
    flattener.run((0, root), path)
}

impl Flattener {
    fn run(mut self, root: Location, path: &Path) -> Result<Flat> {
        let Some(bytes) = self.packages.read(&root)? else { return Err(self.no_document(path, &root)) };
        let file = self.packages.shown(&root);
        let limits = self.packages.limits().clone();
        let document = Arc::new(document(&bytes, root.clone(), file.clone(), &limits, &mut self.notes)?);
        self.documents.insert(root, Some(document.clone()));
        for variant in self.packages.variants(0) {
            let message = format!("the variant `{}` is ignored", costep_fmu_file::short(&variant));
            self.note(Severity::Remark, Code::SspUnused, &Spot::of(&document, 0, ""), message);
        }
        if let Some(remark) = self.packages.remark(0) {
            self.note(Severity::Warning, Code::ArchiveRefused, &Spot::of(&document, 0, ""), remark);
        }
        self.add_root(&document);
        self.join_dictionaries();
        self.apply_parameters();
        let mut ways = TracedPaths::new(self.ports.len());
        let mut links = self.links(&mut ways);
        self.add_bonds(&mut links);
        let root = Spot::of(&document, 0, "");
        let settings: Settings =
            document.settings.iter().chain(&document.system.common.settings).cloned().collect();
        let mut flat = Flat {
            name: if document.name.is_empty() {
                document.system.common.name.clone()
            } else {
                document.name.clone()
            },
            format: "SSP",
            version: document.version.clone(),
            start: document.start,
            stop: document.stop,
            components: std::mem::take(&mut self.components),
            links,
            signals: Vec::new(),
            settings,
            places: document.places.clone(),
            notes: Vec::new(),
        };
        for (code, message) in flat.refuse_foreign_settings() {
            self.note(Severity::Warning, code, &root, message);
        }
        flat.notes = self.notes.into_list(&file);
        Ok(flat)
    }

    fn no_document(&self, path: &Path, root: &Location) -> Error {
        let error =
            Error::new(Code::NoSystemStructure, format!("the package has no {}", root.1)).in_file(path);
        match self.packages.misplaced(0) {
            Some(entry) => error
                .because(format!("there is one at `{}`", costep_fmu_file::short(&entry)))
                .hint("zip the contents of the folder, not the folder"),
            None => match self.packages.renamed(0) {
                Some(entry) => {
                    let entry = costep_fmu_file::short(&entry).to_string();
                    error.because(format!("there is `{entry}`")).hint(format!("rename that to `{}`", root.1))
                }
                None => error,
            },
        }
    }

    fn note(&mut self, severity: Severity, code: Code, spot: &Spot, message: impl Into<String>) {
        let Spot { file, line, element } = spot.clone();
        let place = (element.to_string(), file, line);
        self.notes.push(Note::new((severity, code), message.into(), place));
    }

    /// A warning about a name that is nearly like another.
    fn misspelt(&mut self, spot: &Spot, message: String, hint: String) {
        let Spot { file, line, element } = spot.clone();
        let (severity, code, element) = (Severity::Warning, Code::SspUnused, element.to_string());
        let line = (line > 0).then_some(line);
        self.notes.push(Note { severity, code, message, element, file, line, hint: Some(hint) });
    }

    fn error(&mut self, code: Code, spot: &Spot, message: impl Into<String>) {
        self.note(Severity::Error, code, spot, message);
    }

    /// An error of another layer, with our place added.
    fn foreign_error(&mut self, error: &Error, spot: &Spot) {
        let details = error.details();
        let message = match &details.cause {
            Some(cause) => format!("{}: {cause}", details.message),
            None => details.message.clone(),
        };
        self.error(details.code, spot, message);
    }
}

impl Spot {
    pub(crate) fn of(document: &Document, line: u32, element: &str) -> Self {
        Self { file: document.file.clone(), line, element: element.into() }
    }

    /// The same for errors.
    pub(crate) fn place(&self) -> Place {
        let line = (self.line > 0).then_some(self.line as usize);
        Place::File { path: PathBuf::from(&*self.file), line, text: None }
    }

    /// Another line of the same element.
    pub(crate) fn line(&self, line: u32) -> Self {
        Self { line, ..self.clone() }
    }
}
