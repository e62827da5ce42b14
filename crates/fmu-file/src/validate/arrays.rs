//! Arrays, clocks and the other things of FMI 3.

use costep_core::Code;

use crate::description::enumerations::{Causality, IntervalVariability, Variability, VariableType};
use crate::description::variable::{Clock, Dimension, Variable};
use crate::description::{FmiVersion, ModelDescription};
use crate::finding::Report;
use crate::text::short;

pub(crate) fn check(description: &ModelDescription, report: &mut Report) {
    for variable in description.variables() {
        check_array(description, variable, report);
        if description.fmi_version == FmiVersion::V3 {
            check_clocked(description, variable, report);
            check_previous(description, variable, report);
        }
        if variable.flags.intermediate_update && variable.variability != Variability::Continuous {
            let message =
                format!("`{}` has intermediate updates but is not continuous", short(&variable.name));
            report.warning(Code::FmuCapability, variable.line, message);
        }
        if let Some(clock) = &variable.clock {
            check_clock(description, variable, clock, report);
        }
    }
    check_previous_unique(description, report);
}

fn check_array(description: &ModelDescription, variable: &Variable, report: &mut Report) {
    let name = short(&variable.name);
    for dimension in &variable.dimensions {
        let Dimension::Variable(index) = dimension else { continue };
        let size = &description.variables()[*index];
        let fits = size.kind == VariableType::UInt64
            && !size.is_array()
            && (size.causality == Causality::StructuralParameter
                || size.variability == Variability::Constant);
        if !fits {
            let message = format!(
                "`{}`, a size of `{name}`, is neither a structural parameter nor a constant of type UInt64",
                short(&size.name)
            );
            report.warning(Code::FmuArray, variable.line, message);
        }
    }
    if variable.is_array() && variable.causality == Causality::StructuralParameter {
        let message = format!("the structural parameter `{name}` is an array");
        report.warning(Code::FmuArray, variable.line, message);
    }
    if let Some(start) = &variable.start
        && variable.elements > 0
        && start.len() > 1
        && start.len() != variable.elements
    {
        let message = format!("`{name}` has {} start values for {} elements", start.len(), variable.elements);
        report.warning(Code::FmuArray, variable.line, message);
    }
}

fn check_clocked(description: &ModelDescription, variable: &Variable, report: &mut Report) {
    if variable.clocks.is_empty() {
        return;
    }
    let name = short(&variable.name);
    if let Some(wrong) =
        variable.clocks.iter().find(|c| description.variables()[**c].kind != VariableType::Clock)
    {
        let message = format!(
            "`{}`, a clock of `{name}`, is not a clock",
            short(&description.variables()[*wrong].name)
        );
        report.warning(Code::FmuClock, variable.line, message);
    }
    if !matches!(variable.variability, Variability::Discrete | Variability::Tunable) {
        let message = format!("`{name}` has clocks but is neither discrete nor tunable");
        report.warning(Code::FmuClock, variable.line, message);
    }
}

fn check_previous(description: &ModelDescription, variable: &Variable, report: &mut Report) {
    let Some(previous) = variable.previous.map(|index| &description.variables()[index]) else { return };
    let flaw = if variable.clocks.is_empty() || variable.variability != Variability::Discrete {
        "has a previous value but is not clocked and discrete"
    } else if previous.name == variable.name {
        "is its own previous value"
    } else if previous.kind != variable.kind || previous.variability != Variability::Discrete {
        "has a previous value of another type or variability"
    } else if previous.causality == Causality::Input {
        "has an input as its previous value"
    } else {
        return;
    };
    report.warning(Code::FmuClock, variable.line, format!("`{}` {flaw}", short(&variable.name)));
}

fn check_previous_unique(description: &ModelDescription, report: &mut Report) {
    let mut pairs: Vec<(usize, &Variable)> =
        description.variables().iter().filter_map(|v| v.previous.map(|previous| (previous, v))).collect();
    pairs.sort_by_key(|(previous, _)| *previous);
    for pair in pairs.windows(2) {
        if pair[0].0 == pair[1].0 {
            let [first, second] = [0, 1].map(|at: usize| short(&pair[at].1.name));
            let message = format!("`{first}` and `{second}` have the same variable as previous value");
            report.warning(Code::FmuClock, pair[1].1.line, message);
        }
    }
}

fn check_clock(description: &ModelDescription, variable: &Variable, clock: &Clock, report: &mut Report) {
    use IntervalVariability as Interval;
    let name = short(&variable.name);
    let mut warn =
        |what: &str| report.warning(Code::FmuClock, variable.line, format!("the clock `{name}` {what}"));
    let Some(interval) = clock.interval_variability else {
        return warn("does not say when it ticks (`intervalVariability`)");
    };
    let output = variable.causality == Causality::Output;
    let periodic = matches!(interval, Interval::Constant | Interval::Fixed | Interval::Tunable);
    if output && interval != Interval::Triggered {
        warn("is an output and not triggered");
    }
    if output && clock.priority.is_some() {
        warn("is an output and has a priority");
    }
    let scheduled = description.scheduled_execution.is_some();
    if scheduled && variable.causality == Causality::Input && clock.priority.is_none() {
        warn("needs a priority for Scheduled Execution");
    }
    if interval == Interval::Constant && clock.interval_decimal.is_none() {
        warn("is periodic and has no `intervalDecimal`");
    }
    if !periodic && (clock.interval_decimal.is_some() || clock.interval_counter.is_some()) {
        warn("has an interval but is not periodic");
    }
    if clock.interval_decimal.is_some_and(|interval| !(interval > 0.0 && interval.is_finite()))
        || clock.interval_counter == Some(0)
    {
        warn("has an interval that is not positive");
    }
    if clock.shift_decimal.is_some_and(|shift| !(shift >= 0.0 && shift.is_finite())) {
        warn("has a negative shift");
    }
    if clock.interval_counter.is_some() && clock.resolution.is_none_or(|resolution| resolution == 0) {
        warn("counts in fractions without a resolution");
    }
}
