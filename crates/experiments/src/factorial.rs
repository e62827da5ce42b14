//! Full factorial plans: all combinations of the levels of some factors.

use costep_core::Value;

/// Something that is varied, and the values that it takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// What is varied.
    pub name: String,
    /// Its levels, two or more.
    pub levels: Vec<Value>,
}

impl Factor {
    /// A factor with these levels.
    pub fn new(name: impl Into<String>, levels: Vec<Value>) -> Self {
        Self { name: name.into(), levels }
    }

    /// Its levels as numbers, if they all are.
    pub fn numbers(&self) -> Option<Vec<f64>> {
        self.levels.iter().map(number).collect()
    }

    /// Whether all levels are integers.
    pub fn is_integer(&self) -> bool {
        self.levels.iter().all(|level| matches!(level, Value::Integer(_)))
    }
}

/// A level as a number, if it is one.
pub(crate) fn number(level: &Value) -> Option<f64> {
    match level {
        Value::Integer(value) => Some(*value as f64),
        Value::Real(value) => Some(*value),
        Value::Bool(_) | Value::Text(_) => None,
    }
}

/// All combinations of the levels of some factors, numbered so that the levels of the last factor change fastest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Factorial {
    factors: Vec<Factor>,
}

impl Factorial {
    /// All combinations.
    pub fn new(factors: Vec<Factor>) -> Self {
        Self { factors }
    }

    /// Its factors.
    pub fn factors(&self) -> &[Factor] {
        &self.factors
    }

    /// Numbers of levels.
    pub fn sizes(&self) -> Vec<usize> {
        self.factors.iter().map(|factor| factor.levels.len()).collect()
    }

    /// Number of points; nothing if they cannot be counted.
    pub fn points(&self) -> Option<usize> {
        self.factors.iter().try_fold(1usize, |points, factor| points.checked_mul(factor.levels.len()))
    }

    /// Which level each factor has at a point.
    pub fn place(&self, point: usize) -> Vec<usize> {
        let mut rest = point;
        let mut place: Vec<usize> = self
            .factors
            .iter()
            .rev()
            .map(|factor| {
                let level = rest % factor.levels.len();
                rest /= factor.levels.len();
                level
            })
            .collect();
        place.reverse();
        place
    }

    /// The level of each factor at a point.
    pub fn levels(&self, point: usize) -> Vec<&Value> {
        self.factors.iter().zip(self.place(point)).map(|(factor, level)| &factor.levels[level]).collect()
    }

    /// The number of the point with these levels.
    pub fn point(&self, place: &[usize]) -> usize {
        self.factors.iter().zip(place).fold(0, |point, (factor, level)| point * factor.levels.len() + level)
    }

    /// Mean of a result over all points with each level of a factor.
    pub fn means(&self, factor: usize, results: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.factors[factor].levels.len()];
        for (point, result) in results.iter().enumerate() {
            sums[self.place(point)[factor]] += result;
        }
        let each = (results.len() / sums.len().max(1)).max(1) as f64;
        sums.iter().map(|sum| sum / each).collect()
    }

    /// Mean of a result over all points with each pair of levels of two factors, row by row of the first.
    pub fn pair_means(&self, (first, second): (usize, usize), results: &[f64]) -> Vec<Vec<f64>> {
        let (rows, columns) = (self.factors[first].levels.len(), self.factors[second].levels.len());
        let mut sums = vec![vec![0.0; columns]; rows];
        for (point, result) in results.iter().enumerate() {
            let place = self.place(point);
            sums[place[first]][place[second]] += result;
        }
        let each = (results.len() / (rows * columns).max(1)).max(1) as f64;
        sums.iter_mut().flatten().for_each(|sum| *sum /= each);
        sums
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn plan(sizes: &[usize]) -> Factorial {
        let factor = |(k, size): (usize, &usize)| {
            Factor::new(format!("f{k}"), (0..*size).map(|level| Value::Integer(level as i64)).collect())
        };
        Factorial::new(sizes.iter().enumerate().map(factor).collect())
    }

    #[test]
    fn every_point_has_its_number() {
        let plan = plan(&[3, 1, 4, 2]);
        let places: Vec<_> = (0..24).map(|point| plan.place(point)).collect();
        assert_eq!(places[0], [0, 0, 0, 0]);
        assert_eq!(places[1], [0, 0, 0, 1]);
        assert_eq!(places[23], [2, 0, 3, 1]);
        assert!((0..24).all(|point| plan.point(&places[point]) == point));
        assert_eq!((plan.points(), Factorial::default().points()), (Some(24), Some(1)));
        assert_eq!(self::plan(&[1 << 16; 4]).points(), None);
    }

    #[test]
    fn means_are_over_all_other_factors() {
        let plan = plan(&[2, 3]);
        let results = [0.0, 1.0, 2.0, 10.0, 11.0, 12.0];
        assert_eq!(plan.means(0, &results), [1.0, 11.0]);
        assert_eq!(plan.means(1, &results), [5.0, 6.0, 7.0]);
        assert_eq!(plan.pair_means((1, 0), &results), [[0.0, 10.0], [1.0, 11.0], [2.0, 12.0]]);
    }
}
