//! Extrapolation of the coupled inputs by the polynomial through their last values, in Newton's form, for any
//! spacing of the communication points. External inputs are known and not extrapolated. Body of `zoh`, `foh` and `soh`; while there are not enough points
//! (first steps, after a reset) the order is lower.

use costep_core::{
    Arrival, CouplingMethod, InputSet, InputShape, LowerOrders, Request, Result, Signals, StepContext,
    SystemView,
};

use super::seen_outputs::SeenOutputs;

/// Extrapolation of a given order.
pub(crate) struct Extrapolation {
    order: usize,
    outputs: SeenOutputs,
    inputs: InputSet,
    /// Which subsystem holds means in place of polynomials.
    warning: Option<String>,
}

impl Extrapolation {
    /// Order 0 holds, 1 is a line, 2 a parabola.
    pub(crate) fn new(order: usize, outputs: SeenOutputs) -> Self {
        Self { order, outputs, inputs: InputSet::All(0), warning: None }
    }
}

impl CouplingMethod for Extrapolation {
    fn request(&self) -> Request {
        Request {
            inputs: match self.order {
                0 => InputShape::HeldCoupled,
                order => InputShape::Polynomials { order, lower: LowerOrders::Mean },
            },
            history: self.order,
            ..self.outputs.request()
        }
    }

    fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    fn prepare(&mut self, system: &SystemView<'_>) -> Result<()> {
        let lower = system.inputs.iter().find(|j| system.order_of_input(*j) < self.order);
        self.warning = lower.map(|j| {
            let of = &system.descriptions[system.layout.input_owner(j)];
            let input = &of.inputs[j - system.layout.input_range(system.layout.input_owner(j)).start].name;
            format!(
                "inputs that take no polynomial of order {}, such as `{}.{input}`, get the nearest one of a lower order: \
                 the mean over the step where they are held",
                self.order, of.name
            )
        });
        self.inputs = system.inputs.clone();
        self.outputs.prepare(system);
        Ok(())
    }

    fn form_coupled(&mut self, arrival: &Arrival<'_>, coupled: &mut [f64]) -> Result<()> {
        self.outputs.form_coupled(arrival, coupled)
    }

    fn pre_step(&mut self, step: &StepContext, signals: &mut Signals<'_>) -> Result<()> {
        self.inputs.copy(signals.coupled, signals.inputs.coefficients_mut(0));
        let order = self.order.min(signals.history.len());
        match order {
            0 => self.clear_from(1, signals),
            1 => {
                self.slopes(step, signals);
                self.clear_from(2, signals);
            }
            _ => {
                self.slopes(step, signals);
                self.curvatures(step, signals);
            }
        }
        // External inputs are known in advance: their share is not extrapolated but taken as it will be.
        if self.order > 0 {
            signals.put_in_externals(step, self.order, &self.inputs);
        }
        Ok(())
    }
}

impl Extrapolation {
    /// c1 of the line through z^(k-1), z^k, without their external share.
    fn slopes(&self, step: &StepContext, signals: &mut Signals<'_>) {
        let (last, gap) = (signals.history.coupled(1), step.t - signals.history.time(1));
        let slopes = signals.inputs.coefficients_mut(1);
        for j in self.inputs.iter() {
            slopes[j] = (signals.coupled[j] - signals.external[j] - last[j]) / gap;
        }
    }

    /// From the line to the parabola through z^(k-2), z^(k-1), z^k: c2, and the change of c1.
    fn curvatures(&self, step: &StepContext, signals: &mut Signals<'_>) {
        let (last, gap) = (signals.history.coupled(1), step.t - signals.history.time(1));
        let (before, span) = (signals.history.coupled(2), step.t - signals.history.time(2));
        for j in self.inputs.iter() {
            let slope = signals.inputs.coefficients(1)[j];
            let slope_before = (last[j] - before[j]) / (span - gap);
            let curvature = (slope - slope_before) / span;
            signals.inputs.coefficients_mut(1)[j] = slope + gap * curvature;
            signals.inputs.coefficients_mut(2)[j] = curvature;
        }
    }

    /// Zeroes the coefficients that a lower order leaves unused.
    fn clear_from(&self, lowest: usize, signals: &mut Signals<'_>) {
        for a in lowest..=self.order {
            let coefficients = signals.inputs.coefficients_mut(a);
            self.inputs.iter().for_each(|j| coefficients[j] = 0.0);
        }
    }
}
