//! What is particular to FMI 1.0: inputs are set before the one call of the initialisation, negated aliases
//! have another sign, loggers are handed components, FMUs for Model Exchange are made anew where others are
//! reset.
#![cfg(unix)]

mod fmus;

use costep_core::{Capable, Code, Experiment, InputPolynomials, Linearisation, Subsystem};
use costep_fmi::{CoSimulationOptions, CoSimulationSubsystem, ModelExchangeSubsystem};
use costep_fmu_file::{Fmu, Values};
use costep_integrate::Solver;
use fmus::{
    Fmi, Variant, build, build_as, build_edited, build_exchange, build_exchange_edited, exchange, instance,
    options,
};

const RUN: Experiment = Experiment { start: 0.5, stop: 2.5, step: 0.1 };

/// Initialises a subsystem under this input and does steps under polynomials of this order; all outputs.
fn outputs(subsystem: &mut dyn Subsystem, u: &[f64], order: usize) -> Vec<Vec<f64>> {
    let mut y = vec![0.0; subsystem.description().outputs.len()];
    subsystem.initialise(&RUN).unwrap();
    subsystem.initial_outputs(u, &mut y).unwrap();
    let mut rows = vec![y.clone()];
    let mut inputs = InputPolynomials::new(u.len(), order);
    for k in 0..20 {
        for a in 0..=order {
            inputs.coefficients_mut(a).iter_mut().zip(u).for_each(|(c, u)| *c = u * (k as f64 + a as f64));
        }
        let outcome = subsystem.step(RUN.interval(k), inputs.segment(0..u.len(), order), &mut y).unwrap();
        assert_eq!(outcome.reached, RUN.time(k + 1));
        rows.push(y.clone());
    }
    rows
}

#[test]
fn trajectories_are_those_of_fmi_2() {
    for (model, u) in [("Lag", &[0.7][..]), ("S1", &[3.0]), ("S2", &[0.01, 0.2])] {
        for order in [0, 1] {
            let [first, second] = [Fmi::V1, Fmi::V2].map(|fmi| {
                let mut subsystem = instance(&build(fmi, model).load(), "part");
                assert_eq!(subsystem.description().input_order, 1);
                outputs(&mut subsystem, u, order)
            });
            assert_eq!(first, second, "{model} {order}");
        }
        for solver in [Solver::Rk4(1e-4), Solver::Dopri5(1e-9)] {
            let [first, second] = [Fmi::V1, Fmi::V2].map(|fmi| {
                let library = build_exchange(fmi, model, true, "").load_exchange();
                outputs(&mut exchange(&library, "part", solver, &[]), u, 1)
            });
            assert_eq!(first, second, "{model} {solver:?}");
        }
    }
}

#[test]
fn it_can_neither_go_back_nor_be_saved() {
    let mut subsystem = instance(&build(Fmi::V1, "S2").load(), "part");
    assert!(subsystem.rollback().is_none() && subsystem.persistence().is_none());
    assert!(subsystem.linearised().is_none_or(|linear| linear.level() == Linearisation::None));
    let library = build_exchange(Fmi::V1, "Ball", false, "").load_exchange();
    let mut subsystem = exchange(&library, "ball", Solver::Rk4(0.01), &[]);
    assert!(subsystem.rollback().is_none() && subsystem.persistence().is_none());
    assert_eq!(
        ModelExchangeSubsystem::outline(library.description(), "b", &Default::default()).unwrap().1,
        2
    );
}

/// The FMU itself refuses inputs between the initialisation and the first step, where outputs are read.
#[test]
fn other_inputs_before_the_first_step_are_another_initialisation() {
    let mut subsystem = instance(&build(Fmi::V1, "S2").load(), "part");
    let mut y = [0.0; 3];
    subsystem.initialise(&RUN).unwrap();
    subsystem.initial_outputs(&[0.1, 0.0], &mut y).unwrap();
    assert_eq!(y, [-1e4, 0.0, 0.0]);
    subsystem.initial_outputs(&[0.2, 0.0], &mut y).unwrap();
    assert_eq!(y, [-2e4, 0.0, 0.0]);
    subsystem.initial_outputs(&[0.2, 0.0], &mut y).unwrap();
    // Outputs are those of the inputs that were asked for, however many were tried before.
    for k in 3..40 {
        subsystem.initial_outputs(&[f64::from(k), 0.0], &mut y).unwrap();
        assert_eq!(y, [-1e5 * f64::from(k), 0.0, 0.0]);
    }
    // The parameters are those of before.
    let library = build(Fmi::V1, "Lag").load();
    let mut lag = CoSimulationSubsystem::new(&library, "lag", &options(&[("x0", 2.0)])).unwrap();
    lag.initialise(&RUN).unwrap();
    for u in [1.0, 3.0] {
        let mut y = [0.0];
        lag.initial_outputs(&[u], &mut y).unwrap();
        assert_eq!(y, [2.0]);
    }
    // Without anybody who asks for outputs it is initialised too.
    let mut other = instance(&build(Fmi::V1, "Lag").load(), "lag");
    other.initialise(&RUN).unwrap();
    let inputs = InputPolynomials::new(1, 0);
    other.step(RUN.interval(0), inputs.segment(0..1, 0), &mut [0.0]).unwrap();
    other.terminate();
    // In Model Exchange they can be set again: an event follows.
    let mut switched =
        exchange(&build_exchange(Fmi::V1, "Sampler", false, "").load_exchange(), "s", Solver::Rk4(0.01), &[]);
    switched.initialise(&RUN).unwrap();
    for u in [[1.0, 0.0], [2.0, 1.0]] {
        switched.initial_outputs(&u, &mut [0.0; 2]).unwrap();
    }
    let mut inputs = InputPolynomials::new(2, 0);
    inputs.coefficients_mut(0).copy_from_slice(&[2.0, 1.0]);
    let mut y = [0.0; 2];
    for k in 0..2 {
        switched.step(RUN.interval(k), inputs.segment(0..2, 0), &mut y).unwrap();
    }
    assert_eq!(y[1], 2.0);
}

