//! Records a run with identified models as a sequence of linear maps, one per macro step.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use costep_core::{
    Capabilities, Code, Description, Error, Experiment, InterfaceModel, Linearisation, LocalModel,
    ModelQuality, ModelSource, Observation, Result, StateReader, StateWriter, Subsystem,
};
use costep_engine::{Engine, Flow, Observer};
use costep_linalg::Matrix;
use costep_methods::papers::Phase;

use crate::coupled_loop::{Identified, Local, LoopStep, Places, coupling_matrix};
use crate::law::LoopLaw;

/// More numbers than this are not kept: 3e7 are 240 MB.
const LIMIT: usize = 30_000_000;

/// What stands for the subsystems in the linear maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plant {
    /// Their local models at the beginning of every step, with their states, as in the thesis.
    Local,
    /// The identified models themselves: all that is known of black boxes.
    Identified,
}

impl Plant {
    /// For people and machines.
    pub fn text(self) -> &'static str {
        match self {
            Self::Local => "local models",
            Self::Identified => "identified models",
        }
    }
}

/// A run as a time-varying linear system, from the first step at which models are followed without switching on.
pub struct RecordedLoop {
    /// What stands for the subsystems.
    pub plant: Plant,
    /// One matrix per macro step, in units of the ranges of the signals in the run.
    pub steps: Vec<Matrix>,
    /// What the constants of the identified models add in every step, in the same units.
    pub constants: Vec<Vec<f64>>,
    /// These units: of u^(k-1), u^k, what the law carries, y^(k-1), y^k and, with local models, x^k.
    pub units: Vec<f64>,
    /// How many of them are of x.
    pub states: usize,
    /// Number of the first of these steps.
    pub first: u64,
    /// How many of them have optimised inputs, inputs L yhat, and inputs from signals.
    pub phases: [usize; 3],
}

/// What is seen at a communication point.
#[derive(Clone, Default)]
struct Seen {
    plant: Option<Plant>,
    identified: Vec<Option<InterfaceModel>>,
    local: Vec<LocalModel>,
    u: Vec<Vec<f64>>,
    y: Vec<Vec<f64>>,
}

/// An observer of a run with identified models. They go through its tap.
pub struct LoopRecorder {
    /// Now, and at the beginning of the step that has just been done.
    seen: Arc<Mutex<Seen>>,
    before: Seen,
    law: LoopLaw,
    phase_column: usize,
    diagnostics: Vec<f64>,
    l: Matrix,
    places: Places,
    /// Least and greatest values of u, y and x so far.
    ranges: [Ranges; 3],
    steps: Vec<Matrix>,
    constants: Vec<Vec<f64>>,
    first: u64,
    phases: [usize; 3],
}

impl LoopRecorder {
    /// For a method with this law. Without a wish for the plant, local models are taken if all subsystems have them.
    pub fn new(law: LoopLaw, plant: Option<Plant>) -> Self {
        Self {
            seen: Arc::new(Mutex::new(Seen { plant, ..Seen::default() })),
            before: Seen::default(),
            law,
            phase_column: 0,
            diagnostics: Vec::new(),
            l: Matrix::default(),
            places: Places::new(0, 0, 0, false),
            ranges: Default::default(),
            steps: Vec::new(),
            constants: Vec::new(),
            first: 0,
            phases: [0; 3],
        }
    }

    /// The source, watched: the engine has to get this one.
    pub fn tap(&self, source: Box<dyn ModelSource>) -> Box<dyn ModelSource> {
        Box::new(Tap { source, seen: Arc::clone(&self.seen) })
    }

