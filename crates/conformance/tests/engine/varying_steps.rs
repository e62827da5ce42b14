//! Steps whose lengths vary: the length is a property of the step, not of the run.

use std::sync::{Arc, Mutex};

use costep_core::{
    AfterStep, Code, CouplingMethod, Experiment, InputPolynomials, Interval, LengthDemand, Request,
    Restricted, Result, Signals, StepContext, StepLengths, Subsystem, SystemView, Verdict,
};
use costep_engine::{Engine, Flow, StepControl, System};
use costep_integrate::{Integrated, Solver};
use costep_methods::{METHODS, MethodSpec};

use costep_conformance::order::{LONGEST_STEP, STATES, STOP, soft_from_rest};
use costep_conformance::systems::{coupled, method, model};
use costep_conformance::toys::{Toy, bits_after, wired};
use costep_conformance::varying_steps::{PATTERN, Varying, varying};

/// Every method with every option changed.
fn variants() -> impl Iterator<Item = MethodSpec> {
    METHODS.iter().flat_map(costep_conformance::variants)
}

/// Whether a method can do without steps of one length.
fn takes_any_step(method: &MethodSpec) -> bool {
    method.build().request().lengths < LengthDemand::Equal
}

/// Greatest error of each output in the second half of a run against the system solved as one.
fn errors(id: &str, step: f64) -> Vec<f64> {
    let model = soft_from_rest();
    let mut engine = varying(coupled(&model, &Solver::Exact, &method(id), STOP, step)).unwrap();
    let mut twin = Integrated::new(model.monolithic().unwrap(), &Solver::Dopri5(1e-13)).unwrap();
    twin.initialise(engine.experiment()).unwrap();
    let (no_input, mut exact) = (InputPolynomials::new(0, 0), engine.outputs().to_vec());
    let mut errors = vec![0.0f64; exact.len()];
    while !engine.is_over() {
        engine.step().unwrap();
        twin.step(engine.last_step(), no_input.segment(0..0, 0), &mut exact).unwrap();
        if engine.time() > 0.5 * STOP {
            let each = errors.iter_mut().zip(engine.outputs().iter().zip(&exact));
            each.for_each(|(error, (y, exact))| *error = error.max((y - exact).abs()));
        }
    }
    errors
}

#[test]
fn every_method_that_needs_no_equal_steps_keeps_its_order() {
    let any = METHODS.iter().filter(|entry| takes_any_step(&method(entry.id)));
    for entry in any {
        let is_high = entry.convergence_order > 3;
        let (longest, halvings) = if is_high { (8.0 * LONGEST_STEP, 2) } else { (LONGEST_STEP, 4) };
        let (coarse, fine) = (errors(entry.id, longest), errors(entry.id, longest * 0.5f64.powi(halvings)));
        let slope = |i: usize| (coarse[i] / fine[i]).log2() / f64::from(halvings);
        let slopes: Vec<_> = STATES.map(slope).collect();
        println!("{}: {slopes:.2?}", entry.id);
        let order = f64::from(entry.convergence_order);
        assert!(slopes.iter().all(|slope| *slope >= order - 0.25), "{}: {slopes:?}", entry.id);
    }
}

/// Trial steps that give local models go on to the end of the run, however many steps it has.
#[test]
fn probed_models_serve_all_of_a_run() {
    let (exact, probed) =
        (errors("predictive", LONGEST_STEP), errors("predictive:source=probe", LONGEST_STEP));
    println!("{exact:?} {probed:?}");
    for i in STATES {
        assert!(probed[i] < 2.0 * exact[i], "{i}: {probed:?} {exact:?}");
    }
}

#[test]
fn a_resumed_run_with_varying_steps_has_the_same_bits() {
    for method in variants().filter(takes_any_step) {
        let start =
            || varying(coupled(&model("dual-mass", &[]), &Solver::Dopri5(1e-6), &method, 1.0, 1e-3)).unwrap();
        let mut unbroken = start();
        bits_after(&mut unbroken, 50);
        let mut resumed = start();
        resumed.load(&unbroken.save().unwrap()).unwrap();
        assert_eq!((resumed.k(), resumed.time()), (unbroken.k(), unbroken.time()));
        let (then, now) = (bits_after(&mut unbroken, 50), bits_after(&mut resumed, 50));
        assert!(then == now, "{} goes on differently", method.label());
        assert_eq!(unbroken.save().unwrap(), resumed.save().unwrap());
    }
}

