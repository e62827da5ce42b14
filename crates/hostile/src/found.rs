//! Seeds that lie in folders: examples of this project, files of other tools.

use std::path::{Path, PathBuf};

use zip::CompressionMethod;

use crate::archives::{archive, entries};
use crate::mutation::LARGEST;

/// Valid inputs for targets, by their names.
#[derive(Default)]
pub struct FoundSeeds(Vec<(&'static str, Vec<u8>)>);

impl FoundSeeds {
    /// All files below a folder that a target can read, as far as they are small.
    pub fn below(folder: &Path) -> Self {
        let mut found = Self::default();
        found.look_into(folder);
        found
    }

    /// Those of one target.
    pub fn of<'a>(&'a self, target: &'a str) -> impl Iterator<Item = &'a Vec<u8>> + 'a {
        self.0.iter().filter(move |(name, _)| *name == target).map(|(_, bytes)| bytes)
    }

    fn look_into(&mut self, folder: &Path) {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                self.look_into(&path);
            } else if let Ok(bytes) = std::fs::read(&path) {
                self.take(&path, bytes);
            }
        }
    }

    fn take(&mut self, path: &Path, bytes: Vec<u8>) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match path.extension().unwrap_or_default().to_str().unwrap_or_default() {
            "fmu" => self.take_fmu(&bytes),
            "ssp" => self.add(&["ssp"], without_binaries(&bytes)),
            "ssd" => self.add(&["ssd", "xml"], bytes),
            "ssv" => self.add(&["ssv", "xml"], bytes),
            "ssm" => self.add(&["ssm", "xml"], bytes),
            "xml" if name.contains("SystemStructure") || name.contains("msmi") => {
                self.add(&["osp", "xml"], bytes)
            }
            "xml" => self.add(&["xml"], bytes),
            "msim" => self.add(&["mastersim"], bytes),
            "json" => self.add(&["multi_model"], bytes),
            "toml" => self.add(&["project"], bytes),
            "csv" => self.add(&["table"], bytes),
            "arrows" => self.add(&["recording"], bytes),
            _ => (),
        }
    }

    fn take_fmu(&mut self, bytes: &[u8]) {
        self.add(&["archive"], without_binaries(bytes));
        let description = entries(bytes).into_iter().find(|(name, _)| name == "modelDescription.xml");
        let Some((_, text)) = description else { return };
        let has =
            |version: &str| String::from_utf8_lossy(&text).contains(&format!("fmiVersion=\"{version}."));
        let target = ["model_description_1", "model_description_2", "model_description_3"];
        let version = ["1", "2", "3"].iter().position(|version| has(version)).unwrap_or(1);
        self.add(&["fmu", "xml", target[version]], text);
    }

    fn add(&mut self, targets: &[&'static str], bytes: Vec<u8>) {
        if bytes.len() < LARGEST / 4 {
            self.0.extend(targets.iter().map(|target| (*target, bytes.clone())));
        }
    }
}

/// An archive with the first kilobyte of everything but texts: what readers look at.
fn without_binaries(bytes: &[u8]) -> Vec<u8> {
    let mut entries = entries(bytes);
    let is_text = |name: &str| [".xml", ".ssd", ".ssv", ".ssm"].iter().any(|ending| name.ends_with(ending));
    entries.iter_mut().filter(|(name, _)| !is_text(name)).for_each(|(_, content)| content.truncate(1 << 10));
    let entries = entries.iter().map(|(name, content)| (name.as_str(), &content[..]));
    archive(entries, CompressionMethod::Deflated).unwrap_or_default()
}
