//! What a recording holds, sorted by what a page shows of it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use costep_core::{Error, Result, Variation};
use costep_report::page::thinned_points;
use costep_report::{SignalTraits, switches};
use costep_results::{Column, Curves, each_row};

use crate::between::SAMPLES;
use crate::folder::RECORDING;
use crate::names::Names;
use crate::recorder::{DISCRETE, OUTPUTS, recorded_outputs};
use crate::results::Results;
use crate::system::System;

/// Outputs, and columns of methods, that a page draws; the others are in the recording.
const MOST_OUTPUTS: usize = 48;
const MOST_DIAGNOSTICS: usize = 36;
const MOST_BONDS: usize = 24;
/// Inputs whose coupling errors are listed.
const MOST_INPUTS: usize = 400;

/// A signal over time.
#[derive(Clone, Debug, Default)]
pub struct Signal {
    /// Its name, `part.port`.
    pub name: String,
    /// Its unit; empty if it has none.
    pub unit: String,
    /// (time, value).
    pub points: Vec<(f64, f64)>,
    /// Whether it has nothing between two values.
    pub is_stepwise: bool,
}

impl Signal {
    /// What says which signals share a plot with it.
    pub(super) fn traits(&self) -> SignalTraits<'_> {
        SignalTraits::new(&self.name, &self.unit, self.is_stepwise, &self.points)
    }
}

/// How far an input was from what it is connected to.
#[derive(Clone, Debug)]
pub struct CouplingError {
    /// The input, `part.port`.
    pub input: String,
    /// The outputs it is connected to.
    pub outputs: Vec<String>,
    /// RMS of the difference at the ends of the macro steps, in units of the signal.
    pub rms: f64,
    /// The same as a share of the range of what it is connected to; nothing for a constant.
    pub share: Option<f64>,
}

/// The signals of a run.
#[derive(Clone, Debug, Default)]
pub struct Signals {
    /// Outputs of the parts.
    pub outputs: Vec<Signal>,
    /// How many more there are.
    pub more_outputs: usize,
    /// Energy that the parts store.
    pub energy: Option<Signal>,
    /// What the methods and integrators say of themselves.
    pub diagnostics: Vec<Signal>,
    /// Power and lost energy of power bonds.
    pub bonds: Vec<Signal>,
    /// How far inputs were from what they are connected to.
    pub coupling: Vec<CouplingError>,
    /// What the recording says of its run.
    pub metadata: BTreeMap<String, String>,
    /// Rows of the recording.
    pub rows: u64,
    /// First and last time.
    pub span: Option<(f64, f64)>,
    /// What is wrong behind the last row.
    pub damage: Option<Error>,
}

impl Signals {
    /// Those of a recording. Without its system, inputs cannot be told from columns of methods, and neither are shown.
    pub fn read(path: &Path, system: Option<&System>) -> Result<Self> {
        let mut sorted = Sorted::default();
        let curves = Curves::read(
            path,
            |columns, metadata| {
                sorted = Sorted::new(columns, metadata, system);
                Ok(sorted.all())
            },
            |_| true,
        )?;
        let summary = curves.summary();
        let mut stepwise = system.map_or_else(HashSet::new, stepwise_outputs);
        let declared = summary.metadata().get(DISCRETE).map_or("", String::as_str);
        stepwise.extend(declared.lines().map(String::from));
        let signal = |name: &String| {
            let unit = summary.columns().iter().find(|column| column.name == *name);
            Signal {
                name: name.clone(),
                unit: unit.and_then(|column| column.unit.clone()).unwrap_or_default(),
                points: curves.points(name),
                is_stepwise: stepwise.contains(name),
            }
        };
        let signals = |names: &[String]| names.iter().map(signal).collect::<Vec<_>>();
        let mut diagnostics = signals(&sorted.diagnostics);
        diagnostics.iter_mut().for_each(|signal| signal.is_stepwise = counts(&signal.points));
        Ok(Self {
            outputs: with_samples(signals(&sorted.outputs), path),
            more_outputs: sorted.more_outputs,
            energy: sorted.energy.as_ref().map(signal),
            diagnostics,
            bonds: signals(&sorted.bonds),
            coupling: system.map_or_else(|| Ok(Vec::new()), |system| coupling_errors(path, system))?,
            metadata: summary.metadata().clone(),
            rows: summary.rows(),
            span: summary.span(),
            damage: summary.damage().cloned(),
        })
    }

