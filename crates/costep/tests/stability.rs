//! Spectral radii of macro steps against a program in numpy, and what else is said about stability.

#[path = "../../fmu-export/tests/common/python.rs"]
mod python;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use costep::{Code, Foundation, StabilityPoint, System};

/// As the program in numpy knows them.
const METHODS: [&str; 24] = [
    "zoh",
    "foh",
    "soh",
    "nepce",
    "nepce:reference=applied",
    "feedthrough",
    "mbcorr",
    "mbcorr:order=1",
    "mbcorr:discretisation=euler",
    "mbcorr:alpha=0.5",
    "prestep",
    "prestep:paper=true",
    "prestep:input=ramp",
    "prestep:ede=true",
    "predictive",
    "predictive:order=0",
    "predictive:order=1",
    "predictive:order=3",
    "auto",
    "lis",
    "monolithic",
    "fixed-point",
    "iqn-ils",
    "ijcsa",
];

fn dual_mass(ck: &str, dk: &str, solver: &str) -> System {
    System::opening("dual-mass").set("ck", ck).set("dk", dk).set("system.solver", solver).open().unwrap()
}

fn radius(system: &System, method: &str, step: f64) -> f64 {
    let method = system.registry().method(method).unwrap();
    system.step_stability(&method, step).unwrap_or_else(|error| panic!("{}: {error}", method.label())).radius
}

/// The methods of the papers and ours, at parameters and steps that nothing here was written for.
const OF_THE_PAPERS: [&str; 7] =
    ["zoh", "foh", "nepce", "mbcorr", "prestep", "prestep:paper=true", "predictive"];
const OTHERS: [(&str, &str); 4] = [("2e3", "5e2"), ("4e4", "2e4"), ("7e5", "150"), ("3e5", "8e4")];
const OTHER_STEPS: [&str; 5] = ["0.0007", "0.0015", "0.0025", "0.0042", "0.0086"];

#[test]
fn every_method_has_the_radius_of_a_program_in_numpy() {
    if python::skipped() {
        return;
    }
    let mut asked = Asked::default();
    for pair in [("1e5", "1e3"), ("3e3", "1e5")] {
        asked.radii(pair, &["0.0005", "0.003"], &METHODS);
    }
    for pair in OTHERS {
        asked.radii(pair, &OTHER_STEPS, &OF_THE_PAPERS);
    }
    asked.are_those_of_numpy(1e-9);
}

/// Steps at which the models of `identified` have learnt all that there is to the parts, so that the law alone decides.
const LEARNT: [((&str, &str), &str, &[&str]); 4] = [
    (("1e5", "1e3"), "identified", &["0.002", "0.003", "0.005", "0.008"]),
    (("1e5", "1e3"), "identified:form=ramp", &["0.001", "0.002", "0.003", "0.005", "0.008"]),
    (("3e3", "1e5"), "identified", &["0.0005", "0.001", "0.002", "0.008"]),
    (("3e3", "1e5"), "identified:form=ramp", &["0.0005", "0.001", "0.003", "0.005"]),
];

/// A method that learns is judged by what it has learnt, in a run of its own.
#[test]
fn learnt_models_have_the_radius_of_a_law_that_knows_the_parts() {
    if python::skipped() {
        return;
    }
    let mut asked = Asked::default();
    for ((ck, dk), label, steps) in LEARNT {
        let system = dual_mass(ck, dk, "euler:10us");
        let method = system.registry().method(label).unwrap();
        for step in steps {
            let found = system.step_stability(&method, step.parse().unwrap()).unwrap();
            let learnt = found.learnt.expect("it learns");
            assert!(!learnt.in_parts && learnt.steps >= 12, "{label} {step}: {learnt:?}");
            // Its map is linear to the last digits: nothing of it reacts to how far a state is moved.
            assert!(found.uncertainty < 1e-12, "{label} {step}: {}", found.uncertainty);
            asked.lines.push(format!("{ck} {dk} 1e-5 {step} {label}"));
            asked.own.push(found.radius);
        }
    }
    // What is missing is what the models have not quite learnt.
    asked.are_those_of_numpy(5e-5);
}

/// The states that a probed model has beside the outputs are known up to what no output shows: that is no mode.
#[test]
fn probed_models_bring_no_mode_that_never_decays() {
    let system = dual_mass("1e5", "1e3", "euler:10us");
    let probed = system.registry().method("predictive:source=probe").unwrap();
    for step in [0.25e-3, 0.5e-3, 1e-3, 2e-3] {
        let (exact, found) =
            (radius(&system, "predictive", step), system.step_stability(&probed, step).unwrap());
        assert!((found.radius - exact).abs() < 1e-4, "{step}: {} {exact}", found.radius);
        // One pair of modes each of both masses; all else that is carried on is forgotten at once.
        let (first, rest) = found.factors.split_at(4);
        assert!(first[3].abs() > 0.5 && rest.iter().all(|z| z.abs() < 1e-5), "{step}: {:?}", found.factors);
    }
}

/// Lines for the program in numpy, and our answers.
#[derive(Default)]
struct Asked {
    lines: Vec<String>,
    own: Vec<f64>,
}

impl Asked {
    fn radii(&mut self, (ck, dk): (&str, &str), steps: &[&str], methods: &[&str]) {
        for (solver, word) in [("euler:10us", "1e-5"), ("exact", "exact")] {
            let system = dual_mass(ck, dk, solver);
            for step in steps {
                for method in methods {
                    self.lines.push(format!("{ck} {dk} {word} {step} {method}"));
                    self.own.push(radius(&system, method, step.parse().unwrap()));
                }
            }
        }
    }

