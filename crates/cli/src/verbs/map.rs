//! `costep map`: verdict and error over parameters and step, method by method.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use costep::pages::{MapPage, check_page_file, write_page};
use costep::{
    Axis, Campaign, CampaignRow, Code, Error, Factor, MapRegion, MethodMap, Methods, Override, Plan,
    Registry, RunFolder, RunTable, ShardSpec, Varied, failures,
};
use costep_core::Value as Level;
use costep_core::quantity::exact_time;
use costep_experiments::{parse_numbers, parse_times, threads};
use costep_report::{Axis as Scale, Cells, Colour, Figure, Panel};
use costep_results::write_file;
use serde_json::{Value, json};

use super::doe::run_missing;
use crate::args::MapArgs;
use crate::failure::Failure;
use crate::phrases::{count, given_by, show_warnings};
use crate::style::{FAINT, Output, print, print_json, say};
use crate::supervision;
use crate::table::{Cell, number, render, wall};
use crate::verbs::report::command;

/// Errors that are drawn in no and in full colour.
const FAINTEST: f64 = 1e-4;
const DARKEST: f64 = 1.0;

pub(crate) fn run(args: &MapArgs, output: Output) -> Result<ExitCode, Failure> {
    args.report.as_deref().map_or(Ok(()), check_page_file)?;
    let campaign = Campaign::new(plan(args)?, Registry::standard())?;
    let campaign = if args.no_radius { campaign } else { campaign.with_radius() };
    let project = campaign.system().project();
    if let Some(code) = supervision::elsewhere_at_any_cost(project, output)? {
        return Ok(code);
    }
    show_warnings(&project.warnings, &args.system.named(), output);
    let folder =
        args.out.clone().unwrap_or_else(|| PathBuf::from(format!("costep-map-{}", campaign.plan().name)));
    let _lock = RunFolder::lock(&folder)?;
    let start = Instant::now();
    let table = RunTable::open(&folder, &campaign, ShardSpec::WHOLE, args.fresh)?;
    let rows = run_missing(&campaign, table, args.jobs.unwrap_or_else(threads).max(1), output)?;
    let places = (&*folder, args.report.as_deref());
    conclude(&campaign, &rows, places, start.elapsed().as_secs_f64(), output)?;
    Ok(supervision::exit_code(0))
}

