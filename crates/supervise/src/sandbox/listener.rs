//! Hears of calls that a filter marks: opened files go on and are noted, others are refused. `unsafe` code: the calls to the
//! system for which no crate has a safe one. Nothing is allocated while a call waits for its answer (see `deeds`).
#![allow(unsafe_code)]

use std::fs::File;
use std::io::Error;
use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::Duration;

use costep_core::Result;
use seccompiler::sock_filter;

use super::{deeds, filter, missing};

/// Bytes of a path.
const LONGEST: usize = 4096;

/// Puts a filter on all threads of this process, and gives the file by which one hears of marked calls.
pub(super) fn install(program: &[sock_filter]) -> Result<OwnedFd> {
    let no_filter = |cause: Error| missing("filter of calls that tells", cause);
    let length = program.len().try_into().map_err(|_| no_filter(Error::other("it is too long")))?;
    // The two types of an instruction are laid out alike, as the kernel wants it.
    let program = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut().cast() };
    let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER
        | libc::SECCOMP_FILTER_FLAG_TSYNC
        | libc::SECCOMP_FILTER_FLAG_TSYNC_ESRCH;
    rustix::thread::set_no_new_privs(true).map_err(|cause| no_filter(cause.into()))?;
    // SAFETY: the program and its instructions live during the call, which only reads them.
    let file =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program) };
    if file < 0 {
        return Err(no_filter(Error::last_os_error()));
    }
    // SAFETY: the call has just given it, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(file as i32) })
}

/// Starts a thread that hears of calls once it is handed the file for it by [`hand_over`]. When this returns, it holds all
/// that it will ever need: other threads ask it while they hold locks of the C library, of its loader above all.
pub(super) fn listen(memory: File) -> Result<()> {
    let is_ready = Arc::new(AtomicBool::new(false));
    let ready = Arc::clone(&is_ready);
    let hear = move || {
        // What a thread does for the first time may need the loader.
        let _ = (std::thread::current(), memory.metadata());
        ready.store(true, Ordering::Release);
        let listener = loop {
            match LISTENER.load(Ordering::Acquire) {
                NONE => std::thread::sleep(PAUSE),
                listener => break listener,
            }
        };
        while let Some(call) = next(listener) {
            answer(listener, &call, judge(&call, &memory));
        }
        // It is not closed: code of an FMU may have done that, and its number may be another file by now.
        std::mem::forget(memory);
    };
    let thread = std::thread::Builder::new().name("sandbox".into()).stack_size(128 << 10);
    thread.spawn(hear).map_err(|cause| missing("thread", cause))?;
    while !is_ready.load(Ordering::Acquire) {
        std::thread::sleep(PAUSE);
    }
    Ok(())
}

/// Hands the thread its file, for good.
pub(super) fn hand_over(listener: OwnedFd) {
    LISTENER.store(listener.into_raw_fd(), Ordering::Release);
}

const NONE: RawFd = -1;
static LISTENER: AtomicI32 = AtomicI32::new(NONE);
const PAUSE: Duration = Duration::from_micros(100);

/// The next marked call; nothing when there are none any more.
fn next(listener: RawFd) -> Option<libc::seccomp_notif> {
    loop {
        // SAFETY: numbers, for which zeros are values.
        let mut call: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: the request is given the room that it writes to.
        let outcome = unsafe { libc::ioctl(listener, libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut call) };
        match Error::last_os_error().raw_os_error() {
            _ if outcome == 0 => return Some(call),
            // Interrupted, or the caller is gone.
            Some(libc::EINTR | libc::ENOENT) => {}
            _ => return None,
        }
    }
}

/// What becomes of a call: it goes on, or fails with this number.
fn judge(call: &libc::seccomp_notif, memory: &File) -> std::result::Result<(), i32> {
    let number = i64::from(call.data.nr);
    let opens = [filter::OPENING, filter::OPENING_TOO].into_iter().flatten().any(|(call, _)| *call == number);
    if opens {
        note_open(call, memory);
        return Ok(());
    }
    if number == libc::SYS_clone3 {
        // Its arguments cannot be looked at: whoever starts a thread takes the older call then.
        return Err(libc::ENOSYS);
    }
    deeds::note_refused(call.data.nr);
    Err(libc::EPERM)
}

/// Takes note of a call that opens a file, if its path can be read.
fn note_open(call: &libc::seccomp_notif, memory: &File) {
    let [first, second, third, ..] = call.data.args;
    let (path, flags) = match i64::from(call.data.nr) {
        libc::SYS_openat => (second, third),
        libc::SYS_openat2 => {
            let mut flags = [0; 8];
            // If they cannot be read, neither can the kernel read them.
            let _ = memory.read_exact_at(&mut flags, third);
            (second, u64::from_le_bytes(flags))
        }
        #[cfg(target_arch = "x86_64")]
        libc::SYS_creat => (first, libc::O_WRONLY as u64),
        _ => (first, second),
    };
    let writes = flags as i32 & (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC) != 0;
    let mut bytes = [0; LONGEST];
    // A path may end right before memory that is not there.
    let read = (0..4).find_map(|part| memory.read_at(&mut bytes[..LONGEST >> (4 * part)], path).ok());
    let bytes = &bytes[..read.unwrap_or(0)];
    if let Some(end) = bytes.iter().position(|byte| *byte == 0) {
        deeds::note_open(&bytes[..end], writes);
    }
}

fn answer(listener: RawFd, call: &libc::seccomp_notif, outcome: std::result::Result<(), i32>) {
    let mut answer = libc::seccomp_notif_resp { id: call.id, val: 0, error: 0, flags: 0 };
    match outcome {
        Ok(()) => answer.flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32,
        Err(error) => answer.error = -error,
    }
    // SAFETY: the request is given what it reads. If it fails, the caller is gone.
    let _ = unsafe { libc::ioctl(listener, libc::SECCOMP_IOCTL_NOTIF_SEND, &raw const answer) };
}
