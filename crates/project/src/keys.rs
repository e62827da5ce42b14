//! Every table and key of a project file, once: readers refuse what is not here, messages name the table that a key belongs to,
//! and `schema.rs` makes of it what editors read.

/// What the value of a key is.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// Text.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A built-in model, by its name.
    Model,
    /// A solver with its options.
    Solver,
    /// How steps are controlled.
    Control,
    /// A time: `"5 ms"`, or a number in s.
    Time,
    /// A time above zero.
    Length,
    /// A number.
    Number,
    /// A number above zero.
    Positive,
    /// A number that is not negative.
    NotNegative,
    /// true or false.
    Truth,
    /// A list of texts.
    Texts,
    /// The same, not empty.
    SomeTexts,
    /// A list of different texts.
    Order,
    /// Times and values: `[[0, 1], [2, 3]]`.
    Points,
    /// `"auto"` or a number of threads.
    Threads,
    /// Text, or a number that counts.
    Column,
    /// Rates by the names of parts.
    Rates,
    /// Pairs of numbers by the names of signals, with or without quotes.
    Bounds,
    /// Numbers by the names of parameters.
    Numbers,
    /// Values of variables of an FMU by their names, with or without quotes.
    Values,
    /// Integers or items of enumerations by such.
    Map,
    /// Rows of numbers: `[[1, 2], [3, 4]]`.
    Matrix,
    /// A list of numbers.
    Row,
    /// Names of ports, or units by the names of ports.
    PortNames,
    /// A table of these keys.
    Table(&'static [Key]),
    /// Tables of these keys under names of the user.
    Named(&'static [Key]),
    /// The same for parts of built-in models, whose other keys follow from `model`.
    Natives(&'static [Key]),
    /// The table of these keys that says in which order parts step.
    Schedule(&'static [Key]),
    /// Tables of these keys under the names of ports, with or without quotes.
    Ports(&'static [Key]),
    /// A list of tables of these keys: `[[connect]]`.
    List(&'static [Key]),
    /// A coupling method: `id` and its options.
    Method,
    /// Groups by their names: a coupling method each, and their `inputs`.
    Groups,
    /// A source of models and its options.
    Models,
}

/// A key of a table.
#[derive(Clone, Copy)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// A few words, which editors show.
    pub(crate) help: &'static str,
    pub(crate) is_required: bool,
    /// A table has exactly one of the keys that are marked so.
    pub(crate) is_one_of: bool,
}

const fn key(name: &'static str, kind: Kind, help: &'static str) -> Key {
    Key { name, kind, help, is_required: false, is_one_of: false }
}

const fn needed(name: &'static str, kind: Kind, help: &'static str) -> Key {
    Key { is_required: true, ..key(name, kind, help) }
}

const fn shape(name: &'static str, kind: Kind, help: &'static str) -> Key {
    Key { is_one_of: true, ..key(name, kind, help) }
}

/// Something that stands for a key: a [`Key`], or in files without a schema its name alone.
pub(crate) trait Known {
    /// Its name.
    fn name(&self) -> &'static str;
}

impl Known for Key {
    fn name(&self) -> &'static str {
        self.name
    }
}

impl Known for &'static str {
    fn name(&self) -> &'static str {
        self
    }
}

/// The names of keys.
pub(crate) fn names<K: Known>(keys: &'static [K]) -> impl Iterator<Item = &'static str> {
    keys.iter().map(Known::name)
}

/// Whether a name is among keys.
pub(crate) fn has<K: Known>(keys: &[K], name: &str) -> bool {
    keys.iter().any(|key| key.name() == name)
}

/// Words that other tools and people have for keys.
const OTHER_WORDS: [(&str, &[&str]); 10] = [
    ("from", &["source", "src", "output", "out"]),
    ("to", &["target", "dest", "destination", "input", "sink", "port"]),
    ("size", &["dt", "h", "step", "step_size", "stepsize", "length"]),
    ("file", &["path", "fmu", "filename", "source", "uri"]),
    ("set", &["parameters", "params", "parameter", "start_values", "start"]),
    ("stop", &["end", "t_end", "tend", "stop_time", "duration", "final_time"]),
    ("start", &["begin", "t_start", "start_time"]),
    ("frequency", &["freq", "f", "hz"]),
    ("gain", &["factor", "scale", "multiplier"]),
    ("every", &["interval", "period", "rate"]),
];

/// The keys that a word of another tool may stand for.
pub(crate) fn of_other_tools(word: &str) -> impl Iterator<Item = &'static str> {
    let word = word.to_ascii_lowercase();
    OTHER_WORDS.iter().filter(move |(_, words)| words.contains(&word.as_str())).map(|(key, _)| *key)
}

/// Words that other tools and people have for tables. None is within a slip of the pen of another table's name.
pub(crate) const TABLES_OF_OTHERS: [(&str, &[&str]); 6] = [
    ("connect", &["connection", "connections", "link", "links", "wire", "coupling"]),
    ("external", &["externals", "signal", "signals", "source", "sources"]),
    ("fmu", &["fmus", "component", "components", "simulators"]),
    ("system", &["simulation", "experiment", "project"]),
    ("record", &["recording", "results"]),
    ("method", &["algorithm"]),
];

/// The table that such a word stands for.
pub(crate) fn table_of_others(word: &str) -> Option<&'static str> {
    TABLES_OF_OTHERS.iter().find(|(_, words)| words.contains(&word)).map(|(table, _)| *table)
}

