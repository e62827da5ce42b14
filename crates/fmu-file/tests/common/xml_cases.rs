//! Malformed documents, made by hand: not XML, document types, sizes without end, other encodings, other
//! versions.

use costep_core::Code;

use super::archive_cases::Case;
use super::xml::{SMALL_1, SMALL_2, SMALL_3, changed};
use super::{File, Zip, fmu};

/// An FMU with this document, stored so that no ratio hides what the XML reader does.
fn document(name: &str, content: impl AsRef<[u8]>, code: Code) -> Case {
    let mut zip = fmu(2, SMALL_2);
    zip.files[0] = File::stored("modelDescription.xml", content);
    Case { name: format!("document: {name}"), bytes: zip.bytes(), code }
}

fn small(from: &str, to: &str) -> String {
    changed(SMALL_2, from, to)
}

const ROOT: &str =
    r#"<fmiModelDescription fmiVersion="2.0" modelName="Small" guid="{1}" numberOfEventIndicators="0">"#;

/// Row 6: document types and entities.
pub(crate) fn entities() -> Vec<Case> {
    let dtd = |name: &str, dtd: &str, use_it: &str| {
        let text = changed(
            &small(ROOT, &format!("{dtd}{ROOT}")),
            r#"modelName="Small""#,
            &format!(r#"modelName="{use_it}""#),
        );
        document(name, text, Code::XmlRefused)
    };
    let mut bomb = String::from("<!DOCTYPE f [<!ENTITY a0 \"ha\">");
    for level in 1..30 {
        bomb += &format!("<!ENTITY a{level} \"{}\">", format!("&a{};", level - 1).repeat(10));
    }
    bomb += "]>";
    let quadratic = format!("<!DOCTYPE f [<!ENTITY a \"{}\">]>", "a".repeat(1 << 20));
    vec![
        dtd("document type", "<!DOCTYPE fmiModelDescription>", "x"),
        dtd("entity", "<!DOCTYPE f [<!ENTITY a \"b\">]>", "&a;"),
        dtd("entity bomb", &bomb, "&a29;"),
        dtd("quadratic entity bomb", &quadratic, &"&a;".repeat(1000)),
        dtd("external entity", "<!DOCTYPE f [<!ENTITY a SYSTEM \"file:///etc/passwd\">]>", "&a;"),
        dtd("parameter entity", "<!DOCTYPE f [<!ENTITY % a SYSTEM \"http://localhost/\"> %a;]>", "x"),
        dtd("public document type", "<!DOCTYPE f PUBLIC \"-//x//y\" \"http://localhost/x.dtd\">", "x"),
        document("document type without end", "<!DOCTYPE f [", Code::BadXml),
        document(
            "entity that is not known",
            small(r#"modelName="Small""#, r#"modelName="&a;""#),
            Code::BadXml,
        ),
        document("entity in text", small("<ModelVariables>", "<ModelVariables>&a;"), Code::BadXml),
    ]
}

/// Row 7: sizes without end and other encodings.
pub(crate) fn sizes() -> Vec<Case> {
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let mut cut = utf16(&format!("\u{FEFF}{SMALL_2}"));
    cut.pop();
    let mut lone = utf16(&format!("\u{FEFF}{SMALL_2}"));
    (lone[400], lone[401]) = (0, 0xD8);
    let encoding = |name: &str| small(r#"encoding="UTF-8""#, &format!(r#"encoding="{name}""#));
    let bytes = |from: &str, to: &[u8]| {
        let text = small(from, "@@@");
        let at = text.find("@@@").unwrap();
        [&text.as_bytes()[..at], to, &text.as_bytes()[at + 3..]].concat()
    };
    let deep =
        |count: usize| small("<DefaultExperiment", &format!("{}<DefaultExperiment", "<a>".repeat(count)));
    let attributes: String = (0..1000).map(|index| format!(" a{index}=\"\"")).collect();
    let dimensions = "<Dimension start=\"1\"/>".repeat(100);
    let mut fmi3 = fmu(3, SMALL_3);
    let many = changed(SMALL_3, "<Dimension valueReference=\"4\"/>", &dimensions);
    fmi3.files[0] = File::stored("modelDescription.xml", many);
    vec![
        document("depth 100,000", deep(100_000), Code::XmlRefused),
        document(
            "depth 200 inside annotations",
            {
                let inside = format!(
                    "<VendorAnnotations>{}{}</VendorAnnotations>",
                    "<a>".repeat(200),
                    "</a>".repeat(200)
                );
                small("<ModelVariables>", &format!("{inside}<ModelVariables>"))
            },
            Code::XmlRefused,
        ),
        document("attribute of 100 MB", small("Small", &"x".repeat(100_000_000)), Code::XmlRefused),
        document(
            "name of 20 MB",
            small("<DefaultExperiment", &format!("<{}", "x".repeat(20_000_000))),
            Code::XmlRefused,
        ),
        document(
            "comment of 20 MB",
            small("<ModelVariables>", &format!("<!--{}--><ModelVariables>", "x".repeat(20_000_000))),
            Code::XmlRefused,
        ),
        document(
            "text of 20 MB",
            small("<ModelVariables>", &format!("<ModelVariables>{}", "x".repeat(20_000_000))),
            Code::XmlRefused,
        ),
        document(
            "1,000 attributes",
            small("<DefaultExperiment", &format!("<DefaultExperiment{attributes}")),
            Code::XmlRefused,
        ),
        Case { name: "100 dimensions".into(), bytes: fmi3.bytes(), code: Code::XmlRefused },
        document("bytes that are no UTF-8", bytes("Small", b"\xFF\xFE"), Code::BadXml),
        document("half a character", bytes("Small", b"\xC3"), Code::BadXml),
        document("no UTF-8 in a name", bytes("<DefaultExperiment", b"<D\xC0\x80 "), Code::BadXml),
        document("a zero byte", bytes("Small", b"\0"), Code::BadXml),
        document("zero as a number", small("Small", "a&#0;b"), Code::BadXml),
        document("a control character as a number", small("Small", "a&#x1F;b"), Code::BadXml),
        document("a surrogate as a number", small("Small", "a&#xD800;b"), Code::BadXml),
        document("UTF-16 with half a unit", cut, Code::XmlRefused),
        document("UTF-16 with half a pair", lone, Code::XmlRefused),
        document("UTF-32", [&b"\xFF\xFE\0\0"[..], &utf16(SMALL_2)].concat(), Code::XmlRefused),
        document("EBCDIC", b"\x4C\x6F\xA7\x94\x93\x40", Code::XmlRefused),
        document("claims UTF-16", encoding("UTF-16"), Code::XmlRefused),
        document("claims UTF-7", encoding("UTF-7"), Code::XmlRefused),
        document("claims nonsense", encoding("klingon"), Code::XmlRefused),
    ]
}

/// Not XML at all.
pub(crate) fn broken() -> Vec<Case> {
    vec![
        document("empty document", "", Code::BadXml),
        document("only white space", " \n\t ", Code::BadXml),
        document("only a declaration", "<?xml version=\"1.0\"?>", Code::BadXml),
        document("text", "hello", Code::BadXml),
        document("declaration behind the start", format!("\n{SMALL_2}"), Code::BadXml),
        document("cut in a tag", &SMALL_2[..500], Code::BadXml),
        document("cut behind a tag", &SMALL_2[..SMALL_2.find("<DefaultExperiment").unwrap()], Code::BadXml),
        document("end without start", small("</ModelVariables>", "</ModelVariables></a>"), Code::BadXml),
        document("start without end", small("</ModelVariables>", ""), Code::BadXml),
        document(
            "crossed elements",
            small("</ModelVariables>", "<a><b></a></b></ModelVariables>"),
            Code::BadXml,
        ),
        document("attribute twice", small("guid=\"{1}\"", "guid=\"{1}\" guid=\"{2}\""), Code::BadXml),
        document("attribute without quotes", small("guid=\"{1}\"", "guid=1"), Code::BadXml),
        document("attribute without value", small("guid=\"{1}\"", "guid"), Code::BadXml),
        document("attribute with `<`", small("guid=\"{1}\"", "guid=\"<\""), Code::BadXml),
        document("attribute with a lone `&`", small("guid=\"{1}\"", "guid=\"a & b\""), Code::BadXml),
        document("text behind the root", format!("{SMALL_2}more"), Code::BadXml),
        document("element behind the root", format!("{SMALL_2}<a/>"), Code::BadXml),
        document(
            "two hyphens in a comment",
            small("<ModelVariables>", "<!-- a -- b --><ModelVariables>"),
            Code::BadXml,
        ),
        document("comment without end", small("<ModelVariables>", "<!-- <ModelVariables>"), Code::BadXml),
        document("cdata outside", format!("<![CDATA[x]]>{SMALL_2}"), Code::BadXml),
    ]
}

/// Row 8: no description, other documents and versions; and what has no meaning without.
pub(crate) fn versions() -> Vec<Case> {
    let version = |version: &str| {
        let name = format!("version {version}");
        document(&name, small(r#"fmiVersion="2.0""#, &format!(r#"fmiVersion="{version}""#)), Code::FmiVersion)
    };
    let archive = |name: &str, entry: &str| Case {
        name: name.into(),
        bytes: Zip::new([File::stored(entry, SMALL_2)]).bytes(),
        code: Code::NoModelDescription,
    };
    let variable = r#"<ScalarVariable name="u" valueReference="1" causality="input">"#;
    let real = r#"<Real start="0" min="-1" max="1"/>"#;
    let variables =
        &SMALL_2[SMALL_2.find("<ModelVariables>").unwrap()..SMALL_2.find("  <ModelStructure>").unwrap()];
    let mut cases = vec![
        archive("no description", "resources/readme.txt"),
        archive("description in a folder", "Engine/modelDescription.xml"),
        archive("description in lower case", "modeldescription.xml"),
        archive("description as a folder", "modelDescription.xml/x"),
        document(
            "wrong root",
            small("<fmiModelDescription ", "<ssd ").replace("</fmiModelDescription>", "</ssd>"),
            Code::BadDescription,
        ),
        document("html", "<html><body>not found</body></html>", Code::BadDescription),
        document(
            "root with a prefix",
            small("<fmiModelDescription ", "<f:fmiModelDescription ").replace("</fmiM", "</f:fmiM"),
            Code::BadDescription,
        ),
        document("no version", small(r#" fmiVersion="2.0""#, ""), Code::FmiVersion),
        document("no variables", small(variables, ""), Code::BadDescription),
        document(
            "variables twice",
            small("</ModelVariables>", "</ModelVariables><ModelVariables/>"),
            Code::BadDescription,
        ),
        document(
            "structure before variables",
            {
                let text = small("<ModelVariables>", "<ModelStructure/><ModelVariables>");
                text[..text.rfind("<ModelStructure>").unwrap()].to_owned() + "</fmiModelDescription>"
            },
            Code::BadDescription,
        ),
        document(
            "variable without name",
            small(variable, r#"<ScalarVariable valueReference="1">"#),
            Code::BadDescription,
        ),
        document(
            "variable without reference",
            small(variable, r#"<ScalarVariable name="u">"#),
            Code::BadDescription,
        ),
        document(
            "reference that is not a number",
            small(variable, r#"<ScalarVariable name="u" valueReference="one">"#),
            Code::BadDescription,
        ),
        document(
            "negative reference",
            small(variable, r#"<ScalarVariable name="u" valueReference="-1">"#),
            Code::BadDescription,
        ),
        document(
            "reference of 33 bits",
            small(variable, r#"<ScalarVariable name="u" valueReference="4294967296">"#),
            Code::BadDescription,
        ),
        document("variable without type", small(real, ""), Code::BadDescription),
        document("variable of an unknown type", small(real, "<Complex/>"), Code::BadDescription),
    ];
    cases.extend(["1", "1.1", "1.0.1", "4.0", "2.1", "3", "3.x", "", "two", "2.0.0", "30.0"].map(version));
    cases.extend(old_versions());
    cases
}

/// Documents of FMI 1.0.
fn old_versions() -> Vec<Case> {
    let first = |from: &str, to: &str| changed(SMALL_1, from, to);
    let identifier = r#" modelIdentifier="Engine""#;
    let tool = first("<CoSimulation_StandAlone>", "<CoSimulation_Tool>")
        .replace("</CoSimulation_StandAlone>", "</CoSimulation_Tool>");
    vec![
        document("1.0 without identifier", first(identifier, ""), Code::BadDescription),
        document(
            "1.0 with a path as identifier",
            first(identifier, r#" modelIdentifier="../Engine""#),
            Code::BadDescription,
        ),
        document("1.0 for a tool", tool, Code::FmuInterface),
        document(
            "1.0 without a kind of implementation",
            first("<CoSimulation_StandAlone>", "<!--")
                .replace("</CoSimulation_StandAlone>", "-->")
                .replace("<!--\n      <Cap", "<!-- <Cap"),
            Code::BadDescription,
        ),
        document("1.0 with a variable without type", first("<Boolean/>", ""), Code::BadDescription),
        document(
            "1.0 with a variable without reference",
            first(r#"name="on" valueReference="1""#, r#"name="on""#),
            Code::BadDescription,
        ),
        document(
            "1.0 with variables twice",
            first("</ModelVariables>", "</ModelVariables><ModelVariables/>"),
            Code::BadDescription,
        ),
    ]
}
