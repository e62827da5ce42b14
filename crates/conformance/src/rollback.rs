//! Methods that repeat steps, and subsystems that cannot.

use costep_core::{
    AfterStep, Code, CouplingMethod, InputSet, LowerOrders, MethodEntry, Request, Result, Signals,
    StateReader, StateWriter, StepContext, SystemView, Value, Verdict,
};
use costep_engine::{Engine, Group, System};
use costep_integrate::Solver;
use costep_methods::MethodSpec;

use crate::systems::{coupled, method, model};
use crate::toys::{Toy, bits_after, wired};
use crate::variants::{defaults, variants};

/// Does what another method does, but asks for every step again and again.
pub struct Stubborn {
    /// Whether it says that it needs rollback.
    pub asks: bool,
    /// The other method.
    pub inner: Box<dyn CouplingMethod>,
    /// How often.
    pub repetitions: u32,
}

impl CouplingMethod for Stubborn {
    fn choose(&mut self, system: &SystemView<'_>) -> Result<()> {
        self.inner.choose(system)
    }

    fn request(&self) -> Request {
        let after_step = if self.asks { AfterStep::Judge } else { AfterStep::Look };
        Request { after_step, ..self.inner.request() }
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

/// A dual mass whose force input is under one method, which repeats, and whose other inputs are under
/// another.
///
/// # Panics
///
/// If there is no dual mass.
pub fn repeated(force: &MethodSpec, others: &MethodSpec, repetitions: u32) -> System {
    let mut system = coupled(&model("dual-mass", &[]), &Solver::Dopri5(1e-6), force, 1.0, 1e-3);
    let stubborn = Stubborn { asks: true, inner: force.build(), repetitions };
    system.groups = vec![
        Group { method: Box::new(stubborn), inputs: InputSet::Some(vec![0]) },
        Group { method: others.build(), inputs: InputSet::Some(vec![1, 2]) },
    ];
    system
}

pub(crate) fn a_repeated_step_is_the_same_step(entry: &'static MethodEntry) {
    let zoh = method("zoh");
    // A loop through two groups that are iterated each for itself need not converge.
    let insists =
        |method: &MethodSpec| method.given().iter().any(|(_, value)| *value == Value::Text("stop".into()));
    for method in variants(entry).into_iter().filter(|method| !insists(method)) {
        for (force, others) in [(&method, &method), (&zoh, &method)] {
            let run = |repetitions| {
                let mut engine = Engine::new(repeated(force, others, repetitions)).unwrap();
                (bits_after(&mut engine, 50), engine.save().unwrap().len(), engine.subsystem_steps())
            };
            let (once, again) = (run(0), run(3));
            assert!(once.0 == again.0, "{} and {}", force.label(), others.label());
            // Those that repeat steps themselves may need more tries for some of them.
            let judges =
                [force, others].iter().any(|method| method.build().request().after_step == AfterStep::Judge);
            assert!(
                if judges { again.2 >= 400 } else { (once.2, again.2) == (100, 400) },
                "{}",
                method.label()
            );
        }
    }
}

pub(crate) fn inputs_are_of_an_order_that_the_subsystem_takes(entry: &'static MethodEntry) {
    let shape = defaults(entry).build().request().inputs;
    // Where parts integrate no model of their environment, inputs are held: toys do not.
    let refuses = |offered: usize| {
        offered < shape.order() && shape.lower_orders() == LowerOrders::Refused && !shape.has_environment()
    };
    for offered in 0..=2 {
        let mut toy = Toy::listener("simple").0;
        toy.description.input_order = offered;
        let system = wired(vec![toy.boxed()], &[(0, 0)], &defaults(entry));
        let code = Engine::new(system).err().map(|error| error.code());
        assert_eq!(code, refuses(offered).then_some(Code::NeedsMissing), "{} {offered}", entry.id);
    }
}
