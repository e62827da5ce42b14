//! Memory that two processes share. All `unsafe` code of this crate.
//!
//! Everything in it is an atomic number, so that whatever the other process writes at whatever moment is a value, true or
//! wrong, and never undefined behaviour.
#![allow(unsafe_code)]

use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fstat, ftruncate, memfd_create};
use rustix::io::FdFlags;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// What may lie in shared memory.
///
/// # Safety
/// Consists of atomic integers only, without padding that matters: any bytes, zeros first, are a value of it.
pub(crate) unsafe trait Shareable {}

// SAFETY: atomic integers.
unsafe impl Shareable for AtomicU8 {}
// SAFETY: atomic integers.
unsafe impl Shareable for AtomicU32 {}
// SAFETY: atomic integers.
unsafe impl Shareable for AtomicU64 {}
// SAFETY: consists of atomic integers.
unsafe impl Shareable for crate::page::Header {}
// SAFETY: consists of atomic integers.
unsafe impl Shareable for crate::voice::Ends {}
// SAFETY: consists of atomic integers, as its documentation promises.
unsafe impl Shareable for costep_fmi::trace::SlotData {}
// SAFETY: consists of atomic integers.
unsafe impl Shareable for crate::isolated::Control {}

/// A piece of shared memory without a name, zero at first. Pages that are never touched cost nothing.
pub(crate) struct SharedMemory {
    start: NonNull<u8>,
    length: usize,
    /// Until the other process has it: foreign code here could change the memory through it.
    file: Option<OwnedFd>,
}

// SAFETY: only atomic numbers are read and written through it.
unsafe impl Send for SharedMemory {}
// SAFETY: as above.
unsafe impl Sync for SharedMemory {}

impl SharedMemory {
    /// New memory. Its file is not inherited by other programs, unless it is handed to one.
    pub(crate) fn create(length: usize) -> std::io::Result<Self> {
        let file = memfd_create("costep", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&file, length as u64)?;
        // Memory that the other process makes shorter would end this one with SIGBUS.
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        let start = map(&file, length)?;
        Ok(Self { start, length, file: Some(file) })
    }

    /// The memory behind a file that another process handed over.
    pub(crate) fn open(file: OwnedFd) -> std::io::Result<Self> {
        let length = fstat(&file)?.st_size;
        let length = usize::try_from(length).map_err(|_| std::io::ErrorKind::InvalidData)?;
        Ok(Self { start: map(&file, length)?, length, file: None })
    }

    /// The file behind new memory, as long as it has not been closed.
    pub(crate) fn file(&self) -> std::io::Result<BorrowedFd<'_>> {
        self.file.as_ref().map(AsFd::as_fd).ok_or_else(|| std::io::ErrorKind::NotFound.into())
    }

    /// Closes the file; the memory stays.
    pub(crate) fn close_file(&mut self) {
        self.file = None;
    }

    /// Number of bytes.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// `count` values from a place on.
    ///
    /// # Panics
    /// If they are not inside or not aligned.
    pub(crate) fn values<T: Shareable>(&self, place: usize, count: usize) -> &[T] {
        let bytes = count.checked_mul(size_of::<T>()).expect("a size of memory");
        let end = place.checked_add(bytes).expect("a place in memory");
        assert!(end <= self.length && place.is_multiple_of(align_of::<T>()), "outside of shared memory");
        // SAFETY: inside the mapping, which lives as long as `self`, and aligned, as the mapping starts at a page; any
        // bytes are a value of `T`, which is changed through atomic operations only.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().add(place).cast::<T>(), count) }
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: the mapping is this one's own, and what was borrowed from it is gone.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
    }
}

fn map(file: &OwnedFd, length: usize) -> std::io::Result<NonNull<u8>> {
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping at a place of the system's choice touches nothing that exists.
    let start = unsafe { mmap(std::ptr::null_mut(), length, access, MapFlags::SHARED, file, 0)? };
    NonNull::new(start.cast()).ok_or_else(|| std::io::ErrorKind::OutOfMemory.into())
}

/// A file that the process was started with, by its number.
pub(crate) fn inherited(number: RawFd) -> std::io::Result<OwnedFd> {
    if number <= 2 {
        return Err(std::io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: only looked at, to see whether it is open; nothing in this young process closes files.
    let file = unsafe { BorrowedFd::borrow_raw(number) };
    rustix::io::fcntl_setfd(file, FdFlags::CLOEXEC)?;
    // SAFETY: it is open, and was inherited to be owned by whoever is told its number.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}
