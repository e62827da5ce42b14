//! What callers of the library rely on.

use costep::{
    Cancel, Code, Comparison, CustomPart, Errors, External, Flow, NativePart, Outcome, Project, Registry,
    Run, RunFolder, Simulation, Snapshot, System, SystemBuilder, Verdict,
};

/// The halves of the built-in oscillator under names of our own.
fn halves() -> SystemBuilder {
    System::builder()
        .model("left", "dual-mass", "s1")
        .model("right", "dual-mass", "s2")
        .connect("left.x", "right.x")
        .connect("left.v", "right.v")
        .connect("right.F", "left.F")
}

fn bits(outcome: &Outcome) -> Vec<u64> {
    let results = outcome.results.as_ref().unwrap();
    (0..results.times().len()).flat_map(|k| results.row(k).iter().map(|value| value.to_bits())).collect()
}

#[test]
fn everything_can_be_moved_to_another_thread() {
    fn is_owned<T: Send + 'static>() {}
    is_owned::<System>();
    is_owned::<SystemBuilder>();
    is_owned::<Simulation>();
    is_owned::<Snapshot>();
    is_owned::<Run>();
    is_owned::<Outcome>();
    is_owned::<Comparison>();
    is_owned::<Cancel>();
    is_owned::<Errors>();
    is_owned::<RunFolder>();
    fn is_shared<T: Send + Sync>() {}
    is_shared::<System>();
    is_shared::<Project>();
    is_shared::<Registry>();
}

#[test]
fn a_system_built_by_names_has_the_bits_of_the_model() {
    let model = System::open("dual-mass").unwrap();
    let built = halves().build().unwrap();
    assert_eq!(
        built.outputs(),
        ["left.x", "left.v", "right.F"].map(String::from)[..],
        "{:?}",
        built.outputs()
    );
    let run = || Run::new().method("predictive").step(2e-3).stop(0.2);
    assert_eq!(bits(&model.run(run()).unwrap()), bits(&built.run(run()).unwrap()));
}

#[test]
fn single_steps_are_the_steps_of_a_run() {
    let system = System::open("chain").unwrap();
    let run = || Run::new().method("nepce").stop(0.2);
    let whole = system.run(run()).unwrap();
    let mut simulation = system.start(run()).unwrap();
    let time = 0.5 * whole.to;
    simulation.run_until(time).unwrap();
    assert!(simulation.time() >= time);
    while !simulation.is_done() {
        simulation.step().unwrap();
    }
    let last = simulation.number();
    simulation.step().unwrap();
    assert_eq!(simulation.number(), last, "the end is the end");
    let outcome = simulation.finish().unwrap();
    assert_eq!(bits(&whole), bits(&outcome));
    assert_eq!(whole.verdict(), outcome.verdict());
}

#[test]
fn a_run_goes_back_to_a_snapshot_also_of_its_start() {
    let system = System::open("dual-mass").unwrap();
    let mut simulation = system.start(Run::new().method("mbcorr").stop(0.1)).unwrap();
    let start = simulation.snapshot().unwrap();
    simulation.run_until(0.05).unwrap();
    let middle = simulation.snapshot().unwrap();
    simulation.run_until(0.1).unwrap();
    let end = simulation.output("s1.x").unwrap();
    for snapshot in [&middle, &start, &middle] {
        simulation.restore(snapshot).unwrap();
        simulation.run_until(0.1).unwrap();
        assert_eq!(simulation.output("s1.x").unwrap().to_bits(), end.to_bits());
    }
    let outcome = simulation.finish().unwrap();
    let unbroken = system.run(Run::new().method("mbcorr").stop(0.1)).unwrap();
    assert_eq!(bits(&outcome), bits(&unbroken));
    assert_eq!(outcome.verdict(), unbroken.verdict());
}

#[test]
fn a_recorded_run_does_not_go_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut simulation = System::open("dual-mass").unwrap().start(Run::new().record(folder.path())).unwrap();
    let snapshot = simulation.snapshot().unwrap();
    assert_eq!(simulation.restore(&snapshot).unwrap_err().code(), Code::NeedsMissing);
}

#[test]
fn a_run_that_an_observer_ends_is_not_called_stable() {
    let system = System::open("dual-mass").unwrap();
    let run = Run::new().method("predictive").reference("same");
    let outcome = system
        .run_with(run, &mut |step| Ok(if step.progress() < 0.5 { Flow::Continue } else { Flow::Stop }))
        .unwrap();
    assert_eq!((outcome.verdict(), outcome.error().is_none()), (Verdict::NotJudged, true));
    assert!(outcome.to < system.project().model.experiment.stop);
    assert!(outcome.report.errors.eps_mono.is_none() && outcome.reference.is_none());
}

#[test]
fn an_error_of_an_observer_ends_the_run_and_is_its_error() {
    let system = System::open("dual-mass").unwrap();
    let outcome =
        system.run_with(Run::new(), &mut |step| step.output("s1.y").map(|_| Flow::Continue)).unwrap();
    assert_eq!(outcome.verdict(), Verdict::Failed);
    let error = outcome.error().unwrap();
    assert_eq!(error.code(), Code::UnknownName);
    assert_eq!(outcome.report.work.macro_steps, 0);
}

