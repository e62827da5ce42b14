//! Exported FMUs in costep: coupled runs equal those of the built-in models, and what is left out is left out.

mod common;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use common::{difference, step_in_costep};
use costep_core::{
    Capabilities, Capable, Code, Experiment, Linearisation, LocalModel, StateReader, StateWriter, Subsystem,
};
use costep_engine::{Engine, System};
use costep_fmi::{
    CoSimulationOptions, CoSimulationSubsystem, FmuEquations, FmuLibrary, ModelExchangeOptions,
    ModelExchangeSubsystem,
};
use costep_fmu_export::{Capability, Options, export};
use costep_fmu_file::{FmiVersion, Fmu, Use};
use costep_integrate::multistep::{AtPoint, Family};
use costep_integrate::{Equations, Solver, members};
use costep_methods::MethodSpec;
use costep_system::SystemDescription;

const VERSIONS: [FmiVersion; 2] = [FmiVersion::V2, FmiVersion::V3];
const STEPS: u64 = 200;

fn options(version: FmiVersion) -> Options {
    Options { version, ..Options::default() }
}

fn load(path: &Path) -> Arc<FmuLibrary> {
    FmuLibrary::load(&mut Fmu::open(path).unwrap()).unwrap()
}

fn paths(model: &str, given: &[(String, f64)], options: &Options, folder: &Path) -> Vec<PathBuf> {
    export(model, given, None, options, folder).unwrap().into_iter().map(|fmu| fmu.path).collect()
}

fn instance(path: &Path) -> CoSimulationSubsystem {
    let options = CoSimulationOptions { input_order: Some(6), ..CoSimulationOptions::default() };
    CoSimulationSubsystem::new(&load(path), "fmu", &options).unwrap()
}

/// All outputs over a run of a model with these subsystems in the place of its parts.
fn run(model: &SystemDescription, subsystems: Vec<Box<dyn Subsystem>>, method: &str) -> Vec<Vec<f64>> {
    // A power of two: FMUs are told the start and the length of a step, and no time may have round-off. Multistep formulas
    // decide on their steps by the last bit of it.
    let step = (model.experiment.step / 10.0).log2().floor().exp2();
    let mut engine = Engine::new(System {
        externals: model.externals.clone(),
        ..System::new(
            subsystems,
            model.connections.clone(),
            (MethodSpec::parse(method).unwrap().build(), Box::new(costep_ident::Exact::new(1))),
            Experiment { start: 0.0, stop: step * STEPS as f64, step },
        )
    })
    .unwrap();
    let mut rows = vec![engine.outputs().to_vec()];
    for _ in 0..STEPS {
        engine.step().unwrap();
        rows.push(engine.outputs().to_vec());
    }
    rows
}

/// An FMU that costep integrates.
fn integrated(path: &Path, solver: Solver) -> Box<dyn Subsystem> {
    let library = FmuLibrary::load_for(&mut Fmu::open(path).unwrap(), Use::ModelExchange).unwrap();
    let options = ModelExchangeOptions { solver, ..ModelExchangeOptions::default() };
    Box::new(ModelExchangeSubsystem::new(&library, "fmu", &options).unwrap())
}

#[test]
fn integrated_fmus_equal_the_built_in_models_with_the_same_integrator() {
    let folder = tempfile::tempdir().unwrap();
    for id in ["dual-mass", "hydraulic"] {
        let model = costep_models::find(id).unwrap().model(&[]).unwrap().1;
        let exported = VERSIONS
            .map(|version| paths(id, &[], &options(version), &folder.path().join(format!("{version:?}"))));
        let micro = model.experiment.step / 100.0;
        for (solver, allowed) in
            [(Solver::Euler(micro), 1e-9), (Solver::Rk4(micro), 1e-9), (Solver::Dopri5(1e-12), 1e-9)]
        {
            for method in ["zoh", "foh"] {
                let parts = model.parts.iter().map(|part| part.subsystem(&solver).unwrap()).collect();
                let native = run(&model, parts, method);
                for (version, paths) in VERSIONS.iter().zip(&exported) {
                    let fmus = paths.iter().map(|path| integrated(path, solver)).collect();
                    let worst = difference(&native, &run(&model, fmus, method));
                    println!("{id} {version:?} {} {method}: {worst:e}", solver.label());
                    assert!(worst <= allowed, "{id} {version:?} {} {method}: {worst:e}", solver.label());
                }
            }
        }
    }
}

