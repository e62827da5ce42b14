//! Couples two FMUs: `cargo run -p costep --example fmus -- left.fmu right.fmu left.x right.x right.F
//! left.F`, where pairs of an output and an input follow the files. `costep export-fmu dual-mass --out DIR`
//! makes FMUs to try.

use costep::{Run, System};

pub(crate) fn main() -> Result<(), costep::Errors> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [left, right, signals @ ..] = &arguments[..] else {
        println!("usage: fmus LEFT.fmu RIGHT.fmu [OUTPUT INPUT]...");
        return Ok(());
    };
    let mut builder = System::builder().fmu("left", left).fmu("right", right).stop(1.0).step(1e-3);
    for pair in signals.chunks_exact(2) {
        builder = builder.connect(&pair[0], &pair[1]);
    }
    let outcome = builder.build()?.run(Run::new())?;
    println!("{:?}", outcome.verdict());
    if let Some(results) = outcome.results {
        for name in results.names() {
            println!("{name} at the end: {:?}", results.output(name)?.last());
        }
    }
    Ok(())
}
