//! Multi-models of INTO-CPS and Maestro: JSON with `fmus`, `connections` and `parameters`. What is said
//! about a run, often in a `coe.json` beside, is read too.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use costep_core::suggest::nearest_by_letters;
use costep_core::{Code, Error, Place, Result};
use costep_fmu_file::short;
use costep_ssp::{Flat, Reach, Value, number_alone};
use serde_json::{Map, Value as Json};

use crate::builder::{Builder, Passage, Port, Role};
use crate::format::read_text;

/// Keys that change the result, and have no counterpart.
const DECISIVE: [&str; 4] =
    ["modelSwaps", "modelTransfers", "faultInjectInstances", "faultInjectConfigurationPath"];
const READ: [&str; 9] = [
    "fmus",
    "connections",
    "parameters",
    "algorithm",
    "startTime",
    "endTime",
    "end_time",
    "multimodel_path",
    "multimodel_crc",
];
/// How far up FMUs and multi-models are looked for: a project of INTO-CPS has them in folders of its own.
const LEVELS: usize = 4;

pub(crate) fn read(path: &Path, reach: Reach) -> Result<Flat> {
    let mut builder = Builder::new(path, "multi-model", reach);
    let mut root = parse(path)?;
    // A configuration of a run names the multi-model.
    if let (false, Some(Json::String(named))) = (root.contains_key("fmus"), root.get("multimodel_path")) {
        let found = upwards(&builder.folder, Path::new(named));
        let Some(file) = found.filter(|file| builder.check_file(file, 0)) else {
            builder.missing(0, format!("the multi-model `{}` is missing", short(named)));
            return Ok(builder.finish());
        };
        builder.folder = file.parent().unwrap_or(Path::new("")).to_owned();
        let run = std::mem::replace(&mut root, parse(&file)?);
        root.extend(run.into_iter().filter(|(key, _)| key != "fmus" && key != "connections"));
    } else if let Some(run) = configuration_beside(path) {
        let shown = run.display().to_string();
        builder.unused(0, format!("what is not said about the run is taken from `{}`", short(&shown)));
        for (key, value) in parse(&run)? {
            root.entry(key).or_insert(value);
        }
    }
    let mut reader = Reader { builder, instances: HashSet::new(), lines: lines_of(&read_text(path)?) };
    reader.say_places();
    reader.system(&root);
    Ok(reader.builder.finish())
}

/// Texts of a file with their lines; zero for those that stand in several.
fn lines_of(text: &str) -> HashMap<String, u32> {
    let mut lines = HashMap::new();
    for (index, line) in text.lines().enumerate() {
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        for word in line.split('"').skip(1).step_by(2) {
            lines
                .entry(word.to_owned())
                .and_modify(|first| *first *= u32::from(*first == number))
                .or_insert(number);
        }
    }
    lines
}

fn parse(path: &Path) -> Result<Map<String, Json>> {
    let text = read_text(path)?;
    let place = |line| Place::File { path: path.into(), line, text: None };
    match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
        Ok(Json::Object(object)) => Ok(object),
        Ok(_) => Err(Error::new(Code::SspSchema, "the file is not a JSON object").at(place(Some(1)))),
        Err(error) => {
            let line = Some(error.line()).filter(|line| *line > 0);
            Err(Error::new(Code::SspSchema, "the file is not valid JSON").because(error).at(place(line)))
        }
    }
}

/// A configuration of a run beside a multi-model, or in the only folder beside that has one.
fn configuration_beside(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let names = ["coe.json", "simulation-config.json"];
    let own = names.iter().map(|name| folder.join(name)).find(|file| file.is_file() && file != path);
    own.or_else(|| {
        let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let entries = std::fs::read_dir(here).ok()?.flatten().map(|entry| entry.path().join("coe.json"));
        let mut found: Vec<PathBuf> = entries.filter(|file| file.is_file()).take(2).collect();
        if found.len() == 1 { found.pop() } else { None }
    })
}

/// A file by a name that is relative to a folder or to one around it.
fn upwards(folder: &Path, name: &Path) -> Option<PathBuf> {
    let mut folder = folder.to_owned();
    for _ in 0..LEVELS {
        let file = folder.join(name);
        if file.is_file() {
            return Some(file);
        }
        folder.push("..");
    }
    None
}

struct Reader {
    builder: Builder,
    /// `{key}.instance` of those that were added.
    instances: HashSet<String>,
    /// Where the texts of the file stand.
    lines: HashMap<String, u32>,
}

