//! The end of a program that has called FMUs: what their libraries have left to be done at the end of the program is not done.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::sync::mpsc::channel;
use std::time::Duration;

unsafe extern "C" {
    fn fflush(file: *mut c_void) -> c_int;
    fn _exit(code: c_int) -> !;
}

/// How long it may take to write what foreign code has printed.
const PATIENCE: Duration = Duration::from_secs(1);

/// Writes what foreign code has printed, and the C library has not written yet.
pub fn flush_printed() {
    let (done, flushed) = channel();
    let flush = move || {
        // SAFETY: no stream is named: all are flushed, by the C library, which locks each of them.
        unsafe { fflush(std::ptr::null_mut()) };
        let _ = done.send(());
    };
    // A thread that an FMU has left waiting for input holds the lock of its stream for ever. Where no thread can be started, the
    // channel is cut at once, and nothing is flushed.
    let _ = std::thread::Builder::new().name("last words".into()).spawn(flush);
    let _ = flushed.recv_timeout(PATIENCE);
}

/// Ends the program, as everything is done and written: FMUs have been freed, and their libraries unloaded. Some libraries stay, as
/// that of Python does, and what they do at the end of a program has led to crashes behind results that are whole. What
/// foreign code has printed is written.
pub fn leave(code: u8) -> ! {
    flush_printed();
    leave_at_once(code)
}

/// The same where nothing more can be done, for want of memory: what foreign code has printed may be lost.
pub fn leave_at_once(code: u8) -> ! {
    // SAFETY: nothing is executed any more.
    unsafe { _exit(code.into()) }
}
