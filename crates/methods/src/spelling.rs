//! Method and models in one text, `prestep:source=rls,n=2`: which options are the method's and which the
//! source's. It says the same as `--method prestep --models rls:n=2`.

use costep_core::options::unknown;
use costep_core::{Code, Error, MethodEntry, ModelsSpec, Result, SourceEntry, Value};
use costep_ident::sources::{SOURCES, Sources};

/// What names the source among the options of a method.
pub(crate) const SOURCE: &str = "source";

/// The options of a method, taken apart.
pub(crate) struct Spelling {
    /// Those of the method itself.
    pub(crate) own: Vec<(String, Value)>,
    /// The source and its options; none if nothing was said of them.
    pub(crate) models: Option<ModelsSpec>,
    /// Options of other sources.
    pub(crate) idle: Vec<Idle>,
}

/// An option of sources that were not chosen.
#[derive(Clone)]
pub(crate) struct Idle {
    pub(crate) option: &'static str,
    sources: Vec<&'static str>,
}

impl Idle {
    /// What it is for, `source=rls|ij-rls`.
    pub(crate) fn belongs_to(&self) -> String {
        format!("{SOURCE}={}", self.sources.join("|"))
    }
}

/// Takes the options of a method apart.
pub(crate) fn split(entry: &MethodEntry, known: &Sources, given: &[(String, Value)]) -> Result<Spelling> {
    let tables = [entry.options, entry.papers.map_or(&[][..], |papers| papers.options)];
    let is_own = |name: &str| tables.iter().copied().flatten().any(|spec| spec.name == name);
    let (own, rest): (Vec<_>, Vec<_>) = given.iter().cloned().partition(|(name, _)| is_own(name));
    let sources = known.of_kinds(entry.models);
    let (named, rest): (Vec<_>, Vec<_>) =
        rest.into_iter().partition(|(name, _)| name == SOURCE && !sources.is_empty());
    let source = match &named[..] {
        [] => &SOURCES[0],
        [(_, value)] => named_source(entry, known, value)?,
        [_, _, ..] => return Err(given_twice(SOURCE, entry)),
    };
    let (mut of_source, mut idle) = (Vec::new(), Vec::<Idle>::new());
    for (name, value) in rest {
        let have = |source: &&&SourceEntry| source.options.iter().any(|spec| spec.name == name);
        let having: Vec<&'static SourceEntry> = sources.iter().filter(have).copied().collect();
        if having.iter().any(|having| having.id == source.id) {
            of_source.push((name, value));
        } else if let Some(first) = having.first() {
            if idle.iter().any(|idle| idle.option == name) {
                return Err(given_twice(&name, entry));
            }
            let checked = ModelsSpec::new(first, vec![(name.clone(), value)])?;
            let option = checked.options.iter().map(|(option, _)| option).find(|option| *option == name);
            let sources = having.iter().map(|source| source.id).collect();
            idle.extend(option.map(|option| Idle { option, sources }));
        } else {
            let of_sources = sources.iter().flat_map(|source| source.options);
            let all = tables.iter().copied().flatten().chain(of_sources).map(|spec| spec.name);
            let all = all.chain((!sources.is_empty()).then_some(SOURCE));
            return Err(unknown(&format!("method `{}`", entry.id), &name, all));
        }
    }
    let said = !named.is_empty() || !of_source.is_empty();
    let models = said.then(|| ModelsSpec::new(source, of_source)).transpose()?;
    Ok(Spelling { own, models, idle })
}

/// The source that the option `source` names.
fn named_source(entry: &MethodEntry, known: &Sources, value: &Value) -> Result<&'static SourceEntry> {
    let source = known.iter().find(|source| *value == Value::Text(source.id.into()));
    let source = source.ok_or_else(|| not_allowed(entry, known, &value.to_string()))?;
    check_kind(entry, known, source)?;
    Ok(source)
}

/// Whether a method can work with the models of a source.
pub(crate) fn check_kind(entry: &MethodEntry, known: &Sources, source: &SourceEntry) -> Result<()> {
    if entry.models.contains(&source.kind) { Ok(()) } else { Err(refused(entry, known, source)) }
}

/// A method cannot work with the models of a source.
pub(crate) fn refused(entry: &MethodEntry, known: &Sources, source: &SourceEntry) -> Error {
    not_allowed(entry, known, source.id).because(format!("it gives {}", source.kind.title()))
}

fn not_allowed(entry: &MethodEntry, known: &Sources, source: &str) -> Error {
    let message = format!("the source of models of method `{}` cannot be `{source}`", entry.id);
    let ids: Vec<_> = known.of_kinds(entry.models).iter().map(|source| source.id).collect();
    Error::new(Code::BadOption, message).hint(match &ids[..] {
        [] => "leave it out: the method does not use a choice of models".to_owned(),
        ids => format!("allowed: {}", ids.join(" | ")),
    })
}

fn given_twice(option: &str, entry: &MethodEntry) -> Error {
    let message = format!("option `{option}` of method `{}` is given twice", entry.id);
    Error::new(Code::BadOption, message).hint("leave one of them out")
}
