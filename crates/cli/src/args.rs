//! The command line.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use costep::{Code, Errors, Override, Source, System, Verify};
use costep_core::quantity::parse_time;

use crate::examples;
use crate::phrases::argument;

/// Co-simulation of systems that exchange energy: fast, stable, accurate.
#[derive(Parser)]
#[command(name = "costep", version, propagate_version = true, disable_help_subcommand = false, after_help = examples::PROGRAM)]
pub(crate) struct Cli {
    /// Print JSON on standard output
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print results and errors only
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Files of a supervised process
    #[arg(long, hide = true)]
    pub(crate) watched: Option<String>,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

const STABILITY_METHOD: &str = "Coupling method with options; those with identified models (`prestep --models rls`, \
    `mbcorr:source=moesp`) are judged by Bohl exponents [default: the project's]";
const IDENTIFY_METHOD: &str = "Coupling method that identifies, with options: `identified`, `mbcorr --models rls`, \
    `prestep:source=moesp,model_order=2` [default: the project's if it does, else identified]";

#[derive(Subcommand)]
pub(crate) enum Verb {
    /// Compare coupling methods on a built-in stiff system
    #[command(after_help = examples::DEMO)]
    Demo(DemoArgs),
    /// Create a project from FMUs, with connections proposed by name and unit
    #[command(after_help = examples::NEW)]
    New(NewArgs),
    /// Check a system and report all errors without running it
    #[command(after_help = examples::CHECK)]
    Check(CheckArgs),
    /// Simulate a system
    #[command(after_help = examples::RUN)]
    Run(RunArgs),
    /// Resume a run that was stopped or killed
    #[command(after_help = examples::RESUME)]
    Resume(ResumeArgs),
    /// Run a system with several methods and steps, measured against the monolithic solution
    #[command(after_help = examples::COMPARE)]
    Compare(CompareArgs),
    /// Map verdict and error of methods over parameters and steps
    #[command(after_help = examples::MAP)]
    Map(MapArgs),
    /// Run a full factorial plan, and analyse what the error depends on
    #[command(after_help = examples::DOE)]
    Doe(DoeArgs),
    /// Say whether perturbations decay: spectral radius, largest stable step, growing mode
    #[command(after_help = examples::STABILITY, mut_arg("method", |arg| arg.help(STABILITY_METHOD)))]
    Stability(StabilityArgs),
    /// Identify models of the subsystems from a run, for use in other runs
    #[command(after_help = examples::IDENTIFY, mut_arg("method", |arg| arg.help(IDENTIFY_METHOD)))]
    Identify(IdentifyArgs),
    /// List the coupling methods and model sources, or explain one
    #[command(after_help = examples::METHODS)]
    Methods(ListArgs),
    /// List the built-in models, or explain one
    #[command(after_help = examples::MODELS)]
    Models(ListArgs),
    /// Export a recording as CSV, Parquet or Feather, or a project as an SSP
    #[command(after_help = examples::EXPORT)]
    Export(ExportArgs),
    /// Import a system of another tool (SSP, OSP, MasterSim, multi-model) as a project
    #[command(after_help = examples::IMPORT)]
    Import(ImportArgs),
    /// Try all FMUs and systems of a folder, and compare FMUs with FMPy
    #[command(after_help = examples::SURVEY)]
    Survey(SurveyArgs),
    /// Export the parts of a built-in model as FMUs
    #[command(after_help = examples::EXPORT_FMU)]
    ExportFmu(ExportFmuArgs),
    /// List published results, or reproduce one and compare it with the claims of the paper
    #[command(after_help = examples::REPRODUCE)]
    Reproduce(ReproduceArgs),
    /// Draw what is connected in a system as SVG, with loops and direct feedthrough
    #[command(after_help = examples::GRAPH)]
    Graph(GraphArgs),
    /// Plot recordings as SVG or PNG
    #[command(after_help = examples::PLOT)]
    Plot(PlotArgs),
    /// Show a recorded run as an HTML page: verdict, system, signals, errors, energy, cost
    #[command(after_help = examples::REPORT)]
    Report(ReportArgs),
    /// Show the contents of an FMU, SSP, project, recording or run folder
    #[command(after_help = examples::INSPECT)]
    Inspect(InspectArgs),
    /// Explain an error code
    #[command(after_help = examples::EXPLAIN)]
    Explain(ExplainArgs),
    /// Print the JSON Schema of project files, for editors that check and complete TOML
    #[command(after_help = examples::SCHEMA)]
    Schema,
    /// Print a script that completes verbs and flags in a shell
    #[command(after_help = examples::COMPLETIONS)]
    Completions(CompletionsArgs),
    /// Print the manual page of the program or of a verb
    #[command(after_help = examples::MAN)]
    Man(ManArgs),
}

#[derive(Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Args)]
pub(crate) struct ManArgs {
    /// A verb; the whole program if left out
    pub(crate) verb: Option<String>,
}

#[derive(Args)]
pub(crate) struct NewArgs {
    /// Folder of the project; existing files are not overwritten
    pub(crate) dir: PathBuf,
    /// The FMUs; name one twice for two instances
    #[arg(required = true)]
    pub(crate) fmus: Vec<PathBuf>,
    /// Refer to the FMUs where they are instead of copying them
    #[arg(long)]
    pub(crate) no_copy: bool,
}

#[derive(Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) system: SystemArgs,
    /// Call the parts: are steps repeatable, does rollback work, what does a step cost, are derivatives correct?
    #[arg(long)]
    pub(crate) probe: bool,
    /// With --probe: confine the FMUs (`isolation = "sandbox"`), and say what they open and what is refused to them
    #[arg(long, requires = "probe")]
    pub(crate) sandbox: bool,
    /// Treat warnings as errors
    #[arg(long)]
    pub(crate) strict: bool,
    /// Of a process that calls one part: the file for what it finds
    #[arg(long, hide = true)]
    pub(crate) probe_task: Option<std::path::PathBuf>,
}

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
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    t_end: Option<String>,
    /// Inner solver of native models: euler[:STEP], rk4[:STEP], dopri5[:TOLERANCE], bdf[:TOLERANCE], adams[:TOLERANCE], exact
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

    /// The changed parameters as words of another command, each after a blank.
    pub(crate) fn set_words(&self) -> String {
        self.set.iter().map(|set| format!(" --set {}", argument(Path::new(set)))).collect()
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

/// The change that `--set NAME=VALUE` asks for.
fn set_override(set: &str) -> Result<Override, costep_core::Error> {
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

fn models_override(text: Option<&str>) -> Option<Override> {
    text.map(|text| Override::new("models", text, format!("--models {text}")))
}

/// How the length of macro steps is controlled.
#[derive(Args)]
pub(crate) struct ControlArgs {
    /// Let the steps vary, for an error of about this share of the ranges of the signals: `1e-3`
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    pub(crate) tolerance: Option<String>,
    /// By which error steps vary: defect, predictor-corrector, richardson (needs rollback), ecco (power bonds); or
    /// convergence, without a tolerance [default: defect]
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

#[derive(Args)]
pub(crate) struct DemoArgs {
    /// Folder for the project it writes
    #[arg(long, value_name = "DIR", default_value = "costep-demo")]
    pub(crate) out: PathBuf,
}

#[derive(Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) system: SystemArgs,
    #[command(flatten)]
    pub(crate) coupling: CouplingArgs,
    #[command(flatten)]
    pub(crate) control: ControlArgs,
    /// Reference for errors: auto (the monolithic system, for the verdict only, where affordable), none, same (with
    /// the inner solver; for FMUs like `step`), a solver such as dopri5:1e-10, or step[:TIME] (the coupled system at
    /// a much smaller step)
    #[arg(long, default_value = "auto")]
    pub(crate) reference: String,
    /// Folder for recording, copy of the project and checkpoints [default: the project's folder, or costep-MODEL]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Also write a page about the run: one HTML file that stands alone
    #[arg(long, value_name = "FILE", conflicts_with = "no_record")]
    pub(crate) report: Option<PathBuf>,
    /// Serve the page of the run on this machine while it goes, on a port of its own choice or this one: `--live=8080`
    #[arg(
        long,
        value_name = "PORT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "0",
        conflicts_with = "no_record"
    )]
    pub(crate) live: Option<u16>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

#[derive(Args)]
pub(crate) struct LimitArgs {
    /// Do not write files
    #[arg(long)]
    pub(crate) no_record: bool,
    /// Wall time between checkpoints
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = seconds, allow_hyphen_values = true)]
    pub(crate) checkpoint: Duration,
    /// Stop after this wall time
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_hyphen_values = true)]
    pub(crate) time_limit: Option<Duration>,
    /// Memory limit of a run with FMUs, with unit: `2GiB`
    #[arg(long, value_name = "SIZE", value_parser = bytes, allow_hyphen_values = true)]
    pub(crate) memory_limit: Option<u64>,
    /// Repeat the whole run at half its step to estimate its error [default: as much of it as takes 2 s or a tenth of its
    /// wall time, if there is no reference]
    #[arg(long, conflicts_with = "no_verify")]
    pub(crate) verify: bool,
    /// Judge the run without repeating it
    #[arg(long)]
    pub(crate) no_verify: bool,
}

