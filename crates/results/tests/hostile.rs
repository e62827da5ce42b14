//! Files that are cut, flipped, random or made to harm: an error or a table, never a panic, never much memory.

mod common;
#[path = "../../hostile/tests/documented/mod.rs"]
mod documented;

use std::fs;
use std::path::Path;

use common::{assert_rows, columns, row, scratch, write};
use costep_core::{Code, Result};
use costep_results::{Recording, Table, export_csv};
use documented::assert_counted;

const FILE: &str = "crates/results/tests/hostile.rs";

/// No file of these tests is longer than a few kilobytes, so this is generous.
const MAX_MEMORY: u64 = 64 << 20;

/// Opens bytes as a recording and asserts that this took little memory.
fn open(path: &Path, bytes: &[u8]) -> Result<Table> {
    fs::write(path, bytes).unwrap();
    let mut result = None;
    let info = allocation_counter::measure(|| result = Some(Table::open(path)));
    assert!(info.bytes_max < MAX_MEMORY, "{} bytes allocated", info.bytes_max);
    result.unwrap()
}

fn small_recording(path: &Path) -> Vec<u8> {
    write(path, 9, 3, true);
    fs::read(path).unwrap()
}

/// A pseudo-random number generator (xorshift64), so that a failure comes again.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

#[test]
fn cut_at_every_byte_gives_whole_batches_or_no_recording() {
    let (_folder, path) = scratch();
    let bytes = small_recording(&path);
    let mut seen = [0; 4];
    for length in 0..bytes.len() {
        match open(&path, &bytes[..length]) {
            Ok(table) => {
                assert!(!table.complete(), "{length}");
                assert_eq!(table.damage(), None, "{length}");
                assert_eq!(table.rows() % 3, 0, "{length}");
                assert_rows(&table, table.rows() as u64);
                seen[table.rows() / 3] += 1;
            }
            Err(error) => {
                assert_eq!(error.code(), Code::NotARecording, "{length}");
                assert_eq!(seen, [0; 4], "a longer piece cannot be worse: {length}");
            }
        }
    }
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
    let test = "cut_at_every_byte_gives_whole_batches_or_no_recording";
    assert_counted("recordings cut at every byte", bytes.len(), FILE, test);
}

#[test]
fn every_byte_flipped_gives_an_error_or_a_table() {
    let (_folder, path) = scratch();
    let bytes = small_recording(&path);
    let (mut damaged, mut changed) = (0, 0);
    for place in 0..bytes.len() {
        for flip in [0x01, 0x80, 0xFF, bytes[place]] {
            let mut bad = bytes.clone();
            bad[place] ^= flip;
            match open(&path, &bad) {
                Ok(table) => {
                    assert!(table.rows() <= 9);
                    assert!(table.damage().is_none_or(|error| error.code() == Code::RecordingDamaged));
                    damaged += usize::from(table.damage().is_some());
                }
                Err(error) => assert_eq!(error.code(), Code::NotARecording),
            }
            changed += 1;
        }
    }
    assert!(damaged > 100, "{damaged}");
    let what = "recordings with a byte changed, every byte in four ways";
    assert_counted(what, changed, FILE, "every_byte_flipped_gives_an_error_or_a_table");
}

#[test]
fn every_length_field_replaced_by_an_extreme_gives_an_error_or_a_table() {
    let (_folder, path) = scratch();
    let bytes = small_recording(&path);
    let extremes = [i64::MAX, i64::MIN, -1, 1 << 62, 1 << 40, 1 << 33, 0x7FFF_FFF8, 64 << 20, 1 << 16];
    let mut changed = 0;
    for place in (0..bytes.len() - 8).step_by(4) {
        for extreme in extremes {
            for width in [4, 8] {
                let mut bad = bytes.clone();
                bad[place..place + width].copy_from_slice(&extreme.to_le_bytes()[..width]);
                if let Err(error) = open(&path, &bad) {
                    assert_eq!(error.code(), Code::NotARecording);
                }
                changed += 1;
            }
        }
    }
    let test = "every_length_field_replaced_by_an_extreme_gives_an_error_or_a_table";
    assert_counted("recordings with an extreme number, at every place of one", changed, FILE, test);
}

#[test]
fn random_damage_gives_an_error_or_a_table() {
    let (_folder, path) = scratch();
    let bytes = small_recording(&path);
    let mut random = Random(0x5EED);
    let rounds = 4000;
    for _ in 0..rounds {
        let mut bad = bytes.clone();
        for _ in 0..1 + random.below(8) {
            let (place, other) = (random.below(bad.len()), random.below(bad.len()));
            match random.below(4) {
                0 => bad[place] = random.next() as u8,
                1 => bad.truncate(place.max(1)),
                2 => bad.swap(place, other),
                _ => bad.copy_within(place.min(other)..place.max(other), 0),
            }
        }
        if let Err(error) = open(&path, &bad) {
            assert_eq!(error.code(), Code::NotARecording);
        }
    }
    let test = "random_damage_gives_an_error_or_a_table";
    assert_counted("recordings damaged by chance", rounds, FILE, test);
}

