#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    costep_hostile::target("model_description").expect("a target").read(bytes);
});