impl LimitArgs {
    pub(crate) fn verification(&self) -> Verify {
        match (self.no_verify, self.verify) {
            (true, _) => Verify::Never,
            (false, true) => Verify::Always,
            (false, false) => Verify::Cheap,
        }
    }
}

#[derive(Args)]
pub(crate) struct ResumeArgs {
    /// Folder of the run
    pub(crate) dir: PathBuf,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

#[derive(Args)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) system: SystemArgs,
    /// Coupling methods: `zoh,nepce:reference=applied,alpha=1` [default: all]
    #[arg(long)]
    pub(crate) methods: Option<String>,
    /// Model source of the methods that use one: `probe`, `rls:n=2` [default: the
    /// project's, or exact]
    #[arg(long, value_name = "SOURCE")]
    pub(crate) models: Option<String>,
    /// Macro steps: `0.5ms,1ms` [default: the system's]
    #[arg(long, value_name = "TIMES", allow_hyphen_values = true, conflicts_with = "tolerance")]
    pub(crate) steps: Option<String>,
    #[command(flatten)]
    pub(crate) control: ControlArgs,
    /// Reference for errors: same (the monolithic system with the inner solver; for FMUs like `step`), none, a solver
    /// such as dopri5:1e-10, or step[:TIME] (the coupled system at a much smaller step)
    #[arg(long, default_value = "same")]
    pub(crate) reference: String,
    /// Folder for a recording of every run
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Also write a page about all runs: one HTML file that stands alone
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
}

