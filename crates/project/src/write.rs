//! Writes the effective project as TOML.

use std::fmt::{Display, Write};
use std::path::Path;

use costep_core::quantity::{exact_time, format_time, parse_time};
use costep_core::{External, InputSet, Value};
use costep_engine::{Scheduling, Threads};
use costep_import::Interpolation;
use costep_methods::MethodSpec;

use crate::externals::ExternalFile;
use crate::fmus::{Isolation, file_in, path_in, written};
use crate::maps;
use crate::models::names_a_file;
use crate::project::Project;
use crate::rates::rates_value;
use crate::signals::{Side, Signals};

impl Project {
    /// The effective project, file and overrides together, as text that [`crate::load_text`] reads back to the
    /// same project.
    pub fn to_toml(&self) -> String {
        self.written(None)
    }

    /// The same for a file in another folder: FMUs below that folder are named relative to it, others by their whole
    /// path.
    pub fn to_toml_in(&self, folder: &Path) -> String {
        self.written(Some(folder))
    }

    fn written(&self, folder: Option<&Path>) -> String {
        let signals = Signals::new(self.model.parts.iter().map(|part| part.description()));
        let mut out = Writer::default();
        self.write_system(&mut out);
        self.write_natives(&mut out);
        self.write_fmus(folder, &mut out);
        self.write_linears(&mut out);
        self.given.made.iter().for_each(|name| out.comment(&format!("the part {name} is made in code")));
        self.write_methods(folder, &signals, &mut out);
        self.write_models(folder, &mut out);
        self.write_schedule(&signals, &mut out);
        self.write_connections(&signals, &mut out);
        self.write_externals(folder, &signals, &mut out);
        self.write_ports(&mut out);
        self.write_rest(&signals, &mut out);
        out.text
    }

    fn write_system(&self, out: &mut Writer) {
        let experiment = &self.model.experiment;
        out.table("[system]");
        out.key("name", quoted(&self.name));
        if let Some(model) = &self.model_id {
            out.key("model", quoted(model));
        }
        out.key("start", time(experiment.start));
        out.key("stop", time(experiment.stop));
        if self.given.is_steady {
            out.key("initial", quoted("steady"));
        }
        if !self.given.stop_when.is_empty() {
            out.key("stop_when", list(self.given.stop_when.iter().map(|condition| quoted(&condition.text))));
        }
        if self.given.solver {
            out.key("solver", quoted(&self.model.solver.label()));
        }
        out.table("[step]");
        let names = self.model.parts.iter().map(|part| part.description().name.as_str());
        if let Some(rates) = rates_value(names.zip(self.rates.iter().copied())) {
            out.key("rates", rates);
        }
        if self.bonds.corrected {
            out.key("correct_bonds", "true");
        }
        let Some(control) = &self.control else {
            out.key("size", time(experiment.step));
            return;
        };
        out.key("control", quoted(control.entry.id));
        if control.entry.takes_tolerance {
            out.key("tolerance", real(control.tolerance));
        }
        out.key("min", time(control.min));
        out.key("max", time(control.max));
        if let Some(first) = control.first {
            out.key("size", time(first));
        }
    }

    fn write_natives(&self, out: &mut Writer) {
        if self.model_id.is_some() {
            out.table("[parameters]");
            self.parameters.iter().for_each(|(name, value)| out.key(name, real(*value)));
        }
        for native in &self.given.natives {
            out.table(&format!("[native.{}]", key(&native.name)));
            out.key("model", quoted(&native.model));
            out.key("part", quoted(&native.part));
            if !native.set.is_empty() {
                out.key("set", inline(native.set.iter().map(|(name, value)| (name.as_str(), *value))));
            }
        }
    }

