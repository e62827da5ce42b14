//! What the user's file is. Not everybody has a project file: hints name the words of the file at hand, an option, or the way to a
//! project file.

use std::path::PathBuf;

use costep_core::Error;
use costep_core::quantity::{format_time, plain_time};
use costep_import::Format;

use crate::shell::shell_word;

/// The file that a system is read from.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Dialect {
    /// A project file, or none at all.
    #[default]
    Project,
    /// An FMU alone.
    Fmu(PathBuf),
    /// A system of another tool.
    Foreign(Format, PathBuf),
}

impl Dialect {
    /// What the file calls a key of a project file: `hMin` for `step.min`.
    fn word(&self, key: &str) -> Option<&'static str> {
        let Self::Foreign(format, _) = self else { return None };
        Some(match (format, key) {
            (Format::MasterSim, "system.start") => "tStart",
            (Format::MasterSim, "system.stop") => "tEnd",
            (Format::MasterSim, "step.size") => "hStart",
            (Format::MasterSim, "step.min") => "hMin",
            (Format::MasterSim, "step.max") => "hMax",
            (Format::MasterSim, "step.tolerance") => "relTol",
            (Format::MasterSim, "record.every") => "hOutputMin",
            (Format::Osp, "system.start") => "StartTime",
            (Format::Osp, "system.stop") => "EndTime",
            (Format::Osp, "step.size") => "BaseStepSize",
            (Format::Ssp | Format::MultiModel, "system.start") => "startTime",
            (Format::Ssp, "system.stop") => "stopTime",
            (Format::MultiModel, "system.stop") => "endTime",
            (Format::MultiModel, "step.size") => "size",
            _ => return None,
        })
    }

    /// A key as a message names it: `hMin`, or `min`.
    pub(crate) fn name(&self, key: &str) -> String {
        let own = key.rsplit('.').next().unwrap_or(key);
        self.word(key).unwrap_or(own).to_owned()
    }

    /// A key with its value: `` `every` = 1 s in [record] ``.
    pub(crate) fn setting(&self, key: &str, value: &str) -> String {
        match (self.word(key), key.split_once('.')) {
            (None, Some((table, key))) => format!("`{key}` = {value} in [{table}]"),
            (word, _) => format!("`{}` = {value}", word.unwrap_or(key)),
        }
    }

    /// How a time is given: by an option, or as the file writes it.
    pub(crate) fn ways_to_give(&self, key: &str, seconds: f64) -> String {
        let plain = plain_time(seconds);
        let option = match key {
            "system.stop" => format!("`--t-end {plain}s`"),
            "step.size" => format!("`--step {}`", format_time(seconds).replace(' ', "")),
            _ => format!("`--set {key}={}`", format_time(seconds).replace(' ', "")),
        };
        match self.written(key, seconds) {
            Some(written) => format!("{option}, or {written}"),
            None => option,
        }
    }

    fn written(&self, key: &str, seconds: f64) -> Option<String> {
        let (plain, time) = (plain_time(seconds), format_time(seconds));
        if *self == Self::Project {
            let (table, key) = key.split_once('.')?;
            return Some(format!("`{key} = \"{time}\"` in [{table}]"));
        }
        let (word, Self::Foreign(format, _)) = (self.word(key)?, self) else { return None };
        Some(match format {
            Format::MasterSim => format!("`{word} {time}` in the file"),
            Format::Osp => format!("`<{word}>{plain}</{word}>` in the file"),
            Format::Ssp => format!("`{word}=\"{plain}\"` of <DefaultExperiment>"),
            Format::MultiModel => format!("`\"{word}\": {plain}` in the file"),
        })
    }

    /// What to do about inputs without a source, such as this one.
    pub(crate) fn ways_to_feed(&self, input: &str) -> String {
        let own = match self {
            Self::Project => {
                return "connect them, or give them a value: [[external]] to = \"part.port\" value = 0.0"
                    .into();
            }
            Self::Fmu(path) => {
                let file = shell_word(path);
                return format!(
                    "give another value, `--set {input}=VALUE`; in a project, `costep new rig {file}`, inputs follow other parts and files"
                );
            }
            Self::Foreign(Format::MasterSim, _) => "`parameter PART.INPUT VALUE`",
            Self::Foreign(Format::Osp, _) => "an <InitialValue> of the <Simulator>",
            Self::Foreign(Format::Ssp, _) => "a <ParameterBinding> of the component",
            Self::Foreign(Format::MultiModel, _) => "an entry of `parameters`",
        };
        format!("connect them, or give another value: {own}, or `--set {input}=VALUE`")
    }

    /// The same error; where it speaks of a project file that the user does not have, with the way to one.
    pub(crate) fn reword(&self, error: Error) -> Error {
        let way = match self {
            Self::Project => return error,
            Self::Fmu(path) => format!("costep new rig {}", shell_word(path)),
            Self::Foreign(_, path) => format!("costep import {} --out rig", shell_word(path)),
        };
        let help = error.help().to_owned();
        if !speaks_of_project_file(&help) {
            return error;
        }
        error.hint(format!("{help} - in a project file: `{way}` makes one"))
    }
}

