//! The types of options, and the macros that declare them.

use crate::Value;

/// What an option can be read as.
pub trait OptionType: Sized {
    /// The value in this type; none if it is of another.
    fn from_value(value: &Value) -> Option<Self>;
}

/// One of some words. Made by [`choice!`](crate::choice!).
pub trait Choice: Sized + 'static {
    /// The words, the default first.
    const WORDS: &'static [&'static str];
    /// What they stand for, in the same order.
    const ALL: &'static [Self];
}

impl OptionType for bool {
    fn from_value(value: &Value) -> Option<Self> {
        if let Value::Bool(value) = value { Some(*value) } else { None }
    }
}

impl OptionType for usize {
    fn from_value(value: &Value) -> Option<Self> {
        if let Value::Integer(value) = value { usize::try_from(*value).ok() } else { None }
    }
}

impl OptionType for f64 {
    fn from_value(value: &Value) -> Option<Self> {
        if let Value::Real(value) = value { Some(*value) } else { None }
    }
}

/// The path of a file; empty for none.
impl OptionType for String {
    fn from_value(value: &Value) -> Option<Self> {
        if let Value::Text(value) = value { Some(value.clone()) } else { None }
    }
}

/// An enum of words that an option can be, the default first.
///
/// A word that nobody handles does not compile:
///
/// ```compile_fail,E0004
/// costep_core::choice! {
///     /// Shape of an input.
///     pub enum Form { Hold = "hold", Ramp = "ramp", Parabola = "parabola" }
/// }
///
/// fn order(form: Form) -> usize {
///     match form {
///         Form::Hold => 0,
///         Form::Ramp => 1,
///     }
/// }
/// ```
#[macro_export]
macro_rules! choice {
    ($(#[$about:meta])* $vis:vis enum $Name:ident {
        $($(#[$what:meta])* $Variant:ident = $word:literal),+ $(,)?
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $Name {
            $(
                #[doc = concat!("`", $word, "`")]
                $(#[$what])*
                $Variant,
            )+
        }

        impl $Name {
            /// The word for it.
            #[allow(dead_code, reason = "not every choice is a condition of other options")]
            $vis const fn word(self) -> &'static str {
                match self {
                    $(Self::$Variant => $word,)+
                }
            }
        }

        impl $crate::Choice for $Name {
            const WORDS: &'static [&'static str] = &[$($word),+];
            const ALL: &'static [Self] = &[$(Self::$Variant),+];
        }

        impl $crate::OptionType for $Name {
            fn from_value(value: &$crate::Value) -> Option<Self> {
                let $crate::Value::Text(text) = value else { return None };
                match text.as_str() {
                    $($word => Some(Self::$Variant),)+
                    _ => None,
                }
            }
        }
    };
}

/// A struct of options with the table of what may be given: per option its help as a doc comment, name,
/// type, default, range, and conditions under which it has an effect. Types are `bool`, `usize`, `f64`,
/// `String` (a file) and enums of [`choice!`](crate::choice!).
#[macro_export]
macro_rules! options {
    ($(#[$about:meta])* $vis:vis struct $Name:ident {
        $(
            $(#[doc = $help:literal])+
            $name:ident: $type:ident $(= $default:literal $(in $min:literal..=$max:literal)?)?
            $(, only [$($only:expr),+ $(,)?])?;
        )*
    }) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $Name {
            $($(#[doc = $help])+ $vis $name: $type,)*
        }

        impl $Name {
            /// The table of the options.
            $vis const SPECS: &'static [$crate::OptionSpec] = &[
                $($crate::OptionSpec {
                    name: stringify!($name),
                    kind: $crate::option_kind!($type $(= $default $(in $min..=$max)?)?),
                    help: $crate::options::help(concat!($($help),+)),
                    only_with: &[$($($only),+)?],
                },)*
            ];

            /// What checked options say; the default of what their table does not have.
            $vis fn read(options: &$crate::Options) -> Self {
                Self {
                    $($name: options
                        .read(stringify!($name))
                        .unwrap_or_else(|| $crate::option_default!($type $(= $default)?)),)*
                }
            }
        }
    };
}

/// Type, range and default of an option in [`options!`](crate::options!).
#[doc(hidden)]
#[macro_export]
macro_rules! option_kind {
    (bool = $default:literal) => {
        $crate::OptionKind::Bool { default: $default }
    };
    (usize = $default:literal in $min:literal..=$max:literal) => {
        $crate::OptionKind::Integer { default: $default, min: $min, max: $max }
    };
    (f64 = $default:literal in $min:literal..=$max:literal) => {
        $crate::OptionKind::Real { default: $default, min: $min, max: $max }
    };
    (String) => {
        $crate::OptionKind::File
    };
    ($Choice:ident) => {
        $crate::OptionKind::Choice(<$Choice as $crate::Choice>::WORDS)
    };
}

/// The default of an option in [`options!`](crate::options!).
#[doc(hidden)]
#[macro_export]
macro_rules! option_default {
    (String) => {
        String::new()
    };
    ($type:ident = $default:literal) => {
        $default
    };
    ($Choice:ident) => {
        <$Choice as $crate::Choice>::ALL[0]
    };
}
