//! FMUs that the tests compile with the C compiler of the machine (`$CC`, else `cc`).
#![allow(dead_code, reason = "each test program uses another part")]

mod descriptions;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use costep_fmi::{
    CoSimulationOptions, CoSimulationSubsystem, FmuLibrary, ModelExchangeOptions, ModelExchangeSubsystem,
};
use costep_fmu_file::{Fmu, Use, Values, this_platform};
use costep_integrate::Solver;
use tempfile::TempDir;
use zip::write::SimpleFileOptions;

use descriptions::{co_simulation, description, model_exchange, without_states};

/// Version of FMI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fmi {
    V1,
    V2,
    V3,
}

/// Those that can store states and tell derivatives.
pub(crate) const BOTH: [Fmi; 2] = [Fmi::V2, Fmi::V3];
pub(crate) const EVERY: [Fmi; 3] = [Fmi::V1, Fmi::V2, Fmi::V3];

impl Fmi {
    /// A call by its whole name.
    pub(crate) fn name(self, call: &str) -> String {
        match self {
            Self::V1 => format!("fmi{call}"),
            Self::V2 => format!("fmi2{call}"),
            Self::V3 => format!("fmi3{call}"),
        }
    }

    /// The source of the functions of Co-Simulation or Model Exchange.
    fn source(self, stem: &str) -> String {
        let number = self as usize + 1;
        format!("{stem}{number}.c")
    }
}

/// A test FMU in a folder of its own.
pub(crate) struct TestFmu {
    _folder: TempDir,
    pub(crate) path: PathBuf,
}

/// How an FMU differs from the usual one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Variant {
    /// Flag of the compiler.
    pub(crate) flag: &'static str,
    /// Attributes of the element CoSimulation.
    pub(crate) attributes: &'static str,
    /// The model description has another GUID than the binary.
    pub(crate) wrong_token: bool,
    /// The binary is not a library.
    pub(crate) no_library: bool,
    /// The model description lists no states.
    pub(crate) hides_states: bool,
}

/// Compiles and packs a model: `Lag`, `S1`, `S2` or `Fault`.
pub(crate) fn build(fmi: Fmi, model: &str) -> TestFmu {
    build_as(fmi, model, model, Variant::default())
}

/// The same with another model identifier and in another variant.
pub(crate) fn build_as(fmi: Fmi, model: &str, identifier: &str, variant: Variant) -> TestFmu {
    let token = if variant.wrong_token { "{other}" } else { "{costep test}" };
    let interface = co_simulation(fmi, model, identifier, variant.attributes);
    let mut text = description(fmi, model, identifier, token, &interface);
    if variant.hides_states {
        text = without_states(&text);
    }
    let functions = &fmi.source("fmi");
    let throws = variant.flag == "-DEXCEPTIONS";
    let define = format!("-D{}", model.to_uppercase());
    let flags = [define.as_str(), variant.flag, if throws { "-lstdc++" } else { "" }];
    let sources = ["model.c", "fault.c", functions, "throw.cc"];
    let sources = if throws { &sources[..] } else { &sources[..3] };
    pack(identifier, &text, (!variant.no_library).then_some((sources, &flags)))
}

