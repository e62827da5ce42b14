//! The result depends neither on the number of threads nor on the order in which parts are listed.

use std::collections::BTreeMap;

use costep_core::{Connection, Description, MethodEntry};
use costep_engine::{Engine, Scheduling, System, Threads};
use costep_integrate::Solver;
use costep_methods::MethodSpec;
use costep_system::SystemDescription;

use crate::systems::{coupled, model};
use crate::toys::bits_after;
use crate::variants::variants;

const STEPS: usize = 100;

fn models() -> [SystemDescription; 2] {
    [model("chain", &[("n", 7.0)]), model("dual-mass", &[("ck", 1e4), ("dk", 1e2)])]
}

fn system(model: &SystemDescription, method: &MethodSpec) -> System {
    coupled(model, &Solver::Euler(1e-4), method, 1.0, 1e-3)
}

pub(crate) fn any_number_of_threads_gives_the_same_bits(entry: &'static MethodEntry) {
    threads_do_not_matter(&variants(entry));
}

/// The same for methods with options.
pub(crate) fn threads_do_not_matter(methods: &[MethodSpec]) {
    for model in models() {
        for method in methods {
            let run = |threads| {
                let threads = Threads::Fixed(threads);
                bits_after(&mut Engine::new(System { threads, ..system(&model, method) }).unwrap(), STEPS)
            };
            let alone = run(1);
            for threads in [2, 4] {
                assert!(run(threads) == alone, "{} on {threads} threads", method.label());
            }
        }
    }
}

/// The model with its parts in another order and its connections in reverse.
fn permuted(model: &SystemDescription, order: &[usize]) -> SystemDescription {
    let (old, parts) = (model.layout(), order.iter().map(|i| model.parts[*i].duplicate()).collect());
    let mut other = SystemDescription::new(parts, model.solver, model.experiment.stop, model.experiment.step);
    let new = other.layout();
    let place = |i: usize| order.iter().position(|old| *old == i).unwrap();
    let output = |y: usize| {
        let owner = old.output_owner(y);
        new.output_range(place(owner)).start + y - old.output_range(owner).start
    };
    let input = |u: usize| {
        let owner = old.input_owner(u);
        new.input_range(place(owner)).start + u - old.input_range(owner).start
    };
    let moved = |c: &Connection| Connection { output: output(c.output), input: input(c.input), ..*c };
    other.connections = model.connections.iter().rev().map(moved).collect();
    other.externals = model.externals.iter().map(|(u, signal)| (input(*u), signal.clone())).collect();
    other
}

/// Outputs and inputs by name, bit by bit.
fn named_bits(system: System) -> BTreeMap<String, Vec<u64>> {
    let mut engine = Engine::new(system).unwrap();
    let ports = |d: &Description| {
        let outputs: Vec<_> = d.outputs.iter().map(|port| format!("{}.{}", d.name, port.name)).collect();
        let inputs: Vec<_> = d.inputs.iter().map(|port| format!("{}.in.{}", d.name, port.name)).collect();
        (outputs, inputs)
    };
    let (outputs, inputs): (Vec<_>, Vec<_>) = engine.descriptions().iter().map(ports).unzip();
    let names: Vec<_> = outputs.concat().into_iter().chain(inputs.concat()).collect();
    let mut bits: BTreeMap<_, _> = names.iter().map(|name| (name.clone(), Vec::new())).collect();
    for _ in 0..STEPS {
        engine.step().unwrap();
        let values = engine.outputs().iter().chain(engine.coupled());
        names.iter().zip(values).for_each(|(name, y)| bits.get_mut(name).unwrap().push(y.to_bits()));
    }
    bits
}

pub(crate) fn the_order_of_parts_and_connections_does_not_matter(entry: &'static MethodEntry) {
    order_does_not_matter(&variants(entry));
}

/// The same for methods with options.
pub(crate) fn order_does_not_matter(methods: &[MethodSpec]) {
    for model in models() {
        let n = model.parts.len();
        let orders: [Vec<usize>; 3] = [
            (0..n).rev().collect(),
            (0..n).map(|i| (i + 1) % n).collect(),
            (0..n).map(|i| i * 3 % n).collect(),
        ];
        for method in methods {
            for scheduling in [Scheduling::Auto, Scheduling::Parallel, Scheduling::Sequential(vec![])] {
                let run = |model: &SystemDescription| {
                    let scheduling = scheduling.clone();
                    named_bits(System { scheduling, ..system(model, method) })
                };
                let listed = run(&model);
                for order in &orders {
                    let same = run(&permuted(&model, order)) == listed;
                    assert!(same, "{} in the order {order:?} under {scheduling:?}", method.label());
                }
            }
        }
    }
}
