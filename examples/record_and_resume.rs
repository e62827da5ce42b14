//! Records a run in a folder, stops it, and goes on later from its checkpoint with the same bits.

use std::time::Duration;

use costep::{Run, RunFolder, Simulation, System};

pub(crate) fn main() -> Result<(), costep::Errors> {
    let folder = std::env::temp_dir().join(format!("costep-example-{}", std::process::id()));
    let stopped = System::open("dual-mass")?
        .run(Run::new().record(folder.as_path()).time_limit(Some(Duration::ZERO)))?;
    println!("stopped at {} s, can be resumed: {}", stopped.to, stopped.can_be_resumed);

    let outcome = Simulation::resume(&RunFolder::lock(&folder)?, Run::new())?.complete()?;
    println!("{:?} at {} s", outcome.verdict(), outcome.to);
    if let Some(recorded) = &outcome.recorded {
        println!("{} rows in {}", recorded.rows, recorded.folder.display());
    }
    // It is only an example.
    let _ = std::fs::remove_dir_all(folder);
    Ok(())
}
