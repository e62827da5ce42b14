//! Examples at the end of the help of each verb. A test runs all of them, in the order of its own list of verbs.

pub(crate) const PROGRAM: &str = "\
First steps:
  costep demo
  costep compare dual-mass --steps 1ms,5ms
  costep help run

Your own FMUs:
  costep new rig engine.fmu brake.fmu
  costep check rig
  costep run rig
  costep plot rig";

pub(crate) const DEMO: &str = "\
Examples:
  costep demo
  costep demo --out story";

pub(crate) const NEW: &str = "\
Examples:
  costep new pair fmus/s1.fmu fmus/s2.fmu
  costep new linked fmus/s1.fmu fmus/s2.fmu --no-copy";

pub(crate) const CHECK: &str = "\
Examples:
  costep check pair
  costep check pair --probe
  costep check pair --set step.size=2ms --strict";

pub(crate) const RUN: &str = "\
Examples:
  costep run dual-mass --method predictive --step 5ms --out rig
  costep run dual-mass --set ck=2e5 --t-end 0.2s --out soft
  costep run dual-mass --method predictive --models probe --no-record
  costep run dual-mass --out story --report story.html
  costep run pair
  costep run pair --method zoh --reference same --no-record";

pub(crate) const RESUME: &str = "\
Examples:
  costep run dual-mass --t-end 1h --time-limit 1s --out long
  costep resume long --time-limit 1s";

pub(crate) const COMPARE: &str = "\
Examples:
  costep compare dual-mass --methods zoh,nepce,predictive --steps 1ms,5ms
  costep compare pair --methods zoh,auto
  costep compare dual-mass --methods zoh --out runs
  costep compare dual-mass --methods zoh,predictive --report methods.html

Divergence of a method is a result: the exit code is 0 unless a run fails (its code) or every run diverges (3).";

pub(crate) const ADVISE: &str = "\
Examples:
  costep advise dual-mass
  costep advise dual-mass --error 1e-4 --time 20s
  costep advise pair --error 1e-2 --methods zoh,foh,identified

The exit code is 3 if nothing has the error asked for, 4 if the time was over before something had it.";

pub(crate) const MAP: &str = "\
Examples:
  costep map dual-mass --vary ck=1e4..1e6:log:3 --vary dk=1e2..1e4:log:3 --steps 1ms..5ms:3 --methods zoh,predictive --out map
  costep map dual-mass --steps 1ms,5ms,10ms --methods zoh,nepce,predictive --out steps

Two parameters are mapped by their ratio, the first over the second. The same command goes on after an interruption.";

pub(crate) const DOE: &str = "\
Examples:
  costep doe genser2020-tab3.4 --print
  costep doe genser2020-tab3.4 --out effects
  costep run effects/optimum.toml --no-record
  costep doe genser2020-tab3.4 --shard 1/2 --out shards
  costep doe genser2020-tab3.4 --shard 2/2 --out shards
  costep doe merge genser2020-tab3.4 --out shards

The same command goes on after an interruption. docs/experiments.md describes plans.";

pub(crate) const STABILITY: &str = "\
Examples:
  costep stability dual-mass --method nepce --steps 0.5ms,1ms,2ms,4ms
  costep stability hydraulic-linear --method zoh --nyquist loops.svg
  costep stability dual-mass-nonlinear --bohl --method prestep --models rls
  costep stability dual-mass-nonlinear --bohl --method prestep:source=moesp --windows 10,400";

pub(crate) const IDENTIFY: &str = "\
Examples:
  costep identify dual-mass --step 1ms --t-end 1s --out models.toml
  costep identify dual-mass --method prestep --models rls --step 1ms --t-end 1s --out arx.toml
  costep run dual-mass --method predictive --models from-file:file=models.toml --step 2ms --no-record";

pub(crate) const METHODS: &str = "\
Examples:
  costep methods
  costep methods predictive
  costep methods rls";

pub(crate) const MODELS: &str = "\
Examples:
  costep models
  costep models dual-mass";

pub(crate) const EXPORT: &str = "\
Examples:
  costep export rig --list
  costep export rig --to rig.csv
  costep export rig --to part.parquet --signals 's1.*,s2.F'
  costep export --ssp pair --to pair.ssp";

pub(crate) const IMPORT: &str = "\
Examples:
  costep import pair.ssp --out imported";

pub(crate) const SURVEY: &str = "\
Examples:
  costep survey fmus
  costep survey fmus --steps 20 --to compatibility.md";

pub(crate) const EXPORT_FMU: &str = "\
Examples:
  costep export-fmu dual-mass --out fmus
  costep export-fmu dual-mass --fmi 2 --kind cs --set ck=2e5 --out soft-fmus
  costep export-fmu chain --part m1 --out chain";

pub(crate) const REPRODUCE: &str = "\
Examples:
  costep reproduce
  costep reproduce genser2020-fig3.62 --quick";

pub(crate) const GRAPH: &str = "\
Examples:
  costep graph dual-mass
  costep graph pair --out pair.svg";

pub(crate) const PLOT: &str = "\
Examples:
  costep plot rig
  costep plot rig --reference --from 10ms --to 50ms
  costep plot rig soft --signals s1.x --out both.svg";

pub(crate) const REPORT: &str = "\
Examples:
  costep report rig
  costep report rig --reference --out rig.html";

pub(crate) const INSPECT: &str = "\
Examples:
  costep inspect fmus/s1.fmu
  costep inspect pair
  costep inspect rig/results.arrows";

pub(crate) const EXPLAIN: &str = "\
Examples:
  costep explain
  costep explain E0601";

pub(crate) const SCHEMA: &str = "\
Examples:
  costep schema

Write it to a file: `costep schema > costep.schema.json`. A project that begins with `#:schema costep.schema.json` is then
checked while it is written, in VS Code by the extension Even Better TOML.";

pub(crate) const COMPLETIONS: &str = "\
Examples:
  costep completions bash
  costep completions zsh
  costep completions fish

Write it where the shell looks: `costep completions bash > ~/.local/share/bash-completion/completions/costep`.";

pub(crate) const MAN: &str = "\
Examples:
  costep man
  costep man run

Read it by `costep man run | man -l -`, or write it where `man` looks: `costep man > ~/.local/share/man/man1/costep.1`.";
