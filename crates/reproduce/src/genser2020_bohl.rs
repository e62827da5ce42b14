//! Bohl exponents of the nonlinear oscillator coupled by pre-step stabilisation with identified models [T table 3.14].

use costep_analysis::{BohlExponent, LoopLaw, LoopRecorder, Plant, RecordedLoop, bohl_exponent};
use costep_core::{Code, Error, Result};
use costep_engine::Observer;
use costep_linalg::spectral_radius;
use costep_methods::MethodSpec;
use costep_report::{Axis, Figure, Look, Panel, Series};

use crate::case::Case;
use crate::data::Data;
use crate::rules::{Kind, Measured};
use crate::study::{Computed, Study, short, statement};
use crate::work::Work;

const STEP: f64 = 1e-3;
/// Windows of the curves, in macro steps.
const WINDOWS: [usize; 9] = [1, 2, 5, 10, 20, 50, 100, 200, 400];
/// Windows that decide.
const LONG: [usize; 3] = [100, 200, 400];
/// The settings of the thesis first.
const VARIANTS: [(&str, &str, Plant); 4] = [
    ("table 3.12", "prestep:source=rls,paper=true", Plant::Local),
    ("table 3.12, identified models only", "prestep:source=rls,paper=true", Plant::Identified),
    ("without error equation", "prestep:source=rls,paper=true,ede=false", Plant::Local),
    ("direct Interface Jacobians (ij-rls)", "prestep:source=ij-rls,paper=true", Plant::Local),
];

/// Row of the registry.
pub(crate) const TAB_3_14: Study = Study {
    id: "genser2020-tab3.14",
    title: "Bohl exponents of the nonlinear oscillator coupled with identified models",
    source: "[T] Table 3.14, p. 106",
    setup: "Nonlinear dual mass oscillator with external force, explicit Euler with 10 us inside, 1 s, macro step 1 ms, \
            prestep:source=rls,paper=true, as genser2020-tab3.12-run. Every macro step after the switch phase as one linear map of \
            (u, u before, delta, y, y before, x), in units of the ranges of the signals, as in (3.30): identified models in the coupling, \
            the subsystems linearised at the beginning of the step (tangents) and solved exactly over it. beta(p): greatest \
            spectral norm of the product of p successive maps, to the power 1/p, for p = 100, 200 and 400. The claims are those of the \
            conclusion; the numbers of the table itself, its window and its units are not compared.",
    claims: &[
        statement(
            "Bohl exponent of the coupled system",
            "[T] section 5.2, on Table 3.14",
            "less than 1",
            Kind::Stable,
        ),
        statement(
            "time-variant matrices",
            "[T] section 5.2, on Table 3.14 and section 3.3.2",
            "bounded in every step: the greatest norms of the first and of the second half are alike",
            Kind::Alike,
        ),
    ],
    compute,
};

fn compute(work: &Work<'_>) -> Result<Computed> {
    let found = work.map(&VARIANTS, |(_, method, plant)| Exponents::new(method, *plant))?;
    let thesis = &found[0];
    let list = |found: &Exponents, windows: &[usize]| {
        windows.iter().map(|p| format!("{:.4} for p = {p}", found.beta(*p))).collect::<Vec<_>>().join(", ")
    };
    let (first, second) = thesis.norms;
    let others = VARIANTS
        .iter()
        .zip(&found)
        .skip(1)
        .map(|((name, ..), found)| format!("{name}: {}", list(found, &LONG)));
    let [full, modified, signal] = thesis.phases;
    Ok(Computed {
        measured: vec![
            Measured::cases(LONG.map(|window| thesis.beta(window) < 1.0), list(thesis, &LONG)),
            Measured::ratios(
                [(second / first).max(first / second)],
                format!("norms up to {}, then up to {}", short(first), short(second)),
            ),
        ],
        remarks: vec![
            format!("beta depends on p: {}. So it is always given with p.", list(thesis, &[1, 10, 50])),
            format!("Others: {}.", others.collect::<Vec<_>>().join("; ")),
            format!(
                "The single maps have spectral radii up to {}, which proves nothing of a time-varying system.",
                short(thesis.radius)
            ),
            format!(
                "{} maps: {full} with optimised inputs, {modified} without (modified), {signal} with inputs from signals. An independent \
                 prototype with secants in place of tangents and all maps with optimised inputs had 0.9987, 0.9733 and 0.9636 for p = 100, 200 \
                 and 400.",
                full + modified + signal
            ),
        ],
        data: data(&found),
        figure: figure(&found),
    })
}

/// What a run comes to.
struct Exponents {
    all: Vec<BohlExponent>,
    /// Greatest norm of a map in the first and in the second half.
    norms: (f64, f64),
    /// Greatest spectral radius of a map.
    radius: f64,
    phases: [usize; 3],
}

impl Exponents {
    fn new(method: &str, plant: Plant) -> Result<Self> {
        let recorded = record(method, plant)?;
        let exponent = |steps: &[_], window: usize| {
            bohl_exponent(steps, window)
                .ok_or_else(|| Error::new(Code::NotFinite, format!("no products of {window} steps")))
        };
        let all = WINDOWS.iter().map(|window| exponent(&recorded.steps, *window)).collect::<Result<_>>()?;
        let (first, second) = recorded.steps.split_at(recorded.steps.len() / 2);
        let norms = (exponent(first, 1)?.beta, exponent(second, 1)?.beta);
        let radius = recorded.steps.iter().map(spectral_radius).fold(0.0, f64::max);
        Ok(Self { all, norms, radius, phases: recorded.phases })
    }

    fn beta(&self, window: usize) -> f64 {
        self.all.iter().find(|found| found.window == window).map_or(f64::NAN, |found| found.beta)
    }
}

fn record(method: &str, plant: Plant) -> Result<RecordedLoop> {
    let method = MethodSpec::parse(method)?;
    let mut recorder = LoopRecorder::new(LoopLaw::new(&method)?, Some(plant));
    let case = Case::new("dual-mass-nonlinear", &[], 1.0);
    let mut engine =
        case.engine(method.build(), recorder.tap(method.models()), (STEP, false), |_, part| part)?;
    engine.run(&mut [&mut recorder as &mut dyn Observer])?;
    recorder.finish()
}

fn data(found: &[Exponents]) -> Data {
    let names = VARIANTS.iter().map(|(name, ..)| (*name).to_owned());
    let mut data = Data::new(["window p".to_owned()].into_iter().chain(names));
    for window in WINDOWS {
        data.push([window as f64].into_iter().chain(found.iter().map(|found| found.beta(window))).collect());
    }
    data
}

fn figure(found: &[Exponents]) -> Figure {
    let axes = Panel::new(Axis::new("window p in macro steps").log(), Axis::new("beta(p)").range(0.9, 1.25))
        .level("stable below", 1.0);
    let panel = VARIANTS.iter().zip(found).fold(axes, |panel, ((name, ..), found)| {
        let points = found.all.iter().map(|found| (found.window as f64, found.beta)).collect();
        panel.with(Series::new(*name, points).look(Look::Marked))
    });
    Figure::new("Bohl exponents over their window, nonlinear oscillator")
        .subtitle("macro step 1 ms, identified models; cut at 1.25")
        .panel(panel)
        .note("On Genser 2020, Table 3.14.")
}
