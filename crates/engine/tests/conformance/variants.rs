//! Every method with every single option changed.

use costep_core::{MethodEntry, OptionKind, Value};
use costep_ident::sources::{AMPLITUDE, FROM_FILE};
use costep_methods::{METHODS, MethodSpec};

/// Each method with default options, and with each option in turn at every other value that can be derived
/// from its declaration: all words, the other truth value, least and greatest number.
pub(crate) fn variants() -> Vec<MethodSpec> {
    let mut variants = Vec::new();
    for entry in METHODS {
        variants.push(MethodSpec::new(entry.id, vec![]).unwrap());
        for option in entry.options {
            let default = option.kind.default_value();
            for value in others(&option.kind).into_iter().filter(|value| *value != default) {
                variants.push(MethodSpec::new(entry.id, vec![(option.name.into(), value)]).unwrap());
            }
        }
    }
    variants.extend(learnt());
    variants.extend(renewed_probes());
    variants
}

/// Probes are not renewed by default.
fn renewed_probes() -> impl Iterator<Item = MethodSpec> {
    let probes = |entry: &&MethodEntry| entry.options.iter().any(|option| option.name == AMPLITUDE.name);
    METHODS.iter().filter(probes).flat_map(|entry| {
        let variant = |refresh| MethodSpec::parse(&format!("{}:source=probe,{refresh}", entry.id)).unwrap();
        ["every=3", "refresh=changed"].map(variant)
    })
}

/// Methods with identified models that take over after few steps: by default tests are too short for them to be used.
fn learnt() -> impl Iterator<Item = MethodSpec> {
    let learns = |entry: &&MethodEntry| entry.options.iter().any(|option| option.name == "learning");
    METHODS.iter().filter(learns).flat_map(|entry| {
        let extra = if entry.id == "prestep" { ",ede=true" } else { "" };
        ["rls", "ij-rls", "moesp", "ij-rls,samples=5", "rls,n=2,m=2,fallback=foh"].into_iter().map(
            move |source| {
                let id = entry.id;
                let text = format!("{id}:source={source}{extra},learning=6,switching=2,window=10,interval=3");
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
        // Models of an earlier run belong to one system: they have tests of their own.
        OptionKind::Choice(words) => {
            let words = words[1..].iter().filter(|word| **word != FROM_FILE);
            words.map(|word| Value::Text((*word).into())).collect()
        }
        OptionKind::File => vec![],
    }
}

#[test]
fn options_that_are_not_declared_so_would_panic_here() {
    for method in variants() {
        let _ = method.build().needs();
    }
}
