//! What the recording shows: the phase, and per subsystem trust, error, order and, if wanted, gains.

use costep_core::{Port, SystemView};

use super::phases::LearningPhase;
use super::{Identified, SubsystemLearner};

impl Identified {
    /// The values of [`column_names`] now.
    pub(super) fn fill_columns(&self, row: &mut [f64]) {
        row[0] = match self.course.phase {
            LearningPhase::Quiet => 0.0,
            LearningPhase::Small => 1.0,
            LearningPhase::Between(_) => 2.0,
            LearningPhase::Large => 3.0,
        };
        let large = self.course.phase == LearningPhase::Large;
        let mut at = 1;
        let mut put = |value: f64| {
            row[at] = value;
            at += 1;
        };
        for (i, part) in self.parts.iter().enumerate() {
            let bank = if large { &part.coarse } else { &part.fine };
            put(bank.trust());
            put(bank.eps_si());
            put(bank.order() as f64);
            if self.settings.with_parameters {
                for output in 0..self.layout.output_range(i).len() {
                    (0..self.layout.input_range(i).len()).for_each(|input| put(bank.gain(output, input)));
                }
            }
        }
    }
}

/// phase, and per subsystem trust, eps_SI, order and gains.
pub(super) fn column_names(
    parts: &[SubsystemLearner],
    system: &SystemView<'_>,
    with_parameters: bool,
) -> Vec<String> {
    let mut names = vec!["identified.phase".to_owned()];
    for (part, description) in parts.iter().zip(system.descriptions) {
        names.extend(["trust", "eps_si", "order"].map(|what| format!("identified.{}.{what}", part.name)));
        if with_parameters {
            for output in &description.outputs {
                let name = |input: &Port| format!("identified.{}.{}/{}", part.name, output.name, input.name);
                names.extend(description.inputs.iter().map(name));
            }
        }
    }
    names
}
