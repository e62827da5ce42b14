//! What the readers share: a system that grows part by part, checked against the model descriptions of its
//! FMUs.

mod links;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use costep_core::{Code, Error, Place, PortKind};
use costep_fmu_file::{Causality, Fmu, ModelDescription, Variable, VariableType, short};
use costep_ssp::{
    Component, Flat, Implementation, Names, Note, Notes, Reach, SetValue, Severity, Value, below,
    is_windows_path, number_alone, proxied,
};

/// Most parts, connections and values of a system.
const MOST: usize = 250_000;

/// A system while it is read.
pub(crate) struct Builder {
    pub(crate) flat: Flat,
    /// Folder of the file.
    pub(crate) folder: PathBuf,
    file: Arc<str>,
    reach: Reach,
    names: Names,
    notes: Notes,
    /// The FMU of each component.
    fmus: Vec<Arc<ModelDescription>>,
    opened: HashMap<PathBuf, Option<Arc<ModelDescription>>>,
    /// Components by their names in the file; nothing for those that could not be opened, which was said.
    parts: HashMap<String, Option<usize>>,
    /// Variables that have a value, and where it is among those of their component.
    valued: HashMap<Port, usize>,
    /// Whether a part could not be read, not even its name, which was said.
    lost_part: bool,
    /// How many more names are looked for among others.
    suggestions: usize,
    /// Inputs that have a source: line of the first, and whether it is part of a sum.
    fed: HashMap<(usize, usize), (u32, bool)>,
}

/// A variable: component and place among its variables.
pub(crate) type Port = (usize, usize);

/// What happens to a value on its way.
#[derive(Clone, Debug)]
pub(crate) struct Passage {
    pub(crate) factor: f64,
    pub(crate) offset: f64,
    /// Whether it is added to other sources.
    pub(crate) sum: bool,
    pub(crate) bond: Option<String>,
}

impl Default for Passage {
    fn default() -> Self {
        Self { factor: 1.0, offset: 0.0, sum: false, bond: None }
    }
}

impl Builder {
    pub(crate) fn new(path: &Path, format: &'static str, reach: Reach) -> Self {
        let flat = Flat {
            name: crate::format::name_of(path),
            format,
            version: String::new(),
            start: None,
            stop: None,
            components: Vec::new(),
            links: Vec::new(),
            signals: Vec::new(),
            settings: Vec::new(),
            places: Vec::new(),
            notes: Vec::new(),
        };
        Self {
            flat,
            folder: path.parent().unwrap_or(Path::new("")).to_owned(),
            file: path.to_string_lossy().into(),
            reach,
            names: Names::default(),
            notes: Notes::default(),
            fmus: Vec::new(),
            opened: HashMap::new(),
            parts: HashMap::new(),
            valued: HashMap::new(),
            lost_part: false,
            suggestions: 50,
            fed: HashMap::new(),
        }
    }

    /// The system, with its notes.
    pub(crate) fn finish(mut self) -> Flat {
        // Of those that could not be opened it has been said.
        if self.parts.is_empty() {
            self.error(0, "the system has no FMU that can be run");
        }
        self.flat.notes = self.notes.into_list(&self.file);
        self.flat
    }

    fn note(&mut self, severity: Severity, code: Code, line: u32, message: String) {
        let place = (String::new(), self.file.clone(), line);
        self.notes.push(Note::new((severity, code), message, place));
    }

    /// The file is wrong.
    pub(crate) fn error(&mut self, line: u32, message: impl Into<String>) {
        self.note(Severity::Error, Code::SspSchema, line, message.into());
    }

    /// It names something that does not exist.
    pub(crate) fn missing(&mut self, line: u32, message: impl Into<String>) {
        self.note(Severity::Error, Code::SspReference, line, message.into());
    }

    /// Without this the result would be another one.
    pub(crate) fn unsupported(&mut self, line: u32, message: impl Into<String>) {
        self.note(Severity::Error, Code::SspUnsupported, line, message.into());
    }

