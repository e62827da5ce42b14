//! Linearly implicit stabilisation of two hydraulic lines [V14].

mod one_step;
mod phase_margin;
mod rms;
mod runs;
mod stability;
mod table2;
#[cfg(test)]
mod tests;
mod transient;

pub(crate) use rms::FIG_9;
pub(crate) use stability::STABILITY;
pub(crate) use table2::TABLE_2;
pub(crate) use transient::FIG_3;

/// The forms of the method, as they are called here and as users write them.
const FORMS: [(&str, &str); 5] = [
    ("exact", "lis"),
    ("(26), r = 1", "lis:form=rate"),
    ("(26), r = 1/2", "lis:form=rate,implicitness=0.5"),
    ("value, r = 1", "lis:form=value"),
    ("value, r = 1/2", "lis:form=value,implicitness=0.5"),
];
