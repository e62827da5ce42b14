//! Loops of native parts at the start are solved with the D that the parts give, which is not believed.

use std::cell::Cell;

use costep_conformance::systems::method;
use costep_conformance::toys::{Toy, wired};
use costep_core::{Description, LocalModel, Subsystem};
use costep_engine::Engine;
use costep_integrate::{Ode, Renamable, Solver};
use costep_system::Component;

thread_local! {
    static EVALUATIONS: Cell<usize> = const { Cell::new(0) };
}

/// x' = -x, y = x + sin u, with a D that is right or not.
#[derive(Clone)]
struct Sine {
    description: Description,
    start: f64,
    slope: fn(f64) -> f64,
}

impl Renamable for Sine {
    fn description_mut(&mut self) -> &mut Description {
        &mut self.description
    }
}

impl Ode for Sine {
    fn description(&self) -> &Description {
        &self.description
    }

    fn states(&self) -> usize {
        1
    }

    fn initial_state(&self, x: &mut [f64]) {
        x[0] = self.start;
    }

    fn derivatives(&self, _t: f64, x: &[f64], _u: &[f64], x_dot: &mut [f64]) {
        x_dot[0] = -x[0];
    }

    fn outputs(&self, _t: f64, x: &[f64], u: &[f64], y: &mut [f64]) {
        EVALUATIONS.set(EVALUATIONS.get() + 1);
        y[0] = x[0] + u[0].sin();
    }

    fn jacobians(&self, _t: f64, _x: &[f64], u: &[f64], model: &mut LocalModel) {
        (model.a[0], model.b[0], model.c[0]) = (-1.0, 0.0, 1.0);
        model.d[0] = (self.slope)(u[0]);
    }
}

/// Outputs of two of them in a loop at the start, and how often outputs were evaluated for that.
fn solved_with(slope: fn(f64) -> f64) -> ([f64; 2], usize) {
    let part = |name: &str, start: f64| -> Box<dyn Subsystem> {
        let description = Toy::new(name, 1, 1, |_, _, _| Ok(())).description;
        Sine { description, start, slope }.subsystem(&Solver::Rk4(1e-2)).unwrap()
    };
    let parts = vec![part("one", 0.3), part("two", 0.7)];
    EVALUATIONS.set(0);
    let engine = Engine::new(wired(parts, &[(0, 1), (1, 0)], &method("zoh"))).unwrap();
    ([engine.outputs()[0], engine.outputs()[1]], EVALUATIONS.get())
}

#[test]
fn loops_at_the_start_take_the_slopes_of_native_parts() {
    let (by_differences, many) = solved_with(|_| f64::NAN);
    let (exact, few) = solved_with(f64::cos);
    let (misled, most) = solved_with(|u| 3.0 + u.cos());
    println!("{few} evaluations with D, {many} by differences, {most} with a wrong D");
    assert!(few < many && many < most, "{few} {many} {most}");
    for [a, b] in [exact, misled, by_differences] {
        let left = (a - 0.3 - b.sin()).abs().max((b - 0.7 - a.sin()).abs());
        assert!(left < 1e-10, "{a} {b}: {left:e}");
    }
}