#[test]
fn observers_see_the_times_of_the_steps() {
    let mut engine = varying(coupled(&soft_from_rest(), &Solver::Exact, &method("foh"), 1.0, 0.01)).unwrap();
    let mut seen = Vec::new();
    let mut watch = |engine: &Engine| {
        seen.push((engine.time(), engine.last_step(), engine.progress()));
        Ok(Flow::Continue)
    };
    engine.run(&mut [&mut watch]).unwrap();
    assert_eq!((seen[0].0, seen[0].1.length, seen[0].2), (0.0, 0.0, 0.0));
    for (k, pair) in seen.windows(2).enumerate() {
        let (time, step, progress) = pair[1];
        assert_eq!((pair[0].0, time), (step.start, step.end), "step {k}");
        assert_eq!(step.length, 0.01 * PATTERN[k % PATTERN.len()]);
        assert!(progress > pair[0].2 && (progress - time.min(1.0)).abs() < 1e-12, "{progress}");
    }
    let end = seen.last().unwrap().0;
    assert!((1.0..1.01).contains(&end) && engine.is_over(), "{end}");
    assert_eq!(engine.simulated_here(), end);
}

#[test]
fn who_needs_equal_steps_is_told() {
    for entry in METHODS.iter().filter(|entry| !takes_any_step(&method(entry.id))) {
        match varying(coupled(&model("dual-mass", &[]), &Solver::Exact, &method(entry.id), 1.0, 1e-3)) {
            Err(error) => assert_eq!(error.code(), Code::NeedsMissing, "{}", entry.id),
            Ok(engine) => assert!(engine.remarks().count() > 0, "{} has not chosen another way", entry.id),
        }
    }
    let fixed = Restricted::new(Toy::listener("fixed").0.boxed());
    let fixed = fixed.describe(|description| description.step_lengths = StepLengths::MacroSteps).boxed();
    let error = varying(wired(vec![fixed], &[(0, 0)], &method("zoh"))).err().expect("it is refused");
    assert!(error.code() == Code::NeedsMissing && error.to_string().contains("`fixed`"), "{error}");
}

/// Does what another method does, and rejects every step from here on that is longer than it likes.
struct Impatient {
    inner: Box<dyn CouplingMethod>,
    from: f64,
    longest: f64,
    tried: Arc<Mutex<Vec<f64>>>,
}

impl CouplingMethod for Impatient {
    fn choose(&mut self, system: &SystemView<'_>) -> Result<()> {
        self.inner.choose(system)
    }

    fn request(&self) -> Request {
        Request { after_step: AfterStep::Judge, ..self.inner.request() }
    }

    fn prepare(&mut self, system: &SystemView<'_>) -> Result<()> {
        self.inner.prepare(system)
    }

    fn pre_step(&mut self, step: &StepContext, signals: &mut Signals<'_>) -> Result<()> {
        self.inner.pre_step(step, signals)
    }

    fn post_step(&mut self, step: &StepContext, signals: &Signals<'_>) -> Result<Verdict> {
        self.tried.lock().unwrap().push(step.h);
        let too_long = step.t >= self.from && step.h > self.longest;
        let verdict = self.inner.post_step(step, signals)?;
        Ok(if too_long { Verdict::Reject { shorter: (0.5 * step.h).max(self.longest) } } else { verdict })
    }
}

/// A method that rejects steps longer than 2 ms, and the lengths that were tried.
fn impatient(spec: &str, step: f64) -> (System, Arc<Mutex<Vec<f64>>>) {
    let tried = Arc::new(Mutex::new(Vec::new()));
    let mut system = coupled(&model("dual-mass", &[]), &Solver::Dopri5(1e-6), &method(spec), 0.1, step);
    let inner = method(spec).build();
    system.groups[0].method =
        Box::new(Impatient { inner, from: 0.0, longest: 2e-3, tried: Arc::clone(&tried) });
    (system, tried)
}

/// Lengths as if they had been proposed like that from the start.
struct Short(Varying);

impl StepControl for Short {
    fn next_step(&self, k: u64) -> Interval {
        let mut step = self.0.next_step(k);
        while step.length > 2e-3 {
            step.length = (0.5 * step.length).max(2e-3);
        }
        Interval { end: step.start + step.length, ..step }
    }

