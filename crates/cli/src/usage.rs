//! Mistakes of the command line, and what is asked about it.

use std::path::Path;
use std::process::ExitCode;

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use costep_core::quantity::{parse_time, with_point};
use costep_core::{Code, Error, ExitClass};

use crate::args::Cli;
use crate::failure::Failure;
use crate::style::note;

/// A mistake of the command line as one of our errors: the first paragraph is the message, the tip or the usage
/// is the help.
fn in_our_form(error: &clap::Error) -> Error {
    let text = error.render().to_string();
    let mut paragraphs =
        text.split("\n\n").map(|lines| lines.split_whitespace().collect::<Vec<_>>().join(" "));
    let message = paragraphs.next().unwrap_or_default();
    let help =
        paragraphs.find(|paragraph| paragraph.starts_with("tip: ") || paragraph.starts_with("Usage: "));
    let own = tip(error);
    let error = Error::new(Code::CommandLine, message.strip_prefix("error: ").unwrap_or(&message));
    match own.or(help) {
        Some(help) => error.hint(help.strip_prefix("tip: ").unwrap_or(&help)),
        None => error,
    }
}

/// Words of other tools for verbs.
const OTHER_WORDS: [(&[&str], &str); 5] = [
    (&["simulate", "sim", "start", "execute", "exec"], "run"),
    (&["view", "show", "graph", "draw"], "plot"),
    (&["validate", "verify", "lint", "test"], "check"),
    (&["init", "create", "scaffold"], "new"),
    (&["info", "describe", "list"], "inspect"),
];

/// Flags of other tools, and what does the same here.
const OTHER_FLAGS: [(&[&str], &str); 7] = [
    (&["--dt", "--h", "--stepsize", "--step-size", "--step_size"], "the macro step is `--step 1ms`"),
    (
        &["--stop-time", "--stoptime", "--end-time", "--tend", "--t_end", "--tstop", "--until", "--sim-time"],
        "the stop time is `--t-end 10s`",
    ),
    (&["--param", "--parameter", "--start-value"], "parameters are changed by `--set NAME=VALUE`"),
    (
        &["--format"],
        "the ending of the file says the format: `costep export DIR --to x.csv`, `costep plot DIR --out x.png`",
    ),
    (
        &["--isolation", "--isolate", "--process"],
        "`--set fmu.NAME.isolation=process` gives an FMU a process of its own, `run --sandbox` confines all of them",
    ),
    (&["--log", "--verbose", "--debug"], "`log = true` in the table of an FMU makes it say all it can"),
    (
        &["--solver-method", "--algorithm", "--master"],
        "coupling methods are chosen by `--method`, `costep methods` lists them",
    ),
];

/// What is probably meant, where the parser does not know.
fn tip(error: &clap::Error) -> Option<String> {
    if let Some(word) = word(error, ContextKind::InvalidSubcommand) {
        return other_verb(&word);
    }
    match error.kind() {
        ErrorKind::MissingRequiredArgument => missing(error),
        ErrorKind::InvalidValue if word(error, ContextKind::InvalidValue).as_deref() == Some("") => {
            without_value(error)
        }
        ErrorKind::ValueValidation if decimal_comma(error).is_some() => decimal_comma(error),
        ErrorKind::ArgumentConflict => conflict(error),
        ErrorKind::ValueValidation if word(error, ContextKind::InvalidArg)?.starts_with("--live") => {
            Some("the value is the number of a port alone, from 1024 to 65535: `--live=8080`".into())
        }
        kind => stray_word(&word(error, ContextKind::InvalidArg)?, kind)
            .filter(|tip| !(tip.starts_with("flags of") && has_guess(error)))
            .or_else(|| documented(error)),
    }
}

/// Whether the parser names an argument that is similar to the one given.
fn has_guess(error: &clap::Error) -> bool {
    error.get(ContextKind::SuggestedArg).is_some()
}

/// The name in the help of a flag of which the parser guesses another one.
fn documented(error: &clap::Error) -> Option<String> {
    let guess = word(error, ContextKind::SuggestedArg)?;
    let alias = guess.strip_prefix("--")?;
    let program = Cli::command();
    let mut flags = program.get_subcommands().flat_map(clap::Command::get_arguments);
    let flag = flags.find(|flag| flag.get_aliases().is_some_and(|aliases| aliases.contains(&alias)))?;
    Some(format!("a similar argument exists: '--{}'", flag.get_long()?))
}

/// A word that the parser names, in small letters.
fn word(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.to_lowercase()),
        _ => None,
    }
}

