//! The helicopter and its controller under five pilots: errors over the macro step [T Figs. 4.10 to 4.15].

use costep_core::Result;
use costep_report::{Axis, Figure, Look, Panel, Series};

use crate::data::Data;
use crate::helicopter::{
    self, CORRECTOR, CORRECTOR_SI, NEPCE, PRE_STEP_SI, STOP, WAYS, Way, ZOH, case, setup,
};
use crate::rules::{Kind, Measured};
use crate::series::colour;
use crate::study::{Claim, Computed, Study, number, short, statement};
use crate::work::Work;

const PLACE: &str = "[T] section 4.1.3, on Figs. 4.11 to 4.15";
/// Steps are looked at every 0.02 s.
const STEP: Kind = Kind::OnGrid(0.02);

const SETUP: &str = setup!(
    "sigma: sigma_mono of (4.11), the root of the estimated variance of the noise on y - y_mono, summed over subsystems, here in units \
     of the ranges. Steps from 0.02 s to 0.3 s. Unstable: error 1 and above, where the thesis cuts its figures."
);

const CLAIMS: [Claim; 10] = [
    statement("zoh, MBCorr exact and Pre-Step SI up to 0.1 s", PLACE, "nearly coincide", Kind::Alike),
    number("largest step at which zoh is useful", PLACE, 0.14, "s", STEP),
    number("largest step at which Pre-Step SI is useful", PLACE, 0.2, "s", STEP),
    statement("Pre-Step SI from 0.16 to 0.2 s", PLACE, "stable", Kind::Stable),
    statement("zoh, NEPCE, MBCorr exact and SI from 0.16 to 0.2 s", PLACE, "unstable", Kind::Unstable),
    statement("Pre-Step SI against zoh up to 0.14 s", PLACE, "slightly better", Kind::Less),
    statement("the others against MBCorr SI from 0.08 to 0.14 s", PLACE, "better", Kind::Less),
    statement("errors and sigma of all but NEPCE at 0.02 s against 0.1 s", PLACE, "decrease", Kind::Less),
    statement("error of NEPCE at 0.02 s against 0.1 s", PLACE, "does not decrease", Kind::Property),
    statement("sigma of zoh from 0.16 to 0.2 s", PLACE, "highly increased", Kind::Inaccurate),
];

/// Row of the registry for a pilot, with what the text says of this pilot alone.
macro_rules! of_pilot {
    ($name:ident, $id:literal, $figure:literal, $pilot:literal, $claims:expr) => {
        /// Row of the registry.
        pub(crate) const $name: Study = Study {
            id: $id,
            title: concat!("helicopter: errors over the macro step, pilot ", $pilot),
            source: concat!("[T] Fig. ", $figure),
            setup: SETUP,
            claims: $claims,
            compute: |work| compute(work, $pilot),
        };
    };
}
of_pilot!(FIG_4_11, "genser2020-fig4.11", "4.11", 1, &OF_PILOT_1);
of_pilot!(FIG_4_12, "genser2020-fig4.12", "4.12", 2, &OF_PILOT_2);
of_pilot!(FIG_4_13, "genser2020-fig4.13", "4.13", 3, &CLAIMS);
of_pilot!(FIG_4_14, "genser2020-fig4.14", "4.14", 4, &CLAIMS);
of_pilot!(FIG_4_15, "genser2020-fig4.15", "4.15", 5, &CLAIMS);

const OF_PILOT_1: [Claim; 11] = with(number(
    "largest step at which all methods are useful",
    "[T] section 4.1.3, on Fig. 4.16",
    0.08,
    "s",
    STEP,
));
const OF_PILOT_2: [Claim; 11] = with(number(
    "largest step at which MBCorr SI is stable",
    "[T] section 4.1.3, on Fig. 4.12",
    0.12,
    "s",
    STEP,
));

/// The claims about all pilots and one more.
const fn with(more: Claim) -> [Claim; 11] {
    let [a, b, c, d, e, f, g, h, i, j] = CLAIMS;
    [a, b, c, d, e, f, g, h, i, j, more]
}

/// Row of the registry.
pub(crate) const FIG_4_10: Study = Study {
    id: "genser2020-fig4.10",
    title: "helicopter: exact against identified Interface Jacobians, pilot 1",
    source: "[T] Fig. 4.10",
    setup: SETUP,
    claims: &[
        statement(
            "pre-step with exact Interface Jacobians at 0.04, 0.08 and 0.12 s",
            "[T] section 4.1.3, on Fig. 4.10",
            "unstable at once",
            Kind::Unstable,
        ),
        statement(
            "pre-step with identified ones at the same steps",
            "[T] section 4.1.3, on Fig. 4.10",
            "stable",
            Kind::Stable,
        ),
    ],
    compute: exact_against_identified,
};

