//! The list of sources of models of the subsystems, from which command line, project files, documentation
//! and the conformance tests derive. To add one: its file with an `ENTRY`, and one line here.

use costep_core::models_spec::parse_label;
use costep_core::{Code, Error, ModelKind, ModelsSpec, Result, SourceEntry};

pub use crate::file::learning as learning_from_file;
pub use crate::moesp::moesp_orders;
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

/// Sources by their names: those that come with costep, and those of other crates.
///
/// ```
/// use costep_ident::sources::Sources;
///
/// let models = Sources::standard().parse("rls:n=2,forgetting=0.98")?;
/// assert_eq!((models.entry.id, models.options.read("n")), ("rls", Some(2_usize)));
/// # Ok::<(), costep_core::Error>(())
/// ```
#[derive(Clone)]
pub struct Sources(Vec<&'static SourceEntry>);

impl Sources {
    /// What comes with costep.
    pub fn standard() -> Self {
        Self(SOURCES.iter().collect())
    }

    /// Adds a source; one of the same name is replaced.
    #[must_use]
    pub fn with(mut self, entry: &'static SourceEntry) -> Self {
        self.0.retain(|known| known.id != entry.id);
        self.0.push(entry);
        self
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &'static SourceEntry> {
        self.0.iter().copied()
    }

    /// Those that give models of one of these kinds.
    pub fn of_kinds(&self, kinds: &[ModelKind]) -> Vec<&'static SourceEntry> {
        self.iter().filter(|entry| kinds.contains(&entry.kind)).collect()
    }

    /// The entry with this name.
    pub fn find(&self, id: &str) -> Result<&'static SourceEntry> {
        self.iter().find(|entry| entry.id == id).ok_or_else(|| {
            Error::new(Code::BadOption, format!("unknown source of models `{id}`"))
                .suggest(id, self.iter().map(|entry| entry.id))
        })
    }

    /// Reads `rls` or `rls:n=2,forgetting=0.98`.
    pub fn parse(&self, text: &str) -> Result<ModelsSpec> {
        let (id, given) = parse_label(text)?;
        ModelsSpec::new(self.find(id)?, given)
    }
}
