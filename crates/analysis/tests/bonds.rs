//! Energy that is lost or made at power bonds, against energies that are known.

use costep_analysis::BondWatch;
use costep_conformance::systems::{coupled, method, model};
use costep_core::{Connection, PowerBond, StateReader, StateWriter};
use costep_engine::{Engine, Flow};
use costep_integrate::Solver;

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
