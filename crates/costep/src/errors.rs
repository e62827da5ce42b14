//! Several errors as one.

use std::fmt;

use costep_core::{Code, Error};

/// One or more errors: all mistakes of a system are reported at once.
///
/// ```
/// let errors = costep::System::open("dual-mas").err().unwrap();
/// assert_eq!(errors.first().code(), costep::Code::UnknownModel);
/// assert!(errors.first().help().contains("did you mean `dual-mass`?"));
/// ```
#[derive(Clone)]
pub struct Errors {
    first: Error,
    others: Vec<Error>,
}

impl Errors {
    /// The first: its exit class is that of the whole.
    pub fn first(&self) -> &Error {
        &self.first
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Error> {
        std::iter::once(&self.first).chain(&self.others)
    }
}

impl From<Error> for Errors {
    fn from(first: Error) -> Self {
        Self { first, others: Vec::new() }
    }
}

impl From<Vec<Error>> for Errors {
    fn from(errors: Vec<Error>) -> Self {
        let mut errors = errors.into_iter();
        let first = errors.next().unwrap_or_else(|| Error::new(Code::Bug, "a refusal without a reason"));
        Self { first, others: errors.collect() }
    }
}

impl From<Errors> for Vec<Error> {
    fn from(errors: Errors) -> Self {
        std::iter::once(errors.first).chain(errors.others).collect()
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.first.fmt(f)?;
        self.others.iter().try_for_each(|error| write!(f, "\n{error}"))
    }
}

/// The same text, so that `main` may return it.
impl fmt::Debug for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl std::error::Error for Errors {}
