//! Sound model descriptions of all versions give exactly what they say.

mod common;

use common::xml::{ENGINE_2, ENGINE_3, SMALL_1, SMALL_2, SMALL_3, changed, exchange_1};
use costep_core::Code;
use costep_fmu_file::{
    BaseUnit, Causality, CoSimulation, DefaultExperiment, Dependency, DependencyKind, Dimension, FmiVersion,
    Initial, Interface, IntervalVariability, ModelDescription, ModelExchange, NamingConvention, Number,
    Unknown, Values, Variability, Variable, VariableType, conversion, settings, validate,
};

fn parse(text: &str) -> ModelDescription {
    ModelDescription::parse(text).unwrap()
}

fn named<'a>(description: &'a ModelDescription, name: &str) -> &'a Variable {
    description.variable(name).unwrap_or_else(|| panic!("{name}"))
}

fn depends(kind: DependencyKind, variable: usize) -> Dependency {
    Dependency { variable, kind }
}

#[test]
fn sound_descriptions_have_no_findings() {
    for text in [ENGINE_2, ENGINE_3, SMALL_1, SMALL_2, SMALL_3, &exchange_1()] {
        assert_eq!(validate(&parse(text)), []);
    }
}

#[test]
fn fmi_1_interfaces_and_lists() {
    let d = parse(SMALL_1);
    assert_eq!((d.fmi_version, d.token.as_str()), (FmiVersion::V1, "{1}"));
    let kind = d.co_simulation.as_ref().unwrap();
    assert!(kind.can_handle_variable_communication_step_size && kind.can_interpolate_inputs);
    assert_eq!((kind.max_output_derivative_order, kind.can_run_asynchronously), (1, false));
    let expected = Interface {
        model_identifier: "Engine".into(),
        can_be_instantiated_only_once_per_process: true,
        ..Interface::default()
    };
    assert_eq!(kind.interface, expected);
    assert!(d.model_exchange.is_none());
    assert_eq!((d.number_of_event_indicators, d.number_of_states()), (1, 0));
    let unit = d.unit("m").unwrap();
    assert_eq!((unit.display[0].name.as_str(), unit.display[0].factor), ("mm", 1000.0));
    let items: Vec<_> = d.types[1].items.iter().map(|item| (item.name.as_str(), item.value)).collect();
    assert_eq!(items, [("a", 1), ("b", 2)]);
    assert_eq!(d.default_experiment.tolerance, Some(1e-4));

    let d = parse(&exchange_1());
    let kind = d.model_exchange.as_ref().unwrap();
    assert!(kind.needs_completed_integrator_step && d.co_simulation.is_none());
    assert_eq!(kind.interface.model_identifier, "Engine");
    assert_eq!((d.number_of_event_indicators, d.number_of_states(), d.states().count()), (1, 2, 0));
    // Variables are optional.
    let (start, end) = (SMALL_1.find("  <ModelVariables>").unwrap(), SMALL_1.find("  <Impl").unwrap());
    let empty = parse(&format!("{}{}", &SMALL_1[..start], &SMALL_1[end..]));
    assert_eq!((empty.variables().len(), validate(&empty)), (0, vec![]));
}

