//! Reads FMUs or bare modelDescription.xml files and prints what they are and what is wrong with them.
//!
//! `cargo run --package costep-fmu-file --example check -- FILE...`

use std::fs::File;
use std::path::Path;
use std::process::ExitCode;

use costep_core::Result;
use costep_fmu_file::{Causality, Finding, Fmu, Limits, ModelDescription, Severity, validate};

fn main() -> ExitCode {
    let mut failed = false;
    for path in std::env::args().skip(1) {
        let path = Path::new(&path);
        match check(path) {
            Ok((description, findings)) => {
                let count = |causality| description.with_causality(causality).count();
                println!(
                    "{}: {} `{}`, {} variables, {} inputs, {} outputs, {} states",
                    path.display(),
                    description.fmi_version,
                    description.model_name,
                    description.variables().len(),
                    count(Causality::Input),
                    count(Causality::Output),
                    description.number_of_states()
                );
                for finding in &findings {
                    println!("  {finding}");
                }
                failed |= findings.iter().any(|finding| finding.severity == Severity::Error);
            }
            Err(error) => {
                println!("{}: {error}", path.display());
                failed = true;
            }
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn check(path: &Path) -> Result<(ModelDescription, Vec<Finding>)> {
    if path.extension().is_some_and(|extension| extension == "xml") {
        let file = File::open(path).map_err(|cause| {
            costep_core::Error::new(costep_core::Code::FileNotReadable, "cannot be opened").because(cause)
        })?;
        let description = ModelDescription::read(file, path, &Limits::default())?;
        let findings = validate(&description);
        return Ok((description, findings));
    }
    let fmu = Fmu::open(path)?;
    Ok((fmu.description().clone(), fmu.validate()))
}
