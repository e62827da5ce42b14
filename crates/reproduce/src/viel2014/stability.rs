//! Up to which step two hydraulic lines are stable [V14 sections 2.3 and 3.4, Figs. 7 and 8].

use costep_core::Result;
use costep_report::{Axis, Figure, Look, Panel, Series};

use super::FORMS;
use super::one_step::Linear;
use super::phase_margin::phase_margin;
use crate::case::Case;
use crate::data::Data;
use crate::rules::{Kind, Measured};
use crate::study::{Computed, Study, number, short, statement};
use crate::work::Work;

/// Row of the registry.
pub(crate) const STABILITY: Study = Study {
    id: "viel2014-stability",
    title: "stability limits and phase margin of two hydraulic lines",
    source: "[V14] sections 2.3 and 3.4, Figs. 7 and 8",
    setup: "Two equal linear hydraulic lines, zeta = 0.1 %, pi / (omega0 phi1) = 425 us. A macro step is a matrix, made by \
            the engine from unit vectors of states with tightly integrated subsystems; the limit is the least step at which \
            an eigenvalue leaves the unit circle. Phase margin from the open loop (11). The paper prints omega0 tau = 0.5, \
            with which no step up to 420 us is unstable; here omega0 tau = 40, chosen so that the limit of the hold is the \
            5 us of the paper. The first claim is therefore no evidence, the others are. Phase margins at all steps drawn, with omega0 tau of 20 \
            against 40 and with zeta of 1 % against 0.1 %.",
    claims: &[
        number(
            "limit of held inputs",
            "[V14] section 3.4, and 0.01 of 425 us in section 2.3 on Fig. 7",
            5.0,
            "us",
            Kind::About,
        ),
        statement(
            "held inputs at a tenth of 425 us",
            "[V14] section 2.3, on Fig. 7",
            "unstable",
            Kind::Unstable,
        ),
        statement(
            "the same with omega0 tau = 0.5, as it is printed",
            "[V14] section 2.3, on Fig. 7",
            "unstable",
            Kind::Unstable,
        ),
        number(
            "phase margin of held inputs at 1 us",
            "[V14] section 3.4, and section 2.3 on Fig. 8",
            2.0,
            "deg",
            Kind::About,
        ),
        statement(
            "phase margin over the step",
            "[V14] section 2.3, on Fig. 8",
            "falls with the step, rises with zeta and with 1 / tau",
            Kind::Property,
        ),
        number(
            "limit of the stabilised form (26), backward Euler",
            "[V14] section 3.4, on Table 2 and Fig. 9",
            76.0,
            "us",
            Kind::About,
        ),
    ],
    compute,
};

/// Largest step looked at, below the 425 us at which sampling ends.
const LARGEST_US: f64 = 420.0;
const STEPS_US: [f64; 12] = [0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 400.0];
const LEAKS: [f64; 4] = [20.0, 40.0, 50.0, 100.0];

/// The linear lines with this omega0 tau, and omega0.
pub(super) fn lines(leak: f64) -> Result<(Linear, f64)> {
    with_zeta(leak, 1e-3)
}

/// The same with another damping of the pipes.
fn with_zeta(leak: f64, zeta: f64) -> Result<(Linear, f64)> {
    let model = Case::new("hydraulic-linear", &[("omega0_tau", leak), ("zeta", zeta)], 1.0).model()?;
    let lines = Linear::of(&model)?;
    let omega0 = lines.part(0).a[1];
    Ok((lines, omega0))
}