    fn is_over(&self, k: u64) -> bool {
        self.0.is_over(k)
    }

    fn is_uniform(&self) -> bool {
        false
    }

    fn rejected(&mut self, step: &StepContext, shorter: f64) -> Result<()> {
        self.0.rejected(step, shorter)
    }

    fn accepted(&mut self, step: &StepContext) {
        self.0.accepted(step);
    }
}

#[test]
fn a_rejected_step_leaves_no_trace() {
    for method in variants().filter(takes_any_step) {
        let (system, tried) = impatient(&method.label(), 8e-3);
        let mut rejecting = varying(system).unwrap();
        let (system, _) = impatient(&method.label(), 8e-3);
        let control = Short(Varying::new(system.experiment));
        let mut short = Engine::with_control(system, Box::new(control)).unwrap();
        for _ in 0..20 {
            rejecting.step().unwrap();
            short.step().unwrap();
            assert_eq!(rejecting.time(), short.time());
        }
        let bits = |engine: &Engine| engine.outputs().iter().map(|y| y.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&rejecting), bits(&short), "{}", method.label());
        let tried = tried.lock().unwrap();
        assert_eq!(tried[..3], [8e-3, 4e-3, 2e-3], "{tried:?}");
        assert!(rejecting.k() == 20 && rejecting.subsystem_steps() == 2 * tried.len() as u64);
    }
}

#[test]
fn fixed_steps_that_are_rejected_are_done_in_halves() {
    for spec in ["zoh", "foh", "iqn-ils", "ijcsa"] {
        let (system, tried) = impatient(spec, 8e-3);
        let mut halved = Engine::new(system).unwrap();
        let mut short = Engine::new(impatient(spec, 2e-3).0).unwrap();
        (0..3).for_each(|_| halved.step().unwrap());
        (0..12).for_each(|_| short.step().unwrap());
        let values = |engine: &Engine| (engine.outputs().to_vec(), engine.coupled().to_vec());
        assert_eq!((halved.k(), halved.time()), (3, short.time()));
        assert_eq!(values(&halved), values(&short), "{spec}");
        let mut tried = tried.lock().unwrap().clone();
        tried.dedup();
        assert_eq!(tried[..6], [8e-3, 4e-3, 2e-3, 4e-3, 2e-3, 8e-3], "{spec}: {tried:?}");
    }
    let (mut system, _) = impatient("zoh", 8e-3);
    let last = system.subsystems.pop().unwrap();
    let fixed = Restricted::new(last).describe(|of| of.step_lengths = StepLengths::MacroSteps).boxed();
    system.subsystems.push(fixed);
    let error = Engine::new(system).unwrap().step().unwrap_err();
    assert!(error.code() == Code::NeedsMissing && error.to_string().contains("`s2`"), "{error}");
}

/// Ramps over whole steps, of a method that has learnt: each part began where the whole step had.
#[test]
fn ramps_of_halved_steps_are_one_line() {
    struct Halving(Box<dyn CouplingMethod>, Arc<Mutex<Vec<[f64; 4]>>>);
    impl CouplingMethod for Halving {
        fn request(&self) -> Request {
            Request { after_step: AfterStep::Judge, ..self.0.request() }
        }
        fn prepare(&mut self, system: &SystemView<'_>) -> Result<()> {
            self.0.prepare(system)
        }
        fn divides(&mut self, step: &StepContext, signals: &Signals<'_>) -> bool {
            self.0.divides(step, signals)
        }
        fn pre_step(&mut self, step: &StepContext, signals: &mut Signals<'_>) -> Result<()> {
            self.0.pre_step(step, signals)
        }
        fn post_step(&mut self, step: &StepContext, signals: &Signals<'_>) -> Result<Verdict> {
            if step.t < 0.3 {
                return Ok(Verdict::Accept);
            }
            if step.h > 0.6e-3 {
                return Ok(Verdict::Reject { shorter: 0.5 * step.h });
            }
            let [begin, slope] = [0, 1].map(|order| signals.inputs.coefficients(order)[0]);
            self.1.lock().unwrap().push([step.h, begin, begin + slope * step.h, slope]);
            Ok(Verdict::Accept)
        }
    }
    let spec = method("identified:form=ramp");
    let mut system = coupled(&model("dual-mass", &[]), &Solver::Dopri5(1e-6), &spec, 0.4, 1e-3);
    let parts = Arc::new(Mutex::new(Vec::new()));
    system.groups[0].method = Box::new(Halving(spec.build(), Arc::clone(&parts)));
    let mut engine = Engine::new(system).unwrap();
    while !engine.is_over() {
        engine.step().unwrap();
    }
    let parts = parts.lock().unwrap();
    let scale = parts.iter().map(|[_, begin, ..]| begin.abs()).fold(0.0, f64::max);
    let same = |a: f64, b: f64| (a - b).abs() <= 1e-12 * scale;
    assert!(parts.len() >= 190 && parts.iter().any(|[.., slope]| slope.abs() > scale), "{}", parts.len());
    for pair in parts.chunks_exact(2) {
        let [[h, _, end, slope], [_, begin, _, next]] = [pair[0], pair[1]];
        assert!(same(end, begin) && same(slope * h, next * h), "{pair:?}");
    }
}

