//! What has to be right about a system before it is run.

use costep_core::{
    AfterStep, Capabilities, Code, Connection, Description, Error, Experiment, External, InputSet, Layout,
    LengthDemand, LowerOrders, Request, Result, StepLengths, unsupported,
};

use crate::guard::Bounds;
use crate::step_control::StepControl;
use crate::system::Group;

pub(crate) fn check_experiment(experiment: &Experiment) -> Result<()> {
    let Experiment { start, stop, step } = *experiment;
    if !(step > 0.0 && step.is_finite()) {
        return Err(Error::new(Code::BadValue, format!("the step is {step} s; it must be positive")));
    }
    if !(start.is_finite() && stop.is_finite() && stop >= start) {
        return Err(Error::new(Code::BadValue, format!("the run goes from {start} s to {stop} s")));
    }
    if experiment.time(1) == start || (stop - start) / step > 1e15 {
        return Err(Error::new(Code::BadValue, format!("a step of {step} s is lost in round-off")));
    }
    Ok(())
}

/// Every input belongs to exactly one group.
pub(crate) fn check_groups(groups: &[Group], layout: &Layout) -> Result<()> {
    let mut owned = vec![false; layout.inputs()];
    for j in groups.iter().flat_map(|group| group.inputs.iter()) {
        match owned.get_mut(j) {
            Some(owned) if !*owned => *owned = true,
            Some(_) => return Err(Error::new(Code::Duplicate, format!("input {j} is in two groups"))),
            None => return Err(Error::new(Code::BadValue, format!("there is no input {j} for a group"))),
        }
    }
    match owned.iter().position(|owned| !owned) {
        Some(j) => Err(Error::new(Code::Missing, format!("input {j} is in no group"))),
        None => Ok(()),
    }
}

pub(crate) fn check_indices(
    connections: &[Connection],
    externals: &[(usize, External)],
    bounds: &[(usize, Bounds)],
    layout: &Layout,
) -> Result<()> {
    let wrong = |what: &str, index: usize| {
        Err(Error::new(Code::BadValue, format!("{what} number {index} does not exist")))
    };
    let inputs = connections.iter().map(|c| c.input).chain(externals.iter().map(|(j, _)| *j));
    let outputs = connections.iter().map(|c| c.output).chain(bounds.iter().map(|(i, _)| *i));
    if let Some(j) = inputs.into_iter().find(|j| *j >= layout.inputs()) {
        return wrong("input", j);
    }
    match outputs.into_iter().find(|i| *i >= layout.outputs()) {
        Some(i) => wrong("output", i),
        None => Ok(()),
    }
}

/// External signals are finite.
pub(crate) fn check_externals(externals: &[(usize, External)]) -> Result<()> {
    match externals.iter().find(|(_, signal)| !signal.is_finite()) {
        Some((j, signal)) => {
            let message = format!("the signal at input {j} is not finite: {signal:?}");
            Err(Error::new(Code::BadValue, message))
        }
        None => Ok(()),
    }
}

/// Steps of different lengths are for methods and subsystems that can do them, rejected ones for subsystems that go back.
pub(crate) fn check_control(
    control: &dyn StepControl,
    requests: &[Request],
    descriptions: &[Description],
    capabilities: &[Capabilities],
) -> Result<()> {
    if !control.is_uniform() {
        if requests.iter().any(|request| request.lengths == LengthDemand::Equal) {
            let message = "the method identifies from steps of equal length, but the steps of this run vary";
            return Err(Error::new(Code::NeedsMissing, message)
                .hint("leave out `tolerance`, or use `auto`, `identified`, `nepce`, `foh` or `predictive`"));
        }
        if let Some(fixed) = descriptions.iter().find(|d| d.step_lengths == StepLengths::MacroSteps) {
            let message = format!("`{}` cannot vary the length of its steps", fixed.name);
            return Err(
                Error::new(Code::NeedsMissing, message).hint("use fixed steps: leave out `tolerance`")
            );
        }
    }
    let judges = control.after_step() == AfterStep::Judge;
    match descriptions.iter().zip(capabilities).find(|(_, can)| judges && !can.rollback) {
        Some((description, _)) => Err(unsupported(description, "rollback")),
        None => Ok(()),
    }
}

pub(crate) fn check_request(
    group: &Group,
    request: &Request,
    descriptions: &[Description],
    capabilities: &[Capabilities],
    layout: &Layout,
) -> Result<()> {
    let missing = |name: &str, what: &str| {
        Err(Error::new(Code::NeedsMissing, format!("the method needs {what}, which `{name}` does not offer")))
    };
    let owners: Box<dyn Iterator<Item = usize>> = match &group.inputs {
        InputSet::All(_) => Box::new(0..descriptions.len()),
        InputSet::Some(list) => Box::new(list.iter().map(|j| layout.input_owner(*j))),
    };
    for description in owners.map(|i| &descriptions[i]).filter(|d| !d.inputs.is_empty()) {
        let order = request.inputs.order();
        if description.input_order < order && request.inputs.lower_orders() == LowerOrders::Refused {
            return missing(&description.name, &format!("input polynomials of order {order}"));
        }
    }
    let goes_back = request.after_step == AfterStep::Judge;
    match descriptions.iter().zip(capabilities).find(|(_, can)| goes_back && !can.rollback) {
        Some((description, _)) => {
            missing(&description.name, "rollback").map_err(|error| error.hint(WITHOUT_ROLLBACK))
        }
        None => Ok(()),
    }
}

/// What to do where a subsystem cannot go back.
const WITHOUT_ROLLBACK: &str = "methods that do each step once: `auto`, `identified`, `predictive` with local models, `nepce`; \
                                `costep methods` lists what each needs";