impl Reader {
    /// The line of a text, or zero.
    fn line(&self, text: &str) -> u32 {
        self.lines.get(text).copied().unwrap_or(0)
    }

    /// Where the file gives what a project file has under other names.
    fn say_places(&mut self) {
        let keys = [
            ("startTime", "system.start"),
            ("endTime", "system.stop"),
            ("end_time", "system.stop"),
            ("size", "step.size"),
        ];
        for (word, key) in keys {
            let line = self.line(word);
            if line > 0 {
                self.builder.say_place(key, line);
            }
        }
    }

    fn system(&mut self, root: &Map<String, Json>) {
        for (key, value) in root {
            let is_off = matches!(value, Json::Null | Json::Bool(false))
                || value.as_object().is_some_and(Map::is_empty)
                || value.as_array().is_some_and(Vec::is_empty);
            if READ.contains(&key.as_str()) || is_off {
                continue;
            }
            match key.as_str() {
                key if DECISIVE.contains(&key) => {
                    self.builder.unsupported(self.line(key), format!("`{key}` has no counterpart"))
                }
                "stabalizationEnabled" => {
                    self.builder.warning(
                        0,
                        "`stabalizationEnabled` has no counterpart (`costep methods` lists what there is)",
                    );
                }
                key => {
                    let message = format!("`{}` is not used", short(key));
                    // What is meant would be left out, and the run be that of another system.
                    match nearest_by_letters(key, &READ).filter(|near| !root.contains_key(*near)) {
                        Some(near) => {
                            self.builder.error(self.line(key), format!("{message}: did you mean `{near}`?"))
                        }
                        None => self.builder.unused(self.line(key), message),
                    }
                }
            }
        }
        self.experiment(root);
        let Some(fmus) = self.object(root, "fmus") else {
            return self.builder.error(0, "`fmus` is missing: this is no multi-model (docs/import.md)");
        };
        let mut ends: Vec<&str> = Vec::new();
        for (source, targets) in self.object(root, "connections").into_iter().flatten() {
            ends.push(source);
            ends.extend(targets.as_array().into_iter().flatten().filter_map(Json::as_str));
        }
        ends.extend(self.object(root, "parameters").into_iter().flatten().map(|(name, _)| name.as_str()));
        ends.iter().for_each(|end| self.add_instance(end, fmus));
        for key in ["logVariables", "livestream"] {
            let named = root.get(key).and_then(Json::as_object).into_iter().flatten();
            named.for_each(|(instance, _)| self.add_instance(&format!("{instance}."), fmus));
        }
        let used: HashSet<&str> =
            self.instances.iter().filter_map(|name| Some(&name[..name.find("}.")? + 1])).collect();
        for key in fmus.keys().filter(|key| !used.contains(key.as_str())) {
            self.builder.warning(0, format!("the FMU `{}` has no instance: it is left out", short(key)));
        }
        for (source, targets) in self.object(root, "connections").into_iter().flatten() {
            self.connections(source, targets);
        }
        for (name, value) in self.object(root, "parameters").into_iter().flatten() {
            self.parameter(name, value);
        }
    }

