//! What happens to a value on its way from one connector to the next: first the conversion of units, then the
//! transformation.

use costep_core::{Error, Result};
use costep_fmu_file::{Conversion, Unit, short};

use crate::model::{Passage, Transformation, Value};

/// A unit on the way: that of the last connector that has one.
pub(super) type Carried = Option<Unit>;

/// The conversion on a passage, and the unit after it. A connector without a unit takes over the unit of what
/// arrives, unless conversion is suppressed: then nobody knows it any more.
pub(super) fn conversion(
    passage: &Passage,
    carried: &Carried,
    target: &Carried,
) -> Result<(Conversion, Carried)> {
    if passage.suppress_conversion {
        return Ok((Conversion::IDENTITY, target.clone()));
    }
    match (carried, target) {
        (Some(from), Some(to)) => Ok((Conversion::between(from, to, false)?, target.clone())),
        (Some(_), None) => Ok((Conversion::IDENTITY, carried.clone())),
        (None, _) => Ok((Conversion::IDENTITY, target.clone())),
    }
}

/// `factor` * x + `offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Affine {
    pub(super) factor: f64,
    pub(super) offset: f64,
}

impl Affine {
    pub(super) const IDENTITY: Self = Self { factor: 1.0, offset: 0.0 };

    /// This map, then another one.
    pub(super) fn then(self, factor: f64, offset: f64) -> Self {
        if factor == 1.0 && offset == 0.0 {
            return self;
        }
        Self { factor: factor * self.factor, offset: factor * self.offset + offset }
    }
}

/// Converts the value of a parameter.
pub(super) fn convert(value: Value, conversion: &Conversion) -> Value {
    match value {
        Value::Real(values) if !conversion.is_identity() => {
            Value::Real(values.into_iter().map(|value| conversion.apply(value)).collect())
        }
        // Integers have no units.
        value => value,
    }
}

/// Transforms the value of a parameter; the error says why that is not possible.
pub(super) fn transform(
    value: Value,
    transformation: &Transformation,
    items: &[(String, i64)],
) -> Result<Value, String> {
    fn mapped<T: PartialEq + Clone>(values: Vec<T>, entries: &[(T, T)]) -> Vec<T> {
        let one = |value: T| {
            let entry = entries.iter().find(|(source, _)| *source == value);
            entry.map_or(value, |(_, target)| target.clone())
        };
        values.into_iter().map(one).collect()
    }
    match (value, transformation) {
        (Value::Real(values), Transformation::Linear { factor, offset }) => {
            Ok(Value::Real(values.into_iter().map(|value| factor * value + offset).collect()))
        }
        (Value::Boolean(values), Transformation::Boolean(entries)) => {
            Ok(Value::Boolean(mapped(values, entries)))
        }
        (Value::Integer(values), Transformation::Integer(entries)) => {
            Ok(Value::Integer(mapped(values, entries)))
        }
        (Value::Text(values), Transformation::Enumeration(entries)) => {
            Ok(Value::Text(mapped(values, entries)))
        }
        (Value::Text(names), Transformation::Integer(entries)) => {
            let number = |name: &String| {
                let item = items.iter().find(|(item, _)| item == name);
                item.map(|(_, value)| *value)
                    .ok_or_else(|| format!("the number of the item `{}` is not known", short(name)))
            };
            let numbers = names.iter().map(number).collect::<Result<_, _>>()?;
            Ok(Value::Integer(mapped(numbers, entries)))
        }
        _ => Err("the transformation does not fit the type of the value".into()),
    }
}

/// A value on its way to a port.
pub(super) fn pass(
    value: Value,
    carried: &Carried,
    passage: &Passage,
    target: &Carried,
    items: &[(String, i64)],
) -> Result<(Value, Carried), PassError> {
    if let (Value::Real(_), false, Some(given), Some(wanted)) =
        (&value, passage.suppress_conversion, carried, target)
        && given.base.is_none()
        && given.name != wanted.name
    {
        return Err(PassError::Type(format!(
            "the unit `{}` has no definition in <Units> of the parameter set, without which it cannot be converted to \
             `{}`: define it, or give the value in `{1}`",
            short(&given.name),
            short(&wanted.name)
        )));
    }
    let (conversion, carried) = conversion(passage, carried, target).map_err(PassError::Units)?;
    let value = convert(value, &conversion);
    match &passage.transformation {
        Some(transformation) => {
            transform(value, transformation, items).map(|value| (value, carried)).map_err(PassError::Type)
        }
        None => Ok((value, carried)),
    }
}

/// Why a value cannot be passed on.
pub(super) enum PassError {
    Units(Error),
    Type(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_joined_in_order() {
        let joined = Affine::IDENTITY.then(2.0, 1.0).then(3.0, -1.0);
        assert_eq!(joined, Affine { factor: 6.0, offset: 2.0 });
        assert_eq!(Affine::IDENTITY.then(1.0, 0.0), Affine::IDENTITY);
    }

    #[test]
    fn tables_keep_what_they_do_not_name() {
        let swap = Transformation::Integer(vec![(1, 2), (2, 1)]);
        let out = transform(Value::Integer(vec![1, 2, 3]), &swap, &[]);
        assert_eq!(out, Ok(Value::Integer(vec![2, 1, 3])));
        let items = [("off".to_owned(), 1), ("on".to_owned(), 5)];
        let out = transform(Value::Text(vec!["off".into(), "on".into()]), &swap, &items);
        assert_eq!(out, Ok(Value::Integer(vec![2, 5])));
        assert!(transform(Value::Real(vec![1.0]), &swap, &[]).is_err());
        let not = Transformation::Boolean(vec![(true, false)]);
        assert_eq!(
            transform(Value::Boolean(vec![true, false]), &not, &[]),
            Ok(Value::Boolean(vec![false, false]))
        );
    }
}
