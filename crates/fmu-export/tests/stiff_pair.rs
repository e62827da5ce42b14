//! The stiff pair S1 and S2 as FMUs with one step per macro step and without rollback, measured against the same Euler
//! steps of the coupled system, written down here once more.

use std::path::Path;

use costep_core::{Experiment, Subsystem};
use costep_engine::{Engine, System};
use costep_fmi::{CoSimulationOptions, CoSimulationSubsystem, FmuLibrary};
use costep_fmu_export::{Capability, Options, export};
use costep_fmu_file::{FmiVersion, Fmu, Values};
use costep_methods::MethodSpec;

const END: f64 = 0.1;
const STEPS_MS: [f64; 3] = [1.0, 2.0, 5.0];
const MICRO_STEP: f64 = 1e-5;
/// What each step may cost: relative RMS error of x1.
const BARS: [f64; 3] = [2.5e-4, 5e-4, 2e-3];

/// x1 at the communication points, by Euler steps of the coupled system.
fn monolithic(h: f64, micro_step: f64) -> Vec<f64> {
    let (m1, c1, d1, m2, c2, d2, ck, dk) = (10.0, 1e6, 1.0, 10.0, 1e7, 2.0, 1e5, 1e3);
    let (mut x, mut v) = ([0.1, 0.0], [0.0, 0.0]);
    let inner = (h / micro_step).round() as usize;
    let mut points = vec![x[0]];
    for k in 1..=((END / h).round() as usize) * inner {
        let force = ck * (x[1] - x[0]) + dk * (v[1] - v[0]);
        let a = [(force - c1 * x[0] - d1 * v[0]) / m1, (-force - c2 * x[1] - d2 * v[1]) / m2];
        for i in 0..2 {
            x[i] += micro_step * v[i];
            v[i] += micro_step * a[i];
        }
        if k % inner == 0 {
            points.push(x[0]);
        }
    }
    points
}

/// Exports the pair; so many things left out of what FMUs can do.
fn exported(version: FmiVersion, without: &[Capability], folder: &Path) {
    let capabilities = Capability::ALL.into_iter().filter(|c| !without.contains(c)).collect();
    let options = Options { version, capabilities, ..Options::default() };
    export("S1", &[], None, &options, folder).unwrap();
    export("S2", &[("ck".into(), 1e5), ("dk".into(), 1e3)], None, &options, folder).unwrap();
}

/// An engine over the exported pair.
fn engine(folder: &Path, options: &CoSimulationOptions, method: &str, h: f64) -> costep_core::Result<Engine> {
    let part = |name: &str| -> Box<dyn Subsystem> {
        let library = FmuLibrary::load(&mut Fmu::open(folder.join(format!("{name}.fmu"))).unwrap()).unwrap();
        Box::new(CoSimulationSubsystem::new(&library, name, options).unwrap())
    };
    let spec = MethodSpec::parse(method).unwrap();
    let connect = |(output, input)| costep_core::Connection { output, input, gain: 1.0 };
    Engine::new(System::new(
        vec![part("S1"), part("S2")],
        [(2, 0), (0, 1), (1, 2)].map(connect).to_vec(),
        (spec.build(), spec.models()),
        Experiment { start: 0.0, stop: END, step: h },
    ))
}

/// Relative RMS error of x1.
fn error(folder: &Path, options: &CoSimulationOptions, method: &str, h: f64, micro_step: f64) -> f64 {
    let mut engine = engine(folder, options, method, h).unwrap();
    let (mut wrong, mut size) = (0.0, 0.0);
    for (k, expected) in monolithic(h, micro_step).iter().enumerate() {
        if k > 0 {
            engine.step().unwrap();
        }
        wrong += (engine.outputs()[0] - expected).powi(2);
        size += expected * expected;
    }
    assert_eq!(engine.k(), engine.experiment().steps());
    (wrong / size).sqrt()
}

/// The three errors at 1, 2 and 5 ms.
fn errors(folder: &Path, options: &CoSimulationOptions, method: &str) -> [f64; 3] {
    STEPS_MS.map(|h| error(folder, options, method, 1e-3 * h, MICRO_STEP))
}

fn of_order(order: usize) -> CoSimulationOptions {
    CoSimulationOptions { input_order: Some(order), ..CoSimulationOptions::default() }
}

