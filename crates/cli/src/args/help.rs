//! Verbs that tell about costep itself: methods, models, explain, completions, man.

use clap::Args;

#[derive(Args)]
pub(crate) struct ListArgs {
    /// Explain this one
    pub(crate) id: Option<String>,
}

#[derive(Args)]
pub(crate) struct ExplainArgs {
    /// A code such as E0203 [default: list all]
    pub(crate) code: Option<String>,
}

#[derive(Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Args)]
pub(crate) struct ManArgs {
    /// A verb; the whole program if left out
    pub(crate) verb: Option<String>,
}
