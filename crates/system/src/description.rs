//! A system: its components, their connections, and what to run it with.

use costep_core::{Code, Connection, Error, Experiment, External, Layout, Result, Subsystem};
use costep_integrate::{Solver, Whole, members};

use crate::Component;

/// Components, how they are connected, and what to run them with.
#[derive(Clone)]
pub struct SystemDescription {
    /// The parts.
    pub parts: Vec<Box<dyn Component>>,
    /// L.
    pub connections: Vec<Connection>,
    /// r(t).
    pub externals: Vec<(usize, External)>,
    /// The inner solver of the paper.
    pub solver: Solver,
    /// Start, stop and step to run it with if nothing is said.
    pub experiment: Experiment,
    /// If the paper measures its error as the greatest sum of absolute errors of all outputs: the solver of
    /// the monolithic reference it measures against.
    pub paper_reference: Option<Solver>,
}

impl SystemDescription {
    /// Unconnected parts.
    pub fn new(parts: Vec<Box<dyn Component>>, solver: Solver, stop: f64, step: f64) -> Self {
        Self {
            parts,
            connections: Vec::new(),
            externals: Vec::new(),
            solver,
            experiment: Experiment { start: 0.0, stop, step },
            paper_reference: None,
        }
    }

    /// Connects port to port: pairs of ((part, output), (part, input)), counted from 0.
    pub fn connected(mut self, pairs: impl IntoIterator<Item = ((usize, usize), (usize, usize))>) -> Self {
        let layout = self.layout();
        self.connections.extend(pairs.into_iter().map(|((from, output), (to, input))| Connection {
            output: layout.output_range(from).start + output,
            input: layout.input_range(to).start + input,
            gain: 1.0,
        }));
        self
    }

    /// Adds an external input at input `input` of part `part`.
    pub fn driven(mut self, part: usize, input: usize, signal: External) -> Self {
        let index = self.layout().input_range(part).start + input;
        self.externals.push((index, signal));
        self
    }

    /// Where the signals of each part are.
    pub fn layout(&self) -> Layout {
        Layout::new(self.parts.iter().map(|part| {
            let description = part.description();
            (description.inputs.len(), description.outputs.len())
        }))
    }

    /// Whether the equations of all parts are known, so that there is a monolithic twin.
    pub fn has_equations(&self) -> bool {
        self.parts.iter().all(|part| part.ode().is_some())
    }

    /// Whether all parts can be solved as one: natively, or as FMUs for Model Exchange.
    pub fn can_be_one(&self) -> bool {
        self.parts.iter().all(|part| part.has_equations())
    }

    /// One subsystem per part, which are one system inside, solved by this solver.
    pub fn members(&self, solver: &Solver) -> Result<Vec<Box<dyn Subsystem>>> {
        let parts = self.parts.iter().map(|part| part.equations()).collect::<Result<_>>()?;
        members(parts, &self.connections, self.externals.clone(), solver)
    }

    /// All parts as one system of equations without events. An error if a part is not native.
    pub fn monolithic(&self) -> Result<Whole> {
        Ok(self.whole()?.without_events())
    }

    /// The same for a solver, which may have to stop where external inputs jump.
    pub fn monolithic_for(&self, solver: &Solver) -> Result<Whole> {
        Ok(self.whole()?.as_reference(solver))
    }

    fn whole(&self) -> Result<Whole> {
        if let Some(part) = self.parts.iter().find(|part| part.ode().is_none()) {
            let message = format!("the equations of `{}` are not known", part.description().name);
            return Err(Error::new(Code::NeedsMissing, message)
                .hint("a system with FMUs cannot be solved as one; use `--reference step`"));
        }
        self.as_one()
    }

    /// All parts as one system, FMUs for Model Exchange among them.
    pub(crate) fn as_one(&self) -> Result<Whole> {
        let parts = self.parts.iter().map(|part| part.equations()).collect::<Result<_>>()?;
        Whole::new(parts, &self.connections, self.externals.clone())
    }
}
