//! The multistep solver against CVODE itself, from a package that carries it: same problems, same steps.

#[path = "../../fmu-export/tests/common/python.rs"]
mod python;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use costep_core::Result;
use costep_integrate::multistep::{Family, Multistep, RightHandSide, Settings, Statistics};
use costep_linalg::Matrix;
use serde_json::{Value, json};

type Function = fn(f64, &[f64], &mut [f64]);

/// x' = f(t, x) from a start to an end; `cvode_runs.py` has the same.
struct Problem {
    name: &'static str,
    f: Function,
    /// df/dx by rows.
    jacobian: Function,
    start: &'static [f64],
    /// Absolute tolerances relative to the relative one.
    scale: &'static [f64],
    end: f64,
    families: &'static [Family],
    tolerances: &'static [f64],
}

const BOTH: &[Family] = &[Family::Bdf, Family::Adams];
const STIFF: &[Family] = &[Family::Bdf];
/// Steps that are the same up to round-off.
const FIRST: usize = 10;
const TOLERANCES: &[f64] = &[1e-4, 1e-5, 1e-6, 1e-7, 1e-8];

const PROBLEMS: [Problem; 6] = [
    Problem {
        name: "oscillator",
        f: |_, x, f| f.copy_from_slice(&[x[1], -x[0]]),
        jacobian: |_, _, j| j.copy_from_slice(&[0.0, 1.0, -1.0, 0.0]),
        start: &[1.0, 0.0],
        scale: &[1.0, 1.0],
        end: 20.0,
        families: BOTH,
        tolerances: TOLERANCES,
    },
    Problem {
        name: "pendulum",
        f: |t, x, f| f.copy_from_slice(&[x[1], -9.81 * x[0].sin() + (5.0 * t).cos()]),
        jacobian: |_, x, j| j.copy_from_slice(&[0.0, 1.0, -9.81 * x[0].cos(), 0.0]),
        start: &[1.0, 0.0],
        scale: &[1.0, 1.0],
        end: 10.0,
        families: BOTH,
        tolerances: TOLERANCES,
    },
    Problem {
        name: "brusselator",
        f: |_, x, f| {
            let square = x[0] * x[0] * x[1];
            f.copy_from_slice(&[1.0 + square - 4.0 * x[0], 3.0 * x[0] - square]);
        },
        jacobian: |_, x, j| {
            let (product, square) = (2.0 * x[0] * x[1], x[0] * x[0]);
            j.copy_from_slice(&[product - 4.0, square, 3.0 - product, -square]);
        },
        start: &[1.5, 3.0],
        scale: &[1.0, 1.0],
        end: 20.0,
        families: BOTH,
        tolerances: TOLERANCES,
    },
    // One half of the triple spring under a constant input.
    Problem {
        name: "spring",
        f: |_, x, f| f.copy_from_slice(&[x[1], -75.0 * x[0] - 2.1 * x[1] + 25.0]),
        jacobian: |_, _, j| j.copy_from_slice(&[0.0, 1.0, -75.0, -2.1]),
        start: &[1.0, 0.0],
        scale: &[0.01, 0.01],
        end: 2.0,
        families: BOTH,
        tolerances: TOLERANCES,
    },
    Problem {
        name: "robertson",
        f: |_, x, f| {
            f[0] = -0.04 * x[0] + 1e4 * x[1] * x[2];
            f[2] = 3e7 * x[1] * x[1];
            f[1] = -f[0] - f[2];
        },
        jacobian: |_, x, j| {
            let (a, b, c) = (1e4 * x[2], 1e4 * x[1], 6e7 * x[1]);
            j.copy_from_slice(&[-0.04, a, b, 0.04, -a - c, -b, 0.0, c, 0.0]);
        },
        start: &[1.0, 0.0, 0.0],
        scale: &[1e-4, 1e-8, 1e-4],
        end: 4e5,
        families: STIFF,
        tolerances: TOLERANCES,
    },
    Problem {
        name: "van_der_pol",
        f: |_, x, f| f.copy_from_slice(&[x[1], 1e3 * (1.0 - x[0] * x[0]) * x[1] - x[0]]),
        jacobian: |_, x, j| {
            j.copy_from_slice(&[0.0, 1.0, -2e3 * x[0] * x[1] - 1.0, 1e3 * (1.0 - x[0] * x[0])]);
        },
        start: &[2.0, 0.0],
        scale: &[1.0, 1.0],
        end: 2000.0,
        families: STIFF,
        tolerances: TOLERANCES,
    },
];

impl RightHandSide for &Problem {
    fn derivatives(&mut self, t: f64, x: &[f64], x_dot: &mut [f64]) -> Result<()> {
        (self.f)(t, x, x_dot);
        Ok(())
    }

    fn jacobian(&mut self, t: f64, x: &[f64], jacobian: &mut Matrix) -> Result<bool> {
        (self.jacobian)(t, x, jacobian.data_mut());
        Ok(true)
    }
}

