//! Verdicts of runs without a reference, as users without one rely on them.

use costep::{
    Code, CustomPart, Error, External, NativePart, Outcome, Run, Subsystem, System, SystemBuilder, Verdict,
    Verify,
};
use costep_conformance::toys::Toy;

type Rule = fn(f64, &[f64], &mut [f64]) -> costep_core::Result<()>;

fn toy(name: &str, rule: Rule) -> CustomPart {
    let make = move |name: &str| -> costep_core::Result<Box<dyn Subsystem>> {
        Ok(Toy::new(name, 1, 1, rule).boxed())
    };
    CustomPart::new(name, make).unwrap()
}

/// A loop that multiplies what goes round by -1.5 per step, without nominal values, and fails in its own way beyond 1e9.
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
            if u[0].abs() > 1e9 {
                Err(Error::new(Code::FmuError, "too much"))
            } else {
                y[0] = u[0];
                Ok(())
            }
        },
        |_, u, y| {
            if u[0].abs() > 1e9 {
                Err(Error::new(Code::FmuDiscard, "no"))
            } else {
                y[0] = u[0];
                Ok(())
            }
        },
        |_, u, y| {
            y[0] = if u[0].abs() > 1e9 { f64::NAN } else { u[0] };
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