    /// The first few outputs of a recording, with as many points as a plot among many needs.
    pub fn read_outputs(path: &Path, most: usize) -> Result<Self> {
        const POINTS: usize = 4000;
        let mut sorted = Sorted::default();
        let choose = |columns: &[Column], metadata: &BTreeMap<String, String>| {
            sorted = Sorted::new(columns, metadata, None);
            sorted.more_outputs += sorted.outputs.len().saturating_sub(most);
            sorted.outputs.truncate(most);
            Ok(sorted.outputs.clone())
        };
        let curves = Curves::read(path, choose, |_| true)?;
        let columns = curves.summary().columns();
        let unit = |name: &String| {
            columns.iter().find(|column| column.name == *name).and_then(|column| column.unit.clone())
        };
        let signal = |name: &String| Signal {
            name: name.clone(),
            unit: unit(name).unwrap_or_default(),
            points: thinned_points(&curves.points(name), POINTS),
            is_stepwise: false,
        };
        let outputs = sorted.outputs.iter().map(signal).collect();
        let rows = curves.summary().rows();
        Ok(Self {
            outputs,
            more_outputs: sorted.more_outputs,
            rows,
            span: curves.summary().span(),
            ..Self::default()
        })
    }

    /// The outputs that a run has kept in memory.
    pub fn of_results(results: &Results, system: &System) -> Result<Self> {
        let columns = results.names().iter().map(|name| {
            let values = results.output(name)?;
            Ok((name.clone(), results.times().iter().copied().zip(values).collect()))
        });
        let mut signals = Self::of_points(columns.collect::<Result<Vec<_>>>()?, system);
        let energy =
            results.times().iter().copied().zip(results.energy().iter().copied()).collect::<Vec<_>>();
        signals.energy = (!energy.is_empty()).then(|| Signal {
            name: "energy".into(),
            unit: "J".into(),
            points: energy,
            is_stepwise: false,
        });
        Ok(signals)
    }

    /// Outputs of a system by their names.
    pub fn of_points(outputs: Vec<(String, Vec<(f64, f64)>)>, system: &System) -> Self {
        let (units, stepwise) = (units(system), stepwise_outputs(system));
        let rows = outputs.first().map_or(0, |(_, points)| points.len());
        let ends = outputs.first().and_then(|(_, points)| Some((points.first()?.0, points.last()?.0)));
        let more_outputs = outputs.len().saturating_sub(MOST_OUTPUTS);
        let signal = |(name, points): (String, Vec<(f64, f64)>)| Signal {
            unit: units.get(&name).cloned().unwrap_or_default(),
            is_stepwise: stepwise.contains(&name),
            name,
            points,
        };
        let outputs = outputs.into_iter().take(MOST_OUTPUTS).map(signal).collect();
        Self { outputs, more_outputs, rows: rows as u64, span: ends, ..Self::default() }
    }
}

