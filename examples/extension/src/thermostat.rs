//! A room, as equations, and a thermostat, as a subsystem of its own kind: it switches, so that no equations
//! describe it.

use costep::{Component, CustomPart, ModelEntry, NativePart, Solver, SystemDescription};
use costep_core::{
    Description, Experiment, InputSegment, Interval, Persistence, Port, Result, Rollback, StateReader,
    StateWriter, StepOutcome, Subsystem,
};
use costep_models::{ParameterSpec, Parameters};

/// Row of the registry.
pub static ENTRY: ModelEntry = ModelEntry {
    id: "thermostat",
    title: "a room with a thermostat",
    summary: "A heated room and a controller that switches the heater on and off.",
    source: "an example",
    parameters: &[
        ParameterSpec::positive("power", "W", 2000.0, "power of the heater"),
        ParameterSpec::positive("band", "K", 1.0, "width of the band in which nothing is switched"),
    ],
    build,
};

fn build(p: &Parameters) -> SystemDescription {
    let (power, band) = (p.get("power"), p.get("band"));
    let room = NativePart::new("room", &[15.0])
        .input("heat", "W", 1e3)
        .output("temperature", "degC", 20.0)
        // 50 W go out per K above 5 degC; the room stores 100 kJ per K.
        .derivatives(|_, x, u, dx| dx[0] = (u[0] - 50.0 * (x[0] - 5.0)) / 1e5)
        .outputs(|_, x, _, y| y[0] = x[0]);
    let known = Thermostat::new("thermostat", power, band).description;
    let thermostat = CustomPart::of(known, move |name| Ok(Box::new(Thermostat::new(name, power, band))));
    let parts: Vec<Box<dyn Component>> = vec![Box::new(room), Box::new(thermostat)];
    SystemDescription::new(parts, Solver::Dopri5(1e-8), 7200.0, 10.0)
        .connected([((0, 0), (1, 0)), ((1, 0), (0, 0))])
}

/// Switches on below 20 degC, and off above it, by half of the band.
#[derive(Clone)]
struct Thermostat {
    description: Description,
    power: f64,
    band: f64,
    is_on: bool,
    before: bool,
    u: [f64; 1],
}

impl Thermostat {
    fn new(name: &str, power: f64, band: f64) -> Self {
        let description = Description {
            name: name.into(),
            inputs: vec![Port::new("temperature", "degC", 20.0)],
            outputs: vec![Port::new("heat", "W", 1e3)],
            // What it switches to, it says at the end of a step: nothing passes directly.
            feedthrough: vec![Default::default()],
            input_order: usize::MAX,
            ..Description::default()
        };
        Self { description, power, band, is_on: true, before: true, u: [0.0] }
    }

    fn heat(&self) -> f64 {
        if self.is_on { self.power } else { 0.0 }
    }
}

impl Subsystem for Thermostat {
    fn description(&self) -> &Description {
        &self.description
    }

    fn initialise(&mut self, _experiment: &Experiment) -> Result<()> {
        self.is_on = true;
        Ok(())
    }

    fn initial_outputs(&mut self, _u: &[f64], y: &mut [f64]) -> Result<()> {
        y[0] = self.heat();
        Ok(())
    }

    fn step(&mut self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        u.evaluate(interval.length, &mut self.u);
        let above = self.u[0] - 20.0;
        if above.abs() > 0.5 * self.band {
            self.is_on = above < 0.0;
        }
        y[0] = self.heat();
        Ok(StepOutcome { reached: interval.end })
    }

    fn terminate(&mut self) {}
}

// What it can do beyond a step: go back, and be written to checkpoints.
costep_core::handles!(Thermostat {
    rollback: some,
    linearised: none,
    micro_recorder: none,
    environment: none,
    persistence: some,
    telemetry: none
});

impl Rollback for Thermostat {
    fn snapshot(&mut self) -> Result<()> {
        self.before = self.is_on;
        Ok(())
    }

    fn restore(&mut self) -> Result<()> {
        self.is_on = self.before;
        Ok(())
    }
}

impl Persistence for Thermostat {
    fn save(&self, out: &mut StateWriter) -> Result<()> {
        out.integer(self.is_on.into());
        Ok(())
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.is_on = from.integer()? != 0;
        Ok(())
    }
}
