//! Variables of other types than 64 bits with a point, and tuned parameters of any: one call per type sets or gets all of them.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int};

use costep_core::{Code, Error, Result};
use costep_fmu_file::{FmiVersion, VariableType};

use crate::call::instance::Instance;
use crate::call::library::Functions;
use crate::trace::Call;

/// Integers up to this size are exchanged without loss.
const EXACT: f64 = (1_u64 << 53) as f64;

/// A type in calls, which converts without loss or not at all.
trait Element: Copy {
    fn from_number(value: f64) -> Option<Self>;
    fn number(self) -> Option<f64>;
}

macro_rules! whole_elements {
    ($($type:ty)*) => {
        $(impl Element for $type {
            fn from_number(value: f64) -> Option<Self> {
                let fits = value >= Self::MIN as f64 && value <= Self::MAX as f64 && value.abs() <= EXACT;
                (fits && value.fract() == 0.0).then_some(value as Self)
            }

            fn number(self) -> Option<f64> {
                let value = self as f64;
                (value.abs() < EXACT || (value.abs() == EXACT && value as i128 == self as i128)).then_some(value)
            }
        })*
    };
}

whole_elements! { i8 u8 i16 u16 i32 u32 i64 u64 }

impl Element for f32 {
    /// The nearest one; a finite value does not become infinite.
    fn from_number(value: f64) -> Option<Self> {
        let single = value as Self;
        (single.is_finite() || !value.is_finite()).then_some(single)
    }

    fn number(self) -> Option<f64> {
        Some(self.into())
    }
}

/// A Boolean, in FMI 2 four bytes, in FMI 1 and 3 one. The FMU may write any, all but 0 are true.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
struct Truth<T>(T);

impl<T: Copy + From<u8> + PartialEq> Element for Truth<T> {
    fn from_number(value: f64) -> Option<Self> {
        let truth = if value == 1.0 { 1_u8 } else { 0 };
        (value == f64::from(truth)).then(|| Self(truth.into()))
    }

    fn number(self) -> Option<f64> {
        Some(if self.0 == T::from(0) { 0.0 } else { 1.0 })
    }
}

/// Values as they go over.
#[derive(Debug)]
enum Buffer {
    /// They go over as they are.
    Float64,
    Float32(Vec<f32>),
    Int8(Vec<i8>),
    UInt8(Vec<u8>),
    Int16(Vec<i16>),
    UInt16(Vec<u16>),
    Int32(Vec<i32>),
    UInt32(Vec<u32>),
    Int64(Vec<i64>),
    UInt64(Vec<u64>),
    Boolean4(Vec<Truth<c_int>>),
    Boolean1(Vec<Truth<u8>>),
}

impl Buffer {
    /// Nothing for types that are not exchanged.
    fn new(version: FmiVersion, kind: VariableType, count: usize) -> Option<Self> {
        let has_few_types = version < FmiVersion::V3;
        Some(match kind {
            VariableType::Float64 => Self::Float64,
            VariableType::Float32 => Self::Float32(vec![0.0; count]),
            VariableType::Int8 => Self::Int8(vec![0; count]),
            VariableType::UInt8 => Self::UInt8(vec![0; count]),
            VariableType::Int16 => Self::Int16(vec![0; count]),
            VariableType::UInt16 => Self::UInt16(vec![0; count]),
            VariableType::Enumeration if has_few_types => Self::Int32(vec![0; count]),
            VariableType::Int32 => Self::Int32(vec![0; count]),
            VariableType::UInt32 => Self::UInt32(vec![0; count]),
            VariableType::Int64 | VariableType::Enumeration => Self::Int64(vec![0; count]),
            VariableType::UInt64 => Self::UInt64(vec![0; count]),
            VariableType::Boolean if version == FmiVersion::V2 => Self::Boolean4(vec![Truth(0); count]),
            VariableType::Boolean => Self::Boolean1(vec![Truth(0); count]),
            VariableType::String | VariableType::Binary | VariableType::Clock => return None,
        })
    }
}

/// The function that carries a type: variables with the same one go over in one call.
pub(crate) fn carrier(version: FmiVersion, kind: VariableType) -> VariableType {
    match (version, kind) {
        (FmiVersion::V1 | FmiVersion::V2, VariableType::Enumeration) => VariableType::Int32,
        (FmiVersion::V3, VariableType::Enumeration) => VariableType::Int64,
        (_, kind) => kind,
    }
}

/// The variables of one type and direction.
#[derive(Debug)]
pub(crate) struct Batch {
    kind: VariableType,
    references: Vec<u32>,
    /// Name of each element.
    names: Vec<String>,
    buffer: Buffer,
}

impl Batch {
    /// Nothing for types that are not exchanged.
    pub(crate) fn new(
        version: FmiVersion,
        kind: VariableType,
        references: Vec<u32>,
        names: Vec<String>,
    ) -> Option<Self> {
        Some(Self { kind, references, buffer: Buffer::new(version, kind, names.len())?, names })
    }

