//! Checkpoints: the whole state of a run in a file, from which it goes on bit by bit.
//!
//! File: magic, version, the text that identifies the run, the state, notes of observers, checksum. Written beside and renamed,
//! so that there is always a whole one; the one before is kept too.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use costep_core::{Code, Error, Result, StateReader, StateWriter};

use crate::engine::Engine;
use crate::run::{Flow, Observer};

const MAGIC: u64 = u64::from_le_bytes(*b"costepck");
const VERSION: u64 = 6;
/// Names of its files: the newest, the one before, the one that is written.
pub const CHECKPOINTS: [&str; 3] = ["checkpoint", "checkpoint.previous", "checkpoint.new"];
/// Larger files have to be as long as they say before all of them is read.
const LARGE: u64 = 256 << 20;

/// Saves a checkpoint every now and then.
pub struct Checkpoints {
    folder: PathBuf,
    identity: String,
    interval: Duration,
    last: Instant,
    /// What those who watch the run need to go on watching; saved and loaded with the state.
    pub notes: Vec<u8>,
}

impl Checkpoints {
    /// Checkpoints in a folder, at most one per interval of wall time. `identity` describes the run (system,
    /// parameters, method, step) as lines of text; a checkpoint of another run is refused.
    pub fn new(folder: impl Into<PathBuf>, identity: impl Into<String>, interval: Duration) -> Self {
        Self {
            folder: folder.into(),
            identity: identity.into(),
            interval,
            last: Instant::now(),
            notes: Vec::new(),
        }
    }

    /// Whether the interval is over.
    pub fn due(&self) -> bool {
        self.last.elapsed() >= self.interval
    }

    /// Saves the engine's state now.
    pub fn save(&mut self, engine: &Engine) -> Result<()> {
        self.last = Instant::now();
        let bytes = encode(&self.identity, &engine.save()?, &self.notes);
        let (current, previous) = (self.current(), self.previous());
        let fresh = self.folder.join(CHECKPOINTS[2]);
        write_synced(&fresh, &bytes)
            .and_then(|()| if current.exists() { fs::rename(&current, &previous) } else { Ok(()) })
            .and_then(|()| fs::rename(&fresh, &current))
            .map_err(|cause| {
                Error::new(Code::RecordingFailed, "cannot save a checkpoint").in_file(current).because(cause)
            })
    }

    /// Loads the newest whole checkpoint into the engine. Gives the file it came from.
    pub fn load(&mut self, engine: &mut Engine) -> Result<PathBuf> {
        let current = self.current();
        match self.load_file(&current, engine) {
            Ok(()) => Ok(current),
            Err(error) if error.code() == Code::CheckpointForeign => Err(error),
            Err(error) => {
                let previous = self.previous();
                self.load_file(&previous, engine).map_err(|_| error)?;
                Ok(previous)
            }
        }
    }

