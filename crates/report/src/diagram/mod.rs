//! Block diagrams: what is connected to what, from left to right.

mod draw;
mod layout;

use layout::Plan;

/// A system as blocks and wires.
#[derive(Clone, Debug, Default)]
pub struct Diagram {
    /// What stands above it.
    pub title: String,
    /// Its blocks, in the order in which they are placed where nothing else decides.
    pub blocks: Vec<Block>,
    /// What connects them.
    pub wires: Vec<Wire>,
}

/// A part of a system.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Its name.
    pub name: String,
    /// What it is, in small letters below the name.
    pub kind: String,
    /// Inputs that are shown.
    pub inputs: Vec<Pin>,
    /// Outputs that are shown.
    pub outputs: Vec<Pin>,
    /// Pairs (input, output) of those shown, where the output depends on the input without delay.
    pub feedthrough: Vec<(usize, usize)>,
    /// What is not shown, in small letters at the bottom: `3 unconnected inputs`.
    pub rest: String,
}

/// An input or output of a block.
#[derive(Clone, Debug, Default)]
pub struct Pin {
    /// Name and unit.
    pub label: String,
    /// What gives an input its values.
    pub source: PinSource,
}

/// What gives an input its values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PinSource {
    /// A wire.
    #[default]
    Wire,
    /// An external signal.
    External,
    /// Nothing: it stays at its start value.
    Open,
}

/// A connection.
#[derive(Clone, Debug)]
pub struct Wire {
    /// (block, output of those shown).
    pub from: (usize, usize),
    /// (block, input of those shown).
    pub to: (usize, usize),
    /// What it is a part of.
    pub role: Role,
    /// Whether it carries power together with another.
    pub bond: bool,
    /// What shows up under the mouse.
    pub label: String,
}

/// What a wire is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A chain: nothing comes back.
    Chain,
    /// A loop of blocks, with a delay in at least one of them.
    Loop,
    /// A loop of outputs that depend on themselves without delay.
    DirectLoop,
}

impl Diagram {
    /// The picture.
    ///
    /// ```
    /// use costep_report::{Block, Diagram, Pin, Role, Wire};
    ///
    /// let pin = |label: &str| vec![Pin { label: label.into(), ..Pin::default() }];
    /// let block = |name: &str| Block { name: name.into(), inputs: pin("u"), outputs: pin("y"), ..Block::default() };
    /// let wire = |from: usize, to: usize| Wire {
    ///     from: (from, 0),
    ///     to: (to, 0),
    ///     role: Role::Loop,
    ///     bond: false,
    ///     label: String::new(),
    /// };
    /// let blocks = vec![block("engine"), block("brake")];
    /// let svg = Diagram { title: "rig".into(), blocks, wires: vec![wire(0, 1), wire(1, 0)] }.to_svg();
    /// assert!(svg.contains("engine") && svg.contains("loop"));
    /// ```
    pub fn to_svg(&self) -> String {
        draw::draw(self, &Plan::new(self))
    }
}
