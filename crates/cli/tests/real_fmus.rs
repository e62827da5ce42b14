//! FMUs as other tools write them, used as a user does. Tests skip where the folder of such files is
//! missing.
#![cfg(target_os = "linux")]

mod common;
#[path = "../../fmu-export/tests/common/python.rs"]
mod python;
#[path = "../../import/tests/common/real.rs"]
mod real;
#[path = "../../fmu-export/tests/common/registry.rs"]
mod registry;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Done, Sandbox, finished, table};
use real::real_files;

#[test]
fn a_truck_whose_signals_are_declared_discrete_is_coupled_by_methods() {
    let Some(folder) = real_files("libcosim/tests/data/fmi2/quarter_truck") else { return };
    let sandbox = Sandbox::new();
    let system = folder.join("OspSystemStructure.xml");
    let system = system.display();
    let checked = sandbox.run(&format!("check {system} --t-end 4s")).exits(0);
    checked.says(
        "warning[W0112]: inputs of `chassis` that are declared discrete are formed once per step: force",
    );
    let compared = sandbox
        .run(&format!(
            "compare {system} --t-end 4s --methods zoh,foh,auto --steps 1ms,5ms,10ms,20ms --reference step:100us --json"
        ))
        .exits(0)
        .json();
    let runs = compared["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 12);
    for runs in runs.chunks(3) {
        for signal in ["wheel.out_spring_damper_f", "chassis.velocity"] {
            let error = |run: usize| runs[run]["signals"][signal]["rel_rms"].as_f64().unwrap();
            println!("{} {signal}: {:.1e} {:.1e} {:.1e}", runs[0]["step"], error(0), error(1), error(2));
            assert!(error(2) <= 0.25 * error(0) && error(1) < 0.5 * error(0), "{} {signal}", runs[0]["step"]);
        }
    }
    let said =
        sandbox.run(&format!("run {system} --t-end 0.1s --step 5ms --method soh --no-record")).exits(0);
    said.says("warning[W0303]: method: inputs that take no polynomial of order 2, such as `chassis.force`");
    // Said to be discrete, they are held whatever the method.
    let held = |method: &str| {
        let flags = "--set fmu.chassis.discrete=[\"force\"] --set fmu.wheel.discrete=[\"in_vel\"]";
        let line = format!("run {system} --t-end 0.1s --step 5ms --method {method} --out {method} {flags}");
        assert!(!sandbox.run(&line).exits(0).stderr.contains("W0112"));
        sandbox.run(&format!("export {method} --signals chassis.*,wheel.* --to {method}.csv")).exits(0);
        std::fs::read_to_string(sandbox.path(format!("{method}.csv"))).unwrap()
    };
    assert_eq!(held("zoh"), held("foh"));
}

/// The FMUs of the truck offer neither derivatives nor rollback that shows dynamics. By models of a run its modes are those of the
/// equations with 400 and 40 kg, 15 and 150 kN/m and 1 kN s/m.
#[test]
fn a_truck_of_black_boxes_has_the_modes_of_its_equations() {
    let Some(folder) = real_files("libcosim/tests/data/fmi2/quarter_truck") else { return };
    let sandbox = Sandbox::new();
    let system = folder.join("OspSystemStructure.xml");
    let line =
        format!("stability {} --t-end 4s --step 5ms --method zoh --steps 5ms,40ms --json", system.display());
    let done = sandbox.run(&line).exits(0);
    let found: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(found["rests_on"], "models identified from a run", "{found}");
    let whole = found["eigenvalues"].as_array().unwrap().last().unwrap()["eigenvalues"].clone();
    for (re, im) in [(-12.707, 62.558), (-1.0427, 5.7812)] {
        let is_near = |value: &serde_json::Value| {
            let (a, b) = (value[0].as_f64().unwrap(), value[1].as_f64().unwrap());
            (a - re).hypot(b - im) < 0.005 * re.hypot(im)
        };
        assert!(whole.as_array().unwrap().iter().any(is_near), "{re} {im}: {whole}");
    }
    assert_eq!(found["steps"][0]["stable"], true);
}

/// A loop of eight inputs through FMUs of FMI 1.0, which take inputs at the start by another initialisation each: the spring is as long
/// as it wants to be, so that nothing pulls (FMPy: -0.0).
#[test]
fn a_loop_of_fmi_1_starts_from_the_inputs_that_solve_it() {
    let Some(folder) = real_files("osp-demo-cases/tutorial-fmus") else { return };
    let sandbox = Sandbox::new();
    let system = folder.join("OspSystemStructure.xml");
    sandbox.run(&format!("run {} --method zoh --t-end 1s --out run", system.display()));
    sandbox.run("export run --signals spring.for_xx,mass.out_f_u --to run.csv").exits(0);
    let text = std::fs::read_to_string(sandbox.path("run.csv")).unwrap();
    // Later it swings downwards, which pulls.
    for row in &table(&text).1[..2] {
        assert!(row[1].abs() < 1e-6 && row[2].abs() < 1e-6, "{row:?}");
    }
}

/// Time and height of a ball whose coefficient of restitution is a signal: 0.7 at its first bounce, 1 from 1 s on.
fn tuned_ball(interface: &str, file: &Path) -> Vec<(f64, f64)> {
    let sandbox = Sandbox::new();
    let project = format!(
        "[system]\nstop = \"3 s\"\n[step]\nsize = \"10 ms\"\n[fmu.ball]\nfile = {:?}\ninterface = \"{interface}\"\n\
         [[external]]\nto = \"ball.e\"\nstairs = [[0, 0.7], [1, 1]]\n",
        file.display().to_string()
    );
    sandbox.write("system.toml", &project);
    sandbox.run("run . --out run").exits(0);
    sandbox.run("export run --signals ball.h --to ball.csv").exits(0);
    let fixed = project.replace("ball.e", "ball.g");
    sandbox.write("fixed/system.toml", &fixed);
    let refused = sandbox.run("check fixed").exits(1);
    refused.says("`ball.g` is a parameter, not an input").says("only tunable ones can be driven");
    let text = std::fs::read_to_string(sandbox.path("ball.csv")).unwrap();
    table(&text).1.iter().map(|row| (row[0], row[1])).collect()
}

/// x' = -x from x = 1: it rests at zero. A ball that falls does not.
#[test]
fn reference_fmus_start_at_rest_by_start_values_of_their_states() {
    let files = ["ecos/data/fmus/3.0/ref", "libcosim/tests/data/fmi2"].map(real_files);
    let [Some(third), Some(second)] = files else { return };
    for (folder, fmu) in [(&third, "Dahlquist"), (&second, "Dahlquist"), (&third, "BouncingBall")] {
        let sandbox = Sandbox::new();
        let file = folder.join(format!("{fmu}.fmu"));
        sandbox.write("system.toml", format!(
            "[system]\nstop = \"1 s\"\ninitial = \"steady\"\n[step]\nsize = \"0.1 s\"\n[fmu.a]\nfile = {:?}\ninterface = \"me\"\n",
            file.display().to_string()
        ));
        if fmu == "BouncingBall" {
            sandbox.run("run . --out out").exits(1).says("error[E0190]: no rest is found: `a.v`");
            continue;
        }
        sandbox.run("run . --out out --no-verify").exits(0);
        sandbox.run("export out --to out.csv").exits(0);
        let text = std::fs::read_to_string(sandbox.path("out.csv")).unwrap();
        let (names, rows) = table(&text);
        let at = names.iter().position(|name| *name == "a.x").unwrap();
        assert!(rows.len() == 11 && rows.iter().all(|row| row[at].abs() < 1e-9), "{text}");
    }
}

#[test]
fn a_tunable_parameter_of_a_reference_fmu_follows_a_signal() {
    let Some(folder) = real_files("ecos/data/fmus/3.0/ref") else { return };
    let file = folder.join("BouncingBall.fmu");
    let (g, fall) = (9.81_f64, (2.0 / 9.81_f64).sqrt());
    let flight = 2.0 * 0.7 * fall;
    let exact = |t: f64| match t {
        t if t < fall => 1.0 - 0.5 * g * t * t,
        // Both flights begin as fast: the second bounce comes after 1 s.
        t => {
            let tau = (t - fall) % flight;
            0.7 * g * fall * tau - 0.5 * g * tau * tau
        }
    };
    let off = |(t, h): &(f64, f64)| (h - exact(*t)).abs();
    let [exchanged, stepped] =
        ["me", "cs"].map(|interface| tuned_ball(interface, &file).iter().map(off).fold(0.0, f64::max));
    println!("largest error of the height: {exchanged:.1e} m integrated here, {stepped:.1e} m by the FMU");
    // With 0.7 throughout, the third flight ends 0.25 m lower. The solver of the FMU takes steps of 10 ms.
    assert!(exchanged < 1e-9 && stepped < 0.15, "{exchanged} {stepped}");
}

/// An interpreter with FMPy and PythonFMU.
fn interpreter() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fmu-export/tests/python");
    python::environment("python", &here.join("requirements.txt"))
}

