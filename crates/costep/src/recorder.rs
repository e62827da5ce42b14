//! Writes a run to disk while it goes: rows of the recording, and checkpoints that never run ahead of it.

use std::path::Path;

use costep_analysis::RunWatch;
use costep_core::pattern::matches;
use costep_core::quantity::exact_time;
use costep_core::{Error, Result, StateWriter};
use costep_engine::{Checkpoints, Engine, Flow, Observer};
use costep_project::{Project, RecordSpec};
use costep_results::{Column, Recording};

use crate::supervised;

/// Key of the metadata that lists the columns of outputs.
pub const OUTPUTS: &str = "outputs";
/// Key of the metadata for the macro step.
pub const STEP: &str = "step";

/// What a recording holds: time, chosen outputs and inputs, energy, diagnostics of the methods.
pub(crate) struct Plan {
    columns: Vec<Column>,
    outputs: Vec<usize>,
    inputs: Vec<usize>,
    has_energy: bool,
    /// A row every so many macro steps.
    every: u64,
}

impl Plan {
    pub(crate) fn new(engine: &Engine, spec: &RecordSpec) -> Self {
        let ports = |outputs: bool| {
            engine.descriptions().iter().flat_map(move |d| {
                let ports = if outputs { &d.outputs } else { &d.inputs };
                ports.iter().map(move |port| {
                    let name = format!("{}.{}", d.name, port.name);
                    (Column { name, unit: port.unit.clone() }, port.kind.is_number())
                })
            })
        };
        let mut columns = vec![Column { name: "t".into(), unit: Some("s".into()) }];
        let mut choose = |all: Vec<(Column, bool)>| {
            let mut chosen = Vec::new();
            for (index, (column, is_number)) in all.into_iter().enumerate() {
                if is_number && wanted(spec, &column.name) {
                    chosen.push(index);
                    columns.push(column);
                }
            }
            chosen
        };
        let outputs = choose(ports(true).collect());
        let inputs = choose(ports(false).collect());
        let has_energy = engine.energy().is_some();
        if has_energy {
            columns.push(Column { name: "energy".into(), unit: Some("J".into()) });
        }
        let diagnostics = engine.diagnostic_names();
        columns.extend(diagnostics.iter().map(|name| Column { name: name.clone(), unit: None }));
        let every = spec.every.map_or(1, |every| (every / engine.experiment().step).round().max(1.0) as u64);
        Self { columns, outputs, inputs, has_energy, every }
    }

    /// Writes a row. `inputs` has room for all inputs, chosen or not.
    fn fill(&self, engine: &Engine, inputs: &mut [f64], row: &mut [f64]) {
        let (signals, rest) = row[1..].split_at_mut(self.outputs.len() + self.inputs.len());
        let (outputs_to, inputs_to) = signals.split_at_mut(self.outputs.len());
        // All, in their order, is what most runs record.
        match outputs_to.len() == engine.outputs().len() {
            true => outputs_to.copy_from_slice(engine.outputs()),
            false => gather(outputs_to, engine.outputs(), &self.outputs),
        }
        if inputs_to.len() == inputs.len() {
            engine.inputs_at_end(inputs_to);
        } else {
            engine.inputs_at_end(inputs);
            gather(inputs_to, inputs, &self.inputs);
        }
        let (energy, diagnostics) = rest.split_at_mut(usize::from(self.has_energy));
        energy.iter_mut().for_each(|energy| *energy = engine.energy().unwrap_or(f64::NAN));
        engine.diagnostics(diagnostics);
        row[0] = engine.time();
    }

    /// Number of rows after k macro steps.
    pub(crate) fn rows_after(&self, k: u64) -> u64 {
        k / self.every + 1
    }
}

/// Copies the chosen ones.
fn gather(to: &mut [f64], from: &[f64], chosen: &[usize]) {
    to.iter_mut().zip(chosen).for_each(|(to, i)| *to = from[*i]);
}

