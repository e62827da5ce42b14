//! The variables of an FMU and what depends on what.

use costep_core::{Experiment, Result};
use costep_fmu_runtime::Role;
use costep_integrate::{Ode, Solver};
use costep_models::{ModelEntry, Parameters};

use crate::dependencies::{DependencyProbe, Depends, equations};

/// A variable of an FMU.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) reference: u32,
    pub(crate) role: Role,
    /// Its place among those of its role; of a parameter, among those of the model.
    pub(crate) place: usize,
    /// Others see it as an output.
    pub(crate) is_output: bool,
    pub(crate) unit: Option<String>,
    pub(crate) nominal: Option<f64>,
    pub(crate) start: Option<f64>,
    pub(crate) about: String,
    /// Least and greatest value, where there is one.
    pub(crate) limits: (Option<f64>, Option<f64>),
}

/// Everything there is to know about an FMU.
pub(crate) struct VariableTable {
    pub(crate) model: &'static ModelEntry,
    pub(crate) part: usize,
    /// Name of the part.
    pub(crate) name: String,
    /// Name of library and file, an identifier of C.
    pub(crate) identifier: String,
    /// Name of the model in the FMU.
    pub(crate) title: String,
    pub(crate) parameters: Vec<f64>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) experiment: Experiment,
    /// Inner step, if that is fixed.
    pub(crate) inner_step: Option<f64>,
    /// Whether these steps are explicit Euler.
    pub(crate) is_euler: bool,
    probe: DependencyProbe,
}

/// An unknown of the model structure: a variable and those it depends on, as indices of [`VariableTable::variables`].
pub(crate) struct Unknown {
    pub(crate) variable: usize,
    pub(crate) depends: Vec<usize>,
}

impl VariableTable {
    /// The sheet of a part of a model.
    pub(crate) fn new(entry: &'static ModelEntry, parameters: &Parameters, part: usize) -> Result<Self> {
        let given: Vec<_> = parameters.iter().map(|(spec, value)| (spec.name.to_owned(), value)).collect();
        let (_, model) = entry.model(&given)?;
        let probe = DependencyProbe::new(entry, parameters, part)?;
        let subject = &*equations(&model, part)?;
        let name = subject.description().name.clone();
        let mut sheet = Self {
            model: entry,
            part,
            identifier: identifier(&name),
            title: format!("{}.{name}", entry.id),
            name,
            parameters: parameters.iter().map(|(_, value)| value).collect(),
            variables: Vec::new(),
            experiment: model.experiment,
            inner_step: model.solver.inner_step().filter(|step| *step < f64::MAX),
            is_euler: matches!(model.solver, Solver::Euler(_)),
            probe,
        };
        sheet.add_variables(subject);
        Ok(sheet)
    }

