//! What another crate adds is named in a project and keeps to what all methods keep to.

use costep::{Comparison, Run, System};
use costep_extension::{PROJECT, damped_line, heun, registry, smoothed};

#[test]
fn the_method_conforms() {
    costep_conformance::assert_conforms(&damped_line::ENTRY);
}

#[test]
fn the_source_conforms() {
    costep_conformance::assert_source_conforms(&smoothed::ENTRY);
}

#[test]
fn a_project_names_the_source_in_both_spellings() {
    let project = "[system]\nmodel = \"dual-mass\"\n[method]\nid = \"predictive\"\n";
    let open = |more: &str| System::from_toml(&format!("{project}{more}"), "rig.toml", registry()).unwrap();
    let apart = open("[models]\nsource = \"smoothed\"\nweight = 0.25\n");
    let together = open("source = \"smoothed\"\nweight = 0.25\n");
    let [one, two] = [apart, together].map(|system| system.run(Run::new()).unwrap());
    assert_eq!(one.report.method, "predictive:source=smoothed,weight=0.25");
    assert_eq!(one.report.method, two.report.method);
    assert_eq!(one.report.model_source.as_deref(), Some("smoothed"));
    let force = |outcome: costep::Outcome| outcome.results.unwrap().output("s2.F").unwrap().to_vec();
    assert_eq!(force(one), force(two));
    let unknown = System::from_toml(
        &format!("{project}[models]\nsource = \"smoothed\"\n"),
        "rig.toml",
        costep::Registry::standard(),
    );
    assert!(unknown.err().unwrap().to_string().contains("unknown source of models `smoothed`"));
}

#[test]
fn the_solver_conforms() {
    costep_conformance::assert_solver_conforms(&heun::ENTRY);
}

#[test]
fn a_project_and_a_reference_name_the_solver() {
    let open = |solver: &str| {
        System::opening("dual-mass")
            .registry(registry())
            .set("system.solver", solver)
            .set("method", "zoh")
            .open()
            .unwrap()
    };
    let system = open("heun:0.1 ms");
    assert!(system.to_toml().contains("heun:100us"), "{}", system.to_toml());
    let outcome = system.run(Run::new().reference("heun:10us")).unwrap();
    let error = outcome.report.errors.eps_mono.unwrap();
    let usual = open("rk4:0.1 ms").run(Run::new().reference("rk4:10us")).unwrap();
    // The coupling is what is inaccurate.
    assert!((error / usual.report.errors.eps_mono.unwrap() - 1.0).abs() < 0.05, "{error}");
    let unknown = System::opening("dual-mass").set("system.solver", "heun").open().err().unwrap();
    assert!(unknown.to_string().contains("unknown solver `heun`"), "{unknown}");
}

#[test]
fn a_project_names_them() {
    let system = System::from_toml(PROJECT, "room.toml", registry()).unwrap();
    assert!(system.to_toml().contains("damped-line"));
    let outcome = system.run(Run::new()).unwrap();
    let temperature = outcome.results.unwrap().output("room.temperature").unwrap();
    // It heats up and then stays within the band, but for a step's delay.
    assert_eq!(temperature[0], 15.0);
    assert!(temperature[400..].iter().all(|t| (19.0..21.0).contains(t)), "{:?}", &temperature[400..]);
    assert!(outcome.report.error.is_none());
}

#[test]
fn the_method_takes_part_in_comparisons() {
    let system =
        System::opening("dual-mass").registry(registry()).set("method", "damped-line").open().unwrap();
    let all = Comparison::all_methods(system.registry()).unwrap();
    assert!(all.iter().any(|method| method.entry.id == "damped-line"));
    let compared = system.compare(&Comparison::new().method("damped-line:alpha=1").method("foh")).unwrap();
    // With the whole slope it is the line through the last two values.
    assert_eq!(compared.reports[0].errors.eps_mono, compared.reports[1].errors.eps_mono);
}

#[test]
fn without_the_registry_the_names_are_unknown() {
    let errors = System::from_toml(PROJECT, "room.toml", costep::Registry::standard()).err().unwrap();
    let text = errors.to_string();
    assert!(text.contains("damped-line") && text.contains("thermostat"), "{text}");
}
