//! The page of a map: verdict, error and spectral radius over parameters and steps, method by method.

use costep_core::quantity::format_time;
use costep_project::{Axis as Varying, Varied, level_text};
use costep_report::{
    Axis, Colour, Figure, HeatColours, HeatMap, Look, Page, Panel, Places, Section, Series, Table, TableCell,
    Tone,
};
use serde_json::Value;

use super::how_to_reproduce;
use super::plan::{runs_section, share};
use super::shared::system_section;
use super::words::two_digits;
use crate::campaign::{Campaign, CampaignRow, MapRegion, MethodMap, VERDICTS, are_ratios_equal};
use crate::report::Verdict;

/// What the page of a map is made from.
pub struct MapPage<'a> {
    /// What was run.
    pub campaign: &'a Campaign,
    /// A row per run.
    pub rows: &'a [CampaignRow],
    /// The words that made it.
    pub command: &'a Value,
}

/// Something that is varied by numbers, in rising order.
struct Scale<'a> {
    varying: &'a Varying,
    /// Its number among all that is varied.
    factor: usize,
    /// Numbers of the levels, from the least value on.
    order: Vec<usize>,
    values: Vec<f64>,
}

impl Scale<'_> {
    fn axis(&self) -> Axis {
        let axis = match self.varying.varied {
            Varied::Step => Axis::new("macro step").unit("s"),
            _ => Axis::new(&self.varying.factor.name),
        };
        let is_log = self.values.iter().all(|value| *value > 0.0) && are_ratios_equal(&self.values);
        if is_log { axis.log() } else { axis }
    }

    fn label(&self) -> &str {
        if self.varying.varied == Varied::Step { "Macro step" } else { &self.varying.factor.name }
    }

    fn names(&self) -> Vec<String> {
        let levels = &self.varying.factor.levels;
        self.order.iter().map(|level| level_text(self.varying, &levels[*level])).collect()
    }
}

