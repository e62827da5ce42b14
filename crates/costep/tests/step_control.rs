//! Tolerances, rates and power bonds as the library offers them.

use costep::{Comparison, RateAdvice, Registry, Run, RunFolder, Simulation, System, Verdict};
use costep_results::Table;

const RIG: &str = r#"
[system]
stop = "0.1 s"
solver = "dopri5:1e-9"
[step]
tolerance = 1e-3
[method]
id = "foh"
[native.a]
model = "dual-mass"
part = "s1"
[native.b]
model = "dual-mass"
part = "s2"
[[connect]]
from = "a.x"
to = "b.x"
[[connect]]
from = "a.v"
to = "b.v"
bond = "spring"
[[connect]]
from = "b.F"
to = "a.F"
bond = "spring"
"#;

fn rig(change: impl Fn(String) -> String) -> System {
    System::from_toml(&change(RIG.into()), "rig/system.toml", Registry::standard()).unwrap()
}

#[test]
fn a_tolerance_is_met_whatever_the_run_is_compared_with() {
    for control in ["defect", "predictor-corrector", "richardson", "ecco"] {
        let system = rig(|text| {
            text.replace("tolerance = 1e-3", &format!("tolerance = 1e-3\ncontrol = \"{control}\""))
        });
        for reference in ["same", "dopri5:1e-11", "step"] {
            let outcome = system.run(Run::new().reference(reference)).unwrap();
            let error = outcome.report.errors.eps_mono.unwrap();
            println!("{control} {reference}: {error:.1e}, {:?}", outcome.report.work.control_line());
            assert!((2e-5..5e-3).contains(&error), "{control} {reference}: {error:e}");
            assert_eq!(outcome.verdict(), Verdict::Stable, "{control} {reference}");
            assert_eq!(outcome.to, 0.1);
        }
        // By the monolithic solution at some points, and by a second run.
        let outcome = system.run(Run::new()).unwrap();
        assert_eq!((outcome.verdict(), outcome.report.judged_by), (Verdict::Stable, Some("twin")));
        let estimate = outcome.report.error_estimate.unwrap().value;
        assert!((2e-5..5e-3).contains(&estimate), "{control}: {estimate:e}");
    }
    let compared = rig(|text| text).compare(&Comparison::new().method("zoh").method("predictive")).unwrap();
    assert_eq!((compared.reports.len(), compared.references.len()), (2, 1));
    for report in &compared.reports {
        let error = report.errors.eps_mono.unwrap();
        assert!(
            (1e-4..5e-3).contains(&error) && report.work.control.is_some(),
            "{}: {error:e}",
            report.method
        );
    }
}

#[test]
fn rows_are_recorded_at_the_times_asked_for_and_a_stopped_run_goes_on() {
    let every = |text: String| text + "[record]\nevery = \"7 ms\"\n";
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    rig(every).run(Run::new().record(path("whole").as_path())).unwrap();
    let open = |name: &str| Table::open(&path(name).join("results.arrows")).unwrap();
    let whole = open("whole");
    let expected: Vec<f64> = (0..=14).map(|k| 0.007 * f64::from(k)).collect();
    let times = whole.values("t").unwrap();
    assert!(times.iter().zip(&expected).all(|(t, e)| (t - e).abs() < 1e-15), "{times:?}");
    assert_eq!(times.len(), 15);
    let (mut stopped, cancel) = (0, costep::Cancel::new());
    let outcome = rig(every)
        .run_with(Run::new().record(path("cut").as_path()).cancel(&cancel), &mut |_| {
            stopped += 1;
            if stopped == 150 {
                cancel.raise();
            }
            Ok(costep::Flow::Continue)
        })
        .unwrap();
    assert!(outcome.can_be_resumed, "{:?}", outcome.error());
    Simulation::resume(&RunFolder::lock(&path("cut")).unwrap(), Run::new()).unwrap().complete().unwrap();
    let cut = open("cut");
    for column in whole.columns() {
        let bits = |table: &Table| {
            table.values(&column.name).unwrap().iter().map(|v| v.to_bits()).collect::<Vec<_>>()
        };
        assert_eq!(bits(&cut), bits(&whole), "{}", column.name);
    }
    assert!(whole.columns().iter().any(|column| column.name == "bond.spring.energy_error"));
}

