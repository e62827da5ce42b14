//! Verdicts of runs without a reference, as users without one rely on them.

use costep::{
    Code, CustomPart, Error, External, NativePart, Outcome, Run, Subsystem, System, SystemBuilder, Verdict,
    Verify,
};
use costep_conformance::toys::Toy;
use costep_core::Restricted;
use std::sync::{Arc, Mutex};

type Rule = fn(f64, &[f64], &mut [f64]) -> costep_core::Result<()>;

fn toy(name: &str, rule: Rule) -> CustomPart {
    let make = move |name: &str| -> costep_core::Result<Box<dyn Subsystem>> {
        Ok(Toy::new(name, 1, 1, rule).boxed())
    };
    CustomPart::new(name, make).unwrap()
}

/// A loop that multiplies what goes round by -1.5 per step, without nominal values, and fails in its own way beyond 1e5: behind what
/// shows that it explodes, and before that alone ends the run.
fn exploding(fails: Rule) -> System {
    let pass: Rule = |t, u, y| {
        y[0] = if t > 0.0 { 1.0 - 1.5 * u[0] } else { 1.0 };
        Ok(())
    };
    System::builder()
        .native(toy("first", pass))
        .native(toy("second", fails))
        .connect("first.y0", "second.u0")
        .connect("second.y0", "first.u0")
        .set("schedule.kind", "parallel")
        .stop(2.0)
        .step(1e-3)
        .method("zoh")
        .build()
        .unwrap()
}

#[test]
fn a_run_that_explodes_has_diverged_whatever_then_fails() {
    let fails: [Rule; 4] = [
        |_, u, y| {
            if u[0].abs() > 1e5 {
                Err(Error::new(Code::FmuError, "too much"))
            } else {
                y[0] = u[0];
                Ok(())
            }
        },
        |_, u, y| {
            if u[0].abs() > 1e5 {
                Err(Error::new(Code::FmuDiscard, "no"))
            } else {
                y[0] = u[0];
                Ok(())
            }
        },
        |_, u, y| {
            y[0] = if u[0].abs() > 1e5 { f64::NAN } else { u[0] };
            Ok(())
        },
        |_, u, y| {
            y[0] = u[0];
            Ok(())
        },
    ];
    for rule in fails {
        let outcome = exploding(rule).run(Run::new()).unwrap();
        assert_eq!((outcome.verdict(), outcome.report.exit), (Verdict::Diverged, 3), "{:?}", outcome.error());
        assert!(outcome.to < 0.2, "{}", outcome.to);
    }
}

/// A failure while signals do nothing unusual is the failure of its part.
#[test]
fn a_failure_of_a_part_is_not_called_divergence() {
    let system = |fails: Rule| {
        System::builder()
            .native(toy("source", |t, _, y| {
                y[0] = (20.0 * t).sin();
                Ok(())
            }))
            .native(toy("sink", fails))
            .connect("source.y0", "sink.u0")
            .connect("sink.y0", "source.u0")
            .stop(2.0)
            .step(1e-2)
            .method("zoh")
            .build()
            .unwrap()
    };
    // From rest, and in the middle.
    let fails: [Rule; 2] = [
        |t, u, y| {
            if t > 0.005 {
                Err(Error::new(Code::FmuError, "by itself"))
            } else {
                y[0] = u[0];
                Ok(())
            }
        },
        |t, u, y| {
            if t > 0.9 {
                Err(Error::new(Code::FmuError, "by itself"))
            } else {
                y[0] = u[0];
                Ok(())
            }
        },
    ];
    for rule in fails {
        let outcome = system(rule).run(Run::new()).unwrap();
        assert_eq!(
            (outcome.verdict(), outcome.error().map(Error::code)),
            (Verdict::Failed, Some(Code::FmuError))
        );
    }
}

