//! What a subsystem can do, as its process says once, when it is ready.

use std::sync::{Mutex, PoisonError};

use costep_core::{
    Code, Error, Linearisation, MicroSampling, ModelOrigin, Result, StateReader, StateWriter, StepLengths,
    Subsystem,
};

/// Most diagnostic numbers of a subsystem: there is no room for more.
pub(super) const MOST_DIAGNOSTICS: usize = 16;

/// Names of diagnostics. There are few of them, equal ones are kept once, and they live as long as the program.
static NAMES: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

/// The handles of a subsystem and what they say that never changes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Facts {
    pub(super) rollback: bool,
    pub(super) linearised: Option<LinearFacts>,
    pub(super) sampling: Option<MicroSampling>,
    pub(super) persistence: bool,
    /// Names of the diagnostics, if there is telemetry.
    pub(super) telemetry: Option<Vec<&'static str>>,
    pub(super) input_order: usize,
    pub(super) step_lengths: StepLengths,
}

/// What its linearisation says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LinearFacts {
    pub(super) level: Linearisation,
    pub(super) states: usize,
    pub(super) origin: ModelOrigin,
}

impl Facts {
    /// Those of a subsystem.
    pub(super) fn of(subsystem: &mut dyn Subsystem) -> Result<Self> {
        let linearised = subsystem.linearised().map(|handle| LinearFacts {
            level: handle.level(),
            states: handle.states(),
            origin: handle.origin(),
        });
        let names = subsystem.telemetry().map(|telemetry| telemetry.diagnostic_names().to_vec());
        if names.as_ref().is_some_and(|names| names.len() > MOST_DIAGNOSTICS) {
            let message = format!("`{}` has too many diagnostics", subsystem.description().name);
            return Err(Error::new(Code::Bug, message));
        }
        Ok(Self {
            rollback: subsystem.rollback().is_some(),
            linearised,
            sampling: subsystem.micro_recorder().map(|handle| handle.sampling()),
            persistence: subsystem.persistence().is_some(),
            telemetry: names,
            input_order: subsystem.description().input_order,
            step_lengths: subsystem.description().step_lengths,
        })
    }

    /// Its number of states.
    pub(super) fn states(&self) -> usize {
        self.linearised.map_or(0, |linear| linear.states)
    }

    pub(super) fn write(&self) -> Vec<u8> {
        let mut out = StateWriter::default();
        out.integer(self.rollback.into());
        out.integer(self.persistence.into());
        out.integer(self.input_order as u64);
        let (lengths, inner) = match self.step_lengths {
            StepLengths::Any => (0, 0.0),
            StepLengths::MultiplesOf(inner) => (1, inner),
            StepLengths::MacroSteps => (2, 0.0),
        };
        out.integer(lengths);
        out.real(inner);
        out.integer(match self.sampling {
            None => 0,
            Some(MicroSampling::Start) => 1,
            Some(MicroSampling::End) => 2,
            Some(MicroSampling::Continuous) => 3,
        });
        out.integer(self.linearised.is_some().into());
        if let Some(LinearFacts { level, states, origin }) = self.linearised {
            out.integer(level as u64);
            out.integer(states as u64);
            out.integer((origin == ModelOrigin::Differences).into());
        }
        out.integer(self.telemetry.is_some().into());
        if let Some(names) = &self.telemetry {
            out.integer(names.len() as u64);
            names.iter().for_each(|name| out.block(name.as_bytes()));
        }
        out.into_bytes()
    }

    /// Reads them as another process wrote them.
    pub(super) fn read(bytes: &[u8]) -> Result<Self> {
        let mut reader = StateReader::new(bytes);
        let from = &mut reader;
        let (rollback, persistence) = (from.index(2)? == 1, from.index(2)? == 1);
        let input_order = usize::try_from(from.integer()?).unwrap_or(usize::MAX);
        let step_lengths = match (from.index(3)?, from.real()?) {
            (0, _) => StepLengths::Any,
            (1, inner) if inner.is_finite() && inner > 0.0 => StepLengths::MultiplesOf(inner),
            _ => StepLengths::MacroSteps,
        };
        let sampling = match from.index(4)? {
            0 => None,
            1 => Some(MicroSampling::Start),
            2 => Some(MicroSampling::End),
            _ => Some(MicroSampling::Continuous),
        };
        let linearised = if from.index(2)? == 1 { Some(read_linear(from)?) } else { None };
        let telemetry = if from.index(2)? == 1 { Some(read_names(from)?) } else { None };
        reader.finish()?;
        Ok(Self { rollback, linearised, sampling, persistence, telemetry, input_order, step_lengths })
    }
}

fn read_linear(from: &mut StateReader<'_>) -> Result<LinearFacts> {
    let level = match from.index(3)? {
        0 => Linearisation::None,
        1 => Linearisation::Feedthrough,
        _ => Linearisation::Full,
    };
    let states = usize::try_from(from.integer()?).unwrap_or(usize::MAX);
    let origin = if from.index(2)? == 1 { ModelOrigin::Differences } else { ModelOrigin::Exact };
    Ok(LinearFacts { level, states, origin })
}

fn read_names(from: &mut StateReader<'_>) -> Result<Vec<&'static str>> {
    let count = from.index(MOST_DIAGNOSTICS + 1)?;
    (0..count).map(|_| from.block().map(|name| kept(&String::from_utf8_lossy(name)))).collect()
}

fn kept(name: &str) -> &'static str {
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    match names.iter().find(|known| **known == name) {
        Some(known) => known,
        None => {
            let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
            names.push(name);
            name
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_come_over_whole() {
        let plain = Facts {
            rollback: false,
            linearised: None,
            sampling: None,
            persistence: false,
            telemetry: None,
            input_order: usize::MAX,
            step_lengths: StepLengths::Any,
        };
        let full = Facts {
            rollback: true,
            linearised: Some(LinearFacts {
                level: Linearisation::Full,
                states: 3,
                origin: ModelOrigin::Differences,
            }),
            sampling: Some(MicroSampling::Continuous),
            persistence: true,
            telemetry: Some(vec!["solver.order", "solver.step"]),
            input_order: 2,
            step_lengths: StepLengths::MultiplesOf(1e-5),
        };
        for facts in [plain, full] {
            let bytes = facts.write();
            assert_eq!(Facts::read(&bytes).unwrap(), facts);
            assert!((0..bytes.len()).all(|length| Facts::read(&bytes[..length]).is_err()));
        }
    }

    #[test]
    fn names_are_kept_once() {
        assert!(std::ptr::eq(kept("solver.order"), kept(&String::from("solver.order"))));
    }
}
