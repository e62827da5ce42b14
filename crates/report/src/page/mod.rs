//! A page about runs or studies: one HTML file that stands alone, for the screen in light and dark, for print, for the
//! keyboard and for screen readers.
//!
//! It asks nothing of the network (a policy in the page forbids it), shows every text of a user as text, and stays
//! below [`Page::MOST_BYTES`] whatever it is given: long curves are thinned to the least and greatest value per
//! column of pixels, and what is still too much is left out, with a remark.
//!
//! | part | what it shows |
//! |---|---|
//! | [`Page::verdict`] | what came out, above all else, in its colour ([`Tone`]) |
//! | [`Section::text`], [`Section::folded`], [`Section::facts`], [`Section::code`] | sentences, more of them on demand, pairs of words, text as it is |
//! | [`Section::table`] | a [`Table`]: caption, head, rows, cells with a tone; numbers are set to the right |
//! | [`Section::plot`] | a [`Figure`](crate::Figure), one interactive plot per panel: curves, steps, references, levels, areas |
//! | [`Section::heat_map`] | a [`HeatMap`]: a value over two axes, with its scale of colours |
//! | [`Section::picture`] | a figure as it is, without its data: small, not interactive |
//! | [`Section::diagram`] | a system as blocks and wires |
//! | [`Page::picker`] | switches by which curves of the same name are shown or hidden in all plots |
//! | [`Page::choice`] | a list of which one entry is shown in all heat maps that depend on it: a method, a step |
//!
//! A work-precision plot is a figure with two logarithmic axes and a [`Look::Marked`](crate::Look::Marked) series per method.
//!
//! ```
//! use costep_report::{Axis, Figure, Look, Page, Panel, Section, Series, Table, Tone};
//!
//! let points = vec![(1e-3, 2e-5), (2e-3, 8e-5), (4e-3, 3e-4)];
//! let panel = Panel::new(Axis::new("step").unit("s").log(), Axis::new("error").log())
//!     .with(Series::new("nepce", points).look(Look::Marked));
//! let table = Table::new("What each step gave", ["step", "result", "error"])
//!     .row(["1 ms".into(), "stable".into(), "2e-5".into()]);
//! let page = Page::new("dual-mass")
//!     .verdict(Tone::Good, "stable", "Nothing grows that does not grow in the reference.")
//!     .section(Section::new("Error over step").plot(Figure::new("Error").panel(panel)).table(table));
//! let html = page.to_html();
//! assert!(html.starts_with("<!doctype html>") && html.len() < Page::MOST_BYTES);
//! ```

mod content;
mod data;
mod html;
mod numbers;

pub use data::thinned_points;

pub use content::{HeatColours, HeatMap, Places, Section, Table, TableCell, Tone};

use content::{Choice, Picker};

/// A page under construction.
#[derive(Clone, Debug, Default)]
pub struct Page {
    title: String,
    subtitle: String,
    footer: String,
    verdict: Option<(Tone, String, String)>,
    sections: Vec<Section>,
    picker: Option<Picker>,
    choices: Vec<Choice>,
    live: Option<String>,
}

impl Page {
    /// No page is larger.
    pub const MOST_BYTES: usize = 6_000_000;

    /// An empty page.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// With a line below the title.
    pub fn subtitle(mut self, text: impl Into<String>) -> Self {
        self.subtitle = text.into();
        self
    }

    /// With a line at its end: by what it was made, and when.
    pub fn footer(mut self, text: impl Into<String>) -> Self {
        self.footer = text.into();
        self
    }

    /// With what came out, as a word and a sentence.
    pub fn verdict(mut self, tone: Tone, word: impl Into<String>, sentence: impl Into<String>) -> Self {
        self.verdict = Some((tone, word.into(), sentence.into()));
        self
    }

    /// With another section, unless it has nothing in it.
    pub fn section(mut self, section: Section) -> Self {
        if !section.is_empty() {
            self.sections.push(section);
        }
        self
    }

    /// With switches for curves: (name of the curves, whether they are shown at first). They stand in front of the
    /// first section with plots of them.
    pub fn picker(
        mut self,
        label: impl Into<String>,
        curves: impl IntoIterator<Item = (String, bool)>,
    ) -> Self {
        self.picker = Some(Picker { label: label.into(), curves: curves.into_iter().collect() });
        self
    }

    /// With a list of which heat maps show one entry at a time, at first the one of this number. They name it by its own
    /// number: the first choice is 0. A section has those lists that its maps depend on; the same list is the same everywhere.
    pub fn choice(
        mut self,
        label: impl Into<String>,
        names: impl IntoIterator<Item = impl Into<String>>,
        first: usize,
    ) -> Self {
        let names = names.into_iter().map(Into::into).collect();
        self.choices.push(Choice { label: label.into(), names, first });
        self
    }

    /// A page of something that still goes on: it asks for [`live_data`](Self::live_data) at this address, again and
    /// again, and for the page itself once that says that it is over.
    pub fn live(mut self, address: impl Into<String>) -> Self {
        self.live = Some(address.into());
        self
    }

    /// The page.
    pub fn to_html(&self) -> String {
        html::Writer::new(self).page()
    }

    /// What a page that is shown asks for while its subject goes on: the plots as they are now, as JSON. `status` is
    /// what the verdict is to say meanwhile.
    pub fn live_data(&self, status: &str, is_over: bool) -> String {
        html::Writer::new(self).live_data(status, is_over)
    }
}
