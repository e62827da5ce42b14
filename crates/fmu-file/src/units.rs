//! Units as FMI defines them: exponents of SI base units with a factor and an offset, and the conversion
//! between two of them. Names of units are free text in FMI, so only the definitions count.

use std::fmt;

use costep_core::{Code, Error, Result};

use crate::ModelDescription;
use crate::description::variable::Variable;

/// The SI base units in the order of [`BaseUnit::exponents`], and the radian.
pub const SI_NAMES: [&str; 8] = ["kg", "m", "s", "A", "K", "mol", "cd", "rad"];

/// value in SI base units = `factor` * value + `offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BaseUnit {
    /// Exponents of [`SI_NAMES`].
    pub exponents: [i32; 8],
    /// Size of the unit.
    pub factor: f64,
    /// Where its zero is, as that of degrees Celsius. Does not count for relative quantities.
    pub offset: f64,
}

/// Symbols with their exponents of kg, m, s, A, rad and their factor.
const SYMBOLS: [(&str, [i32; 5], f64); 19] = [
    ("kg", [1, 0, 0, 0, 0], 1.0),
    ("m", [0, 1, 0, 0, 0], 1.0),
    ("s", [0, 0, 1, 0, 0], 1.0),
    ("rad", [0, 0, 0, 0, 1], 1.0),
    ("deg", [0, 0, 0, 0, 1], std::f64::consts::PI / 180.0),
    ("Hz", [0, 0, -1, 0, 0], 1.0),
    ("N", [1, 1, -2, 0, 0], 1.0),
    ("J", [1, 2, -2, 0, 0], 1.0),
    ("W", [1, 2, -3, 0, 0], 1.0),
    ("A", [0, 0, 0, 1, 0], 1.0),
    ("V", [1, 2, -3, -1, 0], 1.0),
    ("Ohm", [1, 2, -3, -2, 0], 1.0),
    ("H", [1, 2, -2, -2, 0], 1.0),
    ("Pa", [1, -1, -2, 0, 0], 1.0),
    ("l", [0, 3, 0, 0, 0], 1e-3),
    ("L", [0, 3, 0, 0, 0], 1e-3),
    ("min", [0, 0, 1, 0, 0], 60.0),
    ("ft", [0, 1, 0, 0, 0], 0.3048),
    ("1", [0, 0, 0, 0, 0], 1.0),
];

impl BaseUnit {
    /// Whether values of both multiply to a power, as force and velocity do. Radians do not count.
    pub fn gives_power_with(&self, other: &Self) -> bool {
        const WATT: [i64; 7] = [1, 2, -3, 0, 0, 0, 0];
        let sum = |at: usize| i64::from(self.exponents[at]) + i64::from(other.exponents[at]);
        (0..WATT.len()).all(|at| sum(at) == WATT[at])
    }

    /// What a unit as models write it, `N.s/m2`, is in base units; None if it is not understood.
    pub fn parse(text: &str) -> Option<Self> {
        let mut unit = Self::default();
        for (i, side) in text.split('/').enumerate() {
            let sign = if i == 0 { 1 } else { -1 };
            for factor in side.split('.') {
                unit.multiply(factor, sign)?;
            }
        }
        Some(unit)
    }

    /// Multiplies by a symbol with an exponent behind it: `m2`, `s-1`.
    fn multiply(&mut self, factor: &str, sign: i32) -> Option<()> {
        let end = factor.find(|c: char| c.is_ascii_digit() || c == '-').filter(|end| *end > 0);
        let (symbol, exponent) = factor.split_at(end.unwrap_or(factor.len()));
        let exponent: i32 = if exponent.is_empty() { 1 } else { exponent.parse::<i16>().ok()?.into() };
        let (_, exponents, size) = SYMBOLS.iter().find(|(name, ..)| *name == symbol)?;
        let [kg, m, s, ampere, rad] = exponents.map(|e| e * exponent * sign);
        for (place, change) in [(0, kg), (1, m), (2, s), (3, ampere), (7, rad)] {
            self.exponents[place] += change;
        }
        self.factor *= size.powi(exponent * sign);
        Some(())
    }
}

impl Default for BaseUnit {
    /// The number one.
    fn default() -> Self {
        Self { exponents: [0; 8], factor: 1.0, offset: 0.0 }
    }
}

impl fmt::Display for BaseUnit {
    /// The dimension only: `kg.m2.s-2`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = SI_NAMES
            .iter()
            .zip(self.exponents)
            .filter(|(_, exponent)| *exponent != 0)
            .map(
                |(name, exponent)| {
                    if exponent == 1 { (*name).to_owned() } else { format!("{name}{exponent}") }
                },
            )
            .collect();
        if parts.is_empty() { f.write_str("1") } else { f.write_str(&parts.join(".")) }
    }
}

