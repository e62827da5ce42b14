//! The helicopter and its controller under five pilots [T Figs. 4.10 to 4.15].

use costep_analysis::measure;
use costep_core::Result;
use costep_report::{Axis, Figure, Look, Panel, Series};

use crate::case::Case;
use crate::data::Data;
use crate::series::colour;
use crate::study::{Claim, Computed, Measured, Study, Tolerance, number, short, statement};
use crate::work::Work;

const SETUP: &str = "Helicopter with controller `bookI`, 90 s. The thesis' own controller is not published, and its commands are known from the text \
                     only. Error eps_mean: per subsystem the mean over its outputs and over time of |y - y_mono| / range(y_mono), Euclidean norm over \
                     subsystems, cut at 1; sigma: sigma_mono of (4.11), the root of the estimated variance of the noise on y - y_mono, summed over subsystems. Pre-Step SI: \
                     `prestep:source=rls,paper=true` with a learning phase of 12 s, with the error differential equation as table 3.12 says and without; MBCorr SI likewise.";

const PLACE: &str = "[T] section 4.3, Figs. 4.11 to 4.15";

const CLAIMS: &[Claim] = &[
    statement(
        "zoh, Pre-Step SI and MBCorr exact nearly coincide up to 0.1 s",
        PLACE,
        "they do",
        "greatest over least error within a factor 2 at 0.04, 0.06, 0.08 and 0.1 s; in trend in most",
    ),
    number(
        "first step at which zoh is useless",
        PLACE,
        0.16,
        "s",
        Tolerance::Difference { holds: 0.02, trend: 0.04 },
    ),
    number(
        "first step at which Pre-Step SI is useless",
        PLACE,
        0.22,
        "s",
        Tolerance::Difference { holds: 0.02, trend: 0.04 },
    ),
    statement(
        "Pre-Step SI alone is useful from 0.16 s to 0.2 s",
        PLACE,
        "it is",
        "its error below 1 and those of zoh, nepce and both MBCorr not, at 0.16, 0.18, 0.2 s; in trend in most",
    ),
    statement(
        "MBCorr SI is worse than zoh from 0.08 s on",
        PLACE,
        "it is",
        "greater error at 0.08, 0.1, 0.12, 0.14 s; in trend in most",
    ),
];

/// Row of the registry for a pilot.
macro_rules! of_pilot {
    ($name:ident, $id:literal, $figure:literal, $pilot:literal) => {
        /// Row of the registry.
        pub(crate) const $name: Study = Study {
            id: $id,
            title: concat!("helicopter: errors over the macro step, pilot ", $pilot),
            source: concat!("[T] Fig. ", $figure),
            setup: SETUP,
            claims: CLAIMS,
            compute: |work| compute(work, $pilot),
        };
    };
}
of_pilot!(FIG_4_11, "genser2020-fig4.11", "4.11", 1);
of_pilot!(FIG_4_12, "genser2020-fig4.12", "4.12", 2);
of_pilot!(FIG_4_13, "genser2020-fig4.13", "4.13", 3);
of_pilot!(FIG_4_14, "genser2020-fig4.14", "4.14", 4);
of_pilot!(FIG_4_15, "genser2020-fig4.15", "4.15", 5);

/// Row of the registry.
pub(crate) const FIG_4_10: Study = Study {
    id: "genser2020-fig4.10",
    title: "helicopter: exact against identified Interface Jacobians, pilot 1",
    source: "[T] Fig. 4.10",
    setup: SETUP,
    claims: &[
        statement(
            "pre-step with exact Interface Jacobians",
            "[T] section 4.3, Fig. 4.10",
            "unstable at once",
            "error above 1 at 0.04 s, 0.08 s and 0.12 s; in trend in most",
        ),
        statement(
            "pre-step with identified ones",
            "[T] section 4.3, Fig. 4.10",
            "stable",
            "error below 1 at the same steps; in trend in most",
        ),
    ],
    compute: exact_against_identified,
};

/// Names as the thesis has them, methods without the length of their learning phase, and whether they have one.
const METHODS: [(&str, &str, bool); 9] = [
    ("zoh", "zoh", false),
    ("nepce", "nepce", false),
    ("MBCorr exact", "mbcorr", false),
    ("MBCorr SI", "mbcorr:source=rls", true),
    ("Pre-Step SI", "prestep:source=rls,paper=true", true),
    ("Pre-Step SI, no ede", "prestep:source=rls,paper=true,ede=false", true),
    ("Pre-Step exact", "prestep:paper=true", false),
    ("identified", "identified", false),
    ("predictive", "predictive", false),
];
const ZOH: usize = 0;
const NEPCE: usize = 1;
const CORRECTOR: usize = 2;
const CORRECTOR_SI: usize = 3;
const PRE_STEP_SI: usize = 4;
const NO_EDE: usize = 5;
const EXACT: usize = 6;
/// Length of the learning phase, in s.
const LEARNING: f64 = 12.0;
/// Steps in hundredths of a second.
const STEPS: [u32; 15] = [2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30];

