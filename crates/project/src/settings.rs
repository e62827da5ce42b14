//! The plain settings: times and solver, `[schedule]`, `[record]`, `[guard]` and `[run]`.

use std::collections::HashMap;

use costep_core::quantity::{format_time, plain_time};
use costep_core::{Code, Error, Experiment};
use costep_engine::{Bounds, ControlSpec, Scheduling, Threads};
use costep_integrate::{Solver, Solvers};

use crate::components::{Components, Defaults};
use crate::document::{Entry, Node, Origin, Table, Value};
use crate::keys;
use crate::problems::{Problems, shortened, suggest};
use crate::section::{Section, number};
use crate::signals::{Side, Signals};
use crate::step_control;

/// What is recorded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordSpec {
    /// Time between rows in s; nothing means every communication point.
    pub every: Option<f64>,
    /// Names and patterns with `*` of signals; none means all.
    pub signals: Vec<String>,
    /// Whether what the parts tell of the time between communication points is kept too; nothing means: of native
    /// systems with few steps.
    pub between: Option<bool>,
}

/// Reads start, stop and step, and how steps are controlled, if they are.
pub(crate) fn read_experiment(
    root: &Table,
    system: &Section<'_>,
    parts: &Components,
    problems: &mut Problems<'_>,
) -> Option<(Experiment, Option<ControlSpec>)> {
    let step = Section::open(root.get("step"), "[step]", keys::STEP, problems);
    let defaults = parts.defaults;
    let start = given_or(system, "start", defaults.start.or(Some(0.0)), parts, problems);
    let stop = given_or(system, "stop", defaults.stop, parts, problems);
    let is_controlled = step_control::is_controlled(&step);
    let size = match is_controlled {
        true => step.time("size", problems),
        false => given_or(&step, "size", defaults.step, parts, problems),
    };
    tell_assumed_step(&step, parts, problems);
    let given_by = step.get("size").map(|node| node.origin);
    if let Some(size) = size.filter(|size| *size <= 0.0) {
        let ways = problems.dialect().ways_to_give("step.size", USUAL_STEP);
        problems.report(step.origin_of("size"), || {
            Error::new(Code::BadValue, format!("a step of {} is not possible", format_time(size)))
                .hint(format!("give a time above zero: {ways}"))
        });
        return None;
    }
    let (start, stop) = (start?, stop?);
    if stop <= start {
        let key = if system.get("stop").is_some() { "stop" } else { "start" };
        let later = start.max(0.0) + 10.0;
        let ways = problems.dialect().ways_to_give("system.stop", later);
        problems.report(system.origin_of(key), || {
            let (until, from) = (format_time(stop), format_time(start));
            let why = match stop < start {
                true => format!("before it starts at {from}"),
                false => "where it starts: there is nothing to simulate".into(),
            };
            Error::new(Code::BadValue, format!("the run stops at {until}, {why}"))
                .hint(format!("give a stop after {from}: {ways}"))
        });
    }
    let control = step_control::read(&step, system, (start, stop), size, problems);
    let size = match &control {
        Some(control) => control.max,
        None if is_controlled => return None,
        None => size?,
    };
    let last = start.abs().max(stop.abs());
    let experiment = Experiment { start, stop, step: size };
    if last + size == last {
        problems.report(step.origin_of("size"), || {
            let (size, last) = (format_time(size), format_time(last));
            Error::new(Code::BadValue, format!("a step of {size} is lost in round-off at {last}"))
                .hint("choose a larger step or an earlier stop")
        });
    } else if let Err(error) = check_step(size, &experiment) {
        // A step that the parts propose is no mistake, the stop is.
        let is_given = ["size", "max"].iter().any(|key| step.get(key).is_some());
        let origin = if is_given { step.origin_of("size") } else { system.origin_of("stop") };
        problems.report(origin, || error);
    } else if let Some(Origin::Flag(index)) = given_by {
        let warning = problems.given(index).and_then(|given| {
            let unitless = unitless_time(&given.flag, &given.value)?;
            unitless.is_long_for(stop - start).then(|| unitless.warning())
        });
        warning.into_iter().for_each(|warning| problems.warn_unplaced(warning));
    }
    Some((experiment, control))
}

/// A time of the command line without a unit, which is rather one of milliseconds than one of seconds.
#[derive(Clone, Copy, Debug)]
pub struct UnitlessTime<'a> {
    /// The option with its value.
    flag: &'a str,
    /// Its words before the time, where it has one alone.
    option: &'a str,
    number: &'a str,
    seconds: f64,
}

