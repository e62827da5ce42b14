//! Predictive coupling over power bonds neither creates nor removes energy: random passive pairs, coupled by force and
//! velocity, stay stable at any step.

use costep_core::{
    Capabilities, Connection, Description, Experiment, InputSet, Linearisation, LocalModel, Port,
};
use costep_engine::{Engine, Group, Scheduling, System, Threads};
use costep_integrate::{Ode, Part, Renamable, Solver};
use costep_methods::MethodSpec;
use nalgebra::DMatrix;

/// x' = A x + B u, y = C x + D u from a given state.
#[derive(Clone)]
struct Linear {
    description: Description,
    model: LocalModel,
    start: Vec<f64>,
}

impl Linear {
    fn new(name: &str, states: usize, a: &[f64], b: &[f64], c: &[f64], d: f64) -> Self {
        let port = |name: &str| vec![Port { name: name.into(), ..Port::default() }];
        let description = Description {
            name: name.into(),
            inputs: port("u"),
            outputs: port("y"),
            feedthrough: vec![if d == 0.0 { vec![] } else { vec![0] }],
            capabilities: Capabilities {
                rollback: true,
                input_order: usize::MAX,
                linearisation: Linearisation::Full,
                micro_samples: None,
            },
        };
        let mut model = LocalModel::new(states, 1, 1);
        model.a.copy_from_slice(a);
        model.b.copy_from_slice(b);
        model.c.copy_from_slice(c);
        model.d[0] = d;
        Self { description, model, start: vec![0.0; states] }
    }
}

impl Renamable for Linear {
    fn description_mut(&mut self) -> &mut Description {
        &mut self.description
    }
}

impl Ode for Linear {
    fn description(&self) -> &Description {
        &self.description
    }

    fn states(&self) -> usize {
        self.model.states
    }

    fn initial_state(&self, x: &mut [f64]) {
        x.copy_from_slice(&self.start);
    }

    fn derivatives(&self, _t: f64, x: &[f64], u: &[f64], x_dot: &mut [f64]) {
        let n = self.model.states;
        for (i, x_dot) in x_dot.iter_mut().enumerate() {
            *x_dot = (0..n).map(|k| self.model.a[i * n + k] * x[k]).sum::<f64>() + self.model.b[i] * u[0];
        }
    }

    fn outputs(&self, _t: f64, x: &[f64], u: &[f64], y: &mut [f64]) {
        y[0] = self.model.c.iter().zip(x).map(|(c, x)| c * x).sum::<f64>() + self.model.d[0] * u[0];
    }

    fn jacobians(&self, _t: f64, _x: &[f64], _u: &[f64], model: &mut LocalModel) {
        model.a.copy_from_slice(&self.model.a);
        model.b.copy_from_slice(&self.model.b);
        model.c.copy_from_slice(&self.model.c);
        model.d.copy_from_slice(&self.model.d);
    }

    fn is_linear(&self) -> bool {
        true
    }
}

/// Two masses on springs and dampers, joined by a third spring and damper that belongs to the second. Force goes to
/// the first, velocity to the second: a power bond.
fn pair(next: &mut impl FnMut() -> f64) -> [Linear; 2] {
    let mut between = |low: f64, high: f64| 10f64.powf(low + (high - low) * next());
    let (m1, k1, d1) = (between(-1.0, 2.0), between(1.0, 7.0), between(-2.0, 3.0));
    let (m2, k2, d2) = (between(-1.0, 2.0), between(1.0, 7.0), between(-2.0, 3.0));
    let (kc, dc) = (between(1.0, 7.0), between(-2.0, 4.0));
    // States x1, v1; output v1.
    let first = Linear::new("a", 2, &[0.0, 1.0, -k1 / m1, -d1 / m1], &[0.0, 1.0 / m1], &[0.0, 1.0], 0.0);
    // States x2, v2, stretch s with s' = v2 - u; output kc s + dc (v2 - u), the force on the first.
    let a = [0.0, 1.0, 0.0, -k2 / m2, -(d2 + dc) / m2, -kc / m2, 0.0, 1.0, 0.0];
    let second = Linear::new("b", 3, &a, &[0.0, dc / m2, -1.0], &[0.0, dc, kc], -dc);
    [first, second]
}