/// Largest error of two integrators in a ring, of amplitude 1.
fn ring_error(sandbox: &Sandbox, run: &str) -> f64 {
    sandbox.run(&format!("export {run} --to {run}.csv")).exits(0);
    let text = std::fs::read_to_string(sandbox.path(format!("{run}.csv"))).unwrap();
    let (names, rows) = table(&text);
    let column = |name: &str| names.iter().position(|known| *known == name).unwrap();
    let (a, b) = (column("a.real_output"), column("b.real_output"));
    let error = |row: &Vec<f64>| (row[a] - row[0].cos()).abs().max((row[b] - row[0].sin()).abs());
    rows.iter().map(error).fold(0.0, f64::max)
}

#[test]
fn two_openmodelica_integrators_in_a_ring_keep_their_amplitude() {
    if python::skipped() {
        return;
    }
    let interpreter = interpreter();
    let fmu = registry::fetched(&interpreter).join("cosimtlk-fmus-ModSim.Examples.InputTest.fmu");
    let sandbox = Sandbox::new();
    for (interface, method, bar) in [("me", "auto", 0.02), ("me", "monolithic", 1e-5), ("cs", "auto", 0.02)] {
        let parts: String = [("a", 1.0), ("b", 0.0)]
            .iter()
            .map(|(name, start)| {
                let file = fmu.display();
                let set = format!("set = {{ \"integrator.y_start\" = {start} }}");
                format!("[fmu.{name}]\nfile = \"{file}\"\ninterface = \"{interface}\"\n{set}\n")
            })
            .collect();
        let run = format!("{interface}-{method}");
        sandbox.write(
            &format!("{run}.toml"),
            format!(
                "[system]\nstop = \"20 s\"\n[step]\nsize = \"0.1 s\"\n{parts}\
                 [[connect]]\nfrom = \"b.real_output\"\nto = \"a.real_setpoint\"\ngain = -1.0\n\
                 [[connect]]\nfrom = \"a.real_output\"\nto = \"b.real_setpoint\"\n"
            ),
        );
        let done = sandbox.run(&format!("run {run}.toml --method {method} --reference none --out {run}"));
        let error = ring_error(&sandbox, &run);
        println!("{interface} {method}: {error:e}");
        assert!(error <= bar, "{interface} {method}: {error:e}\n{}", done.story());
        if interface == "cs" {
            done.says("`a`: its inputs are held: what it is told about their derivatives has no effect");
        }
    }
}

