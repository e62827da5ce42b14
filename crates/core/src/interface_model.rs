//! A subsystem seen from its ports alone, from one communication point to the next: discrete Interface Jacobians
//! [T (2.15)].

/// y^(k+1) = S_y y^k + S_u u^k + S_p u^(k+1) + c. u^(k+1) is the input held over (T^k, T^(k+1)], or its end value;
/// y^(k+1) is read under it. Row-major; its memory is taken once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InterfaceModel {
    /// m.
    pub inputs: usize,
    /// n.
    pub outputs: usize,
    /// S_y, n x n.
    pub d_y: Vec<f64>,
    /// S_u, n x m.
    pub d_u: Vec<f64>,
    /// S_p, n x m.
    pub d_up: Vec<f64>,
    /// c, n.
    pub offset: Vec<f64>,
}

impl InterfaceModel {
    /// All zero.
    pub fn new(inputs: usize, outputs: usize) -> Self {
        Self {
            inputs,
            outputs,
            d_y: vec![0.0; outputs * outputs],
            d_u: vec![0.0; outputs * inputs],
            d_up: vec![0.0; outputs * inputs],
            offset: vec![0.0; outputs],
        }
    }

    /// Outputs one step ahead.
    pub fn predict(&self, y: &[f64], u: &[f64], u_next: &[f64], ahead: &mut [f64]) {
        let row = |matrix: &[f64], i: usize, x: &[f64]| -> f64 {
            matrix[i * x.len()..(i + 1) * x.len()].iter().zip(x).map(|(a, x)| a * x).sum()
        };
        for (i, ahead) in ahead.iter_mut().enumerate() {
            *ahead =
                self.offset[i] + row(&self.d_y, i, y) + row(&self.d_u, i, u) + row(&self.d_up, i, u_next);
        }
    }

    /// Whether all entries are finite.
    pub fn is_finite(&self) -> bool {
        let all = [&self.d_y, &self.d_u, &self.d_up, &self.offset];
        all.iter().all(|values| values.iter().all(|x| x.is_finite()))
    }

    /// Takes over another model of the same size.
    pub fn copy_from(&mut self, other: &Self) {
        self.d_y.copy_from_slice(&other.d_y);
        self.d_u.copy_from_slice(&other.d_u);
        self.d_up.copy_from_slice(&other.d_up);
        self.offset.copy_from_slice(&other.offset);
    }
}
