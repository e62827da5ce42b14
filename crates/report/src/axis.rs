//! From values to pixels.

use crate::ticks;

/// Linear or logarithmic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal distances are equal differences.
    #[default]
    Linear,
    /// Equal distances are equal ratios; values that are not positive have no place.
    Log,
}

/// What an axis shows.
#[derive(Clone, Debug, Default)]
pub struct Axis {
    pub(crate) label: String,
    pub(crate) scale: Scale,
    pub(crate) range: Option<(f64, f64)>,
    pub(crate) ticks: Vec<f64>,
    pub(crate) names: Vec<String>,
}

impl Axis {
    /// A linear axis over all its values.
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    /// With a unit behind the label.
    pub fn unit(mut self, unit: &str) -> Self {
        self.label = if self.label.is_empty() { unit.into() } else { format!("{} in {unit}", self.label) };
        self
    }

    /// With logarithmic scale.
    pub fn log(mut self) -> Self {
        self.scale = Scale::Log;
        self
    }

    /// Over this range, whatever the values are; what lies outside is cut.
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }

    /// With ticks at these values instead of round ones.
    pub fn ticks(mut self, ticks: impl IntoIterator<Item = f64>) -> Self {
        self.ticks = ticks.into_iter().collect();
        self
    }

    /// With names in the place of the numbers 0, 1, 2 ...: what lies at them are no quantities.
    pub fn names(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.names = names.into_iter().map(Into::into).collect();
        self
    }

    /// Places the axis over pixels, around all `values` that can be shown. `padding` is the share of free room.
    pub(crate) fn place(
        &self,
        values: impl Iterator<Item = f64>,
        padding: f64,
        (from, to): (f64, f64),
    ) -> Placed {
        let mut shown = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.map(|v| self.coordinate(v)).filter(|v| v.is_finite()) {
            shown = (shown.0.min(value), shown.1.max(value));
        }
        let fixed = self.range.map(|(low, high)| (self.coordinate(low), self.coordinate(high)));
        let fixed = fixed.filter(|(low, high)| low.is_finite() && high.is_finite() && low < high);
        let (low, high) = fixed.unwrap_or_else(|| widened(shown, padding, self.scale));
        Placed { scale: self.scale, low, high, from, to }
    }

    /// The value itself or its logarithm; not finite if it has no place.
    fn coordinate(&self, value: f64) -> f64 {
        coordinate(self.scale, value)
    }

    /// Labelled ticks, and the unlabelled ones of a logarithmic axis.
    pub(crate) fn marks(&self, placed: &Placed, wanted: usize) -> Marks {
        if !self.names.is_empty() {
            let values = (0..self.names.len()).map(|k| k as f64).collect();
            return Marks { values, labels: self.names.clone(), minor: Vec::new() };
        }
        if !self.ticks.is_empty() {
            let labels = self.ticks.iter().map(|t| format!("{t}")).collect();
            return Marks { values: self.ticks.clone(), labels, minor: Vec::new() };
        }
        match self.scale {
            Scale::Linear => {
                let (values, step) = ticks::linear(placed.low, placed.high, wanted);
                Marks { labels: ticks::labels(&values, step), values, minor: Vec::new() }
            }
            Scale::Log => {
                let (low, high) = (10f64.powf(placed.low), 10f64.powf(placed.high));
                let (values, minor) = ticks::logarithmic(low, high, wanted.max(6));
                Marks { labels: ticks::log_labels(&values), values, minor }
            }
        }
    }
}

/// Largest coordinate: differences of two must be finite, powers of ten neither zero nor infinite.
fn largest(scale: Scale) -> f64 {
    match scale {
        Scale::Linear => 1e300,
        Scale::Log => 250.0,
    }
}

fn coordinate(scale: Scale, value: f64) -> f64 {
    match scale {
        Scale::Linear => value,
        Scale::Log if value > 0.0 => value.log10(),
        Scale::Log => f64::NAN,
    }
}

/// A range with some room around it; something sensible if there is none.
fn widened((low, high): (f64, f64), padding: f64, scale: Scale) -> (f64, f64) {
    if low > high {
        return (0.0, 1.0);
    }
    let largest = largest(scale);
    let (low, high) = (low.clamp(-largest, largest), high.clamp(-largest, largest));
    let smallest = match scale {
        // Less than this cannot be told apart from round-off.
        Scale::Linear => (1e-9 * low.abs().max(high.abs())).max(1e-300),
        Scale::Log => 0.1,
    };
    let room = if high - low > smallest { padding * (high - low) } else { half_of_one(low, scale) };
    // In two thirds of a decade there are two numbers of one digit for ticks, wherever it lies.
    let least = if scale == Scale::Log && padding > 0.0 { 0.5 * (0.65 - (high - low)) } else { 0.0 };
    let room = room.max(least);
    (low - room, high + room)
}

/// Room around a single value.
fn half_of_one(value: f64, scale: Scale) -> f64 {
    match scale {
        Scale::Linear if value != 0.0 => 0.5 * value.abs(),
        _ => 0.5,
    }
}

/// Ticks with their labels.
pub(crate) struct Marks {
    pub(crate) values: Vec<f64>,
    pub(crate) labels: Vec<String>,
    pub(crate) minor: Vec<f64>,
}

/// An axis over pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    scale: Scale,
    /// Values, or their logarithms.
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Placed {
    /// The pixel of a value; not finite if it has no place.
    pub(crate) fn pixel(&self, value: f64) -> f64 {
        let share = (coordinate(self.scale, value) - self.low) / (self.high - self.low);
        self.from + share * (self.to - self.from)
    }

    /// The same axis over other pixels.
    pub(crate) fn moved(self, from: f64, to: f64) -> Self {
        Self { from, to, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_sensible_for_any_values() {
        let place = |axis: &Axis, values: &[f64]| {
            let placed = axis.place(values.iter().copied(), 0.0, (0.0, 100.0));
            (placed.low, placed.high)
        };
        let linear = Axis::new("x");
        assert_eq!(place(&linear, &[]), (0.0, 1.0));
        assert_eq!(place(&linear, &[f64::NAN, f64::INFINITY]), (0.0, 1.0));
        assert_eq!(place(&linear, &[2.0, 2.0]), (1.0, 3.0));
        assert_eq!(place(&linear, &[0.0]), (-0.5, 0.5));
        assert_eq!(place(&linear, &[f64::MIN, f64::MAX]), (-1e300, 1e300));
        assert_eq!(place(&linear.clone().range(1.0, 5.0), &[9.0]), (1.0, 5.0));
        assert_eq!(place(&linear.log(), &[-1.0, 0.0, 0.1, 100.0]), (-1.0, 2.0));
    }
}
