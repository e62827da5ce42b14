//! Trial steps of one subsystem: they begin where it stands, and it stands there again when they are over.

use costep_core::{InputPolynomials, Interval, Result, Subsystem};

use super::realise::Responses;

/// Time and length of the trial steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// Where they begin, in s.
    pub(super) start: f64,
    /// The macro step, and into how many trial steps it is divided.
    pub(super) step: f64,
    pub(super) parts: usize,
}

impl Clock {
    pub(super) fn spacing(&self) -> f64 {
        self.step / self.parts as f64
    }

    fn interval(&self, j: usize) -> Interval {
        Interval { start: self.start, end: self.start + self.step, length: self.step }.piece(j, self.parts)
    }
}

/// A change of an input, over one of the steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pulse {
    pub(super) input: usize,
    pub(super) size: f64,
    pub(super) step: usize,
}

/// Outputs after each of some steps under held inputs, one of them with a pulse.
pub(super) fn run(
    subsystem: &mut dyn Subsystem,
    clock: &Clock,
    held: &mut InputPolynomials,
    u: &[f64],
    pulse: Option<Pulse>,
    outputs: &mut [f64],
) -> Result<()> {
    let (m, n) = (u.len(), subsystem.description().outputs.len());
    for (j, y) in outputs.chunks_exact_mut(n.max(1)).enumerate() {
        held.coefficients_mut(0).copy_from_slice(u);
        if let Some(pulse) = pulse.filter(|pulse| pulse.step == j) {
            held.coefficients_mut(0)[pulse.input] += pulse.size;
        }
        subsystem.step(clock.interval(j), held.segment(0..m, 0), y)?;
    }
    Ok(())
}

/// Responses to pulses of all inputs, up and down, and later: what up and down have in common is not linear, and goes. None if a value is not finite.
/// The subsystem has a snapshot to go back to.
pub(super) fn responses(
    subsystem: &mut dyn Subsystem,
    clock: &Clock,
    (u, pulses): (&[f64], Vec<f64>),
    samples: usize,
) -> Result<Option<Responses>> {
    let (m, n) = (u.len(), subsystem.description().outputs.len());
    let mut held = InputPolynomials::new(m, 0);
    let mut runs = [(); 4].map(|()| vec![0.0; samples * n]);
    run(subsystem, clock, &mut held, u, None, &mut runs[0])?;
    let [mut values, mut common, mut changes] = [(); 3].map(|()| vec![0.0; samples * n * m]);
    let late = samples / 2;
    for (input, size) in pulses.iter().copied().enumerate() {
        for (which, size, step) in [(1, size, 0), (2, -size, 0), (3, size, late)] {
            subsystem.demand_rollback()?.restore()?;
            run(subsystem, clock, &mut held, u, Some(Pulse { input, size, step }), &mut runs[which])?;
        }
        for at in 0..samples * n {
            let [base, up, down] = [0, 1, 2].map(|which| runs[which][at]);
            values[at * m + input] = 0.5 * (up - down);
            common[at * m + input] = 0.5 * (up + down) - base;
        }
        for at in 0..(samples - late) * n {
            let later = at + late * n;
            changes[at * m + input] = runs[3][later] - runs[0][later] - (runs[1][at] - runs[0][at]);
        }
    }
    if ![&values, &common, &changes].into_iter().flatten().all(|value| value.is_finite()) {
        return Ok(None);
    }
    let (inputs, outputs, spacing) = (m, n, clock.spacing());
    let mut responses = Responses { inputs, outputs, spacing, values, pulses, doubt: 0.0, drift: 0.0 };
    silence(&mut responses, &runs[0]);
    responses.doubt = share(&responses, &common);
    responses.drift = share(&responses, &changes);
    Ok(Some(responses))
}

/// Responses below this share of an output are its round-off.
const ROUND_OFF: f64 = 1e-12;

/// Takes responses that drown in the round-off of their output as none.
fn silence(responses: &mut Responses, base: &[f64]) {
    for i in 0..responses.outputs {
        let size = base.iter().skip(i).step_by(responses.outputs).fold(0.0, |a: f64, y| a.max(y.abs()));
        if responses.greatest(&responses.values, i, 0) <= ROUND_OFF * size {
            let rows = responses.values.chunks_exact_mut(responses.inputs);
            rows.skip(i).step_by(responses.outputs).for_each(|row| row.fill(0.0));
        }
    }
}

/// The greatest of such values over the greatest response, for the worst output, at once and later; infinite if nothing answers.
fn share(responses: &Responses, values: &[f64]) -> f64 {
    let share = |(i, from): (usize, usize)| {
        let (linear, rest) =
            (responses.greatest(&responses.values, i, from), responses.greatest(values, i, from));
        let all = responses.greatest(&responses.values, i, 0);
        // What hardly answers later is told by its first sample.
        (linear > super::realise::LEAST_LATER * all).then(|| rest / linear)
    };
    let each = (0..responses.outputs).flat_map(|i| [(i, 0), (i, 1)]).filter_map(share);
    each.fold(None, |worst: Option<f64>, share| Some(worst.map_or(share, |worst| worst.max(share))))
        .unwrap_or(f64::INFINITY)
}
