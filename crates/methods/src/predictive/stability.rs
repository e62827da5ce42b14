//! Which fit is stable, by the map of one macro step that follows from the local models.
//!
//! ```text
//! galerkin   x(h) = (E + G L (I - M_u L)^-1 M_x) x
//! end        x(h) = that of the coupled models, wherever the inputs can lead there
//! ```
//!
//! Columns of the map are what the fit itself does from unit states, without external inputs and offsets, truncated inputs and all.
//! `galerkin` is left where its spectral radius is above one and above that of the coupled models, and `end` has a smaller one.
//! It comes back when it has been stable for a while, so that nothing flaps. Where models are constant all of this is done once.
//!
//! States are taken as known: what an observer adds is not looked at, nor what offsets feed back where models are wrong.

use costep_core::{Coupling, Result, Signals, StateReader, StateWriter, StepContext, SystemView};
use costep_linalg::{Matrix, SpectralRadius};

use super::Predictive;
use super::settings::Fit;
use super::subsystem::{Place, SubsystemPredictor};

/// Radii above one by less are those of undamped systems, with round-off; a run of 1e5 steps grows by a tenth.
const ROUND_OFF: f64 = 1e-6;
/// The same where models change: the product of many maps is not the power of one, and a pendulum without friction has such radii now and then.
const FROZEN: f64 = 1e-2;
/// Most states of a system whose map is formed. Its radius takes some milliseconds then.
const MOST_STATES: usize = 100;
/// The same where models change all the time, and with them the matrix exponential of the coupled system.
const MOST_CHANGING_STATES: usize = 24;
/// Where models change at every step the map is formed at one in so many per so many states: a growth by a hundredth has time, and the maps of
/// the subsystems are what such a step should cost.
const STEPS: usize = 4;
const FEW_STATES: usize = 8;
/// Times in a row that `galerkin` must have been stable before it is used again.
const CALM: usize = 16;

#[derive(Default)]
pub(super) struct Stability {
    /// Where subsystems stand while the map is formed, and the first state of each.
    places: Vec<Place>,
    starts: Vec<usize>,
    map: Matrix,
    radius: SpectralRadius,
    /// Models have changed since the map was looked at.
    pending: bool,
    /// The models and the step that were told last: a run that is resumed forms all maps anew.
    edition: (u64, f64),
    /// The interface has a solution.
    regular: bool,
    /// Times in a row that the fit which is not in use was the better one.
    calm: u64,
    found: Found,
}

/// What has been found so far in this run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Found {
    #[default]
    Stable,
    /// `end` has been used.
    Matched,
    /// Neither is stable.
    Unstable,
}

/// Whether a system may be small enough.
pub(super) fn can_be_known(system: &SystemView<'_>) -> bool {
    system.layout.subsystems() <= MOST_STATES
}

impl Stability {
    pub(super) fn models_changed(&mut self, regular: bool, edition: (u64, f64)) {
        self.pending |= edition != self.edition;
        (self.edition, self.regular) = (edition, regular);
    }

    /// Where this run does less than it could.
    pub(super) fn warning(&self) -> Option<&'static str> {
        match self.found {
            Found::Stable => None,
            Found::Matched => Some(
                "by the local models `fit=galerkin` is unstable with this step: `fit=end` is used where that is so, which matches the \
                 states at communication points; between them inputs may go far. A smaller step needs neither",
            ),
            Found::Unstable => Some(
                "by the local models no fit of `predictive` is stable with this step: take a smaller one, or let the parts take inputs \
                 with derivatives",
            ),
        }
    }

    pub(super) fn save(&self, fit: Fit, out: &mut StateWriter) {
        out.integer(u64::from(fit == Fit::End));
        out.integer(u64::from(self.pending));
        out.integer(self.edition.0);
        out.real(self.edition.1);
        out.integer(self.calm);
        out.integer(self.found as u64);
    }

    pub(super) fn load(&mut self, from: &mut StateReader<'_>) -> Result<Fit> {
        let fit = if from.index(2)? == 1 { Fit::End } else { Fit::Galerkin };
        self.pending = from.index(2)? == 1;
        self.edition = (from.integer()?, from.real()?);
        self.calm = from.index(CALM)? as u64;
        self.found = [Found::Stable, Found::Matched, Found::Unstable][from.index(3)?];
        Ok(fit)
    }
}

