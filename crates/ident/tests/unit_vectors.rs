//! Identification against numbers of an independent prototype.

mod common;

use common::{Generator, System, assert_close};
use costep_core::InterfaceModel;
use costep_ident::{
    Forgetting, IjRls, InputForm, Moesp, MoespSettings, Rls, RlsSettings, resample, resample_arx,
};
use costep_linalg::Matrix;
use serde_json::Value;

fn oracle() -> Value {
    serde_json::from_str(include_str!("data/ident-unit.json")).unwrap()
}

/// All numbers of a nested list, in order.
fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(list) => list.iter().flat_map(numbers).collect(),
        value => vec![value.as_f64().unwrap()],
    }
}

/// 60 samples of the system under random inputs.
fn samples() -> Vec<([f64; 2], Vec<f64>)> {
    let (mut generator, mut system) = (Generator(1), System::unit());
    let sample = |_| {
        let u = [generator.next(), generator.next()];
        (u, system.step(&u))
    };
    (0..60).map(sample).collect()
}

fn identified(settings: RlsSettings) -> Rls {
    let mut rls = Rls::new(2, 2, settings);
    samples().iter().for_each(|(u, y)| rls.observe(u, y));
    rls
}

#[test]
fn rls_of_first_order() {
    let rls = identified(RlsSettings { outputs: 1, inputs: 1, forgetting: 0.98, start: 1e4 });
    let expected = &oracle()["rls_N1M1"]["params_per_output [a,b1,b2]"];
    for i in 0..2 {
        assert_close(rls.parameters(i), &numbers(&expected[i]), 1e-9);
    }
    let mut model = InterfaceModel::new(2, 2);
    rls.interface(&mut model);
    assert_eq!(model.d_y, [rls.parameters(0)[0], 0.0, 0.0, rls.parameters(1)[0]]);
    assert_eq!(model.d_up[..2], rls.parameters(0)[1..]);
}

#[test]
fn rls_of_second_order_and_its_realisation() {
    let rls = identified(RlsSettings { outputs: 2, inputs: 2, forgetting: 1.0, start: 1e6 });
    let expected = &oracle()["rls_N2M2"];
    for i in 0..2 {
        let parameters = numbers(&expected["params [a1,a2,b11,b12,b21,b22]"][i]);
        assert_close(rls.parameters(i), &parameters, 1e-9);
    }
    let mut model = InterfaceModel::new(2, 2);
    rls.interface(&mut model);
    let jacobians = &expected["gilbert_unit_Sy,Su,Sp"];
    assert_close(&model.d_y, &numbers(&jacobians[0]), 1e-9);
    assert_close(&model.d_u, &numbers(&jacobians[1]), 0.0);
    assert_close(&model.d_up, &numbers(&jacobians[2]), 1e-9);
}

#[test]
fn interface_jacobians_directly() {
    let mut rls = IjRls::new(2, 2, Forgetting::Exponential(1.0), 1e8);
    samples().iter().for_each(|(u, y)| rls.observe(u, y));
    let mut model = InterfaceModel::new(2, 2);
    rls.interface(&mut model);
    let exact = &oracle()["direct_IJ"]["exact_2_18_to_2_20"];
    assert_close(&model.d_y, &numbers(&exact[0]), 1e-7);
    assert_close(&model.d_u, &numbers(&exact[1]), 1e-7);
    assert_close(&model.d_up, &numbers(&exact[2]), 1e-7);
    assert_close(&model.offset, &[0.0; 2], 1e-7);
}

#[test]
fn moesp_is_exact() {
    let oracle = &oracle()["moesp"];
    for order in [2, 0] {
        let mut moesp = Moesp::new(2, 2, MoespSettings { order, block_rows: 5, window: 60, cut: 1e-6 });
        samples().iter().for_each(|(u, y)| moesp.observe(u, y));
        assert!(moesp.identify() && moesp.excitation() > 0.01);
        let model = moesp.model();
        assert_eq!(model.order, 2);
        let mut markov = model.d.clone();
        let mut state = model.b.clone();
        for expected in oracle["exact_markov"].as_array().unwrap() {
            assert_close(markov.data(), &numbers(expected), 1e-9);
            markov.set_product(&model.c, &state);
            let mut next = Matrix::zeros(state.rows(), 2);
            next.set_product(&model.a, &state);
            state = next;
        }
        let mut interface = InterfaceModel::new(2, 2);
        moesp.interface(&mut interface);
        let expected = &oracle["IJ_std Sy,Su=CB-Sy D,Sp=D"];
        assert_close(&interface.d_y, &numbers(&expected[0]), 1e-9);
        assert_close(&interface.d_u, &numbers(&expected[1]), 1e-9);
        assert_close(&interface.d_up, &numbers(&expected[2]), 1e-9);
    }
}

#[test]
fn other_steps() {
    let oracle = &oracle()["resample"];
    let (a, b) = (numbers(&oracle["a"]), numbers(&oracle["B"]));
    for ratio in ["2.0", "3.0", "2.5", "1.6"] {
        let expected = &oracle[&format!("ratio {ratio}")];
        let (expected_a, expected_b) = (numbers(&expected[0]), numbers(&expected[1]));
        for i in 0..2 {
            let (a, factor) = resample_arx(a[i], ratio.parse().unwrap());
            assert_close(
                &[a, factor * b[2 * i], factor * b[2 * i + 1]],
                &[expected_a[i], expected_b[2 * i], expected_b[2 * i + 1]],
                1e-12,
            );
        }
    }
    assert_close(&[resample_arx(0.999, 500.0).1], &[(1.0 - 0.999f64.powi(500)) / 0.001], 1e-9);
}

/// A resampled model says what the fine one says after so many steps.
#[test]
fn interface_jacobians_at_another_step() {
    let fine = InterfaceModel {
        inputs: 1,
        outputs: 2,
        d_y: vec![0.9, 0.2, -0.1, 0.7],
        d_u: vec![0.3, -0.2],
        d_up: vec![0.5, 0.1],
        offset: vec![0.01, -0.02],
    };
    let (before, after) = (0.7, -0.4);
    for form in [InputForm::Hold, InputForm::Ramp] {
        let (mut y, mut ahead) = (vec![1.0, -2.0], vec![0.0; 2]);
        let coarse = resample(&fine, 5, form);
        let mut expected = vec![0.0; 2];
        coarse.predict(&y, &[before], &[after], &mut expected);
        let mut u = before;
        for j in 1..=5 {
            let next = match form {
                InputForm::Hold => after,
                InputForm::Ramp => before + (after - before) * f64::from(j) / 5.0,
            };
            fine.predict(&y, &[u], &[next], &mut ahead);
            y.copy_from_slice(&ahead);
            u = next;
        }
        assert_close(&y, &expected, 1e-14);
    }
}
