//! Local models by finite differences between trial steps with rollback, for subsystems whose states can be read but
//! that give no Jacobians.
//!
//! x' = f(x, u) and y = g(x, u) hold at every point of a trajectory, whatever solver made it. So trial steps under
//! slightly different inputs give pairs of differences from a trial step under the present input:
//!
//! ```text
//! (dx'; dy) = [A B; C D] (dx; du)
//! ```
//!
//! Each input is moved up and down over one trial step and back for the steps that follow, so that dx goes through all
//! states that inputs can reach. The matrices are the least-squares solution in scaled units, cut where differences are
//! too small to tell: a state that no input reaches gets no part in A, and what it does shows as an offset. The trial
//! steps start anew from the present state and end within one macro step; they are as long as the subsystem can do.

use costep_core::{
    Capabilities, Code, Description, Error, Experiment, InputPolynomials, Interval, Learning, Linearisation,
    LocalModel, ModelKind, ModelSource, ModelsOffer, Observation, Result, SourceEntry, StateReader,
    StateWriter, Subsystem, unsupported,
};
use costep_linalg::{Matrix, PseudoInverse};

use crate::exact::{NEITHER, room_for};
use crate::renewal::{Refresh, RenewalOptions, Renewed};

/// Row of the registry.
pub(crate) const ENTRY: SourceEntry = SourceEntry {
    id: "finite-difference",
    title: "differences between trial steps",
    summary: "Perturbs each input over trial steps, rolls back, and computes A, B, C and D from the differences. For subsystems \
              without Jacobians whose states can be read.",
    needs: "rollback and states that can be read",
    source: "costep",
    kind: ModelKind::Local,
    options: RenewalOptions::SPECS,
    settle: |_| {},
    offer: |_| ModelsOffer {
        kind: ModelKind::Local,
        current: false,
        learning: Learning::Nothing,
        micro_samples: false,
        trial_steps: true,
    },
    build: |options| Box::new(FiniteDifference::new(RenewalOptions::read(options).refresh())),
};

/// Relative change of an input. Its square is what nonlinearity adds, its inverse what round-off is multiplied by.
const MOVE: f64 = 1e-4;
/// A macro step is divided into at most so many trial steps.
const MOST_PARTS: usize = 10_000;
/// Differences below this share of the greatest are noise: round-off over [`MOVE`], with a margin.
const CUT: f64 = 1e-9;

/// Finite differences with rollback.
pub struct FiniteDifference {
    refresh: Refresh,
    stop: f64,
    step: f64,
    models: Vec<Renewed>,
    probes: Vec<Probe>,
}

impl FiniteDifference {
    /// Models that are renewed like this.
    pub fn new(refresh: Refresh) -> Self {
        Self { refresh, stop: 0.0, step: 0.0, models: Vec::new(), probes: Vec::new() }
    }
}

impl ModelSource for FiniteDifference {
    fn name(&self) -> &'static str {
        "finite-difference"
    }

    fn prepare(
        &mut self,
        descriptions: &[Description],
        capabilities: &[Capabilities],
        experiment: &Experiment,
    ) -> Result<()> {
        let each = || descriptions.iter().zip(capabilities);
        each().try_for_each(|(description, can)| check(description, can))?;
        (self.stop, self.step) = (experiment.stop, experiment.step);
        self.models = each().map(|(d, can)| Renewed::new(room_for(d, can), self.refresh)).collect();
        let probe = |(description, can): (&Description, &Capabilities)| {
            let parts = trial_parts(description, can.states + 1, experiment.step)?;
            Ok(Probe::new(description, room_for(description, can), parts))
        };
        self.probes = each().map(probe).collect::<Result<_>>()?;
        Ok(())
    }

    fn observe(&mut self, i: usize, subsystem: &mut dyn Subsystem, seen: &Observation<'_>) -> Result<()> {
        let (known, probe) = (&mut self.models[i], &mut self.probes[i]);
        let LocalModel { x, x_dot, .. } = &mut known.model;
        if !x.is_empty() && !subsystem.read_state(seen.u, x, x_dot)? {
            return Err(unsupported(subsystem.description(), "reading its states"));
        }
        // At the end of the run there is no room for trial steps, and no need.
        let has_room = seen.interval.end + 0.5 * self.step < self.stop;
        if known.is_due(self.refresh, seen.k, seen.u, seen.y) && (has_room || known.version == 0) {
            probe.fill(subsystem, (seen.interval.end, self.step), seen.u, &known.model)?;
            known.take(&probe.model, &subsystem.description().name, seen.u, seen.y)?;
        }
        Ok(())
    }

    fn model(&self, i: usize) -> Option<&LocalModel> {
        self.models.get(i).map(|known| &known.model)
    }

    fn version(&self, i: usize) -> u64 {
        self.models[i].version
    }

    fn save(&self, out: &mut StateWriter) {
        self.models.iter().zip(&self.probes).for_each(|(known, probe)| {
            known.save(out);
            out.reals(&probe.sizes);
        });
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.models.iter_mut().zip(&mut self.probes).try_for_each(|(known, probe)| {
            known.load(from)?;
            from.reals(&mut probe.sizes)
        })
    }
}