/// What a solver did.
struct Run {
    /// Ends of all steps.
    t: Vec<f64>,
    x: Vec<f64>,
    evaluations: u64,
    jacobians: u64,
}

impl Problem {
    fn absolute(&self, tolerance: f64) -> Vec<f64> {
        self.scale.iter().map(|scale| scale * tolerance).collect()
    }

    fn ours(&self, family: Family, tolerance: f64) -> Run {
        let mut solver = Multistep::new(Settings::new(family, tolerance, self.absolute(tolerance)));
        solver.start(0.0, self.start);
        let mut t = Vec::new();
        let mut equations = self;
        solver.advance(&mut equations, self.end, |solver| t.push(solver.t())).unwrap();
        let Statistics { evaluations, jacobians, .. } = solver.statistics();
        Run { t, x: solver.x().to_vec(), evaluations, jacobians }
    }

    fn job(&self, family: Family, tolerance: f64) -> Value {
        json!({
            "problem": self.name,
            "family": if family == Family::Bdf { "BDF" } else { "Adams" },
            "relative": tolerance,
            "absolute": self.absolute(tolerance),
            "start": self.start,
            "end": self.end,
        })
    }

    /// How far the first steps may be apart: their lengths follow from differences as small as the tolerance.
    fn round_off(&self, tolerance: f64) -> f64 {
        let least = self.absolute(tolerance).into_iter().fold(f64::INFINITY, f64::min);
        (100.0 * f64::EPSILON / least).min(1e-4)
    }

    /// Greatest relative error at the end.
    fn error(&self, run: &Run, exact: &[f64]) -> f64 {
        let errors = run.x.iter().zip(exact).map(|(x, exact)| (x - exact).abs() / exact.abs());
        errors.fold(0.0, f64::max)
    }
}

/// Lets CVODE do all jobs.
fn cvode(jobs: &[Value]) -> Vec<Run> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python");
    let interpreter = python::environment("sundials", &here.join("requirements.txt"));
    let mut command = Command::new(interpreter);
    command.arg(here.join("cvode_runs.py")).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(Value::from(jobs.to_vec()).to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "CVODE ended with {}", output.status);
    let results: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(results.len(), jobs.len());
    let numbers = |value: &Value| serde_json::from_value::<Vec<f64>>(value.clone()).unwrap();
    let run = |result: &Value| Run {
        // The first is the start.
        t: numbers(&result["t"])[1..].to_vec(),
        x: numbers(&result["x"]),
        evaluations: result["evaluations"].as_u64().unwrap(),
        jacobians: result["jacobians"].as_u64().unwrap(),
    };
    results.iter().map(run).collect()
}

/// Counts of single runs differ where round-off decides about a repetition of a step, so that sums are compared; before
/// that the steps are the same.
#[test]
fn steps_evaluations_and_errors_are_those_of_cvode() {
    if python::skipped() {
        return;
    }
    let cases: Vec<_> =
        PROBLEMS.iter().flat_map(|p| p.families.iter().map(move |family| (p, *family))).collect();
    let jobs: Vec<_> = cases
        .iter()
        .flat_map(|(problem, family)| problem.tolerances.iter().map(|tol| problem.job(*family, *tol)))
        .collect();
    let mut theirs = cvode(&jobs).into_iter();
    for (problem, family) in cases {
        let exact = problem.ours(family, 1e-12).x;
        let mut sums = [[0.0; 3]; 2];
        let mut errors = [0.0; 2];
        for tolerance in problem.tolerances {
            let runs = [problem.ours(family, *tolerance), theirs.next().unwrap()];
            let what = format!("{} {family:?} {tolerance:e}", problem.name);
            for ((sums, errors), run) in sums.iter_mut().zip(&mut errors).zip(&runs) {
                let counts = [run.t.len() as f64, run.evaluations as f64, run.jacobians as f64];
                println!("{what}: {counts:?} {:e}", problem.error(run, &exact));
                sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
                // The mean of the logarithms: tolerances count alike.
                *errors += problem.error(run, &exact).ln() / problem.tolerances.len() as f64;
            }
            let steps = runs[0].t.iter().zip(&runs[1].t).take(FIRST);
            let apart = steps.map(|(a, b)| (a - b).abs() / b).fold(0.0, f64::max);
            println!("{what}: first {FIRST} steps apart by {apart:e}");
            assert!(apart < problem.round_off(*tolerance), "{what}: {apart:e}");
        }
        for (count, name) in ["steps", "evaluations"].iter().enumerate() {
            let ratio = sums[0][count] / sums[1][count];
            println!("{} {family:?} {name}: {ratio}", problem.name);
            assert!((ratio - 1.0).abs() < 0.1, "{} {family:?} {name}: {ratio}", problem.name);
        }
        let ratio = (errors[0] - errors[1]).exp();
        println!("{} {family:?} errors: {ratio}", problem.name);
        assert!((0.5..=2.0).contains(&ratio), "{} {family:?} errors: {ratio}", problem.name);
    }
}