/// Smaller numbers are written by who thinks in seconds.
const LEAST_UNITLESS: f64 = 0.1;

/// The longest time without a unit among those that an option gives, `--step 1` or `--steps 1ms,10`.
pub fn unitless_time<'a>(flag: &'a str, value: &'a str) -> Option<UnitlessTime<'a>> {
    let option = flag.strip_suffix(value).filter(|option| option.starts_with("--"))?;
    let option = if value.contains(',') { "" } else { option };
    let times = value.split(',').map(str::trim);
    let unitless = times.filter_map(|number| Some((number, number.parse::<f64>().ok()?)));
    let unitless = unitless.filter(|(_, seconds)| *seconds >= LEAST_UNITLESS && seconds.is_finite());
    let (number, seconds) = unitless.max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(UnitlessTime { flag, option, number, seconds })
}

impl UnitlessTime<'_> {
    /// Whether a run of this length has so few steps of this one that seconds are hardly meant.
    pub fn is_long_for(&self, run: f64) -> bool {
        const FEW_STEPS: f64 = 50.0;
        self.seconds * FEW_STEPS * (1.0 + ROUND_OFF) >= run
    }

    /// What it is read as, and how others are written.
    pub fn warning(&self) -> Error {
        let Self { flag, option, number, seconds } = self;
        let subject = match option.is_empty() {
            true => format!("`{number}` in `{}`", shortened(flag)),
            false => format!("`{}`", shortened(flag)),
        };
        let message = format!("{subject} has no unit and is read as {}", format_time(*seconds));
        Error::new(Code::UnitlessTime, message).hint(format!(
            "write `{option}{number}ms` for milliseconds, `{option}{number}s` to confirm seconds"
        ))
    }
}

/// A step as examples have it.
const USUAL_STEP: f64 = 1e-3;

/// Times that are compared are often computed.
const ROUND_OFF: f64 = 1e-9;

/// Says which step is taken where a project of parts gives none. A whole model comes with its own.
fn tell_assumed_step(step: &Section<'_>, parts: &Components, problems: &mut Problems<'_>) {
    let is_given = ["size", "tolerance"].iter().any(|key| step.get(key).is_some() || step.is_misspelt(key));
    let Some(size) = parts.defaults.step.filter(|_| !is_given && parts.model_id.is_none()) else { return };
    problems.warn(step.origin, || {
        let size = format_time(size);
        Error::new(Code::AssumedStep, format!("[step] gives no `size`: the macro step is {size}"))
            .because("all parts that propose a step propose this one")
            .hint(format!("write `size = \"{size}\"` in [step] to confirm it; `costep compare --steps` shows what others do"))
    });
}

/// Macro steps of a run that would take weeks even if nothing is computed in them.
const MOST_STEPS: f64 = 1e12;

/// An error if a step is longer than the run, start to stop, or so short that the run would never end.
pub fn check_step(step: f64, experiment: &Experiment) -> Result<(), Error> {
    let run = experiment.stop - experiment.start;
    if run / step > MOST_STEPS {
        let (count, step, run) = (run / step, format_time(step), format_time(run));
        return Err(Error::new(Code::BadValue, format!("a step of {step} is too short for a run of {run}"))
            .because(format!("it would take {count:.0e} macro steps; the most are {MOST_STEPS:.0e}"))
            .hint("choose a larger step or an earlier stop"));
    }
    check_fits(step, run)
}

/// An error if a step is longer than the run.
pub(crate) fn check_fits(step: f64, run: f64) -> Result<(), Error> {
    if run <= 0.0 || step <= run * (1.0 + ROUND_OFF) {
        return Ok(());
    }
    // Steps of whole seconds are rare: most of them are milliseconds without their unit.
    let unitless = step >= 1.0 && step.fract() == 0.0;
    let in_ms = format!("{step} ms are {}", plain_time(step * 1e-3));
    let (step, run) = (format_time(step), format_time(run));
    Err(Error::new(Code::BadValue, format!("a step of {step} is longer than the run of {run}")).hint(
        match unitless {
            true => format!(
                "choose a smaller step or a later stop; numbers without a unit are in seconds: {in_ms}"
            ),
            false => "choose a smaller step or a later stop".into(),
        },
    ))
}

