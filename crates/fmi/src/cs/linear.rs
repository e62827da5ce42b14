//! The states of an FMU, and its local model from its directional derivatives, column by column, or where it has none
//! from its adjoint ones (FMI 3), row by row.

use costep_core::{LocalModel, Result};
use costep_fmu_file::{ModelDescription, VariableType};

use crate::call::instance::Instance;
use crate::cs::signals::Signals;

/// References and memory for A, B, C, D.
#[derive(Debug)]
pub(crate) struct Linear {
    states: Signals,
    derivatives: Signals,
    /// Derivatives, then outputs; and the number of elements of each.
    unknowns: Vec<u32>,
    unknown_elements: Vec<usize>,
    /// States, then inputs.
    knowns: Vec<u32>,
    seed: Vec<f64>,
    column: Vec<f64>,
    row: Vec<f64>,
    by_rows: bool,
    /// Typical size of each state; 0 = unknown.
    nominal: Vec<f64>,
    /// Length of the explicit Euler steps of the FMU; 0 = it does not tell.
    euler_step: f64,
}

impl Linear {
    /// None if the model description lists no states, or states of another type.
    pub(crate) fn new(
        description: &ModelDescription,
        ports: (&Signals, &Signals),
        sizes: &[(usize, u64)],
    ) -> Result<Option<Self>> {
        let (mut states, mut derivatives) = (Signals::default(), Signals::default());
        for state in description.states() {
            let kind = |index: usize| description.variables()[index].kind;
            if kind(state.state) != VariableType::Float64 || kind(state.derivative) != VariableType::Float64 {
                return Ok(None);
            }
            states.push(description, state.state, sizes)?;
            derivatives.push(description, state.derivative, sizes)?;
        }
        if states.width() == 0 || states.elements != derivatives.elements {
            return Ok(None);
        }
        let mut linear = Self::with_states(ports, states, derivatives);
        let states = &linear.states;
        let nominal = states.variables.iter().zip(&states.elements).flat_map(|(index, count)| {
            let nominal = description.variables()[*index].attributes.nominal;
            std::iter::repeat_n(nominal.map_or(0.0, f64::abs), *count)
        });
        linear.nominal = nominal.map(|size| if size.is_finite() { size } else { 0.0 }).collect();
        Ok(Some(linear))
    }

    /// For D alone.
    pub(crate) fn feedthrough(ports: (&Signals, &Signals)) -> Self {
        Self::with_states(ports, Signals::default(), Signals::default())
    }

    fn with_states((inputs, outputs): (&Signals, &Signals), states: Signals, derivatives: Signals) -> Self {
        let unknowns = [&derivatives.references[..], &outputs.references].concat();
        let unknown_elements = [&derivatives.elements[..], &outputs.elements].concat();
        let knowns = [&states.references[..], &inputs.references].concat();
        let all = states.elements.iter().chain(&inputs.elements).chain(&unknown_elements);
        let widest = all.copied().max().unwrap_or(0);
        let (seed, column) = (vec![0.0; widest], vec![0.0; states.width() + outputs.width()]);
        let row = vec![0.0; states.width() + inputs.width()];
        Self {
            states,
            derivatives,
            unknowns,
            unknown_elements,
            knowns,
            seed,
            column,
            row,
            by_rows: false,
            nominal: Vec::new(),
            euler_step: 0.0,
        }
    }

    /// Takes adjoint derivatives from now on.
    pub(crate) fn use_adjoint(&mut self) {
        self.by_rows = true;
    }

    /// What the FMU says about its solver.
    pub(crate) fn set_euler_step(&mut self, step: f64) {
        self.euler_step = step;
    }

    /// Number of states.
    pub(crate) fn states(&self) -> usize {
        self.states.width()
    }

    /// Reads x and x'. x' belongs to the input that the FMU has; false if another one is asked for.
    pub(crate) fn read_state(
        &self,
        instance: &Instance,
        (u, active): (&[f64], &[f64]),
        (x, x_dot): (&mut [f64], &mut [f64]),
    ) -> Result<bool> {
        self.get(instance, x, x_dot)?;
        Ok(u == active)
    }

    /// Gets x and x', if there are any: FMUs need not cope with calls for nothing.
    fn get(&self, instance: &Instance, x: &mut [f64], x_dot: &mut [f64]) -> Result<()> {
        if self.states.references.is_empty() {
            return Ok(());
        }
        instance.get_reals(&self.states.references, x)?;
        instance.get_reals(&self.derivatives.references, x_dot)
    }

