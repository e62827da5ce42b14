//! The table of runs on disk: rows are appended as they are done, so that a plan goes on after an interruption, and written as Parquet in the end.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use costep_core::{Code, Error, Result, Value};
use costep_results::{Column, Recording, Table, TypedColumn, write_parquet};

use super::Campaign;
use super::row::{CampaignRow, MEASURES, VERDICTS};

/// Keys of the metadata.
const IDENTITY: &str = "plan";
const WORDS: &str = "verdicts";

/// Rows after which they are written, however young they are.
const FLUSHED: u64 = 64;

/// Which part of a plan is run: every n-th run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardSpec {
    /// From 1 on.
    pub index: usize,
    /// How many there are.
    pub count: usize,
}

impl ShardSpec {
    /// All of it.
    pub const WHOLE: Self = Self { index: 1, count: 1 };

    /// Reads `2/4`.
    pub fn parse(text: &str) -> Result<Self> {
        let numbers = text.split_once('/').and_then(|(index, count)| {
            Some(Self { index: index.trim().parse().ok()?, count: count.trim().parse().ok()? })
        });
        numbers.filter(|shard| (1..=shard.count).contains(&shard.index)).ok_or_else(|| {
            Error::new(Code::CommandLine, format!("`{text}` is not a part of a plan"))
                .hint("write `--shard 1/4` to `--shard 4/4`")
        })
    }

    fn has(self, run: usize) -> bool {
        run % self.count == self.index - 1
    }

    /// The file of its rows.
    pub fn file(self) -> String {
        match self.count {
            1 => "rows.arrows".into(),
            count => format!("rows-{}of{count}.arrows", self.index),
        }
    }
}

/// The rows of a plan: those in the file, and where further ones go.
pub struct RunTable {
    path: PathBuf,
    columns: Vec<Column>,
    recording: Option<Recording>,
    rows: Vec<CampaignRow>,
    is_done: Vec<bool>,
    shard: ShardSpec,
}

impl RunTable {
    /// Goes on with the table of a folder, or begins one. A table of another plan is refused unless it is to be `fresh`.
    pub fn open(folder: &Path, campaign: &Campaign, shard: ShardSpec, fresh: bool) -> Result<Self> {
        let mut table = Self::empty(&folder.join(shard.file()), campaign, shard);
        if table.path.exists() && !fresh {
            let kept = table.read(&table.path.clone(), campaign).map_err(|error| match error.code() {
                Code::NotARecording => error.hint("no row can be taken from it: `--fresh` starts over"),
                _ => error,
            })?;
            table.recording = Some(Recording::resume(&table.path, &table.columns, kept)?);
        } else {
            let words: Vec<&str> = VERDICTS.iter().map(|(_, word)| *word).collect();
            let mut metadata = vec![(IDENTITY.into(), campaign.identity()?), (WORDS.into(), words.join(","))];
            for axis in &campaign.plan().axes {
                let levels: Vec<String> = axis.factor.levels.iter().map(Value::to_string).collect();
                metadata.push((format!("levels of {}", axis.factor.name), levels.join(", ")));
            }
            table.recording = Some(Recording::create(&table.path, &table.columns, &metadata)?);
        }
        Ok(table)
    }

    /// The rows of several tables together, as a table in `folder`.
    pub fn merge(folder: &Path, campaign: &Campaign, files: &[PathBuf]) -> Result<Self> {
        let mut all = Self::empty(Path::new(""), campaign, ShardSpec::WHOLE);
        for file in files {
            all.read(file, campaign)?;
        }
        let mut merged = Self::open(folder, campaign, ShardSpec::WHOLE, true)?;
        all.rows.sort_by_key(|row| row.run);
        all.rows.into_iter().try_for_each(|row| merged.push(campaign, row))?;
        Ok(merged)
    }

    fn empty(path: &Path, campaign: &Campaign, shard: ShardSpec) -> Self {
        let factors = campaign.plan().axes.iter().map(|axis| Column::new(&axis.factor.name, None));
        let measures = MEASURES.map(|name| Column::new(name, None));
        let columns = std::iter::once(Column::new("run", None)).chain(factors).chain(measures).collect();
        let is_done = vec![false; campaign.runs()];
        Self { path: path.into(), columns, recording: None, rows: Vec::new(), is_done, shard }
    }

