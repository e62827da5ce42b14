//! Subsystems that step at a rate of their own: once in several macro steps, or several times in one.
//!
//! ```text
//! slow, every n macro steps   it goes ahead over n of them under its input polynomials, continued; the others see its outputs on
//!                             the parabola through the last three of its own steps, so at their ends as they are
//! fast, n parts of a step     every part gets the polynomials shifted to its start or, where inputs are held, their mean over it
//! ```
//!
//! To go ahead means that a slow subsystem sees what the others are expected to do, and the others see what
//! it has done: their inputs are interpolated. The order of the error is that of the method.

use costep_core::{
    Code, Description, EnvironmentStep, Error, Experiment, InputList, InputSegment, Interval, Linearised,
    MicroRecorder, MicroSamples, Persistence, Result, Rollback, SolverCounts, StateReader, StateWriter,
    StepLengths, StepOutcome, Subsystem, Telemetry, Wrapper,
};

use crate::substeps::divided;

/// How often a subsystem steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rate {
    /// Once in every macro step.
    #[default]
    Base,
    /// Once in so many macro steps.
    Every(u32),
    /// So many times in every macro step.
    Parts(u32),
}

impl Rate {
    /// The subsystem at this rate.
    pub fn apply(self, subsystem: Box<dyn Subsystem>) -> Box<dyn Subsystem> {
        match self {
            Self::Every(count) if count > 1 => Box::new(Slow::new(subsystem, count)),
            Self::Parts(count) if count > 1 => divided(subsystem, count as usize),
            _ => subsystem,
        }
    }
}

/// Where a slow subsystem stands.
#[derive(Clone, Debug, Default)]
struct Course {
    /// Macro steps done.
    k: u64,
    /// The macro steps at which its own last step began and ends, and the one before began.
    from: u64,
    to: u64,
    before: u64,
    /// Its outputs there.
    y_from: Vec<f64>,
    y_to: Vec<f64>,
    y_before: Vec<f64>,
}

impl Course {
    /// Outputs at macro step k: on the parabola through the last three points, or on a line as long as
    /// there are two.
    fn outputs(&self, y: &mut [f64]) {
        if self.k == self.to {
            return y.copy_from_slice(&self.y_to);
        }
        let (h, g) = ((self.to - self.from) as f64, (self.from - self.before) as f64);
        let s = (self.k - self.from) as f64;
        for (i, y) in y.iter_mut().enumerate() {
            let slope = (self.y_to[i] - self.y_from[i]) / h;
            let curvature = match g > 0.0 {
                true => (slope - (self.y_from[i] - self.y_before[i]) / g) / (h + g),
                false => 0.0,
            };
            *y = self.y_from[i] + slope * s + curvature * s * (s - h);
        }
    }
}

/// A subsystem that does one step in several macro steps.
struct Slow {
    inner: Box<dyn Subsystem>,
    description: Description,
    every: u64,
    experiment: Experiment,
    course: Course,
    remembered: Course,
}

impl Slow {
    fn new(inner: Box<dyn Subsystem>, every: u32) -> Self {
        let mut description = inner.description().clone();
        // It has gone ahead: nothing follows its inputs at once.
        description.feedthrough.fill(InputList::NONE);
        description.step_lengths = StepLengths::MacroSteps;
        let outputs = description.outputs.len();
        let rows = || vec![0.0; outputs];
        let course = Course { y_from: rows(), y_to: rows(), y_before: rows(), ..Course::default() };
        let experiment = Experiment { start: 0.0, stop: 0.0, step: 1.0 };
        Self { inner, description, every: u64::from(every), experiment, remembered: course.clone(), course }
    }

    /// Its own next step, from macro step k on. The last one is shorter if it has to be.
    fn own_step(&self, k: u64) -> (u64, Interval) {
        let to = (k + self.every).min(self.experiment.steps().max(k + 1));
        let (first, last) = (self.experiment.interval(k), self.experiment.interval(to - 1));
        let length = (to - k - 1) as f64 * first.length + last.length;
        (to, Interval { start: first.start, end: last.end, length })
    }
}

impl Wrapper for Slow {
    fn inner(&self) -> &dyn Subsystem {
        &*self.inner
    }

    fn inner_mut(&mut self) -> &mut dyn Subsystem {
        &mut *self.inner
    }

    fn description(&self) -> &Description {
        &self.description
    }