fn other_verb(word: &str) -> Option<String> {
    let verb = OTHER_WORDS.iter().find(|(words, _)| words.contains(&word));
    let is_file = word.ends_with(".toml") || word.ends_with(".fmu") || word.ends_with(".ssp");
    match verb {
        _ if word == "version" => Some("`costep --version` says it".into()),
        Some((_, verb)) => Some(format!("`costep {verb}` does that")),
        None => is_file.then(|| "`costep run FILE` runs a system or an FMU".into()),
    }
}

/// An example with an argument that is missing.
fn missing(error: &clap::Error) -> Option<String> {
    let missing = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(missing)) => missing.first().cloned().unwrap_or_default(),
        _ => String::new(),
    };
    let flag = missing.split(' ').next().unwrap_or_default();
    let example = example_of(flag).or_else(|| examples_of_verb().into_iter().next());
    example.map(|example| format!("for example `{example}`"))
}

/// An example of a flag that came without its value.
fn without_value(error: &clap::Error) -> Option<String> {
    let named = word(error, ContextKind::InvalidArg)?;
    let (flag, value) = named.split_once(' ')?;
    let meant = match value {
        "<file>" if flag == "--report" => "rig.html",
        "<dir>" => "rig",
        "<time>" => "1ms",
        "<times>" => "1ms,5ms",
        "<method>" => "predictive",
        "<methods>" => "zoh,predictive",
        _ => return example_of(flag).map(|example| format!("for example `{example}`")),
    };
    Some(format!("for example `{flag} {meant}`"))
}

/// How a flag is written whose number has a decimal comma.
fn decimal_comma(error: &clap::Error) -> Option<String> {
    let flag = word(error, ContextKind::InvalidArg)?;
    let number = with_point(&word(error, ContextKind::InvalidValue)?)?;
    let flag = flag.split(' ').next().unwrap_or_default();
    Some(format!("write a decimal point: `{flag} {number}`"))
}

/// What two flags have against each other.
fn conflict(error: &clap::Error) -> Option<String> {
    let flags = [ContextKind::InvalidArg, ContextKind::PriorArg].map(|kind| match error.get(kind) {
        Some(ContextValue::String(flag)) => flag.clone(),
        Some(ContextValue::Strings(flags)) => flags.join(" "),
        _ => String::new(),
    });
    let is_about = |flag| flags.iter().any(|named| named.starts_with(flag));
    is_about("--no-record").then(|| "`--no-record` writes no files: leave one of the two out".to_owned())
}

/// What is meant by a word for which there is no place.
fn stray_word(stray: &str, kind: ErrorKind) -> Option<String> {
    let words: Vec<String> = crate::arguments().map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(tip) = single_dash(&words).or_else(|| typographic_dash(stray)) {
        return Some(tip);
    }
    if let Some(at) =
        words.iter().position(|word| *word == stray).filter(|at| *at > 0 && words[at - 1] == "--live")
    {
        return Some(format!("write `--live={}`, without a blank", words[at]));
    }
    if let Some(tip) = path_with_blanks(&words, |path| Path::new(path).exists()) {
        return Some(tip);
    }
    let is_known = |(flags, _): &&(&[&str], &str)| flags.contains(&stray);
    if let Some((_, tip)) = OTHER_FLAGS.iter().find(is_known) {
        return Some((*tip).into());
    }
    if stray.ends_with(".fmu") {
        return Some(
            "`costep new DIR A.fmu B.fmu` makes a project of several FMUs, `costep run DIR` runs it".into(),
        );
    }
    list_with_blanks(&words, stray)
        .or_else(|| one_letter(&words, stray))
        .or_else(|| divided_value(&words, stray))
        .or_else(|| of_this_verb(&words, stray).filter(|_| kind == ErrorKind::UnknownArgument))
}

/// Words of one path: the shell may have made thousands of arguments of a pattern.
const MOST_WORDS: usize = 16;

/// How a path is written that blanks have divided, if that is one that exists.
fn path_with_blanks(words: &[String], exists: impl Fn(&str) -> bool) -> Option<String> {
    let starts = (1..words.len()).filter(|start| !words[*start].starts_with('-'));
    let ends = |start: usize| start + 2..=words.len().min(start + MOST_WORDS);
    let spans = starts.flat_map(|start| ends(start).map(move |end| (start, end)));
    spans.map(|(start, end)| (start, words[start..end].join(" "))).find(|(_, path)| exists(path)).map(
        |(start, path)| {
            format!("a path with blanks needs quotes: `costep {} \"{path}\"`", words[..start].join(" "))
        },
    )
}