/// A PI controller and a plant of second order with a resonance.
fn controlled(is_black: bool) -> SystemBuilder {
    let controller = NativePart::new("controller", &[0.0])
        .input("y", "1", 1.0)
        .input("command", "1", 1.0)
        .output_of("u", "1", 1.0, &["y", "command"])
        .derivatives(|_, _, u, dx| dx[0] = 40.0 * (u[1] - u[0]))
        .outputs(|_, x, u, y| y[0] = 2.0 * (u[1] - u[0]) + x[0]);
    let plant = NativePart::new("plant", &[0.0, 0.0])
        .input("u", "1", 1.0)
        .output("y", "1", 1.0)
        .derivatives(|_, x, u, dx| {
            dx[0] = x[1];
            dx[1] = 1e4 * (u[0] - x[0]) - 200.0 * x[1];
        })
        .outputs(|_, x, _, y| y[0] = x[0]);
    let black = |part: NativePart, name: &'static str| {
        CustomPart::new(name, move |_| costep::Component::subsystem(&part, &costep::Solver::Dopri5(1e-9)))
            .unwrap()
    };
    let builder = System::builder();
    let builder = match is_black {
        true => builder.native(black(controller, "controller")).native(black(plant, "plant")),
        false => builder.native(controller).native(plant).solver("dopri5:1e-9"),
    };
    builder
        .connect("plant.y", "controller.y")
        .connect("controller.u", "plant.u")
        .drive("controller.command", External::Constant(1.0))
        .stop(1.2)
        .method("zoh")
}

fn verdict(is_black: bool, step: f64, run: Run) -> Outcome {
    controlled(is_black).step(step).build().unwrap().run(run).unwrap()
}

/// At 4 ms it is right, at 12 ms it explodes: whoever has no reference is told the same.
#[test]
fn a_controlled_plant_is_judged_alike_with_and_without_a_reference() {
    let mut words = Vec::new();
    for step in [4e-3, 6e-3, 8e-3, 10e-3, 12e-3] {
        let measured = verdict(false, step, Run::new().reference("dopri5:1e-10"));
        let twin = verdict(false, step, Run::new());
        let alone = verdict(true, step, Run::new());
        println!(
            "{step}: {:?} {:.2e}, {:?}, {:?} {:?}",
            measured.verdict(),
            measured.report.errors.eps_mono.unwrap_or(f64::NAN),
            twin.verdict(),
            alone.verdict(),
            alone.report.error_estimate
        );
        assert_eq!((twin.verdict(), alone.verdict()), (measured.verdict(), measured.verdict()), "{step}");
        words.push(measured.verdict());
    }
    assert_eq!((words[0], words[4]), (Verdict::Stable, Verdict::Unstable), "{words:?}");
    // By what was seen alone, what is unstable is not called stable.
    assert_ne!(verdict(true, 12e-3, Run::new().verify(Verify::Never)).verdict(), Verdict::Stable);
}

/// A part as a black box: nothing is known of it but its outputs.
fn black_box(part: NativePart) -> CustomPart {
    let name = costep::Component::description(&part).name.clone();
    let make = move |_: &str| {
        let inside = costep::Component::subsystem(&part, &costep::Solver::Dopri5(1e-10))?;
        let inside = Restricted::new(inside).without_linearisation().without_rollback();
        Ok(inside.describe(|description| description.input_order = 0).boxed())
    };
    CustomPart::new(&name, make).unwrap()
}

fn tank(name: &str, area: f64, level: f64) -> CustomPart {
    black_box(
        NativePart::new(name, &[level])
            .input("in", "m3/s", 1.0)
            .input("out", "m3/s", 1.0)
            .output("level", "m", 1.0)
            .derivatives(move |_, _, u, dx| dx[0] = (u[0] - u[1]) / area)
            .outputs(|_, x, _, y| y[0] = x[0]),
    )
}

/// What flows out of a tank, by its level alone.
fn valve(name: &str, size: f64) -> CustomPart {
    black_box(
        NativePart::new(name, &[])
            .input("level", "m", 1.0)
            .output_of("flow", "m3/s", 1.0, &["level"])
            .derivatives(|_, _, _, _| {})
            .outputs(move |_, _, u, y| y[0] = size * u[0].max(0.0).sqrt()),
    )
}

