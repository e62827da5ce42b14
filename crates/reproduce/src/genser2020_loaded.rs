//! The helicopter with parameters of an earlier run [T Figs. 4.26 to 4.38].

use costep_core::Result;
use costep_ident::ModelFile;
use costep_report::{Axis, Colour, Figure, Look, Panel, Series};

use crate::data::Data;
use crate::flight::{CONTROLS, Flight, OUTPUTS, SIGNALS};
use crate::helicopter::{self, LOADED, PRE_STEP_SI, SAVED_AT, STOP, WAYS, Way, case, saved, setup};
use crate::rules::{Kind, Measured};
use crate::study::{Computed, Study, short, statement};
use crate::work::Work;

const PLACE: &str = "[T] section 4.1.3, on Fig. 4.26";

/// Row of the registry.
pub(crate) const FIG_4_26: Study = Study {
    id: "genser2020-fig4.26",
    title: "helicopter: parameters of an earlier run, pilot 1",
    source: "[T] Fig. 4.26",
    setup: setup!(
        "Loaded: the same from parameters that were saved at 8 s of a run at 0.1 s, as the thesis says, taken over to the step by (4.13), \
         (4.14), with a learning phase of 2 s. Remarks have other ways to save them."
    ),
    claims: &[
        statement("loaded parameters at all steps up to 0.3 s", PLACE, "stable", Kind::Stable),
        statement(
            "loaded parameters against a learning phase of 12 s, from 0.2 s on",
            PLACE,
            "major improvement",
            Kind::MuchLess,
        ),
    ],
    compute: over_steps,
};

/// Row of the registry.
pub(crate) const FIG_4_27: Study = Study {
    id: "genser2020-fig4.27",
    title: "helicopter: signals with loaded parameters at 0.2 s, pilot 1",
    source: "[T] Figs. 4.27 to 4.33",
    setup: setup!(
        "Step 0.2 s; loaded as in genser2020-fig4.26. Errors of single signals as in genser2020-fig4.16."
    ),
    claims: &[
        statement(
            "outputs without loaded parameters after 25 s against before",
            "[T] section 4.1.3, on Figs. 4.27 and 4.28",
            "strong oscillations until 25 s",
            Kind::MuchLess,
        ),
        statement(
            "outputs with loaded parameters against those without, after 25 s",
            "[T] section 4.1.3, on Figs. 4.27 and 4.28",
            "more accurate to the end",
            Kind::Less,
        ),
        statement(
            "outputs with loaded parameters",
            "[T] section 4.1.3, on Figs. 4.27 and 4.28",
            "difference nearly not visible",
            Kind::Accurate,
        ),
        statement(
            "velocities with loaded parameters against those without",
            "[T] section 4.1.3, on Fig. 4.29",
            "more accurate",
            Kind::Less,
        ),
        statement(
            "controller outputs with loaded parameters against those without",
            "[T] section 4.1.3, on Figs. 4.30 and 4.31",
            "significantly smaller gap",
            Kind::MuchLess,
        ),
        statement(
            "eps_SI without loaded parameters against that with them, median",
            "[T] section 4.1.3, on Fig. 4.33",
            "smaller, although the approximation is worse",
            Kind::Less,
        ),
        statement(
            "phases other than pre-step with loaded parameters",
            "[T] section 4.1.3, on Fig. 4.33",
            "modified pre-step for short periods, none after about 20 s",
            Kind::Property,
        ),
    ],
    compute: |work| at_step(work, 0.2, "4.27"),
};

/// Row of the registry.
pub(crate) const FIG_4_34: Study = Study {
    id: "genser2020-fig4.34",
    title: "helicopter: signals with loaded parameters at 0.3 s, pilot 1",
    source: "[T] Figs. 4.34 to 4.38",
    setup: setup!(
        "Step 0.3 s; loaded as in genser2020-fig4.26. Errors of single signals as in genser2020-fig4.16."
    ),
    claims: &[
        statement(
            "heave velocity with loaded parameters",
            "[T] section 4.1.3, on Fig. 4.34",
            "nearly coincides",
            Kind::Accurate,
        ),
        statement(
            "the other outputs after 20 s",
            "[T] section 4.1.3, on Figs. 4.34 and 4.35",
            "sufficiently accurate",
            Kind::Accurate,
        ),
        statement(
            "v_z with loaded parameters",
            "[T] section 4.1.3, on Fig. 4.36",
            "remarkably accurate",
            Kind::Accurate,
        ),
        statement(
            "controller outputs after 20 s",
            "[T] section 4.1.3, on Figs. 4.37 and 4.38",
            "of satisfying accuracy",
            Kind::Accurate,
        ),
        statement(
            "controller outputs after 20 s against before",
            "[T] section 4.1.3, on Figs. 4.37 and 4.38",
            "high oscillations for 20 s, none afterwards",
            Kind::MuchLess,
        ),
    ],
    compute: |work| at_step(work, 0.3, "4.34"),
};