/// What else is run, after the ways of the thesis.
const OTHERS: [Way; 4] = [
    Way::learning("Pre-Step SI, no ede", "prestep:source=rls,paper=true,ede=false"),
    Way::plain("Pre-Step exact", "prestep:paper=true"),
    Way::plain("identified", "identified"),
    Way::plain("predictive", "predictive"),
];
const NO_EDE: usize = WAYS.len();
const EXACT: usize = WAYS.len() + 1;
/// Steps in hundredths of a second.
const STEPS: [u32; 15] = [2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30];
/// In a hurry; and up to this time only.
const QUICK_STEPS: [u32; 6] = [2, 8, 10, 12, 14, 16];
const QUICK_STOP: f64 = 20.0;

fn ways() -> impl Iterator<Item = Way> {
    WAYS.into_iter().chain(OTHERS)
}

/// Errors and sigma over steps.
struct Curves {
    steps: Vec<u32>,
    /// (eps_mean, sigma) per step and way; infinite if a run diverges.
    found: Vec<Vec<(f64, f64)>>,
}

impl Curves {
    fn new(work: &Work<'_>, pilot: u32) -> Result<Self> {
        let steps = if work.quick { QUICK_STEPS.to_vec() } else { STEPS.to_vec() };
        let case = case(pilot, if work.quick { QUICK_STOP } else { STOP });
        let found = work.map(&steps, |step| {
            let step = 0.01 * f64::from(*step);
            let runs: Vec<_> = ways()
                .map(|way| helicopter::run(&case, &way, step, None, &mut |_| ()))
                .collect::<Result<_>>()?;
            helicopter::errors(&case, step, &runs)
        })?;
        Ok(Self { steps, found })
    }

    /// The steps of these that were computed.
    fn known<'a>(&'a self, steps: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
        steps.iter().copied().filter(|step| self.steps.contains(step))
    }

    fn at(&self, way: usize, step: u32) -> (f64, f64) {
        let row = self.steps.iter().position(|known| *known == step);
        row.map_or((f64::NAN, f64::NAN), |row| self.found[row][way])
    }

    /// Error at a step, cut at 1; not a number if the step was not computed.
    fn error(&self, way: usize, step: u32) -> f64 {
        let error = self.at(way, step).0;
        if error.is_nan() { error } else { error.min(1.0) }
    }

    fn is_useful(&self, way: usize, step: u32) -> bool {
        self.error(way, step) < 1.0
    }

    /// The largest step up to which all of these are useful.
    fn useful_up_to(&self, ways: &[usize]) -> f64 {
        let good = |step: &&u32| ways.iter().all(|way| self.is_useful(*way, **step));
        self.steps.iter().take_while(good).last().map_or(f64::NAN, |step| 0.01 * f64::from(*step))
    }

    fn list(&self, way: usize, steps: &[u32]) -> String {
        self.known(steps).map(|step| short(self.error(way, step))).collect::<Vec<_>>().join(", ")
    }

    /// The same of several ways, with their names.
    fn lists(&self, chosen: &[usize], steps: &[u32]) -> String {
        let one = |way: &usize| format!("{} {}", WAYS[*way].name, self.list(*way, steps));
        let at: Vec<_> = self.known(steps).map(|step| short(0.01 * f64::from(step))).collect();
        format!("at {} s: {}", at.join(", "), chosen.iter().map(one).collect::<Vec<_>>().join("; "))
    }

    fn data(&self) -> Data {
        let names = ways().map(|way| way.name.to_owned());
        let sigmas = ways().map(|way| format!("sigma {}", way.name));
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
            for (k, way) in ways().enumerate().filter(|(k, _)| *k != EXACT) {
                let points = self.steps.iter().zip(&self.found);
                let points = points
                    .map(|(step, row)| (0.01 * f64::from(*step), pick(&row[k]).clamp(1e-6, 1.0)))
                    .collect();
                let look = match k {
                    NO_EDE => Look::Reference,
                    _ if way.learning.is_some() => Look::Line,
                    _ => Look::Marked,
                };
                panel = panel.with(Series::new(way.name, points).look(look).colour(colour(way.method)));
            }
            panel
        };
        Figure::new("Errors over the macro step, helicopter")
            .subtitle(format!("pilot {pilot}, controller bookI; drawn between 1e-6 and 1"))
            .panel(panel("error eps_mean", |found| found.0))
            .panel(panel("sigma", |found| found.1))
            .note(format!("After Genser 2020, Fig. {figure} (without identified and predictive)."))
    }
}

fn compute(work: &Work<'_>, pilot: u32) -> Result<Computed> {
    let curves = Curves::new(work, pilot)?;
    let mut measured = of_all_pilots(&curves);
    match pilot {
        1 => measured.push(Measured::Number(curves.useful_up_to(&[0, 1, 2, 3, 4]))),
        2 => measured.push(Measured::Number(curves.useful_up_to(&[CORRECTOR_SI]))),
        _ => {}
    }
    let number = format!("4.{}", 10 + pilot);
    let useful = |(k, way): (usize, Way)| match curves.useful_up_to(&[k]) {
        step if step.is_nan() => format!("{} at no step", way.name),
        step => format!("{} {} s", way.name, short(step)),
    };
    let better = curves.error(PRE_STEP_SI, 10) / curves.error(ZOH, 10);
    let remarks = vec![
        format!("Useful up to: {}.", ways().enumerate().map(useful).collect::<Vec<_>>().join(", ")),
        format!(
            "At 0.1 s the error of Pre-Step SI is {} times that of zoh; without the error differential equation {} times.",
            short(better),
            short(curves.error(NO_EDE, 10) / curves.error(ZOH, 10))
        ),
    ];
    Ok(Computed { measured, data: curves.data(), figure: curves.figure(pilot, &number), remarks })
}