/// FMUs alone, and an FMU beside a native part: each integrates a model of the others beside its own states.
#[test]
fn integrated_fmus_are_stabilised_as_the_built_in_models_are() {
    let folder = tempfile::tempdir().unwrap();
    let model = costep_models::find("hydraulic").unwrap().model(&[("t1".into(), 1e-4)]).unwrap().1;
    let bdf = Solver::Multistep(Family::Bdf, 1e-9, AtPoint::default());
    for (solver, allowed) in [(model.solver, 1e-9), (Solver::Dopri5(1e-11), 1e-9), (bdf, 1e-8)] {
        for method in ["lis", "lis:form=rate", "lis:form=value,implicitness=0.5"] {
            let parts = model.parts.iter().map(|part| part.subsystem(&solver).unwrap()).collect();
            let native = run(&model, parts, method);
            let moved = difference(&native, &vec![native[0].clone(); native.len()]);
            assert!(moved > 1e-3, "nothing happens: {moved:e}");
            for version in VERSIONS {
                let paths =
                    paths("hydraulic", &[], &options(version), &folder.path().join(format!("{version:?}")));
                for fmus in [1, paths.len()] {
                    let part = |(i, path): (usize, &PathBuf)| match i < fmus {
                        true => integrated(path, solver),
                        false => model.parts[i].subsystem(&solver).unwrap(),
                    };
                    let parts = paths.iter().enumerate().map(part).collect();
                    let worst = difference(&native, &run(&model, parts, method));
                    println!("{version:?} {} {method} {fmus} FMUs: {worst:e}", solver.label());
                    assert!(worst <= allowed, "{version:?} {} {method} {fmus}: {worst:e}", solver.label());
                }
            }
        }
    }
}

/// FMUs alone, and an FMU beside a native part.
#[test]
fn fmus_solved_as_one_equal_the_built_in_models_solved_as_one() {
    let folder = tempfile::tempdir().unwrap();
    for id in ["dual-mass", "hydraulic", "coupled-pendula"] {
        let model = costep_models::find(id).unwrap().model(&[]).unwrap().1;
        let bdf = Solver::Multistep(Family::Bdf, 1e-10, AtPoint::Proceed);
        for solver in [Solver::Dopri5(1e-11), bdf] {
            let native = run(&model, model.members(&solver).unwrap(), "zoh");
            for version in VERSIONS {
                let paths = paths(id, &[], &options(version), &folder.path().join(format!("{version:?}")));
                for fmus in [1, paths.len()] {
                    let component = |(i, path): (usize, &PathBuf)| -> Box<dyn Equations> {
                        if i >= fmus {
                            return model.parts[i].equations().unwrap();
                        }
                        let library = FmuLibrary::load_for(&mut Fmu::open(path).unwrap(), Use::ModelExchange);
                        let options = ModelExchangeOptions::default();
                        Box::new(FmuEquations::new(&library.unwrap(), "fmu", &options).unwrap())
                    };
                    let parts = paths.iter().enumerate().map(component).collect();
                    let whole = members(parts, &model.connections, model.externals.clone(), &solver).unwrap();
                    let worst = difference(&native, &run(&model, whole, "zoh"));
                    println!("{id} {version:?} {} {fmus} FMUs: {worst:e}", solver.label());
                    assert!(worst <= 1e-9, "{id} {version:?} {} {fmus} FMUs: {worst:e}", solver.label());
                }
            }
        }
    }
}

#[test]
fn coupled_runs_equal_those_of_the_built_in_models() {
    let folder = tempfile::tempdir().unwrap();
    for entry in costep_models::MODELS {
        let (id, model) = (entry.id, entry.model(&[]).unwrap().1);
        let exported = VERSIONS
            .map(|version| paths(id, &[], &options(version), &folder.path().join(format!("{version:?}"))));
        // FMUs do not tell their inner steps.
        for method in ["zoh", "foh", "predictive:order=2,inner_steps=false"] {
            let parts = model.parts.iter().map(|part| part.subsystem(&model.solver).unwrap()).collect();
            let native = run(&model, parts, method);
            // Multistep formulas decide on their steps by the last bit of inputs that were asked for inside the step:
            // then it is their own error that counts.
            let own_error = match model.solver {
                Solver::Multistep(family, tolerance, at) if method != "zoh" => {
                    let tight = Solver::Multistep(family, 1e-3 * tolerance, at);
                    let parts = model.parts.iter().map(|part| part.subsystem(&tight).unwrap()).collect();
                    difference(&native, &run(&model, parts, method))
                }
                _ => 0.0,
            };
            for (version, paths) in VERSIONS.iter().zip(&exported) {
                let fmus = paths.iter().map(|path| Box::new(instance(path)) as Box<dyn Subsystem>).collect();
                let worst = difference(&native, &run(&model, fmus, method));
                // Directional derivatives are at the last input of a step, those of native parts at the next one;
                // for equations that are not linear in it the local models differ a little.
                let linear = model.parts.iter().all(|part| part.ode().unwrap().is_linear());
                let predicts = method.starts_with("predictive") && !linear;
                let allowed = own_error.max(if predicts { 1e-5 } else { 1e-11 });
                println!("{id} {method} {version:?}: {worst:e} of {allowed:e}");
                assert!(worst <= allowed, "{id} {method} {version:?}: {worst:e}");
            }
        }
    }
}

