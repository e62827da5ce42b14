//! Every method with every single option changed.

use costep_core::{OptionKind, Value};
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
    variants
}

fn others(kind: &OptionKind) -> Vec<Value> {
    match *kind {
        OptionKind::Bool { default } => vec![Value::Bool(!default)],
        OptionKind::Integer { min, max, .. } => vec![Value::Integer(min), Value::Integer(max)],
        OptionKind::Real { min, max, .. } => vec![Value::Real(min), Value::Real(max)],
        OptionKind::Choice(words) => words[1..].iter().map(|word| Value::Text((*word).into())).collect(),
    }
}

#[test]
fn options_that_are_not_declared_so_would_panic_here() {
    for method in variants() {
        let _ = method.build().needs();
    }
}
