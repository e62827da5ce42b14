//! `.msim` projects of MasterSim: one statement per line.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use costep_core::Result;
use costep_core::quantity::{split_quantity, with_point};
use costep_core::suggest::nearest_by_letters;
use costep_fmu_file::short;
use costep_ssp::{Flat, Reach, number_alone};

use crate::builder::{Builder, Passage, Role};
use crate::csv::time_unit;
use crate::data::DataFile;
use crate::format::read_text;

pub(crate) fn read(path: &Path, reach: Reach) -> Result<Flat> {
    let text = read_text(path)?;
    let mut reader = Reader {
        builder: Builder::new(path, "MasterSim", reach),
        readers: HashMap::new(),
        cycles: Vec::new(),
        graph: Vec::new(),
        parameters: Vec::new(),
        settings: HashMap::new(),
    };
    reader.lines(&text);
    reader.algorithm();
    reader.connect();
    Ok(reader.builder.finish())
}

struct Reader<'a> {
    builder: Builder,
    /// Files that play the part of a simulator, with the names of their columns.
    readers: HashMap<String, Option<(PathBuf, Vec<String>)>>,
    /// Cycle of each FMU: those of a lower one step before.
    cycles: Vec<u32>,
    graph: Vec<(Vec<String>, u32)>,
    parameters: Vec<(&'a str, u32)>,
    settings: HashMap<&'a str, (&'a str, u32)>,
}

/// Statements about time, about the master algorithm, and about output that has no counterpart.
const TIMES: [&str; 7] = ["tStart", "tEnd", "hMax", "hMin", "hFallBackLimit", "hStart", "hOutputMin"];
const ALGORITHM: [&str; 7] = [
    "adjustStepSize",
    "preventOversteppingOfEndTime",
    "absTol",
    "relTol",
    "MasterMode",
    "ErrorControlMode",
    "maxIterations",
];
/// What is a key of project files under another name.
const KEYS: [(&str, &str); 7] = [
    ("tStart", "system.start"),
    ("tEnd", "system.stop"),
    ("hStart", "step.size"),
    ("hMin", "step.min"),
    ("hMax", "step.max"),
    ("relTol", "step.tolerance"),
    ("hOutputMin", "record.every"),
];
const OUTPUT: [&str; 5] = [
    "outputTimeUnit",
    "writeInternalVariables",
    "writeUnconnectedFileReaderVars",
    "outputOnly",
    "binaryOutputFiles",
];

impl<'a> Reader<'a> {
    fn lines(&mut self, text: &'a str) {
        for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (word, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
            let rest = rest.trim();
            match word {
                "simulator" => self.simulator(rest, number),
                "graph" => {
                    let words = self.words(rest, number);
                    self.graph.push((words, number));
                }
                "parameter" => self.parameters.push((rest, number)),
                _ if TIMES.contains(&word) || ALGORITHM.contains(&word) => {
                    if let Some((_, earlier)) = self.settings.insert(word, (rest, number)) {
                        let message = format!("`{word}` is given in line {earlier} too: remove one of them");
                        self.builder.error(number, message);
                    }
                }
                _ if OUTPUT.contains(&word) => {
                    self.builder.unused(
                        number,
                        format!("`{word}` is not used: all outputs are recorded, time is in s"),
                    );
                }
                _ => {
                    let known = ["simulator", "graph", "parameter"].into_iter();
                    let known = known.chain(TIMES.iter().copied()).chain(ALGORITHM.iter().copied());
                    let known: Vec<&str> = known.collect();
                    let message = format!("`{}` is not known here", short(word));
                    match nearest_by_letters(word, &known) {
                        Some(near) => {
                            if near == "simulator" {
                                self.builder.lose_part();
                            }
                            self.builder.error(number, format!("{message}: did you mean `{near}`?"))
                        }
                        None => self.builder.warning(number, message),
                    }
                }
            }
        }
    }

