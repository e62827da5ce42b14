//! `[step]`: how the length of macro steps is controlled. A tolerance alone is enough.

use costep_core::quantity::{format_time, parse_time, short_number};
use costep_core::{Code, Error};
use costep_engine::{CONTROLS, ControlSpec};

use crate::document::{Node, Origin, Value};
use crate::problems::{Problems, shortened};
use crate::project::Project;
use crate::section::Section;
use crate::settings::check_fits;

/// Tolerances beyond these mean something else, or nothing.
const TOLERANCES: (f64, f64) = (1e-12, 0.5);

/// The word for steps of one length.
pub(crate) const FIXED: &str = "fixed";

/// Reads how steps are controlled in a run from start to stop; `size` is the first step, if it is said.
pub(crate) fn read(
    step: &Section<'_>,
    system: &Section<'_>,
    (start, stop): (f64, f64),
    size: Option<f64>,
    problems: &mut Problems<'_>,
) -> Option<ControlSpec> {
    let id = step.get("control").and_then(|_| step.text("control", problems));
    if !is_controlled(step) {
        refuse_without_tolerance(step, id, problems);
        return None;
    }
    let takes_tolerance = takes_tolerance(step);
    if !takes_tolerance && step.get("tolerance").is_some() {
        problems.warn(step.origin_of("tolerance"), || {
            let message = format!("`tolerance` has no effect on the control `{}`", id.unwrap_or_default());
            Error::new(Code::OptionWithoutEffect, message).hint("leave out `tolerance`, or `control`")
        });
    }
    if takes_tolerance {
        refuse_time(step, problems)?;
    }
    let tolerance = if takes_tolerance { step.number("tolerance", problems)? } else { 0.0 };
    if takes_tolerance && !(TOLERANCES.0..=TOLERANCES.1).contains(&tolerance) {
        problems.report(step.origin_of("tolerance"), || impossible_tolerance(tolerance));
        return None;
    }
    if id == Some(FIXED) {
        problems.report(step.origin_of("control"), || {
            Error::new(Code::Conflict, "`tolerance` has no effect on fixed steps")
                .hint("leave out `control`, or `tolerance`")
        });
        return None;
    }
    let entry = match ControlSpec::find(id.unwrap_or(CONTROLS[0].id)) {
        Ok(entry) => entry,
        Err(error) => {
            problems.report(step.origin_of("control"), || error);
            return None;
        }
    };
    let run = (stop - start).max(f64::MIN_POSITIVE);
    let mut spec = ControlSpec::new(entry, tolerance, run);
    for (key, limit) in [("min", &mut spec.min), ("max", &mut spec.max)] {
        if step.get(key).is_some() {
            *limit = step.time(key, problems).filter(|time| is_possible(step, key, *time, problems))?;
        }
    }
    spec.first = size;
    if step.get("min").is_some() && step.get("max").is_none() {
        spec.max = spec.max.max(spec.min);
    }
    spec.min = if step.get("min").is_none() { spec.min.min(spec.max) } else { spec.min };
    let [size_word, min_word, max_word] =
        ["step.size", "step.min", "step.max"].map(|key| problems.dialect().name(key));
    if spec.min > spec.max {
        problems.report(step.origin_of("min"), || {
            let (min, max) = (format_time(spec.min), format_time(spec.max));
            Error::new(Code::BadValue, format!("the shortest step, {min}, is longer than the longest, {max}"))
                .hint(format!("choose a smaller `{min_word}` or a larger `{max_word}`"))
        });
        return None;
    }
    if let Some(first) = size.filter(|size| step.get("max").is_some() && *size > spec.max) {
        problems.report(step.origin_of("size"), || {
            let (first, max) = (format_time(first), format_time(spec.max));
            Error::new(Code::BadValue, format!("the first step, {first}, is longer than the longest, {max}"))
                .hint(format!("choose a smaller `{size_word}`, which is the first step where steps vary, or a larger `{max_word}`"))
        });
        return None;
    }
    // A run that the command line made shorter takes a file at its word no longer: the first step is cut.
    let is_of_flag = |key: &str| system.get(key).is_some_and(|node| matches!(node.origin, Origin::Flag(_)));
    if ["start", "stop"].into_iter().any(is_of_flag) {
        spec.first = size.map(|size| size.min(run));
    } else if let Some(Err(error)) = size.map(|size| check_fits(size, stop - start)) {
        problems.report(step.origin_of("size"), || error);
        return None;
    }
    spec.max = spec.max.min(run);
    Some(spec)
}

