//! Every kind of mistake is named with its code, its line and a hint, and nothing else is said.

mod common;

use common::{RIG, WHOLE, codes, errors, good, line};
use costep_core::Code;

/// What is written, what is written instead, the code, the line and a part of the whole message.
type Case = (&'static str, &'static str, Code, usize, &'static str);

const CASES: &[Case] = &[
    // Not TOML
    ("size = \"1 ms\"", "size = 1 ms", Code::Syntax, 7, "strings need quotes: \"1 ms\""),
    ("alpha = 0.5", "alpha =", Code::Syntax, 11, "write a value after `=`"),
    ("[step]", "[step", Code::Syntax, 6, "unclosed table"),
    ("[native.b]", "[native.a]", Code::Duplicate, 21, "`a` is given twice"),
    ("part = \"s2\"", "part = \"s2\"\npart = \"s1\"", Code::Duplicate, 24, "`part` is given twice"),
    // Unknown keys
    ("[step]", "[stpe]", Code::UnknownKey, 6, "did you mean `[step]`?"),
    ("stop =", "stopp =", Code::UnknownKey, 3, "did you mean `stop`?"),
    ("size =", "control = \"pi\"\nsize =", Code::UnknownControl, 7, "known here: defect"),
    ("kind =", "knid =", Code::UnknownKey, 14, "did you mean `kind`?"),
    ("set =", "sets =", Code::UnknownKey, 24, "did you mean `set`?"),
    ("bond =", "bnod =", Code::UnknownKey, 30, "did you mean `bond`?"),
    ("sum = true", "summ = true", Code::UnknownKey, 29, "did you mean `sum`?"),
    ("sum = true", "sum = 1", Code::BadValue, 29, "is a number, not true or false"),
    ("from = \"b.F\"", "form = \"b.F\"", Code::UnknownKey, 27, "did you mean `from`?"),
    ("gain =", "gian =", Code::UnknownKey, 39, "did you mean `gain`?"),
    ("start = \"5", "begin = \"5", Code::UnknownKey, 48, "known here: amplitude, frequency, phase, start"),
    ("every =", "evry =", Code::UnknownKey, 51, "did you mean `every`?"),
    ("bounds =", "bound =", Code::UnknownKey, 55, "did you mean `bounds`?"),
    ("threads =", "thread =", Code::UnknownKey, 58, "did you mean `threads`?"),
    // Wrong values
    ("name = \"rig\"", "name = 5", Code::BadValue, 2, "`name` in [system] is a number, not text"),
    ("name = \"rig\"", "name = \" \"", Code::BadValue, 2, "leave it out"),
    ("\"50 ms\"", "\"50 sm\"", Code::BadQuantity, 3, "did you mean `ms`?"),
    ("\"50 ms\"", "\"-50 ms\"", Code::BadValue, 3, "before it starts"),
    ("stop =", "start = 1\nstop =", Code::BadValue, 4, "before it starts at 1 s"),
    ("\"50 ms\"", "true", Code::BadValue, 3, "is true or false, not a time"),
    ("\"euler:10us\"", "\"eluer\"", Code::BadValue, 4, "did you mean `euler`?"),
    ("size = \"1 ms\"", "size = 0", Code::BadValue, 7, "a step of 0 s"),
    ("size = \"1 ms\"", "size = inf", Code::BadValue, 7, "only finite numbers"),
    ("size = \"1 ms\"", "size = 1e-19", Code::BadValue, 7, "lost in round-off"),
    ("kind = \"sequential\"", "kind = \"serial\"", Code::BadValue, 14, "auto, parallel, sequential"),
    ("kind = \"sequential\"", "kind = \"auto\"", Code::Conflict, 15, "remove `order`"),
    ("{ ck = 2e5 }", "{ ck = nan }", Code::BadValue, 24, "parameter `ck` is NaN"),
    ("{ ck = 2e5 }", "{ ck = \"soft\" }", Code::BadValue, 24, "`soft`, not a number"),
    ("{ ck = 2e5 }", "{ ck = -1 }", Code::BadValue, 24, "allowed: zero or more"),
    ("{ ck = 2e5 }", "{ kc = 1 }", Code::UnknownParameter, 24, "did you mean `ck`?"),
    ("gain = 1.5", "gain = [1]", Code::BadValue, 39, "is a list, not a number"),
    ("every = \"2 ms\"", "every = \"-2 ms\"", Code::BadValue, 51, "more than zero"),
    ("signals = [\"a.*\", \"b.F\"]", "signals = []", Code::BadValue, 52, "leave it out to record all"),
    ("[-2e9, 2e9]", "[1, -1]", Code::BadValue, 55, "write [-1, 1]"),
    ("[-2e9, 2e9]", "[1]", Code::BadValue, 55, "write [least, greatest]"),
    ("[-2e9, 2e9]", "[-inf, 1]", Code::BadValue, 55, "only finite numbers"),
    ("\"auto\"", "0", Code::BadValue, 58, "from 1 to 256"),
    ("[run]\nthreads = \"auto\"", "[[run]]", Code::BadValue, 57, "[run] is a list, not a table"),
    // Methods and groups
    ("\"nepce\"", "\"nepec\"", Code::UnknownMethod, 10, "did you mean `nepce`?"),
    ("alpha = 0.5", "alhpa = 0.5", Code::UnknownOption, 11, "did you mean `alpha`?"),
    ("alpha = 0.5", "alpha = 5", Code::BadOption, 11, "allowed: a number from 0 to 2"),
    ("alpha = 0.5", "alpha = [5]", Code::BadOption, 11, "option `alpha` is a list"),
    ("group = \"fast\"", "group = \"fsat\"", Code::UnknownName, 40, "did you mean `fast`?"),
    ("id = \"foh\"", "id = \"foh\"\ninputs = [\"*.q\"]", Code::UnknownPort, 44, "no input fits `*.q`"),
    ("id = \"foh\"", "id = \"foh\"\ninputs = [\"b.xx\"]", Code::UnknownPort, 44, "did you mean `b.x`?"),
    ("[group.fast]", "[group.default]\n[group.fast]", Code::Duplicate, 42, "is reserved for [method]"),
    (
        "[group.fast]",
        "[group.slow]\ninputs = [\"b.v\"]\n[group.fast]",
        Code::Conflict,
        43,
        "in two groups, `fast` and `slow`",
    ),
    // Parts
    (
        "[native.b]\nmodel = \"dual-mass\"",
        "[native.b]\nmodel = \"dual-mas\"",
        Code::UnknownModel,
        22,
        "did you mean `dual-mass`?",
    ),
    ("[native.b]\nmodel = \"dual-mass\"", "[native.b]", Code::Missing, 21, "[native.b] needs `model`"),
    ("part = \"s2\"\n", "", Code::Missing, 21, "parts of `dual-mass`: s1, s2"),
    ("part = \"s2\"", "part = \"s3\"", Code::UnknownName, 23, "did you mean `s1`?"),
    (
        "[native.a]",
        "[native.\"a.b\"]\nmodel = \"chain\"\npart = \"m1\"\n[native.a]",
        Code::BadValue,
        17,
        "letters, digits",
    ),
    ("[\"b\", \"a\"]", "[\"b\", \"c\", \"a\"]", Code::UnknownName, 15, "did you mean `a`?"),
    ("[\"b\", \"a\"]", "[\"b\"]", Code::Missing, 15, "does not name a"),
    ("[\"b\", \"a\"]", "[\"b\", \"a\", \"b\"]", Code::Duplicate, 15, "name each part once"),
    // Connections
    ("from = \"b.F\"", "from = \"b.G\"", Code::UnknownPort, 27, "did you mean `b.F`?"),
    ("from = \"b.F\"", "from = \"b.x\"", Code::UnknownPort, 27, "`b.x` is an input, not an output"),
    ("from = \"b.F\"\n", "", Code::Missing, 26, "[[connect]] needs `from`"),
    ("to = \"b.x\"", "to = \"b.y\"", Code::UnknownPort, 34, "did you mean `b.x`?"),
    ("to = \"b.x\"", "to = \"b.v\"", Code::DoubleSource, 38, "sum = true"),
    (
        "to = \"a.F\"\nsum = true\nbond",
        "to = \"a.F\"\nbond",
        Code::DoubleSource,
        28,
        "another source in line 45",
    ),
    ("from = \"a.x\"", "from = \"a.v\"", Code::UnitMismatch, 34, "`a.v` is m/s, `b.x` is m"),
    ("[\"a.*\", \"b.F\"]", "[\"a.*\", \"b.G\"]", Code::UnknownPort, 52, "did you mean `b.F`?"),
    ("[\"a.*\", \"b.F\"]", "[\"c.*\"]", Code::UnknownPort, 52, "did you mean `a.*`?"),
    ("{ \"b.F\" =", "{ b.G =", Code::UnknownPort, 55, "did you mean `b.F`?"),
    // External inputs
    ("amplitude = 10", "amplitude = \"x\"", Code::BadValue, 48, "`x`, not a number"),
    ("amplitude = 10, ", "", Code::Missing, 48, "`sine` needs `amplitude`"),
    ("frequency = 50.0", "frequency = -50.0", Code::BadValue, 48, "zero or more, in Hz"),
    ("sine = {", "value = 1\nsine = {", Code::Conflict, 45, "value and sine"),
    ("sine = {", "square = {", Code::Missing, 48, "needs `high`"),
    (
        "sine = { amplitude = 10, frequency = 50.0, start = \"5 ms\" }",
        "",
        Code::Missing,
        45,
        "exactly one of",
    ),
    (
        "sine = { amplitude = 10, frequency = 50.0, start = \"5 ms\" }",
        "table = [[0, 1], [0, 2]]",
        Code::BadValue,
        48,
        "do not increase",
    ),
    (
        "sine = { amplitude = 10, frequency = 50.0, start = \"5 ms\" }",
        "table = [[0, 1, 2]]",
        Code::BadValue,
        48,
        "[time, value]",
    ),
    (
        "sine = { amplitude = 10, frequency = 50.0, start = \"5 ms\" }",
        "table = []",
        Code::BadValue,
        48,
        "is empty",
    ),
    ("[[external]]", "[external]", Code::BadValue, 45, "write `[[external]]`"),
    // Whole models and native parts
    ("name = \"rig\"", "model = \"dual-mass\"", Code::Conflict, 17, "remove one of the two"),
    ("[step]", "[parameters]\nck = 1\n[step]", Code::Conflict, 6, "those of a whole model"),
];

#[test]
fn each_mistake_is_named_with_its_line_and_a_hint() {
    good(RIG);
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
