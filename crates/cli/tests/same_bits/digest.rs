//! Digests of what a run leaves: the columns of its recording, and its last checkpoint.

use std::fs;
use std::hint::black_box;
use std::path::Path;

use costep_results::Table;

/// FNV-1a with 64 bits: a digest that is the same everywhere, not one that withstands an adversary.
pub(crate) struct Fnv(u64);

impl Fnv {
    pub(crate) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// Bytes with their count, so that what belongs to one item cannot pass to the next.
    fn item(&mut self, bytes: &[u8]) {
        self.bytes(&(bytes.len() as u64).to_le_bytes());
        self.bytes(bytes);
    }

    fn real(&mut self, value: f64) {
        self.bytes(&value.to_bits().to_le_bytes());
    }

    pub(crate) fn value(&self) -> u64 {
        self.0
    }

    /// All bits folded into 16: enough to say which of several items differs.
    fn short(&self) -> u16 {
        let half = (self.0 ^ (self.0 >> 32)) as u32;
        (half ^ (half >> 16)) as u16
    }
}

/// The digest of many items, and a short one of each.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Digests {
    pub(crate) whole: u64,
    pub(crate) items: Vec<u16>,
}

impl Digests {
    fn of(items: impl IntoIterator<Item = Fnv>) -> Self {
        let (mut whole, mut short) = (Fnv::new(), Vec::new());
        for item in items {
            whole.bytes(&item.value().to_le_bytes());
            short.push(item.short());
        }
        Self { whole: whole.value(), items: short }
    }
}

/// What the items of a checkpoint are called.
pub(crate) const BLOCKS: [&str; 3] = ["identity", "state", "notes"];

/// What a run left.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Bits {
    pub(crate) exit: i32,
    pub(crate) rows: usize,
    /// The first item is what the recording says of itself, each other a column.
    pub(crate) recording: Digests,
    /// Empty without a checkpoint: not all FMUs can store their state.
    pub(crate) checkpoint: Digests,
}

/// What is in the folder of a run, and the names of the columns. `home` is where its project is.
pub(crate) fn of_run(folder: &Path, home: &Path, exit: i32) -> (Bits, Vec<String>) {
    let table = Table::open(&folder.join("results.arrows")).unwrap();
    assert!(table.complete(), "{}: {:?}", folder.display(), table.damage());
    let mut about = Fnv::new();
    for (key, value) in table.metadata() {
        // The project is a part of the checkpoint's identity as well, and names files.
        if !["costep", "project", "origin"].contains(&key.as_str()) {
            about.item(key.as_bytes());
            about.item(value.as_bytes());
        }
    }
    let columns = table.columns().iter().map(|column| {
        let mut digest = Fnv::new();
        digest.item(column.name.as_bytes());
        digest.item(column.unit.as_deref().unwrap_or_default().as_bytes());
        table.values(&column.name).unwrap().iter().for_each(|value| digest.real(*value));
        digest
    });
    let recording = Digests::of(std::iter::once(about).chain(columns));
    let checkpoint = match fs::read(folder.join("checkpoint")) {
        Ok(bytes) => of_checkpoint(&bytes, home),
        Err(_) => Digests::default(),
    };
    let names = table.columns().iter().map(|column| column.name.clone()).collect();
    (Bits { exit, rows: table.rows(), recording, checkpoint }, names)
}

/// A checkpoint: magic and version, then three blocks with their lengths, then a checksum.
fn of_checkpoint(bytes: &[u8], home: &Path) -> Digests {
    let (head, mut rest) = bytes.split_at(16);
    let mut digests = Vec::new();
    for block in BLOCKS {
        let (length, behind) = rest.split_first_chunk::<8>().unwrap();
        let (content, behind) = behind.split_at(u64::from_le_bytes(*length) as usize);
        rest = behind;
        let mut digest = Fnv::new();
        if block == "identity" {
            digest.item(head);
            digest.item(portable(content, home).as_bytes());
        } else {
            digest.item(content);
        }
        digests.push(digest);
    }
    assert_eq!(rest.len(), 4, "a checksum of 32 bits is at the end");
    Digests::of(digests)
}

/// The identity of a run without what differs between machines and builds: folders, and checksums of FMUs,
/// which hold a library.
fn portable(identity: &[u8], home: &Path) -> String {
    let text = String::from_utf8(identity.to_vec()).unwrap();
    match text.contains("[fmu.") {
        true => "FMUs".into(),
        false => text.replace(&*home.to_string_lossy(), "HOME"),
    }
}

/// The digest of a text file.
pub(crate) fn of_text(path: &Path) -> u64 {
    let mut digest = Fnv::new();
    digest.item(&fs::read(path).unwrap());
    digest.value()
}

/// The digest of elementary functions at fixed points. They come from the system's mathematical library: where
/// they have other bits than on the machine that made the table, runs may have other bits too.
pub(crate) fn of_functions() -> u64 {
    let mut digest = Fnv::new();
    for k in 0..400 {
        let x = black_box(-7.3 + 0.0371 * f64::from(k));
        let y = black_box(0.013 + 0.0177 * f64::from(k));
        for value in [x.sin(), x.cos(), x.tan(), x.exp(), x.exp_m1(), x.tanh(), x.atan2(y)] {
            digest.real(value);
        }
        for value in [y.ln(), y.ln_1p(), y.log10(), y.log2(), y.powf(x), y.sqrt(), y.cbrt(), x.hypot(y)] {
            digest.real(value);
        }
    }
    digest.value()
}
