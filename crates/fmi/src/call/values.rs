//! Setting variables of any type.
#![allow(unsafe_code)]

use std::ffi::{CString, c_char, c_int};

use costep_core::{Code, Error, Result};
use costep_fmu_file::Values;
use costep_fmu_file::settings::Setting;

use crate::call::instance::Instance;
use crate::call::library::Functions;
use crate::trace::Call;

impl Instance {
    /// Sets a variable to what a user has given it; an error says which, if the FMU refuses.
    pub(crate) fn set_setting(&self, setting: &Setting) -> Result<()> {
        self.set_values(setting.reference, &setting.values).map_err(|error| match error.code() {
            Code::FmuError | Code::FmuDiscard => self.refused(setting, &error),
            _ => error,
        })
    }

    #[cold]
    fn refused(&self, setting: &Setting, error: &Error) -> Error {
        let (own, variable) = (self.name.to_string_lossy(), &setting.name);
        let value = match (&setting.values, setting.values.number(0)) {
            (values, Some(number)) if values.len() == 1 => number.to_string(),
            (Values::String(words), _) if words.len() == 1 => format!("\"{}\"", words[0]),
            (values, _) => format!("these {} values", values.len()),
        };
        let details = error.details();
        let call = details.message.rsplit_once("`: ").map_or(details.message.as_str(), |(_, call)| call);
        let said = details.cause.iter().map(|cause| format!("; {cause}"));
        Error::new(error.code(), format!("`{own}` refused `{variable}` = {value}"))
            .because(format!("{call}{}", said.collect::<String>()))
            .hint(format!("give `{variable}` a value that the FMU takes; its documentation says which"))
    }

    /// Sets one variable; all elements of it, if it is an array.
    pub(crate) fn set_values(&self, reference: u32, values: &Values) -> Result<()> {
        let references = [reference];
        match &self.library.functions {
            Functions::V1(_) | Functions::V2(_) => self.set_scalar(reference, values),
            Functions::V3(f) => {
                macro_rules! set {
                    ($values:expr, $function:ident, $call:literal) => {{
                        let function = self.need(f.$function, $call)?;
                        let (from, count) = ($values.as_ptr(), $values.len());
                        // SAFETY: the instance is alive, the FMU is told how many values there are.
                        self.set_value($call, || unsafe {
                            function(self.handle, references.as_ptr(), 1, from, count)
                        })
                    }};
                }
                match values {
                    Values::Float64(v) => self.set_reals(&references, v),
                    Values::Float32(v) => set!(v, set_float32, "SetFloat32"),
                    Values::Int8(v) => set!(v, set_int8, "SetInt8"),
                    Values::UInt8(v) => set!(v, set_uint8, "SetUInt8"),
                    Values::Int16(v) => set!(v, set_int16, "SetInt16"),
                    Values::UInt16(v) => set!(v, set_uint16, "SetUInt16"),
                    Values::Int32(v) => set!(v, set_int32, "SetInt32"),
                    Values::UInt32(v) => set!(v, set_uint32, "SetUInt32"),
                    Values::Int64(v) | Values::Enumeration(v) => set!(v, set_int64, "SetInt64"),
                    Values::UInt64(v) => set!(v, set_uint64, "SetUInt64"),
                    Values::Boolean(v) => set!(v, set_boolean, "SetBoolean"),
                    Values::String(v) => {
                        let texts = texts(v)?;
                        let pointers: Vec<*const c_char> = texts.iter().map(|text| text.as_ptr()).collect();
                        set!(pointers, set_string, "SetString")
                    }
                    Values::Binary(v) => {
                        let function = self.need(f.set_binary, "SetBinary")?;
                        let sizes: Vec<usize> = v.iter().map(Vec::len).collect();
                        let pointers: Vec<*const u8> = v.iter().map(|bytes| bytes.as_ptr()).collect();
                        let (sizes, from, count) = (sizes.as_ptr(), pointers.as_ptr(), v.len());
                        // SAFETY: the instance is alive, the FMU is told all sizes, which live until it returns.
                        self.set_value("SetBinary", || unsafe {
                            function(self.handle, references.as_ptr(), 1, sizes, from, count)
                        })
                    }
                }
            }
        }
    }

