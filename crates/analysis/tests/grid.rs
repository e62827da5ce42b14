//! Predictive coupling over the grid of the thesis' stability study: 56 pairs of coupling spring and damper, eleven steps up
//! to 10 ms, subsystems solved exactly. Claims of the README and of `docs` rest on these shares.

use costep_analysis::{Reference, Trace, measure};
use costep_core::Experiment;
use costep_engine::{Engine, Scheduling, System};
use costep_integrate::Solver;
use costep_methods::MethodSpec;
use costep_system::SystemDescription;

const STOP: f64 = 0.1;

fn steps() -> impl Iterator<Item = f64> {
    [0.0005].into_iter().chain((1..=10).map(|ms| f64::from(ms) * 1e-3))
}

/// ck from 1e3 to 1e6, dk from 1e2 to 10^5.5, in half decades.
fn pairs() -> impl Iterator<Item = (f64, f64)> {
    let half_decades = |from: i32, to: i32| (from..=to).map(|half| 10f64.powf(f64::from(half) / 2.0));
    half_decades(6, 12).flat_map(move |ck| half_decades(4, 11).map(move |dk| (ck, dk)))
}

fn model(ck: f64, dk: f64) -> SystemDescription {
    let set = [("ck".to_owned(), ck), ("dk".to_owned(), dk)];
    costep_models::find("dual-mass").unwrap().model(&set).unwrap().1
}

/// eps_mono of a run; infinite if it fails.
fn error(model: &SystemDescription, label: &str, reference: &Reference, step: f64) -> f64 {
    let spec = MethodSpec::parse(label).unwrap();
    let layout = model.layout();
    let run = || -> costep_core::Result<f64> {
        let mut engine = Engine::new(System {
            scheduling: Scheduling::Parallel,
            ..System::new(
                model.parts.iter().map(|part| part.subsystem(&Solver::Exact).unwrap()).collect(),
                model.connections.clone(),
                (spec.build(), spec.models()),
                Experiment { start: 0.0, stop: STOP, step },
            )
        })?;
        let mut trace = Trace::new(layout.outputs(), false);
        engine.run(&mut [&mut trace])?;
        Ok(measure(engine.descriptions(), &trace, reference).eps_mono)
    };
    run().ok().filter(|eps| eps.is_finite()).unwrap_or(f64::INFINITY)
}

/// Share of the grid with an error below a tenth, per method.
fn shares(labels: &[&str]) -> Vec<f64> {
    let mut accurate = vec![0usize; labels.len()];
    let mut count = 0;
    for (ck, dk) in pairs() {
        let model = model(ck, dk);
        for step in steps() {
            let experiment = Experiment { start: 0.0, stop: STOP, step };
            let reference = Reference::new(&model, Solver::Exact, &experiment, false).unwrap();
            count += 1;
            for (label, accurate) in labels.iter().zip(&mut accurate) {
                *accurate += usize::from(error(&model, label, &reference, step) < 0.1);
            }
        }
    }
    assert_eq!(count, 56 * 11);
    accurate.into_iter().map(|accurate| accurate as f64 / f64::from(count as u32)).collect()
}

#[test]
fn most_of_the_grid_is_accurate() {
    let labels = ["predictive", "predictive:fit=sharp", "prestep:paper=true"];
    let shares = shares(&labels);
    for (label, share) in labels.iter().zip(&shares) {
        println!("{label}: {share:.3} of the grid below 0.1");
    }
    let [default, sharp, thesis] = shares[..] else { unreachable!() };
    assert!(default >= 0.80, "{default}");
    assert!(sharp >= 0.90, "{sharp}");
    assert!(thesis < 0.5, "{thesis}");
}
