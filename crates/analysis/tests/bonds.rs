//! Energy that is lost or made at power bonds, against energies that are known.

use costep_analysis::BondWatch;
use costep_conformance::systems::{coupled, method, model};
use costep_core::{Connection, Port, PowerBond, StateReader, StateWriter};
use costep_engine::{Engine, Flow, Group, System};
use costep_integrate::{Linear, Solver};
use costep_methods::energy_corrected;
use costep_system::{Component, SystemDescription};

/// Velocity and force between the masses.
fn spring() -> Vec<PowerBond> {
    let ends = |output, input| Connection { output, input, gain: 1.0 };
    vec![PowerBond { name: "spring".into(), connections: [ends(1, 2), ends(2, 0)] }]
}

fn engine(id: &str, step: f64) -> Engine {
    let model = model("dual-mass", &[("ck", 1e5), ("dk", 0.0), ("d1", 0.0), ("d2", 0.0)]);
    Engine::new(coupled(&model, &Solver::Exact, &method(id), 0.1, step)).unwrap()
}

fn watched(id: &str, step: f64) -> BondWatch {
    let (mut engine, mut bonds) = (engine(id, step), BondWatch::new(spring()));
    engine
        .run_with(|engine| {
            bonds.look(engine);
            Ok(Flow::Continue)
        })
        .unwrap();
    bonds
}

fn error(id: &str, step: f64) -> f64 {
    watched(id, step).energies().next().unwrap().1.error().unwrap()
}

#[test]
fn errors_of_bonds_are_those_of_their_methods() {
    let errors = ["zoh", "foh", "predictive"].map(|id| (error(id, 5e-4), error(id, 2.5e-4)));
    println!("{errors:?}");
    // A hold loses energy with the step, a line with its square at least, and what is projected next to none.
    assert!((1.8..2.3).contains(&(errors[0].0 / errors[0].1)), "{errors:?}");
    assert!(errors[1].0 / errors[1].1 > 3.5, "{errors:?}");
    assert!(errors[1].0 < 0.3 * errors[0].0 && errors[2].0 < errors[1].0, "{errors:?}");
}

/// A mass on a spring, and a spring with a mass at its end: nothing is lost but at the coupling.
fn lossless() -> SystemDescription {
    let (mass, end, ground, between) = (1.0, 0.4, 400.0, 900.0);
    let port = |name: &str| Port::new(name, "1", 1.0);
    // States v, x and F, w.
    let first = Linear::new(
        "first",
        (vec![port("F")], vec![port("v")]),
        [&[0.0, -ground / mass, 1.0, 0.0], &[-1.0 / mass, 0.0], &[1.0, 0.0], &[0.0]],
        &[1.0, 0.02],
    );
    let second = Linear::new(
        "second",
        (vec![port("v")], vec![port("F")]),
        [&[0.0, -between, 1.0 / end, 0.0], &[between, 0.0], &[1.0, 0.0], &[0.0]],
        &[0.0, 0.3],
    );
    let parts: Vec<Box<dyn Component>> =
        vec![Box::new(first.storing(&[mass, ground])), Box::new(second.storing(&[1.0 / between, end]))];
    SystemDescription::new(parts, Solver::Exact, 1.0, 1e-3).connected([((0, 0), (1, 0)), ((1, 0), (0, 0))])
}

/// Velocity and force between them.
fn port() -> Vec<PowerBond> {
    let ends = |output, input| Connection { output, input, gain: 1.0 };
    vec![PowerBond { name: "port".into(), connections: [ends(0, 1), ends(1, 0)] }]
}

/// Energy that the system has lost, what its bond says, and which share of the energy exchanged that is.
fn losses(id: &str, step: f64) -> (f64, f64, f64) {
    losses_of(coupled(&lossless(), &Solver::Exact, &method(id), 1.0, step))
}

fn losses_of(system: System) -> (f64, f64, f64) {
    let (mut bonds, mut start) = (BondWatch::new(port()), None);
    let mut engine = Engine::new(system).unwrap();
    engine
        .run_with(|engine| {
            bonds.look(engine);
            start = start.or(engine.energy());
            Ok(Flow::Continue)
        })
        .unwrap();
    let energy = bonds.energies().next().unwrap().1;
    (start.unwrap() - engine.energy().unwrap(), energy.residual, energy.error().unwrap())
}