    /// Number of elements.
    pub(crate) fn width(&self) -> usize {
        self.names.len()
    }

    /// Sets all variables.
    pub(crate) fn set(&mut self, instance: &Instance, values: &[f64]) -> Result<()> {
        let Self { kind, references, names, buffer } = self;
        macro_rules! set {
            ($functions:expr, $buffer:ident, $function:ident, $call:literal $(, $cast:ty)?) => {{
                fill($buffer, values).map_err(|at| misfit(instance, &names[at], values[at], *kind))?;
                let function = instance.need($functions.$function, $call)?;
                let (from, count) = ($buffer.as_ptr()$(.cast::<$cast>())?, $buffer.len());
                (function, from, count, $call)
            }};
            // One value for each reference (FMI 1 and 2).
            (one $functions:expr, $buffer:ident, $function:ident, $call:literal $(, $cast:ty)?) => {{
                let (function, from, count, name) = set!($functions, $buffer, $function, $call $(, $cast)?);
                // SAFETY: the instance is alive, and the FMU is told how many values there are.
                let status = instance.watched(Call::SetValues, || unsafe {
                    function(instance.handle, references.as_ptr(), count, from)
                });
                instance.check(status, name)
            }};
            (3 $buffer:ident, $function:ident, $call:literal $(, $cast:ty)?) => {{
                let Functions::V3(functions) = &instance.library.functions else {
                    return Err(instance.error(Code::Bug, "its version of FMI has changed"));
                };
                let (function, from, count, name) = set!(functions, $buffer, $function, $call $(, $cast)?);
                // SAFETY: the instance is alive, and the FMU is told how many values there are.
                let status = instance.watched(Call::SetValues, || unsafe {
                    function(instance.handle, references.as_ptr(), references.len(), from, count)
                });
                instance.check(status, name)
            }};
        }
        match (buffer, &instance.library.functions) {
            (Buffer::Float64, _) => instance.set_reals(references, values),
            (Buffer::Int32(b), Functions::V1(f)) => set!(one f.values, b, set_integer, "SetInteger"),
            (Buffer::Int32(b), Functions::V2(f)) => set!(one f, b, set_integer, "SetInteger"),
            (Buffer::Boolean1(b), Functions::V1(f)) => {
                set!(one f.values, b, set_boolean, "SetBoolean", c_char)
            }
            (Buffer::Boolean4(b), Functions::V2(f)) => set!(one f, b, set_boolean, "SetBoolean", c_int),
            (Buffer::Boolean4(_), _) => Err(instance.error(Code::Bug, "its version of FMI has changed")),
            (Buffer::Float32(b), _) => set!(3 b, set_float32, "SetFloat32"),
            (Buffer::Int8(b), _) => set!(3 b, set_int8, "SetInt8"),
            (Buffer::UInt8(b), _) => set!(3 b, set_uint8, "SetUInt8"),
            (Buffer::Int16(b), _) => set!(3 b, set_int16, "SetInt16"),
            (Buffer::UInt16(b), _) => set!(3 b, set_uint16, "SetUInt16"),
            (Buffer::Int32(b), _) => set!(3 b, set_int32, "SetInt32"),
            (Buffer::UInt32(b), _) => set!(3 b, set_uint32, "SetUInt32"),
            (Buffer::Int64(b), _) => set!(3 b, set_int64, "SetInt64"),
            (Buffer::UInt64(b), _) => set!(3 b, set_uint64, "SetUInt64"),
            // Only 0 and 1 are written there, which a `bool` may hold.
            (Buffer::Boolean1(b), _) => set!(3 b, set_boolean, "SetBoolean", bool),
        }
    }

