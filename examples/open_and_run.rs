//! Opens a built-in model (a project file, a folder or an .ssp works alike), runs it, and looks at verdict
//! and results.

use costep::{Run, System, Verdict};

pub(crate) fn main() -> Result<(), costep::Errors> {
    // Two masses, split at the spring between them.
    let system = System::open("dual-mass")?;
    println!("{}: {}", system.name(), system.outputs().join(", "));

    // `same`: measure against the whole system, solved as one by the same inner solver.
    let outcome = system.run(Run::new().method("predictive").reference("same"))?;
    assert_eq!(outcome.verdict(), Verdict::Stable);
    println!("error {:.1e}", outcome.report.errors.eps_mono.unwrap_or(f64::NAN));

    if let Some(results) = outcome.results {
        let x = results.output("s1.x")?;
        println!("{} points, x at the end {:.6} m", x.len(), x[x.len() - 1]);
    }
    Ok(())
}
