//! Inputs as polynomials over one macro step: u_j(s) = c0 + c1 s + c2 s^2 ..., s counted from its start.

/// The polynomials of all inputs of all subsystems. Coefficient-major: the coefficients c0 of all inputs are
/// one slice, so that a hold is one copy and a subsystem's share of it is one slice too.
#[derive(Clone, Debug)]
pub struct InputPolynomials {
    inputs: usize,
    order: usize,
    coefficients: Vec<f64>,
}

impl InputPolynomials {
    /// All zero, with room for this order.
    ///
    /// # Panics
    /// For more than 2^32 inputs.
    pub fn new(inputs: usize, order: usize) -> Self {
        assert!(u32::try_from(inputs).is_ok(), "{inputs} inputs are more than can be indexed");
        Self { inputs, order, coefficients: vec![0.0; inputs * (order + 1)] }
    }

    /// The highest order there is room for.
    pub fn order(&self) -> usize {
        self.order
    }

    /// The coefficients of s^a of all inputs.
    #[inline]
    pub fn coefficients(&self, a: usize) -> &[f64] {
        &self.coefficients[a * self.inputs..(a + 1) * self.inputs]
    }

    /// The coefficients of s^a of all inputs, to be filled.
    pub fn coefficients_mut(&mut self, a: usize) -> &mut [f64] {
        &mut self.coefficients[a * self.inputs..(a + 1) * self.inputs]
    }

    /// Holds these values, and gives back those that were held before. Without a copy.
    ///
    /// # Panics
    /// If there are not as many as inputs, or the order is above 0.
    #[inline]
    pub fn hold(&mut self, values: &mut Vec<f64>) {
        assert!(self.order == 0 && values.len() == self.inputs);
        std::mem::swap(&mut self.coefficients, values);
    }

    /// All coefficients, for checkpoints.
    pub fn raw(&self) -> &[f64] {
        &self.coefficients
    }

    /// All coefficients, for checkpoints.
    pub fn raw_mut(&mut self) -> &mut [f64] {
        &mut self.coefficients
    }

    /// The inputs of one subsystem, of an order that it takes; the coefficients beyond are zero.
    ///
    /// # Panics
    /// If it has more than 2^24 inputs or an order of more than 255.
    #[inline]
    pub fn segment(&self, range: std::ops::Range<usize>, order: usize) -> InputSegment<'_> {
        self.at(self.place(range, order))
    }

    /// Where a segment is, for [`InputPolynomials::at`] in every step.
    ///
    /// # Panics
    /// If it has more than 2^24 inputs or an order of more than 255.
    pub fn place(&self, range: std::ops::Range<usize>, order: usize) -> SegmentPlace {
        debug_assert!(range.end <= self.inputs && order <= self.order);
        assert!(range.len() < 1 << 24 && order < 1 << 8, "{} inputs of order {order}", range.len());
        SegmentPlace((range.start as u64) << 32 | (range.len() as u64) << 8 | order as u64)
    }

    /// The segment at a place that [`InputPolynomials::place`] gave.
    #[inline(always)]
    pub fn at(&self, place: SegmentPlace) -> InputSegment<'_> {
        InputSegment { polynomials: self, place: place.0 }
    }

    /// The value of input `j` at `s` seconds after the start of the step.
    pub fn value(&self, j: usize, s: f64) -> f64 {
        let mut value = 0.0;
        for a in (0..=self.order).rev() {
            value = value * s + self.coefficients[a * self.inputs + j];
        }
        value
    }

    /// Holds input `j` at the mean of its polynomial over a step of this length.
    pub fn hold_at_mean(&mut self, j: usize, length: f64) {
        let (mut mean, mut power) = (self.coefficients[j], 1.0);
        for a in 1..=self.order {
            power *= length;
            let coefficient = std::mem::take(&mut self.coefficients[a * self.inputs + j]);
            mean += coefficient * power / (a + 1) as f64;
        }
        self.coefficients[j] = mean;
    }

    /// The means of all inputs over a step of this length.
    #[inline]
    pub fn means(&self, length: f64, out: &mut [f64]) {
        out.copy_from_slice(self.coefficients(0));
        let mut power = 1.0;
        for a in 1..=self.order {
            power *= length;
            let share = power / (a + 1) as f64;
            out.iter_mut().zip(self.coefficients(a)).for_each(|(mean, c)| *mean += c * share);
        }
    }

    /// Replaces the polynomial of input `j` by the one of a lower order that comes nearest to it over a step of this length, by
    /// the integral of the square of their difference; the mean, if the order is zero.
    pub fn lower(&mut self, j: usize, order: usize, length: f64) {
        if order == 0 {
            return self.hold_at_mean(j, length);
        }
        for a in (order + 1..=self.order).rev() {
            let top = std::mem::take(&mut self.coefficients[a * self.inputs + j]);
            // Less the Legendre polynomial of degree a on the step, which no lower one resembles: its coefficients are
            // (-1)^(a-k) binomial(a, k) binomial(a + k, k) / binomial(2 a, a) h^(a-k), each by the one before.
            let mut coefficient = top;
            for k in (0..a).rev() {
                let (degree, power) = (a as f64, k as f64);
                coefficient *= -length * (power + 1.0).powi(2) / ((degree - power) * (degree + power + 1.0));
                self.coefficients[k * self.inputs + j] -= coefficient;
            }
        }
    }

    /// The values of all inputs at `s` seconds after the start of the step.
    #[inline]
    pub fn evaluate(&self, s: f64, out: &mut [f64]) {
        out.copy_from_slice(self.coefficients(self.order));
        for a in (0..self.order).rev() {
            out.iter_mut().zip(self.coefficients(a)).for_each(|(value, c)| *value = *value * s + c);
        }
    }
}

