//! The shared library of an FMU: loaded once, shared by all instances.
#![allow(unsafe_code)]

use std::ffi::CString;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use costep_core::{Code, Error, Place, Result};
use costep_fmu_file::{
    CoSimulation, FmiVersion, Fmu, Interface, ModelDescription, ModelExchange, Unpacked, Use,
};

use crate::call::ffi1::{Exchange1, Functions1, Slave1, Values1};
use crate::call::ffi2::{Exchange2, Functions2};
use crate::call::ffi3::{Exchange3, Functions3};
use crate::call::floating_point;
use crate::call::symbols::SharedLibrary;
use crate::trace::{Call, Slot};

/// How long a call into an FMU may take, unless told otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// The functions of the version of FMI that the FMU is of.
pub(crate) enum Functions {
    /// FMI 1.0.
    V1(Functions1),
    /// FMI 2.0.
    V2(Functions2),
    /// FMI 3.0.
    V3(Functions3),
}

/// The functions of Model Exchange.
pub(crate) enum Exchange {
    /// FMI 1.0.
    V1(Exchange1),
    /// FMI 2.0.
    V2(Exchange2),
    /// FMI 3.0.
    V3(Exchange3),
}

/// An FMU for one use, unpacked and loaded. Its instances share it; the last of them unloads the library and
/// removes the folder, in this order.
pub struct FmuLibrary {
    pub(crate) functions: Functions,
    /// Those of Model Exchange, if that is what it is used for.
    pub(crate) exchange: Option<Exchange>,
    shared: ManuallyDrop<SharedLibrary>,
    description: Arc<ModelDescription>,
    path: PathBuf,
    /// How long loading and unloading may take.
    limit: Option<Duration>,
    pub(crate) token: CString,
    pub(crate) resources: Option<CString>,
    /// A call returned Fatal: nothing may be called any more.
    fatal: AtomicBool,
    /// The call that did, and what the FMU said.
    fatal_cause: OnceLock<String>,
    instances: AtomicUsize,
    _unpacked: Unpacked,
}

impl FmuLibrary {
    /// Unpacks an FMU into a temporary folder and loads its library for Co-Simulation.
    pub fn load(fmu: &mut Fmu) -> Result<Arc<Self>> {
        Self::load_for(fmu, Use::CoSimulation)
    }

    /// Unpacks an FMU into a temporary folder and loads its library for one use.
    pub fn load_for(fmu: &mut Fmu, usage: Use) -> Result<Arc<Self>> {
        let unpacked = fmu.unpack(&model_identifier(fmu, usage)?)?;
        Self::load_unpacked(fmu, usage, unpacked, None)
    }

    /// Loads the library of an FMU that is unpacked. A call may take this time: its initialisers run while it is loaded.
    /// None = [`DEFAULT_TIMEOUT`], zero = no limit.
    pub fn load_unpacked(
        fmu: &Fmu,
        usage: Use,
        unpacked: Unpacked,
        step_timeout: Option<Duration>,
    ) -> Result<Arc<Self>> {
        let limit = Some(step_timeout.unwrap_or(DEFAULT_TIMEOUT)).filter(|limit| !limit.is_zero());
        let path = fmu.path().to_owned();
        let placed = |error: Error| placed(error, &path);
        let identifier = model_identifier(fmu, usage)?;
        floating_point::choose_faster_look();
        let slot = Slot::new(&file_name(&path), 0, limit);
        let version = fmu.description().fmi_version;
        let prefix = if version == FmiVersion::V1 { format!("{identifier}_") } else { String::new() };
        let shared =
            slot.during(Call::Load, || SharedLibrary::load(unpacked.library(), prefix)).map_err(placed)?;
        floating_point::restore();
        let functions = match version {
            FmiVersion::V1 => functions_1(&shared, usage).map(Functions::V1),
            FmiVersion::V2 => Functions2::load(&shared).map(Functions::V2),
            FmiVersion::V3 => Functions3::load(&shared).map(Functions::V3),
        };
        let exchange = exchange(&shared, version, usage).map_err(placed)?;
        let description = Arc::new(fmu.description().clone());
        let text = |text: String| {
            CString::new(text).map_err(|_| {
                let message = "a string of the FMU cannot be handed over because it holds a zero byte";
                placed(Error::new(Code::FmuValue, message))
            })
        };
        Ok(Arc::new(Self {
            functions: functions.map_err(placed)?,
            exchange,
            shared: ManuallyDrop::new(shared),
            token: text(description.token.clone())?,
            resources: resources(&unpacked, description.fmi_version).map(text).transpose()?,
            description,
            path,
            limit,
            fatal: AtomicBool::new(false),
            fatal_cause: OnceLock::new(),
            instances: AtomicUsize::new(0),
            _unpacked: unpacked,
        }))
    }

