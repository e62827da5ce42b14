//! A project made of data instead of text: what readers of other formats produce. It goes through the same checks as a
//! project file, and every mistake is reported at the place that its value came from.

use std::path::{Path, PathBuf};

use costep_core::{Error, External, Place};
use costep_fmu_file::Values;
use costep_import::{ColumnSignal, Interpolation};
use costep_system::Component;

use crate::components::MadeComponent;
use crate::dialect::Dialect;
use crate::document::{Node, Origin, Table, Value};
use crate::fmus::FmuInterface;
use crate::linear::LinearSpec;
use crate::maps::ValueMap;
use crate::overrides::Override;
use crate::parse;
use crate::problems::Problems;
use crate::project::{self, Input, Project};
use crate::registry::Registry;
use crate::source::Source;
use crate::write;

/// Where a value of a [`Draft`] came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Provenance(usize);

/// A value of a [`Draft`].
#[derive(Clone, Debug, PartialEq)]
pub enum DraftValue {
    /// Text: names, times such as `5 ms`.
    Text(String),
    /// A number.
    Number(f64),
    /// True or false.
    Truth(bool),
    /// A list of texts.
    Texts(Vec<String>),
    /// A list of numbers.
    Numbers(Vec<f64>),
}

/// An FMU of a [`Draft`].
#[derive(Clone, Debug)]
pub struct FmuEntry {
    /// Its name in the system.
    pub name: String,
    /// Its file, relative to the folder of the draft.
    pub file: PathBuf,
    /// The interface to use; nothing lets the FMU decide.
    pub interface: Option<FmuInterface>,
    /// Values of parameters, start values and inputs.
    pub set: Vec<(String, Values, Provenance)>,
    /// Where all of this was said.
    pub provenance: Provenance,
}

/// A connection of a [`Draft`]: `to = gain * convert(from) + offset`.
#[derive(Clone, Debug)]
pub struct ConnectEntry {
    /// `part.port` of an output.
    pub from: String,
    /// `part.port` of an input.
    pub to: String,
    /// Factor. If there is none and nothing is converted, units have to be the same.
    pub gain: Option<f64>,
    /// What is added after the gain.
    pub offset: f64,
    /// Integers that become others.
    pub map: ValueMap,
    /// Whether values are converted from one unit to the other.
    pub convert: bool,
    /// Whether it is added to other sources of the input, which have to say so too.
    pub sum: bool,
    /// Where this was said.
    pub provenance: Provenance,
}

/// A project while it is put together.
pub struct Draft {
    name: String,
    file: PathBuf,
    root: Table,
    places: Vec<Place>,
    made: Vec<MadeComponent>,
    dialect: Dialect,
}

impl Draft {
    /// An empty project. `file` is what it is read from; names of files are relative to its folder.
    pub fn new(name: impl Into<String>, file: impl Into<PathBuf>) -> Self {
        Self {
            name: name.into(),
            file: file.into(),
            root: Table::default(),
            places: Vec::new(),
            made: Vec::new(),
            dialect: Dialect::Project,
        }
    }

    /// Says what the file is, so that hints are in its words.
    pub(crate) fn in_dialect(self, dialect: Dialect) -> Self {
        Self { dialect, ..self }
    }

    /// A place that values come from.
    pub fn provenance(&mut self, place: Place) -> Provenance {
        self.places.push(place);
        Provenance(self.places.len() - 1)
    }

    /// Gives any key of a project file its value: `&["system", "stop"]`. Intermediate tables are made.
    pub fn set(&mut self, path: &[&str], value: DraftValue, provenance: Provenance) {
        let origin = Origin::Draft(provenance.0);
        let text = |text: String| Node { value: Value::Text(text), origin };
        let value = match value {
            DraftValue::Text(text) => Value::Text(text),
            DraftValue::Number(number) => Value::Real(number),
            DraftValue::Truth(truth) => Value::Truth(truth),
            DraftValue::Texts(texts) => Value::List(texts.into_iter().map(text).collect()),
            DraftValue::Numbers(numbers) => Value::List(
                numbers.into_iter().map(|number| Node { value: Value::Real(number), origin }).collect(),
            ),
        };
        self.set_node(path, Node { value, origin });
    }