    /// `simulator 0 0 Part1 #447cb4 "fmus/Part1.fmu"`: number, cycle, name, colour, file.
    fn simulator(&mut self, rest: &str, line: u32) {
        let words = self.words(rest, line);
        let [_, cycle, name, _, source] = &words[..] else {
            self.builder.lose_part();
            if words.is_empty() && !rest.is_empty() {
                return;
            }
            let message = "a simulator is written as `simulator NUMBER CYCLE NAME COLOUR \"FILE\"`";
            return self.builder.error(line, message);
        };
        let ending =
            Path::new(source).extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        if !matches!(ending.as_deref(), Some("tsv" | "csv")) {
            if self.readers.contains_key(name) {
                return self.builder.error(line, format!("`{}` is there twice", short(name)));
            }
            self.builder.add_fmu(name, source, line);
            // Of an FMU that cannot be opened nothing is left.
            self.cycles.resize(self.builder.flat.components.len(), cycle.parse().unwrap_or(0));
            return;
        }
        if self.builder.has_part(name) || self.readers.contains_key(name) {
            return self.builder.error(line, format!("`{}` is there twice", short(name)));
        }
        let file = self.builder.find_file(source, line).and_then(|file| match DataFile::open(&file) {
            Ok(data) => Some((file, data.names().skip(1).map(str::to_owned).collect())),
            Err(error) => {
                let place = format!("`{}` cannot be used: {}", short(source), error.details().message);
                self.builder.error(line, place);
                None
            }
        });
        self.readers.insert(name.clone(), file);
    }

    /// The words of a line; none, which is noted, if a quote does not end.
    fn words(&mut self, text: &str, line: u32) -> Vec<String> {
        let found = words(text);
        if found.is_none() {
            self.builder.error(line, "a quote does not end");
        }
        found.unwrap_or_default()
    }

    /// A time in s: `10 min`.
    fn time(&mut self, key: &str) -> Option<f64> {
        let (text, line) = *self.settings.get(key)?;
        let (number, unit) = text.split_once([' ', '\t']).unwrap_or((text, "s"));
        let value = number.parse::<f64>().ok().filter(|value| value.is_finite());
        let time =
            value.zip(time_unit(unit.trim())).map(|(value, (factor, divisor))| value * factor / divisor);
        let time = time.filter(|time| time.is_finite());
        if time.is_none() {
            self.builder.error(line, format!("`{key}` is `{}`, not a time{}", short(text), as_time(text)));
        }
        time
    }

    fn algorithm(&mut self) {
        self.builder.flat.start = self.time("tStart");
        self.builder.flat.stop = self.time("tEnd");
        let (step, output) = (self.time("hStart"), self.time("hOutputMin"));
        self.say_places();
        if let Some(step) = step {
            self.builder.set_step(step);
        }
        self.step_control(step);
        if let (Some(step), Some(output)) = (step, output)
            && output > step
        {
            self.builder.flat.settings.push(("record".into(), format!("{{ every = {output:?} }}")));
        }
        let said = |key: &str, settings: &HashMap<&str, (&str, u32)>| {
            settings.get(key).map(|(text, line)| (short(text).to_string(), *line))
        };
        if let Some((mode, line)) = said("MasterMode", &self.settings) {
            match mode.as_str() {
                "GAUSS_JACOBI" => {
                    self.builder.unused(line, "the method is that of `--method`; `--method zoh --schedule parallel` is GAUSS_JACOBI");
                }
                "GAUSS_SEIDEL" => {
                    let order = self.order_of_stepping();
                    self.builder.unused(line, format!("the method is that of `--method`; `--method zoh --schedule sequential:{order}` is GAUSS_SEIDEL"));
                }
                _ => self.builder.warning(
                    line,
                    format!("the master algorithm {mode} has no counterpart; `--method` chooses one"),
                ),
            }
        }
        if let Some((count, line)) = said("maxIterations", &self.settings).filter(|(count, _)| count != "1") {
            let method =
                format!("fixed-point:acceleration=none,inputs=held,predictor=hold,max_iterations={count}");
            let message = format!(
                "the {count} iterations of the master algorithm are those of `--method {method}`; `iqn-ils` needs fewer and is more \
                 accurate"
            );
            self.builder.unused(line, message);
        }
    }

    /// Where the file gives what a project file has under other names.
    fn say_places(&mut self) {
        for (word, key) in KEYS {
            if let Some((_, line)) = self.settings.get(word).copied() {
                self.builder.say_place(key, line);
            }
        }
    }

