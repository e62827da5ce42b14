//! The list of coupling methods, from which the command line, project files, documentation and the
//! conformance tests derive.

use costep_core::models_spec::{labelled, parse_label, without_effect};
use costep_core::{
    Code, Condition, CouplingMethod, Error, MethodEntry, ModelKind, ModelSource, ModelsSpec, NoModels,
    OptionSpec, Options, Result, SourceEntry, Value,
};
use costep_ident::sources::{SOURCES, Sources};

use crate::spelling::{self, Idle, SOURCE, Spelling};
use crate::{
    auto, feedthrough, fixed_point, foh, identified, ijcsa, iqn_ils, lis, mbcorr, monolithic, nepce,
    predictive, prestep, soh, zoh,
};

/// Every coupling method.
pub static METHODS: &[MethodEntry] = &[
    auto::ENTRY,
    zoh::ENTRY,
    foh::ENTRY,
    soh::ENTRY,
    nepce::ENTRY,
    feedthrough::ENTRY,
    mbcorr::ENTRY,
    prestep::ENTRY,
    predictive::ENTRY,
    lis::ENTRY,
    identified::ENTRY,
    fixed_point::ENTRY,
    iqn_ils::ENTRY,
    ijcsa::ENTRY,
];

/// All that users can write as a method: the coupling methods, and none at all.
pub fn all() -> impl Iterator<Item = &'static MethodEntry> {
    METHODS.iter().chain([&monolithic::ENTRY])
}

/// The entry with this name, of those that come with costep.
pub fn find(id: &str) -> Result<&'static MethodEntry> {
    Methods::standard().find(id)
}

/// Coupling methods by their names: those that come with costep, and those of other crates.
///
/// ```
/// use costep_methods::Methods;
///
/// let spec = Methods::standard().parse("predictive:order=3")?;
/// assert_eq!((spec.entry.id, spec.options.read("order")), ("predictive", Some(3_usize)));
/// # Ok::<(), costep_core::Error>(())
/// ```
#[derive(Clone)]
pub struct Methods {
    entries: Vec<&'static MethodEntry>,
    sources: Sources,
}

impl Methods {
    /// What comes with costep.
    pub fn standard() -> Self {
        Self { entries: all().collect(), sources: Sources::standard() }
    }

    /// Adds a method; one of the same name is replaced.
    pub fn with(mut self, entry: &'static MethodEntry) -> Self {
        self.entries.retain(|known| known.id != entry.id);
        self.entries.push(entry);
        self
    }

    /// Adds a source of models; one of the same name is replaced.
    #[must_use]
    pub fn with_source(mut self, entry: &'static SourceEntry) -> Self {
        self.sources = self.sources.with(entry);
        self
    }

