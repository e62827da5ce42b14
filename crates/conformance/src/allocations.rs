//! No memory is taken while steps are done.

use costep_core::MethodEntry;
use costep_engine::{Engine, Scheduling, System};
use costep_integrate::Solver;

use crate::systems::{coupled, model};
use crate::variants::defaults;

/// Checks that a method takes no memory in the macro-step loop. `count` does work and gives how many
/// allocations this thread made meanwhile; whoever calls this has a global allocator that counts.
///
/// # Panics
///
/// If there are any.
pub fn check_allocations(entry: &'static MethodEntry, count: &mut dyn FnMut(&mut dyn FnMut()) -> u64) {
    let springs = [("c1", 1e4), ("c2", 2e4), ("ck", 1e3)];
    let damped = model("dual-mass", &[&springs[..], &[("d1", 100.0), ("d2", 100.0), ("dk", 10.0)]].concat());
    for solver in [Solver::Euler(2.5e-4), Solver::Rk4(5e-4), Solver::Dopri5(1e-6), Solver::Exact] {
        for scheduling in [Scheduling::Auto, Scheduling::Sequential(vec![])] {
            let system = coupled(&damped, &solver, &defaults(entry), 1e3, 1e-3);
            let mut engine = Engine::new(System { scheduling, ..system }).unwrap();
            // The first steps may still find out what they need.
            (0..100).for_each(|_| engine.step().unwrap());
            let allocations = count(&mut || (0..2000).for_each(|_| engine.step().unwrap()));
            assert_eq!(allocations, 0, "{} under {solver:?}", entry.id);
        }
    }
}
