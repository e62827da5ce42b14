//! System structures by the SSP standard, versions 1.0 and 2.0: which FMUs a system is made of, with which
//! parameters, and how they are connected.
//!
//! An SSP is somebody else's file, so nothing in it is believed; archive and XML are read by `costep-fmi` under
//! its limits, and references never leave the package. What is wrong or has no counterpart here becomes a
//! [`Note`], never silence.
//!
//! | module | role |
//! |---|---|
//! | `package` | archives and folders that files come from; `uri` which references are followed |
//! | `model` | the structure as its files say it |
//! | `read` | XML to `model`: one file per kind of document |
//! | `flatten` | nested systems to components and links, parameters applied |
//! | `flat` | the result |
//! | `note` | what is wrong or not kept |

mod flat;
mod flatten;
mod model;
mod note;
mod package;
mod read;
mod uri;

use std::path::Path;

use costep_core::Result;

pub use flat::{Component, Flat, Link};
pub use model::{Implementation, Value};
pub use note::{Note, Severity};

/// Reads an .ssp or .ssd and flattens it. FMUs that are inside of archives are unpacked into `folder`; those
/// beside an .ssd stay where they are. An error means that nothing could be read; everything else is in
/// [`Flat::notes`].
pub fn open(path: &Path, folder: &Path) -> Result<Flat> {
    flatten::flatten(path, folder)
}