#[test]
fn fmi_1_words_are_those_of_later_versions() {
    use {Causality as C, Initial as I, Variability as V};
    let d = parse(SMALL_1);
    for (name, causality, variability, initial) in [
        ("u", C::Input, V::Continuous, I::Exact),
        ("x", C::Output, V::Continuous, I::Approx),
        ("y", C::Output, V::Continuous, I::Calculated),
        ("v", C::Local, V::Continuous, I::Exact),
        ("k", C::Parameter, V::Fixed, I::Exact),
        ("-k", C::Parameter, V::Fixed, I::Exact),
        ("kk", C::CalculatedParameter, V::Fixed, I::Calculated),
        ("c", C::Local, V::Constant, I::Exact),
        ("n", C::Output, V::Discrete, I::Calculated),
        ("on", C::Input, V::Discrete, I::Exact),
        ("text", C::Local, V::Discrete, I::Exact),
    ] {
        let variable = named(&d, name);
        assert_eq!(
            (variable.causality, variable.variability, variable.initial),
            (causality, variability, Some(initial)),
            "{name}"
        );
    }
    assert_eq!(named(&d, "z").unit(), Some("N"), "its own");
    assert_eq!(named(&d, "z").attributes.min, Some(Number::Float(-9.0)), "of the type");
    assert_eq!(d.by_value_reference(VariableType::Float64, 2), d.find("x"));
    assert_eq!(d.by_value_reference(VariableType::Boolean, 1), d.find("on"));
    // Nothing, the inputs named, and, where nothing is said, all of them.
    let outputs: Vec<usize> = ["x", "y", "z", "n"].map(|name| d.find(name).unwrap()).into();
    let inputs: Vec<usize> = d.with_causality(Causality::Input).collect();
    assert_eq!(d.feedthrough(&inputs, &outputs), [vec![], vec![0], vec![0, 1], vec![0, 1]]);
}

#[test]
fn the_sign_of_a_negated_alias_is_applied_to_what_is_set() {
    let d = parse(SMALL_1);
    assert!(named(&d, "-k").is_negated() && !named(&d, "k").is_negated());
    let given = [("-k".to_owned(), Values::Float64(vec![-3.0])), ("v".to_owned(), Values::Int64(vec![4]))];
    let settings = settings::settings(&d, &given).unwrap();
    assert_eq!((settings[0].reference, settings[0].values.clone()), (4, Values::Float64(vec![3.0])));
    assert_eq!(settings[1].values, Values::Float64(vec![4.0]));
    // Nobody else sees it.
    let fitted = settings::fit_value(&d, "-k", &Values::Float64(vec![-3.0])).unwrap();
    assert_eq!(fitted, Values::Float64(vec![-3.0]));
}

#[test]
fn fmi_2_header_interfaces_and_lists() {
    let d = parse(ENGINE_2);
    assert_eq!((d.fmi_version, d.fmi_version_text.as_str()), (FmiVersion::V2, "2.0"));
    assert_eq!(d.model_name, "Plant.Engine");
    assert_eq!(d.token, "{8c4e810f-3df3-4a00-8276-176fa3c9f000}");
    assert_eq!(d.origin.description.as_deref(), Some("Engine with a shaft & a clutch"));
    assert_eq!(d.origin.author.as_deref(), Some("J. Döe"));
    assert_eq!(d.origin.generation_tool.as_deref(), Some("Some Tool 3.1"));
    assert_eq!((d.origin.license.as_ref(), d.origin.version.as_deref()), (None, Some("1.2")));
    assert_eq!(d.naming, NamingConvention::Structured);
    assert_eq!(d.number_of_event_indicators, 2);
    let interface = Interface {
        model_identifier: "Engine".into(),
        can_get_and_set_state: true,
        can_serialize_state: true,
        provides_directional_derivatives: true,
        ..Interface::default()
    };
    let expected = CoSimulation {
        interface,
        can_handle_variable_communication_step_size: true,
        can_interpolate_inputs: true,
        max_output_derivative_order: 2,
        ..CoSimulation::default()
    };
    assert_eq!(d.co_simulation, Some(expected));
    let interface = Interface {
        model_identifier: "Engine".into(),
        can_be_instantiated_only_once_per_process: true,
        can_not_use_memory_management_functions: true,
        ..Interface::default()
    };
    let expected = ModelExchange {
        interface,
        needs_completed_integrator_step: false,
        provides_evaluate_discrete_states: false,
    };
    assert_eq!(d.model_exchange, Some(expected));
    assert_eq!(d.scheduled_execution, None);

    let names: Vec<&str> = d.units.iter().map(|unit| unit.name.as_str()).collect();
    assert_eq!(names, ["rad/s", "N.m", "degC"]);
    assert_eq!(d.units[0].base.unwrap().exponents, [0, 0, -1, 0, 0, 0, 0, 1]);
    assert_eq!(d.units[0].display[0].factor, 9.549296585513721);
    let celsius = BaseUnit { exponents: [0, 0, 0, 0, 1, 0, 0, 0], factor: 1.0, offset: 273.15 };
    assert_eq!(d.unit("degC").unwrap().base, Some(celsius));
    assert!(d.unit("furlong").is_none());
    assert_eq!(d.types[1].items[0].description.as_deref(), Some("no torque"));
    assert_eq!(d.log_categories.len(), 2);
    let experiment = DefaultExperiment {
        start_time: Some(0.0),
        stop_time: Some(10.5),
        tolerance: Some(1e-6),
        step_size: Some(0.001),
    };
    assert_eq!(d.default_experiment, experiment);
}