    fn object<'a>(&mut self, root: &'a Map<String, Json>, key: &str) -> Option<&'a Map<String, Json>> {
        match root.get(key)? {
            Json::Object(object) => Some(object),
            _ => {
                self.builder.error(0, format!("`{key}` is not an object"));
                None
            }
        }
    }

    fn experiment(&mut self, root: &Map<String, Json>) {
        self.builder.flat.start = self.number(root, "startTime");
        let end = self.number(root, "endTime");
        self.builder.flat.stop = end.or_else(|| self.number(root, "end_time"));
        let Some(algorithm) = self.object(root, "algorithm") else { return };
        let kind = algorithm.get("type").and_then(Json::as_str).unwrap_or("fixed-step");
        if kind != "fixed-step" {
            let message = format!(
                "the algorithm `{}` is not taken over: steps are of equal length unless a tolerance is given",
                short(kind)
            );
            self.builder.warning(0, message);
        }
        let key = if algorithm.contains_key("initsize") { "initsize" } else { "size" };
        if let Some(step) = self.number(algorithm, key) {
            self.builder.set_step(step);
        }
    }

    fn number(&mut self, object: &Map<String, Json>, key: &str) -> Option<f64> {
        let value = object.get(key)?;
        // The application writes some numbers as texts.
        let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
        let number = number.filter(|number| number.is_finite());
        if number.is_none() {
            let unit = key.to_lowercase().contains("time").then_some("s");
            let comma = value.as_str().map(|text| number_alone(text, unit)).unwrap_or_default();
            self.builder.error(self.line(key), format!("`{key}` is not a finite number{comma}"));
        }
        number
    }

    /// Adds the instance that a name such as `{key}.instance.variable` belongs to, unless it is there.
    fn add_instance(&mut self, name: &str, fmus: &Map<String, Json>) {
        let Some((key, instance, _)) = split(name) else { return };
        let whole = format!("{key}.{instance}");
        if !self.instances.insert(whole.clone()) {
            return;
        }
        let Some(source) = fmus.get(key) else {
            let near = self.builder.near(key, fmus.keys());
            return self
                .builder
                .missing(self.line(name), format!("`{}` is not among the FMUs{near}", short(key)));
        };
        let line = self.line(key);
        let Some(source) = source.as_str() else {
            return self.builder.error(line, format!("the FMU `{}` is not the name of a file", short(key)));
        };
        // Projects of INTO-CPS have a folder of FMUs; names are relative to it, or to the multi-model.
        let plain = source.strip_prefix("file://").unwrap_or(source);
        let found = upwards(&self.builder.folder, Path::new(plain))
            .or_else(|| upwards(&self.builder.folder, &Path::new("FMUs").join(plain)));
        let file = match found {
            Some(file) => Some(file).filter(|file| self.builder.check_file(file, line)),
            None => self.builder.find_file(source, line),
        };
        self.builder.add_file((&whole, instance), file, false, line);
    }

    /// The variable that `{key}.instance.variable` names.
    fn port(&mut self, name: &str, role: Role) -> Option<Port> {
        let Some((key, instance, variable)) = split(name).filter(|(_, _, variable)| !variable.is_empty())
        else {
            self.builder.error(
                self.line(name),
                format!("`{}` is not written as `{{fmu}}.instance.variable`", short(name)),
            );
            return None;
        };
        let whole = format!("{key}.{instance}");
        if !self.builder.has_part(&whole) {
            return None;
        }
        self.builder.variable(&whole, variable, role, self.line(name))
    }

    fn connections(&mut self, source: &str, targets: &Json) {
        let Some(from) = self.port(source, Role::Output) else { return };
        let Some(targets) = targets.as_array() else {
            return self
                .builder
                .error(self.line(source), format!("the targets of `{}` are not a list", short(source)));
        };
        for target in targets {
            match target.as_str() {
                Some(target) => {
                    if let Some(to) = self.port(target, Role::Input) {
                        self.builder.connect(from, to, &Passage::default(), self.line(target));
                    }
                }
                None => self
                    .builder
                    .error(self.line(source), format!("a target of `{}` is not a name", short(source))),
            }
        }
    }

    fn parameter(&mut self, name: &str, value: &Json) {
        let Some(port) = self.port(name, Role::Start) else { return };
        let line = self.line(name);
        match value {
            Json::Bool(truth) => self.builder.set(port, Value::Boolean(vec![*truth]), line),
            Json::Number(number) => {
                let text = match number.as_f64() {
                    // 2.0 is the integer 2 too.
                    Some(whole)
                        if number.as_i64().is_none() && whole.fract() == 0.0 && whole.abs() < 1e15 =>
                    {
                        format!("{whole:.0}")
                    }
                    _ => number.to_string(),
                };
                self.builder.set_text(port, &text, line);
            }
            Json::String(text) => self.builder.set_text(port, text, line),
            _ => self.builder.error(
                line,
                format!("the value of `{}` is neither number, text, true nor false", short(name)),
            ),
        }
    }
}

/// `{key}`, instance and variable of a name.
fn split(name: &str) -> Option<(&str, &str, &str)> {
    let end = name.find("}.")? + 1;
    let (key, rest) = (&name[..end], &name[end + 1..]);
    let (instance, variable) = rest.split_once('.')?;
    (key.starts_with('{') && !instance.is_empty()).then_some((key, instance, variable))
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn names_have_a_key_an_instance_and_a_variable() {
        assert_eq!(split("{a}.b.c.d[1]"), Some(("{a}", "b", "c.d[1]")));
        assert_eq!(split("{a b}.b."), Some(("{a b}", "b", "")));
        for bad in ["", "{a}", "a.b.c", "{a}.b", "{a}..c", "{a.b.c"] {
            assert_eq!(split(bad), None, "{bad}");
        }
    }
}
