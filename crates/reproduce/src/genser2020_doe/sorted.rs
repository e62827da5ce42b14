//! Identified Interface Jacobians by MOESP, runs in ascending order of their errors: [T figs. 3.45 to 3.49].

use costep_experiments::{Sorting, histograms};

use super::identified::{MOESP, SETUP_MOESP};
use super::{Done, WITHIN};
use crate::data::Data;
use crate::rules::{Kind, Measured};
use crate::study::{Computed, Study, number, statement};

const ON_3_45: &str = "[T] section 3.2.2, on Fig. 3.45 (p. 89)";
const ON_3_46: &str = "[T] section 3.2.2, on Fig. 3.46 (p. 89)";
const ON_3_47: &str = "[T] section 3.2.2, on Fig. 3.47 (p. 90)";
const ON_3_48: &str = "[T] section 3.2.2, on Fig. 3.48 (p. 90)";
const ON_3_49: &str = "[T] section 3.2.2, on Fig. 3.49 (p. 91)";

/// Row of the registry.
pub(crate) const FIG_3_45: Study = Study {
    id: "genser2020-fig3.45",
    title: "the best of 7,056 runs of pre-step stabilisation, MOESP",
    source: "[T] Figs. 3.45 to 3.49",
    setup: SETUP_MOESP,
    claims: &[
        number("runs within 10 % of the least error", ON_3_45, 3.0, "", Kind::Number),
        statement("timeLearning", ON_3_46, "0.2 appears mostly", Kind::Property),
        statement("timeSwitchphase", ON_3_46, "small values appear more often", Kind::Property),
        statement(
            "thresholdMbc2sbcCoupling below 2",
            ON_3_46,
            "not a single case among the best 430 runs",
            Kind::Property,
        ),
        statement(
            "thresholdMbcNoInputOpt",
            ON_3_48,
            "every value at least 6 times, 2 and 5 more often than others",
            Kind::Property,
        ),
        statement("modelOrder", ON_3_47, "1 in every one of the best 500 runs", Kind::Property),
        statement("windowSize", ON_3_49, "high values have a positive influence", Kind::Property),
        statement(
            "useErrDiffEqu",
            ON_3_47,
            "true in the best run, false in most of the top 50",
            Kind::Property,
        ),
    ],
    compute: |work| {
        let done = MOESP.done(work)?;
        let within = Sorting::of(&done.plan, &done.errors, (WITHIN, 1)).near;
        let [learning, switching, modified, window, ede] =
            [0, 1, 3, 5, 6].map(|factor| &done.sorting.counts[factor][..]);
        let low = done.best(430).filter(|place| done.level(2, place) < 2.0).count();
        let order_two = done.best(500).filter(|place| done.level(4, place) > 1.0).count();
        let falls = switching.windows(2).map(|pair| pair[0] > pair[1]);
        let others = modified[..modified.len() - 2].iter().max().copied().unwrap_or(0);
        let two_and_five = modified[modified.len() - 2..].iter().all(|count| *count > others);
        let most = done.plan.factors()[0].levels.iter().zip(learning).max_by_key(|(_, count)| **count);
        let (small, large) = window.split_at(window.len() / 2);
        let best_is_true = done.best(1).all(|place| place[6] == 1);
        Ok(Computed {
            measured: vec![
                Measured::Number(within as f64),
                Measured::one(
                    most.is_some_and(|(level, _)| level.to_string() == "200"),
                    done.found(0, learning),
                ),
                Measured::cases(falls, done.found(1, switching)),
                Measured::one(low == 0, format!("{low} of {}", done.best(430).count())),
                Measured::cases(
                    [modified.iter().all(|count| *count >= 6), two_and_five],
                    done.found(3, modified),
                ),
                Measured::one(order_two == 0, format!("2 in {order_two} of {}", done.best(500).count())),
                Measured::one(large.iter().sum::<usize>() > small.iter().sum(), done.found(5, window)),
                Measured::cases(
                    [best_is_true, ede[0] > ede[1]],
                    format!("{best_is_true} in the best run; {}", done.found(6, ede)),
                ),
            ],
            data: done.sorted(),
            figure: histograms("The best runs, MOESP", &done.plan, &done.sorting)
                .note("After Genser 2020, Figs. 3.48 and 3.49."),
            remarks: vec![done.about()],
        })
    },
};

impl Done {
    /// The levels of the best runs, by their numbers.
    fn best(&self, count: usize) -> impl Iterator<Item = Vec<usize>> {
        self.sorting.order.iter().take(count).map(|point| self.plan.place(*point))
    }

    /// The number of a level.
    fn level(&self, factor: usize, place: &[usize]) -> f64 {
        self.plan.factors()[factor].numbers().map_or(f64::NAN, |levels| levels[place[factor]])
    }

    /// `100: 12, 200: 20, 500: 18 of 50`.
    fn found(&self, factor: usize, counts: &[usize]) -> String {
        let levels = self.plan.factors()[factor].levels.iter();
        let each: Vec<String> =
            levels.zip(counts).map(|(level, count)| format!("{level}: {count}")).collect();
        format!("{} of {}", each.join(", "), self.sorting.near)
    }

    /// The errors and levels of the best runs, in ascending order.
    fn sorted(&self) -> Data {
        let names = self.plan.factors().iter().map(|factor| factor.name.as_str());
        let mut data = Data::new(["run", "error"].into_iter().chain(names));
        for (rank, point) in self.sorting.order.iter().take(500).enumerate() {
            let place = self.plan.place(*point);
            let levels = (0..place.len()).map(|factor| match self.plan.factors()[factor].numbers() {
                Some(levels) => levels[place[factor]],
                None => place[factor] as f64,
            });
            data.push([rank as f64 + 1.0, self.errors[*point]].into_iter().chain(levels).collect());
        }
        data
    }
}