    /// What the FMU says about itself.
    pub fn description(&self) -> &ModelDescription {
        &self.description
    }

    /// The same for those that may outlive the library.
    pub(crate) fn shared_description(&self) -> Arc<ModelDescription> {
        Arc::clone(&self.description)
    }

    /// The FMU file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many instances there are.
    pub fn instances(&self) -> usize {
        self.instances.load(Ordering::Relaxed)
    }

    /// Whether a call returned Fatal, so that nothing is called any more.
    #[inline]
    pub fn is_fatal(&self) -> bool {
        self.fatal.load(Ordering::Relaxed)
    }

    pub(crate) fn set_fatal(&self) {
        self.fatal.store(true, Ordering::Relaxed);
    }

    /// Remembers the error of the call that returned Fatal, the first of them.
    pub(crate) fn set_fatal_cause(&self, error: &Error) {
        let details = error.details();
        let _ = self.fatal_cause.set(match &details.cause {
            Some(cause) => format!("{}: {cause}", details.message),
            None => format!("{}, without a message", details.message),
        });
    }

    /// What made it unusable.
    pub(crate) fn fatal_cause(&self) -> &str {
        self.fatal_cause.get().map_or("a call that was not waited for", String::as_str)
    }

    /// Its capabilities.
    ///
    /// # Panics
    /// Never for a library loaded for Co-Simulation: `load_for` has refused FMUs without.
    pub(crate) fn co_simulation(&self) -> &CoSimulation {
        self.description.co_simulation.as_ref().expect("an FMU for Co-Simulation")
    }

    /// Its capabilities.
    ///
    /// # Panics
    /// Never for a library loaded for Model Exchange: `load_for` has refused FMUs without.
    pub(crate) fn model_exchange(&self) -> &ModelExchange {
        self.description.model_exchange.as_ref().expect("an FMU for Model Exchange")
    }

    /// What it is used for.
    pub fn usage(&self) -> Use {
        if self.exchange.is_some() { Use::ModelExchange } else { Use::CoSimulation }
    }

    /// The capabilities all uses have.
    fn interface(&self) -> &Interface {
        match self.usage() {
            Use::CoSimulation => &self.co_simulation().interface,
            Use::ModelExchange => &self.model_exchange().interface,
        }
    }

    /// Version of FMI, 1, 2 or 3.
    pub(crate) fn version(&self) -> u32 {
        match self.functions {
            Functions::V1(_) => 1,
            Functions::V2(_) => 2,
            Functions::V3(_) => 3,
        }
    }

    /// Where an instance shows its calls. `limit`: how long one may take.
    pub(crate) fn slot(&self, name: &str, limit: Option<Duration>) -> Slot {
        Slot::new(name, self.version(), limit)
    }

    /// Whether it can have only one instance per process, and has it.
    pub fn is_taken(&self) -> bool {
        self.has_only_one() && self.instances() > 0
    }

    fn has_only_one(&self) -> bool {
        self.interface().can_be_instantiated_only_once_per_process
    }

    /// Counts an instance; refused if the FMU can have only one at a time and has it.
    pub(crate) fn enter(&self) -> Result<()> {
        if self.instances.fetch_add(1, Ordering::Relaxed) > 0 && self.has_only_one() {
            self.leave();
            let message = "the FMU can be instantiated only once per process and has an instance already";
            return Err(Error::new(Code::FmuInterface, message).in_file(&self.path));
        }
        Ok(())
    }

    pub(crate) fn leave(&self) {
        self.instances.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for FmuLibrary {
    fn drop(&mut self) {
        // After Fatal nothing of the FMU may run, and unloading would run its finalisers.
        if !self.is_fatal() {
            let slot = Slot::new(&file_name(&self.path), 0, self.limit);
            // SAFETY: it is not used any more; all instances hold an `Arc` of this value.
            slot.during(Call::Unload, || unsafe { ManuallyDrop::drop(&mut self.shared) });
            floating_point::restore();
        }
    }
}

impl std::fmt::Debug for FmuLibrary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FmuLibrary").field("path", &self.path).field("instances", &self.instances()).finish()
    }
}

/// The model identifier of an FMU for a use, by which its library is found.
pub fn model_identifier(fmu: &Fmu, usage: Use) -> Result<String> {
    let interface = interface(fmu.description(), usage).map_err(|error| placed(error, fmu.path()))?;
    Ok(interface.model_identifier.clone())
}

fn placed(error: Error, path: &Path) -> Error {
    match error.details().place {
        Place::Nowhere => error.in_file(path),
        _ => error,
    }
}