/// Whether differences can be taken of a subsystem.
fn check(description: &Description, can: &Capabilities) -> Result<()> {
    let (what, hint) = if !can.rollback {
        let has_model = can.linearisation == Linearisation::Full;
        ("rollback", if has_model { "use `source=exact`" } else { NEITHER })
    } else if can.states == 0 && can.linearisation < Linearisation::Full {
        // A subsystem that gives local models and has no states has none; of others nobody knows.
        ("states that can be read", "use a method without local models: `costep methods`")
    } else {
        return Ok(());
    };
    let message = format!("finite differences need {what}, which `{}` does not offer", description.name);
    Err(Error::new(Code::NeedsMissing, message).hint(hint))
}

/// The least number of parts of a macro step that has room for one trial step per state and one more, and whose parts
/// the subsystem can do.
fn trial_parts(description: &Description, least: usize, step: f64) -> Result<usize> {
    let can = |parts: &usize| description.can_step_by(step / *parts as f64);
    (least..=MOST_PARTS.max(least)).find(can).ok_or_else(|| {
        let name = &description.name;
        let message = format!("finite differences need steps shorter than {step} s, which `{name}` cannot do");
        Error::new(Code::NeedsMissing, message)
            .because(format!("{least} trial steps have to end within one macro step"))
            .hint("choose a longer macro step, `source=exact` if it gives Jacobians, or a method without local models")
    })
}

/// Trial steps of one subsystem.
struct Probe {
    model: LocalModel,
    /// A trial step is the macro step over this number.
    parts: usize,
    /// Sizes of the inputs: nominal or largest absolute value so far, whichever is larger.
    sizes: Vec<f64>,
    inputs: InputPolynomials,
    /// Points of one trial run: x, x', y after each step.
    base: Vec<f64>,
    moved: Vec<f64>,
    /// Rows: differences (dx; du) in scaled units, and (dx'; dy).
    causes: Matrix,
    effects: Matrix,
    /// Scales of (x; u).
    scales: Vec<f64>,
    inverse: Matrix,
    work: PseudoInverse,
}

impl Probe {
    fn new(description: &Description, model: LocalModel, parts: usize) -> Self {
        let (n, m, r) = (model.states, model.inputs, model.outputs);
        // Two runs per input, n + 1 points each.
        let rows = 2 * m * (n + 1);
        Self {
            sizes: description.inputs.iter().map(|port| port.nominal.map_or(0.0, f64::abs)).collect(),
            inputs: InputPolynomials::new(m, 0),
            base: vec![0.0; (n + 1) * (2 * n + r)],
            moved: vec![0.0; (n + 1) * (2 * n + r)],
            causes: Matrix::zeros(rows, n + m),
            effects: Matrix::zeros(rows, n + r),
            scales: vec![1.0; n + m],
            inverse: Matrix::zeros(n + m, rows),
            work: PseudoInverse::new(rows, n + m),
            model,
            parts,
        }
    }

    /// Fills the model at the present state, and goes back to it.
    fn fill(
        &mut self,
        subsystem: &mut dyn Subsystem,
        (t, h): (f64, f64),
        u: &[f64],
        present: &LocalModel,
    ) -> Result<()> {
        self.sizes.iter_mut().zip(u).for_each(|(size, u)| *size = size.max(u.abs()));
        let mut base = std::mem::take(&mut self.base);
        let outcome = subsystem.trial(|subsystem| self.runs(subsystem, (t, h), u, &mut base));
        self.base = base;
        outcome??;
        self.solve();
        self.model.x.copy_from_slice(&present.x);
        self.model.x_dot.copy_from_slice(&present.x_dot);
        Ok(())
    }

