//! MOESP: a state-space model from a moving window of inputs and outputs [T 2.3.1, H18].
//!
//! The window holds rows h = [u^k .. u^(k+r-1), y^k .. y^(k+r-1)]; the triangular factor of these rows is kept up to date row by row
//! (`Window`), so that a sample costs the same whatever the length of the window. From its blocks:
//!
//! ```text
//! R = [R11 R12; 0 R22],  L11 = R11^T, L21 = R12^T, L22 = R22^T = U S V^T
//! Gamma = U_s S_s^(1/2),  C = its first n rows,  A by the shift of its rows
//! U_n^T L21 L11^+ = K,    K_i = [Lcal_i, Lcal_(i+1..r) Gamma_(1..r-i)] [D; B]        by least squares
//! ```
//!
//! The model is in the standard convention x^(k+1) = A x^k + B u^k, y^k = C x^k + D u^k with (u^k, y^k) the input held over the step that
//! ends with y^k. Its Interface Jacobians are S_y = C A C^+, S_u = C B - S_y D, S_p = D; they are sound where C is
//! square, so the order should be the number of outputs.

use costep_core::{
    InterfaceModel, Learning as Learns, ModelKind, Options, Result, SourceEntry, StateReader, StateWriter,
    join, options,
};
use costep_linalg::{Matrix, PseudoInverse, Svd};

use crate::estimator::{Algorithm, subspace_sizes};
use crate::learning::{Learning, SampleOptions, discrete};
use crate::quality::excitation;
use crate::window::Window;

/// Row of the registry.
pub(crate) const ENTRY: SourceEntry = SourceEntry {
    id: "moesp",
    title: "subspace identification over a moving window",
    summary: "Identifies a state-space model during the run, from the last inputs and outputs alone (MOESP), and \
              takes its Interface Jacobians.",
    needs: "nothing; with `samples` micro samples",
    source: "[T] section 2.3.1, table 3.13; [H18]",
    kind: ModelKind::Discrete,
    options: &join::<7>(&[MoespOptions::SPECS, SampleOptions::SPECS]),
    settle: |_| {},
    offer: |options| discrete(Learns::Window, options),
    build: |options| {
        let MoespOptions { model_order: order, block_rows, window, cut, interval } =
            MoespOptions::read(options);
        Box::new(Learning::by(Algorithm::Moesp { order, block_rows, window, cut, interval }, options))
    },
};

options! {
    /// Options of the source. Defaults: [T table 3.13].
    struct MoespOptions {
        /// number of states of each model; 0: by the singular values
        model_order: usize = 1 in 0..=20;
        /// block rows r of the Hankel matrices; 0: two more than the states need
        block_rows: usize = 0 in 0..=30;
        /// samples in the window
        window: usize = 778 in 10..=100_000;
        /// singular values of the inputs below this share of the greatest carry no information
        cut: f64 = 1e-3 in 1e-14..=0.5;
        /// samples between two realisations, which cost two singular value decompositions; the window
        /// itself moves with every sample
        interval: usize = 50 in 1..=10_000;
    }
}

/// States at most and block rows of checked options, for a part with so many outputs.
pub fn moesp_orders(options: &Options, outputs: usize) -> (usize, usize) {
    let MoespOptions { model_order, block_rows, .. } = MoespOptions::read(options);
    subspace_sizes(model_order, block_rows, outputs)
}

/// Settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MoespSettings {
    /// Number of states; 0 chooses by the singular values.
    pub order: usize,
    /// r, block rows; at least one more than the order.
    pub block_rows: usize,
    /// Number of samples in the window.
    pub window: usize,
    /// Singular values of the inputs below this share of the greatest carry no information. Tight values amplify
    /// what little excitation there is.
    pub cut: f64,
}

/// Automatic order: singular values below this share of the greatest are noise.
const ORDER_CUT: f64 = 1e-6;

/// A state-space model of one subsystem and the window it comes from.
#[derive(Clone, Debug)]
pub struct Moesp {
    settings: MoespSettings,
    inputs: usize,
    outputs: usize,
    window: Window,
    work: Work,
    model: StateSpace,
}

