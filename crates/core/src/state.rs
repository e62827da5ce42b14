//! Bytes of a checkpoint: little-endian numbers and length-prefixed blocks.

use crate::{Code, Error, Result};

/// Collects the state of engine, methods and subsystems.
#[derive(Debug, Default)]
pub struct StateWriter {
    bytes: Vec<u8>,
    /// Where the real numbers are, if somebody wants to change some of them.
    marks: Option<Vec<usize>>,
}

impl StateWriter {
    /// One that keeps where the real numbers are, but for those inside blocks.
    pub fn marking() -> Self {
        Self { bytes: Vec::new(), marks: Some(Vec::new()) }
    }

    /// How many real numbers have been marked.
    pub fn marked(&self) -> usize {
        self.marks.as_ref().map_or(0, Vec::len)
    }

    /// Writes an integer.
    pub fn integer(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Writes a number, bit by bit.
    pub fn real(&mut self, value: f64) {
        if let Some(marks) = &mut self.marks {
            marks.push(self.bytes.len());
        }
        self.integer(value.to_bits());
    }

    /// Writes numbers with their count.
    pub fn reals(&mut self, values: &[f64]) {
        self.integer(values.len() as u64);
        for value in values {
            self.real(*value);
        }
    }

    /// Where the newest row of a ring is written: at the front if numbers are marked, so that each has the same meaning
    /// wherever the ring stands, else where it is.
    pub fn ring_start(&self, newest: usize) -> usize {
        if self.marks.is_some() { 0 } else { newest }
    }

    /// Writes the numbers of a ring with their count; if numbers are marked, from this one on.
    pub fn ring(&mut self, values: &[f64], newest: usize) {
        self.integer(values.len() as u64);
        let (end, start) = values.split_at(if self.marks.is_some() { newest } else { 0 });
        start.iter().chain(end).for_each(|value| self.real(*value));
    }

    /// Writes bytes with their count.
    pub fn block(&mut self, bytes: &[u8]) {
        self.integer(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }

    /// Everything written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Everything written, and where each of the marked numbers begins.
    pub fn into_marked(self) -> (Vec<u8>, Vec<usize>) {
        (self.bytes, self.marks.unwrap_or_default())
    }
}

/// Reads back what a [`StateWriter`] wrote, and trusts no length.
#[derive(Debug)]
pub struct StateReader<'a> {
    rest: &'a [u8],
}

impl<'a> StateReader<'a> {
    /// Reads from these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Reads an integer.
    pub fn integer(&mut self) -> Result<u64> {
        let (head, rest) = self.rest.split_first_chunk::<8>().ok_or_else(|| damaged("it ends too early"))?;
        self.rest = rest;
        Ok(u64::from_le_bytes(*head))
    }

    /// Reads an integer below a limit.
    pub fn index(&mut self, limit: usize) -> Result<usize> {
        let value = self.integer()?;
        usize::try_from(value)
            .ok()
            .filter(|value| *value < limit)
            .ok_or_else(|| damaged(&format!("{value} is not below {limit}")))
    }

    /// Reads a number.
    pub fn real(&mut self) -> Result<f64> {
        self.integer().map(f64::from_bits)
    }

    /// Reads as many numbers as there is room for; another count is an error.
    pub fn reals(&mut self, values: &mut [f64]) -> Result<()> {
        let count = self.integer()?;
        if count != values.len() as u64 {
            return Err(damaged(&format!("{count} numbers where {} are expected", values.len())));
        }
        for value in values {
            *value = self.real()?;
        }
        Ok(())
    }

    /// Reads a block of bytes.
    pub fn block(&mut self) -> Result<&'a [u8]> {
        let length = self.integer()?;
        let length = usize::try_from(length).ok().filter(|length| *length <= self.rest.len());
        let (block, rest) =
            self.rest.split_at(length.ok_or_else(|| damaged("a block is longer than the file"))?);
        self.rest = rest;
        Ok(block)
    }

    /// Checks that everything was read.
    pub fn finish(self) -> Result<()> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(damaged(&format!("{} bytes too many", self.rest.len())))
        }
    }
}

fn damaged(cause: &str) -> Error {
    Error::new(Code::CheckpointDamaged, "the saved state cannot be read").because(cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_bit_by_bit() {
        let mut out = StateWriter::default();
        out.reals(&[1.0, -0.0, f64::NAN]);
        out.block(b"abc");
        let bytes = out.into_bytes();
        let mut from = StateReader::new(&bytes);
        let mut values = [0.0; 3];
        from.reals(&mut values).unwrap();
        assert_eq!(values.map(f64::to_bits), [1.0, -0.0, f64::NAN].map(f64::to_bits));
        assert_eq!(from.block().unwrap(), b"abc");
        from.finish().unwrap();
    }

    #[test]
    fn real_numbers_are_marked_and_rings_then_begin_with_the_newest() {
        let mut plain = StateWriter::default();
        plain.ring(&[1.0, 2.0, 3.0], 1);
        let mut same = StateWriter::default();
        same.reals(&[1.0, 2.0, 3.0]);
        assert_eq!((plain.ring_start(1), plain.into_bytes()), (1, same.into_bytes()));
        let mut out = StateWriter::marking();
        out.integer(7);
        out.ring(&[1.0, 2.0, 3.0], 1);
        out.block(&[0; 16]);
        out.real(4.0);
        assert_eq!((out.marked(), out.ring_start(1)), (4, 0));
        let (bytes, marks) = out.into_marked();
        let number = |at: &usize| f64::from_le_bytes(bytes[*at..at + 8].try_into().unwrap());
        assert_eq!(marks.iter().map(number).collect::<Vec<_>>(), [2.0, 3.0, 1.0, 4.0]);
    }

    #[test]
    fn lengths_are_not_trusted() {
        let mut from = StateReader::new(&[255; 8]);
        assert_eq!(from.block().unwrap_err().code(), Code::CheckpointDamaged);
        assert!(StateReader::new(&[1; 7]).integer().is_err());
        assert!(StateReader::new(&[3, 0, 0, 0, 0, 0, 0, 0]).index(3).is_err());
    }
}