#[test]
fn bonds_tell_what_they_lose() {
    let outcome = rig(|text| text).run(Run::new()).unwrap();
    let [bond] = &outcome.report.bonds[..] else { panic!("{:?}", outcome.report.bonds) };
    assert!(bond.name == "spring" && bond.exchanged > 1.0 && bond.error.unwrap() < 1e-2, "{bond:?}");
    let fixed = |method: &str| {
        let text = |text: String| text.replace("tolerance = 1e-3", "size = \"1 ms\"");
        rig(text).run(Run::new().method(method)).unwrap().report.bonds[0].error.unwrap()
    };
    let (zoh, foh) = (fixed("zoh"), fixed("foh"));
    // A quarter of the energy and more: nothing grows, but that is not plain stability, whatever it is judged by.
    for reference in ["auto", "none", "same"] {
        let judged = |method: &str| {
            let text =
                |text: String| text.replace("tolerance = 1e-3", "size = \"1 ms\"").replace("0.1 s", "0.2 s");
            let outcome = rig(text).run(Run::new().method(method).reference(reference)).unwrap();
            (outcome.verdict(), outcome.report.message.clone().unwrap_or_default())
        };
        let (verdict, message) = judged("zoh");
        assert!(
            verdict == Verdict::Suspect && message.contains("spring: 27"),
            "{reference}: {verdict:?} {message}"
        );
        assert_eq!(judged("foh").0, Verdict::Stable, "{reference}");
    }
    assert!(zoh > 2.0 * foh && foh > bond.error.unwrap(), "{zoh} {foh}");
    let torn = rig(|text| text.replacen("bond = \"spring\"", "bond = \"other\"", 1));
    assert!(torn.run(Run::new()).unwrap().report.bonds.is_empty());
    assert_eq!(
        torn.project().warnings.iter().filter(|warning| warning.code() == costep::Code::NoBond).count(),
        2
    );
}

#[test]
fn parts_step_at_their_rates() {
    let steps = |rates: &str| {
        let text =
            |text: String| text.replace("tolerance = 1e-3", &format!("size = \"0.2 ms\"\nrates = {rates}"));
        rig(text).run(Run::new().reference("same")).unwrap()
    };
    let (base, slow, fast) = (steps("{}"), steps("{ a = 2 }"), steps("{ b = \"1/4\" }"));
    let error = |outcome: &costep::Outcome| outcome.report.errors.eps_mono.unwrap();
    println!("{:.1e} {:.1e} {:.1e}", error(&base), error(&slow), error(&fast));
    assert!(error(&slow) < 30.0 * error(&base) && error(&slow) > error(&base));
    assert!(error(&fast) < 2.0 * error(&base));
    assert_eq!(slow.report.work.macro_steps, 500);
}

/// A heavy mass that the coupling of two light ones pushes: it could step less often, if its steps cost something.
#[test]
fn rates_are_proposed_where_they_pay() {
    const HEAVY: &str = "[native.heavy]\nmodel = \"dual-mass\"\npart = \"s1\"\nset = { m1 = 1e4, c1 = 1e6 }\n\
                         [[connect]]\nfrom = \"b.F\"\nto = \"heavy.F\"\n[[connect]]";
    let system = rig(|text| {
        let text = text.replace("tolerance = 1e-3", "size = \"0.1 ms\"").replacen("[[connect]]", HEAVY, 1);
        text.replace("stop = \"0.1 s\"", "stop = \"1 s\"")
    });
    let advice = system.propose_rates(&[1e-4, 1e-4, 1e-3]).unwrap();
    let RateAdvice::Proposed(proposal) = &advice else { panic!("{advice:?}") };
    println!("{proposal:?}\n{}", proposal.toml());
    let [(part, count)] = &proposal.rates[..] else { panic!("{proposal:?}") };
    assert!(part == "heavy" && *count > 1 && proposal.saved > 0.3, "{proposal:?}");
    assert!(proposal.difference <= proposal.step_error, "{proposal:?}");
    // It is what a project takes, and the run is as good.
    let toml = proposal.toml().replace("[step]", "");
    let with = rig(|_| system.to_toml().replace("[step]", &format!("[step]{toml}")));
    let error = |system: &System| {
        let outcome = system.run(Run::new().reference("dopri5:1e-11")).unwrap();
        outcome.report.errors.eps_mono.unwrap()
    };
    let (plain, rated) = (error(&system), error(&with));
    println!("{plain:.1e} without, {rated:.1e} with rates");
    assert!(rated < 2.0 * plain, "{rated:e} {plain:e}");
    // Where the costly parts are the fast ones, or nothing costs anything, there is nothing to gain.
    assert!(matches!(system.propose_rates(&[1e-3, 1e-3, 1e-5]), Some(RateAdvice::Kept(_))));
    assert_eq!(system.propose_rates(&[1e-7; 3]), None);
    let varying = rig(|text| text);
    assert!(
        matches!(varying.propose_rates(&[1.0, 1.0]), Some(RateAdvice::Kept(why)) if why.contains("vary"))
    );
}

