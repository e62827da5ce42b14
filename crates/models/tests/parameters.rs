//! Parameters are checked before a model is built.

use costep_core::{Code, Error};
use costep_models::{MODELS, ModelEntry};

fn refusal(entry: &ModelEntry, name: &str, value: f64) -> Option<Error> {
    entry.model(&[(name.into(), value)]).err()
}

#[test]
fn values_out_of_range_are_refused_by_name() {
    for entry in MODELS {
        for spec in entry.parameters {
            let bad = [spec.min.next_down(), spec.max.next_up(), f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
            for value in bad {
                let error = refusal(entry, spec.name, value);
                let error =
                    error.unwrap_or_else(|| panic!("{}: {} = {value} was taken", entry.id, spec.name));
                assert_eq!(error.code(), Code::BadValue);
                assert!(error.to_string().contains(&format!("`{}`", spec.name)), "{error}");
            }
        }
    }
}

#[test]
fn defaults_are_in_range_and_can_be_given() {
    for entry in MODELS {
        for spec in entry.parameters {
            assert!(spec.min <= spec.default && spec.default <= spec.max, "{}: {}", entry.id, spec.name);
            assert_eq!(refusal(entry, spec.name, spec.default), None);
        }
    }
}

#[test]
fn unknown_parameters_are_refused_with_a_suggestion() {
    for entry in MODELS {
        let slip = format!("{}_", entry.parameters[0].name);
        let error = refusal(entry, &slip, 1.0).unwrap();
        assert_eq!(error.code(), Code::UnknownParameter, "{}", entry.id);
        assert!(error.to_string().contains("did you mean"), "{error}");
    }
}

#[test]
fn names_of_parameters_and_ports_are_unique() {
    for entry in MODELS {
        let names: Vec<_> = entry.parameters.iter().map(|spec| spec.name).collect();
        assert!((1..names.len()).all(|i| !names[..i].contains(&names[i])), "{}", entry.id);
        let (_, model) = entry.model(&[]).unwrap();
        let parts: Vec<_> = model.parts.iter().map(|part| &part.description().name).collect();
        assert!((1..parts.len()).all(|i| !parts[..i].contains(&parts[i])), "{}", entry.id);
    }
}
