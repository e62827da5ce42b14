//! A flat system as a project file in TOML.

use std::fmt::Write;
use std::path::{Component, Path};

use costep_core::Code;

use crate::flat::{self, FileSignal, Flat, Link};
use crate::model::{Implementation, Value};

/// Tables of a project file that an annotation may give, and keys of components and links.
const TABLES: [&str; 9] =
    ["step", "method", "models", "schedule", "group", "external", "record", "guard", "run"];
const COMPONENT_KEYS: [&str; 10] = [
    "interface",
    "solver",
    "isolation",
    "step_timeout",
    "retry_discarded",
    "log",
    "continuous",
    "discrete",
    "trust",
    "validate",
];
const LINK_KEYS: [&str; 3] = ["group", "bond", "sum"];
/// The only key of `[system]` that the structure itself does not say.
const SOLVER: &str = "system.solver";

impl Flat {
    /// The project file. `file_of` gives the text by which a file is named there.
    pub fn to_toml(&self, file_of: impl Fn(&Path) -> String) -> String {
        let mut text = String::new();
        for (key, value) in self.settings.iter().filter(|(key, _)| TABLES.contains(&key.as_str())) {
            line(&mut text, key, value);
        }
        if !self.settings.iter().any(|(key, _)| key == "step") {
            text += &format!(
                "# {} says nothing about the macro step: give it here or by `--step`.\n",
                self.format
            );
            text += "# step = { size = \"1 ms\" }\n";
        }
        text += "\n[system]\n";
        line(&mut text, "name", &quoted(&self.name));
        for (key, time) in [("start", self.start), ("stop", self.stop)] {
            if let Some(time) = time {
                line(&mut text, key, &real(time));
            }
        }
        if let Some((_, solver)) = self.settings.iter().find(|(key, _)| key == SOLVER) {
            line(&mut text, "solver", solver);
        }
        for component in &self.components {
            write_component(component, &file_of(&component.file), &mut text);
        }
        for link in &self.links {
            self.write_link(link, &mut text);
        }
        for signal in &self.signals {
            self.write_signal(signal, &file_of(&signal.file), &mut text);
        }
        text
    }

    fn write_signal(&self, signal: &FileSignal, file: &str, text: &mut String) {
        text.push_str("\n[[external]]\n");
        let (component, port) = &signal.to;
        line(text, "to", &quoted(&format!("{}.{port}", self.components[*component].name)));
        line(text, "file", &quoted(file));
        line(text, "column", &quoted(&signal.column));
        if signal.hold {
            line(text, "interpolation", "\"hold\"");
        }
        for (key, value, usual) in [("gain", signal.factor, 1.0), ("offset", signal.offset, 0.0)] {
            if value != usual {
                line(text, key, &real(value));
            }
        }
    }

    fn write_link(&self, link: &Link, text: &mut String) {
        let name = |(component, port): &(usize, String)| {
            quoted(&format!("{}.{port}", self.components[*component].name))
        };
        text.push_str("\n[[connect]]\n");
        line(text, "from", &name(&link.from));
        line(text, "to", &name(&link.to));
        // With a gain, units are not compared again: where they differ, the structure has the last word.
        match &link.remark {
            Some(remark) if !remark.is_empty() => {
                let remark: String = remark.chars().filter(|c| !c.is_control()).collect();
                line(text, "gain", &format!("{} # {remark}", real(link.factor)));
            }
            None if (link.factor, link.offset) == (1.0, 0.0) => {}
            _ => line(text, "gain", &real(link.factor)),
        }
        if link.offset != 0.0 {
            line(text, "offset", &real(link.offset));
        }
        if !link.map.is_empty() {
            let pairs: Vec<_> = link.map.iter().map(|(from, to)| format!("\"{from}\" = {to}")).collect();
            line(text, "map", &format!("{{ {} }}", pairs.join(", ")));
        }
        link.settings.iter().for_each(|(key, value)| line(text, key, value));
    }

