//! Offers of a subsystem that are tried before anybody relies on them: local models, input polynomials,
//! rollback. Some FMUs declare what they do not do.

use costep_core::{
    Capabilities, Experiment, InputPolynomials, Linearisation, LocalModel, Result, Subsystem, Variation,
};
use costep_system::TrialPart;

use crate::probe::responses;

/// Macro steps that are tried.
const STEPS: u64 = 3;
/// Change of an input, relative to its size.
const CHANGE: f64 = 1e-4;
/// Difference between a local model and a step, relative to the response, that no nonlinearity and no inner
/// solver explains.
const CONTRADICTION: f64 = 0.25;

/// Something that a subsystem may offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Offer {
    /// A, B, C, D.
    LocalModel,
    /// Inputs that change over a step.
    InputPolynomials,
    /// The return to a stored state.
    Rollback,
}

/// Why an offer cannot be relied on, if a trial shows that. `make` gives a fresh instance with inputs for
/// it; one that cannot be tried is not accused of anything. Instances are dropped without being terminated.
pub fn contradiction(
    offer: Offer,
    make: &dyn Fn() -> Result<TrialPart>,
    experiment: &Experiment,
) -> Option<String> {
    // FMUs may refuse steps beyond the stop time they are told.
    let stop = experiment.stop.max(experiment.time(STEPS + 1));
    let bench = Bench { make, experiment: Experiment { stop, ..*experiment } };
    match offer {
        Offer::LocalModel => bench.local_model().ok().flatten(),
        Offer::InputPolynomials => bench.polynomials().ok().flatten(),
        Offer::Rollback => bench.rollback().ok().flatten(),
    }
}

struct Bench<'a> {
    make: &'a dyn Fn() -> Result<TrialPart>,
    experiment: Experiment,
}

