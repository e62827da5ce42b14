//! Writes a run to disk while it goes: rows of the recording, and checkpoints that never run ahead of it.

use std::path::Path;

use costep_analysis::{BondWatch, RunWatch};
use costep_core::pattern::matches;
use costep_core::quantity::{exact_time, format_time, parse_time};
use costep_core::{Error, Port, Result, StateWriter, Variation};
use costep_engine::{Checkpoints, Engine};
use costep_project::{Project, RecordSpec};
use costep_results::{Column, Recording, Summary, Table};

use crate::between::{self, Between};
use crate::supervised;

/// Key of the metadata that lists the columns of outputs.
pub const OUTPUTS: &str = "outputs";
/// Key of the metadata that lists the columns between whose values there is nothing, one per line.
pub const DISCRETE: &str = "discrete";
/// Key of the metadata for the macro step.
pub const STEP: &str = "step";

/// The outputs among the columns of a recording, which come first there. [`OUTPUTS`] lists them one after the other; names may
/// have commas inside.
pub fn recorded_outputs(columns: &[Column], mut listed: &str) -> Vec<String> {
    let mut names = Vec::new();
    for Column { name, .. } in columns.iter().skip(1) {
        let Some(rest) = listed.strip_prefix(name.as_str()) else { break };
        names.push(name.clone());
        listed = rest.strip_prefix(',').unwrap_or(rest);
    }
    names
}

/// What a recording says of its macro steps: their length or, where it varies, by what.
pub(crate) fn step_text(project: &Project, step: f64) -> String {
    match &project.control {
        Some(control) if control.entry.takes_tolerance => {
            format!("tolerance {:e} ({})", control.tolerance, control.entry.id)
        }
        Some(control) => format!("by {}", control.entry.id),
        None => exact_time(step),
    }
}

/// The same ([`STEP`]) for people: `macro step 5 ms`, or `tolerance 1e-3 (defect)`.
pub fn step_words(recorded: &str) -> String {
    parse_time(recorded).map_or_else(|_| recorded.into(), |step| format!("macro step {}", format_time(step)))
}

/// What a recording holds: time, chosen outputs and inputs, energy, diagnostics of the methods.
pub(crate) struct Plan {
    columns: Vec<Column>,
    outputs: Vec<usize>,
    inputs: Vec<usize>,
    has_energy: bool,
    /// Columns of power bonds.
    bonds: usize,
    rhythm: Rhythm,
}

/// When rows are written.
#[derive(Clone, Copy, Debug)]
enum Rhythm {
    /// At every communication point.
    All,
    /// After every so many macro steps, which are equal.
    Steps(u64),
    /// Where steps vary: at the first communication point at or behind each multiple of a time, from the start on.
    Times(f64),
}

impl Rhythm {
    fn new(engine: &Engine, every: Option<f64>) -> Self {
        let is_uniform = engine.progress_at(0).is_some();
        let steps = |every: f64| (every / engine.experiment().step).round().max(1.0) as u64;
        match every {
            None => Self::All,
            Some(every) if is_uniform => Self::Steps(steps(every)),
            Some(every) => Self::Times(every),
        }
    }

    /// Whether there is a row at the present point of an engine.
    #[inline]
    fn is_due(self, engine: &Engine) -> bool {
        match self {
            Self::All => true,
            Self::Steps(every) => engine.k().is_multiple_of(every),
            Self::Times(every) => {
                let last = engine.last_step();
                engine.k() == 0 || multiple(engine, every, last.end) > multiple(engine, every, last.start)
            }
        }
    }
}

/// The number of the last multiple of a time that has come by `t`.
fn multiple(engine: &Engine, every: f64, t: f64) -> f64 {
    // Times that were added up miss a multiple by their round-off.
    ((t - engine.experiment().start) / every + 1e-9).floor()
}

impl Plan {
    pub(crate) fn new(engine: &Engine, spec: &RecordSpec, bonds: &BondWatch) -> Self {
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
        let own = columns.len();
        columns.extend(bonds.columns().map(|(name, unit)| Column { name, unit: Some(unit.into()) }));
        let bonds = columns.len() - own;
        Self { columns, outputs, inputs, has_energy, bonds, rhythm: Rhythm::new(engine, spec.every) }
    }

    /// Writes a row. `inputs` has room for all inputs, chosen or not.
    fn fill(&self, engine: &Engine, bonds: &BondWatch, inputs: &mut [f64], row: &mut [f64]) {
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
        let (diagnostics, of_bonds) = diagnostics.split_at_mut(diagnostics.len() - self.bonds);
        engine.diagnostics(diagnostics);
        bonds.fill(of_bonds);
        row[0] = engine.time();
    }

    /// Whether a recording has all rows of a run that went to its end.
    pub(crate) fn is_whole(&self, engine: &Engine, table: &Summary) -> bool {
        let experiment = engine.experiment();
        if engine.progress_at(0).is_some() {
            return table.rows() >= self.rows_of_equal_steps(experiment.steps());
        }
        table.span().is_some_and(|(_, last)| match self.rhythm {
            Rhythm::Times(every) => multiple(engine, every, last) >= multiple(engine, every, experiment.stop),
            _ => last >= experiment.stop,
        })
    }

