//! Predictive coupling over power bonds neither creates nor removes energy: random passive pairs, coupled by force and
//! velocity, stay stable at any step.

use costep_core::{Connection, Experiment, Port};
use costep_engine::{Engine, Scheduling, System};
use costep_integrate::{Linear, Solver};
use costep_linalg::Matrix;
use costep_methods::MethodSpec;
use costep_system::Component;

/// Two masses m on springs k and dampers d, joined by a third spring and damper (index c) that belongs to the second. Force
/// goes to the first, velocity to the second: a power bond.
struct Pair {
    m1: f64,
    k1: f64,
    d1: f64,
    m2: f64,
    k2: f64,
    d2: f64,
    kc: f64,
    dc: f64,
}

impl Pair {
    fn new(next: &mut impl FnMut() -> f64) -> Self {
        let mut between = |low: f64, high: f64| 10f64.powf(low + (high - low) * next());
        let (m1, k1, d1) = (between(-1.0, 2.0), between(1.0, 7.0), between(-2.0, 3.0));
        let (m2, k2, d2) = (between(-1.0, 2.0), between(1.0, 7.0), between(-2.0, 3.0));
        let (kc, dc) = (between(1.0, 7.0), between(-2.0, 4.0));
        Self { m1, k1, d1, m2, k2, d2, kc, dc }
    }

    fn parts(&self, start: &[f64; 5]) -> [Linear; 2] {
        let Self { m1, k1, d1, m2, k2, d2, kc, dc } = self;
        let (first, second) = start.split_at(2);
        // States x1, v1; output v1.
        let mass: [&[f64]; 4] = [&[0.0, 1.0, -k1 / m1, -d1 / m1], &[0.0, 1.0 / m1], &[0.0, 1.0], &[0.0]];
        // States x2, v2, stretch s with s' = v2 - u; output kc s + dc (v2 - u), the force on the first.
        let a = [0.0, 1.0, 0.0, -k2 / m2, -(d2 + dc) / m2, -kc / m2, 0.0, 1.0, 0.0];
        let joined: [&[f64]; 4] = [&a, &[0.0, dc / m2, -1.0], &[0.0, *dc, *kc], &[-dc]];
        let port = |name: &str| vec![Port { name: name.into(), ..Port::default() }];
        let part = |name, matrices, start| Linear::new(name, (port("u"), port("y")), matrices, start);
        [part("a", mass, first), part("b", joined, second)]
    }

    /// What each state is at the same energy.
    fn scales(&self) -> [f64; 5] {
        [self.k1, self.m1, self.k2, self.m2, self.kc].map(|stored| 1.0 / stored.sqrt())
    }
}

/// One macro step of a coupled pair, from the outside: the states after it.
fn step(pair: &Pair, start: &[f64; 5], label: &str, h: f64) -> Vec<f64> {
    let spec = MethodSpec::parse(label).unwrap();
    let mut engine = Engine::new(System {
        scheduling: Scheduling::Parallel,
        ..System::new(
            pair.parts(start).iter().map(|part| part.subsystem(&Solver::Exact).unwrap()).collect(),
            vec![
                Connection { output: 1, input: 0, gain: 1.0 },
                Connection { output: 0, input: 1, gain: 1.0 },
            ],
            (spec.build(), spec.models()),
            Experiment { start: 0.0, stop: h, step: h },
        )
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
fn spectral_radius(pair: &Pair, label: &str, h: f64) -> f64 {
    // In units of energy, so that the eigenvalues of a badly scaled map come out well.
    let scales = pair.scales();
    let mut map = Matrix::zeros(5, 5);
    for column in 0..5 {
        let mut start = [0.0; 5];
        start[column] = scales[column];
        for (row, value) in step(pair, &start, label, h).into_iter().enumerate() {
            map[(row, column)] = value / scales[row];
        }
    }
    costep_linalg::spectral_radius(&map)
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
        let pair = Pair::new(&mut next);
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
