//! `costep identify`: models of the parts, learnt from a run, as a file that other runs start from.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use costep_core::quantity::format_time;
use costep_core::{Code, Error, InterfaceModel, Layout, Result};
use costep_engine::{Engine, Flow, Observer, StopFlag};
use costep_ident::{ModelFile, NamedModel, sources};
use costep_methods::MethodSpec;
use costep_project::{Override, Project};
use serde_json::json;

use crate::args::IdentifyArgs;
use crate::failure::Failure;
use crate::folder::unwritable;
use crate::messages;
use crate::session::{self, Choice};
use crate::stop;
use crate::style::{Output, print, print_json};
use crate::supervision;
use crate::table::{Cell, number, render};

/// Taken where neither command line nor project name a method that identifies.
const DEFAULT_METHOD: &str = "mbcorr:source=ij-rls";

pub(crate) fn run(args: &IdentifyArgs, output: Output) -> Result<ExitCode, Failure> {
    let step = args.step.as_ref().map(|step| Override::new("step.size", step, format!("--step {step}")));
    let project = session::load(&args.system, step.into_iter().collect())?;
    let method = method(args, &project)?;
    check_target(&args.out)?;
    if let Some(code) = supervision::elsewhere(&project, None, None, output)? {
        return Ok(code);
    }
    project.warnings.iter().for_each(|warning| output.remark(&warning.to_string()));
    messages::listen(output);
    stop::listen(output);
    let choice = Choice { method: &method, step: project.model.experiment.step };
    // FMUs may go to another folder.
    let target = std::path::absolute(&args.out).unwrap_or_else(|_| args.out.clone());
    let models = learn(&project, &choice)?;
    fs::write(&target, models.to_toml()?).map_err(|cause| unwritable(&args.out, &cause))?;
    show(&models, &choice, args, output)?;
    Ok(supervision::exit_code(0))
}

/// What learns.
fn method(args: &IdentifyArgs, project: &Project) -> Result<MethodSpec> {
    let learns = |spec: &MethodSpec| {
        sources::identifies(&spec.options) && spec.options.text(sources::SOURCE.name) != sources::FROM_FILE
    };
    let Some(text) = &args.method else {
        let own = &project.groups[0].method;
        return if learns(own) { Ok(own.clone()) } else { MethodSpec::parse(DEFAULT_METHOD) };
    };
    let spec = MethodSpec::parse(text)?;
    if learns(&spec) {
        return Ok(spec);
    }
    Err(Error::new(Code::BadOption, format!("`{text}` identifies no models of its own")).hint(
        "`prestep`, `mbcorr` and `predictive` do, with `source=rls`, `source=ij-rls` or `source=moesp`",
    ))
}

/// Whether the file may be written: said before hours of work, not after them.
fn check_target(file: &Path) -> Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    if folder.is_some_and(|folder| !folder.is_dir()) {
        let error = Error::new(Code::FileNotReadable, "cannot write").in_file(file);
        return Err(error.because("its folder does not exist"));
    }
    if file.exists() && ModelFile::read(file).is_err() {
        return Err(Error::new(Code::Exists, "this file holds something else than identified models")
            .in_file(file)
            .hint("choose another name, or remove it"));
    }
    Ok(())
}

/// Most steps, and most numbers, that are kept to judge the models by.
const MOST: (usize, usize) = (4096, 1 << 22);

/// Sizes of all signals, and steps from the whole run.
struct Record {
    inputs: Vec<f64>,
    outputs: Vec<f64>,
    /// Least and greatest outputs.
    range: Vec<(f64, f64)>,
    /// u and y at this point and at the last one.
    points: [Point; 2],
    seen: u64,
    /// Every so many steps one is kept.
    stride: u64,
    most: usize,
    kept: Vec<[Point; 2]>,
}

#[derive(Clone)]
struct Point {
    u: Vec<f64>,
    y: Vec<f64>,
}

impl Record {
    fn new(inputs: usize, outputs: usize) -> Self {
        let point = Point { u: vec![0.0; inputs], y: vec![0.0; outputs] };
        Self {
            inputs: vec![0.0; inputs],
            outputs: vec![0.0; outputs],
            range: vec![(f64::MAX, f64::MIN); outputs],
            points: [point.clone(), point],
            seen: 0,
            stride: 1,
            most: (MOST.1 / (2 * (inputs + outputs)).max(1)).clamp(16, MOST.0),
            kept: Vec::new(),
        }
    }

