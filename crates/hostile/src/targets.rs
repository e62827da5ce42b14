//! Readers of files, each fed with any bytes.

use std::cell::RefCell;
use std::path::Path;
use std::time::Duration;

use allocation_counter::measure;
use costep::{Registry, System};
use costep_engine::{Checkpoints, Engine};
use costep_fmu_file::{Archive, BaseUnit, Fmu, Limits, ModelDescription, xml};
use costep_ident::StoredModels;
use costep_import::{DataFile, Format};
use costep_results::{Summary, Table};
use costep_ssp::Reach;
use tempfile::TempDir;

use crate::archives::{archive, changed_archive};
use crate::mutation::{Random, changed, mutated};
use crate::seeds;

/// A reader that takes any bytes.
pub struct Target {
    /// Its name.
    pub name: &'static str,
    seeds: fn(&Path) -> Vec<Vec<u8>>,
    words: &'static [&'static [&'static str]],
    read: fn(&[u8], &Path) -> bool,
}

/// What became of an input.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Whether it was taken for valid.
    pub accepted: bool,
    /// Most memory that its reader had at one time, in bytes.
    pub memory: u64,
}

/// No input of some kilobytes may take as much memory, in bytes.
pub const MOST_MEMORY: u64 = 512 << 20;

/// Names of files, limits of numbers and marks that archives are made of.
const ARCHIVE: &[&str] = &[
    "PK\u{3}\u{4}",
    "PK\u{1}\u{2}",
    "PK\u{5}\u{6}",
    "PK\u{6}\u{6}",
    "PK\u{6}\u{7}",
    "PK\u{7}\u{8}",
    "../",
    "/",
    "\\",
    "C:",
    "modelDescription.xml",
    "\u{1}\0\u{1c}\0",
];
const XML: &[&str] = &[
    "<!DOCTYPE a [<!ENTITY b \"c\">]>",
    "&b;",
    "&#0;",
    "&#x10FFFF;",
    "<![CDATA[",
    "]]>",
    "<!--",
    "-->",
    "<?a?>",
    " xmlns:a=\"b\"",
    " xmlns=\"\"",
    "</",
    "/>",
    " name=\"\"",
    " encoding=\"UTF-16\"",
    " encoding=\"ISO-8859-1\"",
];
/// Words of model descriptions.
const FMI: &[&str] = &[
    " valueReference=\"4294967295\"",
    " index=\"0\"",
    " derivative=\"1\"",
    " reinit=\"true\"",
    " previous=\"1\"",
    " clocks=\"5 5\"",
    " start=\"1 2 3\"",
    " min=\"2\" max=\"1\"",
    " nominal=\"0\"",
    " declaredType=\"T\"",
    " dependencies=\"\"",
    " dependenciesKind=\"fixed\"",
    " initial=\"calculated\"",
    " causality=\"independent\"",
    " causality=\"structuralParameter\"",
    " variability=\"tunable\"",
    " alias=\"negatedAlias\"",
    " canBeInstantiatedOnlyOncePerProcess=\"true\"",
    "<Dimension start=\"1000000000000\"/>",
    "<Dimension valueReference=\"1\"/>",
    "<Alias name=\"a\"/>",
    "<Item name=\"b\" value=\"1\"/>",
    "<Float32 name=\"f\" valueReference=\"77\"/>",
    "<Unknown index=\"2\"/>",
    "<BaseUnit kg=\"127\" factor=\"0\"/>",
];
/// Words of system structures.
const SSP: &[&str] = &[
    " startElement=\"sub\"",
    " startConnector=\"x\"",
    " endElement=\"\"",
    " endConnector=\"in\"",
    " kind=\"inout\"",
    " kind=\"calculatedParameter\"",
    " source=\"../../x\"",
    " source=\"file:///x\"",
    " source=\"#a\"",
    " source=\"a.ssd\"",
    " prefix=\"a.\"",
    " suppressUnitConversion=\"true\"",
    " type=\"application/x-ssp-definition\"",
    "<ssc:LinearTransformation factor=\"0\"/>",
    "<ssc:IntegerMappingTransformation/>",
    "<ssd:SignalDictionaryReference name=\"d\" dictionary=\"d\"/>",
];
/// Words of system structures of OSP.
const OSP: &[&str] = &[
    " simulator=\"a\"",
    " function=\"s\"",
    " variableGroup=\"g\"",
    " source=\"../../x\"",
    " source=\"proxyfmu://localhost?file=a.fmu\"",
    " inputCount=\"1000000000\"",
    " dimension=\"3\"",
    "<VectorSum name=\"v\" inputCount=\"2\" dimension=\"3\"/>",
    "<Algorithm>ecco</Algorithm>",
];
/// Words of projects of MasterSim.
const MSIM: &[&str] = &[
    "simulator ",
    "graph ",
    "parameter ",
    "hMin ",
    "hStart ",
    "errTol ",
    "maxIterations ",
    "ErrorControlMode CHECK",
    "MasterMode NEWTON",
    " \"a b.fmu\"",
    " 1 d",
    "\r\n",
    "../../x",
];
/// Words of multi-models.
const JSON: &[&str] = &[
    "null",
    "true",
    "[]",
    "{}",
    "\\u0000",
    "\\ud800",
    "1e999",
    "\"{a}.i.y\"",
    "\"../../x\"",
    "\"algorithm\"",
    "\"var-step\"",
    "\"initsize\"",
    "\"constraints\"",
    "\"parallelSimulation\"",
    ":",
    ",",
];
const TEXT: &[&str] = &[
    "[[",
    "]]",
    "\"\"\"",
    "'''",
    " = ",
    "{",
    "}",
    "\u{0}",
    "\u{feff}",
    "file = \"/dev/zero\"",
    "1 ms",
    "-1 s",
    "*",
    "..",
    ",",
    ";",
    "\r\n",
];