    /// The result may be another one than that of the tool the file is from.
    pub(crate) fn warning(&mut self, line: u32, message: impl Into<String>) {
        self.note(Severity::Warning, Code::SspUnsupported, line, message.into());
    }

    /// This has no effect.
    pub(crate) fn unused(&mut self, line: u32, message: impl Into<String>) {
        self.note(Severity::Remark, Code::SspUnused, line, message.into());
    }

    fn foreign_error(&mut self, error: &Error, line: u32) {
        let details = error.details();
        let message = match &details.cause {
            Some(cause) => format!("{}: {cause}", details.message),
            None => details.message.clone(),
        };
        self.note(Severity::Error, details.code, line, message);
    }

    fn place(&self, line: u32) -> Place {
        Place::File {
            path: PathBuf::from(&*self.file),
            line: (line > 0).then_some(line as usize),
            text: None,
        }
    }

    /// Says where a key of a project file is given its value.
    pub(crate) fn say_place(&mut self, key: &'static str, line: u32) {
        let place = self.place(line);
        self.flat.places.push((key, place));
    }

    /// A macro step.
    pub(crate) fn set_step(&mut self, size: f64) {
        self.flat.settings.retain(|(key, _)| key != "step");
        self.flat.settings.push(("step".into(), format!("{{ size = {size:?} }}")));
    }

    /// Whether there is room for one more of these; noted once if there is not.
    fn has_room(&mut self, count: usize, line: u32) -> bool {
        if count == MOST {
            self.unsupported(line, format!("there are more than {MOST} parts, connections or values"));
        }
        count < MOST
    }

    /// A file that the system names, if it may be opened and exists.
    pub(crate) fn find_file(&mut self, source: &str, line: u32) -> Option<PathBuf> {
        let plain = source.strip_prefix("file://").unwrap_or(source);
        if is_windows_path(source) && !Path::new(plain).is_file() {
            let there = self.lies_below(plain).unwrap_or_else(|| ", which is not on this machine".into());
            self.missing(line, format!("`{}` is an absolute path of Windows{there}", short(source)));
            return None;
        }
        if plain.is_empty() || plain.chars().any(char::is_control) || plain.contains("://") {
            self.missing(line, format!("`{}` is not the name of a file", short(source)));
            return None;
        }
        // Some tools write the separators of Windows.
        let mut file = self.folder.join(plain);
        if !file.is_file() && plain.contains('\\') {
            file = self.folder.join(plain.replace('\\', "/"));
        }
        if let Some(there) = Path::new(plain).is_absolute().then(|| self.lies_below(plain)).flatten()
            && !file.is_file()
        {
            self.missing(line, format!("the file `{}` is missing{there}", short(plain)));
            return None;
        }
        self.check_file(&file, line).then_some(file)
    }

    /// What to write for a file that is named by its place on another machine and lies below the folder of the system.
    fn lies_below(&self, path: &str) -> Option<String> {
        let found = below(&self.folder, path)?;
        Some(format!(": it lies below the folder of this file, write `{}`", short(&found)))
    }

    /// Whether a file exists and may be opened; noted if not.
    pub(crate) fn check_file(&mut self, file: &Path, line: u32) -> bool {
        if let Err(error) = self.reach.check(file) {
            self.foreign_error(&error, line);
            return false;
        }
        if !file.is_file() {
            let near = costep_fmu_file::not_there(file).details().hint.clone();
            let near = near.filter(|hint| hint.starts_with("did you mean")).map(|hint| format!(" ({hint})"));
            let shown = file.to_string_lossy();
            self.missing(
                line,
                format!("the file `{}` is missing{}", short(&shown), near.unwrap_or_default()),
            );
            return false;
        }
        true
    }

    /// Adds an FMU under a name. A `proxyfmu://localhost?file=...` is one in a process of its own.
    pub(crate) fn add_fmu(&mut self, name: &str, source: &str, line: u32) {
        let (file, isolated) = match proxied(source) {
            None => (self.find_file(source, line), false),
            Some(Ok(file)) => (self.find_file(file, line), true),
            Some(Err(why)) => {
                self.unsupported(line, format!("`{}` is not opened: {why}", short(source)));
                (None, false)
            }
        };
        self.add_file((name, name), file, isolated, line);
    }

