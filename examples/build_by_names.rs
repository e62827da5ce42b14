//! Builds a system in code: parts, connections, external inputs and settings by names. All mistakes are
//! reported at once.

use costep::{External, Run, System};

pub(crate) fn main() -> Result<(), costep::Errors> {
    let system = System::builder()
        .name("rig")
        .model("left", "dual-mass", "s1")
        .model("right", "dual-mass", "s2")
        .connect("left.x", "right.x")
        .connect("left.v", "right.v")
        // Two sources of one input are added up, if both say so.
        .add_connection("right.F", "left.F", 1.0)
        .add_external("left.F", External::Step { value: 10.0, start: 0.1 })
        .bounds("left.x", -10.0, 10.0)
        .method("predictive")
        .stop(0.5)
        .step(2e-3)
        .build()?;
    let outcome = system.run(Run::new())?;
    println!("{:?} after {} macro steps", outcome.verdict(), outcome.report.work.macro_steps);
    // The same system as a project file.
    println!("{}", system.to_toml());

    let wrong = System::builder().model("left", "dual-mass", "s3").connect("left.x", "nowhere.u").build();
    if let Err(errors) = wrong {
        println!("{errors}");
    }
    Ok(())
}
