//! Verbs about what runs have left: plot, report, export.

use std::path::PathBuf;

use clap::Args;

use super::values::time;

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
pub(crate) struct ExportArgs {
    /// A recording or run folder; with --ssp a project
    pub(crate) file: PathBuf,
    /// File to write, .csv, .parquet or .feather; with --ssp .ssp
    #[arg(long, visible_alias = "out", value_name = "FILE", required_unless_present = "list")]
    pub(crate) to: Option<PathBuf>,
    /// Write a project of FMUs as an SSP
    #[arg(long, conflicts_with_all = ["list", "signals"])]
    pub(crate) ssp: bool,
    /// Columns, with `*` as wildcard: `s1.*,s2.F` [default: all]
    #[arg(long, value_name = "NAMES")]
    pub(crate) signals: Vec<String>,
    /// List the columns
    #[arg(long, conflicts_with = "to")]
    pub(crate) list: bool,
}
