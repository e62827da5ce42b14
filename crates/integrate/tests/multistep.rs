//! The multistep solver on problems whose solutions are known.

use costep_core::{Code, Error, Result, StateReader, StateWriter};
use costep_integrate::multistep::{Failure, Family, Multistep, Reason, RightHandSide, Settings};
use costep_linalg::Matrix;

/// Equations from closures, with or without a Jacobian.
struct Problem<F, J> {
    f: F,
    jacobian: Option<J>,
}

impl<F: Fn(f64, &[f64], &mut [f64]), J: Fn(f64, &[f64], &mut [f64])> RightHandSide for Problem<F, J> {
    fn derivatives(&mut self, t: f64, x: &[f64], x_dot: &mut [f64]) -> Result<()> {
        (self.f)(t, x, x_dot);
        Ok(())
    }
    fn jacobian(&mut self, t: f64, x: &[f64], jacobian: &mut Matrix) -> Result<bool> {
        let Some(exact) = &self.jacobian else { return Ok(false) };
        exact(t, x, jacobian.data_mut());
        Ok(true)
    }
}

type NoJacobian = fn(f64, &[f64], &mut [f64]);

fn by_differences<F: Fn(f64, &[f64], &mut [f64])>(f: F) -> Problem<F, NoJacobian> {
    Problem { f, jacobian: None }
}

fn solver(family: Family, relative: f64, absolute: &[f64]) -> Multistep {
    Multistep::new(Settings::new(family, relative, absolute.to_vec()))
}

fn robertson(_: f64, x: &[f64], f: &mut [f64]) {
    f[0] = -0.04 * x[0] + 1e4 * x[1] * x[2];
    f[2] = 3e7 * x[1] * x[1];
    f[1] = -f[0] - f[2];
}

fn robertson_jacobian(_: f64, x: &[f64], j: &mut [f64]) {
    let (a, b, c) = (1e4 * x[2], 1e4 * x[1], 6e7 * x[1]);
    j.copy_from_slice(&[-0.04, a, b, 0.04, -a - c, -b, 0.0, c, 0.0]);
}

fn van_der_pol(_: f64, x: &[f64], f: &mut [f64]) {
    f.copy_from_slice(&[x[1], 1e3 * (1.0 - x[0] * x[0]) * x[1] - x[0]]);
}

fn oscillator(_: f64, x: &[f64], f: &mut [f64]) {
    f.copy_from_slice(&[x[1], -x[0]]);
}

#[test]
fn errors_follow_the_tolerance() {
    for family in [Family::Bdf, Family::Adams] {
        let mut last = f64::INFINITY;
        for tolerance in [1e-4, 1e-6, 1e-8, 1e-10] {
            let mut solver = solver(family, tolerance, &[tolerance; 2]);
            solver.start(0.0, &[1.0, 0.0]);
            solver.advance(&mut by_differences(oscillator), 10.0, |_| ()).unwrap();
            let error = (solver.x()[0] - 10f64.cos()).hypot(solver.x()[1] + 10f64.sin());
            assert!(error < 300.0 * tolerance && error < last / 10.0, "{family:?} {tolerance}: {error}");
            last = error;
        }
    }
}

#[test]
fn robertson_is_solved_with_few_steps() {
    // Reference of the literature at t = 40.
    let expected = [0.715_827_068_7, 9.185_534_765e-6, 0.284_163_745_7];
    let mut problem = Problem { f: robertson, jacobian: Some(robertson_jacobian) };
    let mut solver = solver(Family::Bdf, 1e-6, &[1e-10, 1e-14, 1e-10]);
    solver.start(0.0, &[1.0, 0.0, 0.0]);
    solver.advance(&mut problem, 40.0, |_| ()).unwrap();
    for (x, expected) in solver.x().iter().zip(expected) {
        assert!((x / expected - 1.0).abs() < 1e-4, "{x} {expected}");
    }
    let sum: f64 = solver.x().iter().sum();
    assert!((sum - 1.0).abs() < 1e-12, "mass is conserved: {sum}");
}

#[test]
fn van_der_pol_is_solved_through_its_jumps() {
    // Reference of the test set for initial value problems, mu = 1000, t = 2000.
    let mut solver = solver(Family::Bdf, 1e-8, &[1e-10; 2]);
    solver.start(0.0, &[2.0, 0.0]);
    solver.advance(&mut by_differences(van_der_pol), 2000.0, |_| ()).unwrap();
    assert!((solver.x()[0] - 1.706_167_732_170_483).abs() < 1e-5, "{:?}", solver.x());
    assert!((solver.x()[1] + 8.928_097_010_247_975e-4).abs() < 1e-7, "{:?}", solver.x());
    assert!(solver.statistics().difference_evaluations > 0);
}

#[test]
fn interpolation_is_as_good_as_the_steps() {
    let mut solver = solver(Family::Adams, 1e-9, &[1e-9; 2]);
    solver.start(0.0, &[1.0, 0.0]);
    let mut x = [0.0; 2];
    let mut worst: f64 = 0.0;
    solver
        .advance(&mut by_differences(oscillator), 10.0, |solver| {
            for share in [0.0, 0.3, 0.7, 1.0] {
                let t = solver.t() - share * solver.last_step();
                solver.interpolate(t, &mut x);
                worst = worst.max((x[0] - t.cos()).abs());
            }
        })
        .unwrap();
    assert!(worst < 1e-6, "{worst}");
}

