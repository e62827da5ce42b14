//! Subsystems that are stepped in a batch do what they do alone.

use std::any::Any;
use std::sync::{Arc, Mutex};

use costep_core::{
    Batch, Capable, Code, Connection, Description, EnvironmentStep, Error, Experiment, InputPolynomials,
    InputSegment, Interval, Linearised, MicroRecorder, Persistence, Place, Port, Result, Rollback,
    StateReader, StateWriter, StepOutcome, Subsystem, Telemetry,
};
use costep_engine::{Engine, Scheduling, System, Threads};
use costep_methods::MethodSpec;

const STEP: f64 = 1e-2;
const COUNT: usize = 3;

/// What goes wrong, and in which step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Fault {
    #[default]
    None,
    NotANumber(usize),
    Failure(usize),
    Panic(usize),
}

/// What is counted of all lags of a ring.
#[derive(Default)]
struct Counts {
    rounds: usize,
    alone: usize,
}

struct Lag {
    description: Description,
    i: usize,
    x: f64,
    steps: usize,
    fault: Fault,
    joins: bool,
    counts: Arc<Mutex<Counts>>,
}

impl Lag {
    /// One step; the second lag has the fault.
    fn advance(&mut self, h: f64, u: f64) -> Result<f64> {
        self.x += h * (u - self.x) / (0.1 + 0.03 * self.i as f64);
        self.steps += 1;
        match self.fault {
            Fault::NotANumber(step) if (self.i, self.steps) == (1, step) => Ok(f64::NAN),
            Fault::Failure(step) if (self.i, self.steps) == (1, step) => {
                Err(Error::new(Code::FmuError, "it fails"))
            }
            Fault::Panic(step) if (self.i, self.steps) == (1, step) => panic!("it panics"),
            _ => Ok(self.x),
        }
    }
}

impl Subsystem for Lag {
    fn description(&self) -> &Description {
        &self.description
    }

    fn initialise(&mut self, _experiment: &Experiment) -> Result<()> {
        Ok(())
    }

    fn initial_outputs(&mut self, _u: &[f64], y: &mut [f64]) -> Result<()> {
        self.x = self.i as f64;
        y[0] = self.x;
        Ok(())
    }

    fn step(&mut self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        self.counts.lock().unwrap().alone += 1;
        y[0] = self.advance(interval.length, u.coefficients(0)[0])?;
        Ok(StepOutcome { reached: interval.end })
    }

    fn terminate(&mut self) {}
}

impl Persistence for Lag {
    fn save(&self, out: &mut StateWriter) -> Result<()> {
        out.real(self.x);
        Ok(())
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.x = from.real()?;
        Ok(())
    }
}

impl Capable for Lag {
    fn rollback(&mut self) -> Option<&mut dyn Rollback> {
        None
    }

    fn linearised(&mut self) -> Option<&mut dyn Linearised> {
        None
    }

    fn micro_recorder(&mut self) -> Option<&mut dyn MicroRecorder> {
        None
    }

    fn environment(&mut self) -> Option<&mut dyn EnvironmentStep> {
        None
    }

    fn persistence(&self) -> Option<&dyn Persistence> {
        Some(self)
    }

    fn persistence_mut(&mut self) -> Option<&mut dyn Persistence> {
        Some(self)
    }

    fn telemetry(&self) -> Option<&dyn Telemetry> {
        None
    }

    fn join_batch(self: Box<Self>, batch: &mut Option<Box<dyn Batch>>) -> Result<(), Box<dyn Subsystem>> {
        if !self.joins {
            return Err(self);
        }
        let open = batch.get_or_insert_with(|| Box::new(LagBatch::default()));
        match (&mut **open as &mut dyn Any).downcast_mut::<LagBatch>() {
            Some(batch) => batch.lags.push(*self),
            None => return Err(self),
        }
        Ok(())
    }
}

/// Steps the lags at once, but for the second one in every tenth round.
#[derive(Default)]
struct LagBatch {
    lags: Vec<Lag>,
    rounds: usize,
    at_work: usize,
}

impl Batch for LagBatch {
    fn members(&self) -> usize {
        self.lags.len()
    }

    fn member(&self, i: usize) -> &dyn Subsystem {
        &self.lags[i]
    }

    fn member_mut(&mut self, i: usize) -> &mut dyn Subsystem {
        &mut self.lags[i]
    }

    fn step(
        &mut self,
        interval: &Interval,
        u: &[f64],
        y: &mut [f64],
    ) -> std::result::Result<(), (usize, Result<StepOutcome>)> {
        self.rounds += 1;
        for (i, lag) in self.lags.iter_mut().enumerate() {
            self.at_work = i;
            if i == 0 {
                lag.counts.lock().unwrap().rounds += 1;
            }
            if i == 1 && self.rounds.is_multiple_of(10) {
                let mut alone = InputPolynomials::new(1, 0);
                alone.coefficients_mut(0)[0] = u[i];
                let outcome = lag.step(*interval, alone.segment(0..1, 0), &mut y[i..=i]);
                outcome.map_err(|error| (i, Err(error)))?;
            } else {
                y[i] = lag.advance(interval.length, u[i]).map_err(|error| (i, Err(error)))?;
            }
        }
        Ok(())
    }