    fn are_those_of_numpy(&self, tolerance: f64) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/numpy");
        let interpreter = python::environment("stability-venv", &folder.join("requirements.txt"));
        let mut child = Command::new(interpreter)
            .arg(folder.join("radius.py"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(self.lines.join("\n").as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).unwrap();
        let expected: Vec<f64> = text.lines().map(|line| line.parse().unwrap()).collect();
        assert_eq!(expected.len(), self.own.len());
        let off: Vec<_> = self
            .lines
            .iter()
            .zip(self.own.iter().zip(&expected))
            .filter(|(_, (own, expected))| (*own - *expected).abs() > tolerance * expected.max(1.0))
            .collect();
        assert!(off.is_empty(), "{} of {}: {off:?}", off.len(), self.own.len());
    }
}

#[test]
fn models_of_the_parts_say_the_same_as_exact_steps() {
    let exact = dual_mass("1e5", "1e3", "exact");
    let euler = dual_mass("1e5", "1e3", "euler:10us");
    for label in ["zoh", "foh", "mbcorr", "predictive"] {
        let method = exact.registry().method(label).unwrap();
        let by_models = StabilityPoint { by_models: true, ..StabilityPoint::new(&method, 2e-3) };
        let found = euler.stability_at(&by_models, &mut |_| Ok(())).unwrap();
        assert_eq!(found.rests_on, Foundation::LocalModels);
        let steps = radius(&exact, label, 2e-3);
        assert!((found.radius - steps).abs() < 1e-9, "{label}: {} {steps}", found.radius);
    }
}

#[test]
fn the_growing_mode_is_the_one_that_a_run_shows() {
    let system = System::open("dual-mass").unwrap();
    let zoh = system.registry().method("zoh").unwrap();
    let mode = system.step_stability(&zoh, 3e-3).unwrap().mode.unwrap();
    // Both masses move; mass 1 more, at about its own frequency of 50 Hz.
    assert!(mode.rate > 0.0 && (30.0..70.0).contains(&mode.frequency), "{mode:?}");
    assert_eq!(mode.signals.len(), 3);
    assert_eq!((mode.signals[0].share, mode.signals[0].phase), (1.0, 0.0));
    // The run grows by the same rate once everything else has decayed.
    let grown = |t: f64| {
        let mut run = system.start(costep::Run::new().method("zoh").step(3e-3).stop(2.0)).unwrap();
        run.run_until(t).unwrap();
        let engine_outputs = ["s1.x", "s1.v"].map(|name| run.output(name).unwrap());
        engine_outputs[0].hypot(engine_outputs[1] / (std::f64::consts::TAU * mode.frequency))
    };
    let measured = (grown(0.72) / grown(0.36)).ln() / 0.36;
    assert!((measured - mode.rate).abs() < 0.1 * mode.rate, "{measured} {}", mode.rate);
}

#[test]
fn eigenvalues_and_phase_margins_are_those_of_the_papers() {
    // [G18] (62): 46500 at the initial state.
    let (spectra, foundation) = System::open("pendulum-oscillator").unwrap().spectra(Some(0.0)).unwrap();
    assert_eq!(foundation, Foundation::LocalModels);
    let whole = spectra.last().unwrap();
    let stiffness = whole.stiffness().unwrap();
    assert!((stiffness / 46500.0 - 1.0).abs() < 0.02, "{stiffness}");
    // [V14] 2.3: the limit of 425 us of the whole, stable up to about 5 us with a hold, a margin of two degrees at 1 us.
    let hydraulic = System::open("hydraulic-linear").unwrap();
    let whole = hydraulic.spectra(None).unwrap().0.pop().unwrap();
    assert!((whole.nyquist_step().unwrap() / 425e-6 - 1.0).abs() < 0.01);
    assert!(radius(&hydraulic, "zoh", 4.9e-6) < 1.0 && radius(&hydraulic, "zoh", 5.2e-6) > 1.0);
    let open = hydraulic.open_loop(&hydraulic.loop_inputs()[0], 1e-6, None).unwrap();
    let margin = open.phase_margin().unwrap().degrees;
    assert!((1.5..2.5).contains(&margin), "{margin}");
}

/// Inputs that are held at zero from outside have no size of their own: they must not cost the others their digits. The figure is of a
/// program of its own, in 40 digits.
#[test]
fn constant_inputs_do_not_blur_the_modes() {
    let chain = System::opening("chain").set("n", "9").set("d", "0.2").open().unwrap();
    let foh = chain.registry().method("foh").unwrap();
    let found = chain.step_stability(&foh, 0.2e-3).unwrap();
    assert!((found.radius - 0.999_967_294_533_146_9).abs() < 1e-11, "{}", found.radius);
    assert!(found.uncertainty < 1e-10, "{}", found.uncertainty);
    // The ends of the chain alike, as it is symmetric but for what pushes it.
    let mode = found.mode.unwrap();
    let share = |name: &str| mode.signals.iter().find(|signal| signal.name == name).unwrap().share;
    assert!((share("m1.x") - share("m9.x")).abs() < 1e-6, "{mode:?}");
}

#[test]
fn what_is_no_linear_map_is_refused() {
    let system = System::open("dual-mass").unwrap();
    let method = system.registry().method("prestep:source=rls").unwrap();
    let error = system.step_stability(&method, 1e-3).unwrap_err();
    assert_eq!(error.code(), Code::NoLinearMap, "{error}");
}
