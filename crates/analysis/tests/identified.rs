//! Coupling of black boxes by identified models: errors on the benchmark systems, and what it does when things go wrong.
//! Figures of a prototype stand beside the bounds.

use costep_analysis::{Measures, Reference, Trace, measure};
use costep_core::{
    Code, Description, Experiment, External, InputSegment, InputSet, Interval, LocalModel, Result,
    StepOutcome, Subsystem,
};
use costep_engine::{Engine, Group, Scheduling, System, Threads};
use costep_integrate::{Ode, Renamable, Solver};
use costep_methods::MethodSpec;
use costep_models::Model;

fn model(id: &str, set: &[(&str, f64)]) -> Model {
    let set: Vec<_> = set.iter().map(|(name, value)| (String::from(*name), *value)).collect();
    costep_models::find(id).unwrap().model(&set).unwrap().1
}

/// A run of a model whose subsystems have been changed by `wrap`; infinite errors if it diverges.
fn run(
    model: &Model,
    method: &str,
    step: f64,
    stop: f64,
    wrap: impl Fn(usize, Box<dyn Subsystem>) -> Box<dyn Subsystem>,
) -> Option<Measures> {
    let layout = model.layout();
    let experiment = Experiment { start: 0.0, stop, step };
    let parts = model.parts.iter().map(|part| part.subsystem(&model.solver).unwrap());
    let mut engine = Engine::new(System {
        subsystems: parts.enumerate().map(|(i, part)| wrap(i, part)).collect(),
        connections: model.connections.clone(),
        models: Box::new(costep_ident::Exact::new(1)),
        externals: model.externals.clone(),
        groups: vec![Group {
            method: MethodSpec::parse(method).unwrap().build(),
            inputs: InputSet::All(layout.inputs()),
        }],
        scheduling: Scheduling::Auto,
        bounds: vec![],
        experiment,
        threads: Threads::Fixed(1),
        micro_samples: false,
    })
    .unwrap();
    let mut trace = Trace::new(layout.outputs(), false);
    match engine.run(&mut [&mut trace]) {
        Ok(()) => {}
        Err(error) if matches!(error.code(), Code::Diverged | Code::NotFinite) => return None,
        Err(error) => panic!("{error}"),
    }
    let exact = model.solver == Solver::Exact && !model.externals.is_empty();
    let solver = if exact { Solver::Dopri5(1e-10) } else { model.solver };
    let reference = Reference::new(model, solver, &experiment, false).unwrap();
    Some(measure(engine.descriptions(), &trace, &reference))
}

fn eps(model: &Model, method: &str, step: f64, stop: f64) -> f64 {
    run(model, method, step, stop, |_, part| part).map_or(f64::INFINITY, |measures| measures.eps_mean)
}

#[test]
fn the_nonlinear_oscillator_stays_near_the_monolithic_solution() {
    let oscillator = model("dual-mass-nonlinear", &[]);
    assert!((eps(&oscillator, "zoh", 1e-3, 1.0) - 0.068056).abs() < 1e-5);
    for (step, prototype, bound) in [(1e-3, 0.031, 0.032), (5e-3, 0.127, 0.14)] {
        let eps = eps(&oscillator, "identified", step, 1.0);
        println!("{step}: {eps:.4} (prototype {prototype})");
        assert!(eps <= bound, "{step}: {eps}");
    }
    assert!(eps(&oscillator, "zoh", 5e-3, 1.0) > 1.0);
}

#[test]
fn the_helicopter_flies_where_holds_crash() {
    for (controller, prototype) in [(1.0, 0.020), (2.0, 0.018)] {
        let helicopter = model("helicopter", &[("controller", controller)]);
        let [zoh, nepce, hold, ramp] = ["zoh", "nepce", "identified", "identified:form=ramp"]
            .map(|method| eps(&helicopter, method, 0.3, 90.0));
        println!("controller {controller}: hold {hold:.4} ramp {ramp:.4} (prototype {prototype})");
        assert!(zoh > 9.0 && nepce > 9.0, "{zoh} {nepce}");
        assert!(hold <= 0.03 && ramp <= 0.04, "{hold} {ramp}");
        assert!(eps(&helicopter, "predictive", 0.3, 90.0) <= 0.02);
    }
}

