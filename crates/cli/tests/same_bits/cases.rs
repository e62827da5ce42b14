//! The runs whose bits are kept: built-in models with all coupling methods, solvers and schedules, projects
//! and FMUs.

use crate::projects;

/// Built-in models with steps at which the coupling matters, long enough for the methods to start up.
const MODELS: [&str; 9] = [
    "dual-mass --step 1ms --t-end 30ms",
    "dual-mass-nonlinear --step 1ms --t-end 30ms --set period=0.01 --set force=5e4",
    "pendulum-oscillator --step 10ms --t-end 300ms",
    "chain --step 1ms --t-end 30ms --set frequency=50",
    "helicopter --step 100ms --t-end 3s",
    "hydraulic-linear --step 50us --t-end 1500us",
    "hydraulic --step 50us --t-end 1500us --set t1=0.0003 --set t2=0.0007",
    "triple-spring --step 100ms --t-end 3s",
    "coupled-pendula --step 20ms --t-end 600ms",
];

/// With every model.
const METHODS: [&str; 26] = [
    "auto",
    "zoh",
    "zoh:smooth=true",
    "zoh:smooth=true,feedthrough=true",
    "foh",
    "foh:feedthrough=true",
    "soh",
    "nepce",
    "nepce:smooth=true,feedthrough=true",
    "feedthrough",
    "mbcorr",
    "mbcorr:source=rls,learning=15",
    "prestep",
    "prestep:paper=true",
    "prestep:source=rls,learning=15",
    "predictive",
    "predictive:fit=sharp",
    "predictive:states=kalman",
    "predictive:source=finite-difference",
    "predictive:source=ij-rls,learning=15",
    "lis",
    "lis:form=rate",
    "identified",
    "identified:form=ramp",
    "identified:feedthrough=true",
    "monolithic",
];

/// A source that not every model bears: the responses of some are those of no linear model.
const PROBED: [usize; 5] = [0, 1, 2, 3, 7];

/// With the models of `VARIED`.
const OPTIONS: [&str; 62] = [
    "foh:smooth=true",
    "soh:smooth=true,feedthrough=true",
    "nepce:reference=applied,alpha=0.5",
    "nepce:sampling=start",
    "nepce:sampling=end",
    "nepce:sampling=trapezoid",
    "nepce:sampling=communication",
    "feedthrough:source=finite-difference",
    "feedthrough:refresh=never",
    "feedthrough:refresh=changed",
    "mbcorr:order=1",
    "mbcorr:discretisation=euler",
    "mbcorr:alpha=0.5,refresh=never",
    "mbcorr:source=finite-difference,every=5",
    "mbcorr:source=ij-rls,learning=20,switching=3",
    "mbcorr:source=moesp,learning=20,window=40,interval=5",
    "mbcorr:source=rls,learning=20,n=2,m=2,parameters=true",
    "mbcorr:source=rls,learning=20,samples=4",
    "prestep:input=ramp",
    "prestep:target=trapezoid",
    "prestep:ede=true",
    "prestep:ede=true,ede_solver=euler,ede_steps=7",
    "prestep:extrapolation=euler,extrapolation_steps=9",
    "prestep:phi_steps=20",
    "prestep:modified=true",
    "prestep:scaled=false,offsets=false",
    "prestep:source=finite-difference",
    "prestep:source=ij-rls,learning=20,ede=true,ede_fresh=true",
    "prestep:source=moesp,learning=20,window=40,model_order=2",
    "prestep:source=rls,learning=20,fallback=foh,paper=true",
    "prestep:source=moesp,learning=20,window=40,paper=true",
    "prestep:paper=true,refresh=never",
    "prestep:refresh=changed",
    "predictive:order=0",
    "predictive:order=1",
    "predictive:order=2,fit=l2",
    "predictive:order=3,fit=end",
    "predictive:order=3",
    "predictive:fit=sharp,refresh=never",
    "predictive:states=outputs",
    "predictive:states=disturbance",
    "predictive:states=kalman,input_error=0.1,output_error=0.01,state_error=0.02",
    "predictive:offsets=held,refresh=changed",
    "predictive:offsets=persistent,every=3",
    "predictive:offsets=off",
    "predictive:inner_steps=false",
    "predictive:euler_step=2e-4,inner_steps=true",
    "predictive:substeps=4,order=0",
    "predictive:source=finite-difference,refresh=changed",
    "predictive:source=finite-difference,refresh=never",
    "predictive:source=rls,learning=20",
    "predictive:source=rls,learning=20,samples=3",
    "predictive:source=moesp,learning=20,window=40,interval=3,model_order=0",
    "predictive:source=ij-rls,learning=20,forgetting=0.98,variance=100",
    "lis:form=rate,implicitness=0.5",
    "lis:form=value",
    "identified:start=plain",
    "identified:form=ramp,forgetting=0.95,parameters=true",
    "identified:start=plain,feedthrough=true,form=ramp",
    "monolithic:solver=adams,tolerance=1e-6",
    "monolithic:solver=dopri5",
    "monolithic:solver=project",
];

/// Euler steps inside, and an integrator with error control.
const VARIED: [&str; 2] = [
    "dual-mass-nonlinear --step 1ms --t-end 50ms --set period=0.01 --set force=5e4",
    "coupled-pendula --step 20ms --t-end 1s",
];

const PROBES: [&str; 5] = [
    "feedthrough:source=probe",
    "mbcorr:source=probe",
    "predictive:source=probe,every=10,amplitude=0.1",
    "predictive:source=probe,refresh=changed",
    "predictive:source=probe,fit=sharp",
];