    fn add_variables(&mut self, part: &dyn Ode) {
        let description = part.description();
        let mut nominal = vec![1.0; part.states()];
        part.nominal_state(&mut nominal);
        let blank = |name: String, role, place| Variable {
            name,
            reference: 0,
            role,
            place,
            is_output: false,
            unit: None,
            nominal: None,
            start: None,
            about: String::new(),
            limits: (None, None),
        };
        let mut all = vec![Variable { unit: Some("s".into()), ..blank("time".into(), Role::Time, 0) }];
        for (place, port) in description.inputs.iter().enumerate() {
            let (unit, nominal) = (port.unit.clone(), port.nominal);
            let input = blank(port.name.clone(), Role::Input, place);
            all.push(Variable { unit, nominal, start: Some(0.0), ..input });
        }
        for (place, port) in description.outputs.iter().enumerate() {
            let (role, place) = match self.probe.is_state[place] {
                Some(state) => (Role::State, state),
                None => (Role::Output, place),
            };
            let (unit, nominal) = (port.unit.clone(), port.nominal);
            all.push(Variable { is_output: true, unit, nominal, ..blank(port.name.clone(), role, place) });
        }
        for (state, nominal) in nominal.into_iter().enumerate() {
            if !self.probe.is_state.contains(&Some(state)) {
                let variable = blank(format!("state[{}]", state + 1), Role::State, state);
                all.push(Variable { nominal: Some(nominal), ..variable });
            }
        }
        for state in 0..part.states() {
            let of = all.iter().find(|v| v.role == Role::State && v.place == state);
            let name = format!("der({})", of.map_or("", |variable| &variable.name));
            all.push(blank(name, Role::Derivative, state));
        }
        for (place, (spec, value)) in self.model.parameters.iter().zip(&self.parameters).enumerate() {
            // One that counts something decides on the variables themselves: it stays as it was exported.
            if spec.whole || !self.probe.uses(place) {
                continue;
            }
            let taken = all.iter().any(|variable| variable.name == spec.name);
            let name = if taken { format!("parameter.{}", spec.name) } else { spec.name.to_owned() };
            all.push(Variable {
                unit: Some(spec.unit.into()),
                start: Some(*value),
                about: spec.help.into(),
                limits: (
                    Some(spec.min).filter(|min| *min > f64::MIN),
                    Some(spec.max).filter(|max| *max < f64::MAX),
                ),
                ..blank(name, Role::Parameter, place)
            });
        }
        for (reference, variable) in all.iter_mut().enumerate() {
            variable.reference = reference as u32;
        }
        self.variables = all;
    }

    /// The index of a variable.
    pub(crate) fn index(&self, role: Role, place: usize) -> Option<usize> {
        self.variables.iter().position(|variable| variable.role == role && variable.place == place)
    }

    /// The outputs and what they depend on: states and inputs.
    pub(crate) fn outputs(&self) -> Vec<Unknown> {
        self.unknowns(|variable| variable.is_output, false)
    }

    /// The derivatives.
    pub(crate) fn derivatives(&self) -> Vec<Unknown> {
        self.unknowns(|variable| variable.role == Role::Derivative, false)
    }

    /// Everything that is computed in the initialisation, and from what: inputs and parameters.
    pub(crate) fn initial_unknowns(&self) -> Vec<Unknown> {
        self.unknowns(
            |variable| variable.is_output || matches!(variable.role, Role::State | Role::Derivative),
            true,
        )
    }

    fn unknowns(&self, chosen: impl Fn(&Variable) -> bool, initial: bool) -> Vec<Unknown> {
        let lookup = Lookup::new(self);
        let unknown = |(index, variable): (usize, &Variable)| {
            let itself = Depends { states: vec![variable.place], ..Depends::default() };
            let depends = match variable.role {
                Role::Output => &self.probe.outputs[variable.place],
                Role::Derivative => &self.probe.derivatives[variable.place],
                _ => &itself,
            };
            let inputs = depends.inputs.iter().filter_map(|place| lookup.find(Role::Input, *place));
            let mut on: Vec<usize> = inputs.collect();
            if initial {
                let parameters = self.probe.initial_parameters(depends);
                on.extend(parameters.iter().filter_map(|place| lookup.find(Role::Parameter, *place)));
            } else {
                on.extend(depends.states.iter().filter_map(|place| lookup.find(Role::State, *place)));
            }
            on.sort_unstable();
            Unknown { variable: index, depends: on }
        };
        self.variables.iter().enumerate().filter(|(_, variable)| chosen(variable)).map(unknown).collect()
    }
}

/// Indices of variables by role and place, for sheets with thousands of them.
struct Lookup(std::collections::HashMap<(Role, usize), usize>);

impl Lookup {
    fn new(sheet: &VariableTable) -> Self {
        Self(sheet.variables.iter().enumerate().map(|(index, v)| ((v.role, v.place), index)).collect())
    }

    fn find(&self, role: Role, place: usize) -> Option<usize> {
        self.0.get(&(role, place)).copied()
    }
}

/// A name as an identifier of C.
fn identifier(name: &str) -> String {
    let mut text: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if !text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        text.insert(0, '_');
    }
    text
}
