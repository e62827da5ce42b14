//! Many runs of one system: a plan becomes points, points become rows. Runs that have parameters in common share the system, those that
//! also have the step in common the reference; all cores are used, and a row is handed over as soon as its run is done.

mod analysis;
mod map;
mod row;
mod shared;
mod table;

use std::collections::HashMap;
use std::path::Path;

use costep_analysis::Reference;
use costep_core::{Error, Result, Value};
use costep_experiments::{Factorial, Workers};
use costep_methods::MethodSpec;
use costep_project::{Axis, Isolation, Plan, Project, Registry, Varied};

use crate::assemble::Choice;
use crate::cancel::Cancel;
use crate::comparison::{Against, measured_run};
use crate::errors::Errors;
use crate::reference::ReferenceChoice;
use crate::report::Verdict;
use crate::stability::StabilityPoint;
use crate::system::System;
use crate::waiting::Waiting;
use crate::working_folder::WorkingFolder;
pub use analysis::PlanAnalysis;
pub(crate) use map::are_ratios_equal;
pub use map::{MapRegion, MethodMap};
pub use row::CampaignRow;
pub(crate) use row::VERDICTS;
use shared::Shared;
pub use table::{RunTable, ShardSpec};

/// Many runs of one system, ready to be done.
///
/// ```
/// use costep::{Campaign, Cancel, Plan, Registry};
///
/// let text = "[plan]\nsystem = \"dual-mass\"\nmethods = [\"zoh\", \"predictive\"]\n[parameters]\nck = [1e4, 1e5]\n";
/// let plan = Plan::from_toml(text, std::path::Path::new("plan.toml"), &Registry::standard()).unwrap();
/// let campaign = Campaign::new(plan, Registry::standard())?;
/// let mut rows = Vec::new();
/// campaign.run(&[0, 1, 2, 3], 2, &Cancel::new(), &mut |row| {
///     rows.push(row);
///     Ok(())
/// })?;
/// assert_eq!(rows.len(), 4);
/// # Ok::<(), costep::Errors>(())
/// ```
pub struct Campaign {
    plan: Plan,
    factorial: Factorial,
    registry: Registry,
    /// The system at the first point.
    base: System,
    reference: ReferenceChoice,
    runs: usize,
    /// Whether every run also gets the spectral radius of its macro steps.
    has_radius: bool,
}

/// What runs share: systems by their parameters, references by parameters and step.
struct Pools {
    /// From which the systems are read.
    here: WorkingFolder,
    systems: Shared<Result<System>>,
    references: Shared<Result<Option<Reference>>>,
}

/// Where a point belongs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    system: usize,
    step: usize,
    point: usize,
}

impl Campaign {
    /// Checks a plan against its system.
    pub fn new(plan: Plan, registry: Registry) -> Result<Self, Errors> {
        let (runs, factorial) = (plan.runs()?, plan.factorial());
        let first = plan.axes.iter().filter_map(|axis| axis.factor.levels.first()).collect::<Vec<_>>();
        let project = alone(plan.load(&registry, &first)?);
        plan.method_at(&registry, &first)?;
        let base = System::new(project, registry.clone());
        let steps = plan.axes.iter().filter(|axis| axis.varied == Varied::Step);
        let steps: Vec<f64> = steps.flat_map(|axis| axis.factor.numbers().unwrap_or_default()).collect();
        base.check_steps(&steps)?;
        let reference = ReferenceChoice::parse(base.project(), registry.solvers(), &plan.reference)?;
        Ok(Self { plan, factorial, registry, base, reference, runs, has_radius: false })
    }