    /// Sets one variable in the way of FMI 1 and 2.
    fn set_scalar(&self, reference: u32, values: &Values) -> Result<()> {
        if values.len() != 1 {
            return Err(Error::new(Code::FmuValue, "only FMI 3.0 has arrays"));
        }
        let (references, one) = ([reference], 1);
        let at = references.as_ptr();
        let (set_integer, set_string) = match &self.library.functions {
            Functions::V1(f) => (f.values.set_integer, f.values.set_string),
            Functions::V2(f) => (f.set_integer, f.set_string),
            Functions::V3(_) => (None, None),
        };
        let integer = |value: c_int| {
            let function = self.need(set_integer, "SetInteger")?;
            // SAFETY: in each call the instance is alive and one value is handed over for one reference.
            self.set_value("SetInteger", || unsafe { function(self.handle, at, one, &raw const value) })
        };
        match values {
            Values::Float64(v) => self.set_reals(&references, v),
            Values::Int32(v) => integer(v[0]),
            Values::Enumeration(v) => integer(
                c_int::try_from(v[0])
                    .map_err(|_| Error::new(Code::FmuValue, format!("{} has more than 32 bits", v[0])))?,
            ),
            Values::Boolean(v) => match &self.library.functions {
                Functions::V1(f) => {
                    let (value, function) = (c_char::from(v[0]), f.values.set_boolean);
                    let function = self.need(function, "SetBoolean")?;
                    // SAFETY: as above.
                    self.set_value("SetBoolean", || unsafe {
                        function(self.handle, at, one, &raw const value)
                    })
                }
                Functions::V2(f) => {
                    let (value, function) = (c_int::from(v[0]), f.set_boolean);
                    let function = self.need(function, "SetBoolean")?;
                    // SAFETY: as above.
                    self.set_value("SetBoolean", || unsafe {
                        function(self.handle, at, one, &raw const value)
                    })
                }
                Functions::V3(_) => Err(self.lacks("SetBoolean")),
            },
            Values::String(v) => {
                let texts = texts(v)?;
                let pointers: Vec<*const c_char> = texts.iter().map(|text| text.as_ptr()).collect();
                let function = self.need(set_string, "SetString")?;
                // SAFETY: as above; the text lives until the call returns.
                self.set_value("SetString", || unsafe { function(self.handle, at, one, pointers.as_ptr()) })
            }
            _ => Err(Error::new(Code::FmuValue, "only FMI 3.0 has such a type")),
        }
    }

    /// Enters or leaves the mode in which structural parameters can be set (FMI 3).
    pub(crate) fn configuration(&self, enter: bool) -> Result<()> {
        let Functions::V3(f) = &self.library.functions else { return Ok(()) };
        let (function, call) = match enter {
            true => (f.enter_configuration, "EnterConfigurationMode"),
            false => (f.exit_configuration, "ExitConfigurationMode"),
        };
        let function = self.need(function, call)?;
        // SAFETY: the instance is alive.
        let status = self.watched(Call::Configuration, || unsafe { function(self.handle) });
        self.check(status, call)
    }

    fn set_value(&self, name: &str, work: impl FnOnce() -> c_int) -> Result<()> {
        let status = self.watched(Call::SetValues, work);
        self.check(status, name)
    }
}

fn texts(values: &[String]) -> Result<Vec<CString>> {
    let text = |value: &String| {
        CString::new(value.as_str())
            .map_err(|_| Error::new(Code::FmuValue, "a string with a zero byte cannot be handed to an FMU"))
    };
    values.iter().map(text).collect()
}
