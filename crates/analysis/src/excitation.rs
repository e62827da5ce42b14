//! Whether the inputs of a run say enough to identify its parts, and whether outputs say the same twice.
//!
//! A signal is persistently exciting of order n if its last n values, over the run, are linearly independent
//! [T 2.3.3, definition 1]: a constant is of order 1, a sine of order 2. Of several inputs all last n values together
//! have to be. Rank is that of the triangular factor of these rows, each column in units of its own length.

use costep_core::ModelKind;
use costep_engine::{Engine, Flow, Observer};
use costep_ident::{Lags, sources};
use costep_linalg::{Matrix, Svd, Triangle};
use costep_methods::MethodSpec;

/// Directions with less than this share of the greatest singular value are not excited: what is left is round-off.
const CUT: f64 = 1e-8;
/// Columns of a part beyond which nothing is measured, since every step costs their square.
const MOST_COLUMNS: usize = 48;

/// What was found of one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excitation {
    /// Name of the part.
    pub part: String,
    /// Order of persistent excitation of its inputs, as far as it was looked for; nothing for parts without inputs or with too many.
    pub order: Option<usize>,
    /// The order that its model needs.
    pub needed: usize,
    /// Outputs that are constant or linear combinations of those before them.
    pub dependent: Vec<String>,
}

impl Excitation {
    /// Whether the inputs were too poor for the model.
    pub fn is_poor(&self) -> bool {
        self.order.is_some_and(|order| order < self.needed)
    }

    /// What is wrong with the order, for people.
    pub fn poor_inputs(&self) -> Option<String> {
        let order = self.order.filter(|_| self.is_poor())?;
        Some(format!(
            "the inputs of `{}` are persistently exciting of order {order}, its model needs {}: other models explain this \
             run as well",
            self.part, self.needed
        ))
    }

    /// What is wrong with the outputs, for people.
    pub fn dependent_outputs(&self) -> Option<String> {
        let names: Vec<String> =
            self.dependent.iter().map(|name| format!("`{}.{name}`", self.part)).collect();
        let (verb, number) = if names.len() == 1 { ("is", "that") } else { ("are", "those") };
        (!names.is_empty()).then(|| {
            format!("{} {verb} constant or a linear combination of outputs before {number}", names.join(", "))
        })
    }
}

/// Measures both while a run goes. All memory is taken in `new`.
pub struct ExcitationWatch {
    parts: Vec<PartWatch>,
    u: Vec<f64>,
}

struct PartWatch {
    needed: usize,
    inputs: Option<LaggedInputs>,
    /// Of rows [1, y].
    outputs: Option<Triangle>,
    row: Vec<f64>,
}

struct LaggedInputs {
    lags: Lags,
    depth: usize,
    factor: Triangle,
    row: Vec<f64>,
}

/// The order of persistent excitation that the models of a method need: one per parameter of an input and per pole, so
/// N + M of ARX models, one and two of Interface Jacobians with S_u and S_p; of subspaces the states and the block rows.
pub fn needed_order(method: &MethodSpec, outputs: usize) -> usize {
    let models = &method.models;
    if models.entry.kind != ModelKind::Discrete {
        return 3;
    }
    match models.entry.id {
        "rls" => {
            let (n, m) = sources::arx_orders(&models.options);
            n + m
        }
        "moesp" => {
            let (states, block_rows) = sources::moesp_orders(&models.options, outputs);
            states + block_rows
        }
        _ => 3,
    }
}

impl ExcitationWatch {
    /// For a run that is about to start.
    pub fn new(engine: &Engine, method: &MethodSpec) -> Self {
        let part = |i: usize| {
            let layout = engine.layout();
            let (m, n) = (layout.input_range(i).len(), layout.output_range(i).len());
            let needed = needed_order(method, n);
            let (depth, columns) = (needed + 1, (needed + 1) * m);
            let inputs = (m > 0 && columns <= MOST_COLUMNS).then(|| LaggedInputs {
                lags: Lags::new(m, depth),
                depth,
                factor: Triangle::new(columns),
                row: vec![0.0; columns],
            });
            let outputs = (n < MOST_COLUMNS).then(|| Triangle::new(n + 1));
            PartWatch { needed, inputs, outputs, row: vec![1.0; n + 1] }
        };
        Self {
            parts: (0..engine.layout().subsystems()).map(part).collect(),
            u: vec![0.0; engine.layout().inputs()],
        }
    }

    /// What was found, part by part.
    pub fn found(&self, engine: &Engine) -> Vec<Excitation> {
        let of = |(watch, part): (&PartWatch, &costep_core::Description)| Excitation {
            part: part.name.clone(),
            order: watch.inputs.as_ref().map(LaggedInputs::order),
            needed: watch.needed,
            dependent: watch.dependent().into_iter().map(|i| part.outputs[i].name.clone()).collect(),
        };
        self.parts.iter().zip(engine.descriptions()).map(of).collect()
    }
}

