//! The macro-step loop takes no memory, for any method. A test binary of its own: its allocator counts.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System as Heap};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use costep_conformance::systems::{coupled, model};
use costep_core::{
    Connection, EnvironmentStep, InputSegment, Interval, PowerBond, Result, StepOutcome, Subsystem, Wrapper,
};
use costep_engine::{CONTROLS, ControlSpec, Engine, Scheduling, System, Threads};
use costep_ident::sources::Sources;
use costep_integrate::Solver;
use costep_integrate::multistep::{AtPoint, Family};
use costep_methods::{METHODS, MethodSpec};
use costep_system::SystemDescription;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Whether this thread has stepped a subsystem. The threads of the test runner take memory whenever they like.
    static STEPS: Cell<bool> = const { Cell::new(false) };
}

fn count() {
    if STEPS.try_with(Cell::get).unwrap_or(false) {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    }
}

/// A subsystem that marks the threads which step it.
struct Marking(Box<dyn Subsystem>);

impl Wrapper for Marking {
    fn inner(&self) -> &dyn Subsystem {
        &*self.0
    }

    fn inner_mut(&mut self) -> &mut dyn Subsystem {
        &mut *self.0
    }

    fn step(&mut self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        STEPS.set(true);
        self.0.step(interval, u, y)
    }

    fn environment(&mut self) -> Option<&mut dyn EnvironmentStep> {
        STEPS.set(true);
        self.0.environment()
    }
}

struct Counting;

// SAFETY: everything is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: by the contract of this function.
        unsafe { Heap.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: by the contract of this function.
        unsafe { Heap.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: by the contract of this function.
        unsafe { Heap.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Exact steps take memory for their maps at first use, and `identified` begins with steps of another length.
const WARM_UP: usize = 100;

/// Allocations on all threads in many macro steps.
fn allocations(mut system: System, steps: usize) -> u64 {
    let mark = |subsystem| -> Box<dyn Subsystem> { Box::new(Marking(subsystem)) };
    system.subsystems = system.subsystems.into_iter().map(mark).collect();
    let mut engine = Engine::new(system).unwrap();
    for _ in 0..WARM_UP {
        engine.step().unwrap();
    }
    let before = ALLOCATIONS.load(Ordering::SeqCst);
    for _ in 0..steps {
        engine.step().unwrap();
    }
    ALLOCATIONS.load(Ordering::SeqCst) - before
}

/// The same for steps that vary, while they do.
fn allocations_of_control(mut system: System, spec: &ControlSpec, bonds: &[PowerBond], steps: usize) -> u64 {
    let mark = |subsystem| -> Box<dyn Subsystem> { Box::new(Marking(subsystem)) };
    system.subsystems = system.subsystems.into_iter().map(mark).collect();
    let control = spec.build(&system.experiment, bonds);
    let mut engine = Engine::with_control(system, control).unwrap();
    for _ in 0..WARM_UP {
        engine.step().unwrap();
    }
    let before = ALLOCATIONS.load(Ordering::SeqCst);
    for _ in 0..steps {
        engine.step().unwrap();
    }
    ALLOCATIONS.load(Ordering::SeqCst) - before
}

fn damped() -> SystemDescription {
    let springs = [("c1", 1e4), ("c2", 2e4), ("ck", 1e3)];
    model("dual-mass", &[&springs[..], &[("d1", 100.0), ("d2", 100.0), ("dk", 10.0)]].concat())
}

fn system(method: &MethodSpec, solver: &Solver, threads: usize) -> System {
    let threads = Threads::Fixed(threads);
    System { threads, ..coupled(&damped(), solver, method, 1e3, 1e-3) }
}

// One test only: another one at the same time would be counted too.
#[test]
fn no_method_takes_memory_in_the_loop() {
    let euler = Solver::Euler(2.5e-4);
    for entry in METHODS {
        let method = MethodSpec::of(entry, vec![]).unwrap();
        // Fewer steps on two threads: on a busy machine each of them waits for the scheduler.
        for (threads, steps) in [(1, 100_000), (2, 5_000)] {
            assert_eq!(allocations(system(&method, &euler, threads), steps), 0, "{}", entry.id);
        }
        let bdf = Solver::Multistep(Family::Bdf, 1e-6, AtPoint::CorrectSecond);
        for solver in [Solver::Rk4(5e-4), Solver::Dopri5(1e-6), Solver::Exact, bdf] {
            let count = allocations(system(&method, &solver, 1), 2_000);
            assert_eq!(count, 0, "{} under {solver:?}", entry.id);
        }
        let one_by_one = System { scheduling: Scheduling::Sequential(vec![]), ..system(&method, &euler, 1) };
        assert_eq!(allocations(one_by_one, 2_000), 0, "{} one by one", entry.id);
        if entry.options.iter().any(|option| option.name == "smooth") {
            let smooth = MethodSpec::parse(&format!("{}:smooth=true", entry.id)).unwrap();
            assert_eq!(allocations(system(&smooth, &euler, 1), 2_000), 0, "{}", smooth.label());
        }
        let takes = |id: &str| {
            method.uses_models()
                && Sources::standard().of_kinds(entry.models).iter().any(|source| source.id == id)
        };
        if takes("probe") {
            // Renewals take memory: the number of states is not known before.
            let probe = MethodSpec::parse(&format!("{}:source=probe", entry.id)).unwrap();
            assert_eq!(allocations(system(&probe, &euler, 1), 2_000), 0, "{}", probe.label());
        }
        if takes("rls") {
            for source in ["rls", "ij-rls", "moesp,interval=3,window=40", "ij-rls,samples=4"] {
                let phases = if entry.papers.is_some() { ",learning=30" } else { "" };
                let text = format!("{}:source={source}{phases}", entry.id);
                let learnt = MethodSpec::parse(&text).unwrap();
                assert_eq!(allocations(system(&learnt, &euler, 1), 2_000), 0, "{text}");
            }
        }
    }
    let ends = |output, input| Connection { output, input, gain: 1.0 };
    let bonds = [PowerBond { name: "spring".into(), connections: [ends(1, 2), ends(2, 0)] }];
    for control in CONTROLS.iter().filter(|control| control.takes_tolerance) {
        for id in ["zoh", "foh", "nepce", "predictive"] {
            let method = costep_conformance::systems::method(id);
            let spec = ControlSpec { max: 1e-3, ..ControlSpec::new(control, 1e-4, 1e3) };
            let spec = ControlSpec { min: 1e-6, ..spec };
            let system = system(&method, &Solver::Dopri5(1e-6), 1);
            let count = allocations_of_control(system, &spec, &bonds, 2_000);
            assert_eq!(count, 0, "{id} under {}", control.id);
        }
    }
    // The time is so large that its round-off shows in the length of the steps.
    for solver in [Solver::Euler(1e-5), Solver::Exact] {
        let mut late = system(&costep_conformance::systems::method("nepce"), &solver, 1);
        (late.experiment.start, late.experiment.stop) = (1e6, 2e6);
        assert_eq!(allocations(late, 2_000), 0, "late under {solver:?}");
    }
}
