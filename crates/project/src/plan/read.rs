//! Plans as TOML files.

use std::path::Path;

use costep_core::quantity::{exact_time, parse_time_with_unit};
use costep_core::{Code, Error, Value as Level};
use costep_experiments::{Factor, parse_numbers, parse_times};

use super::{AnalysisSpec, Axis, ERRORS, Plan, Varied};
use crate::document::{Node, Origin, Table, Value};
use crate::overrides::Override;
use crate::parse;
use crate::problems::{Problems, shortened, suggest};
use crate::registry::Registry;
use crate::section::{Section, refuse_unknown_keys};
use crate::source;

const TABLES: &[&str] = &["plan", "set", "options", "parameters", "analysis"];
const PLAN_KEYS: &[&str] =
    &["name", "system", "method", "methods", "step", "steps", "stop", "models", "reference"];
const ANALYSIS_KEYS: &[&str] = &["error", "saturate", "within", "at_least"];

/// Reads everything, whatever is wrong with the rest, so that all mistakes are found.
pub(super) fn plan(text: &str, path: &Path, registry: &Registry) -> Result<Plan, Vec<Error>> {
    let mut problems = Problems::new(Some(path), text, &[]);
    let Some(mut root) = parse::document(text, &mut problems) else { return Err(problems.into_errors()) };
    for names in ["set", "parameters"] {
        root.table_mut(names).into_iter().for_each(Table::flatten);
    }
    let problems_of = &mut problems;
    if root.get("plan").is_none() && root.get("system").is_some() {
        let origin = root.get("system").map_or(Origin::Nowhere, |system| system.origin);
        problems_of.report(origin, || is_a_project(path));
        return Err(problems.into_errors());
    }
    refuse_unknown_keys(&root, "the plan", TABLES, problems_of);
    let section = Section::open(root.get("plan"), "[plan]", PLAN_KEYS, problems_of);
    section.require("system", "write for example system = \"dual-mass\"", problems_of);
    let system = section.text("system", problems_of).map(|text| beside(path, text));
    let mut reader = Reader {
        root: &root,
        section,
        changes: Vec::new(),
        axes: Vec::new(),
        origins: Vec::new(),
        without_levels: Vec::new(),
    };
    let mut plan = Plan::new(system.clone().unwrap_or_default());
    plan.name = reader
        .section
        .text("name", problems_of)
        .map_or_else(|| source::default_name(path).unwrap_or_else(|| "plan".into()), str::to_owned);
    plan.method = reader.section.text("method", problems_of).map(str::to_owned);
    plan.reference = reader.section.text("reference", problems_of).unwrap_or("same").to_owned();
    reader.read_changes(problems_of);
    plan.changes = reader.changes.iter().map(|(change, _)| change.clone()).collect();
    plan.analysis = analysis(&root, problems_of);
    reader.read_axes(problems_of);
    plan.axes = std::mem::take(&mut reader.axes);
    plan.changes.extend(first_step(&plan));
    reader.check(&plan, system.is_some(), registry, problems_of);
    if problems.is_empty() { Ok(plan) } else { Err(problems.into_errors()) }
}

/// The error of a project where a plan is wanted.
fn is_a_project(path: &Path) -> Error {
    let file = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    Error::new(Code::Missing, "this is a project, not a plan").hint(format!(
        "a plan is a file of its own, with [plan] system = \"{file}\" and what is varied (docs/experiments.md)"
    ))
}

/// The first of the steps as that of the system, which then needs none of its own.
fn first_step(plan: &Plan) -> Option<Override> {
    let steps = plan.axes.iter().find(|axis| axis.varied == Varied::Step)?;
    let step = exact_time(*steps.factor.numbers()?.first()?);
    Some(Override::new("step.size", step, "steps in [plan]"))
}

/// A file beside the plan, or a built-in model.
fn beside(plan: &Path, system: &str) -> String {
    let file = plan.parent().unwrap_or(Path::new("")).join(system);
    if file.exists() { file.to_string_lossy().into_owned() } else { system.into() }
}

struct Reader<'a> {
    root: &'a Table,
    section: Section<'a>,
    /// What all runs have in common, and where it is.
    changes: Vec<(Override, Origin)>,
    axes: Vec<Axis>,
    /// Where each of them is.
    origins: Vec<Origin>,
    /// Those whose levels cannot be read.
    without_levels: Vec<(Axis, Origin)>,
}

