//! Log files of FMUs in the folder of a run: everything that an FMU says, a line per message, with time and name.
//!
//! Files are opened for a moment only: code of an FMU may close, write and map files by number.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use costep_core::quantity::plain_time;

use crate::style::Output;

/// Bytes that a file grows to; what comes then is counted only.
const MOST: usize = 16 << 20;
/// Bytes that wait at most, and how long: what a crash would take along.
const WAITING: usize = 64 << 10;
const PATIENCE: Duration = Duration::from_millis(200);

/// Opens a log file at its end. A pipe or link in its place, which an FMU may have put there, is not opened: it would be waited
/// for.
fn to_append(path: &Path) -> Option<File> {
    let is_odd = path.symlink_metadata().is_ok_and(|metadata| !metadata.is_file());
    (!is_odd).then(|| OpenOptions::new().create(true).append(true).open(path).ok()).flatten()
}

/// The log files of a run.
pub(crate) struct FmuLogs {
    /// Where they are, wherever an FMU goes.
    folder: PathBuf,
    /// The same as the user names it.
    shown: PathBuf,
    files: BTreeMap<String, LogFile>,
}

struct LogFile {
    waiting: String,
    written: usize,
    lines: u64,
    since: Instant,
}

/// The file of an FMU, its own one: names of nested systems have slashes, but no points.
fn file_name(fmu: &str) -> String {
    match format!("{}.log", fmu.replace('/', ".")) {
        name if name == PRINTED => format!("{fmu}..log"),
        name => name,
    }
}

impl FmuLogs {
    /// Logs in this folder. Those that an earlier run of these FMUs has left go.
    pub(crate) fn begin<'a>(folder: &Path, fmus: impl IntoIterator<Item = &'a str>) -> Self {
        let logs = Self::go_on(folder);
        for file in fmus.into_iter().map(file_name).chain([PRINTED.into()]) {
            // It is not there, or the first line will not be written either.
            let _ = fs::remove_file(logs.folder.join(file));
        }
        logs
    }

    /// Logs in this folder, behind what is there.
    pub(crate) fn go_on(folder: &Path) -> Self {
        let whole = std::path::absolute(folder).unwrap_or_else(|_| folder.into());
        Self { folder: whole, shown: folder.into(), files: BTreeMap::new() }
    }

    /// Adds a line. One that may be the last is written at once.
    pub(crate) fn add(&mut self, fmu: &str, time: Option<f64>, text: &str, is_grave: bool) {
        let file = self.files.entry(fmu.to_owned()).or_insert_with(LogFile::new);
        file.lines += 1;
        if file.written + file.waiting.len() > MOST {
            return;
        }
        let time = time.map_or_else(|| "at the start".into(), |time| format!("t = {} s", plain_time(time)));
        file.waiting += &format!("{time}  {fmu}  {text}\n");
        if file.written + file.waiting.len() > MOST {
            file.waiting += "further messages are not written: the file is full\n";
        }
        if is_grave || file.waiting.len() > WAITING || file.since.elapsed() > PATIENCE {
            file.write(&self.folder.join(file_name(fmu)));
        }
    }

    /// Writes what waits.
    pub(crate) fn flush(&mut self) {
        for (fmu, file) in &mut self.files {
            file.write(&self.folder.join(file_name(fmu)));
        }
    }

    /// The file of an FMU, as the user names it, and its number of lines in this run.
    pub(crate) fn of(&self, fmu: &str) -> Option<(PathBuf, u64)> {
        self.files.get(fmu).map(|file| (self.shown.join(file_name(fmu)), file.lines))
    }
}

impl LogFile {
    fn new() -> Self {
        Self { waiting: String::new(), written: 0, lines: 0, since: Instant::now() }
    }

    /// A disk that is full does not end a run because of its logs.
    fn write(&mut self, path: &Path) {
        if self.waiting.is_empty() {
            return;
        }
        if let Some(mut file) = to_append(path) {
            let _ = file.write_all(self.waiting.as_bytes());
        }
        self.written += self.waiting.len();
        self.waiting.clear();
        self.since = Instant::now();
    }
}

/// Lines printed by FMUs that are shown.
const SHOWN: u64 = 10;
/// The file for what FMUs print, beside the recording.
const PRINTED: &str = "printed.log";
/// FMUs of one process that are named where one of them prints.
const NAMED: usize = 3;

