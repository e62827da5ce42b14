//! A macro step of fixed length that a method has rejected, done in halves, quarters and so on: communication points of the
//! run stay where they are.

use costep_core::{Code, Error, Interval, Place, Result};

use super::Engine;
use super::step::Attempt;

/// A step is divided into 2^16 parts at most.
const MOST_HALVINGS: u32 = 16;

impl Engine {
    /// Goes over an interval that was rejected as a whole, from its start: halves are tried, and halves of those that are
    /// rejected again. Where each begins, the coupled inputs are formed anew.
    #[cold]
    pub(super) fn step_in_halves(&mut self, whole: Interval, mut shorter: f64) -> Result<()> {
        // The part to come is number `place` of 2^depth.
        let (mut place, mut depth) = (0, 0);
        loop {
            (place, depth) = self.halve(whole, (place, depth), shorter)?;
            loop {
                let piece = piece(whole, place, depth);
                match self.step_to_the_end_of(piece)? {
                    Attempt::Rejected { shorter: next } => {
                        shorter = next;
                        break;
                    }
                    Attempt::Accepted => {}
                }
                place += 1;
                while place % 2 == 0 && depth > 0 {
                    (place, depth) = (place / 2, depth - 1);
                }
                if depth == 0 {
                    return Ok(());
                }
                self.begin_part(self::piece(whole, place, depth))?;
            }
        }
    }

    /// The first part of the one that was rejected that is short enough.
    fn halve(&mut self, whole: Interval, (place, depth): (usize, u32), shorter: f64) -> Result<(usize, u32)> {
        let rejected = self.ledger.now;
        let (mut place, mut depth) = (2 * place, depth + 1);
        while piece(whole, place, depth).length > shorter && depth < MOST_HALVINGS {
            (place, depth) = (2 * place, depth + 1);
        }
        let part = piece(whole, place, depth);
        if depth >= MOST_HALVINGS {
            let message = format!("a step of {} s was halved {depth} times without success", whole.length);
            let at = Place::Run { subsystem: None, signal: None, time: rejected.t, step: rejected.k };
            return Err(Error::new(Code::Repeats, message).at(at));
        }
        if let Some(fixed) = self.plan.descriptions.iter().find(|of| !of.can_step_by(part.length)) {
            let message =
                format!("the step has to be halved, but `{}` cannot do one of {} s", fixed.name, part.length);
            return Err(Error::new(Code::NeedsMissing, message).hint("choose a smaller step for the run"));
        }
        self.ledger.now = rejected.over(part);
        self.exchange.sample_externals(&self.plan, &part);
        Ok((place, depth))
    }

    /// The coupled inputs at the start of a part that follows another one.
    fn begin_part(&mut self, part: Interval) -> Result<()> {
        self.exchange.sample_externals(&self.plan, &part);
        self.look_around()?;
        self.ledger.set_out(part, self.exchange.last_length);
        Ok(())
    }
}

/// Part `place` of 2^depth. The last one ends where the whole does, bit for bit.
fn piece(whole: Interval, place: usize, depth: u32) -> Interval {
    let parts = 1 << depth;
    let piece = whole.piece(place, parts);
    if place + 1 == parts { Interval { end: whole.end, ..piece } } else { piece }
}
