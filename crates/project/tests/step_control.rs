//! `[step]`: tolerances, controls, limits and rates.

mod common;

use common::{codes, errors, errors_with, good, good_with};
use costep_core::Code;
use costep_engine::Rate;

/// A built-in model with lines in `[step]`.
fn with(step: &str) -> String {
    format!("[system]\nmodel = \"dual-mass\"\n[step]\n{step}\n")
}

#[test]
fn a_tolerance_alone_is_enough() {
    let project = good(&with("tolerance = 1e-4"));
    let control = project.control.as_ref().unwrap();
    assert_eq!((control.entry.id, control.tolerance, control.first), ("defect", 1e-4, None));
    // From a millionth to a tenth of the run.
    assert!(
        (control.min - 1e-7).abs() < 1e-20 && control.max == 0.01 && project.model.experiment.step == 0.01
    );
    assert!(good(&with("size = \"1 ms\"")).control.is_none());
    let project =
        good_with(&with("size = \"1 ms\""), &[("step.tolerance", "1e-3"), ("step.control", "richardson")]);
    let control = project.control.unwrap();
    assert_eq!((control.entry.id, control.first), ("richardson", Some(1e-3)));
}

#[test]
fn the_first_step_may_be_short_and_fits_a_shortened_run() {
    // Steps grow: their number does not follow from the first one.
    let long =
        "[system]\nmodel = \"dual-mass\"\nstop = \"20 min\"\n[step]\ntolerance = 1e-3\nsize = \"1 ns\"\n";
    assert_eq!(good(long).control.unwrap().first, Some(1e-9));
    let file = with("tolerance = 1e-3\nsize = \"80 ms\"");
    let first = good_with(&file, &[("system.stop", "50 ms")]).control.unwrap().first;
    assert_eq!(first, Some(0.05));
    let errors = errors(&with("tolerance = 1e-3\nsize = \"200 ms\""));
    assert_eq!(codes(&errors), [Code::BadValue]);
    assert!(errors[0].to_string().contains("longer than the run"), "{}", errors[0]);
}

#[test]
fn fixed_steps_set_the_control_of_a_file_aside() {
    let file = with("tolerance = 1e-4\ncontrol = \"richardson\"\nmax = \"2 ms\"");
    let project = good_with(&file, &[("step.control", "fixed"), ("step.size", "1 ms")]);
    assert!(project.control.is_none() && project.model.experiment.step == 1e-3);
    // What the command line asks for twice is a contradiction.
    let twice = errors_with(&file, &[("step.control", "fixed"), ("step.tolerance", "1e-3")]);
    assert_eq!(codes(&twice), [Code::Conflict]);
}

#[test]
fn what_is_written_is_read_back() {
    let every = "\n[record]\nevery = \"5 ms\"\n";
    for step in [
        "tolerance = 2.5e-3",
        "tolerance = 1e-4\ncontrol = \"ecco\"\nmin = \"3 us\"\nmax = \"2 ms\"\nsize = \"10 us\"",
        "size = \"1 ms\"\nrates = { s1 = 5, s2 = \"1/3\" }",
        "tolerance = 1e-3\nrates = { s2 = \"1/3\" }",
        "size = \"1 ms\"\ncorrect_bonds = true",
    ] {
        let project = good(&(with(step) + every));
        let again = good(&project.to_toml());
        assert_eq!(
            (&again.control, &again.rates, &again.bonds),
            (&project.control, &project.rates, &project.bonds),
            "{}",
            project.to_toml()
        );
        assert_eq!(again.to_toml(), project.to_toml());
        assert!(project.control.is_none_or(|control| control.meets == Some(5e-3)));
    }
    let rates = good(&with("size = \"1 ms\"\nrates = { s1 = 1, s2 = \"1/3\" }")).rates;
    assert_eq!(rates, [Rate::Base, Rate::Parts(3)]);
}

#[test]
fn mistakes_are_told() {
    for (step, code, says) in [
        ("tolerance = 0", Code::BadValue, "a tolerance of 0"),
        ("tolerance = 2", Code::BadValue, "a tolerance of 2"),
        ("tolerance = \"fine\"", Code::BadValue, "`tolerance`"),
        ("tolerance = 1e-3\ncontrol = \"richardsen\"", Code::UnknownControl, "did you mean `richardson`?"),
        ("tolerance = 1e-3\ncontrol = \"fixed\"", Code::Conflict, "no effect on fixed steps"),
        ("control = \"defect\"\nsize = \"1 ms\"", Code::Missing, "has no tolerance"),
        ("size = \"1 ms\"\nmax = \"2 ms\"", Code::Conflict, "`max`"),
        ("tolerance = 1e-3\nmin = \"5 ms\"\nmax = \"2 ms\"", Code::BadValue, "longer than the longest"),
        ("tolerance = 1e-3\nmin = 0", Code::BadValue, "a step of 0 s"),
        ("tolerance = 1e-3\nsize = \"-1 ms\"", Code::BadValue, "a step of -1 ms"),
        ("toleranse = 1e-3", Code::UnknownKey, "did you mean `tolerance`?"),
        ("size = \"1 ms\"\nrates = { s3 = 5 }", Code::UnknownName, "`s3`"),
        ("size = \"1 ms\"\nrates = { s1 = 0 }", Code::BadValue, "the rate of `s1`"),
        ("size = \"1 ms\"\nrates = { s1 = \"2/3\" }", Code::BadValue, "the rate of `s1`"),
        ("size = \"1 ms\"\nrates = 5", Code::BadValue, "`rates`"),
        ("tolerance = 1e-3\nrates = { s1 = 5 }", Code::Conflict, "`s1`"),
    ] {
        let errors = errors(&with(step));
        assert_eq!(codes(&errors), [code], "{step}: {errors:#?}");
        assert!(format!("{}", errors[0]).contains(says), "{step}: {}", errors[0]);
    }
    let errors = errors_with(&with("size = \"1 ms\""), &[("step.tolerance", "7")]);
    assert_eq!(codes(&errors), [Code::BadValue]);
    let both = [("step.tolerance", "1e-3"), ("step.control", "fixed")];
    assert_eq!(codes(&errors_with(&with("size = \"1 ms\""), &both)), [Code::Conflict]);
}
