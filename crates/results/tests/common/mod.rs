//! What the tests share: a small recording with awkward numbers.
#![allow(dead_code, reason = "each test program uses another part")]

use std::path::{Path, PathBuf};

use costep_results::{Column, Recording, Table};

/// A folder that goes away with its test, and the path of a recording in it.
pub(crate) fn scratch() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.arrows");
    (folder, path)
}

pub(crate) fn columns() -> Vec<Column> {
    vec![Column::new("t", Some("s")), Column::new("mass1.x", Some("m")), Column::new("mass2.v", None)]
}

pub(crate) fn metadata() -> Vec<(String, String)> {
    vec![("method".into(), "zoh".into()), ("costep".into(), "0.1.0".into())]
}

/// Row number `index`; among the first are all kinds of `f64`.
pub(crate) fn row(index: u64) -> [f64; 3] {
    let awkward = [
        f64::NAN,
        f64::from_bits(0x7FF0_0000_DEAD_BEEF),
        -0.0,
        f64::from_bits(1),
        -f64::MIN_POSITIVE / 2.0,
        f64::INFINITY,
        f64::MAX,
    ];
    let time = index as f64 * 0.1;
    [time, awkward.get(index as usize).copied().unwrap_or(time.sin()), -time]
}

/// A recording of `rows` rows in batches of `batch` rows, with or without its end mark.
pub(crate) fn write(path: &Path, rows: u64, batch: u64, finish: bool) {
    let mut recording = Recording::create(path, &columns(), &metadata()).unwrap();
    for index in 0..rows {
        recording.row(&row(index)).unwrap();
        if (index + 1) % batch == 0 {
            recording.flush().unwrap();
        }
    }
    if finish {
        assert_eq!(recording.finish().unwrap(), rows);
    }
}

/// Asserts that a table holds exactly the first `rows` rows, to the bit.
pub(crate) fn assert_rows(table: &Table, rows: u64) {
    assert_eq!(table.rows() as u64, rows);
    for (index, column) in columns().iter().enumerate() {
        let recorded: Vec<u64> =
            table.values(&column.name).unwrap().iter().map(|value| value.to_bits()).collect();
        let expected: Vec<u64> = (0..rows).map(|number| row(number)[index].to_bits()).collect();
        assert_eq!(recorded, expected, "{}", column.name);
    }
}
