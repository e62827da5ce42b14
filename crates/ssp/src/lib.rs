//! System structures by the SSP standard, versions 1.0 and 2.0: which FMUs a system is made of, with which
//! parameters, and how they are connected.
//!
//! An SSP is somebody else's file, so nothing in it is believed; archive and XML are read by `costep-fmu-file` under
//! its limits, and references lead as far as [`Reach`] says, never out of an archive. What is wrong or has
//! no counterpart here becomes a [`Note`], never silence.
//!
//! | module | role |
//! |---|---|
//! | `package` | archives and folders that files come from; `uri` which references are followed |
//! | `names` | names of components that can be part of names of signals |
//! | `model` | the structure as its files say it |
//! | `read` | XML to `model`: one file per kind of document |
//! | `flatten` | nested systems to components and links, parameters applied |
//! | `flat` | the result; `toml_form` the same as a project file |
//! | `write` | a flat system as an .ssp |
//! | `note` | what is wrong or not kept |
//! | `meant` | what something that is nearly right is most likely to be |

mod elsewhere;
mod flat;
mod flatten;
mod meant;
mod model;
mod names;
mod note;
mod package;
mod read;
mod toml_form;
mod uri;
mod write;

use std::path::Path;

use costep_core::{Error, Result};

pub use elsewhere::{below, is_windows_path};
pub use flat::{Component, FileSignal, Flat, Link, SetValue};
pub use meant::{near_attribute, number_alone};
pub use model::{Implementation, Value};
pub use names::Names;
pub use note::{Note, Notes, Severity};
pub use uri::{Reach, proxied};

/// Reads an .ssp or .ssd and flattens it. FMUs that are inside of archives are unpacked into `folder`; those
/// beside an .ssd stay where they are. An error means that nothing could be read; everything else is in
/// [`Flat::notes`].
pub fn open(path: &Path, folder: &Path) -> Result<Flat> {
    open_within(path, folder, Reach::beside(path))
}

/// The same, with references of an .ssd that may lead elsewhere.
pub fn open_within(path: &Path, folder: &Path, reach: Reach) -> Result<Flat> {
    flatten::flatten(path, folder, reach)
}

/// Writes a flat system as an .ssp. An existing file is replaced only if all went well; everything that SSP cannot
/// express is reported at once.
pub fn write(flat: &Flat, path: &Path) -> Result<(), Vec<Error>> {
    write::write(flat, path)
}

/// Whether a file is an .ssp or .ssd by its name.
pub fn is_ssp(path: &Path) -> bool {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    matches!(ending.as_deref(), Some("ssp" | "ssd"))
}
