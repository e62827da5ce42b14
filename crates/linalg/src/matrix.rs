//! Row-major matrices.

use std::ops::{Index, IndexMut};

/// A dense matrix, row by row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    data: Vec<f64>,
}

impl Matrix {
    /// All zero.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Self { rows, columns, data: vec![0.0; rows * columns] }
    }

    /// From rows.
    ///
    /// # Panics
    /// If there are not as many numbers as entries.
    pub fn from_rows(rows: usize, columns: usize, data: &[f64]) -> Self {
        assert_eq!(data.len(), rows * columns, "a {rows} x {columns} matrix");
        Self { rows, columns, data: data.to_vec() }
    }

    /// Number of rows.
    #[inline]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    #[inline]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// All entries, row by row.
    #[inline]
    pub fn data(&self) -> &[f64] {
        &self.data
    }

    /// All entries, row by row.
    #[inline]
    pub fn data_mut(&mut self) -> &mut [f64] {
        &mut self.data
    }

    /// A row.
    #[inline]
    pub fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.columns..(i + 1) * self.columns]
    }

    /// A row.
    #[inline]
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.data[i * self.columns..(i + 1) * self.columns]
    }

    /// All entries equal to `value`.
    pub fn fill(&mut self, value: f64) {
        self.data.fill(value);
    }

    /// The identity.
    pub fn set_identity(&mut self) {
        self.fill(0.0);
        for i in 0..self.rows.min(self.columns) {
            self[(i, i)] = 1.0;
        }
    }

    /// self = other.
    ///
    /// # Panics
    /// If the sizes differ.
    pub fn copy_from(&mut self, other: &Self) {
        self.same_size(other);
        self.data.copy_from_slice(&other.data);
    }

    /// self = other^T.
    ///
    /// # Panics
    /// If the sizes do not fit.
    pub fn set_transpose(&mut self, other: &Self) {
        assert_eq!((self.rows, self.columns), (other.columns, other.rows), "sizes differ");
        for i in 0..self.rows {
            for k in 0..self.columns {
                self.data[i * self.columns + k] = other.data[k * other.columns + i];
            }
        }
    }

    /// self += factor * other.
    ///
    /// # Panics
    /// If the sizes differ.
    pub fn add_scaled(&mut self, factor: f64, other: &Self) {
        self.same_size(other);
        self.data.iter_mut().zip(&other.data).for_each(|(x, y)| *x += factor * y);
    }

    /// self *= factor.
    pub fn scale(&mut self, factor: f64) {
        self.data.iter_mut().for_each(|x| *x *= factor);
    }

    /// self = a b.
    ///
    /// # Panics
    /// If the sizes do not fit.
    pub fn set_product(&mut self, a: &Self, b: &Self) {
        self.fill(0.0);
        self.add_product(1.0, a, b);
    }

    /// self += factor a b.
    ///
    /// # Panics
    /// If the sizes do not fit.
    pub fn add_product(&mut self, factor: f64, a: &Self, b: &Self) {
        assert!(
            a.columns == b.rows && self.rows == a.rows && self.columns == b.columns,
            "({} x {}) += ({} x {}) ({} x {})",
            self.rows,
            self.columns,
            a.rows,
            a.columns,
            b.rows,
            b.columns
        );
        for i in 0..a.rows {
            for k in 0..a.columns {
                let f = factor * a.data[i * a.columns + k];
                if f != 0.0 {
                    let row = &mut self.data[i * b.columns..(i + 1) * b.columns];
                    row.iter_mut().zip(b.row(k)).for_each(|(x, y)| *x += f * y);
                }
            }
        }
    }

    /// result += self x.
    #[inline]
    pub fn multiply_add(&self, x: &[f64], result: &mut [f64]) {
        for (row, result) in self.data.chunks_exact(self.columns.max(1)).zip(result) {
            *result += row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
        }
    }

    /// Greatest sum of absolute values in a column.
    pub fn norm_1(&self) -> f64 {
        let column = |j: usize| (0..self.rows).map(|i| self[(i, j)].abs()).sum::<f64>();
        (0..self.columns).map(column).fold(0.0, f64::max)
    }

    /// Whether all entries are finite.
    pub fn is_finite(&self) -> bool {
        self.data.iter().all(|x| x.is_finite())
    }

    fn same_size(&self, other: &Self) {
        assert_eq!((self.rows, self.columns), (other.rows, other.columns), "sizes differ");
    }
}

impl Index<(usize, usize)> for Matrix {
    type Output = f64;

    #[inline]
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.data[i * self.columns + j]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    #[inline]
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.data[i * self.columns + j]
    }
}
