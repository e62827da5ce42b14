//! Projects among the runs whose bits are kept: groups, external signals, sums and gains, exported FMUs.

use crate::common::Sandbox;

/// Three groups with a method each, in one loop.
const GROUPS: &str = r#"[system]
model = "chain"
stop = "30 ms"
[parameters]
frequency = 100.0
[step]
size = "1 ms"
[method]
id = "METHOD"
[group.ends]
id = "zoh"
inputs = ["m1.*", "m5.*"]
[group.middle]
id = "nepce"
smooth = true
inputs = ["m3.*"]
"#;

/// Two oscillators on one mass: sums, gains and offsets, and one signal of every kind from outside.
const OUTSIDE: &str = r#"[system]
stop = "30 ms"
start = "1 ms"
solver = "rk4:20us"
[step]
size = "1 ms"
[native.mass]
model = "dual-mass"
part = "s1"
[native.right]
model = "dual-mass"
part = "s2"
set = { ck = 2e5, dk = 200 }
[native.left]
model = "dual-mass"
part = "s2"
set = { x2 = 0.01 }
[[connect]]
from = "right.F"
to = "mass.F"
sum = true
[[connect]]
from = "left.F"
to = "mass.F"
sum = true
gain = 0.5
offset = 3.0
[[connect]]
from = "mass.x"
to = "right.x"
[[connect]]
from = "mass.v"
to = "right.v"
[[connect]]
from = "mass.x"
to = "left.x"
gain = -1.0
sum = true
[[connect]]
from = "mass.v"
to = "left.v"
gain = -1.0
sum = true
[[external]]
to = "mass.F"
sum = true
sine = { amplitude = 1e4, frequency = 70, phase = 0.3, start = 0.002, stop = 0.02 }
[[external]]
to = "mass.F"
sum = true
table = [[0, 0], [0.004, 2e3], [0.0135, -1e3]]
[[external]]
to = "left.x"
sum = true
step = { value = 0.002, start = 0.0105 }
[[external]]
to = "left.v"
sum = true
square = { high = 0.1, low = -0.05, frequency = 150 }
[record]
every = "2 ms"
signals = ["mass.*", "*.F"]
"#;

/// No loop: every part knows the inputs of its step.
const FORWARD: &str = r#"[system]
stop = "25 ms"
solver = "SOLVER"
[step]
size = "1 ms"
[method]
id = "foh"
[native.last]
model = "dual-mass"
part = "s1"
[native.first]
model = "dual-mass"
part = "s1"
[native.middle]
model = "dual-mass"
part = "s2"
[[connect]]
from = "first.x"
to = "middle.x"
[[connect]]
from = "first.v"
to = "middle.v"
[[connect]]
from = "middle.F"
to = "last.F"
[[external]]
to = "first.F"
sine = { amplitude = 1e4, frequency = 120 }
"#;

/// Ends in the guard.
const GUARDED: &str = r#"[system]
model = "dual-mass"
stop = "30 ms"
[step]
size = "1 ms"
[method]
id = "nepce"
[guard]
bounds = { "s2.F" = [-2e4, 2e4] }
"#;

/// A native part beside an FMU.
const MIXED: &str = r#"[system]
stop = "20 ms"
[step]
size = "1 ms"
[native.s1]
model = "dual-mass"
part = "s1"
[fmu.s2]
file = "../fmus-3-both/s2.fmu"
[[connect]]
from = "s2.F"
to = "s1.F"
[[connect]]
from = "s1.x"
to = "s2.x"
[[connect]]
from = "s1.v"
to = "s2.v"
"#;

/// Name of the project, model, flags of the export.
const EXPORTS: [(&str, &str, &str); 9] = [
    ("2-cs", "dual-mass", "--fmi 2 --kind cs"),
    ("3-cs", "dual-mass", "--fmi 3 --kind cs"),
    ("2-me", "dual-mass", "--fmi 2 --kind me"),
    ("3-me", "dual-mass", "--fmi 3 --kind me"),
    ("3-both", "dual-mass", "--fmi 3 --set ck=2e5"),
    ("2-black", "dual-mass", "--fmi 2 --black-box"),
    ("3-held", "dual-mass", "--fmi 3 --kind cs --without intermediate,input-derivatives"),
    ("3-pendula", "coupled-pendula", "--fmi 3 --kind cs"),
    ("2-pendula", "coupled-pendula", "--fmi 2 --kind me"),
];

