//! Power bonds: two connections in opposite directions whose signals multiply to a power.

use crate::{Connection, Moments};

/// Two connections between the same two subsystems, there and back, whose signals multiply to the power
/// that goes from one to the other: a force and a velocity, a voltage and a current.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerBond {
    /// Its name.
    pub name: String,
    /// There and back.
    pub connections: [Connection; 2],
}

impl PowerBond {
    /// The power that each side of the bond sees, in the direction of the first connection and in units of
    /// its output times that of the second: by its own output and the input that it was given. Without
    /// coupling error both are the same.
    #[inline]
    pub fn powers(&self, y: &[f64], u: &[f64]) -> [f64; 2] {
        let [there, back] = &self.connections;
        [y[there.output] * u[back.input] / back.gain, y[back.output] * u[there.input] / there.gain]
    }

    /// The residual power over a step, what the first side gives less what the other gets, and the mean of what both
    /// see, by what the inputs there and back lacked and the outputs at both ends, on lines between.
    ///
    /// The first side sees y_a (y_b - e_b), the other y_b (y_a - e_a): a difference of e_a y_b - e_b y_a,
    /// however coarse the steps are where the inputs lack nothing.
    pub fn powers_over_step(&self, defects: [Moments; 2], (start, end): (&[f64], &[f64])) -> [f64; 2] {
        let [there, back] = &self.connections;
        let (a, b) = ((start[there.output], end[there.output]), (start[back.output], end[back.output]));
        let lost_there = defects[0].times_line(b.0, b.1) / there.gain;
        let lost_back = defects[1].times_line(a.0, a.1) / back.gain;
        let both = Moments::of_line(a.0, a.1).times_line(b.0, b.1);
        [lost_there - lost_back, both - 0.5 * (lost_there + lost_back)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_see_the_same_power_where_inputs_are_what_they_are_connected_to() {
        let there = Connection { output: 0, input: 1, gain: 2.0 };
        let back = Connection { output: 1, input: 0, gain: -3.0 };
        let bond = PowerBond { name: "shaft".into(), connections: [there, back] };
        let y = [5.0, 7.0];
        assert_eq!(bond.powers(&y, &[-21.0, 10.0]), [35.0, 35.0]);
        assert_eq!(bond.powers(&y, &[-21.0, 8.0]), [35.0, 28.0]);
    }
}
