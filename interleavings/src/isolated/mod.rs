//! The bells of isolated FMUs over a futex of `loom`.

#[path = "../../../crates/supervise/src/isolated/bell.rs"]
pub(crate) mod bell;
mod futex;

impl bell::Bell {
    pub(crate) fn new() -> Self {
        Self(futex::AtomicU32::new(0))
    }
}
