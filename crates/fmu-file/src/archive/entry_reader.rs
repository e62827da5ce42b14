//! The data of one entry as a stream that trusts nothing: neither the size nor the end of the packed data.

use std::io::{self, BufReader, Read, SeekFrom, Take};

use costep_core::{Code, Error};
use flate2::bufread::DeflateDecoder;

use super::Source;
use super::name;
use super::records::{Method, Record};

type Packed<'a> = BufReader<Take<&'a mut dyn Source>>;

enum Decoder<'a> {
    Stored(Packed<'a>),
    Deflated(DeflateDecoder<Packed<'a>>),
}

/// Reads the unpacked data of an entry and checks its length and checksum.
pub(crate) struct EntryReader<'a> {
    decoder: Decoder<'a>,
    record: &'a Record,
    unpacked: u64,
    crc: crc32fast::Hasher,
    checked: bool,
}

impl<'a> EntryReader<'a> {
    pub(crate) fn new(source: &'a mut dyn Source, record: &'a Record) -> io::Result<Self> {
        source.seek(SeekFrom::Start(record.data))?;
        let packed = BufReader::with_capacity(1 << 16, source.take(record.packed));
        let decoder = match record.method {
            Method::Stored => Decoder::Stored(packed),
            Method::Deflated => Decoder::Deflated(DeflateDecoder::new(packed)),
        };
        Ok(Self { decoder, record, unpacked: 0, crc: crc32fast::Hasher::new(), checked: false })
    }

    fn damaged(&self, what: &str) -> io::Error {
        let name = name::shown(&self.record.name);
        let message = format!("the entry `{name}` is damaged: {what}");
        let place = format!("its data starts at byte {} of the file", self.record.data);
        io::Error::other(Error::new(Code::ArchiveDamaged, message).because(place))
    }

    /// At the end of the data: is it all there, and is it what was packed?
    fn check_end(&self) -> io::Result<()> {
        if self.unpacked != self.record.size {
            return Err(self.damaged(&format!(
                "it has {} bytes instead of the {} announced",
                self.unpacked, self.record.size
            )));
        }
        if let Decoder::Deflated(decoder) = &self.decoder
            && decoder.total_in() != self.record.packed
        {
            return Err(self.damaged("its packed data ends early"));
        }
        if self.crc.clone().finalize() != self.record.crc {
            return Err(self.damaged("its checksum differs"));
        }
        Ok(())
    }
}

impl Read for EntryReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let count = match &mut self.decoder {
            Decoder::Stored(packed) => packed.read(buffer)?,
            Decoder::Deflated(decoder) => match decoder.read(buffer) {
                Ok(count) => count,
                Err(cause)
                    if matches!(cause.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData) =>
                {
                    return Err(self.damaged("it cannot be unpacked"));
                }
                Err(cause) if cause.kind() == io::ErrorKind::UnexpectedEof => {
                    return Err(self.damaged("its packed data is cut"));
                }
                Err(cause) => return Err(cause),
            },
        };
        self.unpacked += count as u64;
        if self.unpacked > self.record.size {
            return Err(self.damaged(&format!("it is longer than the {} bytes announced", self.record.size)));
        }
        self.crc.update(&buffer[..count]);
        if count == 0 && !self.checked {
            self.check_end()?;
            self.checked = true;
        }
        Ok(count)
    }
}
