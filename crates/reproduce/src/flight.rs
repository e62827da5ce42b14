//! A flight of the helicopter: outputs, velocities, and what was identified, over time [T Figs. 4.16 to 4.38].

use costep_core::{LocalModel, Result};
use costep_engine::Engine;
use costep_ident::ModelFile;

use crate::case::Case;
use crate::helicopter::{self, Way};

/// Step of the inner solver, in s.
const INNER: f64 = 2e-3;
/// Outputs of the helicopter, of its controller, and the velocities, which are no outputs.
pub(crate) const OUTPUTS: std::ops::Range<usize> = 0..6;
pub(crate) const CONTROLS: std::ops::Range<usize> = 6..10;
pub(crate) const VELOCITIES: std::ops::Range<usize> = 10..13;
/// Names and units of all of them.
pub(crate) const SIGNALS: [(&str, &str); 13] = [
    ("heave velocity", "ft/s"),
    ("pitch attitude", "rad"),
    ("roll attitude", "rad"),
    ("heading rate", "rad/s"),
    ("roll rate", "rad/s"),
    ("pitch rate", "rad/s"),
    ("main rotor collective", "rad"),
    ("longitudinal cyclic", "rad"),
    ("lateral cyclic", "rad"),
    ("tail rotor collective", "rad"),
    ("v_x", "ft/s"),
    ("v_y", "ft/s"),
    ("v_z", "ft/s"),
];
/// Where the velocities are among the states.
const FIRST_VELOCITY: usize = 5;

/// What a flight left at its communication points.
#[derive(Default)]
pub(crate) struct Flight {
    /// Instants.
    pub(crate) times: Vec<f64>,
    /// All signals per instant.
    pub(crate) rows: Vec<[f64; 13]>,
    /// Phase of the method, eps_SI of all models, and a_1 of the heave velocity; empty where nothing is learnt.
    pub(crate) learnt: Vec<[f64; 3]>,
    /// Whether the run came to its end.
    pub(crate) ended: bool,
}

impl Flight {
    /// Flies a way at a step, from saved parameters if it starts from such.
    pub(crate) fn new(case: &Case, way: &Way, step: f64, models: Option<&ModelFile>) -> Result<Self> {
        let mut states = States::new(case)?;
        let mut flight = Self::default();
        let mut row = Vec::new();
        let mut places = None;
        let parameters = Way { method: way.method, ..*way };
        let mut show = |engine: &Engine| {
            states.advance(engine);
            flight.times.push(engine.time());
            let mut signals = [0.0; 13];
            signals[..10].copy_from_slice(engine.outputs());
            signals[10..].copy_from_slice(&states.x[FIRST_VELOCITY..FIRST_VELOCITY + 3]);
            flight.rows.push(signals);
            let places = places.get_or_insert_with(|| {
                let names = engine.diagnostic_names();
                row.resize(names.len(), 0.0);
                let find = |end: &str| names.iter().position(|name| name.ends_with(end));
                [find(".phase"), find("step.eps_si").or(find("corr.eps_si")), find("s_y.climb/climb")]
            });
            if places.iter().any(Option::is_some) {
                engine.diagnostics(&mut row);
                flight.learnt.push(places.map(|place| place.map_or(f64::NAN, |place| row[place])));
            }
        };
        let run = helicopter::run(case, &parameters, step, models, &mut show)?;
        flight.ended = run.ended;
        Ok(flight)
    }

    /// The monolithic flight: explicit Euler steps of a whole without feedthrough are explicit Euler steps of its parts
    /// that exchange values after each.
    pub(crate) fn monolithic(case: &Case) -> Result<Self> {
        Self::new(case, &Way::plain("monolithic", "zoh"), INNER, None)
    }

