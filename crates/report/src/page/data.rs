//! The plots of a page as JSON, for the script of the page.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::content::{Choice, HeatColours, HeatMap, Picker, Places};
use super::numbers::Rounding;
use crate::Axis;
use crate::axis::Scale;
use crate::decimate::decimate;
use crate::palette::Colour;
use crate::panel::{Cells, Layer, Look, Panel, Series};

/// Points of all curves together.
const MOST_POINTS: usize = 160_000;
/// Points of a curve however many there are; and of one alone: about four per pixel of a wide screen.
const FEWEST_OF_A_CURVE: usize = 60;
const MOST_OF_A_CURVE: usize = 16_000;

/// The plots so far.
pub(super) struct Data {
    /// Texts of the arrays of x: curves of one run have the same.
    places: Vec<String>,
    known: HashMap<String, usize>,
    plots: Vec<String>,
    bytes: usize,
    points_of_a_curve: usize,
}

/// What is said about a plot in words.
pub(super) struct Drawn {
    pub(super) id: String,
    pub(super) curves: Vec<Extent>,
    pub(super) is_thinned: bool,
}

/// A curve in numbers.
pub(super) struct Extent {
    pub(super) name: String,
    pub(super) least: f64,
    pub(super) greatest: f64,
    pub(super) last: f64,
}

impl Data {
    /// For a page with so many curves.
    pub(super) fn new(curves: usize) -> Self {
        let points_of_a_curve = (MOST_POINTS / curves.max(1)).clamp(FEWEST_OF_A_CURVE, MOST_OF_A_CURVE);
        let (places, known) = (Vec::new(), HashMap::new());
        Self { places, known, plots: Vec::new(), bytes: 0, points_of_a_curve }
    }

    /// Whether there are plots.
    pub(super) fn is_empty(&self) -> bool {
        self.plots.is_empty()
    }

    /// How many bytes they take.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// What is there now, to come back to.
    pub(super) fn mark(&self) -> [usize; 3] {
        [self.plots.len(), self.places.len(), self.bytes]
    }

    /// Forgets what has come since.
    pub(super) fn go_back(&mut self, [plots, places, bytes]: [usize; 3]) {
        self.plots.truncate(plots);
        self.places.drain(places..).for_each(|text| {
            self.known.remove(&text);
        });
        self.bytes = bytes;
    }

    /// Adds a panel as a plot. Plots with the same `link` are zoomed together.
    pub(super) fn panel(&mut self, panel: &Panel, link: Option<usize>) -> Drawn {
        let (mut curves, mut traces, mut is_thinned, mut free) = (Vec::new(), Vec::new(), false, 0);
        for layer in &panel.layers {
            match layer {
                Layer::Series(series) => {
                    let colour = colour(series, &mut free);
                    let (text, thinned) = self.series(series, panel.x.scale, colour);
                    traces.push(text);
                    is_thinned |= thinned;
                    curves.extend((!series.name.is_empty()).then(|| extent(series)));
                }
                Layer::Cells(cells) => traces.push(self::cells(cells).to_string()),
                Layer::Level(name, y) => {
                    traces.push(json!({ "kind": "level", "name": name, "y": y }).to_string())
                }
            }
        }
        let id = self.push(
            &json!({
                "link": link,
                "x": axis(&panel.x),
                "y": axis(&panel.y),
                "legend": panel.legend,
                "equal": panel.has_equal_scales,
            }),
            &traces,
        );
        Drawn { id, curves, is_thinned }
    }

