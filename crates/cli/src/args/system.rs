//! Which system, with which changes, and how it is coupled: what many verbs have in common.

use std::path::Path;

use clap::Args;
use costep::{Code, Errors, Override, Project, Source, System};

use crate::phrases::argument;

/// Which system, with which changes.
#[derive(Args)]
pub(crate) struct SystemArgs {
    /// A built-in model (`costep models`), a project file or folder, an FMU alone, or a system of another
    /// tool: .ssp, .ssd, OspSystemStructure.xml, .msim, multi-model in JSON
    pub(crate) system: String,
    /// Change a parameter or any key of the project: `--set ck=2e5`, `--set step.size=1ms`
    #[arg(long = "set", value_name = "NAME=VALUE", allow_hyphen_values = true)]
    set: Vec<String>,
    /// End time, with unit: `0.1s`
    #[arg(long, aliases = ["stop", "end", "duration"], value_name = "TIME", allow_hyphen_values = true)]
    t_end: Option<String>,
    /// Inner solver of native models: euler[:STEP], rk4[:STEP], linear-implicit[:STEP], dopri5[:TOLERANCE], bdf[:TOLERANCE], adams[:TOLERANCE], exact
    #[arg(long)]
    solver: Option<String>,
    /// Order of stepping: auto, parallel (Jacobi), sequential (Gauss-Seidel), sequential:s2,s1
    #[arg(long, value_name = "KIND")]
    schedule: Option<String>,
    /// Number of threads, or auto; results do not depend on it
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    threads: Option<String>,
    /// Let a system of another tool refer to files anywhere, not only around it (three folders up)
    #[arg(long)]
    allow_outside: bool,
}

impl SystemArgs {
    /// Finds and checks the system, with these further changes.
    pub(crate) fn open(&self, more: Vec<Override>) -> Result<System, Errors> {
        // What cannot be found is said before what cannot be changed.
        Source::find(&self.system)?;
        System::opening(&self.system).overridden(self.overrides()?).overridden(more).open()
    }

    /// The same with all FMUs confined, if `sandbox`.
    pub(crate) fn open_confined(&self, more: Vec<Override>, sandbox: bool) -> Result<System, Errors> {
        let system = self.open(more.clone())?;
        if !sandbox {
            return Ok(system);
        }
        self.open(more.into_iter().chain(confine_all(system.project())).collect())
    }

    /// The changed parameters as words of another command, each after a blank.
    pub(crate) fn set_words(&self) -> String {
        self.set.iter().map(|set| format!(" --set {}", argument(Path::new(set)))).collect()
    }

    /// All flags as words of another command, each after a blank.
    pub(crate) fn words(&self) -> String {
        let flags = [
            ("--t-end", &self.t_end),
            ("--solver", &self.solver),
            ("--schedule", &self.schedule),
            ("--threads", &self.threads),
        ];
        let given = flags.into_iter().filter_map(|(flag, value)| Some((flag, value.as_ref()?)));
        let given = given.map(|(flag, value)| format!(" {flag} {}", argument(Path::new(value))));
        let outside = if self.allow_outside { " --allow-outside" } else { "" };
        self.set_words() + &given.collect::<String>() + outside
    }

    /// The system with all flags, for another command.
    pub(crate) fn named(&self) -> String {
        argument(Path::new(&self.system)) + &self.words()
    }