/// Runs of FMUs; some methods are not for some of them.
const FMU_RUNS: [(&str, &[&str]); 8] = [
    ("2-cs", &["auto", "zoh", "foh", "nepce", "predictive:source=finite-difference", "identified"]),
    ("3-cs", &["auto", "zoh", "soh", "prestep", "mbcorr", "predictive:source=probe", "identified:form=ramp"]),
    ("2-me", &["auto", "zoh", "predictive:fit=sharp", "lis", "monolithic"]),
    ("3-me", &["auto", "nepce", "prestep:paper=true", "lis", "monolithic:solver=adams"]),
    ("2-black", &["auto", "zoh", "mbcorr:source=rls,learning=8"]),
    ("3-held", &["zoh", "predictive", "predictive:substeps=4"]),
    ("3-pendula", &["auto", "foh", "identified"]),
    ("2-pendula", &["auto", "monolithic"]),
];

/// Writes all projects, and the FMUs of some of them.
pub(crate) fn write(sandbox: &Sandbox) {
    for method in ["zoh", "mbcorr", "predictive", "identified"] {
        sandbox.write(&format!("groups-{method}.toml"), GROUPS.replace("METHOD", method));
    }
    for solver in ["euler", "dopri5", "bdf"] {
        sandbox.write(&format!("forward-{solver}.toml"), FORWARD.replace("SOLVER", solver));
    }
    sandbox.write("outside.toml", OUTSIDE);
    sandbox.write("guarded.toml", GUARDED);
    sandbox.write("mixed/system.toml", MIXED);
    for (name, model, flags) in EXPORTS {
        let parts = if model == "dual-mass" { ["s1", "s2"] } else { ["left", "right"] };
        let [one, other] = parts.map(|part| format!("fmus-{name}/{part}.fmu"));
        sandbox.run(&format!("export-fmu {model} {flags} --out fmus-{name}")).exits(0);
        sandbox.run(&format!("new fmu-{name} {one} {other}")).exits(0);
    }
    for name in ["3-cs", "2-me"] {
        let text = std::fs::read_to_string(sandbox.path(format!("fmu-{name}/system.toml"))).unwrap();
        for part in ["s1", "s2"] {
            let fmu = std::fs::read(sandbox.path(format!("fmu-{name}/{part}.fmu"))).unwrap();
            sandbox.write(&format!("isolated-{name}/{part}.fmu"), fmu);
        }
        let isolated = text.replace("file = \"s1.fmu\"", "file = \"s1.fmu\"\nisolation = \"process\"");
        assert!(isolated != text);
        sandbox.write(&format!("isolated-{name}/system.toml"), isolated);
    }
}

/// The command lines of their runs.
pub(crate) fn lines() -> Vec<String> {
    let mut lines = Vec::new();
    for method in ["zoh", "mbcorr", "predictive", "identified"] {
        lines
            .extend(["auto", "sequential"].map(|kind| format!("run groups-{method}.toml --schedule {kind}")));
    }
    for solver in ["euler", "dopri5", "bdf"] {
        lines.extend(["auto", "parallel"].map(|kind| format!("run forward-{solver}.toml --schedule {kind}")));
    }
    for method in ["auto", "zoh", "soh", "nepce", "mbcorr", "prestep", "lis", "identified", "monolithic"] {
        lines.push(format!("run outside.toml --method {method}"));
    }
    lines.push("run guarded.toml".into());
    for method in ["auto", "zoh", "nepce"] {
        lines.push(format!("run mixed --method {method}"));
    }
    for (name, methods) in FMU_RUNS {
        let times = if name.ends_with("pendula") { "--step 20ms --t-end 300ms" } else { "--t-end 20ms" };
        lines.extend(methods.iter().map(|method| format!("run fmu-{name} {times} --method {method}")));
    }
    lines.push("run fmu-3-cs --t-end 20ms --schedule sequential --method foh".into());
    for name in ["3-cs", "2-me"] {
        lines.extend(
            ["zoh", "predictive"].map(|method| format!("run isolated-{name} --t-end 15ms --method {method}")),
        );
    }
    lines
}
