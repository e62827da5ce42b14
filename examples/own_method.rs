//! A coupling method of our own: a hold of the mean of the last two values. It is put into a registry, and
//! then named like any other. `examples/extension` is a crate with one that passes the conformance suite.

use costep::{CouplingMethod, MethodEntry, Registry, Run, System};
use costep_core::{
    Deviations, InputSet, ModelsSpec, Options, Request, Result, Signals, StepContext, SystemView,
};

static ENTRY: MethodEntry = MethodEntry {
    id: "mean-hold",
    title: "hold of a mean",
    summary: "Each input is the mean of the last two values of its source.",
    equations: "u(t) = (z^k + z^(k-1)) / 2",
    source: "an example",
    convergence_order: 1,
    deviations: Deviations::NONE,
    models: &[],
    options: &[],
    papers: None,
    build,
};

fn build(_options: &Options, _models: &ModelsSpec) -> Box<dyn CouplingMethod> {
    Box::new(MeanHold(InputSet::All(0)))
}

struct MeanHold(InputSet);

impl CouplingMethod for MeanHold {
    fn request(&self) -> Request {
        Request { history: 1, ..Request::default() }
    }

    fn prepare(&mut self, system: &SystemView<'_>) -> Result<()> {
        self.0 = system.inputs.clone();
        Ok(())
    }

    fn pre_step(&mut self, _step: &StepContext, signals: &mut Signals<'_>) -> Result<()> {
        let history = signals.history;
        let before = if history.is_empty() { signals.coupled } else { history.coupled(1) };
        let held = signals.inputs.coefficients_mut(0);
        self.0.iter().for_each(|j| held[j] = 0.5 * (signals.coupled[j] + before[j]));
        Ok(())
    }
}

pub(crate) fn main() -> std::result::Result<(), costep::Errors> {
    let registry = Registry::standard().with_method(&ENTRY);
    let system = System::opening("dual-mass").registry(registry).set("method", "mean-hold").open()?;
    let outcome = system.run(Run::new().step(2e-4))?;
    println!("{} at {} s: {:?}", outcome.report.method, outcome.report.step, outcome.verdict());
    Ok(())
}