/// Words of project files.
const PROJECT: &[&str] = &[
    "[fmu.a]\n",
    "[native.a]\nmodel = \"dual-mass.s1\"\n",
    "[[connect]]\nfrom = \"a.x\"\nto = \"a.F\"\n",
    "[[group]]\n",
    "[[external]]\n",
    "[guard]\n",
    "[models]\n",
    "map = { none = 3 }\n",
    "isolation = \"sandbox\"\n",
    "interface = \"me\"\n",
    "method = \"predictive\"\n",
];

/// All of them.
pub const TARGETS: [Target; 20] = [
    Target {
        name: "archive",
        seeds: |_| seeds::archives(),
        words: &[ARCHIVE, XML, FMI],
        read: archive_of_fmu,
    },
    Target { name: "xml", seeds: |_| seeds::documents(), words: &[XML], read: document },
    Target { name: "fmu", seeds: |_| seeds::descriptions(), words: &[XML, FMI], read: fmu },
    Target {
        name: "model_description_1",
        seeds: |_| seeds::first_descriptions(),
        words: &[XML, FMI],
        read: model_description,
    },
    Target {
        name: "model_description_2",
        seeds: |_| seeds::second_descriptions(),
        words: &[XML, FMI],
        read: model_description,
    },
    Target {
        name: "model_description_3",
        seeds: |_| seeds::third_descriptions(),
        words: &[XML, FMI],
        read: model_description,
    },
    Target { name: "ssp", seeds: |_| seeds::packages(), words: &[ARCHIVE, XML, SSP], read: package },
    Target { name: "ssd", seeds: |_| seeds::structures(), words: &[XML, SSP], read: structure },
    Target { name: "ssv", seeds: |_| seeds::values(), words: &[XML, SSP], read: values },
    Target { name: "ssm", seeds: |_| seeds::mappings(), words: &[XML, SSP], read: mapping },
    Target { name: "osp", seeds: |_| seeds::osp(), words: &[XML, OSP], read: osp },
    Target { name: "mastersim", seeds: |_| seeds::mastersim(), words: &[MSIM], read: mastersim },
    Target { name: "multi_model", seeds: |_| seeds::multi_models(), words: &[JSON], read: multi_model },
    Target { name: "project", seeds: |_| seeds::projects(), words: &[TEXT, PROJECT], read: project },
    Target { name: "identified_models", seeds: |_| seeds::models(), words: &[TEXT], read: identified_models },
    Target { name: "table", seeds: |_| seeds::tables(), words: &[TEXT], read: table },
    Target {
        name: "recording",
        seeds: seeds::recordings,
        words: &[&["CRC1", "ARROW1", "\u{0}\u{0}\u{0}\u{0}", "\u{7f}\u{7f}\u{7f}\u{7f}"]],
        read: recording,
    },
    Target {
        name: "checkpoint",
        seeds: checkpoints,
        words: &[&["costepck", "identity", "\u{8}\0\0\0\0\0\0\0", "\0\0\0\0\0\0\0\u{7f}"]],
        read: checkpoint,
    },
    Target {
        name: "unit",
        seeds: |_| vec![b"kg.m2/s2".to_vec(), b"1/(N*m)".to_vec(), b"rev/min".to_vec()],
        words: &[&["^", "-2", "(", ")", "/", ".", "deg"]],
        read: unit,
    },
    Target {
        name: "log_format",
        seeds: |_| vec![b"%s: level %g m in step %d".to_vec(), b"[%-6s|%6.2f|%+05lld|%*.*f|%c]".to_vec()],
        words: &[&["%n", "%hhn", "%ls", "%500s", "%.*s", "%*d", "%Lf", "%999999999d", "%p", "%%", "%zu"]],
        read: log_format,
    },
];