#[test]
fn fmi_2_variables_with_defaults_and_types() {
    let d = parse(ENGINE_2);
    assert_eq!(d.variables().len(), 12);

    let time = named(&d, "time");
    assert_eq!((time.causality, time.initial, time.line), (Causality::Independent, None, 42));

    let load = named(&d, "load");
    assert_eq!((load.kind, load.value_reference), (VariableType::Float64, 1));
    assert_eq!((load.causality, load.variability), (Causality::Input, Variability::Continuous));
    assert_eq!(load.initial, Some(Initial::Exact));
    assert_eq!(load.description.as_deref(), Some("torque on the shaft"));
    assert_eq!(load.start, Some(Values::Float64(vec![-2.5])));
    assert_eq!(load.unit(), Some("N.m"));
    assert_eq!(load.attributes.quantity.as_deref(), Some("Torque"));
    assert_eq!(load.attributes.min, Some(Number::Float(-500.0)), "of the type");
    assert_eq!(load.attributes.max, Some(Number::Float(400.0)), "its own");
    assert_eq!(load.attributes.nominal, Some(100.0));
    assert_eq!(load.declared_type, Some(0));

    let gear = named(&d, "gear");
    assert_eq!(
        (gear.kind, gear.start.clone()),
        (VariableType::Enumeration, Some(Values::Enumeration(vec![1])))
    );
    assert!(
        !gear.flags.can_handle_multiple_set_per_time_instant
            && load.flags.can_handle_multiple_set_per_time_instant
    );

    let speed = named(&d, "speed");
    assert_eq!((speed.unit(), speed.attributes.display_unit.as_deref()), (Some("rad/s"), Some("rpm")));
    assert!(speed.flags.reinit && speed.attributes.unbounded);

    let derivative = named(&d, "der(speed)");
    assert_eq!((derivative.derivative_of, derivative.initial), (Some(3), Some(Initial::Calculated)));
    assert_eq!(derivative.causality, Causality::Local);

    assert_eq!(named(&d, "cylinders").start, Some(Values::Int32(vec![6])));
    assert_eq!(named(&d, "cylinders").attributes.max, Some(Number::Integer(12)));
    assert_eq!(named(&d, "turbo").start, Some(Values::Boolean(vec![true])));
    assert_eq!(named(&d, "label").start, Some(Values::String(vec!["a < b  c".into()])));

    // Each type counts value references on its own.
    assert_eq!(d.by_value_reference(VariableType::Float64, 1), d.find("load"));
    assert_eq!(d.by_value_reference(VariableType::Int32, 1), d.find("cylinders"));
    assert_eq!(d.by_value_reference(VariableType::Enumeration, 2), d.find("gear"));
    assert_eq!(d.by_value_reference(VariableType::Float64, 3), d.find("speed"), "the first of two");
    assert_eq!(d.by_value_reference(VariableType::Boolean, 9), None);
}

