//! Position, velocity and coupling force of the dual mass oscillator over time [T Figs. 3.63 to 3.66].

use costep_analysis::{Reference, measure};
use costep_core::Result;
use costep_report::Figure;

use crate::case::{Case, Run};
use crate::data::Data;
use crate::rules::{Kind, Measured};
use crate::series::{grows, panel, points, range};
use crate::study::{Computed, Study, short, statement};

/// Row of the registry.
pub(crate) const FIG_3_63: Study = Study {
    id: "genser2020-fig3.63",
    title: "signals of the dual mass oscillator at 1 ms",
    source: "[T] Fig. 3.63, p. 111",
    setup: "Linear dual mass oscillator, ck = 2e5, dk = 200, explicit Euler with 10 us inside, exact Jacobians, 0.1 s (the \
            thesis does not give the end time), macro step 1 ms. Errors over the ends of all inner steps, as the figure \
            shows them, relative to the ranges. Unstable, by 3.3.1: the amplitude of one output is greater in the last fifth of the \
            run than in the first. prestep is the thesis' optimal set, mbcorr cuts nothing (paper).",
    claims: &[
        statement("zoh at 1 ms", "[T] section 3.4, on Fig. 3.63 (p. 111)", "unstable", Kind::Unstable),
        statement("nepce at 1 ms", "[T] section 3.4, on Fig. 3.63 (p. 111)", "unstable", Kind::Unstable),
        statement(
            "mbcorr and prestep at 1 ms",
            "[T] section 3.4, on Fig. 3.63 (p. 111)",
            "satisfyingly accurate",
            Kind::Accurate,
        ),
        statement(
            "mbcorr and prestep at 1 ms",
            "[T] section 3.4, on Fig. 3.63 (p. 111)",
            "equally accurate",
            Kind::Alike,
        ),
    ],
    compute: |_| {
        let scene = Scene::new(1e-3, &["zoh", "nepce", "mbcorr:paper=true", "prestep:paper=true"])?;
        let applied = Scene::new(1e-3, &["nepce:reference=applied,sampling=trapezoid"])?;
        let (corrector, prestep) = (scene.error(2)?, scene.error(3)?);
        let ratio = (corrector / prestep).max(prestep / corrector);
        let errors = format!("errors {} and {}", short(corrector), short(prestep));
        Ok(Computed {
            measured: vec![
                scene.unstable(0),
                scene.unstable(1),
                Measured::ratios([corrector, prestep], errors.clone()),
                Measured::ratios([ratio], errors),
            ],
            data: scene.data(),
            figure: scene.figure("Signals at 1 ms, dual mass oscillator", "3.63", (0.0, 0.1)),
            remarks: vec![format!(
                "nepce against the applied signal, trapezoidal sums: {}. Which reading the thesis used is not known.",
                applied.growth(0)
            )],
        })
    },
};

/// Row of the registry.
pub(crate) const FIG_3_64: Study = Study {
    id: "genser2020-fig3.64",
    title: "signals of mbcorr and prestep at 2 ms",
    source: "[T] Fig. 3.64, p. 112",
    setup: "As genser2020-fig3.63, macro step 2 ms. The shift of a force signal in time is the one under which it comes \
            nearest to the monolithic force, in the sense of least squares over the ends of all inner steps.",
    claims: &[
        statement(
            "mbcorr and prestep at 2 ms",
            "[T] section 3.4, on Fig. 3.64 (p. 112)",
            "both quite accurate",
            Kind::Accurate,
        ),
        statement(
            "force of prestep",
            "[T] section 3.4, on Fig. 3.64 (p. 112)",
            "precedes the monolithic result",
            Kind::Property,
        ),
        statement(
            "force of mbcorr",
            "[T] section 3.4, on Fig. 3.64 (p. 112)",
            "follows the monolithic result",
            Kind::Property,
        ),
    ],
    compute: |_| {
        let scene = Scene::new(2e-3, &["mbcorr:paper=true", "prestep:paper=true"])?;
        let (corrector, prestep) = (scene.error(0)?, scene.error(1)?);
        let all = (0.0, 0.1);
        let (lag, lead) = (scene.force_shift(0, all), scene.force_shift(1, all));
        let early = scene.force_shift(0, (0.0, 0.03));
        Ok(Computed {
            measured: vec![
                Measured::ratios(
                    [corrector, prestep],
                    format!("errors {} and {}", short(corrector), short(prestep)),
                ),
                Measured::one(lead < 0.0, format!("shift {} ms", short(1e3 * lead))),
                Measured::one(lag > 0.0, format!("shift {} ms", short(1e3 * lag))),
            ],
            data: scene.data(),
            figure: scene.figure("Signals at 2 ms, dual mass oscillator", "3.64", (0.0, 0.1)),
            remarks: vec![format!(
                "The oscillation of mbcorr runs ahead of the monolithic one, the longer the more: in the first 30 ms the \
                 shift of its force is {} ms.",
                short(1e3 * early)
            )],
        })
    },
};