/// A target by its name.
pub fn target(name: &str) -> Option<&'static Target> {
    static ALL: [Target; 20] = TARGETS;
    ALL.iter().find(|target| target.name == name)
}

thread_local! {
    static FOLDER: RefCell<Option<TempDir>> = const { RefCell::new(None) };
    static ENGINE: RefCell<Option<Engine>> = const { RefCell::new(None) };
}

/// Does something with a folder of this thread, in memory where the system has such.
fn in_folder<T>(work: impl FnOnce(&Path) -> T) -> T {
    FOLDER.with_borrow_mut(|folder| {
        let folder = folder.get_or_insert_with(|| {
            tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a temporary folder")
        });
        work(folder.path())
    })
}

impl Target {
    /// Valid inputs.
    pub fn seeds(&self) -> Vec<Vec<u8>> {
        in_folder(self.seeds)
    }

    /// Words that its readers know.
    pub fn words(&self) -> Vec<&'static str> {
        self.words.concat()
    }

    /// Reads bytes.
    ///
    /// # Panics
    ///
    /// Panics where the reader does, and where it takes too much memory.
    pub fn read(&self, bytes: &[u8]) -> Outcome {
        let mut accepted = false;
        let info = measure(|| accepted = in_folder(|folder| (self.read)(bytes, folder)));
        assert!(info.bytes_max <= MOST_MEMORY, "{} bytes of memory at one time", info.bytes_max);
        Outcome { accepted, memory: info.bytes_max }
    }

    /// A hostile input made of seeds.
    pub fn input(&self, seeds: &[Vec<u8>], words: &[&str], random: &mut Random) -> Vec<u8> {
        if self.is_archive() && random.below(2) == 0 {
            let seed = random.pick(seeds).map_or(&[][..], |seed| &seed[..]);
            return changed_archive(seed, seeds, words, random).unwrap_or_default();
        }
        mutated(seeds, words, random)
    }

    /// An input with further changes. Of archives most are changed entry by entry, so that their checksums are right.
    pub fn changed(&self, bytes: &[u8], words: &[&str], random: &mut Random) -> Vec<u8> {
        let as_archive = self.is_archive() && random.below(4) != 0;
        let archive = as_archive.then(|| changed_archive(bytes, &[], words, random)).flatten();
        archive.unwrap_or_else(|| changed(bytes.to_vec(), &[], words, random))
    }

    fn is_archive(&self) -> bool {
        matches!(self.name, "archive" | "ssp")
    }
}

/// No limit of these tests is larger than a few megabytes.
fn limits() -> Limits {
    Limits { total_size: 4 << 20, ..Limits::default() }
}

fn archive_of_fmu(bytes: &[u8], _: &Path) -> bool {
    let Ok(mut archive) = Archive::from_bytes("a.zip", bytes.to_vec(), limits()) else { return false };
    let names: Vec<String> = archive.entries().map(|entry| entry.name.to_owned()).collect();
    names.iter().all(|name| archive.read(name, 1 << 20).is_ok())
}

/// Every element and attribute of a document, in any encoding.
fn document(bytes: &[u8], _: &Path) -> bool {
    fn size(element: &xml::Element) -> usize {
        let own = element.name().len() + element.namespace().len() + element.content().len();
        let attributes: usize = element.attributes().map(|(name, value)| name.len() + value.len()).sum();
        let inner: usize = element.children().map(|child| size(&child)).sum();
        own + attributes + inner + element.line() as usize + element.undeclared_prefixes().count()
    }
    xml::read(bytes, Path::new("a.xml"), &limits(), |root| Ok(size(root) > 0)).is_ok()
}

fn fmu(bytes: &[u8], folder: &Path) -> bool {
    let file = folder.join("m.fmu");
    let entries = [("modelDescription.xml", bytes)];
    let Some(archive) = archive(entries, zip::CompressionMethod::Stored) else { return false };
    let _ = std::fs::write(&file, archive);
    let Ok(mut fmu) = Fmu::open_with(&file, limits()) else { return false };
    let _ = (fmu.validate(), fmu.terminals(), fmu.platforms());
    true
}

fn model_description(bytes: &[u8], _: &Path) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let Ok(description) = ModelDescription::parse(text) else { return false };
    let all: Vec<usize> = (0..description.variables().len()).collect();
    let _ = (description.feedthrough(&all, &all), description.number_of_states());
    true
}

fn package(bytes: &[u8], folder: &Path) -> bool {
    let (file, unpacked) = (folder.join("s.ssp"), folder.join("unpacked"));
    let _ = (std::fs::write(&file, bytes), std::fs::create_dir(&unpacked));
    let is_read = costep_ssp::open(&file, &unpacked).is_ok_and(|flat| flat.errors().count() <= 1);
    let _ = std::fs::remove_dir_all(&unpacked);
    is_read
}

