//! Advice as JSON: the contract of `costep advise --json`.

use serde_json::{Value, json};

use super::{Advice, HeldInput, Holds, MacroSteps, Trial, Wish};
use crate::report::{error_to_json, head};
use crate::system::System;

impl Advice {
    /// As the program prints it; `command` does what was chosen.
    pub fn to_json(&self, system: &System, command: Option<&str>) -> Value {
        let mut object = head(system.project(), self.reference.as_ref());
        let mut insert = |key: &str, value: Value| object.insert(key.into(), value);
        insert("error_asked", json!(self.asked));
        insert("choice", self.choice.as_ref().map_or(Value::Null, trial_to_json));
        insert("command", json!(command));
        insert("confirmed_by", self.confirmed_by.as_ref().map_or(Value::Null, trial_to_json));
        insert("trials", self.trials.iter().map(trial_to_json).collect());
        let impossible = self.not_possible.iter();
        let impossible =
            impossible.map(|(method, error)| json!({ "method": method, "error": error_to_json(error) }));
        insert("not_possible", impossible.collect());
        insert("connections", self.holds.as_ref().map_or(Value::Null, holds_to_json));
        insert("ask_for", self.wishes.iter().map(wish_to_json).collect());
        insert("left_out", json!(self.left_out));
        insert("warnings", self.warnings.iter().map(error_to_json).collect());
        insert("nearest", self.nearest().map_or(Value::Null, trial_to_json));
        insert("start_up_s", json!(self.start_up_s));
        insert("wall_s", json!(self.wall_s));
        insert("cut_short", json!(self.is_cut_short()));
        insert("errors", self.error().iter().map(error_to_json).collect());
        Value::Object(object)
    }
}

fn trial_to_json(trial: &Trial) -> Value {
    let (step, tolerance) = match trial.steps {
        MacroSteps::Equal(step) => (Some(step), None),
        MacroSteps::Varying { tolerance, .. } => (None, Some(tolerance)),
    };
    json!({
        "method": trial.method,
        "step": step,
        "tolerance": tolerance,
        "verdict": trial.verdict,
        "error": trial.error.map(|error| error.value),
        "error_by": trial.error.map(|error| error.by),
        "uncertainty": trial.uncertainty,
        "calls": trial.calls,
        "macro_steps": trial.macro_steps,
        "wall_s": trial.wall_s,
        "reaches": trial.reaches,
    })
}

fn holds_to_json(holds: &Holds) -> Value {
    let held =
        |held: &HeldInput| json!({ "input": held.input, "from": held.from, "error_if_held": held.error });
    json!({
        "need_more_than_a_hold": holds.more.iter().map(held).collect::<Vec<_>>(),
        "hold_is_enough": holds.enough.iter().map(held).collect::<Vec<_>>(),
        "held_together": holds.together,
        "not_tried": holds.not_tried,
    })
}

fn wish_to_json(wish: &Wish) -> Value {
    json!({
        "what": wish.kind.text(),
        "attribute": wish.kind.attribute(),
        "parts": wish.parts,
        "fewer_calls": wish.fewer_calls,
        "why": wish.why,
    })
}
