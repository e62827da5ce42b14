//! The cases: systems, what their parts show, steps.

use std::path::PathBuf;

use costep::{Errors, System};
use costep_core::{External, Result};
use costep_integrate::Solver;
use costep_system::SystemDescription;

use super::parts::{Counts, Guise, Part};
use super::{files, systems};
use crate::identified_cases::drawn::{self, Draw};

/// Fewest and most macro steps of a run.
const STEPS: (f64, f64) = (40.0, 1200.0);

/// A system with parts of a guise, at a step.
#[derive(Clone)]
pub struct Case {
    /// Its number; with the seed it says everything.
    pub id: usize,
    /// Built-in systems as white and as black boxes, pairs of linear parts, own systems.
    pub family: &'static str,
    /// Which of them.
    pub kind: &'static str,
    /// Its parameters in words.
    pub what: String,
    /// What the parts show.
    pub guise: Guise,
    /// Whether ports have nominal values.
    pub nominal: bool,
    /// Macro step in s.
    pub step: f64,
    /// Number of macro steps.
    pub steps: u64,
    /// Outputs with weights whose sum stays what it is.
    pub conserved: Vec<(usize, f64)>,
    /// The system, with all that its parts can do.
    pub(super) model: SystemDescription,
    /// The file it is from, if it is nobody's draw.
    pub(super) file: Option<PathBuf>,
}

/// Who draws a case.
#[derive(Clone, Copy)]
enum Source {
    /// One of the kinds that `identified` is measured on.
    Drawn(usize),
    /// A system with switches and the like.
    Own(usize),
}

/// Family, kind, guise if it is settled, and who draws.
type Kind = (&'static str, &'static str, Option<Guise>, Source);

const BUILT_IN: [&str; 9] = [
    "dual-mass",
    "triple-spring",
    "dual-mass-nonlinear",
    "helicopter",
    "pendulum-oscillator",
    "coupled-pendula",
    "chain",
    "hydraulic-linear",
    "hydraulic",
];
const PAIRS: [&str; 4] = ["circuit", "wall", "controlled", "shaft"];

/// All kinds, in the order in which they are drawn.
fn all_kinds() -> Vec<Kind> {
    let built_in = |guise, family| {
        BUILT_IN.iter().enumerate().map(move |(k, name)| (family, *name, Some(guise), Source::Drawn(k)))
    };
    let pairs = PAIRS.iter().enumerate().map(|(k, name)| ("pairs", *name, None, Source::Drawn(9 + k)));
    let own = systems::KINDS.iter().enumerate().map(|(k, (name, _))| {
        let family = if k < systems::LINEAR { "pairs" } else { "own" };
        (family, *name, None, Source::Own(k))
    });
    built_in(Guise::White, "built-in white")
        .chain(built_in(Guise::Black, "built-in black"))
        .chain(pairs)
        .chain(own)
        .collect()
}

/// Families and kinds, for lists.
pub fn kinds() -> Vec<(&'static str, &'static str)> {
    all_kinds().into_iter().map(|(family, kind, ..)| (family, kind)).collect()
}

/// So many cases, of all kinds in turn.
pub fn cases(count: usize, seed: u64) -> Result<Vec<Case>> {
    let kinds = all_kinds();
    (0..count).map(|id| case(kinds[id % kinds.len()], id, seed)).collect()
}