/// Errors and sigma over steps.
struct Curves {
    steps: Vec<u32>,
    /// (eps_mean, sigma) per step and method; infinite if a run diverges.
    found: Vec<Vec<(f64, f64)>>,
}

impl Curves {
    fn new(work: &Work<'_>, pilot: u32) -> Result<Self> {
        let steps: Vec<u32> = if work.quick { vec![4, 8, 10, 12, 16, 20] } else { STEPS.to_vec() };
        let stop = if work.quick { 40.0 } else { 90.0 };
        let case = Case::new("helicopter", &[("pilot", f64::from(pilot))], stop);
        let found = work.map(&steps, |step| errors(&case, 0.01 * f64::from(*step)))?;
        Ok(Self { steps, found })
    }

    /// Error at a step, cut at 1; not a number if the step was not computed.
    fn error(&self, method: usize, step: u32) -> f64 {
        let row = self.steps.iter().position(|known| *known == step);
        row.map_or(f64::NAN, |row| self.found[row][method].0.min(1.0))
    }

    fn first_useless(&self, method: usize) -> f64 {
        let first = self.steps.iter().find(|step| self.error(method, **step) >= 1.0);
        first.map_or(f64::NAN, |step| 0.01 * f64::from(*step))
    }

    fn data(&self) -> Data {
        let names = METHODS.iter().map(|(name, ..)| (*name).to_owned());
        let sigmas = METHODS.iter().map(|(name, ..)| format!("sigma {name}"));
        let mut data = Data::new(["step_s".to_owned()].into_iter().chain(names).chain(sigmas));
        for (step, row) in self.steps.iter().zip(&self.found) {
            let head = std::iter::once(0.01 * f64::from(*step));
            data.push(head.chain(row.iter().map(|x| x.0)).chain(row.iter().map(|x| x.1)).collect());
        }
        data
    }

    fn figure(&self, pilot: u32, figure: &str) -> Figure {
        let panel = |label: &str, pick: fn(&(f64, f64)) -> f64| {
            let mut panel =
                Panel::new(Axis::new("macro step").unit("s").range(0.0, 0.31), Axis::new(label).log());
            for (k, (name, method, _)) in METHODS.iter().enumerate().filter(|(k, _)| *k != EXACT) {
                let points = self.steps.iter().zip(&self.found);
                let points = points
                    .map(|(step, row)| (0.01 * f64::from(*step), pick(&row[k]).clamp(1e-6, 1.0)))
                    .collect();
                let look = match k {
                    NO_EDE => Look::Reference,
                    _ if method.contains("source") => Look::Line,
                    _ => Look::Marked,
                };
                panel = panel.with(Series::new(*name, points).look(look).colour(colour(method)));
            }
            panel
        };
        Figure::new("Errors over the macro step, helicopter")
            .subtitle(format!("pilot {pilot}, controller bookI, 90 s; drawn between 1e-6 and 1"))
            .panel(panel("error eps_mean", |found| found.0))
            .panel(panel("sigma", |found| found.1))
            .note(format!("After Genser 2020, Fig. {figure} (without identified and predictive)."))
    }
}

fn errors(case: &Case, step: f64) -> Result<Vec<(f64, f64)>> {
    let reference = case.monolithic(step, false)?;
    let descriptions = case.descriptions()?;
    let one = |(_, method, learns): &(&str, &str, bool)| {
        let method = if *learns {
            format!("{method},learning={}", (LEARNING / step).round())
        } else {
            (*method).into()
        };
        let run = case.run(&method, step, false)?;
        let measures = measure(&descriptions, &run.trace, &reference);
        Ok(if run.ended { (measures.eps_mean, measures.sigma_mono) } else { (f64::INFINITY, f64::INFINITY) })
    };
    METHODS.iter().map(one).collect()
}