    fn runs(
        &mut self,
        subsystem: &mut dyn Subsystem,
        span: (f64, f64),
        u: &[f64],
        base: &mut [f64],
    ) -> Result<()> {
        self.trial(subsystem, span, u, None, base)?;
        let mut moved = std::mem::take(&mut self.moved);
        let mut row = 0;
        for q in 0..u.len() {
            for sign in [1.0, -1.0] {
                let size = if self.sizes[q] > 0.0 { self.sizes[q] } else { 1.0 };
                let change = sign * MOVE * size;
                subsystem.demand_rollback()?.restore()?;
                self.trial(subsystem, span, u, Some((q, change)), &mut moved)?;
                row = self.note(row, (q, change), base, &moved);
            }
        }
        self.moved = moved;
        Ok(())
    }

    /// n + 1 short steps, the first with one input changed. Notes x, x' and y after each.
    fn trial(
        &mut self,
        subsystem: &mut dyn Subsystem,
        (t, h): (f64, f64),
        u: &[f64],
        change: Option<(usize, f64)>,
        points: &mut [f64],
    ) -> Result<()> {
        let (n, m, r) = (self.model.states, self.model.inputs, self.model.outputs);
        let count = self.parts;
        for (j, point) in points.chunks_exact_mut(2 * n + r).enumerate() {
            let held = self.inputs.coefficients_mut(0);
            held.copy_from_slice(u);
            if let (0, Some((q, change))) = (j, change) {
                held[q] += change;
            }
            let step = Interval { start: t, end: t + h, length: h };
            let (states, y) = point.split_at_mut(2 * n);
            subsystem.step(step.piece(j, count), self.inputs.segment(0..m, 0), y)?;
            let (x, x_dot) = states.split_at_mut(n);
            if n > 0 && !subsystem.read_state(self.inputs.coefficients(0), x, x_dot)? {
                return Err(unsupported(subsystem.description(), "reading its states"));
            }
        }
        Ok(())
    }

    /// Enters the differences of one trial run.
    fn note(&mut self, mut row: usize, (q, change): (usize, f64), base: &[f64], moved: &[f64]) -> usize {
        let (n, m, r) = (self.model.states, self.model.inputs, self.model.outputs);
        let width = 2 * n + r;
        for (j, (base, moved)) in base.chunks_exact(width).zip(moved.chunks_exact(width)).enumerate() {
            for i in 0..n {
                self.causes[(row, i)] = moved[i] - base[i];
            }
            for p in 0..m {
                self.causes[(row, n + p)] = if j == 0 && p == q { change } else { 0.0 };
            }
            for i in 0..n + r {
                self.effects[(row, i)] = moved[n + i] - base[n + i];
            }
            row += 1;
        }
        row
    }

    /// [A B; C D] = effects^T causes^+T in units in which every column of the causes has the same size.
    fn solve(&mut self) {
        let (n, m, r) = (self.model.states, self.model.inputs, self.model.outputs);
        for column in 0..n + m {
            let greatest =
                (0..self.causes.rows()).map(|row| self.causes[(row, column)].abs()).fold(0.0, f64::max);
            self.scales[column] = if greatest > 0.0 { greatest } else { 1.0 };
            for row in 0..self.causes.rows() {
                self.causes[(row, column)] /= self.scales[column];
            }
        }
        self.work.compute(&self.causes, CUT, &mut self.inverse);
        for i in 0..n + r {
            for column in 0..n + m {
                let sum: f64 = (0..self.causes.rows())
                    .map(|row| self.inverse[(column, row)] * self.effects[(row, i)])
                    .sum();
                let value = sum / self.scales[column];
                match (i < n, column < n) {
                    (true, true) => self.model.a[i * n + column] = value,
                    (true, false) => self.model.b[i * m + column - n] = value,
                    (false, true) => self.model.c[(i - n) * n + column] = value,
                    (false, false) => self.model.d[(i - n) * m + column - n] = value,
                }
            }
        }
    }
}