/// What people write in tables that has no key of the same meaning: where, the words, and what to write.
const HINTS: [(&str, &[&str], &str); 16] = [
    (
        "[record]",
        &["file", "format", "out", "output", "path", "csv", "folder"],
        "`costep run --out DIR` says where to record, `costep export DIR --to x.csv` writes other formats",
    ),
    ("[run]", &["out", "output", "folder"], "`costep run --out DIR` says where to record"),
    ("[[external]]", &["constant", "const"], "did you mean `value`?"),
    ("[[external]]", &["sin", "sinus", "cosine", "cos"], "did you mean `sine`?"),
    ("[[external]]", &["pulse", "pulses", "pwm", "rectangle"], "did you mean `square`?"),
    ("[[external]]", &["csv", "data"], "did you mean `file`?"),
    (
        "[[external]]",
        &["ramp", "slope"],
        "a ramp is a table: `table = [[0.0, 0.0], [1.0, 5.0]]`, times in s and values",
    ),
    ("[[external]]", &["from"], "did you mean `to`?"),
    (
        "[[external]]",
        &["unit", "units"],
        "values are in the unit of the input; those of a file are converted by `gain`",
    ),
    (
        "[[external]]",
        &["type", "kind", "shape", "signal", "amplitude", "frequency"],
        "the signal is a key with its own: `sine = { amplitude = 1, frequency = 2 }`, `step = { value = 1, start = 0.5 }`",
    ),
    ("`step`", &["time", "at", "t", "delay"], "did you mean `start`?"),
    ("`step`", &["after", "final", "height", "amplitude"], "did you mean `value`?"),
    (
        "`step`",
        &["before", "initial"],
        "the value is 0 before; others go into `stairs = [[0.0, 1.0], [0.5, 2.0]]`",
    ),
    ("`sine`", &["omega", "w"], "write `frequency`, in Hz: omega / 6.28319"),
    ("`square`", &["amplitude", "offset"], "write `high` and `low`, the two values"),
    (
        "`sine`",
        &["offset", "bias", "mean"],
        "add another [[external]] to the same input with `value`, and `sum = true` in both",
    ),
];

/// What to write in the place of such a word.
pub(crate) fn hint_of(table: &str, word: &str) -> Option<String> {
    let word = word.to_ascii_lowercase();
    let hint = HINTS.iter().find(|(place, words, _)| *place == table && words.contains(&word.as_str()));
    hint.map(|(.., hint)| (*hint).to_owned())
}

/// How a table begins that has a name of the user: `[fmu.NAME]`.
pub(crate) fn named(name: &str) -> Option<String> {
    let table = ROOT.iter().find(|table| table.name == name)?;
    match table.kind {
        Kind::Ports(_) => Some(format!("[{name}.\"part.port\"]")),
        Kind::Named(_) | Kind::Natives(_) | Kind::Groups => Some(format!("[{name}.NAME]")),
        _ => None,
    }
}

/// How a table begins: `[system]`, or `[[connect]]` where there may be many.
pub(crate) fn header(table: &Key) -> String {
    match table.kind {
        Kind::List(_) => format!("[[{}]]", table.name),
        _ => format!("[{}]", table.name),
    }
}

