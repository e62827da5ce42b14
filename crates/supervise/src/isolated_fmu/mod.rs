//! FMUs in processes of their own: an order says what the other process is to load and how to use it.

mod hosted_fmu;
mod messages;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use costep_core::{Code, Error, Result, Subsystem};
use costep_fmi::{
    CoSimulationOptions, CoSimulationSubsystem, FmuLibrary, ModelExchangeOptions, ModelExchangeSubsystem,
    model_identifier,
};
use costep_fmu_file::{Fmu, ModelDescription, PrivateFolder, Unpacked, Use};

use crate::hand_over::Program;
use crate::isolated::{Hear, Isolated, Outline, host};
use crate::sandbox;
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

/// A file to isolate: where it is and what it says about itself; whether it is confined in its process
/// (`sandbox`).
#[derive(Clone, Debug)]
pub struct IsolatedFile<'a> {
    /// Where it is.
    pub path: &'a Path,
    /// Where it is unpacked, by this process: nothing is left behind by one that has to be killed.
    pub unpacked: Arc<Unpacked>,
    /// What it says about itself.
    pub fmu: &'a ModelDescription,
    /// Whether it is confined in its process.
    pub sandboxed: bool,
}

/// Makes an instance of an FMU under a name, in a process of its own that `program` becomes: one that calls
/// [`host_fmu`].
pub fn isolate_fmu(
    program: &Program,
    file: IsolatedFile<'_>,
    name: &str,
    usage: IsolatedUse,
) -> Result<Isolated> {
    let instance = name.to_owned();
    let hear = Box::new(move |bytes: &[u8]| messages::tell_of(&instance, bytes));
    start(program, file, (name, usage), hear)
}

/// The same for trials: nobody is told what the FMU says, or does at its end.
pub fn try_fmu(
    program: &Program,
    file: IsolatedFile<'_>,
    name: &str,
    usage: IsolatedUse,
) -> Result<Isolated> {
    start(program, file, (name, usage), Box::new(|_| ())).map(Isolated::abandoned)
}

fn start(
    program: &Program,
    IsolatedFile { path, unpacked, fmu, sandboxed }: IsolatedFile<'_>,
    (name, usage): (&str, IsolatedUse),
    hear: Hear,
) -> Result<Isolated> {
    let not_possible = |cause: std::io::Error| {
        let message = format!("`{name}` cannot run in its own process");
        Error::new(Code::FileNotReadable, message).in_file(path).because(cause)
    };
    let outline = usage.outline(fmu, name)?;
    let scratch = sandboxed.then(PrivateFolder::new).transpose().map_err(not_possible)?;
    let order = HostedFmu {
        // An FMU may have changed the present folder.
        path: std::path::absolute(path).map_err(not_possible)?,
        folder: unpacked.folder().to_owned(),
        scratch: scratch.as_ref().map(|scratch| scratch.path().to_owned()),
        name: name.to_owned(),
        usage,
    };
    let mut program = program.clone();
    if let Some(scratch) = &scratch {
        program.environment.push(("TMPDIR".into(), scratch.path().into()));
    }
    Isolated::start(&program, outline, &order.write(), Box::new((unpacked, scratch)), hear)
}

/// Hosts an FMU in this process, by an order of [`isolate_fmu`] in another one. `files` is the text that
/// [`WORKER_FLAG`](crate::WORKER_FLAG) came with.
pub fn host_fmu(files: &str) -> Result<()> {
    messages::gather();
    let prepare = |order: &[u8]| {
        let order = HostedFmu::read(order)?;
        let fmu = Fmu::open(&order.path)?;
        order.scratch.as_ref().map_or(Ok(()), |scratch| sandbox::confine(&order.folder, scratch))?;
        Ok((order, fmu))
    };
    let make = |(HostedFmu { folder, name, usage, .. }, fmu): (HostedFmu, Fmu)| {
        let load = |usage: Use, step_timeout: Option<Duration>| {
            let unpacked = fmu.unpacked_by_others(&model_identifier(&fmu, usage)?, &folder)?;
            FmuLibrary::load_unpacked(&fmu, usage, unpacked, step_timeout)
        };
        Ok(match usage {
            IsolatedUse::CoSimulation(options) => {
                let library = load(Use::CoSimulation, options.step_timeout)?;
                Box::new(CoSimulationSubsystem::new(&library, &name, &options)?) as Box<dyn Subsystem>
            }
            IsolatedUse::ModelExchange(options) => {
                let library = load(Use::ModelExchange, options.step_timeout)?;
                Box::new(ModelExchangeSubsystem::new(&library, &name, &options)?)
            }
        })
    };
    let news = |room: usize| {
        sandbox::tell();
        messages::take(room)
    };
    host(files, prepare, make, news)
}
