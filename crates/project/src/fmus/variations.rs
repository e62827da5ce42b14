//! `continuous` and `discrete` of an FMU: signals that change otherwise than its model description says.

use costep_core::{Code, Description, Error, Variation};
use costep_fmi::SignalVariations;

use crate::problems::{Problems, shortened};
use crate::section::Section;

/// Reads both lists. Nothing if something is wrong with them, which is then reported.
pub(crate) fn read(
    section: &Section<'_>,
    declared: &Description,
    problems: &mut Problems<'_>,
) -> Option<SignalVariations> {
    let mut variations = SignalVariations::default();
    let mut good = true;
    for (key, is_continuous) in [("continuous", true), ("discrete", false)] {
        let names = section.texts(key, problems);
        good &= names.is_some() || section.get(key).is_none();
        for (name, origin) in names.into_iter().flatten() {
            let list = if is_continuous { &mut variations.continuous } else { &mut variations.discrete };
            list.push(name.to_owned());
            let names = vec![name.to_owned()];
            let one = match is_continuous {
                true => SignalVariations { continuous: names, ..SignalVariations::default() },
                false => SignalVariations { discrete: names, ..SignalVariations::default() },
            };
            if let Err(error) = one.apply(&mut declared.clone()) {
                problems.report(origin, || error);
                good = false;
            }
        }
    }
    good.then_some(variations)
}

/// Says which inputs are formed by coupling methods although they are declared to be discrete.
pub(crate) fn tell_assumed(
    part: &str,
    description: &Description,
    section: &Section<'_>,
    problems: &mut Problems<'_>,
) {
    let names: Vec<&str> = description
        .inputs
        .iter()
        .filter(|port| port.variation == Variation::Stepwise)
        .map(|port| port.name.as_str())
        .collect();
    if names.is_empty() {
        return;
    }
    problems.warn(section.origin_of("file"), || {
        let (part, names) = (shortened(part), shortened(&names.join(", ")));
        let message =
            format!("inputs of `{part}` that are declared discrete are formed once per step: {names}");
        Error::new(Code::StepwiseInputs, message)
    });
}
