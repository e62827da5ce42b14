//! Coupling methods that are written in Python.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use costep_core::{
    Code, CouplingMethod, Deviations, Error, InputSet, InputShape, LowerOrders, MethodEntry, ModelsSpec,
    Options, Request, Result, Signals, StepContext, SystemView, options,
};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::call::{Block, Failure, Function};

/// Row of the registry, for systems with such a method only.
pub(crate) static ENTRY: MethodEntry = MethodEntry {
    id: "python",
    title: "written in Python",
    summary: "Inputs are what a function of Python makes of the coupled inputs and their past.",
    equations: "u(t) = sum of c_a (t - T^k)^a,  c = extrapolate(T^k, h, z^k, past)",
    source: "the caller",
    convergence_order: 1,
    deviations: Deviations::NONE,
    models: &[],
    options: CodeOptions::SPECS,
    papers: None,
    build,
};

options! {
    /// Which of the objects.
    struct CodeOptions {
        /// number of the object among those that are alive
        number: usize = 0 in 0..=1_000_000_000;
    }
}

/// Objects that systems use, by number: entries of the registry hold functions without data.
static KEPT: LazyLock<Mutex<HashMap<usize, Arc<CodeMethod>>>> = LazyLock::new(Mutex::default);

/// A method as an object of Python with `order`, `history` and `extrapolate`.
pub(crate) struct CodeMethod {
    object: Py<PyAny>,
    order: usize,
    history: usize,
    failure: Failure,
}

/// Keeps an object as long as it lives.
pub(crate) struct Keeper(pub(crate) usize);

impl Drop for Keeper {
    fn drop(&mut self) {
        KEPT.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

impl CodeMethod {
    /// Keeps an object, and says under which number.
    pub(crate) fn keep(py: Python<'_>, object: Py<PyAny>, failure: &Failure) -> PyResult<Keeper> {
        let order = object.getattr(py, "order")?.extract(py)?;
        let history = object.getattr(py, "history")?.extract(py)?;
        let method = Arc::new(Self { object, order, history, failure: failure.clone() });
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        let number = (0..).find(|number| !kept.contains_key(number)).unwrap_or_default();
        kept.insert(number, method);
        Ok(Keeper(number))
    }
}

fn build(options: &Options, _models: &ModelsSpec) -> Box<dyn CouplingMethod> {
    let number = CodeOptions::read(options).number;
    let method = KEPT.lock().unwrap_or_else(PoisonError::into_inner).get(&number).cloned();
    Box::new(Extrapolating { method, inputs: InputSet::All(0), ready: None, coefficients: Vec::new() })
}

/// The method in a run.
struct Extrapolating {
    method: Option<Arc<CodeMethod>>,
    inputs: InputSet,
    ready: Option<Ready>,
    coefficients: Vec<f64>,
}

struct Ready {
    function: Function,
    z: Block,
    past: Vec<Block>,
}

#[cold]
fn gone() -> Error {
    Error::new(Code::PythonMisuse, "the Python object of the coupling method is not alive any more")
}

impl CouplingMethod for Extrapolating {
    fn request(&self) -> Request {
        let (order, history) = self.method.as_ref().map_or((0, 0), |method| (method.order, method.history));
        let inputs = InputShape::Polynomials { order, lower: LowerOrders::Mean };
        Request { inputs, history, ..Request::default() }
    }

    fn prepare(&mut self, system: &SystemView<'_>) -> Result<()> {
        let method = self.method.as_ref().ok_or_else(gone)?;
        self.inputs = system.inputs.clone();
        let count = self.inputs.len();
        self.coefficients = vec![0.0; (method.order + 1) * count];
        let ready = Python::attach(|py| {
            let function = method.object.bind(py).getattr("extrapolate")?;
            let past = (0..method.history).map(|_| Block::new(py, count)).collect::<PyResult<_>>()?;
            let results = self.coefficients.len();
            let function = Function::new(py, "extrapolate".into(), function, results, &method.failure)?;
            PyResult::Ok(Ready { function, z: Block::new(py, count)?, past })
        });
        let refused =
            |raised| Error::new(Code::PythonFailed, "the coupling method cannot be used").because(raised);
        self.ready = Some(ready.map_err(refused)?);
        Ok(())
    }

    fn pre_step(&mut self, step: &StepContext, signals: &mut Signals<'_>) -> Result<()> {
        let Ready { function, z, past } = self.ready.as_ref().ok_or_else(gone)?;
        z.set(self.inputs.iter().map(|j| signals.coupled[j]));
        let known = past.len().min(signals.history.len());
        for (back, block) in (1..).zip(&past[..known]) {
            block.set(self.inputs.iter().map(|j| signals.history.coupled(back)[j] + signals.external[j]));
        }
        let coefficients = &mut self.coefficients;
        Python::attach(|py| {
            let earlier = (1..).zip(&past[..known]);
            let earlier = earlier.map(|(back, block)| Ok((signals.history.time(back), block.copy(py)?)));
            let arguments = earlier
                .collect::<PyResult<Vec<_>>>()
                .and_then(|earlier| Ok((step.t, step.h, z.copy(py)?, PyList::new(py, earlier)?)));
            function.call(py, arguments, coefficients)
        })?;
        for (a, row) in coefficients.chunks_exact(self.inputs.len().max(1)).enumerate() {
            let to = signals.inputs.coefficients_mut(a);
            self.inputs.iter().zip(row).for_each(|(j, value)| to[j] = *value);
        }
        Ok(())
    }
}