impl CompareArgs {
    /// The source of models as a change of the project.
    pub(crate) fn models_override(&self) -> Option<Override> {
        models_override(self.models.as_deref())
    }
}

#[derive(Args)]
pub(crate) struct MapArgs {
    #[command(flatten)]
    pub(crate) system: SystemArgs,
    /// Vary a parameter: `ck=1e3..1e6:log:13`, `ck=0..1:5`, `ck=1,2,5`; may be given more than once
    #[arg(long, value_name = "NAME=LEVELS", allow_hyphen_values = true)]
    pub(crate) vary: Vec<String>,
    /// Macro steps: `0.5ms..10ms:11`, `1ms..100ms:log:5`, `1ms,2ms` [default: the system's]
    #[arg(long, value_name = "TIMES", allow_hyphen_values = true)]
    pub(crate) steps: Option<String>,
    /// Coupling methods: `zoh,nepce:reference=applied,alpha=1` [default: the system's]
    #[arg(long)]
    pub(crate) methods: Option<String>,
    /// Model source of the methods that use one: `probe`, `rls:n=2` [default: the
    /// project's, or exact]
    #[arg(long, value_name = "SOURCE")]
    pub(crate) models: Option<String>,
    /// Reference for errors, as in `costep compare`
    #[arg(long, default_value = "same")]
    pub(crate) reference: String,
    /// Leave out the spectral radius of a macro step
    #[arg(long)]
    pub(crate) no_radius: bool,
    /// Folder for rows (Arrow, Parquet) and maps (SVG); runs that are in it are not done again [default: costep-map-NAME]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Do all runs again
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Runs at the same time [default: number of cores]
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<usize>,
}

impl MapArgs {
    /// The source of models as a change of the project.
    pub(crate) fn models_override(&self) -> Option<Override> {
        models_override(self.models.as_deref())
    }
}

#[derive(Args)]
pub(crate) struct DoeArgs {
    /// A plan (TOML), or one of costep's own: genser2020-tab3.4, -tab3.10, -tab3.11; or `merge` and a plan
    pub(crate) plan: String,
    /// With `merge`: the plan, then folders or files with rows of its shards [default: the folder of the plan]
    pub(crate) more: Vec<PathBuf>,
    /// Change a key of the system for all runs: `--set system.stop=1s`
    #[arg(long = "set", value_name = "NAME=VALUE", allow_hyphen_values = true)]
    set: Vec<String>,
    /// Folder for rows (Arrow, Parquet), effects, figures and the optimal set; runs that are in it are not done again
    /// [default: costep-NAME]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Only a part of the runs, for batch systems: `2/4`
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<String>,
    /// Do all runs again
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Runs at the same time [default: number of cores]
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<usize>,
    /// Print a plan of costep's own, to begin with
    #[arg(long)]
    pub(crate) print: bool,
}

