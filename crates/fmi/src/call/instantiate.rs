//! How an instance of an FMU is made.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::{CStr, CString, c_void};
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use costep_core::{Code, Error, Result};
use costep_fmu_file::Use;

use crate::call::ffi1::{self, Exchange1, Slave1};
use crate::call::ffi2::{self, Callbacks, Functions2};
use crate::call::ffi3::{Functions3, IntermediateUpdate};
use crate::call::first::Startup;
use crate::call::instance::{Instance, fatal, lock, watched};
use crate::call::intermediate::{Environment, Exchanged, intermediate_update};
use crate::call::library::{Exchange as ExchangeFunctions, FmuLibrary, Functions};
use crate::call::live;
use crate::call::log::{Message, Status, log3, one_line};
use crate::call::python_code;
use crate::call::shared::Shared;
use crate::notice::{Notice, tell};
use crate::trace::{Call, Slot};

/// What all versions of FMI are told.
struct Request<'a> {
    library: &'a FmuLibrary,
    slot: &'a Slot,
    name: &'a CStr,
    logging: bool,
    environment: *mut c_void,
}

impl Instance {
    /// Makes an instance, for what its library was loaded for.
    pub(crate) fn new(
        library: &Arc<FmuLibrary>,
        name: &str,
        logging: bool,
        exchanged: Option<Exchanged>,
        limit: Option<Duration>,
    ) -> Result<Self> {
        let Ok(c_name) = CString::new(name) else {
            return Err(Error::new(Code::FmuValue, "the name of an instance holds a zero byte"));
        };
        if library.is_fatal() {
            return Err(fatal(name, library));
        }
        library.enter()?;
        let slot = library.slot(name, limit);
        let owned = Shared::new(Environment::showing(name, slot.messages(), library.shared_description()));
        let environment = owned.address().cast::<c_void>();
        live::enter(environment, &owned.log);
        let mut request = Request { library, slot: &slot, name: &c_name, logging, environment };
        let mut callbacks = None;
        let mut has_event_mode = library.uses_event_mode();
        let mut handle = match &library.functions {
            Functions::V1(_) => request.instantiate_1(),
            Functions::V2(f) => request.instantiate_2(f, &mut callbacks),
            Functions::V3(f) => {
                let mut handle = request.instantiate_3(f, exchanged.as_ref(), has_event_mode);
                if handle.is_null() && has_event_mode {
                    has_event_mode = false;
                    handle = request.instantiate_3(f, exchanged.as_ref(), has_event_mode);
                    if !handle.is_null() {
                        tell_of_refusal(name);
                    }
                }
                if let (Some(exchanged), false) = (exchanged, handle.is_null()) {
                    lock(&owned).prepare(handle, f, exchanged);
                }
                handle
            }
        };
        let tried_again = handle.is_null() && !logging && owned.log.last().is_none();
        if tried_again {
            // Once more, for the reason: some FMUs keep silent otherwise.
            request.logging = true;
            handle = match &library.functions {
                Functions::V1(_) => request.instantiate_1(),
                Functions::V2(f) => request.instantiate_2(f, &mut callbacks),
                Functions::V3(_) => handle,
            };
        }
        if handle.is_null() {
            library.leave();
            return Err(refused(library, name, logging, &owned));
        }
        live::name_handle(environment, handle);
        let instance = Self {
            handle,
            library: Arc::clone(library),
            name: c_name,
            slot,
            environment: ManuallyDrop::new(owned),
            callbacks: ManuallyDrop::new(callbacks),
            warnings: Cell::new(0),
            ended: Cell::new(false),
            end: Cell::new(f64::NAN),
            misses_ends: Cell::new(false),
            has_event_mode,
            startup: Cell::new(Startup::No),
            logging,
        };
        match tried_again {
            // It was asked for the reason only: what it is like now nobody knows. Dropping it frees it.
            true => Err(without_reason(not_instantiated(library, name), logging)),
            false => Ok(instance),
        }
    }

    /// Gives the instance back to its FMU and makes a new one in its place (FMI 1).
    pub(super) fn make_anew(&mut self) -> Result<()> {
        self.free_1();
        let request = Request {
            library: &self.library,
            slot: &self.slot,
            name: &self.name,
            logging: self.logging,
            environment: self.environment.address().cast(),
        };
        self.handle = request.instantiate_1();
        if self.handle.is_null() {
            // There is nothing to be called or freed any more.
            self.ended.set(true);
            let name = self.name.to_string_lossy();
            return Err(refused(&self.library, &name, self.logging, &self.environment));
        }
        live::name_handle(self.environment.address().cast(), self.handle);
        Ok(())
    }
}

