//! Orders that are known.

use costep_conformance::order::claims_no_less_than_it_has;

#[test]
fn the_holds_do_not_claim_less_than_they_have() {
    for id in ["zoh", "foh", "soh"] {
        claims_no_less_than_it_has(costep_methods::find(id).unwrap());
    }
}
