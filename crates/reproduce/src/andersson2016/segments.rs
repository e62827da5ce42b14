//! A subsystem alone, under known inputs that are given piece by piece, as at communication points.

use costep_core::Result;
use costep_integrate::multistep::{AtPoint, Failure, Family, Multistep, RightHandSide, Settings, Statistics};
use costep_linalg::Matrix;

/// What to do at the joints, in the order of the paper's tables.
pub(super) const MODES: [AtPoint; 4] =
    [AtPoint::Restart, AtPoint::Proceed, AtPoint::CorrectFirst, AtPoint::CorrectSecond];

/// Equations of a subsystem that do not depend on time but through their inputs.
pub(super) trait Subject: Sync {
    /// f.
    fn f(&self, x: &[f64], u: &[f64], x_dot: &mut [f64]);

    /// df/dx; `false` if it is not known.
    fn fx(&self, _x: &[f64], _u: &[f64], _jacobian: &mut Matrix) -> bool {
        false
    }

    /// f_u u'; `false` if it is not known.
    fn fu(&self, _x: &[f64], _u_dot: &[f64], _out: &mut [f64]) -> bool {
        false
    }
}

/// Inputs over a piece: value at its start, and slope.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    pub(super) u: Vec<f64>,
    pub(super) slope: Vec<f64>,
}

/// A subsystem with all that is needed to run it.
pub(super) struct Setting {
    pub(super) subject: &'static dyn Subject,
    pub(super) start: Vec<f64>,
    /// Length of a segment.
    pub(super) length: f64,
    pub(super) segments: Vec<Segment>,
}

/// The equations over one segment.
struct Driven<'a> {
    subject: &'static dyn Subject,
    from: f64,
    segment: &'a Segment,
    u: &'a mut [f64],
    jacobian: &'a mut Matrix,
}

impl Driven<'_> {
    fn set_input(&mut self, t: f64) {
        let segment = self.segment.u.iter().zip(&self.segment.slope);
        self.u.iter_mut().zip(segment).for_each(|(u, (start, slope))| *u = start + slope * (t - self.from));
    }
}

impl RightHandSide for Driven<'_> {
    fn derivatives(&mut self, t: f64, x: &[f64], x_dot: &mut [f64]) -> Result<()> {
        self.set_input(t);
        self.subject.f(x, self.u, x_dot);
        Ok(())
    }

    fn jacobian(&mut self, t: f64, x: &[f64], jacobian: &mut Matrix) -> Result<bool> {
        self.set_input(t);
        Ok(self.subject.fx(x, self.u, jacobian))
    }

    fn second_derivative(&mut self, t: f64, x: &[f64], f: &[f64], out: &mut [f64]) -> Result<bool> {
        self.set_input(t);
        if !self.subject.fu(x, &self.segment.slope, out) || !self.subject.fx(x, self.u, self.jacobian) {
            return Ok(false);
        }
        let rows = self.jacobian.data().chunks_exact(f.len());
        out.iter_mut().zip(rows).for_each(|(out, row)| {
            *out += row.iter().zip(f).map(|(a, f)| a * f).sum::<f64>();
        });
        Ok(true)
    }
}

impl Setting {
    /// Tolerances of all runs [A16 sections 5.1 and 5.2]. The absolute one of the paper's text is 1e-6; 1e-8 is what the
    /// program it used makes of a relative tolerance of 1e-6.
    const TOLERANCES: (f64, f64) = (1e-6, 1e-8);

    /// Runs through all segments and shows each step.
    pub(super) fn run(
        &self,
        family: Family,
        mode: AtPoint,
        watch: impl FnMut(&Multistep),
    ) -> Result<Statistics, Failure> {
        self.run_with(family, Self::TOLERANCES, mode, watch, |_| ()).map(|solver| solver.statistics())
    }

    /// States at the ends of all segments, in this mode and as good as exactly.
    pub(super) fn error(&self, mode: AtPoint) -> Result<f64, Failure> {
        let ends = |tolerances, mode| {
            let mut ends = Vec::new();
            self.run_with(Family::Bdf, tolerances, mode, |_| (), |x| ends.extend_from_slice(x)).map(|_| ends)
        };
        let (run, exact) = (ends(Self::TOLERANCES, mode)?, ends((1e-10, 1e-12), AtPoint::Restart)?);
        Ok(run.iter().zip(&exact).map(|(run, exact)| (run - exact).abs()).fold(0.0, f64::max))
    }

