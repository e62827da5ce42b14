//! Macro steps divided for subsystems that hold their inputs: each part of the step gets the mean of the input
//! polynomials over it.

use costep_core::{
    Code, Description, Error, Experiment, InputPolynomials, InputSegment, Interval, LocalModel, MicroSamples,
    Needs, Result, StateReader, StateWriter, StepLengths, StepOutcome, Subsystem,
};

/// Divides the steps of the chosen subsystems that take less than the method gives. Gives their numbers.
pub(crate) fn divide_steps(
    subsystems: &mut Vec<Box<dyn Subsystem>>,
    (needs, step): (&Needs, f64),
    is_chosen: impl Fn(usize) -> bool,
) -> Result<Vec<usize>> {
    let takes_less = |s: &dyn Subsystem| s.description().capabilities.input_order < needs.input_order;
    let chosen: Vec<_> =
        (0..subsystems.len()).filter(|i| is_chosen(*i) && takes_less(&*subsystems[*i])).collect();
    chosen.iter().try_for_each(|i| check_parts(&*subsystems[*i], step, needs.substeps))?;
    let all = std::mem::take(subsystems);
    let divide = |(i, subsystem): (usize, Box<dyn Subsystem>)| -> Box<dyn Subsystem> {
        if chosen.contains(&i) { Box::new(Divided::new(subsystem, needs)) } else { subsystem }
    };
    *subsystems = all.into_iter().enumerate().map(divide).collect();
    Ok(chosen)
}

/// Whether a subsystem can do the parts of a step. One that wants all its steps to be equal can: they are.
fn check_parts(subsystem: &dyn Subsystem, step: f64, parts: usize) -> Result<()> {
    if !subsystem.can_step_by(step) || subsystem.can_step_by(step / parts as f64) {
        return Ok(());
    }
    let name = &subsystem.description().name;
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

/// A subsystem that does several steps per macro step.
struct Divided {
    inner: Box<dyn Subsystem>,
    description: Description,
    steps: usize,
    means: InputPolynomials,
    /// `means` are those of a step.
    stepped: bool,
}

impl Divided {
    fn new(inner: Box<dyn Subsystem>, needs: &Needs) -> Self {
        let mut description = inner.description().clone();
        description.capabilities.input_order = needs.input_order;
        // Those of the last part would pass for those of the whole step.
        description.capabilities.micro_samples = None;
        let inputs = description.inputs.len();
        Self {
            inner,
            steps: needs.substeps,
            means: InputPolynomials::new(inputs, 0),
            stepped: false,
            description,
        }
    }
}

impl Subsystem for Divided {
    fn solver_counts(&self) -> Option<costep_core::SolverCounts> {
        self.inner.solver_counts()
    }

    fn description(&self) -> &Description {
        &self.description
    }

    fn initialise(&mut self, experiment: &Experiment) -> Result<()> {
        self.inner.initialise(&Experiment { step: experiment.step / self.steps as f64, ..*experiment })
    }

    fn initial_outputs(&mut self, u: &[f64], y: &mut [f64]) -> Result<()> {
        self.inner.initial_outputs(u, y)
    }

    fn step(&mut self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
        let length = interval.length / self.steps as f64;
        let time = |j: usize| if j == self.steps { interval.end } else { interval.start + j as f64 * length };
        let mut outcome = StepOutcome { reached: interval.start };
        self.stepped = true;
        for j in 0..self.steps {
            let from = j as f64 * length;
            mean(u, (from, from + length), self.means.coefficients_mut(0));
            let part = Interval { start: time(j), end: time(j + 1), length };
            let inputs = self.description.inputs.len();
            outcome = self.inner.step(part, self.means.segment(0..inputs, 0), y)?;
            if outcome.reached != part.end {
                return Ok(outcome);
            }
        }
        Ok(outcome)
    }

    fn step_lengths(&self) -> StepLengths {
        self.inner.step_lengths()
    }

    fn input_at_end(&self) -> Option<&[f64]> {
        self.stepped.then_some(self.means.coefficients(0))
    }

    fn snapshot(&mut self) -> Result<()> {
        self.inner.snapshot()
    }

    fn restore(&mut self) -> Result<()> {
        self.inner.restore()
    }

    fn states(&self) -> usize {
        self.inner.states()
    }

    fn local_model(&mut self, u: &[f64], model: &mut LocalModel) -> Result<()> {
        self.inner.local_model(u, model)
    }

    fn read_state(&mut self, u: &[f64], x: &mut [f64], x_dot: &mut [f64]) -> Result<bool> {
        self.inner.read_state(u, x, x_dot)
    }

    fn micro_samples(&self) -> Option<MicroSamples<'_>> {
        None
    }

    fn energy(&self) -> Option<f64> {
        self.inner.energy()
    }

    fn save(&self, out: &mut StateWriter) -> Result<()> {
        self.inner.save(out)
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.inner.load(from)
    }

    fn terminate(&mut self) {
        self.inner.terminate();
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
