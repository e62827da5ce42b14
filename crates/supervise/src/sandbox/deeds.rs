//! What a confined FMU has opened and what was refused, until it is told.
//!
//! Deeds are noted by the thread that hears of calls. Whoever makes such a call may hold any lock of the C library, those
//! of its allocator (`fork` does) and loader among them. So nothing is allocated there, nor under the lock that both sides share.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use costep_fmi::{Message, Notice, Status};

use super::files::Allowed;
use super::{CATEGORY, filter};

/// Bytes of paths that are kept until they are told; what does not fit is not told.
const ROOM: usize = 64 << 10;
/// Numbers of calls.
const CALLS: usize = 512;
/// Different deeds that are told.
const MOST: usize = 500;

/// As they were noted.
struct Noted {
    /// Each path behind its length and whether it is to be written.
    paths: Vec<u8>,
    refused: [bool; CALLS],
}

static NOTED: Mutex<Noted> = Mutex::new(Noted { paths: Vec::new(), refused: [false; CALLS] });
static ANY: AtomicBool = AtomicBool::new(false);
static ALLOWED: OnceLock<Allowed> = OnceLock::new();
static KNOWN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Makes room, and says what is allowed.
pub(super) fn prepare(allowed: Allowed) {
    let _ = ALLOWED.set(allowed);
    NOTED.lock().unwrap_or_else(PoisonError::into_inner).paths = Vec::with_capacity(ROOM);
}

/// Takes note of a refused call.
pub(super) fn note_refused(call: i32) {
    let mut noted = NOTED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(refused) = usize::try_from(call).ok().and_then(|call| noted.refused.get_mut(call)) {
        *refused = true;
        ANY.store(true, Ordering::Release);
    }
}

/// Takes note of a file that is opened.
pub(super) fn note_open(path: &[u8], writes: bool) {
    let mut noted = NOTED.lock().unwrap_or_else(PoisonError::into_inner);
    let length = (path.len() as u16).to_le_bytes();
    if noted.paths.len() + 3 + path.len() <= noted.paths.capacity() {
        noted.paths.extend_from_slice(&[length[0], length[1], writes.into()]);
        noted.paths.extend_from_slice(path);
        ANY.store(true, Ordering::Release);
    }
}

/// Tells what is new.
pub(crate) fn tell() {
    if !ANY.swap(false, Ordering::AcqRel) {
        return;
    }
    let (mut paths, mut refused) = (Vec::with_capacity(ROOM), [false; CALLS]);
    {
        let mut noted = NOTED.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut noted.paths, &mut paths);
        std::mem::swap(&mut noted.refused, &mut refused);
    }
    let mut rest = &paths[..];
    while let Some(([low, high, writes], after)) = rest.split_first_chunk() {
        let Some((path, after)) = after.split_at_checked(u16::from_le_bytes([*low, *high]).into()) else {
            break;
        };
        tell_open(Path::new(OsStr::from_bytes(path)), *writes == 1);
        rest = after;
    }
    for (call, _) in refused.iter().enumerate().filter(|(_, refused)| **refused) {
        tell_once(Status::Warning, format!("refused: {}", filter::name(call as i64)));
    }
}

fn tell_open(path: &Path, writes: bool) {
    let what = if writes { "write" } else { "read" };
    match ALLOWED.get().and_then(|allowed| allowed.judge(path, writes)) {
        Some((true, name)) => tell_once(Status::Ok, format!("opened to {what}: {name}")),
        Some((false, name)) => tell_once(Status::Warning, format!("refused to {what}: {name}")),
        // There is no such file.
        None => {}
    }
}

fn tell_once(status: Status, text: String) {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if known.len() < MOST && known.insert(text.clone()) {
        let message = Message { status, category: CATEGORY.into(), text };
        costep_fmi::tell(CATEGORY, Notice::Logged(&message));
    }
}