    fn initialise(&mut self, experiment: &Experiment) -> Result<()> {
        self.experiment = *experiment;
        let own = Experiment { step: self.every as f64 * experiment.step, ..*experiment };
        let (last, allows) = (own.last_step(), self.inner.description().step_lengths);
        if last != own.step && !allows.allow(last) {
            let message = format!("`{}` cannot do the shorter last of its steps", self.description.name);
            return Err(Error::new(Code::NeedsMissing, message)
                .hint("choose a stop time that is a multiple of its own step"));
        }
        self.inner.initialise(&own)
    }

    fn initial_outputs(&mut self, u: &[f64], y: &mut [f64]) -> Result<()> {
        self.inner.initial_outputs(u, y)?;
        self.course.y_to.copy_from_slice(y);
        Ok(())
    }

    fn begin(&mut self, y: &mut [f64]) -> Result<()> {
        self.inner.begin(y)?;
        self.course.y_to.copy_from_slice(y);
        Ok(())
    }

    fn step(&mut self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        if self.course.k == self.course.to {
            let (to, own) = self.own_step(self.course.k);
            let course = &mut self.course;
            // The oldest point becomes the newest.
            std::mem::swap(&mut course.y_before, &mut course.y_from);
            std::mem::swap(&mut course.y_from, &mut course.y_to);
            (course.before, course.from, course.to) = (course.from, course.to, to);
            let outcome = self.inner.step(own, u, &mut course.y_to)?;
            if outcome.reached != own.end {
                return Ok(outcome);
            }
        }
        self.course.k += 1;
        self.course.outputs(y);
        Ok(StepOutcome { reached: interval.end })
    }

    fn rollback(&mut self) -> Option<&mut dyn Rollback> {
        if self.inner.rollback().is_some() { Some(self) } else { None }
    }

    /// It stands at another time than the others.
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
        if self.inner.persistence().is_some() { Some(self) } else { None }
    }

    fn persistence_mut(&mut self) -> Option<&mut dyn Persistence> {
        if self.inner.persistence().is_some() { Some(self) } else { None }
    }

    fn telemetry(&self) -> Option<&dyn Telemetry> {
        Some(self)
    }
}

impl Rollback for Slow {
    fn snapshot(&mut self) -> Result<()> {
        self.remembered.clone_from(&self.course);
        self.inner.demand_rollback()?.snapshot()
    }

    fn restore(&mut self) -> Result<()> {
        self.course.clone_from(&self.remembered);
        self.inner.demand_rollback()?.restore()
    }

    fn release(&mut self) {
        if let Some(inner) = self.inner.rollback() {
            inner.release();
        }
    }
}

impl Persistence for Slow {
    fn save(&self, out: &mut StateWriter) -> Result<()> {
        let Course { k, from, to, before, y_from, y_to, y_before } = &self.course;
        [k, from, to, before].into_iter().for_each(|count| out.integer(*count));
        [y_from, y_to, y_before].into_iter().for_each(|values| out.reals(values));
        self.inner.persistence().map_or(Ok(()), |inner| inner.save(out))
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        let counts = [from.integer()?, from.integer()?, from.integer()?, from.integer()?];
        let [k, own_from, to, before] = counts;
        let most = self.experiment.steps();
        if !(before <= own_from && own_from <= k && k <= to && to <= most.max(k)) {
            return Err(Error::new(Code::CheckpointDamaged, "the saved state of a slow part is of no step"));
        }
        let course = &mut self.course;
        (course.k, course.from, course.to, course.before) = (k, own_from, to, before);
        [&mut course.y_from, &mut course.y_to, &mut course.y_before]
            .into_iter()
            .try_for_each(|values| from.reals(values))?;
        self.inner.persistence_mut().map_or(Ok(()), |inner| inner.load(from))
    }
}

impl Telemetry for Slow {
    fn micro_samples(&self) -> Option<MicroSamples<'_>> {
        None
    }

    fn input_at_end(&self) -> Option<&[f64]> {
        None
    }

    fn diagnostic_names(&self) -> &[&'static str] {
        self.inner.telemetry().map_or(&[], |inner| inner.diagnostic_names())
    }

    fn diagnostics(&self, row: &mut [f64]) {
        if let Some(inner) = self.inner.telemetry() {
            inner.diagnostics(row);
        }
    }

    fn solver_counts(&self) -> Option<SolverCounts> {
        self.inner.telemetry()?.solver_counts()
    }

    /// That of another time than the others'.
    fn energy(&self) -> Option<f64> {
        None
    }
}
