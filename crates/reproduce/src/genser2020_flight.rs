//! Signals and identified parameters of the helicopter at 0.08 s [T Figs. 4.16 to 4.25].

use costep_core::Result;
use costep_report::{Axis, Colour, Figure, Look, Panel, Series};

use crate::data::Data;
use crate::flight::{CONTROLS, Flight, OUTPUTS, SIGNALS, VELOCITIES};
use crate::helicopter::{
    CORRECTOR, CORRECTOR_SI, LEARNING, NEPCE, PRE_STEP_SI, STOP, WAYS, Way, ZOH, case, setup,
};
use crate::rules::{Kind, Measured};
use crate::study::{Claim, Computed, Study, number, short, statement};
use crate::work::Work;

const STEP: f64 = 0.08;
const OUTPUT_PLACE: &str = "[T] section 4.1.3, on Figs. 4.16 and 4.17";
const CONTROL_PLACE: &str = "[T] section 4.1.3, on Figs. 4.19 and 4.20";
const LEARNT_PLACE: &str = "[T] section 4.1.3, on Fig. 4.25";

const fn range_of(text: &'static str, place: &'static str, value: f64, unit: &'static str) -> Claim {
    number(text, place, value, unit, Kind::About)
}

/// Row of the registry.
pub(crate) const FIG_4_16: Study = Study {
    id: "genser2020-fig4.16",
    title: "helicopter: signals at 0.08 s, pilot 1",
    source: "[T] Figs. 4.16 to 4.20",
    setup: setup!(
        "Errors of single signals: mean deviation from the monolithic one relative to its range. Velocities are states: they are found \
         by solving the helicopter again under the inputs of the run. Ranges are those of the monolithic signals. Peaks: the greatest \
         value within 3 s after 12 s and around 80 s over the greatest of the monolithic signal."
    ),
    claims: &[
        statement("heave velocity of all but NEPCE", OUTPUT_PLACE, "sufficiently accurate", Kind::Accurate),
        statement("all six outputs of NEPCE", OUTPUT_PLACE, "nearly permanent deviations", Kind::Inaccurate),
        statement(
            "six outputs of zoh, MBCorr exact and Pre-Step SI",
            OUTPUT_PLACE,
            "coincide with the monolithic ones",
            Kind::Accurate,
        ),
        statement(
            "four outputs of the controller with zoh, MBCorr exact and Pre-Step SI",
            CONTROL_PLACE,
            "of satisfying accuracy",
            Kind::Accurate,
        ),
        statement("velocities of NEPCE", "[T] section 4.1.3, on Fig. 4.18", "inaccurate", Kind::Inaccurate),
        statement(
            "v_x of MBCorr SI",
            "[T] section 4.1.3, on Fig. 4.18",
            "nearly permanent deviation",
            Kind::Inaccurate,
        ),
        number("peaks of MBCorr SI in the main rotor collective", CONTROL_PLACE, 5.0, "times", Kind::About),
        statement(
            "NEPCE in the main rotor collective outside of 1 to 11, 35 to 45, 81 to 91 and 115 to 125 s",
            CONTROL_PLACE,
            "oscillates much less than inside",
            Kind::MuchLess,
        ),
        range_of("range of the heave velocity", OUTPUT_PLACE, 1.0, "ft/s"),
        range_of("range of the pitch attitude", OUTPUT_PLACE, 0.2, "rad"),
        range_of("range of the roll attitude", OUTPUT_PLACE, 0.2, "rad"),
        range_of("range of the heading rate", OUTPUT_PLACE, 0.1, "rad/s"),
        range_of("range of the roll rate", OUTPUT_PLACE, 0.4, "rad/s"),
        range_of("range of the pitch rate", OUTPUT_PLACE, 0.3, "rad/s"),
        range_of("range of the main rotor collective", CONTROL_PLACE, 0.1, "rad"),
        range_of("range of the longitudinal cyclic", CONTROL_PLACE, 1.5, "rad"),
        range_of("range of the lateral cyclic", CONTROL_PLACE, 1.0, "rad"),
        range_of("range of the tail rotor collective", CONTROL_PLACE, 1.0, "rad"),
    ],
    compute: signals,
};