    fn write_fmus(&self, folder: Option<&Path>, out: &mut Writer) {
        for fmu in &self.given.fmus {
            out.table(&format!("[fmu.{}]", key(&fmu.name)));
            out.key("file", quoted(&file_in(fmu, folder).to_string_lossy()));
            if fmu.interface_given {
                out.key("interface", quoted(fmu.interface.word()));
            }
            if let Some(solver) = fmu.solver {
                out.key("solver", quoted(&solver.label()));
            }
            if fmu.isolation != Isolation::default() {
                out.key("isolation", quoted(fmu.isolation.word()));
            }
            if let Some(limit) = fmu.step_timeout {
                out.key("step_timeout", quoted(&exact_time(limit)));
            }
            if fmu.retry_discarded {
                out.key("retry_discarded", "true");
            }
            if let Some(log) = fmu.log {
                out.key("log", log.to_string());
            }
            for (name, signals) in
                [("continuous", &fmu.variations.continuous), ("discrete", &fmu.variations.discrete)]
            {
                if !signals.is_empty() {
                    out.key(name, list(signals.iter().map(|signal| quoted(signal))));
                }
            }
            if !fmu.validate {
                out.key("validate", "false");
            }
            if fmu.trust {
                out.key("trust", "true");
            }
            if !fmu.set.is_empty() {
                let pairs = fmu.set.iter().map(|(name, values)| (name.as_str(), written(values, quoted)));
                out.key("set", inline_text(pairs));
            }
        }
    }

    fn write_linears(&self, out: &mut Writer) {
        for linear in &self.given.linears {
            out.table(&format!("[linear.{}]", key(&linear.name)));
            let row = |row: &[f64]| list(row.iter().copied().map(real));
            for (letter, rows) in linear.rows() {
                out.key(letter, list(rows.into_iter().map(row)));
            }
            if linear.start.iter().any(|start| *start != 0.0) {
                out.key("start", row(&linear.start));
            }
            for (name, ports) in [("inputs", &linear.inputs), ("outputs", &linear.outputs)] {
                let ports = ports.iter().map(|(port, unit)| (port.as_str(), quoted(unit)));
                out.key(name, inline_text(ports));
            }
        }
    }

    fn write_methods(&self, folder: Option<&Path>, signals: &Signals, out: &mut Writer) {
        for (index, group) in self.groups.iter().enumerate() {
            out.table(&if index == 0 { "[method]".into() } else { format!("[group.{}]", key(&group.name)) });
            write_method(&group.method, folder, out);
            if let (true, InputSet::Some(inputs)) = (index > 0, &group.inputs) {
                let names = signals.names(Side::Input);
                out.key("inputs", list(inputs.iter().map(|input| quoted(&names[*input]))));
            }
        }
    }

    fn write_models(&self, folder: Option<&Path>, out: &mut Writer) {
        let Some(models) = &self.models else { return };
        out.table("[models]");
        out.key("source", quoted(models.entry.id));
        write_options(models.given(), |name| names_a_file(models.entry.options, name), folder, out);
    }

    fn write_schedule(&self, signals: &Signals, out: &mut Writer) {
        out.table("[schedule]");
        let kind = match &self.scheduling {
            Scheduling::Auto => "auto",
            Scheduling::Parallel => "parallel",
            Scheduling::Sequential(_) => "sequential",
        };
        out.key("kind", quoted(kind));
        if let Scheduling::Sequential(order) = &self.scheduling
            && !order.is_empty()
        {
            out.key("order", list(order.iter().map(|part| quoted(&signals.parts()[*part]))));
        }
    }

