//! Predictive coupling: the inputs are polynomials that fit the outputs which the subsystems will produce, by local
//! models.
//!
//! ```text
//! local model    x' = A x + B u + b,  y = C x + D u + beta,  u = L y + r(t)
//! basis          u(theta) = sum_a c_a Q_a(theta), a = 0..p, orthonormal Legendre polynomials on the step
//! response       eta = M_x x + M_b b + e_0 beta + M_u c           (shared/response), exact for the local model
//! coupling       c = L eta + r_hat,  r_hat the projection of r
//! interface      (I - M_u L) eta = M_x x + M_b b + e_0 beta + M_u r_hat   (shared/interface.rs)
//! ```
//!
//! `fit=galerkin` solves the interface: the inputs equal the projection of the outputs that they themselves cause. One
//! small solve per step; no exponential of the coupled system. Local modes are exact for any step, only the coupling
//! signal is a polynomial. Over power bonds (L = -L^T in matched units) the projection neither creates nor removes
//! energy: int y^T u = int (P y)^T L (P y) = 0, so passive subsystems stay passive together for any h and p. Error at the
//! communication points: h^(2p+2) with exact models.
//!
//! Over other connections nothing of the kind is known, and there are systems that this makes unstable at large steps. By
//! default the map of a macro step that follows from the models is looked at, and where it grows although the coupled system does
//! not, end states are matched (`stability.rs`): states at communication points are then those of the coupled system.
//!
//! `fit=sharp` predicts with degree p + 2, truncates, and pulls the end states back to the prediction (`matching.rs`): more
//! accurate with exact models, without the guarantee. `fit=l2` and `fit=end` are for comparison: they project the solution
//! of the coupled models as a whole (`closed.rs`); the first is unstable where a fast mode is truncated, the second
//! matches the end states.
//!
//! x comes from the subsystem, from an observer, or is z = y - D u_end (`part.rs`). Offsets b and beta hold what the linear
//! model does not know: nonlinearity, unknown forces. Where a subsystem tells that it solves its equations by explicit
//! Euler steps, its response is that of these steps.
//!
//! An input that a subsystem takes with a lower degree only gets the prediction of degree four, truncated: its mean over
//! the step if it is held. Different degrees in one interface system would not commute.

mod closed;
mod externals;
mod linear_responses;
mod matching;
mod observer;
mod offsets;
mod settings;
mod stability;
mod subsystem;

use costep_core::{
    Coupling, CouplingMethod, Deviations, InputSet, InputShape, KnownInputs, Layout, LengthDemand,
    LowerOrders, MethodEntry, ModelDemand, ModelKind, ModelsSpec, Options, Request, Result, Signals,
    StateReader, StateWriter, StepContext, SystemView,
};

use crate::papers::{learnt, thesis};
use crate::shared::interface::Interface;
use crate::shared::legendre;
use crate::shared::models::singular_interface;
use crate::shared::per_subsystem::PerSubsystem;
use crate::shared::response::ResponseWorkspace;
use crate::shared::sizes::Sizes;
use closed::ClosedLoop;
use externals::ProjectedExternals;
use linear_responses::LinearResponses;
use settings::{Fit, PredictiveOptions, Settings};
use stability::Stability;
use subsystem::SubsystemPredictor;

/// Row of the registry.
pub const ENTRY: MethodEntry = MethodEntry {
    id: "predictive",
    title: "predictive coupling by interface Galerkin",
    summary: "Input polynomials that equal the projection of the outputs that the subsystems will produce \
              under them, according to their local models. Stable for any step over power bonds, very accurate with exact \
              models.",
    equations: "(I - M_u L) eta = M_x x + M_b b + e_0 beta + M_u r,  u = L eta + r  in Legendre coefficients",
    source: "costep",
    convergence_order: 6,
    deviations: Deviations::NONE,
    models: ModelKind::ALL,
    options: PredictiveOptions::SPECS,
    papers: Some(&thesis::PHASES),
    build,
};

/// Degree of the prediction where inputs are truncated to what subsystems take.
const TRUNCATED_FROM: usize = 4;

