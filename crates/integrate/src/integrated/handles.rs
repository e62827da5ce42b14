//! What a subsystem that costep integrates can do beyond a step.

use costep_core::{
    Batch, Capable, EnvironmentModel, EnvironmentStep, Experiment, InputSegment, Interval, Linearisation,
    Linearised, LocalModel, MicroRecorder, MicroSamples, MicroSampling, ModelOrigin, Persistence, Result,
    Rollback, SolverCounts, StateReader, StateWriter, StepOutcome, Subsystem, Telemetry,
};

use super::{Integrated, copy_few};
use crate::environment::{EnvironmentSolver, Step};
use crate::equations::Equations;
use crate::integrator::{DIAGNOSTICS, Integrator};
use crate::sampler::Sampler;
use crate::solver::Solver;

impl<E: Equations + 'static> Capable for Integrated<E> {
    fn rollback(&mut self) -> Option<&mut dyn Rollback> {
        Some(self)
    }

    fn linearised(&mut self) -> Option<&mut dyn Linearised> {
        Some(self)
    }

    fn micro_recorder(&mut self) -> Option<&mut dyn MicroRecorder> {
        Some(self)
    }

    fn environment(&mut self) -> Option<&mut dyn EnvironmentStep> {
        Some(self)
    }

    /// Who holds equations with a memory of their own has to write that too.
    fn persistence(&self) -> Option<&dyn Persistence> {
        if self.extra.has_lifecycle { None } else { Some(self) }
    }

    fn persistence_mut(&mut self) -> Option<&mut dyn Persistence> {
        if self.extra.has_lifecycle { None } else { Some(self) }
    }

    fn telemetry(&self) -> Option<&dyn Telemetry> {
        Some(self)
    }

    fn join_batch(self: Box<Self>, _batch: &mut Option<Box<dyn Batch>>) -> Result<(), Box<dyn Subsystem>> {
        Err(self)
    }
}

impl<E: Equations> Integrated<E> {
    /// The integrator that did the last step.
    fn last_integrator(&self) -> &dyn Integrator {
        match &self.extra.environment {
            Some(environment) => &*environment.integrator,
            None => self.integrator.get(),
        }
    }
}

impl<E: Equations> Rollback for Integrated<E> {
    fn snapshot(&mut self) -> Result<()> {
        self.start()?;
        let Self { equations, integrator, t, x, u, extra, .. } = self;
        if let Some(life) = equations.lifecycle() {
            life.snapshot(*t)?;
        }
        extra.saved.0 = *t;
        extra.saved.1.copy_from_slice(x);
        extra.saved.2.copy_from_slice(u);
        integrator.get_mut().snapshot();
        if let Some(driver) = &mut extra.driver {
            driver.snapshot();
        }
        if let Some(environment) = &mut extra.environment {
            environment.integrator.snapshot();
        }
        Ok(())
    }

    fn restore(&mut self) -> Result<()> {
        let Self { equations, integrator, t, x, u, extra, .. } = self;
        if let Some(life) = equations.lifecycle() {
            life.restore()?;
        }
        *t = extra.saved.0;
        x.copy_from_slice(&extra.saved.1);
        u.copy_from_slice(&extra.saved.2);
        integrator.get_mut().restore();
        if let Some(driver) = &mut extra.driver {
            driver.restore();
        }
        if let Some(environment) = &mut extra.environment {
            environment.integrator.restore();
        }
        Ok(())
    }

    fn release(&mut self) {
        if let Some(life) = self.equations.lifecycle() {
            life.release();
        }
    }
}

impl<E: Equations> Linearised for Integrated<E> {
    fn level(&self) -> Linearisation {
        Linearisation::Full
    }

    fn states(&self) -> usize {
        self.x.len()
    }

    fn origin(&self) -> ModelOrigin {
        self.equations.model_origin()
    }

    fn local_model(&mut self, u: &[f64], model: &mut LocalModel) -> Result<()> {
        self.start()?;
        self.equations.linearise(self.t, &self.x, u, model)?;
        model.x.copy_from_slice(&self.x);
        model.is_constant = self.equations.is_linear();
        model.euler_step = if let Solver::Euler(step) = self.extra.solver { step } else { 0.0 };
        Ok(())
    }

