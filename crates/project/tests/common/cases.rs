//! Projects with one mistake each.

use costep_core::Code;

/// What is written, what is written instead, the code, the line and a part of the whole message.
pub(crate) type Case = (&'static str, &'static str, Code, usize, &'static str);

/// Mistakes in [`super::RIG`].
pub(crate) const CASES: &[Case] = &[
    // Not TOML
    ("size = \"1 ms\"", "size = 1 ms", Code::Syntax, 7, "strings need quotes: \"1 ms\""),
    ("alpha = 0.5", "alpha =", Code::Syntax, 11, "write a value after `=`"),
    ("[step]", "[step", Code::Syntax, 6, "close it: `[step]`"),
    ("[[external]]", "[[external]", Code::Syntax, 45, "close it: `[[external]]`"),
    ("name = \"rig\"", "name = “rig”", Code::Syntax, 2, "write straight quotes: name = \"rig\""),
    ("alpha = 0.5", "alpha = 0.5kg", Code::Syntax, 11, "written without a unit: 0.5"),
    ("ck = 2e5", "ck = 2,5e5", Code::Syntax, 24, "write a decimal point: 2.5e5"),
    ("[native.b]", "[native.a]", Code::Duplicate, 21, "`[native.a]` is given twice, first in line 17"),
    ("part = \"s2\"", "part = \"s2\"\npart = \"s1\"", Code::Duplicate, 24, "`part` is given twice"),
    ("size = \"1 ms\"", "size = \"1 ms", Code::Syntax, 7, "close the text with `\"`"),
    ("size = \"1 ms\"", "size = '1 ms", Code::Syntax, 7, "close the text with `'`"),
    ("alpha = 0.5", "alpha = 0,5", Code::Syntax, 11, "write a decimal point: 0.5"),
    ("size = \"1 ms\"", "size = 1,5 ms", Code::Syntax, 7, "write a decimal point: \"1.5 ms\""),
    ("size = \"1 ms\"", "size = \"1,5 ms\"", Code::BadQuantity, 7, "write a decimal point: \"1.5 ms\""),
    ("gain = 1.5", "gain = \"1,5\"", Code::BadValue, 39, "write a decimal point: 1.5"),
    ("alpha = 0.5", "alpha: 0.5", Code::Syntax, 11, "write `alpha = 0.5`"),
    ("alpha = 0.5", "alpha = .5", Code::Syntax, 11, "digits before and behind it"),
    ("alpha = 0.5", "alpha = 0.5 // small", Code::Syntax, 11, "comments begin with `#`"),
    ("gain = 1.5", "gain = 1.5, offset = 2", Code::Syntax, 39, "each key has a line of its own"),
    ("sum = true", "sum = True", Code::Syntax, 29, "write `true` or `false`, in small letters"),
    ("set = { ck = 2e5 }", "set = { ck = 2e5 dk = 1 }", Code::Syntax, 24, "separate them by commas"),
    ("set = { ck = 2e5 }", "set = [ck = 2e5]", Code::Syntax, 24, "stand in braces"),
    ("size = \"1 ms\"", "size = \"1 ms\",", Code::Syntax, 7, "remove the `,`"),
    ("size = \"1 ms\"", "size: \"1 ms\"", Code::Syntax, 7, "write `size = \"1 ms\"`"),
    ("size = \"1 ms\"", "size = \"1 ms\" // short", Code::Syntax, 7, "comments begin with `#`"),
    ("{ ck = 2e5 }", "{ ck = 2e5", Code::Syntax, 24, "`{` is not closed"),
    ("{ ck = 2e5 }", "{ ck: 2e5 }", Code::Syntax, 24, "`=` in the place of `:`"),
    ("[step]", "[step # short", Code::Syntax, 6, "close it: `[step]`"),
    // Unknown keys
    ("[step]", "[stpe]", Code::UnknownKey, 6, "did you mean `[step]`?"),
    ("[[external]]", "[[externall]]", Code::UnknownKey, 45, "did you mean `[[external]]`?"),
    ("stop =", "stopp =", Code::UnknownKey, 3, "did you mean `stop`?"),
    ("size =", "control = \"pi\"\nsize =", Code::UnknownControl, 7, "known here: defect"),
    ("kind =", "knid =", Code::UnknownKey, 14, "did you mean `kind`?"),
    ("set =", "sets =", Code::UnknownKey, 24, "did you mean `set`?"),
    ("bond =", "bnod =", Code::UnknownKey, 30, "did you mean `bond`?"),
    ("sum = true", "summ = true", Code::UnknownKey, 29, "did you mean `sum`?"),
    ("sum = true", "sum = 1", Code::BadValue, 29, "is a number, not true or false"),
    ("from = \"b.F\"", "form = \"b.F\"", Code::UnknownKey, 27, "did you mean `from`?"),
    ("gain =", "gian =", Code::UnknownKey, 39, "did you mean `gain`?"),
    ("start = \"5", "onset = \"5", Code::UnknownKey, 48, "known here: amplitude, frequency, phase, start"),
    ("start = \"5", "begin = \"5", Code::UnknownKey, 48, "did you mean `start`?"),
    ("every =", "evry =", Code::UnknownKey, 51, "did you mean `every`?"),
    ("bounds =", "bound =", Code::UnknownKey, 55, "did you mean `bounds`?"),
    ("threads =", "thread =", Code::UnknownKey, 58, "did you mean `threads`?"),
    ("from = \"b.F\"", "from = \"F\"", Code::UnknownPort, 27, "did you mean `b.F`?"),
    // Wrong values
    ("from = \"b.F\"", "from = [\"b.F\"]", Code::BadValue, 27, "write it without brackets: \"b.F\""),
    ("name = \"rig\"", "name = \"rig\"\nstep = \"1 ms\"", Code::UnknownKey, 3, "it is `size` of [step]"),
    (
        "every = \"2 ms\"",
        "every = \"2 ms\"\nformat = \"csv\"",
        Code::UnknownKey,
        52,
        "costep export DIR --to x.csv",
    ),
    ("part = \"s2\"", "part = \"s2\"\nck = 3e5", Code::UnknownKey, 24, "`set = { ck = 300000.0 }`"),
    ("start = \"5", "offset = 1, start = \"5", Code::UnknownKey, 48, "add another [[external]]"),
    // Wrong values
    ("\"50 ms\"", "\"50 msec\"", Code::BadQuantity, 3, "write `\"50 ms\"`"),
    ("\"50 ms\"", "\"20 Hz\"", Code::BadQuantity, 3, "1 over the frequency: write `\"50 ms\"`"),
    ("sum = true", "sum = \"yes\"", Code::BadValue, 29, "write `sum = true`, without quotes"),
    ("alpha = 0.5", "alpha = \"0.5\"", Code::BadOption, 11, "write it without quotes: `alpha = 0.5`"),
    (
        "id = \"nepce\"",
        "id = \"nepce:alpha=1\"",
        Code::UnknownMethod,
        10,
        "`id = \"nepce\"`, and below it `alpha = 1`",
    ),
    ("stop =", "stop_when = [\"a.x => 3\"]\nstop =", Code::BadValue, 3, "write \"a.x >= 3\""),
    ("stop =", "stop_when = [\"time > 3\"]\nstop =", Code::BadValue, 3, "by `stop` in [system]"),
    (
        "size =",
        "tolerance = 1e-3\nmax = \"0.5 ms\"\nsize =",
        Code::BadValue,
        9,
        "longer than the longest, 500 us",
    ),
    ("from = \"b.F\"", "from = \"F\"", Code::UnknownPort, 27, "did you mean `b.F`?"),
    ("from = \"b.F\"", "from = \"native.b.F\"", Code::UnknownPort, 27, "did you mean `b.F`?"),
    ("from = \"b.F\"", "from = \"b.F -> a.F\"", Code::UnknownPort, 27, "a connection has two keys"),
    ("name = \"rig\"", "name = 5", Code::BadValue, 2, "`name` in [system] is a number, not text"),
    ("name = \"rig\"", "name = \" \"", Code::BadValue, 2, "leave it out"),
    ("stop =", "initial = \"steadily\"\nstop =", Code::BadValue, 3, "did you mean `steady`?"),
    ("\"50 ms\"", "\"50 sm\"", Code::BadQuantity, 3, "did you mean `ms`?"),
    ("\"50 ms\"", "\"50\"", Code::BadQuantity, 3, "write \"50 s\" or \"50 ms\""),
    ("\"50 ms\"", "\"-50 ms\"", Code::BadValue, 3, "before it starts"),
    ("stop =", "start = 1\nstop =", Code::BadValue, 4, "before it starts at 1 s"),
    ("\"50 ms\"", "\"0 s\"", Code::BadValue, 3, "where it starts"),
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
    ("alpha = 0.5", "alfa = 0.5", Code::UnknownOption, 11, "did you mean `alpha`?"),
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
    ("[\"b\", \"a\"]", "[\"b\", \"c\", \"a\"]", Code::UnknownName, 15, "known here: a, b"),
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
    // Sizes of ports
    ("[record]", "[port.\"b.G\"]\nnominal = 1\n[record]", Code::UnknownPort, 50, "did you mean `b.F`?"),
    ("[record]", "[port.b.F]\nnomnal = 1\n[record]", Code::UnknownKey, 51, "did you mean `nominal`?"),
    ("[record]", "[port.\"b.F\"]\nnominal = 0\n[record]", Code::BadValue, 51, "more than zero"),
    ("[record]", "[port.\"b.F\"]\nnominal = \"x\"\n[record]", Code::BadValue, 51, "`x`, not a number"),
    ("[record]", "[port.\"b.F\"]\nmin = 2\nmax = 1\n[record]", Code::BadValue, 52, "leave no value"),
    ("[record]", "[port.\"a.F\"]\nmin = 2\n[record]", Code::Conflict, 51, "the output that feeds it"),
    ("[record]", "[port]\n\"b.F\" = 3\n[record]", Code::BadValue, 51, "is a number, not a table"),
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

/// Two FMUs that are not there unless somebody makes them; line 1 is `[system]`.
pub(crate) const FMU_RIG: &str = r#"[system]
stop = "10 ms"
[step]
size = "1 ms"
[fmu.a]
file = "S1.fmu"
set = { c = 2e6, "x0" = 0.2 }
[fmu.b]
file = "S2.fmu"
interface = "cs"
[[connect]]
from = "b.F"
to = "a.F"
[[connect]]
from = "a.x"
to = "b.u1"
[[connect]]
from = "a.v"
to = "b.u2"
"#;

/// Mistakes in [`FMU_RIG`].
pub(crate) const FMU_CASES: &[Case] = &[
    ("file = \"S1.fmu\"", "file = \"S1.fm\"", Code::FileNotReadable, 6, "did you mean `S1.fmu`?"),
    ("file = \"S1.fmu\"", "file = \"gone/x.fmu\"", Code::FileNotReadable, 6, "does not exist"),
    ("file = \"S1.fmu\"", "file = \"folder.fmu\"", Code::FileNotReadable, 6, "is a folder"),
    ("file = \"S1.fmu\"", "file = \"text.fmu\"", Code::NotAnFmu, 6, "text.fmu"),
    ("file = \"S1.fmu\"", "file = 3", Code::BadValue, 6, "`file` in [fmu.a] is a number"),
    ("file = \"S1.fmu\"", "fle = \"S1.fmu\"", Code::UnknownKey, 6, "did you mean `file`?"),
    ("file = \"S1.fmu\"", "", Code::Missing, 5, "[fmu.a] needs `file`"),
    (
        "file = \"S1.fmu\"",
        "file = \"Exchange.fmu\"\nsolver = \"dopr5\"",
        Code::BadValue,
        7,
        "did you mean `dopri5`?",
    ),
    ("file = \"S1.fmu\"", "file = \"Exchange.fmu\"\nsolver = \"exact\"", Code::BadValue, 7, "linear native"),
    (
        "file = \"S1.fmu\"",
        "file = \"Exchange.fmu\"\nsolver = \"dopri5:2\"",
        Code::BadValue,
        7,
        "tolerance of 2",
    ),
    (
        "file = \"S1.fmu\"",
        "file = \"Exchange.fmu\"\ninterface = \"cs\"",
        Code::FmuInterface,
        7,
        "Model Exchange (me)",
    ),
    ("interface = \"cs\"", "interface = \"me\"", Code::FmuInterface, 10, "it offers Co-Simulation (cs)"),
    ("interface = \"cs\"", "interface = \"co\"", Code::BadValue, 10, "cs is Co-Simulation"),
    ("interface = \"cs\"", "interface = 2", Code::BadValue, 10, "is a number, not text"),
    ("interface = \"cs\"", "solver = \"euler\"", Code::Conflict, 10, "has its own"),
    ("interface = \"cs\"", "isolation = \"proces\"", Code::BadValue, 10, "did you mean `process`?"),
    ("interface = \"cs\"", "step_timeout = 1e300", Code::BadValue, 10, "1e300"),
    ("interface = \"cs\"", "step_timeout = \"-1 s\"", Code::BadValue, 10, "more than zero"),
    ("interface = \"cs\"", "step_timeout = \"1 parsec\"", Code::BadQuantity, 10, ""),
    ("interface = \"cs\"", "continuous = \"u1\"", Code::BadValue, 10, "not a list"),
    ("interface = \"cs\"", "continuous = [\"u1\", \"uu2\"]", Code::UnknownPort, 10, "did you mean `u2`?"),
    ("interface = \"cs\"", "discrete = [\"ck\"]", Code::UnknownPort, 10, "no input or output `ck`"),
    (
        "interface = \"cs\"",
        "discrete = [\"u1\"]\ncontinuous = [\"u1\"]",
        Code::Conflict,
        8,
        "both continuous and discrete",
    ),
    ("c = 2e6", "cc = 2e6", Code::UnknownParameter, 7, "did you mean `c`?"),
    ("c = 2e6", "c = \"stiff\"", Code::FmuValue, 7, "its type is Float64"),
    ("c = 2e6", "c = [1, 2]", Code::FmuValue, 7, "2 values are given for 1 element"),
    ("c = 2e6", "c = [1, true]", Code::BadValue, 7, "it mixes a number and true or false"),
    ("c = 2e6", "c = nan", Code::BadValue, 7, "is not a finite number"),
    ("c = 2e6", "v = 1.0", Code::FmuValue, 7, "parameters, inputs and start values can be set"),
    (
        "[fmu.b]",
        "[fmu.\"b.c\"]\nfile = \"S2.fmu\"\n[fmu.b]",
        Code::BadValue,
        8,
        "cannot be the name of a part",
    ),
    ("from = \"b.F\"", "from = \"b.f2\"", Code::UnknownPort, 12, "did you mean `b.F`?"),
    ("from = \"b.F\"", "from = \"b.ck\"", Code::UnknownPort, 12, "`b.ck` is a parameter"),
    ("to = \"b.u2\"", "to = \"a.v\"", Code::UnknownPort, 19, "is an output, not an input"),
    ("stop = \"10 ms\"\n", "", Code::Missing, 1, "[system] needs `stop`"),
    (
        "[fmu.b]",
        "[native.a]\nmodel = \"dual-mass\"\npart = \"s1\"\n[fmu.b]",
        Code::Duplicate,
        5,
        "another part `a` in line 8",
    ),
];