/// The least unstable step in us up to [`LARGEST_US`]; not a number if there is none.
pub(super) fn limit_us(lines: &Linear, method: &str) -> Result<f64> {
    let unstable = |us: f64| Ok::<_, costep_core::Error>(lines.radius(method, 1e-6 * us)? > 1.0 + 1e-10);
    let (mut low, mut high) = (0.5, 0.5);
    while !unstable(high)? {
        if high >= LARGEST_US {
            return Ok(f64::NAN);
        }
        (low, high) = (high, (1.1 * high).min(LARGEST_US));
    }
    while high - low > 1e-4 * high {
        let middle = 0.5 * (low + high);
        if unstable(middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(high)
}

/// Phase margin in degrees at a step in us.
pub(super) fn margin((lines, omega0): &(Linear, f64), us: f64) -> f64 {
    phase_margin([lines.part(0), lines.part(1)], *omega0, 1e-6 * us)
}

fn compute(work: &Work<'_>) -> Result<Computed> {
    let (paper, omega0) = lines(40.0)?;
    let without = ("(26), r = 0", "lis:form=rate,implicitness=0");
    let methods: Vec<_> = [("held inputs", "zoh")].into_iter().chain(FORMS).chain([without]).collect();
    let limits = work.map(&methods, |(_, method)| limit_us(&paper, method))?;
    let radii = work.map(&STEPS_US, |us| {
        methods.iter().map(|(_, method)| paper.radius(method, 1e-6 * us)).collect::<Result<Vec<f64>>>()
    })?;
    let at_a_tenth = paper.radius("zoh", 42.5e-6)?;
    let literal = limit_us(&lines(0.5)?.0, "zoh")?;
    let as_printed = lines(0.5)?.0.radius("zoh", 42.5e-6)?;
    let damped = with_zeta(40.0, 0.01)?;
    let margins: Vec<Vec<f64>> = LEAKS
        .iter()
        .map(|leak| {
            let lines = lines(*leak)?;
            Ok(STEPS_US[..6].iter().map(|us| margin(&lines, *us)).collect())
        })
        .collect::<Result<_>>()?;
    let at_one = margin(&(paper, omega0), 1.0);
    let falls = margins.iter().all(|margins| margins.windows(2).all(|pair| pair[1] < pair[0]));
    let rises = margins[0].iter().zip(&margins[1]).all(|(more, less)| more > less);
    let with_zeta = STEPS_US[..6].iter().zip(&margins[1]).all(|(us, less)| margin(&damped, *us) > *less);
    let found = format!(
        "{} to {} deg from {} to {} us; {} to {} deg with omega0 tau = 20",
        short(margins[1][0]),
        short(margins[1][5]),
        short(STEPS_US[0]),
        short(STEPS_US[5]),
        short(margins[0][0]),
        short(margins[0][5])
    );
    let measured = vec![
        Measured::Number(limits[0]),
        Measured::one(at_a_tenth > 1.0, format!("amplification {} per step", short(at_a_tenth))),
        Measured::one(as_printed > 1.0, format!("amplification {} per step", short(as_printed))),
        Measured::Number(at_one),
        Measured::cases([falls, with_zeta, rises], found),
        Measured::Number(limits[2]),
    ];
    let names = methods.iter().map(|(name, _)| format!("amplification, {name}"));
    let margin_names = LEAKS.iter().map(|leak| format!("phase margin, omega0 tau = {leak}"));
    let mut data = Data::new(["step_us".into()].into_iter().chain(names).chain(margin_names));
    for (k, (us, row)) in STEPS_US.iter().zip(&radii).enumerate() {
        let margins = margins.iter().map(|margins| margins.get(k).copied().unwrap_or(f64::NAN));
        data.push([*us].into_iter().chain(row.iter().copied()).chain(margins).collect());
    }
    Ok(Computed {
        measured,
        data,
        figure: figure(&margins, &methods, &radii),
        remarks: remarks(&methods, &limits, literal),
    })
}

fn remarks(methods: &[(&str, &str)], limits: &[f64], literal: f64) -> Vec<String> {
    let limit = |us: f64| {
        if us.is_finite() { format!("{} us", short(us)) } else { format!("none up to {LARGEST_US} us") }
    };
    let all: Vec<_> =
        methods.iter().zip(limits).map(|((name, _), us)| format!("{name}: {}", limit(*us))).collect();
    vec![
        format!("Limits: {}.", all.join("; ")),
        "With r = 0 the term of the subsystem's own outputs drops out of (26). That this limit is the paper's 76 us may be \
         chance, or the term may not have acted there; the text does not decide it."
            .into(),
        format!("omega0 tau = 0.5 as printed: limit of held inputs {}.", limit(literal)),
    ]
}

fn figure(margins: &[Vec<f64>], methods: &[(&str, &str)], radii: &[Vec<f64>]) -> Figure {
    let axis = |label: &str| Axis::new(label).unit("us").log();
    let mut phase = Panel::new(Axis::new("macro step").unit("us"), Axis::new("phase margin").unit("deg"))
        .title("held inputs");
    for (leak, margins) in LEAKS.iter().zip(margins) {
        let points = STEPS_US.iter().copied().zip(margins.iter().copied()).collect();
        phase = phase.with(Series::new(format!("omega0 tau = {leak}"), points).look(Look::Marked));
    }
    let mut growth = Panel::new(axis("macro step"), Axis::new("amplification per step").range(0.8, 1.2))
        .title("omega0 tau = 40")
        .level("stable below", 1.0);
    for (k, (name, _)) in methods.iter().enumerate() {
        let points = STEPS_US.iter().zip(radii).map(|(us, row)| (*us, row[k])).collect();
        growth = growth.with(Series::new(*name, points).look(Look::Marked));
    }
    Figure::new("Stability of two hydraulic lines")
        .subtitle("linear, zeta = 0.1 %")
        .panel(phase)
        .panel(growth)
        .note("After Viel 2014, Fig. 8 and section 3.4.")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Limits and margins of an independent prototype in Python.
    #[test]
    fn limits_and_margins_agree_with_an_independent_computation() {
        let limits = [("zoh", 40.0, 5.0483), ("zoh", 20.0, 9.7251), ("zoh", 100.0, 2.2435)];
        let forms = ["lis:form=rate", "lis:form=rate,implicitness=0.5", "lis:form=value,implicitness=0.5"];
        let of_forms = forms.into_iter().zip([144.5, 97.0, 138.0]).map(|(form, us)| (form, 40.0, us));
        for (method, leak, wanted) in limits.into_iter().chain(of_forms) {
            let us = limit_us(&lines(leak).unwrap().0, method).unwrap();
            assert!((us / wanted - 1.0).abs() < if method == "zoh" { 1e-3 } else { 0.01 }, "{method}: {us}");
        }
        assert!(limit_us(&lines(40.0).unwrap().0, "lis").unwrap().is_nan());
        for (leak, us, wanted) in [
            (20.0, 1.0, 3.695),
            (40.0, 1.0, 1.715),
            (40.0, 4.0, 0.444),
            (40.0, 5.0, 0.02),
            (50.0, 1.0, 1.319),
        ] {
            let degrees = margin(&lines(leak).unwrap(), us);
            assert!((degrees - wanted).abs() < 2e-3, "omega0 tau = {leak}, {us} us: {degrees}");
        }
    }
}