/// The fault FMU with Rust code inside whose fault is a panic; `abi` says whether it leaves the FMU.
pub(crate) fn build_panicking(fmi: Fmi, abi: &str) -> TestFmu {
    let interface = co_simulation(fmi, "Fault", "Fault", "");
    let text = description(fmi, "Fault", "Fault", "{costep test}", &interface);
    let functions = &fmi.source("fmi");
    let folder = tempfile::tempdir().unwrap();
    let (source, library) = (folder.path().join("panic.rs"), folder.path().join("libpanic.a"));
    std::fs::write(&source, include_str!("panic.rs.txt").replace("ABI", abi)).unwrap();
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(compiler);
    command.args(["--edition", "2024", "--crate-type", "staticlib", "-C", "panic=unwind", "-o"]);
    let output = command.arg(&library).arg(&source).output().expect("the Rust compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let flags = ["-DFAULT", "-DEXCEPTIONS", library.to_str().unwrap(), "-ldl"];
    pack("Fault", &text, Some((&["model.c", "fault.c", functions], &flags)))
}

/// Compiles and packs a model for Model Exchange: `Lag`, `Fault`, `S1`, `S2`, `Ball`, `Sampler`, `Chatter`, `Stepper`,
/// `Planes` or `Sphere`. A plain one cannot store its state, has no directional derivatives, and does not want to hear of completed steps.
pub(crate) fn build_exchange(fmi: Fmi, model: &str, plain: bool, flag: &str) -> TestFmu {
    build_exchange_edited(fmi, model, plain, flag, |text| text)
}

/// The same with a description that is changed by `edit`.
pub(crate) fn build_exchange_edited(
    fmi: Fmi,
    model: &str,
    plain: bool,
    flag: &str,
    edit: impl Fn(String) -> String,
) -> TestFmu {
    let interface = model_exchange(fmi, model, model, plain);
    let text = edit(description(fmi, model, model, "{costep test}", &interface));
    let functions = &fmi.source("exchange");
    let define = format!("-D{}", model.to_uppercase());
    pack(model, &text, Some((&["exchange.c", functions], &[define.as_str(), flag])))
}

/// An instance of such an FMU.
pub(crate) fn exchange(
    library: &Arc<FmuLibrary>,
    name: &str,
    solver: Solver,
    parameters: &[(&str, f64)],
) -> ModelExchangeSubsystem {
    let parameters = options(parameters).parameters;
    let options = ModelExchangeOptions { parameters, solver, logging: Some(true), ..Default::default() };
    ModelExchangeSubsystem::new(library, name, &options).unwrap()
}

/// A model whose description is changed by `edit`.
pub(crate) fn build_edited(fmi: Fmi, model: &str, edit: impl Fn(String) -> String) -> TestFmu {
    let interface = co_simulation(fmi, model, model, "");
    let text = edit(description(fmi, model, model, "{costep test}", &interface));
    let functions = &fmi.source("fmi");
    let define = format!("-D{}", model.to_uppercase());
    pack(model, &text, Some((&["model.c", "fault.c", functions], &[&define])))
}

/// An FMU of FMI 3.0 with arrays, `n` times 2 elements each.
pub(crate) fn build_wide() -> TestFmu {
    let array = "<Dimension valueReference=\"12\"/><Dimension start=\"2\"/></Float64>";
    let text = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="Wide" instantiationToken="wide">
<CoSimulation modelIdentifier="Wide" providesDirectionalDerivatives="true"/>
<ModelVariables>
<UInt64 name="n" valueReference="12" causality="structuralParameter" variability="fixed" start="2"/>
<Float64 name="u" valueReference="0" causality="input" start="0">{array}
<Float64 name="y" valueReference="1" causality="output">{array}
<Float64 name="der(y)" valueReference="20" causality="local" derivative="1">{array}
</ModelVariables>
<ModelStructure><Output valueReference="1" dependencies="1"/><ContinuousStateDerivative valueReference="20"/></ModelStructure>
</fmiModelDescription>"#
    );
    pack("Wide", &text, Some((&["wide3.c"], &[])))
}

/// An FMU of FMI 2.0 with so many inputs `u[k]` and outputs `y[k]`, which under the name `bad` does what it was compiled
/// for by `flags` (`hostile.c`), such as `-DDEED=close_files`. With `-DTHROWS=...` C++ is in it.
pub(crate) fn build_hostile(width: usize, flags: &[&str]) -> TestFmu {
    let variable = |name: &str, k: usize, reference: usize, causality: &str, start: &str| {
        format!(
            "<ScalarVariable name=\"{name}[{k}]\" valueReference=\"{reference}\" causality=\"{causality}\" \
             variability=\"continuous\"><Real{start}/></ScalarVariable>\n"
        )
    };
    let inputs: String = (0..width).map(|k| variable("u", k, k, "input", " start=\"0\"")).collect();
    let mut outputs: String = (0..width).map(|k| variable("y", k, width + k, "output", "")).collect();
    let known = if flags.contains(&"-DUNKNOWN_DEPENDENCIES") { "" } else { " dependencies=\"\"" };
    let mut unknowns: String =
        (1..=width).map(|k| format!("<Unknown index=\"{}\"{known}/>", width + k)).collect();
    if flags.contains(&"-DWILD_TEXT") {
        outputs += "<ScalarVariable name=\"text\" valueReference=\"0\" causality=\"output\" variability=\"discrete\">\
                    <String/></ScalarVariable>\n";
        unknowns += &format!("<Unknown index=\"{}\" dependencies=\"\"/>", 2 * width + 1);
    }
    let stores = match flags.iter().any(|flag| flag.contains("_STATE")) {
        true => "canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\"",
        false => "",
    };
    let text = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="Hostile" guid="hostile">
<CoSimulation modelIdentifier="Hostile" canHandleVariableCommunicationStepSize="true" {stores}/>
<ModelVariables>{inputs}{outputs}</ModelVariables>
<ModelStructure><Outputs>{unknowns}</Outputs></ModelStructure>
</fmiModelDescription>"#
    );
    let width = format!("-DWIDTH={width}");
    let throws = flags.iter().any(|flag| flag.starts_with("-DTHROWS"));
    let more: &[&str] = if throws { &["-lstdc++"] } else { &[] };
    let sources: &[&str] = if throws { &["hostile.c", "throw.cc"] } else { &["hostile.c"] };
    pack("Hostile", &text, Some((sources, &[&[width.as_str()], flags, more].concat())))
}

