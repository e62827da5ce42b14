//! Neighbouring FMUs of one library are really stepped in rounds, as far as the outside can see: a round is shown in a slot
//! of its own, and the slots of its members rest. Alone in its file: the slots of a process are handed in once.
#![cfg(unix)]

mod fmus;

use std::sync::atomic::AtomicU32;

use costep_core::{Connection, Experiment, InputSet, Subsystem};
use costep_engine::{Engine, Group, Scheduling, System, Threads};
use costep_fmi::CoSimulationSubsystem;
use costep_fmi::trace::{self, SlotData};
use costep_methods::MethodSpec;
use fmus::{Fmi, build, options};

const STEPS: usize = 5000;
const COUNT: usize = 3;

/// A ring of instances of one FMU on one thread.
fn ring() -> Engine {
    let library = build(Fmi::V2, "Lag").load();
    let instance = |i: usize| -> Box<dyn Subsystem> {
        let parameters = options(&[("x0", i as f64)]);
        Box::new(CoSimulationSubsystem::new(&library, &format!("lag{i}"), &parameters).unwrap())
    };
    Engine::new(System {
        subsystems: (0..COUNT).map(instance).collect(),
        connections: (0..COUNT)
            .map(|i| Connection { output: (i + 1) % COUNT, input: i, gain: 1.0 })
            .collect(),
        groups: vec![Group {
            method: MethodSpec::parse("zoh").unwrap().build(),
            inputs: InputSet::All(COUNT),
        }],
        models: Box::new(costep_ident::Exact::new(1)),
        externals: Vec::new(),
        scheduling: Scheduling::Parallel,
        bounds: Vec::new(),
        experiment: Experiment { start: 0.0, stop: 1e3, step: 1e-3 },
        threads: Threads::Fixed(1),
        micro_samples: false,
    })
    .unwrap()
}

#[test]
fn neighbours_of_one_library_are_stepped_in_rounds() {
    static USED: AtomicU32 = AtomicU32::new(0);
    let slots: &[SlotData] = Box::leak((0..32).map(|_| SlotData::new()).collect());
    assert!(trace::show(slots, &USED));
    let mut engine = ring();
    let (members, others): (Vec<&SlotData>, Vec<&SlotData>) =
        slots.iter().partition(|slot| slot.name().starts_with("lag"));
    assert_eq!(members.len(), COUNT);
    let words = |of: &[&SlotData]| -> Vec<u64> { of.iter().map(|slot| slot.read(slots).word).collect() };
    let (mut rounds, mut alone) = (0, 0);
    for _ in 0..STEPS {
        let before = (words(&members), words(&others));
        engine.step().unwrap();
        let after = (words(&members), words(&others));
        // Either all members show calls, or none does and the batch shows a round.
        let calls = before.0.iter().zip(&after.0).filter(|(before, after)| before != after).count();
        let of_batch = before.1.iter().zip(&after.1).filter(|(before, after)| before != after).count();
        match (calls, of_batch) {
            (0, 1) => rounds += 1,
            (COUNT, 0) => alone += 1,
            other => panic!("step {}: {other:?}", engine.k()),
        }
    }
    // Steps that are timed, some of the first and few of the others, are done one by one.
    assert!(alone > 0 && rounds > STEPS / 2, "{rounds} rounds, {alone} steps one by one");
}
