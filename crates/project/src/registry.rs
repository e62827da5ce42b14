//! What a project may name: coupling methods, sources of models for them, models, and solvers.

use std::path::Path;

use costep_core::{Code, Error, MethodEntry, Result, SourceEntry};
use costep_integrate::{SolverEntry, Solvers};
use costep_methods::{MethodSpec, Methods};
use costep_models::{MODELS, ModelEntry};

use crate::overrides::Override;
use crate::project::{self, Project, Refusal};
use crate::source::Source;

/// Coupling methods, sources of models for them, models and solvers by their names. A crate of its own can
/// add to those that come with costep, and projects, overrides and systems that are built in code can then name them.
///
/// ```
/// use costep_core::MethodEntry;
/// use costep_project::Registry;
///
/// static HOLD: MethodEntry = MethodEntry { id: "my-hold", title: "My hold", ..costep_methods::zoh::ENTRY };
/// let registry = Registry::standard().with_method(&HOLD);
/// assert_eq!(registry.method("my-hold")?.entry.title, "My hold");
/// # Ok::<(), costep_core::Error>(())
/// ```
#[derive(Clone)]
pub struct Registry {
    methods: Methods,
    models: Vec<&'static ModelEntry>,
    solvers: Solvers,
}

impl Default for Registry {
    fn default() -> Self {
        Self::standard()
    }
}

impl Registry {
    /// What comes with costep.
    pub fn standard() -> Self {
        Self { methods: Methods::standard(), models: MODELS.iter().collect(), solvers: Solvers::standard() }
    }

    /// Adds a coupling method; one of the same name is replaced.
    pub fn with_method(mut self, entry: &'static MethodEntry) -> Self {
        self.methods = self.methods.with(entry);
        self
    }

    /// Adds a source of models of the parts; one of the same name is replaced.
    pub fn with_source(mut self, entry: &'static SourceEntry) -> Self {
        self.methods = self.methods.with_source(entry);
        self
    }

    /// Adds a model; one of the same name is replaced. Its parts may be equations or subsystems of any kind
    /// ([`costep_system::Component`]).
    pub fn with_model(mut self, entry: &'static ModelEntry) -> Self {
        self.models.retain(|known| known.id != entry.id);
        self.models.push(entry);
        self
    }

    /// Adds a solver; one of the same name is replaced.
    pub fn with_solver(mut self, entry: &'static SolverEntry) -> Self {
        self.solvers = self.solvers.with(entry);
        self
    }

    /// The solvers.
    pub fn solvers(&self) -> &Solvers {
        &self.solvers
    }

    /// The coupling methods.
    pub fn methods(&self) -> &Methods {
        &self.methods
    }

    /// The models.
    pub fn models(&self) -> impl Iterator<Item = &'static ModelEntry> {
        self.models.iter().copied()
    }

    /// Reads `nepce` or `nepce:reference=applied,alpha=1`.
    pub fn method(&self, text: &str) -> Result<MethodSpec> {
        self.methods.parse(text)
    }

    /// The model with this name.
    pub fn model(&self, id: &str) -> Result<&'static ModelEntry> {
        self.models().find(|entry| entry.id == id).ok_or_else(|| {
            Error::new(Code::UnknownModel, format!("unknown model `{id}`"))
                .suggest(id, self.models().map(|entry| entry.id))
        })
    }

    /// Finds what the user means: a file, a folder with a system.toml, or the name of a model.
    pub fn source(&self, text: &str) -> Result<Source> {
        Source::find_among(text, &self.models)
    }

    /// Reads and checks a project. All mistakes are reported at once.
    pub fn load(&self, source: &Source, overrides: &[Override]) -> Result<Project, Vec<Error>> {
        self.examine(source, overrides).map_err(|refusal| refusal.errors)
    }

    /// The same; a refusal comes with the warnings too.
    pub fn examine(&self, source: &Source, overrides: &[Override]) -> Result<Project, Refusal> {
        project::examine(self, source, overrides)
    }

    /// Reads and checks the text of a project file; `path` is only used for messages, as the source, and to
    /// find files that are named relative to it.
    pub fn load_text(&self, text: &str, path: &Path, overrides: &[Override]) -> Result<Project, Vec<Error>> {
        project::examine_text(self, text, path, overrides).map_err(|refusal| refusal.errors)
    }
}
