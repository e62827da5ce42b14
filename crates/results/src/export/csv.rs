//! Comma-separated values (RFC 4180, lines end with a line feed).

use std::fs::File;
use std::io::{self, BufWriter, Write};

use super::Failure;
use crate::stream::BatchStream;

/// Writes the selected columns.
pub(super) fn write(stream: &mut BatchStream, indices: &[usize], file: &File) -> Result<(), Failure> {
    let mut out = BufWriter::with_capacity(1 << 16, file);
    for (place, index) in indices.iter().enumerate() {
        separate(&mut out, place)?;
        write_name(&mut out, &stream.header().columns[*index].name)?;
    }
    out.write_all(b"\n")?;
    while let Some(batch) = stream.next_batch()? {
        let columns: Vec<_> = indices.iter().map(|index| batch.column(*index)).collect();
        for row in 0..batch.rows() {
            for (place, column) in columns.iter().enumerate() {
                separate(&mut out, place)?;
                write_number(&mut out, column.at(row))?;
            }
            out.write_all(b"\n")?;
        }
    }
    out.flush()?;
    Ok(())
}

fn separate(out: &mut impl Write, place: usize) -> io::Result<()> {
    if place > 0 { out.write_all(b",") } else { Ok(()) }
}

fn write_name(out: &mut impl Write, name: &str) -> io::Result<()> {
    match name.contains([',', '"', '\n', '\r']) {
        true => write!(out, "\"{}\"", name.replace('"', "\"\"")),
        false => out.write_all(name.as_bytes()),
    }
}

/// The fewest digits that give the same number again; Rust's plain form has no exponent, so that 1e300 would
/// have 301 digits.
fn write_number(out: &mut impl Write, value: f64) -> io::Result<()> {
    let plain = value == 0.0 || !value.is_finite() || (1e-5..1e16).contains(&value.abs());
    if plain { write!(out, "{value}") } else { write!(out, "{value:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: f64) -> String {
        let mut text = Vec::new();
        write_number(&mut text, value).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn numbers_are_short_and_come_back() {
        for (value, text) in [
            (1.0, "1"),
            (0.1, "0.1"),
            (-0.0, "-0"),
            (1e-5, "0.00001"),
            (9.5e-6, "9.5e-6"),
            (123456.789, "123456.789"),
            (1e16, "1e16"),
            (f64::MAX, "1.7976931348623157e308"),
            (5e-324, "5e-324"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(number(value), text);
            assert_eq!(text.parse::<f64>().unwrap().to_bits(), value.to_bits());
        }
        assert_eq!(number(f64::NAN), "NaN");
    }

    #[test]
    fn names_with_commas_are_quoted() {
        let mut text = Vec::new();
        write_name(&mut text, "a.x[1,2] \"y\"").unwrap();
        assert_eq!(text, b"\"a.x[1,2] \"\"y\"\"\"");
    }
}
