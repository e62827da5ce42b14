//! Models are wired so that they run.

mod common;

use common::{models, output_index};
use costep_core::MicroSampling;
use costep_engine::{Engine, System};
use costep_integrate::{Equations, Solver};
use costep_methods::MethodSpec;

#[test]
fn every_input_has_a_source() {
    for (id, model) in models() {
        let fed: Vec<_> = model
            .connections
            .iter()
            .map(|c| c.input)
            .chain(model.externals.iter().map(|(j, _)| *j))
            .collect();
        for j in 0..model.layout().inputs() {
            assert!(fed.contains(&j), "{id}: input {j}");
        }
    }
}

#[test]
fn connected_ports_have_the_same_unit_and_size() {
    for (id, model) in models() {
        let layout = model.layout();
        for c in &model.connections {
            let (from, to) = (layout.output_owner(c.output), layout.input_owner(c.input));
            let output = &model.parts[from].description().outputs[c.output - layout.output_range(from).start];
            let input = &model.parts[to].description().inputs[c.input - layout.input_range(to).start];
            assert_eq!((&output.unit, output.nominal), (&input.unit, input.nominal), "{id}");
        }
    }
}

#[test]
fn nominal_values_are_positive() {
    for (id, model) in models() {
        for part in common::equations(&model) {
            let sizes = [common::state_sizes(&*part), common::input_sizes(&*part)].concat();
            assert!(sizes.iter().all(|size| *size > 0.0 && size.is_finite()), "{id}: {sizes:?}");
        }
    }
}

#[test]
fn ports_of_a_part_have_names_of_their_own() {
    for (id, model) in models() {
        for part in &model.parts {
            let description = part.description();
            let ports = description.inputs.iter().chain(&description.outputs);
            let mut names: Vec<_> = ports.map(|port| &port.name).collect();
            let count = names.len();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), count, "{id}, {}", description.name);
        }
    }
}

#[test]
fn every_model_runs_as_in_its_paper() {
    for (id, model) in models() {
        let mut engine = Engine::new(System {
            externals: model.externals.clone(),
            ..System::new(
                model.parts.iter().map(|part| part.subsystem(&model.solver).unwrap()).collect(),
                model.connections.clone(),
                (MethodSpec::parse("zoh").unwrap().build(), Box::new(costep_ident::Exact::new(1))),
                model.experiment,
            )
        })
        .unwrap();
        let start = engine.outputs().to_vec();
        (0..20).for_each(|_| engine.step().unwrap());
        // Some start at rest and are pushed later.
        while engine.outputs() == start && engine.time() < model.experiment.stop / 2.0 {
            engine.step().unwrap();
        }
        assert_ne!(engine.outputs(), start, "{id}");
        assert!(engine.energy().is_none_or(|energy| energy > 0.0), "{id}");
    }
}

#[test]
fn only_the_pendulum_and_its_oscillator_are_sampled_where_inner_steps_start() {
    for (id, model) in models() {
        let expected = if id == "pendulum-oscillator" { MicroSampling::Start } else { MicroSampling::End };
        for part in &model.parts {
            let mut subsystem = part.subsystem(&Solver::Euler(1e-5)).unwrap();
            assert_eq!(subsystem.micro_recorder().unwrap().sampling(), expected, "{id}");
        }
    }
}

#[test]
fn the_chain_is_pushed_at_its_end() {
    for n in [2, 3, 6, 7] {
        let model = common::model("chain", &[("n", f64::from(n))]);
        let mut twin = model.monolithic().unwrap();
        let mut x_dot = vec![0.0; twin.states()];
        twin.derivatives(0.0, &vec![0.0; x_dot.len()], &[], &mut x_dot).unwrap();
        let mut expected = vec![0.0; twin.states()];
        *expected.last_mut().unwrap() = 300.0;
        assert_eq!(x_dot, expected, "{n} masses");
    }
    let model = common::model("chain", &[("n", 7.0)]);
    assert_eq!(output_index(&model, "m7.v") + 1, model.layout().outputs());
}
