//! A page as text.

use std::fmt::Write;

use serde_json::json;

use super::Page;
use super::content::{Content, HeatColours, HeatMap, Picker, Section, Table, TableCell, Tone};
use super::data::{Data, Drawn, in_script};
use super::numbers::four_digits;
use crate::panel::{Layer, Panel};
use crate::svg::escaped;
use crate::{Diagram, Figure};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// The plot library, packed by the build script.
const LIBRARY: &str = include_str!(concat!(env!("OUT_DIR"), "/plotly.txt"));
/// Nothing is loaded from anywhere, and nothing is sent.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:";
/// Rows of a table.
const MOST_ROWS: usize = 500;
/// Lines of text that are shown without being asked for, and its length.
const SHORT: usize = 12;
const MOST_TEXT: usize = 200_000;
/// Room that plots, pictures, tables and texts have beside the rest of a page.
const ROOM: usize = Page::MOST_BYTES - LIBRARY.len() - STYLE.len() - SCRIPT.len() - 200_000;
const NO_ROOM: &str = "Left out: the page would become too large.";

/// Writes a page.
pub(super) struct Writer<'a> {
    page: &'a Page,
    html: String,
    data: Data,
    figures: usize,
    picker: Option<&'a Picker>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(page: &'a Page) -> Self {
        let content = page.sections.iter().flat_map(|section| &section.content);
        let figures = content
            .filter_map(|content| if let Content::Plot(figure) = content { Some(figure) } else { None });
        let layers = figures.flat_map(|figure| &figure.panels).flat_map(|panel| &panel.layers);
        let curves = layers.filter(|layer| matches!(layer, Layer::Series(_))).count();
        let picker = page.picker.as_ref();
        Self { page, html: String::new(), data: Data::new(curves), figures: 0, picker }
    }

    pub(super) fn live_data(mut self, status: &str, is_over: bool) -> String {
        self.body();
        let data = self.data.json(None, &[], None);
        let status = in_script(&json!({ "status": status, "over": is_over }).to_string());
        format!("{},\"data\":{data}}}", &status[..status.len() - 1])
    }

    pub(super) fn page(mut self) -> String {
        let page = self.page;
        self.body();
        let body = std::mem::take(&mut self.html);
        let title = escaped(&page.title);
        let policy =
            if page.live.is_some() { format!("{POLICY}; connect-src 'self'") } else { POLICY.into() };
        self.push(format_args!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n<title>{title}</title>\n\
             <style>\n{STYLE}</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the result</a>\n\
             <header>\n<h1>{title}</h1>\n"
        ));
        if !page.subtitle.is_empty() {
            self.push(format_args!("<p>{}</p>\n", escaped(&page.subtitle)));
        }
        self.html += "</header>\n";
        self.contents();
        self.push(format_args!("<main id=\"main\">\n{body}</main>\n"));
        self.push(format_args!("<footer>{}</footer>\n", escaped(&page.footer)));
        if !self.data.is_empty() {
            let data = self.data.json(page.picker.as_ref(), &page.choices, page.live.as_deref());
            self.push(format_args!(
                "<script type=\"application/json\" id=\"data\">{data}</script>\n\
                 <script type=\"text/plain\" id=\"library\">{LIBRARY}</script>\n<script>\n{SCRIPT}</script>\n"
            ));
        }
        self.html += "</body>\n</html>\n";
        self.html
    }

    fn push(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.html.write_fmt(text);
    }

    /// Links to the sections.
    fn contents(&mut self) {
        if self.page.sections.len() < 2 {
            return;
        }
        self.html += "<nav aria-label=\"Contents\">\n<ul>\n";
        for (k, section) in self.page.sections.iter().enumerate() {
            self.push(format_args!("<li><a href=\"#section-{k}\">{}</a></li>\n", escaped(&section.heading)));
        }
        self.html += "</ul>\n</nav>\n";
    }

    fn body(&mut self) {
        if let Some((tone, word, sentence)) = &self.page.verdict {
            // A page of a run that goes on says by it how far that is.
            let role = if self.page.live.is_some() { "role=\"status\"" } else { "role=\"note\"" };
            self.push(format_args!(
                "<div class=\"verdict {}\" {role} aria-label=\"Verdict\"><strong>{}</strong> <span id=\"status\">{}</span></div>\n",
                tone.class(),
                escaped(word),
                escaped(sentence)
            ));
        }
        for (k, section) in self.page.sections.iter().enumerate() {
            self.section(k, section);
        }
    }

    fn section(&mut self, number: usize, section: &Section) {
        let heading = escaped(&section.heading);
        self.push(format_args!(
            "<section id=\"section-{number}\" aria-labelledby=\"heading-{number}\">\n<h2 id=\"heading-{number}\">{heading}</h2>\n"
        ));
        let has_picked = |panel: &Panel, picker: &Picker| {
            let is_picked = |name: &str| picker.curves.iter().any(|(curve, _)| curve == name);
            panel.layers.iter().any(|layer| matches!(layer, Layer::Series(series) if is_picked(&series.name)))
        };
        let mut has_lists = false;
        for content in &section.content {
            if let (Content::Plot(figure), Some(picker)) = (content, self.picker)
                && figure.panels.iter().any(|panel| has_picked(panel, picker))
            {
                self.picker = None;
                self.switches(picker);
            }
            if let Content::Heat(map) = content
                && !map.chosen_by.is_empty()
                && !std::mem::replace(&mut has_lists, true)
            {
                self.choices(section);
            }
            self.if_there_is_room("", |writer| writer.content(content));
        }
        self.html += "</section>\n";
    }

    /// Writes something, and takes it back if it is too much.
    fn if_there_is_room(&mut self, name: &str, write: impl FnOnce(&mut Self)) {
        let (length, mark) = (self.html.len(), self.data.mark());
        write(self);
        if self.html.len() + self.data.bytes() > ROOM {
            self.html.truncate(length);
            self.data.go_back(mark);
            let name: String = name.chars().take(100).collect();
            let name = if name.is_empty() { name } else { format!("{}: ", escaped(&name)) };
            self.push(format_args!("<p class=\"remark neutral\">{name}{NO_ROOM}</p>\n"));
        }
    }

    fn content(&mut self, content: &Content) {
        match content {
            Content::Text(Tone::Neutral, text) => self.push(format_args!("<p>{}</p>\n", escaped(text))),
            Content::Text(tone, text) => {
                self.push(format_args!("<p class=\"remark {}\">{}</p>\n", tone.class(), escaped(text)));
            }
            Content::Folded(tone, text, more) => self.folded(*tone, text, more),
            Content::Facts(facts) => self.facts(facts),
            Content::Code(label, text) => self.code(label, text),
            Content::Table(table) => self.table(table),
            Content::Plot(figure) => self.plots(figure),
            Content::Heat(map) => self.heat(map),
            Content::Picture(title, svg) => self.svg(svg, title, ""),
            Content::Diagram(diagram, description) => self.diagram(diagram, description),
        }
    }

    fn folded(&mut self, tone: Tone, text: &str, more: &[String]) {
        let (class, text) = (tone.class(), escaped(text));
        self.push(format_args!("<details class=\"remark {class}\"><summary>{text}</summary>\n<ul>\n"));
        more.iter().for_each(|text| self.push(format_args!("<li>{}</li>\n", escaped(text))));
        self.html += "</ul>\n</details>\n";
    }

    fn facts(&mut self, facts: &[(String, String)]) {
        self.html += "<dl>\n";
        for (name, text) in facts {
            self.push(format_args!("<div><dt>{}</dt><dd>{}</dd></div>\n", escaped(name), escaped(text)));
        }
        self.html += "</dl>\n";
    }

    fn code(&mut self, label: &str, text: &str) {
        let (label, lines) = (escaped(label), text.lines().count());
        let end = text.char_indices().map(|(at, _)| at).find(|at| *at > MOST_TEXT).unwrap_or(text.len());
        let shown: Vec<String> = text[..end].lines().map(escaped).collect();
        let rest = if end < text.len() { "\n..." } else { "" };
        let code = format!("<pre tabindex=\"0\"><code>{}{rest}</code></pre>", shown.join("\n"));
        match lines > SHORT {
            true => self.push(format_args!(
                "<details><summary>{label} ({lines} lines)</summary>\n{code}\n</details>\n"
            )),
            false => self.push(format_args!("<p class=\"label\">{label}</p>\n{code}\n")),
        }
    }

    fn table(&mut self, table: &Table) {
        let is_numeric: Vec<bool> = (0..table.head.len())
            .map(|column| {
                let mut cells = table.rows.iter().filter_map(|row| row.get(column)).peekable();
                column > 0 && cells.peek().is_some() && cells.all(|cell| begins_with_number(&cell.text))
            })
            .collect();
        let class =
            |column: usize| if is_numeric.get(column) == Some(&true) { " class=\"number\"" } else { "" };
        // What is wider than the page is scrolled, also by keyboard.
        self.push(format_args!(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table>\n<caption>{0}</caption>\n<thead><tr>",
            escaped(&table.caption)
        ));
        for (column, name) in table.head.iter().enumerate() {
            self.push(format_args!("<th scope=\"col\"{}>{}</th>", class(column), escaped(name)));
        }
        self.html += "</tr></thead>\n<tbody>\n";
        for row in table.rows.iter().take(MOST_ROWS) {
            self.html += "<tr>";
            for (column, TableCell { text, tone }) in row.iter().enumerate() {
                let text = match tone {
                    Tone::Neutral => escaped(text),
                    tone => format!("<span class=\"{}\">{}</span>", tone.class(), escaped(text)),
                };
                match column {
                    0 => self.push(format_args!("<th scope=\"row\">{text}</th>")),
                    column => self.push(format_args!("<td{}>{text}</td>", class(column))),
                }
            }
            self.html += "</tr>\n";
        }
        self.html += "</tbody>\n</table></div>\n";
        let left = table.rows.len().saturating_sub(MOST_ROWS);
        if left > 0 {
            self.push(format_args!("<p class=\"remark neutral\">and {left} more rows</p>\n"));
        }
    }

    fn plots(&mut self, figure: &Figure) {
        let link = self.figures;
        self.figures += 1;
        let columns = if figure.columns > 1 && figure.panels.len() > 1 { " side" } else { "" };
        self.push(format_args!("<div class=\"figures{columns}\">\n"));
        for panel in &figure.panels {
            let title = [&panel.title, &panel.y.label, &figure.title];
            let title = title.into_iter().find(|title| !title.is_empty()).cloned().unwrap_or_default();
            self.if_there_is_room(&title, |writer| {
                let drawn = writer.data.panel(panel, Some(link));
                writer.plot(&title, panel, &drawn, figure.panels.len());
            });
        }
        self.html += "</div>\n";
        for note in &figure.notes {
            self.push(format_args!("<p class=\"note\">{}</p>\n", escaped(note)));
        }
    }

    fn plot(&mut self, title: &str, panel: &Panel, drawn: &Drawn, among: usize) {
        let along = if panel.x.label.is_empty() { String::new() } else { format!(" over {}", panel.x.label) };
        let beside = if *title == panel.y.label || panel.y.label.is_empty() {
            String::new()
        } else {
            escaped(&panel.y.label)
        };
        let size = if among == 1 { "large" } else { "small" };
        let description = escaped(&format!("{title}{along}, {}", count(drawn.curves.len(), "curve")));
        self.push(format_args!(
            "<figure>\n<figcaption>{} <small>{beside}</small></figcaption>\n",
            escaped(title)
        ));
        self.frame(&drawn.id, size, &description);
        if !drawn.curves.is_empty() {
            self.html += "<details class=\"values\"><summary>Values</summary>\n";
            let table = Table::new(
                format!("{title}: extremes and last values"),
                ["curve", "least", "greatest", "last"],
            );
            let row = |curve: &super::data::Extent| {
                let numbers =
                    [curve.least, curve.greatest, curve.last].map(|value| four_digits(value).into());
                std::iter::once(TableCell::from(curve.name.as_str())).chain(numbers).collect()
            };
            self.table(&table.rows(drawn.curves.iter().map(row)));
            self.html += "</details>\n";
        }
        if drawn.is_thinned {
            self.html += "<p class=\"note\">Of the points in one column of pixels, the first, least, greatest and last are shown.</p>\n";
        }
        self.html += "</figure>\n";
    }

    /// Where the script draws a plot, and the buttons that zoom it.
    fn frame(&mut self, id: &str, size: &str, description: &str) {
        self.push(format_args!(
            "<div class=\"tools\" role=\"group\" aria-label=\"Zoom\" hidden>\
             <button type=\"button\" data-zoom=\"in\" aria-label=\"Zoom in\" title=\"Zoom in (+)\">+</button>\
             <button type=\"button\" data-zoom=\"out\" aria-label=\"Zoom out\" title=\"Zoom out (-)\">\u{2212}</button>\
             <button type=\"button\" data-zoom=\"left\" aria-label=\"Move left\" title=\"Move left (arrow)\">\u{2190}</button>\
             <button type=\"button\" data-zoom=\"right\" aria-label=\"Move right\" title=\"Move right (arrow)\">\u{2192}</button>\
             <button type=\"button\" data-zoom=\"all\" title=\"Show all (0)\">all</button></div>\n\
             <div class=\"legend\" role=\"group\" aria-label=\"Curves\"></div>\n\
             <div class=\"plot {size}\" id=\"{id}\" role=\"group\" aria-roledescription=\"plot\" aria-label=\"{description}\" tabindex=\"0\">\
             <noscript>Plots need JavaScript; their values are in the tables.</noscript></div>\n"
        ));
    }

    fn heat(&mut self, map: &HeatMap) {
        let title = escaped(&map.title);
        let id = self.data.heat(map);
        let finite = || map.layers.iter().flatten().copied().filter(|value| value.is_finite());
        let (least, most) =
            (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
        let range = match &map.colours {
            HeatColours::Classes(classes) => {
                let is_there = |class: &usize| finite().any(|value| value == *class as f64);
                let names = (0..classes.len()).filter(is_there).map(|class| classes[class].0.as_str());
                format!(": {}", names.collect::<Vec<_>>().join(", "))
            }
            _ if least <= most => format!(", from {} to {}", four_digits(least), four_digits(most)),
            _ => String::new(),
        };
        let axes: Vec<&str> =
            [&map.x, &map.y].iter().map(|axis| axis.label.as_str()).filter(|l| !l.is_empty()).collect();
        let over = if axes.is_empty() { String::new() } else { format!(" over {}", axes.join(" and ")) };
        let what = if map.label.is_empty() { &map.title } else { &map.label };
        let description = escaped(&format!("{what}{over}{range}"));
        self.push(format_args!(
            "<figure>\n<figcaption>{title} <small>{} <span class=\"chosen\"></span></small></figcaption>\n",
            escaped(&map.label)
        ));
        self.frame(&id, "large", &description);
        self.push(format_args!("<p class=\"note\">{description}</p>\n</figure>\n"));
    }

    fn diagram(&mut self, diagram: &Diagram, description: &str) {
        self.svg(&diagram.to_svg(), &diagram.title, description);
    }

    fn svg(&mut self, svg: &str, title: &str, description: &str) {
        let note = if description.is_empty() {
            String::new()
        } else {
            format!("<figcaption class=\"note\">{}</figcaption>\n", escaped(description))
        };
        self.push(format_args!("<figure class=\"picture\"><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">{svg}</div>\n{note}</figure>\n", escaped(title)));
    }

    /// Lists of which one entry is shown at a time: those that maps of a section depend on.
    fn choices(&mut self, section: &Section) {
        let uses = |choice: usize| {
            let mut content = section.content.iter();
            content.any(|content| matches!(content, Content::Heat(map) if map.chosen_by.contains(&choice)))
        };
        self.html += "<fieldset class=\"picker lists\"><legend>Shown in the maps</legend>\n";
        for (k, choice) in self.page.choices.iter().enumerate().filter(|(k, _)| uses(*k)) {
            self.push(format_args!(
                "<label>{} <select data-choice=\"{k}\" autocomplete=\"off\">\n",
                escaped(&choice.label)
            ));
            for (entry, name) in choice.names.iter().enumerate() {
                let selected = if entry == choice.first { " selected" } else { "" };
                self.push(format_args!("<option{selected}>{}</option>\n", escaped(name)));
            }
            self.html += "</select></label>\n";
        }
        self.html += "</fieldset>\n";
    }

    fn switches(&mut self, picker: &Picker) {
        self.push(format_args!("<fieldset class=\"picker\"><legend>{}</legend>\n", escaped(&picker.label)));
        for (k, (name, is_shown)) in picker.curves.iter().enumerate() {
            let checked = if *is_shown { " checked" } else { "" };
            self.push(format_args!(
                "<label><input type=\"checkbox\" data-curve=\"{k}\"{checked}> <span class=\"swatch\"></span>{}</label>\n",
                escaped(name)
            ));
        }
        self.html += "<span class=\"both\"><button type=\"button\" data-pick=\"all\">all</button> <button type=\"button\" data-pick=\"none\">none</button></span></fieldset>\n";
    }
}

fn begins_with_number(text: &str) -> bool {
    let text = text.trim_start_matches(['-', '+', '\u{2212}', '<', '>', '~']).trim_start();
    text.is_empty() || text.starts_with(|c: char| c.is_ascii_digit())
}

fn count(number: usize, word: &str) -> String {
    format!("{number} {word}{}", if number == 1 { "" } else { "s" })
}
