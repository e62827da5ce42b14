//! How the inputs of a step follow from its beginning, for the linear maps of `coupled_loop.rs`. With identified models, without what
//! comes from outside:
//!
//! ```text
//! prestep     delta^k = (I - S_p L)^-1 [S_y delta + S_u (L delta + eps^(k-1)) + S_p eps^k],  eps = L y - u       [T (3.23)]
//!             yhat    = (I - S_p L)^-1 (S_y + S_u L) (y^k + delta^k)                                           [T (3.24)]
//!             u       = L yhat + S_p^+ (yhat - S_y y^k - S_u u^k - S_p L yhat)                                 [T (3.25)]
//! mbcorr      y_corr  = (I - S_p L)^-1 (y - S_p u^k),  bar' = L y_corr,
//!             u       = bar' + alpha (L (y_corr_before + y_corr) / 2 - bar)                                    [H18 (2), (3)]
//! predictive  u       = L [y/2 + yhat/2 + ph S_p (u - u^k)],  yhat = S_y y + S_u u^k + S_p u
//! ```
//!
//! (3.25) lacks a factor 2, and L; this is its corrected form. ph = 1/2 for outputs with direct feedthrough. The bounds that keep inputs near
//! the signals are left out: they make nothing grow.

use costep_core::{Code, Description, Error, ModelKind, Result};
use costep_linalg::Matrix;
use costep_methods::papers::{DiscreteForm, ErrorEquation, PhaseOptions};
use costep_methods::{MethodSpec, mbcorr};

use crate::coupled_loop::{Chosen, Identified, State, minus, plus, times};

/// A law with identified models whose steps are linear maps.
#[derive(Clone, Debug)]
pub struct LoopLaw {
    pub(crate) kind: Kind,
    /// Name of the method.
    pub(crate) method: &'static str,
    /// Inputs from signals are on the line through the last two values, not held.
    line: bool,
    /// ph of each output.
    through: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    PreStep(DiscreteForm),
    Corrector { alpha: f64 },
    Predictive,
}

impl LoopLaw {
    /// Of a method; an error if its steps are not linear maps, or not known as such.
    pub fn new(method: &MethodSpec) -> Result<Self> {
        let options = &method.options;
        let kind = match method.entry.id {
            "identified" => {
                return Err(refused(method).because(
                    "it blends models of two orders and an extrapolation, weighted by signals, and \
                     divides steps: its macro steps are not linear maps",
                ));
            }
            "prestep" | "mbcorr" | "predictive" if method.models.entry.kind != ModelKind::Discrete => {
                return Err(refused(method).because("its models are not identified during the run"));
            }
            "prestep" if DiscreteForm::new(options).intermediate => {
                return Err(refused(method).because("its inputs depend on values inside the steps"));
            }
            "prestep" => Kind::PreStep(DiscreteForm::new(options)),
            "mbcorr" => Kind::Corrector { alpha: mbcorr::offset_gain(options) },
            "predictive" => Kind::Predictive,
            _ => return Err(refused(method)),
        };
        let line = PhaseOptions::read(options).on_line();
        Ok(Self { kind, method: method.entry.id, line, through: Vec::new() })
    }

