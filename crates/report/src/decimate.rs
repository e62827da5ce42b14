//! Long series, as a screen would show them: per column of pixels the first, least, greatest and last point.

/// Points per pixel beyond which points are left out.
const DENSE: usize = 4;

/// The points that are needed to draw the same picture `width` pixels wide. Points are in pixels, with rising x; one
/// that is not finite interrupts the curve and stays.
pub(crate) fn decimate(points: Vec<(f64, f64)>, width: f64) -> Vec<(f64, f64)> {
    if points.len() <= DENSE * width.max(1.0) as usize {
        return points;
    }
    let mut kept = Vec::new();
    for column in points.chunk_by(|a, b| same_column(*a, *b)) {
        let index = |better: fn(f64, f64) -> bool| {
            let best = |best: usize, k: usize| if better(column[k].1, column[best].1) { k } else { best };
            (0..column.len()).fold(0, best)
        };
        let mut indices = [0, index(|a, b| a < b), index(|a, b| a > b), column.len() - 1];
        indices.sort_unstable();
        let mut last = None;
        for k in indices {
            if last.replace(k) != Some(k) {
                kept.push(column[k]);
            }
        }
    }
    kept
}

fn same_column(a: (f64, f64), b: (f64, f64)) -> bool {
    let is_finite = |p: (f64, f64)| p.0.is_finite() && p.1.is_finite();
    is_finite(a) == is_finite(b) && a.0.floor() == b.0.floor()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spikes_and_gaps_survive() {
        let mut points: Vec<_> = (0..100_000).map(|k| (1e-3 * f64::from(k), 0.0)).collect();
        points[40_010].1 = 7.0;
        points[70_020].1 = -3.0;
        points[50_500].1 = f64::NAN;
        let kept = decimate(points.clone(), 100.0);
        assert!(kept.len() < 410, "{}", kept.len());
        for k in [0, 40_010, 70_020, 99_999] {
            assert!(kept.contains(&points[k]), "{k}");
        }
        assert_eq!(kept.iter().filter(|p| p.1.is_nan()).count(), 1);
        assert!(kept.is_sorted_by(|a, b| a.0 <= b.0));
    }

    #[test]
    fn short_series_stay_as_they_are() {
        let points: Vec<_> = (0..300).map(|k| (0.3 * f64::from(k), f64::from(k % 7))).collect();
        assert_eq!(decimate(points.clone(), 100.0), points);
    }
}