    /// Adds a heat map.
    pub(super) fn heat(&mut self, map: &HeatMap) -> String {
        let columns = match &map.columns {
            Places::Values(values) => values.len(),
            Places::Names(names) => names.len(),
        };
        let shown = |value: f64| if map.colours.is_log() { value.log10() } else { value };
        let rounding = Rounding::values(map.layers.iter().flatten().copied().map(shown));
        let row = |row: &[f64]| {
            let texts: Vec<_> = row.iter().map(|value| rounding.text(shown(*value))).collect();
            format!("[{}]", texts.join(","))
        };
        let layer = |layer: &Vec<f64>| {
            let rows: Vec<String> = layer.chunks_exact(columns.max(1)).map(row).collect();
            format!("[{}]", rows.join(","))
        };
        let layers: Vec<String> = map.layers.iter().map(layer).collect();
        let places = |places: &Places| match places {
            Places::Values(values) => json!(values),
            Places::Names(names) => json!(names),
        };
        let mut trace = json!({
            "kind": "heat",
            "x": places(&map.columns),
            "y": places(&map.rows),
            "label": map.label,
            "colours": colours(&map.colours),
            "chosen_by": map.chosen_by,
        })
        .to_string();
        trace.truncate(trace.len() - 1);
        trace += &format!(",\"layers\":[{}]}}", layers.join(","));
        let named = |places: &Places| matches!(places, Places::Names(_));
        let mut axes = [axis(&map.x), axis(&map.y)];
        (axes[0]["names"], axes[1]["names"]) = (json!(named(&map.columns)), json!(named(&map.rows)));
        self.push(&json!({ "link": null, "x": axes[0], "y": axes[1], "legend": false }), &[trace])
    }

    fn push(&mut self, plot: &Value, traces: &[String]) -> String {
        let id = format!("plot-{}", self.plots.len());
        let mut text = plot.to_string();
        text.truncate(text.len() - 1);
        text += &format!(",\"id\":{},\"traces\":[{}]}}", json!(id), traces.join(","));
        self.bytes += text.len();
        self.plots.push(text);
        id
    }

    /// A curve, and whether points were left out.
    fn series(&mut self, series: &Series, scale: Scale, colour: Option<usize>) -> (String, bool) {
        let points = thinned(&series.points, scale, self.points_of_a_curve);
        let is_thinned = points.len() < series.points.len();
        let list = |rounding: Rounding, values: &mut dyn Iterator<Item = f64>| {
            format!("[{}]", values.map(|value| rounding.text(value)).collect::<Vec<_>>().join(","))
        };
        let rounding = Rounding::places(points.iter().map(|p| p.0));
        let x = list(rounding, &mut points.iter().map(|p| p.0));
        let y = list(Rounding::values(points.iter().map(|p| p.1)), &mut points.iter().map(|p| p.1));
        let place = match self.known.get(&x) {
            Some(place) => *place,
            None => {
                self.bytes += x.len();
                self.known.insert(x.clone(), self.places.len());
                self.places.push(x);
                self.places.len() - 1
            }
        };
        let look = match series.look {
            Look::Line => "line",
            Look::Marked => "marked",
            Look::Points => "points",
            Look::Steps => "steps",
            Look::Reference => "reference",
        };
        let text = json!({ "kind": look, "name": series.name, "colour": colour, "x": place }).to_string();
        (format!("{},\"y\":{y}}}", &text[..text.len() - 1]), is_thinned)
    }

    /// All plots, the switches, the choices, and where to ask for news, safe inside of a script element.
    pub(super) fn json(&self, picker: Option<&Picker>, choices: &[Choice], live: Option<&str>) -> String {
        let picker = picker.map(|picker| json!(picker.curves));
        let choices: Vec<_> =
            choices.iter().map(|choice| json!({ "label": choice.label, "names": choice.names })).collect();
        let text = format!(
            "{{\"live\":{},\"picker\":{},\"choices\":{},\"places\":[{}],\"plots\":[{}]}}",
            json!(live),
            json!(picker),
            json!(choices),
            self.places.join(","),
            self.plots.join(",")
        );
        in_script(&text)
    }
}

/// JSON without anything that could end a script element or begin a comment in it.
pub(super) fn in_script(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => text += &format!("\\u{:04x}", u32::from(c)),
            c => text.push(c),
        }
    }
    text
}

/// Its number among the colours; nothing for the colour of text.
fn colour(series: &Series, free: &mut usize) -> Option<usize> {
    match series.colour {
        Colour::Nth(index) => Some(index),
        Colour::Next if series.look != Look::Reference => {
            *free += 1;
            Some(*free - 1)
        }
        Colour::Ink | Colour::Next => None,
    }
}

fn axis(axis: &Axis) -> Value {
    let range = axis.range.filter(|(low, high)| low.is_finite() && high.is_finite());
    json!({
        "label": axis.label,
        "log": axis.scale == Scale::Log,
        "range": range,
        "ticks": axis.ticks,
        "words": axis.names,
    })
}

