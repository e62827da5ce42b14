//! Inputs that stay within what their sources can deliver.
//!
//! A coupling signal that has taken a few values only is switched, not moved: what a model or a line makes of it, 9 kW of a heater of 4 kW,
//! does not exist. It is held as it is. And a limit that a signal has come to more than once, such as that of a controller that saturates, is not
//! passed.
//!
//! A part all of whose outputs switch decides, and what it decides shows at the end of a step and acts over the next one. Under a held input that is
//! the mean of the step it would decide a step late: a thermostat heats for a step too long. It is asked with what its input will be in the middle of the step
//! in which its decision acts.

use costep_core::{Result, StateReader, StateWriter, SystemView};

/// A signal with no more different values than this is a switch,
const FEW_VALUES: usize = 3;
/// once it has been seen at so many points, or has stood still.
const SEEN: f64 = 8.0;
/// From the start of a step to the middle of the next, in halves of a step: the mean over the step lies one half ahead.
const HALVES_TO_NEXT_MIDDLE: f64 = 3.0;

/// What is known about the coupling signal of one input, without what comes from outside.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Range {
    last: f64,
    points: f64,
    /// Whether it was the same at two points one after the other.
    has_rested: f64,
    /// Its first values, and how many different ones there were, up to one more than a few.
    values: [f64; FEW_VALUES],
    count: f64,
    /// 1 for each of them that it had at more than one point.
    again: [f64; FEW_VALUES],
    /// Least and greatest value, how often the signal has come to each, and whether it is there.
    extremes: [f64; 2],
    visits: [f64; 2],
    is_there: [f64; 2],
}

/// Number of values that it is saved as.
const SAVED: usize = 3 + FEW_VALUES + 1 + FEW_VALUES + 6;

impl Range {
    fn observe(&mut self, c: f64) {
        if self.points > 0.0 && c == self.last {
            self.has_rested = 1.0;
        }
        self.points = (self.points + 1.0).min(SEEN);
        self.last = c;
        self.note_value(c);
        self.note_extremes(c);
    }

    fn note_value(&mut self, c: f64) {
        let known = self.count as usize;
        if let Some(place) = self.values[..known.min(FEW_VALUES)].iter().position(|value| *value == c) {
            self.again[place] = 1.0;
        } else if known <= FEW_VALUES {
            if let Some(place) = self.values.get_mut(known) {
                *place = c;
            }
            self.count += 1.0;
        }
    }

    fn note_extremes(&mut self, c: f64) {
        if self.points == 1.0 {
            self.extremes = [c; 2];
        }
        for (side, sign) in [-1.0, 1.0].into_iter().enumerate() {
            let beyond = sign * (c - self.extremes[side]);
            let is_there = f64::from(beyond == 0.0);
            if beyond > 0.0 {
                (self.extremes[side], self.visits[side], self.is_there[side]) = (c, 1.0, 1.0);
            } else {
                self.visits[side] += is_there * (1.0 - self.is_there[side]);
                self.is_there[side] = is_there;
            }
        }
    }

    fn is_switch(&self) -> bool {
        self.count <= FEW_VALUES as f64 && (self.points >= SEEN || self.has_rested == 1.0)
    }

    /// Whether it has been seen to switch: it stayed at two of its values, or came back to them. What begins to move after a rest does not.
    fn has_switched(&self) -> bool {
        self.is_switch() && self.again.iter().sum::<f64>() >= 2.0
    }

    /// The nearest value that the source can deliver, as far as is known.
    fn nearest(&self, c: f64) -> f64 {
        if self.is_switch() {
            return self.last;
        }
        let [low, high] = self.extremes;
        let c = if self.visits[0] >= 2.0 { c.max(low) } else { c };
        if self.visits[1] >= 2.0 { c.min(high) } else { c }
    }

    fn to_array(self) -> [f64; SAVED] {
        let [v0, v1, v2] = self.values;
        let [a0, a1, a2] = self.again;
        let ([e0, e1], [n0, n1], [t0, t1]) = (self.extremes, self.visits, self.is_there);
        [self.last, self.points, self.has_rested, v0, v1, v2, self.count, a0, a1, a2, e0, e1, n0, n1, t0, t1]
    }

    fn from_array(
        [last, points, has_rested, v0, v1, v2, count, a0, a1, a2, e0, e1, n0, n1, t0, t1]: [f64; SAVED],
    ) -> Self {
        Self {
            last,
            points,
            has_rested,
            values: [v0, v1, v2],
            count,
            again: [a0, a1, a2],
            extremes: [e0, e1],
            visits: [n0, n1],
            is_there: [t0, t1],
        }
    }
}

/// The ranges of all connected inputs of a group.
#[derive(Default)]
pub(super) struct Ranges {
    /// With the inputs.
    ranges: Vec<(usize, Range)>,
    /// Per subsystem.
    around: Vec<Around>,
}

/// Places among the ranges of what is around a subsystem.
#[derive(Clone, Default)]
struct Around {
    /// Of its inputs.
    inputs: Vec<usize>,
    /// Of the inputs that its outputs lead to.
    led: Vec<usize>,
}

impl Ranges {
    pub(super) fn new(system: &SystemView<'_>) -> Self {
        let is_connected = |j: &usize| system.coupling.sources(*j).next().is_some();
        let ranges: Vec<_> =
            system.inputs.iter().filter(is_connected).map(|j| (j, Range::default())).collect();
        let mut around = vec![Around::default(); system.layout.subsystems()];
        for (place, (j, _)) in ranges.iter().enumerate() {
            around[system.layout.input_owner(*j)].inputs.push(place);
            for (output, _) in system.coupling.sources(*j) {
                around[system.layout.output_owner(output)].led.push(place);
            }
        }
        Self { ranges, around }
    }