#[test]
fn parameters_of_the_export_and_of_the_run_are_the_same_thing() {
    let folder = tempfile::tempdir().unwrap();
    let given = [("c2".to_owned(), 2e7), ("m2".to_owned(), 7.0)];
    for version in VERSIONS {
        let exported = &paths("dual-mass", &given, &options(version), &folder.path().join("a"))[1];
        let plain = &paths("dual-mass", &[], &options(version), &folder.path().join("b"))[1];
        let parameters =
            given.iter().map(|(name, value)| (name.clone(), costep_fmu_file::Values::Float64(vec![*value])));
        let set = CoSimulationOptions { parameters: parameters.collect(), ..CoSimulationOptions::default() };
        let rows = step_in_costep(exported, &CoSimulationOptions::default(), 1e-3, 50);
        assert_eq!(rows, step_in_costep(plain, &set, 1e-3, 50));
        assert_ne!(rows, step_in_costep(plain, &CoSimulationOptions::default(), 1e-3, 50));
    }
}

#[test]
fn a_stored_state_gives_the_same_bits_again() {
    let folder = tempfile::tempdir().unwrap();
    for version in VERSIONS {
        for path in paths("pendulum-oscillator", &[], &options(version), folder.path()) {
            let (mut one, mut two) = (instance(&path), instance(&path));
            let run = Experiment { start: 0.0, stop: 1.0, step: 1e-3 };
            let (m, r) = (one.description().inputs.len(), one.description().outputs.len());
            let mut u = costep_core::InputPolynomials::new(m, 1);
            u.raw_mut().iter_mut().enumerate().for_each(|(j, u)| *u = 0.1 + j as f64);
            let mut y = vec![0.0; r];
            for fmu in [&mut one, &mut two] {
                fmu.initialise(&run).unwrap();
                fmu.initial_outputs(&vec![0.1; m], &mut y).unwrap();
            }
            let step = |fmu: &mut CoSimulationSubsystem, k| {
                let mut y = vec![0.0; r];
                fmu.step(run.interval(k), u.segment(0..m, 1), &mut y).unwrap();
                y
            };
            step(&mut one, 0);
            one.rollback().unwrap().snapshot().unwrap();
            let mut out = StateWriter::default();
            one.persistence().unwrap().save(&mut out).unwrap();
            let first = [step(&mut one, 1), step(&mut one, 2)];
            one.rollback().unwrap().restore().unwrap();
            assert_eq!(first, [step(&mut one, 1), step(&mut one, 2)]);
            let bytes = out.into_bytes();
            two.persistence_mut().unwrap().load(&mut StateReader::new(&bytes)).unwrap();
            assert_eq!(first, [step(&mut two, 1), step(&mut two, 2)]);
            // Bytes of no state are refused, not believed.
            let mut other = bytes.clone();
            let last = other.len() - 1;
            other.truncate(last);
            let mut three = instance(&path);
            assert!(three.persistence_mut().unwrap().load(&mut StateReader::new(&other)).is_err());
        }
    }
}

#[test]
fn directional_derivatives_are_the_exact_jacobians() {
    let folder = tempfile::tempdir().unwrap();
    for id in ["dual-mass-nonlinear", "pendulum-oscillator", "chain"] {
        let model = costep_models::find(id).unwrap().model(&[]).unwrap().1;
        for version in VERSIONS {
            for (part, path) in model.parts.iter().zip(paths(id, &[], &options(version), folder.path())) {
                let (mut fmu, mut native) = (instance(&path), part.subsystem(&model.solver).unwrap());
                let (m, r) = (part.description().inputs.len(), part.description().outputs.len());
                let models = [&mut fmu as &mut dyn Subsystem, &mut *native].map(|subsystem| {
                    subsystem.initialise(&model.experiment).unwrap();
                    let u: Vec<f64> = (0..m).map(|j| 0.01 * (j + 1) as f64).collect();
                    subsystem.initial_outputs(&u, &mut vec![0.0; r]).unwrap();
                    let mut local = LocalModel::new(part.ode().unwrap().states(), m, r);
                    subsystem.demand_linearised().unwrap().local_model(&u, &mut local).unwrap();
                    // FMI has no words for these.
                    local.nominal.fill(0.0);
                    local.euler_step = 0.0;
                    local.is_constant = false;
                    local
                });
                assert_eq!(models[0], models[1], "{id} {version:?} {}", path.display());
            }
        }
    }
}