fn case((family, kind, guise, source): Kind, id: usize, seed: u64) -> Result<Case> {
    // Each case has its own numbers, however many are drawn.
    let mut draw = Draw::new(seed.wrapping_mul(1_000_033).wrapping_add(id as u64));
    let (what, mut model, step, stop, conserved) = match source {
        Source::Drawn(kind) => {
            let row = drawn::KINDS[kind](&mut draw);
            let (model, stop, step) = row.drawn()?;
            // Those are drawn where holds have their troubles; here small steps count too.
            let step = drawn::step(&mut draw, 0.1 * step, 1.5 * step);
            (format!("{} h={step}", row.name), model, step, stop, Vec::new())
        }
        Source::Own(kind) => {
            let own = systems::KINDS[kind].1(&mut draw);
            (own.what, own.model, own.step, own.stop, own.conserved)
        }
    };
    // The error of the coupling counts, not that of a solver inside.
    model.solver = if model.solver == Solver::Exact { Solver::Exact } else { Solver::Dopri5(1e-9) };
    let all = [Guise::Black, Guise::Black, Guise::Rollback, Guise::Ramps, Guise::White];
    let drawn_guise = all[draw.index(5) as usize];
    // Programs have no equations and take held inputs only.
    let guise = match guise.unwrap_or(drawn_guise) {
        Guise::Ramps | Guise::White if !model.has_equations() => Guise::Black,
        guise => guise,
    };
    let nominal = guise == Guise::White || draw.index(2) == 0;
    let steps = (stop / step).round().clamp(STEPS.0, STEPS.1);
    model.experiment.step = step;
    model.experiment.stop = steps * step;
    Ok(Case {
        id,
        family,
        kind,
        what,
        guise,
        nominal,
        step,
        steps: steps as u64,
        conserved,
        model,
        file: None,
    })
}

impl Case {
    /// The system as its user has it. Its steps are counted.
    pub fn system(&self, counts: &Counts) -> std::result::Result<System, Errors> {
        self.built(self.guise, self.nominal, counts)
    }

    pub(super) fn built(
        &self,
        guise: Guise,
        nominal: bool,
        counts: &Counts,
    ) -> std::result::Result<System, Errors> {
        let model = &self.model;
        if let Some(file) = &self.file {
            return files::opening(file, self.step, self.step * self.steps as f64).open();
        }
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        let mut builder = System::builder().name(self.kind);
        for part in &model.parts {
            let of = part.description();
            inputs.extend(of.inputs.iter().map(|port| format!("{}.{}", of.name, port.name)));
            outputs.extend(of.outputs.iter().map(|port| format!("{}.{}", of.name, port.name)));
            builder = builder.native(Part::new(&**part, guise, nominal, counts));
        }
        let sources = |input: usize| {
            let connected = model.connections.iter().filter(|connection| connection.input == input);
            connected.count() + model.externals.iter().filter(|external| external.0 == input).count()
        };
        let is_sum = |input: usize| sources(input) > 1;
        for input in (0..inputs.len()).filter(|input| sources(*input) == 0) {
            builder = builder.drive(&inputs[input], External::Constant(0.0));
        }
        for connection in &model.connections {
            let (from, to) = (&outputs[connection.output], &inputs[connection.input]);
            builder = match (is_sum(connection.input), connection.gain) {
                (true, gain) => builder.add_connection(from, to, gain),
                (false, 1.0) => builder.connect(from, to),
                (false, gain) => builder.connect_scaled(from, to, gain),
            };
        }
        for (input, external) in &model.externals {
            builder = match is_sum(*input) {
                true => builder.add_external(&inputs[*input], external.clone()),
                false => builder.drive(&inputs[*input], external.clone()),
            };
        }
        let solver = if model.solver == Solver::Exact { "exact" } else { "dopri5:1e-9" };
        builder.solver(solver).stop(model.experiment.stop).step(self.step).build()
    }

    /// Typical sizes of all outputs.
    pub(super) fn nominal_outputs(&self) -> Vec<f64> {
        let outputs = self.model.parts.iter().flat_map(|part| &part.description().outputs);
        outputs.map(|port| port.nominal.unwrap_or(1.0)).collect()
    }

    /// The names of all outputs.
    pub(super) fn outputs(&self) -> Vec<String> {
        let descriptions = self.model.parts.iter().map(|part| part.description());
        let names = descriptions.flat_map(|of| of.outputs.iter().map(move |port| (&of.name, &port.name)));
        names.map(|(part, port)| format!("{part}.{port}")).collect()
    }
}
