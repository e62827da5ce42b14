//! What stands for the parts of a system where its stability is judged.

/// What a judgement of stability rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foundation {
    /// Steps of the parts themselves, from changed states.
    Steps,
    /// Local models of the parts: Jacobians, or directional derivatives.
    LocalModels,
    /// Local models by differences of trial steps.
    Differences,
    /// Models from the responses of the parts to probing steps.
    Probe,
    /// Models identified from a run with shaken inputs.
    Identified,
}

impl Foundation {
    /// In a few words, also for machines.
    pub fn text(self) -> &'static str {
        match self {
            Self::Steps => "steps of the parts",
            Self::LocalModels => "local models of the parts",
            Self::Differences => "local models by differences",
            Self::Probe => "probed models of the parts",
            Self::Identified => "models identified from a run",
        }
    }

    /// What that leaves out.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Steps => "by steps of the parts with their own solvers, from changed states",
            Self::LocalModels => {
                "by the Jacobians or directional derivatives of the parts: their inner solvers, events and saturation are \
                 not judged"
            }
            Self::Differences => {
                "by local models from trial steps of the parts: inner solvers, events and states that no input reaches are \
                 not judged"
            }
            Self::Probe => {
                "by models from the responses of the parts to trial steps: what no input moves and no output shows is not \
                 judged"
            }
            Self::Identified => {
                "by linear models identified from a run at the step of the project with shaken inputs: what the run did not \
                 excite, and what is faster than twice that step, is not judged"
            }
        }
    }
}
