//! The monolithic twin: coupled parts as one system of equations, x' = f(t, x) with u = L y + r(t) at every
//! instant. The reference for every error measure.

use std::cell::RefCell;
use std::ops::Range;

use costep_core::graph::Graph;
use costep_core::{
    Code, Connection, Coupling, Description, Error, External, Layout, LocalModel, Port, Result,
};
use nalgebra::DMatrix;

use crate::ode::Ode;

/// Coupled parts as one system without inputs, whose outputs are the outputs of all parts.
pub struct Composite {
    parts: Vec<Box<dyn Ode>>,
    states: Vec<Range<usize>>,
    layout: Layout,
    coupling: Coupling,
    externals: Vec<(usize, External)>,
    /// Parts to evaluate, level by level: outputs of a level need only inputs fed by lower levels.
    levels: Vec<Vec<usize>>,
    description: Description,
    scratch: RefCell<Scratch>,
}

struct Scratch {
    /// The time `u` and `y` belong to.
    t: f64,
    u: Vec<f64>,
    y: Vec<f64>,
}

impl Composite {
    /// Couples the parts. Fails if outputs depend on themselves without delay.
    pub fn new(
        parts: Vec<Box<dyn Ode>>,
        connections: &[Connection],
        externals: Vec<(usize, External)>,
    ) -> Result<Self> {
        let descriptions: Vec<_> = parts.iter().map(|part| part.description().clone()).collect();
        let layout = Layout::of(&descriptions);
        let coupling = Coupling::new(layout.inputs(), connections);
        let levels = levels(&descriptions, &layout, &coupling)?;
        let mut states = Vec::new();
        let mut start = 0;
        for part in &parts {
            states.push(start..start + part.states());
            start += part.states();
        }
        let scratch = Scratch { t: 0.0, u: vec![0.0; layout.inputs()], y: vec![0.0; layout.outputs()] };
        let description = describe(&descriptions);
        Ok(Self {
            parts,
            states,
            layout,
            coupling,
            externals,
            levels,
            description,
            scratch: RefCell::new(scratch),
        })
    }

    /// Fills consistent inputs and outputs.
    fn resolve(&self, t: f64, x: &[f64], Scratch { t: last, u, y }: &mut Scratch) {
        *last = t;
        self.couple(t, y, u);
        for level in &self.levels {
            for i in level.iter().copied() {
                let (inputs, outputs) = (self.layout.input_range(i), self.layout.output_range(i));
                self.parts[i].outputs(t, &x[self.states[i].clone()], &u[inputs], &mut y[outputs]);
            }
            self.couple(t, y, u);
        }
    }

    /// u = L y + r(t).
    fn couple(&self, t: f64, y: &[f64], u: &mut [f64]) {
        self.coupling.apply(y, u);
        for (j, signal) in &self.externals {
            u[*j] += signal.value(t);
        }
    }

    /// Block-diagonal A, B, C, D of all parts, and dense L.
    fn blocks(&self, t: f64, x: &[f64]) -> [DMatrix<f64>; 5] {
        let scratch = &mut *self.scratch.borrow_mut();
        self.resolve(t, x, scratch);
        let (n, m, r) = (self.states(), self.layout.inputs(), self.layout.outputs());
        let [mut a, mut b] = [DMatrix::zeros(n, n), DMatrix::zeros(n, m)];
        let [mut c, mut d, mut l] = [DMatrix::zeros(r, n), DMatrix::zeros(r, m), DMatrix::zeros(m, r)];
        for (i, part) in self.parts.iter().enumerate() {
            let (xs, us, ys) =
                (self.states[i].clone(), self.layout.input_range(i), self.layout.output_range(i));
            let mut model = LocalModel::new(xs.len(), us.len(), ys.len());
            part.jacobians(t, &x[xs.clone()], &scratch.u[us.clone()], &mut model);
            let place =
                |block: &mut DMatrix<f64>, rows: &Range<usize>, columns: &Range<usize>, values: &[f64]| {
                    let size = (rows.len(), columns.len());
                    block
                        .view_mut((rows.start, columns.start), size)
                        .copy_from(&DMatrix::from_row_slice(size.0, size.1, values));
                };
            place(&mut a, &xs, &xs, &model.a);
            place(&mut b, &xs, &us, &model.b);
            place(&mut c, &ys, &xs, &model.c);
            place(&mut d, &ys, &us, &model.d);
        }
        for j in 0..m {
            for (output, gain) in self.coupling.sources(j) {
                l[(j, output)] += gain;
            }
        }
        [a, b, c, d, l]
    }
}

impl Ode for Composite {
    fn description(&self) -> &Description {
        &self.description
    }

    fn states(&self) -> usize {
        self.states.last().map_or(0, |range| range.end)
    }

    fn initial_state(&self, x: &mut [f64]) {
        for (part, range) in self.parts.iter().zip(&self.states) {
            part.initial_state(&mut x[range.clone()]);
        }
    }

