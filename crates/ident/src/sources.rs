//! The list of sources of local models, and the options by which a method chooses one.
//!
//! Every model-based method declares [`LOCAL`]; one that can also work with discrete models that are identified while the run goes declares
//! [`ALL`], or [`WITHOUT_PROBE`]. What the user says there becomes the source of the whole run. To add a source: one word in [`SOURCE`] or
//! [`ANY_SOURCE`], one variant of [`Chosen`].

use costep_core::{Condition, ModelSource, OptionKind, OptionSpec, Options, Value, join};

use crate::{Algorithm, Exact, FiniteDifference, Learning, LearningSettings, Probe, Refresh, RlsSettings};

/// The option `source`.
pub const SOURCE: OptionSpec = OptionSpec {
    name: "source",
    kind: OptionKind::Choice(&["exact", "finite-difference", PROBE]),
    help: "where local models come from: Jacobians of the subsystems, differences between trial steps with rollback and states that \
           can be read, or a short excitation that is taken back (probe)",
    only_with: &[],
};

/// What the option `source` calls models from a short excitation.
pub const PROBE: &str = "probe";

/// Of options that mean something for local models A, B, C, D only.
pub const LOCAL_MODELS: Condition =
    Condition { option: "source", among: &["exact", "finite-difference", PROBE] };
/// Of options that mean something for identified models only.
pub const IDENTIFIED_MODELS: Condition =
    Condition { option: "source", among: &["rls", "ij-rls", "moesp", FROM_FILE] };
const RLS: Condition = Condition { option: "source", among: &["rls"] };
const RECURSIVE: Condition = Condition { option: "source", among: &["rls", "ij-rls", FROM_FILE] };
const MOESP: Condition = Condition { option: "source", among: &["moesp"] };

/// The option `refresh`.
pub const REFRESH: OptionSpec = OptionSpec {
    name: "refresh",
    kind: OptionKind::Choice(&["always", "changed", "never"]),
    help: "renew local models at every `every`-th communication point, when they no longer explain x' and y, or never; probe: never, \
           unless this or `every` is given",
    only_with: &[LOCAL_MODELS],
};

/// The option `every`.
pub const EVERY: OptionSpec = OptionSpec {
    name: "every",
    kind: OptionKind::Integer { default: 1, min: 1, max: 1_000_000 },
    help: "number of macro steps between renewals of local models",
    only_with: &[LOCAL_MODELS, Condition { option: "refresh", among: &["always"] }],
};

/// The option `amplitude`.
pub const AMPLITUDE: OptionSpec = OptionSpec {
    name: "amplitude",
    kind: OptionKind::Real { default: 0.01, min: 1e-8, max: 10.0 },
    help: "probe: greatest pulse of an input, as a share of its nominal value or of the greatest so far; smaller ones are tried too",
    only_with: &[Condition { option: "source", among: &[PROBE] }],
};

/// What methods with local models declare.
pub const LOCAL: [OptionSpec; 4] = [SOURCE, REFRESH, EVERY, AMPLITUDE];

/// What methods declare that can also do with identified models.
pub const ALL: [OptionSpec; LOCAL.len() + IDENTIFICATION.len()] =
    join(&[&[ANY_SOURCE, REFRESH, EVERY, AMPLITUDE], &IDENTIFICATION]);

/// The option `source` of methods that can do with identified models.
pub const ANY_SOURCE: OptionSpec = OptionSpec {
    name: "source",
    kind: OptionKind::Choice(&["exact", "finite-difference", PROBE, "rls", "ij-rls", "moesp", FROM_FILE]),
    help: "where local models come from: Jacobians, trial steps with rollback (finite-difference where states can be read; probe: a short \
           excitation that is taken back), or identified while the run goes by recursive least \
           squares (rls: ARX per output, ij-rls: Interface Jacobians) or over a moving window (moesp); from-file: models of an earlier \
           run (`costep identify`), for any step, that go on learning",
    only_with: &[],
};

