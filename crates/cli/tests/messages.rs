//! Messages that name the cause and what to do, in words for people.

mod common;

use common::Sandbox;

#[test]
fn causes_are_named_and_not_their_consequences() {
    let sandbox = Sandbox::new();
    sandbox.run("export-fmu dual-mass --out fmus --quiet").exits(0);
    sandbox.run("new pair fmus/s1.fmu fmus/s2.fmu --quiet").exits(0);
    sandbox.run("run dual-mass --out rig --quiet").exits(0);
    for (line, exit, code, words) in [
        ("run dual-mass --step 1e-15", 1, "E0205", "1e14 macro steps"),
        ("compare dual-mass --steps 1e-15", 1, "E0205", "choose a larger step"),
        ("run dual-mass --set x1=1e308", 2, "E0402", "check start values"),
        ("run pair --set s1.m1=0", 1, "E0114", "0 is not more than zero"),
        ("run pair --set s1.m1=text", 1, "E0114", "help: write a number"),
        ("run pair --set s1.interface=me", 1, "E0208", "`--set fmu.PART.interface=...`"),
        (
            "run pair --method zoh --memory-limit 1MB",
            2,
            "E0407",
            "more than 1 MB of memory were used: while no FMU was being called",
        ),
        ("export rig --to nowhere/rig.csv", 1, "E0201", "No such file or directory (os error 2)\n"),
        ("explain E9999", 1, "E0200", "help: "),
        ("inspect nowhere.fmu", 1, "E0201", "help: "),
    ] {
        sandbox.run(line).exits(exit).says(&format!("error[{code}]")).says(words);
    }
}

#[test]
fn the_help_is_what_to_write_instead() {
    let sandbox = Sandbox::new();
    sandbox.run("export-fmu dual-mass --out fmus --quiet").exits(0);
    sandbox.run("new pair fmus/s1.fmu fmus/s2.fmu --quiet").exits(0);
    sandbox.run("run dual-mass --out rig --quiet").exits(0);
    for (line, words) in [
        ("new fmus/s1.fmu fmus/s2.fmu", "`costep new rig fmus/s1.fmu fmus/s2.fmu`"),
        ("run dual-mass --out fmus/s1.fmu", "`fmus/s1.fmu` is a file, not a folder"),
        ("run dual-mass --method nepce:alfa=1", "did you mean `alpha`?"),
        ("run dual-mass --method nepce:colour=1", "`costep methods nepce` lists its options"),
        ("run dual-mass --reference monolitic", "given by `--reference monolitic`"),
        ("run pair --set s1.m1=0", "help: choose more than zero"),
        ("compare dual-mass --methods zoh --reference step:1s", "`--reference step:500us`"),
        ("compare dual-mass --methods zoh --steps 1ms,abc", "given by `--steps 1ms,abc`"),
        ("advise dual-mass --error 5%", "write 0.05"),
        ("resume nothere", "`nothere` does not exist"),
        ("plot rig --from 50ms --to 10ms", "`--from` is later than `--to`"),
        ("plot nothere", "`nothere` does not exist"),
        ("doe nothere.toml", "`nothere.toml` does not exist"),
        ("doe pair/system.toml", "this is a project, not a plan"),
        ("export pair/system.toml --to r.csv", "`--ssp` writes the system itself"),
        ("graph dual-mass --out g.png", "write `--out g.svg`"),
        ("version", "`costep --version`"),
        ("run dual-mass --step 1 ms", "write `--step 1ms` or `--step \"1 ms\"`"),
        ("run dual-mass --set m1 5", "`--set m1=5`"),
        ("run dual-mass -method zoh", "`--method zoh`"),
        ("run dual-mass --step 0,1ms", "write a decimal point: \"0.1ms\""),
        ("run dual-mass --set stop=1s", "`--t-end ...`"),
        ("run pair --set stop=1s", "`--set system.stop=...`"),
        ("run dual-mass --method zoh,nepce", "`costep compare SYSTEM --methods zoh,nepce`"),
        ("run dual-mass --method jacobi", "`--schedule parallel`"),
        ("run dual-mass --schedule gauss-seidel", "did you mean `sequential`?"),
        ("export rig --list --to y.csv", "cannot be used with"),
    ] {
        sandbox.run(line).exits(1).says(words);
    }
    // The name of the only part can be left out.
    sandbox.run("run fmus/s1.fmu --set m1=2 --t-end 10ms --no-record").exits(0);
    let card = sandbox.run("inspect fmus/s1.fmu --json").exits(0).json();
    let mass = &card["parameters"][0];
    assert_eq!((&mass["name"], &mass["start"]), (&"m1".into(), &10.0.into()), "{card}");
}

#[test]
fn commands_that_are_proposed_can_be_copied() {
    let sandbox = Sandbox::new();
    let words = ["run", "dual-mass", "--out", "my first run; it's"];
    let done = common::finished(sandbox.command(words), "run").exits(0);
    done.says(r"next: costep plot 'my first run; it'\''s'");
    sandbox.run("export-fmu dual-mass --out fmus --quiet").exits(0);
    sandbox.run("new alone fmus/s1.fmu").exits(0).says("costep run alone");
    sandbox.run("run alone --no-record").exits(0).says("alone: 1 subsystem, 0 connections");
}
