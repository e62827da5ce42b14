//! Verbs about FMUs, projects and systems of other tools: new, check, graph, import, inspect, survey, export-fmu.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::system::SystemArgs;
use super::values::seconds;

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

#[derive(Args)]
pub(crate) struct GraphArgs {
    #[command(flatten)]
    pub(crate) system: SystemArgs,
    /// File to write [default: the name of the system, .svg, in the present folder]
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
pub(crate) struct InspectArgs {
    /// An FMU, a system of another tool (.ssp, .ssd, OspSystemStructure.xml, .msim, multi-model in JSON), a
    /// project (.toml), a recording (.arrows), or a project or run folder
    pub(crate) file: PathBuf,
    /// List all variables of an FMU, also its inner ones, however many there are
    #[arg(long)]
    pub(crate) all: bool,
    /// Let a system of another tool refer to files anywhere, not only around it (three folders up)
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