impl Bench<'_> {
    fn start(&self) -> Result<TrialPart> {
        let (mut subsystem, u) = (self.make)()?;
        subsystem.initialise(&self.experiment)?;
        let mut y = vec![0.0; subsystem.description().outputs.len()];
        subsystem.initial_outputs(&u, &mut y)?;
        Ok((subsystem, u))
    }

    /// The outputs after step `k` under inputs that begin at `u` and have these slopes.
    fn step(&self, subsystem: &mut dyn Subsystem, k: u64, u: &[f64], slopes: &[f64]) -> Result<Vec<f64>> {
        let order = usize::from(!slopes.is_empty());
        let mut inputs = InputPolynomials::new(u.len(), order);
        inputs.coefficients_mut(0).copy_from_slice(u);
        if order > 0 {
            inputs.coefficients_mut(1).copy_from_slice(slopes);
        }
        let mut y = vec![0.0; subsystem.description().outputs.len()];
        subsystem.step(self.experiment.interval(k), inputs.segment(0..u.len(), order), &mut y)?;
        Ok(y)
    }

    /// The outputs of a fresh instance after its first steps.
    fn run(&self, u: &[f64], slopes: &[f64]) -> Result<Vec<f64>> {
        let (mut subsystem, _) = self.start()?;
        let mut rows = Vec::new();
        for k in 0..STEPS {
            rows.extend(self.step(&mut *subsystem, k, u, slopes)?);
        }
        Ok(rows)
    }

    /// A change of each input that has values in between.
    fn changes(subsystem: &dyn Subsystem, u: &[f64]) -> Vec<f64> {
        let change = |(port, u): (&costep_core::Port, &f64)| match port.variation {
            Variation::Discrete => 0.0,
            _ => CHANGE * u.abs().max(port.nominal.map_or(1.0, f64::abs)),
        };
        subsystem.description().inputs.iter().zip(u).map(change).collect()
    }

    fn changed(u: &[f64], changes: &[f64]) -> Vec<f64> {
        u.iter().zip(changes).map(|(u, change)| u + change).collect()
    }

    /// The response of the outputs to a change of all inputs, over one step.
    fn local_model(&self) -> Result<Option<String>> {
        let (mut subsystem, u) = self.start()?;
        let can = Capabilities::of(&mut *subsystem);
        if can.linearisation < Linearisation::Full {
            return Ok(None);
        }
        let outputs = subsystem.description().outputs.len();
        let mut model = LocalModel::new(can.states, u.len(), outputs);
        subsystem.demand_linearised()?.local_model(&u, &mut model)?;
        let changes = Self::changes(&*subsystem, &u);
        let base = self.step(&mut *subsystem, 0, &u, &[])?;
        drop(subsystem);
        let (mut other, _) = self.start()?;
        let moved = self.step(&mut *other, 0, &Self::changed(&u, &changes), &[])?;
        let Some(responses) = responses(&model, self.experiment.step) else { return Ok(None) };
        let (mut expected, mut sizes) = (vec![0.0; outputs], vec![0.0; outputs]);
        for i in 0..outputs {
            for (response, change) in responses.row(i).iter().zip(&changes) {
                expected[i] += response * change;
                // Where responses cancel each other, they are not expected to do so to the last digit.
                sizes[i] += 0.1 * (response * change).abs();
            }
        }
        let (mut error, mut size) = (0.0, 0.0);
        for i in 0..outputs {
            let measured = moved[i] - base[i];
            let noise = 1e3 * f64::EPSILON * base[i].abs().max(moved[i].abs());
            error += ((measured - expected[i]).abs() - noise).max(0.0).powi(2);
            size += measured.abs().max(expected[i].abs()).max(sizes[i]).powi(2);
        }
        let difference = if size > 0.0 { f64::sqrt(error / size) } else { 0.0 };
        Ok((difference > CONTRADICTION).then(|| {
            format!(
                "its local model is not used: over a step with changed inputs it differs from the outputs by {:.0} %",
                100.0 * difference
            )
        }))
    }

    /// Whether it makes a difference that inputs change over a step, where it makes one what they are.
    fn polynomials(&self) -> Result<Option<String>> {
        let (subsystem, u) = self.start()?;
        if subsystem.description().input_order == 0 {
            return Ok(None);
        }
        let mut changes = Self::changes(&*subsystem, &u);
        for (j, change) in changes.iter_mut().enumerate() {
            if subsystem.description().order_of_input(j) == 0 {
                *change = 0.0;
            }
        }
        drop(subsystem);
        let slopes: Vec<f64> = changes.iter().map(|change| change / self.experiment.step).collect();
        let (base, moved) = (self.run(&u, &[])?, self.run(&Self::changed(&u, &changes), &[])?);
        Ok(match self.run(&u, &slopes) {
            Ok(ramp) if same_bits(&base, &ramp) && !same_bits(&base, &moved) => {
                Some("its inputs are held: what it is told about their derivatives has no effect".into())
            }
            Ok(_) => None,
            Err(error) => Some(format!("its inputs are held: {}", error.details().message)),
        })
    }

    /// Whether a step from a state that was put back is the same step, bit for bit.
    fn rollback(&self) -> Result<Option<String>> {
        let (mut subsystem, u) = self.start()?;
        if subsystem.rollback().is_none() {
            return Ok(None);
        }
        for k in 0..STEPS {
            self.step(&mut *subsystem, k, &u, &[])?;
        }
        let changed = Self::changed(&u, &Self::changes(&*subsystem, &u));
        let mut again = || {
            subsystem.demand_rollback()?.snapshot()?;
            let once = self.step(&mut *subsystem, STEPS, &u, &[])?;
            subsystem.demand_rollback()?.restore()?;
            // Another step in between: nothing of it may stay.
            self.step(&mut *subsystem, STEPS, &changed, &[])?;
            subsystem.demand_rollback()?.restore()?;
            Ok(same_bits(&once, &self.step(&mut *subsystem, STEPS, &u, &[])?))
        };
        let outcome: Result<bool> = again();
        Ok(match outcome {
            Ok(true) => None,
            Ok(false) => {
                Some("its state is not stored and restored: a step from a restored state differs".into())
            }
            Err(error) => Some(format!("its state is not stored and restored: {}", error.details().message)),
        })
    }
}

fn same_bits(a: &[f64], b: &[f64]) -> bool {
    a.iter().map(|a| a.to_bits()).eq(b.iter().map(|b| b.to_bits()))
}
