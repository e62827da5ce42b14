//! Macro steps that are done in parts.

use costep_core::{
    CouplingMethod, InputSegment, InputSet, Interval, Request, Restricted, Result, Signals, StateReader,
    StateWriter, StepContext, StepLengths, StepOutcome, Subsystem, SystemView, Wrapper,
};
use costep_engine::{Engine, Group};
use costep_integrate::Solver;
use costep_methods::MethodSpec;

use costep_conformance::systems::{coupled, method, model};
use costep_conformance::toys::Toy;

/// Parts that are wanted.
const PARTS: usize = 8;

/// Does what another method does, but divides the macro steps that it is told to.
struct Divider {
    divides: fn(u64) -> bool,
    inner: Box<dyn CouplingMethod>,
}

impl CouplingMethod for Divider {
    fn request(&self) -> Request {
        Request { divides: PARTS, ..self.inner.request() }
    }

    fn prepare(&mut self, system: &SystemView<'_>) -> Result<()> {
        self.inner.prepare(system)
    }

    fn divides(&mut self, step: &StepContext, _signals: &Signals<'_>) -> bool {
        (self.divides)(step.k)
    }

    fn pre_step(&mut self, step: &StepContext, signals: &mut Signals<'_>) -> Result<()> {
        self.inner.pre_step(step, signals)
    }

    fn save(&self, out: &mut StateWriter) {
        self.inner.save(out);
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.inner.load(from)
    }
}

/// A driven chain with three masses.
fn engine(method: &MethodSpec, step: f64, divides: fn(u64) -> bool) -> Engine {
    let chain = model("chain", &[("n", 3.0)]);
    let mut system = coupled(&chain, &Solver::Exact, method, 1.0, step);
    let inner = method.build();
    let inputs = InputSet::All(chain.layout().inputs());
    system.groups = vec![Group { method: Box::new(Divider { divides, inner }), inputs }];
    Engine::new(system).unwrap()
}

#[test]
fn a_run_in_parts_is_a_run_with_a_shorter_step() {
    for method in ["zoh", "foh", "soh"].map(method) {
        let mut divided = engine(&method, 8e-3, |_| true);
        let mut short = engine(&method, 1e-3, |_| false);
        for _ in 0..20 {
            divided.step().unwrap();
            (0..PARTS).for_each(|_| short.step().unwrap());
            let size = short.outputs().iter().fold(0.0, |size: f64, y| size.max(y.abs()));
            for (a, b) in divided.outputs().iter().zip(short.outputs()) {
                assert!((a - b).abs() <= 1e-9 * size, "{}: {a} {b}", method.label());
            }
            let (mut a, mut b) = (vec![0.0; divided.coupled().len()], vec![0.0; divided.coupled().len()]);
            divided.inputs_at_end(&mut a);
            short.inputs_at_end(&mut b);
            assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= 1e-9 * size), "{a:?} {b:?}");
        }
        assert_eq!(divided.k(), 20);
        assert_eq!(divided.subsystem_steps(), short.subsystem_steps());
    }
}

#[test]
fn a_run_with_some_divided_steps_can_be_saved_and_resumed() {
    let start = || engine(&method("foh"), 2e-3, |k| k % 3 == 0);
    let mut whole = start();
    (0..11).for_each(|_| whole.step().unwrap());
    let saved = whole.save().unwrap();
    let mut resumed = start();
    resumed.load(&saved).unwrap();
    for engine in [&mut whole, &mut resumed] {
        (0..7).for_each(|_| engine.step().unwrap());
    }
    assert_eq!(whole.outputs(), resumed.outputs());
    assert_eq!(whole.save().unwrap(), resumed.save().unwrap());
}