/// The plan of the flags; every flag that is wrong is reported.
fn plan(args: &MapArgs) -> Result<Plan, Vec<Error>> {
    let registry = Registry::standard();
    let mut errors: Vec<Error> = Vec::new();
    let mut plan = Plan::new(&args.system.system);
    let mut flags = Vec::new();
    plan.reference.clone_from(&args.reference);
    match args.system.overrides() {
        Ok(overrides) => plan.changes.extend(overrides),
        Err(error) => errors.push(error),
    }
    plan.changes.extend(args.models_override());
    let mut labels = Vec::new();
    for text in args.methods.as_deref().map(Methods::split_list).unwrap_or_default() {
        match registry.method(&text) {
            Ok(method) => labels.push(Level::Text(method.label())),
            Err(error) => errors.push(given_by(error, &format!("--methods {text}"))),
        }
    }
    match &labels[..] {
        [] => {}
        [Level::Text(one)] => plan.method = Some(one.clone()),
        _ => {
            plan.axes.push(Axis { varied: Varied::Method, factor: Factor::new("method", labels) });
            flags.push("--methods".to_owned());
        }
    }
    for vary in &args.vary {
        let flag = format!("--vary {vary}");
        let Some((name, range)) = vary.split_once('=') else {
            let error = Error::new(Code::CommandLine, format!("`{flag}` has no levels"));
            errors.push(error.hint("write `--vary ck=1e3..1e6:log:13`"));
            continue;
        };
        match parse_numbers(range.trim()) {
            Ok(levels) => {
                let levels = levels.into_iter().map(Level::Real).collect();
                let factor = Factor::new(name.trim(), levels);
                plan.axes.push(Axis { varied: Varied::Parameter, factor });
                flags.push(flag);
            }
            Err(error) => errors.push(given_by(error, &flag)),
        }
    }
    match args.steps.as_deref().map(|text| (text, parse_times(text))) {
        Some((text, Ok(steps))) => {
            let first = exact_time(steps[0]);
            plan.changes.push(Override::new("step.size", first, format!("--steps {text}")));
            if let [_, _, ..] = steps[..] {
                let factor = Factor::new("step", steps.into_iter().map(Level::Real).collect());
                plan.axes.push(Axis { varied: Varied::Step, factor });
                flags.push(format!("--steps {text}"));
            }
        }
        Some((text, Err(error))) => errors.push(given_by(error, &format!("--steps {text}"))),
        None => {}
    }
    if plan.axes.is_empty() && errors.is_empty() {
        let error = Error::new(Code::CommandLine, "the map varies nothing");
        errors.push(error.hint("give `--vary NAME=FROM..TO:COUNT` or `--steps FROM..TO:COUNT`"));
    }
    // What cannot be found is said once, not for every level. Methods can be looked at without the system.
    let loaded = (Plan { axes: Vec::new(), ..plan.clone() }).load(&registry, &[]);
    for (axis, flag) in flags.iter().enumerate() {
        if loaded.is_ok() || plan.axes[axis].varied == Varied::Method {
            errors.extend(plan.flaws(&registry, axis).into_iter().map(|flaw| given_by(flaw, flag)));
        }
    }
    errors.extend(loaded.err().into_iter().flatten());
    if errors.is_empty() { Ok(plan) } else { Err(errors) }
}

fn conclude(
    campaign: &Campaign,
    rows: &[CampaignRow],
    (folder, report): (&Path, Option<&Path>),
    wall_s: f64,
    output: Output,
) -> Result<(), Error> {
    let mut files = vec![folder.join("map.parquet")];
    campaign.write_parquet(&files[0], rows)?;
    let maps = campaign.maps(rows);
    if maps.iter().any(|map| map.region.is_some()) {
        for (name, figure) in
            [("map.svg", stability_figure(campaign, &maps)), ("errors.svg", error_figure(campaign, &maps))]
        {
            files.push(folder.join(name));
            write_file(&folder.join(name), figure.to_svg().as_bytes())?;
        }
    }
    if let Some(file) = report {
        write_page(file, &MapPage { campaign, rows, command: &command() }.page())?;
        files.push(file.into());
    }
    if output.json {
        let object = json!({
            "system": campaign.system().name(),
            "runs": rows.len(),
            "methods": maps.iter().map(to_json).collect::<Vec<_>>(),
            "failed": failures(rows).iter().map(|(code, count)| json!({ "code": code, "runs": count })).collect::<Vec<_>>(),
            "wall_s": wall_s,
            "files": files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>(),
        });
        return print_json(&object);
    }
    say!("{}: {} runs   done in {}\n", campaign.system().name(), rows.len(), wall(wall_s))?;
    print(&render(
        &[
            "method",
            "stable",
            "no growth",
            "radius <= 1",
            "area",
            "by radius",
            "largest step",
            "median error",
        ],
        &maps.iter().map(row).collect::<Vec<_>>(),
    ))?;
    if let Some(region) = maps.iter().find_map(|map| map.region.as_ref()) {
        let unit = if region.is_log { "decades" } else { "units" };
        say!(
            "\n  area: ms times {unit} of {}, the part that is connected with the smallest step; no growth as in [T] 3.3.1",
            region.across
        )?;
    }
    for (code, failed) in failures(rows) {
        let runs = count(failed, "run");
        output.remark(&format!("{runs} failed with {code}: `costep explain {code}`"));
    }
    files.iter().for_each(|file| output.remark(&file.display().to_string()));
    Ok(())
}

