//! One macro step of linearly implicit stabilisation as a matrix, against an independent prototype in Python, whose
//! table lies in `data`; and the steps at which it becomes unstable.

use costep_core::{Connection, Description, Experiment, LocalModel, Port};
use costep_engine::{Engine, System};
use costep_integrate::{Ode, Renamable, Solver};
use costep_linalg::{Matrix, spectral_radius};
use costep_methods::MethodSpec;
use costep_system::Component;

const OMEGA: f64 = 4_568.496_561_706_98;
const ZETA: f64 = 1e-3;

/// A hydraulic line of [V14 (1) to (4)] that starts anywhere.
#[derive(Clone)]
struct Line {
    description: Description,
    is_left: bool,
    leak: f64,
    start: [f64; 2],
}

impl Renamable for Line {
    fn description_mut(&mut self) -> &mut Description {
        &mut self.description
    }
}

impl Ode for Line {
    fn description(&self) -> &Description {
        &self.description
    }
    fn states(&self) -> usize {
        2
    }
    fn initial_state(&self, x: &mut [f64]) {
        x.copy_from_slice(&self.start);
    }
    fn derivatives(&self, _: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) {
        let (effort, flow) = if self.is_left { (0.0, u[0]) } else { (u[0], 0.0) };
        x_dot[0] = -self.leak * x[0] + OMEGA * x[1] - flow;
        x_dot[1] = -OMEGA * x[0] - 2.0 * ZETA * OMEGA * x[1] + effort;
    }
    fn outputs(&self, _: f64, x: &[f64], _: &[f64], y: &mut [f64]) {
        y.copy_from_slice(&[OMEGA * x[usize::from(!self.is_left)], x[0], x[1]]);
    }
    fn jacobians(&self, _: f64, _: &[f64], _: &[f64], model: &mut LocalModel) {
        model.a.copy_from_slice(&[-self.leak, OMEGA, -OMEGA, -2.0 * ZETA * OMEGA]);
        let [b, c] = if self.is_left { [[-1.0, 0.0], [OMEGA, 0.0]] } else { [[0.0, 1.0], [0.0, OMEGA]] };
        model.b.copy_from_slice(&b);
        model.c.copy_from_slice(&[c[0], c[1], 1.0, 0.0, 0.0, 1.0]);
        model.d.fill(0.0);
    }
}

/// The states after one macro step of length `h` from `x`.
fn after_one_step(label: &str, omega_tau: f64, h: f64, x: [f64; 4]) -> [f64; 4] {
    let line = |is_left: bool, start: [f64; 2]| Line {
        description: Description {
            name: if is_left { "left" } else { "right" }.into(),
            inputs: vec![Port::new("u", "1", 1.0)],
            outputs: ["y", "x0", "x1"].map(|name| Port::new(name, "1", 1.0)).into(),
            feedthrough: vec![Default::default(); 3],
            input_order: usize::MAX,
            ..Description::default()
        },
        is_left,
        leak: OMEGA / omega_tau,
        start,
    };
    let parts = [line(true, [x[0], x[1]]), line(false, [x[2], x[3]])];
    let subsystems = parts.map(|part| part.subsystem(&Solver::Dopri5(1e-13)).unwrap()).into();
    let wire = |output, input| Connection { output, input, gain: 1.0 };
    let mut engine = Engine::new(System::new(
        subsystems,
        vec![wire(3, 0), wire(0, 1)],
        (MethodSpec::parse(label).unwrap().build(), Box::new(costep_ident::Exact::new(1))),
        Experiment { start: 0.0, stop: 1.0, step: h },
    ))
    .unwrap();
    engine.step().unwrap();
    let y = engine.outputs();
    [y[1], y[2], y[4], y[5]]
}

fn matrix(label: &str, omega_tau: f64, h: f64) -> Matrix {
    let mut matrix = Matrix::zeros(4, 4);
    for j in 0..4 {
        let column =
            after_one_step(label, omega_tau, h, std::array::from_fn(|i| f64::from(u8::from(i == j))));
        (0..4).for_each(|i| matrix[(i, j)] = column[i]);
    }
    matrix
}

fn radius(label: &str, omega_tau: f64, h: f64) -> f64 {
    spectral_radius(&matrix(label, omega_tau, h))
}

fn label(variant: &str, r: &str) -> String {
    match variant {
        "q" => format!("lis:form=rate,implicitness={r}"),
        "a" => format!("lis:form=value,implicitness={r}"),
        "x" => "lis".into(),
        other => other.into(),
    }
}

#[test]
fn one_step_matrices_are_those_of_the_prototype() {
    for line in include_str!("data/lis_steps.csv").lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |i: usize| cells[i].parse::<f64>().unwrap();
        let label = label(cells[2], cells[3]);
        let (h, omega_tau) = (number(0) * 1e-6, number(1));
        let ours = matrix(&label, omega_tau, h);
        let errors = ours.data().iter().zip((5..21).map(number)).map(|(ours, theirs)| (ours - theirs).abs());
        let error = errors.fold(0.0, f64::max);
        println!("{label} {h:e} {omega_tau}: {error:e}");
        assert!(error < 5e-11, "{label} at {h} s: {error:e}");
    }
}

#[test]
fn stability_limits_are_those_of_the_prototype() {
    let limits = [("zoh", 5.05e-6), ("lis:form=rate", 144.5e-6), ("lis:form=rate,implicitness=0.5", 97e-6)];
    for (label, limit) in limits.into_iter().chain([("lis:form=value,implicitness=0.5", 138e-6)]) {
        assert!(radius(label, 40.0, 0.99 * limit) <= 1.0 + 1e-12, "{label} is unstable below its limit");
        assert!(radius(label, 40.0, 1.01 * limit) > 1.0 + 1e-12, "{label} is stable above its limit");
    }
    for h in [1e-6, 5e-5, 1e-4, 2e-4, 4.2e-4] {
        assert!(radius("lis", 40.0, h) < 1.0 && radius("lis:form=value", 40.0, h) < 1.0, "{h}");
    }
}
