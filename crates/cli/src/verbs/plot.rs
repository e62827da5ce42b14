//! `costep plot`: recordings as a picture.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use costep::pages::read_outcome;
use costep::{
    Code, DISCRETE, Error, OUTPUTS, RECORDING, Registry, SAMPLES, STEP, Solution, System, recorded_outputs,
    step_words,
};
use costep_core::quantity::format_time;
use costep_report::{Axis, Badge, Colour, Figure, Look, Panel, Series, SignalTraits, panels, switches};
use costep_results::{Column, Curves, Summary, matching_names, write_file};
use serde_json::json;

use crate::args::{PlotArgs, names_in};
use crate::failure::{Failure, to_json};
use crate::phrases::argument;
use crate::style::{Output, print_error, print_json};
use crate::usage::list_with_blanks;
use crate::verbs::new::PROJECT;
use crate::verbs::recorded;

/// More signals than this make no picture; they have to be asked for.
const MOST_SIGNALS: usize = 24;
/// A run that leaves the range of the reference by more than this many ranges is cut.
const FAR_BEYOND: f64 = 4.0;
/// What is left of it.
const ROOM_BEYOND: f64 = 1.0;
/// A verdict that is none.
const NOT_JUDGED: &str = "not judged";
/// Up to so many points are marked, so that nobody takes the lines between them for the solution.
const FEW: usize = 80;

pub(crate) fn run(args: &PlotArgs, output: Output) -> Result<ExitCode, Failure> {
    args.runs.iter().try_for_each(|path| refuse_signal(path))?;
    let runs = args.runs.iter().map(|path| Recorded::open(path, args)).collect::<Result<Vec<_>, _>>()?;
    let first = &runs[0];
    runs.iter().try_for_each(Recorded::refuse_nothing)?;
    let reference = if args.reference { Some(first.solution(args)?) } else { None };
    let shown = Picture { args, runs: &runs, reference: reference.as_ref(), cut: Cell::new(false) };
    let (figure, signals) = match runs.len() {
        1 => shown.by_unit(first),
        _ => shown.by_signal()?,
    };
    let target = args.out.clone().unwrap_or_else(|| first.file.with_file_name("plot.svg"));
    write_picture(&target, || figure.to_svg(), || figure.to_png())?;
    let damage = runs.iter().find_map(|run| run.summary().damage());
    if output.json {
        print_json(&json!({
            "file": target.display().to_string(),
            "signals": signals,
            "rows": runs.iter().map(|run| run.summary().rows()).collect::<Vec<_>>(),
            "damage": damage.map(to_json),
        }))?;
    } else {
        output.remark(&format!("{}: {}", target.display(), signals.join(", ")));
        if first.left_out > 0 {
            output.remark(&format!("{} more signals: select them with `--signals`", first.left_out));
        }
        runs.iter().filter_map(Recorded::of_one_row).for_each(|text| output.remark(&text));
        runs.iter().filter_map(Recorded::outdated).for_each(|text| output.remark(&text));
        damage.into_iter().for_each(print_error);
    }
    // What could be read is drawn; that something could not be read must not look like success.
    Ok(damage.map_or(ExitCode::SUCCESS, |damage| ExitCode::from(damage.code().entry().exit.code())))
}

/// Writes a picture as its ending says.
pub(crate) fn write_picture(
    target: &Path,
    svg: impl FnOnce() -> String,
    png: impl FnOnce() -> Option<Vec<u8>>,
) -> Result<(), Error> {
    match target.extension().and_then(|ending| ending.to_str()) {
        Some("svg") => write_file(target, svg().as_bytes()),
        Some("png") => {
            let pixels = png().ok_or_else(|| {
                Error::new(Code::BadValue, "the picture is too large for pixels").hint("write it as .svg")
            })?;
            write_file(target, &pixels)
        }
        _ => {
            let message = format!("`{}` ends in neither .svg nor .png", target.display());
            Err(Error::new(Code::CommandLine, message).hint("the ending of `--out` says what is written"))
        }
    }
}