fn structure(bytes: &[u8], folder: &Path) -> bool {
    let file = folder.join("s.ssd");
    let _ = std::fs::write(&file, bytes);
    costep_ssp::open(&file, folder)
        .is_ok_and(|flat| !flat.to_toml(|path| path.display().to_string()).is_empty())
}

fn values(bytes: &[u8], folder: &Path) -> bool {
    with_parameters(bytes, seeds::parameter_files()[1].as_bytes(), folder)
}

fn mapping(bytes: &[u8], folder: &Path) -> bool {
    with_parameters(seeds::parameter_files()[0].as_bytes(), bytes, folder)
}

/// Files of parameters and of a mapping beside a system structure that has both.
fn with_parameters(values: &[u8], mapping: &[u8], folder: &Path) -> bool {
    let file = folder.join("p.ssd");
    let _ = (std::fs::write(folder.join("p.ssv"), values), std::fs::write(folder.join("p.ssm"), mapping));
    let _ = std::fs::write(&file, seeds::structure_with_parameters());
    // One error there always is: the FMU is missing.
    costep_ssp::open(&file, folder).is_ok_and(|flat| flat.errors().count() <= 1)
}

fn osp(bytes: &[u8], folder: &Path) -> bool {
    imported(bytes, &folder.join("OspSystemStructure.xml"), Format::Osp)
}

fn mastersim(bytes: &[u8], folder: &Path) -> bool {
    imported(bytes, &folder.join("s.msim"), Format::MasterSim)
}

fn multi_model(bytes: &[u8], folder: &Path) -> bool {
    imported(bytes, &folder.join("s.json"), Format::MultiModel)
}

fn imported(bytes: &[u8], file: &Path, format: Format) -> bool {
    let _ = std::fs::write(file, bytes);
    let folder = file.parent().unwrap_or(file);
    costep_import::open(file, format, folder, Reach::beside(file)).is_ok()
}

fn project(bytes: &[u8], folder: &Path) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    System::from_toml(text, folder.join("system.toml"), Registry::standard()).is_ok()
}

fn identified_models(bytes: &[u8], folder: &Path) -> bool {
    let file = folder.join("models.toml");
    let _ = std::fs::write(&file, bytes);
    StoredModels::read(&file).is_ok()
}

fn table(bytes: &[u8], folder: &Path) -> bool {
    let file = folder.join("t.csv");
    let _ = std::fs::write(&file, bytes);
    DataFile::open(&file).is_ok()
}

fn recording(bytes: &[u8], folder: &Path) -> bool {
    let file = folder.join("r.arrows");
    let _ = std::fs::write(&file, bytes);
    let summary = Summary::read(&file);
    let table = Table::open(&file);
    assert_eq!(summary.is_ok(), table.is_ok());
    summary.is_ok_and(|summary| summary.complete())
}

fn checkpoint(bytes: &[u8], folder: &Path) -> bool {
    ENGINE.with_borrow_mut(|kept| {
        if kept.is_none() {
            *kept = seeds::engine().ok();
        }
        let Some(engine) = kept else { return false };
        let mut is_loaded = |bytes: &[u8]| {
            let _ = std::fs::write(folder.join("checkpoint"), bytes);
            Checkpoints::new(folder, "identity", Duration::ZERO).load(engine).is_ok()
        };
        is_loaded(bytes) || is_loaded(&sealed(bytes))
    })
}

/// A checkpoint whose checksum is right, so that the rest of it is read.
fn sealed(bytes: &[u8]) -> Vec<u8> {
    let body = &bytes[..bytes.len().saturating_sub(4)];
    [body, &crc32fast::hash(body).to_le_bytes()].concat()
}

fn checkpoints(folder: &Path) -> Vec<Vec<u8>> {
    let Ok(mut engine) = seeds::engine() else { return Vec::new() };
    let mut checkpoints = Checkpoints::new(folder, "identity", Duration::ZERO);
    let saved = (0..3).try_for_each(|_| engine.step()).and_then(|()| checkpoints.save(&engine));
    saved.ok().and_then(|()| std::fs::read(checkpoints.current()).ok()).into_iter().collect()
}

fn unit(bytes: &[u8], _: &Path) -> bool {
    std::str::from_utf8(bytes)
        .is_ok_and(|text| BaseUnit::parse(text).is_some() | costep_core::quantity::parse_time(text).is_ok())
}

/// Formats that ask for more than they were given show what lies there; they end nowhere else.
fn log_format(bytes: &[u8], _: &Path) -> bool {
    let Ok(format) = std::ffi::CString::new(bytes) else { return false };
    costep_fmi::formatted_with_any_arguments(&format).is_some_and(|text| !text.is_empty())
}
