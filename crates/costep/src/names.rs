//! Signals by their names.

use costep_core::{Code, Description, Error, Port, Result};

/// The names of all signals of a system, `part.port`, in the order of the stacked vectors.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    pub(crate) outputs: Vec<String>,
    pub(crate) inputs: Vec<String>,
}

impl Names {
    pub(crate) fn new<'a>(descriptions: impl Iterator<Item = &'a Description> + Clone) -> Self {
        let names = |ports: fn(&Description) -> &[Port]| {
            let all = descriptions.clone().flat_map(move |description| {
                ports(description).iter().map(move |port| format!("{}.{}", description.name, port.name))
            });
            all.collect()
        };
        Self {
            outputs: names(|description| &description.outputs),
            inputs: names(|description| &description.inputs),
        }
    }

    /// Where an output is in y.
    pub(crate) fn output(&self, name: &str) -> Result<usize> {
        index(&self.outputs, name, "output")
    }

    /// Where an input is in u.
    pub(crate) fn input(&self, name: &str) -> Result<usize> {
        index(&self.inputs, name, "input")
    }
}

fn index(names: &[String], name: &str, what: &str) -> Result<usize> {
    names.iter().position(|known| known == name).ok_or_else(|| {
        Error::new(Code::UnknownName, format!("there is no {what} `{name}`"))
            .suggest(name, names.iter().map(String::as_str))
    })
}