#[test]
fn a_copy_and_a_saved_solver_go_on_in_the_same_bits() {
    let mut problem = Problem { f: robertson, jacobian: Some(robertson_jacobian) };
    let new = || solver(Family::Bdf, 1e-7, &[1e-9; 3]);
    let mut original = new();
    original.start(0.0, &[1.0, 0.0, 0.0]);
    for _ in 0..57 {
        original.step(&mut problem, 40.0).unwrap();
    }
    let (mut copy, mut loaded) = (new(), new());
    copy.copy_from(&original);
    let mut writer = StateWriter::default();
    original.save(&mut writer);
    let bytes = writer.into_bytes();
    loaded.load(&mut StateReader::new(&bytes)).unwrap();
    let before = original.statistics().steps;
    original.advance(&mut problem, 40.0, |_| ()).unwrap();
    assert!(original.statistics().steps > before + 20);
    for other in [&mut copy, &mut loaded] {
        other.advance(&mut problem, 40.0, |_| ()).unwrap();
        assert_eq!(other.x(), original.x());
        assert_eq!(other.last_step(), original.last_step());
    }
}

#[test]
fn stop_times_are_hit_exactly() {
    let mut solver = solver(Family::Bdf, 1e-6, &[1e-6; 2]);
    solver.start(0.0, &[1.0, 0.0]);
    for i in 1..=1000 {
        let stop = f64::from(i) * 0.1;
        solver.advance(&mut by_differences(oscillator), stop, |_| ()).unwrap();
        assert_eq!(solver.t(), stop);
    }
}

fn failing(f: impl Fn(f64, &[f64], &mut [f64]), x: &[f64], end: f64) -> Failure {
    let mut solver = solver(Family::Bdf, 1e-6, &vec![1e-8; x.len()]);
    solver.start(0.0, x);
    solver.advance(&mut by_differences(f), end, |_| ()).unwrap_err()
}

#[test]
fn blow_up_names_the_state_and_the_time() {
    // x' = x^2 ends at t = 1; the other state is harmless.
    let failure = failing(|_, x, f| f.copy_from_slice(&[-x[0], x[1] * x[1]]), &[1.0, 1.0], 2.0);
    assert!((failure.t - 1.0).abs() < 1e-3, "{failure:?}");
    assert_eq!(failure.state, Some(1));
    let text = failure.into_error("tank", |i| ["level", "pressure"][i].into()).to_string();
    assert!(text.contains("tank") && text.contains("pressure"), "{text}");
}

#[test]
fn derivatives_that_are_not_finite_end_the_start() {
    let failure = failing(|_, _, f| f.copy_from_slice(&[0.0, f64::NAN]), &[1.0, 1.0], 1.0);
    assert!(matches!(failure.reason, Reason::NotFinite));
    assert_eq!(failure.state, Some(1));
}

#[test]
fn a_forbidden_region_is_kept_out_of() {
    // Trial states below zero give no number; the solution stays above.
    let mut solver = solver(Family::Bdf, 1e-6, &[1e-9]);
    solver.start(0.0, &[1.0]);
    let mut problem = by_differences(|_, x, f| f[0] = -x[0].sqrt() * x[0]);
    solver.advance(&mut problem, 10.0, |_| ()).unwrap();
    // x = 1 / (1 + t/2)^2.
    assert!((solver.x()[0] * 36.0 - 1.0).abs() < 1e-4, "{}", solver.x()[0]);
}

#[test]
fn a_jump_inside_is_crossed() {
    let mut solver = solver(Family::Bdf, 1e-6, &[1e-8]);
    solver.start(0.0, &[0.0]);
    let mut problem = by_differences(|t, _, f| f[0] = if t < 0.5 { 1.0 } else { -1.0 });
    solver.advance(&mut problem, 1.0, |_| ()).unwrap();
    assert!(solver.x()[0].abs() < 1e-5, "{}", solver.x()[0]);
    assert!(solver.statistics().steps < 300);
}

struct Refusing;

impl RightHandSide for Refusing {
    fn derivatives(&mut self, t: f64, _: &[f64], f: &mut [f64]) -> Result<()> {
        f.fill(1.0);
        if t > 0.5 { Err(Error::new(Code::SubsystemFailed, "no more")) } else { Ok(()) }
    }
}

#[test]
fn an_error_of_the_equations_is_handed_on() {
    let mut solver = solver(Family::Bdf, 1e-6, &[1e-8]);
    solver.start(0.0, &[0.0]);
    let failure = solver.advance(&mut Refusing, 1.0, |_| ()).unwrap_err();
    assert!(failure.into_error("a", |_| String::new()).to_string().contains("no more"));
}

#[test]
fn a_zero_tolerance_on_a_zero_state_is_refused() {
    let mut solver = solver(Family::Bdf, 1e-6, &[0.0]);
    solver.start(0.0, &[0.0]);
    let failure = solver.advance(&mut Refusing, 1.0, |_| ()).unwrap_err();
    assert!(matches!(failure.reason, Reason::Weight));
}
