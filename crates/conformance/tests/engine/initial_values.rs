//! Consistent values at the start: y = g(x0, u), u = L y.

use costep_core::{Code, Description, InputList, PortKind, Restricted, Subsystem};
use costep_engine::{CONTROLS, ControlSpec, Engine};
use costep_integrate::Solver;

use costep_conformance::systems::{coupled, method, model};
use costep_conformance::toys::{Toy, error_of, wired};

/// y = gain u + 1.
fn amplifier(name: &str, gain: f64) -> Toy {
    Toy::new(name, 1, 1, move |_, u, y| {
        y[0] = gain * u[0] + 1.0;
        Ok(())
    })
}

#[test]
fn a_long_way_straight_through_settles_in_any_order() {
    // Listed against the direction of the signal: part i is fed by part i + 1.
    let toys = (0..100).map(|i| amplifier(&format!("a{i}"), 1.0).boxed());
    let source = Toy::source("source", |_| 5.0).boxed();
    let connections: Vec<_> = (0..100).map(|i| (i + 1, i)).collect();
    let engine = Engine::new(wired(toys.chain([source]).collect(), &connections, &method("zoh"))).unwrap();
    assert_eq!((engine.outputs()[0], engine.outputs()[99]), (105.0, 6.0));
}

#[test]
fn a_loop_settles_if_its_gain_is_below_one() {
    let toys = vec![amplifier("a", 0.5).boxed(), amplifier("b", -1.2).boxed()];
    let engine = Engine::new(wired(toys, &[(0, 1), (1, 0)], &method("zoh"))).unwrap();
    // a = b / 2 + 1, b = -1.2 a + 1.
    assert!((engine.outputs()[0] - 1.5 / 1.6).abs() < 1e-12);
    assert!((engine.coupled()[1] - engine.outputs()[0]).abs() < 1e-12);
}

/// a = gain b + 1, b = a + 1.
#[test]
fn a_loop_is_solved_whatever_its_gain() {
    for gain in [-1.0, 2.0, -50.0, 1e6, 1e200] {
        let toys = vec![amplifier("a", gain).boxed(), amplifier("b", 1.0).boxed()];
        let engine = Engine::new(wired(toys, &[(0, 1), (1, 0)], &method("zoh"))).unwrap();
        let a = (gain + 1.0) / (1.0 - gain);
        assert!((engine.outputs()[0] - a).abs() < 1e-9 * a.abs().max(1.0), "{gain}: {:?}", engine.outputs());
        assert!((engine.outputs()[1] - a - 1.0).abs() < 1e-9, "{gain}: {:?}", engine.outputs());
    }
}

/// y = rule(u).
fn rule(name: &str, rule: impl Fn(f64) -> f64 + Send + 'static) -> Toy {
    Toy::new(name, 1, 1, move |_, u, y| {
        y[0] = rule(u[0]);
        Ok(())
    })
}

#[test]
fn a_nonlinear_loop_is_solved() {
    // x = 2 cos x has a slope of about -1.7 at its solution.
    let toys = vec![rule("a", f64::cos).boxed(), rule("b", |u| 2.0 * u).boxed()];
    let engine = Engine::new(wired(toys, &[(0, 1), (1, 0)], &method("zoh"))).unwrap();
    assert!((engine.outputs()[1] - 1.029_866_529_322_259).abs() < 1e-12, "{:?}", engine.outputs());
    // The square root is not defined below 1: what is not a number is kept away from.
    let toys = vec![rule("a", |u| 10.0 * (u + 1e-3).sqrt() - 1.0).boxed(), rule("b", |u| u).boxed()];
    let engine = Engine::new(wired(toys, &[(0, 1), (1, 0)], &method("zoh"))).unwrap();
    let y = engine.outputs()[0];
    assert!((y - 10.0 * (y + 1e-3).sqrt() + 1.0).abs() < 1e-9 * y.abs().max(1.0), "{y}");
}

