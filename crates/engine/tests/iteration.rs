//! Methods that repeat steps, on the dual mass oscillator with exact steps: error against cost, as an independent prototype
//! found it (`docs/methods.md` shows the table).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use costep_conformance::systems::{coupled, method, model};
use costep_core::{
    Experiment, InputPolynomials, InputSegment, Interval, Result, StepOutcome, Subsystem, Wrapper,
};
use costep_engine::Engine;
use costep_integrate::{Integrated, Solver};

const STOP: f64 = 0.1;
/// Soft damping and hard damping of the coupling.
const COUPLINGS: [[(&str, f64); 2]; 2] = [[("ck", 2e5), ("dk", 200.0)], [("ck", 1e5), ("dk", 1e3)]];

/// Counts the steps of the subsystem inside, those that are gone back on included.
struct Counted {
    inner: Box<dyn Subsystem>,
    calls: Arc<AtomicU64>,
}

impl Wrapper for Counted {
    fn inner(&self) -> &dyn Subsystem {
        &*self.inner
    }

    fn inner_mut(&mut self) -> &mut dyn Subsystem {
        &mut *self.inner
    }

    fn step(&mut self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.inner.step(interval, u, y)
    }
}

/// x1, v1 and F of the whole system at T^0, T^1, ...
fn reference(coupling: &[(&str, f64)], steps: u64) -> Vec<Vec<f64>> {
    let experiment = Experiment { start: 0.0, stop: STOP, step: STOP / steps as f64 };
    let whole = model("dual-mass", coupling).monolithic().unwrap();
    let mut whole = Integrated::new(whole, &Solver::Exact).unwrap();
    whole.initialise(&experiment).unwrap();
    let (mut y, no_input) = (vec![0.0; 3], InputPolynomials::new(0, 0));
    whole.initial_outputs(&[], &mut y).unwrap();
    let mut rows = vec![y.clone()];
    for k in 0..steps {
        whole.step(experiment.interval(k), no_input.segment(0..0, 0), &mut y).unwrap();
        rows.push(y.clone());
    }
    rows
}

/// Steps of all subsystems, and the error: root mean square over the points by range, mean over x1, v1 and F.
fn measure(coupling: &[(&str, f64)], label: &str, steps: u64) -> (f64, f64) {
    let step = STOP / steps as f64;
    let mut system = coupled(&model("dual-mass", coupling), &Solver::Exact, &method(label), STOP, step);
    let calls = Arc::new(AtomicU64::new(0));
    let counted = |inner| Box::new(Counted { inner, calls: Arc::clone(&calls) }) as Box<dyn Subsystem>;
    system.subsystems = system.subsystems.into_iter().map(counted).collect();
    let mut engine = Engine::new(system).unwrap();
    let theirs = reference(coupling, steps);
    let mut squares = [0.0; 3];
    for row in &theirs[1..] {
        engine.step().unwrap();
        (0..3).for_each(|i| squares[i] += (engine.outputs()[i] - row[i]).powi(2));
    }
    let error = |i: usize| {
        let of = || theirs.iter().map(|row| row[i]);
        let range = of().fold(f64::MIN, f64::max) - of().fold(f64::MAX, f64::min);
        (squares[i] / theirs.len() as f64).sqrt() / range
    };
    (calls.load(Ordering::Relaxed) as f64, (0..3).map(error).sum::<f64>() / 3.0)
}

/// The error at so many calls, between the steps that need fewer and more.
fn error_at(coupling: &[(&str, f64)], label: &str, calls: f64) -> f64 {
    let mut before: Option<(f64, f64)> = None;
    for steps in [8, 10, 13, 16, 20, 25, 33, 40, 50, 67, 80, 100, 125, 160, 200, 250, 333, 400, 500, 667] {
        let now = measure(coupling, label, steps);
        match before {
            Some(before) if now.0 >= calls => {
                let share = (calls / before.0).ln() / (now.0 / before.0).ln();
                return before.1 * (now.1 / before.1).powf(share);
            }
            _ => before = Some(now),
        }
    }
    panic!("`{label}` never takes {calls} calls")
}

/// How the prototype measured: explicit holds at 1 ms. It takes ranges from more points, which makes them a little larger.
#[test]
fn errors_are_measured_as_the_prototype_did() {
    for (label, theirs) in [("zoh", 0.31381), ("foh", 0.059192)] {
        let (calls, error) = measure(&COUPLINGS[0], label, 100);
        println!("{label}: {error:.6}");
        assert_eq!(calls, 200.0);
        assert!((error / theirs - 1.0).abs() < 0.01, "{label}: {error}");
    }
}

/// Errors at 400 calls with both couplings, then at 2000, as the prototype has them; none where it gives none.
type Row = [Option<f64>; 4];

fn check_row(label: &str, row: Row, least: f64) {
    let columns = [(0, 400.0), (1, 400.0), (0, 2000.0), (1, 2000.0)];
    for ((coupling, calls), theirs) in columns.into_iter().zip(row) {
        let Some(theirs) = theirs else { continue };
        let error = error_at(&COUPLINGS[coupling], label, calls);
        println!("{label}: {error:.2e} at {calls} calls, prototype {theirs:.1e}");
        assert!(error <= 1.3 * theirs, "{label}: {error:e} at {calls} calls, not {theirs:e}");
        assert!(error >= least * theirs, "{label}: {error:e} at {calls} calls, not {theirs:e}");
    }
}

