//! Options that a method does not have, or values it does not allow, are refused.

use costep_core::{Code, MethodEntry, ModelsSpec, OptionKind, SourceEntry, Value};
use costep_ident::sources::Sources;
use costep_methods::MethodSpec;
use costep_methods::registry;

fn refusal(entry: &'static MethodEntry, name: &str, value: Value) -> Option<Code> {
    MethodSpec::of(entry, vec![(name.into(), value)]).err().map(|error| error.code())
}

/// Values that an option of this kind must not take.
fn bad_values(kind: &OptionKind) -> Vec<Value> {
    let word = |text: &str| Value::Text(text.into());
    match *kind {
        OptionKind::Bool { .. } => vec![Value::Integer(1), Value::Real(1.0), word("yes")],
        OptionKind::Integer { min, max, .. } => {
            let outside = [min.checked_sub(1), max.checked_add(1)].into_iter().flatten().map(Value::Integer);
            outside.chain([Value::Real(min as f64), Value::Bool(true), word("many")]).collect()
        }
        OptionKind::Real { min, max, .. } => {
            let outside = [min.next_down(), max.next_up(), f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
            outside.map(Value::Real).into_iter().chain([Value::Bool(true), word("much")]).collect()
        }
        OptionKind::File => vec![Value::Integer(0), Value::Real(1.0), Value::Bool(true)],
        OptionKind::Choice(words) => {
            let longer = format!("{}x", words[0]);
            vec![
                word(&longer),
                word(&words[0].to_uppercase()),
                word(""),
                Value::Integer(0),
                Value::Bool(true),
            ]
        }
    }
}

pub(crate) fn values_out_of_range_or_of_another_type_are_refused(entry: &'static MethodEntry) {
    for option in registry::all_options(entry, &Sources::standard()) {
        for value in bad_values(&option.kind) {
            let code = refusal(entry, option.name, value.clone());
            assert_eq!(code, Some(Code::BadOption), "{}: {} = {value}", entry.id, option.name);
        }
    }
    if !entry.models.is_empty() {
        for value in bad_values(&OptionKind::Choice(&["exact"])) {
            let code = refusal(entry, "source", value.clone());
            assert_eq!(code, Some(Code::BadOption), "{}: source = {value}", entry.id);
        }
    }
}

pub(crate) fn unknown_options_are_refused(entry: &'static MethodEntry) {
    assert_eq!(refusal(entry, "colour", Value::Bool(true)), Some(Code::UnknownOption));
    for option in registry::all_options(entry, &Sources::standard()) {
        let slip = format!("{}s", option.name);
        assert_eq!(refusal(entry, &slip, option.kind.default_value()), Some(Code::UnknownOption));
    }
}

pub(crate) fn defaults_may_be_given(entry: &'static MethodEntry) {
    let of_papers = entry.papers.iter().flat_map(|papers| papers.options);
    let all = entry.options.iter().chain(of_papers);
    let given = all.map(|option| (option.name.into(), option.kind.default_value()));
    let spelt_out = MethodSpec::of(entry, given.collect()).unwrap();
    let defaults = MethodSpec::of(entry, vec![]).unwrap();
    assert!(spelt_out.options.iter().eq(defaults.options.iter()), "{}", entry.id);
}

/// Values of the options of a source that it does not allow are refused.
pub fn check_source_options(source: &'static SourceEntry) {
    for option in source.options {
        for value in bad_values(&option.kind) {
            let code = ModelsSpec::new(source, vec![(option.name.into(), value.clone())]).err();
            let code = code.map(|error| error.code());
            assert_eq!(code, Some(Code::BadOption), "{}: {} = {value}", source.id, option.name);
        }
    }
}
