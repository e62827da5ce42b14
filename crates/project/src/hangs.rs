//! FMUs that do not return from a call: what to write, and where, depends on where they are given and on what is inside.

use costep_core::quantity::{format_time, one_word};
use costep_core::{Code, Error, Place};
use costep_fmi::DEFAULT_TIMEOUT;

use crate::fmus::{FmuSpec, carries_python};
use crate::project::Project;

const CAUSES: &str = "it may be in a loop without end, or wait for a dialog, a licence or an answer";

/// What is only slow gets so many times as long.
const LONGER: f64 = 10.0;

impl Project {
    /// The error of an FMU that does not return, with how to see where it is, and where to give it more time; others as they are.
    pub fn say_how_to_wait(&self, error: Error) -> Error {
        if error.code() != Code::Hung {
            return error;
        }
        let Some(place) = self.given.fmus.iter().position(|fmu| is_about(&error, fmu)) else { return error };
        let fmu = &self.given.fmus[place];
        let limit = fmu.step_timeout.unwrap_or(DEFAULT_TIMEOUT.as_secs_f64());
        let see = is_python(fmu).then(|| {
            let early = short((0.5 * limit).max(1.0).floor());
            format!(
                "; `import faulthandler; faulthandler.dump_traceback_later({early})` at the top of its Python file prints where it is"
            )
        });
        let longer = match self.origin.fmus_at.get(place) {
            Some(Place::File { path, line: Some(line), .. })
                if path.extension().is_some_and(|end| end == "toml") =>
            {
                format!(
                    "`step_timeout = \"{}\"` in [fmu.{}], {}:{line}",
                    written(LONGER * limit),
                    fmu.name,
                    path.display()
                )
            }
            _ => format!("`--set fmu.{}.step_timeout={}`", fmu.name, one_word(&written(LONGER * limit))),
        };
        error.hint(format!("{CAUSES}{}; if it is only slow, write {longer}", see.unwrap_or_default()))
    }
}

impl Project {
    /// The error of an FMU that made NaN or infinity out of finite inputs, with where to look: other methods only change its inputs.
    pub fn say_where_to_look(&self, error: Error) -> Error {
        let Place::Run { signal: Some(signal), .. } = &error.details().place else { return error };
        let owner = signal.split('.').next().unwrap_or_default();
        let made_it = error.details().cause.as_deref().is_some_and(|cause| cause.contains(MADE_IT));
        if error.code() != Code::NotFinite || !made_it {
            return error;
        }
        let Some(fmu) = self.given.fmus.iter().find(|fmu| fmu.name == owner) else { return error };
        let log = match fmu.log == Some(true) {
            true => String::new(),
            false => format!("; `log = true` in [fmu.{owner}] shows all that it says"),
        };
        let hint = format!(
            "look at the inputs of `{owner}` before that time, `costep plot`: if they are unusual, `bounds` in [guard] on the \
             outputs that feed them end a run where that begins, and a smaller step may avoid it; if not, it comes from inside{log}"
        );
        error.hint(hint)
    }
}

/// What the guard of a run says of a part that made such a value itself.
const MADE_IT: &str = "its inputs were finite";

/// Whether an error names this FMU as the one that hangs.
fn is_about(error: &Error, fmu: &FmuSpec) -> bool {
    match &error.details().place {
        Place::Run { subsystem: Some(name), .. } => *name == fmu.name,
        _ => error.details().message.starts_with(&format!("`{}`", fmu.name)),
    }
}

fn is_python(fmu: &FmuSpec) -> bool {
    costep_fmu_file::Fmu::open(&fmu.path).is_ok_and(|fmu| carries_python(&fmu))
}

/// A time in the largest unit in which it is an integer: `10 min`.
fn written(seconds: f64) -> String {
    match seconds / 60.0 {
        minutes if minutes.fract() == 0.0 && minutes > 0.0 => format!("{} min", short(minutes)),
        _ => format_time(seconds),
    }
}

fn short(number: f64) -> String {
    costep_core::quantity::short_number(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_minutes_where_these_are_whole() {
        assert_eq!(
            (written(600.0), written(4.0), written(90.0)),
            ("10 min".into(), "4 s".into(), "90 s".into())
        );
    }
}
