//! Verdicts on stability over a grid of coupling springs, dampers, steps, lengths of runs and methods, against what the coupling does in
//! the long run: the growth per step of a linear system once all else has decayed.

use costep_analysis::{Companion, Measures, Reference, RunWatch, Trace, measure};
use costep_core::Experiment;
use costep_engine::{Engine, Flow, Scheduling, System};
use costep_integrate::Solver;
use costep_methods::MethodSpec;
use costep_system::SystemDescription;

const METHODS: [&str; 8] = [
    "zoh",
    "foh",
    "nepce",
    "feedthrough",
    "mbcorr",
    "prestep:paper=true",
    "prestep:paper=true,input=ramp",
    "predictive",
];

fn model(ck: f64, dk: f64) -> SystemDescription {
    let set = [("ck".to_owned(), ck), ("dk".to_owned(), dk)];
    costep_models::find("dual-mass").unwrap().model(&set).unwrap().1
}

fn experiment(step: f64, steps: u32) -> Experiment {
    Experiment { start: 0.0, stop: f64::from(steps) * step, step }
}

fn engine(model: &SystemDescription, label: &str, experiment: Experiment) -> Engine {
    let method = MethodSpec::parse(label).unwrap();
    Engine::new(System {
        scheduling: Scheduling::Parallel,
        ..System::new(
            model.parts.iter().map(|part| part.subsystem(&Solver::Exact).unwrap()).collect(),
            model.connections.clone(),
            (method.build(), method.models()),
            experiment,
        )
    })
    .unwrap()
}

/// Growth per macro step in the long run, from the outputs: the spectral radius of the coupled system.
fn spectral_radius(model: &SystemDescription, label: &str, step: f64) -> f64 {
    const STEPS: u32 = 1600;
    const BLOCKS: usize = 8;
    let mut engine = engine(model, label, experiment(step, STEPS));
    let mut sizes = Vec::new();
    // A guard ends a run that has grown by a million: that part is then far above all others.
    while sizes.len() < STEPS as usize && engine.step().is_ok() {
        let sizes_now = engine.outputs().iter().zip([0.1, 30.0, 1e4]).map(|(y, size)| (y / size).abs());
        sizes.push(sizes_now.fold(0.0, f64::max));
    }
    let length = sizes.len().div_ceil(BLOCKS);
    let blocks: Vec<f64> =
        sizes.chunks(length).map(|block| block.iter().copied().fold(0.0, f64::max)).collect();
    let (middle, last) = (blocks.len() / 2, blocks.len() - 1);
    if blocks[last] < 1e-250 {
        return 0.0;
    }
    (blocks[last] / blocks[middle]).powf(1.0 / ((last - middle) * length) as f64)
}

/// A run that came to its end, by three judges: the measures, the twin, and the guess without reference.
struct Judged {
    measures: Measures,
    by_twin: bool,
    guess: bool,
}

/// Nothing if the run diverged.
fn judged(
    model: &SystemDescription,
    label: &str,
    experiment: Experiment,
    reference: &Reference,
) -> Option<Judged> {
    let mut engine = engine(model, label, experiment);
    let mut trace = Trace::new(engine.outputs().len(), false);
    let mut watch = RunWatch::default();
    engine.run(&mut [&mut trace, &mut watch]).ok()?;
    let twin = Companion::monolithic(model, Solver::Exact, &experiment, (&watch, &|| Ok(()))).unwrap();
    Some(Judged {
        measures: measure(engine.descriptions(), &trace, reference),
        by_twin: twin.says_unstable(&watch),
        guess: watch.growth().is_some(),
    })
}

#[derive(Default, Debug)]
struct Counts {
    decaying: usize,
    decaying_called_unstable: usize,
    decaying_guessed_unstable: usize,
    growing: usize,
    growing_not_guessed: usize,
}

