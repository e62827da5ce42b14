//! Values of the command line take the place of those of the file.

mod common;

use common::{RIG, WHOLE, codes, errors_with, good_with};
use costep_core::{Code, Place};
use costep_engine::Scheduling;
use costep_project::{Override, Source, load};

fn builtin(overrides: &[(&str, &str)]) -> Result<costep_project::Project, Vec<costep_core::Error>> {
    let overrides: Vec<_> = overrides
        .iter()
        .map(|(path, value)| Override::new(*path, *value, format!("--set {path}={value}")))
        .collect();
    load(&Source::Builtin("dual-mass".into()), &overrides)
}

fn parameter(project: &costep_project::Project, name: &str) -> f64 {
    project.parameters.iter().find(|(known, _)| known == name).unwrap().1
}

#[test]
fn short_and_full_paths() {
    let project =
        builtin(&[("ck", "3e5"), ("parameters.dk", ".5"), ("system.stop", "2 s"), ("step.size", "5ms")]);
    let project = project.unwrap();
    assert_eq!((parameter(&project, "ck"), parameter(&project, "dk")), (3e5, 0.5));
    assert_eq!((project.model.experiment.stop, project.model.experiment.step), (2.0, 0.005));
    for path in ["b.ck", "native.b.ck", "native.b.set.ck", "\"b\".ck"] {
        assert_eq!(parameter(&good_with(RIG, &[(path, "7")]), "b.ck"), 7.0);
    }
    let project =
        good_with(RIG, &[("a.m1", "2"), ("guard.bounds.b.F", "[0, 1]"), ("guard.bounds.a.x", "[0, 2]")]);
    assert_eq!(project.parameters, [("a.m1".to_owned(), 2.0), ("b.ck".to_owned(), 2e5)]);
    let bounds: Vec<_> = project.bounds.iter().map(|(output, bounds)| (*output, bounds.max)).collect();
    assert_eq!(bounds, [(2, 1.0), (0, 2.0)]);
    for path in ["port.b.F.nominal", "port.\"b.F\".nominal"] {
        let project = good_with(RIG, &[(path, "7")]);
        assert_eq!(project.model.parts[1].description().outputs[0].nominal, Some(7.0));
    }
}

#[test]
fn another_method_drops_the_options_of_the_file() {
    let method = |overrides: &[(&str, &str)]| good_with(RIG, overrides).groups[0].method.label();
    assert_eq!(method(&[]), "nepce:alpha=0.5");
    assert_eq!(method(&[("method.id", "foh")]), "foh");
    assert_eq!(method(&[("method.id", "nepce")]), "nepce:alpha=0.5");
    assert_eq!(method(&[("method.alpha", "1.5")]), "nepce:alpha=1.5");
    assert_eq!(method(&[("method", "nepce:reference=applied")]), "nepce:reference=applied");
    assert_eq!(method(&[("method", "zoh"), ("method.id", "nepce"), ("method.alpha", "1")]), "nepce:alpha=1");
    let groups = good_with(WHOLE, &[("group.force", "nepce:alpha=0.1")]).groups;
    assert_eq!((groups[1].method.label(), groups[1].inputs.len()), ("nepce:alpha=0.1".into(), 1));
    let groups = good_with(WHOLE, &[("group.force.id", "soh")]).groups;
    assert_eq!((groups[1].method.label(), groups[1].inputs.len()), ("soh".into(), 1));
}

#[test]
fn the_order_of_overrides_does_not_matter_for_options() {
    let foh = [("method.alpha", "1"), ("method.id", "nepce")];
    let text = RIG.replacen("id = \"nepce\"\nalpha = 0.5", "id = \"zoh\"", 1);
    assert_eq!(good_with(&text, &foh).groups[0].method.label(), "nepce:alpha=1");
}

#[test]
fn another_schedule_or_model_drops_what_belongs_to_the_old_one() {
    assert_eq!(good_with(RIG, &[("schedule.kind", "parallel")]).scheduling, Scheduling::Parallel);
    let text = WHOLE.replacen("s1.*", "*", 1);
    let project = good_with(&text, &[("system.model", "chain")]);
    assert_eq!(project.model_id.as_deref(), Some("chain"));
}

#[test]
fn mistakes_name_the_flag_and_no_line() {
    for (path, value, code, part) in [
        ("b.ck", "soft", Code::BadValue, "`soft`, not a number"),
        ("b.ck", "-1", Code::BadValue, "allowed: zero or more"),
        ("b.kc", "1", Code::UnknownParameter, "did you mean `ck`?"),
        ("ck", "1", Code::UnknownParameter, "write `PART.ck`; parts: a, b"),
        ("c.ck", "1", Code::UnknownKey, "nothing is called `c.ck`"),
        ("stpe.size", "1ms", Code::UnknownKey, "did you mean `step`?"),
        ("step.sise", "1ms", Code::UnknownKey, "did you mean `size`?"),
        ("step.size", "1 sm", Code::BadQuantity, "did you mean `ms`?"),
        ("step.size", "", Code::BadQuantity, "is not a time"),
        ("step", "1ms", Code::CommandLine, "write `step.KEY=VALUE`"),
        ("step.size.x", "1ms", Code::CommandLine, "`step.size` has no keys"),
        ("connect.0.gain", "1", Code::CommandLine, "change it in the project file"),
        ("a..b", "1", Code::CommandLine, "is not a path"),
        ("", "1", Code::CommandLine, "is not a path"),
        ("method", "nepec", Code::UnknownMethod, "did you mean `nepce`?"),
        ("method", "nepce:alpha", Code::BadOption, "is not an option"),
        ("method", "5", Code::BadValue, "[method] is a number, not a table"),
        ("method.id", "nepec", Code::UnknownMethod, "did you mean `nepce`?"),
        ("method.alpha", "9", Code::BadOption, "from 0 to 2"),
        ("system.name", "5", Code::BadValue, "write it in quotes"),
        ("run.threads", "many", Code::BadValue, "from 1 to 256"),
        ("record.signals", "[\"q\"]", Code::UnknownPort, "unknown port `q`"),
    ] {
        let found = errors_with(RIG, &[(path, value)]);
        assert_eq!(codes(&found), [code], "{path} {found:#?}");
        let text = found[0].to_string();
        assert!(text.contains(part) && text.contains(&format!("given by `--set {path}={value}`")), "{text}");
        assert!(!matches!(found[0].details().place, Place::File { line: Some(_), .. }), "{text}");
    }
}

#[test]
fn built_in_models_take_overrides_without_any_file() {
    let error = builtin(&[("ckk", "1")]).err().unwrap();
    assert_eq!(
        error[0].to_string(),
        "error[E0208]: model `dual-mass` has no parameter `ckk`\n  cause: given by `--set ckk=1`\n  help: did you mean `ck`?"
    );
    let error = builtin(&[("s1.ck", "1")]).err().unwrap();
    assert!(error[0].to_string().contains("are written without a part: `ck=...`"), "{}", error[0]);
}