    /// Removes invalid settings of annotations, and says so. What remains can be written into a file
    /// without a change of its other parts.
    pub(crate) fn refuse_foreign_settings(&mut self) -> Vec<(Code, String)> {
        let mut refused = Vec::new();
        let mut sift = |settings: &mut Vec<(String, String)>, allowed: &[&str]| {
            let mut seen: Vec<String> = Vec::new();
            settings.retain(|(key, value)| {
                let known = allowed.contains(&key.as_str()) && is_one_value(value) && !seen.contains(key);
                let leads_out = known && names_file_elsewhere(value);
                seen.push(key.clone());
                if !known || leads_out {
                    let why = if leads_out {
                        ": it names a file outside of the folder of the structure"
                    } else {
                        ""
                    };
                    let key = costep_fmu_file::short(key);
                    let message = format!("the setting `{key}` of an annotation is not used{why}");
                    refused.push((Code::SspSchema, message));
                }
                known && !leads_out
            });
        };
        let tables: Vec<&str> = TABLES.into_iter().chain([SOLVER]).collect();
        sift(&mut self.settings, &tables);
        self.components.iter_mut().for_each(|component| sift(&mut component.settings, &COMPONENT_KEYS));
        self.links.iter_mut().for_each(|link| sift(&mut link.settings, &LINK_KEYS));
        refused
    }
}

/// Whether a text is one value of TOML and nothing else.
fn is_one_value(text: &str) -> bool {
    !text.contains(['\n', '\r'])
        && format!("x = {text}").parse::<toml::Table>().is_ok_and(|table| table.len() == 1)
}

/// Whether a value of TOML names a file that is not below the folder of the structure, as `file` of a table or in the
/// spelling of a method: `identified:file=models.toml`.
fn names_file_elsewhere(text: &str) -> bool {
    fn leads_out(file: &str) -> bool {
        let parts = Path::new(file.trim()).components();
        !parts.into_iter().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
    }
    fn look(value: &toml::Value) -> bool {
        match value {
            toml::Value::Table(table) => table.iter().any(|(key, value)| match value.as_str() {
                Some(file) if key == "file" => leads_out(file),
                _ => look(value),
            }),
            toml::Value::Array(values) => values.iter().any(look),
            toml::Value::String(text) => text
                .split([':', ','])
                .filter_map(|option| option.trim().strip_prefix("file")?.trim_start().strip_prefix('='))
                .any(leads_out),
            _ => false,
        }
    }
    format!("x = {text}").parse::<toml::Table>().is_ok_and(|table| table.values().any(look))
}

fn write_component(component: &flat::Component, file: &str, text: &mut String) {
    let _ = write!(text, "\n[fmu.{}]\n", quoted(&component.name));
    line(text, "file", &quoted(file));
    let own = component.settings.iter().any(|(key, _)| key == "interface");
    match component.implementation {
        _ if own => {}
        Implementation::Any => {}
        Implementation::CoSimulation => line(text, "interface", "\"cs\""),
        Implementation::ModelExchange => line(text, "interface", "\"me\""),
    }
    component.settings.iter().for_each(|(key, value)| line(text, key, value));
    if !component.set.is_empty() {
        let pairs: Vec<String> = component
            .set
            .iter()
            .map(|set| format!("{} = {}", quoted(&set.name), value_text(&set.value)))
            .collect();
        line(text, "set", &format!("{{ {} }}", pairs.join(", ")));
    }
}

fn line(text: &mut String, key: &str, value: &str) {
    let _ = writeln!(text, "{key} = {value}");
}

fn value_text(value: &Value) -> String {
    match value {
        Value::Real(values) => list(values, |value| real(*value)),
        Value::Integer(values) => list(values, i64::to_string),
        Value::Boolean(values) => list(values, bool::to_string),
        Value::Text(values) => list(values, |value| quoted(value)),
    }
}

fn list<T>(values: &[T], text: impl Fn(&T) -> String) -> String {
    match values {
        [only] => text(only),
        _ => format!("[{}]", values.iter().map(text).collect::<Vec<_>>().join(", ")),
    }
}

/// All digits, so that the same number is read back.
fn real(value: f64) -> String {
    format!("{value:?}")
}

pub(crate) fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_cannot_bring_tables_of_their_own() {
        for good in ["1", "\"a\"", "{ id = \"zoh\" }", "[{ to = \"a.u\", value = 1.0 }]", "1 # remark"] {
            assert!(is_one_value(good), "{good}");
        }
        for bad in ["", "1\ny = 2", "1\n[fmu.x]\nfile = \"y\"", "}", "1\r[x]", "\"\"\"\n\"\"\""] {
            assert!(!is_one_value(bad), "{bad}");
        }
    }

    #[test]
    fn texts_are_quoted() {
        let back = |text: &str| {
            format!("x = {}", quoted(text)).parse::<toml::Table>().unwrap()["x"].as_str().unwrap().to_owned()
        };
        for text in ["a", "a\"b", "a'b", "a\\b", "a\nb", "'''", "\"\"\"", "\u{7f}"] {
            assert_eq!(back(text), text);
        }
    }
}
