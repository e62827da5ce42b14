//! Every method with every single option changed, and with every source of models that it can work with.

use costep_core::{MethodEntry, OptionKind, OptionSpec, SourceEntry, Value};
use costep_ident::sources::SOURCES;
use costep_methods::registry::sources_of;
use costep_methods::{METHODS, MethodSpec};

/// Models of an earlier run belong to one system: they have tests of their own.
const FROM_FILE: &str = "from-file";

/// Each method with default options, and with each option in turn at every other value that can be derived
/// from its declaration: all words, the other truth value, least and greatest number. Then with each source of models, and
/// each source with each of its options changed.
pub(crate) fn variants() -> Vec<MethodSpec> {
    let mut variants = Vec::new();
    for entry in METHODS {
        variants.push(MethodSpec::new(entry.id, vec![]).unwrap());
        let of_papers = entry.papers.iter().flat_map(|papers| papers.options);
        for (name, value) in entry.options.iter().chain(of_papers).flat_map(changed) {
            variants.push(MethodSpec::new(entry.id, vec![(name, value)]).unwrap());
        }
        variants.extend(sources_of(entry).filter(|source| source.id != FROM_FILE).map(|s| with(entry, s)));
    }
    variants.extend(SOURCES.iter().flat_map(changed_source));
    variants.extend(learnt());
    variants.extend(renewed_probes());
    variants
}

/// The option at its other values.
fn changed(option: &OptionSpec) -> Vec<(String, Value)> {
    let default = option.kind.default_value();
    let values = others(&option.kind).into_iter().filter(|value| *value != default);
    values.map(|value| (option.name.to_owned(), value)).collect()
}

/// A method with models from a source, where it uses models.
fn with(entry: &MethodEntry, source: &SourceEntry) -> MethodSpec {
    let has = |name: &str| entry.options.iter().any(|option| option.name == name);
    let feedthrough = if has("feedthrough") { ",feedthrough=true" } else { "" };
    let spec = MethodSpec::parse(&format!("{}:source={}{feedthrough}", entry.id, source.id)).unwrap();
    assert!(spec.uses_models(), "{}", spec.label());
    spec
}

/// A source with each option changed, under a method that can work with all of them, after few steps.
fn changed_source(source: &'static SourceEntry) -> Vec<MethodSpec> {
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
        MethodSpec::new("mbcorr", given).unwrap()
    };
    source.options.iter().flat_map(changed).map(within_reason).map(variant).collect()
}

/// Pulses of an excitation in the round-off give no model, and a window of 100,000 samples is never full here.
fn within_reason((name, value): (String, Value)) -> (String, Value) {
    let value = match (name.as_str(), value) {
        ("amplitude", Value::Real(least)) if least < 1e-3 => Value::Real(1e-3),
        ("window", Value::Integer(most)) if most > 60 => Value::Integer(60),
        (_, value) => value,
    };
    (name, value)
}

/// Probes are not renewed by default.
fn renewed_probes() -> impl Iterator<Item = MethodSpec> {
    let probes = |entry: &&MethodEntry| sources_of(entry).any(|source| source.id == "probe");
    let needs_models = |entry: &&MethodEntry| MethodSpec::new(entry.id, vec![]).unwrap().uses_models();
    METHODS.iter().filter(probes).filter(needs_models).flat_map(|entry| {
        let variant = |refresh| MethodSpec::parse(&format!("{}:source=probe,{refresh}", entry.id)).unwrap();
        ["every=3", "refresh=changed"].map(variant)
    })
}

/// Methods with identified models that take over after few steps: by default tests are too short for them to be used.
fn learnt() -> impl Iterator<Item = MethodSpec> {
    let learns = |entry: &&MethodEntry| sources_of(entry).any(|source| source.id == "rls");
    METHODS.iter().filter(learns).flat_map(|entry| {
        let extra = if entry.id == "prestep" { ",ede=true" } else { "" };
        ["rls", "ij-rls", "moesp", "ij-rls,samples=5", "rls,n=2,m=2,fallback=foh"].into_iter().map(
            move |source| {
                let id = entry.id;
                let window = if source == "moesp" { ",window=10,interval=3" } else { "" };
                let text = format!("{id}:source={source}{extra},learning=6,switching=2{window}");
                MethodSpec::parse(&text).unwrap()
            },
        )
    })
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

#[test]
fn every_variant_builds_and_its_label_makes_it_again() {
    for method in variants() {
        let again = MethodSpec::parse(&method.label()).unwrap();
        assert_eq!(again.build().needs(), method.build().needs(), "{}", method.label());
        assert!(again.models == method.models, "{}", method.label());
    }
}