impl Reader<'_> {
    fn read_changes(&mut self, problems: &mut Problems<'_>) {
        for (key, path) in [("stop", "system.stop"), ("step", "step.size")] {
            let Some(time) = self.section.time(key, problems) else { continue };
            let change = Override::new(path, format!("{time:?}"), format!("{key} in [plan]"));
            self.changes.push((change, self.section.origin_of(key)));
        }
        if let Some(text) = self.section.text("models", problems) {
            let change = Override::new("models", text, "models in [plan]");
            self.changes.push((change, self.section.origin_of("models")));
        }
        for entry in Section::open_free(self.root.get("set"), "[set]", problems).entries() {
            match level(&entry.node) {
                Some(value) => self.changes.push((super::change(&entry.key, &value), entry.node.origin)),
                None => problems.report(entry.node.origin, || {
                    let message =
                        format!("`{}` in [set] is {}", shortened(&entry.key), entry.node.value.kind());
                    Error::new(Code::BadValue, message).hint("write a number, a word, true or false")
                }),
            }
        }
    }

    fn read_axes(&mut self, problems: &mut Problems<'_>) {
        if let Some(node) = self.section.get("methods") {
            self.axis(Varied::Method, "method", node, problems);
            self.refuse_beside("method", "methods", problems);
        }
        for (table, varied) in [("options", Varied::Option), ("parameters", Varied::Parameter)] {
            let section = Section::open_free(self.root.get(table), format!("[{table}]"), problems);
            for entry in section.entries() {
                self.axis(varied, &entry.key, &entry.node, problems);
            }
        }
        if let Some(node) = self.section.get("steps") {
            self.axis(Varied::Step, "step", node, problems);
            self.refuse_beside("step", "steps", problems);
        }
        if self.axes.is_empty() && problems.is_empty() {
            problems.report(self.section.origin, || {
                Error::new(Code::Missing, "the plan varies nothing")
                    .hint("give levels in [options] or [parameters], or `methods` or `steps` in [plan]")
            });
        }
    }

    fn refuse_beside(&self, one: &str, several: &str, problems: &mut Problems<'_>) {
        if self.section.get(one).is_some() {
            problems.report(self.section.origin_of(one), || {
                Error::new(Code::Conflict, format!("`{one}` and `{several}` are both given"))
                    .hint("keep one of them")
            });
        }
    }

    fn axis(&mut self, varied: Varied, name: &str, node: &Node, problems: &mut Problems<'_>) {
        match levels(varied, name, node) {
            Ok(levels) => {
                self.axes.push(Axis { varied, factor: Factor::new(name, levels) });
                self.origins.push(node.origin);
            }
            Err(error) => {
                problems.report(node.origin, || error);
                self.without_levels
                    .push((Axis { varied, factor: Factor::new(name, Vec::new()) }, node.origin));
            }
        }
    }

    /// Tries the method, the system and every level.
    fn check(&self, plan: &Plan, has_system: bool, registry: &Registry, problems: &mut Problems<'_>) {
        if let Some(Err(error)) = plan.method.as_ref().map(|text| registry.method(text)) {
            problems.report(self.section.origin_of("method"), || error);
        }
        let varies_method = |axis: &Axis| matches!(axis.varied, Varied::Method | Varied::Option);
        let sound = if has_system { self.sound_changes(plan, registry, problems) } else { None };
        let loads = sound.is_some();
        let plan = &Plan { changes: sound.unwrap_or_default(), ..plan.clone() };
        for (axis, origin) in self.origins.iter().enumerate() {
            if loads || varies_method(&plan.axes[axis]) {
                plan.flaws(registry, axis).into_iter().for_each(|flaw| problems.report(*origin, || flaw));
            }
        }
        for (axis, origin) in &self.without_levels {
            if loads || varies_method(axis) {
                plan.flaw_of_name(registry, axis)
                    .into_iter()
                    .for_each(|flaw| problems.report(*origin, || flaw));
            }
        }
        if let Err(error) = plan.runs() {
            problems.report(self.section.origin, || error);
        }
    }

    /// The changes with which the system loads; nothing if it does not load without the wrong ones either. What is wrong is told where
    /// it stands.
    fn sound_changes(
        &self,
        plan: &Plan,
        registry: &Registry,
        problems: &mut Problems<'_>,
    ) -> Option<Vec<Override>> {
        let load = |changes: &[Override]| {
            let alone = Plan { axes: Vec::new(), changes: changes.to_vec(), ..plan.clone() };
            alone.load(registry, &[]).map(|_| ())
        };
        let Err(errors) = load(&plan.changes) else { return Some(plan.changes.clone()) };
        let blames = |error: &Error, change: &Override| {
            error.details().cause.as_ref() == Some(&format!("given by `{}`", change.flag))
        };
        let is_sound = |change: &&Override| !errors.iter().any(|error| blames(error, change));
        let sound: Vec<Override> = plan.changes.iter().filter(is_sound).cloned().collect();
        for error in &errors {
            let change = self.changes.iter().find(|(change, _)| blames(error, change));
            let origin = change.map_or_else(|| self.section.origin_of("system"), |(_, origin)| *origin);
            problems.report(origin, || error.clone());
        }
        load(&sound).is_ok().then_some(sound)
    }
}

