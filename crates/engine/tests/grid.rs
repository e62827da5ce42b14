//! Spectral radius of the macro-step map of the dual mass oscillator under predictive coupling, over the grid of the
//! thesis' stability study: 56 pairs of coupling spring and damper, eleven steps up to 10 ms.

use costep_conformance::systems::{coupled, method, model};
use costep_core::{
    AfterStep, Experiment, Interval, Result, Signals, StateReader, StateWriter, StepContext, Verdict,
};
use costep_engine::{Engine, StepControl, System};
use costep_integrate::Solver;
use costep_linalg::Matrix;

/// Sizes of x1, v1, x2, v2 for which the map is well scaled.
const UNITS: [f64; 4] = [1.0, 316.0, 1.0, 1000.0];

/// Coupling spring and damper, and masses, of the dual mass oscillator.
#[derive(Clone, Copy, Debug)]
struct Masses {
    ck: f64,
    dk: f64,
    m1: f64,
    m2: f64,
}

impl Masses {
    fn engine(self, start: [f64; 4], label: &str, (h, steps): (f64, u64)) -> Engine {
        Engine::new(self.system(start, label, (h, steps))).unwrap()
    }

    fn system(self, start: [f64; 4], label: &str, (h, steps): (f64, u64)) -> System {
        let Self { ck, dk, m1, m2 } = self;
        let [x1, v1, x2, v2] = start;
        let places = [("x1", x1), ("v1", v1), ("x2", x2), ("v2", v2)];
        let parameters: Vec<_> =
            [("ck", ck), ("dk", dk), ("m1", m1), ("m2", m2)].into_iter().chain(places).collect();
        let model = model("dual-mass", &parameters);
        coupled(&model, &Solver::Exact, &method(label), h * steps as f64, h)
    }
}

/// The states after one macro step from a given state.
fn step(masses: Masses, start: [f64; 4], label: &str, h: f64) -> Vec<f64> {
    let mut engine = masses.engine(start, label, (h, 1));
    engine.step().unwrap();
    let state = engine.save().unwrap();
    // Each native part saves its time, its states and its inputs with their numbers, and a block that is empty here.
    let number = |at: usize| f64::from_le_bytes(state[at..at + 8].try_into().unwrap());
    let second = state.len() - 8 * (1 + 3 + 3 + 1);
    let first = second - 8 * (1 + 3 + 2 + 1);
    [first, second].iter().flat_map(|at| [number(at + 16), number(at + 24)]).collect()
}

/// The method has no memory besides the states: the map of one step is the whole map.
fn spectral_radius(masses: Masses, label: &str, h: f64) -> f64 {
    let mut map = Matrix::zeros(4, 4);
    for column in 0..4 {
        let mut start = [0.0; 4];
        start[column] = UNITS[column];
        for (row, value) in step(masses, start, label, h).into_iter().enumerate() {
            map[(row, column)] = value / UNITS[row];
        }
    }
    costep_linalg::spectral_radius(&map)
}

fn stable_share(label: &str) -> f64 {
    let (mut stable, mut count) = (0, 0);
    for ck in (6..=12).map(|half| 10f64.powf(f64::from(half) / 2.0)) {
        for dk in (4..=11).map(|half| 10f64.powf(f64::from(half) / 2.0)) {
            for h in [0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0] {
                count += 1;
                let masses = Masses { ck, dk, m1: 10.0, m2: 10.0 };
                stable += usize::from(spectral_radius(masses, label, h * 1e-3) <= 1.0 + 1e-9);
            }
        }
    }
    assert_eq!(count, 616);
    println!("{label}: {stable} of {count} stable");
    stable as f64 / 616.0
}

#[test]
fn nearly_all_of_the_grid_is_stable() {
    assert!(stable_share("predictive") >= 0.99);
    assert!(stable_share("predictive:fit=sharp") >= 0.99);
    // The grid is not harmless: without matched end states the projection is unstable in places.
    assert!(stable_share("predictive:fit=l2") < 0.95);
}

/// Drawn masses and couplings, with steps up to many periods of the fastest motion. Force against displacement: nothing is proved here.
fn drawn(count: usize) -> Vec<(Masses, f64)> {
    let mut state = 15u64;
    let mut between = |low: f64, high: f64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        low * (high / low).powf((state >> 11) as f64 / (1u64 << 53) as f64)
    };
    let mut draw = |_| {
        let masses = Masses {
            ck: between(1e5, 2e6),
            dk: between(20.0, 3e3),
            m1: between(0.3, 30.0),
            m2: between(0.3, 30.0),
        };
        (masses, between(5e-3, 25e-3))
    };
    (0..count).map(&mut draw).collect()
}