#[test]
fn fmi_2_structure() {
    let d = parse(ENGINE_2);
    let outputs: Vec<_> = d.structure.outputs.iter().map(|u| (u.variable, u.dependencies.clone())).collect();
    assert_eq!(outputs, [(3, Some(vec![])), (5, None)]);
    let [Unknown { variable: 4, dependencies: Some(dependencies), .. }] = d.structure.derivatives.as_slice()
    else {
        panic!("{:?}", d.structure.derivatives);
    };
    let expected = [depends(DependencyKind::Constant, 1), depends(DependencyKind::Dependent, 3)];
    assert_eq!(dependencies.as_slice(), expected);
    assert_eq!(d.structure.initial_unknowns.len(), 3);
    let states: Vec<_> = d.states().map(|s| (s.state, s.derivative, s.elements)).collect();
    assert_eq!(states, [(3, 4, 1)]);
    let inputs: Vec<usize> = d.with_causality(Causality::Input).collect();
    let outputs: Vec<usize> = d.with_causality(Causality::Output).collect();
    assert_eq!((inputs.as_slice(), outputs.as_slice()), (&[1, 2][..], &[3, 5][..]));
    assert_eq!(d.feedthrough(&inputs, &outputs), [vec![], vec![0, 1]]);
}

#[test]
fn fmi_3_interfaces() {
    let d = parse(ENGINE_3);
    assert_eq!((d.fmi_version, d.token.as_str()), (FmiVersion::V3, "{token 3}"));
    let expected = CoSimulation {
        interface: Interface {
            model_identifier: "Engine".into(),
            can_get_and_set_state: true,
            can_serialize_state: true,
            provides_directional_derivatives: true,
            provides_per_element_dependencies: true,
            ..Interface::default()
        },
        can_handle_variable_communication_step_size: true,
        can_interpolate_inputs: false,
        max_output_derivative_order: 1,
        can_run_asynchronously: false,
        fixed_internal_step_size: Some(0.01),
        recommended_intermediate_input_smoothness: -1,
        provides_intermediate_update: true,
        might_return_early_from_do_step: true,
        can_return_early_after_intermediate_update: true,
        has_event_mode: true,
        provides_evaluate_discrete_states: false,
    };
    assert_eq!(d.co_simulation, Some(expected));
    let exchange = d.model_exchange.as_ref().unwrap();
    assert!(exchange.needs_completed_integrator_step && exchange.provides_evaluate_discrete_states);
    assert!(exchange.interface.provides_adjoint_derivatives && !exchange.interface.can_get_and_set_state);
    assert_eq!(d.scheduled_execution.as_ref().unwrap().interface.model_identifier, "Engine");
    assert_eq!(d.interfaces().count(), 3);
    assert!(d.units[0].display[0].inverse);
    assert_eq!(d.units[1].base, None);
    assert_eq!((d.origin.license.as_deref(), d.origin.copyright.as_deref()), (Some("BSD"), Some("(c)")));
}

#[test]
fn fmi_3_arrays_and_values_of_all_types() {
    let d = parse(ENGINE_3);
    let a = named(&d, "A");
    assert_eq!(a.dimensions, [Dimension::Variable(1), Dimension::Fixed(3)]);
    assert_eq!(a.elements, 6);
    assert_eq!(a.start, Some(Values::Float64(vec![1.0, 2.5, -3.0, f64::INFINITY, 5.0, 6.0])));
    assert_eq!(d.elements(2, |_| 5), Some(15));
    assert_eq!(d.elements(2, |_| u64::MAX), None);
    assert_eq!(d.elements(0, |_| 5), Some(1));

    let x = named(&d, "x");
    assert_eq!((x.elements, x.variability, x.flags.intermediate_update), (2, Variability::Continuous, true));
    assert_eq!(x.start.clone().unwrap().expanded(2), Some(Values::Float64(vec![7.0; 2])));
    assert_eq!((d.find("state"), d.find("state2"), d.find("x")), (Some(3), Some(3), Some(3)));
    assert_eq!(x.aliases[0].description.as_deref(), Some("the state"));
    assert_eq!(x.aliases[1].display_unit.as_deref(), Some("mpg"));

    assert_eq!(named(&d, "u").start, Some(Values::Float32(vec![0.1])));
    let y = named(&d, "y");
    assert_eq!((y.unit(), y.attributes.nominal), (Some("L/100km"), Some(8.0)));
    assert_eq!((y.attributes.min, y.attributes.max), (None, Some(Number::Float(20.0))));
    assert_eq!(named(&d, "i16").variability, Variability::Fixed);
    assert_eq!(named(&d, "i16").attributes.min, Some(Number::Integer(-5)));
    assert_eq!(named(&d, "i8").start, Some(Values::Int8(vec![-128, 127])));
    assert_eq!(named(&d, "u64").start, Some(Values::UInt64(vec![u64::MAX])));
    assert_eq!(named(&d, "b").start, Some(Values::Boolean(vec![true, false, true, false])));
    assert_eq!((named(&d, "b").elements, named(&d, "b").dimensions.len()), (4, 2));
    assert_eq!(named(&d, "s").start, Some(Values::String(vec!["one two".into(), String::new()])));
    let bin = named(&d, "bin");
    assert_eq!(bin.start, Some(Values::Binary(vec![vec![0x3c, 0x3f]])));
    assert_eq!(bin.attributes.mime_type.as_deref(), Some("application/x-frame"));
    assert_eq!(bin.attributes.max_size, Some(8));
    assert_eq!(bin.variability, Variability::Discrete);
    assert_eq!(named(&d, "mode").start, Some(Values::Enumeration(vec![2])));
}

