//! Equations with known solutions.
#![allow(dead_code, reason = "each test binary uses its own share")]

use costep_core::{Description, Experiment, InputPolynomials, Interval, LocalModel, Port, Subsystem};
use costep_integrate::{Equations, Integrated, Ode, Renamable, Solver};

pub(crate) fn describe(name: &str, inputs: usize, feedthrough: &[&[usize]]) -> Description {
    let port = |letter: &str, i: usize| Port { name: format!("{letter}{i}"), ..Port::default() };
    Description {
        name: name.into(),
        inputs: (0..inputs).map(|i| port("u", i)).collect(),
        outputs: (0..feedthrough.len()).map(|i| port("y", i)).collect(),
        feedthrough: feedthrough.iter().map(|inputs| (*inputs).into()).collect(),
        ..Description::default()
    }
}

/// Equations written as two functions, with all states at `start` and outputs equal to `outputs(t, x, u)`.
#[derive(Clone)]
pub(crate) struct Formulas {
    pub(crate) description: Description,
    pub(crate) start: Vec<f64>,
    pub(crate) f: fn(f64, &[f64], &[f64], &mut [f64]),
    pub(crate) g: fn(f64, &[f64], &[f64], &mut [f64]),
    /// A, B, C, D row by row.
    pub(crate) jacobians: fn(&[f64], &[f64], &mut LocalModel),
    pub(crate) linear: bool,
    pub(crate) energy: fn(&[f64], &[f64]) -> Option<f64>,
}

impl Formulas {
    /// States are outputs; no Jacobians, no energy.
    pub(crate) fn new(
        name: &str,
        inputs: usize,
        start: &[f64],
        f: fn(f64, &[f64], &[f64], &mut [f64]),
    ) -> Self {
        Self {
            description: describe(name, inputs, &vec![&[][..]; start.len()]),
            start: start.to_vec(),
            f,
            g: |_, x, _, y| y.copy_from_slice(x),
            jacobians: |_, _, _| panic!("not asked for in this test"),
            linear: false,
            energy: |_, _| None,
        }
    }
}

impl Renamable for Formulas {
    fn description_mut(&mut self) -> &mut Description {
        &mut self.description
    }
}

impl Ode for Formulas {
    fn description(&self) -> &Description {
        &self.description
    }

    fn states(&self) -> usize {
        self.start.len()
    }

    fn initial_state(&self, x: &mut [f64]) {
        x.copy_from_slice(&self.start);
    }

    fn derivatives(&self, t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) {
        (self.f)(t, x, u, x_dot);
    }

    fn outputs(&self, t: f64, x: &[f64], u: &[f64], y: &mut [f64]) {
        (self.g)(t, x, u, y);
    }

    fn jacobians(&self, _t: f64, x: &[f64], u: &[f64], model: &mut LocalModel) {
        (self.jacobians)(x, u, model);
    }

    fn is_linear(&self) -> bool {
        self.linear
    }

    fn energy(&self, x: &[f64], u: &[f64]) -> Option<f64> {
        (self.energy)(x, u)
    }
}

/// x' = u x (1 - x), x(0) = 0.2: the logistic equation with growth u.
pub(crate) fn logistic() -> Formulas {
    let f = |_: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]| x_dot[0] = u[0] * x[0] * (1.0 - x[0]);
    let jacobians = |x: &[f64], u: &[f64], model: &mut LocalModel| {
        (model.a[0], model.b[0]) = (u[0] * (1.0 - 2.0 * x[0]), x[0] * (1.0 - x[0]));
        (model.c[0], model.d[0]) = (1.0, 0.0);
    };
    Formulas { jacobians, ..Formulas::new("logistic", 1, &[0.2], f) }
}

/// Its solution, given the integral of u.
pub(crate) fn logistic_solution(integral: f64) -> f64 {
    1.0 / (1.0 + 4.0 * (-integral).exp())
}

/// A polynomial as input of order 0 to 3, as seen from a macro step that begins at `t`.
#[derive(Clone, Copy)]
pub(crate) struct Cubic(pub(crate) [f64; 4]);

impl Cubic {
    pub(crate) fn order(&self) -> usize {
        self.0.iter().rposition(|c| *c != 0.0).unwrap_or(0)
    }

    pub(crate) fn integral(&self, t: f64) -> f64 {
        self.0.iter().enumerate().map(|(a, c)| c * t.powi(a as i32 + 1) / (a + 1) as f64).sum()
    }

    pub(crate) fn from(&self, t: f64) -> InputPolynomials {
        let [c0, c1, c2, c3] = self.0;
        let shifted =
            [c0 + t * (c1 + t * (c2 + t * c3)), c1 + t * (2.0 * c2 + t * 3.0 * c3), c2 + 3.0 * c3 * t, c3];
        let mut polynomials = InputPolynomials::new(1, self.order());
        for (a, c) in shifted.iter().enumerate().take(self.order() + 1) {
            polynomials.coefficients_mut(a)[0] = *c;
        }
        polynomials
    }
}

/// Inputs of order 0, 1, 2 and 3.
pub(crate) const INPUTS: [Cubic; 4] = [
    Cubic([1.5, 0.0, 0.0, 0.0]),
    Cubic([1.0, 1.5, 0.0, 0.0]),
    Cubic([1.0, -2.0, 4.0, 0.0]),
    Cubic([2.0, -1.0, -3.0, 5.0]),
];

/// A subsystem at its start.
pub(crate) fn started<E: Equations + 'static>(
    equations: E,
    solver: &Solver,
    start: f64,
    step: f64,
) -> Integrated<E> {
    let mut started = Integrated::new(equations, solver).unwrap();
    started.initialise(&Experiment { start, stop: start + 1.0, step }).unwrap();
    started
}

/// One macro step; gives the outputs at its end.
pub(crate) fn advance<E: Equations + 'static>(
    subsystem: &mut Integrated<E>,
    start: f64,
    end: f64,
    u: &InputPolynomials,
) -> Vec<f64> {
    advance_over(subsystem, Interval::new(start, end), u)
}

/// One macro step of a run; gives the outputs at its end.
pub(crate) fn advance_over<E: Equations + 'static>(
    subsystem: &mut Integrated<E>,
    interval: Interval,
    u: &InputPolynomials,
) -> Vec<f64> {
    let mut y = vec![0.0; subsystem.description().outputs.len()];
    let inputs = subsystem.description().inputs.len();
    subsystem.step(interval, u.segment(0..inputs, u.order()), &mut y).unwrap();
    y
}

/// No input at all.
pub(crate) fn nothing() -> InputPolynomials {
    InputPolynomials::new(0, 0)
}
