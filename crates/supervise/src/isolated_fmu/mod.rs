//! FMUs in processes of their own: an order says what the other process is to load and how to use it.

mod hosted_fmu;
mod messages;

use std::path::Path;

use costep_core::{Code, Error, Result, Subsystem};
use costep_fmi::{
    CoSimulationOptions, CoSimulationSubsystem, FmuLibrary, ModelExchangeOptions, ModelExchangeSubsystem,
};
use costep_fmu_file::{Fmu, ModelDescription, PrivateFolder, Use};

use crate::hand_over::Program;
use crate::isolated::{Hear, Isolated, Outline, host};
use hosted_fmu::HostedFmu;

/// How an isolated FMU is used.
#[derive(Clone, Debug)]
pub enum IsolatedUse {
    /// It brings its own solver.
    CoSimulation(CoSimulationOptions),
    /// It is integrated by costep, in its own process.
    ModelExchange(ModelExchangeOptions),
}

impl IsolatedUse {
    fn outline(&self, fmu: &ModelDescription, name: &str) -> Result<Outline> {
        let (description, states) = match self {
            Self::CoSimulation(options) => CoSimulationSubsystem::outline(fmu, name, options)?,
            Self::ModelExchange(options) => ModelExchangeSubsystem::outline(fmu, name, options)?,
        };
        Ok(Outline { description, states })
    }
}

/// Makes an instance of an FMU under a name, in a process of its own that `program` becomes: one that calls
/// [`host_fmu`]. `fmu` is what the file says about itself.
pub fn isolate_fmu(
    program: &Program,
    path: &Path,
    fmu: &ModelDescription,
    name: &str,
    usage: IsolatedUse,
) -> Result<Isolated> {
    let instance = name.to_owned();
    let hear = Box::new(move |bytes: &[u8]| messages::tell_of(&instance, bytes));
    start(program, path, fmu, (name, usage), hear)
}

/// The same for trials: nobody is told what the FMU says, or does at its end.
pub fn try_fmu(
    program: &Program,
    path: &Path,
    fmu: &ModelDescription,
    name: &str,
    usage: IsolatedUse,
) -> Result<Isolated> {
    start(program, path, fmu, (name, usage), Box::new(|_| ())).map(Isolated::abandoned)
}

fn start(
    program: &Program,
    path: &Path,
    fmu: &ModelDescription,
    (name, usage): (&str, IsolatedUse),
    hear: Hear,
) -> Result<Isolated> {
    let not_possible = |cause: std::io::Error| {
        let message = format!("`{name}` cannot run in its own process");
        Error::new(Code::FileNotReadable, message).in_file(path).because(cause)
    };
    let outline = usage.outline(fmu, name)?;
    // Its own, so that nothing is left behind by a process that has to be killed.
    let folder = PrivateFolder::new().map_err(not_possible)?;
    let order = HostedFmu {
        // An FMU may have changed the present folder.
        path: std::path::absolute(path).map_err(not_possible)?,
        folder: folder.path().to_owned(),
        name: name.to_owned(),
        usage,
    };
    Isolated::start(program, outline, &order.write(), Box::<PrivateFolder>::new(folder), hear)
}

/// Hosts an FMU in this process, by an order of [`isolate_fmu`] in another one. `files` is the text that
/// [`WORKER_FLAG`](crate::WORKER_FLAG) came with.
pub fn host_fmu(files: &str) -> Result<()> {
    messages::gather();
    let make = |order: &[u8]| {
        let HostedFmu { path, folder, name, usage } = HostedFmu::read(order)?;
        let mut fmu = Fmu::open(path)?;
        Ok(match usage {
            IsolatedUse::CoSimulation(options) => {
                let library =
                    FmuLibrary::load_in(&mut fmu, Use::CoSimulation, Some(&folder), options.step_timeout)?;
                Box::new(CoSimulationSubsystem::new(&library, &name, &options)?) as Box<dyn Subsystem>
            }
            IsolatedUse::ModelExchange(options) => {
                let library =
                    FmuLibrary::load_in(&mut fmu, Use::ModelExchange, Some(&folder), options.step_timeout)?;
                Box::new(ModelExchangeSubsystem::new(&library, &name, &options)?)
            }
        })
    };
    host(files, make, messages::take)
}