/// Row of the registry.
pub(crate) const FIG_3_65: Study = Study {
    id: "genser2020-fig3.65",
    title: "coupling force of mbcorr and prestep around a communication point",
    source: "[T] Fig. 3.65, p. 112",
    setup: "As genser2020-fig3.64, in the window from 18 to 24 ms. Deviations are relative to the range of the monolithic \
            force over the run.",
    claims: &[
        statement(
            "force of prestep at 20 ms",
            "[T] section 3.4, on Fig. 3.65 (p. 112)",
            "discontinuous gap: the monolithic force jumps much less in the first inner step",
            Kind::MuchLess,
        ),
        statement(
            "force of prestep at 22 ms",
            "[T] section 3.4, on Fig. 3.65 (p. 112)",
            "coincides with the monolithic result: much less deviation than at its most in the step",
            Kind::MuchLess,
        ),
        statement(
            "integral of the force of mbcorr from 20 to 22 ms",
            "[T] section 3.4, on Fig. 3.65 (p. 112)",
            "that of the monolithic force: mean deviation much less than the greatest in the step",
            Kind::MuchLess,
        ),
    ],
    compute: |_| {
        let scene = Scene::new(2e-3, &["mbcorr:paper=true", "prestep:paper=true"])?;
        let (from, to) = (0.02, 0.022);
        let mono = points(&scene.reference.trace, FORCE, (from, to));
        let (low, high) = range(&points(&scene.reference.trace, FORCE, (0.0, 0.1)));
        let size = high - low;
        let deviations = |k: usize| -> Vec<f64> {
            let own = points(&scene.runs[k].trace, FORCE, (from, to));
            own.iter().zip(&mono).map(|(own, mono)| (own.1 - mono.1) / size).collect()
        };
        let largest = |values: &[f64]| values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        let jump = |points: &[(f64, f64)]| (points[1].1 - points[0].1).abs() / size;
        let own = points(&scene.runs[1].trace, FORCE, (from, to));
        let (gap, smooth) = (jump(&own), jump(&mono));
        let (prestep, corrector) = (deviations(1), deviations(0));
        let last = prestep.last().copied().unwrap_or(f64::NAN).abs();
        // The values at the start belong to the step before.
        let (prestep_most, corrector_most) = (largest(&prestep[1..]), largest(&corrector[1..]));
        let mean = corrector[1..].iter().sum::<f64>() / (corrector.len() - 1) as f64;
        let share = |value: f64| format!("{} %", short(100.0 * value));
        Ok(Computed {
            measured: vec![
                Measured::ratios(
                    [smooth / gap],
                    format!("jump {} of the range, monolithic {}", share(gap), share(smooth)),
                ),
                Measured::ratios(
                    [last / prestep_most],
                    format!("deviation {}, at most {} in the step", share(last), share(prestep_most)),
                ),
                Measured::ratios(
                    [mean.abs() / corrector_most],
                    format!(
                        "mean deviation {}, at most {} in the step",
                        share(mean.abs()),
                        share(corrector_most)
                    ),
                ),
            ],
            data: scene.data(),
            figure: Figure::new("Coupling force around a communication point")
                .subtitle("dual mass oscillator, ck = 2e5 N/m, dk = 200 N s/m, macro step 2 ms")
                .panel(scene.panel(FORCE, (0.018, 0.024)))
                .note("After Genser 2020, Fig. 3.65."),
            remarks: Vec::new(),
        })
    },
};

/// Row of the registry.
pub(crate) const FIG_3_66: Study = Study {
    id: "genser2020-fig3.66",
    title: "signals of mbcorr and prestep at 6 ms",
    source: "[T] Fig. 3.66, p. 113",
    setup: "As genser2020-fig3.63, macro step 6 ms.",
    claims: &[
        statement("mbcorr at 6 ms", "[T] section 3.4, on Fig. 3.66 (p. 113)", "unstable", Kind::Unstable),
        statement("prestep at 6 ms", "[T] section 3.4, on Fig. 3.66 (p. 113)", "stable", Kind::Stable),
        statement(
            "prestep at 6 ms",
            "[T] section 3.4, on Fig. 3.66 (p. 113)",
            "of sufficient accuracy",
            Kind::Accurate,
        ),
    ],
    compute: |_| {
        let scene = Scene::new(6e-3, &["mbcorr:paper=true", "prestep:paper=true"])?;
        let error = scene.error(1)?;
        Ok(Computed {
            measured: vec![
                scene.unstable(0),
                Measured::one(!grows(&scene.runs[1]), scene.growth(1)),
                Measured::ratios([error], format!("error {}", short(error))),
            ],
            data: scene.data(),
            figure: scene.figure("Signals at 6 ms, dual mass oscillator", "3.66", (0.0, 0.102)),
            remarks: Vec::new(),
        })
    },
};