#[test]
fn what_is_left_out_is_not_offered() {
    let folder = tempfile::tempdir().unwrap();
    for version in VERSIONS {
        let bare = Options { capabilities: Vec::new(), ..options(version) };
        let path = &paths("S2", &[], &bare, folder.path())[0];
        let mut fixed = instance(path);
        let capabilities = Capabilities::of(&mut fixed);
        assert!(
            !capabilities.rollback
                && capabilities.linearisation < Linearisation::Full
                && capabilities.micro_samples.is_none()
        );
        assert_eq!(fixed.description().input_order, 0);
        assert!(!fixed.description().can_step_by(1e-4));
        let mut y = vec![0.0; fixed.description().outputs.len()];
        fixed.initialise(&Experiment { start: 0.0, stop: 1.0, step: 1e-3 }).unwrap();
        fixed.initial_outputs(&[0.0; 2], &mut y).unwrap();
        let u = costep_core::InputPolynomials::new(2, 0);
        let mut step = |start: f64, end: f64| {
            fixed.step(costep_core::Interval::new(start, end), u.segment(0..2, 0), &mut y).is_ok()
        };
        assert!(step(0.0, 1e-3) && step(1e-3, 2e-3) && !step(2e-3, 2.5e-3));
        let without = Options {
            capabilities: vec![Capability::State, Capability::DirectionalDerivatives],
            model_exchange: false,
            ..options(version)
        };
        let path = &paths("S2", &[], &without, folder.path())[0];
        let fmu = Fmu::open(path).unwrap();
        assert!(fmu.description().model_exchange.is_none() && fmu.description().co_simulation.is_some());
        let mut held = instance(path);
        let capabilities = Capabilities::of(&mut held);
        assert!(capabilities.rollback && capabilities.linearisation == Linearisation::Full);
        assert_eq!(held.description().input_order, 0);
    }
}

#[test]
fn an_export_is_valid_names_its_parameters_and_repeats_byte_by_byte() {
    let folder = tempfile::tempdir().unwrap();
    for version in VERSIONS {
        for id in costep_models::MODELS.iter().map(|entry| entry.id).chain(["Lag", "S1", "S2", "Wide7"]) {
            for path in paths(id, &[], &options(version), folder.path()) {
                let fmu = Fmu::open(&path).unwrap();
                assert!(fmu.validate().is_empty(), "{}: {:?}", path.display(), fmu.validate());
            }
        }
        let bytes = || std::fs::read(&paths("S1", &[], &options(version), folder.path())[0]).unwrap();
        assert!(bytes() == bytes());
    }
    let parameters = |file: &str| -> Vec<String> {
        let fmu = Fmu::open(folder.path().join(file)).unwrap();
        let description = fmu.description();
        let variables = description.with_causality(costep_fmu_file::Causality::Parameter);
        variables.into_iter().map(|index| description.variables()[index].name.clone()).collect()
    };
    assert_eq!(parameters("Lag.fmu"), ["T", "x0"]);
    assert_eq!(parameters("S1.fmu"), ["m", "c", "d", "x0", "v0", "h"]);
    assert_eq!(parameters("S2.fmu"), ["m", "c", "d", "ck", "dk", "x0", "v0", "h"]);
    assert_eq!(parameters("Wide7.fmu"), [""; 0]);
    assert_eq!(parameters("pendulum.fmu"), ["l", "g", "m_pend", "k", "d", "parameter.angle", "micro_step"]);
}

#[test]
fn wrong_names_and_values_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let code = |name: &str, given: &[(&str, f64)], part: Option<&str>| {
        let given: Vec<_> = given.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        export(name, &given, part, &Options::default(), folder.path()).unwrap_err().code()
    };
    assert_eq!(code("dual-mas", &[], None), Code::UnknownModel);
    assert_eq!(code("dual-mass", &[], Some("s3")), Code::UnknownName);
    assert_eq!(code("dual-mass", &[("m1", -1.0)], None), Code::BadValue);
    assert_eq!(code("Lag", &[("tau", 1.0)], None), Code::UnknownParameter);
    assert_eq!(code("Wide0", &[], None), Code::BadValue);
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none());
}
