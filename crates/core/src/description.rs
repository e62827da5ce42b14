//! What a subsystem looks like from outside, and where its signals stand in the stacked vectors.

use crate::input_list::InputList;
use std::ops::Range;

use crate::StepLengths;

/// What the values of a port are. All of them are exchanged as Float64 values, without loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PortKind {
    /// Real numbers.
    #[default]
    Real,
    /// Integers.
    Integer,
    /// Booleans, 0 and 1.
    Boolean,
    /// Items of an enumeration, by their number.
    Enumeration,
    /// Texts, by numbers that stand for them. They are exchanged, and not recorded.
    Text,
    /// Bytes, by numbers that stand for them. They are exchanged, and not recorded.
    Bytes,
}

impl PortKind {
    /// Whether its values mean something as numbers.
    pub fn is_number(self) -> bool {
        !matches!(self, Self::Text | Self::Bytes)
    }

    /// Whether an output of this kind may feed an input of another: integers are real numbers too; nothing is
    /// rounded, and Booleans and items of enumerations are not numbers.
    pub fn feeds(self, input: Self) -> bool {
        self == input || (self, input) == (Self::Integer, Self::Real)
    }
}

impl std::fmt::Display for PortKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Real => "real numbers",
            Self::Integer => "integers",
            Self::Boolean => "Boolean values",
            Self::Enumeration => "items of an enumeration",
            Self::Text => "strings",
            Self::Bytes => "binary values",
        })
    }
}

/// How a signal changes over time, and with that who forms it as an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variation {
    /// Coupling methods form it. As an input it follows polynomials of the order that its subsystem takes.
    #[default]
    Continuous,
    /// Coupling methods form it, with one value per step: what they give is applied by its mean over the
    /// step.
    Stepwise,
    /// There is nothing between two values. As an input it keeps its last value over a step, whatever the
    /// coupling method, and so does every input that it feeds.
    Discrete,
}

/// An input or output of a subsystem.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Port {
    /// Name inside the subsystem, `torque`.
    pub name: String,
    /// Unit as text, `N.m`.
    pub unit: Option<String>,
    /// Typical size, for relative limits and scaling. `None` = unknown.
    pub nominal: Option<f64>,
    /// Least and greatest value that it can have, as its maker declares them.
    pub limits: Option<[f64; 2]>,
    /// Its value before anything is known, where that is stated: for loops that are solved for it.
    pub start: Option<f64>,
    /// What its values are.
    pub kind: PortKind,
    /// How its values change over time.
    pub variation: Variation,
}

impl Port {
    /// A port with a unit and a typical size.
    pub fn new(name: &str, unit: &str, nominal: f64) -> Self {
        Self { name: name.into(), unit: Some(unit.into()), nominal: Some(nominal), ..Self::default() }
    }

    /// Whether its values are real numbers: what errors are measured of, and what linear models explain.
    pub fn is_real(&self) -> bool {
        self.kind == PortKind::Real
    }
}

/// Typical size and bounds of a port, where somebody knows them better than its maker. What is `None` stays as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PortSize {
    /// Name of the port inside the subsystem.
    pub port: String,
    /// Its typical size.
    pub nominal: Option<f64>,
    /// Least value that it can have.
    pub min: Option<f64>,
    /// Greatest value that it can have.
    pub max: Option<f64>,
}

impl PortSize {
    /// Changes the ports that are named.
    pub fn apply(sizes: &[Self], ports: &mut [Port]) {
        for size in sizes {
            for port in ports.iter_mut().filter(|port| port.name == size.port) {
                port.nominal = size.nominal.or(port.nominal);
                port.limits = size.limits(port);
            }
        }
    }

    /// The bounds of a port with these in the place of its own; none if they leave nothing or everything.
    pub fn limits(&self, port: &Port) -> Option<[f64; 2]> {
        let [low, high] = port.limits.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        let limits = [self.min.unwrap_or(low), self.max.unwrap_or(high)];
        (limits[0] < limits[1] && limits.iter().any(|limit| limit.is_finite())).then_some(limits)
    }
}

/// At which end of its inner steps a subsystem takes the samples that stand for its outputs inside a macro
/// step, when a method needs one value per inner step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MicroSampling {
    /// At the start of each inner step, as an explicit inner solver sees its own outputs.
    Start,
    /// After each inner step, as FMI 3 intermediate update reports them.
    End,
    /// Anywhere on a solution that is right at every point: no sample stands for more than itself.
    Continuous,
}

/// What a subsystem tells of its linearisation at the present point, each level with all below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Linearisation {
    /// Nothing.
    #[default]
    None,
    /// D: how its outputs follow its inputs at once.
    Feedthrough,
    /// A, B, C, D.
    Full,
}