/// What FMUs print, instead of handing it to their logger.
pub(crate) struct Printed {
    file: Option<PathBuf>,
    /// Who prints where that is not known better: FMUs that share the process of the run.
    sharing: Vec<String>,
    lines: AtomicU64,
    /// Lines of which it is not known who printed them.
    nameless: AtomicU64,
}

impl Printed {
    /// Nothing so far, for a run in this folder with these FMUs in its process. The file goes on: whoever begins a run anew has
    /// locked the folder, and clears it ([`FmuLogs::begin`]).
    pub(crate) fn new(folder: Option<&Path>, sharing: Vec<String>) -> Self {
        let file = folder.map(|folder| folder.join(PRINTED));
        Self { file, sharing, lines: AtomicU64::new(0), nameless: AtomicU64::new(0) }
    }

    /// Shows the first lines and keeps all. Only FMUs in processes of their own come with a name.
    pub(crate) fn add(&self, name: Option<&str>, line: &str, output: Output) {
        let who = name.map_or_else(|| self.someone(), str::to_owned);
        if name.is_none() && self.sharing.len() > 1 {
            self.nameless.fetch_add(1, Ordering::Relaxed);
        }
        if self.lines.fetch_add(1, Ordering::Relaxed) < SHOWN {
            output.remark(&format!("printed by {who}: {line}"));
        }
        if let Some(file) = &self.file
            && let Some(mut file) = to_append(file)
        {
            let _ = writeln!(file, "{who}  {line}");
        }
    }

    /// Who prints without a name.
    fn someone(&self) -> String {
        match &self.sharing[..] {
            [] => "an FMU".into(),
            names if names.len() <= NAMED => names.join(" or "),
            names => format!("one of {} FMUs", names.len()),
        }
    }

    /// What is to be said at the end, with so many lines that did not come here.
    pub(crate) fn summary(&self, unseen: u64) -> Option<String> {
        let lines = self.lines.load(Ordering::Relaxed);
        let further = lines.saturating_sub(SHOWN) + unseen;
        let file = self.file.as_ref().map_or(String::new(), |file| format!(": {}", file.display()));
        let mut parts = Vec::new();
        if further > 0 {
            parts.push(format!("{further} further lines printed by FMUs are not shown{file}"));
        }
        if self.nameless.load(Ordering::Relaxed) > 0 {
            parts.push("`isolation = \"process\"` of an FMU tells its lines from those of others".into());
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_prints_is_told_as_far_as_it_is_known() {
        let someone = |names: &[&str]| {
            Printed::new(None, names.iter().map(|name| (*name).to_owned()).collect()).someone()
        };
        assert_eq!(someone(&[]), "an FMU");
        assert_eq!(someone(&["a"]), "a");
        assert_eq!(someone(&["a", "b", "c"]), "a or b or c");
        assert_eq!(someone(&["a", "b", "c", "d"]), "one of 4 FMUs");
    }

    #[test]
    fn lines_carry_time_and_name_and_a_file_has_an_end() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("drive.brake.log"), "of another run\n").unwrap();
        let mut logs = FmuLogs::begin(folder.path(), ["drive/brake"]);
        let read = || fs::read_to_string(folder.path().join("drive.brake.log")).unwrap_or_default();
        assert_eq!(read(), "");
        logs.add("drive/brake", None, "ok: hello", false);
        logs.add("drive/brake", Some(0.25), "warning [all]: hot", true);
        assert_eq!(
            read(),
            "at the start  drive/brake  ok: hello\nt = 0.25 s  drive/brake  warning [all]: hot\n"
        );
        let long = "x".repeat(1 << 20);
        (0..20).for_each(|_| logs.add("drive/brake", Some(1.0), &long, false));
        logs.flush();
        assert!(read().len() < MOST + (2 << 20) && read().ends_with("the file is full\n"));
        assert_eq!(logs.of("drive/brake").unwrap(), (folder.path().join("drive.brake.log"), 22));
    }

    #[test]
    fn every_fmu_has_a_file_of_its_own() {
        let names = ["a/b", "a-b", "a/b/c", "a/b-c", "a-b/c", "a-b-c", "a_b", "printed"];
        let mut files: Vec<_> = names.into_iter().map(file_name).chain([PRINTED.to_owned()]).collect();
        files.sort();
        files.dedup();
        assert_eq!(files.len(), names.len() + 1, "{files:?}");
    }
}
