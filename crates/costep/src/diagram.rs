//! A system as a block diagram.

use std::collections::HashSet;

use costep_core::{Connection, Description, Layout, Port};
use costep_project::Project;
use costep_report::{Block, Diagram, Pin, PinSource, Role, Wire};

use crate::System;

impl System {
    /// What is connected to what, with loops and direct feedthrough marked.
    ///
    /// ```
    /// let svg = costep::System::open("dual-mass")?.diagram().to_svg();
    /// assert!(svg.contains("s1") && svg.contains("in a loop"));
    /// # Ok::<(), costep::Errors>(())
    /// ```
    pub fn diagram(&self) -> Diagram {
        Drawing::new(self.project()).diagram()
    }
}

/// Pairs of direct feedthrough of a block; more are a black box.
const MOST_LINES: usize = 200;

/// What of a system is drawn.
struct Drawing<'a> {
    project: &'a Project,
    layout: Layout,
    /// Signals that are drawn, of all inputs and all outputs.
    inputs: Vec<bool>,
    outputs: Vec<bool>,
    /// Inputs that external signals drive, and those of FMUs that nothing does.
    externals: HashSet<usize>,
    open: HashSet<usize>,
}

impl<'a> Drawing<'a> {
    fn new(project: &'a Project) -> Self {
        let layout = project.model.layout();
        let (mut inputs, mut outputs) = (vec![false; layout.inputs()], vec![false; layout.outputs()]);
        for Connection { input, output, .. } in &project.model.connections {
            (inputs[*input], outputs[*output]) = (true, true);
        }
        // Those of FMUs are start values that stay and offsets of connections, unless the project gives them.
        let given: HashSet<usize> = project.given.externals.iter().map(|external| external.input).collect();
        let is_fmu = |input: usize| {
            let owner = &project.model.parts[layout.input_owner(input)].description().name;
            project.given.fmus.iter().any(|fmu| fmu.name == *owner)
        };
        let all = || project.model.externals.iter().map(|(input, _)| *input);
        let externals: HashSet<usize> =
            all().filter(|input| given.contains(input) || !is_fmu(*input)).collect();
        let open = all().filter(|input| !inputs[*input] && !externals.contains(input)).collect();
        all().for_each(|input| inputs[input] = true);
        Self { project, layout, inputs, outputs, externals, open }
    }

    fn diagram(&self) -> Diagram {
        let parts = self.project.model.parts.iter().enumerate();
        Diagram {
            title: self.project.name.clone(),
            blocks: parts.map(|(part, built)| self.block(part, built.description())).collect(),
            wires: self.wires(),
        }
    }

    fn block(&self, part: usize, description: &Description) -> Block {
        let (inputs, outputs) = (self.layout.input_range(part), self.layout.output_range(part));
        let pins = |ports: &[Port], shown: &[bool], source: &dyn Fn(usize) -> PinSource| {
            let pin = |(at, port): (usize, &Port)| Pin { label: label(port), source: source(at) };
            let shown = shown.iter().zip(ports).enumerate().filter(|(_, (shown, _))| **shown);
            shown.map(|(at, (_, port))| pin((at, port))).collect::<Vec<_>>()
        };
        let mut feedthrough = Vec::new();
        for (output, through) in description.feedthrough.iter().enumerate() {
            for input in through {
                let ends = [(inputs.start + input, &self.inputs), (outputs.start + output, &self.outputs)];
                if ends.iter().all(|(at, shown)| shown[*at]) {
                    feedthrough.push((
                        rank(&self.inputs, inputs.start, inputs.start + input),
                        rank(&self.outputs, outputs.start, outputs.start + output),
                    ));
                }
            }
        }
        let mut rest = rest(&self.inputs[inputs.clone()], &self.outputs[outputs.clone()]);
        if feedthrough.len() > MOST_LINES {
            feedthrough.clear();
            rest += if rest.is_empty() { "" } else { "; " };
            rest += "direct feedthrough not drawn";
        }
        Block {
            name: description.name.clone(),
            kind: self.kind(&description.name),
            inputs: pins(&description.inputs, &self.inputs[inputs.clone()], &|at| {
                self.source(inputs.start + at)
            }),
            outputs: pins(&description.outputs, &self.outputs[outputs.clone()], &|_| PinSource::Wire),
            feedthrough,
            rest,
        }
    }