/// What methods declare that need states with a meaning of their own, and can do with identified models.
pub const WITHOUT_PROBE: [OptionSpec; ALL.len() - 1] =
    join(&[&[NO_PROBE, NO_PROBE_REFRESH, EVERY], &IDENTIFICATION]);

const NO_PROBE: OptionSpec = OptionSpec {
    name: ANY_SOURCE.name,
    kind: OptionKind::Choice(&["exact", "finite-difference", "rls", "ij-rls", "moesp", FROM_FILE]),
    help: "where local models come from: Jacobians, trial steps with rollback where states can be read (finite-difference), or identified \
           while the run goes by recursive least squares (rls: ARX per output, ij-rls: Interface Jacobians) or over a moving window \
           (moesp); from-file: models of an earlier run (`costep identify`), for any step, that go on learning. Not probe: C A C^+ depends \
           on the coordinates of the states, which responses do not tell; `predictive:source=probe` does without",
    only_with: &[],
};

const NO_PROBE_REFRESH: OptionSpec = OptionSpec {
    name: REFRESH.name,
    kind: REFRESH.kind,
    help: "renew local models at every `every`-th communication point, when they no longer explain x' and y, or never",
    only_with: &[LOCAL_MODELS],
};

/// The options of sources that identify. Defaults: tables 3.12 and 3.13 of [T].
pub const IDENTIFICATION: [OptionSpec; 11] = [
    OptionSpec {
        name: "n",
        kind: OptionKind::Integer { default: 1, min: 1, max: 4 },
        help: "rls: past outputs N of the ARX model",
        only_with: &[RLS],
    },
    OptionSpec {
        name: "m",
        kind: OptionKind::Integer { default: 1, min: 1, max: 4 },
        help: "rls: inputs M of the ARX model",
        only_with: &[RLS],
    },
    OptionSpec {
        name: "forgetting",
        kind: OptionKind::Real { default: 0.996, min: 0.5, max: 1.0 },
        help: "rls, ij-rls: lambda per sample",
        only_with: &[RECURSIVE],
    },
    OptionSpec {
        name: "variance",
        kind: OptionKind::Real { default: 1e6, min: 1e-6, max: 1e12 },
        help: "rls, ij-rls: diagonal of the covariance at the start",
        only_with: &[RECURSIVE],
    },
    OptionSpec {
        name: "model_order",
        kind: OptionKind::Integer { default: 1, min: 0, max: 20 },
        help: "moesp: number of states of each model; 0: by the singular values",
        only_with: &[MOESP],
    },
    OptionSpec {
        name: "block_rows",
        kind: OptionKind::Integer { default: 0, min: 0, max: 30 },
        help: "moesp: block rows r of the Hankel matrices; 0: two more than the states need",
        only_with: &[MOESP],
    },
    OptionSpec {
        name: "window",
        kind: OptionKind::Integer { default: 778, min: 10, max: 100_000 },
        help: "moesp: samples in the window",
        only_with: &[MOESP],
    },
    OptionSpec {
        name: "cut",
        kind: OptionKind::Real { default: 1e-3, min: 1e-14, max: 0.5 },
        help: "moesp: singular values of the inputs below this share of the greatest carry no information",
        only_with: &[MOESP],
    },
    OptionSpec {
        name: "interval",
        kind: OptionKind::Integer { default: 50, min: 1, max: 10_000 },
        help: "moesp: samples between two realisations, which cost two singular value decompositions; the window itself moves with every sample",
        only_with: &[MOESP],
    },
    OptionSpec {
        name: "samples",
        kind: OptionKind::Integer { default: 1, min: 1, max: 100 },
        help: "samples per macro step to identify from, where a subsystem gives micro samples; not for from-file",
        only_with: &[Condition { option: "source", among: &["rls", "ij-rls", "moesp"] }],
    },
    FILE,
];

/// The option `file`.
pub const FILE: OptionSpec = OptionSpec {
    name: "file",
    kind: OptionKind::File,
    help: "from-file: the models, as `costep identify` writes them",
    only_with: &[Condition { option: "source", among: &[FROM_FILE] }],
};