/// What is meant by an argument that other verbs take.
fn of_this_verb(words: &[String], stray: &str) -> Option<String> {
    let verb = words.iter().find(|word| !word.starts_with('-'))?;
    match verb.as_str() {
        "resume" if is_of_run(stray) => Some(format!(
            "a run is resumed as it began; `costep run` with `{stray}` starts another one, `--out DIR` keeps this one"
        )),
        "compare" if !stray.starts_with('-') => Some(
            "`costep compare` runs one system by several methods and steps; `costep plot A B` draws recordings over each other"
                .into(),
        ),
        verb if stray.starts_with("--") => flags_of(verb),
        verb @ ("run" | "check" | "advise" | "map" | "stability" | "graph") => {
            Some(format!("`costep {verb}` takes one system: give one after the other"))
        }
        _ => None,
    }
}

/// The flags of a verb, where none is similar to the one that is not known.
fn flags_of(verb: &str) -> Option<String> {
    let program = Cli::command();
    let flags = program.find_subcommand(verb)?.get_arguments().filter(|flag| !flag.is_hide_set());
    let flags: Vec<String> = flags.filter_map(|flag| Some(format!("--{}", flag.get_long()?))).collect();
    Some(format!("flags of `costep {verb}`: {}; `costep help {verb}` explains them", flags.join(", ")))
}

/// Whether a run is changed by this flag.
fn is_of_run(flag: &str) -> bool {
    let name = flag.strip_prefix("--").map(|name| name.split('=').next().unwrap_or(name));
    let program = Cli::command();
    let run = program.find_subcommand("run").into_iter().flat_map(clap::Command::get_arguments);
    run.filter_map(clap::Arg::get_long).any(|long| Some(long) == name)
}

/// Flags whose values are lists.
const LISTS: [&str; 4] = ["--steps", "--methods", "--signals", "--windows"];

/// How a list is written, where one has been divided by blanks.
pub(crate) fn list_with_blanks(words: &[String], stray: &str) -> Option<String> {
    let end = words.iter().position(|word| word.to_lowercase() == stray)?;
    let start = words[..end].iter().rposition(|word| word.starts_with("--"))?;
    let flag = words[start].as_str();
    let is_list = LISTS.contains(&flag) && end > start + 1;
    is_list.then(|| {
        let values: Vec<&str> = words[start + 1..=end].iter().map(|word| word.trim_matches(',')).collect();
        format!("lists are separated by commas, without blanks: `{flag} {}`", values.join(","))
    })
}

/// How a flag is written that begins with one dash: `--method zoh` for `-method zoh`.
fn single_dash(words: &[String]) -> Option<String> {
    let verb = words.iter().find(|word| !word.starts_with('-'))?;
    let command = Cli::command();
    let flags: Vec<&str> =
        command.find_subcommand(verb)?.get_arguments().filter_map(clap::Arg::get_long).collect();
    words.iter().zip(words.iter().skip(1).map(Some).chain([None])).find_map(|(word, next)| {
        let name = word.strip_prefix('-').filter(|name| !name.starts_with('-'))?;
        let is_flag = flags.contains(&name.split('=').next().unwrap_or_default());
        let value = next.filter(|next| !name.contains('=') && !next.starts_with('-'));
        let value = value.map(|value| format!(" {value}")).unwrap_or_default();
        is_flag.then(|| format!("flags begin with two dashes: `--{name}{value}`"))
    })
}

/// How a flag is written whose dashes a word processor or a web page has joined: `–step`.
fn typographic_dash(stray: &str) -> Option<String> {
    let name = stray.trim_start_matches(['–', '—', '−', '-']);
    let is_typographic = stray.starts_with(['–', '—', '−']) && !name.is_empty();
    is_typographic.then(|| format!("this dash is a typographic one: write `--{name}`, with two plain ones"))
}

/// The flags that a single letter may stand for.
fn one_letter(words: &[String], stray: &str) -> Option<String> {
    let letter = stray.strip_prefix('-').filter(|letter| letter.len() == 1)?;
    let verb = words.iter().find(|word| !word.starts_with('-'))?;
    let command = Cli::command();
    let flags = command.find_subcommand(verb)?.get_arguments().filter_map(clap::Arg::get_long);
    let meant: Vec<String> =
        flags.filter(|flag| flag.starts_with(letter)).map(|flag| format!("`--{flag}`")).collect();
    (!meant.is_empty()).then(|| format!("flags are written out: {}", meant.join(", ")))
}

