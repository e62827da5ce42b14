//! The linear maps of a recorded run against the run itself.

use costep_analysis::{LoopLaw, LoopRecorder, Plant, RecordedLoop, bohl_exponent};
use costep_core::{Code, Experiment, Result};
use costep_engine::{Engine, Flow, Scheduling, System};
use costep_methods::MethodSpec;

/// Inputs and outputs at every communication point.
type Signals = Vec<(Vec<f64>, Vec<f64>)>;

fn record(system: &str, method: &str, stop: f64, plant: Option<Plant>) -> Result<(RecordedLoop, Signals)> {
    let (_, model) = costep_models::find(system)?.model(&[])?;
    let (layout, method) = (model.layout(), MethodSpec::parse(method)?);
    let mut recorder = LoopRecorder::new(LoopLaw::new(&method).unwrap(), plant);
    let mut engine = Engine::new(System {
        externals: model.externals,
        scheduling: Scheduling::Parallel,
        ..System::new(
            model.parts.iter().map(|part| part.subsystem(&model.solver)).collect::<Result<_>>()?,
            model.connections,
            (method.build(), recorder.tap(method.models())),
            Experiment { start: 0.0, stop, step: 1e-3 },
        )
    })?;
    let mut signals = Signals::new();
    let mut look = |engine: &Engine| {
        let mut u = vec![0.0; layout.inputs()];
        engine.inputs_at_end(&mut u);
        signals.push((u, engine.outputs().to_vec()));
        Ok(Flow::Continue)
    };
    engine.run(&mut [&mut look, &mut recorder])?;
    Ok((recorder.finish()?, signals))
}

/// Greatest difference between the inputs of the run and those of the maps over so many steps, relative to their range. The maps get
/// the signals of the run at every step; only delta, which the run does not show, is their own.
fn difference(recorded: &RecordedLoop, signals: &Signals, steps: std::ops::Range<usize>) -> f64 {
    let (m, n) = (signals[0].0.len(), signals[0].1.len());
    let units = &recorded.units;
    // What the law carries; of `mbcorr` also inputs.
    let carried = units.len() - recorded.states - 2 * m - 2 * n;
    let mut delta = vec![0.0; carried];
    let mut worst = 0.0f64;
    for (j, (phi, constant)) in recorded.steps.iter().zip(&recorded.constants).enumerate() {
        let k = recorded.first as usize + j;
        let [(u_before, y_before), (u, y), (u_next, _)] = &signals[k - 1..k + 2] else { panic!("{k}") };
        let mut state = [&u_before[..], u, &delta, y_before, y].concat();
        state.iter_mut().zip(units).for_each(|(entry, unit)| *entry /= unit);
        // x does not act on inputs.
        state.resize(phi.rows(), 0.0);
        let mut next = constant.clone();
        phi.multiply_add(&state, &mut next);
        for (q, exact) in u_next.iter().enumerate() {
            let here = (next[m + q] - exact / units[m + q]).abs();
            worst = if steps.contains(&j) { worst.max(here) } else { worst };
        }
        delta = next[2 * m..2 * m + carried].iter().zip(&units[2 * m..]).map(|(d, unit)| d * unit).collect();
    }
    worst
}

#[test]
fn the_maps_give_the_inputs_of_the_run() {
    for (options, from) in [
        ("source=rls,ede=false", 0),
        ("source=rls,ede=true,ede_fresh=true", 0),
        ("source=rls,ede=false,modified=true", 0),
        ("source=moesp,ede=false", 0),
        ("source=moesp,ede=false,scaled=false", 0),
        ("source=moesp,ede=true,ede_fresh=true", 0),
        // The delta of the run at the first map is not known: it has to be forgotten first.
        ("source=rls,ede=true", 300),
    ] {
        let method = format!("prestep:{options},paper=true,learning=60");
        check_inputs(&SYSTEMS, &method, from);
    }
    // The maps leave out the bound that keeps inputs near the signals: these runs do not come near it.
    for method in ["mbcorr:source=rls", "mbcorr:source=rls,alpha=0.5"] {
        check_inputs(&SYSTEMS, &format!("{method},learning=60"), 300);
    }
    check_inputs(&SYSTEMS, "predictive:source=ij-rls,learning=60", 300);
    check_inputs(&SYSTEMS, "prestep:source=ij-rls,paper=true,ede=false,learning=60", 0);
}

const SYSTEMS: [&str; 2] = ["dual-mass", "dual-mass-nonlinear"];

fn check_inputs(systems: &[&str], method: &str, from: usize) {
    for system in systems {
        let (recorded, signals) = record(system, method, 0.6, None).unwrap();
        assert_eq!(recorded.plant, Plant::Local);
        assert_eq!(recorded.phases.iter().sum::<usize>(), recorded.steps.len());
        let [full, modified, _] = recorded.phases;
        assert!(recorded.steps.len() > from + 100, "{system} {method}: {}", recorded.steps.len());
        let least = if method.starts_with("prestep") { 300 } else { 100 };
        assert!(full + modified > least, "{system} {method}: {:?}", recorded.phases);
        let found = difference(&recorded, &signals, from..recorded.steps.len());
        assert!(found < 1e-12, "{system} {method}: {found:e}");
    }
}

#[test]
fn both_plants_of_a_stable_coupling_decay_and_a_run_without_models_has_none() {
    let method = "prestep:source=rls,paper=true,learning=60";
    for (plant, states) in [(Plant::Local, 19), (Plant::Identified, 15)] {
        let (recorded, _) = record("dual-mass-nonlinear", method, 0.6, Some(plant)).unwrap();
        assert_eq!((recorded.plant, recorded.steps[0].rows()), (plant, states));
        let [short, long] = [1, 400].map(|window| bohl_exponent(&recorded.steps, window).unwrap().beta);
        assert!(short > 1.0 && long < 1.0, "{plant:?}: {short} {long}");
    }
    let error = record("dual-mass-nonlinear", method, 0.05, None).map(|_| ()).unwrap_err();
    assert_eq!(error.code(), Code::BadValue);
    assert!(error.to_string().contains("before its inputs were formed from models"), "{error}");
}