impl Predictive {
    /// Looks at the map of the fits where models have changed. Says whether the fit is another one since.
    pub(super) fn choose_fit(&mut self, step: &StepContext, signals: &Signals<'_>) -> Result<bool> {
        if !self.stability.as_ref().is_some_and(|stability| stability.pending) {
            return Ok(false);
        }
        let states: usize = self.parts.each.iter().map(|part| part.x.len()).sum();
        let constant = self.parts.each.iter().all(|part| part.model.is_constant);
        let every = if constant { 1 } else { (STEPS * states.div_ceil(FEW_STATES)).max(1) as u64 };
        let regular = self.stability.as_ref().is_some_and(|stability| stability.regular);
        if regular && !step.k.is_multiple_of(every) {
            return Ok(false);
        }
        let Some(mut stability) = self.stability.take() else { return Ok(false) };
        stability.pending = false;
        let before = self.fit;
        let (most, slack) = if constant { (MOST_STATES, ROUND_OFF) } else { (MOST_CHANGING_STATES, FROZEN) };
        if states <= most && self.common_euler_step().is_some() {
            self.take_room(&mut stability)?;
            let better = self.stable_fit(&mut stability, (step, signals), 1.0 + slack);
            let chosen = stability.choose(before, better);
            if chosen != before {
                self.turn_to(chosen);
            }
        }
        let regular = stability.regular;
        self.stability = Some(stability);
        match regular || self.fit == Fit::End {
            true => Ok(self.fit != before),
            false => Err(super::singular_interface(step)),
        }
    }

    /// For all fits at the first look: later ones take none.
    fn take_room(&mut self, stability: &mut Stability) -> Result<()> {
        stability.take_room(&self.parts.each);
        for part in &mut self.parts.each {
            part.matching();
        }
        match &mut self.closed {
            Some(closed) => closed.take_room(&self.parts.each, &self.layout, self.width),
            None => Ok(()),
        }
    }

