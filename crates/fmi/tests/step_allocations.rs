//! Steps of FMUs take no memory. A test binary of its own: its allocator counts.
#![cfg(unix)]
#![allow(unsafe_code)]

mod fmus;

use std::alloc::{GlobalAlloc, Layout, System as Heap};
use std::cell::Cell;

use costep_core::{Capable, Experiment, InputPolynomials, LocalModel, Subsystem};
use costep_integrate::Solver;
use fmus::{BOTH, build, build_exchange, exchange, instance};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

fn count() {
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

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

#[test]
fn steps_take_no_memory() {
    let run = Experiment { start: 0.0, stop: 10.0, step: 1e-4 };
    for fmi in BOTH {
        let library = build(fmi, "S2").load();
        let mut subsystem = instance(&library, "s2");
        let (mut y, mut model) = ([0.0; 3], LocalModel::new(2, 2, 3));
        let order = 1;
        let inputs = InputPolynomials::new(2, order);
        subsystem.initialise(&run).unwrap();
        subsystem.initial_outputs(&[0.0; 2], &mut y).unwrap();
        subsystem.rollback().unwrap().snapshot().unwrap();
        let before = ALLOCATIONS.get();
        for k in 0..10_000 {
            subsystem.step(run.interval(k), inputs.segment(0..2, order), &mut y).unwrap();
            subsystem.rollback().unwrap().snapshot().unwrap();
            subsystem.linearised().unwrap().local_model(&[0.0; 2], &mut model).unwrap();
            subsystem.rollback().unwrap().restore().unwrap();
        }
        assert_eq!(ALLOCATIONS.get() - before, 0, "{fmi:?}");
    }
}

#[test]
fn integrated_steps_take_no_memory() {
    let run = Experiment { start: 0.0, stop: 10.0, step: 1e-4 };
    for fmi in BOTH {
        // With events at every communication point, where the input jumps, and with local models of either origin.
        for plain in [false, true] {
            let library = build_exchange(fmi, "S2", plain, "").load_exchange();
            for solver in [Solver::Euler(1e-5), Solver::Rk4(2e-5), Solver::Dopri5(1e-6)] {
                let mut subsystem = exchange(&library, "s2", solver, &[]);
                let (mut y, mut model) = ([0.0; 3], LocalModel::new(2, 2, 3));
                let mut inputs = InputPolynomials::new(2, 1);
                subsystem.micro_recorder().unwrap().record(true, &run);
                subsystem.initialise(&run).unwrap();
                subsystem.initial_outputs(&[0.0; 2], &mut y).unwrap();
                subsystem.step(run.interval(0), inputs.segment(0..2, 1), &mut y).unwrap();
                subsystem.rollback().unwrap().snapshot().unwrap();
                let before = ALLOCATIONS.get();
                for k in 1..1_000 {
                    inputs.coefficients_mut(0)[0] = k as f64 * 1e-6;
                    subsystem.step(run.interval(k), inputs.segment(0..2, 1), &mut y).unwrap();
                    subsystem.rollback().unwrap().snapshot().unwrap();
                    subsystem.linearised().unwrap().local_model(&[0.0; 2], &mut model).unwrap();
                    subsystem.rollback().unwrap().restore().unwrap();
                }
                assert_eq!(ALLOCATIONS.get() - before, 0, "{fmi:?} {solver:?} {plain}");
                assert_eq!(subsystem.events().input, 999);
            }
        }
    }
}

/// `cargo test -p costep-fmi --release --test step_allocations -- --ignored --nocapture`
#[test]
#[ignore = "a measurement"]
fn time_of_a_step() {
    let run = Experiment { start: 0.0, stop: 1e3, step: 1e-3 };
    for fmi in BOTH {
        let library = build(fmi, "Lag").load();
        let mut subsystem = instance(&library, "lag");
        let inputs = InputPolynomials::new(1, 0);
        let mut y = [0.0];
        subsystem.initialise(&run).unwrap();
        subsystem.initial_outputs(&[0.0], &mut y).unwrap();
        let mut best = f64::INFINITY;
        // Pieces short enough to be left alone on a busy machine.
        for _ in 0..3_000 {
            let start = std::time::Instant::now();
            for k in 0..3_000 {
                subsystem.step(run.interval(k), inputs.segment(0..1, 0), &mut y).unwrap();
            }
            best = best.min(start.elapsed().as_secs_f64());
        }
        println!("{fmi:?}: {:.1} ns per step", best / 3_000.0 * 1e9);
    }
}
