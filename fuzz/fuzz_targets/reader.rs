//! Any reader under libFuzzer: `COSTEP_HOSTILE` names the target. `cargo xtask fuzz --coverage` builds and runs it on the
//! stable toolchain; `COSTEP_HOSTILE=xml cargo +nightly fuzz run reader` works as well.
#![no_main]

use std::sync::LazyLock;

use costep_hostile::{Random, Target, target};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

static TARGET: LazyLock<(&Target, Vec<&str>)> = LazyLock::new(|| {
    let name = std::env::var("COSTEP_HOSTILE").expect("the name of a target in COSTEP_HOSTILE");
    let target = target(&name).expect("a target");
    (target, target.words())
});

fuzz_target!(|bytes: &[u8]| {
    TARGET.0.read(bytes);
});

// Every second change knows of entries of archives, elements and attributes.
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if seed % 2 == 0 {
        return fuzzer_mutate(data, size, max_size);
    }
    let (target, words) = &*TARGET;
    let changed = target.changed(&data[..size], words, &mut Random::new(seed.into()));
    let length = changed.len().min(max_size);
    data[..length].copy_from_slice(&changed[..length]);
    length
});