    /// eps_SI of the final model over the whole run [T (2.92)]: at rest, where many runs end, the last one would say nothing.
    fn eps_si(&self, i: usize, layout: &Layout, model: &InterfaceModel) -> f64 {
        let (us, ys) = (layout.input_range(i), layout.output_range(i));
        let mut ahead = vec![0.0; ys.len()];
        let mut errors = vec![0.0; ys.len()];
        for [before, now] in &self.kept {
            model.predict(&before.y[ys.clone()], &before.u[us.clone()], &now.u[us.clone()], &mut ahead);
            let pairs = ahead.iter().zip(&now.y[ys.clone()]);
            errors.iter_mut().zip(pairs).for_each(|(sum, (ahead, y))| *sum += (y - ahead).abs());
        }
        let ranges = self.range[ys].iter().map(|(least, greatest)| greatest - least);
        let moving: Vec<_> = errors.iter().zip(ranges).filter(|(_, range)| *range > 0.0).collect();
        let sum: f64 = moving.iter().map(|(error, range)| *error / range).sum();
        if moving.is_empty() { f64::INFINITY } else { sum / (moving.len() * self.kept.len()) as f64 }
    }
}

impl Observer for Record {
    fn observe(&mut self, engine: &Engine) -> Result<Flow> {
        self.points.swap(0, 1);
        let now = &mut self.points[1];
        engine.inputs_at_end(&mut now.u);
        now.y.copy_from_slice(engine.outputs());
        let take = |sizes: &mut [f64], values: &[f64]| {
            sizes.iter_mut().zip(values).for_each(|(size, value)| *size = size.max(value.abs()));
        };
        take(&mut self.inputs, &now.u);
        take(&mut self.outputs, &now.y);
        for ((least, greatest), y) in self.range.iter_mut().zip(&now.y) {
            (*least, *greatest) = (least.min(*y), greatest.max(*y));
        }
        if self.seen > 0 && self.seen.is_multiple_of(self.stride) {
            self.kept.push(self.points.clone());
        }
        self.seen += 1;
        if self.kept.len() > self.most {
            let mut odd = true;
            self.kept.retain(|_| {
                odd = !odd;
                odd
            });
            self.stride *= 2;
        }
        Ok(Flow::Continue)
    }
}

fn learn(project: &Project, choice: &Choice<'_>) -> Result<ModelFile> {
    let mut engine = session::engine(project, choice, false)?;
    let mut record = Record::new(engine.layout().inputs(), engine.layout().outputs());
    let (mut shown, mut stop) = (supervision::Shown, StopFlag(stop::flag()));
    engine.run(&mut [&mut record, &mut shown, &mut stop])?;
    let options = &choice.method.options;
    let source = options.text(sources::SOURCE.name);
    let order = |name: &str| if source == "rls" { options.integer(name) as usize } else { 1 };
    Ok(ModelFile {
        costep: env!("CARGO_PKG_VERSION").into(),
        system: project.name.clone(),
        source: source.into(),
        n: order("n"),
        m: order("m"),
        step: choice.step,
        models: models(&engine, &record)?,
    })
}

fn models(engine: &Engine, record: &Record) -> Result<Vec<NamedModel>> {
    let (layout, all) = (engine.layout(), engine.models());
    let model = |i: usize| {
        let part = &engine.descriptions()[i];
        let model = all.and_then(|all| all.interface(i)).ok_or_else(|| nothing_learnt(&part.name))?;
        let sizes = (&record.inputs[layout.input_range(i)], &record.outputs[layout.output_range(i)]);
        Ok(NamedModel::new(part, model, record.eps_si(i, layout, model), sizes))
    };
    let with_outputs = (0..layout.subsystems()).filter(|i| !layout.output_range(*i).is_empty());
    with_outputs.map(model).collect()
}

fn nothing_learnt(part: &str) -> Error {
    Error::new(Code::NothingLearnt, format!("there is no model of `{part}` at the end of the run"))
        .because("it had fewer samples than parameters, or nothing moved")
        .hint("give a later `--t-end` or a smaller `--step`")
}

fn show(models: &ModelFile, choice: &Choice<'_>, args: &IdentifyArgs, output: Output) -> Result<()> {
    if output.json {
        let model = |model: &NamedModel| {
            json!({
                "part": model.part,
                "inputs": model.inputs,
                "outputs": model.outputs,
                "eps_si": model.eps_si.is_finite().then_some(model.eps_si),
            })
        };
        return print_json(&json!({
            "system": models.system,
            "method": choice.method.label(),
            "source": models.source,
            "n": models.n,
            "m": models.m,
            "h": models.step,
            "file": args.out.display().to_string(),
            "models": models.models.iter().map(model).collect::<Vec<_>>(),
        }));
    }
    let row = |model: &NamedModel| {
        let count = |names: &[String]| Cell::new(names.len().to_string());
        let eps_si = model.eps_si.is_finite().then_some(model.eps_si);
        vec![Cell::new(&model.part), count(&model.inputs), count(&model.outputs), Cell::new(number(eps_si))]
    };
    if !output.quiet {
        let rows: Vec<_> = models.models.iter().map(row).collect();
        print(&render(&["part", "inputs", "outputs", "eps_SI"], &rows))?;
    }
    output.remark(&format!(
        "{}: models of {} for a step of {}",
        args.out.display(),
        models.system,
        format_time(models.step)
    ));
    output.remark(&format!(
        "next: costep run {} --method predictive:source=from-file,file={}",
        args.system.system,
        args.out.display()
    ));
    Ok(())
}