const SIGNALS: [(usize, &str, &str); 3] =
    [(0, "position x1", "m"), (1, "velocity v1", "m/s"), (FORCE, "coupling force F", "N")];
const FORCE: usize = 2;

/// Runs with several methods at one step, beside the monolithic solution.
struct Scene {
    step: f64,
    case: Case,
    methods: Vec<&'static str>,
    runs: Vec<Run>,
    reference: Reference,
}

impl Scene {
    fn new(step: f64, methods: &[&'static str]) -> Result<Self> {
        let case = Case::new("dual-mass", &[("ck", 2e5), ("dk", 200.0)], 0.1);
        let runs = methods.iter().map(|method| case.run(method, step, true)).collect::<Result<_>>()?;
        Ok(Self { step, reference: case.monolithic(step, true)?, case, methods: methods.to_vec(), runs })
    }

    /// eps_mono over the ends of all inner steps.
    fn error(&self, k: usize) -> Result<f64> {
        let descriptions = self.case.descriptions()?;
        let measures = measure(&descriptions, &self.runs[k].trace, &self.reference);
        Ok(measures.eps_mono_micro.filter(|_| self.runs[k].ended).unwrap_or(f64::INFINITY))
    }

    fn growth(&self, k: usize) -> String {
        let trace = &self.runs[k].trace;
        let amplitudes = costep_analysis::Amplitudes::of(&trace.times, &trace.rows, trace.outputs);
        let word = if grows(&self.runs[k]) { "unstable" } else { "stable" };
        format!("{word}, amplitudes change by {}", short(amplitudes.ratio()))
    }

    fn unstable(&self, k: usize) -> Measured {
        Measured::one(grows(&self.runs[k]), self.growth(k))
    }

    /// The delay in s under which the force comes nearest to the monolithic one; negative if it precedes.
    fn force_shift(&self, k: usize, window: (f64, f64)) -> f64 {
        let (own, mono) =
            (points(&self.runs[k].trace, FORCE, window), points(&self.reference.trace, FORCE, window));
        let inner = mono[1].0 - mono[0].0;
        let most = (2.0 * self.step / inner).round() as i64;
        let middle = most as usize..mono.len().min(own.len()) - most as usize;
        let distance = |shift: i64| -> f64 {
            middle.clone().map(|j| (own[j].1 - mono[(j as i64 - shift) as usize].1).powi(2)).sum()
        };
        let best = (-most..=most).min_by(|a, b| distance(*a).total_cmp(&distance(*b)));
        best.map_or(f64::NAN, |shift| shift as f64 * inner)
    }

    fn panel(&self, signal: usize, window: (f64, f64)) -> costep_report::Panel {
        let runs: Vec<_> = self.methods.iter().map(|method| short_name(method)).zip(&self.runs).collect();
        panel(&runs, &self.reference.trace, SIGNALS[signal], window)
    }

    fn figure(&self, title: &str, number: &str, window: (f64, f64)) -> Figure {
        Figure::new(title)
            .subtitle(format!("ck = 2e5 N/m, dk = 200 N s/m, macro step {} ms", short(1e3 * self.step)))
            .panels((0..SIGNALS.len()).map(|signal| self.panel(signal, window)))
            .note(format!("After Genser 2020, Fig. {number}."))
    }

    /// Every tenth inner step of the monolithic solution and of the runs.
    fn data(&self) -> Data {
        let names = ["monolithic"].into_iter().chain(self.methods.iter().copied());
        let columns = names.flat_map(|name| ["x1", "v1", "F"].map(|signal| format!("{name} {signal}")));
        let mut data = Data::new(["t".to_owned()].into_iter().chain(columns));
        let Some(mono) = &self.reference.trace.micro else { return data };
        for k in (0..mono.times.len()).step_by(10) {
            let mut row = vec![mono.times[k]];
            row.extend_from_slice(&mono.rows[3 * k..3 * k + 3]);
            for run in &self.runs {
                let rows = run.trace.micro.as_ref().map_or(&[][..], |micro| &micro.rows);
                row.extend_from_slice(rows.get(3 * k..3 * k + 3).unwrap_or(&[f64::NAN; 3]));
            }
            data.push(row);
        }
        data
    }
}

fn short_name(method: &'static str) -> &'static str {
    method.split(':').next().unwrap_or(method)
}
