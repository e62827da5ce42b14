//! The examples run. `fmus` is compiled only: it needs files.

#[path = "../../../examples/build_by_names.rs"]
mod build_by_names;
#[path = "../../../examples/compare_methods.rs"]
mod compare_methods;
#[path = "../../../examples/learn_models.rs"]
mod learn_models;
#[allow(dead_code, reason = "the test names another folder than its `main`")]
#[path = "../../../examples/method_pictures.rs"]
mod method_pictures;
#[path = "../../../examples/open_and_run.rs"]
mod open_and_run;
#[path = "../../../examples/own_equations.rs"]
mod own_equations;
#[path = "../../../examples/own_method.rs"]
mod own_method;
#[path = "../../../examples/own_subsystem.rs"]
mod own_subsystem;
#[path = "../../../examples/parameter_sweep.rs"]
mod parameter_sweep;
#[path = "../../../examples/record_and_resume.rs"]
mod record_and_resume;
#[path = "../../../examples/step_by_step.rs"]
mod step_by_step;
#[path = "../../../examples/watch_every_step.rs"]
mod watch_every_step;

#[test]
fn build_by_names_runs() {
    build_by_names::main().unwrap();
}

#[test]
fn compare_methods_runs() {
    compare_methods::main().unwrap();
}

#[test]
fn learn_models_runs() {
    learn_models::main().unwrap();
}

/// The book has a picture of each method.
#[test]
fn method_pictures_are_those_of_the_book() {
    let new = tempfile::tempdir().unwrap();
    method_pictures::write(new.path()).unwrap();
    let book = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/img/methods");
    let names = |folder: &std::path::Path| -> std::collections::BTreeSet<_> {
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    };
    assert_eq!(names(new.path()), names(&book), "`cargo xtask book --write` draws them");
    for name in names(new.path()) {
        let svg = std::fs::read_to_string(new.path().join(&name)).unwrap();
        assert!(svg.contains("<path") && !svg.contains("NaN"), "{name:?}");
    }
}

#[test]
fn open_and_run_runs() {
    open_and_run::main().unwrap();
}

#[test]
fn own_equations_runs() {
    own_equations::main().unwrap();
}

#[test]
fn own_method_runs() {
    own_method::main().unwrap();
}

#[test]
fn own_subsystem_runs() {
    own_subsystem::main().unwrap();
}

#[test]
fn parameter_sweep_runs() {
    parameter_sweep::main().unwrap();
}

#[test]
fn record_and_resume_runs() {
    record_and_resume::main().unwrap();
}

#[test]
fn step_by_step_runs() {
    step_by_step::main().unwrap();
}

#[test]
fn watch_every_step_runs() {
    watch_every_step::main().unwrap();
}

#[test]
fn there_are_ten_at_least_and_none_is_forgotten() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let names: Vec<_> = files.filter(|path| path.extension().is_some_and(|ending| ending == "rs")).collect();
    assert!(names.len() >= 10, "{names:?}");
    let (own, manifest) = (include_str!("examples.rs"), include_str!("../Cargo.toml"));
    for name in names.iter().map(|path| path.file_stem().unwrap().to_string_lossy()) {
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name} is not an example of the crate");
        assert!(name == "fmus" || own.contains(&format!("mod {name};")), "{name} is not run");
    }
}
