//! `cargo xtask sanitize [PART]`: what `unsafe` code, C code and threads may do wrong without a test that fails. Parts are
//! `address`, `thread`, `miri` (each needs a nightly toolchain with `rust-src` and `miri`) and `orders`.

use std::process::Command;

/// Where sanitizers are.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// A tool and what it is run on.
struct Part {
    name: &'static str,
    /// What it looks at.
    covers: &'static str,
    /// What it does not, and why.
    leaves_out: &'static str,
    arguments: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
}

const PARTS: [Part; 4] = [
    Part {
        name: "address",
        covers: "AddressSanitizer and LeakSanitizer: all tests of the calls into FMUs with the fault FMUs (costep-fmi), of shared \
                 memory, pages and mailboxes (costep-supervise), of the engine with batches and threads, of recordings",
        leaves_out: "the FMUs themselves are not instrumented, but all memory that they take is; crashes that tests are about stay \
                     signals; what is leaked on purpose is in xtask/sanitize/leak.supp",
        arguments: &[
            "+nightly",
            "test",
            "--no-fail-fast",
            "--target",
            TARGET,
            "--target-dir",
            "target/sanitize/address",
            "--lib",
            "--tests",
            "-p",
            "costep-fmi",
            "-p",
            "costep-supervise",
            "-p",
            "costep-engine",
            "-p",
            "costep-results",
        ],
        environment: &[
            ("RUSTFLAGS", "-Zsanitizer=address"),
            (
                "ASAN_OPTIONS",
                "handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:use_sigaltstack=0:\
                 detect_stack_use_after_return=1:allocator_may_return_null=1:suppressions=ROOT/xtask/sanitize/address.supp",
            ),
            ("LSAN_OPTIONS", "suppressions=ROOT/xtask/sanitize/leak.supp"),
        ],
    },
    Part {
        name: "thread",
        covers: "ThreadSanitizer, with a standard library that is built for it: the thread pool and batches of the engine, \
                 FMUs that are stepped in rounds, slots, pages, mailboxes and voices of costep-supervise",
        leaves_out: "the thread that writes recordings: it is given what it writes by a channel, without `unsafe`; processes \
                     that share memory, of which it sees one",
        arguments: &[
            "+nightly",
            "test",
            "--no-fail-fast",
            "-Zbuild-std",
            "--target",
            TARGET,
            "--target-dir",
            "target/sanitize/thread",
            "-p",
            "costep-engine",
            "-p",
            "costep-fmi",
            "-p",
            "costep-supervise",
            "--lib",
            "--test",
            "batches",
            "--test",
            "rounds",
        ],
        environment: &[
            ("RUSTFLAGS", "-Zsanitizer=thread"),
            ("TSAN_OPTIONS", "halt_on_error=1:suppressions=ROOT/xtask/sanitize/thread.supp"),
        ],
    },
    Part {
        name: "miri",
        covers: "Miri, four orders of threads: the thread pool with a panic, a failure, a NaN and successes",
        leaves_out: "calls into FMUs and shared memory: they are C and system calls, which Miri does not run; leaks: the payload of a panic is one on purpose",
        arguments: &[
            "+nightly",
            "miri",
            "test",
            "--target-dir",
            "target/sanitize/miri",
            "-p",
            "costep-engine",
            "--test",
            "batches",
            "threads",
        ],
        environment: &[("MIRIFLAGS", "-Zmiri-disable-isolation -Zmiri-ignore-leaks -Zmiri-many-seeds=0..4")],
    },
    Part {
        name: "orders",
        covers: "loom: gate of the thread pool, bells of isolated FMUs, in every order of events with up to three switches of threads",
        leaves_out: "everything else: it would take too long",
        arguments: &[
            "test",
            "--release",
            "--manifest-path",
            "interleavings/Cargo.toml",
            "--target-dir",
            "target/interleavings",
        ],
        environment: &[],
    },
];

/// Runs all parts, or the one that is named.
pub(crate) fn run(wanted: Option<&str>) -> bool {
    let parts: Vec<&Part> =
        PARTS.iter().filter(|part| wanted.is_none_or(|wanted| wanted == part.name)).collect();
    if parts.is_empty() {
        let names: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
        eprintln!("xtask: usage: cargo xtask sanitize [{}]", names.join(" | "));
    }
    // All are run, also after one that finds something.
    !parts.is_empty() && parts.into_iter().filter(|part| !part.run()).count() == 0
}

impl Part {
    fn run(&self) -> bool {
        println!("xtask: {}: {}", self.name, self.covers);
        println!("xtask: {}: left out: {}", self.name, self.leaves_out);
        println!("xtask: cargo {}", self.arguments.join(" "));
        let root = std::env::current_dir().unwrap_or_default().display().to_string();
        let mut command = Command::new("cargo");
        // Cargo tells the one that it starts which toolchain it is itself.
        command.args(self.arguments).env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO");
        command.envs(self.environment.iter().map(|(name, value)| (name, value.replace("ROOT", &root))));
        let passed = command.status().is_ok_and(|status| status.success());
        println!("xtask: {}: {}", self.name, if passed { "nothing found" } else { "FAILED" });
        passed
    }
}
