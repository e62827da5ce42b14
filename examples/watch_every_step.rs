//! An observer sees every step: it shows progress and ends the run when it has seen enough. Another thread
//! may end a run too.

use std::thread;

use costep::{Cancel, Code, Flow, Run, System};

pub(crate) fn main() -> Result<(), costep::Errors> {
    let system = System::open("chain")?;
    let mut worst = 0.0_f64;
    let outcome = system.run_with(Run::new(), &mut |step| {
        worst = worst.max(step.coupling_error());
        if step.number().is_multiple_of(100) {
            println!("{:3.0} %   t = {} s", 100.0 * step.progress(), step.time());
        }
        Ok(if step.progress() < 0.5 { Flow::Continue } else { Flow::Stop })
    })?;
    println!("stopped at {} s, coupling error up to {worst:.1e}", outcome.to);

    // A simulation is `Send`: it runs elsewhere, and is ended from here.
    let cancel = Cancel::new();
    let simulation = system.start(Run::new().stop(1e4).without_results().cancel(&cancel))?;
    let run = thread::spawn(move || simulation.complete());
    cancel.raise();
    if let Ok(outcome) = run.join() {
        let outcome = outcome?;
        assert_eq!(outcome.error().map(|error| error.code()), Some(Code::Stopped));
        println!("cancelled at {} s", outcome.to);
    }
    Ok(())
}
