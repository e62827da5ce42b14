//! The designs of experiments of [T 3.2]: full factorial plans over the options of `prestep`, their analysis of variance and their
//! ascending sorting. The tables of effects and those of optimal sets are two readings of the same runs.

pub(crate) mod exact;
pub(crate) mod identified;
pub(crate) mod sorted;

use std::sync::{Arc, Mutex, PoisonError};

use costep_analysis::{Measures, measure};
use costep_core::{Result, Value};
use costep_experiments::{Choice, Factor, Factorial, Sorting, Variance};

use crate::case::Case;
use crate::data::Data;
use crate::rules::Measured;
use crate::study::short;
use crate::work::Work;

/// Macro step of the sensitivity analysis [T 3.1].
const STEP: f64 = 1e-3;
/// [T] sets greater errors to this in the case of identified models (on Fig. 3.38); runs that diverge have it too.
const SATURATION: f64 = 1.0;
/// [T 3.2]: nearly optimal is an error of at most 10 % more than the least.
const WITHIN: f64 = 0.1;
/// Effects below this share, in percent, are negligible.
const NEGLIGIBLE: f64 = 1.0;

/// A factor: the option of `prestep`, its name in the thesis, its levels, and those of a quick look.
struct Varied {
    option: &'static str,
    thesis: &'static str,
    levels: &'static [&'static str],
    quick: &'static [&'static str],
}

const fn varied(
    option: &'static str,
    thesis: &'static str,
    levels: &'static [&'static str],
    quick: &'static [&'static str],
) -> Varied {
    Varied { option, thesis, levels, quick }
}

/// A plan of the thesis.
struct Plan {
    /// Built-in model and end time.
    model: &'static str,
    stop: f64,
    /// The method with what does not vary.
    method: &'static str,
    factors: &'static [Varied],
    /// Which of the two readings of [T (3.9), (3.10)].
    error: fn(&Measures) -> f64,
    /// Nearly optimal runs at least.
    at_least: usize,
}

/// A plan with its runs done.
struct Done {
    plan: Factorial,
    errors: Arc<Vec<f64>>,
    variance: Variance,
    sorting: Sorting,
    optimum: Vec<Choice>,
    diverged: usize,
}

/// Errors of plans by their methods: tables of effects and of optimal sets share them.
static ERRORS: Mutex<Vec<(String, Arc<Vec<f64>>)>> = Mutex::new(Vec::new());

impl Plan {
    /// The factors, under the names of the thesis.
    fn factorial(&self, quick: bool) -> Factorial {
        let factor = |varied: &Varied| {
            let levels = if quick { varied.quick } else { varied.levels };
            Factor::new(varied.thesis, levels.iter().map(|level| Value::parse(level)).collect())
        };
        Factorial::new(self.factors.iter().map(factor).collect())
    }

    /// The method at a point.
    fn method(&self, plan: &Factorial, point: usize) -> String {
        let options = self.factors.iter().zip(plan.levels(point));
        options
            .fold(self.method.to_owned(), |text, (varied, level)| format!("{text},{}={level}", varied.option))
    }

    fn errors(&self, work: &Work<'_>, plan: &Factorial) -> Result<Arc<Vec<f64>>> {
        let key = format!("{} {}", self.method, work.quick);
        let done = || ERRORS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, errors)) = done().iter().find(|(of, _)| *of == key) {
            return Ok(errors.clone());
        }
        let case = Case::new(self.model, &[], self.stop);
        let (reference, descriptions) = (case.monolithic(STEP, false)?, case.descriptions()?);
        let points: Vec<usize> = (0..plan.points().unwrap_or(0)).collect();
        let errors = work.map(&points, |point| {
            let run = case.run(&self.method(plan, *point), STEP, false)?;
            let error = run.ended.then(|| (self.error)(&measure(&descriptions, &run.trace, &reference)));
            Ok(error.filter(|error| *error < SATURATION).unwrap_or(SATURATION))
        })?;
        let errors = Arc::new(errors);
        done().push((key, errors.clone()));
        Ok(errors)
    }

    fn done(&self, work: &Work<'_>) -> Result<Done> {
        let plan = self.factorial(work.quick);
        let errors = self.errors(work, &plan)?;
        let variance = Variance::of(&plan, &errors);
        let sorting = Sorting::of(&plan, &errors, (WITHIN, self.at_least));
        let optimum = sorting.optimum(&plan);
        let diverged = errors.iter().filter(|error| **error >= SATURATION).count();
        Ok(Done { plan, errors, variance, sorting, optimum, diverged })
    }
}

impl Done {
    /// The share of an effect in percent: a factor twice for its main effect.
    fn share(&self, first: usize, second: usize) -> f64 {
        self.variance.effect(first, second).map_or(0.0, |effect| 100.0 * effect.share)
    }

