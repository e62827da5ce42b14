//! A run step by step.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, TryLockError};
use std::time::{Duration, Instant};

use costep::{Cancel, Error, Flow, Run, Simulation, Snapshot, System};
use pyo3::prelude::*;

use crate::columns::Columns;
use crate::core::{Core, reply};
use crate::errors;
use crate::waiting::{Teller, apart, taken_interrupt};

/// Steps that take longer give the lock of the interpreter to others meanwhile.
const LONG: Duration = Duration::from_micros(50);
/// Time between two looks for signals.
const LOOK: Duration = Duration::from_millis(20);

/// How often this process is the child of a fork. What was made before belongs to the parent.
static FORKS: AtomicU64 = AtomicU64::new(0);
/// Numbers of simulations.
static NUMBERS: AtomicU64 = AtomicU64::new(0);

/// Tells that this process is the child of a fork.
#[pyfunction]
pub(crate) fn forked() {
    FORKS.fetch_add(1, Relaxed);
}

/// How often this process is the child of a fork.
pub(crate) fn forks() -> u64 {
    FORKS.load(Relaxed)
}

/// A run at a communication point.
#[pyclass(frozen, module = "costep._costep")]
pub(crate) struct Stepper {
    core: Py<Core>,
    simulation: Mutex<Option<Simulation>>,
    calls_python: bool,
    is_slow: AtomicBool,
    forks: u64,
    number: u64,
}

/// A state to go back to.
#[pyclass(frozen, module = "costep._costep")]
pub(crate) struct State {
    snapshot: Snapshot,
    of: u64,
    /// Time of the state in s.
    #[pyo3(get)]
    time: f64,
}

impl Stepper {
    pub(crate) fn new(py: Python<'_>, core: Py<Core>, run: Run) -> PyResult<Self> {
        let system = core.get().system.clone();
        let calls_python = core.get().failure.is_some();
        let simulation = match (calls_python, core.get().is_isolated) {
            (true, _) => system.start(run).map_err(|error| core.get().raised(py, error))?,
            (false, true) => started_apart(py, system, run)?,
            (false, false) => py.detach(|| system.start(run)).map_err(errors::raise)?,
        };
        Ok(Self {
            core,
            simulation: Mutex::new(Some(simulation)),
            calls_python,
            is_slow: AtomicBool::new(false),
            forks: FORKS.load(Relaxed),
            number: NUMBERS.fetch_add(1, Relaxed),
        })
    }

    /// Does something with the simulation, if there still is one.
    fn with<R>(&self, work: impl FnOnce(&mut Simulation) -> Result<R, Error>) -> PyResult<R> {
        if self.forks != FORKS.load(Relaxed) {
            let message = "this simulation was started by the process that this one was forked from";
            return Err(errors::misuse(message, "start one here, or use the start method `spawn`"));
        }
        let mut held = match self.simulation.try_lock() {
            Ok(held) => held,
            Err(TryLockError::Poisoned(_)) => {
                return Err(errors::misuse("this simulation has failed", "start another one"));
            }
            Err(TryLockError::WouldBlock) => {
                let message = "another thread is working with this simulation";
                return Err(errors::misuse(message, "one thread at a time, or one simulation per thread"));
            }
        };
        match &mut *held {
            Some(simulation) => work(simulation).map_err(|error| self.raised(error)),
            None => Err(errors::misuse("this simulation is closed", "start another one with `start`")),
        }
    }

    /// An error with the exception of Python code behind it.
    fn raised(&self, error: Error) -> PyErr {
        Python::attach(|py| taken_interrupt().unwrap_or_else(|| self.core.get().raised(py, error)))
    }
}

/// Starts a run while signals are heeded: the processes of FMUs may take their time, or hang.
fn started_apart(py: Python<'_>, system: System, run: Run) -> PyResult<Simulation> {
    let waited = apart(py, Teller::new(None), &Cancel::new(), move |_| system.start(run))?;
    match (waited.outcome, waited.interrupt) {
        (_, Some(interrupt)) => Err(interrupt),
        (Some(outcome), None) => outcome.map_err(errors::raise),
        (None, None) => Err(errors::misuse("nothing came of it", "report this")),
    }
}

/// A number of steps from Python.
fn number_of_steps(count: &Bound<'_, PyAny>) -> PyResult<u64> {
    count.extract::<u64>().map_err(|_| {
        let shown = count.repr().map_or_else(|_| String::new(), |text| text.to_string());
        errors::misuse(format!("{shown} is no number of macro steps"), "give an integer from 0 on")
    })
}

impl Stepper {
    /// Several macro steps, during which signals are heeded and other threads of Python go on.
    fn many_steps(&self, py: Python<'_>, count: u64) -> PyResult<()> {
        let (mut raised, mut last) = (None, Instant::now());
        let work = |simulation: &mut Simulation| {
            for _ in 0..count {
                simulation.step()?;
                if last.elapsed() > LOOK {
                    last = Instant::now();
                    raised = Python::attach(|py| py.check_signals()).err();
                }
                if raised.is_some() || simulation.is_done() {
                    break;
                }
            }
            Ok(())
        };
        let outcome = match self.calls_python {
            true => self.with(work),
            false => py.detach(|| self.with(work)),
        };
        raised.map_or(outcome, Err)
    }
}