    /// What was recorded.
    pub fn finish(mut self) -> Result<RecordedLoop> {
        if self.steps.is_empty() {
            return Err(Error::new(
                Code::BadValue,
                "the run ended before its inputs were formed from models",
            )
            .hint("a later end (`--t-end`) or a shorter learning phase (`learning=STEPS`)"));
        }
        let units = self.units();
        for phi in &mut self.steps {
            for (i, own) in units.iter().enumerate() {
                phi.row_mut(i).iter_mut().zip(&units).for_each(|(entry, other)| *entry *= other / own);
            }
        }
        for constant in &mut self.constants {
            constant.iter_mut().zip(&units).for_each(|(entry, own)| *entry /= own);
        }
        let plant = lock(&self.seen).plant.unwrap_or(Plant::Identified);
        let (first, phases, states) = (self.first, self.phases, self.places.x.len());
        Ok(RecordedLoop { plant, steps: self.steps, constants: self.constants, units, states, first, phases })
    }

    /// Of the entries of the state.
    fn units(&self) -> Vec<f64> {
        let [u, y, x] = &self.ranges;
        let bar = if self.law.carries_inputs() { u } else { &Ranges::default() };
        [u, u, y, bar, y, y, x].into_iter().flat_map(Ranges::sizes).collect()
    }

    fn start(&mut self, engine: &Engine) -> Result<()> {
        let names = engine.diagnostic_names();
        let phase = format!("{}.phase", self.law.method);
        let column = names.iter().position(|name| *name == phase);
        self.phase_column = column.ok_or_else(|| Error::new(Code::Bug, format!("there is no `{phase}`")))?;
        self.diagnostics = vec![0.0; names.len()];
        self.law.look(engine.descriptions().iter());
        let (layout, seen) = (engine.layout(), lock(&self.seen));
        self.l = coupling_matrix(engine.coupling(), layout);
        let states = seen.local.iter().map(|model| model.states).sum();
        self.places = Places::new(layout.inputs(), layout.outputs(), states, self.law.carries_inputs());
        self.ranges = [layout.inputs(), layout.outputs(), states].map(Ranges::new);
        let size = self.places.size();
        let steps = engine.experiment().steps() as usize;
        if size.saturating_mul(size).saturating_mul(steps) > LIMIT {
            let message = format!("{steps} steps of {size} states are too many to be kept");
            return Err(Error::new(Code::BadValue, message).hint("a shorter run: `--t-end`"));
        }
        Ok(())
    }

    /// The step that has just been done, with what was seen at its beginning.
    fn step(&mut self, engine: &Engine, seen: &Seen) -> Result<()> {
        let [u, y, x] = &mut self.ranges;
        u.take(seen.u.iter().flatten());
        y.take(seen.y.iter().flatten());
        x.take(seen.local.iter().flat_map(|model| &model.x));
        engine.diagnostics(&mut self.diagnostics);
        let phase = Phase::of(self.diagnostics[self.phase_column]);
        let place = match phase {
            Some(Phase::Full) => 0,
            Some(Phase::Modified) => 1,
            // Before models have taken over.
            _ if self.steps.is_empty() => return Ok(()),
            _ => 2,
        };
        let sizes = |ranges: &Ranges| match self.law.is_scaled() {
            true => ranges.sizes().collect::<Vec<_>>(),
            false => vec![1.0; ranges.least.len()],
        };
        let identified = Identified::new(
            engine.layout(),
            engine.coupling(),
            &seen.identified,
            (&sizes(&self.ranges[1]), &sizes(&self.ranges[0])),
        );
        let wants_local = seen.plant == Some(Plant::Local);
        let h = engine.last_step().length;
        let local = wants_local.then(|| Local::new(engine.layout(), &seen.local, h)).flatten();
        let step = LoopStep {
            law: &self.law,
            phase: phase.unwrap_or(Phase::Signal),
            l: &self.l,
            identified: identified.as_ref(),
            local: local.as_ref(),
        };
        let whole = step.matrix(&self.places).zip(step.constant(&self.places));
        let (phi, constant) = whole.filter(|_| local.is_some() == wants_local).ok_or_else(|| {
            let message = format!("step {} has no finite linear model", engine.k() - 1);
            Error::new(Code::NotFinite, message).because("a model is missing, singular or not finite")
        })?;
        if self.steps.is_empty() {
            self.first = engine.k() - 1;
        }
        self.steps.push(phi);
        self.constants.push(constant);
        self.phases[place] += 1;
        Ok(())
    }
}