    /// The same for a file that was found, or could not be; `key` is what the system calls the FMU.
    pub(crate) fn add_file(
        &mut self,
        (key, name): (&str, &str),
        file: Option<PathBuf>,
        isolated: bool,
        line: u32,
    ) {
        if name.is_empty() {
            return self.error(line, "an FMU has no name");
        }
        if self.parts.contains_key(key) {
            return self.error(line, format!("`{}` is there twice", short(key)));
        }
        if !self.has_room(self.parts.len(), line) {
            return;
        }
        let fmu = file.and_then(|file| self.open(&file, line).map(|fmu| (file, fmu)));
        let index = fmu.map(|(file, fmu)| {
            let ours = self.names.unique(&[name.to_owned()]);
            if ours != name {
                self.unused(line, format!("`{}` is called `{ours}` here", short(name)));
            }
            let isolation = isolated.then(|| ("isolation".to_owned(), "\"process\"".to_owned()));
            self.flat.components.push(Component {
                name: ours,
                file,
                implementation: Implementation::Any,
                set: Vec::new(),
                settings: isolation.into_iter().collect(),
                place: self.place(line),
            });
            self.fmus.push(fmu);
            self.fmus.len() - 1
        });
        self.parts.insert(key.to_owned(), index);
    }

    fn open(&mut self, file: &Path, line: u32) -> Option<Arc<ModelDescription>> {
        if let Some(known) = self.opened.get(file) {
            return known.clone();
        }
        let opened = match Fmu::open(file) {
            Ok(fmu) => Some(Arc::new(fmu.into_description())),
            Err(error) => {
                self.foreign_error(&error, line);
                None
            }
        };
        self.opened.insert(file.to_owned(), opened.clone());
        opened
    }

    /// A part could not be read: that others name it is no mistake of theirs.
    pub(crate) fn lose_part(&mut self) {
        self.lost_part = true;
    }

    /// Whether something of this name was added, or could not be.
    pub(crate) fn has_part(&self, name: &str) -> bool {
        self.parts.contains_key(name)
    }

    /// The component of this name; noted if there is none.
    pub(crate) fn part(&mut self, name: &str, line: u32) -> Option<usize> {
        match self.parts.get(name) {
            Some(found) => *found,
            None if self.lost_part => None,
            None => {
                let near = near(name, self.parts.keys(), &mut self.suggestions);
                self.missing(line, format!("nothing is called `{}`{near}", short(name)));
                None
            }
        }
    }

    /// A variable of a component that is to serve as this; noted if there is none of the name.
    pub(crate) fn variable(&mut self, part: &str, name: &str, role: Role, line: u32) -> Option<Port> {
        let component = self.part(part, line)?;
        if let Some(variable) = self.fmus[component].find(name) {
            return Some((component, variable));
        }
        let fmu = self.fmus[component].clone();
        // What cannot serve here is no proposal, however near its name.
        let fit = fmu.variables().iter().filter(|variable| role.suits(variable.causality));
        // Names of variables are those of the FMU, without the part.
        let own = name.split_once('.').filter(|(_, own)| fmu.find(own).is_some());
        let near = match own {
            Some((_, own)) => format!(" (did you mean `{}`?)", short(own)),
            None => near(name, fit.map(|variable| &variable.name), &mut self.suggestions),
        };
        self.missing(line, format!("`{}` has no {} `{}`{near}", short(part), role.noun(), short(name)));
        None
    }