/// x^(k+1) = A x^k + B u^k, y^k = C x^k + D u^k.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateSpace {
    /// Number of states, at most as many as there is room for.
    pub order: usize,
    /// A.
    pub a: Matrix,
    /// B.
    pub b: Matrix,
    /// C.
    pub c: Matrix,
    /// D.
    pub d: Matrix,
}

/// Everything that depends on the order of the model.
#[derive(Clone, Debug)]
struct Sized {
    gamma: Matrix,
    upper: Matrix,
    lower: Matrix,
    upper_inverse: (PseudoInverse, Matrix),
    /// K, (r n - o) x r m.
    k: Matrix,
    /// [Lcal_i, Lcal Gamma] stacked, r (r n - o) x (n + o), and its pseudo-inverse.
    stacked: Matrix,
    stacked_inverse: (PseudoInverse, Matrix),
    right: Matrix,
    solution: Matrix,
    c_inverse: (PseudoInverse, Matrix),
    model: StateSpace,
}

#[derive(Clone, Debug)]
struct Work {
    l11: Matrix,
    l11_inverse: (PseudoInverse, Matrix),
    r22: Matrix,
    svd: Svd,
    /// R12^T L11^+.
    product: Matrix,
    /// One for each order that may be chosen, from 1.
    sized: Vec<Sized>,
}

impl Moesp {
    /// An empty window.
    ///
    /// # Panics
    /// If the window is shorter than its rows are wide, or has less than two block rows.
    pub fn new(inputs: usize, outputs: usize, settings: MoespSettings) -> Self {
        let (r, n, m) = (settings.block_rows, outputs, inputs);
        assert!(r >= 2 && settings.order < r * n.max(1), "{r} block rows for order {}", settings.order);
        assert!(settings.window >= r * (n + m) + r, "a window of {} samples is too short", settings.window);
        // More states than (r - 1) n rows of Gamma could not be told apart.
        let greatest = if settings.order > 0 { settings.order } else { ((r - 1) * n).min(2 * n).max(1) };
        let least = if settings.order > 0 { settings.order } else { 1 };
        let work = Work {
            l11: Matrix::zeros(r * m, r * m),
            l11_inverse: (PseudoInverse::new(r * m, r * m), Matrix::zeros(r * m, r * m)),
            r22: Matrix::zeros(r * n, r * n),
            svd: Svd::new(r * n, r * n),
            product: Matrix::zeros(r * n, r * m),
            sized: (least..=greatest).map(|o| Sized::new(o, n, m, r)).collect(),
        };
        Self {
            settings,
            inputs,
            outputs,
            window: Window::new(inputs, outputs, r, settings.window),
            work,
            model: StateSpace::new(greatest, inputs, outputs),
        }
    }

    /// Takes in the input held over a step and the outputs at its end.
    pub fn observe(&mut self, u: &[f64], y: &[f64]) {
        self.window.observe(u, y);
    }

    /// Forgets all samples, but not the last model.
    pub fn reset(&mut self) {
        self.window.clear();
    }

    /// Whether the window has enough samples for a model.
    pub fn is_ready(&self) -> bool {
        self.window.rows() >= self.settings.block_rows * (self.inputs + self.outputs)
    }

    /// Computes the model of the window. False, and the last model unchanged, if the data do not give one.
    #[must_use]
    pub fn identify(&mut self) -> bool {
        if !self.is_ready() {
            return false;
        }
        let (r, n, m) = (self.settings.block_rows, self.outputs, self.inputs);
        let Work { l11, l11_inverse, r22, svd, product, sized } = &mut self.work;
        let factor = self.window.factor();
        for i in 0..r * m {
            for j in 0..=i {
                l11[(i, j)] = factor[(j, i)];
            }
        }
        for i in 0..r * n {
            for j in i..r * n {
                r22[(i, j)] = factor[(r * m + i, r * m + j)];
            }
        }
        // U of L22 = R22^T are the right vectors of R22: orthonormal, also the part without singular values.
        svd.compute(r22);
        l11_inverse.0.compute(l11, self.settings.cut, &mut l11_inverse.1);
        for i in 0..r * n {
            for j in 0..r * m {
                product[(i, j)] = (0..r * m).map(|k| factor[(k, r * m + i)] * l11_inverse.1[(k, j)]).sum();
            }
        }
        let order = if sized.len() == 1 { sized[0].model.order } else { choose_order(svd, sized.len()) };
        let Some(sized) = sized.iter_mut().find(|sized| sized.model.order == order) else { return false };
        if !sized.compute(svd, product, (r, n, m)) {
            return false;
        }
        self.model.unscale(&sized.model, &self.window);
        true
    }