/// Adds what the parts have told of the time between the rows. A page without it is right as well: then what switches
/// between a few values is taken for a relay.
fn with_samples(mut outputs: Vec<Signal>, recording: &Path) -> Vec<Signal> {
    let samples = recording.with_file_name(SAMPLES);
    if recording.file_name().is_none_or(|name| name != RECORDING) || !samples.exists() {
        outputs.iter_mut().for_each(|signal| signal.is_stepwise |= switches(&signal.points));
        return outputs;
    }
    let smooth: Vec<String> =
        outputs.iter().filter(|signal| !signal.is_stepwise).map(|signal| signal.name.clone()).collect();
    let choose = |columns: &[Column], _: &BTreeMap<String, String>| {
        let is_there = |name: &&String| columns.iter().any(|column| column.name == **name);
        Ok(smooth.iter().filter(is_there).cloned().collect())
    };
    let Ok(between) = Curves::read(&samples, choose, |_| true) else { return outputs };
    for signal in outputs.iter_mut().filter(|signal| smooth.contains(&signal.name)) {
        signal.points.extend(between.points(&signal.name).into_iter().filter(|(_, y)| y.is_finite()));
        signal.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    outputs
}

/// Names of columns by what they are.
#[derive(Default)]
struct Sorted {
    outputs: Vec<String>,
    more_outputs: usize,
    energy: Option<String>,
    diagnostics: Vec<String>,
    bonds: Vec<String>,
}

impl Sorted {
    fn new(columns: &[Column], metadata: &BTreeMap<String, String>, system: Option<&System>) -> Self {
        let mut outputs = recorded_outputs(columns, metadata.get(OUTPUTS).map_or("", String::as_str));
        let behind = columns.iter().skip(1 + outputs.len()).map(|column| column.name.clone());
        let inputs: HashSet<String> = system.into_iter().flat_map(System::inputs).collect();
        let mut sorted = Self::default();
        for name in behind.filter(|name| !inputs.contains(name)) {
            let is_bond = name.starts_with("bond.")
                && [".power", ".energy_error"].iter().any(|end| name.ends_with(end));
            match (name.as_str(), is_bond) {
                ("energy", _) => sorted.energy = Some(name),
                (_, true) => sorted.bonds.push(name),
                _ if system.is_some() => sorted.diagnostics.push(name),
                _ => {}
            }
        }
        sorted.more_outputs = outputs.len().saturating_sub(MOST_OUTPUTS);
        outputs.truncate(MOST_OUTPUTS);
        sorted.diagnostics.truncate(MOST_DIAGNOSTICS);
        sorted.bonds.truncate(MOST_BONDS);
        Self { outputs, ..sorted }
    }

    fn all(&self) -> Vec<String> {
        let all = self.outputs.iter().chain(&self.energy).chain(&self.diagnostics).chain(&self.bonds);
        all.cloned().collect()
    }
}

/// Whether values are counts: they are not connected by lines.
fn counts(points: &[(f64, f64)]) -> bool {
    points.iter().all(|(_, y)| !y.is_finite() || (y.fract() == 0.0 && y.abs() < 1e6))
}

fn stepwise_outputs(system: &System) -> HashSet<String> {
    ports(system)
        .filter(|(_, port)| !port.is_real() || port.variation == Variation::Discrete)
        .map(|(name, _)| name)
        .collect()
}

fn units(system: &System) -> HashMap<String, String> {
    ports(system).filter_map(|(name, port)| Some((name, port.unit.clone()?))).collect()
}

/// All outputs with their names.
fn ports(system: &System) -> impl Iterator<Item = (String, &costep_core::Port)> {
    system.project().model.parts.iter().flat_map(|part| {
        let description = part.description();
        description.outputs.iter().map(move |port| (format!("{}.{}", description.name, port.name), port))
    })
}

/// What an input is connected to, and what has been seen of both.
#[derive(Default)]
struct Watched {
    /// (column of an output, gain).
    terms: Vec<(usize, f64)>,
    offset: f64,
    squares: f64,
    rows: u64,
    low: Option<f64>,
    high: Option<f64>,
}

impl Watched {
    fn look(&mut self, input: f64, outputs: &[f64]) {
        let value =
            self.offset + self.terms.iter().map(|(column, gain)| gain * outputs[*column]).sum::<f64>();
        let difference = input - value;
        if !difference.is_finite() {
            return;
        }
        self.squares += difference * difference;
        self.rows += 1;
        self.low = Some(self.low.map_or(value, |low| low.min(value)));
        self.high = Some(self.high.map_or(value, |high| high.max(value)));
    }
}

/// How far inputs were from what they are connected to at the ends of steps.
fn coupling_errors(path: &Path, system: &System) -> Result<Vec<CouplingError>> {
    let (project, names) =
        (system.project(), Names::new(system.project().model.parts.iter().map(|part| part.description())));
    let mut watched: BTreeMap<usize, Watched> = BTreeMap::new();
    let (mut columns, mut places) = (Vec::new(), HashMap::new());
    for (k, connection) in project.model.connections.iter().enumerate() {
        if project.maps.get(k).is_some_and(|map| !map.is_empty()) {
            continue;
        }
        let place = *places.entry(connection.output).or_insert_with(|| {
            columns.push(names.outputs[connection.output].clone());
            columns.len() - 1
        });
        let watched = watched.entry(connection.input).or_default();
        watched.terms.push((place, connection.gain));
        watched.offset += project.offsets.get(k).copied().unwrap_or(0.0);
    }
    let mut watched: Vec<(usize, Watched)> = watched.into_iter().take(MOST_INPUTS).collect();
    let outputs = columns.len();
    columns.extend(watched.iter().map(|(input, _)| names.inputs[*input].clone()));
    each_row(path, &columns, |row| {
        let (y, u) = row.split_at(outputs);
        watched.iter_mut().zip(u).for_each(|((_, watched), u)| watched.look(*u, y));
    })?;
    let error = |(input, seen): (usize, Watched)| {
        let rms = (seen.squares / seen.rows as f64).sqrt();
        let range = seen.high? - seen.low?;
        Some(CouplingError {
            input: names.inputs[input].clone(),
            outputs: seen.terms.iter().map(|(column, _)| columns[*column].clone()).collect(),
            rms,
            share: (range > 0.0).then(|| rms / range),
        })
    };
    Ok(watched.into_iter().filter_map(error).collect())
}
