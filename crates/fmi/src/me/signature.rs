//! What the description of an FMU for Model Exchange says about an instance of it.

use costep_core::{Description, Differences, PortSize, Result, StepLengths, Variation};
use costep_fmu_file::settings::{self, Setting};
use costep_fmu_file::{FmiVersion, ModelDescription, ModelExchange};

use super::equations::{DifferenceMemory, Slopes, SomeInputs};
use super::{ModelExchangeOptions, memoryless};
use crate::cs::input_routing;
use crate::cs::linear::Linear;
use crate::cs::signals::{self, Signals};

/// What the FMU can be put back by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RollbackBy {
    /// Its own functions.
    FmuState,
    /// Time, states and inputs, which are all its memory; not over a time event.
    OwnStates,
    /// Nothing.
    No,
}

/// What is known of an instance before it is made.
pub(super) struct Signature {
    pub(super) settings: Vec<Setting>,
    pub(super) inputs: Signals,
    pub(super) outputs: Signals,
    pub(super) states: usize,
    pub(super) state_names: Vec<String>,
    pub(super) indicators: usize,
    pub(super) slopes: Slopes,
    pub(super) continuous_inputs: Option<Box<SomeInputs>>,
    pub(super) rollback: RollbackBy,
    pub(super) description: Description,
}

impl Signature {
    pub(super) fn of(
        fmu: &ModelDescription,
        kind: &ModelExchange,
        name: &str,
        options: &ModelExchangeOptions,
    ) -> Result<Self> {
        let (settings, routing) = (settings::settings(fmu, &options.parameters)?, &options.routing);
        let sizes = settings::sizes(&settings);
        let inputs = input_routing::inputs(fmu, &sizes, routing)?;
        let outputs = Signals::outputs(fmu, &sizes)?;
        let (mut states, mut indicators) = (Signals::default(), Signals::default());
        for state in fmu.states() {
            states.push(fmu, state.state, &sizes)?;
        }
        for indicator in &fmu.structure.event_indicators {
            indicators.push(fmu, indicator.variable, &sizes)?;
        }
        let mut directional = match kind.interface.provides_derivatives() {
            true => Linear::new(fmu, (&inputs, &outputs), &sizes)?,
            false => None,
        };
        if let Some(linear) =
            directional.as_mut().filter(|_| !kind.interface.provides_directional_derivatives)
        {
            linear.use_adjoint();
        }
        let number = states.width() + fmu.structure.unlisted_states;
        let mut input_ports = inputs.ports(fmu, &sizes);
        PortSize::apply(&options.sizes, &mut input_ports);
        // They are set at events, which the engine causes at communication points if their values change.
        for port in input_ports.iter_mut().filter(|port| port.variation == Variation::Stepwise) {
            port.variation = Variation::Discrete;
        }
        let slopes = match directional {
            Some(linear) => Slopes::Directional(Box::new(linear)),
            None => differences(number, &outputs, &input_ports),
        };
        let continuous_inputs = SomeInputs::of(fmu, &inputs);
        let rollback = match kind.interface.can_get_and_set_state {
            true => RollbackBy::FmuState,
            // Parameters can be put back at events only.
            false if routing.tuned.is_empty() && memoryless::is_memoryless(fmu, kind) => {
                RollbackBy::OwnStates
            }
            false => RollbackBy::No,
        };
        let mut description = Description {
            name: name.to_owned(),
            inputs: input_ports,
            outputs: outputs.ports(fmu, &sizes),
            feedthrough: signals::with_tuned(signals::feedthrough(fmu, &inputs, &outputs), fmu, &inputs),
            assumes_feedthrough: !fmu.tells_dependencies(),
            // Discrete inputs are held by the engine, as their ports say.
            input_order: usize::MAX,
            step_lengths: StepLengths::Any,
        };
        PortSize::apply(&options.sizes, &mut description.outputs);
        options.variations.apply(&mut description)?;
        routing.describe_open(&mut description);
        Ok(Self {
            settings,
            state_names: states.ports(fmu, &sizes).into_iter().map(|port| port.name).collect(),
            indicators: match fmu.fmi_version {
                FmiVersion::V1 | FmiVersion::V2 => fmu.number_of_event_indicators,
                FmiVersion::V3 => indicators.width(),
            },
            inputs,
            outputs,
            states: number,
            slopes,
            continuous_inputs,
            rollback,
            description,
        })
    }
}

/// Memory for differences. Inputs without a nominal value are taken to be of size 1.
pub(super) fn differences(states: usize, outputs: &Signals, inputs: &[costep_core::Port]) -> Slopes {
    let sizes = inputs.iter().map(|port| port.nominal.filter(|nominal| *nominal > 0.0).unwrap_or(1.0));
    let (n, m, r) = (states, inputs.len(), outputs.total());
    Slopes::Differences(Box::new(DifferenceMemory {
        differences: Differences::new(n, m, r),
        nominal_x: vec![1.0; n],
        nominal_u: sizes.collect(),
        y: vec![0.0; r],
    }))
}
