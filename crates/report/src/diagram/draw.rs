//! A diagram as SVG.

use super::layout::{Frame, NAME_SIZE, PIN_SIZE, Plan, SMALL};
use super::{Block, Diagram, PinSource, Role, Wire};
use crate::palette::{FRAME, GRID, INK, SOFT_INK};
use crate::svg::{Anchor, Font, Svg, text_width};

const PAPER: &str = "#f7f9fb";
const EXTERNAL: &str = "#e69f00";
/// Direct feedthrough: there may be much of it.
const FAINT: &str = "#a8a8a8";
/// Points of a curve.
const SMOOTH: usize = 24;
const LEGEND: f64 = 34.0;

fn font(size: f64, bold: bool, colour: &'static str) -> Font {
    Font { size, bold, colour }
}

impl Role {
    fn colour(self) -> &'static str {
        match self {
            Self::Chain => "#666666",
            Self::Loop => "#0072b2",
            Self::DirectLoop => "#d55e00",
        }
    }
}

pub(super) fn draw(diagram: &Diagram, plan: &Plan) -> String {
    let width = plan.width.max(40.0 + text_width(&diagram.title, 1.3 * NAME_SIZE)).max(legend_width(diagram));
    let mut svg = Svg::new(width, plan.height + LEGEND, &diagram.title);
    svg.text((28.0, 30.0), Anchor::Start, font(1.2 * NAME_SIZE, true, INK), &diagram.title);
    // Blocks first: what runs behind others is still seen.
    for (block, frame) in diagram.blocks.iter().zip(&plan.frames) {
        draw_block(&mut svg, block, frame);
    }
    // Those that matter most on top.
    for role in [Role::Chain, Role::Loop, Role::DirectLoop] {
        for (wire, path) in diagram.wires.iter().zip(&plan.paths).filter(|(wire, _)| wire.role == role) {
            draw_wire(&mut svg, wire, path);
        }
    }
    draw_legend(&mut svg, diagram, plan.height + LEGEND / 2.0);
    svg.finish()
}

fn draw_block(svg: &mut Svg, block: &Block, frame: &Frame) {
    let Frame { x, y, width, height } = *frame;
    svg.rect((x, y), (width, height), FRAME);
    svg.rect((x + 1.0, y + 1.0), (width - 2.0, height - 2.0), PAPER);
    let middle = x + width / 2.0;
    svg.text((middle, y + 8.0 + NAME_SIZE), Anchor::Middle, font(NAME_SIZE, true, INK), &block.name);
    let below = y + 13.0 + NAME_SIZE + SMALL;
    svg.text((middle, below), Anchor::Middle, font(SMALL, false, SOFT_INK), &block.kind);
    svg.line((x + 1.0, below + 6.0), (x + width - 1.0, below + 6.0), GRID, 1.0, "");
    for (input, output) in &block.feedthrough {
        let label = |pin: &super::Pin| text_width(&pin.label, PIN_SIZE) + 16.0;
        let from = (x + label(&block.inputs[*input]), frame.row(*input));
        let to = (x + width - label(&block.outputs[*output]), frame.row(*output));
        svg.line(from, to, FAINT, 0.7, "3 3");
    }
    for (row, pin) in block.inputs.iter().enumerate() {
        let at = frame.row(row);
        svg.text((x + 10.0, at + 4.0), Anchor::Start, font(PIN_SIZE, false, INK), &pin.label);
        match pin.source {
            PinSource::Wire => {}
            PinSource::External => svg.dot((x, at), 4.0, EXTERNAL),
            PinSource::Open => svg.ring((x, at), 3.5, (SOFT_INK, PAPER)),
        }
    }
    for (row, pin) in block.outputs.iter().enumerate() {
        let place = (x + width - 10.0, frame.row(row) + 4.0);
        svg.text(place, Anchor::End, font(PIN_SIZE, false, INK), &pin.label);
    }
    svg.text((middle, y + height - 6.0), Anchor::Middle, font(SMALL, false, SOFT_INK), &block.rest);
}

