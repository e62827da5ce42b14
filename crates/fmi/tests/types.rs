//! Signals of all types: integers, Booleans, enumerations and 32 bits with a point.
//! Unix only: the FMUs are compiled here with options of gcc and clang.
#![cfg(unix)]

mod fmus;

use costep_core::{
    Capable, Code, Description, Experiment, InputPolynomials, Interval, LocalModel, PortKind, Result,
    Subsystem, Variation,
};
use costep_fmi::{
    CoSimulationOptions, CoSimulationSubsystem, InputRouting, ModelExchangeOptions, ModelExchangeSubsystem,
};
use costep_fmu_file::Values;
use costep_integrate::Solver;
use fmus::{EVERY, Fmi, build_switch, build_types, exchange, instance};

const EXPERIMENT: Experiment = Experiment { start: 0.0, stop: 1.0, step: 0.1 };

/// The index of a port.
fn input(description: &Description, name: &str) -> usize {
    description.inputs.iter().position(|port| port.name == name).unwrap_or_else(|| panic!("{name}"))
}

fn output(description: &Description, name: &str) -> usize {
    description.outputs.iter().position(|port| port.name == name).unwrap_or_else(|| panic!("{name}"))
}

/// Starts an FMU with all inputs zero; gives the outputs.
fn start(subsystem: &mut dyn Subsystem) -> Vec<f64> {
    let (inputs, outputs) = (subsystem.description().inputs.len(), subsystem.description().outputs.len());
    let mut y = vec![0.0; outputs];
    subsystem.initialise(&EXPERIMENT).unwrap();
    subsystem.initial_outputs(&vec![0.0; inputs], &mut y).unwrap();
    y
}

/// Does step k under a polynomial of order 1 with these values and slopes.
fn step(subsystem: &mut dyn Subsystem, k: u64, values: &[f64], slopes: &[f64]) -> Result<Vec<f64>> {
    let mut u = InputPolynomials::new(values.len(), 1);
    u.coefficients_mut(0).copy_from_slice(values);
    u.coefficients_mut(1).copy_from_slice(slopes);
    let mut y = vec![0.0; subsystem.description().outputs.len()];
    let interval: Interval = EXPERIMENT.interval(k);
    let order = usize::from(slopes.iter().any(|slope| *slope != 0.0));
    subsystem.step(interval, u.segment(0..values.len(), order), &mut y).map(|_| y)
}

/// Extreme values of every type that go over without loss.
const EXTREMES: [(&str, &[f64]); 12] = [
    ("real", &[0.1, -1e300]),
    ("single", &[0.1_f32 as f64, -3.25]),
    ("i8", &[-128.0, 127.0]),
    ("u8", &[255.0, 0.0]),
    ("i16", &[-32768.0, 32767.0]),
    ("u16", &[65535.0, 0.0]),
    ("i32", &[-2147483648.0, 2147483647.0]),
    ("u32", &[4294967295.0, 0.0]),
    ("i64", &[-9007199254740992.0, 9007199254740992.0]),
    ("u64", &[9007199254740992.0, 0.0]),
    ("truth", &[1.0, 0.0]),
    ("choice", &[1.0, 0.0]),
];

#[test]
fn values_of_every_type_go_through_an_fmu_unchanged() {
    for fmi in EVERY {
        let library = build_types(fmi).load();
        let mut fmu = instance(&library, "types");
        let description = fmu.description().clone();
        start(&mut fmu);
        let ours = |name: &str| description.inputs.iter().any(|port| port.name == format!("u_{name}"));
        let tried: Vec<_> = EXTREMES.iter().filter(|(name, _)| ours(name)).collect();
        assert_eq!(tried.len(), if fmi == Fmi::V3 { 12 } else { 4 });
        for k in 0..2 {
            let mut u = vec![0.0; description.inputs.len()];
            for (name, values) in &tried {
                u[input(&description, &format!("u_{name}"))] = values[k];
            }
            let y = step(&mut fmu, k as u64, &u, &vec![0.0; u.len()]).unwrap();
            for (name, values) in &tried {
                assert_eq!(y[output(&description, &format!("y_{name}"))], values[k], "{fmi:?} {name}");
            }
            assert_eq!(y[output(&description, "steps")], 1.0 + k as f64);
            // One call per type: enumerations go with the integers that carry them.
            let types = if fmi == Fmi::V3 { 10.0 } else { 2.0 };
            let calls = ["sets", "gets"].map(|name| y[output(&description, name)]);
            // In the first step also those of the initialisation.
            let times = if k == 0 { 2.0 } else { 1.0 };
            assert_eq!(calls, [times * types, types], "{fmi:?} step {k}");
        }
    }
}