/// The tables of a project file.
pub(crate) const ROOT: &[Key] = &[
    key("system", Kind::Table(SYSTEM), "name, start, stop and inner solver of the whole system"),
    key("parameters", Kind::Numbers, "parameters of a built-in model that is used as a whole"),
    key("step", Kind::Table(STEP), "the macro step: its length, or how it is controlled"),
    key("method", Kind::Method, "the coupling method of all connections without a group; auto if left out"),
    key("models", Kind::Models, "where methods get models of the parts"),
    key("schedule", Kind::Schedule(SCHEDULE), "in which order parts step"),
    key("native", Kind::Natives(NATIVE), "parts of built-in models"),
    key("fmu", Kind::Named(FMU), "FMUs"),
    key("linear", Kind::Named(LINEAR), "linear parts, by their matrices"),
    key("connect", Kind::List(CONNECT), "connections of outputs with inputs"),
    key("group", Kind::Groups, "connections with a coupling method of their own"),
    key("external", Kind::List(EXTERNAL), "inputs from outside: constants, shapes, files of values"),
    key("port", Kind::Ports(PORT), "typical sizes and bounds of ports, by \"part.port\""),
    key("record", Kind::Table(RECORD), "what is recorded"),
    key("guard", Kind::Table(GUARD), "limits on outputs that end a run"),
    key("run", Kind::Table(RUN), "threads"),
];

/// How a system starts.
pub(crate) const INITIAL: [&str; 2] = ["given", "steady"];

pub(crate) const SYSTEM: &[Key] = &[
    key("name", Kind::Text, "the name of the system; that of its folder if left out"),
    key("model", Kind::Model, "a built-in model as a whole, instead of parts and connections"),
    key("start", Kind::Time, "where the run begins; 0 if left out"),
    key("stop", Kind::Time, "where the run ends; if left out, what the parts propose"),
    key("initial", Kind::Word(&INITIAL), "how it starts: as the parts say, or at rest (native parts only)"),
    key(
        "stop_when",
        Kind::Texts,
        "conditions on outputs that end the run before its stop: \"tank.level > 3\"",
    ),
    key(
        "solver",
        Kind::Solver,
        "inner solver of native parts: euler:10us, rk4:10us, dopri5:1e-8, bdf:1e-6, adams:1e-8, exact",
    ),
];

pub(crate) const STEP: &[Key] = &[
    key("size", Kind::Length, "length of a macro step; with a tolerance, of the first one"),
    key("control", Kind::Control, "how steps are controlled, with a tolerance"),
    key(
        "tolerance",
        Kind::Positive,
        "steps that vary, for an error of about this share of the ranges of the signals",
    ),
    key("min", Kind::Length, "shortest step, with a tolerance"),
    key("max", Kind::Length, "longest step, with a tolerance"),
    key(
        "rates",
        Kind::Rates,
        "parts that step once in several macro steps (5), or several times in one (\"1/4\")",
    ),
    key("correct_bonds", Kind::Truth, "inputs give back what was lost or made at power bonds"),
];

pub(crate) const SCHEDULE: &[Key] = &[
    key("kind", Kind::Word(&["auto", "parallel", "sequential"]), "in which order parts step"),
    key("order", Kind::Order, "the order of the parts, with sequential"),
];

pub(crate) const NATIVE: &[Key] = &[
    needed("model", Kind::Model, "the built-in model"),
    needed("part", Kind::Text, "which of its parts"),
    key("set", Kind::Numbers, "parameters"),
];

pub(crate) const FMU: &[Key] = &[
    needed("file", Kind::Text, "the FMU, relative to this file"),
    key("copied_from", Kind::Text, "the file that it is a copy of: told if that one has changed"),
    key("set", Kind::Values, "parameters, start values and inputs"),
    key("interface", Kind::Word(&["cs", "me"]), "Co-Simulation, or Model Exchange: costep integrates it"),
    key(
        "solver",
        Kind::Solver,
        "with Model Exchange: dopri5:1e-8, bdf:1e-6, adams:1e-8, euler:10us, rk4:10us",
    ),
    key("isolation", Kind::Word(&["auto", "none", "process", "sandbox"]), "in which process it runs"),
    key("step_timeout", Kind::Length, "longest time of a call before the run is aborted"),
    key("retry_discarded", Kind::Truth, "a discarded step is repeated in shorter ones"),
    key("validate", Kind::Truth, "false: use it in spite of errors in its model description"),
    key(
        "log",
        Kind::Truth,
        "true: its debug messages too, in NAME.log of the run; usual for FMI 3 and Python code",
    ),
    key("trust", Kind::Truth, "true: rely on what it offers without trying it"),
    key("continuous", Kind::Texts, "real signals that are smooth although they are declared discrete"),
    key("discrete", Kind::Texts, "signals that keep their last value over a step, whatever the method"),
];

pub(crate) const LINEAR: &[Key] = &[
    key("a", Kind::Matrix, "x' = A x + B u: what states do to each other"),
    key("b", Kind::Matrix, "what inputs do to states"),
    key("c", Kind::Matrix, "y = C x + D u: what outputs are of states"),
    key("d", Kind::Matrix, "what outputs are of inputs at once; nothing if left out"),
    key("start", Kind::Row, "states at the start; zeros if left out"),
    key("inputs", Kind::PortNames, "names of inputs, or names with units: { torque = \"N.m\" }"),
    key("outputs", Kind::PortNames, "the same of outputs"),
];

