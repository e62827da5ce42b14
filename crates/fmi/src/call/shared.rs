//! Values that foreign code has a pointer to.
#![allow(unsafe_code)]

use std::ops::Deref;
use std::ptr::NonNull;

/// A value in a place of its own whose address is handed out. Unlike a `Box` it can be moved while somebody else uses the
/// address: nobody claims to be the only one.
pub(crate) struct Shared<T>(NonNull<T>);

impl<T> Shared<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(NonNull::from(Box::leak(Box::new(value))))
    }

    /// The address, valid as long as this value lives or is forgotten.
    pub(crate) fn address(&self) -> *mut T {
        self.0.as_ptr()
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: it came from a box, which is dropped with this value; foreign code only hands the address back to
        // functions that take it as a shared reference too.
        unsafe { self.0.as_ref() }
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        // SAFETY: made from a box in `new`, and dropped once.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}
