//! Subsystems in rows under held inputs take the short way through a step: it leads to the same place.

use std::sync::{Arc, Mutex};

use costep_core::{
    Code, Connection, Description, Error, Experiment, InputSegment, InputSet, Interval, Place, Port, Result,
    Row, RowMember, StepAlone, StepOutcome, Subsystem,
};
use costep_engine::{Engine, Group, Scheduling, System, Threads};
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

/// The lags of a ring, known to each of them and to their row.
#[derive(Default)]
struct Lags {
    x: [f64; COUNT],
    steps: [usize; COUNT],
    rounds: usize,
    fault: Fault,
}

impl Lags {
    /// A step of lag i; the second one has the fault.
    fn step(&mut self, i: usize, h: f64, u: f64) -> Result<f64> {
        self.x[i] += h * (u - self.x[i]) / (0.1 + 0.03 * i as f64);
        self.steps[i] += 1;
        match self.fault {
            Fault::NotANumber(step) if (i, self.steps[i]) == (1, step) => Ok(f64::NAN),
            Fault::Failure(step) if (i, self.steps[i]) == (1, step) => {
                Err(Error::new(Code::FmuError, "it fails"))
            }
            Fault::Panic(step) if (i, self.steps[i]) == (1, step) => panic!("it panics"),
            _ => Ok(self.x[i]),
        }
    }
}

struct Lag {
    description: Description,
    i: usize,
    lags: Arc<Mutex<Lags>>,
    joins: bool,
}

impl Subsystem for Lag {
    fn description(&self) -> &Description {
        &self.description
    }

    fn initialise(&mut self, _experiment: &Experiment) -> Result<()> {
        Ok(())
    }

    fn initial_outputs(&mut self, _u: &[f64], y: &mut [f64]) -> Result<()> {
        y[0] = self.i as f64;
        self.lags.lock().unwrap().x[self.i] = y[0];
        Ok(())
    }

    fn step(&mut self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        y[0] = self.lags.lock().unwrap().step(self.i, interval.length, u.coefficients(0)[0])?;
        Ok(StepOutcome { reached: interval.end })
    }

    fn terminate(&mut self) {}
}

costep_core::handles!(Lag {
    rollback: none,
    linearised: none,
    micro_recorder: none,
    environment: none,
    persistence: none,
    telemetry: none,
    row_member: some
});

impl RowMember for Lag {
    fn join_row(&mut self, row: &mut Option<Box<dyn Row>>) -> bool {
        if self.joins && row.is_none() {
            *row = Some(Box::new(LagRow(Arc::clone(&self.lags))));
        }
        self.joins
    }
}

/// Steps the lags at once, but for the second one in every tenth round.
struct LagRow(Arc<Mutex<Lags>>);

impl Row for LagRow {
    fn step(
        &mut self,
        interval: &Interval,
        u: &[f64],
        members: &mut [Box<dyn Subsystem>],
        y: &mut [f64],
        alone: &mut StepAlone<'_>,
    ) -> Result<()> {
        self.0.lock().unwrap().rounds += 1;
        for (i, member) in members.iter_mut().enumerate() {
            let mut lags = self.0.lock().unwrap();
            let is_special = i == 1 && (lags.rounds.is_multiple_of(10) || lags.fault != Fault::None);
            if is_special {
                drop(lags);
                alone(i, &mut **member, &mut y[i..=i])?;
            } else {
                y[i] = lags.step(i, interval.length, u[i])?;
            }
        }
        Ok(())
    }
}

fn ring(joins: bool, fault: Fault) -> (Engine, Arc<Mutex<Lags>>) {
    let lags = Arc::new(Mutex::new(Lags { fault, ..Lags::default() }));
    let lag = |i: usize| -> Box<dyn Subsystem> {
        let port = |name: &str| Port::new(name, "1", 1.0);
        let description = Description {
            name: format!("lag{i}"),
            inputs: vec![port("u")],
            outputs: vec![port("y")],
            feedthrough: vec![vec![]],
            ..Description::default()
        };
        Box::new(Lag { description, i, lags: Arc::clone(&lags), joins })
    };
    let engine = Engine::new(System {
        subsystems: (0..COUNT).map(lag).collect(),
        connections: (0..COUNT)
            .map(|i| Connection { output: (i + 1) % COUNT, input: i, gain: 1.0 })
            .collect(),
        models: Box::new(costep_ident::Exact::new(1)),
        externals: Vec::new(),
        groups: vec![Group {
            method: MethodSpec::parse("zoh").unwrap().build(),
            inputs: InputSet::All(COUNT),
        }],
        scheduling: Scheduling::Parallel,
        bounds: Vec::new(),
        experiment: Experiment { start: 0.0, stop: 100.0, step: STEP },
        threads: Threads::Fixed(1),
        micro_samples: false,
    });
    (engine.unwrap(), lags)
}

/// Outputs, inputs that were active and coupled inputs, as bits.
fn signals(engine: &Engine) -> Vec<u64> {
    let mut inputs = [0.0; COUNT];
    engine.inputs_at_end(&mut inputs);
    [engine.outputs(), &inputs, engine.coupled()].concat().iter().map(|value| value.to_bits()).collect()
}

#[test]
fn the_short_way_leads_to_the_same_bits() {
    let ((mut long, _), (mut short, lags)) = (ring(false, Fault::None), ring(true, Fault::None));
    assert!(!long.is_plain() && short.is_plain());
    for _ in 0..2000 {
        long.step().unwrap();
        short.step().unwrap();
        assert_eq!(signals(&long), signals(&short), "step {}", long.k());
        assert_eq!((long.k(), long.time()), (short.k(), short.time()));
    }
    assert_eq!(long.subsystem_steps(), short.subsystem_steps());
    assert!(lags.lock().unwrap().rounds > 1500, "most steps are done in the row");
    // Some are timed all the same.
    assert!(short.step_seconds().iter().all(|seconds| *seconds > 0.0));
}

#[test]
fn what_goes_wrong_is_told_as_on_the_long_way() {
    let faults = [
        (Fault::NotANumber(702), Code::NotFinite),
        (Fault::Failure(702), Code::FmuError),
        (Fault::Panic(702), Code::Bug),
    ];
    for (fault, code) in faults {
        let fails = |joins: bool| {
            let (mut engine, _) = ring(joins, fault);
            assert_eq!(engine.is_plain(), joins);
            let error = (0..1000).find_map(|_| engine.step().err()).expect("it fails");
            assert!(engine.step().is_err(), "what has failed is not stepped on");
            error
        };
        let (long, short) = (fails(false), fails(true));
        assert_eq!(long, short, "{fault:?}");
        assert_eq!(short.code(), code);
        assert!(matches!(short.details().place, Place::Run { step: 701, .. }), "{short}");
    }
}
