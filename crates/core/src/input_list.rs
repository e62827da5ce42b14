//! Lists of inputs that are shared by all that have the same.

use std::ops::Deref;
use std::sync::Arc;

/// The inputs that an output depends on without delay. Where a description of a subsystem says nothing, all outputs
/// depend on all inputs: then they share one list, whose copies would take memory by the square of the signals.
///
/// ```
/// use costep_core::InputList;
/// let list: InputList = vec![0, 2].into();
/// assert!(list.contains(&2) && list.clone().shares(&list));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputList(Option<Arc<[usize]>>);

impl InputList {
    /// Of no input.
    pub const NONE: Self = Self(None);

    /// Whether two are one and the same in memory.
    pub fn shares(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(two)) => Arc::ptr_eq(one, two),
            (None, None) => true,
            _ => false,
        }
    }
}

impl Deref for InputList {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl From<Vec<usize>> for InputList {
    fn from(inputs: Vec<usize>) -> Self {
        if inputs.is_empty() { Self::NONE } else { Self(Some(inputs.into())) }
    }
}

impl<const N: usize> From<[usize; N]> for InputList {
    fn from(inputs: [usize; N]) -> Self {
        inputs.to_vec().into()
    }
}

impl From<&[usize]> for InputList {
    fn from(inputs: &[usize]) -> Self {
        inputs.to_vec().into()
    }
}

impl FromIterator<usize> for InputList {
    fn from_iter<I: IntoIterator<Item = usize>>(inputs: I) -> Self {
        inputs.into_iter().collect::<Vec<_>>().into()
    }
}

impl<'a> IntoIterator for &'a InputList {
    type Item = &'a usize;
    type IntoIter = std::slice::Iter<'a, usize>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl PartialEq<Vec<usize>> for InputList {
    fn eq(&self, other: &Vec<usize>) -> bool {
        **self == **other
    }
}

impl PartialEq<InputList> for Vec<usize> {
    fn eq(&self, other: &InputList) -> bool {
        **self == **other
    }
}

impl<const N: usize> PartialEq<[usize; N]> for InputList {
    fn eq(&self, other: &[usize; N]) -> bool {
        **self == *other
    }
}
