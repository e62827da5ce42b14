//! What depends on what in a part, found by looking at its equations at points over many orders of magnitude:
//! exact Jacobians for states and inputs, changed values for parameters.

use costep_core::{Code, Error, LocalModel, Result};
use costep_integrate::Ode;
use costep_models::{ModelEntry, Parameters};
use costep_system::SystemDescription;

/// Points at which equations are looked at.
const POINTS: usize = 48;
/// Sizes of states and inputs, in orders of magnitude around their nominal values.
const DECADES: f64 = 3.0;

/// Dependencies of one unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Depends {
    /// States.
    pub(crate) states: Vec<usize>,
    /// Inputs.
    pub(crate) inputs: Vec<usize>,
    /// Parameters of the model, without those that act through the initial state.
    pub(crate) parameters: Vec<usize>,
}

/// Dependencies of a part.
#[derive(Debug)]
pub(crate) struct DependencyProbe {
    /// Of each output.
    pub(crate) outputs: Vec<Depends>,
    /// Of each derivative.
    pub(crate) derivatives: Vec<Depends>,
    /// Parameters that each initial state depends on.
    pub(crate) initial_states: Vec<Vec<usize>>,
    /// For each output the state that it is, if it is one.
    pub(crate) is_state: Vec<Option<usize>>,
    /// Parameters that change the solver.
    pub(crate) solver: Vec<usize>,
}

impl DependencyProbe {
    /// Looks at a part of a model.
    pub(crate) fn new(entry: &'static ModelEntry, parameters: &Parameters, part: usize) -> Result<Self> {
        let given: Vec<_> = parameters.iter().map(|(spec, value)| (spec.name.to_owned(), value)).collect();
        let (_, model) = entry.model(&given)?;
        let subject = &*equations(&model, part)?;
        let points = points(subject);
        let mut probe = Self::structure(subject, &points);
        for (index, (spec, value)) in parameters.iter().enumerate().filter(|(_, (spec, _))| !spec.whole) {
            for other in [1.5 * value, 0.5 * value, value + 1.0, value - 1.0] {
                if other == value || !(spec.min..=spec.max).contains(&other) {
                    continue;
                }
                let mut changed = given.clone();
                changed[index].1 = other;
                let (_, changed) = entry.model(&changed)?;
                if changed.solver != model.solver && !probe.solver.contains(&index) {
                    probe.solver.push(index);
                }
                probe.compare(index, subject, &*equations(&changed, part)?, &points);
            }
        }
        Ok(probe)
    }

    /// Dependencies on states and inputs.
    fn structure(part: &dyn Ode, points: &[Point]) -> Self {
        let (n, description) = (part.states(), part.description());
        let (m, r) = (description.inputs.len(), description.outputs.len());
        let mut model = LocalModel::new(n, m, r);
        let mut probe = Self {
            outputs: vec![Depends::default(); r],
            derivatives: vec![Depends::default(); n],
            initial_states: vec![Vec::new(); n],
            is_state: vec![None; r],
            solver: Vec::new(),
        };
        // The Jacobians of a linear system are the same everywhere.
        let looked_at = if part.is_linear() { 1 } else { points.len() };
        for point in &points[..looked_at] {
            part.jacobians(point.t, &point.x, &point.u, &mut model);
            for (rows, (by_state, by_input)) in
                [(&mut probe.derivatives, (&model.a, &model.b)), (&mut probe.outputs, (&model.c, &model.d))]
            {
                for (row, depends) in rows.iter_mut().enumerate() {
                    note(&by_state[row * n..(row + 1) * n], &mut depends.states);
                    note(&by_input[row * m..(row + 1) * m], &mut depends.inputs);
                }
            }
        }
        // What the part declares counts even where no point shows it.
        for (depends, declared) in probe.outputs.iter_mut().zip(&description.feedthrough) {
            declared.iter().for_each(|input| insert(&mut depends.inputs, *input));
        }
        probe.find_states(part, points);
        probe
    }

