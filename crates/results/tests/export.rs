//! CSV and Parquet.

mod common;

use std::fs::{self, File};
use std::path::Path;

use arrow_array::{Array, Float64Array};
use common::{columns, row, scratch, write};
use costep_core::Code;
use costep_results::{Exported, export_csv, export_parquet};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

const COMPLETE: Exported = Exported { rows: 25, complete: true, damage: None };

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

/// Numbers by their bits, but any NaN as the same: text knows one NaN only.
fn bits(value: f64) -> u64 {
    if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() }
}

#[test]
fn csv_comes_back_to_the_bit() {
    let (folder, path) = scratch();
    write(&path, 25, 10, true);
    let target = folder.path().join("run.csv");
    assert_eq!(export_csv(&path, &target, &[]).unwrap(), COMPLETE);
    let text = fs::read_to_string(&target).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("t,mass1.x,mass2.v"));
    assert_eq!(lines.clone().nth(2), Some("0.2,-0,-0.2"));
    assert_eq!(lines.clone().nth(3), Some("0.30000000000000004,5e-324,-0.30000000000000004"));
    for (index, line) in lines.enumerate() {
        let read: Vec<u64> = line.split(',').map(|text| bits(text.parse().unwrap())).collect();
        assert_eq!(read, row(index as u64).map(bits));
    }
    assert_eq!(text.lines().count(), 26);
}

#[test]
fn parquet_comes_back_to_the_bit_with_units_and_metadata() {
    let (folder, path) = scratch();
    write(&path, 25, 10, true);
    let target = folder.path().join("run.parquet");
    assert_eq!(export_parquet(&path, &target, &[]).unwrap(), COMPLETE);
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(&target).unwrap()).unwrap();
    let schema = builder.schema().clone();
    for (field, column) in schema.fields().iter().zip(columns()) {
        assert_eq!((field.name(), field.metadata().get("unit")), (&column.name, column.unit.as_ref()));
    }
    assert_eq!(schema.metadata().get("method").map(String::as_str), Some("zoh"));
    let batches: Vec<_> = builder.build().unwrap().map(|batch| batch.unwrap()).collect();
    for index in 0..3 {
        let read: Vec<u64> = batches.iter().flat_map(|batch| values(batch.column(index))).collect();
        assert_eq!(read, (0..25).map(|number| row(number)[index].to_bits()).collect::<Vec<_>>());
    }
}

fn values(array: &dyn Array) -> Vec<u64> {
    let array = array.as_any().downcast_ref::<Float64Array>().unwrap();
    array.values().iter().map(|value| value.to_bits()).collect()
}

#[test]
fn selected_columns_come_in_the_order_asked_for_after_the_time() {
    let (folder, path) = scratch();
    write(&path, 1, 10, true);
    let target = folder.path().join("run.csv");
    for (select, expected) in [
        (names(&["mass2.v"]), "t,mass2.v\n0,-0\n"),
        (names(&["mass2.*", "t", "*.x"]), "t,mass2.v,mass1.x\n0,-0,NaN\n"),
        (names(&["t"]), "t\n0\n"),
        (names(&["*"]), "t,mass1.x,mass2.v\n0,NaN,-0\n"),
    ] {
        export_csv(&path, &target, &select).unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), expected);
    }
    let target = folder.path().join("run.parquet");
    export_parquet(&path, &target, &names(&["mass2.*"])).unwrap();
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(&target).unwrap()).unwrap();
    let read: Vec<_> = builder.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(read, ["t", "mass2.v"]);
}

#[test]
fn an_unfinished_recording_is_exported_and_said_to_be() {
    let (folder, path) = scratch();
    write(&path, 20, 10, false);
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    let expected = Exported { rows: 10, complete: false, damage: None };
    assert_eq!(export_csv(&path, &folder.path().join("run.csv"), &[]).unwrap(), expected);
    assert_eq!(export_parquet(&path, &folder.path().join("run.parquet"), &[]).unwrap(), expected);
}

#[test]
fn a_failed_export_leaves_nothing() {
    let (folder, path) = scratch();
    write(&path, 3, 10, true);
    let target = folder.path().join("run.csv");
    let error = export_csv(&path, &target, &names(&["mass1.y"])).unwrap_err();
    assert_eq!(error.code(), Code::UnknownColumn);
    assert_eq!(error.details().hint.as_deref(), Some("did you mean `mass1.x`?"));
    assert_eq!(export_csv(&target, &target, &[]).unwrap_err().code(), Code::FileNotReadable);
    let nowhere = folder.path().join("nowhere/run.csv");
    assert_eq!(export_csv(&path, &nowhere, &[]).unwrap_err().code(), Code::FileNotReadable);
    assert_eq!(export_csv(&path, folder.path(), &[]).unwrap_err().code(), Code::FileNotReadable);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn an_export_onto_the_recording_is_refused() {
    let (_folder, path) = scratch();
    write(&path, 3, 10, true);
    let before = fs::read(&path).unwrap();
    assert_eq!(export_csv(&path, &path, &[]).unwrap_err().code(), Code::FileNotReadable);
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
#[cfg(target_os = "linux")]
fn a_device_is_written_to_and_not_replaced() {
    let (_folder, path) = scratch();
    write(&path, 3, 10, true);
    assert_eq!(export_csv(&path, Path::new("/dev/null"), &[]).unwrap().rows, 3);
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
    let error = export_csv(&path, Path::new("/dev/full"), &[]).unwrap_err();
    assert_eq!(error.code(), Code::FileNotReadable);
    assert_eq!(error.details().cause.as_deref(), Some("No space left on device (os error 28)"));
    assert_eq!(export_parquet(&path, Path::new("/dev/full"), &[]).unwrap_err().code(), Code::FileNotReadable);
}