    /// Where they can take models from.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &'static MethodEntry> {
        self.entries.iter().copied()
    }

    /// The entry with this name.
    pub fn find(&self, id: &str) -> Result<&'static MethodEntry> {
        self.iter().find(|entry| entry.id == id).ok_or_else(|| {
            let error = Error::new(Code::UnknownMethod, format!("unknown coupling method `{id}`"));
            let words: Vec<&str> = id.split_whitespace().collect();
            let is_known = |word: &str| self.iter().any(|entry| entry.id == word);
            if words.len() > 1 && words.iter().all(|word| is_known(word)) {
                return error.hint(format!("methods are separated by commas: `{}`", words.join(",")));
            }
            if let Some((method, options)) = id.split_once(':').filter(|(method, _)| is_known(method)) {
                let options = options.replace(',', "`, `").replace('=', " = ");
                return error.hint(format!(
                    "in a project options are keys of their own: `id = \"{method}\"`, and below it `{options}`"
                ));
            }
            let split = id.split_once([',', ' ', ';']).filter(|(_, more)| more.contains('='));
            match split.map(|(word, more)| (word.trim(), more.trim())).filter(|(word, _)| is_known(word)) {
                Some((word, more)) => {
                    let more = more.split([' ', ';']).collect::<Vec<_>>().join(",");
                    error.hint(format!("options follow a colon: `{word}:{more}`"))
                }
                None => error.suggest(id, self.iter().map(|entry| entry.id)),
            }
        })
    }

    /// Reads `nepce` or `nepce:reference=applied,alpha=1`.
    pub fn parse(&self, text: &str) -> Result<MethodSpec> {
        let (id, given) = parse_label(text)?;
        self.spec(self.find(id)?, given)
    }

    /// A method with these options, `source` and the options of sources among them.
    pub fn spec(&self, entry: &'static MethodEntry, given: Vec<(String, Value)>) -> Result<MethodSpec> {
        let Spelling { own, models, idle } = spelling::split(entry, &self.sources, &given)?;
        let models_named =
            if models.is_some() || !idle.is_empty() { ModelsNamed::WithMethod } else { ModelsNamed::Nowhere };
        let models = models.map_or_else(|| ModelsSpec::new(&SOURCES[0], Vec::new()), Ok)?;
        let options = Options::check(&format!("method `{}`", entry.id), &tables(entry), &own)?;
        let sources = self.sources.clone();
        Ok(MethodSpec { entry, options, models, given, models_named, idle, sources }.settled())
    }

    /// Reads `zoh,nepce:reference=applied,alpha=1,foh`. A method that is named again is one all the same.
    pub fn parse_list(&self, text: &str) -> Result<Vec<MethodSpec>> {
        let mut methods: Vec<MethodSpec> = Vec::new();
        for item in Self::split_list(text) {
            let method = self.parse(&item)?;
            let label = method.label();
            if methods.iter().all(|known| known.label() != label) {
                methods.push(method);
            }
        }
        Ok(methods)
    }

    /// Splits such a list into the texts of its methods: an item with `=` and no `:` is a further option of the method
    /// before it.
    pub fn split_list(text: &str) -> Vec<String> {
        let mut items: Vec<String> = Vec::new();
        for item in text.split(',').filter(|item| !item.trim().is_empty()) {
            match items.last_mut() {
                // A colon after the `=` belongs to the value.
                Some(last) if item.split_once('=').is_some_and(|(name, _)| !name.contains(':')) => {
                    *last = format!("{last},{item}");
                }
                _ => items.push(item.into()),
            }
        }
        items
    }
}

/// A method with checked options, and the source of the models that it works with.
#[derive(Clone)]
pub struct MethodSpec {
    /// Its row in the registry.
    pub entry: &'static MethodEntry,
    /// A value for each of its options.
    pub options: Options,
    /// Where its models come from; the default where nothing was said, or where it uses none.
    pub models: ModelsSpec,
    /// As it was written.
    given: Vec<(String, Value)>,
    models_named: ModelsNamed,
    /// Options of sources that were given beside another source.
    idle: Vec<Idle>,
    /// Those that it could name.
    sources: Sources,
}

/// Where it is said which models a method works with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ModelsNamed {
    Nowhere,
    /// Among the options of the method.
    WithMethod,
    /// Beside the method.
    Apart,
}

impl MethodSpec {
    /// [`Methods::spec`] with the sources that come with costep.
    pub fn of(entry: &'static MethodEntry, given: Vec<(String, Value)>) -> Result<Self> {
        Methods::standard().spec(entry, given)
    }

    /// [`Methods::parse`] of the methods that come with costep.
    pub fn parse(text: &str) -> Result<Self> {
        Methods::standard().parse(text)
    }

    /// The same with models from this source, which is given beside the method. A method that uses no
    /// models with its options stays as it is.
    pub fn with_models(self, models: &ModelsSpec) -> Result<Self> {
        if self.models_named == ModelsNamed::WithMethod {
            let message =
                format!("`{}` and `{}` both say where models come from", self.label(), models.label());
            return Err(Error::new(Code::Conflict, message).hint("leave one of them out"));
        }
        if !self.uses_models() {
            return Ok(self);
        }
        spelling::check_kind(self.entry, &self.sources, models.entry)?;
        // Defaults of a paper depend on the models: they are set anew.
        let owner = format!("method `{}`", self.entry.id);
        let options = Options::check(&owner, &tables(self.entry), &self.given)?;
        Ok(Self { options, models: models.clone(), models_named: ModelsNamed::Apart, ..self }.settled())
    }

    /// With the defaults of a paper, where they are asked for.
    fn settled(mut self) -> Self {
        if let Some(papers) = self.entry.papers {
            (papers.settle)(&mut self.options, &mut self.models);
        }
        self
    }

    /// A fresh instance.
    pub fn build(&self) -> Box<dyn CouplingMethod> {
        (self.entry.build)(&self.options, &self.models)
    }

    /// The source of models that it works with.
    pub fn models(&self) -> Box<dyn ModelSource> {
        self.models.build()
    }

    /// Whether it uses models of the subsystems with its options, as far as is known before it sees them.
    pub fn uses_models(&self) -> bool {
        self.build().request().models.is_any()
    }

