//! Events of FMI 3.0 in Co-Simulation: event mode, early return, announced times, clocks.
//! Unix only: the FMUs are compiled here with options of gcc and clang.
#![cfg(unix)]

mod fmus;

use costep_core::{
    Code, Experiment, InputPolynomials, Interval, Persistence, Result, Rollback, StateReader, StateWriter,
    Subsystem,
};
use costep_fmi::{CoSimulationOptions, CoSimulationSubsystem};
use fmus::{Fmi, Variant, build_as, build_ticker, build_ticker_with, options};

const EXPERIMENT: Experiment = Experiment { start: 0.0, stop: 2.0, step: 0.2 };
const EVENTS: &str = "hasEventMode=\"true\" canHandleVariableCommunicationStepSize=\"true\"";

fn start(subsystem: &mut CoSimulationSubsystem) {
    let (inputs, outputs) = (subsystem.description().inputs.len(), subsystem.description().outputs.len());
    subsystem.initialise(&EXPERIMENT).unwrap();
    subsystem.initial_outputs(&vec![0.0; inputs], &mut vec![0.0; outputs]).unwrap();
}

fn step(subsystem: &mut CoSimulationSubsystem, k: u64, u: f64) -> Result<(f64, Vec<f64>)> {
    let interval: Interval = EXPERIMENT.interval(k);
    let mut held = InputPolynomials::new(1, 0);
    held.coefficients_mut(0).fill(u);
    let mut y = vec![0.0; subsystem.description().outputs.len()];
    subsystem.step(interval, held.segment(0..1, 0), &mut y).map(|outcome| (outcome.reached, y))
}

fn new(
    library: &std::sync::Arc<costep_fmi::FmuLibrary>,
    options: &CoSimulationOptions,
) -> CoSimulationSubsystem {
    let mut subsystem = CoSimulationSubsystem::new(library, "fmu", options).unwrap();
    start(&mut subsystem);
    subsystem
}

/// Ticks at 0.1 s + k 0.25 s up to t.
fn ticks(t: f64) -> f64 {
    if t < 0.1 { 0.0 } else { ((t - 0.1 + 1e-9) / 0.25).floor() + 1.0 }
}

/// Integral of the number of ticks.
fn integral(t: f64) -> f64 {
    (0..).map(|k| t - 0.1 - 0.25 * f64::from(k)).take_while(|length| *length > 0.0).sum()
}

#[test]
fn clocks_tick_inside_of_steps_at_their_times() {
    let library = build_ticker(EVENTS).load();
    let mut fmu = new(&library, &CoSimulationOptions::default());
    for k in 0..10 {
        let (reached, y) = step(&mut fmu, k, 0.0).unwrap();
        let t = EXPERIMENT.time(k + 1);
        assert_eq!(reached, t);
        assert!((y[0] - integral(t)).abs() < 1e-12, "{} {}", y[0], integral(t));
        assert_eq!(y[1], ticks(t));
        // Announced for 0.33 s.
        assert_eq!(y[2], f64::from(t > 0.33));
        // Each 0.5 s, by what the FMU says at events.
        assert_eq!(y[5], ((t + 1e-9) / 0.5).floor());
    }
}

#[test]
fn without_steps_of_any_length_events_come_at_communication_points() {
    // Ticks would come late, which this FMU does not take: it says so, and nothing is lost silently.
    let library = build_ticker("hasEventMode=\"true\"").load();
    let mut fmu = new(&library, &CoSimulationOptions::default());
    let error = step(&mut fmu, 0, 0.0).unwrap_err();
    assert_eq!(error.code(), Code::FmuError);
    assert!(format!("{error}").contains("another time"), "{error}");
}

#[test]
fn an_event_mode_that_is_declared_and_refused_is_not_used() {
    static TOLD: std::sync::Mutex<Vec<String>> = std::sync::Mutex::new(Vec::new());
    costep_fmi::listen(|name, notice| {
        if let costep_fmi::Notice::Logged(message) = notice {
            TOLD.lock().unwrap().push(format!("{name}: {} {}", message.category, message.text));
        }
    });
    let library = build_ticker_with(EVENTS, &["-DREFUSES_EVENTS"]).load();
    // The FMU checks that it is never called as in event mode.
    let mut fmu = CoSimulationSubsystem::new(&library, "stubborn", &CoSimulationOptions::default()).unwrap();
    start(&mut fmu);
    for k in 0..3 {
        let (reached, y) = step(&mut fmu, k, 0.0).unwrap();
        assert_eq!((reached, y[1]), (EXPERIMENT.time(k + 1), 0.0));
    }
    let told = TOLD.lock().unwrap();
    let about: Vec<_> = told.iter().filter(|line| line.starts_with("stubborn: ")).collect();
    assert_eq!(about.len(), 1, "{told:?}");
    assert!(about[0].contains("W0109") && about[0].contains("hasEventMode"), "{about:?}");
    assert_eq!(library.instances(), 1);
}

