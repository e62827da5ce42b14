//! The command line: the program and its verbs; the arguments of each group of verbs have a file.

mod help;
mod projects;
mod results;
mod runs;
mod studies;
mod system;
mod values;

use clap::{Parser, Subcommand};

pub(crate) use help::{CompletionsArgs, ExplainArgs, ListArgs, ManArgs};
pub(crate) use projects::{
    CheckArgs, ExportFmuArgs, GraphArgs, ImportArgs, InspectArgs, NewArgs, SurveyArgs,
};
pub(crate) use results::{ExportArgs, PlotArgs, ReportArgs};
pub(crate) use runs::{CompareArgs, DemoArgs, LimitArgs, ResumeArgs, RunArgs};
pub(crate) use studies::{AdviseArgs, DoeArgs, IdentifyArgs, MapArgs, ReproduceArgs, StabilityArgs};
pub(crate) use system::confine_all;
pub(crate) use values::names_in;

use crate::examples;

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
    /// Find the cheapest method and step with an error that is small enough
    #[command(after_help = examples::ADVISE)]
    Advise(AdviseArgs),
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