/// Makes `NAME/Part.fmu` of Python code, whose output rises by what `head` calls GAIN.
fn build_part(sandbox: &Sandbox, interpreter: &Path, name: &str, head: &str, helper: &str) {
    sandbox.write(&format!("{name}/helper.py"), helper);
    sandbox.write(
        &format!("{name}/part.py"),
        format!(
            "{head}\nfrom pythonfmu import Fmi2Causality, Fmi2Slave, Real\n\n\nclass Part(Fmi2Slave):\n    \
             def __init__(self, **kwargs):\n        super().__init__(**kwargs)\n        self.y = 0.0\n        \
             self.register_variable(Real(\"y\", causality=Fmi2Causality.output))\n\n    \
             def do_step(self, current_time, step_size):\n        self.y += step_size * GAIN\n        return True\n"
        ),
    );
    build_as_it_is(sandbox, interpreter, name);
}

fn build_as_it_is(sandbox: &Sandbox, interpreter: &Path, name: &str) {
    let folder = sandbox.path(name);
    let mut build = Command::new(interpreter);
    build.args(["-m", "pythonfmu", "build", "-f", "part.py", "helper.py", "-d", "."]);
    python::run(build.current_dir(&folder).env("PYTHONPATH", &folder).env("PYTHONDONTWRITEBYTECODE", "1"));
}

/// Runs parts side by side, with these variables in the environment.
fn run_parts(sandbox: &Sandbox, parts: &[&str], variables: &[(&str, &str)]) -> Done {
    let fmus: String =
        parts.iter().map(|part| format!("[fmu.{part}]\nfile = \"{part}/Part.fmu\"\n")).collect();
    sandbox.write("rig.toml", format!("[system]\nstop = \"1 s\"\n[step]\nsize = \"0.125 s\"\n{fmus}"));
    let line = "run rig.toml --method zoh --out out";
    let mut command = sandbox.command(line.split(' '));
    command.env_remove("VIRTUAL_ENV").env_remove("PYTHONPATH").envs(variables.iter().copied());
    finished(command, line)
}