    /// The effects beside those of the thesis, (mean square, percent) in the order of its table.
    fn effects(&self, thesis: &[(f64, f64)]) -> Data {
        let columns = [
            "effect",
            "degrees_of_freedom",
            "sum_of_squares",
            "mean_square",
            "share_percent",
            "share_of_squares_percent",
            "thesis_mean_square",
            "thesis_percent",
        ];
        let mut data = Data::new(columns);
        for (effect, (mean_square, percent)) in self.variance.effects.iter().zip(thesis) {
            let shares = [effect.share, effect.share_of_squares].map(|share| 100.0 * share);
            let ours = [effect.degrees as f64, effect.sum_of_squares, effect.mean_square];
            let row = ours.into_iter().chain(shares).chain([*mean_square, *percent]).collect();
            data.push_named(&effect.label(&self.plan), row);
        }
        data
    }

    /// The optimal set beside that of the thesis; words as the number of their level.
    fn optimal(&self, thesis: &[f64]) -> Data {
        let mut data = Data::new(["parameter", "optimal", "support_percent", "thesis"]);
        for ((factor, choice), thesis) in self.plan.factors().iter().zip(&self.optimum).zip(thesis) {
            let level = factor.levels.iter().position(|level| *level == choice.value);
            let value = choice.mean.unwrap_or(level.unwrap_or(0) as f64);
            data.push_named(&factor.name, vec![value, 100.0 * choice.support, *thesis]);
        }
        data
    }

    /// The mean of a quantity in the optimal set.
    fn mean(&self, factor: usize) -> Measured {
        Measured::Number(self.optimum[factor].mean.unwrap_or(f64::NAN))
    }

    /// Whether a word is the one of the optimal set.
    fn chosen(&self, factor: usize, word: &str) -> Measured {
        let Choice { value, support, .. } = &self.optimum[factor];
        let found = format!("{value} in {:.0} % of {} runs", 100.0 * support, self.sorting.near);
        Measured::one(value.to_string() == word, found)
    }

    /// Whether all effects of factors are negligible.
    fn is_idle(&self, factors: &[usize]) -> Measured {
        let touches = |(a, b): (usize, usize)| factors.contains(&a) || factors.contains(&b);
        let of_them = self.variance.effects.iter().filter(|effect| touches(effect.factors));
        let greatest = of_them.max_by(|a, b| a.share.total_cmp(&b.share));
        let (label, share) =
            greatest.map_or_else(Default::default, |effect| (effect.label(&self.plan), 100.0 * effect.share));
        Measured::one(share < NEGLIGIBLE, format!("greatest: {label}, {} %", short(share)))
    }

    /// Whether these effects are the greatest of all, in any order.
    fn dominate(&self, wanted: &[(usize, usize)]) -> Measured {
        let ranked = self.variance.ranked();
        let first: Vec<_> = ranked.iter().take(wanted.len()).collect();
        let is_first = |wanted: &(usize, usize)| first.iter().any(|effect| effect.factors == *wanted);
        let names: Vec<_> = first
            .iter()
            .map(|effect| format!("{} {} %", effect.label(&self.plan), short(100.0 * effect.share)))
            .collect();
        Measured::cases(wanted.iter().map(is_first), names.join(", "))
    }

    /// What every table of effects says about its runs.
    fn about(&self) -> String {
        let explained: f64 = self.variance.effects.iter().map(|effect| effect.sum_of_squares).sum();
        format!(
            "{} runs, {} of them diverged or beyond an error of {SATURATION}; errors from {} on, mean {}. Main and two-factor effects explain {} % \
             of the sum of squares. share_percent is of the mean squares as in [T (3.11), (3.12)], share_of_squares_percent of the sums of squares.",
            self.errors.len(),
            self.diverged,
            short(self.sorting.order.first().map_or(f64::NAN, |best| self.errors[*best])),
            short(self.variance.mean),
            short(100.0 * explained / self.variance.total)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plans_have_as_many_runs_as_the_thesis_says() {
        let runs = |plan: &Plan| plan.factorial(false).points();
        assert_eq!(runs(&exact::PLAN), Some(512));
        assert_eq!(runs(&identified::RLS), Some(17_640));
        assert_eq!(runs(&identified::MOESP), Some(7_056));
    }

    #[test]
    fn every_point_is_a_method_without_idle_settings_of_its_own() {
        for plan in [&exact::PLAN, &identified::RLS, &identified::MOESP] {
            let points = plan.factorial(true);
            for point in 0..points.points().unwrap() {
                let text = plan.method(&points, point);
                costep_methods::MethodSpec::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
            }
        }
    }
}
