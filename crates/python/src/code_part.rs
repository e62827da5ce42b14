//! Parts that are written in Python: with a step of their own, or as equations that costep integrates.

use std::sync::Arc;

use costep::{Code, Component, CustomPart, Error, NativePart, Subsystem};
use costep_core::{
    Description, Experiment, InputSegment, Interval, Persistence, Result, Rollback, StateReader, StateWriter,
    StepOutcome,
};
use costep_integrate::Renamable;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::call::{Block, Failure, Function};
use crate::recipe::{CodeRecipe, ports};

/// A part, of which every run makes its own instance.
pub(crate) struct CodePart {
    recipe: CodeRecipe,
    /// Makes an object with `start`, `step`, `get_state` and `set_state`, or `derivatives` and `outputs`.
    make: Py<PyAny>,
    failure: Failure,
}

impl CodePart {
    pub(crate) fn new(
        py: Python<'_>,
        recipe: &CodeRecipe,
        make: Py<PyAny>,
        failure: &Failure,
    ) -> PyResult<Self> {
        // What cannot work is said before the first run.
        py.import("numpy")?;
        Ok(Self { recipe: recipe.clone(), make, failure: failure.clone() })
    }

    /// The part of a system.
    pub(crate) fn component(self: &Arc<Self>) -> Box<dyn Component> {
        match &self.recipe.start {
            Some(start) => Python::attach(|py| self.equations(py, start)),
            None => {
                let part = self.clone();
                let description = self.description();
                let make = move |name: &str| {
                    Python::attach(|py| {
                        Stepping::new(py, &part, name)
                            .map(|made| Box::new(made) as Box<dyn Subsystem>)
                            .map_err(|raised| part.refused(py, raised))
                    })
                };
                Box::new(CustomPart::of(description, make))
            }
        }
    }

    #[cold]
    fn refused(&self, py: Python<'_>, raised: PyErr) -> Error {
        let message = format!("`{}` cannot be made", self.recipe.name);
        self.failure.raised(py, Error::new(Code::PythonFailed, message), raised)
    }

    fn description(&self) -> Description {
        let CodeRecipe { name, inputs, outputs, direct, .. } = &self.recipe;
        let through: Vec<usize> = if *direct { (0..inputs.len()).collect() } else { Vec::new() };
        Description {
            name: name.clone(),
            inputs: ports(inputs),
            outputs: ports(outputs),
            feedthrough: vec![through.into(); outputs.len()],
            ..Description::default()
        }
    }

    /// x' = f(t, x, u), y = g(t, x, u) as functions of Python.
    fn equations(&self, py: Python<'_>, start: &[f64]) -> Box<dyn Component> {
        let CodeRecipe { name, inputs, outputs, .. } = &self.recipe;
        let part = NativePart::new(name.clone(), start);
        let formula = |what: &str, results: usize| -> PyResult<Formula> {
            let object = self.make.bind(py).call0()?;
            let name = format!("{name}.{what}");
            Ok(Formula {
                function: Function::new(py, name, object.getattr(what)?, results, &self.failure)?,
                x: Block::new(py, start.len())?,
                u: Block::new(py, inputs.len())?,
            })
        };
        let (f, g) = (formula("derivatives", start.len()), formula("outputs", outputs.len()));
        match (f, g) {
            (Ok(f), Ok(g)) => {
                let mut part = part
                    .derivatives(move |t, x, u, x_dot| f.evaluate(t, x, u, x_dot))
                    .outputs(move |t, x, u, y| g.evaluate(t, x, u, y));
                *part.description_mut() = self.description();
                Box::new(part)
            }
            (Err(raised), _) | (_, Err(raised)) => {
                let error = self.refused(py, raised);
                Box::new(CustomPart::of(self.description(), move |_| Err(error.clone())))
            }
        }
    }
}

/// A function of time, states and inputs.
struct Formula {
    function: Function,
    x: Block,
    u: Block,
}

