//! News of FMUs while they are called: messages they log, and calls that return Warning.
//!
//! Whoever wants to hear of them says so once per process. Nothing is looked up or counted in calls that go well.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::call::log::{Message, Status};

/// Something an instance has to say.
#[derive(Clone, Copy, Debug)]
pub enum Notice<'a> {
    /// It has logged a message.
    Logged(&'a Message),
    /// It has logged further messages of this status, whose words are not known.
    Further(Status, u64),
    /// A call returned Warning: its name without the prefix of the version.
    Warned(&'a str),
}

/// Is told the name of the instance, from any thread and in the middle of a call.
type Listener = Box<dyn Fn(&str, Notice<'_>) + Send + Sync>;

static LISTENER: OnceLock<Listener> = OnceLock::new();
static DEAF: AtomicBool = AtomicBool::new(false);
static IS_OVER: AtomicBool = AtomicBool::new(false);

/// Has all notices of this process told to somebody; false if somebody else already listens.
pub fn listen(listener: impl Fn(&str, Notice<'_>) + Send + Sync + 'static) -> bool {
    LISTENER.set(Box::new(listener)).is_ok()
}

/// Does work during which nobody listens: it repeats what has been heard before.
pub fn unheard<T>(work: impl FnOnce() -> T) -> T {
    let before = DEAF.swap(true, Ordering::Relaxed);
    let result = work();
    DEAF.store(before || IS_OVER.load(Ordering::Relaxed), Ordering::Relaxed);
    result
}

/// From now on nobody listens: work that is not waited for any more may go on.
pub fn hear_no_more() {
    IS_OVER.store(true, Ordering::Relaxed);
    DEAF.store(true, Ordering::Relaxed);
}

/// Tells whoever listens.
pub fn tell(instance: &str, notice: Notice<'_>) {
    if let Some(listener) = LISTENER.get()
        && !DEAF.load(Ordering::Relaxed)
    {
        listener(instance, notice);
    }
}