    /// Number of rows that a recording has up to the present point of an engine.
    fn rows_at(&self, engine: &Engine, path: &Path) -> Result<u64> {
        if engine.progress_at(0).is_some() {
            return Ok(self.rows_of_equal_steps(engine.k()));
        }
        let table = Table::open(path)?;
        let is_past = |t: &f64| *t <= engine.time();
        Ok(table.values("t")?.partition_point(is_past) as u64)
    }

    fn rows_of_equal_steps(&self, k: u64) -> u64 {
        let every = if let Rhythm::Steps(every) = self.rhythm { every } else { 1 };
        k / every + 1
    }
}

/// The recorded signals that change at instants only.
fn discrete_names(engine: &Engine, columns: &[Column]) -> String {
    let mut names = Vec::new();
    for part in engine.descriptions() {
        let is_discrete = |port: &&Port| !port.is_real() || port.variation == Variation::Discrete;
        let ports = part.inputs.iter().chain(&part.outputs).filter(is_discrete);
        names.extend(ports.map(|port| format!("{}.{}", part.name, port.name)));
    }
    names.retain(|name| columns.iter().any(|column| column.name == *name));
    names.join("\n")
}

/// Where code of FMUs is in this process, it is kept away from the file.
fn beside_foreign_code(recording: Recording) -> Result<Recording> {
    if supervised::is_watched() { recording.detached() } else { Ok(recording) }
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
    /// What lies between the rows.
    between: Option<Between>,
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
        let bonds = BondWatch::new(project.power_bonds());
        let plan = Plan::new(engine, &project.record, &bonds);
        // Columns do not tell outputs from inputs and diagnostics; plots begin with the outputs.
        let outputs: Vec<_> = plan.columns[1..=plan.outputs.len()].iter().map(|c| c.name.as_str()).collect();
        let step = step_text(project, engine.experiment().step);
        let discrete = discrete_names(engine, &plan.columns);
        let mut own = vec![(OUTPUTS.into(), outputs.join(",")), (STEP.into(), step)];
        if !discrete.is_empty() {
            own.push((DISCRETE.into(), discrete));
        }
        let metadata = [metadata, &own].concat();
        let recording = beside_foreign_code(Recording::create(path, &plan.columns, &metadata)?)?;
        Ok(Self::new(plan, recording, engine, checkpoints))
    }

    /// Goes on with the recording of an engine that was loaded from a checkpoint.
    pub(crate) fn resume(
        path: &Path,
        engine: &Engine,
        project: &Project,
        checkpoints: Checkpoints,
    ) -> Result<Self> {
        let plan = Plan::new(engine, &project.record, &BondWatch::new(project.power_bonds()));
        let recording = Recording::resume(path, &plan.columns, plan.rows_at(engine, path)?)?;
        // A picture of half of them would be odd.
        Between::forget(path);
        let recording = beside_foreign_code(recording)?;
        Ok(Self::new(plan, recording, engine, Some(checkpoints)))
    }

    fn new(plan: Plan, recording: Recording, engine: &Engine, checkpoints: Option<Checkpoints>) -> Self {
        Self {
            inputs: vec![0.0; engine.coupled().len()],
            plan,
            recording,
            checkpoints,
            last_time: engine.time(),
            between: None,
            no_checkpoints: None,
        }
    }

    /// Also writes what the parts tell of the time between communication points, where a picture would miss it.
    pub(crate) fn with_samples(mut self, path: &Path, project: &Project, engine: &Engine) -> Result<Self> {
        if between::is_written(project, engine) {
            let columns = &self.plan.columns[..=self.plan.outputs.len()];
            self.between = Some(Between::create(path, columns, &self.plan.outputs)?);
        }
        Ok(self)
    }

    /// Closes the recording and gives the number of rows and the time of the last.
    pub(crate) fn finish(self) -> Result<(u64, f64)> {
        let (recording, last_time) = (self.recording, self.last_time);
        self.between.map_or(Ok(()), Between::finish)?;
        // Code of FMUs could have changed the file.
        let rows =
            if supervised::is_watched() { recording.finish_and_verify()? } else { recording.finish()? };
        Ok((rows, last_time))
    }

    fn write_row(&mut self, engine: &Engine, bonds: &BondWatch) -> Result<()> {
        let (plan, inputs, number) = (&self.plan, &mut self.inputs, self.recording.rows());
        self.last_time = engine.time();
        self.recording.row_with(|row| {
            plan.fill(engine, bonds, inputs, row);
            supervised::keep_row(number, row);
        })
    }

    /// Saves a checkpoint if one is due.
    pub(crate) fn checkpoint_if_due(
        &mut self,
        engine: &Engine,
        watches: (&RunWatch, &BondWatch),
    ) -> Result<()> {
        match &self.checkpoints {
            Some(checkpoints) if checkpoints.due() => self.checkpoint(engine, watches),
            _ => Ok(()),
        }
    }

    /// Saves a checkpoint. It is only worth something if the rows before it are on disk.
    pub(crate) fn checkpoint(
        &mut self,
        engine: &Engine,
        (watch, bonds): (&RunWatch, &BondWatch),
    ) -> Result<()> {
        let Some(checkpoints) = &mut self.checkpoints else { return Ok(()) };
        self.recording.flush()?;
        let mut notes = StateWriter::default();
        watch.save(&mut notes);
        bonds.save(&mut notes);
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

impl Recorder {
    /// Writes a row at the communication point of an engine if one is due, with what its bonds have seen there.
    pub(crate) fn look(&mut self, engine: &Engine, bonds: &BondWatch) -> Result<()> {
        if let Some(between) = &mut self.between {
            between.look(engine)?;
        }
        match self.plan.rhythm.is_due(engine) {
            true => self.write_row(engine, bonds),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use costep_conformance::systems::{coupled, method, model};
    use costep_conformance::varying_steps::varying;
    use costep_integrate::Solver;

    use costep_engine::{Flow, Observer};

    use super::*;

    impl Observer for Recorder {
        fn observe(&mut self, engine: &Engine) -> Result<Flow> {
            self.look(engine, &BondWatch::default()).map(|()| Flow::Continue)
        }
    }

    /// A run of 0.1 s with steps of 2 ms at most.
    fn engine(is_uniform: bool) -> Engine {
        let system = coupled(&model("dual-mass", &[]), &Solver::Exact, &method("foh"), 0.1, 2e-3);
        if is_uniform { Engine::new(system) } else { varying(system) }.unwrap()
    }

    fn every(time: Option<f64>) -> RecordSpec {
        RecordSpec { every: time, signals: vec!["*.x*".into()], ..RecordSpec::default() }
    }

    /// All communication points of a run.
    fn points(is_uniform: bool) -> Vec<f64> {
        let (mut engine, mut times) = (engine(is_uniform), Vec::new());
        let mut note = |engine: &Engine| {
            times.push(engine.time());
            Ok(Flow::Continue)
        };
        engine.run(&mut [&mut note]).unwrap();
        times
    }

    fn times(path: &Path) -> Vec<f64> {
        Table::open(path).unwrap().values("t").unwrap().to_vec()
    }

    #[test]
    fn rows_are_as_far_apart_as_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.arrows");
        for (is_uniform, time) in [(true, None), (true, Some(9e-3)), (false, None), (false, Some(9e-3))] {
            let (mut engine, all) = (engine(is_uniform), points(is_uniform));
            let plan = Plan::new(&engine, &every(time), &BondWatch::default());
            let recording = Recording::create(&path, &plan.columns, &[]).unwrap();
            let mut recorder = Recorder::new(plan, recording, &engine, None);
            engine.run(&mut [&mut recorder]).unwrap();
            recorder.finish().unwrap();
            let expected = match (is_uniform, time) {
                (_, None) => all,
                // 4.5 steps are 5, as they have always been.
                (true, Some(_)) => all.into_iter().step_by(5).collect::<Vec<_>>(),
                (false, Some(time)) => {
                    let from = |k: usize| all.iter().copied().find(|t| *t >= k as f64 * time - 1e-12);
                    (0..12).filter_map(from).collect()
                }
            };
            assert_eq!(times(&path), expected);
            assert!(time.is_none() || (11..=12).contains(&expected.len()), "{expected:?}");
            let plan = Plan::new(&engine, &every(time), &BondWatch::default());
            assert!(plan.is_whole(&engine, &Summary::read(&path).unwrap()));
        }
    }

    #[test]
    fn a_resumed_run_with_varying_steps_drops_the_rows_after_its_checkpoint() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.arrows");
        let mut unbroken = engine(false);
        let plan = Plan::new(&unbroken, &every(Some(9e-3)), &BondWatch::default());
        let recording = Recording::create(&path, &plan.columns, &[]).unwrap();
        let (mut recorder, mut saved) = (Recorder::new(plan, recording, &unbroken, None), Vec::new());
        let mut save = |engine: &Engine| {
            if engine.k() == 37 {
                saved = engine.save()?;
            }
            Ok(Flow::Continue)
        };
        unbroken.run(&mut [&mut recorder, &mut save]).unwrap();
        recorder.finish().unwrap();
        let whole = times(&path);
        let mut resumed = engine(false);
        resumed.load(&saved).unwrap();
        let plan = Plan::new(&resumed, &every(Some(9e-3)), &BondWatch::default());
        let kept = plan.rows_at(&resumed, &path).unwrap();
        assert!(
            kept > 3 && whole[kept as usize - 1] <= resumed.time() && whole[kept as usize] > resumed.time()
        );
        let recording = Recording::resume(&path, &plan.columns, kept).unwrap();
        let mut recorder = Recorder::new(plan, recording, &resumed, None);
        recorder.recording.flush().unwrap();
        let plan = Plan::new(&resumed, &every(Some(9e-3)), &BondWatch::default());
        assert!(!plan.is_whole(&resumed, &Summary::read(&path).unwrap()));
        resumed.run(&mut [&mut recorder]).unwrap();
        recorder.finish().unwrap();
        assert_eq!(times(&path), whole);
    }
}
