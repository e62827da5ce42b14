//! Which neighbours of a stage are stepped in a row.

use std::ops::Range;

use costep_core::{Layout, Row, Subsystem};

/// Subsystems of a stage that follow each other: a row, or any number that are stepped one by one.
pub(crate) struct Lane {
    /// Their places in the stage.
    pub(crate) positions: Range<usize>,
    /// The row, if they are one; then the members and their signals follow each other too.
    pub(crate) row: Option<Box<dyn Row>>,
    pub(crate) subsystems: Range<usize>,
    pub(crate) inputs: Range<usize>,
    pub(crate) outputs: Range<usize>,
}

impl Lane {
    fn new(position: usize, i: usize, layout: &Layout) -> Self {
        Self {
            positions: position..position + 1,
            row: None,
            subsystems: i..i + 1,
            inputs: layout.input_range(i),
            outputs: layout.output_range(i),
        }
    }

    /// Whether the next subsystem becomes part of the row.
    fn takes(&mut self, i: usize, subsystem: &mut dyn Subsystem, layout: &Layout) -> bool {
        let joined = self.row.is_some() && self.subsystems.end == i && joins(subsystem, &mut self.row);
        if joined {
            self.positions.end += 1;
            self.subsystems.end += 1;
            self.inputs.end = layout.input_range(i).end;
            self.outputs.end = layout.output_range(i).end;
        }
        joined
    }
}

/// The lanes of a stage. Only subsystems that are `free` for it join rows.
pub(crate) fn lanes(
    stage: &[usize],
    subsystems: &mut [Box<dyn Subsystem>],
    layout: &Layout,
    free: impl Fn(usize) -> bool,
) -> Vec<Lane> {
    let mut lanes: Vec<Lane> = Vec::new();
    for (position, i) in stage.iter().copied().enumerate() {
        let (subsystem, is_free) = (&mut *subsystems[i], free(i));
        if is_free && lanes.last_mut().is_some_and(|last| last.takes(i, subsystem, layout)) {
            continue;
        }
        let mut lane = Lane::new(position, i, layout);
        if is_free {
            joins(subsystem, &mut lane.row);
        }
        match lanes.last_mut() {
            Some(last) if last.row.is_none() && lane.row.is_none() => last.positions.end += 1,
            _ => lanes.push(lane),
        }
    }
    lanes
}

fn joins(subsystem: &mut dyn Subsystem, row: &mut Option<Box<dyn Row>>) -> bool {
    subsystem.row_member().is_some_and(|member| member.join_row(row))
}
