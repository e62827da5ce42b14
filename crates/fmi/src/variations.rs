//! How signals of an FMU change over time, where somebody knows better than its model description.

use costep_core::{Code, Description, Error, Port, PortKind, Result, Variation};

/// Signals that are continuous or discrete whatever the model description says, by the names of variables or
/// of elements of arrays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignalVariations {
    /// Coupling methods form them, with polynomials where the FMU takes them.
    pub continuous: Vec<String>,
    /// They keep their last value over a step, and so does every input that they feed.
    pub discrete: Vec<String>,
}

impl SignalVariations {
    /// Changes the ports of a subsystem.
    ///
    /// # Errors
    /// Names that are no port or stand for both; continuous signals that are not Float64 or, in Model
    /// Exchange, change at events only.
    pub fn apply(&self, description: &mut Description) -> Result<()> {
        for (names, variation) in
            [(&self.continuous, Variation::Continuous), (&self.discrete, Variation::Discrete)]
        {
            for name in names {
                change(description, name, variation)?;
            }
        }
        let both = self.continuous.iter().find(|name| self.discrete.contains(name));
        both.map_or(Ok(()), |name| {
            Err(Error::new(Code::Conflict, format!("`{name}` cannot be both continuous and discrete")))
        })
    }
}

fn change(description: &mut Description, name: &str, variation: Variation) -> Result<()> {
    let Description { inputs, outputs, .. } = description;
    let mut found = false;
    for (is_input, ports) in [(true, &mut *inputs), (false, &mut *outputs)] {
        for port in ports.iter_mut().filter(|port| stands_for(name, &port.name)) {
            found = true;
            if variation == Variation::Continuous {
                check_continuous(port, is_input)?;
            }
            port.variation = variation;
        }
    }
    if found {
        return Ok(());
    }
    let names = inputs.iter().chain(&*outputs).map(|port| port.name.as_str());
    Err(Error::new(Code::UnknownPort, format!("there is no input or output `{name}`")).suggest(name, names))
}

/// Whether a name is that of a port, or of the array it is an element of.
fn stands_for(name: &str, port: &str) -> bool {
    port.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
}

fn check_continuous(port: &Port, is_input: bool) -> Result<()> {
    let name = &port.name;
    let error = match port.kind {
        PortKind::Real if !is_input || port.variation != Variation::Discrete => return Ok(()),
        PortKind::Real => Error::new(Code::BadValue, format!("`{name}` cannot be continuous"))
            .because("it is not Float64, or an input of Model Exchange that changes at events only"),
        kind => Error::new(Code::BadValue, format!("`{name}` cannot be continuous"))
            .because(format!("its values are {kind}")),
    };
    Err(error.hint("leave it out"))
}