    /// The fit that is stable by the present models, or grows least.
    fn stable_fit(
        &mut self,
        stability: &mut Stability,
        (step, signals): (&StepContext, &Signals<'_>),
        enough: f64,
    ) -> Fit {
        let galerkin = match stability.regular {
            true => self.radius_of(Fit::Galerkin, (stability, enough), signals.coupling),
            false => f64::INFINITY,
        };
        if galerkin <= enough {
            return Fit::Galerkin;
        }
        if self.close(step).is_err() {
            stability.found = Found::Unstable;
            return Fit::Galerkin;
        }
        let Some(closed) = &self.closed else { return Fit::Galerkin };
        let coupled = stability.radius.compute(closed.map(), enough);
        // What grows by itself is followed with the accuracy of the fit.
        let limit = if coupled <= enough { enough } else { coupled * (1.0 + FROZEN) };
        if galerkin <= limit {
            return Fit::Galerkin;
        }
        let end = self.radius_of(Fit::End, (stability, enough), signals.coupling);
        if end > limit {
            stability.found = Found::Unstable;
        }
        if end < galerkin { Fit::End } else { Fit::Galerkin }
    }

    /// The spectral radius of a fit, infinite where its map is no number, or a bound not above `enough` if that is all that matters.
    fn radius_of(
        &mut self,
        fit: Fit,
        (stability, enough): (&mut Stability, f64),
        coupling: &Coupling,
    ) -> f64 {
        let in_use = std::mem::replace(&mut self.fit, fit);
        if fit == Fit::End {
            self.match_ends();
        }
        let Stability { places, starts, map, radius, .. } = stability;
        let swap = |parts: &mut [SubsystemPredictor], places: &mut [Place]| {
            parts.iter_mut().zip(places).for_each(|(part, place)| part.swap_place(place));
        };
        swap(&mut self.parts.each, places);
        for i in 0..self.parts.each.len() {
            for state in 0..self.parts.each[i].x.len() {
                self.parts.each[i].x[state] = 1.0;
                self.c.fill(0.0);
                self.inputs_of_places(coupling);
                self.write_column(starts, starts[i] + state, map);
                self.parts.each[i].x[state] = 0.0;
            }
        }
        swap(&mut self.parts.each, places);
        self.fit = in_use;
        let radius = radius.compute(map, enough);
        if radius.is_nan() { f64::INFINITY } else { radius }
    }

    /// c of the subsystems where they stand, without external inputs.
    fn inputs_of_places(&mut self, coupling: &Coupling) {
        match self.closed.as_mut().filter(|_| self.fit.is_closed()) {
            Some(closed) => closed.predict(&self.parts.each, &mut self.c),
            None => {
                for (i, part) in self.parts.each.iter().enumerate() {
                    let (us, ys) = (self.layout.input_range(i), self.layout.output_range(i));
                    let known = &self.c[us.start * self.width..us.end * self.width];
                    part.free_response(known, &mut self.eta[ys.start * self.width..ys.end * self.width]);
                }
                self.couple(coupling);
            }
        }
        self.cut_and_match();
    }

    /// The states at the end of the step.
    fn write_column(&self, starts: &[usize], column: usize, map: &mut Matrix) {
        for (i, part) in self.parts.each.iter().enumerate() {
            let us = self.layout.input_range(i);
            let c = &self.c[us.start * self.width..us.end * self.width];
            part.end_state(c, |state, value| map[(starts[i] + state, column)] = value);
        }
    }
}

impl Stability {
    /// Another fit: at once if the one in use grows, and later if the other is only the simpler one.
    fn choose(&mut self, in_use: Fit, better: Fit) -> Fit {
        self.calm = if better == in_use { 0 } else { self.calm + 1 };
        if better == Fit::End && self.found == Found::Stable {
            self.found = Found::Matched;
        }
        if better == Fit::Galerkin && self.calm < CALM as u64 {
            return in_use;
        }
        self.calm = 0;
        better
    }

    fn take_room(&mut self, parts: &[SubsystemPredictor]) {
        let fits = |(part, place): (&SubsystemPredictor, &Place)| place.fits(part);
        if self.places.len() == parts.len() && parts.iter().zip(&self.places).all(fits) {
            return;
        }
        let states = parts.iter().map(|part| part.x.len()).sum();
        self.places = parts.iter().map(Place::origin_of).collect();
        let ends = parts.iter().scan(0, |end, part| {
            *end += part.x.len();
            Some(*end - part.x.len())
        });
        self.starts = ends.collect();
        self.map = Matrix::zeros(states, states);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grows_is_left_at_once_and_taken_up_again_after_a_while() {
        let mut stability = Stability::default();
        assert_eq!(stability.choose(Fit::Galerkin, Fit::End), Fit::End);
        let fits: Vec<_> = (0..CALM).map(|_| stability.choose(Fit::End, Fit::Galerkin)).collect();
        assert!(fits[..fits.len() - 1].iter().all(|fit| *fit == Fit::End), "{fits:?}");
        assert_eq!(fits.last(), Some(&Fit::Galerkin));
        // Models that change to and fro keep the fit that is stable for all of them.
        assert_eq!(stability.choose(Fit::Galerkin, Fit::End), Fit::End);
        for _ in 0..10 * CALM {
            assert_eq!(stability.choose(Fit::End, Fit::Galerkin), Fit::End);
            assert_eq!(stability.choose(Fit::End, Fit::End), Fit::End);
        }
    }
}