/// Row of the registry.
pub(crate) const FIG_4_21: Study = Study {
    id: "genser2020-fig4.21",
    title: "helicopter: identified parameters and their quality at 0.08 s, pilot 1",
    source: "[T] Figs. 4.21 to 4.25",
    setup: setup!(
        "Step 0.08 s. a_1 is the entry of S_y from the heave velocity to itself, eps_SI that of (2.93) over all subsystems, as the method \
         records them."
    ),
    claims: &[
        statement(
            "a_1 of the heave velocity after the learning phase",
            "[T] section 4.1.3, on Fig. 4.21",
            "between 0.96 and 0.97",
            Kind::Property,
        ),
        number("greatest eps_SI of the whole run", LEARNT_PLACE, 0.15, "", Kind::AtMost),
        number("eps_SI for the main part of the run (median)", LEARNT_PLACE, 0.02, "", Kind::About),
        statement(
            "coupling after the switch phase",
            LEARNT_PLACE,
            "stays in the pre-step phase",
            Kind::Property,
        ),
    ],
    compute: learnt,
};

/// Where the heave velocity is commanded.
const CLIMBS: [(f64, f64); 4] = [(1.0, 11.0), (35.0, 45.0), (81.0, 91.0), (115.0, 125.0)];
/// Everything up to the end.
const WHOLE: (f64, f64) = (0.0, f64::INFINITY);
const MAIN: usize = 6;
const HEAVE: usize = 0;
const V_X: usize = 10;

fn signals(work: &Work<'_>) -> Result<Computed> {
    let case = case(1, if work.quick { 20.0 } else { STOP });
    let mono = Flight::monolithic(&case)?;
    let flights = work.map(&WAYS, |way| Flight::new(&case, way, STEP, None))?;
    let error = |way: usize, signal: usize| flights[way].error(&mono, signal, WHOLE);
    let list = |errors: &[f64]| errors.iter().map(|error| short(*error)).collect::<Vec<_>>().join(", ");
    let of = |ways: &[usize], signals: std::ops::Range<usize>| -> Measured {
        let rows: Vec<Vec<f64>> =
            ways.iter().map(|way| signals.clone().map(|signal| error(*way, signal)).collect()).collect();
        let found: Vec<_> =
            ways.iter().zip(&rows).map(|(way, row)| format!("{} {}", WAYS[*way].name, list(row))).collect();
        Measured::ratios(rows.concat(), found.join("; "))
    };
    let good = [ZOH, CORRECTOR, PRE_STEP_SI];
    let mut measured = vec![
        of(&[ZOH, CORRECTOR, CORRECTOR_SI, PRE_STEP_SI], HEAVE..HEAVE + 1),
        of(&[NEPCE], OUTPUTS),
        of(&good, OUTPUTS),
        of(&good, CONTROLS),
        of(&[NEPCE], VELOCITIES),
        of(&[CORRECTOR_SI], V_X..V_X + 1),
        Measured::Number(peaks(&flights[CORRECTOR_SI], &mono)),
        calm(&flights[NEPCE], &mono),
    ];
    measured.extend((0..10).map(|signal| Measured::Number(mono.range(signal))));
    let mut data = Data::new(["signal", "range"].into_iter().chain(WAYS.iter().map(|way| way.name)));
    for (k, (name, _)) in SIGNALS.iter().enumerate() {
        let errors = (0..WAYS.len()).map(|way| error(way, k));
        data.push_named(name, std::iter::once(mono.range(k)).chain(errors).collect());
    }
    let panels = [HEAVE, MAIN, V_X].map(|signal| panel(&flights, &mono, signal));
    Ok(Computed {
        measured,
        data,
        figure: Figure::new("Signals of the helicopter")
            .subtitle("pilot 1, controller bookI, macro step 0.08 s")
            .panels(panels)
            .note("After Genser 2020, Figs. 4.16, 4.18 and 4.19."),
        remarks: vec![
            "The data have the mean error of every signal relative to its range, in the columns of the methods.".into(),
        ],
    })
}

/// The greatest value of a signal where MBCorr SI has its peaks, over the greatest of the monolithic signal.
fn peaks(flight: &Flight, mono: &Flight) -> f64 {
    let greatest = |flight: &Flight, window| {
        flight.signal(MAIN, window).iter().map(|(_, y)| y.abs()).fold(0.0, f64::max)
    };
    let peak = [(LEARNING, LEARNING + 3.0), (78.5, 83.0)].map(|window| greatest(flight, window));
    peak[0].max(peak[1]) / greatest(mono, WHOLE)
}

