//! Follows the graph back from every input of an FMU to the output it gets.

use costep_core::{Code, PortKind};
use costep_fmu_file::{Causality, Dimension, Variable, short};

use crate::flat::Link;
use crate::flatten::Flattener;
use crate::flatten::exchanges::Exchange;
use crate::flatten::passages::{Affine, Carried, conversion};
use crate::model::{Settings, Transformation, carries, exchanges};
use crate::note::Severity;

/// What is known about the way to each port, so that every edge is followed once.
pub(super) struct TracedPaths {
    /// The port a value starts from.
    sources: Vec<Known<usize>>,
    /// What happened to the value since.
    maps: Vec<Known<Carriage>>,
}

/// A value on its way.
#[derive(Clone)]
struct Carriage {
    map: Affine,
    /// Whether it went through a map of Booleans: only those may.
    is_boolean: bool,
    exchange: Exchange,
    unit: Carried,
    settings: Settings,
}

#[derive(Clone)]
enum Known<T> {
    NotYet,
    /// In work: who meets it again goes round.
    Begun,
    /// Not possible; noted before.
    Never,
    Yes(T),
}

impl<T: Clone> Known<T> {
    fn get(&self) -> Option<T> {
        match self {
            Self::Yes(value) => Some(value.clone()),
            _ => None,
        }
    }
}

impl TracedPaths {
    pub(super) fn new(ports: usize) -> Self {
        Self { sources: vec![Known::NotYet; ports], maps: vec![Known::NotYet; ports] }
    }
}

impl Flattener {
    /// The links of all inputs. What cannot be linked is noted.
    pub(super) fn links(&mut self, ways: &mut TracedPaths) -> Vec<Link> {
        let mut links = Vec::new();
        for port in 0..self.ports.len() {
            if self.ports[port].variable.is_some() && self.ports[port].incoming.is_some() {
                links.extend(self.link(port, ways).unwrap_or_default());
            }
        }
        links
    }

    /// The edges back to the nearest port for which something is known, and that port.
    fn way_back<T>(&self, port: usize, known: &mut [Known<T>]) -> (Vec<usize>, usize) {
        let mut way = Vec::new();
        let mut at = port;
        while matches!(known[at], Known::NotYet) {
            let Some(edge) = self.ports[at].incoming else { break };
            known[at] = Known::Begun;
            way.push(edge);
            at = self.edges[edge].from;
        }
        way.reverse();
        (way, at)
    }

    fn source(&mut self, port: usize, ways: &mut TracedPaths) -> Option<usize> {
        let (way, start) = self.way_back(port, &mut ways.sources);
        let source = match &ways.sources[start] {
            Known::NotYet => Known::Yes(start),
            Known::Begun => {
                let spot = self.ports[port].spot.clone();
                let message = format!("`{}` is fed by a cycle of connectors", short(&self.ports[port].name));
                self.error(Code::SspCycle, &spot, message);
                Known::Never
            }
            known => known.clone(),
        };
        ways.sources[start] = source.clone();
        for edge in way {
            ways.sources[self.edges[edge].to] = source.clone();
        }
        source.get()
    }

    fn link(&mut self, port: usize, ways: &mut TracedPaths) -> Option<Vec<Link>> {
        let source = self.source(port, ways)?;
        let last = self.edges[self.ports[port].incoming?].spot.clone();
        // A connector of a system that nothing is connected to: the input keeps its start value, which a
        // parameter may have set.
        let (from, from_variable) = self.ports[source].variable?;
        let (to, to_variable) = self.ports[port].variable?;
        let target_name = short(&self.ports[port].name);
        if self.ports[port].kind.is_parameter() {
            let message = format!("the parameter `{target_name}` is computed by another component");
            self.error(Code::SspUnsupported, &last, message);
            return None;
        }
        let Carriage { map, is_boolean, exchange, settings, .. } = self.carriage(port, ways)?;
        let fmus = [&self.sources[from].description, &self.sources[to].description];
        let (output, input) = (&fmus[0].variables()[from_variable], &fmus[1].variables()[to_variable]);
        let is_direct = exchange == Exchange::None
            && output.kind.port_kind() != input.kind.port_kind()
            && is_whole(output)
            && is_whole(input);
        let other = [output, input].into_iter().find(|end| end.kind.port_kind() != Some(PortKind::Boolean));
        if let Some(other) = other.filter(|_| is_boolean) {
            let name = short(&other.name);
            let message =
                format!("a map of Booleans on the way of `{name}`, which is of type {}", other.kind);
            self.error(Code::SspUnsupported, &last, message);
            return None;
        }
        if let Some(message) = refusal(output, input, exchange != Exchange::None || is_direct) {
            self.error(Code::SspUnsupported, &last, message);
            return None;
        }
        let Some((outputs, inputs)) =
            elements(output).zip(elements(input)).filter(|(a, b)| a.len() == b.len())
        else {
            let name = short(&output.name);
            let message = format!("`{name}` and `{target_name}` are arrays of different or varying shape");
            self.error(Code::SspUnsupported, &last, message);
            return None;
        };
        let [source, target] = [from, to].map(|component| &self.sources[component].description);
        let exchange = if is_direct {
            Exchange::of_items([(source, from_variable), (target, to_variable)])
        } else {
            exchange
        };
        let numbers = match exchange.numbers((source, from_variable), (target, to_variable)) {
            Ok(numbers) => numbers,
            Err(message) => {
                self.error(Code::SspReference, &last, message);
                return None;
            }
        };
        if !numbers.is_empty() && is_direct {
            let message = format!(
                "an enumeration and integers are connected at `{target_name}`: numbers stay as they are"
            );
            self.note(Severity::Warning, Code::SspSchema, &last, message);
        }
        let link = |(output, input): (String, String)| Link {
            from: (from, output),
            to: (to, input),
            factor: map.factor,
            offset: map.offset,
            remark: None,
            map: numbers.clone(),
            settings: settings.clone(),
            place: last.place(),
        };
        Some(outputs.into_iter().zip(inputs).map(link).collect())
    }

