//! Options that do nothing with the chosen source of models: named, since who gives them expects something.

use costep_core::{Code, Error, MethodEntry, OptionSpec, Options};
use costep_ident::sources::{FROM_FILE, PROBE, SOURCE};

const LOCAL: &[&str] = &["exact", "finite-difference", PROBE];
const IDENTIFIED: &[&str] = &["rls", "ij-rls", "moesp", FROM_FILE];

/// Options and the sources that they are for. What is not here goes with all.
const FOR: [(&[&str], &[&str]); 9] = [
    (&["n", "m"], &["rls"]),
    (&["forgetting", "variance"], &["rls", "ij-rls", FROM_FILE]),
    (&["model_order", "block_rows", "window", "cut", "interval"], &["moesp"]),
    (&["samples"], &["rls", "ij-rls", "moesp"]),
    (&["file"], &[FROM_FILE]),
    (&["amplitude"], &[PROBE]),
    (&["refresh", "every"], LOCAL),
    (
        &[
            "learning",
            "switching",
            "signal_threshold",
            "modified_threshold",
            "fallback",
            "parameters",
            "ede_fresh",
        ],
        IDENTIFIED,
    ),
    // Of the continuous forms: with identified models inputs are held, and follow from outputs alone.
    (
        &[
            "order",
            "discretisation",
            "fit",
            "states",
            "offsets",
            "inner_steps",
            "euler_step",
            "substeps",
            "input_error",
            "output_error",
            "state_error",
            "input",
            "target",
            "ede_solver",
            "ede_steps",
            "extrapolation",
            "extrapolation_steps",
            "phi_steps",
        ],
        LOCAL,
    ),
];

/// One for each option that was given and that the method does not look at with the chosen source. Defaults do nothing anyway.
pub(crate) fn warnings(method: &MethodEntry, options: &Options) -> Vec<Error> {
    if !method.options.iter().any(|option| option.name == SOURCE.name) {
        return Vec::new();
    }
    let source = options.text(SOURCE.name);
    let is_given = |option: &OptionSpec| {
        options.is_given(option.name)
            && options
                .iter()
                .any(|(name, value)| name == option.name && *value != option.kind.default_value())
    };
    let warning = |option: &OptionSpec| {
        let (_, sources) = FOR.iter().find(|(names, _)| names.contains(&option.name))?;
        let message = format!("`{}` of `{}` does nothing with `source={source}`", option.name, method.id);
        let warning = Error::new(Code::IdleOption, message)
            .because(format!("it is for `{}`", sources.join("`, `")))
            .hint(format!("leave out `{}`, or give one of these as `source`", option.name));
        (!sources.contains(&source)).then_some(warning)
    };
    method.options.iter().filter(|option| is_given(option)).filter_map(warning).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{METHODS, MethodSpec};

    #[test]
    fn what_does_nothing_is_named() {
        for text in [
            "mbcorr:file=x.toml",
            "mbcorr:source=rls,file=x.toml",
            "mbcorr:n=2",
            "mbcorr:source=ij-rls,n=2",
            "mbcorr:source=rls,order=1",
            "mbcorr:learning=5",
            "predictive:source=rls,order=3",
            "predictive:source=from-file,file=x.toml,samples=2",
            "predictive:amplitude=1",
            "prestep:source=rls,every=2",
            "prestep:ede_fresh=true",
        ] {
            let warnings = MethodSpec::parse(text).unwrap().idle_options();
            assert_eq!(warnings.len(), 1, "{text}: {warnings:?}");
            assert!(warnings[0].to_string().contains("does nothing with `source="), "{warnings:?}");
        }
        for text in [
            "nepce:alpha=0.5",
            "identified:file=x.toml",
            "mbcorr:n=1",
            "mbcorr:source=exact,order=1",
            "prestep:source=rls,n=2,m=2,ede=true,ede_fresh=true",
        ] {
            let warnings = MethodSpec::parse(text).unwrap().idle_options();
            assert!(warnings.is_empty(), "{text}: {warnings:?}");
        }
    }

    /// A slip in the table would be of no effect.
    #[test]
    fn the_table_knows_options_and_sources_alone() {
        let known = |name: &&str| {
            METHODS.iter().any(|method| method.options.iter().any(|option| option.name == *name))
        };
        for (names, sources) in FOR {
            assert!(names.iter().all(known), "{names:?}");
            let is_source = |source: &&str| LOCAL.contains(source) || IDENTIFIED.contains(source);
            assert!(sources.iter().all(is_source), "{sources:?}");
        }
    }
}
