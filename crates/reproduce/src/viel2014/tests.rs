//! Errors of the nonlinear lines over all of their two seconds, against those of an independent prototype in Python.

use super::runs::Lines;

#[test]
fn errors_of_the_pressure_are_those_of_the_prototype_or_less() {
    let lines = Lines::new(false).unwrap();
    let rms = |method: &str, step_us: usize| {
        let rms = lines.run(method, step_us).unwrap().rms[0];
        println!("{method} at {step_us} us: {rms} Pa");
        rms
    };
    assert!(rms("lis", 50) <= 1.5);
    // What FMUs for Co-Simulation can take.
    assert!(rms("predictive:order=2", 50) <= 5.0);
    for (method, step_us, prototype) in
        [("lis:form=rate", 50, 723.0), ("lis:form=value,implicitness=0.5", 50, 889.0), ("zoh", 1, 3630.0)]
    {
        let ratio = rms(method, step_us) / prototype;
        assert!((ratio - 1.0).abs() <= 0.1, "{method}: {ratio} times the error of the prototype");
    }
}
