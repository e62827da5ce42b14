//! Attributes and texts of elements, with notes about what is wrong with them.

use costep_core::suggest::{nearest, nearest_by_letters};
use costep_fmu_file::short;
use costep_fmu_file::xml::{Element, literal};
use costep_ssp::{near_attribute, number_alone};

use super::Reader;

/// Largest number of signals of a function.
const MAX_SIGNALS: i64 = 10_000;

/// Elements as other formats call them, beside those that are nearest by their letters.
const SYNONYMS: [(&str, &str); 3] =
    [("StopTime", "EndTime"), ("StepSize", "BaseStepSize"), ("Components", "Simulators")];

impl Reader {
    pub(super) fn expect(&mut self, node: &Element, name: &str) -> bool {
        if node.name() != name {
            self.builder
                .error(node.line(), format!("<{}> stands where <{name}> belongs", short(node.name())));
        }
        node.name() == name
    }

    pub(super) fn check_known(&mut self, node: &Element, attributes: &[&str], children: &[&str]) {
        for (name, _) in node.attributes().filter(|(name, _)| !attributes.contains(name)) {
            let message =
                format!("<{}> has an attribute `{}` that is not known here", short(node.name()), short(name));
            match near_attribute(name, attributes) {
                Some(near) => self.builder.error(node.line(), format!("{message}: did you mean `{near}`?")),
                None => self.builder.warning(node.line(), message),
            }
        }
        for child in node.children().filter(|child| !children.contains(&child.name())) {
            let (owner, name) = (short(node.name()), short(child.name()));
            let message = format!("<{owner}> has an element <{name}> that is not known here");
            // What is meant would be left out, and the run be that of another system.
            let usual =
                SYNONYMS.iter().find(|(other, usual)| *other == child.name() && children.contains(usual));
            match usual.map(|(_, usual)| *usual).or_else(|| nearest_by_letters(child.name(), children)) {
                Some(near) => self.builder.error(child.line(), format!("{message}: did you mean <{near}>?")),
                None => self.builder.warning(child.line(), message),
            }
        }
    }

    pub(super) fn required<'a>(&mut self, node: &Element<'a>, name: &str) -> Option<&'a str> {
        let value = node.get(name);
        if value.is_none() {
            let given: Vec<&str> = node.attributes().map(|(given, _)| given).collect();
            let near = nearest(name, &given).map(|near| format!(": is it `{}`, misspelt?", short(near)));
            let message =
                format!("<{}> has no attribute `{name}`{}", short(node.name()), near.unwrap_or_default());
            self.builder.error(node.line(), message);
        }
        value
    }

    /// A finite number as an attribute.
    pub(super) fn number(&mut self, node: &Element, name: &str) -> Option<f64> {
        let text = node.get(name)?;
        self.finite(node, text, name)
    }

    /// A finite number as the text of a child.
    pub(super) fn number_of(&mut self, node: &Element, name: &str) -> Option<f64> {
        let child = node.child(name)?;
        self.finite(&child, child.content(), name)
    }

    fn finite(&mut self, node: &Element, text: &str, name: &str) -> Option<f64> {
        let value = literal::number(text).filter(|value| value.is_finite());
        if value.is_none() {
            let unit = ["StartTime", "EndTime", "BaseStepSize"].contains(&name).then_some("s");
            let message =
                format!("{name} is `{}`, not a finite number{}", short(text), number_alone(text, unit));
            self.builder.error(node.line(), message);
        }
        value
    }

    pub(super) fn count(&mut self, node: &Element, name: &str) -> Option<usize> {
        let text = self.required(node, name)?;
        let count = literal::integer(text).filter(|count| (1..=MAX_SIGNALS).contains(count));
        if count.is_none() {
            let message = format!("`{name}` is `{}`, not a number from 1 to {MAX_SIGNALS}", short(text));
            self.builder.error(node.line(), message);
        }
        count.and_then(|count| usize::try_from(count).ok())
    }
}
