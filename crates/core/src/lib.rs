//! The vocabulary of costep: signals and their layout, input polynomials, coupling, connection graph, the
//! traits of subsystems and coupling methods, errors. No input or output, no `unsafe`.

pub mod codes;
pub mod companion;
pub mod coupling;
pub mod description;
pub mod differences;
pub mod division;
pub mod error;
pub mod external;
pub mod graph;
pub mod history;
pub mod interface_model;
pub mod local_model;
pub mod method;
pub mod micro;
pub mod model_source;
pub mod options;
pub mod pattern;
pub mod polynomial;
pub mod quantity;
pub mod row;
pub mod state;
pub mod subsystem;
pub mod suggest;

pub use codes::{Code, ExitClass};
pub use companion::{Companion, CompanionForm};
pub use coupling::{Connection, Coupling};
pub use description::{Capabilities, Description, Layout, Linearisation, MicroSampling, Port, PortKind};
pub use differences::Differences;
pub use division::{Division, PARTS, StepLengths};
pub use error::{Error, Place, Result};
pub use external::External;
pub use history::History;
pub use interface_model::InterfaceModel;
pub use local_model::{LocalModel, ModelOrigin};
pub use method::{
    Arrival, CouplingMethod, InputSet, MethodEntry, Needs, Signals, StepContext, SystemView, Verdict,
};
pub use micro::{MicroSamples, SampleRule, inner_steps, mean_outputs};
pub use model_source::{ModelQuality, ModelSource, NoModels, Observation};
pub use options::{Condition, OptionKind, OptionSpec, Options, Value, join};
pub use polynomial::{InputPolynomials, InputSegment, SegmentPlace};
pub use row::{Row, StepAlone};
pub use state::{StateReader, StateWriter};
pub use subsystem::{Experiment, Interval, SolverCounts, StepOutcome, Subsystem};
