//! What a coupling method asks of the engine and the subsystems.

/// What a coupling method asks for. Each field is a question of its own: no two of them can contradict each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The inputs that it gives. It must fill all coefficients up to their order in every step.
    pub inputs: InputShape,
    /// What becomes of its inputs whose sources have already stepped.
    pub known_inputs: KnownInputs,
    /// Local models of the subsystems.
    pub models: ModelDemand,
    /// What it does with the outcome of a step.
    pub after_step: AfterStep,
    /// It may want macro steps in about so many parts, asked by [`crate::CouplingMethod::divides`]; 0 for never.
    pub divides: usize,
    /// How many earlier communication points it looks at.
    pub history: usize,
    /// Outputs inside the macro step. A subsystem that has none is seen at the communication points only.
    pub micro_samples: bool,
    /// It forms the coupled inputs of its group itself, in [`crate::CouplingMethod::form_coupled`].
    pub forms_coupled: bool,
    /// Its polynomials are the projection of what it expects over a step, not a continuation from its start.
    pub projected: bool,
    /// The lengths of macro steps that it can work with.
    pub lengths: LengthDemand,
    /// The order in which subsystems step, where the user leaves it open.
    pub sweep: Sweep,
}

/// Lengths of macro steps, the most demanding last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum LengthDemand {
    /// All are the same to it.
    #[default]
    Any,
    /// It learns what a step of some length does: lengths should be a base times powers of two, each for a while, and one after
    /// the other where they grow. Steps between two of them do no harm.
    Doubled,
    /// It learns from step to step what one does, so that all have to be of the same length.
    Equal,
}

/// The order in which the subsystems step over a macro step, where the user leaves it open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sweep {
    /// Feed-forward parts in order, loops in parallel (Jacobi).
    #[default]
    Parallel,
    /// One after the other in loops too (Gauss-Seidel).
    Sequential,
}

/// The inputs that a method gives over a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputShape {
    /// The coupled inputs z, held over the step, and nothing else. If this is so for all groups, and steps are neither
    /// divided nor looked at afterwards, the engine hands z over itself, without a copy, and `pre_step` is not called.
    HeldCoupled,
    /// Polynomials of this order; order 0 are values that are held.
    Polynomials {
        /// Their order.
        order: usize,
        /// What becomes of subsystems that take a lower order.
        lower: LowerOrders,
    },
    /// Polynomials of this order, to which the subsystem adds the answer of a model of its environment that it integrates
    /// beside its own states: the method fills [`crate::Signals::environments`].
    WithEnvironment {
        /// Their order.
        order: usize,
    },
}

/// Subsystems that take input polynomials of a lower order than a method gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LowerOrders {
    /// They are refused.
    #[default]
    Refused,
    /// The method keeps each input within the order that its subsystem takes.
    Kept,
    /// They get the nearest polynomials of the order that they take: where they take none, means over the step.
    Mean,
    /// They do so many steps per macro step, each with the mean of its inputs.
    Substeps(usize),
}

/// Inputs whose sources have already stepped, so that their values at the end of the step are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KnownInputs {
    /// They go to the known end value, in the order of their method.
    #[default]
    Interpolated,
    /// They are held at their mean over the step, which is of second order.
    Mean,
    /// At their mean. But where a source that stood still over the step before has changed, it is switched: an input with
    /// direct feedthrough then has its new value, as the outputs at the end of the step have to follow from it.
    MeanUnlessSwitched,
    /// They keep what the method has given them.
    Kept,
}

/// How much of the local models a method uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ModelDemand {
    /// Nothing.
    #[default]
    None,
    /// D.
    Feedthrough,
    /// A, B, C and D.
    Full {
        /// The states at every communication point too.
        states: bool,
    },
}

/// What a method does when a step has been tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AfterStep {
    /// Nothing: [`crate::CouplingMethod::post_step`] is not called.
    #[default]
    Nothing,
    /// It looks at the outcome.
    Look,
    /// It looks at the outcome and may want the step repeated or rejected, so every subsystem has to support rollback.
    Judge,
}

impl Default for InputShape {
    fn default() -> Self {
        Self::polynomials(0)
    }
}

impl InputShape {
    /// Polynomials that every subsystem has to take.
    pub const fn polynomials(order: usize) -> Self {
        Self::Polynomials { order, lower: LowerOrders::Refused }
    }

    /// The order of the polynomials.
    pub fn order(self) -> usize {
        match self {
            Self::HeldCoupled => 0,
            Self::Polynomials { order, .. } | Self::WithEnvironment { order } => order,
        }
    }

    /// Whether subsystems integrate a model of their environment.
    pub fn has_environment(self) -> bool {
        matches!(self, Self::WithEnvironment { .. })
    }

    /// What becomes of subsystems that take a lower order.
    pub fn lower_orders(self) -> LowerOrders {
        match self {
            Self::Polynomials { lower, .. } => lower,
            Self::HeldCoupled | Self::WithEnvironment { .. } => LowerOrders::Refused,
        }
    }
}

impl ModelDemand {
    /// Whether a method uses local models at all.
    pub fn is_any(self) -> bool {
        self != Self::None
    }

    /// Whether it uses more than D.
    pub fn is_full(self) -> bool {
        matches!(self, Self::Full { .. })
    }

    /// What serves both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, demand) | (demand, Self::None) => demand,
            (Self::Full { states: a }, Self::Full { states: b }) => Self::Full { states: a || b },
            (Self::Full { states }, _) | (_, Self::Full { states }) => Self::Full { states },
            (Self::Feedthrough, Self::Feedthrough) => Self::Feedthrough,
        }
    }
}

impl Request {
    /// Whether the engine may hand the coupled inputs over itself: see [`InputShape::HeldCoupled`].
    pub fn only_holds(&self) -> bool {
        self.inputs == InputShape::HeldCoupled
            && self.history == 0
            && self.after_step == AfterStep::Nothing
            && self.divides == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn demands_add_up() {
        use ModelDemand::{Feedthrough, Full, None};
        assert_eq!(None.and(Feedthrough), Feedthrough);
        assert_eq!(Feedthrough.and(Full { states: false }), Full { states: false });
        assert_eq!(Full { states: false }.and(Full { states: true }), Full { states: true });
        assert_eq!(Full { states: true }.and(None), Full { states: true });
        assert!(!None.is_any() && Feedthrough.is_any() && !Feedthrough.is_full());
    }

    #[test]
    fn whoever_looks_back_or_divides_does_more_than_hold() {
        let holds = Request { inputs: InputShape::HeldCoupled, ..Request::default() };
        assert!(holds.only_holds() && !Request::default().only_holds());
        assert!(!Request { divides: 8, ..holds }.only_holds());
        assert!(!Request { after_step: AfterStep::Look, ..holds }.only_holds());
    }
}
