//! The list of sources of models of the subsystems, from which command line, project files, documentation
//! and the conformance tests derive. To add one: its file with an `ENTRY`, and one line here.

use costep_core::models_spec::parse_label;
use costep_core::{Code, Error, ModelsSpec, Result, SourceEntry};

pub use crate::file::learning as learning_from_file;
pub use crate::rls::arx_orders;

/// Every source. The first is taken where nothing is said.
pub static SOURCES: &[SourceEntry] = &[
    crate::exact::ENTRY,
    crate::finite_difference::ENTRY,
    crate::probe::ENTRY,
    crate::rls::ENTRY,
    crate::ij_rls::ENTRY,
    crate::moesp::ENTRY,
    crate::file::ENTRY,
];

/// The entry with this name.
pub fn find(id: &str) -> Result<&'static SourceEntry> {
    SOURCES.iter().find(|entry| entry.id == id).ok_or_else(|| {
        Error::new(Code::BadOption, format!("unknown source of models `{id}`"))
            .suggest(id, SOURCES.iter().map(|entry| entry.id))
    })
}

/// Reads `rls` or `rls:n=2,forgetting=0.98`.
pub fn parse(text: &str) -> Result<ModelsSpec> {
    let (id, given) = parse_label(text)?;
    ModelsSpec::new(find(id)?, given)
}