impl Observer for ExcitationWatch {
    fn observe(&mut self, engine: &Engine) -> costep_core::Result<Flow> {
        let layout = engine.layout();
        engine.inputs_at_end(&mut self.u);
        for (i, part) in self.parts.iter_mut().enumerate() {
            // At the start no input has been applied yet.
            if let Some(inputs) = part.inputs.as_mut().filter(|_| engine.k() > 0) {
                inputs.take(&self.u[layout.input_range(i)]);
            }
            if let Some(outputs) = &mut part.outputs {
                part.row[1..].copy_from_slice(&engine.outputs()[layout.output_range(i)]);
                outputs.append(&part.row);
            }
        }
        Ok(Flow::Continue)
    }
}

impl LaggedInputs {
    fn take(&mut self, u: &[f64]) {
        self.lags.push(u);
        if self.lags.is_full() {
            let m = u.len();
            for lag in 0..self.depth {
                self.row[lag * m..(lag + 1) * m].copy_from_slice(self.lags.get(lag));
            }
            self.factor.append(&self.row);
        }
    }

    /// The greatest n for which all inputs of n lags are independent.
    fn order(&self) -> usize {
        let m = self.row.len() / self.depth;
        let full = |order: &usize| {
            let columns = order * m;
            rank(self.factor.factor(), columns) == columns
        };
        (1..=self.depth).take_while(full).count()
    }
}

/// Rank of the first columns of a triangular factor, in units of their lengths.
fn rank(factor: &Matrix, columns: usize) -> usize {
    let mut scaled = Matrix::zeros(columns, columns);
    for j in 0..columns {
        let length = length(factor, j, 0);
        for i in 0..=j {
            scaled[(i, j)] = if length > 0.0 { factor[(i, j)] / length } else { 0.0 };
        }
    }
    let mut svd = Svd::new(columns, columns);
    svd.compute(&scaled);
    svd.rank(CUT)
}

/// Length of a column of a triangular factor from a row on.
fn length(factor: &Matrix, column: usize, from: usize) -> f64 {
    (from..=column).map(|i| factor[(i, column)].powi(2)).sum::<f64>().sqrt()
}

impl PartWatch {
    /// Outputs of which those before, and a constant, leave nothing.
    fn dependent(&self) -> Vec<usize> {
        let Some(factor) = self.outputs.as_ref().map(Triangle::factor) else { return Vec::new() };
        // What moves of an output against what the others do not explain of that; a constant has round-off only.
        let is_dependent = |i: &usize| {
            let (whole, moves) = (length(factor, i + 1, 0), length(factor, i + 1, 1));
            moves <= CUT * whole || factor[(i + 1, i + 1)].abs() <= CUT * moves
        };
        (0..self.row.len() - 1).filter(is_dependent).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order_of(signals: &[&dyn Fn(f64) -> f64], depth: usize) -> usize {
        let columns = signals.len() * depth;
        let mut inputs = LaggedInputs {
            lags: Lags::new(signals.len(), depth),
            depth,
            factor: Triangle::new(columns),
            row: vec![0.0; columns],
        };
        for k in 0..500 {
            let u: Vec<f64> = signals.iter().map(|signal| signal(0.01 * f64::from(k))).collect();
            inputs.take(&u);
        }
        inputs.order()
    }

    /// n sines are of order 2 n, a constant of order 1 [T 2.3.3].
    #[test]
    fn orders_are_numbers_of_spectral_lines() {
        let sine = |t: f64| 1e5 * (20.0 * t).sin();
        let two = |t: f64| (20.0 * t).sin() + 0.3 * (47.0 * t).cos();
        let rest = |_: f64| 0.0;
        assert_eq!(order_of(&[&rest], 5), 0);
        assert_eq!(order_of(&[&|_| 7.0], 5), 1);
        assert_eq!(order_of(&[&sine], 5), 2);
        assert_eq!(order_of(&[&|t| 3.0 + sine(t)], 5), 3);
        assert_eq!(order_of(&[&two], 6), 4);
        // Two inputs that are one say nothing of either; of two sines of one frequency each value is new once.
        assert_eq!(order_of(&[&two, &|t| 1e-6 * two(t)], 4), 0);
        assert_eq!(order_of(&[&sine, &|t| (20.0 * t).cos()], 4), 1);
        assert_eq!(order_of(&[&two, &|t| (31.0 * t).sin() + (3.0 * t).cos()], 5), 4);
    }

    #[test]
    fn outputs_that_follow_from_others_are_found() {
        let mut watch =
            PartWatch { needed: 3, inputs: None, outputs: Some(Triangle::new(5)), row: vec![1.0; 5] };
        for k in 0..200 {
            let t = 0.01 * f64::from(k);
            let (a, b) = ((20.0 * t).sin(), (3.0 * t).exp());
            watch.row[1..].copy_from_slice(&[a, 1e6 * a + 5e6, b, 4.0]);
            watch.outputs.as_mut().unwrap().append(&watch.row);
        }
        assert_eq!(watch.dependent(), [1, 3]);
    }
}