    fn initial_feedthrough(&mut self, u: &[f64], model: &mut LocalModel) -> Result<bool> {
        if self.extra.has_lifecycle {
            return Ok(false);
        }
        self.equations.exact_feedthrough(self.t, &self.x, u, model)
    }

    fn read_state(&mut self, u: &[f64], x: &mut [f64], x_dot: &mut [f64]) -> Result<bool> {
        self.start()?;
        copy_few(&self.x, x);
        self.equations.derivatives(self.t, &self.x, u, x_dot)?;
        Ok(true)
    }
}

impl<E: Equations> MicroRecorder for Integrated<E> {
    fn sampling(&self) -> MicroSampling {
        match self.extra.solver {
            Solver::Euler(_) => self.equations.micro_sampling(),
            _ => MicroSampling::Continuous,
        }
    }

    fn record(&mut self, on: bool, experiment: &Experiment) {
        let sampler = || Sampler::of_outputs(self.x.len(), self.u.len(), self.buffer(experiment));
        self.sampler = on.then(|| Box::new(sampler()));
        self.extra.paused = None;
    }

    fn pause(&mut self, on: bool) {
        if on == self.extra.paused.is_none() {
            std::mem::swap(&mut self.extra.paused, &mut self.sampler);
        }
    }
}

impl<E: Equations> EnvironmentStep for Integrated<E> {
    fn step_with(
        &mut self,
        interval: Interval,
        input: InputSegment<'_>,
        environment: &EnvironmentModel,
        y: &mut [f64],
    ) -> Result<StepOutcome> {
        self.start()?;
        if self.extra.environment.is_none() {
            self.make_environment(environment)?;
        }
        let Self { equations, x, u, sampler, extra, .. } = self;
        let mut sampler = sampler.as_deref_mut();
        if let Some(sampler) = &mut sampler {
            sampler.clear();
        }
        if let Some(solver) = &mut extra.environment {
            let step = Step { equations, driver: extra.driver.as_mut(), sampler, interval, input };
            let outcome = solver.advance(step, environment, x, (y, u));
            outcome.map_err(|error| equations.explain(error))?;
        }
        self.t = interval.end;
        Ok(StepOutcome { reached: self.t })
    }
}

impl<E: Equations> Integrated<E> {
    fn make_environment(&mut self, model: &EnvironmentModel) -> Result<()> {
        let Self { equations, extra, .. } = self;
        let mut environment = EnvironmentSolver::new(&extra.solver, equations, model)?;
        if !extra.environment_saved.is_empty() {
            environment.load(!extra.has_lifecycle, &mut StateReader::new(&extra.environment_saved))?;
        }
        // Nothing can be restored before something has been remembered.
        environment.integrator.snapshot();
        extra.environment = Some(environment);
        Ok(())
    }
}

impl<E: Equations> Telemetry for Integrated<E> {
    fn micro_samples(&self) -> Option<MicroSamples<'_>> {
        let sampler = self.extra.paused.as_ref().or(self.sampler.as_ref())?;
        Some(sampler.outputs()?.samples(self.sampling()))
    }

    fn input_at_end(&self) -> Option<&[f64]> {
        self.extra.environment.is_some().then_some(&self.u[..])
    }

    fn diagnostic_names(&self) -> &[&'static str] {
        if self.integrator.get().diagnostics().is_some() { &DIAGNOSTICS } else { &[] }
    }

    fn diagnostics(&self, row: &mut [f64]) {
        if let Some(numbers) = self.last_integrator().diagnostics() {
            row.copy_from_slice(&numbers);
        }
    }

    fn solver_counts(&self) -> Option<SolverCounts> {
        self.last_integrator().counts()
    }

    fn energy(&self) -> Option<f64> {
        self.equations.energy(&self.x, &self.u)
    }
}

impl<E: Equations> Persistence for Integrated<E> {
    fn save(&self, out: &mut StateWriter) -> Result<()> {
        out.real(self.t);
        out.reals(&self.x);
        out.reals(&self.u);
        self.save_solver(out);
        out.block(&self.environment_bytes());
        Ok(())
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.t = from.real()?;
        from.reals(&mut self.x)?;
        from.reals(&mut self.u)?;
        self.load_solver(from)?;
        self.set_environment_bytes(from.block()?);
        Ok(())
    }
}
