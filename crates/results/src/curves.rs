//! Signals of a recording as points to be drawn. Long ones are thinned while they are read, so that memory does not grow
//! with the recording: of neighbouring points the lowest and the highest stay, as a picture shows them.

use std::collections::BTreeMap;
use std::path::Path;

use costep_core::Result;

use crate::column::Column;
use crate::message::Batch;
use crate::select::selected;
use crate::stream::BatchStream;
use crate::summary::Summary;

/// Points of a curve beyond which it is thinned: far more than a picture has places.
const MOST_POINTS: usize = 1 << 17;

/// Chosen signals of a recording.
#[derive(Debug)]
pub struct Curves {
    summary: Summary,
    curves: BTreeMap<String, Curve>,
    times: Curve,
}

impl Curves {
    /// Reads the signals whose names `choose` gives, as far as `is_shown` says for their time.
    pub fn read(
        path: &Path,
        choose: impl FnOnce(&[Column], &BTreeMap<String, String>) -> Result<Vec<String>>,
        is_shown: impl Fn(f64) -> bool,
    ) -> Result<Self> {
        let stream = BatchStream::open(path)?;
        let header = stream.header();
        let names = choose(&header.columns, &header.metadata)?;
        let place = |name: &String| header.columns.iter().position(|column| column.name == *name);
        let mut chosen: Vec<(usize, Curve)> =
            names.iter().filter_map(place).map(|index| (index, Curve::default())).collect();
        let mut times = Curve::default();
        let look = |batch: &Batch<'_>| {
            let t = batch.column(0);
            for row in (0..batch.rows()).filter(|row| is_shown(t.at(*row))) {
                let time = t.at(row);
                times.push(time, time);
                chosen.iter_mut().for_each(|(index, curve)| curve.push(time, batch.column(*index).at(row)));
            }
        };
        let summary = Summary::scan(stream, look)?;
        let named = |(index, curve): (usize, Curve)| (summary.columns()[index].name.clone(), curve);
        let curves = chosen.into_iter().map(named).collect();
        Ok(Self { summary, curves, times })
    }

    /// What the recording holds.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// The points of a signal; none if it was not chosen.
    pub fn points(&self, name: &str) -> Vec<(f64, f64)> {
        self.curves.get(name).map(Curve::points).unwrap_or_default()
    }

    /// The times of the points.
    pub fn times(&self) -> Vec<f64> {
        self.times.points().iter().map(|(t, _)| *t).collect()
    }
}

/// Hands over the named columns row by row, in the order of the names; not a number where there is no such column.
pub fn each_row(path: &Path, names: &[String], mut look: impl FnMut(&[f64])) -> Result<Summary> {
    let stream = BatchStream::open(path)?;
    let columns = &stream.header().columns;
    let places: Vec<_> =
        names.iter().map(|name| columns.iter().position(|column| column.name == *name)).collect();
    let mut values = vec![f64::NAN; names.len()];
    Summary::scan(stream, |batch| {
        for row in 0..batch.rows() {
            for (value, place) in values.iter_mut().zip(&places) {
                *value = place.map_or(f64::NAN, |place| batch.column(place).at(row));
            }
            look(&values);
        }
    })
}

/// The columns that match names and patterns such as `engine.*`, in the order of the patterns, without `t`; no pattern
/// selects all.
pub fn matching_names(columns: &[Column], patterns: &[String]) -> Result<Vec<String>> {
    let indices = selected(columns, patterns)?;
    Ok(indices.into_iter().skip(1).map(|index| columns[index].name.clone()).collect())
}

/// The points of one signal.
#[derive(Debug)]
struct Curve {
    points: Vec<(f64, f64)>,
    /// Points that come in for the two that stay of them; 1 as long as all stay.
    stride: usize,
    /// Lowest and highest of those that have come in.
    low: (f64, f64),
    high: (f64, f64),
    gathered: usize,
}

impl Default for Curve {
    fn default() -> Self {
        Self { points: Vec::new(), stride: 1, low: (0.0, 0.0), high: (0.0, 0.0), gathered: 0 }
    }
}

impl Curve {
    fn push(&mut self, t: f64, y: f64) {
        if self.stride == 1 {
            self.points.push((t, y));
        } else {
            self.gather((t, y));
        }
        if self.points.len() >= MOST_POINTS {
            self.thin();
        }
    }

    fn gather(&mut self, point: (f64, f64)) {
        if self.gathered == 0 || point.1 < self.low.1 || self.low.1.is_nan() {
            self.low = point;
        }
        if self.gathered == 0 || point.1 > self.high.1 || self.high.1.is_nan() {
            self.high = point;
        }
        self.gathered += 1;
        if self.gathered == self.stride {
            let both = in_order(self.low, self.high);
            self.points.extend(both);
            self.gathered = 0;
        }
    }

    /// Of every four points the lowest and the highest stay.
    fn thin(&mut self) {
        self.stride = if self.stride == 1 { 4 } else { 2 * self.stride };
        let extremes = |four: &[(f64, f64)]| {
            let low = four.iter().copied().reduce(|a, b| if b.1 < a.1 || a.1.is_nan() { b } else { a });
            let high = four.iter().copied().reduce(|a, b| if b.1 > a.1 || a.1.is_nan() { b } else { a });
            low.zip(high).map(|(low, high)| in_order(low, high))
        };
        self.points = self.points.chunks(4).filter_map(extremes).flatten().collect();
    }

    /// All points, with those that have come in last.
    fn points(&self) -> Vec<(f64, f64)> {
        let last = (self.gathered > 0).then(|| in_order(self.low, self.high));
        self.points.iter().copied().chain(last.into_iter().flatten()).collect()
    }
}

fn in_order(a: (f64, f64), b: (f64, f64)) -> [(f64, f64); 2] {
    if a.0 <= b.0 { [a, b] } else { [b, a] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_curves_are_whole_and_long_ones_keep_their_extremes() {
        let mut short = Curve::default();
        (0..1000).for_each(|k| short.push(f64::from(k), -f64::from(k)));
        assert_eq!(short.points().len(), 1000);
        let mut long = Curve::default();
        let spike = |k: i32| match k {
            777_777 => 9.0,
            2_000_003 => -7.0,
            _ => (1e-4 * f64::from(k)).sin(),
        };
        (0..3_000_001).for_each(|k| long.push(f64::from(k), spike(k)));
        let points = long.points();
        assert!(points.len() <= MOST_POINTS + 2 && points.len() > MOST_POINTS / 4, "{}", points.len());
        assert!(points.contains(&(777_777.0, 9.0)) && points.contains(&(2_000_003.0, -7.0)));
        assert!(points.windows(2).all(|pair| pair[0].0 <= pair[1].0));
        assert_eq!(points.last().unwrap().0, 3_000_000.0);
    }
}