    /// Takes over the rows of a file. Gives the number of its rows.
    fn read(&mut self, path: &Path, campaign: &Campaign) -> Result<u64> {
        let table = Table::open(path)?;
        let other = |what: &str| {
            Error::new(Code::ForeignRows, format!("the rows are of another plan: {what} differ"))
                .in_file(path)
        };
        if table.columns() != self.columns {
            return Err(other("factors"));
        }
        if table.metadata().get(IDENTITY) != Some(&campaign.identity()?) {
            return Err(other("levels, system or files"));
        }
        let rows = table.rows();
        let columns: Vec<Vec<f64>> = table.into_columns().map(|(_, values)| values).collect();
        for k in 0..rows {
            let values: Vec<f64> = columns.iter().map(|column| column[k]).collect();
            let (run, first) = (values[0] as usize, values.len() - MEASURES.len());
            let row = CampaignRow::from_values(run, &values[first..]);
            let row = row.filter(|_| run < self.is_done.len()).ok_or_else(|| other("rows"))?;
            if !std::mem::replace(&mut self.is_done[run], true) {
                self.rows.push(row);
            }
        }
        Ok(rows as u64)
    }

    /// Runs that are not done yet.
    pub fn missing(&self) -> Vec<usize> {
        (0..self.is_done.len()).filter(|run| self.shard.has(*run) && !self.is_done[*run]).collect()
    }

    /// Adds a row.
    pub fn push(&mut self, campaign: &Campaign, row: CampaignRow) -> Result<()> {
        let place = campaign.factorial().place(row.run);
        let level = |(axis, level): (&costep_project::Axis, usize)| match &axis.factor.levels[level] {
            Value::Real(value) => *value,
            Value::Integer(value) => *value as f64,
            Value::Bool(_) | Value::Text(_) => level as f64,
        };
        let factors = campaign.plan().axes.iter().zip(place).map(level);
        let values: Vec<f64> = std::iter::once(row.run as f64).chain(factors).chain(row.values()).collect();
        if let Some(recording) = &mut self.recording {
            recording.row(&values)?;
            if recording.rows().is_multiple_of(FLUSHED) {
                recording.flush()?;
            }
        }
        self.is_done[row.run] = true;
        self.rows.push(row);
        Ok(())
    }

    /// Ends the file, and gives all rows in the order of the plan.
    pub fn finish(mut self) -> Result<Vec<CampaignRow>> {
        if let Some(recording) = self.recording.take() {
            recording.finish()?;
        }
        self.rows.sort_by_key(|row| row.run);
        Ok(self.rows)
    }

    /// Where its rows are.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl Campaign {
    /// Writes rows as Parquet, with words for levels, verdicts and codes.
    pub fn write_parquet(&self, target: &Path, rows: &[CampaignRow]) -> Result<()> {
        let places: Vec<Vec<usize>> = rows.iter().map(|row| self.factorial.place(row.run)).collect();
        let mut columns =
            vec![("run".to_owned(), TypedColumn::Integers(rows.iter().map(|row| row.run as i64).collect()))];
        for (k, axis) in self.plan.axes.iter().enumerate() {
            let levels = places.iter().map(|place| &axis.factor.levels[place[k]]);
            columns.push((axis.factor.name.clone(), level_column(levels)));
        }
        let numbers =
            |of: fn(&CampaignRow) -> Option<f64>| TypedColumn::Numbers(rows.iter().map(of).collect());
        let words = |of: fn(&CampaignRow) -> Option<&'static str>| {
            TypedColumn::Words(rows.iter().map(|row| of(row).map(str::to_owned)).collect())
        };
        let steps = rows.iter().map(|row| row.macro_steps as i64).collect();
        let measures = [
            words(|row| Some(row.verdict_word())),
            numbers(|row| row.eps_mono),
            numbers(|row| row.eps_mean),
            numbers(|row| row.sigma_mono),
            numbers(|row| row.amplitude_ratio),
            numbers(|row| row.spectral_radius),
            TypedColumn::Integers(steps),
            numbers(|row| Some(row.wall_s)),
            words(|row| row.code),
        ];
        columns.extend(MEASURES.iter().map(|name| (*name).to_owned()).zip(measures));
        let seen: BTreeSet<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
        if seen.len() < columns.len() {
            let message = "a factor has the name of a column of results";
            return Err(Error::new(Code::Duplicate, message)
                .hint(format!("other names than run, {}", MEASURES.join(", "))));
        }
        write_parquet(target, &columns, &[(IDENTITY.into(), self.plan.name.clone())])
    }
}

/// Levels as they are: numbers, truths or words.
fn level_column<'a>(levels: impl Iterator<Item = &'a Value> + Clone) -> TypedColumn {
    let number = |level: &Value| match level {
        Value::Integer(value) => Some(*value as f64),
        Value::Real(value) => Some(*value),
        _ => None,
    };
    if levels.clone().all(|level| matches!(level, Value::Bool(_))) {
        TypedColumn::Truths(levels.map(|level| *level == Value::Bool(true)).collect())
    } else if levels.clone().all(|level| number(level).is_some()) {
        TypedColumn::Numbers(levels.map(number).collect())
    } else {
        TypedColumn::Words(levels.map(|level| Some(level.to_string())).collect())
    }
}
