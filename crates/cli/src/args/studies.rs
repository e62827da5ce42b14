//! Verbs that study a system or a paper by many runs or by models: advise, map, doe, stability, identify, reproduce.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use costep::Override;

use super::system::{CouplingArgs, SystemArgs, models_override, set_override};
use super::values::{seconds, share};

#[derive(Args)]
pub(crate) struct AdviseArgs {
    #[command(flatten)]
    pub(crate) system: SystemArgs,
    /// Error that is allowed, as a share of the ranges of the outputs
    #[arg(long, value_name = "SHARE", default_value = "1e-3", value_parser = share, allow_hyphen_values = true)]
    pub(crate) error: f64,
    /// Wall time that may be spent
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = seconds, allow_hyphen_values = true, overrides_with = "time")]
    pub(crate) time: Duration,
    /// Coupling methods to try: `zoh,nepce:reference=applied,alpha=1` [default: all that the parts allow]
    #[arg(long)]
    pub(crate) methods: Option<String>,
    /// Try steps of one length only
    #[arg(long)]
    pub(crate) equal_steps: bool,
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
    /// Also write a page about the map: one HTML file that stands alone
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
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
    /// Also write a page about effects and best runs: one HTML file that stands alone
    #[arg(long, value_name = "FILE", conflicts_with = "shard")]
    pub(crate) report: Option<PathBuf>,
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
    /// Macro steps to judge: `0.5ms,1ms,2ms`, `0.5ms..8ms:log:9` [default: an eighth to eight times that of the project]
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
    /// Also write a page with the radius of several methods over the step: one HTML file that stands alone
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Other methods beside that of the system: `zoh,nepce` [default: none; all on the page of --report]
    #[arg(long, conflicts_with = "bohl")]
    pub(crate) methods: Option<String>,
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
pub(crate) struct ReproduceArgs {
    /// Reproduce these, or `all` [default: list them]
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// Folder for data (CSV), plot (SVG) and result (JSON)
    #[arg(long, value_name = "DIR", default_value = "costep-reproduce")]
    pub(crate) out: PathBuf,
    /// Take what this version has already computed into the folder as it is
    #[arg(long, requires = "ids")]
    pub(crate) resume: bool,
    /// Quick look: coarser grids where a study has them
    #[arg(long)]
    pub(crate) quick: bool,
    /// Also write a page about what was reproduced: one HTML file that stands alone
    #[arg(long, value_name = "FILE", requires = "ids")]
    pub(crate) report: Option<PathBuf>,
}
