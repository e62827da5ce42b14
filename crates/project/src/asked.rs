//! Who asked for what turns out to be impossible only when the parts are there: a line of the project, or an option.

use costep_core::{Code, Error, Place};
use costep_methods::MethodSpec;

use crate::document::Origin;
use crate::problems::Problems;
use crate::project::Project;

/// A line of the project or an option of the command line.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Asker {
    place: Place,
    /// `given by ...`
    words: Option<String>,
}

/// What needs something of the parts, with who asked for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Asked {
    /// Methods by their labels: another one may be chosen since.
    pub(crate) methods: Vec<(String, Asker)>,
    /// Steps that vary.
    pub(crate) control: Option<Asker>,
}

impl Asker {
    /// Nobody if it is a default.
    pub(crate) fn of(origin: Origin, problems: &Problems<'_>) -> Option<Self> {
        if matches!(origin, Origin::Nowhere) {
            return None;
        }
        let placed = problems.placed(origin, Error::new(Code::NeedsMissing, ""));
        let details = placed.details();
        Some(Self { place: details.place.clone(), words: details.cause.clone() })
    }

    fn named(&self, error: Error) -> Error {
        let causes: Vec<String> =
            [error.details().cause.clone(), self.words.clone()].into_iter().flatten().collect();
        let error = error.at(self.place.clone());
        if causes.is_empty() { error } else { error.because(causes.join("; ")) }
    }
}

impl Project {
    /// An error of parts that lack what this method or the control of steps needs, with the line or option that asked for it.
    pub fn say_who_asked(&self, error: Error, method: &MethodSpec) -> Error {
        let details = error.details();
        let is_missing = matches!(details.code, Code::NeedsMissing | Code::ControlNeeds);
        if !is_missing || details.place != Place::Nowhere {
            return error;
        }
        let about_control = details.code == Code::ControlNeeds
            || self.control.is_some()
                && ["length", "steps"].iter().any(|word| details.message.contains(word));
        let others = self.groups.iter().skip(1).map(|group| &group.method);
        let methods = std::iter::once(method).chain(others);
        let asker = match about_control {
            true => self.origin.asked.control.as_ref(),
            false => methods.filter(|method| needs_something(method)).find_map(|method| {
                let label = method.label();
                self.origin.asked.methods.iter().find(|(known, _)| *known == label).map(|(_, asker)| asker)
            }),
        };
        match asker {
            Some(asker) => asker.named(error),
            None => error,
        }
    }
}

/// Whether a method asks parts for more than steps under held inputs.
fn needs_something(method: &MethodSpec) -> bool {
    costep_methods::monolithic::is_monolithic(method) || !method.build().request().only_holds()
}
