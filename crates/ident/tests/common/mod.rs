//! Data to identify from.

use costep_linalg::Matrix;

/// Numbers in -1 .. 1 from the generator s <- 1103515245 s + 12345 mod 2^31.
pub(crate) struct Generator(pub(crate) u64);

impl Generator {
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = (1_103_515_245 * self.0 + 12345) % (1 << 31);
        2.0 * self.0 as f64 / (1u64 << 31) as f64 - 1.0
    }
}

/// x^k = A x^(k-1) + B u^k, y^k = C x^k + D u^k: the input is held over the step that ends with y^k.
pub(crate) struct System {
    pub(crate) a: Matrix,
    pub(crate) b: Matrix,
    pub(crate) c: Matrix,
    pub(crate) d: Matrix,
    pub(crate) x: Vec<f64>,
}

impl System {
    pub(crate) fn new(a: Matrix, b: Matrix, c: Matrix, d: Matrix) -> Self {
        let x = vec![0.0; a.rows()];
        Self { a, b, c, d, x }
    }

    /// The system of the unit vectors.
    #[allow(dead_code)]
    pub(crate) fn unit() -> Self {
        let two = |data: [f64; 4]| Matrix::from_rows(2, 2, &data);
        Self::new(
            two([0.9, 0.2, -0.1, 0.7]),
            two([0.5, 0.0, 0.1, 0.3]),
            two([1.0, 0.5, 0.0, 1.0]),
            two([0.0, 0.2, 0.1, 0.0]),
        )
    }

    pub(crate) fn step(&mut self, u: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; self.x.len()];
        self.a.multiply_add(&self.x, &mut x);
        self.b.multiply_add(u, &mut x);
        self.x = x;
        let mut y = vec![0.0; self.c.rows()];
        self.c.multiply_add(&self.x, &mut y);
        self.d.multiply_add(u, &mut y);
        y
    }
}

#[allow(dead_code)]
pub(crate) fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= tolerance, "{found} instead of {expected}");
    }
}
