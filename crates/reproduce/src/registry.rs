//! The list of studies, from which the command line, its help, documents and tests derive.

use costep_core::{Code, Error, Result};

use crate::study::Study;
use crate::{
    andersson2016, genser2018_angles, genser2018_errors, genser2020_accuracy, genser2020_bohl,
    genser2020_doe, genser2020_errors, genser2020_flight, genser2020_helicopter, genser2020_identified,
    genser2020_jacobians, genser2020_loaded, genser2020_regions, genser2020_signals, haid2018, viel2014,
};

/// Every study.
pub static STUDIES: &[Study] = &[
    genser2018_errors::FIG_6,
    genser2018_errors::FIG_7,
    genser2018_angles::FIG_8,
    genser2018_angles::FIG_9,
    haid2018::FIG_2,
    haid2018::REGIONS,
    genser2020_regions::FIG_3_52,
    genser2020_accuracy::FIG_3_58,
    genser2020_errors::FIG_3_62,
    genser2020_signals::FIG_3_63,
    genser2020_signals::FIG_3_64,
    genser2020_signals::FIG_3_65,
    genser2020_signals::FIG_3_66,
    genser2020_doe::exact::TAB_3_4,
    genser2020_doe::exact::TAB_3_5,
    genser2020_doe::identified::TAB_3_10,
    genser2020_doe::identified::TAB_3_11,
    genser2020_doe::identified::TAB_3_12,
    genser2020_doe::identified::TAB_3_13,
    genser2020_doe::sorted::FIG_3_45,
    genser2020_identified::TAB_3_12,
    genser2020_identified::TAB_3_13,
    genser2020_bohl::TAB_3_14,
    genser2020_jacobians::EQ_4_5,
    genser2020_helicopter::FIG_4_10,
    genser2020_helicopter::FIG_4_11,
    genser2020_helicopter::FIG_4_12,
    genser2020_helicopter::FIG_4_13,
    genser2020_helicopter::FIG_4_14,
    genser2020_helicopter::FIG_4_15,
    genser2020_flight::FIG_4_16,
    genser2020_flight::FIG_4_21,
    genser2020_loaded::FIG_4_26,
    genser2020_loaded::FIG_4_27,
    genser2020_loaded::FIG_4_34,
    viel2014::FIG_3,
    viel2014::STABILITY,
    viel2014::TABLE_2,
    viel2014::FIG_9,
    andersson2016::TABLE_2,
    andersson2016::TABLE_3,
    andersson2016::TABLE_4,
];

/// The study with this name.
pub fn find(id: &str) -> Result<&'static Study> {
    STUDIES.iter().find(|study| study.id == id).ok_or_else(|| {
        let error = Error::new(Code::UnknownName, format!("no study is called `{id}`"))
            .suggest(id, STUDIES.iter().map(|study| study.id));
        match error.details().hint.is_some() {
            true => error,
            false => error.hint("`costep reproduce` lists all of them"),
        }
    })
}
