//! When a local model is renewed, and whether that changes it.

use costep_core::{Code, Condition, Error, LocalModel, Result, StateReader, StateWriter, choice, options};

/// When A, B, C, D are renewed. States are read at every communication point all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refresh {
    /// At every so many communication points.
    Every(u64),
    /// When the model no longer explains x' and y.
    Changed,
    /// Those of the start are kept.
    Never,
}

choice! {
    /// When matrices are renewed, as a word.
    pub(crate) enum Renewal {
        /// At every `every`-th communication point.
        Always = "always",
        /// When they no longer explain x' and y.
        Changed = "changed",
        /// Not at all.
        Never = "never",
    }
}

/// Of the number of steps between renewals.
pub(crate) const RENEWED: Condition = Condition::on("refresh", &[Renewal::Always.word()]);

options! {
    /// Options of sources whose matrices belong to a communication point.
    pub(crate) struct RenewalOptions {
        /// renew local models at every `every`-th communication point, when they no longer explain x' and
        /// y, or never
        refresh: Renewal;
        /// number of macro steps between renewals of local models
        every: usize = 1 in 1..=1_000_000, only [RENEWED];
    }
}

impl RenewalOptions {
    pub(crate) fn refresh(&self) -> Refresh {
        match self.refresh {
            Renewal::Always => Refresh::Every(self.every as u64),
            Renewal::Changed => Refresh::Changed,
            Renewal::Never => Refresh::Never,
        }
    }
}

impl From<u64> for Refresh {
    /// Every so many communication points; 0 = never.
    fn from(steps: u64) -> Self {
        if steps == 0 { Self::Never } else { Self::Every(steps) }
    }
}

/// Share of x' or y that a model may leave unexplained before it counts as outdated.
const UNEXPLAINED: f64 = 1e-3;

/// The model in use, its version, and where it was made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Renewed {
    pub(crate) model: LocalModel,
    pub(crate) version: u64,
    keeps_point: bool,
    /// x, x', u and y where the matrices were taken; empty if nobody asks.
    x: Vec<f64>,
    x_dot: Vec<f64>,
    u: Vec<f64>,
    y: Vec<f64>,
}

impl Renewed {
    pub(crate) fn new(model: LocalModel, refresh: Refresh) -> Self {
        let mut renewed = Self { keeps_point: refresh == Refresh::Changed, ..Self::default() };
        renewed.make_room(model);
        renewed
    }

    /// Goes on with a model of another size.
    fn make_room(&mut self, model: LocalModel) {
        let (n, m, r) =
            if self.keeps_point { (model.states, model.inputs, model.outputs) } else { (0, 0, 0) };
        (self.x, self.x_dot) = (vec![0.0; n], vec![0.0; n]);
        (self.u, self.y) = (vec![0.0; m], vec![0.0; r]);
        self.model = model;
    }

    /// Whether new matrices are due at communication point k, with x and x' of the model up to date.
    pub(crate) fn is_due(&self, refresh: Refresh, k: u64, u: &[f64], y: &[f64]) -> bool {
        match refresh {
            _ if self.version == 0 => true,
            Refresh::Every(steps) => k.is_multiple_of(steps),
            Refresh::Changed => !self.explains(u, y),
            Refresh::Never => false,
        }
    }

    /// x' = x0' + A (x - x0) + B (u - u0) and y = y0 + C (x - x0) + D (u - u0), up to a share of the terms.
    fn explains(&self, u: &[f64], y: &[f64]) -> bool {
        let model = &self.model;
        let (n, m) = (model.states, model.inputs);
        let close = |left: &[f64], right: &[f64], row: usize, start: f64, now: f64| {
            let states = left[row * n..(row + 1) * n].iter().zip(model.x.iter().zip(&self.x));
            let inputs = right[row * m..(row + 1) * m].iter().zip(u.iter().zip(&self.u));
            let (mut sum, mut size) = (start, start.abs().max(now.abs()));
            for (entry, (now, before)) in states.chain(inputs) {
                sum += entry * (now - before);
                size = size.max((entry * (now - before)).abs());
            }
            (now - sum).abs() <= UNEXPLAINED * size
        };
        (0..n).all(|i| close(&model.a, &model.b, i, self.x_dot[i], model.x_dot[i]))
            && (0..model.outputs).all(|i| close(&model.c, &model.d, i, self.y[i], y[i]))
    }

    /// Takes a fresh model that knows its x and x'.
    pub(crate) fn take(&mut self, fresh: &LocalModel, name: &str, u: &[f64], y: &[f64]) -> Result<()> {
        self.replace(fresh, name)?;
        self.mark(u, y);
        Ok(())
    }

    /// Takes fresh matrices; the version counts up if they differ. [`Renewed::mark`] has to follow.
    pub(crate) fn replace(&mut self, fresh: &LocalModel, name: &str) -> Result<()> {
        if !fresh.is_finite() {
            return Err(Error::new(Code::NotFinite, format!("the Jacobians of `{name}` are not finite"))
                .because("the model cannot compute them at its present state, or its signals have diverged")
                .hint("try a smaller step, or an inner solver with error control such as `dopri5`"));
        }
        if self.version == 0 || !self.model.same_matrices(fresh) {
            self.version += 1;
        }
        if fresh.states == self.model.states {
            self.model.copy_from(fresh);
        } else {
            self.make_room(fresh.clone());
        }
        Ok(())
    }

    /// The present point, with x and x' of the model up to date, is where the matrices were taken.
    pub(crate) fn mark(&mut self, u: &[f64], y: &[f64]) {
        let point = [
            (&mut self.x, &self.model.x[..]),
            (&mut self.x_dot, &self.model.x_dot),
            (&mut self.u, u),
            (&mut self.y, y),
        ];
        for (kept, now) in point {
            kept.iter_mut().zip(now).for_each(|(kept, now)| *kept = *now);
        }
    }

    pub(crate) fn save(&self, out: &mut StateWriter) {
        let model = &self.model;
        out.integer(self.version);
        for values in [&model.a, &model.b, &model.c, &model.d, &model.x, &model.x_dot] {
            out.reals(values);
        }
        for values in [&self.x, &self.x_dot, &self.u, &self.y] {
            out.reals(values);
        }
    }

    pub(crate) fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.version = from.integer()?;
        let LocalModel { a, b, c, d, x, x_dot, .. } = &mut self.model;
        for values in [a, b, c, d, x, x_dot, &mut self.x, &mut self.x_dot, &mut self.u, &mut self.y] {
            from.reals(values)?;
        }
        Ok(())
    }
}
