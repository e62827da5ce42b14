//! The vocabulary of costep: signals and their layout, input polynomials, coupling, connection graph, the
//! traits of subsystems and coupling methods, errors. No input or output, no `unsafe`.

pub mod batch;
pub mod capability;
pub mod codes;
pub mod coupling;
pub mod description;
pub mod differences;
pub mod division;
pub mod environment;
pub mod error;
pub mod evaluation;
pub mod external;
pub mod graph;
pub mod history;
pub mod input_defect;
pub mod input_list;
pub mod interface_model;
pub mod interval;
pub mod local_model;
pub mod method;
pub mod micro;
pub mod model_source;
pub mod models_spec;
pub mod option_types;
pub mod options;
pub mod pattern;
pub mod polynomial;
pub mod power_bond;
pub mod quadrature;
pub mod quantity;
pub mod request;
pub mod restricted;
pub mod state;
pub mod subsystem;
pub mod suggest;
pub mod wrapper;

pub use batch::Batch;
pub use capability::{
    Capabilities, Capable, EnvironmentStep, Linearised, MicroRecorder, MicroView, Persistence, Rollback,
    SolverCounts, Telemetry, profiles,
};
pub use codes::{Code, ExitClass};
pub use coupling::{Connection, Coupling};
pub use description::{
    Description, Layout, Linearisation, MicroSampling, Port, PortKind, PortSize, Variation,
};
pub use differences::Differences;
pub use division::{Division, StepLengths};
pub use environment::{EnvironmentForm, EnvironmentModel};
pub use error::{Error, Place, Result};
pub use evaluation::{AlgebraicLoop, Evaluation};
pub use external::External;
pub use history::History;
pub use input_defect::{InputDefect, Moments};
pub use input_list::InputList;
pub use interface_model::InterfaceModel;
pub use interval::{Experiment, Interval};
pub use local_model::{LocalModel, ModelOrigin};
pub use method::{
    Arrival, CouplingMethod, Deviations, InputSet, MethodEntry, PaperOptions, Signals, StepContext,
    SystemView, Verdict,
};
pub use micro::{MicroBuffer, MicroSamples, SampleRule, inner_steps, mean_outputs};
pub use model_source::{ModelQuality, ModelSource, NoModels, Observation};
pub use models_spec::{Learning, ModelKind, ModelsOffer, ModelsSpec, SourceEntry};
pub use option_types::{Choice, OptionType};
pub use options::{Condition, OptionKind, OptionSpec, Options, Value, join};
pub use polynomial::{InputPolynomials, InputSegment, SegmentPlace};
pub use power_bond::PowerBond;
pub use request::{
    AfterStep, InputShape, KnownInputs, LengthDemand, LowerOrders, ModelDemand, Request, Sweep,
};
pub use restricted::Restricted;
pub use state::{StateReader, StateWriter};
pub use subsystem::{StepOutcome, Subsystem, unsupported};
pub use wrapper::Wrapper;
