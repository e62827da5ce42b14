//! Connections between FMUs, and columns of files at their inputs.

use std::path::PathBuf;

use costep_core::{Code, PortKind};
use costep_fmu_file::{Causality, Conversion, Unit, short};
use costep_ssp::{FileSignal, Link, Severity};

use super::{Builder, Passage, Port};

impl Builder {
    /// Connects an output to an input.
    pub(crate) fn connect(&mut self, from: Port, to: Port, passage: &Passage, line: u32) {
        if [from, to].map(|end| self.described(end).causality) == [Causality::Input, Causality::Output] {
            let [input, output] = [from, to].map(|end| {
                format!("{}.{}", self.flat.components[end.0].name, short(&self.described(end).name))
            });
            let message = format!("`{input}` is an input and `{output}` an output: exchange the two ends");
            return self.error(line, message);
        }
        if !self.has_room(self.flat.links.len(), line) || !self.check_input(to, passage.sum, line) {
            return;
        }
        let (output, input) = (self.described(from).clone(), self.described(to).clone());
        if output.causality != Causality::Output {
            let (name, is) = (short(&output.name), output.causality);
            return self
                .unsupported(line, format!("`{name}` is {is} in its FMU; only outputs are connected"));
        }
        let map = match self.map_between(from, to) {
            Ok(map) => map,
            Err(why) => return self.unsupported(line, why),
        };
        self.compare_units(from, to, line);
        let kinds = [&output, &input].map(|variable| variable.kind.port_kind());
        if let [Some(PortKind::Boolean), Some(target @ (PortKind::Real | PortKind::Integer))] = kinds {
            let (name, end) = (short(&output.name), short(&input.name));
            self.warning(line, format!("`{end}` takes {target}: true of `{name}` is passed on as 1"));
        }
        let mut settings = Vec::new();
        if passage.sum {
            settings.push(("sum".to_owned(), "true".to_owned()));
        }
        if let Some(bond) = &passage.bond {
            // As a text of TOML, whatever is in it.
            let plain: String = bond.chars().filter(|c| !c.is_control()).collect();
            settings.push((
                "bond".to_owned(),
                format!("\"{}\"", plain.replace('\\', "\\\\").replace('"', "\\\"")),
            ));
        }
        self.flat.links.push(Link {
            from: (from.0, output.name),
            to: (to.0, input.name),
            factor: passage.factor,
            offset: passage.offset,
            remark: None,
            map,
            settings,
            place: self.place(line),
        });
    }

    /// Lets an input follow a column of a file. Values of integers, Booleans and enumerations stay between
    /// the rows.
    pub(crate) fn drive(
        &mut self,
        to: Port,
        (file, column): (PathBuf, &str),
        (factor, offset): (f64, f64),
        line: u32,
    ) {
        if !self.check_input(to, false, line) {
            return;
        }
        let input = self.described(to);
        let (name, hold) = (input.name.clone(), input.kind.port_kind() != Some(PortKind::Real));
        let (column, place) = (column.to_owned(), self.place(line));
        self.flat.signals.push(FileSignal { to: (to.0, name), file, column, hold, factor, offset, place });
    }

    /// Whether a variable is an input that may have one more source; noted if not.
    fn check_input(&mut self, to: Port, sum: bool, line: u32) -> bool {
        let input = self.described(to);
        let name = short(&input.name).to_string();
        if input.causality != Causality::Input {
            let is = input.causality;
            self.unsupported(line, format!("`{name}` is {is} in its FMU, and no value can be given to it"));
            return false;
        }
        match self.fed.get(&to) {
            Some((_, true)) if sum => true,
            Some((other, _)) => {
                let place = if *other > 0 { format!(" in line {other}") } else { String::new() };
                let part = short(&self.flat.components[to.0].name).to_string();
                self.note(
                    Severity::Error,
                    Code::DoubleSource,
                    line,
                    format!("`{part}.{name}` has another source{place}"),
                );
                false
            }
            None => {
                self.fed.insert(to, (line, sum));
                true
            }
        }
    }

    /// How values of one kind become those of another: integers and items of enumerations keep their
    /// numbers.
    fn map_between(&self, from: Port, to: Port) -> Result<Vec<(i64, i64)>, String> {
        let ends = [from, to].map(|port| self.described(port));
        let [Some(source), Some(target)] = ends.map(|variable| variable.kind.port_kind()) else {
            return Err(format!(
                "`{}` and `{}` are not both signals",
                short(&ends[0].name),
                short(&ends[1].name)
            ));
        };
        let is_whole = |kind| matches!(kind, PortKind::Integer | PortKind::Enumeration);
        if source.feeds(target) {
            return Ok(Vec::new());
        }
        // As the tools of these formats do it: true is 1.
        if source == PortKind::Boolean && matches!(target, PortKind::Real | PortKind::Integer) {
            return Ok(Vec::new());
        }
        if !is_whole(source) || !is_whole(target) {
            let [output, input] = ends.map(|variable| short(&variable.name));
            return Err(format!("`{input}` takes {target}, `{output}` gives {source}"));
        }
        let items = [from, to].into_iter().find_map(|(component, variable)| {
            let fmu = &self.fmus[component];
            let declared = fmu.types.get(fmu.variables()[variable].declared_type?)?;
            Some(declared.items.iter().map(|item| (item.value, item.value)).collect())
        });
        Ok(items.unwrap_or_default())
    }

    /// None of these formats converts units. Where they differ it is said.
    fn compare_units(&mut self, from: Port, to: Port, line: u32) {
        let [Some(a), Some(b)] = [from, to].map(|port| self.unit_of(port)) else { return };
        let same = Conversion::between(&a, &b, true).is_ok_and(|conversion| conversion.is_identity());
        if !same && a.name != b.name {
            let [output, input] = [from, to].map(|port| short(&self.described(port).name).to_string());
            let (a, b) = (short(&a.name).to_string(), short(&b.name).to_string());
            self.warning(
                line,
                format!("`{output}` is in {a}, `{input}` in {b}: values are passed on as they are"),
            );
        }
    }

    fn unit_of(&self, port: Port) -> Option<Unit> {
        let name = self.described(port).unit()?;
        self.fmus[port.0].unit(name).cloned()
    }
}