/// A subsystem that can do nothing but a plain step of one length.
struct BlackBox {
    description: Description,
    inner: Box<dyn Subsystem>,
    /// Standard deviation of noise on each output.
    noise: Vec<f64>,
    random: u64,
}

impl BlackBox {
    fn new(inner: Box<dyn Subsystem>) -> Self {
        let mut description = inner.description().clone();
        description.capabilities.rollback = false;
        description.capabilities.local_model = false;
        description.capabilities.input_order = 0;
        description.capabilities.micro_samples = None;
        let noise = vec![0.0; description.outputs.len()];
        Self { description, inner, noise, random: 1 }
    }

    /// Nearly Gaussian, of variance 1: the sum of twelve uniform numbers.
    fn gaussian(&mut self) -> f64 {
        let mut uniform = || {
            self.random =
                self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.random >> 11) as f64 / (1u64 << 53) as f64
        };
        (0..12).map(|_| uniform()).sum::<f64>() - 6.0
    }
}

impl Subsystem for BlackBox {
    fn description(&self) -> &Description {
        &self.description
    }

    fn initialise(&mut self, experiment: &Experiment) -> Result<()> {
        self.inner.initialise(experiment)
    }

    fn initial_outputs(&mut self, u: &[f64], y: &mut [f64]) -> Result<()> {
        self.inner.initial_outputs(u, y)
    }

    fn step(&mut self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        let outcome = self.inner.step(interval, u, y)?;
        for (i, y) in y.iter_mut().enumerate() {
            *y += self.noise[i] * self.gaussian();
        }
        Ok(outcome)
    }

    fn can_step_by(&self, _length: f64) -> bool {
        self.noise.iter().any(|noise| *noise > 0.0)
    }
}

/// Black boxes that cannot even divide their step: stable at 5 ms, learning included, where a hold explodes.
#[test]
fn black_boxes_without_any_capability_are_coupled() {
    let oscillator = model("dual-mass", &[("ck", 1e5), ("dk", 1e3)]);
    let boxed = |method: &str| run(&oscillator, method, 5e-3, 0.3, |_, part| Box::new(BlackBox::new(part)));
    let held = boxed("zoh");
    assert!(held.is_none_or(|measures| measures.unstable && measures.eps_mean > 1.0));
    for method in ["identified", "auto"] {
        let measures = boxed(method).unwrap();
        println!("{method}: {:.4}", measures.eps_mean);
        assert!(!measures.unstable && measures.eps_mean < 0.5, "{method}: {}", measures.eps_mean);
    }
}

/// Errors of the extrapolations that identified coupling could have fallen back to.
fn best_fall_back(
    model: &Model,
    step: f64,
    stop: f64,
    wrap: fn(usize, Box<dyn Subsystem>) -> Box<dyn Subsystem>,
) -> f64 {
    let eps = |method: &str| run(model, method, step, stop, wrap).map_or(f64::INFINITY, |m| m.eps_mean);
    eps("zoh").min(eps("foh"))
}

#[test]
fn a_chain_of_five_black_boxes_is_coupled() {
    for (step, idle) in [(1e-3, 0.0), (2e-3, 0.0), (5e-3, 0.5)] {
        let mut chain = model("chain", &[("idle", idle)]);
        chain.solver = Solver::Exact;
        let stop = 1.0 + idle;
        let fall_back = best_fall_back(&chain, step, stop, |_, part| part);
        for method in ["identified", "identified:form=ramp"] {
            let eps = eps(&chain, method, step, stop);
            println!("{method} {step} idle {idle}: {eps:.4}, fall-back {fall_back:.4}");
            assert!(eps <= 2.0 * fall_back && eps < 0.5, "{method} {step}: {eps} {fall_back}");
        }
    }
}