#[test]
fn predictive_is_stable_where_its_own_projection_is_not() {
    let (mut unstable, mut greatest) = (0, 0.0f64);
    for (masses, h) in drawn(600) {
        unstable += usize::from(spectral_radius(masses, "predictive:fit=galerkin", h) > 1.0 + 1e-9);
        let radius = spectral_radius(masses, "predictive", h);
        assert!(radius <= 1.0 + 1e-6, "{masses:?} h = {h}: spectral radius {radius}");
        greatest = greatest.max(radius);
    }
    println!("fit=galerkin: {unstable} of 600 unstable; greatest radius of the fit chosen {greatest}");
    assert!(unstable > 10);
}

/// A system whose galerkin fit is unstable, and its step.
fn unstable_case() -> (Masses, f64) {
    let grows = |(masses, h): &(Masses, f64)| spectral_radius(*masses, "predictive:fit=galerkin", *h) > 1.01;
    drawn(600).into_iter().find(grows).unwrap()
}

#[test]
fn the_choice_of_a_fit_is_said_and_kept_in_checkpoints() {
    let (masses, h) = unstable_case();
    let run = |label: &str| masses.engine([0.1, 0.0, 0.1, 0.0], label, (h, 60));
    let (mut whole, mut broken) = (run("predictive"), run("predictive"));
    for k in 0..60 {
        whole.step().unwrap();
        if k == 30 {
            let state = broken.save().unwrap();
            broken = run("predictive");
            broken.load(&state).unwrap();
        }
        broken.step().unwrap();
        assert_eq!(whole.outputs(), broken.outputs(), "step {k}");
    }
    assert!(whole.warnings().any(|text| text.contains("fit=end")));
    assert!(whole.outputs().iter().all(|y| y.is_finite()));
    let mut calm =
        Masses { ck: 1e5, dk: 1e3, m1: 10.0, m2: 10.0 }.engine([0.1, 0.0, 0.1, 0.0], "auto", (1e-3, 1));
    calm.step().unwrap();
    assert_eq!(calm.warnings().count(), 0);
}

#[test]
fn an_engine_that_goes_back_chooses_again() {
    let (masses, h) = unstable_case();
    let mut engine = masses.engine([0.1, 0.0, 0.1, 0.0], "predictive", (h, 60));
    let start = engine.save().unwrap();
    let mut run = || {
        engine.load(&start).unwrap();
        std::iter::from_fn(|| {
            (!engine.is_over()).then(|| {
                engine.step().unwrap();
                engine.outputs().to_vec()
            })
        })
        .collect::<Vec<_>>()
    };
    let first = run();
    assert_eq!(first.len(), 60);
    assert_eq!(first, run());
}

/// A step of one length, tried with a longer one before.
struct SecondTry {
    experiment: Experiment,
    /// Of the next try.
    length: f64,
    time: f64,
}

impl SecondTry {
    fn new(experiment: Experiment, longer: f64) -> Self {
        Self { experiment, length: longer, time: experiment.start }
    }
}

impl StepControl for SecondTry {
    fn next_step(&self, _k: u64) -> Interval {
        Interval { start: self.time, end: self.time + self.length, length: self.length }
    }

    fn is_over(&self, k: u64) -> bool {
        k > 0
    }

    fn is_uniform(&self) -> bool {
        false
    }

    fn rejected(&mut self, _step: &StepContext, shorter: f64) -> Result<()> {
        self.length = shorter;
        Ok(())
    }

    fn accepted(&mut self, step: &StepContext) {
        self.time = step.t_next;
    }

    fn after_step(&self) -> AfterStep {
        AfterStep::Judge
    }

    fn judge(&mut self, step: &StepContext, _signals: &Signals<'_>) -> Result<Verdict> {
        let shorter = self.experiment.step;
        Ok(if step.h > shorter { Verdict::Reject { shorter } } else { Verdict::Accept })
    }

    fn save(&self, _out: &mut StateWriter) {}

    fn load(&mut self, _from: &mut StateReader<'_>) -> Result<()> {
        Ok(())
    }
}

#[test]
fn a_step_that_is_tried_again_with_another_fit_starts_where_it_should() {
    let masses = Masses { ck: 1.783e6, dk: 755.0, m1: 3.627, m2: 1.074 };
    let (longer, h) = (18.9e-3, 17.6e-3);
    // The first try keeps the projection, the second one cannot.
    assert!(spectral_radius(masses, "predictive:fit=galerkin", longer) <= 1.0);
    assert!(spectral_radius(masses, "predictive:fit=galerkin", h) > 1.0 + 1e-6);
    let end = |longer: f64| {
        let system = masses.system([0.1, 3.0, 0.1, -20.0], "predictive", (h, 1));
        let control = SecondTry::new(system.experiment, longer);
        let mut engine = Engine::with_control(system, Box::new(control)).unwrap();
        engine.step().unwrap();
        assert_eq!(engine.last_step().length, h);
        engine.outputs().to_vec()
    };
    assert_eq!(end(longer), end(h));
}