struct Predictive {
    settings: Settings,
    /// The fit in use.
    fit: Fit,
    inputs: InputSet,
    layout: Layout,
    /// Degree of each input; inputs of other groups are known constants.
    orders: Vec<Option<usize>>,
    /// Coefficients per signal in the prediction.
    width: usize,
    parts: PerSubsystem<SubsystemPredictor>,
    linear_responses: LinearResponses,
    shop: ResponseWorkspace,
    interface: Interface,
    /// The coupled models as a whole, where a fit needs them.
    closed: Option<Box<ClosedLoop>>,
    /// Chooses the fit.
    stability: Option<Box<Stability>>,
    sizes: Sizes,
    externals: ProjectedExternals,
    /// eta, coefficients of all outputs.
    eta: Vec<f64>,
    /// c, coefficients of all inputs.
    c: Vec<f64>,
    h: f64,
}

fn build(options: &Options, models: &ModelsSpec) -> Box<dyn CouplingMethod> {
    if models.entry.kind == ModelKind::Discrete {
        return learnt::predicted(options, models);
    }
    let settings = Settings::new(options, &models.offer());
    Box::new(Predictive {
        fit: if settings.fit == Fit::Auto { Fit::Galerkin } else { settings.fit },
        settings,
        inputs: InputSet::All(0),
        layout: Layout::default(),
        orders: Vec::new(),
        width: 0,
        parts: PerSubsystem::default(),
        linear_responses: LinearResponses::default(),
        shop: ResponseWorkspace::default(),
        interface: Interface::default(),
        closed: None,
        stability: None,
        sizes: Sizes::default(),
        externals: ProjectedExternals::default(),
        eta: Vec::new(),
        c: Vec::new(),
        h: 0.0,
    })
}

impl CouplingMethod for Predictive {
    fn choose(&mut self, system: &SystemView<'_>) -> Result<()> {
        self.settings.check()?;
        let highest = self.settings.order;
        let takes = |j: usize| {
            let order = system.order_of_input(j);
            if self.settings.substeps > 1 { highest } else { order.min(highest) }
        };
        let order = |j: usize| system.inputs.contains(j).then(|| takes(j));
        self.orders = (0..system.layout.inputs()).map(order).collect();
        let ours = || self.orders.iter().flatten().copied();
        let (least, most) = (ours().min().unwrap_or(highest), ours().max().unwrap_or(highest));
        self.width = 1 + match self.settings.fit {
            Fit::Sharp => (most + 2).max(if least < most { TRUNCATED_FROM } else { 0 }),
            Fit::Auto | Fit::Galerkin if least < most || least < highest && most == 0 => TRUNCATED_FROM,
            _ => most,
        };
        Ok(())
    }

    fn request(&self) -> Request {
        let order = self.orders.iter().flatten().copied().max().unwrap_or(0);
        let lower = match self.settings.substeps {
            0 | 1 => LowerOrders::Kept,
            substeps => LowerOrders::Substeps(substeps),
        };
        Request {
            inputs: InputShape::Polynomials { order, lower },
            known_inputs: KnownInputs::Kept,
            models: ModelDemand::Full { states: true },
            projected: true,
            lengths: match self.settings.has_stationary_filter() {
                true => LengthDemand::Equal,
                false => LengthDemand::Any,
            },
            ..Request::default()
        }
    }

    fn prepare(&mut self, system: &SystemView<'_>) -> Result<()> {
        let layout = system.layout;
        self.inputs = system.inputs.clone();
        self.layout = layout.clone();
        self.parts = PerSubsystem::new(layout.subsystems());
        let chooses = self.settings.fit == Fit::Auto && stability::can_be_known(system);
        if !self.fit.is_closed() {
            self.interface = Interface::new(system, self.width);
        }
        if self.fit.is_closed() || chooses {
            self.closed = Some(Box::new(ClosedLoop::new(system)));
        }
        self.stability = chooses.then(Box::default);
        self.sizes = Sizes::new(system);
        self.externals = ProjectedExternals::new(system, self.width);
        self.eta = vec![0.0; layout.outputs() * self.width];
        self.c = vec![0.0; layout.inputs() * self.width];
        Ok(())
    }

    fn pre_step(&mut self, step: &StepContext, signals: &mut Signals<'_>) -> Result<()> {
        self.sizes.start(signals.y, signals.coupled);
        if self.refresh(step, signals)? {
            self.renew(step)?;
        }
        let turned = self.choose_fit(step, signals)?;
        self.known_inputs(step, signals);
        // A step that is repeated starts where it did, but for parts that had not to be located for the fit before.
        if step.repetition == 0 {
            self.locate(signals, |_| true);
        } else if turned {
            let settings = self.settings;
            self.locate(signals, |part| part.is_linear_with_read_states(&settings));
        }
        self.predict(signals);
        self.cut_and_match();
        self.remember();
        self.write(signals);
        Ok(())
    }