impl Request<'_> {
    fn resources(&self) -> *const std::ffi::c_char {
        self.library.resources.as_ref().map_or(ptr::null(), |text| text.as_ptr())
    }

    fn instantiate_1(&self) -> *mut c_void {
        let callbacks = ffi1::Callbacks {
            logger: ffi2::costep_logger,
            allocate_memory: ffi2::calloc,
            free_memory: ffi2::free,
            step_finished: None,
        };
        let (name, token) = (self.name.as_ptr(), self.library.token.as_ptr());
        let logging = self.logging.into();
        if let Some(Exchange1 { instantiate, .. }) = self.library.model() {
            // SAFETY: texts end with a zero byte; the callbacks are handed over by value.
            return watched(self.slot, Call::InstantiateExchange, || unsafe {
                instantiate(name, token, callbacks, logging)
            });
        }
        let Some(Slave1 { instantiate, .. }) = self.library.slave() else { return ptr::null_mut() };
        let (place, kind) = (self.resources(), ffi1::MIME_TYPE.as_ptr());
        // SAFETY: as above. It may take its time, shows nothing and asks nobody.
        watched(self.slot, Call::Instantiate, || unsafe {
            instantiate(name, token, place, kind, 0.0, 0, 0, callbacks, logging)
        })
    }

    /// The callbacks are left to the caller: the FMU keeps a pointer to them.
    fn instantiate_2(&self, f: &Functions2, callbacks: &mut Option<Shared<Callbacks>>) -> *mut c_void {
        let callbacks = callbacks.insert(Shared::new(Callbacks {
            logger: ffi2::costep_logger,
            allocate_memory: ffi2::calloc,
            free_memory: ffi2::free,
            step_finished: None,
            environment: self.environment,
        }));
        let kind = match self.library.usage() {
            Use::CoSimulation => ffi2::CO_SIMULATION,
            Use::ModelExchange => ffi2::MODEL_EXCHANGE,
        };
        let (name, token) = (self.name.as_ptr(), self.library.token.as_ptr());
        // SAFETY: texts end with a zero byte; log and callbacks live as long as the instance.
        watched(self.slot, Call::Instantiate, || unsafe {
            (f.instantiate)(name, kind, token, self.resources(), callbacks.address(), 0, self.logging.into())
        })
    }

    fn instantiate_3(
        &self,
        f: &Functions3,
        exchanged: Option<&Exchanged>,
        has_event_mode: bool,
    ) -> *mut c_void {
        let (name, token, resources) = (self.name.as_ptr(), self.library.token.as_ptr(), self.resources());
        let (logging, environment) = (self.logging, self.environment);
        if let Some(ExchangeFunctions::V3(f)) = &self.library.exchange {
            // SAFETY: texts end with a zero byte; the environment lives as long as the instance.
            return watched(self.slot, Call::InstantiateExchange, || unsafe {
                (f.instantiate)(name, token, resources, false, logging, environment, Some(log3))
            });
        }
        // A library for Co-Simulation has the function.
        let Some(instantiate) = f.instantiate else { return ptr::null_mut() };
        let all = exchanged.map(|e| [&e.inputs.references[..], &e.outputs.0].concat()).unwrap_or_default();
        let update = exchanged.is_some().then_some(intermediate_update as IntermediateUpdate);
        let early = has_event_mode || self.library.might_return_early();
        // SAFETY: as above; the FMU is told the number of variables.
        watched(self.slot, Call::Instantiate, || unsafe {
            instantiate(
                name,
                token,
                resources,
                false,
                logging,
                has_event_mode,
                early,
                all.as_ptr(),
                all.len(),
                environment,
                Some(log3),
                update,
            )
        })
    }
}

/// An FMU that declares an event mode and refuses to be made with it handles its events inside of its steps.
fn tell_of_refusal(name: &str) {
    let code = Code::EventModeRefused.entry();
    let text = "it declares hasEventMode but cannot be instantiated with it; it handles its events itself";
    let message = Message { status: Status::Warning, category: code.id.into(), text: text.into() };
    tell(name, Notice::Logged(&message));
}

fn not_instantiated(library: &FmuLibrary, name: &str) -> Error {
    Error::new(Code::FmuNotInstantiated, format!("`{name}` could not be instantiated"))
        .in_file(library.path())
}

fn without_reason(error: Error, logging: bool) -> Error {
    error.because("the FMU gave no reason").hint(match logging {
        false => "switch its logging on",
        true => "the binary may not match the model description, or a licence or file is missing",
    })
}

#[cold]
fn refused(library: &FmuLibrary, name: &str, logging: bool, environment: &Environment) -> Error {
    let error = not_instantiated(library, name);
    let Some(text) = environment.log.last() else { return without_reason(error, logging) };
    let texts = environment.log.messages();
    let module = texts.iter().find_map(|message| python_code::missing_module(&message.text));
    match module {
        Some(module) => python_code::without_module(error, &module),
        None => python_code::explained(error.because(one_line(&text)), library.description(), "`__init__`"),
    }
}
