//! Every kind of mistake is named with its code, its line and a hint, and nothing else is said.

mod common;
#[path = "../../hostile/tests/documented/mod.rs"]
mod documented;

use common::cases::CASES;
use common::{RIG, WHOLE, codes, errors, errors_with, good, line};
use costep_core::Code;
use documented::assert_counted;

#[test]
fn each_mistake_is_named_with_its_line_and_a_hint() {
    good(RIG);
    let (file, test) = ("crates/project/tests/mistakes.rs", "each_mistake_is_named_with_its_line_and_a_hint");
    assert_counted("mistakes in projects, each with its code and line", CASES.len(), file, test);
    for (old, new, code, expected_line, part) in CASES {
        assert!(RIG.contains(old), "{old}");
        let found = errors(&RIG.replacen(old, new, 1));
        let hit = found.iter().any(|error| {
            error.code() == *code && line(error) == *expected_line && error.to_string().contains(part)
        });
        assert!(hit, "`{old}` -> `{new}` should be {code:?} in line {expected_line}, {part}\n{found:#?}");
    }
}

#[test]
fn one_mistake_gives_one_message() {
    // These have consequences that are mistakes of their own.
    let several =
        ["square = {", "[parameters]\nck = 1\n[step]", "model = \"dual-mass\"", "to = \"b.v\"", "[external]"];
    for (old, new, ..) in CASES.iter().filter(|case| !several.contains(&case.1)) {
        let found = errors(&RIG.replacen(old, new, 1));
        assert_eq!(found.len(), 1, "`{old}` -> `{new}`\n{found:#?}");
    }
}

#[test]
fn ten_mistakes_are_named_in_one_pass() {
    let wrong = [
        ("stop =", "stopp ="),
        ("size = \"1 ms\"", "size = 1 ms"),
        ("alpha = 0.5", "alpha = 7"),
        ("[\"b\", \"a\"]", "[\"b\", \"q\", \"a\"]"),
        ("{ ck = 2e5 }", "{ ckk = 2e5 }"),
        ("from = \"b.F\"", "from = \"b.torque\""),
        ("to = \"b.x\"", "to = \"b.v\""),
        ("group = \"fast\"", "group = \"slow\""),
        ("frequency = 50.0", "frequency = nan"),
        ("[-2e9, 2e9]", "[2e9, -2e9]"),
    ]
    .iter()
    .fold(RIG.to_owned(), |text, (old, new)| text.replacen(old, new, 1));
    let found = errors(&wrong);
    let summary: Vec<_> = found.iter().map(|error| (line(error), error.code())).collect();
    let expected = [
        (3, Code::UnknownKey),
        (7, Code::Syntax),
        (11, Code::BadOption),
        (15, Code::UnknownName),
        // `b.x` lost its only connection to `b.v`.
        (21, Code::UnconnectedInput),
        (24, Code::UnknownParameter),
        (27, Code::UnknownPort),
        (34, Code::UnitMismatch),
        (38, Code::DoubleSource),
        (40, Code::UnknownName),
        (48, Code::BadValue),
        (55, Code::BadValue),
    ];
    assert_eq!(summary, expected, "{found:#?}");
    assert!(found.iter().all(|error| error.details().hint.is_some()), "{found:#?}");
}

#[test]
fn the_message_is_that_of_the_design() {
    let found = errors(&RIG.replacen("from = \"b.F\"", "from = \"b.Ff\"", 1));
    assert_eq!(
        found[0].to_string(),
        "error[E0203]: unknown output `b.Ff`\n  rig/system.toml:27   from = \"b.Ff\"\n  help: did you mean `b.F`?"
    );
}

#[test]
fn an_empty_file_has_no_parts() {
    for text in ["", "# nothing\n", "[native]\n", "[system]\nname = \"x\"\n"] {
        let found = errors(text);
        assert_eq!(codes(&found), [Code::Missing], "{found:#?}");
        assert!(found[0].to_string().contains("the system has no parts"));
    }
}

