//! Methods that repeat steps, and subsystems that cannot.

use costep_core::{
    Code, CouplingMethod, InputSet, Needs, Restricted, Result, Signals, StateReader, StateWriter,
    StepContext, SystemView, Verdict,
};
use costep_engine::{Engine, Group, System};
use costep_integrate::Solver;
use costep_methods::{METHODS, MethodSpec};

use crate::common::{coupled, method, model};
use crate::toys::{Toy, bits_after, error_of, wired};
use crate::variants::variants;

/// Does what another method does, but asks for every step again and again.
struct Stubborn {
    /// Whether it says that it needs rollback.
    asks: bool,
    inner: Box<dyn CouplingMethod>,
    repetitions: u32,
}

impl CouplingMethod for Stubborn {
    fn choose(&mut self, system: &SystemView<'_>) -> Result<()> {
        self.inner.choose(system)
    }

    fn needs(&self) -> Needs {
        Needs { rollback: self.asks, looks_back: true, ..self.inner.needs() }
    }

    fn prepare(&mut self, system: &SystemView<'_>) -> Result<()> {
        self.inner.prepare(system)
    }

    fn pre_step(&mut self, step: &StepContext, signals: &mut Signals<'_>) -> Result<()> {
        self.inner.pre_step(step, signals)
    }

    fn post_step(&mut self, step: &StepContext, signals: &Signals<'_>) -> Result<Verdict> {
        let verdict = self.inner.post_step(step, signals)?;
        Ok(if step.repetition < self.repetitions { Verdict::Repeat } else { verdict })
    }

    fn save(&self, out: &mut StateWriter) {
        self.inner.save(out);
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.inner.load(from)
    }
}

/// A dual mass whose force input is under one method, which repeats, and whose other inputs are under another.
fn repeated(force: &MethodSpec, others: &MethodSpec, repetitions: u32) -> System {
    let mut system = coupled(&model("dual-mass", &[]), &Solver::Dopri5(1e-6), force, 1.0, 1e-3);
    let stubborn = Stubborn { asks: true, inner: force.build(), repetitions };
    system.groups = vec![
        Group { method: Box::new(stubborn), inputs: InputSet::Some(vec![0]) },
        Group { method: others.build(), inputs: InputSet::Some(vec![1, 2]) },
    ];
    system
}

#[test]
fn a_repeated_step_is_the_same_step() {
    let zoh = method("zoh");
    for method in variants() {
        for (force, others) in [(&method, &method), (&zoh, &method)] {
            let run = |repetitions| {
                let mut engine = Engine::new(repeated(force, others, repetitions)).unwrap();
                (bits_after(&mut engine, 50), engine.save().unwrap().len(), engine.subsystem_steps())
            };
            let (once, again) = (run(0), run(3));
            assert!(once.0 == again.0, "{} and {}", force.label(), others.label());
            assert_eq!((once.2, again.2), (100, 400));
        }
    }
}

#[test]
fn too_many_repetitions_are_an_error() {
    let zoh = method("zoh");
    assert!(Engine::new(repeated(&zoh, &zoh, 100)).unwrap().step().is_ok());
    let error = Engine::new(repeated(&zoh, &zoh, u32::MAX)).unwrap().step().unwrap_err();
    assert_eq!(error.code(), Code::Repeats);
}

#[test]
fn repeating_needs_subsystems_that_can_go_back() {
    let rigid = Restricted::new(Toy::listener("rigid").0.boxed()).without_rollback();
    let mut system = wired(vec![rigid.boxed()], &[(0, 0)], &method("zoh"));
    system.groups[0].method = Box::new(Stubborn { asks: true, inner: method("zoh").build(), repetitions: 1 });
    let error = error_of(system);
    assert_eq!(error.code(), Code::NeedsMissing);
    assert!(error.to_string().contains("`rigid`"), "{error}");
}

#[test]
fn inputs_are_of_an_order_that_the_subsystem_takes() {
    for entry in METHODS {
        let order = method(entry.id).build().needs().input_order;
        for offered in 0..=2 {
            let mut toy = Toy::listener("simple").0;
            toy.description.input_order = offered;
            let system = wired(vec![toy.boxed()], &[(0, 0)], &method(entry.id));
            let code = Engine::new(system).err().map(|error| error.code());
            assert_eq!(code, (offered < order).then_some(Code::NeedsMissing), "{} {offered}", entry.id);
        }
    }
}

#[test]
fn a_method_that_repeats_without_asking_for_rollback_is_an_error() {
    let mut system = repeated(&method("zoh"), &method("zoh"), 0);
    let silent = Stubborn { asks: false, inner: method("zoh").build(), repetitions: 1 };
    system.groups[0].method = Box::new(silent);
    assert_eq!(error_of(system).code(), Code::Bug);
}
