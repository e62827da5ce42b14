//! Runs whose steps have unequal lengths are measured at their own times.

use costep_analysis::{Amplitudes, Companion, Reference, RunWatch, Trace, measure, outputs_at};
use costep_conformance::systems::{coupled, method, model};
use costep_conformance::varying_steps::varying;
use costep_engine::Engine;
use costep_integrate::Solver;

const STOP: f64 = 0.5;
const STEP: f64 = 2e-3;

fn engine(label: &str) -> Engine {
    varying(coupled(&model("dual-mass", &[]), &Solver::Exact, &method(label), STOP, STEP)).unwrap()
}

fn traced(engine: &mut Engine) -> (Trace, RunWatch) {
    let (mut trace, mut watch) = (Trace::new(engine.outputs().len(), false), RunWatch::default());
    engine.run(&mut [&mut trace, &mut watch]).unwrap();
    (trace, watch)
}

#[test]
fn references_are_at_the_times_of_the_run() {
    let (system, mut engine) = (model("dual-mass", &[]), engine("predictive"));
    let (run, _) = traced(&mut engine);
    assert!(run.times.len() > (1.3 * STOP / STEP) as usize && *run.times.last().unwrap() >= STOP);
    let equal = Reference::new(&system, Solver::Exact, engine.experiment(), false).unwrap();
    assert!(equal.check_times(&run).is_err(), "its times are others");
    let reference =
        Reference::along(&system, Solver::Exact, engine.experiment(), (&run, &|| Ok(()))).unwrap();
    assert_eq!(reference.trace.times, run.times);
    reference.check_times(&run).unwrap();
    let rows = outputs_at(&system, Solver::Exact, 0.0, &run.times).unwrap();
    let size = rows.iter().fold(0.0, |size: f64, y| size.max(y.abs()));
    let worst =
        rows.iter().zip(&reference.trace.rows).fold(0.0, |worst: f64, (a, b)| worst.max((a - b).abs()));
    assert!(worst <= 1e-12 * size, "{worst} of {size}");
    let measures = measure(engine.descriptions(), &run, &reference);
    assert!(measures.eps_mono < 1e-3 && measures.judged && !measures.unstable, "{measures:?}");
}

#[test]
fn references_of_engines_go_to_the_end_of_the_run() {
    let reference = Reference::whole(engine("predictive"), Solver::Exact, &|| Ok(())).unwrap();
    let (run, watch) = traced(&mut engine("predictive"));
    assert_eq!(reference.trace.times, run.times);
    assert_eq!(reference.amplitudes, watch.amplitudes());
}

#[test]
fn windows_are_fifths_of_the_time() {
    let (run, watch) = traced(&mut engine("zoh"));
    let of_trace = Amplitudes::of(&run.times, &run.rows, run.outputs);
    assert_eq!(watch.amplitudes(), of_trace);
    for (i, windows) in of_trace.0.iter().enumerate() {
        let greatest = |from: f64, to: f64| {
            let inside = |k: &usize| (from..=to).contains(&run.times[*k].min(STOP));
            (0..run.times.len()).filter(inside).fold(0.0, |most: f64, k| most.max(run.row(k)[i].abs()))
        };
        let end = run.times.last().unwrap();
        let expected = [0.0, 0.2, 0.4, 0.6, 0.8].map(|share| greatest(share * end, (share + 0.2) * end));
        assert_eq!(windows.0, expected);
    }
}

/// More points than are kept as samples, so that these are thinned out.
#[test]
fn the_monolithic_companion_goes_along_the_samples() {
    let (system, mut engine) = (model("dual-mass", &[]), engine("nepce"));
    let (run, watch) = traced(&mut engine);
    let companion =
        Companion::monolithic(&system, Solver::Exact, engine.experiment(), (&watch, &|| Ok(()))).unwrap();
    let reference =
        Reference::along(&system, Solver::Exact, engine.experiment(), (&run, &|| Ok(()))).unwrap();
    let eps = measure(engine.descriptions(), &run, &reference).eps_mono;
    assert!((companion.accuracy.mean / eps - 1.0).abs() < 0.2, "{} {eps}", companion.accuracy.mean);
}