    fn write_connections(&self, signals: &Signals, out: &mut Writer) {
        if self.model_id.is_some() {
            return;
        }
        let mut sources = vec![0; signals.names(Side::Input).len()];
        self.model.connections.iter().for_each(|connection| sources[connection.input] += 1);
        self.given.externals.iter().for_each(|external| sources[external.input] += 1);
        let fmus = self.given.natives.len()..self.given.natives.len() + self.given.fmus.len();
        let layout = self.model.layout();
        let links = self.bonds.names.iter().zip(&self.offsets).zip(&self.maps);
        for (connection, ((bond, offset), map)) in self.model.connections.iter().zip(links) {
            out.table("[[connect]]");
            out.key("from", quoted(&signals.names(Side::Output)[connection.output]));
            out.key("to", quoted(&signals.names(Side::Input)[connection.input]));
            let unit = |side, index| signals.unit(side, index).map(|unit| unit.name());
            let same_unit = unit(Side::Output, connection.output) == unit(Side::Input, connection.input);
            let of_fmu = fmus.contains(&layout.output_owner(connection.output))
                || fmus.contains(&layout.input_owner(connection.input));
            // A gain of 1 between different units says that they are meant to be so. FMUs may give the same name to
            // different units.
            if connection.gain != 1.0 || !same_unit || of_fmu {
                out.key("gain", real(connection.gain));
            }
            if *offset != 0.0 {
                out.key("offset", real(*offset));
            }
            if !map.is_empty() {
                out.key("map", maps::written(map));
            }
            if sources[connection.input] > 1 {
                out.key("sum", true);
            }
            if let Some(bond) = bond {
                out.key("bond", quoted(bond));
            }
        }
    }

    fn write_externals(&self, folder: Option<&Path>, signals: &Signals, out: &mut Writer) {
        for external in &self.given.externals {
            out.table("[[external]]");
            out.key("to", quoted(&signals.names(Side::Input)[external.input]));
            if external.sum {
                out.key("sum", true);
            }
            match &external.file {
                Some(file) => write_file_signal(file, folder, out),
                None => {
                    let (shape, value) = signal(&external.signal);
                    out.key(shape, value);
                }
            }
        }
    }

    fn write_ports(&self, out: &mut Writer) {
        for size in &self.given.ports {
            out.table(&format!("[port.{}]", key(&size.port)));
            for (name, value) in [("nominal", size.nominal), ("min", size.min), ("max", size.max)] {
                if let Some(value) = value {
                    out.key(name, real(value));
                }
            }
        }
    }

    fn write_rest(&self, signals: &Signals, out: &mut Writer) {
        out.table("[record]");
        if let Some(every) = self.record.every {
            out.key("every", time(every));
        }
        if let Some(between) = self.record.between {
            out.key("between", between);
        }
        if !self.record.signals.is_empty() {
            out.key("signals", list(self.record.signals.iter().map(|pattern| quoted(pattern))));
        }
        out.table("[guard.bounds]");
        for (output, bounds) in &self.bounds {
            let pair = list([bounds.min, bounds.max].map(real));
            out.key(&signals.names(Side::Output)[*output], pair);
        }
        out.table("[run]");
        match self.threads {
            Threads::Auto => out.key("threads", quoted("auto")),
            Threads::Fixed(count) => out.key("threads", count),
        }
    }
}

fn write_method(method: &MethodSpec, folder: Option<&Path>, out: &mut Writer) {
    out.key("id", quoted(method.entry.id));
    let is_file = |name: &str| names_a_file(method.all_options(), name);
    write_options(method.given(), is_file, folder, out);
}

fn write_options(
    given: &[(String, Value)],
    is_file: impl Fn(&str) -> bool,
    folder: Option<&Path>,
    out: &mut Writer,
) {
    for (name, value) in given {
        match value {
            Value::Bool(truth) => out.key(name, truth),
            Value::Integer(integer) => out.key(name, integer),
            Value::Real(value) => out.key(name, real(*value)),
            Value::Text(file) if !file.is_empty() && is_file(name) => {
                out.key(name, quoted(&path_in(Path::new(file), folder).to_string_lossy()));
            }
            Value::Text(text) => out.key(name, quoted(text)),
        }
    }
}

fn write_file_signal(file: &ExternalFile, folder: Option<&Path>, out: &mut Writer) {
    let path = folder.map_or_else(|| file.file.clone(), |folder| path_in(&file.path, Some(folder)));
    out.key("file", quoted(&path.to_string_lossy()));
    out.key("column", quoted(&file.signal.column));
    if file.signal.interpolation == Interpolation::Hold {
        out.key("interpolation", quoted("hold"));
    }
    if file.signal.time_offset != 0.0 {
        out.key("time_offset", time(file.signal.time_offset));
    }
    for (name, value, usual) in [("gain", file.signal.gain, 1.0), ("offset", file.signal.offset, 0.0)] {
        if value != usual {
            out.key(name, real(value));
        }
    }
}