fn draw_wire(svg: &mut Svg, wire: &Wire, path: &[(f64, f64)]) {
    let colour = wire.role.colour();
    let width = if wire.bond { 2.8 } else { 1.4 };
    let points = match path {
        [from, to] => curve(*from, *to),
        corners => corners.to_vec(),
    };
    svg.curve(&points, colour, width, "", &wire.label);
    if let Some((x, y)) = path.last() {
        svg.polygon([(*x, *y), (x - 7.0, y - 3.5), (x - 7.0, y + 3.5)].into_iter(), colour);
    }
}

/// A cubic curve that leaves and arrives horizontally.
fn curve(from: (f64, f64), to: (f64, f64)) -> Vec<(f64, f64)> {
    let reach = (to.0 - from.0) / 2.0;
    let point = |k: usize| {
        let s = k as f64 / SMOOTH as f64;
        let r = 1.0 - s;
        let [a, b, c, d] = [r * r * r, 3.0 * r * r * s, 3.0 * r * s * s, s * s * s];
        let x = a * from.0 + b * (from.0 + reach) + c * (to.0 - reach) + d * to.0;
        (x, (a + b) * from.1 + (c + d) * to.1)
    };
    (0..=SMOOTH).map(point).collect()
}

/// What an entry of the legend shows.
enum Sign {
    Line(&'static str, f64, &'static str),
    Dot(&'static str),
    Ring(&'static str),
}

/// What the picture has, and what it means.
fn entries(diagram: &Diagram) -> Vec<(Sign, &'static str)> {
    let has = |role: Role| diagram.wires.iter().any(|wire| wire.role == role);
    let driven =
        |source| diagram.blocks.iter().flat_map(|block| &block.inputs).any(|pin| pin.source == source);
    let all = [
        (has(Role::Chain), Sign::Line(Role::Chain.colour(), 1.4, ""), "connection"),
        (has(Role::Loop), Sign::Line(Role::Loop.colour(), 1.4, ""), "in a loop"),
        (
            has(Role::DirectLoop),
            Sign::Line(Role::DirectLoop.colour(), 1.4, ""),
            "in a loop with direct feedthrough throughout",
        ),
        (diagram.wires.iter().any(|wire| wire.bond), Sign::Line(SOFT_INK, 2.8, ""), "power bond"),
        (
            diagram.blocks.iter().any(|block| !block.feedthrough.is_empty()),
            Sign::Line(FAINT, 0.8, "3 3"),
            "direct feedthrough",
        ),
        (driven(PinSource::External), Sign::Dot(EXTERNAL), "external input"),
        (driven(PinSource::Open), Sign::Ring(SOFT_INK), "input without a source"),
    ];
    all.into_iter().filter(|(has, ..)| *has).map(|(_, sign, text)| (sign, text)).collect()
}

fn entry_width(text: &str) -> f64 {
    34.0 + text_width(text, PIN_SIZE) + 16.0
}

fn legend_width(diagram: &Diagram) -> f64 {
    56.0 + entries(diagram).iter().map(|(_, text)| entry_width(text)).sum::<f64>()
}

fn draw_legend(svg: &mut Svg, diagram: &Diagram, y: f64) {
    let mut x = 28.0;
    for (sign, text) in entries(diagram) {
        match sign {
            Sign::Line(colour, width, dash) => svg.line((x, y), (x + 26.0, y), colour, width, dash),
            Sign::Dot(colour) => svg.dot((x + 13.0, y), 4.0, colour),
            Sign::Ring(colour) => svg.ring((x + 13.0, y), 3.5, (colour, PAPER)),
        }
        svg.text((x + 34.0, y + 4.0), Anchor::Start, font(PIN_SIZE, false, SOFT_INK), text);
        x += entry_width(text);
    }
}