#[test]
fn whole_models_are_checked_like_native_parts() {
    for (old, new, code, expected_line) in [
        ("dual-mass", "dual-masss", Code::UnknownModel, 2),
        ("ck = 2e5", "kc = 2e5", Code::UnknownParameter, 4),
        ("ck = 2e5", "ck = -1", Code::BadValue, 4),
        ("s1.*", "s3.*", Code::UnknownPort, 7),
        ("s1.*", "s1.x", Code::UnknownPort, 7),
        ("[group.force]", "[[connect]]\nfrom = \"s1.x\"\n[group.force]", Code::Conflict, 5),
        ("[group.force]", "[[external]]\nto = \"s1.F\"\nvalue = 1\n[group.force]", Code::DoubleSource, 6),
    ] {
        let found = errors(&WHOLE.replacen(old, new, 1));
        let summary: Vec<_> = found.iter().map(|error| (line(error), error.code())).collect();
        assert_eq!(summary, [(expected_line, code)], "{old} -> {new}\n{found:#?}");
    }
}

#[test]
fn unconnected_inputs_are_named_where_the_part_is() {
    let without = RIG.replacen("[[connect]]\nfrom = \"a.x\"\nto = \"b.x\"\n", "", 1);
    let found = errors(&without);
    assert_eq!((line(&found[0]), found[0].code()), (21, Code::UnconnectedInput));
    assert!(found[0].to_string().contains("[[external]] to = \"b.x\" value = 0.0"));
    good(&format!("{without}[[external]]\nto = \"b.x\"\nvalue = 0\n"));
}

#[test]
fn parts_of_models_that_differ_need_their_settings_said() {
    let mixed = "[native.a]\nmodel = \"dual-mass\"\npart = \"s1\"\n[native.b]\nmodel = \"pendulum-oscillator\"\n\
                 part = \"pendulum\"\n[[external]]\nto = \"a.F\"\nvalue = 0\n[[connect]]\nfrom = \"a.x\"\nto = \"b.x\"\n\
                 [[connect]]\nfrom = \"a.v\"\nto = \"b.v\"\n";
    let found = errors(mixed);
    assert_eq!(codes(&found), [Code::Missing, Code::Missing], "{found:#?}");
    good(&format!("{mixed}[system]\nstop = 1\nsolver = \"rk4\"\n"));
    let exact = errors(&format!("{mixed}[system]\nstop = 1\nsolver = \"exact\"\n"));
    assert!(exact[0].to_string().contains("needs linear parts, `b` is not"));
}

#[test]
fn a_group_without_inputs_is_a_warning() {
    let project = good(&RIG.replacen("group = \"fast\"\n", "", 1));
    let [warning] = &project.warnings[..] else { panic!("{:?}", project.warnings) };
    assert_eq!(warning.code(), Code::EmptyGroup);
    assert!(
        warning
            .to_string()
            .starts_with("warning[W0201]: the group `fast` has no inputs\n  rig/system.toml:41"),
        "{warning}"
    );
    assert_eq!(project.groups.len(), 1);
}

#[test]
fn a_flood_of_mistakes_is_cut() {
    let found = errors(&(0..5000).map(|i| format!("key{i} = 1\n")).collect::<String>());
    assert_eq!(found.len(), 101);
    assert!(found[100].to_string().contains("and 4901 more errors"), "{}", found[100]);
}

#[test]
fn a_connection_whose_ends_are_exchanged_is_one_mistake() {
    let found = errors(&RIG.replacen("from = \"a.x\"\nto = \"b.x\"", "from = \"b.x\"\nto = \"a.x\"", 1));
    let summary: Vec<_> = found.iter().map(|error| (line(error), error.code())).collect();
    assert_eq!(summary, [(33, Code::UnknownPort)], "{found:#?}");
    let text = found[0].to_string();
    assert!(text.contains("`from` and `to` are exchanged"), "{text}");
    assert!(text.contains("write from = \"a.x\" and to = \"b.x\""), "{text}");
}

