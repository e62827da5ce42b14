//! The helicopter paradox: more states than outputs make exact Interface Jacobians useless, and the state space is not
//! affected [T 4].

use costep_core::Experiment;
use costep_engine::{Engine, Scheduling, System};
use costep_methods::MethodSpec;

/// Greatest output relative to its typical size over 30 s; infinite if the run ends early.
fn amplitude(label: &str, step: f64) -> f64 {
    let model = costep_models::find("helicopter").unwrap().model(&[]).unwrap().1;
    let spec = MethodSpec::parse(label).unwrap();
    let run = || -> costep_core::Result<f64> {
        let mut engine = Engine::new(System {
            externals: model.externals.clone(),
            scheduling: Scheduling::Parallel,
            ..System::new(
                model.parts.iter().map(|part| part.subsystem(&model.solver).unwrap()).collect(),
                model.connections.clone(),
                (spec.build(), spec.models()),
                Experiment { start: 0.0, stop: 30.0, step },
            )
        })?;
        let sizes: Vec<f64> =
            engine.descriptions().iter().flat_map(|d| &d.outputs).map(|port| port.nominal.unwrap()).collect();
        let mut greatest = 0f64;
        for _ in 0..engine.experiment().steps() {
            engine.step()?;
            let relative = engine.outputs().iter().zip(&sizes).map(|(y, size)| y.abs() / size);
            greatest = relative.fold(greatest, f64::max);
        }
        Ok(greatest)
    };
    run().unwrap_or(f64::INFINITY)
}

#[test]
fn interface_jacobians_fail_where_the_state_space_does_not() {
    for step in [0.1, 0.2] {
        let labels = [
            "predictive",
            "predictive:fit=sharp",
            "predictive:states=outputs,offsets=off",
            "prestep:paper=true",
        ];
        let [states, sharp, outputs, thesis] = labels.map(|label| amplitude(label, step));
        println!("{step} s: {states:.3} {sharp:.3} by states, {outputs:.3e} {thesis:.3e} by outputs");
        assert!(states < 10.0 && sharp < 10.0, "{states} {sharp}");
        assert!(outputs > 1e3 && thesis > 1e3, "{outputs} {thesis}");
    }
}
