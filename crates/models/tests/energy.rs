//! Without damping and without force the energy of a model stays.

mod common;

use common::{Random, model, state_sizes};
use costep_core::{Description, Experiment, InputPolynomials, LocalModel, Result, Subsystem, Telemetry};
use costep_integrate::{AfterEvent, Equations, Integrated, Solver, Whole};
use costep_models::MODELS;

/// A monolithic twin that starts elsewhere: some models start at rest.
struct StartedAt(Whole, Vec<f64>);

impl Equations for StartedAt {
    fn description(&self) -> &Description {
        self.0.description()
    }

    fn states(&self) -> usize {
        self.0.states()
    }

    fn start(&mut self, _t: f64, x: &mut [f64], _u: &mut [f64]) -> Result<AfterEvent> {
        x.copy_from_slice(&self.1);
        Ok(AfterEvent::default())
    }

    fn nominals(&self, x: &mut [f64]) {
        self.0.nominals(x);
    }

    fn derivatives(&mut self, t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) -> Result<()> {
        self.0.derivatives(t, x, u, x_dot)
    }

    fn outputs(&mut self, t: f64, x: &[f64], u: &[f64], y: &mut [f64]) -> Result<()> {
        self.0.outputs(t, x, u, y)
    }

    fn jacobians(&mut self, t: f64, x: &[f64], u: &[f64], model: &mut LocalModel) -> Result<()> {
        self.0.jacobians(t, x, u, model)
    }

    fn energy(&self, x: &[f64], u: &[f64]) -> Option<f64> {
        self.0.energy(x, u)
    }
}

/// The helicopter is given by matrices: nobody knows what its states store, and signals of a controller or levels of
/// water are no energy here. The source of the hydraulic lines gives energy all the time.
fn knows_its_energy(id: &str) -> bool {
    !["helicopter", "hydraulic", "pi-plant", "three-tanks"].contains(&id)
}

/// Parameters that switch off what takes or gives energy.
fn undamped(id: &str) -> &'static [(&'static str, f64)] {
    match id {
        "dual-mass" => &[("d1", 0.0), ("d2", 0.0), ("dk", 0.0)],
        // The progressive damper has to be positive: as good as nothing.
        "dual-mass-nonlinear" => {
            &[("d1", 0.0), ("d2", 0.0), ("d", 1e-12), ("dk_min", 1e-12), ("dk_max", 1e-12), ("force", 0.0)]
        }
        "pendulum-oscillator" => &[("d", 0.0)],
        "chain" => &[("d", 0.0), ("dg", 0.0), ("force", 0.0)],
        "hydraulic-linear" => &[("zeta", 0.0), ("omega0_tau", 1e300), ("flow", 0.0)],
        "triple-spring" => &[("c1", 0.0), ("c2", 0.0), ("c3", 0.0)],
        "coupled-pendula" => &[("push", 0.0)],
        "motor-drive" => &[("R", 0.0), ("b", 0.0), ("V", 0.0), ("load", 0.0)],
        "quarter-truck" => &[("c", 0.0), ("kerb", 0.0)],
        other => panic!("say how to make `{other}` conserve its energy"),
    }
}

/// Energies at the communication points of some oscillations.
fn energies(parameters: &[(&str, f64)], id: &str, steps: u64) -> Vec<f64> {
    let model = model(id, parameters);
    let twin = model.monolithic().unwrap();
    let start = Random(5).point(&state_sizes(&twin));
    let mut native = Integrated::new(StartedAt(twin, start), &Solver::Dopri5(1e-10)).unwrap();
    let experiment = Experiment { stop: 1.0, ..model.experiment };
    native.initialise(&experiment).unwrap();
    let (mut y, no_input) = (vec![0.0; native.description().outputs.len()], InputPolynomials::new(0, 0));
    native.initial_outputs(&[], &mut y).unwrap();
    let mut energies = vec![native.energy().unwrap()];
    for k in 0..steps {
        let interval = experiment.interval(k);
        native.step(interval, no_input.segment(0..0, 0), &mut y).unwrap();
        energies.push(native.energy().unwrap());
    }
    energies
}

#[test]
fn energy_is_conserved_without_damping() {
    for entry in MODELS.iter().filter(|entry| knows_its_energy(entry.id)) {
        let energies = energies(undamped(entry.id), entry.id, 500);
        let drift = energies.iter().map(|energy| (energy / energies[0] - 1.0).abs()).fold(0.0, f64::max);
        println!("{}: {drift:.1e}", entry.id);
        assert!(energies[0] > 0.0 && drift < 1e-6, "{}: {drift:e}", entry.id);
    }
}

#[test]
fn energy_falls_with_damping() {
    // The pendula have no damper.
    let damped = |id: &str| knows_its_energy(id) && id != "coupled-pendula";
    for entry in MODELS.iter().filter(|entry| damped(entry.id)) {
        let no_force: &[_] = match entry.id {
            "chain" | "dual-mass-nonlinear" => &[("force", 0.0)],
            "hydraulic-linear" => &[("flow", 0.0)],
            "motor-drive" => &[("V", 0.0), ("load", 0.0)],
            "quarter-truck" => &[("kerb", 0.0)],
            _ => &[],
        };
        let energies = energies(no_force, entry.id, 500);
        assert!(energies.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + 1e-9)), "{}", entry.id);
        assert!(energies[500] < 0.999 * energies[0], "{}", entry.id);
    }
}
