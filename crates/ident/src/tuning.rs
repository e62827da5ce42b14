//! Constants that were chosen by measurement: the models of a [`Bank`](crate::Bank), and a way to declare more of them.
//!
//! Each topic is a struct with its values in `DEFAULT` and with the reason of each value beside it. A study can show all of
//! them, vary one, and print value and reason in a table (`docs/theory/identified.md`).

/// One constant, to be read or varied.
#[derive(Debug)]
pub struct Constant<'a> {
    /// The field of its struct, after those it is nested in: `trust.window`.
    pub name: String,
    /// What it does and why it has its value.
    pub why: &'static str,
    /// Where it stands.
    pub value: Value<'a>,
}

/// The value of a constant.
#[derive(Debug)]
pub enum Value<'a> {
    /// A real number.
    Real(&'a mut f64),
    /// A number of points, steps or values.
    Count(&'a mut usize),
}

impl<'a> From<&'a mut f64> for Value<'a> {
    fn from(value: &'a mut f64) -> Self {
        Self::Real(value)
    }
}

impl<'a> From<&'a mut usize> for Value<'a> {
    fn from(value: &'a mut usize) -> Self {
        Self::Count(value)
    }
}

/// Declares a topic: a struct whose fields are constants, each with its reason and its value.
#[doc(hidden)]
#[macro_export]
macro_rules! constants {
    ($(#[doc = $about:literal])+ $topic:ident $path:literal {
        $($(#[doc = $why:literal])+ $name:ident: $kind:ty = $value:expr;)+
    }) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $topic {
            $($(#[doc = $why])+ pub $name: $kind,)+
        }

        impl $topic {
            /// The values in use.
            pub const DEFAULT: Self = Self { $($name: $value,)+ };

            /// Shows every constant.
            pub fn each<'a>(&'a mut self, show: &mut dyn FnMut($crate::Constant<'a>)) {
                $(show($crate::Constant {
                    name: concat!($path, ".", stringify!($name)).into(),
                    why: concat!($($why),+).trim(),
                    value: (&mut self.$name).into(),
                });)+
            }
        }

        impl Default for $topic {
            fn default() -> Self {
                Self::DEFAULT
            }
        }
    };
}

constants! {
    /// Recursive least squares on differences.
    RlsTuning "rls" {
        /// lambda of the excited direction, about 50 samples: follows nonlinear subsystems, averages noise. The option
        /// `forgetting` sets it.
        forgetting: f64 = 0.98;
        /// P_0 in scaled units: parameters of size one are not held back by the prior.
        variance: f64 = 1e6;
        /// A scale is raised only when exceeded by this factor, so that scales settle after a few samples.
        slack: f64 = 2.0;
        /// Differences below this share of the signal are round-off: nothing is learnt from them.
        round_off: f64 = 1e-11;
    }
}

constants! {
    /// How far a model is trusted, and which of the two orders is in use.
    TrustTuning "trust" {
        /// Active steps that errors and changes are averaged over: a wrong model is seen within a few steps.
        window: usize = 5;
        /// From so many errors on, the greatest is left out: one external impulse does not cost trust.
        trimmed_from: usize = 3;
        /// Outputs that change by less than this share of what they usually do are at rest: an error there is none of a surprise.
        at_rest: f64 = 0.1;
        /// It is one up to so many changes all the same.
        excused: f64 = 2.0;
        /// Weights of the outputs, the greatest recent changes, forget by this factor per step.
        weight_memory: f64 = 0.98;
        /// The order changes where the mean square error of the other model is below this share; below one, so
        /// that equal models do not take turns.
        clearly_better: f64 = 0.5;
        /// Full trust up to this rho: the error is clearly smaller than the change.
        full: f64 = 0.3;
        /// No trust from this rho on: at 1 the model is no better than a hold.
        none: f64 = 0.8;
    }
}

constants! {
    /// Extrapolation of outputs whose model is not trusted.
    FallbackTuning "fallback" {
        /// Squared errors of the ways to extrapolate forget by this factor per step: about seven steps.
        memory: f64 = 0.85;
        /// Values before which only the hold is used: lines need errors to be judged by.
        fewest: usize = 4;
        /// A line must err less than the hold by this share per unit of its noise gain.
        caution: f64 = 0.2;
        /// Values of the shorter least-squares line, beside those of two values.
        short_line: usize = 5;
        /// Values of the longer one, for noise.
        long_line: usize = 10;
    }
}

/// All constants of a [`Bank`](crate::Bank).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BankTuning {
    /// Of the regression.
    pub rls: RlsTuning,
    /// Of the judgement.
    pub trust: TrustTuning,
    /// Of what stands in for a model.
    pub fallback: FallbackTuning,
}

impl BankTuning {
    /// The values in use.
    pub const DEFAULT: Self =
        Self { rls: RlsTuning::DEFAULT, trust: TrustTuning::DEFAULT, fallback: FallbackTuning::DEFAULT };

    /// Shows every constant.
    pub fn each<'a>(&'a mut self, show: &mut dyn FnMut(Constant<'a>)) {
        self.rls.each(show);
        self.trust.each(show);
        self.fallback.each(show);
    }
}
