//! The error differential equation of `prestep` with intermediate values, on a case with an exact answer.

use costep::{NativePart, Run, System};

/// a' = -10 a (1 + a^2) drives b' = a. Whatever `a` does inside the steps, b ends at int a dt = atan(a(0)) / 10.
fn cascade(step: f64) -> System {
    let source = NativePart::new("source", &[1.0])
        .output("a", "1", 1.0)
        .derivatives(|_, x, _, dx| dx[0] = -10.0 * x[0] * (1.0 + x[0] * x[0]))
        .outputs(|_, x, _, y| y[0] = x[0]);
    let sum = NativePart::new("sum", &[0.0])
        .input("u", "1", 1.0)
        .output("b", "s", 0.1)
        .derivatives(|_, _, u, dx| dx[0] = u[0])
        .outputs(|_, x, _, y| y[0] = x[0]);
    System::builder()
        .native(source)
        .native(sum)
        .connect("source.a", "sum.u")
        .solver("rk4:0.1ms")
        .stop(3.0)
        .step(step)
        .build()
        .unwrap()
}

fn end_error(method: &str, step: f64) -> f64 {
    let mut run = cascade(step).start(Run::new().method(method).reference("none")).unwrap();
    run.run_until(3.0).unwrap();
    (run.output("sum.b").unwrap() - 1f64.atan() / 10.0).abs()
}

/// eps drives delta of an integrator by its integral alone: with its mean delta is exact, and no error of an earlier step is
/// left. With a line through the ends of each step their quadrature error stays, and without the equation all errors do.
#[test]
fn intermediate_values_leave_no_error_behind() {
    for step in [0.05, 0.1] {
        let error = |options: &str| end_error(&format!("prestep:offsets=false{options}"), step);
        let [none, line, mean] = ["", ",ede=true", ",ede=true,ede_intermediate=true"].map(error);
        println!("step {step}: without {none:e}, line {line:e}, intermediate values {mean:e}");
        assert!(mean < 1e-7, "{step}: {mean:e}");
        assert!(line > 1e3 * mean && none > 1e3 * mean, "{step}: {none:e} {line:e} {mean:e}");
    }
}

/// The same with ramps, and at communication points where subsystems give no intermediate values it is the line.
#[test]
fn ramps_have_their_own_mean() {
    let error = end_error("prestep:offsets=false,input=ramp,ede=true,ede_intermediate=true", 0.05);
    assert!(error < 1e-7, "{error:e}");
}

/// A run that goes on from a checkpoint has the bits of one that went through.
#[test]
fn the_mean_survives_a_snapshot() {
    let method = "prestep:ede=true,ede_intermediate=true";
    let mut run = cascade(0.05).start(Run::new().method(method).reference("none")).unwrap();
    run.run_until(0.2).unwrap();
    let snapshot = run.snapshot().unwrap();
    run.run_until(0.4).unwrap();
    let b = run.output("sum.b").unwrap();
    run.restore(&snapshot).unwrap();
    run.run_until(0.4).unwrap();
    assert_eq!(run.output("sum.b").unwrap().to_bits(), b.to_bits());
}
