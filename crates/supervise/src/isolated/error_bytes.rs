//! Errors as bytes, on their way from one process to another.

use costep_core::{Code, Error, Place, StateReader, StateWriter};

/// Bytes kept of a text.
const TEXT: usize = 8 << 10;

/// An error as bytes; long texts are cut.
pub(super) fn write_error(error: &Error) -> Vec<u8> {
    let details = error.details();
    let mut out = StateWriter::default();
    text(&mut out, error.code().entry().id);
    text(&mut out, &details.message);
    for part in [&details.cause, &details.hint] {
        out.integer(part.is_some().into());
        text(&mut out, part.as_deref().unwrap_or_default());
    }
    match &details.place {
        Place::Nowhere => out.integer(0),
        Place::File { path, .. } => {
            out.integer(1);
            text(&mut out, &path.to_string_lossy());
        }
        Place::Run { signal, time, step, .. } => {
            out.integer(2);
            text(&mut out, signal.as_deref().unwrap_or_default());
            out.real(*time);
            out.integer(*step);
        }
    }
    out.into_bytes()
}

fn text(out: &mut StateWriter, text: &str) {
    let mut end = text.len().min(TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    out.block(&text.as_bytes()[..end]);
}

/// The error that these bytes are.
pub(super) fn read_error(bytes: &[u8]) -> Error {
    try_read(bytes).unwrap_or_else(|_| {
        // The FMU has written over it.
        Error::new(Code::SubsystemFailed, "its process gave an error that cannot be read")
            .because("something in that process has written to memory that is not its own")
    })
}

fn try_read(bytes: &[u8]) -> costep_core::Result<Error> {
    let mut from = StateReader::new(bytes);
    let read =
        |from: &mut StateReader<'_>| from.block().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let code = Code::of(&read(&mut from)?).unwrap_or(Code::Bug);
    let mut error = Error::new(code, read(&mut from)?);
    let has_cause = from.index(2)? == 1;
    let cause = read(&mut from)?;
    if has_cause {
        error = error.because(cause);
    }
    let has_hint = from.index(2)? == 1;
    let hint = read(&mut from)?;
    if has_hint {
        error = error.hint(hint);
    }
    Ok(match from.index(3)? {
        0 => error,
        1 => error.in_file(read(&mut from)?),
        _ => {
            let signal = Some(read(&mut from)?).filter(|signal| !signal.is_empty());
            error.at(Place::Run { subsystem: None, signal, time: from.real()?, step: from.integer()? })
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_come_over_whole() {
        let plain = Error::new(Code::FmuDiscard, "no");
        let full = Error::new(Code::SubsystemFailed, "`a`: ä").because("b").hint("c").in_file("d.fmu");
        let place = Place::Run { subsystem: None, signal: Some("a.y".into()), time: 0.1, step: 3 };
        let moment = Error::new(Code::NotFinite, "it is not a number").at(place);
        for error in [plain, full, moment] {
            assert_eq!(read_error(&write_error(&error)), error);
        }
        let long = Error::new(Code::SubsystemFailed, "ä".repeat(TEXT));
        assert_eq!(read_error(&write_error(&long)).details().message.len(), TEXT);
        assert_eq!(read_error(&[255; 100]).code(), Code::SubsystemFailed);
    }
}
