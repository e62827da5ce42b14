//! From XML trees to the structures of `model`. Every element and attribute that is not used leaves a note.

pub(crate) mod bindings;
pub(crate) mod common;
pub(crate) mod dictionary;
pub(crate) mod document;
pub(crate) mod mapping;
pub(crate) mod reader;
pub(crate) mod system;
pub(crate) mod values;
