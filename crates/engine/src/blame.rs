//! Whose fault it is that a subsystem could not be stepped: its own, or that of signals that have run away.

use costep_core::{Code, Coupling, Description, Error, InputSegment};

/// A coupled input this many times beyond its nominal value has run away, if the subsystem fails under it.
const FAR: f64 = 10.0;

/// Turns a failure to integrate under coupled inputs that have run away into a diverged run: a solver with error control
/// gives up long before signals overflow.
#[cold]
pub(crate) fn blame(
    error: Error,
    description: &Description,
    input: InputSegment<'_>,
    (coupling, first): (&Coupling, usize),
    h: f64,
) -> Error {
    // An end that a subsystem asks for may be the answer to inputs that nothing could cope with.
    if !matches!(error.code(), Code::StepTooSmall | Code::NotFinite | Code::FmuEnds) {
        return error;
    }
    let far = description.inputs.iter().enumerate().find_map(|(j, port)| {
        let nominal = port.nominal.filter(|nominal| *nominal != 0.0)?.abs();
        let start = input.coefficients(0)[j];
        // The end of the step, or its start if that is farther.
        let end = (0..=input.order()).rev().fold(0.0, |sum, a| sum * h + input.coefficients(a)[j]);
        let value = if end.abs() > start.abs() { end } else { start };
        let is_coupled = coupling.sources(first + j).next().is_some();
        (is_coupled && value.abs() > FAR * nominal).then_some((&port.name, value, nominal))
    });
    let Some((port, value, nominal)) = far else { return error };
    let details = error.details();
    let cause = match &details.cause {
        Some(cause) => format!("{}: {cause}", details.message),
        None => details.message.clone(),
    };
    let message = format!(
        "`{}.{port}` = {value:e} is far beyond its nominal value {nominal:e}, and its subsystem fails under it: \
         the run diverged",
        description.name
    );
    Error::new(Code::Diverged, message)
        .because(cause)
        .hint("try a smaller step or another method: `costep compare`")
}