/// What the option `source` calls models of an earlier run.
pub const FROM_FILE: &str = "from-file";

/// Points of the sliding range of eps_SI.
const RANGE: usize = 100;

/// Whether checked options ask for models that are identified while the run goes.
pub fn identifies(options: &Options) -> bool {
    has(options, SOURCE.name) && IDENTIFIED_MODELS.holds(options)
}

/// A source with its settings: options that come to the same are equal here, however they say it.
#[derive(Clone, Debug, PartialEq)]
pub enum Chosen {
    /// Jacobians.
    Exact(Refresh),
    /// Differences between trial steps.
    FiniteDifference(Refresh),
    /// A short excitation, with its amplitude.
    Probe(Refresh, f64),
    /// Identified while the run goes.
    Learning(LearningSettings),
    /// From models of an earlier run.
    FromFile(LearningSettings, String),
}

impl Chosen {
    /// What checked options ask for; none if the method has no such options.
    pub fn new(options: &Options) -> Option<Self> {
        if !has(options, SOURCE.name) {
            return None;
        }
        let refresh = match options.text(REFRESH.name) {
            "changed" => Refresh::Changed,
            "never" => Refresh::Never,
            _ => Refresh::Every(options.integer(EVERY.name) as u64),
        };
        Some(match options.text(SOURCE.name) {
            "finite-difference" => Self::FiniteDifference(refresh),
            PROBE => {
                let is_asked = options.is_given(REFRESH.name) || options.is_given(EVERY.name);
                let refresh = if is_asked { refresh } else { Refresh::Never };
                Self::Probe(refresh, options.real(AMPLITUDE.name))
            }
            FROM_FILE => Self::FromFile(learning(options), options.text(FILE.name).into()),
            _ if identifies(options) => Self::Learning(learning(options)),
            _ => Self::Exact(refresh),
        })
    }

    /// A fresh instance.
    pub fn build(self) -> Box<dyn ModelSource> {
        match self {
            Self::Exact(refresh) => Box::new(Exact::new(refresh)),
            Self::FiniteDifference(refresh) => Box::new(FiniteDifference::new(refresh)),
            Self::Probe(refresh, amplitude) => Box::new(Probe::new(refresh, amplitude)),
            Self::Learning(settings) => Box::new(Learning::new(settings)),
            Self::FromFile(settings, file) => Box::new(Learning::from_file(settings, file)),
        }
    }
}

/// The source that checked options ask for. Options of a method without models give the exact one, which is used for feed-through at most.
pub fn from_options(options: &Options) -> Box<dyn ModelSource> {
    Chosen::new(options).unwrap_or(Chosen::Exact(Refresh::Every(1))).build()
}

/// How models are to be identified by checked options of a method that does.
pub fn learning(options: &Options) -> LearningSettings {
    let paper = has(options, "paper") && options.bool("paper");
    // The thesis has a new model at every communication point.
    let of_the_thesis = options.clone().with_defaults(&[("interval", Value::Integer(1))]);
    let options = if paper { &of_the_thesis } else { options };
    let whole = |name: &str| options.integer(name) as usize;
    let (forgetting, start) = (options.real("forgetting"), options.real("variance"));
    let algorithm = match options.text(SOURCE.name) {
        "rls" => Algorithm::Rls(RlsSettings { outputs: whole("n"), inputs: whole("m"), forgetting, start }),
        // The file says which of the two goes on.
        "ij-rls" | FROM_FILE => Algorithm::IjRls { forgetting, start },
        _ => Algorithm::Moesp {
            order: whole("model_order"),
            block_rows: whole("block_rows"),
            window: whole("window"),
            cut: options.real("cut"),
            interval: whole("interval"),
        },
    };
    LearningSettings { algorithm, samples: whole("samples"), range: if paper { 0 } else { RANGE } }
}

fn has(options: &Options, name: &str) -> bool {
    options.iter().any(|(option, _)| option == name)
}