impl Drop for Stepper {
    fn drop(&mut self) {
        if self.forks != FORKS.load(Relaxed) {
            // Its threads and processes are those of the parent, which still needs them.
            if let Ok(held) = self.simulation.get_mut() {
                std::mem::forget(held.take());
            }
        }
    }
}

#[pymethods]
impl Stepper {
    /// So many macro steps, or as many as there are until the end.
    #[pyo3(signature = (count=None))]
    fn step(&self, py: Python<'_>, count: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let count = count.map_or(Ok(1), number_of_steps)?;
        if count > 1 {
            return self.many_steps(py, count);
        }
        let step = |simulation: &mut Simulation| (0..count).try_for_each(|_| simulation.step());
        if self.calls_python {
            return self.with(step);
        }
        let begin = Instant::now();
        let outcome = match self.is_slow.load(Relaxed) {
            true => py.detach(|| self.with(step)),
            false => self.with(step),
        };
        self.is_slow.store(begin.elapsed() > LONG, Relaxed);
        outcome
    }

    /// Goes on to the first communication point at or after this time.
    fn run_until(&self, py: Python<'_>, time: f64) -> PyResult<()> {
        if time.is_nan() {
            return Err(errors::misuse(
                "NaN is no time to run until",
                "give seconds, or text such as `5 ms`",
            ));
        }
        let (mut raised, mut last) = (None, Instant::now());
        let work = |simulation: &mut Simulation| {
            if simulation.is_done() || simulation.time() >= time {
                return Ok(());
            }
            let hair = 1e-9 * simulation.engine().experiment().step;
            simulation.run_with(&mut |step| {
                if last.elapsed() > LOOK {
                    last = Instant::now();
                    raised = Python::attach(|py| py.check_signals()).err();
                }
                let stop = raised.is_some() || step.time() >= time - hair;
                Ok(if stop { Flow::Stop } else { Flow::Continue })
            })
        };
        let outcome = match self.calls_python {
            true => self.with(work),
            false => py.detach(|| self.with(work)),
        };
        raised.map_or(outcome, Err)
    }

    /// T^k in s.
    #[getter]
    fn time(&self) -> PyResult<f64> {
        self.with(|simulation| Ok(simulation.time()))
    }

    /// Number of macro steps so far.
    #[getter]
    fn number(&self) -> PyResult<u64> {
        self.with(|simulation| Ok(simulation.number()))
    }

    /// Whether the run is over.
    #[getter]
    fn is_done(&self) -> PyResult<bool> {
        self.with(|simulation| Ok(simulation.is_done()))
    }

    /// An output by its name.
    fn output(&self, name: &str) -> PyResult<f64> {
        self.with(|simulation| simulation.output(name))
    }

    /// All outputs.
    fn outputs(&self) -> PyResult<Vec<f64>> {
        self.with(|simulation| Ok(simulation.outputs().to_vec()))
    }

    /// What an input should be now, by its name.
    fn input(&self, name: &str) -> PyResult<f64> {
        self.with(|simulation| simulation.input(name))
    }

    /// Gives an input from outside another value from now on.
    fn set_input(&self, name: &str, value: f64) -> PyResult<()> {
        self.with(|simulation| simulation.set_input(name, value))
    }

    /// The present state.
    fn snapshot(&self) -> PyResult<State> {
        self.with(|simulation| {
            let (snapshot, time) = (simulation.snapshot()?, simulation.time());
            Ok(State { snapshot, of: self.number, time })
        })
    }

    /// Goes back to a state of this run.
    fn restore(&self, state: &State) -> PyResult<()> {
        if state.of != self.number {
            return Err(errors::misuse(
                "this is a state of another simulation",
                "take a snapshot of this one",
            ));
        }
        self.with(|simulation| simulation.restore(&state.snapshot))
    }

    /// Goes on with another coupling method.
    fn change_method(&self, method: &str) -> PyResult<()> {
        let registry = self.core.get().system.registry();
        self.with(|simulation| simulation.change_method(method, registry))
    }

    /// Whether it is closed.
    #[getter]
    fn is_closed(&self) -> bool {
        self.simulation.try_lock().is_ok_and(|held| held.is_none())
    }

    /// Judges what has been computed, and closes it.
    fn finish(&self, py: Python<'_>) -> PyResult<(String, Option<Columns>)> {
        let simulation = self.take()?;
        let core = self.core.get();
        let work = || simulation.finish().and_then(|outcome| reply(&core.system, outcome));
        let reply = match self.calls_python {
            true => work(),
            false => py.detach(work),
        };
        let reply = reply.map_err(errors::raise)?;
        Ok((reply.report.to_string(), reply.columns))
    }

    /// Ends it without a verdict. Nothing happens if it is closed already.
    fn close(&self, py: Python<'_>) {
        if let Ok(simulation) = self.take() {
            py.detach(|| drop(simulation));
        }
    }
}

impl Stepper {
    fn take(&self) -> PyResult<Simulation> {
        self.with(|_| Ok(()))?;
        let taken = self.simulation.try_lock().ok().and_then(|mut held| held.take());
        taken.ok_or_else(|| errors::misuse("this simulation is closed", "start another one with `start`"))
    }
}
