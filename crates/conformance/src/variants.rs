//! A method with every single option changed, and with every source of models that it can work with.

use costep_core::{MethodEntry, OptionKind, OptionSpec, SourceEntry, Value};
use costep_ident::sources::{SOURCES, Sources};
use costep_methods::{METHODS, MethodSpec, Methods};

/// Models of an earlier run belong to one system: they have tests of their own.
const FROM_FILE: &str = "from-file";

/// A method with default options, and with each option in turn at every other value that can be derived
/// from its declaration: all words, the other Boolean value, least and greatest number. Then with each source of models.
///
/// # Panics
///
/// If a value that follows from the declaration is refused.
pub fn variants(entry: &'static MethodEntry) -> Vec<MethodSpec> {
    let of_papers = entry.papers.iter().flat_map(|papers| papers.options);
    let options = entry.options.iter().chain(of_papers).flat_map(changed);
    let mut variants = vec![defaults(entry)];
    variants.extend(options.map(|option| MethodSpec::of(entry, vec![option]).unwrap()));
    variants.extend(sources_of(entry).filter(|source| source.id != FROM_FILE).map(|s| with(entry, s)));
    if stands_for_sources(entry) {
        variants.extend(SOURCES.iter().flat_map(|source| changed_source(entry, source)));
    }
    variants.extend(learnt(entry));
    variants.extend(renewed_probes(entry));
    variants
}

/// The options of the sources are tried under one method: the first that can work with all of them.
fn stands_for_sources(entry: &MethodEntry) -> bool {
    let works_with_all = |entry: &&MethodEntry| sources_of(entry).count() == SOURCES.len();
    METHODS.iter().find(works_with_all).is_some_and(|first| first.id == entry.id)
}

/// The sources whose models a method can work with.
fn sources_of(entry: &MethodEntry) -> impl Iterator<Item = &'static SourceEntry> {
    Sources::standard().of_kinds(entry.models).into_iter()
}

/// A method with default options.
pub(crate) fn defaults(entry: &'static MethodEntry) -> MethodSpec {
    MethodSpec::of(entry, vec![]).unwrap()
}

/// A method with options written as on the command line.
fn with_options(entry: &'static MethodEntry, options: &str) -> MethodSpec {
    Methods::standard().with(entry).parse(&format!("{}:{options}", entry.id)).unwrap()
}

/// The option at its other values.
pub(crate) fn changed(option: &OptionSpec) -> Vec<(String, Value)> {
    let default = option.kind.default_value();
    let values = others(&option.kind).into_iter().filter(|value| *value != default);
    values.map(|value| (option.name.to_owned(), value)).collect()
}

/// A method with models from a source, where it uses models.
fn with(entry: &'static MethodEntry, source: &SourceEntry) -> MethodSpec {
    let has = |name: &str| entry.options.iter().any(|option| option.name == name);
    let extra = match () {
        () if has("feedthrough") => ",feedthrough=true",
        () if has("predictor") => ",predictor=predictive",
        () => "",
    };
    let spec = with_options(entry, &format!("source={}{extra}", source.id));
    assert!(spec.uses_models(), "{}", spec.label());
    spec
}

/// A source with each option changed, after few steps.
fn changed_source(entry: &'static MethodEntry, source: &'static SourceEntry) -> Vec<MethodSpec> {
    if source.id == FROM_FILE {
        return vec![];
    }
    let phases = if source.options.iter().any(|option| option.name == "samples") {
        vec![("learning".to_owned(), Value::Integer(6)), ("switching".to_owned(), Value::Integer(2))]
    } else {
        vec![]
    };
    let variant = |(name, value): (String, Value)| {
        let mut given = vec![("source".to_owned(), Value::Text(source.id.into())), (name, value)];
        given.extend(phases.clone());
        MethodSpec::of(entry, given).unwrap()
    };
    source.options.iter().flat_map(changed).map(within_reason).map(variant).collect()
}

/// Pulses of an excitation in the round-off give no model, and a window of 100,000 samples is never full here.
pub(crate) fn within_reason((name, value): (String, Value)) -> (String, Value) {
    let value = match (name.as_str(), value) {
        ("amplitude", Value::Real(least)) if least < 1e-3 => Value::Real(1e-3),
        ("window", Value::Integer(most)) if most > 60 => Value::Integer(60),
        (_, value) => value,
    };
    (name, value)
}

/// Probes are not renewed by default.
fn renewed_probes(entry: &'static MethodEntry) -> Vec<MethodSpec> {
    if !sources_of(entry).any(|source| source.id == "probe") || !defaults(entry).uses_models() {
        return Vec::new();
    }
    ["source=probe,every=3", "source=probe,refresh=changed"].map(|text| with_options(entry, text)).into()
}

/// Methods with identified models that take over after few steps: by default tests are too short for them to
/// be used.
fn learnt(entry: &'static MethodEntry) -> Vec<MethodSpec> {
    if !sources_of(entry).any(|source| source.id == "rls") {
        return Vec::new();
    }
    let all = costep_methods::registry::all_options(entry, &Sources::standard());
    let all: Vec<_> = all.into_iter().map(|option| option.name).collect();
    let given = |name: &str, text: &'static str| if all.contains(&name) { text } else { "" };
    let (extra, phases) = (given("ede", ",ede=true"), given("learning", ",learning=6,switching=2"));
    let variant = |source: &str| {
        let window = if source == "moesp" { ",window=10,interval=3" } else { "" };
        let source = if phases.is_empty() { source.replace(",fallback=foh", "") } else { source.into() };
        with_options(entry, &format!("source={source}{extra}{phases}{window}"))
    };
    ["rls", "ij-rls", "moesp", "ij-rls,samples=5", "rls,n=2,m=2,fallback=foh"].map(variant).into()
}

fn others(kind: &OptionKind) -> Vec<Value> {
    match *kind {
        OptionKind::Bool { default } => vec![Value::Bool(!default)],
        OptionKind::Integer { min, max, .. } => vec![Value::Integer(min), Value::Integer(max)],
        OptionKind::Real { min, max, .. } => vec![Value::Real(min), Value::Real(max)],
        OptionKind::Choice(words) => words.iter().map(|word| Value::Text((*word).into())).collect(),
        OptionKind::File => vec![],
    }
}

pub(crate) fn every_variant_builds_and_its_label_makes_it_again(entry: &'static MethodEntry) {
    for method in variants(entry) {
        let again = Methods::standard().with(entry).parse(&method.label()).unwrap();
        assert_eq!(again.build().request(), method.build().request(), "{}", method.label());
        assert!(again.models == method.models, "{}", method.label());
    }
}