/// A subsystem as the others see it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Description {
    /// Name of the instance, `engine`.
    pub name: String,
    /// Its inputs, in the order of the input vector.
    pub inputs: Vec<Port>,
    /// Its outputs, in the order of the output vector.
    pub outputs: Vec<Port>,
    /// Direct feedthrough: for each output the inputs it depends on without delay.
    pub feedthrough: Vec<InputList>,
    /// Some outputs do not say which inputs they depend on: `feedthrough` then has all, and may have too many.
    pub assumes_feedthrough: bool,
    /// Highest order of an input polynomial it takes; 0 = held inputs only. See
    /// [`Description::order_of_input`].
    pub input_order: usize,
    /// The lengths of the steps that it can do beside its macro steps.
    pub step_lengths: StepLengths,
}

impl Description {
    /// Highest order of a polynomial that this input takes.
    pub fn order_of_input(&self, input: usize) -> usize {
        if self.inputs[input].variation == Variation::Continuous { self.input_order } else { 0 }
    }

    /// The lists of inputs with direct feedthrough, those that neighbouring outputs share once.
    pub fn feedthrough_lists(&self) -> impl Iterator<Item = &InputList> {
        let lists = &self.feedthrough;
        lists
            .iter()
            .enumerate()
            .filter(|(i, list)| *i == 0 || !lists[i - 1].shares(list))
            .map(|(_, list)| list)
    }

    /// Gives ports other sizes.
    pub fn resize(&mut self, sizes: &[PortSize]) {
        PortSize::apply(sizes, &mut self.inputs);
        PortSize::apply(sizes, &mut self.outputs);
    }

    /// Whether it can do steps of this length beside its macro steps.
    pub fn can_step_by(&self, length: f64) -> bool {
        self.step_lengths.allow(length)
    }
}

/// Where the signals of each subsystem stand in the stacked vectors u and y.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    input_starts: Vec<usize>,
    output_starts: Vec<usize>,
}

impl Layout {
    /// The layout of subsystems with these numbers of (inputs, outputs).
    pub fn new(sizes: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let (mut input_starts, mut output_starts) = (vec![0], vec![0]);
        for (inputs, outputs) in sizes {
            input_starts.push(input_starts[input_starts.len() - 1] + inputs);
            output_starts.push(output_starts[output_starts.len() - 1] + outputs);
        }
        Self { input_starts, output_starts }
    }

    /// The layout of subsystems with these descriptions.
    pub fn of(descriptions: &[Description]) -> Self {
        Self::new(descriptions.iter().map(|d| (d.inputs.len(), d.outputs.len())))
    }

    /// Number of subsystems.
    pub fn subsystems(&self) -> usize {
        self.input_starts.len() - 1
    }

    /// Number of inputs of all subsystems.
    pub fn inputs(&self) -> usize {
        self.input_starts[self.subsystems()]
    }

    /// Number of outputs of all subsystems.
    pub fn outputs(&self) -> usize {
        self.output_starts[self.subsystems()]
    }

    /// The inputs of one subsystem.
    #[inline]
    pub fn input_range(&self, subsystem: usize) -> Range<usize> {
        self.input_starts[subsystem]..self.input_starts[subsystem + 1]
    }

    /// The outputs of one subsystem.
    #[inline]
    pub fn output_range(&self, subsystem: usize) -> Range<usize> {
        self.output_starts[subsystem]..self.output_starts[subsystem + 1]
    }

    /// Which subsystem an input belongs to.
    pub fn input_owner(&self, input: usize) -> usize {
        self.input_starts.partition_point(|start| *start <= input) - 1
    }

    /// Which subsystem an output belongs to.
    pub fn output_owner(&self, output: usize) -> usize {
        self.output_starts.partition_point(|start| *start <= output) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_replace_what_they_name_and_nothing_else() {
        let limits = Some([0.0, 4.0]);
        let mut ports = [
            Port { limits, ..Port::new("flow", "m3/s", 1.0) },
            Port { name: "level".into(), ..Port::default() },
        ];
        let size = |port: &str, max: Option<f64>| PortSize { port: port.into(), max, ..PortSize::default() };
        let sizes = [
            PortSize { nominal: Some(10.0), ..size("flow", Some(8.0)) },
            PortSize { min: Some(-1.0), ..size("level", None) },
        ];
        PortSize::apply(&sizes, &mut ports);
        assert_eq!((ports[0].nominal, ports[0].limits), (Some(10.0), Some([0.0, 8.0])));
        assert_eq!((ports[1].nominal, ports[1].limits), (None, Some([-1.0, f64::INFINITY])));
        PortSize::apply(&[size("flow", Some(-2.0))], &mut ports);
        assert_eq!(ports[0].limits, None, "nothing is left between them");
    }

    #[test]
    fn signals_find_their_owner_past_subsystems_without_any() {
        let layout = Layout::new([(2, 1), (0, 0), (0, 3), (1, 0)]);
        assert_eq!((layout.subsystems(), layout.inputs(), layout.outputs()), (4, 3, 4));
        assert_eq!(layout.input_range(3), 2..3);
        assert_eq!([0, 1, 2].map(|j| layout.input_owner(j)), [0, 0, 3]);
        assert_eq!([0, 1, 3].map(|i| layout.output_owner(i)), [0, 2, 2]);
    }
}