    /// With the spectral radius of a macro step in every row.
    pub fn with_radius(mut self) -> Self {
        self.has_radius = true;
        self
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// All its points.
    pub fn factorial(&self) -> &Factorial {
        &self.factorial
    }

    /// The system at the first point.
    pub fn system(&self) -> &System {
        &self.base
    }

    /// Number of runs of the whole plan.
    pub fn runs(&self) -> usize {
        self.runs
    }

    /// Name, options and step of a run, for people.
    pub fn label(&self, point: usize) -> String {
        let levels = self.factorial.levels(point);
        let word = |(axis, level): (&Axis, &&Value)| {
            let text = costep_project::level_text(axis, level);
            if axis.varied == Varied::Method { text } else { format!("{} {text}", axis.factor.name) }
        };
        self.plan.axes.iter().zip(&levels).map(word).collect::<Vec<_>>().join(", ")
    }

    /// Does these runs, so many at a time, and hands over their rows as they are done. A run that fails is a row; an error of `take`
    /// ends all, and so does the flag.
    pub fn run(
        &self,
        points: &[usize],
        threads: usize,
        cancel: &Cancel,
        take: &mut dyn FnMut(CampaignRow) -> Result<()>,
    ) -> Result<()> {
        let mut places: Vec<Place> = points.iter().map(|point| self.place(*point)).collect();
        // Runs that share something are done one after the other.
        places.sort_unstable();
        let here = WorkingFolder::before(self.base.project());
        let pools = Pools { here, systems: Shared::new(2 * threads), references: Shared::new(2 * threads) };
        let work = |job: usize| self.one(places[job], &pools, cancel);
        Workers { threads }.each(places.len(), work, |_, row| {
            // A run that was stopped says nothing.
            cancel.check()?;
            take(row)
        })
    }

    fn place(&self, point: usize) -> Place {
        let (mut system, mut step) = (0, 0);
        for (axis, level) in self.plan.axes.iter().zip(self.factorial.place(point)) {
            match axis.varied {
                Varied::Parameter => system = system * axis.factor.levels.len() + level,
                Varied::Step => step = level,
                Varied::Method | Varied::Option => {}
            }
        }
        Place { system, step, point }
    }

    fn one(&self, place: Place, pools: &Pools, cancel: &Cancel) -> CampaignRow {
        match self.row(place, pools, cancel) {
            Ok(row) => row,
            Err(error) => CampaignRow::failed(place.point, Verdict::of_error(&error), &error),
        }
    }

    fn row(&self, place: Place, pools: &Pools, cancel: &Cancel) -> Result<CampaignRow> {
        let levels = self.factorial.levels(place.point);
        let system = pools.systems.get(place.system, || {
            pools.here.come_back();
            self.system_at(&levels)
        });
        let system = Shared::value(&system).clone()?;
        let project = &*system.project;
        let step = self.plan.step_at(&levels).unwrap_or(project.model.experiment.step);
        let method = self.method(&levels, project)?;
        let key = place.system * self.steps() + place.step;
        let waiting = Waiting::new(cancel, None);
        let reference = pools.references.get(key, || self.reference.make_unchecked(project, step, &waiting));
        // A reference that fails leaves the runs alone.
        let reference = Shared::value(&reference).as_ref().ok().and_then(Option::as_ref);
        let choice = Choice { method: &method, step, control: project.control.as_ref() };
        let against = Against { reference, later: self.reference.filter(project), micro: false };
        let (report, _) = measured_run(project, &choice, against, None, &waiting);
        let mut row = CampaignRow::of(place.point, &report);
        if self.has_radius && row.verdict != Verdict::Failed {
            let point = StabilityPoint { method: &method, step, at: None, by_models: false };
            let found = system.stability_at(&point, &mut |_| cancel.check());
            // Not every step is a linear map.
            row.spectral_radius = found.ok().map(|found| found.radius);
        }
        Ok(row)
    }

    fn system_at(&self, levels: &[&Value]) -> Result<System> {
        let project = self.plan.load(&self.registry, levels).map_err(|mut errors| errors.swap_remove(0))?;
        Ok(System::new(alone(project), self.registry.clone()))
    }

    /// The method at a point, with the models of the project where it can work with them.
    fn method(&self, levels: &[&Value], project: &Project) -> Result<MethodSpec> {
        let method = self.plan.method_at(&self.registry, levels)?;
        let method = method.unwrap_or_else(|| project.groups[0].method.clone());
        match &project.models {
            Some(models) if !method.names_models() && method.uses_models() => method.with_models(models),
            _ => Ok(method),
        }
    }

    fn steps(&self) -> usize {
        let axis = self.plan.axes.iter().find(|axis| axis.varied == Varied::Step);
        axis.map_or(1, |axis| axis.factor.levels.len())
    }

    /// The project with these levels, as text that can be run where the system of the plan lies or, if one is given, in a folder.
    pub fn project_with(&self, levels: &[Value], folder: Option<&Path>) -> Result<String, Errors> {
        let overrides = costep_project::changes_of(&self.plan, levels);
        let source = self.registry.source(&self.plan.system)?;
        let mut project = self.registry.load(&source, &overrides)?;
        let levels: Vec<&Value> = levels.iter().collect();
        if let Some(method) = self.plan.method_at(&self.registry, &levels)? {
            project.groups[0].method = method;
        }
        Ok(folder.map_or_else(|| project.to_toml(), |folder| project.to_toml_in(folder)))
    }

    /// What tells the rows of this plan from those of another.
    pub(crate) fn identity(&self) -> Result<String> {
        let mut project = Project::clone(self.base.project());
        // After a crash the rest is done with the FMU in a process of its own.
        project.given.fmus.iter_mut().for_each(|fmu| fmu.isolation = Isolation::default());
        Ok(format!("{}\n{}\n{}", self.plan.identity(), project.to_toml(), project.file_marks()?))
    }
}

/// Every run has a core to itself.
fn alone(mut project: Project) -> Project {
    project.threads = costep_engine::Threads::Fixed(1);
    project
}

/// The codes of failed runs, with how many have each.
pub fn failures(rows: &[CampaignRow]) -> Vec<(&'static str, usize)> {
    let mut counts: HashMap<&'static str, usize> = HashMap::new();
    for row in rows.iter().filter(|row| row.verdict == Verdict::Failed) {
        *counts.entry(row.code.unwrap_or("")).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_unstable();
    counts
}

impl From<Errors> for Error {
    /// The first of them.
    fn from(errors: Errors) -> Self {
        let mut all: Vec<Error> = errors.into();
        all.swap_remove(0)
    }
}
