//! NEPCE, nearly energy preserving coupling element: a hold that pays back, in the next step, the energy the
//! last hold missed.
//!
//! u = z^k + c^k with c^k = alpha/h * integral over the last step of (z - u_ref) dt  (\[G18] section 3.2, after
//! Benedikt & Hofer 2013; \[T] section 1.4).
//!
//! The papers leave open what u_ref is. `uncorrected`: the held signal without c. Then the sums telescope and
//! the method conserves energy in the mean. `applied`: the signal with c, as the figures of \[G18] suggest.
//! Then only half is fed back and there is a pole at -1.
//!
//! The integral must see the outputs as the inner solver does: end-of-step sums where the inner solver is an
//! explicit one leave an error of the size of the inner step. Which samples a subsystem gives is declared by
//! the subsystem; `sampling` overrides it. Without micro samples the trapezoidal rule between communication
//! points is used. Needs one mean per output and step; otherwise as cheap as a hold.
//!
//! An input whose source has already stepped needs no correction: its mean over the step is known. So is that of external
//! inputs, which is held in place of r(T^k); what is corrected is L y alone.
//!
//! Steps of other lengths: a longer step pays back all of the integral, at a lower rate; a shorter one only its
//! share, at the same rate, and leaves the rest to the steps after it. To pay all of it back at once would take
//! a c^k that grows without bound as the step, such as the last one before the stop time, gets shorter.

use costep_core::{
    AfterStep, Arrival, CouplingMethod, Deviations, InputSet, KnownInputs, Layout, MethodEntry, ModelKind,
    ModelsSpec, Options, Request, Result, SampleRule, Signals, StateReader, StateWriter, StepContext,
    SystemView, Verdict, choice, join, mean_outputs, options,
};

use crate::shared::seen_outputs::{SeenOptions, SeenOutputs};

/// Row of the registry.
pub const ENTRY: MethodEntry = MethodEntry {
    id: "nepce",
    title: "nearly energy preserving coupling element",
    summary: "A hold plus the mean error of the last hold, so that the transferred energy is corrected \
              one step later. Uses the outputs inside the step where a subsystem provides them.",
    equations: "u(t) = z^k + c^k,  c^k = alpha/h * integral_{T^(k-1)}^{T^k} (z - u_ref) dt,  z = L y + r",
    source: "[G18] section 3.2; [T] section 1.4; Benedikt & Hofer 2013",
    convergence_order: 2,
    deviations: Deviations::NONE,
    models: ModelKind::CONTINUOUS,
    options: &join::<5>(&[NepceOptions::SPECS, SeenOptions::SPECS]),
    papers: None,
    build,
};

choice! {
    /// u_ref.
    enum Reference {
        /// The held signal without its correction: energy telescopes.
        Uncorrected = "uncorrected",
        /// The signal with it, as the figures of [G18] suggest.
        Applied = "applied",
    }
}

choice! {
    /// How the integral is summed over inner steps.
    enum Sampling {
        Declared = "declared",
        Start = "start",
        End = "end",
        Trapezoid = "trapezoid",
        Communication = "communication",
    }
}

options! {
    /// What users choose from.
    struct NepceOptions {
        /// u_ref: the held signal without its correction (energy telescopes), or with it
        reference: Reference;
        /// gain of the correction; 0 is a plain hold
        alpha: f64 = 1.0 in 0.0..=2.0;
        /// how the integral is summed over inner steps: as the subsystem declares, by the values at their
        /// start, end or both; or over communication points only
        sampling: Sampling;
    }
}

struct Nepce {
    correct_applied: bool,
    alpha: f64,
    sampling: SampleRule,
    outputs: SeenOutputs,
    inputs: InputSet,
    layout: Layout,
    /// c^k, per input.
    correction: Vec<f64>,
    /// How long it has to be applied until all is paid back, in s.
    duration: f64,
    /// c^(k+1) and its duration: of the last try of step k, so that a step that is repeated starts from the
    /// same c^k.
    next_correction: Vec<f64>,
    next_duration: f64,
    /// Mean of y over the last step, per output.
    mean: Vec<f64>,
}