    /// How far the history polynomial at the start of a segment is from the next accepted states, corrected over as it
    /// was [A16 Fig. 11]; nothing if the solver gives up before.
    pub(super) fn predictor_gain(&self, mode: AtPoint, segment: usize) -> costep_core::Result<Option<f64>> {
        let states = self.start.len();
        let (relative, absolute) = Self::TOLERANCES;
        let fresh = || Multistep::new(Settings::new(Family::Bdf, relative, vec![absolute; states]));
        let (mut solver, mut before, mut after) = (fresh(), fresh(), fresh());
        let mut u = vec![0.0; self.segments[segment].u.len()];
        let mut jacobian = Matrix::zeros(states, states);
        solver.start(0.0, &self.start);
        for (i, part) in self.segments[..=segment].iter().enumerate() {
            let (from, to) = (i as f64 * self.length, (i + 1) as f64 * self.length);
            let (u, jacobian) = (&mut u[..], &mut jacobian);
            let mut driven = Driven { subject: self.subject, from, segment: part, u, jacobian };
            if i == segment {
                before.copy_from(&solver);
            }
            if i > 0 && solver.inputs_changed(&mut driven, mode).is_err() {
                return Ok(None);
            }
            if i == segment {
                after.copy_from(&solver);
                if solver.step(&mut driven, to).is_err() {
                    return Ok(None);
                }
            } else if solver.advance(&mut driven, to, |_| ()).is_err() {
                return Ok(None);
            }
        }
        let distance = |predictor: &Multistep| {
            let mut x = vec![0.0; states];
            predictor.interpolate(solver.t(), &mut x);
            x.iter().zip(solver.x()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        Ok(Some(distance(&after) / distance(&before)))
    }

    fn run_with(
        &self,
        family: Family,
        (relative, absolute): (f64, f64),
        mode: AtPoint,
        mut watch: impl FnMut(&Multistep),
        mut at_end: impl FnMut(&[f64]),
    ) -> Result<Multistep, Failure> {
        let states = self.start.len();
        let mut solver = Multistep::new(Settings::new(family, relative, vec![absolute; states]));
        let mut u = vec![0.0; self.segments.first().map_or(0, |segment| segment.u.len())];
        let mut jacobian = Matrix::zeros(states, states);
        solver.start(0.0, &self.start);
        for (i, segment) in self.segments.iter().enumerate() {
            let (from, to) = (i as f64 * self.length, (i + 1) as f64 * self.length);
            let (u, jacobian) = (&mut u[..], &mut jacobian);
            let mut driven = Driven { subject: self.subject, from, segment, u, jacobian };
            if i > 0 {
                solver.inputs_changed(&mut driven, mode)?;
            }
            solver.advance(&mut driven, to, &mut watch)?;
            at_end(solver.x());
        }
        Ok(solver)
    }
}

/// States of a whole system at the joints of `points` equal pieces, by Runge-Kutta steps that are as good as exact.
pub(super) fn whole<const N: usize>(
    f: impl Fn(f64, [f64; N]) -> [f64; N],
    x: [f64; N],
    end: f64,
    points: usize,
) -> Vec<[f64; N]> {
    let inner = 20_000 / points;
    let h = end / (points * inner) as f64;
    let axpy = |x: [f64; N], h: f64, k: [f64; N]| std::array::from_fn(|i| x[i] + h * k[i]);
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

/// Segments through known values, with the difference to the value before as slope.
pub(super) fn with_differences(values: &[Vec<f64>], length: f64) -> Vec<Segment> {
    let slope = |i: usize| {
        let before = &values[i.saturating_sub(1)];
        values[i].iter().zip(before).map(|(now, before)| (now - before) / length).collect()
    };
    (0..values.len()).map(|i| Segment { u: values[i].clone(), slope: slope(i) }).collect()
}

/// A small generator of numbers in [-1, 1], equal on all machines (SplitMix64).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}
