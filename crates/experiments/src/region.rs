//! The stable part of a map over two axes [T 3.3.1]: rows from the bottom, columns of equal width.

/// Which share of the points of a cell is stable, and which cells are connected with the lowest row.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    columns: usize,
    /// What the rows stand for, rising.
    heights: Vec<f64>,
    share: Vec<f64>,
    connected: Vec<bool>,
}

impl Region {
    /// From the share of stable points in each cell, row by row; rows are at these heights.
    pub fn new(heights: &[f64], share: Vec<f64>) -> Self {
        let columns = share.len() / heights.len().max(1);
        let mut connected = vec![false; share.len()];
        let mut open: Vec<usize> = (0..columns).filter(|k| share[*k] > 0.0).collect();
        while let Some(cell) = open.pop() {
            if std::mem::replace(&mut connected[cell], true) {
                continue;
            }
            let column = cell % columns;
            let left = (column > 0).then(|| cell - 1);
            let right = (column + 1 < columns).then(|| cell + 1);
            let rows = [cell.checked_sub(columns), Some(cell + columns)];
            let neighbours = [left, right].into_iter().chain(rows).flatten();
            open.extend(neighbours.filter(|k| *k < share.len() && share[*k] > 0.0 && !connected[*k]));
        }
        Self { columns, heights: heights.into(), share, connected }
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// What the rows stand for.
    pub fn heights(&self) -> &[f64] {
        &self.heights
    }

    /// Share of the stable points in each cell, row by row.
    pub fn share(&self) -> &[f64] {
        &self.share
    }

    /// Whether each cell is stable and connected with the lowest row, row by row.
    pub fn connected(&self) -> &[bool] {
        &self.connected
    }

    /// Whether each cell of a row is stable and connected with the lowest row.
    pub fn row(&self, row: usize) -> &[bool] {
        &self.connected[row * self.columns..(row + 1) * self.columns]
    }

    /// The area of the connected part, by trapezoids between the rows; each column is so wide.
    pub fn area(&self, width: f64) -> f64 {
        let widths: Vec<f64> = (0..self.heights.len())
            .map(|row| width * self.row(row).iter().filter(|stable| **stable).count() as f64)
            .collect();
        (1..widths.len())
            .map(|row| 0.5 * (widths[row - 1] + widths[row]) * (self.heights[row] - self.heights[row - 1]))
            .sum()
    }

    /// The height of the highest row with a cell of the connected part.
    pub fn highest(&self) -> Option<f64> {
        let row = (0..self.heights.len()).rev().find(|row| self.row(*row).contains(&true))?;
        Some(self.heights[row])
    }

    /// First and last column of the connected part.
    pub fn edges(&self) -> Option<(usize, usize)> {
        let stable = |column: &usize| self.connected.iter().skip(*column).step_by(self.columns).any(|c| *c);
        Some(((0..self.columns).find(stable)?, (0..self.columns).rfind(stable)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn islands_do_not_count() {
        // Three rows of four columns; the last cell of the top row is alone.
        let share = vec![1.0, 0.5, 1.0, 0.0, 0.0, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
        let region = Region::new(&[0.5, 1.0, 3.0], share);
        assert_eq!(region.row(1), [false, true, false, false]);
        assert_eq!((region.highest(), region.edges()), (Some(1.0), Some((0, 2))));
        // Widths 3, 1 and 0 columns of 0.25.
        assert!((region.area(0.25) - (0.5 * (0.75 + 0.25) * 0.5 + 0.5 * 0.25 * 2.0)).abs() < 1e-12);
        let nothing = Region::new(&[1.0, 2.0], vec![0.0; 6]);
        assert_eq!((nothing.area(1.0), nothing.highest(), nothing.edges()), (0.0, None, None));
    }
}