    fn at_work(&self) -> usize {
        self.at_work
    }
}

fn ring(joins: bool, fault: Fault, threads: Threads) -> (Engine, Arc<Mutex<Counts>>) {
    let counts = Arc::new(Mutex::new(Counts::default()));
    let lag = |i: usize| -> Box<dyn Subsystem> {
        let port = |name: &str| Port::new(name, "1", 1.0);
        let description = Description {
            name: format!("lag{i}"),
            inputs: vec![port("u")],
            outputs: vec![port("y")],
            feedthrough: vec![Default::default()],
            ..Description::default()
        };
        Box::new(Lag { description, i, x: 0.0, steps: 0, fault, joins, counts: Arc::clone(&counts) })
    };
    let engine = Engine::new(System {
        scheduling: Scheduling::Parallel,
        threads,
        ..System::new(
            (0..COUNT).map(lag).collect(),
            (0..COUNT).map(|i| Connection { output: (i + 1) % COUNT, input: i, gain: 1.0 }).collect(),
            (MethodSpec::parse("zoh").unwrap().build(), Box::new(costep_ident::Exact::new(1))),
            Experiment { start: 0.0, stop: 100.0, step: STEP },
        )
    });
    (engine.unwrap(), counts)
}

/// Outputs, inputs that were active and coupled inputs, as bits.
fn signals(engine: &Engine) -> Vec<u64> {
    let mut inputs = [0.0; COUNT];
    engine.inputs_at_end(&mut inputs);
    [engine.outputs(), &inputs, engine.coupled()].concat().iter().map(|value| value.to_bits()).collect()
}

#[test]
fn a_batch_leads_to_the_same_bits() {
    let one = Threads::Fixed(1);
    let ((mut single, _), (mut batch, counts)) =
        (ring(false, Fault::None, one), ring(true, Fault::None, one));
    for _ in 0..2000 {
        single.step().unwrap();
        batch.step().unwrap();
        assert_eq!(signals(&single), signals(&batch), "step {}", single.k());
        assert_eq!((single.k(), single.time()), (batch.k(), batch.time()));
    }
    assert_eq!(single.subsystem_steps(), batch.subsystem_steps());
    assert_eq!(single.save().unwrap(), batch.save().unwrap());
    assert!(counts.lock().unwrap().rounds > 1500, "most steps are done in the batch");
    // Some are timed all the same, member by member.
    assert!(batch.step_seconds().iter().all(|seconds| *seconds > 0.0));
}

#[test]
fn several_threads_form_no_batch() {
    let (mut engine, counts) = ring(true, Fault::None, Threads::Fixed(2));
    (0..50).for_each(|_| engine.step().unwrap());
    let counts = counts.lock().unwrap();
    assert_eq!((counts.rounds, counts.alone), (0, 50 * COUNT));
}

#[test]
fn a_batch_goes_on_from_a_saved_state() {
    let one = Threads::Fixed(1);
    let (mut unbroken, _) = ring(true, Fault::None, one);
    (0..300).for_each(|_| unbroken.step().unwrap());
    let (mut resumed, _) = ring(true, Fault::None, one);
    resumed.load(&unbroken.save().unwrap()).unwrap();
    for engine in [&mut unbroken, &mut resumed] {
        (0..300).for_each(|_| engine.step().unwrap());
    }
    assert_eq!(signals(&unbroken), signals(&resumed));
}

#[test]
fn what_goes_wrong_is_told_as_of_one_that_steps_alone() {
    let faults = [
        (Fault::NotANumber(702), Code::NotFinite),
        (Fault::Failure(702), Code::FmuError),
        (Fault::Panic(702), Code::Bug),
    ];
    for (fault, code) in faults {
        let fails = |joins: bool| {
            let (mut engine, _) = ring(joins, fault, Threads::Fixed(1));
            let error = (0..1000).find_map(|_| engine.step().err()).expect("it fails");
            assert!(engine.step().is_err(), "what has failed is not stepped on");
            error
        };
        let (single, batch) = (fails(false), fails(true));
        assert_eq!(single, batch, "{fault:?}");
        assert_eq!(batch.code(), code);
        assert!(matches!(batch.details().place, Place::Run { step: 701, .. }), "{batch}");
    }
}

#[test]
fn what_goes_wrong_on_threads_is_told_as_on_one() {
    for fault in [Fault::NotANumber(7), Fault::Failure(7), Fault::Panic(7)] {
        let fails = |threads: usize| {
            let (mut engine, _) = ring(false, fault, Threads::Fixed(threads));
            (0..20).find_map(|_| engine.step().err()).expect("it fails")
        };
        assert_eq!(fails(1), fails(3), "{fault:?}");
    }
}
