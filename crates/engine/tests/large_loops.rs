//! Large systems take other ways through the model-based methods than small ones, and arrive at the same place.

use costep_conformance::systems::{coupled, method, model};
use costep_core::{Connection, InputSet, Layout};
use costep_engine::{Engine, Group, System};
use costep_integrate::Solver;
use costep_system::SystemDescription;

const H: f64 = 1e-3;
const STOP: f64 = 0.4;

fn chain(masses: usize) -> SystemDescription {
    model("chain", &[("n", masses as f64), ("k", 1e3), ("kg", 2e3)])
}

/// Outputs of the first chain over a run of chains that have nothing to do with each other.
fn outputs(chains: &[usize], label: &str) -> Vec<Vec<f64>> {
    let (solver, method) = (Solver::Rk4(1e-4), method(label));
    let mut system = coupled(&chain(chains[0]), &solver, &method, STOP, H);
    for masses in &chains[1..] {
        let (model, layout) = (chain(*masses), Layout::of(&descriptions(&system)));
        let shifted = |c: &Connection| Connection {
            input: c.input + layout.inputs(),
            output: c.output + layout.outputs(),
            gain: c.gain,
        };
        system.subsystems.extend(model.parts.iter().map(|part| part.subsystem(&solver).unwrap()));
        system.connections.extend(model.connections.iter().map(shifted));
        system.externals.extend(model.externals.iter().map(|(j, r)| (j + layout.inputs(), r.clone())));
    }
    let inputs = Layout::of(&descriptions(&system)).inputs();
    system.groups = vec![Group { method: method.build(), inputs: InputSet::All(inputs) }];
    let mut engine = Engine::new(system).unwrap();
    let first = chain(chains[0]).layout().outputs();
    let mut rows = Vec::new();
    while engine.time() < STOP - 0.5 * H {
        engine.step().unwrap();
        rows.push(engine.outputs()[..first].to_vec());
    }
    rows
}

fn descriptions(system: &System) -> Vec<costep_core::Description> {
    system.subsystems.iter().map(|subsystem| subsystem.description().clone()).collect()
}

/// Largest difference of each output, relative to its range; the worst of all.
fn difference(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    let column = |rows: &[Vec<f64>], j: usize| rows.iter().map(|row| row[j]).collect::<Vec<_>>();
    let worst = (0..a[0].len()).map(|j| {
        let (a, b) = (column(a, j), column(b, j));
        let range = a.iter().copied().fold(f64::MIN, f64::max) - a.iter().copied().fold(f64::MAX, f64::min);
        a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / range
    });
    worst.fold(0.0, f64::max)
}

/// With a second chain beside it the system has too many outputs for a dense closed loop.
#[test]
fn the_sparse_closed_loop_of_prestep_predicts_what_the_dense_one_does() {
    for options in ["", ":ede=true", ":input=ramp", ":modified=true", ":offsets=false"] {
        let method = format!("prestep{options}");
        let (dense, sparse) = (outputs(&[9], &method), outputs(&[9, 24], &method));
        let difference = difference(&dense, &sparse);
        println!("{method}: {difference:.1e}");
        assert!(difference < 1e-4, "{method}: {difference}");
        assert!(difference > 0.0, "{method}: both took the same way");
    }
}

/// Interface systems of large loops are factored in blocks.
#[test]
fn other_methods_do_not_feel_a_second_chain() {
    for method in ["mbcorr", "predictive", "feedthrough"] {
        let (alone, beside) = (outputs(&[9], method), outputs(&[9, 24], method));
        assert!(difference(&alone, &beside) < 1e-12, "{method}");
    }
}

#[test]
fn euler_in_a_large_closed_loop_is_refused() {
    let system = coupled(&chain(50), &Solver::Rk4(1e-4), &method("prestep:extrapolation=euler"), STOP, H);
    let error = Engine::new(system).err().expect("the closed loop is not one matrix");
    assert!(error.to_string().contains("99 outputs"), "{error}");
}