    /// Removes the checkpoints of an earlier run, so that none of them can be taken for one of this run.
    pub fn clear(&self) -> Result<()> {
        for path in [self.current(), self.previous()] {
            match fs::remove_file(&path) {
                Err(cause) if cause.kind() != ErrorKind::NotFound => {
                    let error = Error::new(Code::RecordingFailed, "cannot remove an old checkpoint");
                    return Err(error.in_file(path).because(cause));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The checkpoint file.
    pub fn current(&self) -> PathBuf {
        self.folder.join(CHECKPOINTS[0])
    }

    fn previous(&self) -> PathBuf {
        self.folder.join(CHECKPOINTS[1])
    }

    fn load_file(&mut self, path: &Path, engine: &mut Engine) -> Result<()> {
        let bytes = read_whole(path).map_err(|cause| {
            Error::new(Code::FileNotReadable, "there is no checkpoint to resume from")
                .in_file(path)
                .because(cause)
        })?;
        let (state, notes) = decode(&bytes, &self.identity).map_err(|error| error.in_file(path))?;
        engine.load(state).map_err(|error| error.in_file(path))?;
        self.notes = notes.to_vec();
        Ok(())
    }
}

impl Observer for Checkpoints {
    fn observe(&mut self, engine: &Engine) -> Result<Flow> {
        if self.due() {
            self.save(engine)?;
        }
        Ok(Flow::Continue)
    }
}

/// A pipe would be waited for, and a file of terabytes without contents be read to its end.
fn read_whole(path: &Path) -> std::io::Result<Vec<u8>> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(std::io::Error::other("it is not a file"));
    }
    if metadata.len() > LARGE && stated_length(&mut File::open(path)?) != Some(metadata.len()) {
        return Err(std::io::Error::other("it is larger than it says itself"));
    }
    fs::read(path)
}

/// The length that its parts make, by what stands in front of them.
fn stated_length(file: &mut File) -> Option<u64> {
    let mut number = |place: u64| {
        let mut bytes = [0; 8];
        file.seek(SeekFrom::Start(place)).and_then(|_| file.read_exact(&mut bytes)).ok()?;
        Some(u64::from_le_bytes(bytes))
    };
    let mut end = 2 * size_of::<u64>() as u64;
    for _ in ["identity", "state", "notes"] {
        end = number(end)?.checked_add(end)?.checked_add(size_of::<u64>() as u64)?;
    }
    end.checked_add(size_of::<u32>() as u64)
}

fn write_synced(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    #[cfg(unix)]
    {
        // Foreign code in this process may have changed what new files are allowed.
        use std::os::unix::fs::PermissionsExt;
        if file.metadata()?.permissions().mode() & 0o600 != 0o600 {
            file.set_permissions(fs::Permissions::from_mode(0o600))?;
        }
    }
    file.write_all(bytes)?;
    file.sync_all().or_else(|cause| match cause.kind() {
        // Some file systems have no way to ask for it.
        ErrorKind::InvalidInput | ErrorKind::Unsupported => Ok(()),
        _ => Err(cause),
    })
}

fn encode(identity: &str, state: &[u8], notes: &[u8]) -> Vec<u8> {
    let mut out = StateWriter::default();
    out.integer(MAGIC);
    out.integer(VERSION);
    out.block(identity.as_bytes());
    out.block(state);
    out.block(notes);
    let mut bytes = out.into_bytes();
    let sum = crc32fast::hash(&bytes);
    bytes.extend_from_slice(&sum.to_le_bytes());
    bytes
}

/// The state and the notes.
fn decode<'a>(bytes: &'a [u8], identity: &str) -> Result<(&'a [u8], &'a [u8])> {
    let damaged =
        |cause: &str| Error::new(Code::CheckpointDamaged, "the checkpoint is damaged").because(cause);
    let (body, sum) = bytes.split_last_chunk::<4>().ok_or_else(|| damaged("it is too short"))?;
    if crc32fast::hash(body) != u32::from_le_bytes(*sum) {
        return Err(damaged("its checksum does not match"));
    }
    let mut from = StateReader::new(body);
    if from.integer()? != MAGIC || from.integer()? != VERSION {
        return Err(damaged("it was written by another version of costep"));
    }
    let written = String::from_utf8_lossy(from.block()?).into_owned();
    if written != identity {
        return Err(foreign(&written, identity));
    }
    let (state, notes) = (from.block()?, from.block()?);
    from.finish()?;
    Ok((state, notes))
}

/// Names the first line in which two descriptions of a run differ.
fn foreign(written: &str, now: &str) -> Error {
    let differing = written.lines().zip(now.lines()).find(|(a, b)| a != b);
    let cause = match differing {
        Some((then, now)) => format!("it was `{}`, now it is `{}`", then.trim(), now.trim()),
        None => "one has more lines than the other".into(),
    };
    Error::new(Code::CheckpointForeign, "the checkpoint belongs to another run").because(cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_is_noticed() {
        let whole = encode("step = 1", b"state", b"notes");
        assert_eq!(decode(&whole, "step = 1").unwrap(), (&b"state"[..], &b"notes"[..]));
        for bit in 0..8 * whole.len() {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode(&bytes, "step = 1").unwrap_err().code(), Code::CheckpointDamaged);
        }
        for length in 0..whole.len() {
            assert_eq!(decode(&whole[..length], "step = 1").unwrap_err().code(), Code::CheckpointDamaged);
        }
    }

    #[test]
    fn the_length_of_a_checkpoint_is_that_of_its_parts() {
        let folder = tempfile::tempdir().unwrap();
        let (path, whole) = (folder.path().join("c"), encode("step = 1", b"state", b"notes"));
        fs::write(&path, &whole).unwrap();
        assert_eq!(stated_length(&mut File::open(&path).unwrap()), Some(whole.len() as u64));
        // It has no contents but for its first bytes, and is not read.
        File::options().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
        assert!(read_whole(&path).unwrap_err().to_string().contains("larger than it says"));
    }

    #[test]
    fn the_differing_item_is_named() {
        let error =
            decode(&encode("method = zoh\nstep = 1", b"", b""), "method = zoh\nstep = 2").unwrap_err();
        assert_eq!(error.code(), Code::CheckpointForeign);
        assert!(error.to_string().contains("it was `step = 1`, now it is `step = 2`"));
    }
}
