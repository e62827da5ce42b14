//! What a checkpoint keeps.

use costep_core::{Result, StateReader, StateWriter};

use super::Identified;
use super::phases::LearningPhase;

/// Counters beyond this are damage.
pub(super) const MAX_COUNT: usize = 1 << 53;

impl Identified {
    pub(super) fn write(&self, out: &mut StateWriter) {
        for part in &self.parts {
            part.reference.save(out);
            part.fine.save(out);
            part.coarse.save(out);
            part.kept.iter().for_each(|bank| bank.save(out));
            part.record.save(out);
            out.reals(&part.affine.direct);
        }
        self.guards.fine.save(out);
        self.guards.coarse.save(out);
        out.reals(&self.u_last);
        out.reals(&self.u);
        self.begin.save(out);
        out.reals(self.law.halves());
        self.outside.save(out);
        self.excitation.save(out);
        self.alarm.save(out);
        self.ranges.save(out);
        if self.ladder.is_used {
            self.ladder.save(out);
            self.parts.iter().for_each(|part| out.integer(u64::from(part.teaches)));
        }
        self.whole_steps.save(out);
        let (phase, left) = match self.course.phase {
            LearningPhase::Quiet => (0, 0),
            LearningPhase::Small => (1, 0),
            LearningPhase::Between(left) => (2, left),
            LearningPhase::Large => (3, 0),
        };
        [
            phase,
            left,
            self.clock.macro_step,
            self.course.trusted,
            self.course.small_steps,
            self.course.next_trial,
            self.course.returns,
            self.course.alarms,
        ]
        .iter()
        .for_each(|x| out.integer(*x));
        [self.clock.macro_start, self.clock.last_length, self.clock.arrived]
            .iter()
            .for_each(|x| out.real(*x));
    }

    pub(super) fn read(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        for part in &mut self.parts {
            part.reference.load(from)?;
            part.fine.load(from)?;
            part.coarse.load(from)?;
            part.kept.iter_mut().try_for_each(|bank| bank.load(from))?;
            part.record.load(from)?;
            from.reals(&mut part.affine.direct)?;
        }
        self.guards.fine.load(from)?;
        self.guards.coarse.load(from)?;
        from.reals(&mut self.u_last)?;
        from.reals(&mut self.u)?;
        self.begin.load(from)?;
        from.reals(self.law.halves_mut())?;
        self.outside.load(from)?;
        self.excitation.load(from)?;
        self.alarm.load(from)?;
        self.ranges.load(from)?;
        if self.ladder.is_used {
            self.ladder.load(from)?;
            for part in &mut self.parts {
                part.teaches = from.index(2)? == 1;
            }
        }
        self.whole_steps.load(from)?;
        let (phase, left) = (from.index(4)?, from.index(self.settings.tuning.start.transition + 1)? as u64);
        self.course.phase =
            [LearningPhase::Quiet, LearningPhase::Small, LearningPhase::Between(left), LearningPhase::Large]
                [phase];
        for count in [
            &mut self.clock.macro_step,
            &mut self.course.trusted,
            &mut self.course.small_steps,
            &mut self.course.next_trial,
            &mut self.course.returns,
            &mut self.course.alarms,
        ] {
            *count = from.index(MAX_COUNT)? as u64;
        }
        self.clock.macro_start = from.real()?;
        self.clock.last_length = from.real()?;
        self.clock.arrived = from.real()?;
        Ok(())
    }
}