#[test]
fn a_loop_without_a_solution_is_shown() {
    for (first, second) in [(1.0, 0.0), (0.0, 1.0)] {
        let toys =
            vec![rule("a", move |u| u * first + u * u * second + 1.0).boxed(), rule("b", |u| u).boxed()];
        let error = error_of(wired(toys, &[(0, 1), (1, 0)], &method("zoh")));
        let text = error.to_string();
        assert_eq!(error.code(), Code::AlgebraicLoop, "{text}");
        assert!(
            text.contains("a.y0 -> b.u0 -> b.y0 -> a.u0 -> a.y0") && text.contains("residual of"),
            "{text}"
        );
    }
}

/// y = rule(u) for integers alone, as FMUs take them: anything else is an error.
fn counter(name: &str, next: impl Fn(f64) -> f64 + Send + 'static) -> Box<dyn Subsystem> {
    let mut toy = Toy::new(name, 1, 1, move |_, u, y| {
        assert_eq!(u[0], u[0].round(), "an integer was given a value in between");
        y[0] = next(u[0]);
        Ok(())
    });
    toy.description.inputs[0].kind = PortKind::Integer;
    toy.description.outputs[0].kind = PortKind::Integer;
    toy.boxed()
}

/// A controller gives a level by the temperature, a heater makes heat of it, a room that has no time to warm up temperature of heat.
#[test]
fn a_loop_through_integers_is_not_asked_for_values_in_between() {
    let toys = |level: fn(f64) -> f64| {
        let room = rule("room", |heat| 20.0 + 0.01 * heat).boxed();
        let mut controller = rule("controller", level);
        controller.description.outputs[0].kind = PortKind::Integer;
        let mut heater = rule("heater", |level| {
            assert_eq!(level, level.round(), "an integer was given a value in between");
            500.0 * level
        });
        heater.description.inputs[0].kind = PortKind::Integer;
        vec![room, controller.boxed(), heater.boxed()]
    };
    let wires = [(0, 1), (1, 2), (2, 0)];
    // Two levels lead to 30 degrees, at which there are still two.
    let engine =
        Engine::new(wired(toys(|t| if t < 32.0 { 2.0 } else { 1.0 }), &wires, &method("zoh"))).unwrap();
    assert_eq!(engine.outputs(), [30.0, 2.0, 1000.0]);
    // A switch that turns itself off without delay.
    let error = error_of(wired(toys(|t| if t < 22.0 { 1.0 } else { 0.0 }), &wires, &method("zoh")));
    let text = error.to_string();
    assert!(error.code() == Code::AlgebraicLoop && text.contains("do not settle at the start"), "{text}");
    assert!(text.contains("`heater.u0` still changes after 100 rounds, at last from "), "{text}");
}

/// Two that pass on what they get agree on one value, as from start values that differ.
#[test]
fn integers_that_follow_each_other_settle() {
    let toys = vec![counter("a", |u| u), counter("b", |u| u.max(3.0))];
    let engine = Engine::new(wired(toys, &[(0, 1), (1, 0)], &method("zoh"))).unwrap();
    assert_eq!(engine.outputs(), [3.0, 3.0]);
}

/// Parts that say nothing of their dependencies are taken to depend on everything: the loop that this makes is no loop, and
/// its values are those without it.
#[test]
fn missing_dependencies_do_not_invent_loops() {
    let model = model("dual-mass", &[("ck", 1e5), ("dk", 1e3), ("x1", 0.1), ("x2", 0.3), ("v1", 2.0)]);
    let known = Engine::new(coupled(&model, &Solver::Exact, &method("zoh"), 1.0, 1e-3)).unwrap();
    let mut system = coupled(&model, &Solver::Exact, &method("zoh"), 1.0, 1e-3);
    let unknown = |part| {
        let silent = |of: &mut Description| {
            let all: InputList = (0..of.inputs.len()).collect();
            of.feedthrough.fill(all);
        };
        Restricted::new(part).describe(silent).boxed()
    };
    system.subsystems = system.subsystems.into_iter().map(unknown).collect();
    let silent = Engine::new(system).unwrap();
    assert_eq!((silent.outputs(), silent.coupled()), (known.outputs(), known.coupled()));
}

