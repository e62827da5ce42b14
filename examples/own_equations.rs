//! Writes the equations of two parts as closures: a mass that is pushed, and a spring that pushes back.

use costep::{NativePart, Run, System};

pub(crate) fn main() -> Result<(), costep::Errors> {
    let mass = NativePart::new("mass", &[0.1, 0.0])
        .input("force", "N", 10.0)
        .output("x", "m", 0.1)
        .output("v", "m/s", 1.0)
        .derivatives(|_, x, u, dx| {
            dx[0] = x[1];
            dx[1] = u[0] / 2.0;
        })
        .outputs(|_, x, _, y| y.copy_from_slice(x));
    // No states: the force follows directly from the inputs.
    let spring = NativePart::new("spring", &[])
        .input("x", "m", 0.1)
        .input("v", "m/s", 1.0)
        .output_of("force", "N", 10.0, &["x", "v"])
        .outputs(|_, _, u, y| y[0] = -200.0 * u[0] - 1.0 * u[1]);
    let system = System::builder()
        .native(mass)
        .native(spring)
        .connect("mass.x", "spring.x")
        .connect("mass.v", "spring.v")
        .connect("spring.force", "mass.force")
        .stop(3.0)
        .step(0.05)
        .build()?;
    for method in ["zoh", "foh", "predictive"] {
        let report = system.run(Run::new().method(method).reference("same"))?.report;
        println!(
            "{method:>10}: {:?}, error {:.1e}",
            report.verdict,
            report.errors.eps_mono.unwrap_or(f64::NAN)
        );
    }
    Ok(())
}