    fn set_node(&mut self, path: &[&str], node: Node) {
        let origin = node.origin;
        let Some((last, before)) = path.split_last() else { return };
        let mut table = &mut self.root;
        for name in before {
            let node = table.get_or_table(name, origin);
            if !matches!(node.value, Value::Table(_)) {
                *node = Node { value: Value::Table(Table::default()), origin };
            }
            let Value::Table(inner) = &mut node.value else { return };
            table = inner;
        }
        table.set(last, node);
    }

    /// Adds an FMU.
    pub fn add_fmu(&mut self, fmu: FmuEntry) {
        let origin = Origin::Draft(fmu.provenance.0);
        let node = |value| Node { value, origin };
        let mut table = Table::default();
        table.set("file", node(Value::Text(fmu.file.to_string_lossy().into_owned())));
        if let Some(interface) = fmu.interface {
            table.set("interface", node(Value::Text(interface.word().into())));
        }
        let mut set = Table::default();
        for (name, values, provenance) in fmu.set {
            set.set(&name, values_node(&values, Origin::Draft(provenance.0)));
        }
        if !set.entries.is_empty() {
            table.set("set", node(Value::Table(set)));
        }
        if let Value::Table(fmus) = &mut self.root.get_or_table("fmu", origin).value {
            fmus.set(&fmu.name, node(Value::Table(table)));
        }
    }

    /// Adds a linear part.
    pub fn add_linear(&mut self, linear: &LinearSpec, provenance: Provenance) {
        let origin = Origin::Draft(provenance.0);
        let node = |value| Node { value, origin };
        let row = |row: &[f64]| node(Value::List(row.iter().map(|x| node(Value::Real(*x))).collect()));
        let mut table = Table::default();
        for (letter, rows) in linear.rows() {
            table.set(letter, node(Value::List(rows.into_iter().map(row).collect())));
        }
        table.set("start", row(&linear.start));
        for (key, ports) in [("inputs", &linear.inputs), ("outputs", &linear.outputs)] {
            let mut units = Table::default();
            ports.iter().for_each(|(port, unit)| units.set(port, node(Value::Text(unit.clone()))));
            table.set(key, node(Value::Table(units)));
        }
        if let Value::Table(linears) = &mut self.root.get_or_table("linear", origin).value {
            linears.set(&linear.name, node(Value::Table(table)));
        }
    }

    /// Adds a part that was made in code. Its name is that of its description.
    pub fn add_part(&mut self, part: Box<dyn Component>, provenance: Provenance) {
        self.made.push(MadeComponent { part, origin: Origin::Draft(provenance.0) });
    }

    /// Adds a connection.
    pub fn connect(&mut self, connection: ConnectEntry) {
        let origin = Origin::Draft(connection.provenance.0);
        let node = |value| Node { value, origin };
        let mut table = Table::default();
        table.set("from", node(Value::Text(connection.from)));
        table.set("to", node(Value::Text(connection.to)));
        if let Some(gain) = connection.gain {
            table.set("gain", node(Value::Real(gain)));
        }
        if connection.offset != 0.0 {
            table.set("offset", node(Value::Real(connection.offset)));
        }
        if !connection.map.is_empty() {
            let mut map = Table::default();
            for (source, target) in &connection.map {
                map.set(&source.to_string(), node(Value::Integer(*target)));
            }
            table.set("map", node(Value::Table(map)));
        }
        if connection.convert {
            table.set("unit", node(Value::Text("convert".into())));
        }
        if connection.sum {
            table.set("sum", node(Value::Truth(true)));
        }
        self.push("connect", node(Value::Table(table)));
    }

    /// Adds a constant at an input.
    pub fn hold(&mut self, to: &str, value: f64, provenance: Provenance) {
        self.drive(to, &External::Constant(value), false, provenance);
    }

    /// Adds an external input; with `sum` to what else feeds the input, else it is its only source.
    pub fn drive(&mut self, to: &str, external: &External, sum: bool, provenance: Provenance) {
        let origin = Origin::Draft(provenance.0);
        let mut table = Table::default();
        table.set("to", Node { value: Value::Text(to.into()), origin });
        if sum {
            table.set("sum", Node { value: Value::Truth(true), origin });
        }
        let (shape, value) = write::signal(external);
        table.set(shape, parse::value(&value, origin));
        self.push("external", Node { value: Value::Table(table), origin });
    }