/// The variables of [`build_types`]: type in FMI 2, if it has it, and in FMI 3; name; reference of the input.
const TYPES: [(&str, &str, &str, u32); 12] = [
    ("Real", "Float64", "real", 1),
    ("", "Float32", "single", 2),
    ("", "Int8", "i8", 3),
    ("", "UInt8", "u8", 4),
    ("", "Int16", "i16", 5),
    ("", "UInt16", "u16", 6),
    ("Integer", "Int32", "i32", 7),
    ("", "UInt32", "u32", 8),
    ("", "Int64", "i64", 9),
    ("", "UInt64", "u64", 10),
    ("Boolean", "Boolean", "truth", 11),
    ("Enumeration", "Enumeration", "choice", 12),
];

/// An FMU with an input `u_NAME` and an output `y_NAME` of every type, which is the input one step before. Outputs `steps`,
/// `sets` and `gets` count steps, and calls for other types than real numbers since the last step; `check` is a sum
/// over the bytes of text and bytes.
pub(crate) fn build_types(fmi: Fmi) -> TestFmu {
    let (mut list, mut outputs) = (String::new(), String::new());
    let mut variables: Vec<(&str, String, u32, &str)> = Vec::new();
    for (kind2, kind3, name, reference) in TYPES {
        let kind = if fmi == Fmi::V3 { kind3 } else { kind2 };
        variables.push((kind, format!("u_{name}"), reference, "input"));
        variables.push((kind, format!("y_{name}"), 100 + reference, "output"));
    }
    let integer = if fmi == Fmi::V3 { "Int32" } else { "Integer" };
    for (at, name) in ["steps", "sets", "gets", "check"].into_iter().enumerate() {
        variables.push((integer, name.into(), 130 + at as u32, "output"));
    }
    for (kind, name, reference, causality) in variables.iter().filter(|variable| !variable.0.is_empty()) {
        let is_real = matches!(*kind, "Real" | "Float64" | "Float32");
        let variability = if is_real { "continuous" } else { "discrete" };
        let start = match (*causality, *kind) {
            ("output", _) => "",
            (_, "Boolean") => " start=\"false\"",
            _ => " start=\"0\"",
        };
        let declared = if *kind == "Enumeration" { " declaredType=\"Choice\"" } else { "" };
        let head = format!(
            "name=\"{name}\" valueReference=\"{reference}\" causality=\"{causality}\" variability=\"{variability}\""
        );
        match fmi {
            Fmi::V1 => {
                let none = if *causality == "output" { "<DirectDependency/>" } else { "" };
                writeln!(list, "<ScalarVariable {head}><{kind}{declared}{start}/>{none}</ScalarVariable>")
            }
            Fmi::V2 => writeln!(list, "<ScalarVariable {head}><{kind}{declared}{start}/></ScalarVariable>"),
            Fmi::V3 => writeln!(list, "<{kind} {head}{declared}{start}/>"),
        }
        .unwrap();
        if *causality == "output" {
            let index = list.lines().count();
            outputs += &match fmi {
                Fmi::V1 => String::new(),
                Fmi::V2 => format!("<Unknown index=\"{index}\" dependencies=\"\"/>"),
                Fmi::V3 => format!("<Output valueReference=\"{reference}\" dependencies=\"\"/>"),
            };
        }
    }
    let items = "<Item name=\"none\" value=\"0\"/><Item name=\"some\" value=\"1\"/>";
    let text = match fmi {
        Fmi::V1 => format!(
            r#"<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="1.0" modelName="Types" modelIdentifier="Types" guid="types" numberOfContinuousStates="0" numberOfEventIndicators="0">
<TypeDefinitions><Type name="Choice"><EnumerationType><Item name="one"/><Item name="two"/></EnumerationType></Type></TypeDefinitions>
<ModelVariables>{list}
<ScalarVariable name="u_text" valueReference="91" causality="input" variability="discrete"><String start=""/></ScalarVariable>
<ScalarVariable name="y_text" valueReference="92" causality="output" variability="discrete"><String/><DirectDependency/></ScalarVariable>
</ModelVariables>
<Implementation><CoSimulation_StandAlone><Capabilities canHandleVariableCommunicationStepSize="true"/></CoSimulation_StandAlone></Implementation>
</fmiModelDescription>"#
        ),
        Fmi::V2 => format!(
            r#"<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="Types" guid="types">
<CoSimulation modelIdentifier="Types" canHandleVariableCommunicationStepSize="true"/>
<TypeDefinitions><SimpleType name="Choice"><Enumeration>{items}</Enumeration></SimpleType></TypeDefinitions>
<ModelVariables>{list}
<ScalarVariable name="u_text" valueReference="91" causality="input" variability="discrete"><String start=""/></ScalarVariable>
<ScalarVariable name="y_text" valueReference="92" causality="output" variability="discrete"><String/></ScalarVariable>
</ModelVariables>
<ModelStructure><Outputs>{outputs}<Unknown index="{}" dependencies=""/></Outputs></ModelStructure>
</fmiModelDescription>"#,
            list.lines().count() + 2
        ),
        Fmi::V3 => format!(
            r#"<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="Types" instantiationToken="types">
<CoSimulation modelIdentifier="Types" canHandleVariableCommunicationStepSize="true"/>
<TypeDefinitions><EnumerationType name="Choice">{items}</EnumerationType></TypeDefinitions>
<ModelVariables>{list}
<Int64 name="gap" valueReference="90" causality="parameter" variability="fixed" start="0"/>
<String name="u_text" valueReference="91" causality="input"><Start value=""/></String>
<String name="y_text" valueReference="92" causality="output"/>
<Binary name="u_bytes" valueReference="93" causality="input"><Start value=""/></Binary>
<Binary name="y_bytes" valueReference="94" causality="output"/>
</ModelVariables>
<ModelStructure>{outputs}<Output valueReference="92" dependencies=""/><Output valueReference="94" dependencies=""/></ModelStructure>
</fmiModelDescription>"#
        ),
    };
    pack("Types", &text, Some((&[&fmi.source("types")], &[])))
}