/// As a project without settings hands inputs over: FMI 2 with ramps, FMI 3 with what the method gives.
#[test]
fn nothing_has_to_be_set() {
    let folder = tempfile::tempdir().unwrap();
    for version in [FmiVersion::V2, FmiVersion::V3] {
        exported(version, &[Capability::State], folder.path());
        let measured = errors(folder.path(), &CoSimulationOptions::default(), "auto");
        println!("{version}: {measured:?}");
        for (error, bar) in measured.iter().zip(BARS) {
            assert!(*error <= bar, "{version}: {measured:?}");
        }
    }
}

#[test]
fn predictive_coupling_stays_below_the_bars() {
    let folder = tempfile::tempdir().unwrap();
    for version in [FmiVersion::V2, FmiVersion::V3] {
        // Without rollback: the state cannot be stored.
        exported(version, &[Capability::State], folder.path());
        for method in ["predictive", "auto", "predictive:inner_steps=false"] {
            let measured = errors(folder.path(), &of_order(3), method);
            println!("{version} {method}: {measured:?}");
            for (error, bar) in measured.iter().zip(BARS) {
                assert!(*error <= bar, "{version} {method}: {measured:?}");
            }
        }
    }
}

/// FMUs that say how they step are predicted as they step.
#[test]
fn fmus_that_tell_their_euler_steps_are_coupled_without_that_error() {
    let folder = tempfile::tempdir().unwrap();
    for version in [FmiVersion::V2, FmiVersion::V3] {
        exported(version, &[], folder.path());
        let told = errors(folder.path(), &of_order(3), "predictive");
        println!("{version}: {told:?}");
        assert!(told[0] < 1e-7 && told[1] < 1e-5 && told[2] < 5e-4, "{version}: {told:?}");
        let by_hand = errors(folder.path(), &of_order(3), "predictive:euler_step=1e-5");
        assert_eq!(told, by_hand, "{version}");
    }
}

/// The inner step is a parameter of the FMUs: what counts is its value, not the one at the export.
#[test]
fn a_changed_inner_step_is_known() {
    let folder = tempfile::tempdir().unwrap();
    for version in [FmiVersion::V2, FmiVersion::V3] {
        exported(version, &[], folder.path());
        let parameters = vec![("h".to_owned(), Values::Float64(vec![2e-5]))];
        let error = error(
            folder.path(),
            &CoSimulationOptions { parameters, ..of_order(3) },
            "predictive",
            1e-3,
            2e-5,
        );
        println!("{version}: {error:.1e}");
        assert!(error < 1e-6, "{version}: {error:e}");
    }
}

/// Without directional derivatives there are still states to read, and rollback for differences.
#[test]
fn finite_differences_take_the_place_of_directional_derivatives() {
    let folder = tempfile::tempdir().unwrap();
    for version in [FmiVersion::V2, FmiVersion::V3] {
        exported(version, &[Capability::DirectionalDerivatives], folder.path());
        let method = "predictive:source=finite-difference,euler_step=1e-5";
        let measured = errors(folder.path(), &of_order(3), method);
        println!("{version}: {measured:?}");
        for (error, bar) in measured.iter().zip(BARS) {
            assert!(*error <= bar, "{version}: {measured:?}");
        }
    }
}

/// A probe needs neither derivatives nor states that can be read. It cannot know that inputs are held over each Euler step inside, nor do exact
/// derivatives without that.
#[test]
fn a_probe_does_as_well_as_derivatives() {
    let folder = tempfile::tempdir().unwrap();
    for version in [FmiVersion::V2, FmiVersion::V3] {
        exported(version, &[], folder.path());
        let methods = ["predictive:inner_steps=false", "mbcorr"];
        let exact = methods.map(|method| errors(folder.path(), &of_order(3), method));
        exported(version, &[Capability::DirectionalDerivatives], folder.path());
        let methods = ["predictive:source=probe", "mbcorr:source=probe"];
        let probed = methods.map(|method| errors(folder.path(), &of_order(3), method));
        println!("{version}: exact {exact:?}, probe {probed:?}");
        for (step, (probed, exact)) in probed[0].iter().zip(exact[0]).enumerate() {
            assert!(*probed <= exact, "{version}, {step}: {probed} {exact}");
        }
        // At 1 ms, where the corrector is stable.
        assert!((probed[1][0] / exact[1][0] - 1.0).abs() < 0.01, "{version}: {probed:?} {exact:?}");
        // One step per macro step: trial steps are as long.
        exported(version, &[Capability::DirectionalDerivatives, Capability::VariableStep], folder.path());
        let coarse = errors(folder.path(), &of_order(3), "predictive:source=probe");
        println!("{version}: trial steps of a macro step {coarse:?}");
        assert!(coarse[0] < 2e-4, "{version}: {coarse:?}");
    }
}

