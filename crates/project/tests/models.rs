//! `[models]`: where the methods take models of the parts from.

mod common;

use std::path::Path;

use common::{codes, errors, errors_with, good, good_with, line};
use costep_core::{Code, ModelKind};
use costep_project::load_text;

const RIG: &str =
    "[system]\nmodel = \"dual-mass\"\n\n[method]\nid = \"prestep\"\n\n[models]\nsource = \"rls\"\nn = 2\n";

#[test]
fn the_models_stand_beside_the_method() {
    let project = good(RIG);
    let method = &project.groups[0].method;
    assert_eq!(method.label(), "prestep:source=rls,n=2");
    assert_eq!(method.models.entry.kind, ModelKind::Discrete);
    assert!(project.warnings.is_empty(), "{:?}", project.warnings);
    // Options of the method that are for such models have an effect.
    let learning = good(&RIG.replacen("\"prestep\"", "\"prestep\"\nlearning = 100", 1));
    assert!(learning.warnings.is_empty(), "{:?}", learning.warnings);
    let one = "[system]\nmodel = \"dual-mass\"\n[method]\nid = \"prestep\"\nsource = \"rls\"\nn = 2\n";
    let one = good(one);
    assert_eq!(one.groups[0].method.label(), method.label());
    assert!(one.groups[0].method.models == method.models);
}

#[test]
fn they_hold_for_all_groups_that_use_models() {
    let text = format!("{RIG}[group.force]\nid = \"mbcorr\"\ninputs = [\"s1.*\"]\n");
    let labels = |text: &str| good(text).groups.iter().map(|group| group.method.label()).collect::<Vec<_>>();
    assert_eq!(labels(&text), ["prestep:source=rls,n=2", "mbcorr:source=rls,n=2"]);
    assert_eq!(labels(&text.replacen("mbcorr", "zoh", 1)), ["prestep:source=rls,n=2", "zoh"]);
}

#[test]
fn they_are_written_where_they_were_given() {
    let project = good(RIG);
    let text = project.to_toml();
    assert!(text.contains("[method]\nid = \"prestep\"\n\n[models]\nsource = \"rls\"\nn = 2\n"), "{text}");
    let again = load_text(&text, Path::new("run.toml"), &[]).unwrap();
    assert_eq!(again.groups[0].method.label(), project.groups[0].method.label());
    assert_eq!(again.to_toml(), text);
    let file = RIG.replacen("source = \"rls\"\nn = 2", "source = \"from-file\"\nfile = \"kept/m.toml\"", 1);
    let folder = std::path::absolute("rig").unwrap();
    let text = good(&file).to_toml_in(&folder);
    assert!(text.contains("file = \"kept/m.toml\""), "{text}");
}

#[test]
fn mistakes_are_named_with_their_line() {
    for (old, new, code, at, part) in [
        ("\"rls\"", "\"rsl\"", Code::BadOption, 8, "did you mean `rls`?"),
        ("n = 2", "n = 9", Code::BadOption, 9, "an integer from 1 to 4"),
        ("n = 2", "window = 100", Code::UnknownOption, 9, "source `rls` has no option `window`"),
        ("n = 2", "n = [2]", Code::BadOption, 9, "option `n` is a list"),
        ("source = \"rls\"\nn = 2", "", Code::Missing, 7, "[models] needs `source`"),
        ("\"prestep\"", "\"feedthrough\"", Code::BadOption, 8, "allowed: exact | finite-difference | probe"),
        (
            "\"prestep\"",
            "\"prestep\"\nsource = \"moesp\"",
            Code::Conflict,
            9,
            "both say where models come from",
        ),
    ] {
        let text = RIG.replacen(old, new, 1);
        let found = errors(&text);
        assert_eq!(codes(&found), [code], "{text}\n{found:#?}");
        assert_eq!(line(&found[0]), at, "{text}\n{}", found[0]);
        assert!(found[0].to_string().contains(part), "{}", found[0]);
    }
}

#[test]
fn models_that_nobody_uses_are_a_warning() {
    for method in ["zoh", "auto", "identified"] {
        let project = good(&RIG.replacen("prestep", method, 1));
        assert_eq!(codes(&project.warnings), [Code::OptionWithoutEffect], "{method}");
        assert!(project.warnings[0].to_string().contains("models from `rls:n=2` have no effect"));
        // Whoever tries another method need not change the file.
        assert!(good_with(RIG, &[("method", method)]).warnings.is_empty());
    }
    let idle =
        RIG.replacen("source = \"rls\"\nn = 2", "source = \"exact\"\nrefresh = \"never\"\nevery = 3", 1);
    assert!(good(&idle).warnings[0].to_string().contains("option `every` of `exact:refresh=never,every=3`"));
}

#[test]
fn flags_take_the_place_of_what_the_file_says_in_either_spelling() {
    let label = |text: &str, overrides: &[(&str, &str)]| good_with(text, overrides).groups[0].method.label();
    assert_eq!(label(RIG, &[("models", "moesp:window=100")]), "prestep:source=moesp,window=100");
    assert_eq!(label(RIG, &[("models.source", "ij-rls")]), "prestep:source=ij-rls");
    assert_eq!(label(RIG, &[("models.n", "3")]), "prestep:source=rls,n=3");
    assert_eq!(label(RIG, &[("method", "mbcorr:source=probe")]), "mbcorr:source=probe");
    assert_eq!(label(RIG, &[("method", "mbcorr")]), "mbcorr:source=rls,n=2");
    let one =
        "[system]\nmodel = \"dual-mass\"\n[method]\nid = \"prestep\"\nsource = \"rls\"\nn = 2\nede = true\n";
    assert_eq!(label(one, &[("models", "moesp")]), "prestep:ede=true,source=moesp");
    let both = [("models", "moesp"), ("method", "prestep:source=rls")];
    for both in [both, [both[1], both[0]]] {
        assert_eq!(codes(&errors_with(one, &both)), [Code::Conflict]);
    }
    assert!(errors_with(one, &[("models", "rsl")])[0].to_string().contains("did you mean `rls`?"));
}