impl Formula {
    /// What cannot be computed is not a number; the reason is kept.
    fn evaluate(&self, t: f64, x: &[f64], u: &[f64], values: &mut [f64]) {
        self.x.set(x.iter().copied());
        self.u.set(u.iter().copied());
        let called = Python::attach(|py| {
            let arguments = self.x.copy(py).and_then(|x| Ok((t, x, self.u.copy(py)?)));
            self.function.call(py, arguments, values)
        });
        if called.is_err() {
            values.fill(f64::NAN);
        }
    }
}

/// A part that steps by itself.
struct Stepping {
    description: Description,
    object: Py<PyAny>,
    start: Function,
    step: Function,
    u: Block,
    /// Time and inputs at the start.
    begin: f64,
    values: Vec<f64>,
    remembered: Option<Py<PyAny>>,
}

impl Stepping {
    fn new(py: Python<'_>, part: &CodePart, name: &str) -> PyResult<Self> {
        let description = Description { name: name.to_owned(), ..part.description() };
        let object = part.make.bind(py).call0()?;
        let results = description.outputs.len();
        let function = |what: &str| {
            Function::new(py, format!("{name}.{what}"), object.getattr(what)?, results, &part.failure)
        };
        Ok(Self {
            start: function("start")?,
            step: function("step")?,
            u: Block::new(py, description.inputs.len())?,
            values: vec![0.0; description.inputs.len()],
            begin: 0.0,
            object: object.unbind(),
            description,
            remembered: None,
        })
    }

    fn state(&self) -> Result<Py<PyAny>> {
        Python::attach(|py| self.object.call_method0(py, "get_state"))
            .map_err(|raised| self.stateless(&raised))
    }

    #[cold]
    fn stateless(&self, raised: &PyErr) -> Error {
        let message = format!("the state of `{}` cannot be kept", self.description.name);
        Error::new(Code::PythonFailed, message).because(raised)
    }
}

impl Subsystem for Stepping {
    fn description(&self) -> &Description {
        &self.description
    }

    fn initialise(&mut self, experiment: &Experiment) -> Result<()> {
        self.begin = experiment.start;
        Ok(())
    }

    fn initial_outputs(&mut self, u: &[f64], y: &mut [f64]) -> Result<()> {
        self.u.set(u.iter().copied());
        Python::attach(|py| self.start.call(py, self.u.copy(py).map(|u| (self.begin, u)), y))
    }

    fn step(&mut self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        u.evaluate(0.0, &mut self.values);
        self.u.set(self.values.iter().copied());
        let Interval { start, length, .. } = interval;
        Python::attach(|py| self.step.call(py, self.u.copy(py).map(|u| (start, length, u)), y))?;
        Ok(StepOutcome { reached: interval.end })
    }

    fn terminate(&mut self) {}
}

impl Rollback for Stepping {
    fn snapshot(&mut self) -> Result<()> {
        self.remembered = Some(self.state()?);
        Ok(())
    }

    fn restore(&mut self) -> Result<()> {
        let Some(state) = &self.remembered else { return Ok(()) };
        Python::attach(|py| self.object.call_method1(py, "set_state", (state,)).map(|_| ()))
            .map_err(|raised| self.stateless(&raised))
    }
}

impl Persistence for Stepping {
    fn save(&self, out: &mut StateWriter) -> Result<()> {
        let state = self.state()?;
        Python::attach(|py| {
            let bytes = py.import("pickle")?.call_method1("dumps", (state,))?;
            out.block(bytes.cast::<PyBytes>()?.as_bytes());
            PyResult::Ok(())
        })
        .map_err(|raised| self.stateless(&raised))
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        let bytes = from.block()?;
        Python::attach(|py| {
            let state = py.import("pickle")?.call_method1("loads", (PyBytes::new(py, bytes),))?;
            self.object.call_method1(py, "set_state", (state,)).map(|_| ())
        })
        .map_err(|raised| self.stateless(&raised))
    }
}

costep_core::handles!(Stepping {
    rollback: some,
    linearised: none,
    micro_recorder: none,
    environment: none,
    persistence: some,
    telemetry: none
});
