//! Offers of a subsystem that are tried before anybody relies on them: local models, input polynomials,
//! rollback. Some FMUs declare what they do not do.

use std::cell::OnceCell;

use costep_core::{
    Capabilities, Code, Description, Error, Experiment, InputPolynomials, Linearisation, LocalModel, Port,
    Result, Subsystem, Variation,
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

/// The other change that is tried: a wrong model is wrong there by that share too, while curvature goes with the
/// square, and a kink is at one side.
const BACK: f64 = -0.5;
/// Ratios of the differences, relative to that of the changes, which only a wrong model explains.
const IN_PROPORTION: std::ops::RangeInclusive<f64> = 0.7..=1.5;
/// Size of a response that passes several states, in what is expected of it: a single Euler step makes nothing or twice
/// as much of it.
const PASSED_ON: f64 = 4.5;

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

/// For each of these offers why it cannot be relied on, if a trial shows that. `make` gives a fresh instance with inputs
/// for it; one that cannot be tried is not accused of anything. Instances are dropped without being terminated.
///
/// An instance is a process with everything unpacked and loaded: all offers are judged by as few of them as possible.
pub fn contradictions(
    offers: &[Offer],
    make: &dyn Fn() -> Result<TrialPart>,
    experiment: &Experiment,
) -> Vec<Option<String>> {
    // FMUs may refuse steps beyond the stop time they are told.
    let stop = experiment.stop.max(experiment.time(STEPS + 1));
    let bench = Bench { make, experiment: Experiment { stop, ..*experiment } };
    let base = offers.contains(&Offer::LocalModel).then(|| bench.base(true).ok()).flatten();
    let judge = |offer: &Offer| match (offer, &base) {
        (Offer::LocalModel, Some(base)) => bench.local_model(base).ok().flatten(),
        (Offer::LocalModel, None) => None,
        (Offer::InputPolynomials, Some(base)) => bench.polynomials(base).ok().flatten(),
        // Asking for a local model may have been too much.
        (Offer::InputPolynomials, None) => bench.polynomials(&bench.base(false).ok()?).ok().flatten(),
        (Offer::Rollback, _) => bench.rollback().ok().flatten(),
    };
    offers.iter().map(judge).collect()
}

struct Bench<'a> {
    make: &'a dyn Fn() -> Result<TrialPart>,
    experiment: Experiment,
}

/// What an instance says and does under its own inputs. Others are called just as it was, but for their inputs.
struct Base {
    description: Description,
    u: Vec<f64>,
    /// A change of each input that has values in between.
    changes: Vec<f64>,
    /// Its local model, if it gives one and is asked for it.
    model: Option<LocalModel>,
    rows: Rows,
    /// The outputs of another instance under all changes.
    moved: OnceCell<Result<Rows>>,
}

/// Outputs after the first steps, as many as were possible.
#[derive(Clone)]
struct Rows {
    values: Vec<f64>,
    end: Result<()>,
}

impl Rows {
    fn first(&self, outputs: usize) -> Result<&[f64]> {
        match self.values.get(..outputs) {
            Some(row) => Ok(row),
            None => Err(self.end.clone().err().unwrap_or_else(|| Error::new(Code::Bug, "no step was done"))),
        }
    }

    fn all(&self) -> Result<&[f64]> {
        self.end.clone().map(|()| &*self.values)
    }
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

    /// The first steps of an instance.
    fn rows(&self, subsystem: &mut dyn Subsystem, u: &[f64], slopes: &[f64]) -> Rows {
        let mut values = Vec::new();
        let mut step = |k| self.step(subsystem, k, u, slopes).map(|row| values.extend(row));
        let end = (0..STEPS).try_for_each(&mut step);
        Rows { values, end }
    }

    /// The first instance, which is also asked for its local model.
    fn base(&self, asks_model: bool) -> Result<Base> {
        let (mut subsystem, u) = self.start()?;
        let description = subsystem.description().clone();
        let can = Capabilities::of(&mut *subsystem);
        let model = (asks_model && can.linearisation >= Linearisation::Full)
            .then(|| local_model(&mut *subsystem, &u))
            .transpose()?;
        let is_needed = model.is_some() || description.input_order > 0;
        let nothing = Rows { values: Vec::new(), end: Ok(()) };
        let rows = if is_needed { self.rows(&mut *subsystem, &u, &[]) } else { nothing };
        let changes = changes(&description, &u);
        Ok(Base { description, u, changes, model, rows, moved: OnceCell::new() })
    }

