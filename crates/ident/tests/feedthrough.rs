//! What stands in for a model that is not trusted, where the direct feedthrough of the subsystem is known.

use costep_ident::{Affine, Bank, BankTuning, Reference};

const TUNING: BankTuning = BankTuning::DEFAULT;
const U: [f64; 2] = [3.0, -2.0];

/// A bank of a subsystem with y = D u + w and w as given, one value per step.
fn bank(d: &[f64; 2], w: &[f64]) -> (Bank, Reference) {
    let (mut bank, mut reference) = (Bank::new(2, 1, &TUNING), Reference::new(2, 1, &TUNING.rls));
    bank.set_feedthrough(d);
    for w in w {
        let y = [w + d[0] * U[0] + d[1] * U[1]];
        if bank.past().y.is_empty() {
            reference.start(&U, &y);
        }
        reference.note(&U, &y);
        bank.observe(&reference, &U, &y);
    }
    (bank, reference)
}

fn ahead(bank: &mut Bank, reference: &Reference) -> Affine {
    let mut affine = Affine::new(2, 1);
    bank.affine(reference, &mut affine);
    affine
}

#[test]
fn the_first_value_is_held_without_the_old_input() {
    let (mut bank, reference) = bank(&[-5.0, 0.5], &[1.0]);
    let affine = ahead(&mut bank, &reference);
    assert_eq!(affine.gain, [-5.0, 0.5]);
    assert_eq!(affine.at(0, &U), -15.0);
    assert_eq!(affine.at(0, &[0.0, 0.0]), 1.0);
}

#[test]
fn another_feedthrough_leaves_the_present_output_what_it_is() {
    let (mut bank, reference) = bank(&[-5.0, 0.5], &[1.0, 1.0]);
    bank.set_feedthrough(&[-4.0, 2.0]);
    let affine = ahead(&mut bank, &reference);
    assert_eq!(affine.gain, [-4.0, 2.0]);
    assert!((affine.at(0, &U) + 15.0).abs() < 1e-12, "{affine:?}");
}