#[test]
fn ports_know_their_kind_and_that_they_are_held() {
    let library = build_types(Fmi::V3).load();
    let description = instance(&library, "types").description().clone();
    let kinds: Vec<_> =
        description.inputs.iter().map(|port| (&port.name[2..], port.kind, port.variation)).collect();
    assert_eq!(kinds[0], ("real", PortKind::Real, Variation::Continuous));
    for (name, kind, variation) in &kinds[1..] {
        let expected = match *name {
            "single" => PortKind::Real,
            "truth" => PortKind::Boolean,
            "choice" => PortKind::Enumeration,
            "text" => PortKind::Text,
            "bytes" => PortKind::Bytes,
            _ => PortKind::Integer,
        };
        assert_eq!((*kind, *variation), (expected, Variation::Discrete), "{name}");
    }
    assert_eq!(description.inputs.len(), 14);
}

#[test]
fn what_a_type_does_not_hold_is_refused_by_name() {
    let library = build_types(Fmi::V3).load();
    for (name, value) in [
        ("i8", 128.0),
        ("u8", -1.0),
        ("i32", 0.5),
        ("u64", 2.0 * 9007199254740992.0),
        ("truth", 0.5),
        ("choice", f64::NAN),
        ("single", 1e39),
    ] {
        let mut fmu = instance(&library, "types");
        let description = fmu.description().clone();
        start(&mut fmu);
        let mut u = vec![0.0; description.inputs.len()];
        u[input(&description, &format!("u_{name}"))] = value;
        let error = step(&mut fmu, 0, &u, &vec![0.0; u.len()]).unwrap_err();
        assert_eq!(error.code(), Code::FmuValue, "{error}");
        assert!(error.to_string().contains(&format!("u_{name}")), "{error}");
    }
}

#[test]
fn whole_numbers_that_would_lose_digits_are_an_error() {
    let library = build_types(Fmi::V3).load();
    for gap in [1_i64 << 53, (1 << 53) + 1, i64::MIN] {
        let parameters = vec![("gap".to_owned(), Values::Int64(vec![gap]))];
        let options = CoSimulationOptions { parameters, ..CoSimulationOptions::default() };
        let mut fmu = CoSimulationSubsystem::new(&library, "types", &options).unwrap();
        let width = fmu.description().inputs.len();
        start(&mut fmu);
        let outcome = step(&mut fmu, 0, &vec![0.0; width], &vec![0.0; width]);
        match outcome {
            Ok(y) => assert_eq!((gap, y[output(fmu.description(), "y_i64")]), (1 << 53, 9007199254740992.0)),
            Err(error) => {
                assert_ne!(gap, 1 << 53);
                assert_eq!(error.code(), Code::FmuValue);
                assert!(error.to_string().contains("y_i64"), "{error}");
            }
        }
    }
}

