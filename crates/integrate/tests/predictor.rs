//! Counts of steps at communication points with jumping inputs, against CVODE 6.4.1 with the same corrections made
//! in its private memory (figures of an independent C program; Andersson et al. 2016, tables 2 and 3).

use costep_core::Result;
use costep_integrate::multistep::{AtPoint, Equations, Family, Multistep, Settings, Statistics};
use costep_linalg::Matrix;

const MODES: [AtPoint; 4] =
    [AtPoint::Restart, AtPoint::Proceed, AtPoint::CorrectFirst, AtPoint::CorrectSecond];

/// One half of a coupled system of two equal-sized halves of two states, under known inputs.
trait Half {
    /// (x, v)' under the inputs.
    fn f(&self, x: &[f64], u: [f64; 3]) -> [f64; 2];
    /// df/dx.
    fn fx(&self, x: &[f64], u: [f64; 3]) -> [[f64; 2]; 2];
    /// f_u u'.
    fn fu(&self, x: &[f64], u_dot: [f64; 3]) -> [f64; 2];
}

/// Right half of the triple spring, [A16] (17).
struct Triple;

impl Half for Triple {
    fn f(&self, x: &[f64], u: [f64; 3]) -> [f64; 2] {
        [x[1], -75.0 * x[0] - 2.1 * x[1] + 25.0 * u[0] + 0.1 * u[1]]
    }
    fn fx(&self, _: &[f64], _: [f64; 3]) -> [[f64; 2]; 2] {
        [[0.0, 1.0], [-75.0, -2.1]]
    }
    fn fu(&self, _: &[f64], u_dot: [f64; 3]) -> [f64; 2] {
        [0.0, 25.0 * u_dot[0] + 0.1 * u_dot[1]]
    }
}

/// Left pendulum, [A16] (18).
struct Pendulum;

impl Half for Pendulum {
    fn f(&self, x: &[f64], u: [f64; 3]) -> [f64; 2] {
        [x[1], (-9.81 + u[2]) * x[0].sin() + (u[0] + u[1]) * x[0].cos()]
    }
    fn fx(&self, x: &[f64], u: [f64; 3]) -> [[f64; 2]; 2] {
        [[0.0, 1.0], [(-9.81 + u[2]) * x[0].cos() - (u[0] + u[1]) * x[0].sin(), 0.0]]
    }
    fn fu(&self, x: &[f64], u_dot: [f64; 3]) -> [f64; 2] {
        [0.0, u_dot[2] * x[0].sin() + (u_dot[0] + u_dot[1]) * x[0].cos()]
    }
}

struct Driven<'a> {
    half: &'a dyn Half,
    start: f64,
    u: [f64; 3],
    slope: [f64; 3],
}

impl Driven<'_> {
    fn input(&self, t: f64) -> [f64; 3] {
        std::array::from_fn(|j| self.u[j] + self.slope[j] * (t - self.start))
    }
}

impl Equations for Driven<'_> {
    fn derivatives(&mut self, t: f64, x: &[f64], x_dot: &mut [f64]) -> Result<()> {
        x_dot.copy_from_slice(&self.half.f(x, self.input(t)));
        Ok(())
    }
    fn jacobian(&mut self, t: f64, x: &[f64], jacobian: &mut Matrix) -> Result<bool> {
        jacobian.data_mut().copy_from_slice(self.half.fx(x, self.input(t)).as_flattened());
        Ok(true)
    }
    fn second_derivative(&mut self, t: f64, x: &[f64], f: &[f64], out: &mut [f64]) -> Result<bool> {
        let (fx, fu) = (self.half.fx(x, self.input(t)), self.half.fu(x, self.slope));
        (0..2).for_each(|i| out[i] = fx[i][0] * f[0] + fx[i][1] * f[1] + fu[i]);
        Ok(true)
    }
}