    /// The text it can be made from: the name and the options that were given, those of the models among
    /// them.
    pub fn label(&self) -> String {
        let mut given = self.given.clone();
        if self.models_named == ModelsNamed::Apart {
            given.push((SOURCE.into(), Value::Text(self.models.entry.id.into())));
            given.extend(self.models.given().iter().cloned());
        }
        labelled(self.entry.id, &given)
    }

    /// What was given and changes nothing beside the other options.
    pub fn warnings(&self) -> impl Iterator<Item = Error> {
        let specs = tables(self.entry).into_iter().flatten();
        let own = self.options.without_effect(specs, self.models.entry.kind);
        let with_method = self.models_named == ModelsNamed::WithMethod;
        let models = self.models.options.without_effect(self.models.entry.options, self.models.entry.kind);
        let models = models.filter(move |_| with_method);
        let text = |missing: Vec<Condition>| {
            let texts: Vec<_> = missing
                .iter()
                .map(|condition| format!("`{}`", condition_text(condition, &self.sources)))
                .collect();
            texts.join(" and ")
        };
        let idle = self.idle.iter().map(|idle| (idle.option, format!("`{}`", idle.belongs_to())));
        let unused = self.given.iter().any(|(name, _)| name == SOURCE) && !self.uses_models();
        let unused = unused.then(|| (SOURCE, "methods that use models of the subsystems".to_owned()));
        let all =
            own.chain(models).map(move |(name, missing)| (name, text(missing))).chain(idle).chain(unused);
        all.map(|(name, belongs_to)| without_effect(name, &self.label(), &belongs_to))
    }

    /// The options that were given with the method.
    pub fn given(&self) -> &[(String, Value)] {
        &self.given
    }

    /// Everything that can be written as its options.
    pub fn all_options(&self) -> impl Iterator<Item = &'static OptionSpec> + use<> {
        all_options(self.entry, &self.sources)
    }

    /// Whether its own options say where models come from.
    pub fn names_models(&self) -> bool {
        self.models_named == ModelsNamed::WithMethod
    }

    /// Whether it insists on its source of models: others can do with any that fits.
    fn insists(&self) -> bool {
        !self.entry.models.is_empty()
            && (self.models_named != ModelsNamed::Nowhere || self.build().request().models.is_full())
    }
}

/// All options of a method: its own, and those that follow a paper.
fn tables(entry: &MethodEntry) -> [&'static [OptionSpec]; 2] {
    [entry.options, entry.papers.map_or(&[][..], |papers| papers.options)]
}

/// Everything that can be written as an option of a method: its own, those that follow a paper, and those
/// of the sources that it can work with, but for `source` itself.
pub fn all_options(
    entry: &MethodEntry,
    sources: &Sources,
) -> impl Iterator<Item = &'static OptionSpec> + use<> {
    let of_sources = sources.of_kinds(entry.models).into_iter().flat_map(|source| source.options);
    tables(entry).into_iter().flatten().chain(of_sources)
}

/// What an option depends on; models by the sources that give them.
pub fn condition_text(condition: &Condition, sources: &Sources) -> String {
    match condition {
        Condition::Models(kinds) => {
            let ids: Vec<_> = sources.of_kinds(kinds).iter().map(|entry| entry.id).collect();
            format!("{SOURCE}={}", ids.join("|"))
        }
        Condition::Option { .. } => condition.to_string(),
    }
}

/// The one source of models for several groups.
pub fn models<'a>(methods: impl IntoIterator<Item = &'a MethodSpec>) -> Result<Box<dyn ModelSource>> {
    let methods: Vec<_> = methods.into_iter().collect();
    let mut insisting = methods.iter().filter(|spec| spec.insists());
    let Some(first) = insisting.next() else {
        return Ok(methods.first().map_or_else(|| Box::new(NoModels) as _, |spec| spec.models()));
    };
    if let Some(other) = insisting.find(|spec| spec.models != first.models) {
        let message = format!("`{}` and `{}` ask for different local models", first.label(), other.label());
        return Err(Error::new(Code::BadOption, message).hint(
            "give `source` and its options alike in all groups, or once for all: [models], `--models`",
        ));
    }
    let kind = first.models.entry.kind;
    let refuses = |spec: &&&MethodSpec| kind == ModelKind::Discrete && !spec.insists() && spec.uses_models();
    match methods.iter().find(refuses) {
        Some(other) => Err(spelling::refused(other.entry, &other.sources, first.models.entry)),
        None => Ok(first.models()),
    }
}
