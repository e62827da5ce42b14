//! What a run is worth: errors against the monolithic reference, stability, energy.

mod amplitude_windows;
mod bohl;
mod bonds;
mod companion;
mod coupled_loop;
mod identify;
mod law;
mod loop_recorder;
mod measures;
mod noise;
mod probe;
mod reference;
mod samples;
mod stability;
mod step_map;
mod tally;
mod trace;
mod trials;
mod watch;

pub use amplitude_windows::{AmplitudeWindows, Amplitudes};
pub use bohl::{BohlExponent, bohl_exponent};
pub use bonds::{BondEnergy, BondWatch};
pub use companion::Companion;
pub use identify::Identification;
pub use law::LoopLaw;
pub use loop_recorder::{LoopRecorder, Plant, RecordedLoop};
pub use measures::{Accuracy, Measures, SignalError, measure, paper_error};
pub use noise::noise_variance;
pub use probe::{ProbeReport, probe};
pub use reference::{Patience, Reference, ReferenceKind, outputs_at, second_solver};
pub use stability::Growth;
pub use step_map::{Mode, StepMap};
pub use trace::{MicroTrace, Trace};
pub use trials::{Offer, contradiction};
pub use watch::{RunWatch, Sign, Suspicion};