#[test]
fn nothing_is_rejected_for_ever() {
    struct Never(Box<dyn CouplingMethod>);
    impl CouplingMethod for Never {
        fn request(&self) -> Request {
            Request { after_step: AfterStep::Judge, ..self.0.request() }
        }
        fn prepare(&mut self, system: &SystemView<'_>) -> Result<()> {
            self.0.prepare(system)
        }
        fn pre_step(&mut self, step: &StepContext, signals: &mut Signals<'_>) -> Result<()> {
            self.0.pre_step(step, signals)
        }
        fn post_step(&mut self, step: &StepContext, _signals: &Signals<'_>) -> Result<Verdict> {
            Ok(Verdict::Reject { shorter: 0.9 * step.h })
        }
    }
    let system = || {
        let mut system = impatient("zoh", 8e-3).0;
        system.groups[0].method = Box::new(Never(method("zoh").build()));
        system
    };
    assert_eq!(varying(system()).unwrap().step().unwrap_err().code(), Code::Repeats);
    assert_eq!(Engine::new(system()).unwrap().step().unwrap_err().code(), Code::Repeats);
}

/// Rejects what moves an output by too much, whatever the method.
struct Careful {
    steps: Varying,
    most: f64,
}

impl StepControl for Careful {
    fn next_step(&self, k: u64) -> Interval {
        self.steps.next_step(k)
    }

    fn is_over(&self, k: u64) -> bool {
        self.steps.is_over(k)
    }

    fn is_uniform(&self) -> bool {
        false
    }

    fn rejected(&mut self, step: &StepContext, shorter: f64) -> Result<()> {
        self.steps.rejected(step, shorter)
    }

    fn accepted(&mut self, step: &StepContext) {
        self.steps.accepted(step);
    }

    fn after_step(&self) -> AfterStep {
        AfterStep::Judge
    }

    fn judge(&mut self, step: &StepContext, signals: &Signals<'_>) -> Result<Verdict> {
        let moved = signals.y.iter().zip(signals.y_next).any(|(y, next)| (next - y).abs() > self.most);
        Ok(if moved { Verdict::Reject { shorter: 0.5 * step.h } } else { Verdict::Accept })
    }
}

#[test]
fn a_control_may_reject_steps_of_any_method() {
    let ramp = || Toy::source("ramp", |t| t * t).boxed();
    let experiment = Experiment { start: 0.0, stop: 3.0, step: 0.5 };
    let start = |subsystem: Box<dyn Subsystem>| {
        let mut system = wired(vec![subsystem], &[], &method("zoh"));
        system.experiment = experiment;
        Engine::with_control(system, Box::new(Careful { steps: Varying::new(experiment), most: 0.7 }))
    };
    let mut engine = start(ramp()).unwrap();
    let (mut before, mut shortest) = (0.0, f64::INFINITY);
    while !engine.is_over() {
        engine.step().unwrap();
        let now = engine.outputs()[0];
        assert!(now - before <= 0.7 && now == engine.time() * engine.time(), "{before} {now}");
        shortest = engine.last_step().length.min(shortest);
        before = now;
    }
    assert_eq!(shortest, 0.5 / 8.0);
    let rigid = Restricted::new(ramp()).without_rollback().boxed();
    assert_eq!(start(rigid).err().map(|error| error.code()), Some(Code::NeedsMissing));
}