fn row(map: &MethodMap) -> Vec<Cell> {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let area = map.region.as_ref().map(MapRegion::area);
    let by_radius = map.region.as_ref().and_then(MapRegion::area_by_radius);
    let highest = map.region.as_ref().and_then(|region| region.region.highest());
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".into());
    vec![
        Cell::new(&map.method),
        Cell::new(percent(map.stable)),
        Cell::new(percent(map.quiet)),
        Cell::new(or_none(map.contracting.map(percent))),
        Cell::new(or_none(area.map(|area| format!("{area:.1}")))),
        Cell::new(or_none(by_radius.map(|area| format!("{area:.1}")))),
        Cell::new(or_none(highest.map(|step| format!("{step:.3} ms")))),
        Cell::styled(number(map.median_error), FAINT),
    ]
}

fn to_json(map: &MethodMap) -> Value {
    let region = map.region.as_ref();
    json!({
        "method": map.method,
        "runs": map.runs,
        "stable_share": map.stable,
        "no_growth_share": map.quiet,
        "radius_share": map.contracting,
        "median_error": map.median_error,
        "area": region.map(MapRegion::area),
        "area_by_radius": region.and_then(MapRegion::area_by_radius),
        "area_across": region.map(|region| region.across.clone()),
        "largest_step_ms": region.and_then(|region| region.region.highest()),
    })
}

/// The maps of all methods, each cell as full as `fill` says: a panel per method.
fn figure(title: &str, maps: &[MethodMap], fill: impl Fn(&MapRegion) -> Vec<f64>) -> Figure {
    let panels = maps.iter().enumerate().filter_map(|(k, map)| {
        let region = map.region.as_ref()?;
        let columns: Vec<f64> = (0..=region.region.columns()).map(|k| region.value(k as f64 - 0.5)).collect();
        let steps = region.region.heights();
        let mut rows = vec![1.5 * steps[0] - 0.5 * steps.get(1).unwrap_or(&(0.5 * steps[0]))];
        rows.extend(steps.windows(2).map(|pair| 0.5 * (pair[0] + pair[1])));
        rows.push(2.0 * steps[steps.len() - 1] - rows[rows.len() - 1]);
        let x = Scale::new(&region.across);
        let y = Scale::new("macro step").unit("ms");
        let cells = Cells { x: columns, y: rows, fill: fill(region), colour: Colour::Nth(k) };
        Some(Panel::new(if region.is_log { x.log() } else { x }, y).title(&map.method).map(cells))
    });
    let panels: Vec<Panel> = panels.collect();
    let columns = if panels.len() > 4 { 3 } else { panels.len().min(2) };
    Figure::new(title).columns(columns).panel_height(240.0).panels(panels)
}

fn stability_figure(campaign: &Campaign, maps: &[MethodMap]) -> Figure {
    let shade = |region: &MapRegion| {
        let cells = region.region.share().iter().zip(region.region.connected());
        let cell = |(share, connected): (&f64, &bool)| match (*share > 0.0, connected) {
            (false, _) => 0.0,
            (true, false) => 0.12,
            (true, true) => 0.35 + 0.65 * share,
        };
        cells.map(cell).collect()
    };
    figure(&format!("Stability of {}", campaign.system().name()), maps, shade).subtitle(
        "darker: no growth in more of the runs of a cell; faint: not connected with the smallest step",
    )
}

fn error_figure(campaign: &Campaign, maps: &[MethodMap]) -> Figure {
    let (low, high) = (FAINTEST.log10(), DARKEST.log10());
    let shade = |region: &MapRegion| {
        let cell = |log: &f64| if log.is_nan() { 1.0 } else { ((log - low) / (high - low)).clamp(0.02, 1.0) };
        region.log_errors.iter().map(cell).collect()
    };
    figure(&format!("Error of {}", campaign.system().name()), maps, shade).subtitle(
        "eps_mono, geometric mean of a cell: full colour from 1 on and where all runs diverge, faint at 1e-4",
    )
}