/// One macro step of a coupled pair, from the outside: the states after it.
fn step(pair: &[Linear; 2], label: &str, h: f64) -> Vec<f64> {
    let spec = MethodSpec::parse(label).unwrap();
    let mut engine = Engine::new(System {
        subsystems: pair.iter().map(|part| part.subsystem(&Solver::Exact).unwrap()).collect(),
        connections: vec![
            Connection { output: 1, input: 0, gain: 1.0 },
            Connection { output: 0, input: 1, gain: 1.0 },
        ],
        models: spec.models(),
        externals: Vec::new(),
        groups: vec![Group { method: spec.build(), inputs: InputSet::All(2) }],
        scheduling: Scheduling::Parallel,
        bounds: Vec::new(),
        experiment: Experiment { start: 0.0, stop: h, step: h },
        threads: Threads::Fixed(1),
        micro_samples: false,
    })
    .unwrap();
    engine.step().unwrap();
    let state = engine.save().unwrap();
    // Each native part saves its time, its states and its inputs with their numbers, and a block that is empty here.
    let number = |at: usize| f64::from_le_bytes(state[at..at + 8].try_into().unwrap());
    let sizes = [2, 3];
    let tail = sizes.map(|n| 8 * (1 + 1 + n + 1 + 1 + 1));
    let mut at = state.len() - tail.iter().sum::<usize>();
    let mut states = Vec::new();
    for (n, length) in sizes.iter().zip(tail) {
        states.extend((0..*n).map(|i| number(at + 16 + 8 * i)));
        at += length;
    }
    states
}

/// Greatest absolute eigenvalue of the map over one macro step. Predictive coupling has no memory besides the states.
fn spectral_radius(pair: &[Linear; 2], label: &str, h: f64) -> f64 {
    // In units of energy, so that the eigenvalues of a badly scaled map come out well.
    let scale = |i: usize| -> f64 {
        let [first, second] = pair;
        match i {
            0 => 1.0 / (first.model.a[2].abs() / first.model.b[1]).sqrt(),
            1 => 1.0 / (1.0 / first.model.b[1]).sqrt(),
            2 => 1.0 / second.model.a[3].abs().sqrt(),
            3 => 1.0,
            _ => 1.0 / second.model.c[2].sqrt(),
        }
    };
    let mut map = DMatrix::zeros(5, 5);
    for column in 0..5 {
        let mut pair = pair.clone();
        let part = usize::from(column >= 2);
        pair[part].start[if part == 0 { column } else { column - 2 }] = scale(column);
        for (row, value) in step(&pair, label, h).into_iter().enumerate() {
            map[(row, column)] = value / scale(row);
        }
    }
    map.complex_eigenvalues().iter().map(|eigenvalue| eigenvalue.norm()).fold(0.0, f64::max)
}

#[test]
fn no_random_passive_pair_is_unstable_at_any_step() {
    let mut state = 20_261_115u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let (mut greatest, mut unstable_holds) = (0f64, 0);
    for k in 0..1500 {
        let pair = pair(&mut next);
        let h = 10f64.powf(-4.0 + 3.0 * next());
        let order = k % 4;
        let radius = spectral_radius(&pair, &format!("predictive:order={order}"), h);
        assert!(radius <= 1.0 + 1e-9, "pair {k}, order {order}, h = {h}: spectral radius {radius}");
        greatest = greatest.max(radius);
        // A hold of what the first step knows, to see that the pairs are not harmless.
        unstable_holds += usize::from(k % 10 == 0 && spectral_radius(&pair, "zoh", h) > 1.0 + 1e-9);
    }
    println!("greatest spectral radius {greatest}, unstable under zoh: {unstable_holds} of 150");
    assert!(unstable_holds > 20);
}
