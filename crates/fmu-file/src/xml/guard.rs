//! Between the document and the XML parser: counts lines, and stops the parser before one piece of markup, or
//! the document, takes too much memory.

use std::io::{self, BufRead, Read};

use costep_core::{Code, Error};

use crate::limits::Limits;

/// A buffered reader with two budgets.
pub(crate) struct Guard<R> {
    inner: R,
    buffer: Box<[u8]>,
    next: usize,
    filled: usize,
    /// Line feeds before the next byte.
    lines: u32,
    token: usize,
    token_limit: usize,
    document: u64,
    document_limit: u64,
}

impl<R: Read> Guard<R> {
    pub(crate) fn new(inner: R, limits: &Limits) -> Self {
        Self {
            inner,
            buffer: vec![0; 1 << 16].into(),
            next: 0,
            filled: 0,
            lines: 0,
            token: 0,
            token_limit: limits.token,
            document: 0,
            document_limit: limits.document,
        }
    }

    /// Says that a new piece of markup starts, and on which line, counted from 1.
    pub(crate) fn start_token(&mut self) -> u32 {
        self.token = 0;
        self.lines.saturating_add(1)
    }

    fn over(what: &str, limit: u64) -> io::Error {
        let message = format!("the document has {what} of more than {limit} bytes");
        io::Error::other(Error::new(Code::XmlRefused, message))
    }
}

impl<R: Read> Read for Guard<R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let count = available.len().min(target.len());
        target[..count].copy_from_slice(&available[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl<R: Read> BufRead for Guard<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.token > self.token_limit {
            return Err(Self::over("one tag, text or comment", self.token_limit as u64));
        }
        if self.next == self.filled {
            self.next = 0;
            self.filled = 0;
            self.filled = self.inner.read(&mut self.buffer)?;
            self.document += self.filled as u64;
            if self.document > self.document_limit {
                return Err(Self::over("a size", self.document_limit));
            }
        }
        Ok(&self.buffer[self.next..self.filled])
    }

    fn consume(&mut self, amount: usize) {
        let end = (self.next + amount).min(self.filled);
        let consumed = &self.buffer[self.next..end];
        let lines = consumed.iter().filter(|byte| **byte == b'\n').count();
        self.lines = self.lines.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
        self.token = self.token.saturating_add(consumed.len());
        self.next = end;
    }
}