fn of_all_pilots(curves: &Curves) -> Vec<Measured> {
    let error = |way: usize, step: u32| curves.error(way, step);
    let early = [2, 4, 6, 8, 10];
    let up_to_14 = [2, 4, 6, 8, 10, 12, 14];
    let (middle, late) = ([8, 10, 12, 14], [16, 18, 20]);
    let alike = [ZOH, CORRECTOR, PRE_STEP_SI];
    let spread = |step: u32| {
        let all = alike.map(|way| error(way, step));
        all.into_iter().fold(0.0, f64::max) / all.into_iter().fold(f64::INFINITY, f64::min)
    };
    let unstable = [ZOH, NEPCE, CORRECTOR, CORRECTOR_SI];
    let decreasing = [ZOH, CORRECTOR, CORRECTOR_SI, PRE_STEP_SI];
    let falls = decreasing.map(|way| {
        let (small, large) = (curves.at(way, 2), curves.at(way, 10));
        [small.0 / large.0, small.1 / large.1]
    });
    let nepce = [2, 10].map(|step| error(NEPCE, step));
    let sigma: Vec<f64> = curves.known(&late).map(|step| curves.at(ZOH, step).1.min(1.0)).collect();
    let sigmas = sigma.iter().map(|sigma| short(*sigma)).collect::<Vec<_>>().join(", ");
    vec![
        Measured::ratios(curves.known(&early).map(spread), curves.lists(&alike, &early)),
        Measured::Number(curves.useful_up_to(&[ZOH])),
        Measured::Number(curves.useful_up_to(&[PRE_STEP_SI])),
        Measured::cases(
            curves.known(&late).map(|step| curves.is_useful(PRE_STEP_SI, step)),
            curves.lists(&[PRE_STEP_SI], &late),
        ),
        Measured::cases(
            unstable
                .into_iter()
                .flat_map(|way| curves.known(&late).map(move |step| !curves.is_useful(way, step))),
            curves.lists(&unstable, &late),
        ),
        Measured::ratios(
            curves.known(&up_to_14).map(|step| error(PRE_STEP_SI, step) / error(ZOH, step)),
            curves.lists(&[PRE_STEP_SI, ZOH], &up_to_14),
        ),
        Measured::ratios(
            alike.into_iter().flat_map(|way| {
                curves
                    .known(&middle)
                    .map(move |step| curves.error(way, step) / curves.error(CORRECTOR_SI, step))
            }),
            curves.lists(&[CORRECTOR_SI, ZOH, CORRECTOR, PRE_STEP_SI], &middle),
        ),
        Measured::ratios(falls.as_flattened().to_vec(), curves.lists(&decreasing, &[2, 10])),
        Measured::one(nepce[0] >= nepce[1], format!("{} and {}", short(nepce[0]), short(nepce[1]))),
        Measured::ratios(sigma, format!("{sigmas}, cut at 1")),
    ]
}

fn exact_against_identified(work: &Work<'_>) -> Result<Computed> {
    let curves = Curves::new(work, 1)?;
    let steps = [4, 8, 12];
    let panel =
        Panel::new(Axis::new("macro step").unit("s").range(0.0, 0.31), Axis::new("error eps_mean").log());
    let panel = [EXACT, PRE_STEP_SI, NO_EDE].into_iter().fold(panel, |panel, k| {
        let points =
            curves.steps.iter().map(|step| (0.01 * f64::from(*step), curves.error(k, *step))).collect();
        let look = if k == EXACT { Look::Marked } else { Look::Line };
        let name = ways().nth(k).map_or("", |way| way.name);
        panel.with(Series::new(name, points).look(look).colour(costep_report::Colour::Nth(k)))
    });
    Ok(Computed {
        measured: vec![
            Measured::cases(
                curves.known(&steps).map(|step| !curves.is_useful(EXACT, step)),
                curves.list(EXACT, &steps),
            ),
            Measured::cases(
                curves.known(&steps).map(|step| curves.is_useful(PRE_STEP_SI, step)),
                curves.list(PRE_STEP_SI, &steps),
            ),
        ],
        data: curves.data(),
        figure: Figure::new("Exact and identified Interface Jacobians, helicopter")
            .subtitle("pilot 1, controller bookI; cut at 1")
            .panel(panel)
            .note("After Genser 2020, Fig. 4.10, which shows signals over time at one step."),
        remarks: vec![
            "What fails is C A C^+ with more states than outputs, not exactness: `predictive` on the exact state space is in the table.".into(),
        ],
    })
}
