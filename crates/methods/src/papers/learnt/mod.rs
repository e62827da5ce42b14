//! Coupling with models that are identified while the run goes [T 2.4]: what `prestep`, `mbcorr` and `predictive` do when
//! their models are discrete: from `rls`, `ij-rls`, `moesp` or `from-file`.
//!
//! The source gives per subsystem y^(k+1) = S_y y^k + S_u u^k + S_p u^(k+1) + c [T (2.15)]. A law (`prestep.rs`, `corrector.rs`,
//! `predicted.rs`) makes inputs of all of them together; `phases.rs` says how far it is followed, and what is left is formed
//! from signals. Beyond the thesis, models whose inputs miss the coupling signal are not followed, however well they explain
//! the past (`watch.rs`); `paper=true` leaves that out.

mod corrector;
pub(crate) mod options;
pub(crate) mod phases;
mod predicted;
pub(crate) mod prestep;
mod watch;

use costep_core::{
    AfterStep, Coupling, CouplingMethod, InputSet, KnownInputs, Layout, LengthDemand, ModelDemand,
    ModelSource, ModelsSpec, Options, Request, Result, SampleRule, Signals, StateReader, StateWriter,
    StepContext, SystemView, Verdict, mean_outputs,
};

use options::Settings;
use phases::{Decision, Phase};
use watch::Watch;

/// What a law knows at a communication point.
struct Point<'a> {
    y: &'a [f64],
    /// z = L y + r.
    coupled: &'a [f64],
    /// u that y was read under.
    u: &'a [f64],
    /// The mean of eps over the step that ends here; not a number where it is not known.
    mean_eps: &'a [f64],
    /// r at both ends of the step; of a line with its mean if it has corners between.
    external: (&'a [f64], &'a [f64]),
    coupling: &'a Coupling,
    models: &'a dyn ModelSource,
    /// Whether inputs are to be optimised, where a law does that.
    full: bool,
}

impl Point<'_> {
    /// The mean of r over the step.
    fn mean_external(&self, j: usize) -> f64 {
        0.5 * (self.external.0[j] + self.external.1[j])
    }
}

