//! Symbols of a shared library.
#![allow(unsafe_code)]

use std::error::Error as _;
use std::path::{Path, PathBuf};

use costep_core::{Code, Error, Result};

use crate::call::preload::{PYTHON_HINT, lacks_python, python, refuse_two_pythons};

/// A loaded shared library.
pub(crate) struct SharedLibrary {
    library: libloading::Library,
    path: PathBuf,
    /// What the names of its functions begin with.
    prefix: String,
}

/// What the loader says of a file that may not be run, or for which there is no memory.
fn is_unmapped(cause: &str) -> bool {
    cause.contains("failed to map segment")
}

const NO_PROGRAMS: &str = "FMUs are unpacked to the folder for temporary files: if its disk allows no programs (`noexec`), name another folder with TMPDIR; else raise the limit of memory";

impl SharedLibrary {
    /// Loads a library whose functions have names with this prefix. All its symbols are resolved now: one
    /// that is missing ends here with a message, not in the middle of a run with the end of the process.
    pub(crate) fn load(path: &Path, prefix: String) -> Result<Self> {
        let mut library = open(path);
        if library.as_ref().is_err_and(|error| lacks_python(&words(error))) && python()? {
            library = open(path);
        }
        let library = library.map_err(|error| {
            let message = format!("cannot load the library `{}`", file_name(path));
            let cause = words(&error);
            let hint = if lacks_python(&cause) {
                Some(PYTHON_HINT)
            } else {
                is_unmapped(&cause).then_some(NO_PROGRAMS)
            };
            let error = Error::new(Code::FmuNotLoaded, message).because(cause);
            match hint {
                Some(hint) => error.hint(hint),
                None => error,
            }
        })?;
        refuse_two_pythons()?;
        Ok(Self { library, path: path.to_owned(), prefix })
    }

    /// A function that has to be there.
    ///
    /// # Safety
    /// `T` is the type of a function pointer that fits the symbol; it is not called after the library is unloaded.
    pub(crate) unsafe fn required<T: Copy>(&self, name: &str) -> Result<T> {
        // SAFETY: by the contract of this function.
        unsafe { self.get(name) }.map_err(|error| {
            let (file, prefix) = (file_name(&self.path), &self.prefix);
            let message = format!("the library `{file}` has no function `{prefix}{name}`");
            Error::new(Code::FmuSymbol, message).because(words(&error))
        })
    }

    /// An error if a function is missing.
    pub(crate) fn demand(&self, name: &str) -> Result<()> {
        // SAFETY: the address is not used.
        unsafe { self.required::<usize>(name) }.map(|_| ())
    }

    /// A function that may be missing.
    ///
    /// # Safety
    /// As for [`SharedLibrary::required`].
    pub(crate) unsafe fn optional<T: Copy>(&self, name: &str) -> Option<T> {
        // SAFETY: by the contract of this function.
        unsafe { self.get(name) }.ok()
    }

    unsafe fn get<T: Copy>(&self, name: &str) -> Result<T, libloading::Error> {
        assert_eq!(size_of::<T>(), size_of::<usize>(), "a symbol is as wide as a pointer");
        // SAFETY: the callers promise that the type fits.
        unsafe { self.library.get::<T>(format!("{}{name}", self.prefix)) }.map(|symbol| *symbol)
    }
}

#[cfg(unix)]
fn open(path: &Path) -> Result<libloading::Library, libloading::Error> {
    use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
    // SAFETY: initialisers of the library run here; to trust the FMU that far is the decision of the user who runs it.
    unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map(Into::into)
}

#[cfg(windows)]
fn open(path: &Path) -> Result<libloading::Library, libloading::Error> {
    use libloading::os::windows::{LOAD_WITH_ALTERED_SEARCH_PATH, Library};
    // SAFETY: as for Unix. Libraries next to this one are found.
    unsafe { Library::load_with_flags(path, LOAD_WITH_ALTERED_SEARCH_PATH) }.map(Into::into)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// The words of the loader of the operating system.
fn words(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

/// A table of functions: `required` ones are function pointers, `optional` ones may be missing.
macro_rules! function_table {
    ($(#[$about:meta])* $table:ident { $($kind:ident $field:ident $symbol:literal ($($argument:ty),* $(,)?) $(-> $result:ty)?;)* }) => {
        $(#[$about])*
        #[allow(dead_code, reason = "the tables hold all functions of the standard for this use")]
        pub(crate) struct $table {
            $(pub(crate) $field: function_table!(@type $kind unsafe extern "C-unwind" fn($($argument),*) $(-> $result)?)),*
        }

        impl $table {
            /// Names of the functions, and whether each is required.
            pub(crate) const SYMBOLS: &[(&str, bool)] = &[$(($symbol, function_table!(@is_required $kind))),*];

            /// Looks all of them up.
            pub(crate) fn load(library: &$crate::call::symbols::SharedLibrary) -> costep_core::Result<Self> {
                Ok(Self {
                    // SAFETY: the types are those of the standard, and the table is kept with its library.
                    $($field: unsafe { function_table!(@load $kind library $symbol) }),*
                })
            }
        }
    };
    (@is_required required) => { true };
    (@is_required optional) => { false };
    (@type required $type:ty) => { $type };
    (@type optional $type:ty) => { Option<$type> };
    (@load required $library:ident $symbol:literal) => { $library.required($symbol)? };
    (@load optional $library:ident $symbol:literal) => { $library.optional($symbol) };
}
pub(crate) use function_table;