/// RMS error of the force between a mass and a spring with a damper, as a share of its range. The exact motion is known.
fn error_of_a_spring(method: &str) -> f64 {
    let (stiffness, damping) = (100.0, 2.0);
    let mass = NativePart::new("mass", &[1.0, 0.0])
        .input("force", "N", 1.0)
        .output("x", "m", 1.0)
        .output("v", "m/s", 1.0)
        .derivatives(|_, x, u, dx| dx.copy_from_slice(&[x[1], -u[0]]))
        .outputs(|_, x, _, y| y.copy_from_slice(x));
    let spring = NativePart::new("spring", &[])
        .input("x", "m", 1.0)
        .input("v", "m/s", 1.0)
        .output_of("force", "N", 1.0, &["x", "v"])
        .outputs(move |_, _, u, y| y[0] = stiffness * u[0] + damping * u[1]);
    let system = System::builder()
        .native(black_box(mass))
        .native(black_box(spring))
        .connect("spring.force", "mass.force")
        .connect("mass.x", "spring.x")
        .connect("mass.v", "spring.v")
        .stop(2.0)
        .step(0.01)
        .build()
        .unwrap();
    let outcome =
        system.run(Run::new().method(method).reference("none").verify(costep::Verify::Never)).unwrap();
    let results = outcome.results.as_ref().unwrap();
    let omega = (stiffness - 0.25 * damping * damping).sqrt();
    let exact = |t: f64| {
        let (decay, sine, cosine) = ((-0.5 * damping * t).exp(), (omega * t).sin(), (omega * t).cos());
        let (x, v) = (cosine + 0.5 * damping / omega * sine, -stiffness / omega * sine);
        decay * (stiffness * x + damping * v)
    };
    let square = |k: usize| (results.row(k)[2] - exact(results.times()[k])).powi(2);
    let points = results.times().len();
    ((1..points).map(square).sum::<f64>() / points as f64).sqrt() / (2.0 * stiffness)
}

/// A spring has no memory: it is given what its inputs are at the end of the step, where its force is read, and not their mean.
#[test]
fn what_has_no_memory_is_right_where_it_is_read() {
    let [held, paid_back, learnt] = ["zoh", "nepce", "auto"].map(error_of_a_spring);
    assert!(learnt < 0.2 * paid_back && paid_back < held, "{held} {paid_back} {learnt}");
}

/// Steps that are as short as may be are not shorter with less tolerance: a second run that is the same says nothing.
#[test]
fn a_second_run_with_the_same_steps_is_no_evidence() {
    let tank = |name: &str, level: f64| tank(name, 1.0, level);
    let system = |least: &str| {
        System::builder()
            .native(tank("upper", 2.0))
            .native(valve("valve", 0.5))
            .connect("upper.level", "valve.level")
            .connect("valve.flow", "upper.out")
            .drive("upper.in", External::Constant(0.1))
            .stop(4.0)
            .step(0.1)
            .set("step.tolerance", "1e-4")
            .set("step.min", least)
            .method("foh")
            .build()
            .unwrap()
    };
    let by = |least| system(least).run(Run::new()).unwrap().report.error_estimate.unwrap().by;
    assert_eq!((by("1 us"), by("100 ms")), ("half step", "defect"));
}

/// A ring of three parts, each of which gives half of its input on at once: what `nepce` gives back there is more from step to step.
#[test]
fn auto_gives_nothing_back_round_an_algebraic_loop() {
    let part = |name: &str, start: f64| {
        black_box(
            NativePart::new(name, &[start])
                .input("u", "1", 1.0)
                .output_of("y", "1", 1.0, &["u"])
                .derivatives(|_, x, u, dx| dx[0] = u[0] - x[0])
                .outputs(|_, x, u, y| y[0] = 0.5 * u[0] + 0.4 * x[0]),
        )
    };
    let ring = System::builder()
        .native(part("first", 1.0))
        .native(part("second", 0.0))
        .native(part("third", 0.0))
        .connect("first.y", "second.u")
        .connect("second.y", "third.u")
        .connect("third.y", "first.u")
        .stop(1.0)
        .step(0.01)
        .set("step.tolerance", "1e-3")
        .build()
        .unwrap();
    assert_ne!(ring.run(Run::new().method("nepce")).unwrap().verdict(), Verdict::Stable);
    let outcome = ring.run(Run::new().method("auto")).unwrap();
    assert_eq!(outcome.verdict(), Verdict::Stable, "{:?}", outcome.report.error_estimate);
}