pub(crate) fn signal(signal: &External) -> (&'static str, String) {
    match signal {
        External::Constant(value) => ("value", real(*value)),
        External::Step { value, start } => ("step", inline([("value", *value), ("start", *start)])),
        External::Sine { amplitude, frequency, phase, start } => {
            let keys = ["amplitude", "frequency", "phase", "start"];
            ("sine", inline(keys.into_iter().zip([*amplitude, *frequency, *phase, *start])))
        }
        External::Burst { amplitude, frequency, phase, start, stop } => {
            let keys = ["amplitude", "frequency", "phase", "start", "stop"];
            ("sine", inline(keys.into_iter().zip([*amplitude, *frequency, *phase, *start, *stop])))
        }
        External::Square { high, low, frequency, phase, start } => {
            let keys = ["high", "low", "frequency", "phase", "start"];
            ("square", inline(keys.into_iter().zip([*high, *low, *frequency, *phase, *start])))
        }
        External::Table(points) => ("table", list(points.iter().map(|(t, v)| list([*t, *v].map(real))))),
        External::Stairs(points) => ("stairs", list(points.iter().map(|(t, v)| list([*t, *v].map(real))))),
    }
}

/// Lines of TOML.
#[derive(Default)]
struct Writer {
    text: String,
}

impl Writer {
    fn comment(&mut self, text: &str) {
        let _ = writeln!(self.text, "\n# {text}");
    }

    fn table(&mut self, header: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(header);
        self.text.push('\n');
    }

    fn key(&mut self, name: &str, value: impl Display) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "{} = {value}", key(name));
    }
}

/// The shortest text that is read back to the same number.
pub(crate) fn real(value: f64) -> String {
    format!("{value:?}")
}

/// With a unit for people where that is exact.
fn time(seconds: f64) -> String {
    let nice = format_time(seconds);
    quoted(&if parse_time(&nice) == Ok(seconds) { nice } else { exact_time(seconds) })
}

fn list(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(", "))
}

fn inline<'a>(pairs: impl IntoIterator<Item = (&'a str, f64)>) -> String {
    inline_text(pairs.into_iter().map(|(name, value)| (name, real(value))))
}

pub(crate) fn inline_text<'a>(pairs: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let pairs = pairs.into_iter().map(|(name, value)| format!("{} = {value}", key(name)));
    format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
}

/// A key, in quotes if it has to be.
pub(crate) fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(bare) { name.into() } else { quoted(name) }
}

/// Text in quotes.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter.is_control() => quoted.push_str(&format!("\\u{:04X}", letter as u32)),
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of every kind: each letter of the first planes alone, then mixtures by a fixed seed.
    fn names() -> impl Iterator<Item = String> {
        let letters: Vec<char> =
            (1..0x0500).chain(0x2000..0x2100).chain(0x1F600..0x1F640).filter_map(char::from_u32).collect();
        let alone: Vec<String> = letters.iter().map(char::to_string).collect();
        let mut seed = 7u64;
        let mixed = (0..5000).map(move |_| {
            let mut next = |most: usize| {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (seed >> 33) as usize % most
            };
            (0..=next(12)).map(|_| letters[next(letters.len())]).collect()
        });
        alone.into_iter().chain(mixed).chain([String::new(), "a.b".into(), "[x]".into(), "'\"\\".into()])
    }

    #[test]
    fn every_name_comes_back_as_key_header_and_text() {
        for name in names() {
            let text = format!("{} = {}\n[fmu.{}]\nfile = 1\n", key(&name), quoted(&name), key(&name));
            // The first line would be a second table of this name.
            if name == "fmu" {
                continue;
            }
            let table: toml::Table = text.parse().unwrap_or_else(|error| panic!("{name:?}: {error}\n{text}"));
            assert_eq!(table[&name].as_str(), Some(name.as_str()));
            assert_eq!(table["fmu"][&name]["file"].as_integer(), Some(1), "{name:?}");
        }
    }
}
