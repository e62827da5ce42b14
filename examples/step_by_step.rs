//! Takes a run macro step by macro step, reads signals by name, goes back to an earlier state and on again.

use costep::{Run, System};

pub(crate) fn main() -> Result<(), costep::Errors> {
    let system = System::open("dual-mass")?;
    let mut simulation = system.start(Run::new().method("predictive").step(1e-3))?;
    simulation.run_until(0.01)?;
    let snapshot = simulation.snapshot()?;

    for _ in 0..5 {
        simulation.step()?;
        let (x, force) = (simulation.output("s1.x")?, simulation.input("s1.F")?);
        println!("{:.3} s   x {x:+.6} m   F {force:+.3} N", simulation.time());
    }
    let x = simulation.output("s1.x")?;

    simulation.restore(&snapshot)?;
    simulation.run_until(0.015)?;
    assert_eq!(simulation.output("s1.x")?, x, "the same run, to the last bit");

    let outcome = simulation.complete()?;
    println!("{:?} at {} s", outcome.verdict(), outcome.to);
    Ok(())
}