/// Whether a signal is to be recorded: no pattern means all.
fn wanted(spec: &RecordSpec, name: &str) -> bool {
    spec.signals.is_empty() || spec.signals.iter().any(|pattern| matches(pattern, name))
}

/// Records a run.
pub(crate) struct Recorder {
    plan: Plan,
    recording: Recording,
    checkpoints: Option<Checkpoints>,
    inputs: Vec<f64>,
    last_time: f64,
    /// Why there are no checkpoints, if a subsystem cannot save its state.
    pub(crate) no_checkpoints: Option<Error>,
}

impl Recorder {
    /// A new recording.
    pub(crate) fn create(
        path: &Path,
        engine: &Engine,
        project: &Project,
        metadata: &[(String, String)],
        checkpoints: Option<Checkpoints>,
    ) -> Result<Self> {
        let plan = Plan::new(engine, &project.record);
        // Columns do not tell outputs from inputs and diagnostics; plots begin with the outputs.
        let outputs: Vec<_> = plan.columns[1..=plan.outputs.len()].iter().map(|c| c.name.as_str()).collect();
        let step = exact_time(engine.experiment().step);
        let metadata = [metadata, &[(OUTPUTS.into(), outputs.join(",")), (STEP.into(), step)]].concat();
        let recording = Recording::create(path, &plan.columns, &metadata)?;
        Ok(Self::new(plan, recording, engine, checkpoints))
    }

    /// Goes on with the recording of an engine that was loaded from a checkpoint.
    pub(crate) fn resume(
        path: &Path,
        engine: &Engine,
        project: &Project,
        checkpoints: Checkpoints,
    ) -> Result<Self> {
        let plan = Plan::new(engine, &project.record);
        let recording = Recording::resume(path, &plan.columns, plan.rows_after(engine.k()))?;
        Ok(Self::new(plan, recording, engine, Some(checkpoints)))
    }

    fn new(plan: Plan, recording: Recording, engine: &Engine, checkpoints: Option<Checkpoints>) -> Self {
        Self {
            inputs: vec![0.0; engine.coupled().len()],
            plan,
            recording,
            checkpoints,
            last_time: engine.time(),
            no_checkpoints: None,
        }
    }

    /// Closes the recording and gives the number of rows and the time of the last.
    pub(crate) fn finish(self) -> Result<(u64, f64)> {
        let last_time = self.last_time;
        Ok((self.recording.finish()?, last_time))
    }

    fn write_row(&mut self, engine: &Engine) -> Result<()> {
        let (plan, inputs, number) = (&self.plan, &mut self.inputs, self.recording.rows());
        self.last_time = engine.time();
        self.recording.row_with(|row| {
            plan.fill(engine, inputs, row);
            supervised::keep_row(number, row);
        })
    }

    /// Saves a checkpoint if one is due.
    pub(crate) fn checkpoint_if_due(&mut self, engine: &Engine, watch: &RunWatch) -> Result<()> {
        match &self.checkpoints {
            Some(checkpoints) if checkpoints.due() => self.checkpoint(engine, watch),
            _ => Ok(()),
        }
    }

    /// Saves a checkpoint. It is only worth something if the rows before it are on disk.
    pub(crate) fn checkpoint(&mut self, engine: &Engine, watch: &RunWatch) -> Result<()> {
        let Some(checkpoints) = &mut self.checkpoints else { return Ok(()) };
        self.recording.flush()?;
        let mut notes = StateWriter::default();
        watch.save(&mut notes);
        checkpoints.notes = notes.into_bytes();
        match checkpoints.save(engine) {
            Err(error) if error.code() == costep_core::Code::NeedsMissing => {
                self.checkpoints = None;
                self.no_checkpoints = Some(error);
                Ok(())
            }
            outcome => outcome.inspect(|()| supervised::show_checkpoint(engine.time())),
        }
    }
}

impl Observer for Recorder {
    fn observe(&mut self, engine: &Engine) -> Result<Flow> {
        if engine.k().is_multiple_of(self.plan.every) {
            self.write_row(engine)?;
        }
        Ok(Flow::Continue)
    }
}