/// Less energy is lost where bonds are corrected, and the rest does not become worse.
#[test]
fn corrected_bonds_lose_less() {
    let run = |key: &str| {
        let system = rig(|text| text.replace("tolerance = 1e-3", &format!("size = \"0.2 ms\"\n{key}")));
        let outcome = system.run(Run::new().method("zoh").reference("dopri5:1e-11")).unwrap();
        (outcome.report.bonds[0].residual.abs(), outcome.report.errors.eps_mono.unwrap())
    };
    let (plain, corrected) = (run(""), run("correct_bonds = true"));
    println!("plain {plain:?}, corrected {corrected:?}");
    assert!(corrected.0 < 0.3 * plain.0 && corrected.1 < 1.1 * plain.1, "{plain:?} {corrected:?}");
}

/// Where the masses come to rest, lengths grow until the coupling itself is unstable: that is seen while it is small.
#[test]
fn steps_stay_within_the_edge_of_stability() {
    for tolerance in ["1e-2", "1e-3"] {
        let system = rig(|text| {
            let text =
                text.replace("\"foh\"", "\"nepce\"").replace("0.1 s", "1 s").replace("dopri5:1e-9", "exact");
            text.replace("tolerance = 1e-3", &format!("tolerance = {tolerance}"))
        });
        let outcome = system.run(Run::new()).unwrap();
        let control = outcome.report.work.control.clone().unwrap();
        println!("{tolerance}: {:?}, {control:?}", outcome.report.error_estimate);
        assert!(
            outcome.report.error.is_none() && outcome.verdict() == Verdict::Stable,
            "{:?}",
            outcome.report.error
        );
        let estimate = outcome.report.error_estimate.unwrap().value;
        assert!(
            estimate < tolerance.parse().unwrap() && control.longest_step > 2e-3,
            "{estimate:e}, {control:?}"
        );
    }
}

/// A stiff coupling comes to rest, and slow motion adds up what was lacking of its force.
#[test]
fn a_tolerance_that_is_missed_is_said() {
    let of = |part: &str, x: f64| {
        format!(
            "part = \"{part}\"\nset = {{ m1 = 1, c1 = 40, d1 = 0.4, m2 = 1, c2 = 40, d2 = 0.4, ck = 5e4, dk = 100, x1 = 0.1, x2 = {x} }}"
        )
    };
    for (method, is_missed) in [("foh", true), ("nepce", false)] {
        let system = rig(|text| {
            let text =
                text.replace("part = \"s1\"", &of("s1", 0.05)).replace("part = \"s2\"", &of("s2", 0.05));
            text.replace("\"foh\"", &format!("\"{method}\""))
                .replace("0.1 s", "2 s")
                .replace("dopri5:1e-9", "exact")
        });
        let outcome = system.run(Run::new()).unwrap();
        let said = outcome.report.warnings.iter().find(|text| text.contains("times the tolerance of 1e-3"));
        println!("{method}: {:?} {said:?}", outcome.report.error_estimate);
        assert_eq!(said.is_some(), is_missed, "{method}: {:?}", outcome.report.error_estimate);
    }
}