    /// Which outputs are nothing but a state.
    fn find_states(&mut self, part: &dyn Ode, points: &[Point]) {
        let mut y = vec![0.0; self.outputs.len()];
        let candidate = |depends: &Depends| match (&depends.states[..], &depends.inputs[..]) {
            ([state], []) => Some(*state),
            _ => None,
        };
        self.is_state = self.outputs.iter().map(candidate).collect();
        for point in points {
            part.outputs(point.t, &point.x, &point.u, &mut y);
            for (is_state, y) in self.is_state.iter_mut().zip(&y) {
                *is_state = is_state.filter(|state| point.x[*state] == *y);
            }
        }
        // Two outputs may be the same state; the first stands for it.
        for i in 0..self.is_state.len() {
            if self.is_state[..i].contains(&self.is_state[i]) {
                self.is_state[i] = None;
            }
        }
    }

    /// Notes what differs between the part and one with another value of a parameter.
    fn compare(&mut self, parameter: usize, part: &dyn Ode, changed: &dyn Ode, points: &[Point]) {
        let (n, r) = (self.derivatives.len(), self.outputs.len());
        let values = |part: &dyn Ode, fill: &dyn Fn(&dyn Ode, &mut [f64]), count: usize| {
            let mut values = vec![0.0; count];
            fill(part, &mut values);
            values
        };
        let differs = |count: usize, fill: &dyn Fn(&dyn Ode, &mut [f64])| -> Vec<bool> {
            let pairs = values(part, fill, count).into_iter().zip(values(changed, fill, count));
            pairs.map(|(a, b)| a.to_bits() != b.to_bits()).collect()
        };
        for (states, differs) in
            self.initial_states.iter_mut().zip(differs(n, &|part, x| part.initial_state(x)))
        {
            if differs {
                insert(states, parameter);
            }
        }
        for Point { t, x, u } in points {
            let outputs = differs(r, &|part, y| part.outputs(*t, x, u, y));
            let derivatives = differs(n, &|part, x_dot| part.derivatives(*t, x, u, x_dot));
            let rows =
                self.outputs.iter_mut().zip(outputs).chain(self.derivatives.iter_mut().zip(derivatives));
            for (depends, _) in rows.filter(|(_, differs)| *differs) {
                insert(&mut depends.parameters, parameter);
            }
        }
    }

    /// Whether a parameter of the model means anything to the part.
    pub(crate) fn uses(&self, parameter: usize) -> bool {
        let direct = self.outputs.iter().chain(&self.derivatives).map(|depends| &depends.parameters);
        direct.chain(&self.initial_states).chain([&self.solver]).any(|list| list.contains(&parameter))
    }

    /// The parameters an unknown depends on at the start of a run, those of its states included.
    pub(crate) fn initial_parameters(&self, depends: &Depends) -> Vec<usize> {
        let mut all = depends.parameters.clone();
        for state in &depends.states {
            self.initial_states[*state].iter().for_each(|parameter| insert(&mut all, *parameter));
        }
        all
    }
}

/// The equations of a part.
pub(crate) fn equations(model: &SystemDescription, part: usize) -> Result<Box<dyn Ode>> {
    model.parts[part].ode().ok_or_else(|| {
        let name = &model.parts[part].description().name;
        Error::new(Code::NeedsMissing, format!("the equations of `{name}` are not known"))
    })
}

/// Adds an index to a sorted list.
fn insert(list: &mut Vec<usize>, index: usize) {
    if let Err(place) = list.binary_search(&index) {
        list.insert(place, index);
    }
}

fn note(row: &[f64], list: &mut Vec<usize>) {
    row.iter().enumerate().filter(|(_, value)| **value != 0.0).for_each(|(index, _)| insert(list, index));
}

struct Point {
    t: f64,
    x: Vec<f64>,
    u: Vec<f64>,
}

fn points(part: &dyn Ode) -> Vec<Point> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut nominal_state = vec![1.0; part.states()];
    part.nominal_state(&mut nominal_state);
    let inputs = part.description().inputs.iter().map(|port| port.nominal.unwrap_or(1.0));
    let nominal_input: Vec<f64> = inputs.collect();
    let mut around = |nominal: &[f64]| -> Vec<f64> {
        let mut size = |nominal: f64| {
            let (sign, exponent) = (random.next() - 0.5, 2.0 * DECADES * (random.next() - 0.5));
            sign.signum() * nominal.abs().max(f64::MIN_POSITIVE) * 10f64.powf(exponent)
        };
        nominal.iter().map(|nominal| size(*nominal)).collect()
    };
    let point = |i| Point { t: i as f64 * 0.1, x: around(&nominal_state), u: around(&nominal_input) };
    (0..POINTS).map(point).collect()
}

/// Numbers from 0 to 1, the same in every run (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}
