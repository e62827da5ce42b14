//! What can be said about a system without a whole run: parts probed one by one, methods that cannot work,
//! steps as linear maps.

use costep_analysis::{LoopLaw, LoopRecorder, ProbeReport, RecordedLoop, probe};
use costep_core::{Code, Error, Layout, Result};
use costep_engine::{Engine, Flow, StopFlag};
use costep_methods::{MethodSpec, monolithic};
use costep_project::Source;
use serde_json::{Value, json};

use crate::assemble::{self, Choice};
use crate::cancel::Cancel;
use crate::report::error_to_json;
use crate::supervised;
use crate::system::System;

/// What was found out about one part by calling it.
#[derive(Debug)]
pub struct PartProbe {
    /// Its name.
    pub name: String,
    /// What was found, or why nothing could be.
    pub report: Result<ProbeReport>,
}

impl PartProbe {
    /// Nothing contradicts what the part says about itself.
    pub fn is_good(&self) -> bool {
        self.report.as_ref().is_ok_and(|report| {
            report.repeatable != Some(false)
                && report.taken_back != Some(false)
                && !report.derivatives_differ()
        })
    }

    /// As `costep check --probe --json` has it.
    pub fn to_json(&self) -> Value {
        match &self.report {
            Err(error) => json!({ "part": self.name, "error": error_to_json(error) }),
            Ok(report) => json!({
                "part": self.name,
                "error": null,
                "repeatable": report.repeatable,
                "taken_back": report.taken_back,
                "step_s": report.step_s,
                "derivative_error": report.derivative_error,
                "only_one_instance": report.only_one_instance,
            }),
        }
    }
}

impl System {
    /// Methods of the project that work only with what costep integrates, where there is something else. Not
    /// an error of the project itself: a run may name another method.
    pub fn impossible_methods(&self) -> Vec<Error> {
        let foreign = self.project.model.parts.iter().find(|part| !part.has_equations());
        let Some(foreign) = foreign else { return Vec::new() };
        let name = &foreign.description().name;
        let methods = self.project.groups.iter().map(|group| &group.method);
        let needs_all = |method: &&MethodSpec| monolithic::is_monolithic(method);
        methods.filter(needs_all).map(|method| self.impossible_with(method, name)).collect()
    }

    /// Methods of the project that only hold inputs here, since they need parts that costep integrates.
    pub fn limited_methods(&self) -> Vec<Error> {
        if self.project.model.can_be_one() {
            return Vec::new();
        }
        let methods = self.project.groups.iter().map(|group| &group.method);
        let held = methods.filter(|method| method.build().request().inputs.has_environment());
        let warning = |method: &MethodSpec| {
            let message = format!("`{}` holds all inputs here, as `zoh` does", method.entry.id);
            Error::new(Code::MethodLimited, message)
                .because("it works with native models and with FMUs for Model Exchange in the same process")
                .hint("write `interface = \"me\"` for FMUs that offer it, or choose `predictive` or `identified`")
        };
        held.map(warning).map(|warning| self.in_project_file(warning)).collect()
    }

    fn impossible_with(&self, method: &MethodSpec, part: &str) -> Error {
        let message = format!(
            "`{}` cannot be used with `{part}`, which costep does not integrate itself",
            method.entry.id
        );
        let error = Error::new(Code::NeedsMissing, message)
            .because(
                "it works with native models and with FMUs for Model Exchange that do not run in their own process",
            )
            .hint(
                "write `interface = \"me\"` for FMUs that offer it, or choose `predictive` or `identified`",
            );
        self.in_project_file(error)
    }

    fn in_project_file(&self, error: Error) -> Error {
        match &self.project.source {
            Source::File(path) => error.in_file(path),
            Source::Builtin(_) => error,
        }
    }

    /// Calls every part on its own, with its inputs at their initial values: is a step repeatable, can it be
    /// rolled back, what does it cost, are derivatives correct?
    pub fn probe(&self) -> Vec<PartProbe> {
        // Who is to blame if there are none, the parts show by themselves.
        let inputs = self.initial_inputs().unwrap_or_else(|_| self.external_inputs());
        (0..self.project.model.parts.len()).map(|i| self.probe_part(i, &inputs)).collect()
    }

    /// The same for one part, under these inputs of the whole system.
    ///
    /// # Panics
    /// If there is no such part, or there are not as many inputs.
    pub fn probe_part(&self, part: usize, inputs: &[f64]) -> PartProbe {
        let model = &self.project.model;
        let layout: Layout = model.layout();
        let u = &inputs[layout.input_range(part)];
        let report = probe(&*model.parts[part], &model.solver, &model.experiment, u);
        PartProbe { name: model.parts[part].description().name.clone(), report }
    }

    /// The consistent initial inputs of the coupled system.
    pub fn initial_inputs(&self) -> Result<Vec<f64>> {
        let engine = assemble::engine(&self.project, &Choice::of(&self.project), false)?;
        Ok(engine.coupled().to_vec())
    }

    /// What comes from outside at the start; zero where nothing does.
    pub fn external_inputs(&self) -> Vec<f64> {
        let model = &self.project.model;
        let mut inputs = vec![0.0; model.layout().inputs()];
        for (input, signal) in &model.externals {
            inputs[*input] += signal.value(model.experiment.start);
        }
        inputs
    }

    /// The law of the coupling, if it is linear in the signals and known step by step.
    pub fn loop_law(&self) -> Result<LoopLaw> {
        if let [_, group, ..] = &self.project.groups[..] {
            let message = format!(
                "Bohl exponents need one method for all inputs, not `{}` as well",
                group.method.label()
            );
            return Err(Error::new(Code::NeedsMissing, message).hint("leave out the groups"));
        }
        LoopLaw::new(&self.project.groups[0].method)
    }

    /// Runs the system and takes its steps as linear maps, for [`costep_analysis::bohl_exponent`].
    pub fn record_loop(&self, law: LoopLaw, cancel: &Cancel) -> Result<RecordedLoop> {
        let choice = Choice::of(&self.project);
        let mut recorder = LoopRecorder::new(law, None);
        let mut engine =
            assemble::watched_engine(&self.project, &choice, false, |models| recorder.tap(models))?;
        let mut obey = |engine: &Engine| supervised::obey(engine).map(|()| Flow::Continue);
        engine.run(&mut [&mut recorder, &mut obey, &mut StopFlag(cancel.flag())])?;
        recorder.finish()
    }
}
