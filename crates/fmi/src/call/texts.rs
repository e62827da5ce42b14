//! Text and bytes as signals: one call per type sets or gets all of them.
//!
//! A signal is a number, so that what goes over is a number that stands for the content (see [`store`](super::store)).
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char};
use std::sync::Arc;

use costep_core::{Code, Error, Result};
use costep_fmu_file::VariableType;

use crate::call::instance::Instance;
use crate::call::library::Functions;
use crate::call::store::{self, Content};
use crate::trace::Call;

/// Bytes of one value at most.
const MOST_BYTES: usize = 1 << 26;
/// Values of one output that stay known: whoever goes back, or is a step behind, still finds them.
const REMEMBERED: usize = 8;

/// The variables of one direction that are text or bytes.
#[derive(Debug)]
pub(crate) struct Texts {
    is_text: bool,
    references: Vec<u32>,
    elements: Vec<Element>,
    pointers: Vec<*const u8>,
    sizes: Vec<usize>,
}

// SAFETY: the pointers are written before each call and not looked at afterwards.
unsafe impl Send for Texts {}

/// One value, or one element of an array.
#[derive(Debug, Default)]
struct Element {
    name: String,
    /// The number that stands for the present value; 0 = none was given yet.
    number: f64,
    /// The present value as it is handed over, with a zero byte behind text.
    bytes: Vec<u8>,
    remembered: [Option<Content>; REMEMBERED],
    next: usize,
}

impl Texts {
    pub(crate) fn new(kind: VariableType, references: Vec<u32>, names: Vec<String>) -> Self {
        let count = names.len();
        let element = |name| Element { name, ..Element::default() };
        Self {
            is_text: kind == VariableType::String,
            references,
            elements: names.into_iter().map(element).collect(),
            pointers: vec![std::ptr::null(); count],
            sizes: vec![0; count],
        }
    }

    /// Number of elements.
    pub(crate) fn width(&self) -> usize {
        self.elements.len()
    }

    /// Sets all variables. Inputs that nobody has given a value keep their start values: until all elements have one,
    /// none is set.
    pub(crate) fn set(&mut self, instance: &Instance, numbers: &[f64]) -> Result<()> {
        let is_text = self.is_text;
        for (element, number) in self.elements.iter_mut().zip(numbers) {
            if element.number.to_bits() != number.to_bits() {
                element.take_over(instance, *number, is_text)?;
            }
        }
        if self.references.len() == self.elements.len() {
            for at in 0..self.elements.len() {
                if self.elements[at].number != 0.0 {
                    self.hand_over(instance, at..at + 1, at..at + 1)?;
                }
            }
            return Ok(());
        }
        match self.elements.iter().all(|element| element.number != 0.0) {
            true => self.hand_over(instance, 0..self.references.len(), 0..self.elements.len()),
            false => Ok(()),
        }
    }

    fn hand_over(
        &mut self,
        instance: &Instance,
        references: std::ops::Range<usize>,
        range: std::ops::Range<usize>,
    ) -> Result<()> {
        let Self { is_text, references: all, elements, pointers, sizes } = self;
        for at in range.clone() {
            (pointers[at], sizes[at]) = (elements[at].bytes.as_ptr(), elements[at].bytes.len());
        }
        let (handle, at) = (instance.handle, all[references.clone()].as_ptr());
        let (n, from, count) = (references.len(), pointers[range.clone()].as_ptr(), range.len());
        let sizes = sizes[range].as_ptr();
        let scalar = match &instance.library.functions {
            Functions::V1(f) => f.values.set_string,
            Functions::V2(f) => f.set_string,
            Functions::V3(_) => None,
        };
        match &instance.library.functions {
            Functions::V1(_) | Functions::V2(_) => {
                let function = instance.need(scalar, "SetString")?;
                // SAFETY: the instance is alive, there is one element per reference, and texts end with a
                // zero byte.
                let status = instance.watched(Call::SetValues, || unsafe {
                    function(handle, at, n, from.cast::<*const c_char>())
                });
                instance.check(status, "SetString")
            }
            Functions::V3(f) if *is_text => {
                let function = instance.need(f.set_string, "SetString")?;
                // SAFETY: the instance is alive, the FMU is told both lengths, and texts end with a zero byte.
                let status = instance.watched(Call::SetValues, || unsafe {
                    function(handle, at, n, from.cast::<*const c_char>(), count)
                });
                instance.check(status, "SetString")
            }
            Functions::V3(f) => {
                let function = instance.need(f.set_binary, "SetBinary")?;
                // SAFETY: the instance is alive, the FMU is told all lengths.
                let status = instance
                    .watched(Call::SetValues, || unsafe { function(handle, at, n, sizes, from, count) });
                instance.check(status, "SetBinary")
            }
        }
    }