#[test]
fn random_bytes_are_no_recording() {
    let (_folder, path) = scratch();
    let mut random = Random(0xC0FFEE);
    for length in 0..1000 {
        let mut bytes: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
        assert_eq!(open(&path, &bytes).unwrap_err().code(), Code::NotARecording);
        // with a plausible start, so that the metadata is looked at
        let start = [0xFF, 0xFF, 0xFF, 0xFF, (length & 0xF8) as u8, 0, 0, 0];
        bytes.splice(0..0, start);
        assert_eq!(open(&path, &bytes).unwrap_err().code(), Code::NotARecording);
    }
}

#[test]
fn other_files_are_no_recording() {
    let (folder, path) = scratch();
    for bytes in [&b""[..], b"t,x\n0,1\n", b"ARROW1\0\0", b"PAR1", &[0; 4096], &[0xFF; 4096]] {
        assert_eq!(open(&path, bytes).unwrap_err().code(), Code::NotARecording);
    }
    assert_eq!(Table::open(folder.path()).unwrap_err().code(), Code::FileNotReadable);
    let nowhere = folder.path().join("nowhere.arrows");
    assert_eq!(Table::open(&nowhere).unwrap_err().code(), Code::FileNotReadable);
    #[cfg(target_os = "linux")]
    for device in ["/dev/zero", "/dev/null", "/dev/urandom"] {
        // Neither is it a file: somebody who reads a pipe may wait for ever.
        assert_eq!(Table::open(Path::new(device)).unwrap_err().code(), Code::FileNotReadable);
    }
}

#[test]
fn arrow_streams_of_other_types_are_no_recording() {
    use arrow_ipc::writer::StreamWriter;
    use arrow_schema::{DataType, Field, Schema};

    let (_folder, path) = scratch();
    for (name, kind) in [("t", DataType::Int64), ("t", DataType::Float32), ("time", DataType::Float64)] {
        let schema = Schema::new(vec![Field::new(name, kind, false)]);
        let bytes = StreamWriter::try_new(Vec::new(), &schema).unwrap().into_inner().unwrap();
        assert_eq!(open(&path, &bytes).unwrap_err().code(), Code::NotARecording);
    }
}

#[test]
fn damage_in_the_middle_keeps_the_rows_before_and_is_reported() {
    let (folder, path) = scratch();
    let mut bytes = small_recording(&path);
    let second_batch = start_of_batch(&bytes, 1);
    bytes[second_batch] = 0;
    let table = open(&path, &bytes).unwrap();
    assert_rows(&table, 3);
    assert!(!table.complete());
    let damage = table.damage().unwrap();
    assert_eq!(damage.code(), Code::RecordingDamaged);
    assert_eq!(damage.details().message, "the recording is damaged after its first 3 rows");
    let cause = format!("byte {second_batch}: a message does not start with the mark of Arrow streams");
    assert_eq!(damage.details().cause.as_ref(), Some(&cause));

    let exported = export_csv(&path, &folder.path().join("run.csv"), &[]).unwrap();
    assert_eq!((exported.rows, exported.complete, exported.damage.as_ref()), (3, false, Some(damage)));

    assert_eq!(Recording::resume(&path, &columns(), 4).unwrap_err().code(), Code::RecordingDamaged);
    let mut recording = Recording::resume(&path, &columns(), 3).unwrap();
    recording.row(&row(3)).unwrap();
    recording.finish().unwrap();
    assert_rows(&Table::open(&path).unwrap(), 4);
}

#[test]
fn rows_behind_the_end_mark_are_damage() {
    let (_folder, path) = scratch();
    let mut bytes = small_recording(&path);
    let again = bytes[start_of_batch(&bytes, 0)..].to_vec();
    bytes.extend(again);
    let table = open(&path, &bytes).unwrap();
    assert_rows(&table, 9);
    assert!(!table.complete());
    assert!(table.damage().is_some());
}

/// The byte at which batch `number` starts.
fn start_of_batch(bytes: &[u8], number: usize) -> usize {
    let mark = [0xFF; 4];
    let starts: Vec<usize> =
        (0..bytes.len() - 3).step_by(8).filter(|at| bytes[*at..*at + 4] == mark).collect();
    starts[number + 1]
}