    /// ` (did you mean ...)`, if one of these is called nearly so.
    pub(crate) fn near<'a>(&mut self, wrong: &str, known: impl Iterator<Item = &'a String>) -> String {
        near(wrong, known, &mut self.suggestions)
    }

    /// What a variable has to be that is connected to this one, as far as that is known.
    pub(crate) fn role_beside(&self, part: &str, name: &str) -> Role {
        let component = self.parts.get(part).copied().flatten();
        let port = component.and_then(|index| Some((index, self.fmus[index].find(name)?)));
        match port.map(|port| self.described(port).causality) {
            Some(Causality::Output | Causality::CalculatedParameter) => Role::Input,
            Some(Causality::Input) => Role::Output,
            _ => Role::End,
        }
    }

    /// What the FMU says of a variable.
    pub(crate) fn described(&self, (component, variable): Port) -> &Variable {
        &self.fmus[component].variables()[variable]
    }

    /// The model description of a component.
    pub(crate) fn fmu(&self, component: usize) -> &ModelDescription {
        &self.fmus[component]
    }

    /// Whether values come out of a variable.
    pub(crate) fn gives(&self, port: Port) -> bool {
        matches!(self.described(port).causality, Causality::Output | Causality::CalculatedParameter)
    }

    /// Gives a variable a start value.
    pub(crate) fn set(&mut self, port: Port, value: Value, line: u32) {
        let name = self.described(port).name.clone();
        let set = SetValue { name, value, place: self.place(line) };
        if let Some(earlier) = self.valued.get(&port).copied() {
            self.warning(line, format!("`{}` has a value already: the last one counts", short(&set.name)));
            self.flat.components[port.0].set[earlier] = set;
        } else if self.has_room(self.valued.len(), line) {
            self.valued.insert(port, self.flat.components[port.0].set.len());
            self.flat.components[port.0].set.push(set);
        }
    }

    /// The same with a text that is read as the type of the variable.
    pub(crate) fn set_text(&mut self, port: Port, text: &str, line: u32) {
        let kind = self.described(port).kind;
        match typed(text, kind) {
            Some(value) => self.set(port, value, line),
            None => {
                let name = short(&self.described(port).name);
                self.error(
                    line,
                    format!(
                        "`{}` cannot be the value of `{name}`, which is of type {kind}{}",
                        short(text),
                        number_alone(text, self.described(port).unit())
                    ),
                );
            }
        }
    }
}

/// What a variable is named for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// To give values to another.
    Output,
    /// To take the values of another.
    Input,
    /// One end of a connection whose direction is not known.
    End,
    /// To be given a start value.
    Start,
}

impl Role {
    fn suits(self, causality: Causality) -> bool {
        match self {
            Self::Output => causality == Causality::Output,
            Self::Input => causality == Causality::Input,
            Self::End => matches!(causality, Causality::Output | Causality::Input),
            Self::Start => !matches!(
                causality,
                Causality::Output | Causality::CalculatedParameter | Causality::Independent
            ),
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Self::Output => "output",
            Self::Input => "input",
            Self::End | Self::Start => "variable",
        }
    }
}

/// ` (did you mean ...)`, if something is called nearly like it. Names are compared a few times only: it
/// takes long.
fn near<'a>(wrong: &str, known: impl Iterator<Item = &'a String>, left: &mut usize) -> String {
    const LONGEST: usize = 100;
    if *left == 0 || wrong.len() > LONGEST {
        return String::new();
    }
    *left -= 1;
    // The names are printed as they are.
    let fit = |name: &&String| name.len() <= LONGEST && !name.contains(char::is_control);
    let known = known.filter(fit).take(10_000);
    let error = Error::new(Code::UnknownName, "").suggest(wrong, known.map(String::as_str));
    error.details().hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default()
}

/// A value of a variable of this type.
fn typed(text: &str, kind: VariableType) -> Option<Value> {
    let plain = text.trim();
    Some(match kind.port_kind() {
        Some(PortKind::Real) => {
            Value::Real(vec![plain.parse().ok().filter(|value: &f64| value.is_finite())?])
        }
        Some(PortKind::Integer | PortKind::Enumeration) => Value::Integer(vec![plain.parse().ok()?]),
        Some(PortKind::Boolean) => match plain {
            "true" | "1" => Value::Boolean(vec![true]),
            "false" | "0" => Value::Boolean(vec![false]),
            _ => return None,
        },
        Some(PortKind::Text) => Value::Text(vec![text.to_owned()]),
        Some(PortKind::Bytes) | None => return None,
    })
}
