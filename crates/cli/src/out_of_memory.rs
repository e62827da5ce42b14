//! No memory left: a message and an exit code, where Rust would end the program by SIGABRT. The allocator is the usual one.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use costep_core::ExitClass;

struct Watchful;

#[global_allocator]
static ALLOCATOR: Watchful = Watchful;

// SAFETY: what is given and taken back is the system's, whose promises these are.
unsafe impl GlobalAlloc for Watchful {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as promised to this one.
        given(unsafe { System.alloc(layout) })
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as promised to this one.
        given(unsafe { System.alloc_zeroed(layout) })
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as promised to this one.
        given(unsafe { System.realloc(memory, layout, size) })
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as promised to this one.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[inline]
fn given(memory: *mut u8) -> *mut u8 {
    if memory.is_null() { end() } else { memory }
}

/// Ends the program. What is recorded is in its file up to the last second.
#[cold]
fn end() -> ! {
    static ENDING: AtomicBool = AtomicBool::new(false);
    if ENDING.swap(true, Ordering::Relaxed) {
        std::process::abort();
    }
    // Standard error is not buffered: nothing is allocated for it.
    let _ = std::io::stderr().write_all(
        b"error[E0611]: there is no memory left\n  help: raise the limit, or simulate a smaller system\n",
    );
    // What libraries of FMUs have left to be done at the end would ask for memory again.
    costep_fmi::leave_at_once(ExitClass::Model.code())
}
