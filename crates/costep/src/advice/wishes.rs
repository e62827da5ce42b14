//! What makers of FMUs could offer so that fewer calls are needed. Where the FMUs give local models, or can be probed, what an offer
//! would do is tried with linear models in their place; elsewhere it is said which methods it would make possible.

use std::time::Duration;

use costep_core::{Capabilities, Code, Description, Linearisation, LocalModel, Result};

use super::search::Search;
use super::{Advising, MacroSteps, PROBED, Trial, lattice, methods};
use crate::stability::{Foundation, models_of_parts, replica};
use crate::system::System;

/// Order of inputs that methods make use of.
const ORDER: usize = 2;
/// Fewer calls than this times less are not worth a wish.
const WORTH: f64 = 1.5;
/// Share of the time left that a search with models may take, and the most of it.
const SHARE: f64 = 0.15;
const MOST: Duration = Duration::from_secs(10);

/// What an FMU can offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WishKind {
    /// Local models: directional derivatives, and a list of the states.
    DirectionalDerivatives,
    /// Input polynomials inside a step.
    InputDerivatives,
    /// Going back to a stored state.
    Rollback,
}

impl WishKind {
    const ALL: [Self; 3] = [Self::DirectionalDerivatives, Self::InputDerivatives, Self::Rollback];

    /// In a word, also for machines.
    pub fn text(self) -> &'static str {
        match self {
            Self::DirectionalDerivatives => "directional derivatives",
            Self::InputDerivatives => "input derivatives",
            Self::Rollback => "rollback",
        }
    }

    /// What its maker has to declare and implement.
    pub fn attribute(self) -> &'static str {
        match self {
            Self::DirectionalDerivatives => {
                "providesDirectionalDerivative(s), with states and derivatives in ModelStructure"
            }
            Self::InputDerivatives => "canInterpolateInputs, or intermediate update in FMI 3.0",
            Self::Rollback => "canGetAndSetFMUstate",
        }
    }

    /// Methods that it makes possible.
    fn methods(self) -> &'static str {
        match self {
            Self::DirectionalDerivatives => "`predictive` would know how the parts respond",
            Self::InputDerivatives => "inputs would follow a polynomial instead of their mean",
            Self::Rollback => {
                "`predictive --models probe` and the methods that repeat steps would be possible"
            }
        }
    }

    fn is_missing(self, can: &Capabilities, description: &Description) -> bool {
        match self {
            Self::DirectionalDerivatives => can.linearisation < Linearisation::Full,
            Self::InputDerivatives => !description.inputs.is_empty() && description.input_order == 0,
            Self::Rollback => !can.rollback,
        }
    }

    fn grant(self, can: &mut Capabilities, description: &mut Description) {
        match self {
            Self::DirectionalDerivatives => can.linearisation = Linearisation::Full,
            Self::InputDerivatives => description.input_order = description.input_order.max(ORDER),
            Self::Rollback => can.rollback = true,
        }
    }
}

/// Something to ask of the maker of FMUs.
#[derive(Clone, Debug)]
pub struct Wish {
    /// What they should offer.
    pub kind: WishKind,
    /// Parts that do not.
    pub parts: Vec<String>,
    /// By how much fewer calls would do, by linear models of the parts; nothing where that could not be tried.
    pub fewer_calls: Option<f64>,
    /// What it would do, and what that rests on.
    pub why: String,
}

/// What would help.
pub(super) fn find(search: &mut Search<'_>, choice: &Trial) -> Result<Vec<Wish>> {
    let project = search.system.project.clone();
    let run = &project.model.experiment;
    let longest = lattice::longest(run.stop - run.start);
    // A step that cannot be longer needs no better FMU.
    if project.given.fmus.is_empty()
        || matches!(choice.steps, MacroSteps::Equal(step) if 1.9 * step > longest)
    {
        return Ok(Vec::new());
    }
    let mut missing: Vec<(WishKind, Vec<String>)> =
        WishKind::ALL.into_iter().map(|kind| (kind, Vec::new())).collect();
    for part in project.model.parts.iter() {
        let name = part.description().name.clone();
        if !project.given.fmus.iter().any(|fmu| fmu.name == name) {
            continue;
        }
        let mut subsystem = part.subsystem(&project.model.solver)?;
        let (can, description) = (Capabilities::of(&mut *subsystem), subsystem.description().clone());
        for (kind, parts) in &mut missing {
            if kind.is_missing(&can, &description) {
                parts.push(name.clone());
            }
        }
    }
    missing.retain(|(_, parts)| !parts.is_empty());
    let step = if let MacroSteps::Equal(step) = choice.steps { step } else { run.step };
    match models_of_parts(&project, step) {
        Ok((models, foundation)) if !missing.is_empty() => tried(search, &models, foundation, missing),
        Err(error) if matches!(error.code(), Code::Stopped | Code::TimeLimit) => Err(error),
        Ok(_) => Ok(Vec::new()),
        Err(_) => Ok(untried(missing)),
    }
}

/// Wishes by a search on linear models, with and without what is missing.
fn tried(
    search: &mut Search<'_>,
    models: &[LocalModel],
    foundation: Foundation,
    missing: Vec<(WishKind, Vec<String>)>,
) -> Result<Vec<Wish>> {
    let calls = |kinds: &[WishKind]| -> Result<Option<(Trial, f64)>> {
        search.waiting.check()?;
        let grant = |can: &mut Capabilities, description: &mut Description| {
            kinds.iter().for_each(|kind| kind.grant(can, description));
        };
        let project = replica(&search.system.project, models, &grant)?;
        let system = System::new(project, search.system.registry.clone());
        let left = search.waiting.left().unwrap_or(MOST);
        let advising = Advising::new().error(search.asked).time(MOST.min(left.mul_f64(SHARE)));
        let mut methods = methods(&system, &advising)?;
        // FMUs may be probed, and so may the models that stand for them.
        let probed = system.registry.method(PROBED)?;
        if methods.iter().all(|method| method.label() != probed.label()) {
            methods.push(probed);
        }
        let mut quiet = |_: &str, _: Option<Duration>| {};
        let mut second = Search::new(system, &advising, methods, &mut quiet)?;
        // Without an end it says nothing about the best.
        let found = second.search().ok().and(second.best);
        Ok(found.map(|found| {
            let trial = second.trials[found.trial].clone();
            let calls = trial.calls as f64;
            (trial, calls)
        }))
    };
    let Some((_, now)) = calls(&[])? else { return Ok(Vec::new()) };
    let mut wishes: Vec<Wish> = Vec::new();
    for (kind, parts) in missing {
        let Some((trial, with)) = calls(&[kind])? else { continue };
        let fewer = now / with;
        if fewer >= WORTH {
            let why =
                format!("{} at {} would then do, by {}", trial.method, trial.steps.text(), foundation.text());
            wishes.push(Wish { kind, parts, fewer_calls: Some(fewer), why });
        }
    }
    wishes.sort_by(|a, b| b.fewer_calls.unwrap_or(0.0).total_cmp(&a.fewer_calls.unwrap_or(0.0)));
    Ok(wishes)
}

/// Wishes for parts that nothing is known about: what makes other methods possible. That it is the coupling that limits the step,
/// longer ones have shown.
fn untried(missing: Vec<(WishKind, Vec<String>)>) -> Vec<Wish> {
    let wish = |(kind, parts): (WishKind, Vec<String>)| {
        let why = format!("{}; not tried: the parts give no models to try it with", kind.methods());
        Wish { kind, parts, fewer_calls: None, why }
    };
    missing.into_iter().map(wish).collect()
}