/// Noise at 40 dB on all outputs.
fn noisy(_: usize, part: Box<dyn Subsystem>) -> Box<dyn Subsystem> {
    let mut part = BlackBox::new(part);
    part.description.capabilities.input_order = 1;
    let nominal = part.description.outputs.iter().map(|port| 0.01 * port.nominal.unwrap_or(1.0));
    part.noise = nominal.collect();
    Box::new(part)
}

#[test]
fn noise_does_no_more_harm_than_to_a_hold() {
    for (ck, dk, step) in [(1e5, 1e3, 1e-3), (2e5, 200.0, 2e-3), (1e5, 1e3, 4e-3)] {
        let oscillator = model("dual-mass", &[("ck", ck), ("dk", dk)]);
        let fall_back = best_fall_back(&oscillator, step, 0.5, noisy);
        for method in ["identified", "identified:start=plain"] {
            let eps = run(&oscillator, method, step, 0.5, noisy).map_or(f64::INFINITY, |m| m.eps_mean);
            println!("{method} {ck:e} {step}: {eps:.4}, fall-back {fall_back:.4}");
            assert!(eps <= 2.0 * fall_back && eps.is_finite(), "{method} {ck} {step}: {eps} {fall_back}");
        }
    }
}

/// A mass whose spring becomes twice as stiff at half time.
#[derive(Clone)]
struct Stiffening {
    description: Description,
}

impl Stiffening {
    fn spring(t: f64) -> f64 {
        if t < 0.5 { 1e6 } else { 2e6 }
    }
}

impl Renamable for Stiffening {
    fn description_mut(&mut self) -> &mut Description {
        &mut self.description
    }
}

impl Ode for Stiffening {
    fn description(&self) -> &Description {
        &self.description
    }

    fn states(&self) -> usize {
        2
    }

    fn initial_state(&self, x: &mut [f64]) {
        x.copy_from_slice(&[0.1, 0.0]);
    }

    fn derivatives(&self, t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) {
        x_dot[0] = x[1];
        x_dot[1] = (u[0] - Self::spring(t) * x[0] - x[1]) / 10.0;
    }

    fn outputs(&self, _t: f64, x: &[f64], _u: &[f64], y: &mut [f64]) {
        y.copy_from_slice(x);
    }

    fn jacobians(&self, t: f64, _x: &[f64], _u: &[f64], model: &mut LocalModel) {
        model.a.copy_from_slice(&[0.0, 1.0, -0.1 * Self::spring(t), -0.1]);
        model.b.copy_from_slice(&[0.0, 0.1]);
        model.c.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
        model.d.fill(0.0);
    }
}

#[test]
fn a_subsystem_that_changes_is_learnt_again() {
    let mut oscillator = model("dual-mass", &[("ck", 2e5), ("dk", 500.0)]);
    let description = oscillator.parts[0].description().clone();
    oscillator.parts[0] = Box::new(Stiffening { description });
    let (high, low, frequency) = (4e4, -4e4, 9.0);
    let oscillator =
        oscillator.driven(0, 0, External::Square { high, low, frequency, phase: 0.0, start: 0.0 });
    for step in [1e-3, 2e-3] {
        let fall_back = best_fall_back(&oscillator, step, 1.0, |_, part| part);
        for method in ["identified", "identified:form=ramp"] {
            let eps = eps(&oscillator, method, step, 1.0);
            println!("{method} {step}: {eps:.4}, fall-back {fall_back:.4}");
            assert!(eps <= 2.0 * fall_back && eps.is_finite(), "{method} {step}: {eps} {fall_back}");
        }
    }
}

/// Inputs that never move teach nothing and must not hurt: a chain at rest, pushed late and weakly.
#[test]
fn without_excitation_nothing_happens() {
    let chain = model("chain", &[("force", 0.0)]);
    for method in ["identified", "identified:form=ramp", "identified:start=plain"] {
        assert_eq!(eps(&chain, method, 5e-3, 2.0), 0.0, "{method}");
    }
}
