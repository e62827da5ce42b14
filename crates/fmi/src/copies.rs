//! Copies of this process: an FMU that calls `fork` and lets the copy come back from its call would have the run done twice,
//! by two processes that write the same recording and the same shared memory.
#![allow(unsafe_code)]

/// Does work that calls FMUs. A copy of this process that was made inside, and comes back, ends there and then, without
/// destructors, whose files and locks are those of the original.
#[inline(always)]
pub(crate) fn ending_copies<R>(work: impl FnOnce() -> R) -> R {
    let before = mark::read();
    let result = work();
    if mark::read() != before {
        mark::end();
    }
    result
}

/// A number that copies of the process have not. Whoever is a copy already when a call begins, as programs make them that use
/// this library, is its own original.
#[cfg(target_os = "linux")]
mod mark {
    use std::ptr;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous};
    use rustix::process::{Signal, getpid, kill_process};

    static MARK: OnceLock<&'static AtomicU32> = OnceLock::new();

    #[inline(always)]
    pub(super) fn read() -> u32 {
        MARK.get_or_init(new).load(Relaxed)
    }

    /// A number in a page that the system empties in every copy, whatever call made it. Without such a page copies are not seen.
    #[cold]
    fn new() -> &'static AtomicU32 {
        static NONE: AtomicU32 = AtomicU32::new(0);
        let length = rustix::param::page_size();
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at a place of the system's choice touches nothing that exists.
        let Ok(page) = (unsafe { mmap_anonymous(ptr::null_mut(), length, access, MapFlags::PRIVATE) }) else {
            return &NONE;
        };
        // SAFETY: the page is this one's own and is never unmapped; zeros are an atomic number.
        let mark = unsafe { &*page.cast::<AtomicU32>() };
        // SAFETY: the page holds nothing yet, and what becomes of it in copies is a number too.
        let is_emptied = unsafe { madvise(page, length, Advice::LinuxWipeOnFork) }.is_ok();
        mark.store(is_emptied.into(), Relaxed);
        mark
    }

    #[cold]
    pub(super) fn end() -> ! {
        // The standard error of Rust has a lock, which another thread of the original may have held.
        let text = b"a copy of the process, made by fork inside of a call, came back from it and was ended\n";
        let _ = rustix::io::write(rustix::stdio::stderr(), text);
        loop {
            let _ = kill_process(getpid(), Signal::KILL);
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod mark {
    #[inline(always)]
    pub(super) fn read() {}

    pub(super) fn end() {}
}