/// shown value = `factor` * value + `offset`, or `factor` / value.
#[derive(Clone, Debug, PartialEq)]
pub struct DisplayUnit {
    /// Its name.
    pub name: String,
    /// See above.
    pub factor: f64,
    /// See above.
    pub offset: f64,
    /// The second form (FMI 3).
    pub inverse: bool,
}

impl DisplayUnit {
    /// A value of the unit as shown. Differences of values have no offset.
    pub fn show(&self, value: f64, relative: bool) -> f64 {
        if self.inverse {
            return self.factor / value;
        }
        self.factor * value + if relative { 0.0 } else { self.offset }
    }

    /// A shown value back in the unit.
    pub fn read(&self, shown: f64, relative: bool) -> f64 {
        if self.inverse {
            return self.factor / shown;
        }
        (shown - if relative { 0.0 } else { self.offset }) / self.factor
    }
}

/// A unit of a model description.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    /// Its name.
    pub name: String,
    /// What it is in SI base units, if the description says so.
    pub base: Option<BaseUnit>,
    /// Units to show values in.
    pub display: Vec<DisplayUnit>,
    /// Line of modelDescription.xml.
    pub line: u32,
}

/// How a value changes on its way from one unit to another: `factor` * value + `offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conversion {
    /// See above.
    pub factor: f64,
    /// See above.
    pub offset: f64,
    /// Both units were known. If not, values are passed on as they are, as the standard demands.
    pub checked: bool,
}

impl Conversion {
    /// Values stay as they are.
    pub const IDENTITY: Self = Self { factor: 1.0, offset: 0.0, checked: true };
    const UNCHECKED: Self = Self { checked: false, ..Self::IDENTITY };

    /// Whether values stay as they are.
    pub fn is_identity(&self) -> bool {
        self.factor == 1.0 && self.offset == 0.0
    }

    /// Converts a value.
    #[inline]
    pub fn apply(&self, value: f64) -> f64 {
        self.factor * value + self.offset
    }

    /// From one unit to another; offsets do not count for relative quantities.
    pub fn between(from: &Unit, to: &Unit, relative: bool) -> Result<Self> {
        let (Some(a), Some(b)) = (&from.base, &to.base) else {
            return Ok(if from.name == to.name { Self::IDENTITY } else { Self::UNCHECKED });
        };
        if a.exponents != b.exponents {
            let only_rad = a.exponents[..7] == b.exponents[..7];
            let error = Error::new(
                Code::UnitMismatch,
                format!("`{}` ({a}) cannot be converted to `{}` ({b})", from.name, to.name),
            );
            return Err(if only_rad { error.hint("they differ only in the radian") } else { error });
        }
        let (offset_a, offset_b) = if relative { (0.0, 0.0) } else { (a.offset, b.offset) };
        if a.factor == b.factor && offset_a == offset_b {
            return Ok(Self::IDENTITY);
        }
        let conversion =
            Self { factor: a.factor / b.factor, offset: (offset_a - offset_b) / b.factor, checked: true };
        if !conversion.factor.is_finite() || conversion.factor == 0.0 || !conversion.offset.is_finite() {
            let message = format!("`{}` or `{}` is defined with an invalid factor", from.name, to.name);
            return Err(Error::new(Code::UnitMismatch, message));
        }
        Ok(conversion)
    }
}

