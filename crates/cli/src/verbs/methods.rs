//! `costep methods`: the registries of coupling methods and of sources of models, for people and machines.

use std::process::ExitCode;

use costep_core::{AfterStep, MethodEntry, ModelDemand, OptionSpec, Request, Result, SourceEntry};
use costep_ident::sources::{SOURCES, Sources};
use costep_methods::{MethodSpec, find, registry};
use serde_json::{Value, json};

use crate::args::ListArgs;
use crate::failure::Failure;
use crate::style::{Output, STRONG, paint, print, print_json, say};
use crate::table::{Cell, render};

pub(crate) fn run(args: &ListArgs, output: Output) -> Result<ExitCode, Failure> {
    let source = args.id.as_deref().and_then(|id| Sources::standard().find(id).ok());
    match (&args.id, source, output.json) {
        (None, _, true) => print_json(&registry::all().map(to_json).collect::<Vec<_>>())?,
        (None, _, false) => list()?,
        (_, Some(source), true) => print_json(&source_to_json(source))?,
        (_, Some(source), false) => explain_source(source)?,
        (Some(id), None, true) => print_json(&to_json(find(id)?))?,
        (Some(id), None, false) => explain(find(id)?)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn list() -> Result<()> {
    let row = |id, title| vec![Cell::styled(id, STRONG), Cell::new(title)];
    let method = |entry: &'static MethodEntry| {
        let (needs, costs) = (short_needs(entry).join(", "), short_costs(entry));
        vec![Cell::styled(entry.id, STRONG), Cell::new(entry.title), Cell::new(&needs), Cell::new(&costs)]
    };
    let methods: Vec<_> = registry::all().map(method).collect();
    print(&render(&["method", "", "needs", "steps"], &methods))?;
    say!("\n  steps: how often each subsystem does a macro step; needs: what every subsystem has to offer")?;
    let sources: Vec<_> = SOURCES.iter().map(|entry| row(entry.id, entry.title)).collect();
    say!("")?;
    print(&render(&["models from", ""], &sources))?;
    say!("\n  `costep methods ID` explains one.")
}

fn explain(entry: &'static MethodEntry) -> Result<()> {
    say!("{}  {}\n", paint(STRONG, entry.id), entry.title)?;
    say!("  {}\n", entry.summary)?;
    say!("  rule     {}", entry.equations)?;
    match entry.convergence_order {
        0 => say!("  order    no coupling error")?,
        order => say!("  order    {order}")?,
    }
    say!("  needs    {}", needs(entry).join(", "))?;
    say!("  costs    {}", costs(entry))?;
    let sources: Vec<_> = sources_of(entry).iter().map(|source| source.id).collect();
    if !sources.is_empty() {
        say!("  models   from {} (`--models`, `costep methods SOURCE`)", sources.join(", "))?;
    }
    say!("  source   {}", entry.source)?;
    print_options("option", entry.options)?;
    match entry.papers {
        Some(papers) => print_options(&format!("to reproduce {}", papers.tag), papers.options),
        None => Ok(()),
    }
}

fn explain_source(entry: &SourceEntry) -> Result<()> {
    say!("{}  {}\n", paint(STRONG, entry.id), entry.title)?;
    say!("  {}\n", entry.summary)?;
    say!("  gives    {}", entry.kind.title())?;
    say!("  needs    {}", entry.needs)?;
    let fits = |method: &&MethodEntry| method.models.contains(&entry.kind);
    let methods: Vec<_> = registry::all().filter(fits).map(|method| method.id).collect();
    say!("  methods  {}", methods.join(", "))?;
    say!("  source   {}", entry.source)?;
    print_options("option", entry.options)
}

fn print_options(title: &str, options: &[OptionSpec]) -> Result<()> {
    if options.is_empty() {
        return Ok(());
    }
    let row = |option: &OptionSpec| {
        let help = match &only_with(option)[..] {
            [] => option.help.to_owned(),
            conditions => format!("{} [only with {}]", option.help, conditions.join(", ")),
        };
        let default = option.kind.default_value().to_string();
        [option.name, &default, &option.kind.allowed(), &help].into_iter().map(Cell::new).collect()
    };
    say!("")?;
    print(&render(&[title, "default", "allowed", ""], &options.iter().map(row).collect::<Vec<_>>()))
}

/// The sources whose models a method can work with.
fn sources_of(entry: &MethodEntry) -> Vec<&'static SourceEntry> {
    Sources::standard().of_kinds(entry.models)
}