    /// The limits of steps that vary; nothing, which is noted, where one is no length of a step. A shortest step of zero is none.
    fn limits(&mut self) -> Option<[Option<f64>; 2]> {
        let limits = ["hMin", "hMax"].map(|key| self.time(key));
        for (key, limit) in ["hMin", "hMax"].into_iter().zip(limits) {
            let is_possible = |limit: f64| limit > 0.0 || key == "hMin" && limit == 0.0;
            if !limit.is_none_or(is_possible) {
                let (text, line) = self.settings[key];
                self.builder.error(line, format!("`{key}` is `{}`, which is not above zero", short(text)));
                return None;
            }
        }
        Some(limits.map(|limit| limit.filter(|limit| *limit > 0.0)))
    }

    /// Steps that MasterSim adapts are adapted here as well, within its limits: where it compares every step with
    /// two halves, by `richardson`. `CHECK` looks at errors only to print them: a run is judged here anyway.
    fn step_control(&mut self, first: Option<f64>) {
        let mode = self.settings.get("ErrorControlMode").copied().unwrap_or(("NONE", 0));
        let is_one_of =
            |text: &str, words: [&str; 3]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
        let adapts = self.settings.get("adjustStepSize").copied();
        let adapts = adapts.filter(|(text, _)| !is_one_of(text, ["no", "false", "0"]));
        if let Some((text, line)) = adapts.filter(|(text, _)| !is_one_of(text, ["yes", "true", "1"])) {
            let message = format!("`adjustStepSize` is `{}`, neither `yes` nor `no`", short(text));
            return self.builder.error(line, message);
        }
        match (mode, adapts) {
            (("CHECK", line), _) => {
                self.builder
                    .unused(line, "CHECK is not needed: every run is judged, `--verify` estimates its error");
            }
            (("ADAPT_STEP" | "STEP_DOUBLING", line), None) => {
                self.builder.warning(line, "the error control needs `adjustStepSize yes`: steps are equal");
            }
            (("NONE" | "ADAPT_STEP" | "STEP_DOUBLING", _), _) => {}
            ((other, line), _) => {
                self.builder.warning(line, format!("the error control `{}` is not known here", short(other)));
            }
        }
        let Some((_, line)) = adapts else { return };
        let Some(limits) = self.limits() else { return };
        if let [Some(min), Some(max)] = limits
            && min == max
        {
            self.builder.unused(line, "`hMin` and `hMax` are equal: all steps have this length");
            self.builder.flat.places.retain(|(key, _)| *key != "step.size");
            self.builder.say_place("step.size", self.settings["hMax"].1);
            return self.builder.set_step(max);
        }
        let tolerance = self.tolerance();
        let control = match mode.0 {
            "ADAPT_STEP" | "STEP_DOUBLING" => "richardson",
            _ => "defect",
        };
        let mut text = format!("control = \"{control}\", tolerance = {tolerance:?}");
        for (key, limit) in ["min", "max"].into_iter().zip(limits) {
            text += &limit.map_or(String::new(), |limit| format!(", {key} = {limit:?}"));
        }
        text += &first.map_or(String::new(), |first| format!(", size = {first:?}"));
        self.builder.flat.settings.retain(|(key, _)| key != "step");
        self.builder.flat.settings.push(("step".into(), format!("{{ {text} }}")));
        let bounds = "MasterSim bounds the error of each step; that of the run is about its root, which `tolerance` is here";
        let message = match control {
            "defect" => format!(
                "steps vary by the error of the inputs, not by convergence alone (`--control convergence`); {bounds}"
            ),
            _ => format!("steps vary by `{control}`; {bounds}"),
        };
        self.builder.unused(line, message);
    }

    /// The error that a run has if each step keeps to `relTol`: its steps are of first order, so that an error of h^2 each
    /// becomes one of h.
    fn tolerance(&mut self) -> f64 {
        const USUAL: f64 = 1e-5;
        let Some((text, line)) = self.settings.get("relTol").copied() else { return USUAL.sqrt() };
        match text.parse::<f64>().ok().filter(|share| *share > 0.0 && *share < 1.0) {
            Some(share) => share.sqrt().clamp(1e-6, 0.1),
            None => {
                self.builder.error(
                    line,
                    format!("`relTol` is `{}`, not a share{}", short(text), number_alone(text, None)),
                );
                USUAL.sqrt()
            }
        }
    }

    /// The FMUs cycle by cycle, in each as the file lists them.
    fn order_of_stepping(&self) -> String {
        let components = &self.builder.flat.components;
        let mut order: Vec<_> = self.cycles.iter().zip(components).collect();
        order.sort_by_key(|(cycle, _)| **cycle);
        order.iter().map(|(_, component)| component.name.as_str()).collect::<Vec<_>>().join(",")
    }

