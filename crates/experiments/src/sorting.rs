//! Ascending sorting [T 3.2.1]: the runs by their error, and what the best of them have in common.

use costep_core::Value;

use crate::factorial::{Factorial, number};

/// The points of a plan from the least error to the greatest, and those that are nearly optimal.
#[derive(Clone, Debug, PartialEq)]
pub struct Sorting {
    /// All points, those of equal errors in the order of the plan.
    pub order: Vec<usize>,
    /// How many of them are nearly optimal.
    pub near: usize,
    /// How often each level of each factor is among these.
    pub counts: Vec<Vec<usize>>,
}

/// The value of a factor in the optimal set.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The mean of a quantity, rounded if its levels are integers, or the level that is there most often.
    pub value: Value,
    /// The mean itself.
    pub mean: Option<f64>,
    /// How often the chosen or nearest level is among the nearly optimal runs, from 0 to 1.
    pub support: f64,
}

impl Sorting {
    /// Sorts the points by their errors. Nearly optimal are those whose error is greater than the least by no more than this share of it,
    /// and at least so many.
    pub fn of(plan: &Factorial, errors: &[f64], (within, at_least): (f64, usize)) -> Self {
        let mut order: Vec<usize> = (0..errors.len()).collect();
        order.sort_by(|a, b| errors[*a].total_cmp(&errors[*b]));
        let least = order.first().map_or(0.0, |best| errors[*best]);
        let close = order.iter().filter(|point| errors[**point] <= least * (1.0 + within)).count();
        let near = close.max(at_least.min(order.len()));
        let mut counts: Vec<Vec<usize>> = plan.sizes().into_iter().map(|size| vec![0; size]).collect();
        for point in &order[..near] {
            counts.iter_mut().zip(plan.place(*point)).for_each(|(counts, level)| counts[level] += 1);
        }
        Self { order, near, counts }
    }

    /// The optimal set: the weighted mean of quantities, the most frequent level of everything else.
    pub fn optimum(&self, plan: &Factorial) -> Vec<Choice> {
        let choose = |(factor, counts): (&crate::Factor, &Vec<usize>)| {
            let share = |count: usize| count as f64 / self.near.max(1) as f64;
            let Some(numbers) = factor.numbers() else {
                let most = counts.iter().copied().max().unwrap_or(0);
                let level = counts.iter().position(|count| *count == most).unwrap_or(0);
                return Choice { value: factor.levels[level].clone(), mean: None, support: share(most) };
            };
            let weighted = numbers.iter().zip(counts).map(|(number, count)| number * *count as f64);
            let mean = weighted.sum::<f64>() / self.near.max(1) as f64;
            let value =
                if factor.is_integer() { Value::Integer(mean.round() as i64) } else { Value::Real(mean) };
            let chosen = number(&value).unwrap_or(mean);
            let nearest = (0..numbers.len())
                .min_by(|a, b| (numbers[*a] - chosen).abs().total_cmp(&(numbers[*b] - chosen).abs()));
            Choice { value, mean: Some(mean), support: nearest.map_or(0.0, |level| share(counts[level])) }
        };
        plan.factors().iter().zip(&self.counts).map(choose).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Factor;

    fn plan() -> Factorial {
        Factorial::new(vec![
            Factor::new("steps", [1, 10, 100].map(Value::Integer).into()),
            Factor::new("gain", [0.5, 1.0].map(Value::Real).into()),
            Factor::new("solver", ["exact", "euler"].map(|word| Value::Text(word.into())).into()),
        ])
    }

    #[test]
    fn the_best_runs_choose_means_and_the_most_frequent_word() {
        // steps x gain x solver; nearly optimal: 1.0, 1.05, 1.1 and not 1.11.
        let errors = [5.0, 5.0, 5.0, 1.11, 5.0, 1.0, 5.0, 5.0, 1.05, 9.0, 5.0, 1.1];
        let found = Sorting::of(&plan(), &errors, (0.1, 1));
        assert_eq!((&found.order[..4], found.near), (&[5, 8, 11, 3][..], 3));
        assert_eq!(found.counts, [vec![0, 1, 2], vec![2, 1], vec![1, 2]]);
        let optimum = found.optimum(&plan());
        assert_eq!((optimum[0].value.clone(), optimum[0].mean), (Value::Integer(70), Some(70.0)));
        assert_eq!(optimum[1].mean, Some(2.0 / 3.0));
        assert_eq!((optimum[2].value.clone(), optimum[2].support), (Value::Text("euler".into()), 2.0 / 3.0));
        // The words of the thesis on Table 3.13: at least 50 runs, here 4.
        assert_eq!(Sorting::of(&plan(), &errors, (0.1, 4)).near, 4);
        assert_eq!(Sorting::of(&plan(), &errors, (0.1, 100)).near, 12);
    }

    #[test]
    fn the_means_of_the_thesis_come_out() {
        // [T 3.2.1]: 25 x 1, 24 x 10, 24 x 100 and 24 x 1000 of 97 runs are 275.
        let plan = Factorial::new(vec![Factor::new("steps", [1, 10, 100, 1000].map(Value::Integer).into())]);
        let found = Sorting { order: (0..97).collect(), near: 97, counts: vec![vec![25, 24, 24, 24]] };
        assert_eq!(found.optimum(&plan)[0].value, Value::Integer(275));
    }
}