impl Observer for LoopRecorder {
    fn observe(&mut self, engine: &Engine) -> Result<Flow> {
        if engine.k() == 0 {
            self.start(engine)?;
        } else {
            let before = std::mem::take(&mut self.before);
            self.step(engine, &before)?;
        }
        self.before = lock(&self.seen).clone();
        Ok(Flow::Continue)
    }
}

/// A source of models that shows what it gives.
struct Tap {
    source: Box<dyn ModelSource>,
    seen: Arc<Mutex<Seen>>,
}

impl ModelSource for Tap {
    fn name(&self) -> &'static str {
        self.source.name()
    }

    fn prepare(
        &mut self,
        descriptions: &[Description],
        capabilities: &[Capabilities],
        experiment: &Experiment,
    ) -> Result<()> {
        let mut seen = lock(&self.seen);
        let all_local = capabilities.iter().all(|can| can.linearisation == Linearisation::Full);
        let plant = if all_local { Plant::Local } else { Plant::Identified };
        if *seen.plant.get_or_insert(plant) == Plant::Local {
            let model = |(of, can): (&Description, &Capabilities)| {
                LocalModel::new(can.states, of.inputs.len(), of.outputs.len())
            };
            seen.local = descriptions.iter().zip(capabilities).map(model).collect();
        }
        let count = descriptions.len();
        seen.identified = vec![None; count];
        (seen.u, seen.y) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        self.source.prepare(descriptions, capabilities, experiment)
    }

    fn observe(&mut self, i: usize, subsystem: &mut dyn Subsystem, at: &Observation<'_>) -> Result<()> {
        self.source.observe(i, subsystem, at)?;
        let mut seen = lock(&self.seen);
        seen.identified[i] = self.source.interface(i).cloned();
        (seen.u[i], seen.y[i]) = (at.u.to_vec(), at.y.to_vec());
        match seen.local.get_mut(i) {
            Some(model) => subsystem.demand_linearised()?.local_model(at.u, model),
            None => Ok(()),
        }
    }

    fn model(&self, i: usize) -> Option<&LocalModel> {
        self.source.model(i)
    }

    fn interface(&self, i: usize) -> Option<&InterfaceModel> {
        self.source.interface(i)
    }

    fn quality(&self, i: usize) -> ModelQuality {
        self.source.quality(i)
    }

    fn version(&self, i: usize) -> u64 {
        self.source.version(i)
    }

    fn generation(&self) -> Option<u64> {
        self.source.generation()
    }

    fn state(&self, i: usize) -> Option<(&[f64], &[f64])> {
        self.source.state(i)
    }

    fn leave_out_states(&mut self) {
        self.source.leave_out_states();
    }

    fn save(&self, out: &mut StateWriter) {
        self.source.save(out);
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.source.load(from)
    }
}

#[derive(Clone, Debug, Default)]
struct Ranges {
    least: Vec<f64>,
    greatest: Vec<f64>,
}

impl Ranges {
    fn new(signals: usize) -> Self {
        Self { least: vec![f64::MAX; signals], greatest: vec![f64::MIN; signals] }
    }

    fn take<'a>(&mut self, values: impl Iterator<Item = &'a f64>) {
        for ((least, greatest), value) in self.least.iter_mut().zip(&mut self.greatest).zip(values) {
            (*least, *greatest) = (least.min(*value), greatest.max(*value));
        }
    }

    /// The ranges; 1 where nothing has moved.
    fn sizes(&self) -> impl Iterator<Item = f64> + '_ {
        let sizes = self.least.iter().zip(&self.greatest).map(|(least, greatest)| greatest - least);
        sizes.map(|range| if range > 0.0 && range.is_finite() { range } else { 1.0 })
    }
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}