/// The time given, or the one of the models; if they differ, it has to be given.
fn given_or(
    section: &Section<'_>,
    key: &str,
    default: Option<f64>,
    parts: &Components,
    problems: &mut Problems<'_>,
) -> Option<f64> {
    if section.get(key).is_some() {
        return section.time(key, problems);
    }
    if default.is_none() && !parts.signals.incomplete() {
        section.require(key, &proposed(key, parts), problems);
    }
    default
}

/// What the parts say of a time that they do not agree in.
fn proposed(key: &str, parts: &Components) -> String {
    const MOST: usize = 5;
    let time = |own: &Defaults| if key == "stop" { own.stop } else { own.step };
    let all: Vec<_> =
        parts.proposals.iter().filter_map(|(name, own)| Some((name, format_time(time(own)?)))).collect();
    let words = all.iter().enumerate().take(MOST).map(|(place, (name, time))| match place {
        0 => format!("`{name}` proposes {time}"),
        _ => format!("`{name}` {time}"),
    });
    let more = (all.len() > MOST).then(|| format!("and {} others propose one", all.len() - MOST));
    match all.is_empty() {
        true => {
            let example = if key == "stop" { "10 s" } else { "10 ms" };
            format!("the parts propose none: write `{key} = \"{example}\"`, or what it is to be")
        }
        false => words.chain(more).collect::<Vec<_>>().join(", "),
    }
}

/// Whether the system is to start at rest.
pub(crate) fn read_initial(system: &Section<'_>, problems: &mut Problems<'_>) -> bool {
    let Some(word) = system.text("initial", problems) else { return false };
    if !keys::INITIAL.contains(&word) {
        problems.report(system.origin_of("initial"), || {
            let message = format!("`initial` in [system] is `{}`", shortened(word));
            suggest(Error::new(Code::BadValue, message), word, keys::INITIAL)
        });
    }
    word == keys::INITIAL[1]
}

/// The inner step of `euler` and `rk4` when neither the text nor the model says it.
const DEFAULT_INNER_STEP: f64 = 1e-5;

/// Reads the solver. The flag says whether it was given.
pub(crate) fn read_solver(
    system: &Section<'_>,
    solvers: &Solvers,
    parts: &Components,
    problems: &mut Problems<'_>,
) -> Option<(Solver, bool)> {
    let given = system.get("solver").is_some();
    let has_fmus_only = parts.natives.is_empty() && parts.model_id.is_none() && !parts.fmus.is_empty();
    if given && has_fmus_only && parts.linears.is_empty() && parts.made.is_empty() {
        problems.warn(system.origin_of("solver"), || {
            Error::new(Code::OptionWithoutEffect, "`solver` in [system] has no effect")
                .because("it is that of native parts, and the system has none")
                .hint("an FMU with `interface = \"me\"` has a `solver` in its own table; remove this one")
        });
    }
    let solver = if given {
        let text = system.text("solver", problems)?;
        solvers
            .parse(
                text,
                parts.defaults.solver.and_then(|solver| solver.inner_step()).unwrap_or(DEFAULT_INNER_STEP),
            )
            .map_err(|error| problems.report(system.origin_of("solver"), || error))
            .ok()?
    } else {
        if parts.defaults.solver.is_none() && !parts.natives.is_empty() && !parts.signals.incomplete() {
            let hint = "the models of the parts have different ones; write for example \"euler:10us\"";
            system.require("solver", hint, problems);
        }
        // Without native parts nothing is solved here.
        let needed = !parts.natives.is_empty() || parts.model_id.is_some();
        parts.defaults.solver.or((!needed).then_some(Solver::Exact))?
    };
    if solver == Solver::Exact
        && let Some(part) =
            parts.model.parts.iter().find(|part| part.ode().is_some_and(|ode| !ode.is_linear()))
    {
        problems.report(system.origin_of("solver"), || {
            let name = &part.description().name;
            Error::new(Code::BadValue, format!("the solver `exact` needs linear parts, `{name}` is not"))
                .hint("use dopri5, rk4 or euler")
        });
    }
    Some((solver, given))
}

/// The order of stepping that others call by these names.
pub(crate) fn order_by_name(name: &str) -> Option<&'static str> {
    match name.to_lowercase().replace(['_', ' '], "-").as_str() {
        "jacobi" => Some("parallel"),
        "gauss-seidel" | "gaussseidel" | "seidel" => Some("sequential"),
        _ => None,
    }
}