pub(crate) const CONNECT: &[Key] = &[
    needed("from", Kind::Text, "an output, \"part.port\""),
    needed("to", Kind::Text, "an input, \"part.port\""),
    key("gain", Kind::Number, "a factor; units are then not compared"),
    key("offset", Kind::Number, "added after the gain"),
    key("unit", Kind::Word(&["convert"]), "convert between the units of the two ends"),
    key("map", Kind::Map, "integers and items of enumerations that become others"),
    key("sum", Kind::Truth, "several connections into one input are added"),
    key("group", Kind::Text, "a group with its own method"),
    key("bond", Kind::Text, "the name of a power bond, at two connections there and back"),
];

pub(crate) const EXTERNAL: &[Key] = &[
    needed("to", Kind::Text, "an input, \"part.port\""),
    key("sum", Kind::Truth, "added to what else feeds the input"),
    shape("value", Kind::Number, "a constant"),
    shape("step", Kind::Table(STEP_SHAPE), "a step"),
    shape("sine", Kind::Table(SINE), "a sine"),
    shape("square", Kind::Table(SQUARE), "a square wave"),
    shape("table", Kind::Points, "times and values, straight lines between them"),
    shape("stairs", Kind::Points, "times and values, held between them"),
    shape("file", Kind::Text, "a CSV file or recording, relative to this file"),
    key("column", Kind::Column, "of a file: the column, by name or number"),
    key("interpolation", Kind::Word(&["linear", "hold"]), "of a file: between its rows"),
    key("time_offset", Kind::Time, "of a file: added to its times"),
    key("gain", Kind::Number, "of a file: a factor"),
    key("offset", Kind::Number, "of a file: added after the gain"),
];

pub(crate) const STEP_SHAPE: &[Key] = &[
    needed("value", Kind::Number, "the value after the step"),
    key("start", Kind::Time, "when; 0 if left out"),
];

pub(crate) const SINE: &[Key] = &[
    needed("amplitude", Kind::Number, "half of the distance from top to bottom"),
    needed("frequency", Kind::NotNegative, "in Hz"),
    key("phase", Kind::Number, "in rad"),
    key("start", Kind::Time, "when it begins"),
    key("stop", Kind::Time, "when it ends"),
];

pub(crate) const SQUARE: &[Key] = &[
    needed("high", Kind::Number, "the value in the first half of a period"),
    needed("low", Kind::Number, "the value in the second half"),
    needed("frequency", Kind::NotNegative, "in Hz"),
    key("phase", Kind::Number, "in rad"),
    key("start", Kind::Time, "when it begins"),
];

pub(crate) const PORT: &[Key] = &[
    key("nominal", Kind::Positive, "typical size, for limits and scaling"),
    key("min", Kind::Number, "least value of an output"),
    key("max", Kind::Number, "greatest value of an output"),
];

pub(crate) const RECORD: &[Key] = &[
    key("every", Kind::Length, "time between rows; every communication point if left out"),
    key(
        "between",
        Kind::Truth,
        "outputs between communication points, where parts tell them; if left out, of native systems with few steps",
    ),
    key("signals", Kind::SomeTexts, "names and patterns with * of signals; all if left out"),
];

pub(crate) const GUARD: &[Key] = &[key("bounds", Kind::Bounds, "least and greatest value of outputs")];

pub(crate) const RUN: &[Key] =
    &[key("threads", Kind::Threads, "\"auto\" or a number; results do not depend on it")];

/// The table that has a key of this name, and the key: `[system]` for `solver`. Names of users are not looked at.
pub(crate) fn owner(name: &str) -> Option<(String, &'static Key)> {
    ROOT.iter().find_map(|table| match table.kind {
        Kind::Table(keys) | Kind::Schedule(keys) => {
            keys.iter().find(|key| key.name == name).map(|key| (format!("[{}]", table.name), key))
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fmus::{FmuInterface, Isolation};

    #[test]
    fn words_are_those_that_are_read() {
        let words = |name| match FMU.iter().find(|key| key.name == name).map(|key| key.kind) {
            Some(Kind::Word(words)) => words.to_vec(),
            _ => Vec::new(),
        };
        assert_eq!(words("isolation"), Isolation::ALL.map(Isolation::word));
        assert_eq!(
            words("interface"),
            [FmuInterface::CoSimulation, FmuInterface::ModelExchange].map(FmuInterface::word)
        );
    }
}
