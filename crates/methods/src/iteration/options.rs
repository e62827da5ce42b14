//! Options that all methods share that repeat a step.

use costep_core::{choice, options};

choice! {
    /// The order in which the subsystems of a loop step.
    pub(crate) enum SweepKind {
        /// One after the other, each with the outputs of those before it.
        GaussSeidel = "gauss-seidel",
        /// All at once.
        Jacobi = "jacobi",
    }
}

choice! {
    /// Shape of the inputs over a step.
    pub(crate) enum Shape {
        /// From the values at its start to those at its end.
        Linear = "linear",
        /// Through the values at the start of the step before as well.
        Quadratic = "quadratic",
        /// At the values at the end of the step.
        Held = "held",
    }
}

choice! {
    /// Where the first try of a step comes from.
    pub(crate) enum PredictorKind {
        /// The line through the last two values.
        Extrapolation = "extrapolation",
        /// The last value.
        Hold = "hold",
        /// The method `predictive`.
        Predictive = "predictive",
        /// The method `identified`.
        Identified = "identified",
    }
}

choice! {
    /// What becomes of a step that does not converge.
    pub(crate) enum WithoutConvergence {
        /// It is taken as it is, with a warning.
        Accept = "accept",
        /// It is done in halves.
        Halve = "halve",
        /// The run ends.
        Stop = "stop",
    }
}

options! {
    /// What users choose from.
    pub(crate) struct IterationOptions {
        /// inputs over a step: a line to the value at its end, a parabola through the value before as well (more accurate,
        /// where the subsystems take it), or held at the value at its end
        inputs: Shape;
        /// the first try of a step: the line through the last two values, the last value, or what `predictive` or `identified`
        /// expect; a right prediction needs no second try
        predictor: PredictorKind;
        /// a step is done when the inputs fit the outputs that they cause: root mean square of the differences, relative to
        /// the nominal values or, if these are larger, to the values so far
        tolerance: f64 = 1e-8 in 1e-14..=0.1;
        /// how often a step is done at most
        max_iterations: usize = 40 in 1..=90;
        /// what becomes of a step that does not converge: it is taken with a warning, done in halves, or ends the run
        without_convergence: WithoutConvergence;
        /// steps shorter than this many seconds are taken after their first try, with a warning if they have not converged:
        /// an end to the halving where inputs jump back and forth
        accept_below: f64 = 0.0 in 0.0..=1e9;
    }
}

options! {
    /// In which order the subsystems of a loop step.
    pub(crate) struct SweepOptions {
        /// the subsystems of a loop step one after the other, each with the outputs of those before it, or all at once; where
        /// the project has a schedule, that holds
        sweep: SweepKind;
    }
}