/// Reads `[schedule]`.
pub(crate) fn read_schedule(
    root: &Table,
    signals: &Signals,
    problems: &mut Problems<'_>,
) -> Option<Scheduling> {
    const KINDS: [&str; 3] = ["auto", "parallel", "sequential"];
    let section = Section::open(root.get("schedule"), "[schedule]", keys::SCHEDULE, problems);
    let kind = match section.get("kind") {
        Some(_) => section.text("kind", problems)?,
        None => KINDS[0],
    };
    let order = section.texts("order", problems);
    if matches!(kind, "auto" | "parallel") && section.get("order").is_some() && !section.is_misspelt("kind") {
        problems.report(section.origin_of("order"), || {
            Error::new(Code::Conflict, format!("`order` has no effect with the schedule `{kind}`"))
                .hint("write kind = \"sequential\", or remove `order`")
        });
    }
    match kind {
        "auto" => Some(Scheduling::Auto),
        "parallel" => Some(Scheduling::Parallel),
        "sequential" if order.is_none() => Some(Scheduling::Sequential(Vec::new())),
        "sequential" => read_order(&section, &order?, signals, problems).map(Scheduling::Sequential),
        _ => {
            problems.report(section.origin_of("kind"), || {
                let error = Error::new(Code::BadValue, format!("unknown schedule `{kind}`"));
                match order_by_name(kind) {
                    Some(word) => error.hint(format!("did you mean `{word}`?")),
                    None => suggest(error, kind, KINDS),
                }
            });
            None
        }
    }
}

fn read_order(
    section: &Section<'_>,
    given: &[(&str, Origin)],
    signals: &Signals,
    problems: &mut Problems<'_>,
) -> Option<Vec<usize>> {
    let parts = signals.parts();
    let index_of: HashMap<&str, usize> =
        parts.iter().enumerate().map(|(i, part)| (part.as_str(), i)).collect();
    let (mut order, mut named) = (Vec::new(), vec![false; parts.len()]);
    for (name, origin) in given {
        match index_of.get(name) {
            Some(index) if named[*index] => problems.report(*origin, || {
                Error::new(Code::Duplicate, format!("`order` names `{name}` twice"))
                    .hint("name each part once")
            }),
            Some(index) => {
                order.push(*index);
                named[*index] = true;
            }
            None if signals.may_be_part(name) => {}
            None => problems.report(*origin, || {
                let message = format!("`order` names `{}`, which is not a part", shortened(name));
                suggest(Error::new(Code::UnknownName, message), name, parts.iter().map(String::as_str))
            }),
        }
    }
    let missing: Vec<_> = (0..parts.len()).filter(|i| !named[*i]).map(|i| parts[i].as_str()).collect();
    if !missing.is_empty() {
        problems.report(section.origin_of("order"), || {
            Error::new(Code::Missing, format!("`order` does not name {}", shortened(&missing.join(", "))))
                .hint("name each part once, or leave `order` out to have it chosen")
        });
    }
    Some(order)
}

/// Rows that are not what `every` in [record] says.
fn warn_of_rows(
    section: &Section<'_>,
    every: f64,
    (run, is_fixed): (&Experiment, bool),
    problems: &mut Problems<'_>,
) {
    let (step, length) = (run.step, run.stop - run.start);
    let steps = (every / step).round().max(1.0);
    let [every_text, step_text, length_text, row] = [every, step, length, steps * step].map(format_time);
    let dialect = problems.dialect();
    let every_said = dialect.setting("record.every", &every_text);
    let [smaller_step, rows] = [("step.size", every), ("record.every", steps * step)]
        .map(|(key, time)| dialect.ways_to_give(key, time));
    let because = format!("rows are written at communication points: one every {row}");
    let warning = if is_fixed && every < step * (1.0 - ROUND_OFF) {
        Error::new(Code::RecordedPerStep, format!("{every_said} is shorter than the step of {step_text}"))
            .because(because)
            .hint(format!("leave it out, or give a step like it: {smaller_step}"))
    } else if length > 0.0 && every > length * (1.0 + ROUND_OFF) {
        Error::new(Code::RecordedPerStep, format!("{every_said} is longer than the run of {length_text}"))
            .because("only the start is written: a single row, of which no curve can be drawn")
            .hint("choose a shorter time, or leave it out to record every step")
    } else if is_fixed && (every / step - steps).abs() > ROUND_OFF.max(1e-6 * steps) {
        Error::new(Code::RecordedPerStep, format!("{every_said} is no multiple of the step of {step_text}"))
            .because(because)
            .hint(format!("confirm it by {rows}, or choose another step"))
    } else {
        return;
    };
    problems.warn(section.origin_of("every"), || warning);
}

