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
//! a c^k that grows without bound as the step, such as the last one before the stop time, gets shorter. What the
//! shorter step lacks itself is paid back in the next one beside that rest: as a part of it, it would lag behind for as
//! long as the rest takes, however short the steps.

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
    /// What is owed at the start of the step, and after its last try: a step that is repeated starts from the
    /// same.
    owed: Owed,
    next: Owed,
    /// Mean of y over the last step, per output.
    mean: Vec<f64>,
}

/// Steps that are not paid back yet, at most: as many as become shorter from one to the next. Two of them are one
/// where there are more.
const MOST_DEBTS: usize = 8;

/// What is owed for the last step, and what is left of longer ones before it, oldest first. All are paid back at the
/// same time.
#[derive(Debug, Default)]
struct Owed {
    debts: Vec<Debt>,
    live: usize,
}

/// What inputs have to get in addition, until it is paid back.
#[derive(Debug)]
struct Debt {
    /// Per input.
    rate: Vec<f64>,
    /// For so long, in s.
    duration: f64,
    /// Share of the rate over the step that is done.
    share: f64,
}

impl Owed {
    fn of(inputs: usize) -> Self {
        let none = || Debt { rate: vec![0.0; inputs], duration: 0.0, share: 0.0 };
        Self { debts: (0..MOST_DEBTS).map(|_| none()).collect(), live: 1 }
    }

    fn copy_from(&mut self, other: &Self) {
        self.live = other.live;
        for (mine, theirs) in self.debts.iter_mut().zip(&other.debts[..other.live]) {
            mine.rate.copy_from_slice(&theirs.rate);
            (mine.duration, mine.share) = (theirs.duration, theirs.share);
        }
    }

    /// A step of this length begins.
    fn begin(&mut self, h: f64) {
        self.debts[..self.live].iter_mut().for_each(|debt| debt.share = (debt.duration / h).min(1.0));
    }

    /// c^k of an input.
    fn correction(&self, j: usize) -> f64 {
        self.debts[..self.live].iter().fold(0.0, |sum, debt| sum + debt.rate[j] * debt.share)
    }

    /// A step of this length came to its end; gives what it lacked, to be filled in.
    fn pass(&mut self, h: f64) -> &mut [f64] {
        let mut kept = 0;
        for i in 0..self.live {
            self.debts[i].duration -= h;
            if self.debts[i].duration > 0.0 {
                self.debts.swap(kept, i);
                kept += 1;
            }
        }
        if kept == MOST_DEBTS {
            self.merge_oldest();
            kept -= 1;
        }
        self.live = kept + 1;
        self.debts[kept].duration = h;
        &mut self.debts[kept].rate
    }

    fn merge_oldest(&mut self) {
        let longest = self.debts[0].duration.max(self.debts[1].duration);
        let [a, b] = [0, 1].map(|i| self.debts[i].duration / longest);
        for j in 0..self.debts[0].rate.len() {
            self.debts[1].rate[j] = a * self.debts[0].rate[j] + b * self.debts[1].rate[j];
        }
        self.debts[1].duration = longest;
        self.debts.rotate_left(1);
    }

    /// What the last step lacked.
    fn last(&self) -> &[f64] {
        self.debts[..self.live].last().map_or(&[], |debt| &debt.rate)
    }

    fn save(&self, out: &mut StateWriter) {
        out.integer(self.live as u64);
        for debt in &self.debts[..self.live] {
            out.reals(&debt.rate);
            out.real(debt.duration);
        }
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.live = from.index(MOST_DEBTS + 1)?;
        for debt in &mut self.debts[..self.live] {
            from.reals(&mut debt.rate)?;
            debt.duration = from.real()?;
        }
        Ok(())
    }
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
        owed: Owed::default(),
        next: Owed::default(),
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
        (self.owed, self.next) = (Owed::of(system.layout.inputs()), Owed::of(system.layout.inputs()));
        self.mean = vec![0.0; system.layout.outputs()];
        self.outputs.prepare(system);
        Ok(())
    }

    fn form_coupled(&mut self, arrival: &Arrival<'_>, coupled: &mut [f64]) -> Result<()> {
        self.outputs.form_coupled(arrival, coupled)
    }

    fn pre_step(&mut self, step: &StepContext, signals: &mut Signals<'_>) -> Result<()> {
        if step.repetition == 0 {
            self.owed.copy_from(&self.next);
        }
        self.owed.begin(step.h);
        let held = signals.inputs.coefficients_mut(0);
        for j in self.inputs.iter() {
            held[j] = signals.coupled[j] + self.owed.correction(j);
        }
        if self.alpha > 0.0 {
            for (j, _) in signals.externals.iter().filter(|(j, _)| self.inputs.contains(*j)) {
                let coupled = signals.coupled[*j] - signals.external[*j];
                held[*j] = coupled + self.owed.correction(*j) + signals.external_mean[*j];
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
        self.next.copy_from(&self.owed);
        let lacked = self.next.pass(step.h);
        let applied = signals.inputs.coefficients(0);
        for j in self.inputs.iter() {
            let mean = signals.coupling.row(j, &self.mean);
            let reference = match self.correct_applied {
                true => applied[j] - signals.external_mean[j],
                false => signals.coupled[j] - signals.external[j],
            };
            lacked[j] = self.alpha * (mean - reference);
        }
        Ok(Verdict::Accept)
    }

    fn diagnostic_names(&self) -> Vec<String> {
        vec!["nepce.correction".into()]
    }

    fn diagnostics(&self, row: &mut [f64]) {
        row[0] = self.inputs.iter().map(|j| self.next.last()[j].abs()).fold(0.0, f64::max);
    }

    fn save(&self, out: &mut StateWriter) {
        self.next.save(out);
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.next.load(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What one input gets in steps of these lengths, as a rate, if each lacks so much.
    fn paid(steps: &[(f64, f64)]) -> Vec<f64> {
        let mut owed = Owed::of(1);
        let pay = |&(h, lacked): &(f64, f64)| {
            owed.begin(h);
            let rate = owed.correction(0);
            owed.pass(h)[0] = lacked;
            rate
        };
        steps.iter().map(pay).collect()
    }

    #[test]
    fn what_a_short_step_lacks_does_not_wait_for_a_long_one() {
        assert_eq!(paid(&[(1.0, 0.0), (0.125, 4.0), (0.125, 0.0), (0.125, 0.0)]), [0.0, 0.0, 4.0, 0.0]);
        // Beside what the long one lacked, at its rate and for its time.
        let rates = paid(&[(1.0, 2.0), (0.25, 4.0), (0.25, 0.0), (0.5, 0.0), (0.5, 0.0)]);
        assert_eq!(rates, [0.0, 2.0, 6.0, 2.0, 0.0]);
    }

    #[test]
    fn all_is_paid_back_at_last() {
        // More lengths than are remembered one by one, there and back.
        let lengths = (0..24).map(|k| 0.7f64.powi(if k < 12 { k } else { 24 - k }));
        let mut steps: Vec<_> = lengths.enumerate().map(|(k, h)| (h, (k % 5) as f64 - 1.0)).collect();
        let lacked: f64 = steps.iter().map(|(h, lacked)| h * lacked).sum();
        steps.extend([(10.0, 0.0), (1.0, 0.0)]);
        let rates = paid(&steps);
        let given: f64 = steps.iter().zip(&rates).map(|((h, _), rate)| h * rate).sum();
        assert!((given - lacked).abs() < 1e-12 && rates.last() == Some(&0.0), "{given} {lacked}");
    }
}
