//! Valid inputs that hostile ones are made of.

use std::path::Path;

use costep_conformance::systems::{coupled, method, model};
use costep_engine::Engine;
use costep_integrate::Solver;
use costep_results::{Column, Recording};
use zip::CompressionMethod;

use crate::archives::archive;

fn texts(all: &[&str]) -> Vec<Vec<u8>> {
    all.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// Model descriptions of all versions.
pub(crate) fn descriptions() -> Vec<Vec<u8>> {
    [first_descriptions(), second_descriptions(), third_descriptions()].concat()
}

/// Model descriptions of FMI 2.0.
pub(crate) fn second_descriptions() -> Vec<Vec<u8>> {
    texts(&[
        r#"<?xml version="1.0" encoding="UTF-8"?><fmiModelDescription fmiVersion="2.0" modelName="M" guid="{g}" numberOfEventIndicators="1" variableNamingConvention="structured">
<CoSimulation modelIdentifier="M" canHandleVariableCommunicationStepSize="true" maxOutputDerivativeOrder="1" canGetAndSetFMUstate="true"/><ModelExchange modelIdentifier="M"/>
<UnitDefinitions><Unit name="m/s"><BaseUnit m="1" s="-1" factor="1"/><DisplayUnit name="km/h" factor="3.6"/></Unit></UnitDefinitions>
<TypeDefinitions><SimpleType name="T"><Real unit="m/s" min="-1" max="1"/></SimpleType><SimpleType name="E"><Enumeration><Item name="a" value="1"/></Enumeration></SimpleType></TypeDefinitions>
<LogCategories><Category name="all"/></LogCategories><DefaultExperiment startTime="0" stopTime="1" tolerance="1e-4" stepSize="0.1"/>
<ModelVariables><ScalarVariable name="u" valueReference="0" causality="input" variability="continuous"><Real start="0" declaredType="T"/></ScalarVariable>
<ScalarVariable name="x" valueReference="1" causality="output" initial="exact"><Real start="1"/></ScalarVariable>
<ScalarVariable name="der(x)" valueReference="2" causality="local"><Real derivative="2"/></ScalarVariable>
<ScalarVariable name="k" valueReference="3" causality="parameter" variability="fixed"><Integer start="3" min="0"/></ScalarVariable>
<ScalarVariable name="e" valueReference="4" causality="parameter" variability="fixed"><Enumeration declaredType="E" start="1"/></ScalarVariable></ModelVariables>
<ModelStructure><Outputs><Unknown index="2" dependencies="1 2" dependenciesKind="dependent fixed"/></Outputs><Derivatives><Unknown index="3" dependencies="1"/></Derivatives><InitialUnknowns><Unknown index="3"/></InitialUnknowns></ModelStructure></fmiModelDescription>"#,
    ])
}

/// Model descriptions of FMI 3.0.
pub(crate) fn third_descriptions() -> Vec<Vec<u8>> {
    texts(&[
        r#"<fmiModelDescription fmiVersion="3.0" modelName="M" instantiationToken="{t}"><CoSimulation modelIdentifier="M" hasEventMode="true" fixedInternalStepSize="0.01" recommendedIntermediateInputSmoothness="1"/>
<ModelVariables><UInt64 name="n" valueReference="9" causality="structuralParameter" variability="fixed" start="2"/>
<Float64 name="y" valueReference="1" causality="output" unit="m"><Dimension valueReference="9"/><Dimension start="2"/></Float64>
<Float64 name="u" valueReference="0" causality="input" start="0"><Annotations><Annotation type="a"/></Annotations></Float64><Float64 name="der(y)" valueReference="2" derivative="1"/>
<Clock name="c" valueReference="5" causality="input" intervalVariability="constant" intervalDecimal="0.1" shiftDecimal="0.05"/><Int32 name="i" valueReference="6" causality="input" clocks="5" start="1"/>
<Binary name="b" valueReference="7" causality="input" mimeType="a/b"><Start value="00ff"/></Binary><String name="s" valueReference="8" causality="parameter"><Start value="x"/><Alias name="t"/></String></ModelVariables>
<ModelStructure><Output valueReference="1" dependencies="0 1" dependenciesKind="constant dependent"/><ContinuousStateDerivative valueReference="2"/><InitialUnknown valueReference="1"/><EventIndicator valueReference="2"/></ModelStructure></fmiModelDescription>"#,
    ])
}

/// Model descriptions of FMI 1.0.
pub(crate) fn first_descriptions() -> Vec<Vec<u8>> {
    texts(&[
        r#"<fmiModelDescription fmiVersion="1.0" modelName="M" modelIdentifier="M" guid="{g}" numberOfContinuousStates="1" numberOfEventIndicators="0"><TypeDefinitions><Type name="T"><RealType unit="m" quantity="q"/></Type></TypeDefinitions>
<VendorAnnotations><Tool name="t"/></VendorAnnotations><ModelVariables><ScalarVariable name="u" valueReference="0" causality="input"><Real start="0"/></ScalarVariable>
<ScalarVariable name="y" valueReference="1" causality="output"><Real declaredType="T"/><DirectDependency><Name>u</Name></DirectDependency></ScalarVariable></ModelVariables>
<Implementation><CoSimulation_StandAlone><Capabilities canHandleVariableCommunicationStepSize="true"/></CoSimulation_StandAlone></Implementation></fmiModelDescription>"#,
    ])
}

/// Archives of FMUs: a model description and more.
pub(crate) fn archives() -> Vec<Vec<u8>> {
    let methods = [CompressionMethod::Stored, CompressionMethod::Deflated];
    let packed = |(description, method): (&Vec<u8>, CompressionMethod)| {
        let more: [(&str, &[u8]); 2] = [("resources/a", b"a"), ("binaries/linux64/M.so", b"\x7fELF")];
        archive([("modelDescription.xml", &description[..])].into_iter().chain(more), method)
    };
    descriptions().iter().zip(methods.into_iter().cycle()).filter_map(packed).collect()
}

/// Archives of systems: a structure, values and a mapping of parameters, an FMU.
pub(crate) fn packages() -> Vec<Vec<u8>> {
    let [values, mapping] = parameter_files();
    let fmu = archives().pop().unwrap_or_default();
    let structures = [structures().concat(), structure_with_parameters().as_bytes().to_vec()];
    let packed = |structure: &Vec<u8>| {
        let entries: [(&str, &[u8]); 4] = [
            ("SystemStructure.ssd", structure),
            ("p.ssv", values.as_bytes()),
            ("p.ssm", mapping.as_bytes()),
            ("a.fmu", &fmu),
        ];
        archive(entries, CompressionMethod::Deflated)
    };
    structures.iter().filter_map(packed).collect()
}

/// Documents that are well-formed by all that XML has.
pub(crate) fn documents() -> Vec<Vec<u8>> {
    let mixed = "<?xml version='1.0' encoding='UTF-8' standalone='yes'?><!-- a -->\n<a:r xmlns:a='one' xmlns=\"two\" a:x='&lt;&#65;&#x42;'>\n<b y=\"1&amp;2\"><![CDATA[<c>]]>text &gt;</b><?pi data?><c/><a:d xmlns:a='three'><v:e/></a:d>\r\n</a:r>";
    let wide: Vec<u8> =
        [0xff, 0xfe].into_iter().chain("<r a='ä'>ö</r>".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let latin = b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><r a=\"\xe4\">\xf6</r>".to_vec();
    [texts(&[mixed]), vec![wide, latin], descriptions(), structures()].concat()
}

/// System structures of SSP.
pub(crate) fn structures() -> Vec<Vec<u8>> {
    texts(&[
        r#"<ssd:SystemStructureDescription xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription" xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon" xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues" xmlns:ssm="http://ssp-standard.org/SSP1/SystemStructureParameterMapping" version="1.0" name="s">
<ssd:System name="root"><ssd:Connectors><ssd:Connector name="in" kind="input"><ssc:Real unit="m"/></ssd:Connector></ssd:Connectors>
<ssd:ParameterBindings><ssd:ParameterBinding prefix="a."><ssd:ParameterValues><ssv:ParameterSet version="1.0" name="p"><ssv:Parameters><ssv:Parameter name="k"><ssv:Real value="2" unit="m"/></ssv:Parameter></ssv:Parameters></ssv:ParameterSet></ssd:ParameterValues>
<ssd:ParameterMapping><ssm:ParameterMapping version="1.0"><ssm:MappingEntry source="k" target="a.k"><ssc:LinearTransformation factor="2" offset="1"/></ssm:MappingEntry></ssm:ParameterMapping></ssd:ParameterMapping></ssd:ParameterBinding></ssd:ParameterBindings>
<ssd:Elements><ssd:Component name="a" source="a.fmu" type="application/x-fmu-sharedlibrary"><ssd:Connectors><ssd:Connector name="u" kind="input"/><ssd:Connector name="y" kind="output"><ssc:Boolean/></ssd:Connector></ssd:Connectors></ssd:Component>
<ssd:System name="sub"><ssd:Connectors><ssd:Connector name="x" kind="inout"/></ssd:Connectors><ssd:Elements/><ssd:Connections/></ssd:System></ssd:Elements>
<ssd:Connections><ssd:Connection startConnector="in" endElement="a" endConnector="u"><ssc:BooleanMappingTransformation><ssc:MapEntry source="true" target="false"/></ssc:BooleanMappingTransformation></ssd:Connection></ssd:Connections></ssd:System>
<ssd:Units><ssc:Unit name="m"><ssc:BaseUnit m="1"/></ssc:Unit></ssd:Units><ssd:DefaultExperiment startTime="0" stopTime="1"/>
<ssd:Annotations><ssc:Annotation type="org.costep.settings"><costep:Settings xmlns:costep="urn:costep:settings:1"><costep:Setting key="step" value="{ size = '1 ms' }"/></costep:Settings></ssc:Annotation></ssd:Annotations></ssd:SystemStructureDescription>"#,
    ])
}

/// Values of parameters and a mapping of them, as files of their own.
pub(crate) fn parameter_files() -> [&'static str; 2] {
    [
        r#"<ssv:ParameterSet xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues" xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon" version="1.0" name="p"><ssv:Parameters><ssv:Parameter name="k"><ssv:Real value="2" unit="m"/></ssv:Parameter>
<ssv:Parameter name="n"><ssv:Integer value="3"/></ssv:Parameter><ssv:Parameter name="on"><ssv:Boolean value="true"/></ssv:Parameter><ssv:Parameter name="t"><ssv:String value="x"/></ssv:Parameter><ssv:Parameter name="e"><ssv:Enumeration value="a"/></ssv:Parameter></ssv:Parameters>
<ssv:Units><ssc:Unit name="m"><ssc:BaseUnit m="1"/></ssc:Unit></ssv:Units></ssv:ParameterSet>"#,
        r#"<ssm:ParameterMapping xmlns:ssm="http://ssp-standard.org/SSP1/SystemStructureParameterMapping" xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon" version="1.0"><ssm:MappingEntry source="k" target="a.k"><ssc:LinearTransformation factor="2" offset="1"/></ssm:MappingEntry>
<ssm:MappingEntry source="on" target="a.on"><ssc:BooleanMappingTransformation><ssc:MapEntry source="true" target="false"/></ssc:BooleanMappingTransformation></ssm:MappingEntry><ssm:MappingEntry source="n" target="a.n" suppressUnitConversion="true"/></ssm:ParameterMapping>"#,
    ]
}

/// Values of parameters.
pub(crate) fn values() -> Vec<Vec<u8>> {
    texts(&parameter_files()[..1])
}

/// Mappings of parameters.
pub(crate) fn mappings() -> Vec<Vec<u8>> {
    texts(&parameter_files()[1..])
}

/// A system structure that takes both from files beside it.
pub(crate) fn structure_with_parameters() -> &'static str {
    r#"<ssd:SystemStructureDescription xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription" version="1.0" name="s"><ssd:System name="root">
<ssd:ParameterBindings><ssd:ParameterBinding source="p.ssv"><ssd:ParameterMapping source="p.ssm"/></ssd:ParameterBinding></ssd:ParameterBindings>
<ssd:Elements><ssd:Component name="a" source="a.fmu"/></ssd:Elements></ssd:System></ssd:SystemStructureDescription>"#
}

/// System structures of OSP.
pub(crate) fn osp() -> Vec<Vec<u8>> {
    texts(&[
        r#"<OspSystemStructure xmlns="http://opensimulationplatform.com/MSMI/OSPSystemStructure" version="0.1"><StartTime>0.0</StartTime><BaseStepSize>0.01</BaseStepSize><Algorithm>fixedStep</Algorithm>
<Simulators><Simulator name="a" source="a.fmu" stepSize="0.1"><InitialValues><InitialValue variable="k"><Real value="1"/></InitialValue></InitialValues></Simulator></Simulators>
<Functions><LinearTransformation name="f" factor="2" offset="1"/><Sum name="s" inputCount="2"/></Functions>
<Connections><VariableConnection><Variable simulator="a" name="y"/><Variable simulator="a" name="u"/></VariableConnection><SignalConnection><Variable simulator="a" name="y"/><Signal function="f" name="in"/></SignalConnection></Connections></OspSystemStructure>"#,
    ])
}

/// Projects of MasterSim.
pub(crate) fn mastersim() -> Vec<Vec<u8>> {
    texts(&[
        "// MasterSim\ntStart 0 s\ntEnd 1 min\nhMax 1 ms\nMasterMode GAUSS_SEIDEL\nerrTol 1e-6\nsimulator 0 0 a #ff00ff \"a.fmu\"\nsimulator 1 0 b #00ff00 \"b.csv\"\ngraph a.y b.u 2.0 1\nparameter a.k 3\n",
    ])
}

/// Multi-models.
pub(crate) fn multi_models() -> Vec<Vec<u8>> {
    texts(&[
        r#"{"fmus":{"{a}":"a.fmu"},"connections":{"{a}.i.y":["{a}.i.u"]},"parameters":{"{a}.i.k":1.5},"startTime":0,"endTime":1,"algorithm":{"type":"fixed-step","size":0.1}}"#,
    ])
}

/// Project files.
pub(crate) fn projects() -> Vec<Vec<u8>> {
    texts(&[
        "[system]\nmodel = \"dual-mass\"\nstop = \"0.1 s\"\n[parameters]\nck = 2e5\n[step]\nsize = \"1 ms\"\n[method]\nname = \"identified\"\nform = \"ramp\"\n[record]\nevery = \"10 ms\"\nsignals = [\"s1.*\"]\n[guard]\nlimits = { \"s1.x\" = [-1, 1] }\n",
        "step = { size = \"1 ms\" }\nmethod = \"nepce:alpha=0.5\"\n[system]\nname = \"n\"\nstart = 0\nstop = 1\nsolver = \"rk4:10us\"\n[native.a]\nmodel = \"dual-mass.s1\"\n[fmu.b]\nfile = \"b.fmu\"\nset = { k = 1.0 }\nisolation = \"sandbox\"\n[linear.c]\na = [[-1, 0], [0, -2]]\nb = [[1], [1]]\nc = [[1, 1]]\nstart = [1, 0]\ninputs = [\"u\"]\noutputs = [\"y\"]\n[[connect]]\nfrom = \"a.x\"\nto = \"b.u\"\ngain = 2\n[[external]]\nto = \"b.v\"\nsine = { amplitude = 1, frequency = \"2 Hz\" }\n[schedule]\nkind = \"sequential\"\norder = [\"a\", \"b\"]\n",
    ])
}

/// Files of identified models.
pub(crate) fn models() -> Vec<Vec<u8>> {
    texts(&[
        "costep = \"0.1.0\"\nsystem = \"s\"\nsource = \"identified\"\nn = 1\nm = 1\nstep = 0.001\n[[model]]\npart = \"s1\"\ninputs = [\"F\"]\n\
         outputs = [\"x\", \"v\"]\ninput_sizes = [25.5]\noutput_sizes = [0.1, 27.0]\neps_si = 0.0004\neps_hold = 0.03\ns_y = [[0.9, 0.001], [-98.0, 0.95]]\n\
         s_u = [[1e-13], [4e-10]]\ns_p = [[4e-8], [9e-5]]\noffset = [-1e-12, 2e-9]\n",
    ])
}

/// Files of values.
pub(crate) fn tables() -> Vec<Vec<u8>> {
    texts(&[
        "time [s],a.x [m],\"b,c\"\n0,1,2\n0.1,1.5,-3e4\n0.2,2,NaN\n",
        "t;x\n0;1,5\n1;2,5\n",
        "# remark\n0\t1\n1\t2\n",
    ])
}

/// Recordings: whole, cut, and without checksums, as other programs write them: changes of those are seen by nothing but
/// the reader of what they hold.
pub(crate) fn recordings(folder: &Path) -> Vec<Vec<u8>> {
    let file = folder.join("seed.arrows");
    let columns =
        [("t", Some("s")), ("a.x", Some("m")), ("b", None)].map(|(name, unit)| Column::new(name, unit));
    let made =
        Recording::create(&file, &columns, &[("method".into(), "zoh".into())]).and_then(|mut recording| {
            for k in 0..20 {
                recording.row(&[f64::from(k), f64::from(k * k), -1.0])?;
                if k == 9 {
                    recording.flush()?;
                }
            }
            recording.finish()
        });
    let bytes = made.ok().and_then(|_| std::fs::read(&file).ok()).unwrap_or_default();
    let mut unsealed = bytes.clone();
    let marks = bytes.windows(4).enumerate().filter(|(_, window)| *window == b"CRC1");
    marks.for_each(|(place, _)| unsealed[place..place + 4].fill(0));
    vec![bytes[..bytes.len().saturating_sub(8)].to_vec(), bytes, unsealed]
}

/// An engine whose checkpoints are read.
pub(crate) fn engine() -> costep_core::Result<Engine> {
    Engine::new(coupled(&model("dual-mass", &[]), &Solver::Exact, &method("identified"), 0.01, 1e-3))
}
