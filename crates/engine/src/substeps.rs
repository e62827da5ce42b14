//! Macro steps divided for single subsystems: each part of the step gets the input polynomials shifted to its start or, where inputs are
//! held, their mean over it.

use costep_core::{
    Code, Description, EnvironmentStep, Error, Experiment, InputPolynomials, InputSegment, Interval,
    MicroRecorder, MicroSamples, Result, SolverCounts, StepLengths, StepOutcome, Subsystem, Telemetry,
    Variation, Wrapper,
};

/// Divides the steps of the chosen subsystems that take less than the method gives.
pub(crate) fn divide_steps(
    subsystems: &mut Vec<Box<dyn Subsystem>>,
    (order, parts, step): (usize, usize, f64),
    is_chosen: impl Fn(usize) -> bool,
) -> Result<()> {
    let is_chosen = |(i, s): (usize, &dyn Subsystem)| is_chosen(i) && s.description().input_order < order;
    let mut each = subsystems.iter().enumerate().filter(|(i, s)| is_chosen((*i, &***s)));
    each.try_for_each(|(_, s)| check_parts(s.description(), step, parts))?;
    let divide = |(i, subsystem): (usize, Box<dyn Subsystem>)| -> Box<dyn Subsystem> {
        if is_chosen((i, &*subsystem)) {
            Box::new(Divided::new(subsystem, parts, (order, 0)))
        } else {
            subsystem
        }
    };
    *subsystems = std::mem::take(subsystems).into_iter().enumerate().map(divide).collect();
    Ok(())
}

/// Highest order of polynomials that parts with held inputs take the means of.
const ORDER_OF_MEANS: usize = 2;
/// Highest order of polynomials that are handed on.
const MOST_ORDER: usize = 8;

/// A subsystem that does so many steps in every macro step, with what it takes of inputs.
pub(crate) fn divided(subsystem: Box<dyn Subsystem>, parts: usize) -> Box<dyn Subsystem> {
    let order = subsystem.description().input_order.min(MOST_ORDER);
    let taken = if order == 0 { ORDER_OF_MEANS } else { order };
    Box::new(Divided::new(subsystem, parts, (taken, order)))
}

/// Whether a subsystem can do the parts of a step. One that wants all its steps to be equal can: they are.
fn check_parts(description: &Description, step: f64, parts: usize) -> Result<()> {
    if !description.can_step_by(step) || description.can_step_by(step / parts as f64) {
        return Ok(());
    }
    let name = &description.name;
    Err(Error::new(
        Code::NeedsMissing,
        format!("`{name}` cannot do steps of {} s, {parts} per macro step", step / parts as f64),
    )
    .hint("choose `substeps` such that each part is a multiple of the inner step of the FMU"))
}

/// Mean of each input polynomial from `from` to `to` seconds after the start of the step.
fn mean(u: InputSegment<'_>, (from, to): (f64, f64), means: &mut [f64]) {
    means.fill(0.0);
    for a in 0..=u.order() {
        // (to^(a+1) - from^(a+1)) / (to - from), without the difference.
        let weight: f64 = (0..=a).map(|i| to.powi(i as i32) * from.powi((a - i) as i32)).sum();
        means.iter_mut().zip(u.coefficients(a)).for_each(|(mean, c)| *mean += c * weight / (a + 1) as f64);
    }
}

/// The Taylor polynomial of each input at `from` seconds after the start of the step: by Horner's scheme, once for every coefficient.
fn shift(u: InputSegment<'_>, from: f64, shifted: &mut InputPolynomials) {
    for a in 0..=shifted.order() {
        for j in 0..u.len() {
            let coefficients = (a..=u.order()).rev();
            let value =
                coefficients.fold(0.0, |value, b| value * from + binomial(b, a) * u.coefficients(b)[j]);
            shifted.coefficients_mut(a)[j] = value;
        }
    }
}

/// b over a.
fn binomial(b: usize, a: usize) -> f64 {
    (0..a).fold(1.0, |product, i| product * (b - i) as f64 / (i + 1) as f64)
}

