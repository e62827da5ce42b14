//! The FMUs of tests and benchmarks, whose names and value references other programs rely on.
//!
//! | FMU | inputs (value reference) | outputs | parameters |
//! |---|---|---|---|
//! | `Lag` | u(0) | y(1) | T(10), x0(11) |
//! | `S1` | F(0) | x(1), v(2) | m, c, d, x0, v0, h (10 to 15) |
//! | `S2` | u1(0), u2(3) | F(1), x(2), v(4) | m, c, d, ck, dk, x0, v0, h (10 to 17) |
//! | `Wide<W>`, `Wide` = `Wide1000` | u0.. (0 to W-1) | y0.. (W to 2W-1) | - |
//!
//! `S1` and `S2` are the parts of the model `dual-mass`.

use costep_core::Result;
use costep_fmu_runtime::{Role, find};

use crate::variables::VariableTable;

/// Their names.
pub const TEST_FMUS: [&str; 4] = ["Lag", "S1", "S2", "Wide100"];

/// Another name and value reference for a variable: role, name in the model, name here, value reference.
type Label = (Role, &'static str, &'static str, u32);

const S1: &[Label] = &[
    (Role::Input, "F", "F", 0),
    (Role::State, "x", "x", 1),
    (Role::State, "v", "v", 2),
    (Role::Parameter, "m1", "m", 10),
    (Role::Parameter, "c1", "c", 11),
    (Role::Parameter, "d1", "d", 12),
    (Role::Parameter, "x1", "x0", 13),
    (Role::Parameter, "v1", "v0", 14),
    (Role::Parameter, "micro_step", "h", 15),
];

const S2: &[Label] = &[
    (Role::Input, "x", "u1", 0),
    (Role::Input, "v", "u2", 3),
    (Role::Output, "F", "F", 1),
    (Role::State, "state[1]", "x", 2),
    (Role::State, "state[2]", "v", 4),
    (Role::Parameter, "m2", "m", 10),
    (Role::Parameter, "c2", "c", 11),
    (Role::Parameter, "d2", "d", 12),
    (Role::Parameter, "ck", "ck", 13),
    (Role::Parameter, "dk", "dk", 14),
    (Role::Parameter, "x2", "x0", 15),
    (Role::Parameter, "v2", "v0", 16),
    (Role::Parameter, "micro_step", "h", 17),
];

const LAG: &[Label] = &[
    (Role::Input, "u", "u", 0),
    (Role::State, "y", "y", 1),
    (Role::Parameter, "T", "T", 10),
    (Role::Parameter, "x0", "x0", 11),
];

/// The sheet of one of them; None for other names.
pub(crate) fn sheet(name: &str, given: &[(String, f64)]) -> Result<Option<VariableTable>> {
    let (model, part, labels) = match name {
        "Lag" => ("Lag", 0, LAG),
        "S1" => ("dual-mass", 0, S1),
        "S2" => ("dual-mass", 1, S2),
        _ => return wide(name, given),
    };
    let renamed: Vec<_> = given.iter().map(|(name, value)| (model_name(name, labels), *value)).collect();
    let entry = find(model)?;
    let parameters = costep_models::Parameters::check(name, entry.parameters, &renamed)?;
    let mut sheet = VariableTable::new(entry, &parameters, part)?;
    sheet.relabel(name, |role, old| {
        let label = labels.iter().find(|label| (label.0, label.1) == (role, old))?;
        Some((label.2.to_owned(), label.3))
    });
    Ok(Some(sheet))
}

fn model_name(name: &str, labels: &[Label]) -> String {
    let label = labels.iter().find(|label| label.0 == Role::Parameter && label.2 == name);
    label.map_or_else(|| name.to_owned(), |label| label.1.to_owned())
}

/// `Wide1000` has 1000 signals each way, and so has `Wide`.
fn wide(name: &str, given: &[(String, f64)]) -> Result<Option<VariableTable>> {
    let digits = name.strip_prefix("Wide").map(|digits| if digits.is_empty() { "1000" } else { digits });
    let width = digits.and_then(|width| width.parse::<u32>().ok());
    let Some(width) = width else { return Ok(None) };
    let mut given = given.to_vec();
    given.push(("width".into(), width.into()));
    let entry = find("Wide")?;
    let parameters = costep_models::Parameters::check(name, entry.parameters, &given)?;
    let mut sheet = VariableTable::new(entry, &parameters, 0)?;
    sheet.relabel(name, |role, old| {
        let start = match role {
            Role::Input => 0,
            Role::State => width,
            _ => return None,
        };
        let number: u32 = old.get(1..)?.parse().unwrap_or(0);
        Some((format!("{}{number}", &old[..1]), start + number))
    });
    Ok(Some(sheet))
}

impl VariableTable {
    /// Gives variables other names and value references. Derivatives and the time come behind all others; states with
    /// a new name are outputs.
    fn relabel(&mut self, name: &str, label: impl Fn(Role, &str) -> Option<(String, u32)>) {
        (self.name, self.identifier, self.title) = (name.into(), name.into(), name.into());
        let mut last = 0;
        for variable in &mut self.variables {
            if let Some((name, reference)) = label(variable.role, &variable.name) {
                (variable.name, variable.reference) = (name, reference);
                variable.is_output |= variable.role == Role::State;
                last = last.max(reference);
            }
        }
        let mut next = (last + 1).next_multiple_of(10).max(20);
        for index in 0..self.variables.len() {
            let (role, place) = (self.variables[index].role, self.variables[index].place);
            if matches!(role, Role::Derivative | Role::Time) {
                self.variables[index].reference = next;
                next += 1;
            }
            if role == Role::Derivative
                && let Some(state) = self.index(Role::State, place)
            {
                self.variables[index].name = format!("der({})", self.variables[state].name);
            }
        }
    }
}