#[test]
fn changes_of_discrete_inputs_are_events() {
    let library = build_ticker(EVENTS).load();
    let mut fmu = new(&library, &CoSimulationOptions::default());
    let mut events = Vec::new();
    for (k, gear) in [0.0, 2.0, 2.0, 3.0, 3.0, 0.0].into_iter().enumerate() {
        let (_, y) = step(&mut fmu, k as u64, gear).unwrap();
        assert_eq!(y[3], gear);
        events.push(y[4]);
    }
    assert_eq!(events, [0.0, 1.0, 1.0, 2.0, 2.0, 3.0]);
}

#[test]
fn a_clock_that_an_input_sets_to_no_time_ticks_before_the_step() {
    let mut fmu = new(&build_ticker(EVENTS).load(), &CoSimulationOptions::default());
    let horns = [0.0, 5.0, 5.0, 0.0].into_iter().enumerate();
    let horns: Vec<f64> = horns.map(|(k, gear)| step(&mut fmu, k as u64, gear).unwrap().1[6]).collect();
    assert_eq!(horns, [0.0, 1.0, 1.0, 1.0]);
}

#[test]
fn a_step_that_is_left_early_is_continued() {
    for (attributes, leave) in [
        (EVENTS, 0.27),
        ("mightReturnEarlyFromDoStep=\"true\" canHandleVariableCommunicationStepSize=\"true\"", 0.27),
        ("mightReturnEarlyFromDoStep=\"true\"", 0.27),
    ] {
        let library = build_ticker(attributes).load();
        let mut fmu = new(&library, &options(&[("leave", leave)]));
        let has_clocks = attributes == EVENTS;
        for k in 0..3 {
            let (reached, y) = step(&mut fmu, k, 0.0).unwrap();
            assert_eq!(reached, EXPERIMENT.time(k + 1));
            assert!((y[0] - if has_clocks { integral(reached) } else { 0.0 }).abs() < 1e-12);
        }
    }
    // Without a word in its description it must not.
    let mut fmu = new(&build_ticker("").load(), &options(&[("leave", 0.27)]));
    step(&mut fmu, 0, 0.0).unwrap();
    let error = step(&mut fmu, 1, 0.0).unwrap_err();
    assert!(format!("{error}").contains("no early return is allowed"), "{error}");
}

#[test]
fn events_go_back_and_on_with_the_state() {
    let library = build_ticker(EVENTS).load();
    let whole: Vec<Vec<f64>> = {
        let mut fmu = new(&library, &CoSimulationOptions::default());
        (0..10).map(|k| step(&mut fmu, k, f64::from(k as u32 / 3)).unwrap().1).collect()
    };
    let mut fmu = new(&library, &CoSimulationOptions::default());
    for k in 0..10_u64 {
        let gear = f64::from(k as u32 / 3);
        fmu.snapshot().unwrap();
        step(&mut fmu, k, 7.0).unwrap();
        fmu.restore().unwrap();
        let (_, y) = step(&mut fmu, k, gear).unwrap();
        assert_eq!(y[..3], whole[k as usize][..3]);
        assert_eq!(y[5], whole[k as usize][5]);
        // A checkpoint, taken up by another instance.
        let mut out = StateWriter::default();
        fmu.save(&mut out).unwrap();
        let bytes = out.into_bytes();
        let mut other = new(&library, &CoSimulationOptions::default());
        let mut from = StateReader::new(&bytes);
        other.load(&mut from).unwrap();
        from.finish().unwrap();
        fmu = other;
    }
}

#[test]
fn an_event_inside_a_step_is_handled_where_it_happens() {
    const EVENT_STEP: f64 = 52.0;
    let variant = Variant { attributes: "hasEventMode=\"true\"", ..Variant::default() };
    let library = build_as(Fmi::V3, "Fault", "Fault", variant).load();
    let parameters = options(&[("fault", EVENT_STEP), ("at", 0.3), ("x0", 1.0)]);
    let mut fmu = new(&library, &parameters);
    // Explicit Euler from call to call, a jump by one at the event.
    let mut x = 1.0;
    for (k, pieces) in [&[0.2][..], &[0.1, -1.0, 0.1], &[0.2]].into_iter().enumerate() {
        for piece in pieces {
            x = if *piece < 0.0 { x + 1.0 } else { x - piece * x };
        }
        let (reached, y) = step(&mut fmu, k as u64, 0.0).unwrap();
        assert_eq!(reached, EXPERIMENT.time(k as u64 + 1));
        assert!((y[0] - x).abs() < 1e-12, "{} {x}", y[0]);
    }
    // Without event mode the FMU has to see to its events itself.
    let library = build_as(Fmi::V3, "Fault", "Fault", Variant::default()).load();
    let mut fmu = new(&library, &parameters);
    assert!((0..3).all(|k| step(&mut fmu, k, 0.0).is_ok()));
}

#[test]
fn what_is_not_supported_is_listed() {
    let library = build_ticker(EVENTS).load();
    let listed = library.description().unsupported(library.usage());
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert!(listed[0].contains("`bell`"), "{listed:?}");
}
