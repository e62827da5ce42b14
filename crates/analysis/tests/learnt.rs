//! `prestep`, `mbcorr` and `predictive` with models identified while the run goes: against the figures of an independent
//! prototype, and when things go wrong.

mod common;

use common::{BlackBox, Case, NOISES, Wrap, model, plain, stiffening};
use costep_integrate::Solver;
use costep_system::SystemDescription;
use serde_json::Value;

/// Method and row of the table: the nonlinear oscillator over 1 s in steps of 1 ms.
const REPRODUCED: [(&str, &str); 11] = [
    ("zoh", "zoh"),
    ("nepce", "nepce"),
    ("prestep:source=rls", "RLS N1M1 err=False"),
    ("prestep:source=rls,modified=true", "RLS N1M1 modified err=False"),
    ("prestep:source=rls,ede=true,ede_fresh=true", "RLS N1M1 err=reset"),
    ("prestep:source=rls,paper=true", "RLS N1M1 err=True"),
    ("prestep:source=rls,n=2,m=2", "RLS N2M2 err=False"),
    ("prestep:source=rls,n=2,m=1", "RLS N2M1 err=False"),
    ("prestep:source=ij-rls,ede=true", "IJ-RLS weighted LS err=True"),
    ("mbcorr:source=rls", "mbcorr RLS"),
    ("mbcorr:source=moesp", "mbcorr MOESP o1"),
];

/// Rows that depend on what nobody has written down: a realisation with more states than outputs (N or M of 2 with the error equation, N < M), or
/// the inputs that MOESP takes as excited. Only shown.
const NOT_REPRODUCED: [(&str, &str); 8] = [
    ("prestep:source=rls,n=2,m=2,ede=true", "RLS N2M2 err=True"),
    ("prestep:source=rls,n=2,m=2,ede=true,ede_fresh=true", "RLS N2M2 err=reset"),
    ("prestep:source=rls,n=1,m=2", "RLS N1M2 err=False"),
    ("prestep:source=rls,n=2,m=1,ede=true", "RLS N2M1 err=True"),
    ("prestep:source=rls,n=2,m=1,ede=true,ede_fresh=true", "RLS N2M1 err=reset"),
    ("prestep:source=moesp,paper=true", "MOESP o1 w778 table 3.13"),
    ("prestep:source=moesp,model_order=2", "MOESP o2 w778"),
    ("prestep:source=moesp,model_order=2,modified=true", "MOESP o2 modified"),
];

#[test]
fn the_nonlinear_oscillator_is_coupled_as_by_the_prototype() {
    let table: Value = serde_json::from_str(include_str!("data/identified_oscillator.json")).unwrap();
    let oscillator = model("dual-mass-nonlinear", &[]);
    let case = Case::new(&oscillator, 1e-3, 1.0);
    let pair = |(method, row): (&str, &str)| {
        let (ours, theirs) = (case.eps(method, plain), table[row]["eps"].as_f64().unwrap());
        println!("{method}: {ours:.4}, prototype {theirs:.4}, {:+.1} %", 100.0 * (ours / theirs - 1.0));
        (ours, theirs)
    };
    for row in REPRODUCED {
        let (ours, theirs) = pair(row);
        assert!((ours / theirs - 1.0).abs() < 0.1, "{row:?}: {ours} {theirs}");
    }
    NOT_REPRODUCED.into_iter().for_each(|row| assert!(pair(row).0.is_finite(), "{row:?}"));
}

const METHODS: [&str; 9] = [
    "prestep:source=rls",
    "prestep:source=ij-rls,ede=true",
    "prestep:source=moesp",
    "mbcorr:source=rls",
    "mbcorr:source=ij-rls",
    "mbcorr:source=moesp",
    "predictive:source=rls",
    "predictive:source=ij-rls",
    "predictive:source=moesp",
];

