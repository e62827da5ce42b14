//! Directional and adjoint derivatives from the exact A, B, C, D of the part.

use costep_core::{Code, Error, LocalModel, Result};

use crate::instance::{Instance, LifecyclePhase};
use crate::plan::{Capability, Role};

impl Instance {
    /// sensitivity = J seed, J = d unknowns / d knowns.
    pub fn directional(
        &mut self,
        (unknowns, knowns): (&[u32], &[u32]),
        seed: &[f64],
        sensitivity: &mut [f64],
    ) -> Result<()> {
        sensitivity.fill(0.0);
        self.each_partial(unknowns, knowns, |row, column, partial| {
            sensitivity[row] += partial * seed[column];
        })
    }

    /// sensitivity = J' seed.
    pub fn adjoint(
        &mut self,
        (unknowns, knowns): (&[u32], &[u32]),
        seed: &[f64],
        sensitivity: &mut [f64],
    ) -> Result<()> {
        sensitivity.fill(0.0);
        self.each_partial(unknowns, knowns, |row, column, partial| {
            sensitivity[column] += partial * seed[row];
        })
    }

    fn each_partial(
        &mut self,
        unknowns: &[u32],
        knowns: &[u32],
        mut each: impl FnMut(usize, usize, f64),
    ) -> Result<()> {
        self.need(Capability::DirectionalDerivatives)?;
        if self.phase == LifecyclePhase::Instantiated {
            self.expect(LifecyclePhase::Running)?;
        }
        let model = self.take_local_model()?;
        let result = (|| {
            for (column, known) in knowns.iter().enumerate() {
                let known = self.place(*known, &[Role::State, Role::Input])?;
                for (row, unknown) in unknowns.iter().enumerate() {
                    let unknown = self.place(*unknown, &[Role::Derivative, Role::Output, Role::State])?;
                    each(row, column, partial(&model, unknown, known));
                }
            }
            Ok(())
        })();
        self.local_model = Some(model);
        result
    }

    /// A, B, C, D at the present values; its memory is kept.
    fn take_local_model(&mut self) -> Result<Box<LocalModel>> {
        // The initial state may have to be computed first.
        self.compute(self.plan.range(Role::State).start)?;
        let mut model = self.local_model.take().unwrap_or_else(|| Box::new(self.plan.local_model()));
        let value = |role| &self.values[self.plan.range(role)];
        self.part.jacobians(value(Role::Time)[0], value(Role::State), value(Role::Input), &mut model);
        Ok(model)
    }

    fn place(&self, reference: u32, roles: &[Role]) -> Result<(Role, usize)> {
        let slot = self.plan.slot(reference);
        let found = roles.iter().find(|role| self.plan.range(**role).contains(&slot));
        found.map(|role| (*role, slot - self.plan.range(*role).start)).ok_or_else(|| {
            let message = format!("there is no derivative with variable {reference} in this place");
            Error::new(Code::FmuValue, message)
                .hint("states and inputs are known; derivatives and outputs unknown")
        })
    }
}

/// One element of the Jacobian. Knowns are independent of each other: a state that is an output changes with
/// itself only.
fn partial(model: &LocalModel, (unknown, row): (Role, usize), (known, column): (Role, usize)) -> f64 {
    let (n, m) = (model.states, model.inputs);
    match (unknown, known) {
        (Role::Derivative, Role::State) => model.a[row * n + column],
        (Role::Derivative, _) => model.b[row * m + column],
        (Role::Output, Role::State) => model.c[row * n + column],
        (Role::Output, _) => model.d[row * m + column],
        (_, Role::State) if row == column => 1.0,
        _ => 0.0,
    }
}