    fn source(&self, input: usize) -> PinSource {
        match (self.externals.contains(&input), self.open.contains(&input)) {
            (true, _) => PinSource::External,
            (_, true) => PinSource::Open,
            _ => PinSource::Wire,
        }
    }

    /// What a part is: the file of an FMU, the model of a native part.
    fn kind(&self, name: &str) -> String {
        let given = &self.project.given;
        if let Some(fmu) = given.fmus.iter().find(|fmu| fmu.name == name) {
            return fmu.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        }
        if given.linears.iter().any(|linear| linear.name == name) {
            return "linear".into();
        }
        let native = given.natives.iter().find(|native| native.name == name);
        native
            .map(|native| native.model.clone())
            .or_else(|| self.project.model_id.clone())
            .unwrap_or_default()
    }

    fn wires(&self) -> Vec<Wire> {
        let model = &self.project.model;
        let mut loop_of = vec![None; model.parts.len()];
        for (number, parts) in model.loops().iter().enumerate() {
            parts.iter().for_each(|part| loop_of[*part] = Some(number));
        }
        let mut direct_of = vec![None; self.layout.outputs()];
        for (number, outputs) in model.direct_loops().iter().enumerate() {
            outputs.iter().for_each(|output| direct_of[*output] = Some(number));
        }
        let wire = |(at, connection): (usize, &Connection)| {
            let Connection { output, input, gain } = *connection;
            let (from, to) = (self.layout.output_owner(output), self.layout.input_owner(input));
            let feeds_back = direct_of[output].is_some_and(|number| {
                self.outputs_behind(to, input).any(|behind| direct_of[behind] == Some(number))
            });
            let role = match (feeds_back, loop_of[from]) {
                (true, _) => Role::DirectLoop,
                (false, Some(number)) if loop_of[to] == Some(number) => Role::Loop,
                _ => Role::Chain,
            };
            let names = [self.output_name(from, output), self.input_name(to, input)];
            let factor = if gain == 1.0 { String::new() } else { format!(" times {gain}") };
            let bond = self.project.bonds.names.get(at).cloned().flatten();
            let bonded = bond.as_ref().map_or_else(String::new, |bond| format!(", power bond {bond}"));
            Wire {
                from: (from, rank(&self.outputs, self.layout.output_range(from).start, output)),
                to: (to, rank(&self.inputs, self.layout.input_range(to).start, input)),
                role,
                bond: bond.is_some(),
                label: format!("{} to {}{factor}{bonded}", names[0], names[1]),
            }
        };
        model.connections.iter().enumerate().map(wire).collect()
    }

    /// Outputs of a part that depend on this input without delay.
    fn outputs_behind(&self, part: usize, input: usize) -> impl Iterator<Item = usize> {
        let own = input - self.layout.input_range(part).start;
        let feedthrough = &self.project.model.parts[part].description().feedthrough;
        self.layout
            .output_range(part)
            .zip(feedthrough)
            .filter(move |(_, all)| all.contains(&own))
            .map(|(at, _)| at)
    }

    fn output_name(&self, part: usize, output: usize) -> String {
        let description = self.project.model.parts[part].description();
        format!(
            "{}.{}",
            description.name,
            description.outputs[output - self.layout.output_range(part).start].name
        )
    }

    fn input_name(&self, part: usize, input: usize) -> String {
        let description = self.project.model.parts[part].description();
        format!(
            "{}.{}",
            description.name,
            description.inputs[input - self.layout.input_range(part).start].name
        )
    }
}

/// The place of a signal among those of its part that are drawn.
fn rank(shown: &[bool], start: usize, at: usize) -> usize {
    shown[start..at].iter().filter(|shown| **shown).count()
}

fn label(port: &Port) -> String {
    match &port.unit {
        Some(unit) if !unit.is_empty() && unit != "1" => format!("{} [{unit}]", port.name),
        _ => port.name.clone(),
    }
}

/// What is not drawn.
fn rest(inputs: &[bool], outputs: &[bool]) -> String {
    let hidden = |shown: &[bool], word: &str| {
        let count = shown.iter().filter(|shown| !**shown).count();
        let plural = if count == 1 { "" } else { "s" };
        (count > 0).then(|| format!("{count} {word}{plural}"))
    };
    let both: Vec<String> =
        [hidden(inputs, "input"), hidden(outputs, "output")].into_iter().flatten().collect();
    if both.is_empty() { String::new() } else { format!("{} not connected", both.join(", ")) }
}