/// Where the inputs of a subsystem are among all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentPlace(
    /// First input (32 bits), number of inputs (24), order (8).
    u64,
);

/// The inputs of one subsystem over one macro step. Two words, so that it travels in registers: handed over
/// through memory it cost a fifth of the step of a small subsystem.
#[derive(Clone, Copy, Debug)]
pub struct InputSegment<'a> {
    polynomials: &'a InputPolynomials,
    /// First input (32 bits), number of inputs (24), order (8).
    place: u64,
}

impl<'a> InputSegment<'a> {
    #[inline]
    fn start(&self) -> usize {
        (self.place >> 32) as usize
    }

    /// Number of inputs.
    pub fn len(&self) -> usize {
        (self.place >> 8 & 0xff_ffff) as usize
    }

    /// Whether the subsystem has no input.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Order of the polynomials; 0 = held inputs.
    #[inline]
    pub fn order(&self) -> usize {
        (self.place & 0xff) as usize
    }

    /// The coefficients of s^a of this subsystem's inputs.
    #[inline]
    pub fn coefficients(&self, a: usize) -> &'a [f64] {
        let start = a * self.polynomials.inputs + self.start();
        &self.polynomials.coefficients[start..start + self.len()]
    }

    /// The values at `s` seconds after the start of the step (Horner).
    pub fn evaluate(&self, s: f64, out: &mut [f64]) {
        let order = self.order();
        // Mostly a few numbers: a copy of unknown length would be a call.
        out.iter_mut().zip(self.coefficients(order)).for_each(|(value, c)| *value = *c);
        for a in (0..order).rev() {
            for (value, c) in out.iter_mut().zip(self.coefficients(a)) {
                *value = *value * s + c;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_sees_its_own_inputs() {
        let mut polynomials = InputPolynomials::new(3, 2);
        polynomials.coefficients_mut(0).copy_from_slice(&[1.0, 2.0, 3.0]);
        polynomials.coefficients_mut(1).copy_from_slice(&[0.0, 10.0, 20.0]);
        polynomials.coefficients_mut(2).copy_from_slice(&[0.0, 0.0, 100.0]);
        let segment = polynomials.segment(1..3, 2);
        let mut u = [0.0; 2];
        segment.evaluate(0.5, &mut u);
        assert_eq!(u, [7.0, 38.0]);
        assert_eq!(polynomials.value(2, 0.5), 38.0);
        assert_eq!(segment.coefficients(0), [2.0, 3.0]);
        assert_eq!((segment.len(), segment.order()), (2, 2));
        assert_eq!(polynomials.segment(0..1, 0).order(), 0);
    }

    #[test]
    fn a_line_takes_the_place_of_a_parabola_and_what_it_leaves_is_no_line() {
        let h = 0.5;
        for order in 0..4 {
            let mut polynomials = InputPolynomials::new(2, 4);
            let all = [1.0, -2.0, 3.0, 5.0, -7.0];
            all.iter().enumerate().for_each(|(a, value)| polynomials.coefficients_mut(a)[1] = *value);
            polynomials.lower(1, order, h);
            let lowered: Vec<f64> = (0..=4).map(|a| polynomials.coefficients(a)[1]).collect();
            assert!(lowered[order + 1..].iter().all(|value| *value == 0.0), "{lowered:?}");
            // The difference times s^m over the step is zero for every power that is kept.
            for m in 0..=order {
                let integral =
                    |a: usize| (all[a] - lowered[a]) * h.powi((a + m + 1) as i32) / (a + m + 1) as f64;
                let left: f64 = (0..=4).map(integral).sum();
                assert!(left.abs() < 1e-14, "{order} {m}: {left:e}");
            }
        }
        let mut parabola = InputPolynomials::new(1, 2);
        parabola.coefficients_mut(2)[0] = 6.0;
        parabola.lower(0, 1, 0.5);
        assert_eq!([0, 1, 2].map(|a| parabola.coefficients(a)[0]), [-0.25, 3.0, 0.0]);
    }

    #[test]
    fn a_mean_takes_the_place_of_a_polynomial() {
        let mut polynomials = InputPolynomials::new(2, 2);
        for (a, values) in [[1.0, 2.0], [4.0, 1.0], [6.0, 3.0]].iter().enumerate() {
            polynomials.coefficients_mut(a).copy_from_slice(values);
        }
        polynomials.hold_at_mean(0, 0.5);
        // The integral of 1 + 4 s + 6 s^2 from 0 to 0.5, divided by 0.5.
        assert_eq!(polynomials.value(0, 0.25), 1.0 + 1.0 + 0.5);
        assert_eq!([1, 2].map(|a| polynomials.coefficients(a)[0]), [0.0, 0.0]);
        assert_eq!(polynomials.value(1, 1.0), 6.0);
    }
}