/// Whether a hint names tables or keys of a project file: `[step]`, `[[external]]`, `` `every = ...` ``.
fn speaks_of_project_file(hint: &str) -> bool {
    let is_word =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let is_table = |text: &str| {
        let name = text.trim_start_matches('[').split([']', '.']).next().unwrap_or_default();
        is_word(name) && text[name.len()..].contains(']')
    };
    let is_key = |text: &str| text.split_once(" = ").is_some_and(|(key, _)| is_word(key));
    hint.split('[').skip(1).any(is_table) || hint.split('`').skip(1).step_by(2).any(is_key)
}

#[cfg(test)]
mod tests {
    use costep_core::Code;

    use super::*;

    #[test]
    fn hints_that_need_a_project_file_name_the_way_to_one() {
        let dialect = Dialect::Foreign(Format::MasterSim, "a.msim".into());
        let help = |hint: &str| dialect.reword(Error::new(Code::BadValue, "").hint(hint)).help().to_owned();
        for hint in [
            "write `isolation = \"process\"` in the table",
            "give it in the project: [port.\"a.y\"] nominal = ...",
            "give it a constant: [[external]] to = \"a.u\"",
            "choose a smaller `min` in [step]",
        ] {
            assert_eq!(
                help(hint),
                format!("{hint} - in a project file: `costep import a.msim --out rig` makes one")
            );
            assert_eq!(Dialect::Project.reword(Error::new(Code::BadValue, "").hint(hint)).help(), hint);
        }
        for hint in ["did you mean `y[1]`?", "`--t-end 10s`", "write `tEnd 10 s`", "u[a, b] or [1.0, 2.0]"] {
            assert_eq!(help(hint), hint);
        }
    }

    #[test]
    fn times_are_given_in_the_words_of_the_file() {
        let of = |format| Dialect::Foreign(format, "x".into()).ways_to_give("system.stop", 10.0);
        assert_eq!(of(Format::MasterSim), "`--t-end 10s`, or `tEnd 10 s` in the file");
        assert_eq!(of(Format::Osp), "`--t-end 10s`, or `<EndTime>10</EndTime>` in the file");
        assert_eq!(of(Format::Ssp), "`--t-end 10s`, or `stopTime=\"10\"` of <DefaultExperiment>");
        assert_eq!(of(Format::MultiModel), "`--t-end 10s`, or `\"endTime\": 10` in the file");
        assert_eq!(Dialect::Fmu("x".into()).ways_to_give("system.stop", 10.0), "`--t-end 10s`");
        assert_eq!(
            Dialect::Project.ways_to_give("step.size", 1e-3),
            "`--step 1ms`, or `size = \"1 ms\"` in [step]"
        );
        let ssp = Dialect::Foreign(Format::Ssp, "x".into());
        assert_eq!(ssp.ways_to_give("step.size", 1e-3), "`--step 1ms`");
        assert_eq!(ssp.setting("record.every", "1 s"), "`every` = 1 s in [record]");
        let master_sim = Dialect::Foreign(Format::MasterSim, "x".into());
        assert_eq!(master_sim.setting("record.every", "1 s"), "`hOutputMin` = 1 s");
    }
}