    /// A signal in a window of time.
    pub(crate) fn signal(&self, signal: usize, (from, to): (f64, f64)) -> Vec<(f64, f64)> {
        let all = self.times.iter().zip(&self.rows).map(|(t, row)| (*t, row[signal]));
        all.filter(|(t, _)| (from..=to).contains(t)).collect()
    }

    /// Least and greatest value of a signal.
    pub(crate) fn range(&self, signal: usize) -> f64 {
        let (low, high) = self
            .rows
            .iter()
            .fold((f64::MAX, f64::MIN), |(low, high), row| (low.min(row[signal]), high.max(row[signal])));
        high - low
    }

    /// Mean deviation of a signal from the monolithic one in a window, relative to its range there over the whole flight;
    /// infinite if the flight did not come that far.
    pub(crate) fn error(&self, mono: &Self, signal: usize, window: (f64, f64)) -> f64 {
        let own = self.signal(signal, window);
        if !self.ended || own.is_empty() {
            return f64::INFINITY;
        }
        let deviation = |(t, y): &(f64, f64)| (y - mono.at(signal, *t)).abs();
        own.iter().map(deviation).sum::<f64>() / own.len() as f64 / mono.range(signal)
    }

    /// A signal of a flight with inner steps at a time.
    pub(crate) fn at(&self, signal: usize, t: f64) -> f64 {
        let k = (t / INNER).round() as usize;
        self.rows.get(k).map_or(f64::NAN, |row| row[signal])
    }

    /// What was learnt from a time on: rows of phase, eps_SI, a_1.
    pub(crate) fn learnt_from(&self, from: f64) -> impl Iterator<Item = (f64, &[f64; 3])> {
        self.times.iter().copied().zip(&self.learnt).filter(move |(t, _)| *t >= from)
    }
}

/// The states of the helicopter, which follow from its inputs.
struct States {
    model: LocalModel,
    x: Vec<f64>,
    before: Vec<f64>,
    time: f64,
}

impl States {
    fn new(case: &Case) -> Result<Self> {
        let model = case.model()?;
        let mut local = LocalModel::default();
        if let Some(ode) = model.parts[0].ode() {
            let (n, m) = (ode.states(), ode.description().inputs.len());
            local = LocalModel::new(n, m, ode.description().outputs.len());
            ode.jacobians(0.0, &vec![0.0; n], &vec![0.0; m], &mut local);
        }
        let n = local.states;
        Ok(Self { model: local, x: vec![0.0; n], before: vec![0.0; n], time: 0.0 })
    }

    /// Over the last step of a run whose methods hold their inputs.
    fn advance(&mut self, engine: &Engine) {
        let (n, m) = (self.model.states, self.model.inputs);
        let steps = ((engine.time() - self.time) / INNER).round() as usize;
        let u = &engine.inputs().coefficients(0)[..m];
        for _ in 0..steps {
            self.before.copy_from_slice(&self.x);
            for (i, x) in self.x.iter_mut().enumerate() {
                let row = |matrix: &[f64], width: usize, v: &[f64]| -> f64 {
                    matrix[i * width..(i + 1) * width].iter().zip(v).map(|(a, v)| a * v).sum()
                };
                *x += INNER * (row(&self.model.a, n, &self.before) + row(&self.model.b, m, u));
            }
        }
        self.time = engine.time();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Outputs that follow from the states found here are the outputs of the run.
    #[test]
    fn states_are_those_of_the_run() {
        let case = helicopter::case(1, 5.0);
        let flight = Flight::new(&case, &Way::plain("zoh", "zoh"), 0.1, None).unwrap();
        let last = flight.rows.last().unwrap();
        // Row of C of the heave velocity, which consists of the velocities alone.
        let heave: f64 = [0.0595, 0.05329, -0.9968].iter().zip(&last[10..]).map(|(c, v)| c * v).sum();
        assert!(flight.ended && last[0].abs() > 0.01, "{last:?}");
        assert!((heave - last[0]).abs() < 1e-9, "{heave} {}", last[0]);
    }
}