/// No method may be worse than twice the hold that it falls back to, with the learning phase of the thesis and with a short one.
fn assert_bounded(what: &str, model: &SystemDescription, (step, stop): (f64, f64), wrap: Wrap) {
    let case = Case::new(model, step, stop);
    let fall_back = case.eps("zoh", wrap);
    assert!(fall_back.is_finite(), "{what}: nothing to compare with");
    for method in METHODS {
        for learning in [0, 30] {
            let method = format!("{method},learning={learning}");
            let eps = case.eps(&method, wrap);
            println!(
                "{what}, {step} s: {method} {eps:.4}, fall-back {fall_back:.4}, ratio {:.2}",
                eps / fall_back
            );
            assert!(eps <= 2.0 * fall_back && !eps.is_nan(), "{what} {method}: {eps} {fall_back}");
        }
    }
}

#[test]
fn a_chain_of_five_with_one_model_each() {
    let mut chain = model("chain", &[]);
    chain.solver = Solver::Exact;
    for (step, stop) in [(2e-4, 0.15), (5e-4, 0.5)] {
        assert_bounded("chain", &chain, (step, stop), plain);
    }
}

#[test]
fn noise_on_all_outputs() {
    for (level, noisy) in NOISES {
        for (ck, dk, step) in [(1e5, 1e3, 1e-3), (1e5, 1e3, 2e-3), (1e4, 1e3, 1e-3)] {
            let oscillator = model("dual-mass", &[("ck", ck), ("dk", dk)]);
            assert_bounded(&format!("noise at {level} dB"), &oscillator, (step, 1.0), noisy);
        }
    }
}

/// A chain at rest, and one that is pushed late: the inputs say nothing for long.
#[test]
fn inputs_that_do_not_excite() {
    let rest = model("chain", &[("force", 0.0)]);
    let case = Case::new(&rest, 1e-3, 1.0);
    for method in METHODS {
        assert_eq!(case.eps(method, plain), 0.0, "{method}");
    }
    let mut late = model("chain", &[("idle", 0.5)]);
    late.solver = Solver::Exact;
    assert_bounded("late push", &late, (5e-4, 0.7), plain);
}

#[test]
fn a_spring_that_doubles_in_the_middle() {
    assert_bounded("stiffening", &stiffening(), (1e-3, 1.0), plain);
}

/// Black boxes without any capability, noise or not: what a method needs it gets from inputs and outputs.
#[test]
fn black_boxes_are_enough() {
    let oscillator = model("dual-mass-nonlinear", &[]);
    let case = Case::new(&oscillator, 1e-3, 1.0);
    for method in ["prestep:source=ij-rls,ede=true", "mbcorr:source=rls", "predictive:source=ij-rls"] {
        let eps = case.eps(method, |_, part| Box::new(BlackBox::new(part)));
        println!("{method}: {eps:.4}");
        assert!(eps < 0.05, "{method}: {eps}");
    }
}

/// What a recording shows of identification: phase, trust and eps_SI of the whole, quality and parameters per subsystem.
#[test]
fn phases_trust_quality_and_parameters_are_columns() {
    let oscillator = model("dual-mass-nonlinear", &[]);
    let case = Case::new(&oscillator, 1e-3, 0.3);
    let mut engine = case.engine("prestep:source=rls,learning=100,parameters=true", plain);
    let names = engine.diagnostic_names();
    let column =
        |name: &str| names.iter().position(|known| known == name).unwrap_or_else(|| panic!("{names:?}"));
    let [phase, trust, eps_si] = ["phase", "trust", "eps_si"].map(|name| column(&format!("prestep.{name}")));
    let excitation = column("prestep.s2.excitation");
    let gain = column("prestep.s1.s_p.v/F");
    let mut row = vec![0.0; names.len()];
    let mut seen = Vec::new();
    for k in 0..300 {
        engine.step().unwrap();
        engine.diagnostics(&mut row);
        if seen.last() != Some(&row[phase]) {
            seen.push(row[phase]);
        }
        if k == 99 {
            assert_eq!((row[phase], row[trust]), (0.0, 0.0));
        }
    }
    println!("{seen:?}, gain {:e}, excitation {}", row[gain], row[excitation]);
    assert_eq!(seen[..3], [0.0, 1.0, 4.0]);
    assert!(row[trust] <= 1.0 && row[eps_si] < 0.5 && row[excitation] > 0.01 && row[gain] > 0.0);
}