/// An error if a system is named where a recording is wanted; `then` is what to do with the recording of a run.
pub(crate) fn refuse_system(path: &Path, then: &str) -> Result<(), Error> {
    const TABLES: [&str; 3] = ["csv", "parquet", "feather"];
    if path.is_file() && path.extension().is_some_and(|ending| TABLES.iter().any(|known| ending == *known)) {
        let message = format!("`{}` is a table, not a recording", path.display());
        return Err(Error::new(Code::NotARecording, message).in_file(path).hint(
            "recordings are the files `results.arrows` that `costep run` writes: name one, or its folder",
        ));
    }
    const SYSTEMS: [&str; 5] = ["toml", "fmu", "ssp", "ssd", "msim"];
    if !path.extension().is_some_and(|ending| SYSTEMS.iter().any(|known| ending == *known)) || path.is_dir() {
        return Ok(());
    }
    let hint = format!("`costep run {} --out DIR` runs it, then {then}", argument(path));
    let message = format!("`{}` is a system, not a recording", path.display());
    Err(Error::new(Code::NotARecording, message).in_file(path).hint(hint))
}

/// An error if a recording is named that was meant as one more signal.
fn refuse_signal(path: &Path) -> Result<(), Error> {
    let words: Vec<String> = crate::arguments().map(|word| word.to_string_lossy().into_owned()).collect();
    let name = path.to_string_lossy();
    match list_with_blanks(&words, &name.to_lowercase()).filter(|_| !path.exists()) {
        Some(tip) => {
            let message =
                format!("`{name}` is no recording: the list of `--signals` ends at the blank before it");
            Err(Error::new(Code::CommandLine, message).hint(tip))
        }
        None => Ok(()),
    }
}

/// The recording that a path names: itself, or the one in a folder.
pub(crate) fn recording_in(path: &Path) -> Result<PathBuf, Error> {
    let file = if path.is_dir() { path.join(RECORDING) } else { path.into() };
    if path.is_dir() && !file.exists() {
        let hint = match (path.join(PROJECT).is_file(), recorded_within(path)) {
            (true, _) => format!("`costep run {}` makes one", argument(path)),
            (false, Some(run)) => format!("there is one in `{}`", run.display()),
            (false, None) => "`costep run SYSTEM --out DIR` makes one".into(),
        };
        let error = Error::new(Code::FileNotReadable, "there is no recording here").in_file(path);
        return Err(error.looked_for(&file).hint(hint));
    }
    Ok(file)
}

/// A folder in this one with a recording, the first by its name.
fn recorded_within(folder: &Path) -> Option<PathBuf> {
    const LOOKED_AT: usize = 1000;
    let folders = std::fs::read_dir(folder).ok()?.take(LOOKED_AT).flatten().map(|entry| entry.path());
    let first = folders.filter(|folder| folder.join(RECORDING).is_file()).min()?;
    Some(first.strip_prefix(".").map(Path::to_path_buf).unwrap_or(first))
}

/// A recording and which of its signals are wanted.
struct Recorded {
    file: PathBuf,
    curves: Curves,
    /// What parts have told of the time between communication points.
    samples: Option<Curves>,
    signals: Vec<String>,
    left_out: usize,
}

impl Recorded {
    fn open(path: &Path, args: &PlotArgs) -> Result<Self, Error> {
        let file = recording_in(path)?;
        refuse_system(path, "`costep plot DIR`")?;
        if let (Some(from), Some(to)) = (args.from, args.to)
            && from >= to
        {
            return Err(match from > to {
                true => Error::new(Code::CommandLine, "`--from` is later than `--to`").hint("exchange them"),
                false => Error::new(Code::CommandLine, "`--from` and `--to` are the same time")
                    .hint("leave one of them out, or give a later `--to`"),
            });
        }
        let (mut signals, mut left_out) = (Vec::new(), 0);
        let choose = |columns: &[Column], metadata: &BTreeMap<String, String>| {
            let listed = metadata.get(OUTPUTS).map_or("", String::as_str);
            let mut names = match &names_in(&args.signals)[..] {
                [] => recorded_outputs(columns, listed),
                given => matching_names(columns, given).map_err(|error| {
                    recorded::left_out(error.in_file(&file), &file, given, columns, metadata)
                })?,
            };
            let most = if args.signals.is_empty() { MOST_SIGNALS } else { usize::MAX };
            left_out = names.len().saturating_sub(most);
            names.truncate(most);
            signals.clone_from(&names);
            Ok(names)
        };
        let curves = Curves::read(&file, choose, |t| within(t, args))?;
        let samples = samples_of(&file, &signals, args);
        Ok(Self { file, curves, samples, signals, left_out })
    }