/// A value that can be a level.
fn level(node: &Node) -> Option<Level> {
    match &node.value {
        Value::Text(text) => Some(Level::Text(text.clone())),
        Value::Integer(integer) => Some(Level::Integer(*integer)),
        Value::Real(real) => Some(Level::Real(*real)),
        Value::Truth(truth) => Some(Level::Bool(*truth)),
        Value::Date | Value::List(_) | Value::Table(_) => None,
    }
}

/// Where a single value is written, which is no list of levels.
fn single_level(varied: Varied, name: &str, value: &Value) -> String {
    let text = match value {
        Value::Text(text) => format!("\"{}\"", shortened(text)),
        Value::Integer(value) => value.to_string(),
        Value::Real(value) => value.to_string(),
        Value::Truth(value) => value.to_string(),
        _ => "...".into(),
    };
    let name = shortened(name);
    match varied {
        Varied::Method => {
            format!("write `method = {text}` for all runs, or a list: `methods = [{text}, ...]`")
        }
        Varied::Step => {
            "write `step = \"1 ms\"` for all runs, or a list: `steps = [\"1 ms\", \"2 ms\"]`".into()
        }
        Varied::Parameter => {
            format!("write `{name} = {text}` in [set] for all runs, or a list: `{name} = [{text}, ...]`")
        }
        Varied::Option => {
            format!(
                "write it with the method for all runs, `method = \"ID:{name}={}\"`, or a list: `{name} = [{text}, ...]`",
                text.trim_matches('"')
            )
        }
    }
}

/// The levels of a factor: a list, or a range as text.
fn levels(varied: Varied, name: &str, node: &Node) -> Result<Vec<Level>, Error> {
    let bad = |message: String| Error::new(Code::BadLevels, message);
    let items = match &node.value {
        Value::Text(text) if varied == Varied::Step => {
            return Ok(parse_times(text)?.into_iter().map(Level::Real).collect());
        }
        Value::Text(text) if varied != Varied::Method => {
            return Ok(parse_numbers(text)?.into_iter().map(Level::Real).collect());
        }
        Value::List(items) => items,
        other => {
            let error = bad(format!("the levels of `{}` are {}, not a list", shortened(name), other.kind()));
            return Err(error.hint(single_level(varied, name, other)));
        }
    };
    let one = |item: &Node| match (varied, level(item)) {
        (Varied::Step, Some(Level::Text(text))) => parse_time_with_unit(&text).map(Level::Real),
        (Varied::Step, Some(Level::Integer(_) | Level::Real(_) | Level::Bool(_))) => {
            Err(bad("a step has no unit".into()).hint("write it as text, \"1 ms\""))
        }
        (_, Some(level)) => Ok(level),
        (_, None) => Err(bad(format!("a level of `{}` is {}", shortened(name), item.value.kind()))),
    };
    let levels: Vec<Level> = items.iter().map(one).collect::<Result<_, _>>()?;
    if let Some(step) =
        levels.iter().find(|level| varied == Varied::Step && !matches!(level, Level::Real(s) if *s > 0.0))
    {
        return Err(bad(format!("a step of {step} s is not possible")));
    }
    Ok(levels)
}

