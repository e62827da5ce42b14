//! A fixed number of hostile inputs from a fixed seed, for every reader, and what was found before.

use std::path::Path;

use costep_hostile::{Random, TARGETS, target};

/// Enough that all kinds of changes meet all seeds; the program of this crate reads millions.
const INPUTS: usize = 4000;

fn survives(name: &str) {
    let target = target(name).expect("a target");
    let (seeds, mut random) = (target.seeds(), Random::new(20));
    assert!(!seeds.is_empty());
    let accepted = (0..INPUTS).filter(|_| target.read(&target.input(&seeds, &mut random))).count();
    // Where everything is refused at the door, nothing behind it is tested.
    assert!(accepted > 0 && accepted < INPUTS, "{accepted} of {INPUTS}");
}

macro_rules! survivals {
    ($($name:ident)*) => {
        $(#[test] fn $name() { survives(stringify!($name)); })*

        #[test]
        fn every_target_is_here() {
            assert!(TARGETS.iter().map(|target| target.name).eq([$(stringify!($name)),*]));
        }
    };
}

survivals! { archive fmu model_description ssp parameters systems project identified_models table recording checkpoint unit log_format }

/// Inputs that a reader did not survive once: `fuzz/regressions/TARGET/...`.
#[test]
fn what_was_found_before_is_survived() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/regressions");
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let target = target(entry.file_name().to_str().expect("a name")).expect("a target");
        for file in std::fs::read_dir(entry.path()).into_iter().flatten().flatten() {
            target.read(&std::fs::read(file.path()).expect("a file"));
        }
    }
}