    /// The outputs of a fresh instance after its first steps.
    fn run(&self, base: &Base, u: &[f64], slopes: &[f64]) -> Result<Rows> {
        let (mut subsystem, _) = self.start()?;
        if base.model.is_some() {
            local_model(&mut *subsystem, &base.u)?;
        }
        Ok(self.rows(&mut *subsystem, u, slopes))
    }

    /// The same under inputs that are moved by a part of these changes.
    fn moved(&self, base: &Base, changes: &[f64], part: f64) -> Result<Rows> {
        if part == 1.0 && changes == base.changes {
            let run = || self.run(base, &changed(&base.u, changes, part), &[]);
            return base.moved.get_or_init(run).clone();
        }
        self.run(base, &changed(&base.u, changes, part), &[])
    }

    /// The response of the outputs to a change of all inputs, over one step.
    fn local_model(&self, base: &Base) -> Result<Option<String>> {
        let Some(model) = &base.model else { return Ok(None) };
        let outputs = model.outputs;
        let first = base.rows.first(outputs)?;
        let Some(expected) = Expected::new(model, &base.changes, self.experiment.step) else {
            return Ok(None);
        };
        let deviations = |part: f64| {
            let moved = self.moved(base, &base.changes, part)?;
            Ok::<_, Error>(expected.deviations(first, moved.first(outputs)?, part))
        };
        let forth = deviations(1.0)?;
        let suspects: Vec<usize> = (0..outputs).filter(|i| forth[*i].share > CONTRADICTION).collect();
        if suspects.is_empty() {
            return Ok(None);
        }
        let back = deviations(BACK)?;
        let is_wrong = |i: &usize| IN_PROPORTION.contains(&(back[*i].error / (BACK * forth[*i].error)));
        let wrong = suspects.into_iter().filter(is_wrong);
        let worst = wrong.max_by(|i, j| forth[*i].share.total_cmp(&forth[*j].share));
        Ok(worst.map(|i| {
            format!(
                "its local model is not used: over a step with changed inputs it differs from the output `{}` by {:.0} %",
                base.description.outputs[i].name,
                100.0 * forth[i].share
            )
        }))
    }