/// Names, ways, and which of the saved parameters they start from.
const VARIANTS: [(&str, Way, Option<usize>); 6] = [
    ("Pre-Step SI", WAYS[PRE_STEP_SI], None),
    ("loaded at 8 s", LOADED, Some(0)),
    ("loaded at 8 s, no ede", WITHOUT, Some(0)),
    ("loaded at 150 s", LOADED, Some(1)),
    ("loaded at 150 s, no ede", WITHOUT, Some(1)),
    ("Pre-Step SI, no ede", WITHOUT_LEARNING, None),
];
const WITHOUT: Way = Way { method: "prestep:source=from-file,paper=true,ede=false", ..LOADED };
const WITHOUT_LEARNING: Way = Way::learning("no ede", "prestep:source=rls,paper=true,ede=false");
/// Steps in hundredths of a second.
const STEPS: [u32; 11] = [10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30];

fn over_steps(work: &Work<'_>) -> Result<Computed> {
    let every = if work.quick { 2 } else { 1 };
    let steps: Vec<u32> = STEPS.iter().copied().step_by(every).collect();
    let stop = if work.quick { 20.0 } else { STOP };
    let case = case(1, stop);
    let files = [saved(SAVED_AT)?, saved(stop)?];
    let found = work.map(&steps, |step| {
        let step = 0.01 * f64::from(*step);
        let run = |(_, way, file): &(&str, Way, Option<usize>)| {
            helicopter::run(&case, way, step, file.map(|file| &files[file]), &mut |_| ())
        };
        let runs: Vec<_> = VARIANTS.iter().map(run).collect::<Result<_>>()?;
        let errors = helicopter::errors(&case, step, &runs)?;
        Ok(errors
            .into_iter()
            .map(|(error, _)| if error.is_nan() { 1.0 } else { error.min(1.0) })
            .collect::<Vec<_>>())
    })?;
    let seconds = |step: &u32| 0.01 * f64::from(*step);
    let column = |k: usize| found.iter().map(move |row| row[k]);
    let late: Vec<_> =
        steps.iter().zip(&found).filter(|(step, _)| **step >= 20).map(|(_, row)| row).collect();
    let pairs: Vec<_> =
        late.iter().map(|row| format!("{} against {}", short(row[1]), short(row[0]))).collect();
    let list = |k: usize| column(k).map(short).collect::<Vec<_>>().join(", ");
    let mut data = Data::new(std::iter::once("step_s").chain(VARIANTS.iter().map(|(name, ..)| *name)));
    for (step, row) in steps.iter().zip(&found) {
        data.push(std::iter::once(seconds(step)).chain(row.iter().copied()).collect());
    }
    let panel =
        Panel::new(Axis::new("macro step").unit("s").range(0.09, 0.31), Axis::new("error eps_mean").log());
    let panel = VARIANTS.iter().enumerate().fold(panel, |panel, (k, (name, _, file))| {
        let points = steps.iter().zip(&found).map(|(step, row)| (seconds(step), row[k])).collect();
        let look = if file.is_some() { Look::Marked } else { Look::Line };
        panel.with(Series::new(*name, points).look(look).colour(Colour::Nth(k)))
    });
    let others = VARIANTS.iter().enumerate().skip(2).map(|(k, (name, ..))| format!("{name}: {}", list(k)));
    Ok(Computed {
        measured: vec![
            Measured::cases(column(1).map(|error| error < 1.0), format!("errors {}", list(1))),
            Measured::ratios(late.iter().map(|row| row[1] / row[0]), pairs.join(", ")),
        ],
        data,
        figure: Figure::new("Parameters of an earlier run, helicopter")
            .subtitle("pilot 1, controller bookI; cut at 1")
            .panel(panel)
            .note("After Genser 2020, Fig. 4.26."),
        remarks: vec![format!(
            "Errors otherwise, at the same steps: {}.",
            others.collect::<Vec<_>>().join("; ")
        )],
    })
}

