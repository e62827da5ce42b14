//! Units of ports, and what lies between the two ends of a connection.

use costep_fmu_file::{BaseUnit, Conversion, ModelDescription, Unit, Variable};

/// The unit of a port with its definition, as far as it is known.
#[derive(Clone, Debug)]
pub(crate) struct PortUnit {
    unit: Unit,
    /// A difference of values: offsets do not count.
    relative: bool,
}

/// How the units of two ports relate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Relation {
    /// Values can be passed on as they are.
    Same,
    /// Values can be converted.
    Converted(Conversion),
    /// They measure different things.
    OtherQuantity,
    /// They have different names, and not both are defined.
    Unknown,
}

impl PortUnit {
    /// A unit of a built-in model.
    pub(crate) fn native(name: &str) -> Self {
        let base = BaseUnit::parse(name);
        Self { unit: Unit { name: name.into(), base, display: Vec::new(), line: 0 }, relative: false }
    }

    /// The unit of a variable of an FMU.
    pub(crate) fn of(fmu: &ModelDescription, variable: &Variable) -> Option<Self> {
        let name = variable.unit()?;
        let base = fmu.unit(name).and_then(|unit| unit.base);
        let unit = Unit { name: name.into(), base, display: Vec::new(), line: 0 };
        Some(Self { unit, relative: variable.attributes.relative_quantity })
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        &self.unit.name
    }

    /// Whether values of both multiply to a power, as force and velocity do. Radians do not count.
    pub(crate) fn gives_power_with(&self, other: &Self) -> bool {
        self.unit.base.zip(other.unit.base).is_some_and(|(one, other)| one.gives_power_with(&other))
    }

    /// What a value goes through on its way to a port of another unit.
    pub(crate) fn relation(&self, to: &Self) -> Relation {
        let has_offset = |unit: &Self| unit.unit.base.is_some_and(|base| base.offset != 0.0);
        if self.relative != to.relative && (has_offset(self) || has_offset(to)) {
            return Relation::OtherQuantity;
        }
        match Conversion::between(&self.unit, &to.unit, self.relative) {
            Ok(conversion) if conversion.checked && conversion.is_identity() => Relation::Same,
            Ok(conversion) if conversion.checked => Relation::Converted(conversion),
            Ok(_) => Relation::Unknown,
            Err(_) => Relation::OtherQuantity,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_models_and_fmus_meet() {
        let mut rpm = PortUnit::native("rad/s");
        rpm.unit.name = "rpm".into();
        rpm.unit.base.as_mut().unwrap().factor = std::f64::consts::PI / 30.0;
        let native = PortUnit::native("rad/s");
        assert_eq!(native.relation(&native), Relation::Same);
        let Relation::Converted(conversion) = rpm.relation(&native) else { panic!() };
        assert!((conversion.apply(30.0) - std::f64::consts::PI).abs() < 1e-15);
        assert_eq!(native.relation(&PortUnit::native("N")), Relation::OtherQuantity);
        assert_eq!(native.relation(&PortUnit::native("Euro")), Relation::Unknown);
        assert_eq!(PortUnit::native("Euro").relation(&PortUnit::native("Euro")), Relation::Same);
    }
}