/// How a value is written that a blank has divided: `--step 1ms` for `--step 1 ms`, `--set m1=5` for `--set m1 5`.
fn divided_value(words: &[String], stray: &str) -> Option<String> {
    let end = words.iter().position(|word| word.to_lowercase() == stray)?;
    let before = words.get(end.checked_sub(1)?)?;
    let (flag, value) = match before.split_once('=').filter(|_| before.starts_with("--")) {
        Some((flag, value)) => (flag, value),
        None => (words.get(end.checked_sub(2)?)?.as_str(), before.as_str()),
    };
    let rest = &words[end];
    if !flag.starts_with("--") || flag.contains('=') {
        return None;
    }
    if flag == "--set" {
        let rest = match rest.as_str() {
            "=" => words.get(end + 1)?,
            other => other.trim_start_matches('='),
        };
        if let Some((_, number)) = value.split_once('=').filter(|(_, number)| number.parse::<f64>().is_ok()) {
            let is_time = parse_time(&format!("{number}{rest}")).is_ok();
            let (unit, why) = if is_time { (rest, "") } else { ("", ", and numbers have no unit") };
            return Some(format!("a change is one word{why}: `--set {value}{unit}`"));
        }
        let name = value.trim_end_matches('=');
        return (!name.contains('=')).then(|| format!("a change is one word: `--set {name}={rest}`"));
    }
    let is_quantity = value.parse::<f64>().is_ok() && rest.chars().all(|c| c.is_alphabetic() || c == '%');
    is_quantity.then(|| {
        format!("the value of {flag} ends at the blank: write `{flag} {value}{rest}` or `{flag} \"{value} {rest}\"`")
    })
}

/// Commands in the help of the verb.
fn examples_of_verb() -> Vec<String> {
    let verb = crate::arguments().find_map(|word| {
        let word = word.to_string_lossy().into_owned();
        (!word.starts_with('-')).then_some(word)
    });
    let program = Cli::command();
    let help = verb.and_then(|verb| Some(program.find_subcommand(&verb)?.get_after_help()?.to_string()));
    let lines = help.iter().flat_map(|help| help.lines()).map(str::trim);
    lines.filter(|line| line.starts_with("costep ")).map(str::to_owned).collect()
}

/// The one with this flag.
fn example_of(flag: &str) -> Option<String> {
    examples_of_verb().into_iter().find(|line| line.split(' ').any(|word| word == flag))
}

/// Prints help, version or a mistake of the command line.
pub(crate) fn report(error: &clap::Error) -> ExitCode {
    let is_help = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    let asked_for_json = crate::arguments().any(|arg| arg == "--json");
    if asked_for_json && !is_help {
        return Failure::from(in_our_form(error)).report(true);
    }
    let own = tip(error);
    let guesses =
        error.get(ContextKind::Suggested).is_some() || error.get(ContextKind::SuggestedArg).is_some();
    match own {
        // Where it is known what is meant, guesses of the parser are in the way.
        Some(tip) => note(&with_tip(&error.render().ansi().to_string(), &tip, guesses)),
        // Nothing sensible can be done when the terminal is gone.
        None => _ = error.print(),
    }
    if is_help { ExitCode::SUCCESS } else { ExitCode::from(ExitClass::Input.code()) }
}

/// The text of the parser with our tip behind its message, before the usage and where to find help.
fn with_tip(text: &str, tip: &str, without_guesses: bool) -> String {
    let mut paragraphs = text.trim_end().split("\n\n");
    let message = paragraphs.next().unwrap_or_default();
    // The usage is that of what the parser has guessed.
    let is_guess =
        |text: &&str| ["tip: ", "Usage: "].iter().any(|word| plain(text).trim_start().starts_with(word));
    let rest = paragraphs.filter(|text| !(without_guesses && is_guess(text)));
    let tip = format!("  tip: {tip}");
    [message, &tip].into_iter().chain(rest).collect::<Vec<_>>().join("\n\n")
}