    /// Takes note of the subsystems.
    pub(crate) fn look<'a>(&mut self, descriptions: impl Iterator<Item = &'a Description>) {
        let outputs = descriptions.flat_map(|description| &description.feedthrough);
        self.through = outputs.map(|inputs| if inputs.is_empty() { 0.0 } else { 0.5 }).collect();
    }

    /// Whether S_p^+ is in units of the ranges of the signals.
    pub(crate) fn is_scaled(&self) -> bool {
        matches!(self.kind, Kind::PreStep(form) if form.scaled)
    }

    /// Whether it carries inputs from step to step.
    pub(crate) fn carries_inputs(&self) -> bool {
        matches!(self.kind, Kind::Corrector { .. })
    }

    /// z, or the mean over the step of the line through the last two.
    pub(crate) fn by_signals(&self, l: &Matrix, state: &State<'_>) -> Chosen {
        let (z, before) = (times(l, state.y), times(l, state.y_before));
        let ahead = if self.line { 0.5 } else { 0.0 };
        let u = z.iter().zip(&before).map(|(z, before)| z + ahead * (z - before)).collect();
        let delta = match self.kind {
            Kind::Corrector { .. } => state.y.to_vec(),
            _ => vec![0.0; state.y.len()],
        };
        Chosen { u, delta, bar: z }
    }

    /// Inputs from models; `full`: optimised, where the method does that.
    pub(crate) fn by_models(&self, models: &Identified, l: &Matrix, state: &State<'_>, full: bool) -> Chosen {
        match self.kind {
            Kind::PreStep(form) => pre_step(form, models, l, state, full),
            Kind::Corrector { alpha } => correct(alpha, models, l, state),
            Kind::Predictive => self.predict(models, l, state),
        }
    }

    /// u = L (I - M L)^-1 [(y + S_y y + S_u u^k)/2 - ph S_p u^k] with M = (1/2 + ph) S_p.
    fn predict(&self, models: &Identified, l: &Matrix, state: &State<'_>) -> Chosen {
        let (n, m) = (models.s_p.rows(), models.s_p.columns());
        let zero = vec![0.0; m];
        let free = plus(&models.advance(state.y, state.u, &zero), state.constant);
        let held = times(&models.s_p, state.u);
        let middle = |i: usize| 0.5 * (state.y[i] + free[i]) - self.through[i] * held[i];
        let mut ahead: Vec<_> = (0..n).map(middle).collect();
        let mut whole = models.interface.clone();
        // Without a solution the inputs are the signals.
        if whole.close(|i, j| (0.5 + self.through[i]) * models.s_p[(i, j)]) {
            whole.solve(&mut ahead);
        } else {
            ahead.copy_from_slice(state.y);
        }
        let u = times(l, &ahead);
        Chosen { u, delta: vec![0.0; n], bar: zero }
    }
}

fn refused(method: &MethodSpec) -> Error {
    let message = format!(
        "Bohl exponents are computed for `prestep`, `mbcorr` and `predictive` with identified models, not for `{}`",
        method.label()
    );
    Error::new(Code::NeedsMissing, message).hint(
        "`--method prestep --models rls`, or another of them with `rls`, `ij-rls`, `moesp` or `from-file`; `costep compare` \
         shows for any method whether a run is stable",
    )
}

fn pre_step(form: DiscreteForm, models: &Identified, l: &Matrix, state: &State<'_>, full: bool) -> Chosen {
    let State { u, y, .. } = state;
    let delta = match form.errors {
        ErrorEquation::Off => vec![0.0; y.len()],
        errors => {
            let carried = errors == ErrorEquation::Carried;
            let start: Vec<_> = state.delta.iter().map(|d| if carried { *d } else { 0.0 }).collect();
            let eps_before = minus(&times(l, state.y_before), state.u_before);
            models.coupled(l, &start, &eps_before, &minus(&times(l, y), u))
        }
    };
    let zero = vec![0.0; u.len()];
    let ahead = models.coupled_ahead(l, &plus(y, &delta), state.constant);
    let mut u_next = times(l, &ahead);
    if full && !form.modified {
        let rest = minus(&ahead, &plus(&models.advance(y, u, &u_next), state.constant));
        models.inverse.multiply_add(&rest, &mut u_next);
    }
    Chosen { u: u_next, delta, bar: zero }
}

fn correct(alpha: f64, models: &Identified, l: &Matrix, state: &State<'_>) -> Chosen {
    let mut corrected = minus(state.y, &times(&models.s_p, state.u));
    models.interface.solve(&mut corrected);
    let (bar, before) = (times(l, &corrected), times(l, state.delta));
    let u = bar.iter().zip(before.iter().zip(state.bar));
    let u = u.map(|(now, (before, bar))| now + alpha * (0.5 * (before + now) - bar)).collect();
    Chosen { u, delta: corrected, bar }
}