/// States of the whole system at `points` equal intervals, by Runge-Kutta steps that are as good as exact.
fn reference(f: impl Fn(f64, [f64; 4]) -> [f64; 4], x: [f64; 4], end: f64, points: usize) -> Vec<[f64; 4]> {
    let inner = 20_000 / points;
    let h = end / (points * inner) as f64;
    let axpy = |x: [f64; 4], h: f64, k: [f64; 4]| std::array::from_fn(|i| x[i] + h * k[i]);
    let (mut x, mut states) = (x, vec![x]);
    for step in 0..points * inner {
        let t = step as f64 * h;
        let k1 = f(t, x);
        let k2 = f(t + h / 2.0, axpy(x, h / 2.0, k1));
        let k3 = f(t + h / 2.0, axpy(x, h / 2.0, k2));
        let k4 = f(t + h, axpy(x, h, k3));
        x = std::array::from_fn(|i| x[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
        if (step + 1) % inner == 0 {
            states.push(x);
        }
    }
    states
}

/// Inputs of a segment: value and slope at its start.
type Segment = ([f64; 3], [f64; 3]);

fn run(
    half: &dyn Half,
    x: &[f64],
    segments: &[Segment],
    family: Family,
    mode: AtPoint,
) -> Option<Statistics> {
    let mut solver = Multistep::new(Settings::new(family, 1e-6, vec![1e-8; 2]));
    solver.start(0.0, x);
    let h = 2.0 / segments.len() as f64;
    for (i, (u, slope)) in segments.iter().enumerate() {
        let mut driven = Driven { half, start: i as f64 * h, u: *u, slope: *slope };
        if i > 0 {
            solver.inputs_changed(&mut driven, mode).ok()?;
        }
        solver.advance(&mut driven, (i + 1) as f64 * h, |_| ()).ok()?;
        assert_eq!(solver.t(), (i + 1) as f64 * h);
    }
    Some(solver.statistics())
}

/// The whole triple spring, [A16] (16).
fn triple(x: [f64; 4]) -> [f64; 4] {
    let [x1, v1, x2, v2] = x;
    [v1, -35.0 * x1 - 1.1 * v1 + 25.0 * x2 + 0.1 * v2, v2, -75.0 * x2 - 2.1 * v2 + 25.0 * x1 + 0.1 * v1]
}

/// Twenty segments that start right, with the backward difference as slope.
fn triple_segments(x: [f64; 4]) -> Vec<Segment> {
    let states = reference(|_, x| triple(x), x, 2.0, 20);
    let input = |x: &[f64; 4]| [x[0], x[1], 0.0];
    (0..20)
        .map(|i| {
            let (now, before) = (input(&states[i]), input(&states[i.saturating_sub(1)]));
            (now, std::array::from_fn(|j| (now[j] - before[j]) / 0.1))
        })
        .collect()
}

/// Twenty segments that start right, with the true slope.
fn triple_tangents(x: [f64; 4]) -> Vec<Segment> {
    let states = reference(|_, x| triple(x), x, 2.0, 20);
    let tangent = |x: &[f64; 4]| {
        let slope = triple(*x);
        ([x[0], x[1], 0.0], [slope[0], slope[1], 0.0])
    };
    states[..20].iter().map(tangent).collect()
}

fn spring(a: f64, b: f64, stiffness: f64) -> [f64; 2] {
    let (dx, dy) = (1.0 + b.sin() - a.sin(), a.cos() - b.cos());
    let length = dx.hypot(dy);
    let force = stiffness * (length - 1.0) / length;
    [force * dx, force * dy]
}

/// Forty constant segments.
fn pendulum_segments(x: [f64; 4], stiffness: f64) -> Vec<Segment> {
    let whole = |t: f64, x: [f64; 4]| {
        let [fx, fy] = spring(x[0], x[2], stiffness);
        let push = |phase: f64| (5.0 * t + phase).sin();
        let [_, a] = Pendulum.f(&x[..2], [push(0.0), fx, fy]);
        let [_, b] = Pendulum.f(&x[2..], [push(std::f64::consts::FRAC_PI_2), -fx, -fy]);
        [x[1], a, x[3], b]
    };
    let states = reference(whole, x, 2.0, 40);
    (0..40)
        .map(|i| {
            let [fx, fy] = spring(states[i][0], states[i][2], stiffness);
            ([(5.0 * i as f64 * 0.05).sin(), fx, fy], [0.0; 3])
        })
        .collect()
}

#[track_caller]
fn near(what: &str, ours: u64, cvode: u64, tolerance: f64) {
    let ratio = ours as f64 / cvode as f64;
    assert!((ratio - 1.0).abs() <= tolerance, "{what}: {ours} against {cvode} of CVODE");
}

#[test]
fn triple_spring_counts_are_those_of_cvode() {
    let x = [1.0, 0.0, 1.0, 0.0];
    let expected = [
        (Family::Bdf, [(613, 872), (901, 1326), (611, 851), (343, 472)]),
        (Family::Adams, [(361, 678), (440, 753), (310, 490), (241, 364)]),
    ];
    for (family, rows) in expected {
        for (mode, (steps, evaluations)) in MODES.into_iter().zip(rows) {
            let ours = run(&Triple, &x[2..], &triple_segments(x), family, mode).unwrap();
            println!("{family:?} {mode:?} {ours:?}");
            near(&format!("{family:?} {mode:?} steps"), ours.steps, steps, 0.15);
            near(&format!("{family:?} {mode:?} evaluations"), ours.evaluations, evaluations, 0.15);
        }
    }
}

#[test]
fn pendulum_counts_are_those_of_cvode() {
    let x = [0.2, 0.0, -0.2, 0.0];
    let expected = [
        (Family::Bdf, [(907, 1373), (1234, 2019), (880, 1302), (536, 747)]),
        (Family::Adams, [(527, 1044), (620, 1226), (491, 823), (367, 601)]),
    ];
    for (family, rows) in expected {
        for (mode, (steps, evaluations)) in MODES.into_iter().zip(rows) {
            let ours = run(&Pendulum, &x[..2], &pendulum_segments(x, 200.0), family, mode).unwrap();
            println!("{family:?} {mode:?} {ours:?}");
            near(&format!("{family:?} {mode:?} steps"), ours.steps, steps, 0.15);
            near(&format!("{family:?} {mode:?} evaluations"), ours.evaluations, evaluations, 0.15);
        }
    }
}

/// Medians over random starts of the steps of each mode, relative to a restart.
fn median_ratios(run: impl Fn(&mut dyn FnMut() -> f64, AtPoint) -> Option<Statistics>) -> [f64; 4] {
    let mut ratios: [Vec<f64>; 4] = Default::default();
    for draw in 0..24 {
        let counts = MODES.map(|mode| {
            let mut random = Random(draw + 1);
            run(&mut || random.next(), mode).map(|statistics| statistics.steps as f64)
        });
        for (ratios, count) in ratios.iter_mut().zip(counts) {
            ratios.extend(count.map(|count| count / counts[0].unwrap()));
        }
    }
    for (mode, ratios) in MODES.iter().zip(&ratios) {
        println!("{mode:?}: {} of 24 draws end", ratios.len());
    }
    assert!([0, 2, 3].iter().all(|mode: &usize| ratios[*mode].len() == 24), "only `proceed` may give up");
    ratios.map(|mut ratios| {
        ratios.sort_by(f64::total_cmp);
        let middle = ratios.len() / 2;
        if ratios.len() % 2 == 1 { ratios[middle] } else { (ratios[middle - 1] + ratios[middle]) / 2.0 }
    })
}

/// A small generator of numbers in [-1, 1], equal on all machines (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

#[track_caller]
fn near_medians(ours: [f64; 4], cvode: [f64; 3]) {
    println!("medians {ours:?}, CVODE {cvode:?}");
    for (ours, cvode) in ours[1..].iter().zip(cvode) {
        assert!((ours - cvode).abs() <= 0.06, "{ours} against {cvode} of CVODE");
    }
}

#[test]
fn random_starts_of_the_triple_spring_gain_as_with_cvode() {
    let medians = median_ratios(|random, mode| {
        let x: [f64; 4] = std::array::from_fn(|_| random());
        run(&Triple, &x[2..], &triple_tangents(x), Family::Bdf, mode)
    });
    near_medians(medians, [1.47, 0.93, 0.57]);
}

#[test]
fn random_starts_of_the_pendulum_gain_as_with_cvode() {
    let medians = median_ratios(|random, mode| {
        let stiffness = [200.0, 500.0, 1000.0][((random() + 1.0) * 1.499) as usize];
        let x = [random(), random(), random(), random()];
        run(&Pendulum, &x[..2], &pendulum_segments(x, stiffness), Family::Bdf, mode)
    });
    near_medians(medians, [1.44, 1.01, 0.63]);
}