impl MapPage<'_> {
    /// The page.
    pub fn page(&self) -> Page {
        let maps = self.campaign.maps(self.rows);
        let scales = self.scales();
        let (tone, word, sentence) = verdict(&maps);
        let methods: Vec<String> = maps.iter().map(|map| map.method.clone()).collect();
        let page = Page::new(format!("Map of {}", self.campaign.system().name()))
            .subtitle(format!("{} runs: {}", self.rows.len(), methods.join(", ")))
            .footer(format!("Made by costep {}.", env!("CARGO_PKG_VERSION")))
            .verdict(tone, word, sentence)
            .choice("Method", methods.clone(), best(&maps).unwrap_or(0));
        let others = scales.get(2..).unwrap_or_default();
        let page = others
            .iter()
            .fold(page, |page, scale| page.choice(scale.label(), scale.names(), scale.values.len() / 2));
        let page = page.section(table_section(&maps)).section(self.region_section(&maps));
        let page = match &scales[..] {
            [] => page,
            [x] => page.section(self.curve_section(x, &methods)),
            [x, y, others @ ..] => page.section(self.map_section(x, y, others, methods.len())),
        };
        page.picker("Methods that are shown", methods.into_iter().map(|name| (name, true)))
            .section(runs_section(self.campaign, self.rows))
            .section(system_section(Some(self.campaign.system())))
            .section(how_to_reproduce(Some(self.campaign.system()), self.command))
    }

    /// Parameters, then the step.
    fn scales(&self) -> Vec<Scale<'_>> {
        let axes = self.campaign.plan().axes.iter().enumerate();
        let scale = |(factor, varying): (usize, &'_ Varying)| {
            let values = varying.factor.numbers().filter(|_| varying.varied != Varied::Method)?;
            let mut order: Vec<usize> = (0..values.len()).collect();
            order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
            let values = order.iter().map(|level| values[*level]).collect();
            Some((factor, order, values))
        };
        axes.filter_map(|(factor, varying)| {
            let (factor, order, values) = scale((factor, varying))?;
            Some(Scale { varying, factor, order, values })
        })
        .collect()
    }

    /// The number of the factor that is the method.
    fn method_factor(&self) -> Option<usize> {
        self.campaign.plan().axes.iter().position(|axis| axis.varied == Varied::Method)
    }

    /// The row with these levels: of the method, and of scales by their rank.
    fn row(&self, method: usize, at: &[(&Scale<'_>, usize)]) -> Option<&CampaignRow> {
        let plan = self.campaign.factorial();
        let mut place = vec![0; plan.factors().len()];
        if let Some(factor) = self.method_factor() {
            place[factor] = method;
        }
        at.iter().for_each(|(scale, rank)| place[scale.factor] = scale.order[*rank]);
        let run = plan.point(&place);
        // Rows are in the order of the plan.
        self.rows
            .get(run)
            .filter(|row| row.run == run)
            .or_else(|| self.rows.iter().find(|row| row.run == run))
    }

    fn map_section(&self, x: &Scale<'_>, y: &Scale<'_>, others: &[Scale<'_>], methods: usize) -> Section {
        let layers = |value: &dyn Fn(&CampaignRow) -> Option<f64>| {
            let mut layers = Vec::new();
            let combinations: usize = others.iter().map(|scale| scale.values.len()).product();
            for layer in 0..methods * combinations {
                let (method, mut rest) = (layer / combinations, layer % combinations);
                let mut fixed = Vec::new();
                for scale in others.iter().rev() {
                    fixed.push((scale, rest % scale.values.len()));
                    rest /= scale.values.len();
                }
                let cells = (0..y.values.len()).flat_map(|j| (0..x.values.len()).map(move |i| (i, j)));
                let cell = |(i, j): (usize, usize)| {
                    let at: Vec<_> = fixed.iter().copied().chain([(x, i), (y, j)]).collect();
                    self.row(method, &at).and_then(value).unwrap_or(f64::NAN)
                };
                layers.push(cells.map(cell).collect());
            }
            layers
        };
        let map = |title: &str, label: &str, colours: HeatColours, layers: Vec<Vec<f64>>| HeatMap {
            title: title.into(),
            x: x.axis(),
            y: y.axis(),
            columns: Places::Values(x.values.clone()),
            rows: Places::Values(y.values.clone()),
            layers,
            chosen_by: (0..=others.len()).collect(),
            label: label.into(),
            colours,
        };
        let verdicts = layers(&|row| {
            VERDICTS.iter().position(|(verdict, _)| *verdict == row.verdict).map(|class| class as f64)
        });
        let classes = VERDICTS.iter().map(|(verdict, word)| (word.to_string(), colour(*verdict))).collect();
        let section = Section::new("Maps")
            .heat_map(map("Verdict", "", HeatColours::Classes(classes), verdicts))
            .heat_map(map(
                "Error",
                "RMS error, share of the range; 1 stands for more",
                HeatColours::Log,
                layers(&|row| row.eps_mono.filter(|error| *error > 0.0).map(|error| error.min(1.0))),
            ));
        match self.rows.iter().any(|row| row.spectral_radius.is_some()) {
            true => section.heat_map(map(
                "Spectral radius of a macro step",
                "blue: perturbations decay",
                HeatColours::AroundOne,
                layers(&|row| row.spectral_radius.filter(|radius| *radius > 0.0)),
            )),
            false => section,
        }
    }

    /// Over one thing that is varied, curves say more.
    fn curve_section(&self, x: &Scale<'_>, methods: &[String]) -> Section {
        let panel = |y: Axis, title: &str, value: &dyn Fn(&CampaignRow) -> Option<f64>| {
            let empty = Panel::new(x.axis(), y).title(title).without_legend();
            methods.iter().enumerate().fold(empty, |panel, (k, name)| {
                let point = |rank: usize| {
                    (x.values[rank], self.row(k, &[(x, rank)]).and_then(value).unwrap_or(f64::NAN))
                };
                let points = (0..x.values.len()).map(point).collect();
                panel.with(Series::new(name, points).look(Look::Marked).colour(Colour::Nth(k)))
            })
        };
        let errors = panel(Axis::new("RMS error, share of the range").log(), "Error", &|row| {
            row.eps_mono.filter(|error| *error > 0.0)
        });
        let figure = Figure::new("Curves").panel(errors);
        let figure = match self.rows.iter().any(|row| row.spectral_radius.is_some()) {
            true => {
                let radius = Axis::new("spectral radius of a macro step");
                figure.panel(panel(radius, "Spectral radius", &|row| row.spectral_radius).level("", 1.0))
            }
            false => figure,
        };
        Section::new("Curves").plot(figure.columns(2))
    }

    /// The regions of the thesis: where nothing grows, and how high that goes.
    fn region_section(&self, maps: &[MethodMap]) -> Section {
        let regions: Vec<(usize, &MethodMap, &MapRegion)> =
            maps.iter().enumerate().filter_map(|(k, map)| Some((k, map, map.region.as_ref()?))).collect();
        let section = Section::new("Regions");
        let Some((_, _, first)) = regions.first() else { return section };
        let unit = if first.is_log { "decades" } else { "units" };
        let section = section.text(format!(
            "Where no amplitude grows, over {} and the macro step. An area is in ms times {unit}, of the part that is connected \
             with the smallest step [T 3.3.1].",
            first.across
        ));
        let axis = || if first.is_log { Axis::new(&first.across).log() } else { Axis::new(&first.across) };
        let columns: Vec<f64> =
            (0..first.region.columns()).map(|column| first.value(column as f64)).collect();
        let edge = |(k, map, region): &(usize, &MethodMap, &MapRegion)| {
            let height = |column: usize| {
                let rows = (0..region.region.heights().len()).rev();
                let highest = rows.filter(|row| region.region.row(*row)[column]).max();
                highest.map_or(f64::NAN, |row| region.region.heights()[row])
            };
            let points = columns.iter().enumerate().map(|(column, x)| (*x, height(column))).collect();
            Series::new(&map.method, points).look(Look::Marked).colour(Colour::Nth(*k))
        };
        let panel = Panel::new(axis(), Axis::new("macro step").unit("ms"))
            .title("Largest step of the region")
            .without_legend();
        let panel = regions.iter().map(edge).fold(panel, Panel::with);
        let section = section.plot(Figure::new("Largest step of the region").panel(panel));
        // With one parameter this is the map of verdicts again.
        let parameters = self.campaign.plan().axes.iter().filter(|axis| axis.varied == Varied::Parameter);
        if parameters.count() < 2 || regions.len() < maps.len() {
            return section;
        }
        section.heat_map(HeatMap {
            title: "Runs of a cell without growth".into(),
            x: axis(),
            y: Axis::new("macro step").unit("ms"),
            columns: Places::Values(columns),
            rows: Places::Values(first.region.heights().to_vec()),
            layers: regions.iter().map(|(_, _, region)| region.region.share().to_vec()).collect(),
            chosen_by: vec![0],
            label: "share".into(),
            colours: HeatColours::Linear,
        })
    }
}

/// The colour of a verdict.
fn colour(verdict: Verdict) -> Colour {
    match verdict {
        Verdict::Stable => Colour::Nth(2),
        Verdict::Inaccurate => Colour::Nth(4),
        Verdict::Suspect => Colour::Nth(3),
        Verdict::Unstable => Colour::Nth(1),
        Verdict::Diverged => Colour::Ink,
        Verdict::NotJudged => Colour::Nth(5),
        Verdict::Failed => Colour::Next,
    }
}

/// The method with the greatest share of stable runs; of those, with the least error.
fn best(maps: &[MethodMap]) -> Option<usize> {
    let error = |map: &MethodMap| map.median_error.unwrap_or(f64::INFINITY);
    let order = |a: &usize, b: &usize| {
        maps[*b].stable.total_cmp(&maps[*a].stable).then(error(&maps[*a]).total_cmp(&error(&maps[*b])))
    };
    (0..maps.len()).min_by(order)
}

fn verdict(maps: &[MethodMap]) -> (Tone, String, String) {
    let Some(best) = best(maps).map(|best| &maps[best]) else {
        return (Tone::Neutral, "nothing run".into(), String::new());
    };
    let error = best
        .median_error
        .map_or(String::new(), |error| format!("; the median error of these runs is {}", two_digits(error)));
    let highest = best.region.as_ref().and_then(|region| region.region.highest());
    let highest = highest.map_or(String::new(), |step| {
        format!("; its region without growth reaches a step of {}", in_ms(step))
    });
    let tone = if best.stable > 0.0 { Tone::Good } else { Tone::Bad };
    let sentence = match maps.len() {
        1 => format!(
            "{} of {} runs with {} are stable{error}{highest}.",
            share(best.stable),
            best.runs,
            best.method
        ),
        _ => format!(
            "{} is stable in most runs, {} of {}{error}{highest}.",
            best.method,
            share(best.stable),
            best.runs
        ),
    };
    (tone, format!("{} stable", share(best.stable)), sentence)
}

fn table_section(maps: &[MethodMap]) -> Section {
    let head = [
        "method",
        "stable",
        "no growth",
        "radius <= 1",
        "area",
        "area by radius",
        "largest step",
        "median error",
    ];
    let or_none = |text: Option<String>| TableCell::from(text.unwrap_or_else(|| "-".into()));
    let row = |map: &MethodMap| {
        let region = map.region.as_ref();
        vec![
            map.method.as_str().into(),
            share(map.stable).into(),
            share(map.quiet).into(),
            or_none(map.contracting.map(share)),
            or_none(region.map(|region| format!("{:.1}", region.area()))),
            or_none(region.and_then(MapRegion::area_by_radius).map(|area| format!("{area:.1}"))),
            or_none(region.and_then(|region| region.region.highest()).map(in_ms)),
            or_none(map.median_error.map(two_digits)),
        ]
    };
    let table = Table::new("What each method does over the map", head).rows(maps.iter().map(row));
    Section::new("Methods").table(table)
}

/// A step in ms, with four digits and its unit.
fn in_ms(step: f64) -> String {
    let rounded: f64 = format!("{:.3e}", 1e-3 * step).parse().unwrap_or(step);
    format_time(rounded)
}