/// The conversion on a connection from a variable of one model to a variable of another one. Without a unit on
/// one side values are passed on as they are.
pub fn conversion(
    source: (&ModelDescription, &Variable),
    target: (&ModelDescription, &Variable),
) -> Result<Conversion> {
    let unit = |(model, variable): (&ModelDescription, &Variable)| {
        variable.unit().map(|name| {
            model.unit(name).cloned().unwrap_or_else(|| Unit {
                name: name.to_owned(),
                base: None,
                display: Vec::new(),
                line: 0,
            })
        })
    };
    let (Some(from), Some(to)) = (unit(source), unit(target)) else { return Ok(Conversion::UNCHECKED) };
    let relative = [source.1, target.1].map(|variable| variable.attributes.relative_quantity);
    let conversion = Conversion::between(&from, &to, relative[0]);
    let named = |error: Error| {
        Error::new(
            Code::UnitMismatch,
            format!(
                "units of `{}` and `{}` differ: {}",
                source.1.name,
                target.1.name,
                error.details().message
            ),
        )
        .hint(error.details().hint.clone().unwrap_or_else(|| "connect quantities of the same kind".into()))
    };
    if relative[0] != relative[1] {
        // Without offsets both kinds are the same.
        let without = |unit: &Unit| unit.base.is_none_or(|base| base.offset == 0.0);
        if !(without(&from) && without(&to)) {
            let message = "one is a difference of values, the other is not";
            return Err(named(Error::new(Code::UnitMismatch, message)));
        }
    }
    conversion.map_err(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_as_models_write_them_are_understood() {
        let parse = |text: &str| BaseUnit::parse(text);
        assert_eq!(parse("N.s/m").unwrap().to_string(), "kg.s-1");
        assert_eq!(parse("m/s2").unwrap().to_string(), "m.s-2");
        assert_eq!(parse("rad/s").unwrap().to_string(), "s-1.rad");
        assert_eq!((parse("V/A"), parse("Ohm.s")), (parse("Ohm"), parse("H")));
        assert_eq!(parse("V.A"), parse("W"));
        assert_eq!(parse("deg").unwrap().factor, std::f64::consts::PI / 180.0);
        assert_eq!(parse("furlong"), None);
        // No exponent overflows.
        assert_eq!(parse("N40000"), None);
    }

    fn unit(name: &str, exponents: [i32; 8], factor: f64, offset: f64) -> Unit {
        let base = Some(BaseUnit { exponents, factor, offset });
        Unit { name: name.into(), base, display: Vec::new(), line: 0 }
    }

    const TEMPERATURE: [i32; 8] = [0, 0, 0, 0, 1, 0, 0, 0];
    const SPEED: [i32; 8] = [0, 0, -1, 0, 0, 0, 0, 1];

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() <= 1e-12 * b.abs().max(1.0), "{a} {b}");
    }

    #[test]
    fn temperatures_have_offsets_and_their_differences_have_not() {
        let kelvin = unit("K", TEMPERATURE, 1.0, 0.0);
        let celsius = unit("degC", TEMPERATURE, 1.0, 273.15);
        let fahrenheit = unit("degF", TEMPERATURE, 5.0 / 9.0, 273.15 - 32.0 * 5.0 / 9.0);
        let convert = |from, to, relative| Conversion::between(from, to, relative).unwrap();
        near(convert(&celsius, &kelvin, false).apply(20.0), 293.15);
        near(convert(&fahrenheit, &celsius, false).apply(212.0), 100.0);
        near(convert(&celsius, &fahrenheit, false).apply(-40.0), -40.0);
        near(convert(&celsius, &fahrenheit, true).apply(10.0), 18.0);
        assert!(convert(&celsius, &kelvin, true).is_identity());
    }

    #[test]
    fn speeds_are_scaled() {
        let rpm = unit("rpm", SPEED, std::f64::consts::PI / 30.0, 0.0);
        let rad = unit("rad/s", SPEED, 1.0, 0.0);
        near(Conversion::between(&rpm, &rad, false).unwrap().apply(3000.0), 100.0 * std::f64::consts::PI);
    }

    #[test]
    fn other_dimensions_are_refused_and_named() {
        let newton_metre = unit("N.m", [1, 2, -2, 0, 0, 0, 0, 0], 1.0, 0.0);
        let speed = unit("rad/s", SPEED, 1.0, 0.0);
        let error = Conversion::between(&newton_metre, &speed, false).unwrap_err();
        assert_eq!(error.code(), Code::UnitMismatch);
        let message = "`N.m` (kg.m2.s-2) cannot be converted to `rad/s` (s-1.rad)";
        assert_eq!(error.details().message, message);
        let hertz = unit("1/s", [0, 0, -1, 0, 0, 0, 0, 0], 1.0, 0.0);
        let error = Conversion::between(&hertz, &speed, false).unwrap_err();
        assert_eq!(error.details().hint.as_deref(), Some("they differ only in the radian"));
    }

    #[test]
    fn units_without_definition_are_not_checked() {
        let mut unknown = unit("Euro", SPEED, 1.0, 0.0);
        unknown.base = None;
        let conversion = Conversion::between(&unknown, &unit("rad/s", SPEED, 2.0, 0.0), false).unwrap();
        assert!(conversion.is_identity() && !conversion.checked);
        assert!(Conversion::between(&unknown, &unknown, false).unwrap().checked);
    }

    #[test]
    fn factors_that_cannot_be_are_refused() {
        for (a, b) in [(0.0, 1.0), (1.0, 0.0), (f64::NAN, 1.0), (f64::INFINITY, 1.0), (1.0, f64::INFINITY)] {
            let convert = Conversion::between(&unit("a", SPEED, a, 0.0), &unit("b", SPEED, b, 0.0), false);
            assert_eq!(convert.unwrap_err().code(), Code::UnitMismatch, "{a} {b}");
        }
    }

    #[test]
    fn display_units_go_both_ways() {
        let fahrenheit = DisplayUnit { name: "degF".into(), factor: 1.8, offset: -459.67, inverse: false };
        near(fahrenheit.show(273.15, false), 32.0);
        near(fahrenheit.read(212.0, false), 373.15);
        near(fahrenheit.show(10.0, true), 18.0);
        let consumption = DisplayUnit { name: "mpg".into(), factor: 235.214583, offset: 0.0, inverse: true };
        near(consumption.read(consumption.show(7.5, false), false), 7.5);
    }
}
