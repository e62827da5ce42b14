//! The enumerations of the standard, with the words they have in the XML.

use std::fmt;

use costep_core::PortKind;

use crate::xml::Literal;

macro_rules! words {
    ($($(#[$about:meta])* $seen:vis $name:ident, $what:literal { $($(#[$doc:meta])* $variant:ident = $word:literal),* $(,)? })*) => { $(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $seen enum $name { $($(#[$doc])* $variant),* }

        impl $name {
            /// The word of the standard.
            $seen fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }
        }

        impl Literal for $name {
            const WHAT: &'static str = $what;
            fn parse(text: &str) -> Option<Self> {
                match text { $($word => Some(Self::$variant),)* _ => None }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.word())
            }
        }
    )* };
}

words! {
    /// Who determines the value of a variable.
    pub Causality, "causality" {
        /// Set by the importer, constant in the run unless tunable.
        Parameter = "parameter",
        /// Computed from parameters.
        CalculatedParameter = "calculatedParameter",
        /// Set by others during the run.
        Input = "input",
        /// Of use to others.
        Output = "output",
        /// Inner variable.
        Local = "local",
        /// Usually time.
        Independent = "independent",
        /// Determines sizes (FMI 3).
        StructuralParameter = "structuralParameter",
    }

    /// When the value of a variable may change.
    pub Variability, "variability" {
        /// Never.
        Constant = "constant",
        /// Not after initialisation.
        Fixed = "fixed",
        /// At events or communication points, by the importer.
        Tunable = "tunable",
        /// At events.
        Discrete = "discrete",
        /// Always.
        Continuous = "continuous",
    }

    /// How a variable gets its first value.
    pub Initial, "kind of initialisation" {
        /// It is the start value.
        Exact = "exact",
        /// The start value is a guess.
        Approx = "approx",
        /// It is computed.
        Calculated = "calculated",
    }

    /// How a known variable enters the equation of an unknown one.
    pub DependencyKind, "kind of dependency" {
        /// In any way.
        Dependent = "dependent",
        /// By a factor that never changes.
        Constant = "constant",
        /// By a factor that is fixed after initialisation.
        Fixed = "fixed",
        /// By a factor that changes with tunable parameters only.
        Tunable = "tunable",
        /// By a factor that changes at events only.
        Discrete = "discrete",
    }

    /// Which names variables have.
    pub NamingConvention, "naming convention" {
        /// Any.
        Flat = "flat",
        /// Names of parts separated by dots, as in Modelica.
        Structured = "structured",
    }

    /// Who determines the value of a variable, in FMI 1.
    pub(crate) Causality1, "causality" {
        /// Others, during the run.
        Input = "input",
        /// The FMU, and others want to know it.
        Output = "output",
        /// The FMU.
        Internal = "internal",
        /// Of no influence on the model.
        None = "none",
    }

    /// When the value of a variable may change, in FMI 1.
    pub(crate) Variability1, "variability" {
        /// Never.
        Constant = "constant",
        /// Not after initialisation.
        Parameter = "parameter",
        /// At events.
        Discrete = "discrete",
        /// Always.
        Continuous = "continuous",
    }

    /// Whether a variable of FMI 1 is another name of the variable with its value reference.
    pub AliasKind, "kind of alias" {
        /// It is the variable itself.
        NoAlias = "noAlias",
        /// It is another name.
        Alias = "alias",
        /// It is another name, and the value has the other sign.
        NegatedAlias = "negatedAlias",
    }

    /// When a clock ticks (FMI 3).
    pub IntervalVariability, "kind of interval" {
        /// Periodic, the period is in the model description.
        Constant = "constant",
        /// Periodic, the period is known after initialisation.
        Fixed = "fixed",
        /// Periodic, the period may change with tunable parameters.
        Tunable = "tunable",
        /// The next tick is known at each tick.
        Changing = "changing",
        /// The FMU tells when the next tick comes.
        Countdown = "countdown",
        /// Unforeseeable.
        Triggered = "triggered",
    }

    /// The type of a variable. `Real` of FMI 1 and 2 is [`Float64`](Self::Float64), `Integer`
    /// [`Int32`](Self::Int32); an enumeration has 32 bits there and 64 in FMI 3.
    pub VariableType, "type of variable" {
        /// 32 bits.
        Float32 = "Float32",
        /// 64 bits; `Real` of FMI 2.
        Float64 = "Float64",
        /// 8 bits.
        Int8 = "Int8",
        /// 8 bits.
        UInt8 = "UInt8",
        /// 16 bits.
        Int16 = "Int16",
        /// 16 bits.
        UInt16 = "UInt16",
        /// 32 bits; `Integer` of FMI 2.
        Int32 = "Int32",
        /// 32 bits.
        UInt32 = "UInt32",
        /// 64 bits.
        Int64 = "Int64",
        /// 64 bits.
        UInt64 = "UInt64",
        /// True or false.
        Boolean = "Boolean",
        /// Text.
        String = "String",
        /// Bytes (FMI 3).
        Binary = "Binary",
        /// One of the items of its declared type.
        Enumeration = "Enumeration",
        /// Active or not (FMI 3).
        Clock = "Clock",
    }
}

impl VariableType {
    /// Whether it is a real number. Only such variables can be continuous.
    pub fn is_float(self) -> bool {
        matches!(self, Self::Float32 | Self::Float64)
    }

    /// What the values of a port of this type are; nothing for types that are not signals.
    pub fn port_kind(self) -> Option<PortKind> {
        match self {
            Self::Float64 | Self::Float32 => Some(PortKind::Real),
            Self::Boolean => Some(PortKind::Boolean),
            Self::Enumeration => Some(PortKind::Enumeration),
            Self::String => Some(PortKind::Text),
            Self::Binary => Some(PortKind::Bytes),
            Self::Clock => None,
            _ => Some(PortKind::Integer),
        }
    }

    /// The types of FMI 1 and 2 by their names there.
    pub(crate) fn of_fmi2(name: &str) -> Option<Self> {
        Some(match name {
            "Real" => Self::Float64,
            "Integer" => Self::Int32,
            "Boolean" => Self::Boolean,
            "String" => Self::String,
            "Enumeration" => Self::Enumeration,
            _ => return None,
        })
    }
}