fn at_step(work: &Work<'_>, step: f64, number: &str) -> Result<Computed> {
    let case = case(1, if work.quick { 30.0 } else { STOP });
    let models = saved(SAVED_AT)?;
    let mono = Flight::monolithic(&case)?;
    let ways: [(Way, Option<&ModelFile>); 2] = [(LOADED, Some(&models)), (WAYS[PRE_STEP_SI], None)];
    let flights = work.map(&ways, |(way, models)| Flight::new(&case, way, step, *models))?;
    let flights = Pair { loaded: &flights[0], plain: &flights[1], mono: &mono };
    let measured = if step < 0.25 { flights.at_two_tenths() } else { flights.at_three_tenths() };
    let mut data =
        Data::new(["signal", "loaded", "Pre-Step SI", "loaded after 25 s", "Pre-Step SI after 25 s"]);
    for (k, (name, _)) in SIGNALS.iter().enumerate() {
        let of = |window| [flights.loaded, flights.plain].map(|flight| flight.error(&mono, k, window));
        data.push_named(name, [of(WHOLE), of(LATER)].concat());
    }
    let panel = |signal: usize| {
        let (name, unit) = SIGNALS[signal];
        let room = 1.5 * mono.range(signal);
        let thin: Vec<_> = mono.signal(signal, WHOLE).into_iter().step_by(20).collect();
        Panel::new(Axis::new("time").unit("s"), Axis::new(name).unit(unit).range(-room, room))
            .with(Series::new("Pre-Step SI", flights.plain.signal(signal, WHOLE)).colour(Colour::Nth(1)))
            .with(Series::new("loaded", flights.loaded.signal(signal, WHOLE)).colour(Colour::Nth(0)))
            .with(Series::new("monolithic", thin).look(Look::Reference))
    };
    Ok(Computed {
        measured,
        data,
        figure: Figure::new("Signals with loaded parameters, helicopter")
            .subtitle(format!("pilot 1, controller bookI, macro step {} s", short(step)))
            .panels([0, 6, 12].map(panel))
            .note(format!("After Genser 2020, Fig. {number} and those that follow.")),
        remarks: vec!["The data have the mean error of every signal relative to its range.".into()],
    })
}

const WHOLE: (f64, f64) = (0.0, f64::INFINITY);
/// After the oscillations that the thesis speaks of at 0.2 s, and at 0.3 s.
const LATER: (f64, f64) = (25.0, f64::INFINITY);
const SETTLED: (f64, f64) = (20.0, f64::INFINITY);
const BEFORE: (f64, f64) = (0.0, 20.0);
const V_Z: usize = 12;

/// With and without loaded parameters.
struct Pair<'a> {
    loaded: &'a Flight,
    plain: &'a Flight,
    mono: &'a Flight,
}

impl Pair<'_> {
    /// Ratios of errors of signals, with the errors in words.
    fn ratios(
        &self,
        signals: impl Iterator<Item = usize>,
        (first, window): (&Flight, (f64, f64)),
        (second, other): (&Flight, (f64, f64)),
    ) -> Measured {
        let pairs: Vec<_> =
            signals.map(|k| (first.error(self.mono, k, window), second.error(self.mono, k, other))).collect();
        let found: Vec<_> =
            pairs.iter().map(|(a, b)| format!("{} against {}", short(*a), short(*b))).collect();
        Measured::ratios(pairs.iter().map(|(a, b)| a / b), found.join(", "))
    }

    fn errors(&self, signals: impl Iterator<Item = usize>, window: (f64, f64)) -> Measured {
        let errors: Vec<f64> = signals.map(|k| self.loaded.error(self.mono, k, window)).collect();
        let found = errors.iter().map(|error| short(*error)).collect::<Vec<_>>().join(", ");
        Measured::ratios(errors, found)
    }

    fn at_two_tenths(&self) -> Vec<Measured> {
        let (loaded, plain) = (self.loaded, self.plain);
        let median = |flight: &Flight| {
            let mut eps: Vec<f64> =
                flight.learnt.iter().map(|row| row[1]).filter(|eps| eps.is_finite()).collect();
            eps.sort_by(f64::total_cmp);
            eps.get(eps.len() / 2).copied().unwrap_or(f64::NAN)
        };
        let (with, without) = (median(loaded), median(plain));
        // Modified before the switch phase is over does not show; models are followed from 3 s on.
        let other: Vec<f64> =
            loaded.learnt_from(3.2).filter(|(_, row)| row[0] != 4.0).map(|(t, _)| t).collect();
        let last = other.last().copied().unwrap_or(f64::NAN);
        vec![
            self.ratios(OUTPUTS, (plain, LATER), (plain, (0.0, 25.0))),
            self.ratios(OUTPUTS, (loaded, LATER), (plain, LATER)),
            self.errors(OUTPUTS, WHOLE),
            self.ratios(10..13, (loaded, WHOLE), (plain, WHOLE)),
            self.ratios(CONTROLS, (loaded, WHOLE), (plain, WHOLE)),
            Measured::ratios(
                [if loaded.ended && plain.ended { without / with } else { f64::NAN }],
                format!("{} against {}", short(without), short(with)),
            ),
            Measured::one(
                loaded.ended && !other.is_empty() && last <= 20.0,
                format!(
                    "at {} points, the last at {} s; the run {}",
                    other.len(),
                    short(last),
                    if loaded.ended { "ends" } else { "diverges" }
                ),
            ),
        ]
    }

    fn at_three_tenths(&self) -> Vec<Measured> {
        vec![
            self.errors(std::iter::once(0), WHOLE),
            self.errors(1..6, SETTLED),
            self.errors(std::iter::once(V_Z), WHOLE),
            self.errors(CONTROLS, SETTLED),
            self.ratios(CONTROLS, (self.loaded, SETTLED), (self.loaded, BEFORE)),
        ]
    }
}