/// Reads `[record]`.
pub(crate) fn read_record(
    root: &Table,
    signals: &Signals,
    (run, is_fixed): (Option<&Experiment>, bool),
    problems: &mut Problems<'_>,
) -> RecordSpec {
    let section = Section::open(root.get("record"), "[record]", keys::RECORD, problems);
    let every = section.time("every", problems);
    if let Some(every) = every.filter(|every| *every <= 0.0) {
        problems.report(section.origin_of("every"), || {
            Error::new(Code::BadValue, format!("recording every {every} s is not possible"))
                .hint("more than zero; leave it out to record every step")
        });
    }
    if let (Some(every), Some(run)) = (every.filter(|every| *every > 0.0), run) {
        warn_of_rows(&section, every, (run, is_fixed), problems);
    }
    let patterns = section.texts("signals", problems);
    if patterns.as_ref().is_some_and(Vec::is_empty) {
        problems.report(section.origin_of("signals"), || {
            Error::new(Code::BadValue, "`signals` in [record] names none").hint("leave it out to record all")
        });
    }
    let patterns = patterns.unwrap_or_default();
    for (pattern, origin) in &patterns {
        signals.check_recorded(pattern, *origin, problems);
    }
    let between = section.truth("between", problems);
    RecordSpec { every, between, signals: patterns.into_iter().map(|(pattern, _)| pattern.into()).collect() }
}

/// Reads `[guard]`.
pub(crate) fn read_guard(
    root: &Table,
    signals: &Signals,
    problems: &mut Problems<'_>,
) -> Vec<(usize, Bounds)> {
    let section = Section::open(root.get("guard"), "[guard]", keys::GUARD, problems);
    let bounds = Section::open_free(section.get("bounds"), "`bounds` in [guard]", problems);
    let read = |entry: &Entry| {
        let output = signals.find(Side::Output, &entry.key, entry.key_origin, problems);
        let bounds = read_bounds(entry, problems);
        Some((output.ok()?, bounds?))
    };
    bounds.entries().iter().filter_map(read).collect()
}

fn read_bounds(entry: &Entry, problems: &mut Problems<'_>) -> Option<Bounds> {
    let Value::List(pair) = &entry.node.value else { return refuse_bounds(entry, problems) };
    let [min, max] = &pair[..] else { return refuse_bounds(entry, problems) };
    let what = format!("a bound of `{}`", entry.key);
    let (min, max) = (number(min, &what, problems), number(max, &what, problems));
    let (min, max) = (min?, max?);
    if min > max {
        problems.report(entry.node.origin, || {
            Error::new(Code::BadValue, format!("the bounds of `{}` exclude every value", entry.key))
                .hint(format!("write [{max}, {min}]"))
        });
        return None;
    }
    Some(Bounds { min, max })
}

fn refuse_bounds(entry: &Entry, problems: &mut Problems<'_>) -> Option<Bounds> {
    problems.report(entry.node.origin, || {
        Error::new(Code::BadValue, format!("the bounds of `{}` are not a pair of numbers", entry.key))
            .hint("write [least, greatest]")
    });
    None
}

/// Reads `[run]`.
pub(crate) fn read_threads(root: &Table, problems: &mut Problems<'_>) -> Threads {
    const MAX_THREADS: i64 = 256;
    let section = Section::open(root.get("run"), "[run]", keys::RUN, problems);
    match section.get("threads") {
        None => Threads::Auto,
        Some(Node { value: Value::Text(text), .. }) if text == "auto" => Threads::Auto,
        Some(Node { value: Value::Integer(count), .. }) if (1..=MAX_THREADS).contains(count) => {
            Threads::Fixed(*count as usize)
        }
        Some(other) => {
            problems.report(other.origin, || {
                Error::new(Code::BadValue, "`threads` in [run] is not a number of threads")
                    .hint(format!("allowed: \"auto\" or an integer from 1 to {MAX_THREADS}"))
            });
            Threads::Auto
        }
    }
}
