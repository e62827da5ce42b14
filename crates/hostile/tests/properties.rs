//! A fixed number of hostile inputs from a fixed seed, for every reader, and what was found before.

use std::path::{Path, PathBuf};

use costep_hostile::{Random, TARGETS, Tally, target};

/// Enough that all kinds of changes meet all seeds; the program of this crate reads millions.
const INPUTS: usize = 2500;

fn survives(name: &str) {
    let target = target(name).expect("a target");
    let (seeds, words, mut random) = (target.seeds(), target.words(), Random::new(20));
    assert!(!seeds.is_empty());
    for seed in &seeds {
        target.read(seed);
    }
    let accepted =
        (0..INPUTS).filter(|_| target.read(&target.input(&seeds, &words, &mut random)).accepted).count();
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

survivals! {
    archive xml fmu model_description_1 model_description_2 model_description_3 ssp ssd ssv ssm osp mastersim multi_model
    project identified_models table recording checkpoint unit log_format
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Inputs that a reader did not survive once: `fuzz/regressions/TARGET/...`.
#[test]
fn what_was_found_before_is_survived() {
    for entry in std::fs::read_dir(root().join("fuzz/regressions")).into_iter().flatten().flatten() {
        let target = target(entry.file_name().to_str().expect("a name")).expect("a target");
        for file in std::fs::read_dir(entry.path()).into_iter().flatten().flatten() {
            target.read(&std::fs::read(file.path()).expect("a file"));
        }
    }
}

#[test]
fn the_table_of_the_document_is_that_of_the_tally() {
    let document = std::fs::read_to_string(root().join("docs/reliability.md")).expect("docs/reliability.md");
    let table = Tally::open(&root()).table();
    assert!(document.contains(&table), "cargo xtask fuzz --table prints\n{table}");
}
