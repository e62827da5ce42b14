//! Analysis of variance of a full factorial plan [T 3.2.1]: sums of squares, degrees of freedom and mean squares of the main
//! effects and of the interactions of two factors.

use crate::factorial::Factorial;

/// What a factor, or two of them together, do to a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// The factor, twice for a main effect, or the two factors that interact.
    pub factors: (usize, usize),
    /// Sum of squares.
    pub sum_of_squares: f64,
    /// Degrees of freedom.
    pub degrees: usize,
    /// Sum of squares per degree of freedom [T (3.11), (3.12)].
    pub mean_square: f64,
    /// Its part of the mean squares of all effects here, as the thesis' tables give it.
    pub share: f64,
    /// Its part of the sums of squares of all effects here.
    pub share_of_squares: f64,
}

impl Effect {
    /// Whether it is that of one factor alone.
    pub fn is_main(&self) -> bool {
        self.factors.0 == self.factors.1
    }

    /// The names of its factors.
    pub fn label(&self, plan: &Factorial) -> String {
        let name = |factor: usize| plan.factors()[factor].name.as_str();
        match self.is_main() {
            true => name(self.factors.0).into(),
            false => format!("{} x {}", name(self.factors.0), name(self.factors.1)),
        }
    }
}

/// The effects of all factors and of all pairs of them on a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Variance {
    /// Main effects in the order of the factors, then pairs in that order.
    pub effects: Vec<Effect>,
    /// Mean of all results.
    pub mean: f64,
    /// Sum of squares of all results around their mean.
    pub total: f64,
    /// The part of it that no effect here explains: interactions of three factors and more.
    pub rest: f64,
    /// Degrees of freedom of the rest.
    pub rest_degrees: usize,
}

impl Variance {
    /// Of one result per point of the plan.
    ///
    /// Sums of squares are taken of deviations from the mean, not as differences of large squares: the same numbers as [T 3.2.1] without
    /// their loss of digits.
    pub fn of(plan: &Factorial, results: &[f64]) -> Self {
        let (sizes, count) = (plan.sizes(), results.len() as f64);
        let mean = results.iter().sum::<f64>() / count;
        let main: Vec<Vec<f64>> = (0..sizes.len()).map(|factor| plan.means(factor, results)).collect();
        let mut effects = Vec::new();
        for (factor, means) in main.iter().enumerate() {
            let squares: f64 = means.iter().map(|level| (level - mean).powi(2)).sum();
            effects.push(effect((factor, factor), squares * count / sizes[factor] as f64, sizes[factor] - 1));
        }
        for first in 0..sizes.len() {
            for second in first + 1..sizes.len() {
                let cells = plan.pair_means((first, second), results);
                let deviation = |i: usize, j: usize| cells[i][j] - main[first][i] - main[second][j] + mean;
                let squares: f64 = (0..sizes[first])
                    .flat_map(|i| (0..sizes[second]).map(move |j| (i, j)))
                    .map(|(i, j)| deviation(i, j).powi(2))
                    .sum();
                let each = count / (sizes[first] * sizes[second]) as f64;
                effects.push(effect(
                    (first, second),
                    squares * each,
                    (sizes[first] - 1) * (sizes[second] - 1),
                ));
            }
        }
        let total = results.iter().map(|result| (result - mean).powi(2)).sum::<f64>();
        let explained: f64 = effects.iter().map(|effect| effect.sum_of_squares).sum();
        let degrees: usize = effects.iter().map(|effect| effect.degrees).sum();
        let mean_squares: f64 = effects.iter().map(|effect| effect.mean_square).sum();
        for effect in &mut effects {
            effect.share = part(effect.mean_square, mean_squares);
            effect.share_of_squares = part(effect.sum_of_squares, explained);
        }
        let rest_degrees = results.len().saturating_sub(1 + degrees);
        Self { effects, mean, total, rest: (total - explained).max(0.0), rest_degrees }
    }

    /// The effect of a factor or of two.
    pub fn effect(&self, first: usize, second: usize) -> Option<&Effect> {
        let factors = (first.min(second), first.max(second));
        self.effects.iter().find(|effect| effect.factors == factors)
    }

    /// The effects, the greatest share first.
    pub fn ranked(&self) -> Vec<&Effect> {
        let mut ranked: Vec<_> = self.effects.iter().collect();
        ranked.sort_by(|a, b| b.share.total_cmp(&a.share));
        ranked
    }
}