fn compute(work: &Work<'_>, pilot: u32) -> Result<Computed> {
    let curves = Curves::new(work, pilot)?;
    let error = |method: usize, step: u32| curves.error(method, step);
    let spread = |step: u32| {
        let all = [ZOH, PRE_STEP_SI, CORRECTOR].map(|method| error(method, step));
        all.iter().fold(0.0, |a: f64, b| a.max(*b)) / all.iter().fold(f64::INFINITY, |a: f64, b| a.min(*b))
    };
    let early: Vec<u32> = [4, 6, 8, 10].into_iter().filter(|step| curves.steps.contains(step)).collect();
    let late: Vec<u32> = [16, 18, 20].into_iter().filter(|step| curves.steps.contains(step)).collect();
    let middle: Vec<u32> = [8, 10, 12, 14].into_iter().filter(|step| curves.steps.contains(step)).collect();
    let alone = |step: &&u32| {
        let others = [ZOH, NEPCE, CORRECTOR, CORRECTOR_SI];
        error(PRE_STEP_SI, **step) < 1.0 && others.iter().all(|method| error(*method, **step) >= 1.0)
    };
    let list = |method: usize, steps: &[u32]| {
        steps.iter().map(|step| short(error(method, *step))).collect::<Vec<_>>().join(", ")
    };
    let measured = vec![
        Measured::most(
            early.iter().filter(|step| spread(**step) <= 2.0).count(),
            early.len(),
            format!(
                "zoh {}; Pre-Step SI {}; MBCorr exact {}",
                list(ZOH, &early),
                list(PRE_STEP_SI, &early),
                list(CORRECTOR, &early)
            ),
        ),
        Measured::Number(curves.first_useless(ZOH)),
        Measured::Number(curves.first_useless(PRE_STEP_SI)),
        Measured::most(
            late.iter().filter(alone).count(),
            late.len(),
            format!("Pre-Step SI {}; MBCorr exact {}", list(PRE_STEP_SI, &late), list(CORRECTOR, &late)),
        ),
        Measured::most(
            middle.iter().filter(|step| error(CORRECTOR_SI, **step) > error(ZOH, **step)).count(),
            middle.len(),
            format!("{} against {}", list(CORRECTOR_SI, &middle), list(ZOH, &middle)),
        ),
    ];
    let number = format!("4.{}", 10 + pilot);
    let useless = |name: &str, method: usize| match curves.first_useless(method) {
        step if step.is_nan() => format!("{name} at none"),
        step => format!("{name} from {} s on", short(step)),
    };
    let remarks = vec![
        format!(
            "Useless (error 1 and above): {}.",
            METHODS.iter().enumerate().map(|(k, (name, ..))| useless(name, k)).collect::<Vec<_>>().join(", ")
        ),
        format!(
            "Without the error differential equation Pre-Step SI has {} at 0.16, 0.2 s.",
            list(NO_EDE, &[16, 20])
        ),
    ];
    Ok(Computed { measured, data: curves.data(), figure: curves.figure(pilot, &number), remarks })
}

fn exact_against_identified(work: &Work<'_>) -> Result<Computed> {
    let curves = Curves::new(work, 1)?;
    let steps: Vec<u32> = [4, 8, 12].into_iter().filter(|step| curves.steps.contains(step)).collect();
    let list = |method: usize| {
        steps.iter().map(|step| short(curves.error(method, *step))).collect::<Vec<_>>().join(", ")
    };
    let count = |method: usize, bad: bool| {
        steps.iter().filter(|step| (curves.error(method, **step) >= 1.0) == bad).count()
    };
    let panel =
        Panel::new(Axis::new("macro step").unit("s").range(0.0, 0.31), Axis::new("error eps_mean").log());
    let panel = [EXACT, PRE_STEP_SI, NO_EDE].into_iter().fold(panel, |panel, k| {
        let points =
            curves.steps.iter().map(|step| (0.01 * f64::from(*step), curves.error(k, *step))).collect();
        let look = if k == EXACT { Look::Marked } else { Look::Line };
        panel.with(Series::new(METHODS[k].0, points).look(look).colour(costep_report::Colour::Nth(k)))
    });
    Ok(Computed {
        measured: vec![
            Measured::most(count(EXACT, true), steps.len(), list(EXACT)),
            Measured::most(count(PRE_STEP_SI, false), steps.len(), list(PRE_STEP_SI)),
        ],
        data: curves.data(),
        figure: Figure::new("Exact and identified Interface Jacobians, helicopter")
            .subtitle("pilot 1, controller bookI, 90 s; cut at 1")
            .panel(panel)
            .note("After Genser 2020, Fig. 4.10, which shows signals over time at one step."),
        remarks: vec![
            "What fails is C A C^+ with more states than outputs, not exactness: `predictive` on the exact state space is in the table.".into(),
        ],
    })
}
