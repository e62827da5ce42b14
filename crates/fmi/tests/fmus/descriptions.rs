//! Model descriptions of the FMUs that the tests compile.

use std::fmt::Write as _;

use super::Fmi;

/// A variable: name, value reference, causality, start value.
type Row = (&'static str, u32, &'static str, Option<&'static str>);

/// Variables; outputs with what they depend on; derivatives with their states.
type Table = (&'static [Row], &'static [(u32, &'static [u32])], &'static [(u32, u32)]);

pub(super) fn variables(model: &str) -> Table {
    match model {
        "S1" => (
            &[
                ("F", 0, "input", Some("0")),
                ("x", 1, "output", None),
                ("v", 2, "output", None),
                ("m", 10, "parameter", Some("10")),
                ("c", 11, "parameter", Some("1e6")),
                ("d", 12, "parameter", Some("1")),
                ("x0", 13, "parameter", Some("0.1")),
                ("v0", 14, "parameter", Some("0")),
                ("h", 15, "parameter", Some("1e-5")),
                ("n1", 30, "parameter", Some("1")),
                ("n2", 31, "parameter", Some("1")),
                ("der(x)", 20, "local", None),
                ("der(v)", 21, "local", None),
            ],
            &[(1, &[1]), (2, &[2])],
            &[(20, 1), (21, 2)],
        ),
        "S2" => (
            &[
                ("u1", 0, "input", Some("0")),
                ("u2", 3, "input", Some("0")),
                ("F", 1, "output", None),
                ("x", 2, "output", None),
                ("v", 4, "output", None),
                ("m", 10, "parameter", Some("10")),
                ("c", 11, "parameter", Some("1e7")),
                ("d", 12, "parameter", Some("2")),
                ("ck", 13, "parameter", Some("1e5")),
                ("dk", 14, "parameter", Some("1e3")),
                ("x0", 15, "parameter", Some("0")),
                ("v0", 16, "parameter", Some("0")),
                ("h", 17, "parameter", Some("1e-5")),
                ("n1", 30, "parameter", Some("1")),
                ("n2", 31, "parameter", Some("1")),
                ("der(x)", 20, "local", None),
                ("der(v)", 21, "local", None),
            ],
            &[(1, &[0, 3, 2, 4]), (2, &[2]), (4, &[4])],
            &[(20, 2), (21, 4)],
        ),
        "Planes" => (
            &[("c", 0, "input", Some("1.5")), ("a", 1, "output", None), ("b", 2, "output", None)],
            &[(1, &[0]), (2, &[0])],
            &[],
        ),
        "Sphere" => (
            &[
                ("a", 0, "input", Some("0")),
                ("b", 3, "input", Some("0")),
                ("c", 1, "output", None),
                ("square", 10, "parameter", Some("5")),
                ("swing", 11, "parameter", Some("0")),
            ],
            &[(1, &[0, 3])],
            &[],
        ),
        "Ball" => (
            &[
                ("height", 1, "output", None),
                ("speed", 2, "output", None),
                ("e", 10, "parameter", Some("0.8")),
                ("threshold", 11, "parameter", Some("0.05")),
                ("der(height)", 20, "local", None),
                ("der(speed)", 21, "local", None),
                ("z", 25, "local", None),
            ],
            &[(1, &[1]), (2, &[2])],
            &[(20, 1), (21, 2)],
        ),
        "Sampler" => (
            &[
                ("u", 0, "input", Some("0")),
                ("y", 1, "output", None),
                ("gate", 2, "input", Some("1")),
                ("sampled", 3, "output", None),
                ("period", 10, "parameter", Some("0.1")),
                ("der(y)", 20, "local", None),
            ],
            &[(1, &[1]), (3, &[])],
            &[(20, 1)],
        ),
        "Chatter" => (
            &[
                ("y", 1, "output", None),
                ("hysteresis", 10, "parameter", Some("0")),
                ("der(y)", 20, "local", None),
                ("z", 25, "local", None),
            ],
            &[(1, &[1])],
            &[(20, 1)],
        ),
        "Stepper" => (
            &[("y", 1, "output", None), ("sampled", 3, "output", None), ("der(y)", 20, "local", None)],
            &[(1, &[1]), (3, &[])],
            &[(20, 1)],
        ),
        _ => (
            &[
                ("u", 0, "input", Some("0")),
                ("y", 1, "output", None),
                ("T", 10, "parameter", Some("1")),
                ("x0", 11, "parameter", Some("0")),
                ("at", 12, "parameter", Some("0")),
                ("der(y)", 20, "local", None),
            ],
            &[(1, &[1])],
            &[(20, 1)],
        ),
    }
}

const FAULT_1: &str = r#"<ScalarVariable name="fault" valueReference="100" variability="parameter"><Integer start="0" min="0" max="100"/></ScalarVariable>
<ScalarVariable name="flag" valueReference="101" variability="parameter"><Boolean start="false"/></ScalarVariable>
<ScalarVariable name="text" valueReference="102" variability="parameter"><String start=""/></ScalarVariable>
"#;
const FAULT_2: &str = r#"<ScalarVariable name="fault" valueReference="100" causality="parameter" variability="fixed"><Integer start="0" min="0" max="100"/></ScalarVariable>
<ScalarVariable name="flag" valueReference="101" causality="parameter" variability="fixed"><Boolean start="false"/></ScalarVariable>
<ScalarVariable name="text" valueReference="102" causality="parameter" variability="fixed"><String start=""/></ScalarVariable>
"#;
const FAULT_3: &str = r#"<Int32 name="fault" valueReference="100" causality="parameter" variability="fixed" start="0" min="0" max="100"/>
<Boolean name="flag" valueReference="101" causality="parameter" variability="fixed" start="false"/>
<String name="text" valueReference="102" causality="parameter" variability="fixed"><Start value=""/></String>
"#;

/// The element of the model description that offers Co-Simulation.
pub(super) fn co_simulation(fmi: Fmi, model: &str, identifier: &str, extra: &str) -> String {
    match fmi {
        Fmi::V1 => format!(
            r#"<Implementation><CoSimulation_StandAlone><Capabilities canHandleVariableCommunicationStepSize="true"
 canInterpolateInputs="true" {extra}/></CoSimulation_StandAlone></Implementation>"#
        ),
        Fmi::V2 => format!(
            r#"<CoSimulation modelIdentifier="{identifier}" canHandleVariableCommunicationStepSize="true" canInterpolateInputs="true"
 canGetAndSetFMUstate="true" canSerializeFMUstate="true" providesDirectionalDerivative="true" {extra}/>"#
        ),
        Fmi::V3 => format!(
            r#"<CoSimulation modelIdentifier="{identifier}" canHandleVariableCommunicationStepSize="true"
 canGetAndSetFMUState="true" canSerializeFMUState="true" providesDirectionalDerivatives="true" {} {extra}/>"#,
            if model.starts_with('S') { "providesIntermediateUpdate=\"true\"" } else { "" }
        ),
    }
}

/// The element of the model description that offers Model Exchange.
pub(super) fn model_exchange(fmi: Fmi, model: &str, identifier: &str, plain: bool) -> String {
    let stores = if plain { "" } else { "canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\"" };
    let directional = match (plain, model) {
        (false, "S1" | "S2" | "Lag") => "providesDirectionalDerivatives=\"true\"",
        _ => "",
    };
    let steps = if plain { "false" } else { "true" };
    match fmi {
        Fmi::V1 => String::new(),
        Fmi::V2 => format!(
            "<ModelExchange modelIdentifier=\"{identifier}\" completedIntegratorStepNotNeeded=\"{plain}\" {} {}/>",
            stores.replace("FMUState", "FMUstate"),
            directional.replace("Derivatives", "Derivative"),
        ),
        Fmi::V3 => format!(
            "<ModelExchange modelIdentifier=\"{identifier}\" needsCompletedIntegratorStep=\"{steps}\" {stores} {directional}/>"
        ),
    }
}

/// The description of FMI 1.0, which has other words.
pub(super) fn description_1(model: &str, identifier: &str, token: &str, implementation: &str) -> String {
    let (rows, outputs, states) = variables(model);
    let mut list = String::new();
    for (name, reference, causality, start) in rows {
        let start = start.map_or(String::new(), |start| format!(" start=\"{start}\""));
        let words = match (*causality, *name) {
            ("parameter", _) => "variability=\"parameter\"".to_owned(),
            ("local", _) => "causality=\"internal\"".to_owned(),
            (causality, "gate" | "sampled") => format!("causality=\"{causality}\" variability=\"discrete\""),
            (causality, _) => format!("causality=\"{causality}\""),
        };
        let is_input = |known: &&u32| rows.iter().any(|row| row.1 == **known && row.2 == "input");
        let known = outputs.iter().find(|(output, _)| output == reference).map(|(_, known)| {
            let input = |known: &u32| rows.iter().find(|row| row.1 == *known).unwrap().0;
            let names = known.iter().filter(is_input).map(|known| format!("<Name>{}</Name>", input(known)));
            format!("<DirectDependency>{}</DirectDependency>", names.collect::<String>())
        });
        let known = known.unwrap_or_default();
        let head = format!("name=\"{name}\" valueReference=\"{reference}\" {words}");
        writeln!(list, "<ScalarVariable {head}><Real{start}/>{known}</ScalarVariable>").unwrap();
    }
    let indicators = usize::from(rows.iter().any(|row| row.0 == "z"));
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="1.0" modelName="{model}" modelIdentifier="{identifier}" guid="{token}" numberOfContinuousStates="{}" numberOfEventIndicators="{indicators}">
<ModelVariables>{list}{}</ModelVariables>
{implementation}
</fmiModelDescription>"#,
        states.len(),
        if model == "Fault" { FAULT_1 } else { "" },
    )
}

pub(super) fn description(fmi: Fmi, model: &str, identifier: &str, token: &str, interface: &str) -> String {
    if fmi == Fmi::V1 {
        return description_1(model, identifier, token, interface);
    }
    let (rows, outputs, states) = variables(model);
    let index = |reference: u32| rows.iter().position(|row| row.1 == reference).unwrap() + 1;
    let mut list = String::new();
    for (name, reference, causality, start) in rows {
        let start = start.map_or(String::new(), |start| format!(" start=\"{start}\""));
        let of = states.iter().find(|(derivative, _)| derivative == reference).map(|(_, state)| *state);
        let variability = match (*causality, *name) {
            ("parameter", _) => "fixed",
            (_, "gate" | "sampled") => "discrete",
            _ => "continuous",
        };
        let is_reset =
            matches!(model, "Ball" | "Stepper") && states.iter().any(|(_, state)| state == reference);
        let reinit = if is_reset { " reinit=\"true\"" } else { "" };
        let head = format!(
            "name=\"{name}\" valueReference=\"{reference}\" causality=\"{causality}\" variability=\"{variability}\""
        );
        match fmi {
            Fmi::V1 | Fmi::V2 => {
                let of = of.map_or(String::new(), |state| format!(" derivative=\"{}\"", index(state)));
                writeln!(list, "<ScalarVariable {head}><Real{start}{of}{reinit}/></ScalarVariable>").unwrap();
            }
            Fmi::V3 => {
                let of = of.map_or(String::new(), |state| format!(" derivative=\"{state}\""));
                let exchanged = matches!(model, "S1" | "S2") && matches!(*causality, "input" | "output");
                let exchanged = if exchanged { " intermediateUpdate=\"true\"" } else { "" };
                writeln!(list, "<Float64 {head}{start}{of}{exchanged}{reinit}/>").unwrap();
            }
        }
    }
    let is_fault = model == "Fault";
    let mut structure = [String::new(), String::new(), String::new()];
    for (output, known) in outputs {
        let known = |name: &dyn Fn(u32) -> usize| {
            known.iter().map(|known| name(*known).to_string()).collect::<Vec<_>>().join(" ")
        };
        match fmi {
            Fmi::V1 | Fmi::V2 => {
                let entry =
                    format!("<Unknown index=\"{}\" dependencies=\"{}\"/>", index(*output), known(&index));
                structure[0] += &entry;
                structure[2] += &entry;
            }
            Fmi::V3 => {
                let entry =
                    format!("valueReference=\"{output}\" dependencies=\"{}\"/>", known(&|r| r as usize));
                structure[0] += &format!("<Output {entry}");
                structure[2] += &format!("<InitialUnknown {entry}");
            }
        }
    }
    for (derivative, _) in states {
        match fmi {
            Fmi::V1 | Fmi::V2 => {
                let entry = format!("<Unknown index=\"{}\"/>", index(*derivative));
                structure[1] += &entry;
                structure[2] += &entry;
            }
            Fmi::V3 => {
                structure[1] += &format!("<ContinuousStateDerivative valueReference=\"{derivative}\"/>");
                structure[2] += &format!("<InitialUnknown valueReference=\"{derivative}\"/>");
            }
        }
    }
    let [outputs, derivatives, mut initial] = structure;
    let indicators = usize::from(rows.iter().any(|row| row.0 == "z"));
    if indicators > 0 {
        initial += "<EventIndicator valueReference=\"25\"/>";
    }
    match fmi {
        Fmi::V1 | Fmi::V2 => format!(
            r#"<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="{model}" guid="{token}" numberOfEventIndicators="{indicators}">
{interface}
<ModelVariables>{list}{}</ModelVariables>
<ModelStructure><Outputs>{outputs}</Outputs><Derivatives>{derivatives}</Derivatives><InitialUnknowns>{}</InitialUnknowns></ModelStructure>
</fmiModelDescription>"#,
            if is_fault { FAULT_2 } else { "" },
            initial.replace("<EventIndicator valueReference=\"25\"/>", "")
        ),
        Fmi::V3 => format!(
            r#"<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="{model}" instantiationToken="{token}">
{interface}
<ModelVariables>{list}{}</ModelVariables>
<ModelStructure>{outputs}{derivatives}{initial}</ModelStructure>
</fmiModelDescription>"#,
            if is_fault { FAULT_3 } else { "" }
        ),
    }
}

/// Leaves derivatives of states out of the structure of a model. Those alone stand there without dependencies.
pub(super) fn without_states(text: &str) -> String {
    let is_derivative = |element: &&str| {
        let names =
            ["Unknown ", "InitialUnknown ", "ContinuousStateDerivative ", "Derivatives>", "/Derivatives>"];
        names.iter().any(|name| element.starts_with(name)) && !element.contains("dependencies")
    };
    text.split('<').filter(|element| !is_derivative(element)).collect::<Vec<_>>().join("<")
}
