//! Can a verdict be relied on, and does the default do harm? Many systems with drawn parameters and steps,
//! run without a reference by several methods; truth is a fine reference that the runs do not see.

mod cases;
mod devices;
mod files;
mod measure;
mod pairs;
mod parts;
mod study;
mod systems;
mod tables;
mod truth;

pub use cases::{Case, cases, kinds};
pub use files::file_cases;
pub use measure::Said;
pub use parts::{Counts, Guise};
pub use study::{Judged, SIMPLE, Studied, TINY, study};
pub use tables::{json, markdown, verbose};
pub use truth::{Distance, Truth};

#[cfg(test)]
mod tests {
    use costep::{Comparison, Verify};

    use super::*;

    const METHODS: [&str; 5] = ["zoh", "nepce", "foh", "identified", "auto"];

    #[test]
    fn a_draw_is_the_same_again_and_another_seed_is_not() {
        let drawn = |count, seed| -> Vec<String> {
            let all = cases(count, seed).unwrap();
            all.iter().map(|case| format!("{} {:?} {}", case.what, case.guise, case.steps)).collect()
        };
        let all = kinds().len();
        assert_eq!(drawn(all, 3), drawn(2 * all, 3)[..all]);
        assert!(drawn(all, 3).iter().zip(drawn(all, 4)).all(|(one, other)| *one != other));
    }

    #[test]
    fn errors_are_those_of_a_comparison() {
        let case = cases(1, 15).unwrap().remove(0);
        let system = case.system(&Counts::default()).unwrap();
        let comparison = Comparison::new().method("zoh").reference("dopri5:1e-11");
        let compared = system.compare(&comparison).unwrap().reports.remove(0).errors.eps_mono.unwrap();
        let found = study(&case, &["zoh".into()], Verify::Never).unwrap().runs.remove(0).truth.eps;
        assert!((found / compared - 1.0).abs() < 1e-6, "{found} {compared}");
    }

    /// A small corpus: one case of every kind. What a run says is compared with what is true.
    #[test]
    fn no_run_is_stable_by_its_own_word_alone() {
        let methods = METHODS.map(String::from);
        let mut wrong = Vec::new();
        for case in cases(kinds().len(), 1).unwrap() {
            let studied = study(&case, &methods, Verify::Always).unwrap();
            for run in &studied.runs {
                // What ended early is bad, whoever says so.
                assert!(run.said.verdict != "Diverged" || run.is_bad(), "{}", verbose(&studied));
                assert!(run.said.calls >= run.said.counted, "{}", verbose(&studied));
                if run.is_false_stable() {
                    wrong.push(format!("{} {} {}", case.id, case.kind, run.method));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
