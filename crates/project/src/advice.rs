//! What `costep check` advises: allowed, but worth knowing before a run.

use costep_core::quantity::format_time;
use costep_core::{Code, Connection, Error, Experiment, PortKind};
use costep_integrate::Solver;
use costep_system::SystemDescription;

use crate::components::Components;
use crate::document::{Node, Value};
use crate::fmus::FmuInterface;
use crate::problems::{Problems, shortened};
use crate::section::Section;

/// Looks at the whole system once everything in it is known to be good.
pub(crate) fn advise(parts: &Components, connections: &[Connection], problems: &mut Problems<'_>) {
    direct_loops(parts, connections, problems);
    missing_nominals(parts, connections, problems);
}

/// FMUs whose own steps do not fit into the macro step: they may miss communication points.
pub(crate) fn warn_of_inner_steps(parts: &Components, step: f64, problems: &mut Problems<'_>) {
    for (index, (spec, file)) in parts.fmus.iter().enumerate() {
        let own = file.description.co_simulation.as_ref().and_then(|kind| kind.fixed_internal_step_size);
        let Some(own) = own.filter(|own| *own > 0.0 && spec.interface == FmuInterface::CoSimulation) else {
            continue;
        };
        let ratio = step / own;
        if ratio > 0.5 && (ratio - ratio.round()).abs() <= 1e-6 * ratio {
            continue;
        }
        problems.warn(parts.origins[parts.natives.len() + index], || {
            let (step, own) = (format_time(step), format_time(own));
            let message =
                format!("`{}` takes inner steps of {own}, but the macro step is {step}", spec.name);
            Error::new(Code::InnerStep, message)
                .because("an FMU that cannot reach a communication point with its inner steps stops before or after it")
                .hint(format!("choose a multiple of {own}"))
        });
    }
}

/// A solver with inner steps longer than the macro step, which it never takes. The flag says whether the project gives it.
pub(crate) fn warn_of_solver(
    system: &Section<'_>,
    solver: Option<&(Solver, bool)>,
    step: f64,
    problems: &mut Problems<'_>,
) {
    let Some((solver, true)) = solver else { return };
    // One without a value has a default, which is as good as any shorter one.
    let has_value = |node: &Node| matches!(&node.value, Value::Text(text) if text.contains(':'));
    if !system.get("solver").is_some_and(has_value) {
        return;
    }
    let Some(inner) = solver.inner_step().filter(|inner| *inner > step * (1.0 + 1e-9)) else { return };
    problems.warn(system.origin_of("solver"), || {
        let (inner, step) = (format_time(inner), format_time(step));
        Error::new(Code::OptionWithoutEffect, format!("no inner step of {inner} is taken: macro steps are {step}"))
            .because(format!("inner steps end with the macro step, so that each of them is one inner step of {step}"))
            .hint("choose a shorter inner step; explicit solvers need one that is short beside all motions of the parts")
    });
}

/// FMUs that cannot do the shorter step that the stop time asks for.
pub(crate) fn warn_of_stop(parts: &Components, run: &Experiment, problems: &mut Problems<'_>) {
    if run.last_step() == run.step {
        return;
    }
    let Some(part) = cannot_end(&parts.model, run) else { return };
    let origin = parts.origins.get(part).copied().unwrap_or(crate::document::Origin::Nowhere);
    problems.warn(origin, || stop_passed(&parts.model, run));
}

/// The first part that cannot do the last step.
fn cannot_end(model: &SystemDescription, run: &Experiment) -> Option<usize> {
    let last = run.last_step();
    model.parts.iter().position(|part| !part.description().step_lengths.allow(last))
}

/// The warning that a run goes on to the end of its last whole step.
pub fn stop_passed(model: &SystemDescription, run: &Experiment) -> Error {
    let [step, end, stop] = [run.step, run.with_equal_steps().stop, run.stop].map(format_time);
    let message = format!("the run ends at {end}: its stop time, {stop}, is no multiple of the step, {step}");
    Error::new(Code::StopPassed, message).because(match cannot_end(model, run) {
        Some(part) => {
            format!("`{}` cannot do a shorter last step", model.parts[part].description().name)
        }
        None => "a shorter last step cannot be done in the parts that the method needs".into(),
    })
}

/// Loops of outputs that depend on themselves without delay, by what the parts say about direct feedthrough.
fn direct_loops(parts: &Components, connections: &[Connection], problems: &mut Problems<'_>) {
    let layout = parts.model.layout();
    for component in costep_system::direct_loops(&parts.model.parts, connections) {
        let mut owners: Vec<usize> = component.iter().map(|output| layout.output_owner(*output)).collect();
        owners.dedup();
        let names: Vec<&str> = owners.iter().map(|part| parts.signals.parts()[*part].as_str()).collect();
        let origin = parts.origins.get(owners[0]).copied().unwrap_or(crate::document::Origin::Nowhere);
        problems.advise(origin, || {
            let round = format!("{} -> {}", names.join(" -> "), names[0]);
            Error::new(Code::DirectLoop, format!("the loop {} has direct feedthrough throughout", shortened(&round)))
                .because("its outputs depend on its inputs without delay")
                .hint("methods that hold or extrapolate are likely to be unstable; try `iqn-ils` if the FMUs can go back, `predictive` if they provide derivatives, or smaller steps")
        });
    }
}

/// Typical sizes set limits and scales; without them limits follow the signals, and 1 is taken for scaling.
fn missing_nominals(parts: &Components, connections: &[Connection], problems: &mut Problems<'_>) {
    let layout = parts.model.layout();
    let mut connected = vec![false; layout.outputs()];
    connections.iter().for_each(|connection| connected[connection.output] = true);
    for (part, built) in parts.model.parts.iter().enumerate() {
        let outputs = layout.output_range(part);
        let names: Vec<&str> = outputs
            .clone()
            .zip(&built.description().outputs)
            .filter(|(output, port)| {
                port.nominal.is_none() && port.kind == PortKind::Real && connected[*output]
            })
            .map(|(_, port)| port.name.as_str())
            .collect();
        if names.is_empty() {
            continue;
        }
        let origin = parts.origins.get(part).copied().unwrap_or(crate::document::Origin::Nowhere);
        problems.advise(origin, || {
            let list = shortened(&names.join(", "));
            let message =
                format!("outputs of `{}` without a nominal value: {list}", built.description().name);
            Error::new(Code::NoNominal, message)
                .because("divergence is told from how signals grow, and 1 is assumed for scaling")
                .hint(format!(
                    "give it in the project: [port.\"{}.{}\"] nominal = ...",
                    built.description().name,
                    names[0]
                ))
        });
    }
}
