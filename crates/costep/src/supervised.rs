//! A run in a process that is supervised by another one shows it how far it is, keeps its last rows where
//! the other can read them, and stops when the other says so. In a process of its own nothing of this
//! happens.

pub(crate) use system::{Calls, check_stop, is_watched, keep_row, obey, show_checkpoint, show_verification};

#[cfg(not(target_os = "linux"))]
mod system {
    use costep_core::Result;
    use costep_engine::Engine;

    pub(crate) fn is_watched() -> bool {
        false
    }

    pub(crate) fn keep_row(_number: u64, _row: &[f64]) {}

    pub(crate) fn show_checkpoint(_time: f64) {}

    pub(crate) fn show_verification() {}

    pub(crate) struct Calls;

    impl Calls {
        pub(crate) fn new() -> Self {
            Self
        }

        pub(crate) fn look(&mut self) {}

        pub(crate) fn unreturned(&self) -> Option<costep_core::Error> {
            None
        }
    }

    pub(crate) fn obey(_engine: &Engine) -> Result<()> {
        Ok(())
    }

    pub(crate) fn check_stop() -> Result<()> {
        Ok(())
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::time::Duration;

    use costep_core::quantity::format_limit;
    use costep_core::{Code, Error, Place, Result};
    use costep_engine::Engine;
    use costep_supervise::watched;

    /// Whether another process watches this one, which has FMUs in it.
    pub(crate) fn is_watched() -> bool {
        watched().is_some()
    }

    /// Keeps a row of the recording in case this process dies.
    pub(crate) fn keep_row(number: u64, row: &[f64]) {
        if let Some(watched) = watched() {
            watched.keep_row(number, row);
        }
    }

    /// Tells the process that watches of a checkpoint.
    pub(crate) fn show_checkpoint(time: f64) {
        if let Some(watched) = watched() {
            watched.show_checkpoint(time);
        }
    }

    /// Shows how far the run is; an error if it is to stop.
    #[inline(always)]
    pub(crate) fn obey(engine: &Engine) -> Result<()> {
        let Some(watched) = watched() else { return Ok(()) };
        watched.show_progress(engine.k(), engine.time());
        if watched.is_asked_to_stop() { Err(stopped(engine)) } else { Ok(()) }
    }

    /// An error if what is done before or after the run is to stop.
    pub(crate) fn check_stop() -> Result<()> {
        match watched() {
            Some(watched) if watched.is_asked_to_stop() => {
                Err(Error::new(Code::Stopped, "stopped by the user"))
            }
            _ => Ok(()),
        }
    }

    /// Tells the process that watches that the run is complete, and what follows is done to judge it.
    pub(crate) fn show_verification() {
        if let Some(watched) = watched() {
            watched.show_verification();
        }
    }

    /// The calls of FMUs, as looks now and then show them.
    pub(crate) struct Calls(Option<costep_supervise::Calls>);

    impl Calls {
        pub(crate) fn new() -> Self {
            Self(watched().map(|watched| watched.calls()))
        }

        pub(crate) fn look(&mut self) {
            self.0.iter_mut().for_each(costep_supervise::Calls::look);
        }

        /// The error that an FMU does not return, if one has been in its call for far too long.
        pub(crate) fn unreturned(&self) -> Option<Error> {
            let (fmu, time) = self.0.as_ref()?.overlong()?;
            let time = format_limit(Duration::from_secs(time.as_secs()));
            let message = format!("`{}` in {} did not return within {time}", fmu.name, fmu.call);
            Some(Error::new(Code::Hung, message))
        }
    }

    #[cold]
    fn stopped(engine: &Engine) -> Error {
        let place = Place::Run { subsystem: None, signal: None, time: engine.time(), step: engine.k() };
        Error::new(Code::Stopped, "stopped by the user").at(place)
    }
}
