//! What annotations for costep say about an FMU for Co-Simulation: its solver, and the inputs it takes.
//!
//! ```text
//! FMI 2  <VendorAnnotations><Tool name="costep"><Solver .../></Tool></VendorAnnotations>
//! FMI 3  <Annotations><Annotation type="costep"><Solver .../></Annotation></Annotations>
//!        <Solver method="explicit-euler" step="1e-5" parameter="micro_step"/>
//! FMI 2  <VendorAnnotations><Tool name="costep"><Inputs derivatives="6"/></Tool></VendorAnnotations>
//! ```
//!
//! A communication step is divided into the least number of equal Euler steps that are not longer than `step`, or than
//! the value of the variable `parameter`, where there is one. A fixed inner step alone (`fixedInternalStepSize` of FMI 3)
//! does not say by which formula the FMU steps, so nothing is concluded from it. `derivatives` is the highest order of
//! input derivatives that the FMU evaluates, for which FMI 2 has no attribute. By its schema a `Tool` holds one element, so there
//! may be several of them.

use costep_core::Code;

use crate::description::builder::Builder;
use crate::text::short;
use crate::xml::{Element, Flaw};

/// Inner steps beyond these, in s, are mistakes.
const STEPS: std::ops::RangeInclusive<f64> = 1e-12..=1e6;

/// What annotations for costep say about an FMU for Co-Simulation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Annotations {
    /// How it solves its equations.
    pub solver: Option<StatedSolver>,
    /// Highest order of input derivatives that it takes.
    pub input_derivatives: Option<usize>,
}

/// Explicit Euler steps of an FMU.
#[derive(Clone, Debug, PartialEq)]
pub struct StatedSolver {
    /// Length of the steps in s.
    pub step: f64,
    /// Name of the variable that holds the length.
    pub parameter: Option<String>,
}

/// Reads annotations, elements of this name with our name in this attribute. Those of others are skipped.
pub(crate) fn read(
    parent: &Element,
    builder: &mut Builder<'_>,
    (entry, owner): (&str, &str),
) -> Result<(), Flaw> {
    for element in parent.children() {
        if element.tag() != entry || element.get(owner) != Some("costep") {
            continue;
        }
        for element in element.children() {
            match element.tag() {
                "Solver" => builder.description.annotations.solver = solver(&element, builder),
                "Inputs" => {
                    let order: Option<u32> = element.read("derivatives", &mut builder.report);
                    builder.description.annotations.input_derivatives = order.map(|order| order as usize);
                }
                _ => {}
            }
        }
    }
    Ok(())
}

fn solver(element: &Element, builder: &mut Builder<'_>) -> Option<StatedSolver> {
    let method = element.get("method").unwrap_or_default();
    let step = element.read::<f64>("step", &mut builder.report);
    match step {
        Some(step) if method == "explicit-euler" && STEPS.contains(&step) => {
            Some(StatedSolver { step, parameter: element.string("parameter") })
        }
        _ => {
            let message = format!("the annotation on the solver `{}` is not understood", short(method));
            builder.report.warning(Code::FmuSchema, element.line(), message);
            None
        }
    }
}