    /// The curve of a signal: its values at communication points and, where its part has told them, those between.
    fn points(&self, signal: &str) -> Vec<(f64, f64)> {
        let mut points = self.curves.points(signal);
        if let Some(samples) = self.samples.as_ref().filter(|_| !self.is_discrete(signal)) {
            points.extend(samples.points(signal).into_iter().filter(|(_, y)| y.is_finite()));
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        points
    }

    /// Whether there is nothing between the values of a signal: by its type, or because it switches between a few and no part has
    /// told more of it.
    fn is_discrete(&self, signal: &str) -> bool {
        let is_declared =
            self.metadata(DISCRETE).is_some_and(|names| names.lines().any(|name| name == signal));
        is_declared || (self.samples.is_none() && switches(&self.curves.points(signal)))
    }

    /// What the run was found to be: ("STABLE", what it rests on).
    fn badge(&self) -> Option<Badge> {
        // What stands beside a recording of another name is of another run.
        let is_own = self.file.file_name().is_some_and(|name| name == RECORDING);
        let outcome = is_own.then(|| read_outcome(self.file.parent()?)).flatten()?;
        let verdict = outcome["verdict"].as_str()?;
        let is_judged = verdict != NOT_JUDGED;
        let estimate = &outcome["error_estimate"];
        let text = match (estimate["value"].as_f64(), estimate["by"].as_str()) {
            (Some(value), Some(by)) if is_judged => {
                format!("error about {} of range ({by})", super::run::rough(value))
            }
            _ => outcome["message"].as_str().unwrap_or_default().to_owned(),
        };
        let is_good = is_judged.then_some(verdict == "stable");
        Some(Badge { word: verdict.to_uppercase(), is_good, text })
    }

    /// A remark if there is nothing to see but a point.
    fn of_one_row(&self) -> Option<String> {
        let (file, (only, _)) = (self.file.display(), self.summary().span()?);
        (self.summary().rows() == 1).then(|| {
            let at = format_time(only);
            format!("{file} has 1 row, at {at}: no curves; was the run cut short, or `every` in [record] too long?")
        })
    }

    /// A remark if the project was changed after this run.
    fn outdated(&self) -> Option<String> {
        let changed = |file: &Path| file.metadata().and_then(|about| about.modified()).ok();
        let project = self.file.with_file_name("system.toml");
        let is_older = changed(&self.file)? < changed(&project)?;
        is_older.then(|| {
            let folder = self.file.parent().unwrap_or(Path::new("."));
            format!(
                "this run is older than {}: `costep run {}` makes a new one",
                project.display(),
                argument(folder)
            )
        })
    }

    fn summary(&self) -> &Summary {
        self.curves.summary()
    }

    /// An error if there is nothing to draw.
    fn refuse_nothing(&self) -> Result<(), Error> {
        let error = |message: &str| Err(Error::new(Code::CommandLine, message).in_file(&self.file));
        if self.signals.is_empty() {
            let hint = "the parts have no outputs, and local variables are not recorded: export the FMU with what is to be seen as an \
                 output; inputs are drawn if `--signals` names them, `costep export --list` shows all";
            return error("there is no signal to plot").map_err(|error| error.hint(hint));
        }
        let Some((first, last)) = self.summary().span() else {
            return error("the recording has no rows").map_err(|error| error.hint("run it again"));
        };
        if !self.curves.times().is_empty() {
            return Ok(());
        }
        error("no point lies between `--from` and `--to`").map_err(|error| {
            error.hint(format!("the recording is from {} to {}", format_time(first), format_time(last)))
        })
    }

    fn metadata(&self, key: &str) -> Option<&str> {
        self.summary().metadata().get(key).map(String::as_str)
    }

    /// Parts, parameters and connections, as the recorded project has them.
    fn system(&self) -> Vec<&str> {
        const TABLES: [&str; 5] = ["[parameters", "[native", "[fmu", "[[connect", "[[external"];
        let tables = self.metadata("project").unwrap_or_default().split("\n\n");
        tables.filter(|table| TABLES.iter().any(|start| table.starts_with(start))).map(str::trim).collect()
    }

    /// What to set beside it.
    fn solution(&self, args: &PlotArgs) -> Result<Solution, Failure> {
        let text = self.metadata("project").ok_or_else(|| {
            Error::new(Code::CommandLine, "the recording does not name its system")
                .in_file(&self.file)
                .hint("plot it without `--reference`")
        })?;
        let system = System::from_toml(text, self.file.with_file_name("run.toml"), Registry::standard())?;
        Ok(system.solution(&self.curves.times(), args.to.unwrap_or(f64::INFINITY))?)
    }

    fn traits<'a>(&'a self, signal: &'a str) -> SignalTraits<'a> {
        SignalTraits::new(signal, self.unit(signal), self.is_discrete(signal), &self.points(signal))
    }

    fn unit(&self, signal: &str) -> &str {
        let column = self.summary().columns().iter().find(|column| column.name == signal);
        column.and_then(|column| column.unit.as_deref()).unwrap_or_default()
    }

    /// What tells it from other runs: method and step, or its folder if they are the same; and the verdict, if it is a bad one.
    fn label(&self, among: &[Self]) -> String {
        let name = |run: &Self| match (run.metadata("method"), run.metadata(STEP)) {
            (Some(method), Some(step)) => {
                format!("{method}, {}", step_words(step).trim_start_matches("macro step "))
            }
            _ => String::new(),
        };
        let own = name(self);
        let same = among.iter().filter(|run| name(run) == own).count();
        let label = if own.is_empty() || same > 1 { self.short_path() } else { own };
        match self.badge() {
            Some(Badge { word, is_good: Some(false), .. }) => format!("{label}: {word}"),
            _ => label,
        }
    }

    /// Its folder, or its file if that has a name of its own.
    fn short_path(&self) -> String {
        let is_usual = self.file.file_name().is_some_and(|name| name == RECORDING);
        let folder = self.file.parent().filter(|folder| is_usual && !folder.as_os_str().is_empty());
        folder.unwrap_or(&self.file).display().to_string()
    }
}

/// What lies between the communication points of a recording, if there is such a file beside it.
fn samples_of(file: &Path, signals: &[String], args: &PlotArgs) -> Option<Curves> {
    let samples = file.with_file_name(SAMPLES);
    if file.file_name().is_none_or(|name| name != RECORDING) || !samples.exists() {
        return None;
    }
    let known = |columns: &[Column], _: &BTreeMap<String, String>| {
        let has = |name: &&String| columns.iter().any(|column| column.name == **name);
        Ok(signals.iter().filter(has).cloned().collect())
    };
    // A picture without them is right as well.
    Curves::read(&samples, known, |t| within(t, args)).ok()
}

fn within(t: f64, args: &PlotArgs) -> bool {
    args.from.is_none_or(|from| t >= from) && args.to.is_none_or(|to| t <= to)
}

/// Runs on their way to a figure.
struct Picture<'a> {
    args: &'a PlotArgs,
    runs: &'a [Recorded],
    reference: Option<&'a Solution>,
    /// Whether a curve goes on outside of the picture.
    cut: Cell<bool>,
}