/// Loops during the run, of parts without states: x = 2 cos(x + t), whose gain is above one, at every communication point.
#[test]
fn repeated_steps_solve_loops_during_the_run() {
    for label in ["iqn-ils", "iqn-ils:sweep=jacobi", "fixed-point", "ijcsa:jacobian=differences"] {
        let moving = Toy::new("a", 1, 1, |t, u, y| {
            y[0] = (u[0] + t).cos();
            Ok(())
        });
        let system =
            wired(vec![moving.boxed(), rule("b", |u| 2.0 * u).boxed()], &[(0, 1), (1, 0)], &method(label));
        let mut engine = Engine::new(system).unwrap();
        for _ in 0..50 {
            engine.step().unwrap();
            let (t, y) = (engine.time(), engine.outputs()[1]);
            assert!((y - 2.0 * (y + t).cos()).abs() < 1e-6, "{label} at {t}: {y}");
        }
        assert!(engine.warnings().next().is_none(), "{label}");
    }
    // u^2 + t, which has a solution for t < 1/4 only.
    let vanishing = Toy::new("a", 1, 1, |t, u, y| {
        y[0] = u[0] * u[0] + t;
        Ok(())
    });
    let stop = method("iqn-ils:without_convergence=stop");
    let error = error_of(wired(vec![vanishing.boxed(), rule("b", |u| u).boxed()], &[(0, 1), (1, 0)], &stop));
    assert!(error.code() == Code::Repeats && error.to_string().contains(".u0`"), "{error}");
}

#[test]
fn the_coupling_force_belongs_to_the_initial_positions() {
    let stretched = model("dual-mass", &[("ck", 1e5), ("dk", 1e3), ("x1", 0.1), ("x2", 0.3), ("v1", 2.0)]);
    let engine = Engine::new(coupled(&stretched, &Solver::Exact, &method("zoh"), 1.0, 1e-3)).unwrap();
    let force = 1e5 * (0.3 - 0.1) - 1e3 * 2.0;
    assert!((engine.outputs()[2] - force).abs() < 1e-9);
    assert_eq!(engine.coupled(), [engine.outputs()[2], 0.1, 2.0]);
}

/// Parts without local models that can go back: `auto` repeats steps where they form a loop, and not where they do not.
#[test]
fn auto_iterates_loops_of_parts_that_can_go_back() {
    let parts = |gain: f64| vec![rule("a", f64::cos).boxed(), rule("b", move |u| gain * u).boxed()];
    let boxes = |parts: Vec<Box<dyn Subsystem>>| -> Vec<Box<dyn Subsystem>> {
        parts.into_iter().map(|part| Restricted::new(part).without_linearisation().boxed()).collect()
    };
    let system = |connections: &[(usize, usize)]| wired(boxes(parts(2.0)), connections, &method("auto"));
    let engine = Engine::new(system(&[(0, 1), (1, 0)])).unwrap();
    let remark = engine.remarks().next().unwrap().to_owned();
    assert!(remark.starts_with("iqn-ils") && remark.contains("a.y0 -> b.u0 -> b.y0 -> a.u0"), "{remark}");
    let engine = Engine::new(system(&[(0, 1)])).unwrap();
    assert!(engine.remarks().next().unwrap().starts_with("identified"));
    // The same where steps vary; held inputs are left to `nepce` where no loop makes that unstable.
    let varying = |connections: &[(usize, usize)], rollback: bool, order: usize| {
        let mut system = system(connections);
        let takes = |part| Restricted::new(part).describe(|of| of.input_order = order).boxed();
        system.subsystems = system.subsystems.into_iter().map(takes).collect();
        if !rollback {
            let rigid = |part| Restricted::new(part).without_rollback().boxed();
            system.subsystems = system.subsystems.into_iter().map(rigid).collect();
        }
        let spec = ControlSpec::new(&CONTROLS[0], 1e-3, 10.0);
        system.experiment.step = spec.max;
        let control = spec.build(&system.experiment, &[]);
        let engine = Engine::with_control(system, control).unwrap();
        engine.remarks().next().unwrap().to_owned()
    };
    for (connections, rollback, order, picked) in [
        (&[(0, 1), (1, 0)][..], true, 1, "iqn-ils"),
        (&[(0, 1), (1, 0)], false, 1, "identified:form=ramp"),
        (&[(0, 1), (1, 0)], false, 0, "identified:form=hold"),
        (&[(0, 1)], true, 0, "nepce"),
    ] {
        let remark = varying(connections, rollback, order);
        assert!(remark.starts_with(picked), "{remark}");
    }
}
