//! Whether the inputs of a run say enough to identify its parts, and whether outputs say the same twice.

use costep::{NativePart, Run, System};
use costep_core::External;
use costep_ident::NamedModel;

/// An oscillator under an external signal. Its outputs: position, speed or twice the position.
fn plant(signal: External, twice: bool) -> System {
    let part = NativePart::new("plant", &[0.1, 0.0])
        .input("u", "N", 1.0)
        .output("x", "m", 1.0)
        .output(if twice { "double" } else { "v" }, "m", 1.0)
        .derivatives(|_, x, u, dx| {
            dx[0] = x[1];
            dx[1] = u[0] - 400.0 * x[0] - 4.0 * x[1];
        })
        .outputs(move |_, x, _, y| y.copy_from_slice(&[x[0], if twice { 2.0 * x[0] } else { x[1] }]));
    System::builder().native(part).drive("plant.u", signal).stop(4.0).step(0.01).build().unwrap()
}

fn model_of(system: &System, method: &str) -> NamedModel {
    let models = system.identify(Run::new().method(method)).unwrap();
    assert!(models.to_toml().unwrap().contains("excitation_order"));
    models.models[0].clone()
}

fn sine() -> External {
    External::Sine { amplitude: 5.0, frequency: 1.3, phase: 0.4, start: 0.0 }
}

/// A constant is of order 1, a sine of order 2: enough for ARX with N = M = 1, too little for more parameters.
#[test]
fn the_order_of_the_inputs_is_told_with_the_one_that_the_model_needs() {
    let square = External::Square { high: 1.0, low: -3.0, frequency: 0.7, phase: 0.0, start: 0.0 };
    for (signal, method, order, needed) in [
        (External::Constant(3.0), "mbcorr:source=rls", 1, 2),
        (sine(), "mbcorr:source=rls", 2, 2),
        (sine(), "mbcorr:source=ij-rls", 2, 3),
        (sine(), "mbcorr:source=rls,n=2,m=2", 2, 4),
        (square.clone(), "mbcorr:source=ij-rls", 4, 3),
        (square, "mbcorr:source=moesp,model_order=2", 6, 5),
    ] {
        // Learning to the end: when a method begins to follow models, that excites the part too.
        let model = model_of(&plant(signal, false), &format!("{method},learning=1000"));
        let found = (model.excitation_order.unwrap(), model.needed_order.unwrap());
        assert_eq!(found, (order, needed), "{method}");
        assert!(model.dependent_outputs.is_empty(), "{method}");
    }
}

#[test]
fn outputs_that_say_the_same_twice_are_named() {
    let model = model_of(&plant(sine(), true), "mbcorr:source=rls");
    assert_eq!(model.dependent_outputs, ["double"]);
}

/// A run with identified models says both among its warnings; one whose inputs are rich says nothing.
#[test]
fn runs_with_identified_models_say_what_they_cannot_know() {
    let warnings = |signal: External, twice: bool| {
        let run = Run::new().method("mbcorr:source=ij-rls").reference("none");
        plant(signal, twice).run(run).unwrap().report.warnings
    };
    let poor = warnings(External::Constant(3.0), true);
    assert!(poor.iter().any(|text| text.contains("exciting of order 1, its model needs 3")), "{poor:?}");
    assert!(poor.iter().any(|text| text.contains("`plant.double` is constant or a linear")), "{poor:?}");
    let square = External::Square { high: 1.0, low: -3.0, frequency: 0.7, phase: 0.0, start: 0.0 };
    assert_eq!(warnings(square, false), Vec::<String>::new());
}
