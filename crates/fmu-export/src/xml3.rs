//! modelDescription.xml of FMI 3.0.

use std::fmt;

use costep_fmu_runtime::{Capability, Role};

use crate::description::{Document, numbers};
use crate::variables::Unknown;

/// Writes the root element.
pub(crate) fn write(document: &Document<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (sheet, options) = (document.sheet, document.options);
    writeln!(
        f,
        "<fmiModelDescription fmiVersion=\"3.0\" instantiationToken=\"{}\" {}>",
        document.token,
        document.root()
    )?;
    let (state, derivatives) =
        (document.can(Capability::State), document.can(Capability::DirectionalDerivatives));
    let common = format!(
        "modelIdentifier=\"{}\" canGetAndSetFMUState=\"{state}\" canSerializeFMUState=\"{state}\" \
         providesDirectionalDerivatives=\"{derivatives}\" providesAdjointDerivatives=\"{derivatives}\"",
        sheet.identifier
    );
    if options.model_exchange {
        writeln!(f, "  <ModelExchange {common} needsCompletedIntegratorStep=\"false\"/>")?;
    }
    let intermediate = document.can(Capability::Intermediate);
    if options.co_simulation {
        let inner = sheet.inner_step.map(|step| format!(" fixedInternalStepSize=\"{step:?}\""));
        let varies = document.can(Capability::VariableStep);
        let handles = format!("canHandleVariableCommunicationStepSize=\"{varies}\"");
        let inner = inner.unwrap_or_default();
        writeln!(
            f,
            "  <CoSimulation {common} {handles}{inner} providesIntermediateUpdate=\"{intermediate}\"/>"
        )?;
    }
    document.units(f)?;
    writeln!(f, "  <LogCategories><Category name=\"logStatusError\"/></LogCategories>")?;
    document.experiment(f)?;
    writeln!(f, "  <ModelVariables>")?;
    for variable in &sheet.variables {
        let derivative = match variable.role {
            Role::Derivative => sheet.index(Role::State, variable.place),
            _ => None,
        };
        let reference = |index: usize| sheet.variables[index].reference;
        let derivative =
            derivative.map_or(String::new(), |state| format!(" derivative=\"{}\"", reference(state)));
        let exchanged = intermediate && (variable.is_output || variable.role == Role::Input);
        let exchanged = if exchanged { " intermediateUpdate=\"true\"" } else { "" };
        let (head, value) = (document.head(variable), document.value(variable));
        writeln!(f, "    <Float64 {head}{value}{derivative}{exchanged}/>")?;
    }
    writeln!(f, "  </ModelVariables>\n  <ModelStructure>")?;
    unknowns(document, f, "Output", &sheet.outputs())?;
    unknowns(document, f, "ContinuousStateDerivative", &sheet.derivatives())?;
    unknowns(document, f, "InitialUnknown", &sheet.initial_unknowns())?;
    writeln!(f, "  </ModelStructure>")?;
    if let Some(solver) = document.solver() {
        writeln!(f, "  <Annotations><Annotation type=\"costep\">{solver}</Annotation></Annotations>")?;
    }
    writeln!(f, "</fmiModelDescription>")
}

fn unknowns(
    document: &Document<'_>,
    f: &mut fmt::Formatter<'_>,
    element: &str,
    list: &[Unknown],
) -> fmt::Result {
    let reference = |index: usize| u64::from(document.sheet.variables[index].reference);
    for unknown in list {
        let depends = numbers(unknown.depends.iter().map(|index| reference(*index)));
        let own = reference(unknown.variable);
        writeln!(f, "    <{element} valueReference=\"{own}\" dependencies=\"{depends}\"/>")?;
    }
    Ok(())
}
