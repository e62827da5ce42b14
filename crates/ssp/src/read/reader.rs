//! What all readers share: where they are, and notes about what they find there.

use std::path::Path;
use std::sync::Arc;

use costep_core::suggest::nearest_by_letters;
use costep_core::{Code, Result};
use costep_fmu_file::xml::{self, literal};
use costep_fmu_file::{Limits, short};

use crate::meant::{near_attribute, number_alone};
use crate::model::Settings;
use crate::note::{Note, Notes, Severity};

/// Type of the annotations that hold settings of costep.
pub(crate) const ANNOTATION: &str = "org.costep.settings";
/// Namespace of what is inside.
pub(crate) const NAMESPACE: &str = "urn:costep:settings:1";

/// Type of the annotations of the Open Simulation Platform.
const OSP: &str = "com.opensimulationplatform";

/// Elements for drawings.
const GRAPHICS: [&str; 5] =
    ["ElementGeometry", "ConnectorGeometry", "ConnectionGeometry", "SystemGeometry", "GraphicalElements"];

/// Reads one file.
pub(crate) struct Reader<'a> {
    pub(crate) file: Arc<str>,
    pub(crate) notes: &'a mut Notes,
    /// Names of the elements around.
    pub(crate) path: Vec<String>,
    /// Number of elements for drawings, and the line of the first.
    graphics: (usize, u32),
}

impl<'a> Reader<'a> {
    pub(crate) fn new(file: Arc<str>, notes: &'a mut Notes) -> Self {
        Self { file, notes, path: Vec::new(), graphics: (0, 0) }
    }

    /// Parses a document, checks the name of its root and reads what is inside.
    pub(crate) fn parse<T>(
        &mut self,
        bytes: &[u8],
        root: &str,
        namespace: &str,
        limits: &Limits,
        read: impl FnOnce(&mut Self, &xml::Element) -> T,
    ) -> Result<T> {
        xml::read(bytes, Path::new(&*self.file.clone()), limits, |node| {
            if node.name() != root {
                let message = format!("the root element is <{}> instead of <{root}>", short(node.name()));
                let note = self.note(Severity::Error, Code::SspSchema, node.line(), message);
                return Err(note.to_error());
            }
            for prefix in node.undeclared_prefixes() {
                let message = format!(
                    "the prefix `{}` is not declared; its elements are read all the same",
                    short(prefix)
                );
                self.warning(node.line(), message);
            }
            self.check_namespace(node, namespace);
            Ok(read(self, node))
        })
    }

    pub(crate) fn check_namespace(&mut self, node: &xml::Element, namespace: &str) {
        if node.namespace() != namespace && !node.is_undeclared() {
            let message = format!(
                "<{}> is of the namespace `{}` instead of `{namespace}`",
                short(node.name()),
                short(node.namespace())
            );
            self.warning(node.line(), message);
        }
    }

    fn note(&self, severity: Severity, code: Code, line: u32, message: String) -> Note {
        let (element, file) = (self.path.join("/"), self.file.clone());
        Note { severity, code, message, element, file, line: Some(line), hint: None }
    }

    fn push(&mut self, severity: Severity, code: Code, line: u32, message: String) {
        let note = self.note(severity, code, line, message);
        self.notes.push(note);
    }

    /// The file is wrong.
    pub(crate) fn error(&mut self, line: u32, message: impl Into<String>) {
        self.push(Severity::Error, Code::SspSchema, line, message.into());
    }

    /// The file is wrong, but what is meant is clear.
    pub(crate) fn warning(&mut self, line: u32, message: impl Into<String>) {
        self.push(Severity::Warning, Code::SspSchema, line, message.into());
    }

    /// Without this the result would be another one.
    pub(crate) fn unsupported(&mut self, line: u32, message: impl Into<String>) {
        self.push(Severity::Error, Code::SspUnsupported, line, message.into());
    }

    /// This has no effect.
    pub(crate) fn unused(&mut self, line: u32, message: impl Into<String>) {
        self.push(Severity::Remark, Code::SspUnused, line, message.into());
    }

    /// Notes attributes and elements that nobody reads here.
    pub(crate) fn check_known(&mut self, node: &xml::Element, attributes: &[&str], children: &[&str]) {
        for (name, _) in node.attributes() {
            if !["id", "description"].contains(&name) && !attributes.contains(&name) {
                let message =
                    format!("<{}> has an attribute `{}` that is not known here", node.name(), short(name));
                self.unknown(
                    node.line(),
                    message,
                    near_attribute(name, attributes).map(|near| format!("`{near}`")),
                );
            }
        }
        for child in node.children() {
            match child.name() {
                name if children.contains(&name) => {}
                name if GRAPHICS.contains(&name) => {
                    self.graphics = (
                        self.graphics.0 + 1,
                        if self.graphics.0 == 0 { child.line() } else { self.graphics.1 },
                    );
                }
                name @ ("MetaData" | "Signature") => {
                    self.unused(child.line(), format!("<{name}> of <{}> is not used", short(node.name())));
                }
                "Annotations" => {
                    // Read where costep writes its own; elsewhere all are foreign.
                    self.settings(node);
                }
                name => {
                    let message = format!(
                        "<{}> has an element <{}> that is not known here",
                        short(node.name()),
                        short(name)
                    );
                    self.unknown(
                        child.line(),
                        message,
                        nearest_by_letters(name, children).map(|near| format!("<{near}>")),
                    );
                }
            }
        }
    }

