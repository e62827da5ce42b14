//! What `to_toml` writes is read back to the same project.

mod common;

use std::path::Path;

use common::{RIG, WHOLE, good, good_with};
use costep_core::{External, InputSet};
use costep_engine::{Scheduling, Threads};
use costep_models::MODELS;
use costep_project::{Override, Project, Source, load, load_text};

/// Everything that makes a run, as text.
fn summary(project: &Project) -> String {
    let model = &project.model;
    let parts: Vec<_> =
        model.parts.iter().map(|part| (part.description().clone(), initial(part.as_ref()))).collect();
    let groups: Vec<_> = project.groups.iter().map(|g| (&g.name, g.method.label(), &g.inputs)).collect();
    let system = (&project.name, &project.model_id, &project.parameters, parts);
    let wires = (&model.connections, &model.externals, &project.bonds, groups);
    let run = (model.solver, model.experiment, model.paper_reference, &project.scheduling, project.threads);
    format!("{system:?} {wires:?} {run:?} {:?} {:?} {:?}", project.bounds, project.record, project.given)
}

/// Initial state and derivatives: they show the parameters of a part.
fn initial(part: &dyn costep_system::Component) -> (Vec<f64>, Vec<f64>) {
    let ode = part.ode().expect("a native part");
    let (mut x, mut x_dot) = (vec![0.0; ode.states()], vec![0.0; ode.states()]);
    ode.initial_state(&mut x);
    ode.derivatives(0.3, &x, &vec![0.7; part.description().inputs.len()], &mut x_dot);
    (x, x_dot)
}

fn assert_same_after_writing(project: &Project) {
    let text = project.to_toml();
    let again = load_text(&text, Path::new("run.toml"), &[]).unwrap_or_else(|e| panic!("{e:#?}\n{text}"));
    assert_eq!(summary(&again), summary(project), "{text}");
    assert_eq!(again.to_toml(), text);
    assert!(again.warnings.is_empty());
}

#[test]
fn every_built_in_model() {
    for entry in MODELS {
        let project = load(&Source::Builtin(entry.id.into()), &[]).unwrap();
        assert_eq!(project.parameters.len(), entry.parameters.len());
        assert_eq!((project.name.as_str(), project.model_id.as_deref()), (entry.id, Some(entry.id)));
        assert_same_after_writing(&project);
    }
}

#[test]
fn a_built_in_model_with_overrides() {
    let overrides = [
        ("micro_step", "1.23456789e-5"),
        ("force", "-300.1"),
        ("step.size", "0.123456789ms"),
        ("system.start", "-0.5"),
        ("system.solver", "rk4:3.3333333us"),
        ("method", "nepce:alpha=0.3,reference=applied"),
        ("schedule.kind", "parallel"),
        ("run.threads", "3"),
        ("record.signals", "[\"m1.*\"]"),
        ("guard.bounds.m2.left", "[-1e9, 1e9]"),
        ("system.name", "a \"strange\" näme \\ "),
    ]
    .map(|(path, value)| Override::new(path, value, path));
    let project = load(&Source::Builtin("chain".into()), &overrides).unwrap();
    assert_eq!(project.model.experiment.step, 0.000123456789);
    assert_eq!((project.model.experiment.start, project.threads), (-0.5, Threads::Fixed(3)));
    assert_eq!(project.scheduling, Scheduling::Parallel);
    assert_same_after_writing(&project);
}

#[test]
fn native_parts_with_everything() {
    let project = good(RIG);
    assert_eq!(project.parameters, [("b.ck".to_owned(), 2e5)]);
    assert_eq!(project.scheduling, Scheduling::Sequential(vec![1, 0]));
    assert_eq!(project.groups[0].inputs, InputSet::Some(vec![0, 1]));
    assert_eq!(project.groups[1].inputs, InputSet::Some(vec![2]));
    assert_eq!(project.bonds.names, [Some("shaft".to_owned()), None, Some("shaft".to_owned())]);
    assert_eq!(project.model.connections[2].gain, 1.5);
    assert_same_after_writing(&project);
}

#[test]
fn every_shape_of_a_signal() {
    let shapes = [
        "value = 0.1",
        "step = { value = -2, start = \"3 ms\" }",
        "sine = { amplitude = 1, frequency = 2, phase = 0.5 }",
        "square = { high = 1, low = -1, frequency = 2 }",
        "table = [[0, 1], [0.5, 1e300], [1, -2]]",
    ];
    for shape in shapes {
        let project = good(&format!("{RIG}[[external]]\nto = \"a.F\"\nsum = true\n{shape}\n"));
        assert_eq!(project.model.externals.len(), 2);
        assert_same_after_writing(&project);
    }
}

#[test]
fn groups_of_a_whole_model() {
    let project = good(WHOLE);
    assert_eq!(project.name, "rig");
    assert_eq!(project.groups[0].inputs, InputSet::Some(vec![1, 2]));
    assert_eq!(
        (project.groups[1].name.as_str(), &project.groups[1].inputs),
        ("force", &InputSet::Some(vec![0]))
    );
    assert_same_after_writing(&project);
    assert_eq!(good("[system]\nmodel = \"dual-mass\"").groups[0].inputs, InputSet::All(3));
}

#[test]
fn a_signal_takes_the_place_of_the_models_own_or_is_added() {
    let pushed = |extra: &str| {
        good(&format!("[system]\nmodel = \"chain\"\n[[external]]\nto = \"m5.right\"\nvalue = 7\n{extra}"))
    };
    let own = |project: &Project| {
        project.model.externals.iter().filter(|(_, s)| matches!(s, External::Square { .. })).count()
    };
    let (instead, added) = (pushed(""), pushed("sum = true\n"));
    assert_eq!((own(&instead), own(&added)), (0, 1));
    assert_same_after_writing(&instead);
    assert_same_after_writing(&added);
}

#[test]
fn units_that_differ_on_purpose_stay_allowed() {
    let gain = "to = \"b.x\"\ngain = 1";
    let project = good(&RIG.replacen("from = \"a.x\"\nto = \"b.x\"", &format!("from = \"a.v\"\n{gain}"), 1));
    assert_same_after_writing(&project);
}

#[test]
fn the_text_is_the_same_whether_set_in_the_file_or_by_an_override() {
    let edited =
        good(&RIG.replacen("ck = 2e5", "ck = 3e5", 1).replacen("size = \"1 ms\"", "size = 0.002", 1));
    let overridden = good_with(RIG, &[("b.ck", "3e5"), ("step.size", "2ms")]);
    assert_eq!(edited.to_toml(), overridden.to_toml());
}
