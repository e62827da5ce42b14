//! Steps that vary, for the methods that came nearest: a tolerance that leads to the error asked for.

use costep_core::{Code, LengthDemand, Result};
use costep_methods::MethodSpec;

use super::search::Search;
use super::yardstick::{Measured, OWN_SHARE};
use super::{MacroSteps, Trial};
use crate::report::Verdict;
use crate::system::System;

/// Methods that are tried beside the one that was chosen, and tolerances per method.
const OTHERS: [&str; 3] = ["predictive", "foh", "nepce"];
const TRIES: usize = 4;
/// Steps that vary are chosen where they cost at most this share: the length of equal ones is known before.
const CHEAPER: f64 = 0.9;
/// A method that takes so many times the calls at first will not become cheaper.
const FAR: u64 = 4;
/// Errors are aimed at this share of what is asked for.
const AIM: f64 = 0.8;
/// The second try, which confirms the first.
const CONFIRMS: f64 = 0.5;
/// A reference along a run takes so many times its wall time.
const WITH_REFERENCE: f64 = 15.0;
/// All of this may take this share of the time that is left.
const SHARE: f64 = 0.3;

/// The cheapest trial with steps that vary, if it is clearly cheaper than the choice, and the one that confirms it.
pub(super) fn try_tolerances(
    search: &mut Search<'_>,
    system: &System,
    choice: Option<&Trial>,
) -> Result<Option<(Trial, Option<Trial>)>> {
    let Some(choice) = choice else { return Ok(None) };
    let left = search.waiting.left().map_or(f64::INFINITY, |left| left.as_secs_f64());
    if WITH_REFERENCE * TRIES as f64 * choice.wall_s > SHARE * left || search.yardstick.is_half_step() {
        return Ok(None);
    }
    let chosen = choice.method.clone();
    let is_tried = |method: &MethodSpec| {
        let label = method.label();
        (label == chosen || OTHERS.contains(&label.as_str()))
            && method.build().request().lengths < LengthDemand::Equal
    };
    let possible = search.contenders.iter().map(|contender| contender.method.clone());
    let methods: Vec<MethodSpec> = possible.filter(is_tried).collect();
    let mut best: Option<(Trial, Option<Trial>)> = None;
    for method in methods {
        if search.not_possible.iter().any(|(label, _)| *label == method.label()) {
            continue;
        }
        let limit = CHEAPER * best.as_ref().map_or(choice, |(trial, _)| trial).calls as f64;
        if let Some(trial) = tolerance_for(search, (system, &method), choice.calls)?
            && (trial.calls as f64) < limit
            // References along a run are coarser than those of equal steps.
            && trial.uncertainty.is_none_or(|own| own <= OWN_SHARE * search.asked)
            && let MacroSteps::Varying { tolerance, .. } = trial.steps
        {
            let second = attempt(search, (system, &method), rounded(CONFIRMS * tolerance))?;
            if second.as_ref().is_none_or(|second| second.reaches) {
                best = Some((trial, second));
            }
        }
    }
    Ok(best)
}

/// The cheapest trial of a method whose error is small enough.
fn tolerance_for(search: &mut Search<'_>, of: (&System, &MethodSpec), calls: u64) -> Result<Option<Trial>> {
    let (asked, mut best) = (search.asked, None::<Trial>);
    let mut tolerance = rounded(asked);
    for _ in 0..TRIES {
        let Some(trial) = attempt(search, of, tolerance)? else { break };
        let Some(error) = trial.error.filter(|_| trial.verdict == Verdict::Stable) else { break };
        let next = rounded((tolerance * AIM * asked / error.value).clamp(0.1 * tolerance, 4.0 * tolerance));
        if trial.reaches && best.as_ref().is_none_or(|best| trial.calls < best.calls) {
            best = Some(trial.clone());
        }
        // Good enough, or far from it.
        let is_near = trial.reaches && error.value > 0.5 * asked;
        if is_near || trial.calls > FAR * calls || next == tolerance {
            break;
        }
        tolerance = next;
    }
    Ok(best)
}

/// A run with the control of the system, where it has one.
fn attempt(
    search: &mut Search<'_>,
    (system, method): (&System, &MethodSpec),
    tolerance: f64,
) -> Result<Option<Trial>> {
    let steps = MacroSteps::Varying { tolerance, first: search.system.project.model.experiment.step };
    let Ok(system) = system.configured(&steps.run().method(method), None) else { return Ok(None) };
    let name = format!("{} with a tolerance of {tolerance:e}", method.label());
    let Measured::Run(report, kind) = search.run(&system, &name, false)? else { return Ok(None) };
    if let Some(error) = &report.error {
        let is_over = matches!(error.code(), Code::Stopped | Code::TimeLimit);
        return if is_over { Err(error.clone()) } else { Ok(None) };
    }
    let trial = Trial::of(&report, steps, search.asked, kind);
    search.trials.push(trial.clone());
    Ok(Some(trial))
}

/// With two digits.
fn rounded(tolerance: f64) -> f64 {
    format!("{tolerance:.1e}").parse().unwrap_or(tolerance)
}