/// What the method asks of the subsystems with its default options.
fn needs(entry: &'static MethodEntry) -> Vec<String> {
    let Ok(spec) = MethodSpec::of(entry, Vec::new()) else { return Vec::new() };
    let request = spec.build().request();
    let mut list = Vec::new();
    if request.inputs.order() > 0 {
        list.push(format!("input polynomials of order {}", request.inputs.order()));
    }
    if request.after_step == AfterStep::Judge {
        list.push("rollback".into());
    }
    match request.models {
        ModelDemand::None => {}
        ModelDemand::Feedthrough => list.push("the direct feedthrough of the subsystems".into()),
        ModelDemand::Full { .. } => list.push("local models (Jacobians) of the subsystems".into()),
    }
    if request.micro_samples {
        list.push("outputs inside the step where a subsystem provides them".into());
    }
    if list.is_empty() {
        list.push("nothing".into());
    }
    list
}

/// What a method asks for with its default options; nothing of those that do not couple.
fn request(entry: &'static MethodEntry) -> Option<Request> {
    let spec = MethodSpec::of(entry, Vec::new()).ok()?;
    Some(spec.build().request())
}

/// What a method needs, in few words.
fn short_needs(entry: &'static MethodEntry) -> Vec<&'static str> {
    let Some(request) = request(entry).filter(|_| couples(entry)) else { return Vec::new() };
    let rollback = (request.after_step == AfterStep::Judge).then_some("rollback");
    let models = match request.models {
        ModelDemand::None => None,
        ModelDemand::Feedthrough => Some("D"),
        ModelDemand::Full { .. } => Some("local models"),
    };
    rollback.into_iter().chain(models).collect()
}

/// `monolithic` has no coupling error: its parts are one system.
fn couples(entry: &MethodEntry) -> bool {
    entry.convergence_order > 0
}

/// How often each subsystem does a macro step.
fn short_costs(entry: &'static MethodEntry) -> String {
    match request(entry).filter(|_| couples(entry)) {
        Some(request) if request.after_step == AfterStep::Judge => "2 or more".into(),
        Some(Request { divides, .. }) if divides > 0 => format!("1, at the start {divides}"),
        Some(_) => "1".into(),
        None => "-".into(),
    }
}

/// What a macro step costs.
fn costs(entry: &'static MethodEntry) -> String {
    let Some(request) = request(entry).filter(|_| couples(entry)) else {
        return "one integration of all parts together".into();
    };
    let steps = match short_costs(entry).as_str() {
        "1" => "one step of each subsystem per macro step".into(),
        other => format!("steps of each subsystem per macro step: {other}"),
    };
    match request.models {
        ModelDemand::Full { .. } => format!("{steps}; a local model where it changes"),
        ModelDemand::None | ModelDemand::Feedthrough => steps,
    }
}

/// What an option belongs to.
fn only_with(option: &OptionSpec) -> Vec<String> {
    let text = |condition| registry::condition_text(condition, &Sources::standard());
    option.only_with.iter().map(text).collect()
}

/// An option, with what it is one of.
fn option_to_json(option: &OptionSpec, of: &str) -> Value {
    json!({
        "name": option.name,
        "default": option.kind.default_value().to_string(),
        "allowed": option.kind.allowed(),
        "help": option.help,
        "only_with": only_with(option),
        "of": of,
    })
}

/// All that may be written as options of a method, those of its sources among them.
fn options_to_json(entry: &MethodEntry) -> Vec<Value> {
    let mut options: Vec<_> = entry.options.iter().map(|option| option_to_json(option, "method")).collect();
    if let Some(papers) = entry.papers {
        options.extend(papers.options.iter().map(|option| option_to_json(option, papers.tag)));
    }
    let sources = sources_of(entry);
    if let [first, ..] = &sources[..] {
        let ids: Vec<_> = sources.iter().map(|source| source.id).collect();
        options.push(json!({
            "name": "source",
            "default": first.id,
            "allowed": ids.join(" | "),
            "help": "where models of the subsystems come from",
            "only_with": [],
            "of": "models",
        }));
    }
    for source in sources {
        for option in source.options {
            let mut object = option_to_json(option, "models");
            let mut conditions = vec![format!("source={}", source.id)];
            conditions.extend(only_with(option));
            object["only_with"] = json!(conditions);
            options.push(object);
        }
    }
    options
}

fn to_json(entry: &'static MethodEntry) -> Value {
    json!({
        "id": entry.id,
        "title": entry.title,
        "summary": entry.summary,
        "equations": entry.equations,
        "source": entry.source,
        "convergence_order": entry.convergence_order,
        "needs": needs(entry),
        "costs": costs(entry),
        "models": sources_of(entry).iter().map(|source| source.id).collect::<Vec<_>>(),
        "options": options_to_json(entry),
    })
}

fn source_to_json(entry: &SourceEntry) -> Value {
    json!({
        "id": entry.id,
        "title": entry.title,
        "summary": entry.summary,
        "source": entry.source,
        "needs": entry.needs,
        "gives": entry.kind.title(),
        "options": entry.options.iter().map(|option| option_to_json(option, "models")).collect::<Vec<_>>(),
    })
}
