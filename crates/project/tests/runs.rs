//! A checked project is one that the engine takes.

mod common;

use common::{RIG, WHOLE, good};
use costep_core::{Code, Error};
use costep_engine::{Engine, Group, System};
use costep_models::MODELS;
use costep_project::{Project, Source, load};

fn engine(project: &Project) -> Result<Engine, Error> {
    let model = &project.model;
    let subsystems = model.parts.iter().map(|part| part.subsystem(&model.solver).unwrap()).collect();
    let groups = project.groups.iter();
    let groups = groups.map(|g| Group { method: g.method.build(), inputs: g.inputs.clone() }).collect();
    let system = System {
        subsystems,
        connections: model.connections.clone(),
        models: Box::new(costep_ident::Exact::new(1)),
        externals: model.externals.clone(),
        groups,
        scheduling: project.scheduling.clone(),
        bounds: project.bounds.clone(),
        experiment: model.experiment,
        threads: project.threads,
        micro_samples: false,
    };
    Engine::new(system)
}

#[test]
fn projects_step() {
    let all_in_one_group = WHOLE.replacen("s1.*", "*", 1);
    let looped = "[native.a]\nmodel = \"dual-mass\"\npart = \"s1\"\n[[connect]]\nfrom = \"a.x\"\nto = \"a.F\"\ngain = -2\n";
    let mut projects: Vec<_> = [RIG, WHOLE, &all_in_one_group, looped].into_iter().map(good).collect();
    projects.extend(MODELS.iter().map(|entry| load(&Source::Builtin(entry.id.into()), &[]).unwrap()));
    for project in &projects {
        let mut engine = engine(project).unwrap();
        for _ in 0..5 {
            engine.step().unwrap();
        }
    }
}

#[test]
fn a_nominal_value_of_the_project_says_what_divergence_is() {
    let run = |sizes: &str| engine(&good(&format!("{RIG}{sizes}")))?.step();
    assert_eq!(run(""), Ok(()));
    assert_eq!(run("[port.\"a.x\"]\nnominal = 10\n"), Ok(()));
    let error = run("[port.\"a.x\"]\nnominal = 1e-12\n").unwrap_err();
    assert_eq!(error.code(), Code::Diverged);
    assert!(error.to_string().contains("`a.x`") && error.to_string().contains("nominal value"), "{error}");
}

/// An engine for a built-in model that starts at rest.
fn rested(model: &str, external: &str) -> Engine {
    let text = format!("[system]\nmodel = \"{model}\"\ninitial = \"steady\"\n{external}");
    let project = good(&text);
    assert_eq!(good(&project.to_toml()).to_toml(), project.to_toml());
    engine(&project).unwrap()
}

#[test]
fn a_steady_start_is_where_nothing_changes() {
    let push = |shape: &str| format!("[[external]]\nto = \"s1.F\"\nsum = true\n{shape}\n");
    // Two masses between springs: under a force on the first, all three springs give way.
    let [c1, c2, ck] = [1e6, 1e7, 1e5];
    let mut masses = rested("dual-mass", &push("value = 500"));
    let x1 = 500.0 / (c1 + ck * c2 / (ck + c2));
    let force = x1 * ck * c2 / (ck + c2);
    let is_there = |y: &[f64]| {
        (y[0] - x1).abs() < 1e-9 * x1 && y[1].abs() < 1e-9 && (y[2].abs() - force).abs() < 1e-9 * force
    };
    assert!(is_there(masses.outputs()), "{:?} {x1} {force}", masses.outputs());
    (0..50).for_each(|_| masses.step().unwrap());
    assert!(is_there(masses.outputs()), "{:?} {x1} {force}", masses.outputs());
    // A step at the start comes after it.
    let masses = rested("dual-mass", &push("step = { value = 500 }"));
    assert!(masses.outputs().iter().all(|y| y.abs() < 1e-9), "{:?}", masses.outputs());
    // Not linear, and with many points of rest: the water of three tanks stays what it was.
    let tanks = rested("three-tanks", "");
    for (y, rest) in tanks.outputs().iter().zip([1.5, 0.0, 1.5, 0.0, 1.5]) {
        assert!((y - rest).abs() < 1e-9, "{:?}", tanks.outputs());
    }
}

#[test]
fn what_has_no_rest_is_refused() {
    let emptied = "[system]\nstop = 1\ninitial = \"steady\"\n[step]\nsize = 0.1\n\
                   [native.tank]\nmodel = \"three-tanks\"\npart = \"tank1\"\n\
                   [[external]]\nto = \"tank.q_out\"\nvalue = 0.1\n";
    let errors = common::errors(emptied);
    assert_eq!(
        (errors.len(), errors[0].code(), common::line(&errors[0])),
        (1, Code::NoRest, 3),
        "{errors:?}"
    );
    assert!(errors[0].to_string().contains("`tank."), "{}", errors[0]);
}