    /// Fills a model at the present state. `active` is the input the FMU has, `u` the one asked for: FMI 2 forbids to
    /// set inputs and read without a step, so x' is carried over by B, which is exact where x' is linear in u.
    pub(crate) fn fill(
        &mut self,
        instance: &Instance,
        inputs: &Signals,
        (u, active): (&[f64], &[f64]),
        model: &mut LocalModel,
    ) -> Result<()> {
        let (n, m, r) = (model.states, model.inputs, model.outputs);
        assert!(n == self.states() && m == inputs.total() && n + r >= self.column.len());
        if m > inputs.width() || n + r > self.column.len() {
            // Nothing is known of discrete signals; they have no derivatives.
            [&mut model.b, &mut model.c, &mut model.d].into_iter().for_each(|matrix| matrix.fill(0.0));
        }
        self.get(instance, &mut model.x, &mut model.x_dot)?;
        model.nominal.copy_from_slice(&self.nominal);
        model.euler_step = self.euler_step;
        if self.knowns.is_empty() || self.unknowns.is_empty() {
            return Ok(());
        }
        if self.by_rows {
            self.fill_rows(instance, model)?;
        } else {
            self.fill_columns(instance, inputs, model)?;
        }
        for (i, x_dot) in model.x_dot.iter_mut().enumerate() {
            for (j, b) in model.b[i * m..(i + 1) * m].iter().enumerate() {
                if u[j] != active[j] {
                    *x_dot += b * (u[j] - active[j]);
                }
            }
        }
        Ok(())
    }

    /// Fills D alone at the present state, under the inputs that the FMU has.
    pub(crate) fn fill_feedthrough(
        &mut self,
        instance: &Instance,
        inputs: &Signals,
        model: &mut LocalModel,
    ) -> Result<()> {
        model.d.fill(0.0);
        let (m, first) = (model.inputs, self.states.references.len());
        let (outputs, elements) = (&self.unknowns[first..], &self.unknown_elements[first..]);
        if inputs.references.is_empty() || outputs.is_empty() {
            return Ok(());
        }
        let mut place = 0;
        if self.by_rows {
            for (output, count) in outputs.iter().zip(elements) {
                for element in 0..*count {
                    let (seed, row) = (&mut self.seed[..*count], &mut self.row[..inputs.width()]);
                    seed.fill(0.0);
                    seed[element] = 1.0;
                    instance.adjoint((&[*output], &inputs.references), seed, row)?;
                    model.d[place * m..place * m + row.len()].copy_from_slice(row);
                    place += 1;
                }
            }
            return Ok(());
        }
        let through = self.states.width()..;
        for (reference, count) in inputs.references.iter().zip(&inputs.elements) {
            for element in 0..*count {
                let through = &mut self.column[through.clone()];
                column(instance, outputs, *reference, (element, &mut self.seed[..*count]), through)?;
                scatter(through, &mut model.d, place, m);
                place += 1;
            }
        }
        Ok(())
    }

    /// By directional derivatives: a column for each state and each input.
    fn fill_columns(&mut self, instance: &Instance, inputs: &Signals, model: &mut LocalModel) -> Result<()> {
        let (n, m) = (model.states, model.inputs);
        let mut place = 0;
        for (reference, count) in self.states.references.iter().zip(&self.states.elements) {
            for element in 0..*count {
                column(
                    instance,
                    &self.unknowns,
                    *reference,
                    (element, &mut self.seed[..*count]),
                    &mut self.column,
                )?;
                scatter(&self.column[..n], &mut model.a, place, n);
                scatter(&self.column[n..], &mut model.c, place, n);
                place += 1;
            }
        }
        place = 0;
        for (reference, count) in inputs.references.iter().zip(&inputs.elements) {
            for element in 0..*count {
                column(
                    instance,
                    &self.unknowns,
                    *reference,
                    (element, &mut self.seed[..*count]),
                    &mut self.column,
                )?;
                scatter(&self.column[..n], &mut model.b, place, m);
                scatter(&self.column[n..], &mut model.d, place, m);
                place += 1;
            }
        }
        Ok(())
    }

    /// By adjoint derivatives: a row for each derivative of a state and each output.
    fn fill_rows(&mut self, instance: &Instance, model: &mut LocalModel) -> Result<()> {
        let (n, m) = (model.states, model.inputs);
        let mut place = 0_usize;
        for (unknown, count) in self.unknowns.iter().zip(&self.unknown_elements) {
            for element in 0..*count {
                let seed = &mut self.seed[..*count];
                seed.fill(0.0);
                seed[element] = 1.0;
                instance.adjoint((&[*unknown], &self.knowns), seed, &mut self.row)?;
                let (states, inputs) = self.row.split_at(n);
                let (matrix, through, at) = match place.checked_sub(n) {
                    None => (&mut model.a, &mut model.b, place),
                    Some(output) => (&mut model.c, &mut model.d, output),
                };
                matrix[at * n..(at + 1) * n].copy_from_slice(states);
                through[at * m..at * m + inputs.len()].copy_from_slice(inputs);
                place += 1;
            }
        }
        Ok(())
    }
}

/// The derivatives of all unknowns with respect to one element of one known variable.
fn column(
    instance: &Instance,
    unknowns: &[u32],
    known: u32,
    (element, seed): (usize, &mut [f64]),
    column: &mut [f64],
) -> Result<()> {
    seed.fill(0.0);
    seed[element] = 1.0;
    instance.directional((unknowns, &[known]), seed, column)
}

/// Writes a column of a row-major matrix.
fn scatter(column: &[f64], matrix: &mut [f64], place: usize, width: usize) {
    for (row, value) in column.iter().enumerate() {
        matrix[row * width + place] = *value;
    }
}
