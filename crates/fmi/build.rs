//! Compiles the one function that Rust cannot express: a logger with a variable number of arguments.

fn main() {
    println!("cargo::rerun-if-changed=src/call/logger.c");
    cc::Build::new().file("src/call/logger.c").warnings(true).compile("costep_logger");
}
