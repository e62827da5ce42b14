//! Runs that start from models of an earlier run: right ones help, wrong ones are noticed.

mod common;

use common::{Case, model, plain};
use costep_analysis::Identification;
use costep_ident::ModelFile;
use costep_integrate::Solver;
use costep_methods::MethodSpec;
use costep_system::SystemDescription;

/// Models of a run with half the least step of the tests.
fn learnt(model: &SystemDescription, source: &str) -> ModelFile {
    let method = format!("mbcorr:source={source}");
    let mut engine = Case::new(model, 5e-4, 1.0).engine(&method, plain);
    let spec = MethodSpec::parse(&method).unwrap();
    let mut identification = Identification::new(&engine, &spec);
    engine.run(&mut [&mut identification]).unwrap();
    identification.models(&engine, "test", &spec).unwrap()
}

/// Changes an entry of S_y (0) or S_p (1).
type Spoil = fn(&mut f64, usize);

/// Ways to be wrong.
const SPOILT: [(&str, Spoil); 4] = [
    ("as learnt", |_, _| {}),
    ("gains of the wrong sign", |entry, of| *entry *= if of == 1 { -1.0 } else { 1.0 }),
    ("ten times the gains", |entry, of| *entry *= if of == 1 { 10.0 } else { 1.0 }),
    ("outputs of no influence", |entry, of| *entry *= if of == 0 { 0.0 } else { 1.0 }),
];

fn spoil(file: &mut ModelFile, with: Spoil) {
    for model in &mut file.models {
        for (of, rows) in [&mut model.s_y, &mut model.s_p].into_iter().enumerate() {
            rows.iter_mut().flatten().for_each(|entry| with(entry, of));
        }
    }
}

/// Whatever a file says: never worse than twice the hold that is fallen back to, and with `identified`, whose fall-back is to learn, hardly worse
/// than without a file.
#[test]
fn models_that_are_worse_than_a_hold_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("models.toml");
    for name in ["dual-mass", "dual-mass-nonlinear"] {
        let oscillator = model(name, &[]);
        let cases = [1e-3, 2e-3, 5e-3].map(|step| (step, Case::new(&oscillator, step, 1.0)));
        for source in ["rls", "ij-rls", "moesp"] {
            let right = learnt(&oscillator, source);
            for (what, with) in SPOILT {
                let mut file = right.clone();
                spoil(&mut file, with);
                std::fs::write(&path, file.to_toml().unwrap()).unwrap();
                for (step, case) in &cases {
                    let (hold, none) = (case.eps("zoh", plain), case.eps("identified", plain));
                    let check = |method: String, limit: f64| {
                        let eps = case.eps(&method, plain);
                        let method = method.split(',').next().unwrap_or_default();
                        println!("{name} {source}, {what}, {step}: {method} {eps:.4}, limit {limit:.4}");
                        assert!(eps <= limit, "{name} {source}, {what}, {step}: {method} {eps} {limit}");
                    };
                    for method in ["prestep", "mbcorr", "predictive"] {
                        let method = format!("{method}:source=from-file,file={}", path.display());
                        check(method, 2.0 * hold);
                    }
                    check(format!("identified:file={}", path.display()), (2.0 * none).max(0.05));
                }
            }
        }
    }
}

/// Renewed models of a nonlinear system, and a spring that changes: as good as with Jacobians, or nearly.
#[test]
fn probes_follow_what_changes() {
    let nonlinear = model("dual-mass-nonlinear", &[]);
    let case = Case::new(&nonlinear, 1e-3, 1.0);
    let (hold, exact) = (case.eps("zoh", plain), case.eps("predictive", plain));
    for (options, factor) in
        [("refresh=never", 3.0), ("every=10", 2.0), ("refresh=changed", 2.0), ("every=1", 2.0)]
    {
        let eps = case.eps(&format!("predictive:source=probe,{options}"), plain);
        println!("{options}: {eps:.4}, exact {exact:.4}, hold {hold:.4}");
        assert!(eps < factor * exact && eps < 0.3 * hold, "{options}: {eps} {exact}");
    }
    let stiffening = common::stiffening();
    let case = Case::new(&stiffening, 1e-3, 1.0);
    let [exact, never, changed] =
        ["predictive", "predictive:source=probe", "predictive:source=probe,refresh=changed"]
            .map(|method| case.eps(method, plain));
    println!("stiffening: exact {exact:.5}, probe {never:.5}, renewed {changed:.5}");
    assert!(changed < 2.0 * exact + 1e-4 && changed <= never, "{exact} {never} {changed}");
}

/// Damping with a time constant of 30 us under macro steps of 10 ms, also with the noise of a solver that controls its errors.
#[test]
fn probes_see_modes_that_are_faster_than_trial_steps() {
    for solver in [Solver::Exact, Solver::Dopri5(1e-8)] {
        for ck in [1e3, 1e6] {
            let mut damped = model("dual-mass", &[("ck", ck), ("dk", 316_227.766)]);
            damped.solver = solver;
            for step in [2e-3, 5e-3, 7e-3, 1e-2] {
                let case = Case::new(&damped, step, 0.2);
                let [exact, probe] =
                    ["predictive", "predictive:source=probe"].map(|method| case.eps(method, plain));
                println!("{solver:?}, ck {ck:e}, {step} s: exact {exact:.4}, probe {probe:.4}");
                assert!(probe < 1.2 * exact, "{solver:?}, {ck:e}, {step}: {exact} {probe}");
            }
        }
    }
}
