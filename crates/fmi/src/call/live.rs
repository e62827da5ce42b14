//! The instances of this process by what loggers of FMUs say: the environment that they were handed, or hand
//! back in its place, their own component, the name of the instance. Nothing that a logger hands over is
//! followed.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};

use crate::call::log::LogSink;

/// An instance. Addresses are compared, never followed.
struct Live {
    environment: usize,
    /// What the FMU calls the instance; 0 = not known yet.
    handle: usize,
    sink: Arc<LogSink>,
}

static LIVE: Mutex<Vec<Live>> = Mutex::new(Vec::new());

fn live<R>(work: impl FnOnce(&mut Vec<Live>) -> R) -> R {
    work(&mut LIVE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Makes an instance known, before the FMU is called.
pub(crate) fn enter(environment: *const c_void, sink: &Arc<LogSink>) {
    let entry = Live { environment: environment as usize, handle: 0, sink: Arc::clone(sink) };
    live(|all| all.push(entry));
}

/// Notes down what the FMU calls an instance.
pub(crate) fn name_handle(environment: *const c_void, handle: *const c_void) {
    live(|all| {
        let mine = all.iter_mut().find(|entry| entry.environment == environment as usize);
        mine.into_iter().for_each(|entry| entry.handle = handle as usize);
    });
}

/// Forgets an instance.
pub(crate) fn leave(environment: *const c_void) {
    live(|all| all.retain(|entry| entry.environment != environment as usize));
}

/// Where a message goes, and whether the FMU handed over the environment that it was given. By that
/// environment; else by the name of the instance, the latest one if several have it, unless the FMU names
/// one of them as its component; else by that component; else to the only instance that there is.
pub(crate) fn find(pointer: *const c_void, name: &str) -> Option<(Arc<LogSink>, bool)> {
    let address = pointer as usize;
    live(|all| {
        if let Some(entry) = all.iter().find(|entry| entry.environment == address) {
            return Some((Arc::clone(&entry.sink), true));
        }
        let is_named = |entry: &&Live| entry.sink.instance() == name;
        let is_handle = |entry: &&Live| address != 0 && entry.handle == address;
        let found = all
            .iter()
            .rfind(|entry| is_named(entry) && is_handle(entry))
            .or_else(|| all.iter().rfind(is_named))
            .or_else(|| all.iter().rfind(is_handle))
            .or_else(|| if let [only] = &all[..] { Some(only) } else { None });
        found.map(|entry| (Arc::clone(&entry.sink), false))
    })
}
