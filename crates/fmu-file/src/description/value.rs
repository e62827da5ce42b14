//! Start values and bounds with the types they have.

use crate::description::enumerations::VariableType;
use crate::finding::Report;
use crate::xml::{Element, Literal};

/// Values of one type, in row-major order if they are those of an array.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Of [`VariableType::Float32`].
    Float32(Vec<f32>),
    /// Of [`VariableType::Float64`].
    Float64(Vec<f64>),
    /// Of [`VariableType::Int8`].
    Int8(Vec<i8>),
    /// Of [`VariableType::UInt8`].
    UInt8(Vec<u8>),
    /// Of [`VariableType::Int16`].
    Int16(Vec<i16>),
    /// Of [`VariableType::UInt16`].
    UInt16(Vec<u16>),
    /// Of [`VariableType::Int32`].
    Int32(Vec<i32>),
    /// Of [`VariableType::UInt32`].
    UInt32(Vec<u32>),
    /// Of [`VariableType::Int64`].
    Int64(Vec<i64>),
    /// Of [`VariableType::UInt64`].
    UInt64(Vec<u64>),
    /// Of [`VariableType::Boolean`].
    Boolean(Vec<bool>),
    /// Of [`VariableType::String`].
    String(Vec<String>),
    /// Of [`VariableType::Binary`].
    Binary(Vec<Vec<u8>>),
    /// Of [`VariableType::Enumeration`], in all versions of FMI.
    Enumeration(Vec<i64>),
}

/// Applies the same expression to the vector of any variant.
macro_rules! each {
    ($values:expr, $vector:ident => $result:expr) => {
        match $values {
            Values::Float32($vector) => $result,
            Values::Float64($vector) => $result,
            Values::Int8($vector) => $result,
            Values::UInt8($vector) => $result,
            Values::Int16($vector) => $result,
            Values::UInt16($vector) => $result,
            Values::Int32($vector) => $result,
            Values::UInt32($vector) => $result,
            Values::Int64($vector) => $result,
            Values::UInt64($vector) => $result,
            Values::Boolean($vector) => $result,
            Values::String($vector) => $result,
            Values::Binary($vector) => $result,
            Values::Enumeration($vector) => $result,
        }
    };
}