fn analysis(root: &Table, problems: &mut Problems<'_>) -> AnalysisSpec {
    let section = Section::open(root.get("analysis"), "[analysis]", ANALYSIS_KEYS, problems);
    let mut spec = AnalysisSpec::default();
    if let Some(name) = section.text("error", problems) {
        match ERRORS.into_iter().find(|known| *known == name) {
            Some(error) => spec.error = error,
            None => problems.report(section.origin_of("error"), || {
                let message = format!("unknown error `{}`", shortened(name));
                suggest(Error::new(Code::BadValue, message), name, ERRORS)
            }),
        }
    }
    for (key, least) in [("saturate", f64::MIN_POSITIVE), ("within", 0.0), ("at_least", 1.0)] {
        let Some(value) = section.number(key, problems) else { continue };
        if value < least {
            problems.report(section.origin_of(key), || {
                Error::new(Code::BadValue, format!("`{key}` in [analysis] cannot be {value}"))
                    .hint("a positive number")
            });
            continue;
        }
        match key {
            "saturate" => spec.saturate = value,
            "within" => spec.within = value,
            _ => spec.at_least = value as usize,
        }
    }
    spec
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Plan, Vec<Error>> {
        plan(text, Path::new("plan.toml"), &Registry::standard())
    }

    const GOOD: &str = r#"
[plan]
system = "dual-mass"
method = "prestep:paper=true,ede=true"
steps = ["1 ms", "2ms"]
stop = "50 ms"

[options]
ede = [false, true]
phi_steps = [1, 10]

[parameters]
ck = "1e4..1e6:log:3"

[analysis]
error = "eps_mean"
at_least = 5
"#;

    #[test]
    fn a_plan_has_its_factors_in_order() {
        let plan = read(GOOD).unwrap();
        let names: Vec<_> = plan.axes.iter().map(|axis| axis.factor.name.as_str()).collect();
        assert_eq!(names, ["ede", "phi_steps", "ck", "step"]);
        assert_eq!(plan.runs(), Ok(24));
        let points = plan.factorial();
        let levels = points.levels(23);
        let registry = Registry::standard();
        assert_eq!(plan.step_at(&levels), Some(2e-3));
        let method = plan.method_at(&registry, &levels).unwrap().unwrap();
        assert_eq!(method.label(), "prestep:paper=true,ede=true,phi_steps=10");
        let project = plan.load(&registry, &levels).unwrap();
        assert!(project.parameters.contains(&("ck".into(), 1e6)));
        assert_eq!(project.model.experiment.stop, 0.05);
        assert_eq!((plan.analysis.error, plan.analysis.at_least, plan.analysis.within), ("eps_mean", 5, 0.1));
        assert_ne!(plan.identity(), read(&GOOD.replace("50 ms", "60 ms")).unwrap().identity());
    }

    #[test]
    fn all_mistakes_are_found_at_once_with_their_lines() {
        let bad = r#"
[plan]
system = "dual-mass"
method = "prestep"
steps = ["1 ms", 2]
refrence = "none"

[options]
phi_stepz = [1, 10]
ede = [false, 7]
target = ["riemann", "riemann"]
scaled = [true]

[parameters]
ckk = [1, 2]
dk = "1..2:log"

[analysis]
error = "eps"
within = -1
"#;
        let errors = read(bad).unwrap_err();
        let found: Vec<(Option<usize>, &str)> = errors
            .iter()
            .map(|error| match &error.details().place {
                costep_core::Place::File { line, .. } => (*line, error.code().entry().id),
                _ => (None, error.code().entry().id),
            })
            .collect();
        let lines: Vec<usize> = found.iter().filter_map(|(line, _)| *line).collect();
        assert_eq!(lines, [5, 6, 9, 10, 11, 12, 15, 16, 19, 20], "{errors:#?}");
        assert!(errors.iter().all(|error| !error.help().is_empty()));
        assert!(errors[6].to_string().contains("did you mean `ck`?"), "{}", errors[6]);
    }

    /// Mistakes in what all runs have in common were told at the line of the system, and hid those of the parameters; a method that does
    /// not exist was told again for every option.
    #[test]
    fn a_mistake_is_told_where_it_stands_and_hides_no_other() {
        let bad = r#"[plan]
system = "dual-mass"
method = "prestepp"
step = "1 ms"
steps = ["1 ms", "2 ms"]
stop = "-3 s"

[set]
micro_step = "x"

[options]
phi_steps = []
ede = [false, true]

[parameters]
dk = [1e3, "a", nan, "a"]
"#;
        let errors = read(bad).unwrap_err();
        let line = |error: &Error| match &error.details().place {
            costep_core::Place::File { line, .. } => line.unwrap_or(0),
            _ => 0,
        };
        let lines: Vec<usize> = errors.iter().map(line).collect();
        assert_eq!(lines, [3, 4, 6, 9, 12, 16, 16, 16], "{errors:#?}");
        assert!(errors[4].to_string().contains("`phi_steps` has no levels"), "{}", errors[4]);
    }

    #[test]
    fn plans_without_anything_to_vary_or_with_far_too_much_are_refused() {
        let nothing = read("[plan]\nsystem = \"dual-mass\"\n").unwrap_err();
        assert!(nothing[0].to_string().contains("varies nothing"));
        let plan = Plan {
            axes: ["ck", "dk", "m1"]
                .map(|name| Axis {
                    varied: Varied::Parameter,
                    factor: Factor::new(name, vec![Level::Integer(1); 2000]),
                })
                .into(),
            ..Plan::new("dual-mass")
        };
        assert_eq!(plan.runs().unwrap_err().code(), Code::PlanTooLarge);
        assert!(read("[plan]\nsystem = 3\n").is_err() && read("nonsense").is_err());
    }
}