#[test]
fn what_finite_differences_lack_is_said() {
    let folder = tempfile::tempdir().unwrap();
    for version in [FmiVersion::V2, FmiVersion::V3] {
        exported(version, &[Capability::DirectionalDerivatives, Capability::State], folder.path());
        let failure = |method: &str| {
            engine(folder.path(), &of_order(3), method, 1e-3)
                .err()
                .unwrap_or_else(|| panic!("{method}"))
                .to_string()
        };
        assert!(failure("predictive").contains("`S1` gives no Jacobians"), "{}", failure("predictive"));
        let text = failure("predictive:source=finite-difference");
        assert!(text.contains("finite differences need rollback"), "{text}");
        let text = failure("predictive:source=probe");
        assert!(text.contains("`source=probe` needs rollback, which `S1` does not offer"), "{text}");
        // What is left is to learn.
        let engine = engine(folder.path(), &of_order(3), "auto", 1e-3).unwrap();
        let remarks: Vec<_> = engine.remarks().collect();
        assert!(remarks.iter().any(|r| r.contains("identified")), "{remarks:?}");
    }
}

/// Relative errors of x1 of the converged iteration at 1, 2 and 5 ms, by exact analysis, the start left out: inputs go in a
/// line to their end value, or are held at it.
const CONVERGED_LINE: [f64; 3] = [0.0069, 0.030, 0.28];
const CONVERGED_HOLD: [f64; 3] = [0.12, 0.26, 0.82];

/// Every method that repeats steps comes to the same, whatever its way; parabolas are better than lines.
#[test]
fn repeated_steps_converge_to_what_analysis_says() {
    let folder = tempfile::tempdir().unwrap();
    exported(FmiVersion::V3, &[], folder.path());
    let errors = |order: usize, method: &str| {
        STEPS_MS.map(|h| {
            let mut engine = engine(folder.path(), &of_order(order), method, 1e-3 * h).unwrap();
            let (mut wrong, mut size) = (0.0, 0.0);
            for expected in &monolithic(1e-3 * h, MICRO_STEP)[1..] {
                engine.step().unwrap();
                wrong += (engine.outputs()[0] - expected).powi(2);
                size += expected * expected;
            }
            (wrong / size).sqrt()
        })
    };
    let is_near = |measured: [f64; 3], wanted: [f64; 3]| {
        measured.iter().zip(wanted).all(|(error, wanted)| (error / wanted - 1.0).abs() < 0.05)
    };
    for method in ["fixed-point", "iqn-ils", "iqn-ils:sweep=jacobi", "ijcsa", "ijcsa:jacobian=differences"] {
        let line = errors(1, method);
        println!("{method}: {line:?}");
        assert!(is_near(line, CONVERGED_LINE), "{method}: {line:?}");
        let with = |option: &str| format!("{method}{}{option}", if method.contains(':') { "," } else { ":" });
        let hold = errors(1, &with("inputs=held"));
        assert!(is_near(hold, CONVERGED_HOLD), "{method}: {hold:?}");
        let parabola = errors(2, &with("inputs=quadratic"));
        println!("{method}, parabolas: {parabola:?}");
        assert!(parabola.iter().zip(line).all(|(parabola, line)| *parabola < 0.8 * line), "{parabola:?}");
    }
}

/// FMUs that do not go back are named, with what works instead.
#[test]
fn without_rollback_the_fmu_is_named_and_other_methods_are_proposed() {
    let folder = tempfile::tempdir().unwrap();
    exported(FmiVersion::V2, &[Capability::State], folder.path());
    for method in ["fixed-point", "iqn-ils", "ijcsa"] {
        let error = engine(folder.path(), &of_order(1), method, 1e-3).err().expect("it is refused");
        let text = error.to_string();
        assert!(error.code() == costep_core::Code::NeedsMissing && text.contains("`S1`"), "{text}");
        assert!(text.contains("rollback") && text.contains("`identified`"), "{text}");
    }
}