    fn expect(&mut self, signals: &Signals<'_>, y: &mut [f64]) -> bool {
        for (i, part) in self.parts.each.iter_mut().enumerate() {
            let (us, ys) = (self.layout.input_range(i), self.layout.output_range(i));
            let read = self.linear_responses.map(i).and_then(|_| signals.models.state(i));
            let c = &self.c[us.start * self.width..us.end * self.width];
            part.end_outputs(read.map(|(x, _)| x), c, &mut y[ys]);
        }
        true
    }

    fn warning(&self) -> Option<&str> {
        self.stability.as_ref().and_then(|stability| stability.warning())
    }

    fn save(&self, out: &mut StateWriter) {
        self.sizes.save(out);
        if let Some(stability) = &self.stability {
            stability.save(self.fit, out);
        }
        self.parts.each.iter().for_each(|part| part.save(out));
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.sizes.load(from)?;
        self.parts.restored();
        if let Some(stability) = &mut self.stability {
            let fit = stability.load(from)?;
            if fit != std::mem::replace(&mut self.fit, fit) {
                self.parts.forget();
            }
        }
        self.parts.each.iter_mut().try_for_each(|part| part.load(from))
    }
}

impl Predictive {
    /// New responses where a model or the step has changed; says whether any has.
    fn refresh(&mut self, step: &StepContext, signals: &Signals<'_>) -> Result<bool> {
        let Self { settings, layout, width, sizes, shop, .. } = self;
        self.h = step.h;
        self.parts.refresh(step, signals, |part, i, model| {
            let (us, ys) = (layout.input_range(i), layout.output_range(i));
            let sizes = (&sizes.inputs[us], &sizes.outputs[ys]);
            part.update(model, (step.h, *width), settings, sizes, shop)
        })
    }

    /// What follows from new responses.
    fn renew(&mut self, step: &StepContext) -> Result<()> {
        self.collect_linear_responses();
        if self.fit.matches_ends() {
            self.match_ends();
        }
        if self.fit.is_closed()
            && let Err(error) = self.close(step)
        {
            if self.stability.is_none() {
                return Err(error);
            }
            self.turn_to(Fit::Galerkin);
        }
        let parts = &self.parts.each;
        let has_interface = !self.settings.fit.is_closed();
        let regular = !has_interface || self.interface.factor(|i| &parts[i].response.input_to_output);
        if let Some(stability) = &mut self.stability {
            stability.models_changed(regular, self.parts.edition());
            return Ok(());
        }
        if regular { Ok(()) } else { Err(singular_interface(step)) }
    }

    /// New maps of the coupled models as a whole.
    fn close(&mut self, step: &StepContext) -> Result<()> {
        let euler_step = self.common_euler_step().unwrap_or(0.0);
        match &mut self.closed {
            Some(closed) => closed.update(&self.parts.each, &self.layout, (step, self.width), euler_step),
            None => Ok(()),
        }
    }

    fn turn_to(&mut self, fit: Fit) {
        self.fit = fit;
        self.collect_linear_responses();
        if fit.matches_ends() {
            self.match_ends();
        }
    }

    /// Length of the Euler steps of all subsystems with states, zero if they are continuous; none if they differ.
    fn common_euler_step(&self) -> Option<f64> {
        let with_states = self.parts.each.iter().filter(|part| !part.x.is_empty());
        let mut lengths = with_states.map(|part| self.settings.euler_step(part.model.euler_step));
        let first = lengths.next().unwrap_or(0.0);
        lengths.all(|length| length == first).then_some(first)
    }

    /// Linear parts need one map only, where the interface is all that is solved.
    fn collect_linear_responses(&mut self) {
        let plain = self.fit == Fit::Galerkin;
        let is_linear = |part: &SubsystemPredictor| plain && part.is_linear_with_read_states(&self.settings);
        self.linear_responses
            .collect(self.parts.each.iter().map(|part| is_linear(part).then_some(&part.response)));
    }

    fn match_ends(&mut self) {
        for (i, part) in self.parts.each.iter_mut().enumerate() {
            let us = self.layout.input_range(i);
            part.match_ends(self.fit, &self.orders[us.clone()], &self.sizes.inputs[us]);
        }
    }