    /// All conversions and transformations on the way to a port.
    fn carriage(&mut self, port: usize, ways: &mut TracedPaths) -> Option<Carriage> {
        let (way, start) = self.way_back(port, &mut ways.maps);
        let mut known = match &ways.maps[start] {
            Known::NotYet => {
                let unit = self.ports[start].unit.clone();
                Known::Yes(Carriage {
                    map: Affine::IDENTITY,
                    is_boolean: false,
                    exchange: Exchange::None,
                    unit,
                    settings: Settings::new(),
                })
            }
            known => known.clone(),
        };
        for edge in way {
            known = match known.get().and_then(|carriage| self.carry(carriage, edge)) {
                Some(carriage) => Known::Yes(carriage),
                None => Known::Never,
            };
            ways.maps[self.edges[edge].to] = known.clone();
        }
        known.get()
    }

    fn carry(&mut self, before: Carriage, edge: usize) -> Option<Carriage> {
        let Carriage { map: carried, mut is_boolean, mut exchange, unit: carried_unit, mut settings } =
            before;
        let edge = &self.edges[edge];
        let target = &self.ports[edge.to];
        let spot = edge.spot.clone();
        let (conversion, unit) = match conversion(&edge.passage, &carried_unit, &target.unit) {
            Ok(converted) => converted,
            Err(error) => {
                self.foreign_error(&error, &spot);
                return None;
            }
        };
        let mut map = carried.then(conversion.factor, conversion.offset);
        let (before, after) = (self.ports[edge.from].signal, target.signal);
        if let (Some(before), Some(after)) = (before, after)
            && !carries(before, after)
            && !exchanges(before, after)
        {
            let message = format!(
                "`{}` is of type {after} on the way of a signal of type {before}",
                short(&target.name)
            );
            self.error(Code::SspUnsupported, &spot, message);
            return None;
        }
        match &edge.passage.transformation {
            None => {}
            Some(Transformation::Linear { factor, offset }) => map = map.then(*factor, *offset),
            Some(Transformation::Boolean(entries)) => {
                // The two values that there are lie on a line.
                let [no, yes] = [false, true].map(|value| f64::from(mapped(value, entries)));
                map = map.then(yes - no, no);
                is_boolean = true;
            }
            Some(values) => match exchange.then(values) {
                Some(both) => exchange = both,
                None => {
                    let message = "a map of numbers and one of items, one after the other, are not supported";
                    self.error(Code::SspUnsupported, &spot, message);
                    return None;
                }
            },
        }
        // A link has a factor and then a map: another order would be lost.
        if exchange != Exchange::None && map != Affine::IDENTITY {
            let message = format!(
                "`{}` is behind a map of values and a linear transformation, which cannot be combined",
                short(&target.name)
            );
            self.error(Code::SspUnsupported, &spot, message);
            return None;
        }
        settings.extend(edge.settings.iter().cloned());
        Some(Carriage { map, is_boolean, exchange, unit, settings })
    }
}

/// What a mapping makes of a value; those it does not name stay.
fn mapped(value: bool, entries: &[(bool, bool)]) -> bool {
    entries.iter().find(|(source, _)| *source == value).map_or(value, |(_, target)| *target)
}

/// Why these two cannot be coupled. Numbers and items of enumerations may become each other if they are `exchanged`.
fn refusal(output: &Variable, input: &Variable, exchanged: bool) -> Option<String> {
    let kind = |variable: &Variable| variable.kind.port_kind().filter(|_| variable.clocks.is_empty());
    for variable in [output, input] {
        if kind(variable).is_none() {
            let name = short(&variable.name);
            return Some(format!("`{name}` is of type {}, which is not a signal", variable.kind));
        }
    }
    if let Some(other) = [output, input].into_iter().find(|variable| exchanged && !is_whole(variable)) {
        let name = short(&other.name);
        return Some(format!("a mapping of values on the way of `{name}`, which is of type {}", other.kind));
    }
    if let (Some(from), Some(to)) = (kind(output), kind(input))
        && !from.feeds(to)
        && !exchanged
    {
        let (output, input) = (short(&output.name), short(&input.name));
        return Some(format!("`{input}` takes {to}, `{output}` gives {from}"));
    }
    if output.causality != Causality::Output {
        let name = short(&output.name);
        return Some(format!("`{name}` is {} in its FMU; only outputs are coupled", output.causality));
    }
    None
}

fn is_whole(variable: &Variable) -> bool {
    matches!(variable.kind.port_kind(), Some(PortKind::Integer | PortKind::Enumeration))
}

/// Names of the elements of a variable, its own if it is a scalar; none if its shape varies.
fn elements(variable: &Variable) -> Option<Vec<String>> {
    const MOST: u64 = 1 << 20;
    let mut names = vec![String::new()];
    for dimension in &variable.dimensions {
        let Dimension::Fixed(size) = dimension else { return None };
        if names.len() as u64 * size > MOST {
            return None;
        }
        let longer = |name: &String| {
            let start = if name.is_empty() { String::new() } else { format!("{name},") };
            (1..=*size).map(move |place| format!("{start}{place}")).collect::<Vec<_>>()
        };
        names = names.iter().flat_map(longer).collect();
    }
    if variable.dimensions.is_empty() {
        return Some(vec![variable.name.clone()]);
    }
    Some(names.into_iter().map(|places| format!("{}[{places}]", variable.name)).collect())
}
