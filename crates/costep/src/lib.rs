//! Co-simulation of systems that exchange energy: fast, stable, accurate.
//!
//! Open a project, an .ssp or a built-in model, or build a system in code, by names; choose method and step;
//! run it, look at every step, get results, a verdict and a comparison of methods.
//!
//! ```
//! use costep::{Run, System, Verdict};
//!
//! // A two-mass oscillator, split at its spring, at a step at which held inputs make it explode.
//! let system = System::open("dual-mass")?;
//! let held = system.run(Run::new().method("zoh").step(5e-3).reference("same"))?;
//! assert_eq!(held.verdict(), Verdict::Unstable);
//!
//! let predicted = system.run(Run::new().method("predictive").step(5e-3).reference("same"))?;
//! assert_eq!(predicted.verdict(), Verdict::Stable);
//! println!("error {:.1e}", predicted.report.errors.eps_mono.unwrap());
//! # Ok::<(), costep::Errors>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | open or build a system | [`System::open`], [`System::opening`], [`System::builder`] |
//! | run it, see every step | [`System::run`], [`System::run_with`], [`Run`], [`Step`], [`Outcome`] |
//! | take it step by step, go back | [`System::start`], [`Simulation`], [`Snapshot`] |
//! | record it, go on later | [`Run::record`], [`RunFolder`], [`Simulation::resume`] |
//! | run a plan of many runs | [`Plan`], [`Campaign`], [`RunTable`] |
//! | compare methods and steps | [`System::compare`], [`Comparison`] |
//! | find the cheapest method and step for an error | [`System::advise`], [`Advising`], [`Advice`] |
//! | judge the stability of a method and a step | [`System::step_stability`], [`StepStability`] |
//! | show a run or a comparison as a page | [`pages`] |
//! | learn models of the parts | [`System::identify`] |
//! | add methods, sources, models and solvers of your own | [`Registry`] |
//!
//! Everything is owned and [`Send`]; a run may be moved to another thread and ended from outside by a
//! [`Cancel`].
//!
//! Runs are done in the calling process: an FMU that crashes takes it along. The program `costep` runs
//! projects with FMUs in a second process that it looks after; in a library that is the choice of the
//! caller. FMUs with `isolation = "process"` need a program that can host them
//! (`costep_supervise::offer_workers`).

mod advice;
mod assemble;
mod between;
mod builder;
mod campaign;
mod cancel;
mod change_method;
mod comparison;
mod diagnosis;
mod diagram;
mod errors;
mod files;
mod folder;
mod identify;
mod kinds;
mod names;
mod native;
mod origin;
mod outcome;
pub mod pages;
mod patience;
mod promises;
mod rate_proposal;
mod recorder;
mod reference;
mod report;
#[cfg(target_os = "linux")]
mod rescue;
mod results;
mod run;
mod settling;
mod simulation;
mod solution;
mod stability;
mod step;
mod supervised;
mod system;
mod trust;
mod verdict;
mod waiting;
mod working_folder;

pub use advice::{Advice, Advising, HeldInput, Holds, MacroSteps, Trial, Wish, WishKind};
pub use between::SAMPLES;
pub use builder::SystemBuilder;
pub use campaign::{
    Campaign, CampaignRow, MapRegion, MethodMap, PlanAnalysis, RunTable, ShardSpec, failures,
};
pub use cancel::Cancel;
pub use comparison::{Compared, Comparison, ComparisonEvent};
pub use costep_project::shell_word;
pub use diagnosis::PartProbe;
pub use errors::Errors;
pub use folder::{OUTCOME, PROJECT_COPY, RECORDING, RunFolder, unwritable};
pub use identify::{check_model_file, identified_to_json, identifying_method};
pub use kinds::{Kind, each_kind, more_of};
pub use native::{CustomPart, NativePart};
pub use origin::ORIGIN;
pub use outcome::{Outcome, Recorded};
pub use pages::{RecordedRun, RunPage};
pub use rate_proposal::{RateAdvice, RateProposal};
pub use recorder::{DISCRETE, OUTPUTS, STEP, recorded_outputs, step_words};
pub use report::{
    BondReport, ControlWork, ErrorMeasures, RunReport, Times, Verdict, Work, error_to_json, head,
    reference_to_json,
};
#[cfg(target_os = "linux")]
pub use rescue::{Kept, check_recordings, rescue_rows};
pub use results::Results;
pub use run::{MethodChoice, RecordTo, Run};
pub use simulation::{Simulation, Snapshot, StepObserver};
pub use solution::Solution;
pub use stability::{
    BohlStudy, Foundation, LargestStep, LeadingMode, Learnt, ModeSignal, OpenLoop, PhaseMargin, RadiusCurve,
    Spectrum, StabilityPoint, StabilityQuestion, StabilityStudy, StepStability, StudyProgress,
};
pub use step::Step;
pub use system::{Opening, System, default_folder};
pub use trust::{found_trials, remember_trials};
pub use verdict::{Doubt, ErrorEstimate, Verify};

pub use costep_analysis::{LoopLaw, ProbeReport, ReferenceKind};
pub use costep_core::{Code, CouplingMethod, Error, ExitClass, External, MethodEntry, Subsystem};
pub use costep_engine::{Engine, Flow};
pub use costep_experiments::{Choice, Factor, Factorial, Region, Sorting, Variance, Workers, parse_times};
pub use costep_ident::ModelFile;
pub use costep_import::{ColumnSignal, DataFile, Interpolation};
pub use costep_integrate::{Ode, Solver, SolverEntry, SolverSetting, Solvers};
pub use costep_linalg::Complex;
pub use costep_methods::{MethodSpec, Methods};
pub use costep_models::ModelEntry;
pub use costep_project::{AnalysisSpec, Axis, Override, Plan, Project, Registry, Source, Varied, level_text};
pub use costep_system::{Component, SystemDescription, Variation};