#[test]
fn fmi_3_clocks_and_structure() {
    let d = parse(ENGINE_3);
    let tick = named(&d, "tick").clock.as_ref().unwrap();
    assert_eq!(tick.interval_variability, Some(IntervalVariability::Constant));
    assert_eq!((tick.interval_decimal, tick.priority), (Some(0.5), Some(3)), "of the type");
    assert_eq!(named(&d, "tick").initial, None);
    let count = named(&d, "count");
    assert_eq!((count.previous, count.clocks.as_slice()), (Some(17), &[14][..]));

    let s = &d.structure;
    let expected = [depends(DependencyKind::Constant, 5), depends(DependencyKind::Dependent, 3)];
    assert_eq!(s.outputs[0].dependencies.as_deref(), Some(&expected[..]));
    assert_eq!([s.outputs.len(), s.clocked_states.len(), s.initial_unknowns.len()], [2, 1, 2]);
    assert_eq!(d.number_of_event_indicators, 1);
    assert_eq!(d.number_of_states(), 2);
    assert_eq!(d.states().map(|s| (s.state, s.derivative, s.elements)).collect::<Vec<_>>(), [(3, 4, 2)]);
    assert_eq!(d.feedthrough(&[5, 12], &[6]), [vec![0]]);
}

#[test]
fn all_versions_of_3_are_read_and_drafts_are_noted() {
    for version in ["3.0", "3.0.1", "3.1", "3.12.7"] {
        let d = parse(&changed(SMALL_3, r#"fmiVersion="3.0""#, &format!(r#"fmiVersion="{version}""#)));
        assert_eq!((d.fmi_version, d.fmi_version_text.as_str()), (FmiVersion::V3, version));
        assert_eq!(validate(&d), []);
    }
    let d = parse(&changed(SMALL_3, r#"fmiVersion="3.0""#, r#"fmiVersion="3.0-beta.2""#));
    assert_eq!(
        validate(&d)[0].to_string(),
        "warning[E0128]: `3.0-beta.2` is a trial version of FMI (line 2)"
    );
}

#[test]
fn other_encodings_give_the_same_description() {
    let text = changed(ENGINE_2, r#"encoding="UTF-8""#, r#"encoding="ISO-8859-1""#);
    let text = changed(&text, "torque on the shaft", "Drehmoment für die Welle");
    let latin: Vec<u8> = text.chars().map(|c| c as u8).collect();
    let read = |bytes: &[u8]| {
        ModelDescription::read(bytes, "x".as_ref(), &costep_fmu_file::Limits::default()).unwrap()
    };
    let d = read(&latin);
    assert_eq!(named(&d, "load").description.as_deref(), Some("Drehmoment für die Welle"));
    let wide: Vec<u8> = format!("\u{FEFF}{text}").encode_utf16().flat_map(u16::to_be_bytes).collect();
    let wide = read(&wide);
    assert_eq!(wide.variables(), d.variables());
    assert_eq!(validate(&d)[0].code, Code::FmuSchema, "FMI demands UTF-8");
}

#[test]
fn line_ends_of_windows_change_nothing() {
    for text in [ENGINE_2, ENGINE_3] {
        assert_eq!(parse(&text.replace('\n', "\r\n")), parse(text));
    }
}

#[test]
fn a_name_that_is_not_there_is_answered_by_a_similar_one() {
    let error = parse(ENGINE_2).require("inertai").unwrap_err();
    assert_eq!(error.code(), Code::UnknownName);
    assert_eq!(error.details().message, "the FMU `Plant.Engine` has no variable `inertai`");
    assert_eq!(error.details().hint.as_deref(), Some("did you mean `inertia`?"));
    assert_eq!(parse(ENGINE_2).require("inertia").unwrap(), 6);
}

#[test]
fn inner_variables_of_the_same_name_are_told_apart_by_nobody() {
    let d = parse(&changed(SMALL_1, r#"name="text""#, r#"name="v""#));
    let found = validate(&d);
    assert_eq!((found.len(), found[0].severity), (1, costep_fmu_file::Severity::Warning), "{found:?}");
    let error = settings::settings(&d, &[("v".to_owned(), Values::Float64(vec![1.0]))]).unwrap_err();
    assert_eq!(error.code(), Code::FmuDuplicate);
    assert!(error.to_string().contains("several variables `v`"), "{error}");
    assert!(d.require("k").is_ok() && d.require("-k").is_ok());
}

#[test]
fn units_of_two_models_are_converted() {
    let (two, three) = (parse(ENGINE_2), parse(SMALL_3));
    let feet = parse(&changed(
        SMALL_2,
        r#"<Unit name="m"><BaseUnit m="1"/>"#,
        r#"<Unit name="m"><BaseUnit m="1" factor="0.3048"/>"#,
    ));
    let length = conversion((&feet, named(&feet, "x")), (&three, named(&three, "x"))).unwrap();
    assert_eq!((length.factor, length.offset, length.checked), (0.3048, 0.0, true));
    let error = conversion((&two, named(&two, "speed")), (&three, named(&three, "x"))).unwrap_err();
    assert_eq!(error.code(), Code::UnitMismatch);
    assert_eq!(
        error.details().message,
        "units of `speed` and `x` differ: `rad/s` (s-1.rad) cannot be converted to `m` (m)"
    );
    let unknown = conversion((&two, named(&two, "inertia")), (&three, named(&three, "x"))).unwrap();
    assert!(unknown.is_identity() && !unknown.checked);
}

#[test]
fn differences_and_values_of_temperature_do_not_mix() {
    let absolute = parse(ENGINE_2);
    let relative = parse(&changed(ENGINE_2, r#"relativeQuantity="false""#, r#"relativeQuantity="true""#));
    let t = |d| named(d, "temperature");
    assert!(conversion((&absolute, t(&absolute)), (&absolute, t(&absolute))).unwrap().is_identity());
    let error = conversion((&absolute, t(&absolute)), (&relative, t(&relative))).unwrap_err();
    assert_eq!(error.code(), Code::UnitMismatch);
}

#[test]
fn ten_thousand_variables_are_found_by_name() {
    use std::fmt::Write;
    let mut variables = String::new();
    for index in 0..10_000 {
        writeln!(variables, r#"<Float64 name="v{index}" valueReference="{}"/>"#, 100 + index).unwrap();
    }
    let text = changed(SMALL_3, "</ModelVariables>", &format!("{variables}</ModelVariables>"));
    let d = parse(&text);
    for index in [0, 1, 9_999] {
        assert_eq!(d.find(&format!("v{index}")), Some(10 + index));
        assert_eq!(d.by_value_reference(VariableType::Float64, 100 + index as u32), Some(10 + index));
    }
    assert_eq!(validate(&d), []);
}
