//! The end of a program that has called FMUs: what their libraries have left to be done at the end of the program is not done.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};

unsafe extern "C" {
    fn fflush(file: *mut c_void) -> c_int;
    fn _exit(code: c_int) -> !;
}

/// Ends the program, as everything is done and written: FMUs have been freed, and their libraries unloaded. Some libraries stay, as
/// that of Python does, and what they do at the end of a program has led to crashes behind results that are whole. What
/// foreign code has printed, and the C library has not written yet, is written.
pub fn leave(code: u8) -> ! {
    // SAFETY: all streams are flushed, which the C library does for every program at its end, then nothing is executed any more.
    unsafe {
        fflush(std::ptr::null_mut());
        _exit(code.into())
    }
}