impl DoeArgs {
    /// The changes of the command line.
    pub(crate) fn changes(&self) -> Result<Vec<Override>, costep_core::Error> {
        self.set.iter().map(|text| set_override(text)).collect()
    }
}

#[derive(Args)]
pub(crate) struct StabilityArgs {
    #[command(flatten)]
    pub(crate) system: SystemArgs,
    /// Bohl exponents of methods with identified models: growth of perturbations over p macro steps, from any time of
    /// the run
    #[arg(long)]
    pub(crate) bohl: bool,
    /// Macro steps to judge: `0.5ms,1ms,2ms` [default: an eighth to eight times that of the project]
    #[arg(long, value_name = "TIMES", allow_hyphen_values = true)]
    pub(crate) steps: Option<String>,
    /// Time of the run at which a step is linearised [default: after a few steps]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) at: Option<String>,
    /// Take local models in place of native parts too: their inner solvers are left out
    #[arg(long)]
    pub(crate) by_models: bool,
    /// Write a Nyquist plot of the loops under held inputs, as SVG
    #[arg(long, value_name = "FILE")]
    pub(crate) nyquist: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) coupling: CouplingArgs,
    /// Windows p in macro steps: `10,100` [default: 10, 20, 50, ... up to the length of the run]
    #[arg(long, value_delimiter = ',', value_name = "STEPS", allow_hyphen_values = true)]
    pub(crate) windows: Vec<String>,
}

#[derive(Args)]
pub(crate) struct IdentifyArgs {
    #[command(flatten)]
    pub(crate) system: SystemArgs,
    #[command(flatten)]
    pub(crate) coupling: CouplingArgs,
    /// File to write; only an earlier file of models is overwritten
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
}

#[derive(Args)]
pub(crate) struct ListArgs {
    /// Explain this one
    pub(crate) id: Option<String>,
}

#[derive(Args)]
pub(crate) struct ExportArgs {
    /// A recording or run folder; with --ssp a project
    pub(crate) file: PathBuf,
    /// File to write, .csv or .parquet; with --ssp .ssp
    #[arg(long, visible_alias = "out", value_name = "FILE", required_unless_present = "list")]
    pub(crate) to: Option<PathBuf>,
    /// Write a project of FMUs as an SSP
    #[arg(long, conflicts_with_all = ["list", "signals"])]
    pub(crate) ssp: bool,
    /// Columns, with `*` as wildcard: `s1.*,s2.F` [default: all]
    #[arg(long, value_name = "NAMES")]
    pub(crate) signals: Vec<String>,
    /// List the columns
    #[arg(long)]
    pub(crate) list: bool,
}

#[derive(Args)]
pub(crate) struct ExportFmuArgs {
    /// A built-in model (`costep models`), or a test FMU: Lag, S1, S2, Wide (1000 signals each way; Wide100 for 100)
    pub(crate) model: String,
    /// Version of FMI: 2 or 3
    #[arg(long, default_value = "3")]
    pub(crate) fmi: String,
    /// Interface: cs (Co-Simulation), me (Model Exchange) or both
    #[arg(long, default_value = "both")]
    pub(crate) kind: String,
    /// A black box, Co-Simulation with steps of one length only: `--kind cs --bare`
    #[arg(long, conflicts_with_all = ["kind", "without", "bare"])]
    pub(crate) black_box: bool,
    /// Only this part of the model [default: all]
    #[arg(long)]
    pub(crate) part: Option<String>,
    /// Change a parameter: `--set ck=2e5`
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// Leave out capabilities: directional-derivatives, state, input-derivatives, intermediate, variable-step
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub(crate) without: Vec<String>,
    /// Leave out all optional capabilities
    #[arg(long, conflicts_with = "without")]
    pub(crate) bare: bool,
    /// Folder for the FMUs
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}

