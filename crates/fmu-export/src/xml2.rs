//! modelDescription.xml of FMI 2.0.

use std::fmt;

use costep_fmu_runtime::{Capability, MAX_ORDER, Role};

use crate::description::{Document, numbers};
use crate::variables::Unknown;

/// Writes the root element.
pub(crate) fn write(document: &Document<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (sheet, options) = (document.sheet, document.options);
    writeln!(
        f,
        "<fmiModelDescription fmiVersion=\"2.0\" guid=\"{}\" {} numberOfEventIndicators=\"0\">",
        document.token,
        document.root()
    )?;
    let state = document.can(Capability::State);
    let common = format!(
        "modelIdentifier=\"{}\" canNotUseMemoryManagementFunctions=\"true\" canGetAndSetFMUstate=\"{state}\" \
         canSerializeFMUstate=\"{state}\" providesDirectionalDerivative=\"{}\"",
        sheet.identifier,
        document.can(Capability::DirectionalDerivatives)
    );
    if options.model_exchange {
        writeln!(f, "  <ModelExchange {common} completedIntegratorStepNotNeeded=\"true\"/>")?;
    }
    if options.co_simulation {
        let interpolates = document.can(Capability::InputDerivatives);
        let varies = document.can(Capability::VariableStep);
        let handles = format!("canHandleVariableCommunicationStepSize=\"{varies}\"");
        writeln!(f, "  <CoSimulation {common} {handles} canInterpolateInputs=\"{interpolates}\"/>")?;
    }
    document.units(f)?;
    writeln!(f, "  <LogCategories><Category name=\"logStatusError\"/></LogCategories>")?;
    document.experiment(f)?;
    let interpolates = options.co_simulation && document.can(Capability::InputDerivatives);
    let inputs = interpolates.then(|| format!("<Inputs derivatives=\"{MAX_ORDER}\"/>"));
    let annotations: Vec<_> = document.solver().into_iter().chain(inputs).collect();
    if !annotations.is_empty() {
        // By the schema each entry of a tool holds one element.
        let entry = |annotation: &String| format!("<Tool name=\"costep\">{annotation}</Tool>");
        let entries: String = annotations.iter().map(entry).collect();
        writeln!(f, "  <VendorAnnotations>{entries}</VendorAnnotations>")?;
    }
    writeln!(f, "  <ModelVariables>")?;
    for variable in &sheet.variables {
        let derivative = match variable.role {
            Role::Derivative => sheet.index(Role::State, variable.place),
            _ => None,
        };
        let derivative = derivative.map_or(String::new(), |state| format!(" derivative=\"{}\"", state + 1));
        let (head, value) = (document.head(variable), document.value(variable));
        writeln!(f, "    <ScalarVariable {head}><Real{value}{derivative}/></ScalarVariable>")?;
    }
    writeln!(f, "  </ModelVariables>\n  <ModelStructure>")?;
    unknowns(f, "Outputs", &sheet.outputs())?;
    unknowns(f, "Derivatives", &sheet.derivatives())?;
    unknowns(f, "InitialUnknowns", &sheet.initial_unknowns())?;
    writeln!(f, "  </ModelStructure>\n</fmiModelDescription>")
}

/// A list of unknowns; variables are counted from 1.
fn unknowns(f: &mut fmt::Formatter<'_>, element: &str, list: &[Unknown]) -> fmt::Result {
    if list.is_empty() {
        return Ok(());
    }
    writeln!(f, "    <{element}>")?;
    for unknown in list {
        let depends = numbers(unknown.depends.iter().map(|index| *index as u64 + 1));
        writeln!(f, "      <Unknown index=\"{}\" dependencies=\"{depends}\"/>", unknown.variable + 1)?;
    }
    writeln!(f, "    </{element}>")
}