#[test]
fn discrete_inputs_of_model_exchange_are_set_at_events_only() {
    let library = build_switch().load_exchange();
    let mut fmu = exchange(&library, "switch", Solver::Rk4(0.01), &[]);
    let description = fmu.description().clone();
    let [on, number, u] = ["on", "number", "u"].map(|name| input(&description, name));
    let [level, x] = ["level", "x"].map(|name| output(&description, name));
    assert_eq!(start(&mut fmu), [0.0, 0.0]);
    let mut values = [0.0; 3];
    let mut slopes = [0.0; 3];
    // Off: the state stays. Its input is a ramp, which the FMU is told between events.
    (values[u], slopes[u]) = (1.0, 2.0);
    let y = step(&mut fmu, 0, &values, &slopes).unwrap();
    assert_eq!((y[x], y[level]), (0.0, 0.0));
    (values[on], values[number]) = (1.0, 7.0);
    let y = step(&mut fmu, 1, &values, &slopes).unwrap();
    assert!((y[x] - (0.1 + 0.01)).abs() < 1e-12, "{}", y[x]);
    assert_eq!(y[level], 70.0);
    // Its local model has nothing to say of discrete signals.
    let mut model = LocalModel::new(1, 3, 2);
    fmu.linearised().unwrap().local_model(&values, &mut model).unwrap();
    assert!((model.b[u] - 1.0).abs() < 1e-6, "{:?}", model.b);
    assert_eq!([model.b[on], model.b[number]], [0.0; 2]);
    assert_eq!(model.c[level], 0.0);
    assert!((model.c[x] - 1.0).abs() < 1e-6);
}

/// What an FMU has before anything was set is what maps lead to, not what they start from.
#[test]
fn start_values_of_the_fmu_are_not_taken_for_values_before_a_map() {
    let library = build_switch().load_exchange();
    let routing = InputRouting { maps: vec![("number".into(), vec![(0.0, 7.0)])], ..InputRouting::default() };
    let options = ModelExchangeOptions { routing, solver: Solver::Rk4(0.01), ..Default::default() };
    let mut fmu = ModelExchangeSubsystem::new(&library, "switch", &options).unwrap();
    let level = output(fmu.description(), "level");
    // Nobody asks for initial outputs: the FMU starts with a number of 0 of its own.
    fmu.initialise(&EXPERIMENT).unwrap();
    for k in 0..2 {
        assert_eq!(step(&mut fmu, k, &[0.0; 3], &[0.0; 3]).unwrap()[level], 70.0);
    }
}

/// An FMU whose inputs of text and bytes start with these values, if it has them.
fn with_start(
    fmi: Fmi,
    library: &std::sync::Arc<costep_fmi::FmuLibrary>,
    text: &str,
) -> CoSimulationSubsystem {
    let mut parameters = vec![("u_text".to_owned(), Values::String(vec![text.into()]))];
    if fmi == Fmi::V3 {
        parameters.push(("u_bytes".to_owned(), Values::Binary(vec![vec![0, 255, 7]])));
    }
    let options = CoSimulationOptions { parameters, ..CoSimulationOptions::default() };
    CoSimulationSubsystem::new(library, "types", &options).unwrap()
}

#[test]
fn texts_and_bytes_go_from_one_fmu_to_another() {
    for fmi in EVERY {
        let library = build_types(fmi).load();
        let (mut first, mut second) = (with_start(fmi, &library, "hällo"), instance(&library, "second"));
        let description = first.description().clone();
        let kinds: &[&str] = if fmi == Fmi::V3 { &["text", "bytes"] } else { &["text"] };
        start(&mut first);
        start(&mut second);
        let mut u = vec![0.0; description.inputs.len()];
        let zero = u.clone();
        // Without a source an input keeps its start value.
        let y = step(&mut first, 0, &zero, &zero).unwrap();
        let sum: u32 = "hällo".bytes().map(u32::from).sum::<u32>() + if fmi == Fmi::V3 { 262_000 } else { 0 };
        assert_eq!(y[output(&description, "check")], f64::from(sum));
        for kind in kinds {
            u[input(&description, &format!("u_{kind}"))] = y[output(&description, &format!("y_{kind}"))];
        }
        let z = step(&mut second, 0, &u, &zero).unwrap();
        assert_eq!(z[output(&description, "check")], f64::from(sum));
        for kind in kinds {
            let at = output(&description, &format!("y_{kind}"));
            // The same content is the same number; it does not count in sums over signals.
            assert_eq!(z[at].to_bits(), y[at].to_bits());
            assert!(z[at].is_subnormal());
        }
        // A number that stands for nothing.
        u[input(&description, "u_text")] = 5e-324;
        let error = step(&mut second, 1, &u, &zero).unwrap_err();
        assert_eq!(error.code(), Code::NeedsMissing);
        assert!(error.to_string().contains("u_text"), "{error}");
    }
}
