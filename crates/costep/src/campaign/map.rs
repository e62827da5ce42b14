//! Maps: how much of a plan over parameters and steps each method is stable in, and the region as in [T 3.3.1].

use costep_experiments::Region;
use costep_project::Varied;

use super::{Campaign, CampaignRow};
use crate::report::Verdict;

/// What a method does over a map.
#[derive(Clone, Debug)]
pub struct MethodMap {
    /// Its name and options.
    pub method: String,
    /// Its runs.
    pub runs: usize,
    /// Share of runs that are not unstable, diverged or failed.
    pub stable: f64,
    /// Share of runs in which no amplitude grows from the first to the last fifth [T 3.3.1].
    pub quiet: f64,
    /// Share of the runs whose macro step has a spectral radius of at most one; nothing if none has a spectral radius.
    pub contracting: Option<f64>,
    /// Median error of the runs that are stable.
    pub median_error: Option<f64>,
    /// The region of runs in which nothing grows; nothing if the map has no steps, or three parameters and more.
    pub region: Option<MapRegion>,
}

/// A region over steps and one parameter, or the ratio of two.
#[derive(Clone, Debug)]
pub struct MapRegion {
    /// What its columns are: `ck`, `ck/dk`.
    pub across: String,
    /// Whether columns are on a logarithmic scale.
    pub is_log: bool,
    /// Value of the first column, and width of one: decades on a logarithmic scale.
    pub first: f64,
    /// Width of a column.
    pub width: f64,
    /// Rows are steps in ms, columns as above.
    pub region: Region,
    /// The same of the runs with a spectral radius of at most one; nothing if none has a spectral radius.
    pub by_radius: Option<Region>,
    /// Mean of the logarithm (base ten) of the error in each cell; not a number where there is none.
    pub log_errors: Vec<f64>,
}

impl MapRegion {
    /// The area in ms times decades, or times the unit of the parameter.
    pub fn area(&self) -> f64 {
        self.region.area(self.width)
    }

    /// The area of the region by the spectral radius.
    pub fn area_by_radius(&self) -> Option<f64> {
        self.by_radius.as_ref().map(|region| region.area(self.width))
    }

    /// The value in the middle of a column, or at its border for halves.
    pub fn value(&self, column: f64) -> f64 {
        if self.is_log {
            self.first * 10f64.powf(column * self.width)
        } else {
            self.first + column * self.width
        }
    }
}

/// The columns of a map.
struct Columns {
    across: String,
    is_log: bool,
    first: f64,
    width: f64,
    count: usize,
    /// Column of each combination of levels of the parameters.
    of: Vec<usize>,
}

impl Campaign {
    /// What each method does over the map.
    pub fn maps(&self, rows: &[CampaignRow]) -> Vec<MethodMap> {
        let methods = self.plan().axes.iter().position(|axis| axis.varied == Varied::Method);
        let columns = self.columns();
        let groups = methods.map_or(1, |axis| self.plan().axes[axis].factor.levels.len());
        let group = |k: usize| {
            let own: Vec<&CampaignRow> = rows
                .iter()
                .filter(|row| methods.is_none_or(|axis| self.factorial().place(row.run)[axis] == k))
                .collect();
            let method = methods.map_or_else(
                || {
                    self.plan()
                        .method
                        .clone()
                        .unwrap_or_else(|| self.system().project().groups[0].method.label())
                },
                |axis| self.plan().axes[axis].factor.levels[k].to_string(),
            );
            let share = |is: &dyn Fn(&CampaignRow) -> bool| {
                own.iter().filter(|row| is(row)).count() as f64 / own.len().max(1) as f64
            };
            let is_stable = |row: &CampaignRow| {
                !matches!(row.verdict, Verdict::Unstable | Verdict::Diverged | Verdict::Failed)
            };
            let mut errors: Vec<f64> =
                own.iter().filter(|row| is_stable(row)).filter_map(|row| row.eps_mono).collect();
            errors.sort_by(f64::total_cmp);
            MethodMap {
                method,
                runs: own.len(),
                stable: share(&is_stable),
                quiet: share(&|row| row.does_not_grow() == Some(true)),
                contracting: own
                    .iter()
                    .any(|row| row.spectral_radius.is_some())
                    .then(|| share(&|row| row.is_contracting() == Some(true))),
                median_error: errors.get(errors.len() / 2).copied(),
                region: columns.as_ref().and_then(|columns| self.region(columns, &own)),
            }
        };
        (0..groups).map(group).collect()
    }