    /// Lets an input follow a column of a file, whose name is relative to the folder of the draft.
    pub fn drive_by_file(&mut self, to: &str, file: &Path, signal: &ColumnSignal, provenance: Provenance) {
        let origin = Origin::Draft(provenance.0);
        let node = |value| Node { value, origin };
        let mut table = Table::default();
        table.set("to", node(Value::Text(to.into())));
        table.set("file", node(Value::Text(file.to_string_lossy().into_owned())));
        table.set("column", node(Value::Text(signal.column.clone())));
        if signal.interpolation == Interpolation::Hold {
            table.set("interpolation", node(Value::Text("hold".into())));
        }
        let numbers = [
            ("time_offset", signal.time_offset, 0.0),
            ("gain", signal.gain, 1.0),
            ("offset", signal.offset, 0.0),
        ];
        for (key, value, _) in numbers.into_iter().filter(|(_, value, usual)| value != usual) {
            table.set(key, node(Value::Real(value)));
        }
        self.push("external", node(Value::Table(table)));
    }

    /// Gives any key the value that a text in TOML stands for.
    pub(crate) fn set_toml(&mut self, path: &[&str], text: &str, provenance: Provenance) {
        let node = parse::value(text, Origin::Draft(provenance.0));
        self.set_node(path, node);
    }

    /// Says where the value of a key comes from, if it has one.
    pub(crate) fn place(&mut self, path: &[&str], provenance: Provenance) {
        let Some((last, before)) = path.split_last() else { return };
        let mut table = &mut self.root;
        for name in before {
            let Some(Node { value: Value::Table(inner), .. }) = table.get_mut(name) else { return };
            table = inner;
        }
        table.get_mut(last).into_iter().for_each(|node| node.origin = Origin::Draft(provenance.0));
    }

    /// Gives a key of the last connection the value that a text in TOML stands for.
    pub(crate) fn set_in_connection(&mut self, key: &str, text: &str, provenance: Provenance) {
        let node = parse::value(text, Origin::Draft(provenance.0));
        if let Some(Value::List(items)) = self.root.get_mut("connect").map(|list| &mut list.value)
            && let Some(Value::Table(last)) = items.last_mut().map(|item| &mut item.value)
        {
            last.set(key, node);
        }
    }

    fn push(&mut self, key: &str, node: Node) {
        let origin = node.origin;
        match self.root.get_mut(key).map(|list| &mut list.value) {
            Some(Value::List(items)) => items.push(node),
            _ => self.root.set(key, Node { value: Value::List(vec![node]), origin }),
        }
    }

    /// Checks it like a project file. All mistakes are reported at once.
    pub fn load(self, registry: &Registry, overrides: &[Override]) -> Result<Project, Vec<Error>> {
        let problems = Problems::new(Some(&self.file), "", overrides);
        let problems = problems.with_places(self.places).in_dialect(self.dialect);
        let input =
            Input { made: self.made, ..Input::new(self.root, Source::File(self.file.clone()), &self.name) };
        project::check(input, registry, problems, overrides).map_err(|refusal| refusal.errors)
    }
}

/// The values as a project file has them.
fn values_node(values: &Values, origin: Origin) -> Node {
    let node = |value| Node { value, origin };
    let items: Vec<Node> = match values {
        Values::String(v) => v.iter().map(|text| node(Value::Text(text.clone()))).collect(),
        Values::Boolean(v) => v.iter().map(|truth| node(Value::Truth(*truth))).collect(),
        Values::Int64(v) | Values::Enumeration(v) => v.iter().map(|i| node(Value::Integer(*i))).collect(),
        Values::Binary(v) => {
            let digits = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            v.iter().map(|bytes| node(Value::Text(digits(bytes)))).collect()
        }
        numbers => {
            (0..numbers.len()).filter_map(|i| numbers.number(i)).map(|x| node(Value::Real(x))).collect()
        }
    };
    match <[Node; 1]>::try_from(items) {
        Ok([single]) => single,
        Err(items) => node(Value::List(items)),
    }
}