/// What colours mean, with the classes where there are some: names, and numbers of colours as in `look` of the script.
fn colours(colours: &HeatColours) -> Value {
    let number = |colour: &Colour| match colour {
        Colour::Nth(number) => json!(number),
        Colour::Ink => json!("ink"),
        Colour::Next => json!("line"),
    };
    match colours {
        HeatColours::Linear => json!({ "kind": "linear" }),
        HeatColours::Log => json!({ "kind": "log" }),
        HeatColours::AroundOne => json!({ "kind": "one" }),
        HeatColours::Classes(classes) => json!({
            "kind": "classes",
            "classes": classes.iter().map(|(name, colour)| json!([name, number(colour)])).collect::<Vec<_>>(),
        }),
    }
}

fn cells(cells: &Cells) -> Value {
    let columns = cells.x.len().saturating_sub(1).max(1);
    let rows: Vec<&[f64]> = cells.fill.chunks_exact(columns).collect();
    let index = if let Colour::Nth(index) = cells.colour { index } else { 0 };
    json!({ "kind": "cells", "x": cells.x, "y": cells.y, "z": rows, "colour": index })
}

/// The points that show the same curve on linear axes with at most about so many of them: of each column of pixels the first,
/// least, greatest and last.
pub fn thinned_points(points: &[(f64, f64)], most: usize) -> Vec<(f64, f64)> {
    thinned(points, Scale::Linear, most)
}

fn thinned(points: &[(f64, f64)], scale: Scale, most: usize) -> Vec<(f64, f64)> {
    if points.len() <= most {
        return points.to_vec();
    }
    let along = |x: f64| if scale == Scale::Log { x.ln() } else { x };
    let back = |x: f64| if scale == Scale::Log { x.exp() } else { x };
    let finite = points.iter().map(|p| along(p.0)).filter(|x| x.is_finite());
    let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    // Four points of a column may stay, and steps are points twice.
    let columns = (most / 4) as f64;
    let scale = if high > low { columns / (high - low) } else { 1.0 };
    let pixels = points.iter().map(|p| (scale * (along(p.0) - low), p.1)).collect();
    decimate(pixels, columns).into_iter().map(|p| (back(low + p.0 / scale), p.1)).collect()
}

fn extent(series: &Series) -> Extent {
    let values = || series.points.iter().map(|p| p.1).filter(|y| !y.is_nan());
    let none = |value: f64, found: bool| if found { value } else { f64::NAN };
    let any = values().next().is_some();
    Extent {
        name: series.name.clone(),
        least: none(values().fold(f64::INFINITY, f64::min), any),
        greatest: none(values().fold(f64::NEG_INFINITY, f64::max), any),
        last: values().next_back().unwrap_or(f64::NAN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_curves_keep_their_spikes_and_places() {
        let mut points: Vec<_> = (0..1_000_000).map(|k| (1e-3 * f64::from(k), 0.0)).collect();
        points[412_345].1 = 5.0;
        let kept = thinned_points(&points, 2000);
        assert!(kept.len() <= 2004 && kept.len() > 500, "{}", kept.len());
        assert!(kept.iter().any(|(x, y)| (x - 412.345).abs() < 1e-9 && *y == 5.0));
        assert!(kept.is_sorted_by(|a, b| a.0 <= b.0));
    }

    #[test]
    fn curves_of_one_run_share_their_times() {
        let points = |scale: f64| (0..50).map(|k| (0.1 * f64::from(k), scale * f64::from(k))).collect();
        let panel = Panel::new(Axis::new("t"), Axis::new("y"))
            .with(Series::new("a", points(1.0)))
            .with(Series::new("b", points(2.0)));
        let mut data = Data::new(2);
        let drawn = data.panel(&panel, None);
        assert_eq!(data.places.len(), 1);
        assert_eq!(drawn.curves[1].greatest, 98.0);
        let parsed: Value = serde_json::from_str(&data.json(None, &[], None)).unwrap();
        assert_eq!(parsed["plots"][0]["traces"][1]["y"][49], 98.0);
        assert_eq!(parsed["plots"][0]["traces"][1]["x"], 0);
    }
}