    /// Takes in the coupling signals at a point.
    pub(super) fn observe(&mut self, coupled: &[f64], external: &[f64]) {
        self.ranges.iter_mut().for_each(|(j, range)| range.observe(coupled[*j] - external[*j]));
    }

    /// Puts inputs back to what their sources can deliver. `outside` is the share of what comes from outside.
    pub(super) fn keep(&self, outside: impl Fn(usize) -> f64, u: &mut [f64]) {
        for (j, range) in &self.ranges {
            let r = outside(*j);
            u[*j] = range.nearest(u[*j] - r) + r;
        }
    }

    /// The same for switches alone, which stay as they are; where others are now is noted.
    pub(super) fn hold_switched(
        &mut self,
        outside: impl Fn(usize) -> f64,
        (coupled, external): (&[f64], &[f64]),
        u: &mut [f64],
    ) {
        for (j, range) in &mut self.ranges {
            if range.is_switch() {
                u[*j] = range.last + outside(*j);
            } else {
                range.last = coupled[*j] - external[*j];
            }
        }
    }

    /// Moves held inputs of subsystems that decide from where they look, so many halves of a step ahead, to the middle of the next step, without what
    /// comes from outside.
    pub(super) fn ask_ahead(&self, outside: impl Fn(usize) -> f64, halves: &[f64], u: &mut [f64]) {
        let has_switched = |place: &usize| self.ranges[*place].1.has_switched();
        for Around { inputs, led } in &self.around {
            if led.is_empty() || !led.iter().all(has_switched) {
                continue;
            }
            for (j, range) in inputs.iter().map(|place| &self.ranges[*place]) {
                let ahead = u[*j] - outside(*j) - range.last;
                u[*j] += (HALVES_TO_NEXT_MIDDLE / halves[*j] - 1.0) * ahead;
            }
        }
    }

    /// Whether all outputs of a subsystem switch.
    pub(super) fn decides(&self, i: usize) -> bool {
        let led = &self.around[i].led;
        !led.is_empty() && led.iter().all(|place| self.ranges[*place].1.is_switch())
    }

    /// Inputs that are held because their signals switch. What never changed does not.
    pub(super) fn switched(&self) -> Vec<usize> {
        let switches = |(_, range): &&(usize, Range)| range.is_switch() && range.count > 1.0;
        self.ranges.iter().filter(switches).map(|(j, _)| *j).collect()
    }

    pub(super) fn save(&self, out: &mut StateWriter) {
        self.ranges.iter().for_each(|(_, range)| out.reals(&range.to_array()));
    }

    pub(super) fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        for (_, range) in &mut self.ranges {
            let mut all = [0.0; SAVED];
            from.reals(&mut all)?;
            *range = Range::from_array(all);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(values: &[f64]) -> Range {
        let mut range = Range::default();
        values.iter().for_each(|value| range.observe(*value));
        range
    }

    #[test]
    fn switches_are_held() {
        let heater = seen(&[0.0, 0.0, 4e3]);
        assert_eq!((heater.nearest(9057.0), heater.nearest(-6114.0)), (4e3, 4e3));
        assert_eq!(seen(&[0.0, 4e3, 0.0, 4e3, 0.0, 4e3, 0.0, 4e3, 0.0]).nearest(4e3), 0.0);
        // What moves is left alone.
        assert_eq!(seen(&[0.0, 1.0, 2.0, 3.0, 4.0]).nearest(5.0), 5.0);
    }

    #[test]
    fn what_begins_to_move_has_not_switched() {
        assert!(seen(&[0.0, 0.0, 4e3, 4e3]).has_switched());
        assert!(seen(&[0.0, 4e3, 0.0, 4e3, 0.0, 4e3, 0.0, 4e3]).has_switched());
        assert!(!seen(&[0.0, 0.0, 0.1, 0.3]).has_switched());
        assert!(!seen(&[0.0, 0.0, 4e3]).has_switched());
    }

    #[test]
    fn who_decides_is_asked_for_the_middle_of_the_next_step() {
        // Input 0 is the heat of a room, input 1 the temperature that the thermostat sees.
        let asked = |heat: &[f64]| {
            let ranges = vec![(0, seen(heat)), (1, seen(&[19.0, 19.5, 20.0]))];
            let (room, thermostat) =
                (Around { inputs: vec![0], led: vec![1] }, Around { inputs: vec![1], led: vec![0] });
            let mut u = [4e3, 20.25 + 1.0];
            Ranges { ranges, around: vec![room, thermostat] }.ask_ahead(|j| j as f64, &[1.0; 2], &mut u);
            u
        };
        assert_eq!(asked(&[0.0, 0.0, 4e3, 4e3]), [4e3, 20.75 + 1.0]);
        assert_eq!(asked(&[0.0, 0.0, 0.1, 0.3]), [4e3, 20.25 + 1.0]);
    }

    #[test]
    fn limits_that_were_met_twice_are_not_passed() {
        let saturated = seen(&[0.0, 0.5, 1.0, 1.0, 0.4, 0.7, 1.0]);
        assert_eq!((saturated.nearest(1.3), saturated.nearest(-0.2)), (1.0, -0.2));
        // Once may be chance, and further out there is a new limit.
        assert_eq!(seen(&[0.0, 0.5, 1.0, 0.4, 0.7]).nearest(1.3), 1.3);
        assert_eq!(seen(&[0.0, 0.5, 1.0, 0.4, 1.0, 1.2]).nearest(1.3), 1.3);
    }

    #[test]
    fn what_was_saved_is_loaded() {
        let range = seen(&[0.0, 0.5, 1.0, 1.0, 0.4, 0.7, 1.0]);
        assert_eq!(Range::from_array(range.to_array()), range);
    }
}
