//! What a native subsystem can do beyond a step.

use costep_core::{
    Capable, EnvironmentModel, EnvironmentStep, Experiment, InputSegment, Interval, Linearisation,
    Linearised, LocalModel, MicroRecorder, MicroSamples, MicroSampling, ModelOrigin, Persistence, Result,
    Rollback, RowMember, SolverCounts, StateReader, StateWriter, StepOutcome, Telemetry, unsupported,
};

use super::{Chosen, MicroBuffer, Native, copy_few};
use crate::integrator::{DIAGNOSTICS, Sampler};
use crate::ode::Ode;

impl<S: Ode + 'static> Capable for Native<S> {
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
        if self.beside.is_some() { Some(self) } else { None }
    }

    fn persistence(&self) -> Option<&dyn Persistence> {
        Some(self)
    }

    fn persistence_mut(&mut self) -> Option<&mut dyn Persistence> {
        Some(self)
    }

    fn telemetry(&self) -> Option<&dyn Telemetry> {
        Some(self)
    }

    fn row_member(&mut self) -> Option<&mut dyn RowMember> {
        None
    }
}

impl<S: Ode + 'static> Rollback for Native<S> {
    fn snapshot(&mut self) -> Result<()> {
        self.saved.t = self.t;
        self.saved.x.copy_from_slice(&self.x);
        self.saved.u.copy_from_slice(&self.u);
        self.integrator.get_mut().snapshot();
        self.stepper_beside_mut().map_or(Ok(()), |stepper| stepper.demand_rollback()?.snapshot())
    }

    fn restore(&mut self) -> Result<()> {
        self.t = self.saved.t;
        self.x.copy_from_slice(&self.saved.x);
        self.u.copy_from_slice(&self.saved.u);
        self.integrator.get_mut().restore();
        self.stepper_beside_mut().map_or(Ok(()), |stepper| stepper.demand_rollback()?.restore())
    }
}

impl<S: Ode + 'static> Linearised for Native<S> {
    fn level(&self) -> Linearisation {
        Linearisation::Full
    }

    fn states(&self) -> usize {
        self.x.len()
    }

    fn origin(&self) -> ModelOrigin {
        ModelOrigin::Exact
    }

    fn local_model(&mut self, u: &[f64], model: &mut LocalModel) -> Result<()> {
        self.equations.ode.jacobians(self.t, &self.x, u, model);
        model.x.copy_from_slice(&self.x);
        self.equations.ode.derivatives(self.t, &self.x, u, &mut model.x_dot);
        self.equations.ode.nominal_state(&mut model.nominal);
        model.is_constant = self.equations.ode.is_linear();
        model.euler_step = if let Chosen::Euler(euler) = &self.integrator { euler.micro_step() } else { 0.0 };
        Ok(())
    }

    fn read_state(&mut self, u: &[f64], x: &mut [f64], x_dot: &mut [f64]) -> Result<bool> {
        copy_few(&self.x, x);
        self.equations.ode.derivatives(self.t, &self.x, u, x_dot);
        Ok(true)
    }
}

impl<S: Ode + 'static> MicroRecorder for Native<S> {
    fn sampling(&self) -> MicroSampling {
        match self.integrator {
            Chosen::Euler(_) => self.equations.ode.micro_sampling(),
            Chosen::Other(_) => MicroSampling::Continuous,
        }
    }

    fn record(&mut self, on: bool, experiment: &Experiment) {
        // Too many are refused in `initialise`; here they must only not be asked for.
        let integrator = self.integrator.get();
        if let Some(beside) = &mut self.beside {
            beside.micro = on.then_some(*experiment);
        }
        let too_many = integrator.check_step(experiment.step).is_err();
        let points = if too_many { 0 } else { integrator.points(experiment.step) };
        self.equations.micro = on.then(|| {
            let outputs = Vec::with_capacity(points * self.description.outputs.len());
            Box::new(MicroBuffer { times: Vec::with_capacity(points), outputs })
        });
        self.sampler = on.then(|| Box::new(Sampler::new(self.x.len(), self.u.len())));
    }

    fn pause(&mut self, on: bool) {
        if on == self.saved.paused.is_none() {
            std::mem::swap(&mut self.saved.paused, &mut self.equations.micro);
            std::mem::swap(&mut self.saved.paused_sampler, &mut self.sampler);
        }
        if let Some(recorder) = self.stepper_beside_mut().and_then(|stepper| stepper.micro_recorder()) {
            recorder.pause(on);
        }
    }
}

impl<S: Ode + 'static> EnvironmentStep for Native<S> {
    fn step_with(
        &mut self,
        interval: Interval,
        input: InputSegment<'_>,
        environment: &EnvironmentModel,
        y: &mut [f64],
    ) -> Result<StepOutcome> {
        let Some(beside) = &mut self.beside else {
            return Err(unsupported(&self.description, "a model of its environment beside its own states"));
        };
        let stepper = beside.stepper(&self.equations.ode, environment)?;
        stepper.step(interval, input, environment, &mut self.x, (y, &mut self.u))?;
        self.t = interval.end;
        Ok(StepOutcome { reached: self.t })
    }
}

impl<S: Ode + 'static> Telemetry for Native<S> {
    fn micro_samples(&self) -> Option<MicroSamples<'_>> {
        if let Some(stepper) = self.stepper_beside() {
            return stepper.telemetry()?.micro_samples();
        }
        let MicroBuffer { times, outputs } = &**self.equations.micro.as_ref()?;
        Some(MicroSamples { times, outputs, sampling: self.sampling() })
    }

    fn input_at_end(&self) -> Option<&[f64]> {
        self.stepper_beside().is_some().then_some(&self.u[..])
    }

    fn diagnostic_names(&self) -> &[&'static str] {
        if self.integrator.get().diagnostics().is_some() { &DIAGNOSTICS } else { &[] }
    }

    fn diagnostics(&self, row: &mut [f64]) {
        match (self.stepper_beside().and_then(Capable::telemetry), self.integrator.get().diagnostics()) {
            (Some(telemetry), _) => telemetry.diagnostics(row),
            (None, Some(numbers)) => row.copy_from_slice(&numbers),
            (None, None) => {}
        }
    }

    fn solver_counts(&self) -> Option<SolverCounts> {
        match self.stepper_beside() {
            Some(stepper) => stepper.telemetry()?.solver_counts(),
            None => self.integrator.get().counts(),
        }
    }

    fn energy(&self) -> Option<f64> {
        self.equations.ode.energy(&self.x, &self.u)
    }
}

impl<S: Ode + 'static> Persistence for Native<S> {
    fn save(&self, out: &mut StateWriter) -> Result<()> {
        out.real(self.t);
        out.reals(&self.x);
        out.reals(&self.u);
        self.integrator.get().save(out);
        if let Some(beside) = &self.beside {
            match self.stepper_beside() {
                None => out.block(&beside.saved),
                Some(stepper) => {
                    let mut saved = StateWriter::default();
                    stepper.demand_persistence()?.save(&mut saved)?;
                    out.block(&saved.into_bytes());
                }
            }
        }
        Ok(())
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.t = from.real()?;
        from.reals(&mut self.x)?;
        from.reals(&mut self.u)?;
        self.integrator.get_mut().load(from)?;
        if let Some(beside) = &mut self.beside {
            beside.saved = from.block()?.to_vec();
            beside.stepper = None;
        }
        Ok(())
    }
}
