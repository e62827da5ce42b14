//! A checked project is one that the engine takes.

mod common;

use common::{RIG, WHOLE, good};
use costep_engine::{Engine, Group, System};
use costep_models::MODELS;
use costep_project::{Project, Source, load};

fn engine(project: &Project) -> Engine {
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
    Engine::new(system).unwrap()
}

#[test]
fn projects_step() {
    let all_in_one_group = WHOLE.replacen("s1.*", "*", 1);
    let looped = "[native.a]\nmodel = \"dual-mass\"\npart = \"s1\"\n[[connect]]\nfrom = \"a.x\"\nto = \"a.F\"\ngain = -2\n";
    let mut projects: Vec<_> = [RIG, WHOLE, &all_in_one_group, looped].into_iter().map(good).collect();
    projects.extend(MODELS.iter().map(|entry| load(&Source::Builtin(entry.id.into()), &[]).unwrap()));
    for project in &projects {
        let mut engine = engine(project);
        for _ in 0..5 {
            engine.step().unwrap();
        }
    }
}