const SOLVERS: [&str; 10] = [
    "euler",
    "euler:2e-5",
    "rk4",
    "dopri5",
    "dopri5:1e-9",
    "bdf:1e-7",
    "bdf:1e-6:restart",
    "adams:1e-7",
    "adams:1e-6:correct-1",
    "bdf:1e-6:proceed",
];

const SOLVED: [&str; 4] = [
    "dual-mass-nonlinear --step 1ms --t-end 15ms --set period=0.01 --set force=5e4",
    "pendulum-oscillator --step 5ms --t-end 75ms",
    "chain --step 1ms --t-end 15ms --set frequency=100 --set spread=0.5",
    "triple-spring --step 100ms --t-end 1500ms",
];

const LINEAR: [&str; 3] = [
    "dual-mass --step 1ms --t-end 15ms --solver exact",
    "chain --step 1ms --t-end 15ms --set frequency=100 --solver exact",
    "triple-spring --step 100ms --t-end 1500ms --solver exact",
];

const SCHEDULES: [&str; 4] =
    ["parallel", "sequential", "sequential:m5,m3,m1,m2,m4", "sequential:m2,m4,m1,m3,m5"];

/// Everything else that a run of a built-in model can be told.
const SPECIAL: [&str; 24] = [
    "dual-mass --step 1ms --t-end 20ms --schedule sequential:s2,s1 --method zoh",
    "dual-mass --step 1ms --t-end 20ms --schedule sequential:s1,s2 --method nepce",
    "dual-mass --step 1ms --t-end 20ms --schedule sequential:s2,s1 --method identified",
    "dual-mass --set ck=2e5 --set dk=200 --step 5ms --t-end 300ms --method foh",
    "dual-mass --set ck=2e5 --set dk=200 --step 5ms --t-end 300ms --method predictive",
    "dual-mass --set ck=2e5 --set dk=200 --step 5ms --t-end 300ms --method identified",
    "dual-mass --step 1ms --t-end 20ms --method nepce --reference same",
    "dual-mass --step 1ms --t-end 20ms --method predictive --reference same",
    "dual-mass --step 0.7ms --t-end 20ms --method predictive --set system.start=3ms",
    "dual-mass --step 1ms --t-end 20ms --method foh --set record.every=4ms",
    "hydraulic --step 20us --t-end 1ms --set t1=0.0003 --method zoh --reference dopri5:1e-8",
    "helicopter --step 300ms --t-end 30s --method identified",
    "helicopter --step 300ms --t-end 30s --method identified --set controller=2 --set pilot=3",
    "helicopter --step 200ms --t-end 20s --method predictive --set controller=2 --set pilot=2",
    "helicopter --step 100ms --t-end 20s --method mbcorr:source=rls,learning=100 --set pilot=5",
    "helicopter --step 100ms --t-end 20s --method prestep:source=moesp,learning=100,window=150 --set pilot=4",
    "chain --set n=40 --set spread=1 --step 1ms --t-end 10ms --method predictive",
    "chain --set n=40 --step 1ms --t-end 10ms --method prestep",
    "chain --set n=40 --step 1ms --t-end 10ms --method mbcorr",
    "chain --set n=40 --set spread=1 --step 1ms --t-end 10ms --method lis",
    "chain --set n=12 --step 1ms --t-end 20ms --method identified --set idle=0.005",
    "chain --set n=2 --step 1ms --t-end 20ms --method soh",
    "dual-mass-nonlinear --step 1ms --t-end 400ms --method prestep:source=rls",
    "dual-mass-nonlinear --step 1ms --t-end 400ms --method mbcorr:source=moesp,window=200",
];

/// Models that `identify` wrote, taken up by runs with another step.
const FROM_FILES: [&str; 4] = [
    "predictive:source=from-file,file=models.toml",
    "mbcorr:source=from-file,file=models.toml",
    "prestep:source=from-file,file=models.toml",
    "identified:file=models.toml",
];

/// The command that writes these models.
pub(crate) const IDENTIFY: &str = "identify helicopter --step 60ms --t-end 9s --out models.toml";

/// The command lines of all runs that are kept, without those flags that are the same for all.
pub(crate) fn all() -> Vec<String> {
    let mut lines = with_methods(&MODELS, &METHODS);
    let probed: Vec<_> = PROBED.iter().map(|model| MODELS[*model]).collect();
    lines.extend(with_methods(&probed, &["predictive:source=probe"]));
    lines.extend(with_methods(&VARIED, &OPTIONS));
    lines.extend(with_methods(&VARIED[..1], &PROBES));
    for solver in SOLVERS {
        let solved: Vec<_> = SOLVED.iter().map(|model| format!("{model} --solver {solver}")).collect();
        lines.extend(with_methods(&solved, &["foh", "predictive", "lis"]));
    }
    lines.extend(with_methods(&LINEAR, &["zoh", "soh", "predictive", "lis", "identified:form=ramp"]));
    for schedule in SCHEDULES {
        let chain = format!("chain --step 1ms --t-end 20ms --set frequency=100 --schedule {schedule}");
        lines.extend(with_methods(&[chain], &["zoh", "foh", "nepce", "predictive", "mbcorr", "identified"]));
    }
    lines.extend(SPECIAL.map(|line| format!("run {line}")));
    lines.extend(with_methods(&["helicopter --step 300ms --t-end 9s"], &FROM_FILES));
    lines.extend(projects::lines());
    lines
}

fn with_methods(systems: &[impl AsRef<str>], methods: &[&str]) -> Vec<String> {
    let run = |system: &str, method: &str| format!("run {system} --method {method}");
    systems.iter().flat_map(|system| methods.iter().map(|method| run(system.as_ref(), method))).collect()
}