impl Picture<'_> {
    fn figure(&self, run: &Recorded, subtitle: String) -> Figure {
        let mut figure = Figure::new(run.metadata("system").unwrap_or("recording")).subtitle(subtitle);
        if let (Some(badge), [_]) = (run.badge(), self.runs) {
            figure = figure.badge(badge);
        }
        let Some(reference) = self.reference else { return figure };
        let mut note = format!("Dashed: {}.", reference.what);
        if self.runs.iter().any(|other| other.system() != run.system()) {
            note += " The runs are of different systems: the reference belongs to the first.";
        }
        if self.cut.get() {
            note += " Curves that leave it by far are cut.";
        }
        figure.note(note)
    }

    /// One run: a panel per unit and size, a curve per signal.
    fn by_unit(&self, run: &Recorded) -> (Figure, Vec<String>) {
        let mut subtitle: Vec<String> =
            run.metadata("method").map(|method| format!("method {method}")).into_iter().collect();
        subtitle.extend(run.metadata(STEP).map(step_words));
        let traits: Vec<_> = run.signals.iter().map(|signal| run.traits(signal)).collect();
        let groups = panels(&traits);
        let mut drawn = Vec::new();
        for (k, group) in groups.iter().enumerate() {
            let curves: Vec<_> = group
                .iter()
                .map(|signal| (run.signals[*signal].as_str(), run, run.signals[*signal].clone()))
                .collect();
            drawn.push(self.panel(traits[group[0]].unit, &curves, k + 1 == groups.len()));
        }
        (self.figure(run, subtitle.join(", ")).panels(drawn), run.signals.clone())
    }

    /// Several runs: a panel per signal that all of them have, a curve per run.
    fn by_signal(&self) -> Result<(Figure, Vec<String>), Error> {
        let first = &self.runs[0];
        let common = |signal: &&String| self.runs.iter().all(|run| run.signals.contains(signal));
        let signals: Vec<String> = first.signals.iter().filter(common).cloned().collect();
        if signals.is_empty() {
            return Err(Error::new(Code::UnknownColumn, "the recordings have no signal in common"));
        }
        let mut panels = Vec::new();
        for (k, signal) in signals.iter().enumerate() {
            let curves: Vec<_> =
                self.runs.iter().map(|run| (signal.as_str(), run, run.label(self.runs))).collect();
            let unit = format!("{signal} in {}", first.unit(signal));
            let label = if first.unit(signal).is_empty() { signal } else { &unit };
            let panel = self.panel(label, &curves, k + 1 == signals.len());
            panels.push(if k == 0 { panel } else { panel.without_legend() });
        }
        Ok((self.figure(first, format!("{} runs", self.runs.len())).panels(panels), signals))
    }

    /// A panel of curves (signal, run, name), the last one with a label below.
    fn panel(&self, label: &str, curves: &[(&str, &Recorded, String)], is_last: bool) -> Panel {
        let mut references: Vec<(&str, Vec<(f64, f64)>)> = Vec::new();
        for (signal, ..) in curves {
            if references.iter().all(|(known, _)| known != signal) {
                let points = self.reference.and_then(|reference| reference.points(signal));
                let shown = points.map(|points| points.filter(|(t, _)| within(*t, self.args)).collect());
                references.extend(shown.map(|points| (*signal, points)));
            }
        }
        let drawn: Vec<_> =
            curves.iter().map(|(signal, run, name)| (name, run.points(signal), *signal, *run)).collect();
        let time = if is_last { Axis::new("time").unit("s") } else { Axis::default() };
        let mut y = Axis::new(label);
        let range = |points: &mut dyn Iterator<Item = f64>| {
            points.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| (low.min(y), high.max(y)))
        };
        let (low, high) = range(&mut references.iter().flat_map(|(_, points)| points.iter().map(|p| p.1)));
        let (least, most) = range(&mut drawn.iter().flat_map(|(_, points, ..)| points.iter().map(|p| p.1)));
        let size = high - low;
        if size > 0.0 && (least < low - FAR_BEYOND * size || most > high + FAR_BEYOND * size) {
            self.cut.set(true);
            y = y.range(low - ROOM_BEYOND * size, high + ROOM_BEYOND * size);
        }
        let mut panel = Panel::new(time, y);
        for (k, (name, points, signal, run)) in drawn.into_iter().enumerate() {
            let at_points = run.curves.points(signal);
            let (is_rich, is_few) = (points.len() > at_points.len(), at_points.len() <= FEW);
            let look = match run.is_discrete(signal) {
                true => Look::Steps,
                false if is_few && !is_rich => Look::Marked,
                false => Look::Line,
            };
            panel = panel.with(Series::new(name, points).look(look).colour(Colour::Nth(k)));
            if is_few && is_rich {
                panel = panel.with(Series::new("", at_points).look(Look::Points).colour(Colour::Nth(k)));
            }
        }
        for (k, (_, points)) in references.into_iter().enumerate() {
            let name = self.reference.filter(|_| k == 0).map_or("", |reference| reference.name.as_str());
            panel = panel.with(Series::new(name, points).look(Look::Reference).colour(Colour::Ink));
        }
        panel
    }
}
