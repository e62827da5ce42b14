//! How an input goes over a step when its value at the end is given: w(s) with w(0) = 0 and w(h) = 1.
//!
//! ```text
//! line       s / h
//! parabola   s (s + g) / (h (h + g))     zero at the start of the step before, of length g, too
//! end        1                           held at the value at the end
//! mean       1/2                         held at the mean of the line
//! ```

use costep_core::{History, StepContext, SystemView};

use super::options::Shape;

/// How an input goes over a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Course {
    Line,
    Parabola,
    End,
    Mean,
}

/// Order of the polynomials of a shape.
pub(crate) fn order(shape: Shape) -> usize {
    match shape {
        Shape::Held => 0,
        Shape::Linear => 1,
        Shape::Quadratic => 2,
    }
}

/// Coefficients of 1, s and s^2 of the shapes of all inputs, for the step that is under way.
#[derive(Debug, Default)]
pub(crate) struct Weights {
    courses: Vec<Course>,
    line: [f64; 3],
    parabola: [f64; 3],
}

impl Weights {
    /// What each input can do.
    pub(crate) fn new(shape: Shape, system: &SystemView<'_>) -> Self {
        let course = |j: usize| {
            let owner = system.layout.input_owner(j);
            let local = j - system.layout.input_range(owner).start;
            let follows_at_once =
                || system.descriptions[owner].feedthrough.iter().any(|inputs| inputs.contains(&local));
            match order(shape).min(system.order_of_input(j)) {
                _ if shape == Shape::Held => Course::End,
                0 if follows_at_once() => Course::End,
                0 => Course::Mean,
                1 => Course::Line,
                _ => Course::Parabola,
            }
        };
        Self {
            courses: (0..system.layout.inputs()).map(course).collect(),
            line: [0.0; 3],
            parabola: [0.0; 3],
        }
    }

    /// Of this step.
    pub(crate) fn set(&mut self, step: &StepContext, history: &History) {
        let h = step.h;
        self.line = [0.0, 1.0 / h, 0.0];
        self.parabola = match history.is_empty() {
            true => self.line,
            false => {
                let gap = step.t - history.time(1);
                [0.0, gap / (h * (h + gap)), 1.0 / (h * (h + gap))]
            }
        };
    }

    /// The coefficients of the parabola, which change with the lengths of the steps.
    pub(crate) fn parabola(&self) -> &[f64; 3] {
        &self.parabola
    }

    /// Of all inputs.
    pub(crate) fn courses(&self) -> &[Course] {
        &self.courses
    }

    /// The coefficients of an input.
    pub(crate) fn of(&self, j: usize) -> [f64; 3] {
        match self.courses[j] {
            Course::Line => self.line,
            Course::Parabola => self.parabola,
            Course::End => [1.0, 0.0, 0.0],
            Course::Mean => [0.5, 0.0, 0.0],
        }
    }
}
