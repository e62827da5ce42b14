//! One file per verb.

pub(crate) mod advise;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod demo;
pub(crate) mod doe;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod export_fmu;
pub(crate) mod graph;
pub(crate) mod identify;
pub(crate) mod import;
pub(crate) mod inspect;
pub(crate) mod inspect_project;
pub(crate) mod inspect_ssp;
pub(crate) mod map;
pub(crate) mod methods;
pub(crate) mod models;
pub(crate) mod new;
pub(crate) mod plot;
mod probes;
pub(crate) mod report;
pub(crate) mod reproduce;
pub(crate) mod run;
pub(crate) mod shell;
mod spectral;
pub(crate) mod stability;
pub(crate) mod survey;