/// What leaves one tank enters the next, whatever the method makes of it, and however each of the two is scheduled.
#[test]
fn three_tanks_keep_their_volume() {
    let areas = [1.5, 0.8, 2.0];
    let levels = [4.0, 1.0, 0.5];
    let system = System::builder()
        .native(tank("first", areas[0], levels[0]))
        .native(valve("upper", 0.02))
        .native(tank("second", areas[1], levels[1]))
        .native(valve("lower", 0.015))
        .native(tank("third", areas[2], levels[2]))
        .connect("first.level", "upper.level")
        .connect("upper.flow", "first.out")
        .connect("upper.flow", "second.in")
        .connect("second.level", "lower.level")
        .connect("lower.flow", "second.out")
        .connect("lower.flow", "third.in")
        .drive("first.in", External::Constant(0.0))
        .drive("third.out", External::Constant(0.0))
        .stop(500.0)
        .step(5.0)
        .build()
        .unwrap();
    let volume = |levels: [f64; 3]| areas.iter().zip(levels).map(|(area, level)| area * level).sum::<f64>();
    for method in ["zoh", "foh", "soh", "nepce", "identified", "identified:start=plain", "auto"] {
        let mut run = system.start(Run::new().method(method)).unwrap();
        run.run().unwrap();
        let now = ["first.level", "second.level", "third.level"].map(|name| run.output(name).unwrap());
        let lost = volume(now) - volume(levels);
        assert!(lost.abs() < 1e-9 * volume(levels), "{method}: {lost}");
        assert!(now[0] < 3.0, "{method}: nothing flows");
    }
}

/// A heater that is on below 19.5 and off above 20.5, and a room that remembers what it was heated with.
fn heated(step: f64, heat: &Arc<Mutex<(f64, f64)>>) -> System {
    let thermostat = CustomPart::new("thermostat", |name: &str| {
        let mut is_on = false;
        let rule = move |_: f64, u: &[f64], y: &mut [f64]| {
            is_on = if u[0] < 19.5 {
                true
            } else if u[0] > 20.5 {
                false
            } else {
                is_on
            };
            y[0] = if is_on { 4000.0 } else { 0.0 };
            Ok(())
        };
        let toy =
            Restricted::new(Toy::new(name, 1, 1, rule).boxed()).without_linearisation().without_rollback();
        Ok(toy.describe(|description| description.input_order = 0).boxed())
    });
    let seen = Arc::clone(heat);
    let room = NativePart::new("room", &[17.0])
        .input("heat", "W", 1000.0)
        .output("temperature", "degC", 10.0)
        .derivatives(move |_, x, u, dx| {
            let mut seen = seen.lock().unwrap();
            *seen = (seen.0.min(u[0]), seen.1.max(u[0]));
            dx[0] = (u[0] - 120.0 * (x[0] - 2.0)) / 9e5;
        })
        .outputs(|_, x, _, y| y[0] = x[0]);
    System::builder()
        .native(thermostat.unwrap())
        .native(black_box(room))
        .connect("thermostat.y0", "room.heat")
        .connect("room.temperature", "thermostat.u0")
        .stop(36_000.0)
        .step(step)
        .build()
        .unwrap()
}

/// Temperatures every 300 s, and the least and the greatest heat.
fn temperatures(method: &str, step: f64) -> (Vec<f64>, (f64, f64)) {
    let heat = Arc::new(Mutex::new((0.0, 0.0)));
    let mut run = heated(step, &heat).start(Run::new().method(method)).unwrap();
    let point = |run: &mut costep::Simulation, k: u32| {
        run.run_until(f64::from(k) * 300.0).unwrap();
        run.output("room.temperature").unwrap()
    };
    let temperatures = (0..=120).map(|k| point(&mut run, k)).collect();
    let held = run.finish().unwrap().report.held;
    assert_eq!(held, if method == "zoh" { vec![] } else { vec!["room.heat".to_owned()] });
    let heat = *heat.lock().unwrap();
    (temperatures, heat)
}

