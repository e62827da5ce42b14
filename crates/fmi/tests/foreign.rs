//! Third-party FMUs, by hand: `COSTEP_FMUS=a.fmu:b.fmu cargo test -p costep-fmi --test foreign -- --ignored --nocapture`.
//! Runs each over a hundred steps and prints what came out. With `COSTEP_SOLVER=dopri5:1e-8` they are integrated, if they
//! are for Model Exchange.

use costep_core::{Capabilities, Experiment, InputPolynomials, Result, Subsystem};
use costep_fmi::{
    CoSimulationOptions, CoSimulationSubsystem, FmuLibrary, ModelExchangeOptions, ModelExchangeSubsystem,
};
use costep_fmu_file::{Fmu, Use};
use costep_integrate::Solver;

fn run(path: &std::path::Path) -> Result<String> {
    let logging = std::env::var_os("COSTEP_LOG").map(|_| true);
    if let Ok(solver) = std::env::var("COSTEP_SOLVER") {
        let library = FmuLibrary::load_for(&mut Fmu::open(path)?, Use::ModelExchange)?;
        let solver = Solver::parse(&solver, 1e-3)?;
        let options = ModelExchangeOptions { solver, logging, ..ModelExchangeOptions::default() };
        let mut subsystem = ModelExchangeSubsystem::new(&library, "fmu", &options)?;
        let text = run_steps(&library, &mut subsystem)?;
        let (notes, state) = (subsystem.notes(), subsystem.state());
        return Ok(format!("{text}\n  {:?}\n  states {state:?}\n  {notes:?}", subsystem.events()));
    }
    let library = FmuLibrary::load(&mut Fmu::open(path)?)?;
    let options = CoSimulationOptions { logging, ..CoSimulationOptions::default() };
    let mut subsystem = CoSimulationSubsystem::new(&library, "fmu", &options)?;
    let text = run_steps(&library, &mut subsystem)?;
    Ok(format!("{text}, {} warnings, {} messages", subsystem.warnings(), subsystem.message_count()))
}

fn run_steps(library: &FmuLibrary, subsystem: &mut dyn Subsystem) -> Result<String> {
    let defaults = library.description().default_experiment;
    let start = defaults.start_time.unwrap_or(0.0);
    let stop = defaults.stop_time.unwrap_or(start + 1.0);
    let run = Experiment { start, stop, step: defaults.step_size.unwrap_or((stop - start) / 100.0) };
    let capabilities = Capabilities::of(subsystem);
    let description = subsystem.description().clone();
    let (m, r) = (description.inputs.len(), description.outputs.len());
    let (u, mut y) = (InputPolynomials::new(m, 0), vec![0.0; r]);
    subsystem.initialise(&run)?;
    subsystem.initial_outputs(&vec![0.0; m], &mut y)?;
    let first = y.clone();
    for k in 0..run.steps().min(100) {
        if capabilities.rollback {
            subsystem.demand_rollback()?.snapshot()?;
            let before = subsystem.step(run.interval(k), u.segment(0..m, 0), &mut y).map(|_| y.clone())?;
            subsystem.demand_rollback()?.restore()?;
            subsystem.step(run.interval(k), u.segment(0..m, 0), &mut y)?;
            if before != y {
                println!("  step {k} differs after going back: {before:?} {y:?}");
            }
        } else {
            subsystem.step(run.interval(k), u.segment(0..m, 0), &mut y)?;
        }
    }
    subsystem.terminate();
    Ok(format!("{m} inputs, {r} outputs, {capabilities:?}\n  {first:?}\n  {y:?}"))
}

#[test]
#[ignore = "needs third-party FMUs"]
fn foreign_fmus_run() {
    let paths = std::env::var_os("COSTEP_FMUS").expect("COSTEP_FMUS lists FMUs");
    for path in std::env::split_paths(&paths) {
        match run(&path) {
            Ok(text) => println!("{}: {text}", path.display()),
            Err(error) => println!("{}: {error}", path.display()),
        }
    }
}