    /// Gets all variables.
    pub(crate) fn get(&mut self, instance: &Instance, numbers: &mut [f64]) -> Result<()> {
        let Self { is_text, references, elements, pointers, sizes } = self;
        let (handle, at, n) = (instance.handle, references.as_ptr(), references.len());
        let count = elements.len();
        pointers.fill(std::ptr::null());
        let to = pointers.as_mut_ptr();
        let scalar = match &instance.library.functions {
            Functions::V1(f) => f.values.get_string,
            Functions::V2(f) => f.get_string,
            Functions::V3(_) => None,
        };
        match &instance.library.functions {
            Functions::V1(_) | Functions::V2(_) => {
                let function = instance.need(scalar, "GetString")?;
                // SAFETY: the instance is alive, there is one element per reference.
                let status = instance.watched(Call::GetValues, || unsafe {
                    function(handle, at, n, to.cast::<*const c_char>())
                });
                instance.check(status, "GetString")?;
            }
            Functions::V3(f) if *is_text => {
                let function = instance.need(f.get_string, "GetString")?;
                // SAFETY: the instance is alive, the FMU is told how many pointers there is room for.
                let status = instance.watched(Call::GetValues, || unsafe {
                    function(handle, at, n, to.cast::<*const c_char>(), count)
                });
                instance.check(status, "GetString")?;
            }
            Functions::V3(f) => {
                let function = instance.need(f.get_binary, "GetBinary")?;
                let lengths = sizes.as_mut_ptr();
                // SAFETY: the instance is alive, the FMU is told how much room there is.
                let status = instance
                    .watched(Call::GetValues, || unsafe { function(handle, at, n, lengths, to, count) });
                instance.check(status, "GetBinary")?;
            }
        }
        for (at, (element, number)) in elements.iter_mut().zip(numbers).enumerate() {
            let (pointer, size) = (pointers[at], sizes[at]);
            // SAFETY: what the FMU points to is valid until it is called again: text ends with a zero byte, bytes are as
            // many as it says.
            let value = || unsafe {
                match (pointer.is_null(), *is_text) {
                    (true, _) => Some(&[][..]),
                    (_, true) => Some(CStr::from_ptr(pointer.cast()).to_bytes()),
                    (_, false) => (size <= MOST_BYTES).then(|| std::slice::from_raw_parts(pointer, size)),
                }
            };
            // If it points elsewhere, that is a fault of its call.
            instance.watched(Call::GetValues, || match value() {
                Some(value) if value.len() <= MOST_BYTES => element.keep(instance, value),
                _ => Err(too_long(instance, &element.name)),
            })?;
            *number = element.number;
        }
        Ok(())
    }

    /// The present values, for a checkpoint.
    pub(crate) fn values(&self) -> impl Iterator<Item = &[u8]> {
        self.elements.iter().map(|element| &element.bytes[..])
    }

    /// Makes values of a checkpoint known.
    pub(crate) fn know(&mut self, instance: &Instance, at: usize, value: &[u8]) -> Result<()> {
        match self.elements.get_mut(at) {
            Some(element) => element.keep(instance, value),
            None => Err(instance.error(Code::Bug, "it has fewer strings than the checkpoint")),
        }
    }
}

impl Element {
    /// Looks up what a number stands for.
    #[cold]
    fn take_over(&mut self, instance: &Instance, number: f64, is_text: bool) -> Result<()> {
        if number == 0.0 {
            return Ok(());
        }
        let Some(content) = store::find(number) else {
            let what = format!("the value of its input `{}` is not known in this process", self.name);
            return Err(instance
                .error(Code::NeedsMissing, &what)
                .because("strings and binary values are not exchanged between processes")
                .hint("leave `isolation` out for FMUs that exchange them"));
        };
        self.bytes = match is_text {
            true => CString::new(&content[..])
                .map_err(|_| {
                    Error::new(Code::FmuValue, "a string with a zero byte cannot be handed to an FMU")
                })?
                .into_bytes_with_nul(),
            false => content.to_vec(),
        };
        self.number = number;
        Ok(())
    }

    /// Keeps a value of an output; nothing is done for one that has not changed.
    fn keep(&mut self, instance: &Instance, value: &[u8]) -> Result<()> {
        if self.number != 0.0 && self.bytes == value {
            return Ok(());
        }
        let content: Content = Arc::from(value);
        self.number = store::keep(&content).ok_or_else(|| {
            instance.error(
                Code::FmuValue,
                &format!("the value of `{}` cannot be distinguished from another one", self.name),
            )
        })?;
        self.bytes.clear();
        self.bytes.extend_from_slice(value);
        self.remembered[self.next] = Some(content);
        self.next = (self.next + 1) % REMEMBERED;
        Ok(())
    }
}

#[cold]
fn too_long(instance: &Instance, name: &str) -> Error {
    instance.error(Code::FmuValue, &format!("the value of `{name}` has more than {MOST_BYTES} bytes"))
}