/// A subsystem that does several steps per macro step.
struct Divided {
    inner: Box<dyn Subsystem>,
    description: Description,
    steps: usize,
    /// The inputs over a part.
    inputs: InputPolynomials,
    /// `inputs` are those of a step.
    stepped: bool,
}

impl Divided {
    /// It takes polynomials of one order and hands on those of another, which is the same, or zero: means.
    fn new(inner: Box<dyn Subsystem>, steps: usize, (taken, handed_on): (usize, usize)) -> Self {
        let mut description = inner.description().clone();
        description.input_order = taken;
        if let StepLengths::MultiplesOf(inner) = &mut description.step_lengths {
            *inner *= steps as f64;
        }
        // Each part of a step is a step of its own to the subsystem.
        for port in description.inputs.iter_mut().filter(|port| port.variation == Variation::Stepwise) {
            port.variation = Variation::Continuous;
        }
        let inputs = InputPolynomials::new(description.inputs.len(), handed_on);
        Self { inner, steps, inputs, stepped: false, description }
    }
}

impl Wrapper for Divided {
    fn inner(&self) -> &dyn Subsystem {
        &*self.inner
    }

    fn inner_mut(&mut self) -> &mut dyn Subsystem {
        &mut *self.inner
    }

    fn description(&self) -> &Description {
        &self.description
    }

    fn initialise(&mut self, experiment: &Experiment) -> Result<()> {
        // The last part begins in the last macro step: at another rounding than counted from the start of the run.
        let (stop, step) = (experiment.latest_sum(self.steps), experiment.step / self.steps as f64);
        self.inner.initialise(&Experiment { stop, step, ..*experiment })
    }

    fn step(&mut self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        let mut outcome = StepOutcome { reached: interval.start };
        self.stepped = true;
        for (j, part) in interval.split(self.steps).enumerate() {
            let from = j as f64 * part.length;
            let order = self.inputs.order();
            match order {
                0 => mean(u, (from, from + part.length), self.inputs.coefficients_mut(0)),
                _ => shift(u, from, &mut self.inputs),
            }
            let inputs = self.inputs.segment(0..self.description.inputs.len(), order);
            outcome = self.inner.step(part, inputs, y)?;
            if outcome.reached != part.end {
                return Ok(outcome);
            }
        }
        Ok(outcome)
    }

    /// Samples of the last part would pass for those of the whole step.
    fn micro_recorder(&mut self) -> Option<&mut dyn MicroRecorder> {
        None
    }

    /// The environment would not be seen in parts.
    fn environment(&mut self) -> Option<&mut dyn EnvironmentStep> {
        None
    }

    fn telemetry(&self) -> Option<&dyn Telemetry> {
        Some(self)
    }
}

impl Telemetry for Divided {
    fn micro_samples(&self) -> Option<MicroSamples<'_>> {
        None
    }

    fn input_at_end(&self) -> Option<&[f64]> {
        (self.stepped && self.inputs.order() == 0).then_some(self.inputs.coefficients(0))
    }

    fn diagnostic_names(&self) -> &[&'static str] {
        self.inner.telemetry().map_or(&[], |last| last.diagnostic_names())
    }

    fn diagnostics(&self, row: &mut [f64]) {
        if let Some(last) = self.inner.telemetry() {
            last.diagnostics(row);
        }
    }

    fn solver_counts(&self) -> Option<SolverCounts> {
        self.inner.telemetry()?.solver_counts()
    }

    fn energy(&self) -> Option<f64> {
        self.inner.telemetry()?.energy()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_of_parts_are_those_of_the_polynomial() {
        let mut inputs = InputPolynomials::new(1, 2);
        for (a, c) in [(0, 1.0), (1, -2.0), (2, 6.0)] {
            inputs.coefficients_mut(a)[0] = c;
        }
        let mut means = [0.0];
        mean(inputs.segment(0..1, 2), (0.5, 1.5), &mut means);
        // [t - t^2 + 2 t^3] from 0.5 to 1.5.
        let integral = |t: f64| t - t * t + 2.0 * t.powi(3);
        assert!((means[0] - (integral(1.5) - integral(0.5))).abs() < 1e-14);
    }
}
