//! Maps of integers and of items of enumerations on the way of a signal.

use costep_fmu_file::{Item, ModelDescription, short};

use crate::model::Transformation;

/// What happens to values of one kind on their way.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Exchange {
    /// They stay as they are.
    #[default]
    None,
    /// Numbers become others.
    Numbers(Vec<(i64, i64)>),
    /// Items become others, by their names.
    Names(Vec<(String, String)>),
}

impl Exchange {
    /// One after the other; nothing if they cannot be combined.
    pub(super) fn then(self, next: &Transformation) -> Option<Self> {
        match (self, next) {
            (Self::None, Transformation::Integer(entries)) => Some(Self::Numbers(entries.clone())),
            (Self::None, Transformation::Enumeration(entries)) => Some(Self::Names(entries.clone())),
            (Self::Numbers(first), Transformation::Integer(next)) => {
                Some(Self::Numbers(composed(first, next)))
            }
            (Self::Names(first), Transformation::Enumeration(next)) => {
                Some(Self::Names(composed(first, next)))
            }
            _ => None,
        }
    }

    /// Every item of an enumeration among two variables as its number, which stays.
    pub(super) fn of_items(ends: [(&ModelDescription, usize); 2]) -> Self {
        let same = |item: &Item| (item.value, item.value);
        let known =
            ends.map(|(fmu, variable)| items(fmu, variable)).into_iter().find(|items| !items.is_empty());
        known.map_or(Self::None, |items| Self::Numbers(items.iter().map(same).collect()))
    }

    /// As a map of numbers between two variables, or what is wrong with it.
    pub(super) fn numbers(
        &self,
        (from, output): (&ModelDescription, usize),
        (to, input): (&ModelDescription, usize),
    ) -> Result<Vec<(i64, i64)>, String> {
        let (sources, targets) = (items(from, output), items(to, input));
        match self {
            Self::None => Ok(Vec::new()),
            Self::Numbers(entries) => match entries.iter().find(|(_, target)| !takes(targets, *target)) {
                Some((_, target)) => {
                    Err(format!("{target} is not an item of the enumeration it is mapped to"))
                }
                None => Ok(entries.clone()),
            },
            Self::Names(entries) => by_names(entries, sources, targets),
        }
    }
}

/// Every item of the source as the number of an item of the target. Items that are not named keep their names.
fn by_names(
    entries: &[(String, String)],
    sources: &[Item],
    targets: &[Item],
) -> Result<Vec<(i64, i64)>, String> {
    if let Some((source, _)) =
        entries.iter().find(|(source, _)| sources.iter().all(|item| item.name != *source))
    {
        return Err(format!("`{}` is not an item of the enumeration that is mapped", short(source)));
    }
    let number = |source: &Item| {
        let name =
            entries.iter().find(|(name, _)| *name == source.name).map_or(&source.name, |(_, target)| target);
        let target = targets.iter().find(|item| item.name == *name);
        let target = target
            .ok_or_else(|| format!("`{}` is not an item of the enumeration it is mapped to", short(name)))?;
        Ok((source.value, target.value))
    };
    sources.iter().map(number).collect()
}

fn takes(items: &[Item], value: i64) -> bool {
    items.is_empty() || items.iter().any(|item| item.value == value)
}

fn items(fmu: &ModelDescription, variable: usize) -> &[Item] {
    let declared = fmu.variables()[variable].declared_type.and_then(|index| fmu.types.get(index));
    declared.map_or(&[], |declared| &declared.items)
}

/// One map after another. Values that a map does not name stay.
fn composed<T: Clone + PartialEq>(first: Vec<(T, T)>, next: &[(T, T)]) -> Vec<(T, T)> {
    let image = |value: &T| {
        next.iter().find(|(source, _)| source == value).map_or(value, |(_, target)| target).clone()
    };
    let mut all: Vec<(T, T)> = first.iter().map(|(source, target)| (source.clone(), image(target))).collect();
    all.extend(next.iter().filter(|(source, _)| first.iter().all(|(other, _)| other != source)).cloned());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_follow_each_other() {
        let both = composed(vec![(1, 2), (2, 3)], &[(2, 5), (7, 8)]);
        assert_eq!(both, [(1, 5), (2, 3), (7, 8)]);
        let numbers = Exchange::None.then(&Transformation::Integer(vec![(1, 2)])).unwrap();
        assert!(numbers.then(&Transformation::Enumeration(Vec::new())).is_none());
    }

    #[test]
    fn items_keep_their_names_not_their_numbers() {
        let item = |name: &str, value| Item { name: name.into(), value, description: None };
        let (sources, targets) = ([item("a", 1), item("b", 2)], [item("b", 7), item("c", 9)]);
        let entries = [("a".to_owned(), "c".to_owned())];
        assert_eq!(by_names(&entries, &sources, &targets).unwrap(), [(1, 9), (2, 7)]);
        assert!(by_names(&[], &sources, &targets).unwrap_err().contains("`a`"));
        assert!(by_names(&[("x".into(), "c".into())], &sources, &targets).unwrap_err().contains("`x`"));
    }
}