#[test]
fn parts_join_without_a_gap_and_end_where_the_step_ends() {
    let times = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let heard = std::sync::Arc::clone(&times);
    let clock = Toy::new("clock", 1, 1, move |t, _, y| {
        heard.lock().unwrap().push(t);
        y[0] = 1.0;
        Ok(())
    });
    let mut system = costep_conformance::toys::wired(vec![clock.boxed()], &[(0, 0)], &method("zoh"));
    system.experiment.step = 0.1;
    let inner = method("zoh").build();
    system.groups[0].method = Box::new(Divider { divides: |_| true, inner });
    let mut engine = Engine::new(system).unwrap();
    times.lock().unwrap().clear();
    (0..3).for_each(|_| engine.step().unwrap());
    let times = times.lock().unwrap();
    assert_eq!(times.len(), 3 * PARTS);
    assert!(times.windows(2).all(|pair| pair[0] < pair[1]));
    assert_eq!(times[3 * PARTS - 1], engine.time());
}

/// A subsystem that says which lengths of steps it can do, and is held to it.
struct Bound {
    inner: Box<dyn Subsystem>,
    lengths: StepLengths,
}

impl Wrapper for Bound {
    fn inner(&self) -> &dyn Subsystem {
        &*self.inner
    }

    fn inner_mut(&mut self) -> &mut dyn Subsystem {
        &mut *self.inner
    }

    fn step(&mut self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        assert!(interval.length == STEP || self.lengths.allow(interval.length), "{}", interval.length);
        self.inner.step(interval, u, y)
    }
}

const STEP: f64 = 2e-3;

/// Steps of subsystems per macro step and subsystem at the start of `identified`, and its warnings.
fn start_of_identified(lengths: StepLengths) -> (u64, Vec<String>) {
    let chain = model("chain", &[("n", 3.0)]);
    let mut system = coupled(&chain, &Solver::Exact, &method("identified"), 1.0, STEP);
    let inner = Restricted::new(system.subsystems.remove(1));
    let inner = inner.describe(|description| description.step_lengths = lengths).boxed();
    system.subsystems.insert(1, Box::new(Bound { inner, lengths }));
    let mut engine = Engine::new(system).unwrap();
    engine.step().unwrap();
    (engine.subsystem_steps() / 3, engine.warnings().map(Into::into).collect())
}

#[test]
fn steps_are_divided_as_all_subsystems_can() {
    assert_eq!(start_of_identified(StepLengths::Any), (4, vec![]));
    assert_eq!(start_of_identified(StepLengths::MultiplesOf(4e-4)), (5, vec![]));
    assert_eq!(start_of_identified(StepLengths::MultiplesOf(1e-3)), (2, vec![]));
    for (lengths, why) in
        [(StepLengths::MacroSteps, "cannot vary"), (StepLengths::MultiplesOf(STEP), "4 ms could")]
    {
        let (steps, warnings) = start_of_identified(lengths);
        let [warning] = &warnings[..] else { panic!("{warnings:?}") };
        assert!(steps == 1 && warning.contains(why), "{steps} {warning}");
    }
}

/// A loop that goes through two groups is in neither of them: that is said, and not of a system whose groups
/// have loops of their own.
#[test]
fn a_group_that_tears_a_loop_is_told() {
    let oscillator = model("dual-mass", &[]);
    let inputs = oscillator.layout().inputs();
    let warnings = |sets: Vec<InputSet>| -> Vec<String> {
        let mut system = coupled(&oscillator, &Solver::Exact, &method("identified"), 1.0, STEP);
        let group = |inputs| Group { method: method("identified").build(), inputs };
        system.groups = sets.into_iter().map(group).collect();
        let mut engine = Engine::new(system).unwrap();
        engine.step().unwrap();
        assert_eq!(engine.divided_steps().0, u64::from(engine.warnings().count() == 0));
        engine.warnings().map(Into::into).collect()
    };
    assert_eq!(warnings(vec![InputSet::All(inputs)]), Vec::<String>::new());
    let torn = warnings(vec![InputSet::Some(vec![0]), InputSet::Some((1..inputs).collect())]);
    assert!(torn.len() == 2 && torn[0].contains("into one group"), "{torn:?}");
}