/// Reports a time in the place of the tolerance.
fn refuse_time(step: &Section<'_>, problems: &mut Problems<'_>) -> Option<()> {
    let Some(Node { value: Value::Text(text), origin }) = step.get("tolerance") else { return Some(()) };
    if text.trim().parse::<f64>().is_ok() || parse_time(text).is_err() {
        return Some(());
    }
    problems.report(*origin, || {
        let message = format!("`tolerance` in [step] is `{}`, not a number", shortened(text));
        Error::new(Code::BadValue, message)
            .because("it is an error, not a time")
            .hint("write a share of the ranges of the signals, 1e-3 for one; the longest step is `max`")
    });
    None
}

/// Whether the control that is named aims at an error; the one of a tolerance alone does.
fn takes_tolerance(step: &Section<'_>) -> bool {
    let id = step
        .get("control")
        .and_then(|node| if let Value::Text(text) = &node.value { Some(&**text) } else { None });
    id.and_then(|id| ControlSpec::find(id).ok()).is_none_or(|entry| entry.takes_tolerance)
}

/// Whether lengths vary: by a tolerance, or by a control that needs none.
pub(crate) fn is_controlled(step: &Section<'_>) -> bool {
    !is_made_fixed(step) && (step.get("tolerance").is_some() || !takes_tolerance(step))
}

/// Whether `--control fixed` on the command line sets the control of the file aside, with all that it is given.
fn is_made_fixed(step: &Section<'_>) -> bool {
    let is_fixed = |node: &Node| matches!((&node.value, node.origin), (Value::Text(text), Origin::Flag(_)) if text == FIXED);
    let is_of_file = |key: &&str| !matches!(step.origin_of(key), Origin::Flag(_));
    step.get("control").is_some_and(is_fixed) && ["tolerance", "min", "max"].iter().all(is_of_file)
}

fn is_possible(step: &Section<'_>, key: &str, time: f64, problems: &mut Problems<'_>) -> bool {
    if time > 0.0 {
        return true;
    }
    problems.report(step.origin_of(key), || {
        Error::new(Code::BadValue, format!("a step of {} is not possible", format_time(time)))
            .hint("more than zero")
    });
    false
}

impl Project {
    /// Controls steps with this tolerance, if there is one, and lets them begin with this step. Limits that
    /// nobody gave follow the run.
    pub fn set_control(&mut self, tolerance: Option<f64>, first: Option<f64>) -> Result<(), Error> {
        let run = &self.model.experiment;
        let span = run.stop - run.start;
        if let Some(tolerance) = tolerance {
            if !(TOLERANCES.0..=TOLERANCES.1).contains(&tolerance) {
                return Err(impossible_tolerance(tolerance));
            }
            let entry = self.control.as_ref().map_or(&CONTROLS[0], |control| control.entry);
            let spec = ControlSpec::new(entry, tolerance, span);
            let own = self.control.take();
            self.control = Some(ControlSpec {
                meets: self.record.every,
                ..own.map_or(spec, |own| ControlSpec { tolerance, ..own })
            });
        }
        if let Some(control) = &mut self.control {
            control.first = first.or(control.first);
            control.max = control.max.min(span.max(f64::MIN_POSITIVE));
            self.model.experiment.step = control.max;
        }
        Ok(())
    }
}

fn impossible_tolerance(tolerance: f64) -> Error {
    let (least, most) = TOLERANCES;
    Error::new(Code::BadValue, format!("a tolerance of {} is not possible", short_number(tolerance))).hint(
        format!("from {least:e} to {most}: the error as a share of the ranges of the signals, 1e-3 for one"),
    )
}

/// Limits and controls mean nothing for fixed steps.
fn refuse_without_tolerance(step: &Section<'_>, id: Option<&str>, problems: &mut Problems<'_>) {
    if is_made_fixed(step) {
        return;
    }
    if let Some(id) = id.filter(|id| *id != FIXED) {
        let origin = step.origin_of("control");
        match ControlSpec::find(id) {
            Ok(_) => problems.report(origin, || {
                Error::new(Code::Missing, format!("the control `{id}` has no tolerance")).hint(
                    "write `tolerance = 1e-3` in [step], the error as a share of the ranges of the signals",
                )
            }),
            Err(error) => problems.report(origin, || error),
        }
    }
    for key in ["min", "max"].into_iter().filter(|key| step.get(key).is_some()) {
        problems.report(step.origin_of(key), || {
            Error::new(Code::Conflict, format!("`{key}` in [step] has no effect on fixed steps"))
                .hint("write a `tolerance` too, or remove it")
        });
    }
}