#[test]
fn a_heater_never_gives_more_than_it_has() {
    let (truth, _) = temperatures("zoh", 1.0);
    let error = |found: &[f64]| {
        let squares = found.iter().zip(&truth).map(|(a, b)| (a - b).powi(2));
        (squares.sum::<f64>() / truth.len() as f64).sqrt()
    };
    for step in [60.0, 300.0] {
        let held = error(&temperatures("zoh", step).0);
        for method in ["auto", "identified", "identified:start=plain"] {
            let (found, (least, most)) = temperatures(method, step);
            println!(
                "{method} {step} s: {:.3e} K, zoh {held:.3e} K, heat {least} to {most} W",
                error(&found)
            );
            assert!(least >= 0.0 && most <= 4000.0, "{method} {step}: {least} to {most} W");
            assert!(error(&found) <= held * (1.0 + 1e-9), "{method} {step}: {} > {held}", error(&found));
        }
    }
}

/// The loop is closed after 5000 steps, of which only a part is looked at: what then grows by a fifth per step is seen all the same.
#[test]
fn an_explosion_is_seen_late_in_a_long_run() {
    let first: Rule = |t, u, y| {
        y[0] = if t > 5.0 { 0.5 - 1.44 * u[0] } else { (9.0 * t).sin() };
        Ok(())
    };
    let second: Rule = |_, u, y| {
        y[0] = u[0];
        Ok(())
    };
    let system = System::builder()
        .native(toy("first", first))
        .native(toy("second", second))
        .connect("first.y0", "second.u0")
        .connect("second.y0", "first.u0")
        .set("schedule.kind", "parallel")
        .stop(20.0)
        .step(1e-3)
        .method("zoh")
        .build()
        .unwrap();
    let outcome = system.run(Run::new()).unwrap();
    assert_eq!((outcome.verdict(), outcome.report.exit), (Verdict::Diverged, 3), "{:?}", outcome.error());
    assert!((5.0..6.0).contains(&outcome.to), "{}", outcome.to);
}

#[test]
fn what_grows_exponentially_is_not_called_stable_unseen() {
    // Each window of this run has ten times the amplitude of the one before, and the inputs follow closely.
    let run = Run::new().method("zoh").reference("none").verify(Verify::Never);
    let report = System::open("chain").unwrap().run(run).unwrap().report;
    assert_eq!(report.verdict, Verdict::Suspect);
    assert!(report.doubt.unwrap().reason.contains("same factor"));
}

/// The oscillator rests after a tenth of a second: its root mean square error falls with the root of the time of the run, whichever
/// second solution it is measured by. Of 250 points that are spread evenly over a hundred seconds the second is at rest.
#[test]
fn an_error_at_the_beginning_counts_however_long_the_run() {
    for verify in [Verify::Always, Verify::Cheap] {
        let error = |stop: f64| {
            let system = System::opening("dual-mass").set("ck", "1e5").set("dk", "1e3").open().unwrap();
            let run = Run::new().method("nepce").step(1e-3).stop(stop).verify(verify);
            let run = if verify == Verify::Always { run.reference("none") } else { run };
            system.run(run).unwrap().report.error_estimate.unwrap().value
        };
        let falls_by = error(1.0) / error(100.0);
        assert!((8.0..13.0).contains(&falls_by), "{verify:?}: {falls_by}");
    }
}

#[test]
fn nobody_waits_for_a_reference_after_the_end_is_asked_for() {
    let limited = Run::new().reference("dopri5:1e-10").time_limit(Some(std::time::Duration::ZERO));
    let error = System::open("chain").unwrap().run(limited).unwrap_err();
    assert_eq!(error.code(), Code::TimeLimit);
}