    fn state_name(&self, state: usize) -> String {
        let owner = self.states.iter().position(|range| range.contains(&state)).unwrap_or(0);
        let part = &self.parts[owner];
        format!("{}.{}", part.description().name, part.state_name(state - self.states[owner].start))
    }

    fn nominal_state(&self, x: &mut [f64]) {
        for (part, range) in self.parts.iter().zip(&self.states) {
            part.nominal_state(&mut x[range.clone()]);
        }
    }

    fn derivatives(&self, t: f64, x: &[f64], _u: &[f64], x_dot: &mut [f64]) {
        let scratch = &mut *self.scratch.borrow_mut();
        self.resolve(t, x, scratch);
        for (i, part) in self.parts.iter().enumerate() {
            let states = self.states[i].clone();
            part.derivatives(
                t,
                &x[states.clone()],
                &scratch.u[self.layout.input_range(i)],
                &mut x_dot[states],
            );
        }
    }

    fn outputs(&self, t: f64, x: &[f64], _u: &[f64], y: &mut [f64]) {
        let scratch = &mut *self.scratch.borrow_mut();
        self.resolve(t, x, scratch);
        y.copy_from_slice(&scratch.y);
    }

    /// Closed loop: A + B L (I - D L)^-1 C. I - D L is regular: there is no algebraic loop.
    fn jacobians(&self, t: f64, x: &[f64], _u: &[f64], model: &mut LocalModel) {
        let [a, b, c, d, l] = self.blocks(t, x);
        let loops = DMatrix::identity(d.nrows(), d.nrows()) - d * &l;
        let c = loops.lu().solve(&c).unwrap_or(c);
        let a = a + b * l * &c;
        model.a.copy_from_slice(a.transpose().as_slice());
        model.c.copy_from_slice(c.transpose().as_slice());
    }

    fn is_linear(&self) -> bool {
        self.externals.is_empty() && self.parts.iter().all(|part| part.is_linear())
    }

    fn energy(&self, x: &[f64], _u: &[f64]) -> Option<f64> {
        let scratch = &mut *self.scratch.borrow_mut();
        self.resolve(scratch.t, x, scratch);
        let energy = |i: usize| {
            self.parts[i].energy(&x[self.states[i].clone()], &scratch.u[self.layout.input_range(i)])
        };
        (0..self.parts.len()).map(energy).sum()
    }
}

/// Levels of direct feed-through between outputs, as lists of parts.
pub(crate) fn levels(
    descriptions: &[Description],
    layout: &Layout,
    coupling: &Coupling,
) -> Result<Vec<Vec<usize>>> {
    let mut arrows = Vec::new();
    for (i, description) in descriptions.iter().enumerate() {
        for (output, inputs) in description.feedthrough.iter().enumerate() {
            for input in inputs {
                let sources = coupling.sources(layout.input_range(i).start + input);
                arrows.extend(sources.map(|(source, _)| (source, layout.output_range(i).start + output)));
            }
        }
    }
    let graph = Graph::new(layout.outputs(), &arrows);
    let mut level_of = vec![0; layout.outputs()];
    let mut levels: Vec<Vec<usize>> = vec![Vec::new()];
    for component in graph.components() {
        if graph.is_loop(&component) {
            return Err(algebraic_loop(descriptions, layout, &component));
        }
        let output = component[0];
        let level = level_of[output];
        if levels.len() <= level {
            levels.resize(level + 1, Vec::new());
        }
        levels[level].push(layout.output_owner(output));
        graph.targets(output).iter().for_each(|target| level_of[*target] = level_of[*target].max(level + 1));
    }
    for level in &mut levels {
        level.sort_unstable();
        level.dedup();
    }
    Ok(levels)
}

fn algebraic_loop(descriptions: &[Description], layout: &Layout, outputs: &[usize]) -> Error {
    let name = |output: &usize| {
        let owner = layout.output_owner(*output);
        let port = &descriptions[owner].outputs[output - layout.output_range(owner).start];
        format!("`{}.{}`", descriptions[owner].name, port.name)
    };
    let names: Vec<_> = outputs.iter().take(6).map(name).collect();
    Error::new(
        Code::AlgebraicLoop,
        format!("outputs depend on themselves without delay: {}", names.join(", ")),
    )
}

fn describe(descriptions: &[Description]) -> Description {
    let port = |owner: &Description, port: &Port| Port {
        name: format!("{}.{}", owner.name, port.name),
        ..port.clone()
    };
    let outputs: Vec<_> =
        descriptions.iter().flat_map(|d| d.outputs.iter().map(move |p| port(d, p))).collect();
    Description {
        name: "monolithic".into(),
        feedthrough: vec![Vec::new(); outputs.len()],
        outputs,
        ..Description::default()
    }
}
