//! Tries every order of events in what threads and processes of costep wait for each other with: the gate of the thread pool
//! and the bells of isolated FMUs. The files of the program are compiled here as they are, over types of `loom`, which also
//! has old values seen where the memory model allows it. `cargo test --release`; `cargo xtask sanitize` runs it.
#![cfg(test)]

#[path = "../../crates/engine/src/gate.rs"]
mod gate;
mod isolated;
mod sync;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering::Relaxed};
use loom::thread;

use gate::Gate;
use isolated::bell::Bell;

/// A pool of this many workers does jobs: every piece of each is done once, by a thread that sees the task of this job, before
/// the owner goes on; and all workers end.
fn pool(workers: usize, jobs: u32) {
    const PIECES: usize = 2;
    let take_part = |gate: &Gate<u32>, done: &[AtomicU32; PIECES], task: u32| {
        while let Some(piece) = done.get(gate.take(1)) {
            // Not atomic together: done twice, it would count wrong.
            assert_eq!(piece.load(Relaxed), task - 1, "a piece is done once in each job");
            piece.store(task, Relaxed);
        }
    };
    let gate = Arc::new(Gate::new(workers, 0));
    let done = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
    let start = |index| {
        let (gate, done) = (Arc::clone(&gate), Arc::clone(&done));
        thread::spawn(move || gate.serve(index, |task| take_part(&gate, &done, task)))
    };
    let handles: Vec<_> = (0..workers).map(start).collect();
    let threads: Vec<_> = handles.iter().map(|handle| handle.thread().clone()).collect();
    for job in 1..=jobs {
        // SAFETY: the only job at a time, of a task that points to nothing.
        let opened = unsafe { gate.open(job, threads.iter()) };
        take_part(&gate, &done, job);
        drop(opened);
        assert!(
            done.iter().all(|piece| piece.load(Relaxed) == job),
            "all is done and seen at the end of a job"
        );
    }
    gate.end();
    for (handle, thread) in handles.into_iter().zip(threads) {
        thread.unpark();
        handle.join().unwrap();
    }
}

/// All orders with up to three switches away from threads that could have gone on: every order takes days.
fn up_to_three_switches(check: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(check);
}

#[test]
fn one_worker_does_two_jobs() {
    up_to_three_switches(|| pool(1, 2));
}

#[test]
fn two_workers_do_a_job() {
    up_to_three_switches(|| pool(2, 1));
}

#[test]
fn requests_and_answers_arrive_with_what_was_written_before() {
    loom::model(|| {
        let post = Arc::new((Bell::new(), Bell::new(), AtomicU32::new(0), AtomicU32::new(0)));
        let other = Arc::clone(&post);
        let worker = thread::spawn(move || {
            let (request, answer, question, reply) = &*other;
            let mut last = 0;
            for _ in 0..2 {
                last = request.next(last);
                reply.store(question.load(Relaxed) + 1, Relaxed);
                answer.ring(last);
            }
        });
        let (request, answer, question, reply) = &*post;
        for _ in 0..2 {
            let turn = request.number() + 1;
            question.store(10 * turn, Relaxed);
            request.ring(turn);
            while !answer.has_rung(turn, std::time::Duration::MAX) {}
            assert_eq!(reply.load(Relaxed), 10 * turn + 1);
        }
        worker.join().unwrap();
    });
}