#[test]
fn runs_are_repeated_with_and_without_reset() {
    for flag in ["", "-DNO_RESET", "-DBAD_RESET"] {
        let variant = Variant { flag, ..Variant::default() };
        let library = build_as(Fmi::V1, "Lag", "Lag", variant).load();
        let options = options(&[("x0", 2.0), ("T", 0.3)]);
        let mut subsystem = CoSimulationSubsystem::new(&library, "lag", &options).unwrap();
        let first = outputs(&mut subsystem, &[1.0], 0);
        assert_eq!(first[0], [2.0]);
        assert_eq!(outputs(&mut subsystem, &[1.0], 0), first, "{flag}");
        subsystem.terminate();
        assert_eq!(outputs(&mut subsystem, &[1.0], 0), first, "{flag}");
        assert_eq!(library.instances(), 1);
    }
    let library = build_exchange(Fmi::V1, "Lag", false, "").load_exchange();
    let mut subsystem = exchange(&library, "lag", Solver::Rk4(0.01), &[("x0", 2.0)]);
    let first = outputs(&mut subsystem, &[1.0], 0);
    subsystem.terminate();
    assert_eq!(outputs(&mut subsystem, &[1.0], 0), first);
    assert_eq!((library.instances(), first[0].clone()), (1, vec![2.0]));
}

/// The input under another sign, two names of the output, one with another sign, and of a Boolean.
fn with_aliases(text: String) -> String {
    let input = "<ScalarVariable name=\"u\" valueReference=\"0\" causality=\"input\"><Real start=\"0\"/>";
    let turned = "<ScalarVariable name=\"u0\" valueReference=\"0\"><Real/></ScalarVariable>\n\
        <ScalarVariable name=\"u\" valueReference=\"0\" causality=\"input\" alias=\"negatedAlias\"><Real start=\"0\"/>";
    let more = "<ScalarVariable name=\"same\" valueReference=\"1\" causality=\"output\" alias=\"alias\"><Real/></ScalarVariable>\n\
        <ScalarVariable name=\"minus\" valueReference=\"1\" causality=\"output\" alias=\"negatedAlias\"><Real/></ScalarVariable>\n\
        <ScalarVariable name=\"-x0\" valueReference=\"11\" variability=\"parameter\" alias=\"negatedAlias\"><Real start=\"0\"/></ScalarVariable>\n";
    assert!(text.contains(input));
    text.replace(input, turned).replace("</ModelVariables>", &format!("{more}</ModelVariables>"))
}

#[test]
fn negated_aliases_have_the_other_sign() {
    let check = |plain: Vec<Vec<f64>>, aliased: Vec<Vec<f64>>| {
        for (plain, aliased) in plain.iter().zip(&aliased) {
            assert_eq!(aliased, &[plain[0], plain[0], -plain[0]]);
        }
    };
    let library = build_edited(Fmi::V1, "Lag", with_aliases).load();
    let mut subsystem = CoSimulationSubsystem::new(&library, "lag", &options(&[("-x0", -2.0)])).unwrap();
    // Derivatives would need a sign as well.
    assert_eq!(subsystem.description().input_order, 0);
    let plain = CoSimulationSubsystem::new(&build(Fmi::V1, "Lag").load(), "lag", &options(&[("x0", 2.0)]));
    check(outputs(&mut plain.unwrap(), &[-1.5], 0), outputs(&mut subsystem, &[1.5], 0));

    let library = build_exchange_edited(Fmi::V1, "Lag", false, "", with_aliases).load_exchange();
    let solver = Solver::Rk4(0.01);
    let plain = build_exchange(Fmi::V1, "Lag", false, "").load_exchange();
    check(
        outputs(&mut exchange(&plain, "lag", solver, &[("x0", 2.0)]), &[-1.5], 1),
        outputs(&mut exchange(&library, "lag", solver, &[("-x0", -2.0)]), &[1.5], 1),
    );
}