    fn connect(&mut self) {
        for (words, line) in std::mem::take(&mut self.graph) {
            self.edge(&words, line);
        }
        for (text, line) in std::mem::take(&mut self.parameters) {
            self.parameter(text, line);
        }
    }

    /// `graph Part1.x Part2.u`, perhaps with offset, factor, line width and colour.
    fn edge(&mut self, words: &[String], line: u32) {
        let (ends, more) = words.split_at(words.len().min(2));
        let [Some((source, output)), Some((target, input))] =
            [0, 1].map(|end| ends.get(end)?.split_once('.'))
        else {
            return self.builder.error(line, "a connection is written as `graph PART.OUTPUT PART.INPUT`");
        };
        let numbers: Vec<Option<f64>> = more.iter().take(2).map(|word| word.parse().ok()).collect();
        let (offset, factor) = match &numbers[..] {
            [] => (0.0, 1.0),
            [Some(offset), Some(factor)] if offset.is_finite() && factor.is_finite() => (*offset, *factor),
            _ => {
                let comma = more.iter().map(|word| number_alone(word, None)).find(|hint| !hint.is_empty());
                let message = "offset and factor of a connection are not two numbers".to_owned();
                return self.builder.error(line, message + &comma.unwrap_or_default());
            }
        };
        if self.readers.contains_key(target) {
            return self.builder.error(line, format!("`{}` is a file: it takes no values", short(target)));
        }
        let Some(reader) = self.readers.get(source).cloned() else {
            let ports = [(source, output, Role::Output), (target, input, Role::Input)]
                .map(|(part, name, role)| self.builder.variable(part, name, role, line));
            let [Some(from), Some(to)] = ports else { return };
            let passage = Passage { factor, offset, ..Passage::default() };
            return self.builder.connect(from, to, &passage, line);
        };
        let (Some((file, columns)), Some(to)) =
            (reader, self.builder.variable(target, input, Role::Input, line))
        else {
            return;
        };
        if !columns.iter().any(|column| column == output) {
            let near = self.builder.near(output, columns.iter().skip(1));
            let message = format!("`{}` has no column `{}`", short(source), short(output));
            return self.builder.missing(line, message + &near);
        }
        self.builder.drive(to, (file, output), (factor, offset), line);
    }

    /// `parameter Part1.name value`; a text may be in quotes.
    fn parameter(&mut self, text: &str, line: u32) {
        let parsed = text
            .split_once([' ', '\t'])
            .and_then(|(name, value)| Some((name.split_once('.')?, value.trim())));
        let Some(((part, name), value)) = parsed else {
            return self.builder.error(line, "a parameter is written as `parameter PART.NAME VALUE`");
        };
        if self.readers.contains_key(part) {
            return self.builder.unused(line, format!("`{}` is a file: it has no parameters", short(part)));
        }
        let plain = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
        let plain = plain.replace("\\\\", "\\").replace("\\n", "\n");
        if let Some(port) = self.builder.variable(part, name, Role::Start, line) {
            self.builder.set_text(port, &plain, line);
        }
    }
}

/// What is to be written for a time in another way, to be put behind a message.
fn as_time(text: &str) -> String {
    if let Some(plain) = text.strip_prefix('=') {
        return format!("; there is no `=` in this format: write `{}`", short(plain.trim()));
    }
    if let Some((plain, _)) = text.split_once('#') {
        return format!("; a remark has a line of its own: write `{}`", short(plain.trim()));
    }
    let is_time = |(_, unit): &(&str, &str)| time_unit(unit).is_some();
    match split_quantity(text).filter(is_time) {
        Some((number, unit)) => format!("; write a blank before the unit: `{number} {unit}`"),
        None if with_point(text).is_some() => number_alone(text, None),
        None => "; write a number, a blank and a unit: `10 s`, with ns, us, ms, s, min, h, d or a".into(),
    }
}

/// Words of a line, those in quotes as one; none if a quote does not end.
fn words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (word, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => rest.split_once([' ', '\t']).unwrap_or((rest, "")),
        };
        words.push(word.to_owned());
        rest = after.trim_start();
    }
    Some(words)
}