    /// c = r_hat: external inputs projected, wherever they jump, inputs of other groups as they stand.
    fn known_inputs(&mut self, step: &StepContext, signals: &Signals<'_>) {
        self.c.fill(0.0);
        if self.inputs.len() < self.orders.len() {
            for (j, c) in self.c.chunks_exact_mut(self.width).enumerate() {
                if self.orders[j].is_none() {
                    c[0] = signals.coupled[j];
                }
            }
        }
        for (j, signal) in signals.externals {
            if let Some(order) = self.orders[*j] {
                let c = &mut self.c[j * self.width..(j + 1) * self.width];
                self.externals.add((*j, signal), step, order, c);
            }
        }
    }

    /// Where these subsystems stand, and what their models do not explain.
    fn locate(&mut self, signals: &Signals<'_>, which: impl Fn(&SubsystemPredictor) -> bool) {
        let Self { parts, linear_responses, layout, .. } = self;
        for (i, part) in parts.each.iter_mut().enumerate() {
            if linear_responses.map(i).is_some() || !which(part) {
                continue;
            }
            let (us, ys) = (layout.input_range(i), layout.output_range(i));
            if let (Some(model), Some(state)) = (signals.models.model(i), signals.models.state(i)) {
                let sizes = &self.sizes.outputs[ys.clone()];
                part.locate(&model.c, state, (&signals.u_end[us], &signals.y[ys]), sizes, &self.settings);
            }
        }
    }

    /// c of the coupled local models.
    fn predict(&mut self, signals: &Signals<'_>) {
        let parts = &self.parts.each;
        if let Some(closed) = self.closed.as_mut().filter(|_| self.fit.is_closed()) {
            closed.predict(parts, &mut self.c);
            return;
        }
        for (i, part) in parts.iter().enumerate() {
            let (us, ys) = (self.layout.input_range(i), self.layout.output_range(i));
            let eta = &mut self.eta[ys.start * self.width..ys.end * self.width];
            let known = &self.c[us.start * self.width..us.end * self.width];
            match (self.linear_responses.map(i), signals.models.state(i)) {
                (Some(map), Some((x, _))) => {
                    linear_responses::respond(map, x, eta);
                    part.forced_response(known, eta);
                }
                _ => part.free_response(known, eta),
            }
        }
        self.couple(signals.coupling);
    }

    /// c += L eta, with eta of the interface from the free responses.
    fn couple(&mut self, coupling: &Coupling) {
        let parts = &self.parts.each;
        self.interface.solve(|i| &parts[i].response.input_to_output, &mut self.eta);
        for j in self.inputs.iter() {
            for (output, gain) in coupling.sources(j) {
                for a in 0..self.width {
                    self.c[j * self.width + a] += gain * self.eta[output * self.width + a];
                }
            }
        }
    }

    /// Truncates to what the subsystems take, and matches the end states if asked to.
    fn cut_and_match(&mut self) {
        let width = self.width;
        let is_cut = |order: &Option<usize>| order.map_or(1, |order| order + 1) < width;
        if self.fit == Fit::Galerkin && !self.orders.iter().any(is_cut) {
            return;
        }
        let aim = self.closed.as_ref().filter(|_| self.fit == Fit::End);
        for (i, part) in self.parts.each.iter_mut().enumerate() {
            let us = self.layout.input_range(i);
            let (orders, c) = (&self.orders[us.clone()], &mut self.c[us.start * width..us.end * width]);
            if let Some(closed) = aim {
                part.aim_at(closed.end_state(i), c);
            } else if self.fit == Fit::Sharp {
                part.aim_at_truncated(orders, c);
            }
            for (c, order) in c.chunks_exact_mut(width).zip(orders) {
                c[order.map_or(1, |order| order + 1)..].fill(0.0);
            }
            if self.fit.matches_ends() {
                part.correct(c);
            }
        }
    }

    /// Keeps what the models predict for the end of the step, where somebody compares with it.
    fn remember(&mut self) {
        if !self.settings.remembers() {
            return;
        }
        for (i, part) in self.parts.each.iter_mut().enumerate() {
            let us = self.layout.input_range(i);
            part.remember(&self.c[us.start * self.width..us.end * self.width]);
        }
    }

    /// From Legendre coefficients to powers of the time since the start of the step.
    fn write(&self, signals: &mut Signals<'_>) {
        let mut scale = 1.0;
        for b in 0..=signals.inputs.order().min(self.width - 1) {
            let powers = signals.inputs.coefficients_mut(b);
            for j in self.inputs.iter() {
                let c = &self.c[j * self.width..(j + 1) * self.width];
                powers[j] = (b..self.width).map(|a| c[a] * legendre::coefficient(a, b)).sum::<f64>() / scale;
            }
            scale *= self.h;
        }
    }
}