#[derive(Args)]
pub(crate) struct ReproduceArgs {
    /// Reproduce this one, or `all` [default: list them]
    pub(crate) id: Option<String>,
    /// Folder for data (CSV) and plot (SVG)
    #[arg(long, value_name = "DIR", default_value = "costep-reproduce")]
    pub(crate) out: PathBuf,
    /// Quick look: coarser grids where a study has them
    #[arg(long)]
    pub(crate) quick: bool,
    /// Also write a page about what was reproduced: one HTML file that stands alone
    #[arg(long, value_name = "FILE", requires = "id")]
    pub(crate) report: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct GraphArgs {
    #[command(flatten)]
    pub(crate) system: SystemArgs,
    /// File to write [default: the name of the system, .svg, in the present folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct PlotArgs {
    /// Run folders or recordings; several are overlaid
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    /// Signals, with `*` as wildcard: `s1.*,s2.F` [default: all outputs]
    #[arg(long, value_name = "NAMES")]
    pub(crate) signals: Vec<String>,
    /// Plot from this time, with unit: `10ms`
    #[arg(long, value_name = "TIME", value_parser = time, allow_hyphen_values = true)]
    pub(crate) from: Option<f64>,
    /// Plot up to this time, with unit: `0.1s`
    #[arg(long, value_name = "TIME", value_parser = time, allow_hyphen_values = true)]
    pub(crate) to: Option<f64>,
    /// Also plot the monolithic solution, dashed; for FMUs the same system at a much smaller step
    #[arg(long)]
    pub(crate) reference: bool,
    /// File to write, .svg or .png [default: plot.svg next to the first recording]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct ReportArgs {
    /// Folder of a run, or a recording
    #[arg(value_name = "DIR")]
    pub(crate) run: PathBuf,
    /// Also show the monolithic solution, whatever it costs; for FMUs the same system at a much smaller step [default: the
    /// monolithic solution where it is cheap]
    #[arg(long)]
    pub(crate) reference: bool,
    /// File to write [default: report.html in the folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct ImportArgs {
    /// An .ssp or .ssd, OspSystemStructure.xml, .msim or multi-model in JSON
    pub(crate) file: PathBuf,
    /// Folder for the project
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Let it refer to files anywhere, not only around it (three folders up)
    #[arg(long)]
    pub(crate) allow_outside: bool,
}

#[derive(Args)]
pub(crate) struct SurveyArgs {
    /// A folder with FMUs and systems of any tools, also in folders below it; or one file
    pub(crate) folder: PathBuf,
    /// Compare FMUs with FMPy: a Python interpreter that has it
    #[arg(long, value_name = "PYTHON")]
    pub(crate) fmpy: Option<PathBuf>,
    /// Page to write, in Markdown
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
    /// Communication steps of an FMU, at most
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) steps: u32,
    /// Wall time for each file in costep, and again in FMPy
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = seconds, allow_hyphen_values = true)]
    pub(crate) time_limit: Duration,
}

#[derive(Args)]
pub(crate) struct InspectArgs {
    /// An FMU, a system of another tool (.ssp, .ssd, OspSystemStructure.xml, .msim, multi-model in JSON), a
    /// project (.toml), a recording (.arrows), or a project or run folder
    pub(crate) file: PathBuf,
    /// Let a system of another tool refer to files anywhere, not only around it (three folders up)
    #[arg(long)]
    pub(crate) allow_outside: bool,
}

#[derive(Args)]
pub(crate) struct ExplainArgs {
    /// A code such as E0203 [default: list all]
    pub(crate) code: Option<String>,
}

fn time(text: &str) -> Result<f64, String> {
    parse_time(text).map_err(|error| error.details().message.clone())
}

fn seconds(text: &str) -> Result<Duration, String> {
    let value = time(text)?;
    Duration::try_from_secs_f64(value).map_err(|_| "a wall time is at least 0 and less than 1e19 s".into())
}

fn bytes(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, f64); 7] = [
        ("KiB", 1024.0),
        ("MiB", 1048576.0),
        ("GiB", 1073741824.0),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("B", 1.0),
    ];
    let unit = UNITS.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor)));
    let (number, factor) = unit.ok_or("a size has a unit: kB, MB, GB, KiB, MiB or GiB")?;
    match number.trim().parse::<f64>() {
        Ok(value) if value > 0.0 && value * factor < 1e18 => Ok((value * factor) as u64),
        _ => Err(format!("`{number}` is not a size")),
    }
}

/// Names separated by commas. Those inside of brackets belong to a name: `a.y[1,2]`.
pub(crate) fn names_in(lists: &[String]) -> Vec<String> {
    let mut names = Vec::new();
    for list in lists {
        let (mut name, mut depth) = (String::new(), 0_usize);
        for c in list.chars() {
            match c {
                '[' | '(' => depth += 1,
                ']' | ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            match c {
                ',' if depth == 0 => names.push(std::mem::take(&mut name)),
                _ => name.push(c),
            }
        }
        names.push(name);
    }
    names
}