/// Without colours.
fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn flags_of_other_tools_are_none_of_ours() {
        let command = Cli::command();
        for verb in command.get_subcommands() {
            let own: Vec<String> =
                verb.get_arguments().filter_map(|flag| Some(format!("--{}", flag.get_long()?))).collect();
            let both = OTHER_FLAGS.iter().flat_map(|(flags, _)| *flags);
            let both: Vec<_> = both.filter(|flag| own.iter().any(|own| own == *flag)).collect();
            assert!(both.is_empty(), "{}: {both:?}", verb.get_name());
        }
        let parsed = <Cli as clap::Parser>::try_parse_from(["costep", "run", "pair", "--dt", "1ms"]);
        let mistake = parsed.err().unwrap();
        assert_eq!(tip(&mistake).as_deref(), Some("the macro step is `--step 1ms`"));
    }

    #[test]
    fn values_that_blanks_have_divided_are_put_together() {
        for (line, stray, written) in [
            ("run pair --step 1 ms", "ms", "`--step 1ms`"),
            ("run pair --step=1 MS", "ms", "`--step 1MS`"),
            ("run pair --memory-limit 1 GB", "gb", "`--memory-limit 1GB`"),
            ("run pair --set m1 5", "5", "`--set m1=5`"),
            ("run pair --set m1 = 5", "=", "`--set m1=5`"),
            ("run pair --set m1= 5", "5", "`--set m1=5`"),
            ("run pair --set system.stop=100 ms", "ms", "`--set system.stop=100ms`"),
            ("run pair --set s1.m1=20 kg", "kg", "numbers have no unit: `--set s1.m1=20`"),
        ] {
            let tip = divided_value(&words(line), stray).unwrap_or_default();
            assert!(tip.contains(written), "{line}: {tip}");
        }
        assert_eq!(divided_value(&words("run pair --method zoh other"), "other"), None);
        assert_eq!(divided_value(&words("run pair other"), "other"), None);
    }

    #[test]
    fn paths_that_blanks_have_divided_are_put_together() {
        let tip = path_with_blanks(&words("run my home --quiet"), |path| path == "my home");
        assert_eq!(tip.as_deref(), Some("a path with blanks needs quotes: `costep run \"my home\"`"));
        assert_eq!(path_with_blanks(&words("run my home"), |_| false), None);
        let many = words(&format!("survey {}", "a ".repeat(1000)));
        let looked = std::cell::Cell::new(0);
        assert_eq!(path_with_blanks(&many, |_| looked.replace(looked.get() + 1) > 20_000), None);
    }

    #[test]
    fn flags_with_one_dash_are_recognised() {
        let tip = |line| single_dash(&words(line)).unwrap_or_default();
        assert!(tip("run pair -method zoh").ends_with("`--method zoh`"));
        assert!(tip("run pair -step=1ms --quiet").ends_with("`--step=1ms`"));
        assert_eq!(tip("run pair -q -x"), "");
    }

    #[test]
    fn single_letters_and_typographic_dashes_are_recognised() {
        let tip = one_letter(&words("run pair -s 1ms"), "-s").unwrap_or_default();
        assert!(tip.contains("`--step`") && tip.contains("`--set`"), "{tip}");
        assert_eq!(one_letter(&words("run pair -y"), "-y"), None);
        assert!(typographic_dash("–step").unwrap_or_default().contains("`--step`"));
        assert_eq!(typographic_dash("--step"), None);
    }

    #[test]
    fn tips_come_before_where_to_find_help() {
        let text =
            "error: no\n\n  tip: a guess\n\nUsage: costep run\n\nFor more information, try '--help'.\n";
        let tip = "  tip: write `--step 1ms`";
        assert_eq!(
            with_tip(text, "write `--step 1ms`", true),
            format!("error: no\n\n{tip}\n\nFor more information, try '--help'.")
        );
        assert!(
            with_tip(text, "write `--step 1ms`", false)
                .starts_with(&format!("error: no\n\n{tip}\n\n  tip: a guess"))
        );
    }

    #[test]
    fn the_documented_name_of_a_flag_is_suggested() {
        let tip_of = |words: &[&str]| {
            let parsed = <Cli as clap::Parser>::try_parse_from(words);
            parsed.err().and_then(|mistake| tip(&mistake)).unwrap_or_default()
        };
        assert_eq!(tip_of(&["costep", "run", "pair", "--stop-time", "10"]), "the stop time is `--t-end 10s`");
        assert_eq!(
            tip_of(&["costep", "run", "pair", "--durations", "10"]),
            "a similar argument exists: '--t-end'"
        );
    }

    #[test]
    fn lists_with_blanks_are_recognised() {
        let tip = |line: &str, stray: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            list_with_blanks(&words, stray)
        };
        let written = tip("compare pair --steps 1ms, 2MS", "2ms").unwrap();
        assert!(written.ends_with("`--steps 1ms,2MS`"), "{written}");
        assert_eq!(tip("compare pair --steps 1ms --quiet 2ms", "2ms"), None);
        assert_eq!(tip("compare pair other", "other"), None);
    }
}