#[test]
fn fmus_of_python_code_are_kept_apart_and_find_their_modules() {
    if python::skipped() {
        return;
    }
    let (sandbox, interpreter) = (Sandbox::new(), interpreter());
    for (name, gain) in [("one", "1.0"), ("two", "2.0")] {
        build_part(&sandbox, &interpreter, name, "from helper import GAIN", &format!("GAIN = {gain}\n"));
    }
    build_part(&sandbox, &interpreter, "three", "import pythonfmu3\n\nGAIN = 3.0", "");
    // The library of this very Python.
    let script = "import sysconfig as s, sys; v = s.get_config_var; n = 'libpython%d.%d.so.1.0' % sys.version_info[:2]; \
                  print(v('LIBDIR') + '/' + v('INSTSONAME') if v('Py_ENABLE_SHARED') else n)";
    let library = python::run(Command::new(&interpreter).args(["-c", script]));
    let library = ("COSTEP_PYTHON_LIBRARY", library.trim());
    run_parts(&sandbox, &["one", "two"], &[library])
        .exits(0)
        .says("warning[W0208]: `two` carries Python code: it runs in its own process");
    sandbox.run("export out --to out.csv").exits(0);
    let text = std::fs::read_to_string(sandbox.path("out.csv")).unwrap();
    let (names, rows) = table(&text);
    assert_eq!((names, rows.last().unwrap()), (vec!["t", "one.y", "two.y"], &vec![1.0, 1.0, 2.0]));
    // A module that is in the virtual environment alone.
    run_parts(&sandbox, &["three"], &[library])
        .exits(2)
        .says("error[E0113]: `three` could not be instantiated")
        .says("its Python code imports `pythonfmu3`, which is not found")
        .says("pip install pythonfmu3");
    let folder = interpreter.parent().and_then(Path::parent).unwrap().to_str().unwrap();
    run_parts(&sandbox, &["three"], &[("VIRTUAL_ENV", folder)]).exits(0);
    // In the process of the run it is the same Python, with a warning.
    let shared = "[system]\nstop = \"1 s\"\n[step]\nsize = \"0.125 s\"\n[fmu.three]\nfile = \"three/Part.fmu\"\nisolation = \"none\"\n";
    sandbox.write("shared.toml", shared);
    let run_shared = |variables: &[(&str, &str)]| {
        let line = "run shared.toml --method zoh --no-record";
        let mut command = sandbox.command(line.split(' '));
        command.env_remove("VIRTUAL_ENV").env_remove("PYTHONPATH").envs(variables.iter().copied());
        finished(command, line)
    };
    run_shared(&[("VIRTUAL_ENV", folder)]).exits(0).says("warning[W0208]: `three` carries Python code");
    run_shared(&[("COSTEP_PYTHON_LIBRARY", "/nowhere/libpython3.12.so")])
        .exits(1)
        .says("error[E0111]: COSTEP_PYTHON_LIBRARY names `/nowhere/libpython3.12.so`, which does not exist");
    // What Python says about code that fails is the cause, not that the FMU has failed.
    build_part(&sandbox, &interpreter, "four", "GAIN = None", "");
    run_parts(&sandbox, &["four"], &[library])
        .exits(2)
        .says("error[E0117]: `four`: fmi2DoStep returned Fatal")
        .says("cause: Fatal py exception encountered: [doStep] PyObject_CallMethod \"unsupported operand type(s) for");
    let said = std::fs::read_to_string(sandbox.path("out/four.log")).unwrap();
    assert!(said.contains("unsupported operand"), "{said}");
    // An output that holds no number: its name is told.
    let code = std::fs::read_to_string(sandbox.path("four/part.py")).unwrap();
    sandbox.write("six/helper.py", "");
    sandbox.write("six/part.py", code.replace("self.y += step_size * GAIN", "self.y = \"hot\""));
    build_as_it_is(&sandbox, &interpreter, "six");
    run_parts(&sandbox, &["six"], &[library])
        .exits(2)
        .says("`six`: fmi2GetReal returned Fatal")
        .says("while reading `y`")
        .says("what is registered as `Real` has to hold a number");
    // Python without a `return` returns None, which PythonFMU takes for the wish to end.
    build_part(&sandbox, &interpreter, "five", "GAIN = 1.0", "");
    let code = std::fs::read_to_string(sandbox.path("five/part.py")).unwrap();
    sandbox.write("five/part.py", code.replace("        return True\n", ""));
    build_as_it_is(&sandbox, &interpreter, "five");
    run_parts(&sandbox, &["five"], &[library])
        .exits(2)
        .says("error[E0134]: `five`: the FMU asked to end the simulation at t = 0 s")
        .says("cause: not a single step has been done")
        .says("`do_step` of its Python code has to return True");
    // A new project confirms the process of its own, so that nobody is warned of it.
    sandbox.run("new rig one/Part.fmu --quiet").exits(0);
    let written = std::fs::read_to_string(sandbox.path("rig/system.toml")).unwrap();
    assert!(written.contains("isolation = \"process\""), "{written}");
}