/// The capabilities for a use, or an error that says what the FMU offers.
fn interface(description: &ModelDescription, usage: Use) -> Result<&Interface> {
    let (co_simulation, exchange) = (&description.co_simulation, &description.model_exchange);
    let (found, wanted) = match usage {
        Use::CoSimulation => (co_simulation.as_ref().map(|kind| &kind.interface), "Co-Simulation"),
        Use::ModelExchange => (exchange.as_ref().map(|kind| &kind.interface), "Model Exchange"),
    };
    found.ok_or_else(|| {
        let offered = match (co_simulation, exchange, &description.scheduled_execution) {
            (Some(_), ..) => "it is for Co-Simulation",
            (_, Some(_), _) => "it is for Model Exchange",
            (.., Some(_)) => "it is for Scheduled Execution",
            _ => "it offers no interface at all",
        };
        Error::new(Code::FmuInterface, format!("the FMU is not for {wanted}")).because(offered)
    })
}

/// The functions of FMI 1.0, which depend on the use.
fn functions_1(shared: &SharedLibrary, usage: Use) -> Result<Functions1> {
    let slave = match usage {
        Use::CoSimulation => Some(Slave1::load(shared)?),
        Use::ModelExchange => None,
    };
    Ok(Functions1 { values: Values1::load(shared)?, slave })
}

/// The functions that one use needs beyond those of all.
fn exchange(shared: &SharedLibrary, version: FmiVersion, usage: Use) -> Result<Option<Exchange>> {
    match (usage, version) {
        (Use::CoSimulation, FmiVersion::V1) => Ok(None),
        (Use::CoSimulation, FmiVersion::V2) => shared.demand("fmi2DoStep").map(|()| None),
        (Use::CoSimulation, FmiVersion::V3) => {
            shared.demand("fmi3InstantiateCoSimulation")?;
            shared.demand("fmi3DoStep").map(|()| None)
        }
        (Use::ModelExchange, FmiVersion::V1) => {
            Exchange1::load(shared).map(|table| Some(Exchange::V1(table)))
        }
        (Use::ModelExchange, FmiVersion::V2) => {
            Exchange2::load(shared).map(|table| Some(Exchange::V2(table)))
        }
        (Use::ModelExchange, FmiVersion::V3) => {
            Exchange3::load(shared).map(|table| Some(Exchange::V3(table)))
        }
    }
}

/// Names of the functions without which an FMU cannot be used, in FMI 1 without the identifier that they
/// begin with, for [`Fmu::validate_libraries`](costep_fmu_file::Fmu::validate_libraries).
pub fn required_functions(version: FmiVersion, usage: Use) -> Vec<&'static str> {
    let required = |table: &'static [(&str, bool)]| {
        table.iter().filter(|(_, is_required)| *is_required).map(|(name, _)| *name)
    };
    let (common, step, exchange) = match version {
        FmiVersion::V1 => {
            let more = if usage == Use::CoSimulation { Slave1::SYMBOLS } else { Exchange1::SYMBOLS };
            return required(Values1::SYMBOLS).chain(required(more)).collect();
        }
        FmiVersion::V2 => (Functions2::SYMBOLS, &["fmi2DoStep"][..], Exchange2::SYMBOLS),
        FmiVersion::V3 => {
            (Functions3::SYMBOLS, &["fmi3InstantiateCoSimulation", "fmi3DoStep"][..], Exchange3::SYMBOLS)
        }
    };
    match usage {
        Use::CoSimulation => required(common).chain(step.iter().copied()).collect(),
        Use::ModelExchange => required(common).chain(required(exchange)).collect(),
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// The resources as FMUs want to be told: a URI of the unpacked FMU in FMI 1, of the resources in FMI 2, a
/// path with a separator at its end in FMI 3.
fn resources(unpacked: &Unpacked, version: FmiVersion) -> Option<String> {
    match version {
        FmiVersion::V1 => Some(file_uri(unpacked.folder())),
        FmiVersion::V2 => Some(file_uri(&unpacked.folder().join("resources"))),
        FmiVersion::V3 => unpacked
            .resources()
            .map(|folder| format!("{}{}", folder.to_string_lossy(), std::path::MAIN_SEPARATOR)),
    }
}

fn file_uri(path: &Path) -> String {
    let path = path.to_string_lossy().replace('\\', "/");
    let mut uri = "file://".to_owned();
    if !path.starts_with('/') {
        uri.push('/');
    }
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~:".contains(&byte) {
            uri.push(byte.into());
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        assert_eq!(file_uri(Path::new("/tmp/a b/ä#")), "file:///tmp/a%20b/%C3%A4%23");
        assert_eq!(file_uri(Path::new("C:\\tmp")), "file:///C:/tmp");
    }
}