#[test]
fn a_negated_boolean_is_the_other_one() {
    let edit = |text: String| {
        let more = "<ScalarVariable name=\"yes\" valueReference=\"101\" causality=\"output\" variability=\"discrete\" alias=\"alias\"><Boolean/></ScalarVariable>\n\
            <ScalarVariable name=\"no\" valueReference=\"101\" causality=\"output\" variability=\"discrete\" alias=\"negatedAlias\"><Boolean/></ScalarVariable>\n\
            <ScalarVariable name=\"off\" valueReference=\"101\" variability=\"parameter\" alias=\"negatedAlias\"><Boolean start=\"true\"/></ScalarVariable>\n";
        text.replace("</ModelVariables>", &format!("{more}</ModelVariables>"))
    };
    let library = build_edited(Fmi::V1, "Fault", edit).load();
    for (name, value, expected) in [("flag", true, [1.0, 0.0]), ("off", true, [0.0, 1.0])] {
        let parameters = vec![(name.to_owned(), Values::Boolean(vec![value]))];
        let options = CoSimulationOptions { parameters, ..CoSimulationOptions::default() };
        let mut subsystem = CoSimulationSubsystem::new(&library, "fault", &options).unwrap();
        assert_eq!(outputs(&mut subsystem, &[0.0], 0)[3][1..], expected, "{name}");
    }
}

#[test]
fn messages_find_the_instance_they_are_of() {
    // In FMI 1 by name and component; in FMI 2 with an environment that leads nowhere.
    let strange = Variant { flag: "-DFOREIGN_ENVIRONMENT", ..Variant::default() };
    for (fmi, variant) in [(Fmi::V1, Variant::default()), (Fmi::V2, strange)] {
        let library = build_as(fmi, "Fault", "Fault", variant).load();
        let talk = options(&[("fault", 16.0)]);
        let mut parts = ["talks", "listens"].map(|name| {
            let options = if name == "talks" { &talk } else { &CoSimulationOptions::default() };
            CoSimulationSubsystem::new(&library, name, options).unwrap()
        });
        let inputs = InputPolynomials::new(1, 0);
        for part in &mut parts {
            part.initialise(&RUN).unwrap();
            part.step(RUN.interval(0), inputs.segment(0..1, 0), &mut [0.0]).unwrap();
        }
        assert_eq!(parts.each_ref().map(|part| part.message_count()), [100_000, 0], "{fmi:?}");
        assert_eq!(parts[0].messages()[0].text, "still here");
    }
}

#[test]
fn nothing_is_called_after_fatal() {
    let library = build(Fmi::V1, "Fault").load();
    let mut other = instance(&library, "other");
    outputs(&mut other, &[0.0], 0);
    let mut bad = CoSimulationSubsystem::new(&library, "bad", &options(&[("fault", 9.0)])).unwrap();
    bad.initialise(&RUN).unwrap();
    let inputs = InputPolynomials::new(1, 0);
    let step = |part: &mut CoSimulationSubsystem| {
        part.step(RUN.interval(0), inputs.segment(0..1, 0), &mut [0.0]).unwrap_err().code()
    };
    // The FMU aborts the program if anything is called now, by whatever instance.
    assert_eq!([step(&mut bad), step(&mut other)], [Code::FmuFatal; 2]);
    assert_eq!(other.initialise(&RUN).unwrap_err().code(), Code::FmuFatal);
    other.terminate();
    drop((bad, other, library));
}

#[test]
fn numbers_of_states_and_indicators_that_are_wrong_end_in_errors() {
    for (from, to, call) in [
        ("numberOfContinuousStates=\"2\"", "numberOfContinuousStates=\"3\"", "ContinuousStates"),
        ("numberOfContinuousStates=\"2\"", "numberOfContinuousStates=\"1\"", "ContinuousStates"),
        ("numberOfEventIndicators=\"1\"", "numberOfEventIndicators=\"2\"", "GetEventIndicators"),
    ] {
        let fmu = build_exchange_edited(Fmi::V1, "Ball", false, "", |text| text.replace(from, to));
        let mut subsystem = exchange(&fmu.load_exchange(), "ball", Solver::Rk4(0.01), &[]);
        let mut y = [0.0; 2];
        subsystem.initialise(&RUN).unwrap();
        subsystem.initial_outputs(&[], &mut y).unwrap();
        let inputs = InputPolynomials::new(0, 0);
        let error = subsystem.step(RUN.interval(0), inputs.segment(0..0, 0), &mut y).unwrap_err();
        assert_eq!(error.code(), Code::FmuError, "{error}");
        assert!(
            error.to_string().contains(call) && error.to_string().contains("cannot be read now"),
            "{error}"
        );
    }
}

#[test]
fn functions_that_are_missing_are_named_with_their_prefix() {
    let without = Variant { flag: "-DNO_STEP", ..Variant::default() };
    let fmu = build_as(Fmi::V1, "Lag", "Other", without);
    let findings = Fmu::open(&fmu.path).unwrap().validate_libraries(costep_fmi::required_functions).unwrap();
    assert!(findings[0].message.contains("does not offer Other_fmiDoStep"), "{}", findings[0]);
    let fmu = build_as(Fmi::V1, "Lag", "Other", Variant::default());
    let found = Fmu::open(&fmu.path).unwrap().validate_libraries(costep_fmi::required_functions).unwrap();
    assert_eq!(found, []);
}