fn effect(factors: (usize, usize), sum_of_squares: f64, degrees: usize) -> Effect {
    let mean_square = if degrees > 0 { sum_of_squares / degrees as f64 } else { 0.0 };
    Effect { factors, sum_of_squares, degrees, mean_square, share: 0.0, share_of_squares: 0.0 }
}

/// A part of a whole; nothing of nothing.
fn part(value: f64, whole: f64) -> f64 {
    if whole > 0.0 { value / whole } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::factorial::tests::plan;

    /// y = a_i + b_j + c_ij + d_k with effects that add up to zero: their sums of squares can be written down.
    #[test]
    fn effects_that_are_put_in_come_out() {
        let plan = plan(&[2, 3, 4]);
        let (a, b, d) = ([-1.5, 1.5], [-2.0, 0.5, 1.5], [0.1, -0.3, 0.4, -0.2]);
        let c = [[1.0, -3.0, 2.0], [-1.0, 3.0, -2.0]];
        let result = |point: usize| {
            let place = plan.place(point);
            100.0 + a[place[0]] + b[place[1]] + c[place[0]][place[1]] + d[place[2]]
        };
        let results: Vec<f64> = (0..24).map(result).collect();
        let found = Variance::of(&plan, &results);
        let square = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>();
        // Points per level or cell times the squares of the effects.
        let expected = [
            ((0, 0), 12.0 * square(&a), 1),
            ((1, 1), 8.0 * square(&b), 2),
            ((2, 2), 6.0 * square(&d), 3),
            ((0, 1), 4.0 * (square(&c[0]) + square(&c[1])), 2),
            ((0, 2), 0.0, 3),
            ((1, 2), 0.0, 6),
        ];
        assert_eq!(found.effects.len(), expected.len());
        let means: f64 = expected.iter().map(|(_, squares, degrees)| squares / f64::from(*degrees)).sum();
        let sum: f64 = expected.iter().map(|(_, squares, _)| squares).sum();
        for (effect, (factors, squares, degrees)) in found.effects.iter().zip(expected) {
            assert_eq!((effect.factors, effect.degrees), (factors, degrees as usize));
            assert!((effect.sum_of_squares - squares).abs() < 1e-11, "{effect:?}");
            assert!((effect.mean_square - squares / f64::from(degrees)).abs() < 1e-11);
            assert!((effect.share - squares / f64::from(degrees) / means).abs() < 1e-13);
            assert!((effect.share_of_squares - squares / sum).abs() < 1e-13);
        }
        assert!((found.mean - 100.0).abs() < 1e-12 && found.rest < 1e-11);
        assert!((found.total - sum).abs() < 1e-10);
        assert_eq!(found.rest_degrees, 6);
        assert_eq!(found.ranked()[0].factors, (0, 1));
    }

    /// The formulas of the thesis as they stand, on results without any structure.
    #[test]
    fn sums_of_squares_are_those_of_the_thesis() {
        let plan = plan(&[3, 2, 2]);
        let y: Vec<f64> = (0..12).map(|k| f64::from((k * k * 7 + 3 * k) % 23)).collect();
        let found = Variance::of(&plan, &y);
        let total: f64 = y.iter().sum();
        let sum = |fits: &dyn Fn(&[usize]) -> bool| -> f64 {
            (0..12).filter(|point| fits(&plan.place(*point))).map(|point| y[point]).sum()
        };
        let a: f64 =
            (0..3).map(|i| sum(&|place| place[0] == i).powi(2)).sum::<f64>() / 4.0 - total * total / 12.0;
        let b: f64 =
            (0..2).map(|j| sum(&|place| place[1] == j).powi(2)).sum::<f64>() / 6.0 - total * total / 12.0;
        let cells = (0..3).flat_map(|i| (0..2).map(move |j| (i, j)));
        let cells: f64 = cells.map(|(i, j)| sum(&|place| place[0] == i && place[1] == j).powi(2)).sum();
        let ab = cells / 2.0 - total * total / 12.0 - a - b;
        for (factors, expected) in [((0, 0), a), ((1, 1), b), ((0, 1), ab)] {
            let effect = found.effect(factors.0, factors.1).unwrap();
            assert!((effect.sum_of_squares - expected).abs() < 1e-9, "{factors:?}");
        }
        assert!(found.rest > 0.0);
    }

    #[test]
    fn results_that_are_all_equal_have_no_effects() {
        let found = Variance::of(&plan(&[2, 2]), &[3.0; 4]);
        assert!(found.effects.iter().all(|effect| effect.share == 0.0 && effect.mean_square == 0.0));
    }
}