    /// Whether it makes a difference that inputs change over a step, where it makes one what they are.
    fn polynomials(&self, base: &Base) -> Result<Option<String>> {
        if base.description.input_order == 0 {
            return Ok(None);
        }
        let mut changes = base.changes.clone();
        for (j, change) in changes.iter_mut().enumerate() {
            if base.description.order_of_input(j) == 0 {
                *change = 0.0;
            }
        }
        let slopes: Vec<f64> = changes.iter().map(|change| change / self.experiment.step).collect();
        let (held, moved) = (base.rows.all()?, self.moved(base, &changes, 1.0)?);
        let has_effect = !same_bits(held, moved.all()?);
        let ramp = self.run(base, &base.u, &slopes).and_then(|ramp| ramp.all().map(<[f64]>::to_vec));
        Ok(match ramp {
            Ok(ramp) if same_bits(held, &ramp) && has_effect => {
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
        let changed = changed(&u, &changes(subsystem.description(), &u), 1.0);
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

fn local_model(subsystem: &mut dyn Subsystem, u: &[f64]) -> Result<LocalModel> {
    let linearised = subsystem.demand_linearised()?;
    let states = linearised.states();
    let outputs = subsystem.description().outputs.len();
    let mut model = LocalModel::new(states, u.len(), outputs);
    subsystem.demand_linearised()?.local_model(u, &mut model)?;
    Ok(model)
}

/// A change of each input that has values in between.
fn changes(description: &Description, u: &[f64]) -> Vec<f64> {
    let change = |(port, u): (&Port, &f64)| match port.variation {
        Variation::Discrete => 0.0,
        _ => CHANGE * u.abs().max(port.nominal.map_or(1.0, f64::abs)),
    };
    description.inputs.iter().zip(u).map(change).collect()
}

fn changed(u: &[f64], changes: &[f64], part: f64) -> Vec<f64> {
    u.iter().zip(changes).map(|(u, change)| u + part * change).collect()
}

/// What a local model says about the outputs after a step under changed inputs.
struct Expected {
    responses: Vec<f64>,
    /// With what errors are compared at least.
    sizes: Vec<f64>,
}

/// How far an output is from what is expected of it.
struct Deviation {
    error: f64,
    /// Relative to the response, without round-off.
    share: f64,
}

impl Expected {
    /// Nothing if the local model does not say anything.
    fn new(model: &LocalModel, changes: &[f64], h: f64) -> Option<Self> {
        let (n, m) = (model.states, model.inputs);
        let by_inputs = responses(model, h)?;
        let (mut responses, mut sizes) = (Vec::new(), Vec::new());
        for i in 0..model.outputs {
            let row = || by_inputs.row(i).iter().zip(changes).map(|(response, change)| response * change);
            let response: f64 = row().sum();
            let at_once = |j: usize| {
                let by_states: f64 = (0..n).map(|k| model.c[i * n + k] * model.b[k * m + j]).sum();
                ((model.d[i * m + j] + h * by_states) * changes[j]).abs()
            };
            let is_passed_on = (0..m).map(at_once).sum::<f64>() < 0.1 * response.abs();
            let size = if is_passed_on { PASSED_ON } else { 1.0 } * response.abs();
            // Where responses cancel each other, they are not expected to do so to the last digit.
            sizes.push(size.max(0.1 * row().map(f64::abs).sum::<f64>()));
            responses.push(response);
        }
        Some(Self { responses, sizes })
    }

    /// Of each output, under a part of the changes.
    fn deviations(&self, base: &[f64], moved: &[f64], part: f64) -> Vec<Deviation> {
        let deviation = |i: usize| {
            let measured = moved[i] - base[i];
            let error = measured - part * self.responses[i];
            let noise = 1e3 * f64::EPSILON * base[i].abs().max(moved[i].abs());
            let size = measured.abs().max((part * self.sizes[i]).abs());
            let beyond = (error.abs() - noise).max(0.0);
            Deviation { error, share: if size > 0.0 { beyond / size } else { 0.0 } }
        };
        (0..base.len()).map(deviation).collect()
    }
}

fn same_bits(a: &[f64], b: &[f64]) -> bool {
    a.iter().map(|a| a.to_bits()).eq(b.iter().map(|b| b.to_bits()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use costep_core::{InputSegment, Interval, Linearised, ModelOrigin, StepOutcome};

    /// Outputs by a function of one held input, beside a local model.
    #[derive(Clone)]
    struct Claim {
        description: Description,
        outputs: fn(f64) -> Vec<f64>,
        model: LocalModel,
    }

    impl Subsystem for Claim {
        fn description(&self) -> &Description {
            &self.description
        }

        fn initialise(&mut self, _experiment: &Experiment) -> Result<()> {
            Ok(())
        }

        fn initial_outputs(&mut self, u: &[f64], y: &mut [f64]) -> Result<()> {
            y.copy_from_slice(&(self.outputs)(u[0]));
            Ok(())
        }

        fn step(&mut self, interval: Interval, u: InputSegment<'_>, y: &mut [f64]) -> Result<StepOutcome> {
            y.copy_from_slice(&(self.outputs)(u.coefficients(0)[0]));
            Ok(StepOutcome { reached: interval.end })
        }

        fn terminate(&mut self) {}
    }

    costep_core::handles!(Claim {
        rollback: none,
        linearised: some,
        micro_recorder: none,
        environment: none,
        persistence: none,
        telemetry: none
    });

    impl Linearised for Claim {
        fn level(&self) -> Linearisation {
            Linearisation::Full
        }

        fn states(&self) -> usize {
            self.model.states
        }

        fn origin(&self) -> ModelOrigin {
            ModelOrigin::Exact
        }

        fn local_model(&mut self, _u: &[f64], model: &mut LocalModel) -> Result<()> {
            model.clone_from(&self.model);
            Ok(())
        }

        fn read_state(&mut self, _u: &[f64], _x: &mut [f64], _x_dot: &mut [f64]) -> Result<bool> {
            Ok(false)
        }
    }

    fn verdict(model: LocalModel, outputs: fn(f64) -> Vec<f64>) -> Option<String> {
        let ports = |name: &str, count| {
            (0..count).map(|i| Port { name: format!("{name}{i}"), ..Port::default() }).collect::<Vec<_>>()
        };
        let description = Description {
            inputs: ports("u", 1),
            outputs: ports("y", model.outputs),
            ..Description::default()
        };
        let claim = Claim { description, outputs, model };
        let make = || -> Result<TrialPart> { Ok((Box::new(claim.clone()), vec![0.0])) };
        let found =
            contradictions(&[Offer::LocalModel], &make, &Experiment { start: 0.0, stop: 1.0, step: 0.1 });
        found.into_iter().next().flatten()
    }

    /// The verdict about y = f(u) with these slopes at u = 0.
    fn verdict_on_slopes(slopes: &[f64], outputs: fn(f64) -> Vec<f64>) -> Option<String> {
        let mut model = LocalModel::new(0, 1, slopes.len());
        model.d.copy_from_slice(slopes);
        verdict(model, outputs)
    }

    #[test]
    fn two_offers_take_three_instances() {
        let mut model = LocalModel::new(0, 1, 1);
        model.d.copy_from_slice(&[2.0]);
        let description = Description {
            inputs: vec![Port { name: "u".into(), ..Port::default() }],
            outputs: vec![Port { name: "y".into(), ..Port::default() }],
            input_order: 1,
            ..Description::default()
        };
        let claim = Claim { description, outputs: |u| vec![2.0 * u], model };
        let made = std::cell::Cell::new(0);
        let make = || -> Result<TrialPart> {
            made.set(made.get() + 1);
            Ok((Box::new(claim.clone()), vec![0.0]))
        };
        let offers = [Offer::LocalModel, Offer::InputPolynomials, Offer::Rollback];
        let found = contradictions(&offers[..2], &make, &Experiment { start: 0.0, stop: 1.0, step: 0.1 });
        // Its local model is right; slopes of its input have no effect.
        assert!(
            found[0].is_none() && found[1].as_ref().is_some_and(|text| text.contains("are held")),
            "{found:?}"
        );
        assert_eq!(made.get(), 3);
        assert_eq!(
            contradictions(&offers[2..], &make, &Experiment { start: 0.0, stop: 1.0, step: 0.1 }),
            [None]
        );
        assert_eq!(made.get(), 4);
    }

    #[test]
    fn curvature_and_kinks_are_not_wrong_models() {
        assert_eq!(verdict_on_slopes(&[0.0], |u| vec![u * u.abs()]), None);
        assert_eq!(verdict_on_slopes(&[0.0], |u| vec![7.0 + u * u]), None);
        assert_eq!(verdict_on_slopes(&[0.0], |u| vec![u.max(0.0)]), None);
        assert_eq!(verdict_on_slopes(&[1.0], |u| vec![u.max(0.0)]), None);
        let wrong = verdict_on_slopes(&[0.0], |u| vec![u + u * u]).unwrap();
        assert!(wrong.contains("from the output `y0` by 100 %"), "{wrong}");
        assert!(verdict_on_slopes(&[2.0], |u| vec![u]).unwrap().contains("50 %"));
    }

    #[test]
    fn each_output_is_judged_alone() {
        assert_eq!(verdict_on_slopes(&[1e5, 1.0], |u| vec![1e5 * u, u]), None);
        let wrong = verdict_on_slopes(&[1e5, -1.0], |u| vec![1e5 * u, u]).unwrap();
        assert!(wrong.contains("`y1`"), "{wrong}");
    }

    #[test]
    fn what_an_euler_step_makes_of_a_position_is_not_a_wrong_model() {
        // u is the acceleration; the step is 0.1 s long.
        let model = || {
            let mut model = LocalModel::new(2, 1, 1);
            model.a.copy_from_slice(&[0.0, 1.0, 0.0, 0.0]);
            model.b.copy_from_slice(&[0.0, 1.0]);
            model.c.copy_from_slice(&[1.0, 0.0]);
            model
        };
        assert_eq!(verdict(model(), |u| vec![0.005 * u]), None);
        assert_eq!(verdict(model(), |_| vec![0.0]), None);
        assert_eq!(verdict(model(), |u| vec![0.01 * u]), None);
        assert!(verdict(model(), |u| vec![-0.005 * u]).is_some());
    }
}
