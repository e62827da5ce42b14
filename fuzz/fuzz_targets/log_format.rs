#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    costep_hostile::target("log_format").expect("a target").read(bytes);
});