    /// The last model.
    pub fn model(&self) -> &StateSpace {
        &self.model
    }

    /// Singular values of L22 of the last model, greatest first: a gap shows the order.
    pub fn singular_values(&self) -> &[f64] {
        self.work.svd.singular()
    }

    /// Persistence of excitation of the window, 0 to 1.
    pub fn excitation(&self) -> f64 {
        excitation(self.work.l11_inverse.0.singular())
    }

    /// Writes the Interface Jacobians of the last model.
    pub fn interface(&mut self, model: &mut InterfaceModel) {
        let (n, m, order) = (self.outputs, self.inputs, self.model.order);
        let Some(sized) = self.work.sized.iter_mut().find(|sized| sized.model.order == order) else { return };
        sized.c_inverse.0.compute(&sized.model.c, 1e-9, &mut sized.c_inverse.1);
        let StateSpace { a, b, c, d, .. } = &sized.model;
        let window = &self.window;
        let c_a = |i: usize, l: usize| -> f64 { (0..order).map(|k| c[(i, k)] * a[(k, l)]).sum() };
        let s_y =
            |i: usize, j: usize| -> f64 { (0..order).map(|l| c_a(i, l) * sized.c_inverse.1[(l, j)]).sum() };
        for i in 0..n {
            for j in 0..n {
                model.d_y[i * n + j] = s_y(i, j) * window.output_unit(i) / window.output_unit(j);
            }
            for j in 0..m {
                let c_b: f64 = (0..order).map(|k| c[(i, k)] * b[(k, j)]).sum();
                let s_y_d: f64 = (0..n).map(|l| s_y(i, l) * d[(l, j)]).sum();
                let unit = window.output_unit(i) / window.input_unit(j);
                model.d_u[i * m + j] = (c_b - s_y_d) * unit;
                model.d_up[i * m + j] = d[(i, j)] * unit;
            }
        }
        model.offset.fill(0.0);
    }

    /// Writes its memory. The model follows from the window.
    pub fn save(&self, out: &mut StateWriter) {
        self.window.save(out);
    }

    /// Reads its memory and computes the model again.
    pub fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.window.load(from)?;
        let _has_model = self.identify();
        Ok(())
    }
}

/// The order with the widest gap after it, among those above the noise.
fn choose_order(svd: &Svd, greatest: usize) -> usize {
    let singular = svd.singular();
    let noise = ORDER_CUT * singular.first().copied().unwrap_or(0.0);
    let gap = |o: usize| singular[o - 1].max(noise) / singular.get(o).copied().unwrap_or(0.0).max(noise);
    (1..=greatest.min(singular.len())).fold(1, |best, o| if gap(o) > gap(best) { o } else { best })
}

impl Sized {
    fn new(order: usize, n: usize, m: usize, r: usize) -> Self {
        let (tall, upper, noise) = (r * n, (r - 1) * n, r * n - order);
        let inverse = |rows, columns| (PseudoInverse::new(rows, columns), Matrix::zeros(columns, rows));
        Self {
            gamma: Matrix::zeros(tall, order),
            upper: Matrix::zeros(upper, order),
            lower: Matrix::zeros(upper, order),
            upper_inverse: inverse(upper, order),
            k: Matrix::zeros(noise, r * m),
            stacked: Matrix::zeros(r * noise, n + order),
            stacked_inverse: inverse(r * noise, n + order),
            right: Matrix::zeros(r * noise, m),
            solution: Matrix::zeros(n + order, m),
            c_inverse: inverse(n, order),
            model: StateSpace::new(order, m, n),
        }
    }

