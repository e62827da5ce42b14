//! Runs many variants of a system on several threads: systems, simulations and outcomes are `Send`.

use std::thread;

use costep::{Outcome, Run, System};

fn variant(stiffness: f64) -> Result<Outcome, costep::Errors> {
    let system = System::opening("dual-mass").set("ck", stiffness.to_string()).open()?;
    Ok(system.run(Run::new().method("predictive").reference("same"))?)
}

pub(crate) fn main() -> Result<(), costep::Errors> {
    let runs: Vec<_> =
        [1e4, 1e5, 1e6].into_iter().map(|ck| (ck, thread::spawn(move || variant(ck)))).collect();
    for (stiffness, run) in runs {
        let Ok(outcome) = run.join() else { continue };
        let report = outcome?.report;
        println!(
            "{stiffness:e} N/m: {:?}, error {:.1e}",
            report.verdict,
            report.errors.eps_mono.unwrap_or(f64::NAN)
        );
    }
    Ok(())
}