impl Values {
    /// Number of values.
    pub fn len(&self) -> usize {
        each!(self, values => values.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// As many values as an array has elements: a single one stands for all. Nothing if the number does not
    /// fit.
    pub fn expanded(mut self, elements: usize) -> Option<Self> {
        fn expand<T: Clone>(values: &mut Vec<T>, elements: usize) -> bool {
            if let [only] = values.as_slice() {
                *values = vec![only.clone(); elements];
            }
            values.len() == elements
        }
        each!(&mut self, values => expand(values, elements)).then_some(self)
    }

    /// A value as a number, a Boolean as 0 or 1; nothing for text and bytes, and where there is none.
    pub fn number(&self, index: usize) -> Option<f64> {
        match self {
            Self::Boolean(values) => values.get(index).map(|value| f64::from(u8::from(*value))),
            _ => self.get(index).map(Number::to_f64),
        }
    }

    /// The values with the other sign, a Boolean turned over; others as they are. The smallest integer has
    /// none.
    pub(crate) fn negated(self) -> Option<Self> {
        Some(match self {
            Self::Float64(v) => Self::Float64(v.into_iter().map(|x| -x).collect()),
            Self::Int32(v) => Self::Int32(v.into_iter().map(i32::checked_neg).collect::<Option<_>>()?),
            Self::Boolean(v) => Self::Boolean(v.into_iter().map(|x| !x).collect()),
            other => other,
        })
    }

    /// The first value for which something is true; nothing for text, bytes and Booleans.
    pub(crate) fn find(&self, test: impl Fn(Number) -> bool) -> Option<Number> {
        self.numbers()?.find(|number| test(*number))
    }

    /// All values without loss; nothing for text, bytes and Booleans.
    pub(crate) fn numbers(&self) -> Option<impl Iterator<Item = Number>> {
        let are_numbers = !matches!(self, Self::Boolean(_) | Self::String(_) | Self::Binary(_));
        are_numbers.then(|| (0..self.len()).filter_map(|index| self.get(index)))
    }

    /// A value without loss; nothing for text, bytes and Booleans.
    fn get(&self, index: usize) -> Option<Number> {
        fn integer<T: Copy + Into<i128>>(values: &[T], index: usize) -> Option<Number> {
            values.get(index).map(|value| Number::Integer((*value).into()))
        }
        match self {
            Self::Float32(v) => v.get(index).map(|value| Number::Float((*value).into())),
            Self::Float64(v) => v.get(index).copied().map(Number::Float),
            Self::Int8(v) => integer(v, index),
            Self::UInt8(v) => integer(v, index),
            Self::Int16(v) => integer(v, index),
            Self::UInt16(v) => integer(v, index),
            Self::Int32(v) => integer(v, index),
            Self::UInt32(v) => integer(v, index),
            Self::Int64(v) | Self::Enumeration(v) => integer(v, index),
            Self::UInt64(v) => integer(v, index),
            Self::Boolean(_) | Self::String(_) | Self::Binary(_) => None,
        }
    }

    /// The attribute `name` of an element as values of a type. Text, bytes and clocks have none there.
    pub(crate) fn read(
        element: &Element,
        name: &str,
        kind: VariableType,
        report: &mut Report,
    ) -> Option<Self> {
        Some(match kind {
            VariableType::Float32 => Self::Float32(element.list(name, report)?),
            VariableType::Float64 => Self::Float64(element.list(name, report)?),
            VariableType::Int8 => Self::Int8(element.list(name, report)?),
            VariableType::UInt8 => Self::UInt8(element.list(name, report)?),
            VariableType::Int16 => Self::Int16(element.list(name, report)?),
            VariableType::UInt16 => Self::UInt16(element.list(name, report)?),
            VariableType::Int32 => Self::Int32(element.list(name, report)?),
            VariableType::UInt32 => Self::UInt32(element.list(name, report)?),
            VariableType::Int64 => Self::Int64(element.list(name, report)?),
            VariableType::UInt64 => Self::UInt64(element.list(name, report)?),
            VariableType::Boolean => Self::Boolean(element.list(name, report)?),
            VariableType::Enumeration => Self::Enumeration(element.list(name, report)?),
            VariableType::String | VariableType::Binary | VariableType::Clock => return None,
        })
    }
}

/// A number of any numeric type without loss.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub enum Number {
    /// Of a `Float32` or `Float64`.
    Float(f64),
    /// Of any integer type or an enumeration.
    Integer(i128),
}

impl Number {
    /// The nearest Float64 value.
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Float(value) => value,
            Self::Integer(value) => value as f64,
        }
    }

    /// Whether it is certainly smaller. NaN and numbers of different kinds are not.
    pub(crate) fn is_below(self, other: Self) -> bool {
        match (self, other) {
            (Self::Float(a), Self::Float(b)) => a < b,
            (Self::Integer(a), Self::Integer(b)) => a < b,
            _ => false,
        }
    }

    /// The attribute `name` as one number of a type. Types without an order have none.
    pub(crate) fn read(
        element: &Element,
        name: &str,
        kind: VariableType,
        report: &mut Report,
    ) -> Option<Self> {
        fn integer<T: Literal + Into<i128>>(
            element: &Element,
            name: &str,
            report: &mut Report,
        ) -> Option<Number> {
            element.read::<T>(name, report).map(|value| Number::Integer(value.into()))
        }
        match kind {
            VariableType::Float32 => element.read::<f32>(name, report).map(|x| Self::Float(x.into())),
            VariableType::Float64 => element.read(name, report).map(Self::Float),
            VariableType::Int8 => integer::<i8>(element, name, report),
            VariableType::UInt8 => integer::<u8>(element, name, report),
            VariableType::Int16 => integer::<i16>(element, name, report),
            VariableType::UInt16 => integer::<u16>(element, name, report),
            VariableType::Int32 => integer::<i32>(element, name, report),
            VariableType::UInt32 => integer::<u32>(element, name, report),
            VariableType::Int64 | VariableType::Enumeration => integer::<i64>(element, name, report),
            VariableType::UInt64 => integer::<u64>(element, name, report),
            VariableType::Boolean | VariableType::String | VariableType::Binary | VariableType::Clock => None,
        }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            // Hundreds of zeros help nobody.
            Self::Float(value) if *value != 0.0 && !(1e-5..1e16).contains(&value.abs()) => {
                write!(f, "{value:e}")
            }
            Self::Float(value) => value.fmt(f),
            Self::Integer(value) => value.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_value_stands_for_all_elements() {
        assert_eq!(Values::Float64(vec![2.0]).expanded(3), Some(Values::Float64(vec![2.0; 3])));
        let three = Values::Int8(vec![1, 2, 3]);
        assert_eq!(three.clone().expanded(3), Some(three.clone()));
        assert_eq!(three.expanded(2), None);
        assert_eq!(Values::String(vec!["a".into()]).expanded(0), Some(Values::String(vec![])));
    }

    #[test]
    fn numbers_of_64_bits_are_compared_without_loss() {
        let [max, below] = [u64::MAX, u64::MAX - 1].map(|x| Number::Integer(x.into()));
        assert!(below.is_below(max));
        assert!(!Number::Float(f64::NAN).is_below(Number::Float(0.0)));
    }
}