    /// The model in scaled units. False if it is not finite.
    fn compute(&mut self, svd: &Svd, product: &Matrix, (r, n, m): (usize, usize, usize)) -> bool {
        let order = self.model.order;
        for i in 0..r * n {
            for s in 0..order {
                self.gamma[(i, s)] = svd.right(i, s) * svd.singular()[s].sqrt();
            }
        }
        for i in 0..(r - 1) * n {
            self.upper.row_mut(i).copy_from_slice(self.gamma.row(i));
            self.lower.row_mut(i).copy_from_slice(self.gamma.row(n + i));
        }
        self.upper_inverse.0.compute(&self.upper, 1e-12, &mut self.upper_inverse.1);
        self.model.a.set_product(&self.upper_inverse.1, &self.lower);
        (0..n).for_each(|i| self.model.c.row_mut(i).copy_from_slice(self.gamma.row(i)));
        self.inputs_of_model(svd, product, (r, n, m));
        let StateSpace { a, b, c, d, .. } = &self.model;
        [a, b, c, d].iter().all(|matrix| matrix.is_finite())
    }

    /// B and D.
    fn inputs_of_model(&mut self, svd: &Svd, product: &Matrix, (r, n, m): (usize, usize, usize)) {
        let order = self.model.order;
        let noise = r * n - order;
        // Row v of Lcal = U_n^T.
        let l = |v: usize, column: usize| svd.right(column, order + v);
        for v in 0..noise {
            for j in 0..r * m {
                self.k[(v, j)] = (0..r * n).map(|i| l(v, i) * product[(i, j)]).sum();
            }
        }
        for block in 0..r {
            for v in 0..noise {
                let row = block * noise + v;
                for i in 0..n {
                    self.stacked[(row, i)] = l(v, block * n + i);
                }
                for s in 0..order {
                    let after = (block + 1) * n..r * n;
                    let sum =
                        after.map(|column| l(v, column) * self.gamma[(column - (block + 1) * n, s)]).sum();
                    self.stacked[(row, n + s)] = sum;
                }
                for j in 0..m {
                    self.right[(row, j)] = self.k[(v, block * m + j)];
                }
            }
        }
        self.stacked_inverse.0.compute(&self.stacked, 1e-12, &mut self.stacked_inverse.1);
        self.solution.set_product(&self.stacked_inverse.1, &self.right);
        (0..n).for_each(|i| self.model.d.row_mut(i).copy_from_slice(self.solution.row(i)));
        (0..order).for_each(|s| self.model.b.row_mut(s).copy_from_slice(self.solution.row(n + s)));
    }
}

impl StateSpace {
    fn new(order: usize, inputs: usize, outputs: usize) -> Self {
        Self {
            order,
            a: Matrix::zeros(order, order),
            b: Matrix::zeros(order, inputs),
            c: Matrix::zeros(outputs, order),
            d: Matrix::zeros(outputs, inputs),
        }
    }

    /// Takes over a model in scaled units; its entries beyond the order are zero.
    fn unscale(&mut self, scaled: &Self, window: &Window) {
        let (o, inputs, outputs) = (scaled.order, scaled.d.columns(), scaled.d.rows());
        for matrix in [&mut self.a, &mut self.b, &mut self.c, &mut self.d] {
            matrix.fill(0.0);
        }
        self.order = o;
        for s in 0..o {
            (0..o).for_each(|k| self.a[(s, k)] = scaled.a[(s, k)]);
            (0..inputs).for_each(|j| self.b[(s, j)] = scaled.b[(s, j)] / window.input_unit(j));
            (0..outputs).for_each(|i| self.c[(i, s)] = scaled.c[(i, s)] * window.output_unit(i));
        }
        for i in 0..outputs {
            for j in 0..inputs {
                self.d[(i, j)] = scaled.d[(i, j)] * window.output_unit(i) / window.input_unit(j);
            }
        }
    }
}
