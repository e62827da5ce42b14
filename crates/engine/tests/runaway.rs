//! A subsystem that fails under signals that have diverged ends a diverged run; one that fails by itself is at fault.

use costep_core::{Code, Error, Experiment};
use costep_engine::{Engine, Scheduling, System};
use costep_integrate::Solver;
use costep_methods::MethodSpec;

/// Runs a built-in model with a coupling method to its end or its error.
fn outcome(model: &str, solver: Solver, method: &str, step: f64) -> Result<(), Error> {
    let model = costep_models::find(model)?.model(&[])?.1;
    let parts = model.parts.iter().map(|part| part.subsystem(&solver)).collect::<Result<_, _>>()?;
    let method = (MethodSpec::parse(method)?.build(), Box::new(costep_ident::Exact::new(1)) as _);
    let mut engine = Engine::new(System {
        externals: model.externals,
        scheduling: Scheduling::Parallel,
        ..System::new(parts, model.connections, method, Experiment { start: 0.0, stop: 0.5, step })
    })?;
    engine.run(&mut [])
}

#[test]
fn an_integrator_that_gives_up_under_an_unstable_coupling_is_a_diverged_run() {
    // The oil has no density at the pressures that the coupling asks for.
    let bdf = Solver::parse("bdf:1e-6", 1e-5).unwrap();
    for solver in [Solver::Dopri5(1e-5), bdf] {
        let error = outcome("hydraulic", solver, "foh", 2e-4).unwrap_err();
        println!("{error}");
        assert_eq!(error.code(), Code::Diverged, "{error}");
        for word in ["the run diverged", "nominal", "cause:"] {
            assert!(error.to_string().contains(word), "`{word}` is not in\n{error}");
        }
    }
}