    /// All flags as changes of the project.
    pub(crate) fn overrides(&self) -> Result<Vec<Override>, costep_core::Error> {
        let mut overrides: Vec<Override> =
            self.allow_outside.then(Override::allow_outside).into_iter().collect();
        for set in &self.set {
            overrides.push(set_override(set)?);
        }
        let flags = [
            ("system.stop", "--t-end", &self.t_end),
            ("system.solver", "--solver", &self.solver),
            ("run.threads", "--threads", &self.threads),
        ];
        for (path, flag, value) in flags {
            overrides
                .extend(value.as_ref().map(|value| Override::new(path, value, format!("{flag} {value}"))));
        }
        if let Some(schedule) = &self.schedule {
            let flag = format!("--schedule {schedule}");
            let (kind, order) = schedule.split_once(':').unwrap_or((schedule, ""));
            overrides.push(Override::new("schedule.kind", kind, flag.clone()));
            if !order.is_empty() {
                let names: Vec<_> = order.split(',').map(|name| format!("{:?}", name.trim())).collect();
                overrides.push(Override::new("schedule.order", format!("[{}]", names.join(", ")), flag));
            }
        }
        Ok(overrides)
    }
}

/// The changes that `--sandbox` asks for.
pub(crate) fn confine_all(project: &Project) -> impl Iterator<Item = Override> {
    let confine =
        |name: &String| Override::new(format!("fmu.{name}.isolation"), "sandbox", "--sandbox".to_owned());
    project.given.fmus.iter().map(move |fmu| confine(&fmu.name))
}

/// The change that `--set NAME=VALUE` asks for.
pub(super) fn set_override(set: &str) -> Result<Override, costep_core::Error> {
    let (path, value) = set.split_once('=').ok_or_else(|| {
        costep_core::Error::new(Code::CommandLine, format!("`--set {set}` has no value"))
            .hint("write `--set name=value`")
    })?;
    Ok(Override::new(path.trim(), value.trim(), format!("--set {set}")))
}

/// By which method and in which steps; verbs that take only some methods have a help of their own.
#[derive(Args)]
pub(crate) struct CouplingArgs {
    /// Coupling method with options: `nepce`, `nepce:reference=applied,alpha=0.5` [default: the
    /// project's]
    #[arg(long)]
    pub(crate) method: Option<String>,
    /// Model source: where the method gets models of the parts, with options: `probe`, `rls:n=2,forgetting=0.98`
    /// (`costep methods` lists sources) [default: the project's, or exact]
    #[arg(long, value_name = "SOURCE")]
    pub(crate) models: Option<String>,
    /// Macro step, with unit: `1ms`
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) step: Option<String>,
}

impl CouplingArgs {
    /// All as changes of the project.
    pub(crate) fn overrides(&self) -> Vec<Override> {
        let method =
            self.method.as_ref().map(|text| Override::new("method", text, format!("--method {text}")));
        method.into_iter().chain(self.models_override()).chain(self.step_override()).collect()
    }

    /// The source of models alone.
    pub(crate) fn models_override(&self) -> Option<Override> {
        models_override(self.models.as_deref())
    }

    /// The step alone.
    pub(crate) fn step_override(&self) -> Option<Override> {
        self.step.as_ref().map(|text| Override::new("step.size", text, format!("--step {text}")))
    }
}

pub(super) fn models_override(text: Option<&str>) -> Option<Override> {
    text.map(|text| Override::new("models", text, format!("--models {text}")))
}

/// How the length of macro steps is controlled.
#[derive(Args)]
pub(crate) struct ControlArgs {
    /// Let the steps vary, for an error of about this share of the ranges of the signals: `1e-3`
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    pub(crate) tolerance: Option<String>,
    /// By which error steps vary: defect, predictor-corrector, richardson (needs rollback), ecco (power bonds); or
    /// convergence, without a tolerance; or fixed, in place of a tolerance of the project [default: defect]
    #[arg(long, value_name = "NAME")]
    pub(crate) control: Option<String>,
}

impl ControlArgs {
    /// All as changes of the project.
    pub(crate) fn overrides(&self) -> impl Iterator<Item = Override> {
        let tolerance = self.tolerance.as_ref();
        let tolerance =
            tolerance.map(|text| Override::new("step.tolerance", text, format!("--tolerance {text}")));
        let control = self.control.as_ref();
        let control = control.map(|text| Override::new("step.control", text, format!("--control {text}")));
        tolerance.into_iter().chain(control)
    }
}
