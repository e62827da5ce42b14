//! How many inputs every reader has survived so far, and the table of it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::targets::{TARGETS, Target};

/// Counts of one target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Inputs that were made of seeds by chance.
    pub by_chance: u64,
    /// Those of them that were taken for valid.
    pub accepted: u64,
    /// Inputs that a search for new paths through the code made.
    pub guided: u64,
    /// Edges of the code that it reached.
    pub edges: u64,
    /// Longest computing for one input, in us.
    pub slowest: u64,
    /// Most memory for one input, in bytes.
    pub memory: u64,
}

impl Counts {
    fn add(&mut self, more: &Self) {
        self.by_chance += more.by_chance;
        self.accepted += more.accepted;
        self.guided += more.guided;
        self.edges = self.edges.max(more.edges);
        self.slowest = self.slowest.max(more.slowest);
        self.memory = self.memory.max(more.memory);
    }

    fn inputs(&self) -> u64 {
        self.by_chance + self.guided
    }
}

/// Counts of all targets, kept in a file between runs.
pub struct Tally {
    root: PathBuf,
    counts: BTreeMap<String, Counts>,
}

const HEAD: &str = "target,by chance,accepted,guided,edges,slowest in us,memory in bytes";

impl Tally {
    /// Reads `fuzz/tally.csv` below the root of the project; lines that are none are left out.
    pub fn open(root: &Path) -> Self {
        let text = std::fs::read_to_string(root.join("fuzz/tally.csv")).unwrap_or_default();
        let line = |line: &str| {
            let mut cells = line.split(',');
            let name = cells.next()?.to_owned();
            let numbers: Vec<u64> = cells.map_while(|cell| cell.parse().ok()).collect();
            let [by_chance, accepted, guided, edges, slowest, memory] = numbers[..] else { return None };
            Some((name, Counts { by_chance, accepted, guided, edges, slowest, memory }))
        };
        Self { root: root.to_owned(), counts: text.lines().filter_map(line).collect() }
    }

    /// Adds counts to those in the file, which another run may have written meanwhile.
    pub fn add(&mut self, target: &str, more: &Counts) -> std::io::Result<()> {
        *self = Self::open(&self.root);
        self.counts.entry(target.to_owned()).or_default().add(more);
        let mut text = format!("{HEAD}\n");
        for (name, counts) in &self.counts {
            let Counts { by_chance, accepted, guided, edges, slowest, memory } = counts;
            let _ = writeln!(text, "{name},{by_chance},{accepted},{guided},{edges},{slowest},{memory}");
        }
        std::fs::write(self.root.join("fuzz/tally.csv"), text)
    }

    /// The table of docs/reliability.md.
    pub fn table(&self) -> String {
        let mut text = "| target | inputs by chance | accepted | guided by coverage | edges reached | slowest | most memory | findings | fixed | regression files |\n\
                        |---|---|---|---|---|---|---|---|---|---|\n"
            .to_owned();
        for target in &TARGETS {
            let counts = self.counts.get(target.name).copied().unwrap_or_default();
            let _ = writeln!(text, "| `{}` | {} | {} |", target.name, cells(&counts), self.found(target));
        }
        let is_target = |name: &str| TARGETS.iter().any(|target| target.name == name);
        for (name, counts) in self.counts.iter().filter(|(name, _)| !is_target(name)) {
            let _ = writeln!(text, "| `{name}`, since divided | {} | | | | | | | | |", counts.by_chance);
        }
        let sum = |is_counted: fn(&str) -> bool| {
            self.counts
                .iter()
                .filter(|(name, _)| is_counted(name))
                .map(|(_, counts)| counts.inputs())
                .sum::<u64>()
        };
        let _ = writeln!(
            text,
            "\nTogether: {} inputs without `unit`, {} with it.",
            sum(|name| name != "unit"),
            sum(|_| true)
        );
        text
    }

    /// Findings, how many of them are survived now, and files that tests read again.
    fn found(&self, target: &Target) -> String {
        let kept = files(&self.root.join("fuzz/regressions").join(target.name));
        let prefix = format!("{}-", target.name);
        let is_own = |path: &&PathBuf| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix))
        };
        let open = files(&self.root.join("fuzz/findings")).iter().filter(is_own).count();
        let survived = kept.iter().filter(|file| survives(target, file)).count();
        format!("{} | {survived} | {}", kept.len() + open, kept.len())
    }
}

fn cells(counts: &Counts) -> String {
    let share = 100.0 * counts.accepted as f64 / counts.by_chance.max(1) as f64;
    let slowest = Duration::from_micros(counts.slowest);
    let memory = counts.memory as f64 * 1e-6;
    format!(
        "{} | {share:.1} % | {} | {} | {slowest:.1?} | {memory:.1} MB",
        counts.by_chance, counts.guided, counts.edges
    )
}

fn survives(target: &Target, file: &Path) -> bool {
    let bytes = std::fs::read(file).unwrap_or_default();
    catch_unwind(AssertUnwindSafe(|| target.read(&bytes))).is_ok()
}

/// Files of a folder; none if there is no such folder.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}
