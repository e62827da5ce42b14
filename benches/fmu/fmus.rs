//! The FMUs of the benchmark: exported ones, and the same with a library compiled from C.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use costep_fmu_export::{Options, export};
use costep_fmu_file::{FmiVersion, Fmu, Unpacked};
use zip::write::SimpleFileOptions;

/// Which library an FMU has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Written in C by hand.
    C,
    /// That of exported FMUs.
    Exported,
}

impl Kind {
    pub(crate) const BOTH: [Self; 2] = [Self::C, Self::Exported];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::C => "C",
            Self::Exported => "exported",
        }
    }
}

/// An FMU of FMI 2.0 for Co-Simulation, and what the bare loop needs of it.
pub(crate) struct Subject {
    pub(crate) path: PathBuf,
    pub(crate) name: String,
    unpacked: Unpacked,
    guid: String,
}

impl Subject {
    /// `Lag` or `Wide<W>`.
    pub(crate) fn new(kind: Kind, name: &str, folder: &Path) -> Self {
        let folder = folder.join(kind.name());
        let options = Options {
            version: FmiVersion::V2,
            model_exchange: false,
            capabilities: Vec::new(),
            ..Options::default()
        };
        let path = export(name, &[], None, &options, &folder).expect("the FMU is exported").remove(0).path;
        if kind == Kind::C {
            replace_library(&path, &compile(name, &folder));
        }
        let mut fmu = Fmu::open(&path).expect("a valid FMU");
        let unpacked = fmu.unpack(name).expect("a library for this platform");
        let guid = fmu.description().token.clone();
        Self { path, name: name.to_owned(), unpacked, guid }
    }

    /// What the bare loop is called with: library, GUID, resources.
    pub(crate) fn arguments(&self) -> [String; 3] {
        let resources = format!("file://{}/resources", self.unpacked.folder().display());
        [self.unpacked.library().display().to_string(), self.guid.clone(), resources]
    }
}

fn source(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fmu/c").join(file)
}

/// Runs the C compiler (`$CC`, else `cc`).
pub(crate) fn c_compiler(arguments: &[&str], file: &str, out: &Path) {
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let mut command = Command::new(compiler);
    command
        .args(["-O2", "-Wall", "-Wextra"])
        .args(arguments)
        .arg(source(file))
        .arg("-o")
        .arg(out)
        .arg("-ldl");
    assert!(command.status().expect("a C compiler").success(), "{command:?}");
}

fn compile(name: &str, folder: &Path) -> Vec<u8> {
    let library = folder.join("library");
    let width = name.strip_prefix("Wide").map(|width| format!("-DWIDTH={width}"));
    let mut arguments = vec!["-fPIC", "-shared", "-fvisibility=hidden"];
    arguments.extend(width.as_deref());
    c_compiler(&arguments, "lag.c", &library);
    std::fs::read(&library).expect("the library was just made")
}

/// Puts another library into an FMU.
fn replace_library(path: &Path, library: &[u8]) {
    let mut archive = zip::ZipArchive::new(File::open(path).expect("the FMU")).expect("an archive");
    let mut entries = Vec::new();
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).expect("an entry");
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).expect("its bytes");
        let name = entry.name().expect("a name in UTF-8").into_owned();
        let is_library = name.starts_with("binaries/");
        entries.push((name, if is_library { library.to_vec() } else { bytes }));
    }
    let mut archive = zip::ZipWriter::new(File::create(path).expect("the FMU"));
    for (name, bytes) in entries {
        archive.start_file(name, SimpleFileOptions::default()).expect("an entry");
        archive.write_all(&bytes).expect("its bytes");
    }
    archive.finish().expect("an archive");
}