/// Mean deviation outside of the climbs over that inside.
fn calm(flight: &Flight, mono: &Flight) -> Measured {
    let inside = |t: f64| CLIMBS.iter().any(|(from, to)| (*from..=*to).contains(&t));
    let mut sums = [(0.0, 0.0); 2];
    for (t, y) in flight.signal(MAIN, WHOLE) {
        let (sum, count) = &mut sums[usize::from(inside(t))];
        *sum += (y - mono.at(MAIN, t)).abs();
        *count += 1.0;
    }
    let [outside, inside] = sums.map(|(sum, count)| sum / count);
    Measured::ratios(
        [if flight.ended { outside / inside } else { f64::NAN }],
        format!("{} rad outside, {} inside", short(outside), short(inside)),
    )
}

pub(crate) fn panel(flights: &[Flight], mono: &Flight, signal: usize) -> Panel {
    let (name, unit) = SIGNALS[signal];
    let half = 0.75 * mono.range(signal);
    let middle = mono.signal(signal, WHOLE).iter().map(|(_, y)| y).sum::<f64>() / mono.rows.len() as f64;
    let axes = Panel::new(
        Axis::new("time").unit("s"),
        Axis::new(name).unit(unit).range(middle - 1.5 * half, middle + 1.5 * half),
    );
    let panel = flights.iter().zip(&WAYS).enumerate().fold(axes, |panel, (k, (flight, way))| {
        panel.with(Series::new(way.name, flight.signal(signal, WHOLE)).colour(Colour::Nth(k)))
    });
    let thin: Vec<_> = mono.signal(signal, WHOLE).into_iter().step_by(20).collect();
    panel.with(Series::new("monolithic", thin).look(Look::Reference))
}

fn learnt(work: &Work<'_>) -> Result<Computed> {
    let case = case(1, if work.quick { 30.0 } else { STOP });
    let way = Way { method: "prestep:source=rls,paper=true,parameters=true", ..WAYS[PRE_STEP_SI] };
    let flight = Flight::new(&case, &way, STEP, None)?;
    let after: Vec<_> = flight.learnt_from(LEARNING).map(|(_, row)| *row).collect();
    let (low, high) =
        after.iter().fold((f64::MAX, f64::MIN), |(low, high), row| (low.min(row[2]), high.max(row[2])));
    // Before there are models there is no error of them.
    let mut eps: Vec<f64> = flight.learnt.iter().map(|row| row[1]).filter(|eps| eps.is_finite()).collect();
    eps.sort_by(f64::total_cmp);
    let switched: Vec<_> = flight.learnt_from(LEARNING + 1.0 + STEP).map(|(_, row)| row[0]).collect();
    let full = switched.iter().filter(|phase| **phase == 4.0).count();
    let mut data = Data::new(["t", "phase", "eps_si", "a_1 of the heave velocity"]);
    for (t, row) in flight.times.iter().zip(&flight.learnt) {
        data.push(vec![*t, row[0], row[1], row[2]]);
    }
    let curve = |k: usize| flight.times.iter().zip(&flight.learnt).map(|(t, row)| (*t, row[k])).collect();
    let time = || Axis::new("time").unit("s");
    Ok(Computed {
        measured: vec![
            Measured::one(low >= 0.96 && high <= 0.97, format!("between {} and {}", short(low), short(high))),
            Measured::Number(eps.last().copied().unwrap_or(f64::NAN)),
            Measured::Number(eps.get(eps.len() / 2).copied().unwrap_or(f64::NAN)),
            Measured::one(
                full == switched.len() && full > 0,
                format!("at {full} of {} communication points", switched.len()),
            ),
        ],
        data,
        figure: Figure::new("Identified parameters and their quality, helicopter")
            .subtitle("pilot 1, controller bookI, macro step 0.08 s")
            .panel(Panel::new(time(), Axis::new("eps_SI").log()).with(Series::new("eps_SI", curve(1))))
            .panel(Panel::new(time(), Axis::new("a_1").range(0.9, 1.0)).with(Series::new("a_1", curve(2))))
            .note("After Genser 2020, Figs. 4.21 and 4.25."),
        remarks: vec![
            "The thesis says 1 s for the switch phase (section 4.1), and 2 s where it describes Fig. 4.25."
                .into(),
        ],
    })
}