#[test]
fn divergence_is_an_outcome_not_an_error_of_the_call() {
    let system = System::open("dual-mass").unwrap();
    let outcome = system.run(Run::new().method("zoh").step(5e-3).stop(50.0)).unwrap();
    assert_eq!((outcome.verdict(), outcome.error().unwrap().code()), (Verdict::Diverged, Code::Diverged));
}

#[test]
fn all_mistakes_of_a_system_are_reported_at_once() {
    let errors = halves()
        .connect("left.z", "right.x")
        .model("third", "dual-mas", "s1")
        .set("left.mm", "1")
        .method("zho")
        .build()
        .err()
        .unwrap();
    let text = errors.to_string();
    for part in ["left.z", "dual-mas", "mm", "zho"] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    assert!(errors.iter().count() >= 4, "{text}");
}

#[test]
fn two_parts_of_one_name_are_refused_wherever_they_come_from() {
    let part = || NativePart::new("left", &[0.0]).derivatives(|_, _, _, dx| dx[0] = 1.0);
    let errors = halves().native(part()).build().err().unwrap();
    assert_eq!(errors.first().code(), Code::Duplicate);
    let errors = System::builder().native(part()).native(part()).stop(1.0).step(0.1).build().err().unwrap();
    assert_eq!(errors.first().code(), Code::Duplicate);
}

#[test]
fn impossible_settings_of_a_run_are_refused() {
    let system = System::open("dual-mass").unwrap();
    let code = |run: Run| system.run(run).err().map(|error| error.code());
    assert_eq!(code(Run::new().step(0.0)), Some(Code::BadValue));
    assert_eq!(code(Run::new().step(f64::NAN)), Some(Code::BadValue));
    assert_eq!(code(Run::new().step(1e9)), Some(Code::BadValue));
    assert_eq!(code(Run::new().stop(f64::INFINITY)), Some(Code::BadValue));
    assert_eq!(code(Run::new().stop(-1.0)), Some(Code::BadValue));
    assert_eq!(code(Run::new().method("zho")), Some(Code::UnknownMethod));
    assert_eq!(code(Run::new().reference("step:0s")), Some(Code::BadValue));
}

#[test]
fn equations_in_code_are_solved_as_one_too() {
    let lag = |name: &str| {
        NativePart::new(name, &[1.0])
            .input("u", "1", 1.0)
            .output("y", "1", 1.0)
            .derivatives(|_, x, u, dx| dx[0] = 0.5 * u[0] - x[0])
            .outputs(|_, x, _, y| y[0] = x[0])
    };
    let system = System::builder()
        .native(lag("a"))
        .native(lag("b"))
        .connect("a.y", "b.u")
        .add_connection("b.y", "a.u", -1.0)
        .add_external("a.u", External::Step { value: 1.0, start: 1.0 })
        .stop(5.0)
        .step(0.05)
        .build()
        .unwrap();
    // A line does not know of the jump before it has happened: an error of first order in the step.
    for (method, bar) in [("predictive", 1e-3), ("foh", 1e-2), ("monolithic:solver=project", 1e-3)] {
        let report = system.run(Run::new().method(method).reference("same")).unwrap().report;
        assert_eq!(report.verdict, Verdict::Stable, "{method}: {:?}", report.error);
        assert!(report.errors.eps_mono.unwrap() < bar, "{method}: {:?}", report.errors.eps_mono);
    }
}

#[test]
fn a_part_that_is_made_under_another_name_is_refused() {
    let named = |name: &str| {
        let part: Box<dyn costep::Component> = Box::new(NativePart::new(name, &[0.0]));
        part.subsystem(&costep::Solver::Dopri5(1e-6))
    };
    let good = CustomPart::new("a", named).unwrap();
    let wrong = CustomPart::new("b", move |_| named("b")).unwrap();
    let alone = |part: CustomPart, name: &str| {
        let part = costep::Component::renamed(&part, name);
        part.subsystem(&costep::Solver::Exact).err().map(|error| error.code())
    };
    assert_eq!(alone(good, "c"), None);
    assert_eq!(alone(wrong, "c"), Some(Code::Bug));
}

/// The velocities of the helicopter [T (4.3)]: its climb rate is made of them, and a coupling by signals is the same with them.
#[test]
fn the_helicopter_shows_its_velocities_if_asked() {
    let run = |velocities: &str| {
        let system = System::opening("helicopter").set("velocities", velocities).open().unwrap();
        let mut run = system.start(Run::new().method("zoh").reference("none")).unwrap();
        run.run_until(6.0).unwrap();
        run
    };
    let (plain, shown) = (run("0"), run("1"));
    let climb = shown.output("helicopter.climb").unwrap();
    assert_eq!(climb.to_bits(), plain.output("helicopter.climb").unwrap().to_bits());
    let [vx, vy, vz] = ["vx", "vy", "vz"].map(|name| shown.output(&format!("helicopter.{name}")).unwrap());
    assert!((climb - (0.0595 * vx + 0.05329 * vy - 0.9968 * vz)).abs() < 1e-12, "{climb} {vx} {vy} {vz}");
    assert!(vx != 0.0 && vy != 0.0 && plain.output("helicopter.vx").is_err());
}
