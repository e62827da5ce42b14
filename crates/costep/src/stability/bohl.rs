//! Bohl exponents of a method that learns during the run, whose map is another one at every step: how perturbations grow over
//! windows of macro steps, from any time of the run on.

use costep_analysis::{BohlExponent, LoopLaw, RecordedLoop, bohl_exponent};
use costep_core::{Code, Error, Result};
use serde_json::{Value, json};

use crate::cancel::Cancel;
use crate::report::head;
use crate::system::System;

/// Bohl exponents of a run.
pub struct BohlStudy {
    /// The maps of all macro steps.
    pub recorded: RecordedLoop,
    /// One per window.
    pub exponents: Vec<BohlExponent>,
}

impl System {
    /// Runs the system and gives the exponents of its steps over these windows, in macro steps; over 10, 20, 50, ... as long
    /// as they fit if none is given. The law is [`System::loop_law`].
    pub fn bohl_study(&self, law: LoopLaw, windows: &[usize], cancel: &Cancel) -> Result<BohlStudy> {
        let recorded = self.record_loop(law, cancel)?;
        let steps = recorded.steps.len();
        if let Some(window) = windows.iter().find(|window| **window > steps) {
            let message =
                format!("a window of {window} steps does not fit: models are available for {steps} steps");
            return Err(Error::new(Code::BadValue, message).hint(
                "a smaller window, a later end (`--t-end`) or a shorter learning phase (`learning=STEPS`)",
            ));
        }
        let windows = if windows.is_empty() { usual_windows(steps) } else { windows.to_vec() };
        let exponent = |window: &usize| {
            cancel.check()?;
            bohl_exponent(&recorded.steps, *window).ok_or_else(|| {
                Error::new(Code::NotFinite, format!("the products over {window} steps are not finite"))
            })
        };
        let exponents = windows.iter().map(exponent).collect::<Result<_>>()?;
        Ok(BohlStudy { recorded, exponents })
    }
}

impl BohlStudy {
    /// The least window over which everything decays.
    pub fn decays(&self) -> Option<usize> {
        self.exponents.iter().filter(|found| found.beta < 1.0).map(|found| found.window).min()
    }

    /// The time of a step for which models are available, in s.
    pub fn time(&self, system: &System, step: usize) -> f64 {
        system.project().model.experiment.time(self.recorded.first + step as u64)
    }

    /// As `costep stability --bohl --json` prints it.
    pub fn to_json(&self, system: &System) -> Value {
        let project = system.project();
        let step = project.model.experiment.step;
        let of = |found: &BohlExponent| {
            json!({
                "window": found.window,
                "beta": found.beta,
                "rate": found.rate(step),
                "worst_start": self.time(system, found.worst),
            })
        };
        let [full, modified, signal] = self.recorded.phases;
        let mut object = head(project, None);
        object.insert("method".into(), json!(project.groups[0].method.label()));
        object.insert("step".into(), json!(step));
        object.insert("from".into(), json!(self.time(system, 0)));
        object.insert("steps".into(), json!(self.recorded.steps.len()));
        object.insert("states".into(), json!(self.recorded.units.len()));
        object.insert("plant".into(), json!(self.recorded.plant.text()));
        object.insert("phases".into(), json!({ "full": full, "modified": modified, "signal": signal }));
        object.insert("bohl".into(), self.exponents.iter().map(of).collect());
        object.insert("decays_within".into(), json!(self.decays()));
        Value::Object(object)
    }
}

/// 10, 20, 50, 100 ... as long as they fit; the whole run if that is shorter.
fn usual_windows(steps: usize) -> Vec<usize> {
    let decades = std::iter::successors(Some(10usize), |decade| decade.checked_mul(10));
    let windows: Vec<_> = decades
        .take_while(|decade| *decade <= steps)
        .flat_map(|decade| [decade, 2 * decade, 5 * decade])
        .collect();
    let fitting: Vec<_> = windows.into_iter().filter(|window| *window <= steps).collect();
    if fitting.is_empty() { vec![steps] } else { fitting }
}
