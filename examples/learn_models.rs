//! Learns models of the parts by a run, as a file that other runs start from.

use costep::{Run, System};

pub(crate) fn main() -> Result<(), costep::Errors> {
    let system = System::open("dual-mass")?;
    let models = system.identify(Run::new())?;
    for model in &models.models {
        println!("{}: inputs {}, outputs {}", model.part, model.inputs.join(", "), model.outputs.join(", "));
    }
    let file = std::env::temp_dir().join(format!("costep-models-{}.toml", std::process::id()));
    let written = std::fs::write(&file, models.to_toml()?);
    if written.is_ok() {
        let outcome = system.run(Run::new().method(format!("identified:file={}", file.display())))?;
        println!("{:?}", outcome.verdict());
        let _ = std::fs::remove_file(file);
    }
    Ok(())
}