/// How inputs follow from models.
trait ModelLaw: Send {
    /// Takes all memory, and forgets everything.
    fn prepare(&mut self, system: &SystemView<'_>) -> Result<()>;

    /// Takes note of a point at which models are not followed.
    fn pass(&mut self, point: &Point<'_>);

    /// The inputs of the group. False if there are none.
    fn solve(&mut self, point: &Point<'_>, u: &mut [f64]) -> bool;

    fn save(&self, out: &mut StateWriter);

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()>;
}

struct Learnt {
    name: &'static str,
    settings: Settings,
    law: Box<dyn ModelLaw>,
    inputs: InputSet,
    layout: Layout,
    watch: Watch,
    decision: Decision,
    /// Whether the run was seen from its start on, and whether models were ever followed.
    from_start: bool,
    followed: bool,
    /// z^(k-1), and that without external inputs.
    z_before: Vec<f64>,
    coupled_before: Vec<f64>,
    /// r at both ends of the step.
    known: (Vec<f64>, Vec<f64>),
    /// u(T^(k+1)): what the step goes to, and the part of it that comes from models.
    u: Vec<f64>,
    from_models: Vec<f64>,
    /// The means of eps and of y over the last step, where they are asked for.
    mean_eps: Vec<f64>,
    mean: Vec<f64>,
    names: Vec<String>,
    /// Values of the columns per subsystem.
    columns: Vec<f64>,
}

/// `prestep` in discrete form.
pub(crate) fn prestep(options: &Options, models: &ModelsSpec) -> Box<dyn CouplingMethod> {
    learnt("prestep", Settings::new(options, models), Box::new(prestep::PreStep::new(options)))
}

/// `mbcorr` with identified models and this gain of the offset.
pub(crate) fn corrector(alpha: f64, options: &Options, models: &ModelsSpec) -> Box<dyn CouplingMethod> {
    learnt("mbcorr", Settings::new(options, models), Box::new(corrector::Corrector::new(alpha)))
}

/// `predictive` with identified models.
pub(crate) fn predicted(options: &Options, models: &ModelsSpec) -> Box<dyn CouplingMethod> {
    learnt("predictive", Settings::new(options, models), Box::new(predicted::Predicted::new()))
}

fn learnt(name: &'static str, settings: Settings, law: Box<dyn ModelLaw>) -> Box<dyn CouplingMethod> {
    Box::new(Learnt {
        name,
        settings,
        law,
        inputs: InputSet::All(0),
        layout: Layout::default(),
        watch: Watch::default(),
        decision: Decision::signal(),
        from_start: false,
        followed: false,
        z_before: Vec::new(),
        coupled_before: Vec::new(),
        known: (Vec::new(), Vec::new()),
        u: Vec::new(),
        from_models: Vec::new(),
        mean_eps: Vec::new(),
        mean: Vec::new(),
        names: Vec::new(),
        columns: Vec::new(),
    })
}

impl CouplingMethod for Learnt {
    fn choose(&mut self, system: &SystemView<'_>) -> Result<()> {
        self.law.prepare(system)
    }

    fn conclusion(&self) -> Option<&str> {
        let never = self.from_start && !self.followed;
        never.then_some(match self.settings.line {
            false => "the identified model was never trusted: all inputs were held",
            true => "the identified model was never trusted: all inputs were extrapolated from signals",
        })
    }

    fn request(&self) -> Request {
        Request {
            known_inputs: KnownInputs::Kept,
            models: ModelDemand::Full { states: false },
            micro_samples: self.settings.samples,
            after_step: if self.settings.intermediate { AfterStep::Look } else { AfterStep::Nothing },
            lengths: LengthDemand::Equal,
            ..Request::default()
        }
    }

    fn prepare(&mut self, system: &SystemView<'_>) -> Result<()> {
        let inputs = system.layout.inputs();
        self.law.prepare(system)?;
        self.inputs = system.inputs.clone();
        self.layout = system.layout.clone();
        self.watch = Watch::new(inputs);
        self.decision = Decision::signal();
        (self.from_start, self.followed) = (false, false);
        let (start, end) = (&mut self.known.0, &mut self.known.1);
        let signals = [&mut self.z_before, &mut self.coupled_before, start, end];
        signals.into_iter().chain([&mut self.u, &mut self.from_models]).for_each(|v| *v = vec![0.0; inputs]);
        self.mean_eps = vec![f64::NAN; inputs];
        self.mean = vec![0.0; system.layout.outputs()];
        self.names = column_names(self.name, system, self.settings.parameters);
        self.columns = vec![0.0; self.names.len() - FIRST_COLUMNS];
        Ok(())
    }

    fn pre_step(&mut self, step: &StepContext, signals: &mut Signals<'_>) -> Result<()> {
        if step.repetition == 0 {
            self.arrive(step, signals);
        }
        for j in self.inputs.iter() {
            signals.inputs.coefficients_mut(0)[j] = self.u[j];
        }
        Ok(())
    }

    /// The mean of eps, by the intermediate values of the outputs [T (2.58)].
    fn post_step(&mut self, _step: &StepContext, signals: &Signals<'_>) -> Result<Verdict> {
        if !self.settings.intermediate {
            return Ok(Verdict::Accept);
        }
        let (all, ends) = (0..self.layout.subsystems(), (signals.y, signals.y_next));
        mean_outputs(SampleRule::Declared, (signals.micro, &self.layout), all, ends, &mut self.mean);
        for j in self.inputs.iter() {
            let mean = signals.coupling.row(j, &self.mean) + signals.external_mean[j];
            self.mean_eps[j] = mean - signals.inputs.coefficients(0)[j];
        }
        Ok(Verdict::Accept)
    }

    fn diagnostic_names(&self) -> Vec<String> {
        self.names.clone()
    }

    fn diagnostics(&self, row: &mut [f64]) {
        (row[0], row[1], row[2]) =
            (self.decision.phase as usize as f64, self.decision.share, self.decision.eps_si);
        row[FIRST_COLUMNS..].copy_from_slice(&self.columns);
    }

    fn save(&self, out: &mut StateWriter) {
        self.law.save(out);
        self.watch.save(out);
        out.reals(&self.z_before);
        out.reals(&self.coupled_before);
        if self.settings.intermediate {
            out.reals(&self.mean_eps);
        }
    }

    fn load(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        self.law.load(from)?;
        self.watch.load(from)?;
        from.reals(&mut self.z_before)?;
        from.reals(&mut self.coupled_before)?;
        if self.settings.intermediate {
            from.reals(&mut self.mean_eps)?;
        }
        Ok(())
    }
}

impl Learnt {
    fn arrive(&mut self, step: &StepContext, signals: &Signals<'_>) {
        self.from_start |= step.k == 0;
        if step.k > 0 {
            self.watch.judge(&self.inputs, &self.z_before, signals.coupled);
        }
        let judged = (phases::eps_si(signals), self.watch.is_good());
        self.decision = Decision::at(step.k as f64 * step.h, step.h, &self.settings, judged);
        self.extrapolate(step.k, signals);
        self.look_outside(step, signals);
        let point = Point {
            y: signals.y,
            coupled: signals.coupled,
            u: signals.u_end,
            mean_eps: &self.mean_eps,
            external: (&self.known.0, &self.known.1),
            coupling: signals.coupling,
            models: signals.models,
            full: self.decision.full,
        };
        let proposed = self.law.solve(&point, &mut self.from_models)
            && self.inputs.iter().all(|j| self.from_models[j].is_finite());
        if proposed && !self.settings.paper {
            self.watch.bound(&self.inputs, signals.coupled, &mut self.from_models);
        }
        self.watch.propose(&self.u, proposed.then_some(&self.from_models));
        if !proposed && self.decision.share > 0.0 {
            (self.decision.phase, self.decision.share) = (Phase::Signal, 0.0);
        }
        if self.decision.share > 0.0 {
            self.followed = true;
            let share = self.decision.share;
            for j in self.inputs.iter() {
                self.u[j] = (1.0 - share) * self.u[j] + share * self.from_models[j];
            }
        } else {
            self.law.pass(&point);
        }
        self.z_before.copy_from_slice(signals.coupled);
        for (j, before) in self.coupled_before.iter_mut().enumerate() {
            *before = signals.coupled[j] - signals.external[j];
        }
        self.fill_columns(signals);
    }

    /// Inputs from signals: z, or the mean over the step of the line through the last two; external inputs are known.
    fn extrapolate(&mut self, k: u64, signals: &Signals<'_>) {
        if !(self.settings.line && k > 0) {
            self.inputs.copy(signals.coupled, &mut self.u);
            return;
        }
        for j in self.inputs.iter() {
            let coupled = signals.coupled[j] - signals.external[j];
            self.u[j] = coupled + 0.5 * (coupled - self.coupled_before[j]) + signals.external_mean[j];
        }
    }

    /// r at both ends of the step.
    fn look_outside(&mut self, step: &StepContext, signals: &Signals<'_>) {
        let (start, end) = (&mut self.known.0, &mut self.known.1);
        for (j, _) in signals.externals {
            (start[*j], end[*j]) = (0.0, 0.0);
        }
        for (j, signal) in signals.externals {
            let [value, slope, _] = signal.over(&step.interval(), 1);
            start[*j] += value;
            end[*j] += value + step.h * slope;
        }
    }

    fn fill_columns(&mut self, signals: &Signals<'_>) {
        let mut at = 0;
        let mut put = |value: f64| {
            self.columns[at] = value;
            at += 1;
        };
        for i in 0..self.layout.subsystems() {
            let quality = signals.models.quality(i);
            [quality.eps_si, quality.rho.unwrap_or(f64::INFINITY), quality.excitation]
                .into_iter()
                .for_each(&mut put);
            if !self.settings.parameters {
                continue;
            }
            let (n, m) = (self.layout.output_range(i).len(), self.layout.input_range(i).len());
            let model = signals.models.interface(i);
            for entry in 0..n * n {
                put(model.map_or(0.0, |model| model.d_y[entry]));
            }
            for entry in 0..n * m {
                put(model.map_or(0.0, |model| model.d_up[entry]));
            }
        }
    }
}

/// Columns that are not of a subsystem.
const FIRST_COLUMNS: usize = 3;

/// phase, trust and eps_SI; per subsystem eps_SI, rho, excitation, and parameters if asked for.
fn column_names(method: &str, system: &SystemView<'_>, parameters: bool) -> Vec<String> {
    let mut names: Vec<_> = ["phase", "trust", "eps_si"].map(|what| format!("{method}.{what}")).into();
    for description in system.descriptions {
        let name = &description.name;
        names.extend(["eps_si", "rho", "excitation"].map(|what| format!("{method}.{name}.{what}")));
        if !parameters {
            continue;
        }
        for (what, columns) in [("s_y", &description.outputs), ("s_p", &description.inputs)] {
            for output in &description.outputs {
                names.extend(
                    columns
                        .iter()
                        .map(|column| format!("{method}.{name}.{what}.{}/{}", output.name, column.name)),
                );
            }
        }
    }
    names
}
