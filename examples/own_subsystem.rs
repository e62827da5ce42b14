//! A subsystem of any kind: a controller that is a program, not equations. Here a sampled PI controller
//! holds the speed of a motor whose equations are closures.

use costep::{CustomPart, NativePart, Run, Subsystem, System};
use costep_core::{Description, Experiment, InputSegment, Interval, Port, Result, StepOutcome};

struct Controller {
    description: Description,
    sum: f64,
    u: [f64; 1],
}

impl Controller {
    fn new(name: &str) -> Self {
        let description = Description {
            name: name.into(),
            inputs: vec![Port::new("speed", "rad/s", 100.0)],
            outputs: vec![Port::new("voltage", "V", 10.0)],
            feedthrough: vec![Default::default()],
            input_order: usize::MAX,
            ..Description::default()
        };
        Self { description, sum: 0.0, u: [0.0] }
    }
}

impl Subsystem for Controller {
    fn description(&self) -> &Description {
        &self.description
    }

    fn initialise(&mut self, _experiment: &Experiment) -> Result<()> {
        self.sum = 0.0;
        Ok(())
    }

    fn initial_outputs(&mut self, _u: &[f64], y: &mut [f64]) -> Result<()> {
        y[0] = 0.0;
        Ok(())
    }

    fn step(&mut self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        u.evaluate(interval.length, &mut self.u);
        let error = 100.0 - self.u[0];
        self.sum += error * interval.length;
        y[0] = 0.05 * error + 0.5 * self.sum;
        Ok(StepOutcome { reached: interval.end })
    }

    fn terminate(&mut self) {}
}

// It can do nothing but step, under inputs of any order.
costep_core::handles!(Controller {
    rollback: none,
    linearised: none,
    micro_recorder: none,
    environment: none,
    persistence: none,
    telemetry: none
});

pub(crate) fn main() -> std::result::Result<(), costep::Errors> {
    let motor = NativePart::new("motor", &[0.0])
        .input("voltage", "V", 10.0)
        .output("speed", "rad/s", 100.0)
        .derivatives(|_, x, u, dx| dx[0] = 20.0 * u[0] - 2.0 * x[0])
        .outputs(|_, x, _, y| y[0] = x[0]);
    let controller = CustomPart::new("controller", |name| Ok(Box::new(Controller::new(name))))?;
    let system = System::builder()
        .native(motor)
        .native(controller)
        .connect("motor.speed", "controller.speed")
        .connect("controller.voltage", "motor.voltage")
        .method("zoh")
        .stop(5.0)
        .step(0.01)
        .build()?;
    let outcome = system.run(Run::new())?;
    if let Some(results) = outcome.results {
        let speed = results.output("motor.speed")?;
        println!("speed at the end: {:.3} rad/s", speed[speed.len() - 1]);
        assert!((speed[speed.len() - 1] - 100.0).abs() < 1.0);
    }
    Ok(())
}