    /// Something that is not known here. Where it is nearly something that is, that would be left out, and the run be that of another
    /// system.
    pub(crate) fn unknown(&mut self, line: u32, message: String, near: Option<String>) {
        match near {
            Some(near) => self.error(line, format!("{message}: did you mean {near}?")),
            None => self.warning(line, message),
        }
    }

    /// A remark about drawings, if there were any.
    pub(crate) fn finish(&mut self) {
        let (count, line) = self.graphics;
        if count > 0 {
            self.path.clear();
            self.unused(line, format!("{count} graphical elements are ignored"));
        }
    }

    /// The step that annotations of the Open Simulation Platform give a default experiment.
    pub(crate) fn step_of_osp(&mut self, experiment: &xml::Element) -> Settings {
        let annotations = experiment.inside("Annotations").filter(|node| node.get("type") == Some(OSP));
        let algorithms = annotations.flat_map(|node| node.children()).flat_map(|node| node.children());
        let mut settings = Settings::new();
        for algorithm in algorithms.filter(|node| node.name() == "FixedStepAlgorithm") {
            self.check_known(&algorithm, &["baseStepSize", "numWorkerThreads"], &[]);
            if let Some(size) = self.number(&algorithm, "baseStepSize") {
                settings.push(("step".into(), format!("{{ size = {size:?} }}")));
            }
        }
        settings
    }

    /// The settings of costep in the annotations of an element; those of others are noted.
    pub(crate) fn settings(&mut self, node: &xml::Element) -> Settings {
        let mut settings = Settings::new();
        for annotation in node.inside("Annotations") {
            let kind = annotation.get("type").unwrap_or_default();
            let gives_step = annotation.children().any(|inner| inner.child("FixedStepAlgorithm").is_some());
            if kind == OSP && node.name() == "DefaultExperiment" && gives_step {
                // Read by `step_of_osp`.
                continue;
            }
            if kind != ANNOTATION {
                let message = format!("the annotation of type `{}` is not read", short(kind));
                self.unused(annotation.line(), message);
                continue;
            }
            for setting in annotation.children().flat_map(|inner| inner.children()) {
                let own = setting.name() == "Setting" && setting.namespace() == NAMESPACE;
                match (own, setting.get("key"), setting.get("value")) {
                    (true, Some(key), Some(value)) => settings.push((key.to_owned(), value.to_owned())),
                    _ => self.warning(
                        setting.line(),
                        "the annotation of costep contains something other than settings",
                    ),
                }
            }
        }
        settings
    }

    /// An attribute that has to be there.
    pub(crate) fn required(&mut self, node: &xml::Element, name: &str) -> Option<String> {
        let value = node.get(name);
        if value.is_none() {
            let text = node.content().trim();
            let inside = (!text.is_empty() && node.children().next().is_none())
                .then(|| format!(": write `{name}=\"{}\"`, not a text inside", short(text)));
            let message = format!("<{}> has no attribute `{name}`", short(node.name()));
            self.error(node.line(), message + &inside.unwrap_or_default());
        }
        value.map(str::to_owned)
    }

    /// A name that has to be there and not be empty.
    pub(crate) fn name(&mut self, node: &xml::Element) -> Option<String> {
        let name = self.required(node, "name")?;
        if name.is_empty() {
            self.error(node.line(), format!("<{}> has an empty name", short(node.name())));
        }
        Some(name).filter(|name| !name.is_empty())
    }

    fn literal<T>(
        &mut self,
        node: &xml::Element,
        name: &str,
        what: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let text = node.get(name)?;
        let value = read(text);
        if value.is_none() {
            let message = format!(
                "`{name}` of <{}> is `{}`, which is not a valid {what}{}",
                short(node.name()),
                short(text),
                number_alone(text, name.ends_with("Time").then_some("s"))
            );
            self.error(node.line(), message);
        }
        value
    }

    /// A finite number.
    pub(crate) fn number(&mut self, node: &xml::Element, name: &str) -> Option<f64> {
        self.literal(node, name, "finite number", |text| literal::number(text).filter(|x| x.is_finite()))
    }

    /// An integer.
    pub(crate) fn integer(&mut self, node: &xml::Element, name: &str) -> Option<i64> {
        self.literal(node, name, "integer", literal::integer)
    }

    /// `true` or `false`.
    pub(crate) fn truth(&mut self, node: &xml::Element, name: &str) -> Option<bool> {
        self.literal(node, name, "Boolean (`true` or `false`)", literal::truth)
    }
}
