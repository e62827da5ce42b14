//! Stands for `crates/engine/src/sync.rs`. Accesses in one order for all threads (`SeqCst`) have fences around them: `loom`
//! takes them for weaker ones, but knows fences.

pub(crate) use loom::cell::UnsafeCell as Handed;
pub(crate) use loom::hint::spin_loop;
pub(crate) use loom::sync::atomic::Ordering;
use loom::sync::atomic::{self, fence};
pub(crate) use loom::thread::{Thread, park, yield_now};

/// As few as show that spinning and sleeping both work.
pub(crate) const SPINS: u32 = 1;

fn ordered<R>(order: Ordering, access: impl FnOnce() -> R) -> R {
    if order != Ordering::SeqCst {
        return access();
    }
    fence(Ordering::SeqCst);
    let result = access();
    fence(Ordering::SeqCst);
    result
}

macro_rules! atomics {
    ($($name:ident $value:ty;)*) => {$(
        pub(crate) struct $name(atomic::$name);

        impl $name {
            pub(crate) fn new(value: $value) -> Self {
                Self(atomic::$name::new(value))
            }

            pub(crate) fn load(&self, order: Ordering) -> $value {
                ordered(order, || self.0.load(order))
            }

            pub(crate) fn store(&self, value: $value, order: Ordering) {
                ordered(order, || self.0.store(value, order));
            }
        }
    )*};
}

atomics! { AtomicBool bool; AtomicUsize usize; }

impl AtomicBool {
    pub(crate) fn swap(&self, value: bool, order: Ordering) -> bool {
        ordered(order, || self.0.swap(value, order))
    }
}

impl AtomicUsize {
    pub(crate) fn fetch_add(&self, more: usize, order: Ordering) -> usize {
        ordered(order, || self.0.fetch_add(more, order))
    }

    pub(crate) fn fetch_sub(&self, less: usize, order: Ordering) -> usize {
        ordered(order, || self.0.fetch_sub(less, order))
    }

    pub(crate) fn fetch_or(&self, bits: usize, order: Ordering) -> usize {
        ordered(order, || self.0.fetch_or(bits, order))
    }

    pub(crate) fn fetch_update(
        &self,
        set: Ordering,
        fetch: Ordering,
        next: impl FnMut(usize) -> Option<usize>,
    ) -> Result<usize, usize> {
        self.0.fetch_update(set, fetch, next)
    }
}
