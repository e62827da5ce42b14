//! Systems and signals as other tools write them.
//!
//! Every format has a small reader of its own; all of them give a [`Flat`], the system without nesting that
//! the reader of SSP gives, so that everything behind is the same. Files are somebody else's: nothing in
//! them is believed, and what is wrong or has no counterpart here becomes a [`costep_ssp::Note`], never
//! silence.
//!
//! | module | role |
//! |---|---|
//! | `format` | which format a file is of |
//! | `osp` | `OspSystemStructure.xml` of the Open Simulation Platform, with its groups of variables |
//! | `master_sim` | `.msim` projects of MasterSim |
//! | `multi_model` | multi-models of INTO-CPS and Maestro in JSON |
//! | `builder` | what they share: FMUs, connections, values, checked against model descriptions |
//! | `data` | columns of CSV files and recordings as signals; `csv` the text of such files |

mod builder;
mod csv;
mod data;
mod format;
mod master_sim;
mod multi_model;
mod osp;

use std::path::Path;

use costep_core::Result;
use costep_fmu_file::{Fmu, Terminal};
use costep_ssp::{Flat, Reach};

pub use data::{ColumnSignal, DataFile, Interpolation};
pub use format::{Format, system_in};

/// Reads a system of any format. FMUs that are inside of archives are unpacked into `folder`, others stay
/// where they are. An error means that nothing could be read; everything else is in [`Flat::notes`].
pub fn open(path: &Path, format: Format, folder: &Path, reach: Reach) -> Result<Flat> {
    match format {
        Format::Ssp => costep_ssp::open_within(path, folder, reach),
        Format::Osp => osp::read(path, reach),
        Format::MasterSim => master_sim::read(path, reach),
        Format::MultiModel => multi_model::read(path, reach),
    }
}

/// The terminals of an FMU: its own, and the groups of variables in an OspModelDescription.xml beside it.
pub fn terminals(fmu: &mut Fmu) -> Result<Vec<Terminal>> {
    let mut terminals = fmu.terminals()?;
    terminals.extend(osp::terminals(fmu.path(), &fmu.description().model_name)?);
    Ok(terminals)
}
