//! Identified models as a source for coupling methods.

mod common;
#[path = "common/ports.rs"]
mod ports;

use common::{Generator, System, assert_close};
use costep_core::{
    Experiment, InterfaceModel, Interval, ModelSource, Observation, StateReader, StateWriter, Subsystem,
    profiles,
};
use costep_ident::{Algorithm, InputForm, Learning, LearningSettings, RlsSettings, resample};
use costep_linalg::Matrix;
use ports::Ports;

/// Two inputs, two outputs.
fn shown(micro: bool) -> Ports {
    Ports::new("shown", &["a", "b"], &["c", "d"], micro)
}

const INNER: usize = 4;
const ALGORITHMS: [Algorithm; 3] = [
    Algorithm::Rls(RlsSettings { outputs: 1, inputs: 1, forgetting: 0.99, start: 1e8 }),
    Algorithm::IjRls { forgetting: 0.99, start: 1e8 },
    Algorithm::Moesp { order: 2, block_rows: 4, window: 60, cut: 1e-6, interval: 4 },
];

fn source(algorithm: Algorithm, samples: usize, micro: bool) -> Learning {
    let mut source = Learning::new(LearningSettings { algorithm, samples, range: 0 });
    let mut subsystems: Vec<Box<dyn Subsystem>> = vec![Box::new(shown(micro))];
    let (descriptions, capabilities) = profiles(&mut subsystems);
    source.prepare(&descriptions, &capabilities, &Experiment { start: 0.0, stop: 1.0, step: 1.0 }).unwrap();
    source
}

/// Shows steps under inputs that are held over `INNER` steps of a system whose outputs are its states; with D it would have a jump inside.
fn show(source: &mut Learning, steps: usize, micro: bool) {
    let two = |data: [f64; 4]| Matrix::from_rows(2, 2, &data);
    let mut identity = Matrix::zeros(2, 2);
    identity.set_identity();
    let mut system =
        System::new(two([0.9, 0.2, -0.1, 0.7]), two([0.5, 0.0, 0.1, 0.3]), identity, Matrix::zeros(2, 2));
    let (mut generator, mut shown) = (Generator(1), shown(micro));
    let mut y = vec![0.0; 2];
    for k in 0..steps {
        let u = if k == 0 { [0.0; 2] } else { [generator.next(), generator.next()] };
        if k > 0 {
            (shown.times, shown.outputs) = (vec![0.0], y.clone());
            for inner in 1..=INNER {
                y = system.step(&u);
                shown.times.push(inner as f64 / INNER as f64);
                shown.outputs.extend(&y);
            }
        }
        let interval = Interval { start: 0.0, end: 1.0, length: 1.0 };
        source.observe(0, &mut shown, &Observation { k: k as u64, interval, u: &u, y: &y }).unwrap();
    }
}

/// The model of a whole step.
fn exact() -> InterfaceModel {
    let fine = InterfaceModel {
        inputs: 2,
        outputs: 2,
        d_y: vec![0.9, 0.2, -0.1, 0.7],
        d_u: vec![0.0; 4],
        d_up: vec![0.5, 0.0, 0.1, 0.3],
        offset: vec![0.0; 2],
    };
    resample(&fine, INNER, InputForm::Hold)
}

#[test]
fn models_of_whole_steps_come_from_communication_points_and_from_the_inside() {
    for algorithm in &ALGORITHMS[1..] {
        for (samples, micro) in [(1, false), (1, true), (INNER, true), (INNER, false)] {
            let mut source = source(*algorithm, samples, micro);
            show(&mut source, 200, micro);
            let (model, exact) = (source.interface(0).unwrap(), exact());
            assert_close(&model.d_y, &exact.d_y, 1e-4);
            assert_close(&model.d_up, &exact.d_up, 1e-4);
            let quality = source.quality(0);
            assert!(quality.eps_si < 1e-4 && quality.rho.unwrap() < 1e-3, "{algorithm:?} {quality:?}");
            assert!(quality.excitation > 0.05, "{algorithm:?} {quality:?}");
        }
    }
}

#[test]
fn samples_from_the_inside_are_worth_steps() {
    let steps = |samples: usize| {
        (1..200)
            .find(|steps| {
                let mut source = source(ALGORITHMS[1], samples, true);
                show(&mut source, *steps, true);
                source.interface(0).is_some_and(|model| {
                    model.d_up.iter().zip(&exact().d_up).all(|(ours, exact)| (ours - exact).abs() < 1e-3)
                })
            })
            .unwrap()
    };
    let (outside, inside) = (steps(1), steps(INNER));
    assert!(inside < outside, "{inside} {outside}");
}

#[test]
fn there_is_no_model_before_there_are_more_samples_than_parameters() {
    for algorithm in ALGORITHMS {
        let mut source = source(algorithm, 1, false);
        show(&mut source, 4, false);
        assert!(source.interface(0).is_none(), "{algorithm:?}");
        show(&mut source, 60, false);
        assert!(source.interface(0).is_some(), "{algorithm:?}");
    }
}

#[test]
fn inputs_at_rest_excite_nothing() {
    for algorithm in ALGORITHMS {
        let mut source = source(algorithm, 1, false);
        let mut shown = shown(false);
        let mut generator = Generator(9);
        for k in 0..2000 {
            let interval = Interval { start: 0.0, end: 1.0, length: 1.0 };
            // Noise at 40 dB around an operating point, and nothing else.
            let y = [5.0 + 0.05 * generator.next(), -3.0 + 0.03 * generator.next()];
            source.observe(0, &mut shown, &Observation { k, interval, u: &[0.0; 2], y: &y }).unwrap();
        }
        assert!(source.quality(0).excitation < 1e-3, "{algorithm:?}: {}", source.quality(0).excitation);
        if let Some(model) = source.interface(0) {
            let largest =
                model.d_y.iter().chain(&model.d_up).chain(&model.d_u).fold(0.0f64, |m, x| m.max(x.abs()));
            assert!(largest < 3.0, "{algorithm:?}: {model:?}");
        }
    }
}

#[test]
fn a_saved_source_goes_on_as_it_was() {
    for algorithm in ALGORITHMS {
        for (samples, micro) in [(1, false), (INNER, true)] {
            let mut first = source(algorithm, samples, micro);
            show(&mut first, 90, micro);
            let mut out = StateWriter::default();
            first.save(&mut out);
            let bytes = out.into_bytes();
            let mut second = source(algorithm, samples, micro);
            second.load(&mut StateReader::new(&bytes)).unwrap();
            // What was saved, and what both make of more steps.
            for more in [0, 7] {
                show(&mut first, more, micro);
                show(&mut second, more, micro);
                assert!(first.interface(0).is_some());
                assert_eq!(first.interface(0), second.interface(0), "{algorithm:?} {samples} {more}");
                assert_eq!(first.quality(0), second.quality(0), "{algorithm:?} {samples} {more}");
                assert_eq!(first.version(0), second.version(0), "{algorithm:?} {samples} {more}");
            }
        }
    }
}