/// An FMU for Model Exchange with a Boolean and an integer as discrete inputs: x' = `on` ? `u` : 0, and `level` is
/// ten times `number`.
pub(crate) fn build_switch() -> TestFmu {
    let text = r#"<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="Switch" instantiationToken="types">
<ModelExchange modelIdentifier="Switch"/>
<ModelVariables>
<Boolean name="on" valueReference="11" causality="input" variability="discrete" start="false"/>
<Int64 name="number" valueReference="9" causality="input" variability="discrete" start="0"/>
<Float64 name="u" valueReference="1" causality="input" start="0"/>
<Int64 name="level" valueReference="142" causality="output" variability="discrete"/>
<Float64 name="x" valueReference="140" causality="output" initial="exact" start="0"/>
<Float64 name="der(x)" valueReference="141" causality="local" derivative="140"/>
</ModelVariables>
<ModelStructure><Output valueReference="142" dependencies=""/><Output valueReference="140" dependencies="140"/>
<ContinuousStateDerivative valueReference="141"/></ModelStructure>
</fmiModelDescription>"#;
    pack("Switch", text, Some((&["types3.c"], &[])))
}

/// Compiles sources with flags, if there are any, and packs the FMU.
fn pack(identifier: &str, description: &str, binary: Option<(&[&str], &[&str])>) -> TestFmu {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("library");
    match binary {
        None => std::fs::write(&library, "no library").unwrap(),
        Some((sources, flags)) => {
            let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
            let mut command = Command::new(compiler);
            command.args(["-O2", "-Wall", "-ffp-contract=off", "-fPIC", "-shared", "-fvisibility=hidden"]);
            command.arg("-DGUID=\"{costep test}\"").arg(format!("-DFMI(name)={identifier}_fmi##name"));
            // Other crates use this file too.
            let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fmi/tests/fmus");
            command
                .args(sources.iter().map(|source| home.join(source)))
                .args(flags.iter().filter(|flag| !flag.is_empty()))
                .args(["-lm", "-lpthread"])
                .arg("-o")
                .arg(&library);
            let output = command.output().expect("a C compiler");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    }
    let path = folder.path().join(format!("{identifier}.fmu"));
    let mut archive = zip::ZipWriter::new(std::fs::File::create(&path).unwrap());
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    archive.start_file("modelDescription.xml", options).unwrap();
    archive.write_all(description.as_bytes()).unwrap();
    let name = format!("binaries/{}/{identifier}{}", this_platform(), std::env::consts::DLL_SUFFIX);
    archive.start_file(name, options).unwrap();
    archive.write_all(&std::fs::read(&library).unwrap()).unwrap();
    archive.finish().unwrap();
    TestFmu { _folder: folder, path }
}

impl TestFmu {
    /// Loads it for Model Exchange.
    pub(crate) fn load_exchange(&self) -> Arc<FmuLibrary> {
        FmuLibrary::load_for(&mut Fmu::open(&self.path).unwrap(), Use::ModelExchange).unwrap()
    }

    /// Loads it.
    pub(crate) fn load(&self) -> Arc<FmuLibrary> {
        FmuLibrary::load(&mut Fmu::open(&self.path).unwrap()).unwrap()
    }
}

/// Puts Python code into an FMU.
pub(crate) fn add_python(fmu: &Path) {
    let file = std::fs::OpenOptions::new().read(true).write(true).open(fmu).unwrap();
    let mut archive = zip::ZipWriter::new_append(file).unwrap();
    archive.start_file("resources/helper.py", SimpleFileOptions::default()).unwrap();
    archive.finish().unwrap();
}

/// Parameters by name.
pub(crate) fn options(parameters: &[(&str, f64)]) -> CoSimulationOptions {
    let parameters =
        parameters.iter().map(|(name, value)| ((*name).to_owned(), Values::Float64(vec![*value])));
    CoSimulationOptions { parameters: parameters.collect(), ..CoSimulationOptions::default() }
}

/// An instance with its start values.
pub(crate) fn instance(library: &Arc<FmuLibrary>, name: &str) -> CoSimulationSubsystem {
    CoSimulationSubsystem::new(library, name, &CoSimulationOptions::default()).unwrap()
}

/// An FMU of FMI 3.0 with event mode, clocks that follow time and a triggered one; `attributes` of its interface.
pub(crate) fn build_ticker(attributes: &str) -> TestFmu {
    build_ticker_with(attributes, &[])
}

/// The same, compiled with these flags.
pub(crate) fn build_ticker_with(attributes: &str, flags: &[&str]) -> TestFmu {
    let text = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="Ticker" instantiationToken="ticker">
<CoSimulation modelIdentifier="Ticker" canGetAndSetFMUState="true" canSerializeFMUState="true" {attributes}/>
<ModelVariables>
<Float64 name="y" valueReference="1" causality="output"/>
<Float64 name="ticks" valueReference="2" causality="output" variability="discrete"/>
<Float64 name="kicks" valueReference="3" causality="output" variability="discrete"/>
<Float64 name="geared" valueReference="4" causality="output" variability="discrete"/>
<Float64 name="gear_events" valueReference="5" causality="output" variability="discrete"/>
<Float64 name="alarms" valueReference="6" causality="output" variability="discrete"/>
<Float64 name="horns" valueReference="7" causality="output" variability="discrete"/>
<Float64 name="leave" valueReference="10" causality="parameter" variability="fixed" start="1e300"/>
<Int32 name="gear" valueReference="20" causality="input" variability="discrete" start="0"/>
<Clock name="periodic" valueReference="30" causality="input" variability="discrete" intervalVariability="constant" intervalDecimal="0.25" shiftDecimal="0.1"/>
<Clock name="alarm" valueReference="31" causality="input" variability="discrete" intervalVariability="countdown"/>
<Clock name="horn" valueReference="33" causality="input" variability="discrete" intervalVariability="countdown"/>
<Clock name="bell" valueReference="32" causality="input" variability="discrete" intervalVariability="triggered"/>
</ModelVariables>
<ModelStructure><Output valueReference="1" dependencies=""/><Output valueReference="2" dependencies=""/>
<Output valueReference="3" dependencies=""/><Output valueReference="4" dependencies=""/>
<Output valueReference="5" dependencies=""/><Output valueReference="6" dependencies=""/>
<Output valueReference="7" dependencies=""/></ModelStructure>
</fmiModelDescription>"#
    );
    pack("Ticker", &text, Some((&["ticker3.c"], flags)))
}
