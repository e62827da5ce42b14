//! Methods and steps side by side, measured against the whole system solved as one.

use costep::{Comparison, System};

pub(crate) fn main() -> Result<(), costep::Errors> {
    let system = System::open("dual-mass")?;
    let methods = ["zoh", "foh", "nepce", "predictive", "predictive:order=1"];
    let comparison = methods.into_iter().fold(Comparison::new(), Comparison::method);
    let compared = system.compare(&comparison.steps(&[1e-3, 5e-3]))?;
    for report in &compared.reports {
        let error = report.errors.eps_mono.map_or("-".into(), |error| format!("{error:.1e}"));
        println!("{:>20} at {} s   {:?}   {error}", report.method, report.step, report.verdict);
    }
    Ok(())
}
