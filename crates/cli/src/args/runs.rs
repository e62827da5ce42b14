//! Verbs that simulate: demo, run, resume, compare.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use costep::{Override, Verify};

use super::system::{ControlArgs, CouplingArgs, SystemArgs, models_override};
use super::values::{bytes, seconds};

#[derive(Args)]
pub(crate) struct DemoArgs {
    /// Folder for the project it writes
    #[arg(long, value_name = "DIR", default_value = "costep-demo")]
    pub(crate) out: PathBuf,
    /// Also write a page about all runs: one HTML file that stands alone
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
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
    /// Confine all FMUs, whatever the project says (`isolation = "sandbox"`): for those of strangers
    #[arg(long)]
    pub(crate) sandbox: bool,
    /// Folder for recording, copy of the project and checkpoints [default: the project's folder, or costep-MODEL]
    #[arg(long, value_name = "DIR", conflicts_with = "no_record")]
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
    /// Macro steps: `0.5ms,1ms`, `1ms..5ms:5` [default: the system's]
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
