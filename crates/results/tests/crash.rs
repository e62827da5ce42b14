//! What is left after `kill -9`, a full disk and a removed file. The parts that must die or be limited run in a
//! child process: this program again, with the name of an ignored test and a path in an environment variable.
#![cfg(unix)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use common::{assert_rows, columns, row, scratch};
use costep_core::Code;
use costep_results::{Column, Recording, Table};

const PATH: &str = "COSTEP_TEST_PATH";

/// A busy machine may take this long from a row to the next.
const PATIENCE: f64 = 0.5;

fn child_path() -> PathBuf {
    std::env::var_os(PATH).expect("only run as a child").into()
}

/// A command that runs an ignored test of this program, started by way of `launcher`.
fn child(launcher: &[&str], test: &str, path: &Path) -> Command {
    let program = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
    let words: Vec<&str> = launcher.iter().copied().chain([program.as_str()]).collect();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).args([test, "--exact", "--ignored", "--nocapture"]).env(PATH, path);
    command
}

fn assert_child_passes(mut command: Command) {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64()
}

#[test]
#[ignore = "child of the kill tests; never ends"]
fn child_writes_the_time_of_day_for_ever() {
    let columns = [Column::new("t", None), Column::new("s.wall", Some("s"))];
    let mut recording = Recording::create(&child_path(), &columns, &[]).unwrap();
    for index in 0.. {
        recording.row(&[f64::from(index), now()]).unwrap();
        // several batches per second, some of them by rows and some by age
        if index % 40 == 0 {
            sleep(Duration::from_millis(1));
        }
    }
}

/// The writer of the time of day.
const TIMED: &str = "child_writes_the_time_of_day_for_ever";

/// Starts a writer, kills it after a while, and returns what it left with the moment of the kill.
fn killed_writer(test: &str, path: &Path, lifetime: Duration) -> (Table, f64) {
    let mut child = child(&[], test, path).stdout(Stdio::null()).spawn().unwrap();
    let patience = Instant::now() + Duration::from_secs(5);
    while fs::metadata(path).map_or(0, |metadata| metadata.len()) == 0 {
        assert!(Instant::now() < patience, "the child did not start");
        sleep(Duration::from_millis(2));
    }
    sleep(lifetime);
    let killed_at = now();
    child.kill().unwrap();
    child.wait().unwrap();
    (Table::open(path).unwrap(), killed_at)
}

#[test]
fn kill_9_loses_at_most_the_last_second() {
    std::thread::scope(|scope| {
        for lifetime in [1200, 1500, 1900] {
            scope.spawn(move || {
                let (_folder, path) = scratch();
                let (table, killed_at) = killed_writer(TIMED, &path, Duration::from_millis(lifetime));
                assert!(!table.complete());
                assert_eq!(table.damage(), None);
                let numbers = table.values("t").unwrap();
                assert!(numbers.iter().enumerate().all(|(index, number)| index as f64 == *number));
                let last = table.values("s.wall").unwrap().last().copied().unwrap();
                let limit = Recording::MAX_AGE.as_secs_f64() + PATIENCE;
                assert!(killed_at - last < limit, "the last row is {} s old", killed_at - last);
            });
        }
    });
}

#[test]
#[ignore = "child of the kill tests; never ends"]
fn child_counts_its_rows_for_ever() {
    use std::os::unix::fs::FileExt;
    let counter = fs::File::create(child_path().with_extension("count")).unwrap();
    let mut recording = Recording::create(&child_path(), &columns(), &[]).unwrap();
    for index in 0_u64.. {
        recording.row(&row(index)).unwrap();
        counter.write_at(&(index + 1).to_le_bytes(), 0).unwrap();
    }
}

#[test]
fn kill_9_loses_at_most_4096_rows() {
    let mut most = 0;
    for lifetime in [20, 70, 130, 210] {
        let (_folder, path) = scratch();
        let test = "child_counts_its_rows_for_ever";
        let table = killed_writer(test, &path, Duration::from_millis(lifetime)).0;
        let counted = fs::read(path.with_extension("count")).unwrap();
        let counted = u64::from_le_bytes(counted.try_into().expect("a count of eight bytes"));
        let lost = counted.saturating_sub(table.rows() as u64);
        assert!(lost <= 4096, "{lost} of {counted} rows are lost");
        most = most.max(counted);
    }
    assert!(most > 4096, "too few rows to lose any: {most}");
}

/// How many rows the next one writes.
const ROWS: &str = "COSTEP_TEST_ROWS";

#[test]
#[ignore = "child of the kill tests; ends by a signal"]
fn child_dies_behind_a_row() {
    let rows: u64 = std::env::var(ROWS).unwrap().parse().unwrap();
    let mut recording = Recording::create(&child_path(), &columns(), &[]).unwrap();
    (0..rows).for_each(|index| recording.row(&row(index)).unwrap());
    // As sudden as `kill -9`, and just there.
    std::process::abort();
}

