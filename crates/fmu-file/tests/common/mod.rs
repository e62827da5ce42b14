//! What the tests share: a writer of zip archives that can lie everywhere, and two small FMUs.
#![allow(dead_code, reason = "each test program uses another part")]

pub(crate) mod archive_cases;
pub(crate) mod finding_cases;
pub(crate) mod xml;
pub(crate) mod xml_cases;

use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;

/// A pseudo-random number generator (xorshift64), so that a failure comes again.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

pub(crate) fn deflate(data: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// What the headers of an entry say.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub(crate) name: Vec<u8>,
    pub(crate) flags: u16,
    pub(crate) method: u16,
    pub(crate) crc: u32,
    pub(crate) packed: u32,
    pub(crate) size: u32,
    pub(crate) extra: Vec<u8>,
}

/// An entry; the two headers and the data may contradict each other.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) local: Header,
    pub(crate) central: Header,
    pub(crate) data: Vec<u8>,
    /// Bytes between the data and the next entry.
    pub(crate) behind: Vec<u8>,
    pub(crate) made_by: u16,
    pub(crate) external: u32,
    /// Offset in the directory, if not the real one.
    pub(crate) offset: Option<u32>,
}

impl File {
    fn new(name: &str, content: &[u8], method: u16, data: Vec<u8>) -> Self {
        let header = Header {
            name: name.as_bytes().to_vec(),
            flags: 1 << 11,
            method,
            crc: crc32fast::hash(content),
            packed: data.len() as u32,
            size: content.len() as u32,
            extra: Vec::new(),
        };
        let (made_by, external) = (3 << 8 | 20, 0o100_644 << 16);
        Self {
            local: header.clone(),
            central: header,
            data,
            behind: Vec::new(),
            made_by,
            external,
            offset: None,
        }
    }

    pub(crate) fn stored(name: &str, content: impl AsRef<[u8]>) -> Self {
        Self::new(name, content.as_ref(), 0, content.as_ref().to_vec())
    }

    pub(crate) fn deflated(name: &str, content: impl AsRef<[u8]>) -> Self {
        Self::new(name, content.as_ref(), 8, deflate(content.as_ref()))
    }

    /// Changes both headers alike.
    pub(crate) fn both(mut self, change: impl Fn(&mut Header)) -> Self {
        change(&mut self.local);
        change(&mut self.central);
        self
    }

    pub(crate) fn mode(mut self, mode: u32) -> Self {
        self.external = mode << 16;
        self
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// The sizes only behind the data, as written by tools that do not know them before.
    pub(crate) fn streamed(mut self, marked: bool) -> Self {
        self.local.flags |= 1 << 3;
        self.central.flags |= 1 << 3;
        (self.local.crc, self.local.packed, self.local.size) = (0, 0, 0);
        if marked {
            self.behind.extend(b"PK\x07\x08");
        }
        for value in [self.central.crc, self.central.packed, self.central.size] {
            self.behind.extend(value.to_le_bytes());
        }
        self
    }
}

/// An archive.
#[derive(Clone, Debug, Default)]
pub(crate) struct Zip {
    pub(crate) files: Vec<File>,
    pub(crate) comment: Vec<u8>,
}

impl Zip {
    pub(crate) fn new(files: impl IntoIterator<Item = File>) -> Self {
        Self { files: files.into_iter().collect(), comment: Vec::new() }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut directory = Vec::new();
        for file in &self.files {
            let offset = file.offset.unwrap_or(bytes.len() as u32);
            let Header { name, flags, method, crc, packed, size, extra } = &file.local;
            bytes.extend(b"PK\x03\x04");
            put16(&mut bytes, &[20, *flags, *method, 0, 0x21]);
            put32(&mut bytes, &[*crc, *packed, *size]);
            put16(&mut bytes, &[name.len() as u16, extra.len() as u16]);
            bytes.extend(name);
            bytes.extend(extra);
            bytes.extend(&file.data);
            bytes.extend(&file.behind);

            let Header { name, flags, method, crc, packed, size, extra } = &file.central;
            directory.extend(b"PK\x01\x02");
            put16(&mut directory, &[file.made_by, 20, *flags, *method, 0, 0x21]);
            put32(&mut directory, &[*crc, *packed, *size]);
            put16(&mut directory, &[name.len() as u16, extra.len() as u16, 0, 0, 0]);
            put32(&mut directory, &[file.external, offset]);
            directory.extend(name);
            directory.extend(extra);
        }
        let start = bytes.len() as u32;
        bytes.extend(&directory);
        bytes.extend(end_record(self.files.len() as u16, directory.len() as u32, start, &self.comment));
        bytes
    }
}

pub(crate) fn end_record(entries: u16, size: u32, start: u32, comment: &[u8]) -> Vec<u8> {
    let mut bytes = b"PK\x05\x06".to_vec();
    put16(&mut bytes, &[0, 0, entries, entries]);
    put32(&mut bytes, &[size, start]);
    put16(&mut bytes, &[comment.len() as u16]);
    bytes.extend(comment);
    bytes
}

fn put16(bytes: &mut Vec<u8>, values: &[u16]) {
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
}

fn put32(bytes: &mut Vec<u8>, values: &[u32]) {
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
}

/// The folder of binaries for this platform.
pub(crate) fn here(version: u32) -> String {
    match (version, costep_fmu_file::this_platform().as_str()) {
        (2, "x86_64-linux") => "linux64".into(),
        (2, "x86_64-windows") => "win64".into(),
        (2, "x86_64-darwin") => "darwin64".into(),
        (_, other) => other.into(),
    }
}

/// The entry of the shared library for this platform.
pub(crate) fn library(version: u32, identifier: &str) -> String {
    format!("binaries/{}/{identifier}{}", here(version), std::env::consts::DLL_SUFFIX)
}

/// A whole FMU with this description and the model identifier `Engine`.
pub(crate) fn fmu(version: u32, description: &str) -> Zip {
    Zip::new([
        File::deflated("modelDescription.xml", description),
        File::stored(&library(version, "Engine"), b"not really a library"),
        File::stored("resources/map.txt", b"1 2 3\n"),
        File::deflated("sources/all.c", b"int main(void) { return 0; }\n"),
    ])
}