fn build(options: &Options, _models: &ModelsSpec) -> Box<dyn CouplingMethod> {
    let NepceOptions { reference, alpha, sampling } = NepceOptions::read(options);
    Box::new(Nepce {
        correct_applied: match reference {
            Reference::Uncorrected => false,
            Reference::Applied => true,
        },
        alpha,
        sampling: match sampling {
            Sampling::Declared => SampleRule::Declared,
            Sampling::Start => SampleRule::Start,
            Sampling::End => SampleRule::End,
            Sampling::Trapezoid => SampleRule::Trapezoid,
            Sampling::Communication => SampleRule::CommunicationPoints,
        },
        outputs: SeenOutputs::new(options),
        inputs: InputSet::All(0),
        layout: Layout::default(),
        correction: Vec::new(),
        duration: 0.0,
        next_correction: Vec::new(),
        next_duration: 0.0,
        mean: Vec::new(),
    })
}

impl CouplingMethod for Nepce {
    fn request(&self) -> Request {
        let outputs = self.outputs.request();
        Request {
            micro_samples: true,
            after_step: AfterStep::Look,
            projected: self.alpha > 0.0,
            known_inputs: match outputs.known_inputs {
                // Without a correction it is a plain hold.
                KnownInputs::Interpolated if self.alpha > 0.0 => KnownInputs::Mean,
                kept_or_held => kept_or_held,
            },
            ..outputs
        }
    }

    fn prepare(&mut self, system: &SystemView<'_>) -> Result<()> {
        self.inputs = system.inputs.clone();
        self.layout = system.layout.clone();
        self.correction = vec![0.0; system.layout.inputs()];
        self.next_correction = vec![0.0; system.layout.inputs()];
        (self.duration, self.next_duration) = (0.0, 0.0);
        self.mean = vec![0.0; system.layout.outputs()];
        self.outputs.prepare(system);
        Ok(())
    }

    fn form_coupled(&mut self, arrival: &Arrival<'_>, coupled: &mut [f64]) -> Result<()> {
        self.outputs.form_coupled(arrival, coupled)
    }

    fn pre_step(&mut self, step: &StepContext, signals: &mut Signals<'_>) -> Result<()> {
        if step.repetition == 0 {
            self.correction.copy_from_slice(&self.next_correction);
            self.duration = self.next_duration;
        }
        // What the last step lacks is given back over this one, as far as this one goes.
        let share = (self.duration / step.h).min(1.0);
        let held = signals.inputs.coefficients_mut(0);
        for j in self.inputs.iter() {
            held[j] = signals.coupled[j] + self.correction[j] * share;
        }
        if self.alpha > 0.0 {
            for (j, _) in signals.externals.iter().filter(|(j, _)| self.inputs.contains(*j)) {
                let coupled = signals.coupled[*j] - signals.external[*j];
                held[*j] = coupled + self.correction[*j] * share + signals.external_mean[*j];
            }
        }
        Ok(())
    }

    fn post_step(&mut self, step: &StepContext, signals: &Signals<'_>) -> Result<Verdict> {
        mean_outputs(
            self.sampling,
            (signals.micro, &self.layout),
            0..self.layout.subsystems(),
            (signals.y, signals.y_next),
            &mut self.mean,
        );
        // After equal steps nothing is left.
        let left = (self.duration - step.h).max(0.0);
        self.next_duration = left.max(step.h);
        let (new, old) = (step.h / self.next_duration, left / self.next_duration);
        let applied = signals.inputs.coefficients(0);
        for j in self.inputs.iter() {
            let mean = signals.coupling.row(j, &self.mean);
            let reference = match self.correct_applied {
                true => applied[j] - signals.external_mean[j],
                false => signals.coupled[j] - signals.external[j],
            };
            self.next_correction[j] = new * self.alpha * (mean - reference) + old * self.correction[j];
        }
        Ok(Verdict::Accept)
    }

    fn diagnostic_names(&self) -> Vec<String> {
        vec!["nepce.correction".into()]
    }

    fn diagnostics(&self, row: &mut [f64]) {
        row[0] = self.inputs.iter().map(|j| self.next_correction[j].abs()).fold(0.0, f64::max);
    }

    fn save(&self, out: &mut StateWriter) {
        out.reals(&self.next_correction);
        out.real(self.next_duration);
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        from.reals(&mut self.next_correction)?;
        self.next_duration = from.real()?;
        Ok(())
    }
}