/// Where most is lost: a batch gathers, and the one before has just been handed over.
#[test]
fn a_death_between_two_batches_loses_at_most_4096_rows() {
    let mut most = 0;
    for rows in [1, 2, 3, 4, 5].into_iter().flat_map(|k| [2048 * k - 1, 2048 * k + 1]) {
        for _ in 0..4 {
            let (_folder, path) = scratch();
            let mut child = child(&[], "child_dies_behind_a_row", &path);
            let status = child.env(ROWS, rows.to_string()).stdout(Stdio::null()).status().unwrap();
            assert!(!status.success());
            let lost = rows - Table::open(&path).unwrap().rows() as u64;
            assert!(lost <= 4096, "{lost} of {rows} rows are lost");
            most = most.max(lost);
        }
    }
    assert!(most >= 2047, "only {most} rows are lost: what gathers has been written");
}

#[test]
fn kill_9_at_any_moment_leaves_a_file_that_opens() {
    for kill in 0..20 {
        let (_folder, path) = scratch();
        let (table, _) = killed_writer(TIMED, &path, Duration::from_millis(3 * kill));
        assert_eq!(table.damage(), None);
        let numbers = table.values("t").unwrap();
        assert!(numbers.iter().enumerate().all(|(index, number)| index as f64 == *number));
    }
}

#[test]
#[ignore = "child of the full-disk tests"]
fn child_writes_until_the_disk_is_full() {
    let path = child_path();
    let mut recording = Recording::create(&path, &columns(), &[]).unwrap();
    let error = (0..1_000_000).find_map(|index| recording.row(&row(index)).err()).expect("the disk is small");
    assert_eq!(error.code(), Code::RecordingFailed);
    assert!(error.details().cause.is_some());
    let length = fs::metadata(&path).unwrap().len();

    assert_eq!(recording.row(&row(0)).unwrap_err(), error, "what failed stays failed");
    assert_eq!(recording.flush().unwrap_err(), error);
    assert_eq!(recording.finish().unwrap_err(), error);
    assert_eq!(fs::metadata(&path).unwrap().len(), length);

    let table = Table::open(&path).unwrap();
    assert!(table.rows() >= Recording::MAX_ROWS);
    assert_rows(&table, table.rows() as u64);
    assert_eq!((table.complete(), table.damage()), (false, None));
}

#[test]
fn a_limit_on_the_file_size_leaves_whole_batches() {
    let (_folder, path) = scratch();
    // with its signal ignored, the limit acts as a full disk: part of a batch is written, then an error
    let script = "trap '' XFSZ; ulimit -f 600 && exec \"$0\" \"$@\"";
    let test = "child_writes_until_the_disk_is_full";
    assert_child_passes(child(&["sh", "-c", script], test, &path));

    // a copy of the whole batches is as long as the file, so no half batch was left at its end
    let (rows, length) = (Table::open(&path).unwrap().rows(), fs::metadata(&path).unwrap().len());
    drop(Recording::resume(&path, &columns(), rows as u64).unwrap());
    assert_eq!(fs::metadata(&path).unwrap().len(), length);
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_leaves_whole_batches() {
    let (folder, _) = scratch();
    let disk = folder.path().to_str().unwrap();
    // a mount of its own name space goes away with the child
    let mount = format!("mount -t tmpfs -o size=300k costep-test {disk}");
    let run = |script: &str| Command::new("unshare").args(["-m", "sh", "-c", script]).output();
    if !run(&mount).is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: mounting a small disk needs more rights");
        return;
    }
    let script = format!("{mount} && exec \"$0\" \"$@\"");
    let test = "child_writes_until_the_disk_is_full";
    let path = folder.path().join("run.arrows");
    assert_child_passes(child(&["unshare", "-m", "sh", "-c", &script], test, &path));
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_device_gives_the_cause() {
    let error = Recording::create(Path::new("/dev/full"), &columns(), &[]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "error[E0503]: cannot write the recording `/dev/full`\n  /dev/full\n  cause: No space left on device (os error 28)\n  \
         help: check that the disk is not full and the folder still exists; the rows written before are valid"
    );
}

#[test]
#[cfg(target_os = "linux")]
fn a_device_that_cannot_sync_is_no_error() {
    let mut recording = Recording::create(Path::new("/dev/null"), &columns(), &[]).unwrap();
    recording.row(&row(0)).unwrap();
    assert_eq!(recording.finish().unwrap(), 1);
}

#[test]
fn a_folder_that_is_not_there_is_an_error() {
    let (folder, _) = scratch();
    let path = folder.path().join("nowhere/run.arrows");
    assert_eq!(Recording::create(&path, &columns(), &[]).unwrap_err().code(), Code::RecordingFailed);
}

#[test]
fn a_file_removed_during_the_run_is_an_error() {
    let (_folder, path) = scratch();
    let mut recording = Recording::create(&path, &columns(), &[]).unwrap();
    recording.row(&row(0)).unwrap();
    fs::remove_file(&path).unwrap();
    let error = recording.finish().unwrap_err();
    assert_eq!(error.code(), Code::RecordingFailed);
    assert_eq!(error.details().cause.as_deref(), Some("the file was removed while it was written"));
}