#[test]
fn plain_iterations_cost_what_they_do() {
    let jacobi = "fixed-point:sweep=jacobi,acceleration=none,max_iterations=90";
    check_row(jacobi, [None, None, Some(2.2e-3), Some(1.3e-3)], 0.7);
    let gauss_seidel = "fixed-point:acceleration=none,max_iterations=90";
    check_row(gauss_seidel, [Some(6.6e-2), None, Some(4.5e-4), Some(2.2e-4)], 0.7);
}

/// The factor of the last step serves the next one: four calls per step, where the prototype needs six.
#[test]
fn the_factor_of_aitken_is_learnt_once() {
    check_row("fixed-point", [Some(6.9e-3), Some(2.4e-3), Some(2.8e-4), Some(9.7e-5)], 0.3);
}

#[test]
fn quasi_newton_and_newton_need_two_tries_per_step() {
    let linear = [Some(3.1e-3), Some(1.1e-3), Some(1.2e-4), Some(4.3e-5)];
    let quadratic = [Some(5.2e-4), Some(2.0e-4), Some(4.2e-6), Some(1.6e-6)];
    for label in ["iqn-ils", "iqn-ils:sweep=jacobi", "ijcsa"] {
        check_row(label, linear, 1.0 / 1.3);
        for steps in [50, 500] {
            let (calls, _) = measure(&COUPLINGS[0], label, steps);
            assert!(calls <= 4.2 * steps as f64, "{label}: {calls} calls in {steps} steps");
        }
    }
    check_row("ijcsa:inputs=quadratic", quadratic, 1.0 / 1.3);
    check_row("iqn-ils:inputs=quadratic", quadratic, 1.0 / 1.3);
    check_row("ijcsa:inputs=held", [Some(4.8e-2), Some(1.9e-2), Some(1.1e-2), Some(4.0e-3)], 1.0 / 1.3);
}

/// Jacobians by differences are kept from step to step, where the prototype makes them in each: four calls, not seven.
#[test]
fn jacobians_by_differences_are_kept() {
    let theirs = [Some(9.3e-3), Some(3.3e-3), Some(3.8e-4), Some(1.3e-4)];
    check_row("ijcsa:jacobian=differences", theirs, 0.25);
}

/// Recursive least squares learn the Jacobians within the first steps.
#[test]
fn jacobians_of_identified_models_serve_as_well() {
    let (calls, error) = measure(&COUPLINGS[0], "ijcsa:source=rls", 200);
    let (_, exact) = measure(&COUPLINGS[0], "ijcsa", 200);
    assert!((error / exact - 1.0).abs() < 1e-3 && calls < 4.6 * 200.0, "{calls} calls, {error:e} {exact:e}");
}

/// Without excitation identified models become wrong: then the tries of the step are enough.
#[test]
fn wrong_jacobians_cost_tries_and_nothing_else() {
    let chain = model("chain", &[("n", 4.0)]);
    let engine =
        |label: &str| Engine::new(coupled(&chain, &Solver::Exact, &method(label), 1.0, 1e-3)).unwrap();
    let (mut learnt, mut exact) = (engine("ijcsa:source=ij-rls"), engine("ijcsa"));
    for _ in 0..400 {
        learnt.step().unwrap();
        exact.step().unwrap();
        let far = |(a, b): (&f64, &f64)| (a - b).abs() > 1e-5;
        assert!(!learnt.outputs().iter().zip(exact.outputs()).any(far), "at {}", exact.time());
    }
    assert!(learnt.warnings().next().is_none());
    assert!(learnt.subsystem_steps() < 4 * exact.subsystem_steps(), "{}", learnt.subsystem_steps());
}

/// A right prediction needs no second try, and keeps what it has over a line.
#[test]
fn a_right_prediction_is_taken_at_once() {
    for label in
        ["fixed-point:predictor=predictive", "iqn-ils:predictor=predictive", "ijcsa:predictor=predictive"]
    {
        let ((calls, error), (_, alone)) =
            (measure(&COUPLINGS[0], label, 100), measure(&COUPLINGS[0], "predictive", 100));
        println!("{label}: {calls} calls, {error:.2e}; alone {alone:.2e}");
        assert!(calls <= 204.0 && error < 1.5 * alone + 1e-9, "{label}: {calls} calls, {error:e}, {alone:e}");
    }
}

/// What has been learnt saves tries; where it is wrong, at the start, steps are repeated.
#[test]
fn identified_models_predict_after_some_steps() {
    for label in ["fixed-point", "iqn-ils", "ijcsa"] {
        let with = measure(&COUPLINGS[1], &format!("{label}:predictor=identified,tolerance=1e-4"), 1000);
        let without = measure(&COUPLINGS[1], &format!("{label}:tolerance=1e-4"), 1000);
        println!("{label}: {} calls, {:.2e}; extrapolated {}, {:.2e}", with.0, with.1, without.0, without.1);
        assert!(with.0 < 0.95 * without.0 && with.1 < 1.1 * without.1, "{label}: {with:?} {without:?}");
    }
}