/// Every coupling whose unstable part has grown tenfold is called unstable. One that decays is not, unless a short run shows only
/// that it has become larger than the reference ever was; then the error is large as well.
#[test]
fn verdicts_follow_the_growth_in_the_long_run() {
    let mut counts = Counts::default();
    for (ck, dk) in [1e3, 3162.0, 1e5, 1e6].into_iter().flat_map(|ck| [1e2, 1e3, 1e4, 1e5].map(|dk| (ck, dk)))
    {
        let model = model(ck, dk);
        for step in [0.5e-3, 1e-3, 2e-3, 5e-3, 8e-3, 10e-3, 20e-3] {
            let radii = METHODS.map(|label| spectral_radius(&model, label, step));
            for steps in [10, 40, 200, 400] {
                let experiment = experiment(step, steps);
                let reference = Reference::new(&model, Solver::Exact, &experiment, false).unwrap();
                for (label, radius) in METHODS.into_iter().zip(radii) {
                    let judged = judged(&model, label, experiment, &reference);
                    let case =
                        format!("{label}, ck {ck}, dk {dk}, {steps} steps of {step} s, radius {radius}");
                    check(&case, radius, radius.powi(steps as i32), judged.as_ref(), &mut counts);
                }
            }
        }
    }
    println!("{counts:?}");
    let share = |part: usize, of: usize| part as f64 / of as f64;
    assert!(counts.decaying > 1500 && counts.growing > 1000, "{counts:?}");
    assert!(share(counts.decaying_called_unstable, counts.decaying) < 0.02, "{counts:?}");
    // Without reference it is a guess.
    assert!(share(counts.decaying_guessed_unstable, counts.decaying) < 0.03, "{counts:?}");
    assert!(share(counts.growing_not_guessed, counts.growing) < 0.01, "{counts:?}");
}

fn check(case: &str, radius: f64, growth: f64, judged: Option<&Judged>, counts: &mut Counts) {
    let unstable = judged.is_none_or(|judged| judged.measures.unstable);
    let guess = judged.is_none_or(|judged| judged.guess);
    if let Some(Judged { measures, by_twin, .. }) = judged {
        assert_eq!(*by_twin, unstable, "{case}: the twin says otherwise");
        // Curves that are right are not called unstable.
        assert!(!unstable || measures.eps_mono > 0.02, "{case}: eps_mono {}", measures.eps_mono);
    }
    if radius <= 1.0 {
        counts.decaying += 1;
        counts.decaying_called_unstable += usize::from(unstable);
        counts.decaying_guessed_unstable += usize::from(guess);
    }
    if growth > 10.0 {
        assert!(unstable, "{case}: has grown by {growth} and is not called unstable");
        counts.growing += 1;
        counts.growing_not_guessed += usize::from(!guess);
    }
}

/// With half a period per step the reference passes through zero at all communication points: little is much beside it.
#[test]
fn half_a_period_per_step_is_not_unstable() {
    for (ck, dk, step, steps) in [(1e3, 1e3, 1e-2, 200), (3162.0, 1e2, 1e-2, 10), (3162.0, 1e2, 1e-2, 200)] {
        let (model, experiment) = (model(ck, dk), experiment(step, steps));
        let reference = Reference::new(&model, Solver::Exact, &experiment, false).unwrap();
        let judged = judged(&model, "predictive", experiment, &reference).unwrap();
        assert!(!judged.measures.unstable && !judged.by_twin, "{ck}, {dk}: {:?}", judged.measures);
        assert!(judged.measures.signals[0].rel_rms < 3e-3, "{ck}, {dk}: {:?}", judged.measures);
    }
}

/// Too few steps to see growth, but not too few to see that the result is far beyond anything real.
#[test]
fn a_run_of_five_steps_can_be_unstable() {
    let (model, experiment) = (model(1e5, 1e3), experiment(2e-2, 5));
    let reference = Reference::new(&model, Solver::Exact, &experiment, false).unwrap();
    let of = |label: &str| judged(&model, label, experiment, &reference).unwrap().measures;
    let ramp = of("prestep:paper=true,input=ramp");
    assert!(ramp.unstable && !ramp.judged, "{ramp:?}");
    assert!(!of("predictive").unstable);
}

/// The beginning of a run may be compared with a second one at half the step: the estimate is near the truth, and of that part.
#[test]
fn a_second_run_may_do_the_beginning_only() {
    let (model, whole) = (model(1e5, 1e3), experiment(5e-4, 400));
    let mut coarse = engine(&model, "nepce", whole);
    let (mut trace, mut watch) = (Trace::new(coarse.outputs().len(), false), RunWatch::default());
    coarse.run(&mut [&mut trace, &mut watch]).unwrap();
    let reference = Reference::new(&model, Solver::Exact, &whole, false).unwrap();
    let eps = measure(coarse.descriptions(), &trace, &reference).eps_mono;
    for share in [0.5, 1.0] {
        let mut fine = engine(&model, "nepce", Experiment { step: 2.5e-4, ..whole });
        let second = Companion::half_step(&mut fine, &watch, share, |_| Ok(Flow::Continue)).unwrap();
        let estimate = second.accuracy.mean;
        assert!(
            (eps / 2.0..2.0 * eps).contains(&estimate) && (second.share - share).abs() < 0.01,
            "{estimate} {eps}"
        );
        assert!((fine.progress() - share).abs() < 0.01);
    }
}