/// Everything else is exact, so that the energies before and after tell what the coupling has done: 53 rad/s at most. Of lines
/// what both sides lose cancels but for the next order, which parabolas tell with a few hundredths.
#[test]
fn what_bonds_lose_is_what_the_system_loses() {
    for (id, step, within) in
        [("zoh", 5e-4, 0.03), ("foh", 2e-3, 0.1), ("foh", 5e-4, 0.1), ("nepce", 1e-3, 0.1)]
    {
        let (lost, residual, share) = losses(id, step);
        println!("{id} at {step}: lost {lost:.3e}, by the bond {residual:.3e}, {:.3} % of it", 100.0 * share);
        assert!((residual - lost).abs() < within * lost.abs(), "{id}: {residual:e} instead of {lost:e}");
    }
}

/// Half a radian per step, where products of means would be wrong by two hundredths.
#[test]
fn what_loses_nothing_is_said_to_lose_nothing() {
    for (step, most) in [(1e-2, 1e-4), (5e-3, 1e-5), (2.5e-3, 1e-6)] {
        let (lost, residual, share) = losses("predictive", step);
        println!("predictive at {step}: lost {lost:.1e}, by the bond {residual:.1e}, share {share:.1e}");
        assert!(share < most, "{step}: {share:e}");
        assert!((residual - lost).abs() < most, "{step}: {residual:e} {lost:e}");
    }
}

fn corrected(id: &str, step: f64) -> System {
    let mut system = coupled(&lossless(), &Solver::Exact, &method(id), 1.0, step);
    let group = system.groups.remove(0);
    system.groups.push(Group { method: energy_corrected(group.method, &port()), ..group });
    system
}

#[test]
fn corrected_bonds_give_back_what_they_lose() {
    for (id, step) in [("zoh", 1e-3), ("zoh", 2.5e-4), ("foh", 5e-3), ("foh", 1e-3)] {
        let (plain, kept) = (losses(id, step).0, losses_of(corrected(id, step)).0);
        println!("{id} at {step}: loses {plain:.2e}, corrected {kept:.2e}");
        assert!(kept.abs() < 0.1 * plain.abs(), "{id} at {step}: {kept:e} of {plain:e}");
    }
}

#[test]
fn corrected_bonds_go_on_from_a_checkpoint_and_leave_other_methods_alone() {
    let run = |cut: bool| {
        let mut engine = Engine::new(corrected("foh", 5e-3)).unwrap();
        (0..57).for_each(|_| engine.step().unwrap());
        if cut {
            let saved = engine.save().unwrap();
            engine = Engine::new(corrected("foh", 5e-3)).unwrap();
            engine.load(&saved).unwrap();
        }
        (0..57).for_each(|_| engine.step().unwrap());
        engine.outputs().iter().map(|y| y.to_bits()).collect::<Vec<_>>()
    };
    assert_eq!(run(false), run(true));
    for id in ["predictive", "nepce", "iqn-ils", "identified"] {
        let mut engine = Engine::new(corrected(id, 5e-3)).unwrap();
        let mut plain = Engine::new(coupled(&lossless(), &Solver::Exact, &method(id), 1.0, 5e-3)).unwrap();
        assert!(engine.warnings().any(|warning| warning.contains("no power bond is corrected")), "{id}");
        engine.run_with(|_| Ok(Flow::Continue)).unwrap();
        plain.run_with(|_| Ok(Flow::Continue)).unwrap();
        assert_eq!(engine.outputs(), plain.outputs(), "{id}");
    }
}

#[test]
fn what_was_saved_goes_on() {
    let run = |cut: Option<u64>| {
        let (mut engine, mut bonds) = (engine("foh", 1e-3), BondWatch::new(spring()));
        bonds.look(&engine);
        while !engine.is_over() {
            engine.step().unwrap();
            bonds.look(&engine);
            if cut == Some(engine.k()) {
                let mut out = StateWriter::default();
                bonds.save(&mut out);
                let bytes = out.into_bytes();
                bonds = BondWatch::new(spring());
                bonds.load(&engine, &mut StateReader::new(&bytes)).unwrap();
            }
        }
        let row = &mut [0.0; 2];
        bonds.fill(row);
        (*row, bonds.energies().next().unwrap().1)
    };
    assert_eq!(run(None), run(Some(37)));
    let names: Vec<_> = BondWatch::new(spring()).columns().collect();
    assert_eq!(names, [("bond.spring.power".into(), "W"), ("bond.spring.energy_error".into(), "J")]);
}
