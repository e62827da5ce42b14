//! What a run is worth: errors against the monolithic reference, stability, energy.

mod identify;
mod measures;
mod noise;
mod probe;
mod reference;
mod stability;
mod trace;

pub use identify::Identification;
pub use measures::{Measures, SignalError, measure, paper_error};
pub use noise::noise_variance;
pub use probe::{ProbeReport, probe};
pub use reference::{Reference, ReferenceKind, monolithic_amplitudes, outputs_at};
pub use stability::{Amplitudes, GrowthWatch, Windows};
pub use trace::{MicroTrace, Trace};