    /// Gets all variables.
    pub(crate) fn get(&mut self, instance: &Instance, values: &mut [f64]) -> Result<()> {
        let Self { references, names, buffer, .. } = self;
        macro_rules! get {
            ($functions:expr, $buffer:ident, $function:ident, $call:literal $(, $cast:ty)?) => {{
                let function = instance.need($functions.$function, $call)?;
                let (to, count) = ($buffer.as_mut_ptr()$(.cast::<$cast>())?, $buffer.len());
                (function, to, count)
            }};
            // One value for each reference (FMI 1 and 2).
            (one $functions:expr, $buffer:ident, $function:ident, $call:literal $(, $cast:ty)?) => {{
                let (function, to, count) = get!($functions, $buffer, $function, $call $(, $cast)?);
                // SAFETY: the instance is alive, and the FMU is told how many values there are.
                let status = instance.watched(Call::GetValues, || unsafe {
                    function(instance.handle, references.as_ptr(), count, to)
                });
                instance.check(status, $call)?;
                read($buffer, values).map_err(|at| too_large(instance, &names[at]))
            }};
            (3 $buffer:ident, $function:ident, $call:literal $(, $cast:ty)?) => {{
                let Functions::V3(functions) = &instance.library.functions else {
                    return Err(instance.error(Code::Bug, "its version of FMI has changed"));
                };
                let (function, to, count) = get!(functions, $buffer, $function, $call $(, $cast)?);
                // SAFETY: the instance is alive, and the FMU is told how many values there are.
                let status = instance.watched(Call::GetValues, || unsafe {
                    function(instance.handle, references.as_ptr(), references.len(), to, count)
                });
                instance.check(status, $call)?;
                read($buffer, values).map_err(|at| too_large(instance, &names[at]))
            }};
        }
        match (buffer, &instance.library.functions) {
            (Buffer::Float64, _) => instance.get_reals(references, values),
            (Buffer::Int32(b), Functions::V1(f)) => get!(one f.values, b, get_integer, "GetInteger"),
            (Buffer::Int32(b), Functions::V2(f)) => get!(one f, b, get_integer, "GetInteger"),
            (Buffer::Boolean1(b), Functions::V1(f)) => {
                get!(one f.values, b, get_boolean, "GetBoolean", c_char)
            }
            (Buffer::Boolean4(b), Functions::V2(f)) => get!(one f, b, get_boolean, "GetBoolean", c_int),
            (Buffer::Boolean4(_), _) => Err(instance.error(Code::Bug, "its version of FMI has changed")),
            (Buffer::Float32(b), _) => get!(3 b, get_float32, "GetFloat32"),
            (Buffer::Int8(b), _) => get!(3 b, get_int8, "GetInt8"),
            (Buffer::UInt8(b), _) => get!(3 b, get_uint8, "GetUInt8"),
            (Buffer::Int16(b), _) => get!(3 b, get_int16, "GetInt16"),
            (Buffer::UInt16(b), _) => get!(3 b, get_uint16, "GetUInt16"),
            (Buffer::Int32(b), _) => get!(3 b, get_int32, "GetInt32"),
            (Buffer::UInt32(b), _) => get!(3 b, get_uint32, "GetUInt32"),
            (Buffer::Int64(b), _) => get!(3 b, get_int64, "GetInt64"),
            (Buffer::UInt64(b), _) => get!(3 b, get_uint64, "GetUInt64"),
            (Buffer::Boolean1(b), _) => get!(3 b, get_boolean, "GetBoolean", u8),
        }
    }
}

/// Writes numbers into a buffer; an error is the place of one that has no such value.
fn fill<T: Element>(buffer: &mut [T], values: &[f64]) -> Result<(), usize> {
    assert_eq!(buffer.len(), values.len());
    for (at, (place, value)) in buffer.iter_mut().zip(values).enumerate() {
        *place = T::from_number(*value).ok_or(at)?;
    }
    Ok(())
}

/// Reads a buffer as numbers; an error is the place of a value that is not a number.
fn read<T: Element>(buffer: &[T], values: &mut [f64]) -> Result<(), usize> {
    assert_eq!(buffer.len(), values.len());
    for (at, (value, element)) in values.iter_mut().zip(buffer).enumerate() {
        *value = element.number().ok_or(at)?;
    }
    Ok(())
}

#[cold]
fn misfit(instance: &Instance, name: &str, value: f64, kind: VariableType) -> Error {
    let what = format!("its input `{name}` cannot be {value}");
    instance
        .error(Code::FmuValue, &what)
        .because(format!("its type is {kind}"))
        .hint("values are not rounded, except real numbers to 32 bits; integers are exchanged up to 2^53")
}

#[cold]
fn too_large(instance: &Instance, name: &str) -> Error {
    let what = format!("the value of its output `{name}` cannot be exchanged");
    instance.error(Code::FmuValue, &what).because(
        "it is beyond 2^53: signals are exchanged as Float64 values, which cannot represent it exactly",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_over_without_loss_or_not_at_all() {
        assert_eq!(i8::from_number(-128.0), Some(-128));
        assert_eq!([i8::from_number(128.0), i8::from_number(0.5), i8::from_number(f64::NAN)], [None; 3]);
        assert_eq!(u64::from_number(-1.0), None);
        assert_eq!(u64::from_number(EXACT), Some(1 << 53));
        assert_eq!(i64::from_number(2.0 * EXACT), None);
        assert_eq!((1_i64 << 53).number(), Some(EXACT));
        assert_eq!([((1_i64 << 53) + 1).number(), i64::MIN.number(), i64::MAX.number()], [None; 3]);
        assert_eq!([((1_u64 << 53) + 1).number(), u64::MAX.number()], [None; 2]);
        assert_eq!(f32::from_number(0.1), Some(0.1_f32));
        assert_eq!(f32::from_number(1e39), None);
    }

    #[test]
    fn truth_is_0_or_1_and_any_byte_of_an_fmu() {
        assert_eq!(Truth::<u8>::from_number(1.0).map(|truth| truth.0), Some(1));
        assert!(Truth::<u8>::from_number(0.5).is_none() && Truth::<c_int>::from_number(2.0).is_none());
        assert_eq!([Truth(0_u8).number(), Truth(7_u8).number()], [Some(0.0), Some(1.0)]);
    }
}