    /// Which column the parameters of a point belong to: one parameter, or the ratio of two.
    fn columns(&self) -> Option<Columns> {
        let axes: Vec<_> = self.plan().axes.iter().filter(|axis| axis.varied == Varied::Parameter).collect();
        let numbers: Vec<Vec<f64>> = axes.iter().map(|axis| axis.factor.numbers()).collect::<Option<_>>()?;
        let is_log = |values: &[f64]| values.iter().all(|value| *value > 0.0) && are_ratios_equal(values);
        match &numbers[..] {
            [values] => {
                let log = is_log(values);
                let at = |value: f64| if log { value.log10() } else { value };
                let width = (at(*values.last()?) - at(values[0])) / (values.len() - 1) as f64;
                Some(Columns {
                    across: axes[0].factor.name.clone(),
                    is_log: log,
                    first: values[0],
                    width,
                    count: values.len(),
                    of: (0..values.len()).collect(),
                })
            }
            [over, under] if is_log(over) && is_log(under) => {
                let log = |values: &[f64]| values.iter().map(|value| value.log10()).collect::<Vec<_>>();
                let (over, under) = (log(over), log(under));
                let width = ((over.last()? - over[0]) / (over.len() - 1) as f64).abs();
                let ratios: Vec<f64> = over.iter().flat_map(|a| under.iter().map(move |b| a - b)).collect();
                let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
                let of: Vec<usize> =
                    ratios.iter().map(|ratio| ((ratio - least) / width).round() as usize).collect();
                Some(Columns {
                    across: format!("{}/{}", axes[0].factor.name, axes[1].factor.name),
                    is_log: true,
                    first: 10f64.powf(least),
                    width,
                    count: of.iter().max()? + 1,
                    of,
                })
            }
            _ => None,
        }
    }

    fn region(&self, columns: &Columns, rows: &[&CampaignRow]) -> Option<MapRegion> {
        let steps = self.plan().axes.iter().find(|axis| axis.varied == Varied::Step)?.factor.numbers()?;
        let mut order: Vec<usize> = (0..steps.len()).collect();
        order.sort_by(|a, b| steps[*a].total_cmp(&steps[*b]));
        let heights: Vec<f64> = order.iter().map(|k| 1e3 * steps[*k]).collect();
        let mut cells = vec![Cell::default(); columns.count * steps.len()];
        for row in rows {
            let place = self.place(row.run);
            let height = order.iter().position(|k| *k == place.step)?;
            cells[height * columns.count + columns.of[place.system]].add(row);
        }
        let region = |count: fn(&Cell) -> f64| {
            Region::new(&heights, cells.iter().map(|cell| count(cell) / cell.runs.max(1.0)).collect())
        };
        let has_radius = rows.iter().any(|row| row.spectral_radius.is_some());
        Some(MapRegion {
            across: columns.across.clone(),
            is_log: columns.is_log,
            first: columns.first,
            width: columns.width,
            region: region(|cell| cell.quiet),
            by_radius: has_radius.then(|| region(|cell| cell.contracting)),
            log_errors: cells.iter().map(|cell| cell.log_errors / cell.errors).collect(),
        })
    }
}

/// What is counted in a cell of a map.
#[derive(Clone, Copy, Default)]
struct Cell {
    runs: f64,
    quiet: f64,
    contracting: f64,
    errors: f64,
    log_errors: f64,
}

impl Cell {
    fn add(&mut self, row: &CampaignRow) {
        let one = |is: Option<bool>| f64::from(u8::from(is == Some(true)));
        self.runs += 1.0;
        self.quiet += one(row.does_not_grow());
        self.contracting += one(row.is_contracting());
        if let Some(error) = row.eps_mono.filter(|error| *error > 0.0) {
            self.errors += 1.0;
            self.log_errors += error.log10();
        }
    }
}

/// Whether values are on a logarithmic scale: their ratios are equal, or about so.
pub(crate) fn are_ratios_equal(values: &[f64]) -> bool {
    const ABOUT: f64 = 0.02;
    let mut ratios = values.windows(2).map(|pair| (pair[1] / pair[0]).ln());
    let Some(first) = ratios.next() else { return false };
    ratios.all(|ratio| (ratio / first - 1.0).abs() < ABOUT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_told_apart() {
        assert!(are_ratios_equal(&[1e2, 178.0, 317.0, 564.0]) && !are_ratios_equal(&[1.0, 2.0, 3.0]));
        assert!(!are_ratios_equal(&[1.0]));
    }
}
