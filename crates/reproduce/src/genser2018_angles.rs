//! The rate of the pendulum over time, at two macro steps [G18 Figs. 8 and 9].

use costep_analysis::Reference;
use costep_core::Result;
use costep_report::Figure;

use crate::case::{Case, Run};
use crate::data::Data;
use crate::rules::{Kind, Measured};
use crate::series::{panel, points};
use crate::study::{Computed, Study, short, statement};

const METHODS: [(&str, &str); 3] = [
    ("zoh", "zoh"),
    ("nepce", "nepce:reference=applied"),
    ("prestep", "prestep:ede=true,scaled=false,offsets=false"),
];
/// Output of the model: the rate of the angle.
const RATE: usize = 1;

/// Row of the registry.
pub(crate) const FIG_8: Study = Study {
    id: "genser2018-fig8",
    title: "rate of the pendulum at a macro step of 5 ms",
    source: "[G18] Fig. 8",
    setup: "Pendulum with oscillator, explicit Euler with 0.1 ms inside, 2 s (the paper does not say how long), against the \
            monolithic solution with the same inner steps. Methods as in genser2018-fig6. Unstable: the greatest deviation in \
            the last fifth of the run is more than in the first. Accuracy: greatest deviations, over those of zoh and of nepce.",
    claims: &[
        statement("nepce at 5 ms", "[G18] section 3.2, on Fig. 8", "unstable", Kind::Unstable),
        statement(
            "prestep at 5 ms",
            "[G18] section 3.2, on Fig. 8",
            "obviously more accurate",
            Kind::MuchLess,
        ),
    ],
    compute: |_| {
        let scene = Scene::new(5e-3, 2.0)?;
        let (first, last) = (scene.deviation(1, (0.0, 0.4)), scene.deviation(1, (1.6, 2.0)));
        let all = [0, 1, 2].map(|k| scene.deviation(k, (0.0, 2.0)));
        Ok(Computed {
            measured: vec![
                Measured::one(last > first, format!("deviation {}, then {}", short(first), short(last))),
                Measured::ratios(
                    [all[2] / all[0], all[2] / all[1]],
                    format!("{}; zoh {}, nepce {} rad/s", short(all[2]), short(all[0]), short(all[1])),
                ),
            ],
            data: scene.data(),
            figure: scene.figure("5 ms", "8"),
            remarks: Vec::new(),
        })
    },
};

/// Row of the registry.
pub(crate) const FIG_9: Study = Study {
    id: "genser2018-fig9",
    title: "rate of the pendulum at a macro step of 60 ms",
    source: "[G18] Fig. 9",
    setup: "As genser2018-fig8, macro step 60 ms, prestep only. Bumps: the greatest deviation at the communication points over \
            that inside the steps.",
    claims: &[
        statement(
            "prestep at 60 ms",
            "[G18] section 3.2, on Fig. 9",
            "bumps as long as a macro step: wrong inside the steps, right at their ends",
            Kind::MuchLess,
        ),
        statement(
            "prestep at 60 ms",
            "[G18] section 3.2, on Fig. 9",
            "does not look typically unstable",
            Kind::Stable,
        ),
    ],
    compute: |_| {
        let scene = Scene::with(&METHODS[2..], 0.06, 2.0)?;
        let (inside, at_points) = (scene.deviation(0, (0.0, 2.0)), scene.deviation_at_points(0));
        let (first, last) = (scene.deviation(0, (0.0, 0.4)), scene.deviation(0, (1.6, 2.0)));
        Ok(Computed {
            measured: vec![
                Measured::ratios(
                    [at_points / inside],
                    format!("{} inside, {} rad/s at the points", short(inside), short(at_points)),
                ),
                Measured::one(last <= first, format!("deviation {}, then {}", short(first), short(last))),
            ],
            data: scene.data(),
            figure: scene.figure("60 ms", "9"),
            remarks: Vec::new(),
        })
    },
};

struct Scene {
    names: Vec<&'static str>,
    runs: Vec<Run>,
    reference: Reference,
    stop: f64,
}

impl Scene {
    fn new(step: f64, stop: f64) -> Result<Self> {
        Self::with(&METHODS, step, stop)
    }

    fn with(methods: &[(&'static str, &str)], step: f64, stop: f64) -> Result<Self> {
        let case = Case::new("pendulum-oscillator", &[], stop);
        let runs = methods.iter().map(|(_, method)| case.run(method, step, true)).collect::<Result<_>>()?;
        let names = methods.iter().map(|(name, _)| *name).collect();
        Ok(Self { names, runs, reference: case.monolithic(step, true)?, stop })
    }

    /// Greatest deviation of the rate in a window; infinite if the run did not come that far.
    fn deviation(&self, k: usize, window: (f64, f64)) -> f64 {
        let own = points(&self.runs[k].trace, RATE, window);
        let mono = points(&self.reference.trace, RATE, window);
        if own.len() < mono.len() {
            return f64::INFINITY;
        }
        own.iter().zip(&mono).map(|(own, mono)| (own.1 - mono.1).abs()).fold(0.0, f64::max)
    }

    fn deviation_at_points(&self, k: usize) -> f64 {
        let (own, mono) = (&self.runs[k].trace, &self.reference.trace);
        let rows = own.rows.chunks_exact(own.outputs).zip(mono.rows.chunks_exact(mono.outputs));
        rows.map(|(own, mono)| (own[RATE] - mono[RATE]).abs()).fold(0.0, f64::max)
    }

    fn figure(&self, step: &str, number: &str) -> Figure {
        let runs: Vec<_> = self.names.iter().copied().zip(&self.runs).collect();
        let signal = (RATE, "rate of the angle", "rad/s");
        Figure::new("Rate of the pendulum")
            .subtitle(format!("pendulum with oscillator, macro step {step}, inner step 0.1 ms"))
            .panel(panel(&runs, &self.reference.trace, signal, (0.0, self.stop)))
            .note(format!("After Genser & Benedikt 2018, Fig. {number}."))
    }

    /// Every fifth inner step.
    fn data(&self) -> Data {
        let mut data = Data::new(["t", "monolithic"].into_iter().chain(self.names.iter().copied()));
        let window = (0.0, self.stop);
        let curves: Vec<_> = self.runs.iter().map(|run| points(&run.trace, RATE, window)).collect();
        for (k, (t, mono)) in points(&self.reference.trace, RATE, window).into_iter().enumerate().step_by(5) {
            let values = curves.iter().map(|curve| curve.get(k).map_or(f64::NAN, |point| point.1));
            data.push([t, mono].into_iter().chain(values).collect());
        }
        data
    }
}