#[test]
fn words_for_methods_and_orders_lead_to_the_right_key() {
    for (old, new, code, words) in [
        ("id = \"foh\"", "method = \"foh\"", Code::BadOption, "write `id = \"foh\"`"),
        ("id = \"nepce\"", "name = \"zoh\"", Code::BadOption, "write `id = \"zoh\"`"),
        ("id = \"foh\"", "id = \"foh\"\ntolerance = 1e-3", Code::BadOption, "`tolerance` is a key of [step]"),
        ("id = \"nepce\"", "id = \"jacobi\"", Code::UnknownMethod, "`kind = \"parallel\"` in [schedule]"),
        (
            "id = \"foh\"",
            "id = \"zoh,foh\"",
            Code::UnknownMethod,
            "`costep compare SYSTEM --methods zoh,foh`",
        ),
        ("\"sequential\"", "\"gauss-seidel\"", Code::BadValue, "did you mean `sequential`?"),
    ] {
        let found = errors(&RIG.replacen(old, new, 1));
        assert_eq!(codes(&found), [code], "{new}: {found:#?}");
        assert!(found[0].to_string().contains(words), "{new}: {}", found[0]);
    }
}

#[test]
fn keys_of_tables_are_named_with_their_table_on_the_command_line() {
    for text in [RIG, WHOLE] {
        for (key, words) in [("stop", "`--set system.stop=...`"), ("size", "`--set step.size=...`")] {
            let found = errors_with(text, &[(key, "1s")]);
            assert_eq!(codes(&found), [Code::UnknownKey], "{found:#?}");
            assert!(found[0].to_string().contains(words), "{}", found[0]);
        }
    }
    let found = errors_with(RIG, &[("method", "gauss-seidel")]);
    assert!(found[0].to_string().contains("`--schedule sequential`"), "{}", found[0]);
}

#[test]
fn external_inputs_that_a_run_does_not_show_are_warned_of() {
    for (old, new, words) in [
        ("start = \"5 ms\"", "start = 5", "begins at 5 s, after the run"),
        ("frequency = 50.0", "frequency = 1000", "a period of 1 ms, at steps of 1 ms"),
        ("amplitude = 10", "phase = 90, amplitude = 10", "write `phase = 1.570796`"),
    ] {
        let project = good(&RIG.replacen(old, new, 1));
        let [warning] = &project.warnings[..] else { panic!("{new}: {:?}", project.warnings) };
        assert_eq!((warning.code(), line(warning)), (Code::ExternalUnseen, 46), "{warning}");
        assert!(warning.to_string().contains(words), "{warning}");
    }
}

#[test]
fn settings_that_do_not_do_what_they_say_are_warned_of() {
    for (old, new, code, words) in [
        ("every = \"2 ms\"", "every = \"1 s\"", Code::RecordedPerStep, "longer than the run of 50 ms"),
        ("every = \"2 ms\"", "every = \"1.5 ms\"", Code::RecordedPerStep, "points: one every 2 ms"),
        ("every = \"2 ms\"", "every = \"0.5 ms\"", Code::RecordedPerStep, "shorter than the step of 1 ms"),
    ] {
        let project = good(&RIG.replacen(old, new, 1));
        let [warning] = &project.warnings[..] else { panic!("{new}: {:?}", project.warnings) };
        assert_eq!((warning.code(), line(warning)), (code, 51), "{warning}");
        assert!(warning.to_string().contains(words), "{warning}");
    }
    let corrected = RIG.replacen("size =", "correct_bonds = true\nsize =", 1);
    assert_eq!(good(&corrected).warnings, []);
    let project = good(&corrected.replace("bond = \"shaft\"\n", ""));
    let [warning] = &project.warnings[..] else { panic!("{:?}", project.warnings) };
    assert_eq!((warning.code(), line(warning)), (Code::NoBond, 7), "{warning}");
}
