//! Identified models of a run, with how well they explain it.

use costep_core::{Code, Error, InterfaceModel, Layout, ModelKind, Result};
use costep_engine::{Engine, Flow, Observer};
use costep_ident::{ModelFile, NamedModel, sources};
use costep_methods::MethodSpec;

use crate::excitation::{Excitation, ExcitationWatch};

/// Most steps, and most numbers, that are kept to judge the models by.
const MOST: (usize, usize) = (4096, 1 << 22);

/// Looks at a run whose method identifies: sizes of all signals, and steps from the whole of it.
pub struct Identification {
    inputs: Vec<f64>,
    outputs: Vec<f64>,
    /// Least and greatest outputs.
    range: Vec<(f64, f64)>,
    /// u and y at the last point and at this one.
    points: [Point; 2],
    seen: u64,
    /// Every so many steps one is kept.
    stride: u64,
    most: usize,
    kept: Vec<[Point; 2]>,
    excitation: ExcitationWatch,
}

#[derive(Clone)]
struct Point {
    u: Vec<f64>,
    y: Vec<f64>,
}

impl Identification {
    /// For a run that is about to start.
    pub fn new(engine: &Engine, method: &MethodSpec) -> Self {
        let (inputs, outputs) = (engine.layout().inputs(), engine.layout().outputs());
        let point = Point { u: vec![0.0; inputs], y: vec![0.0; outputs] };
        Self {
            inputs: vec![0.0; inputs],
            outputs: vec![0.0; outputs],
            range: vec![(f64::MAX, f64::MIN); outputs],
            points: [point.clone(), point],
            seen: 0,
            stride: 1,
            most: (MOST.1 / (2 * (inputs + outputs)).max(1)).clamp(16, MOST.0),
            kept: Vec::new(),
            excitation: ExcitationWatch::new(engine, method),
        }
    }

    /// eps_SI of the final model over the whole run [T (2.92)]: at rest, where many runs end, the last one would say nothing. Without a model that
    /// of a hold.
    fn eps_si(&self, i: usize, layout: &Layout, model: Option<&InterfaceModel>) -> f64 {
        let (us, ys) = (layout.input_range(i), layout.output_range(i));
        let mut ahead = vec![0.0; ys.len()];
        let mut errors = vec![0.0; ys.len()];
        for [before, now] in &self.kept {
            let y = &before.y[ys.clone()];
            match model {
                Some(model) => model.predict(y, &before.u[us.clone()], &now.u[us.clone()], &mut ahead),
                None => ahead.copy_from_slice(y),
            }
            let pairs = ahead.iter().zip(&now.y[ys.clone()]);
            errors.iter_mut().zip(pairs).for_each(|(sum, (ahead, y))| *sum += (y - ahead).abs());
        }
        let ranges = self.range[ys].iter().map(|(least, greatest)| greatest - least);
        let moving: Vec<_> = errors.iter().zip(ranges).filter(|(_, range)| *range > 0.0).collect();
        let sum: f64 = moving.iter().map(|(error, range)| *error / range).sum();
        if moving.is_empty() { f64::INFINITY } else { sum / (moving.len() * self.kept.len()) as f64 }
    }

    /// The models at the end of the run, which this method has identified.
    pub fn models(&self, engine: &Engine, system: &str, method: &MethodSpec) -> Result<ModelFile> {
        let layout = engine.layout();
        let excitation = self.excitation.found(engine);
        let model = |i: usize| {
            let part = &engine.descriptions()[i];
            // n outputs, 2 m inputs and a constant.
            let parameters = (part.outputs.len() + 2 * part.inputs.len() + 1) as u64;
            let enough = self.seen > parameters;
            let model = engine.identified_model(i).filter(|_| enough);
            let model = model.ok_or_else(|| nothing_learnt(&part.name))?;
            let sizes = (&self.inputs[layout.input_range(i)], &self.outputs[layout.output_range(i)]);
            let eps = (self.eps_si(i, layout, Some(&model)), self.eps_si(i, layout, None));
            let Excitation { order, needed, dependent, .. } = excitation[i].clone();
            Ok(NamedModel {
                excitation_order: order,
                needed_order: order.map(|_| needed),
                dependent_outputs: dependent,
                ..NamedModel::new(part, &model, eps, sizes)
            })
        };
        let with_outputs = (0..layout.subsystems()).filter(|i| !layout.output_range(*i).is_empty());
        let models = &method.models;
        let learns = models.entry.kind == ModelKind::Discrete;
        let source = if learns { models.entry.id } else { method.entry.id };
        let (n, m) = sources::arx_orders(&models.options);
        Ok(ModelFile {
            costep: env!("CARGO_PKG_VERSION").into(),
            system: system.into(),
            source: source.into(),
            n,
            m,
            step: engine.experiment().step,
            models: with_outputs.map(model).collect::<Result<_>>()?,
        })
    }
}

impl Observer for Identification {
    fn observe(&mut self, engine: &Engine) -> Result<Flow> {
        self.excitation.observe(engine)?;
        self.points.swap(0, 1);
        let now = &mut self.points[1];
        engine.inputs_at_end(&mut now.u);
        now.y.copy_from_slice(engine.outputs());
        let take = |sizes: &mut [f64], values: &[f64]| {
            sizes.iter_mut().zip(values).for_each(|(size, value)| *size = size.max(value.abs()));
        };
        take(&mut self.inputs, &now.u);
        take(&mut self.outputs, &now.y);
        for ((least, greatest), y) in self.range.iter_mut().zip(&now.y) {
            (*least, *greatest) = (least.min(*y), greatest.max(*y));
        }
        if self.seen > 0 && self.seen.is_multiple_of(self.stride) {
            self.kept.push(self.points.clone());
        }
        self.seen += 1;
        if self.kept.len() > self.most {
            let mut odd = true;
            self.kept.retain(|_| {
                odd = !odd;
                odd
            });
            self.stride *= 2;
        }
        Ok(Flow::Continue)
    }
}

fn nothing_learnt(part: &str) -> Error {
    Error::new(Code::NothingLearnt, format!("there is no model of `{part}` at the end of the run"))
        .because("there were fewer samples than parameters, or the signals did not change")
        .hint("give a later `--t-end` or a smaller `--step`")
}
