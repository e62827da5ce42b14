//! Units as models write them, `N.s/m`, in the terms of FMI: exponents of SI base units and a factor.

use costep_fmu_file::BaseUnit;

/// Symbols with their exponents of kg, m, s, rad and their factor.
const SYMBOLS: [(&str, [i32; 4], f64); 15] = [
    ("kg", [1, 0, 0, 0], 1.0),
    ("m", [0, 1, 0, 0], 1.0),
    ("s", [0, 0, 1, 0], 1.0),
    ("rad", [0, 0, 0, 1], 1.0),
    ("deg", [0, 0, 0, 1], std::f64::consts::PI / 180.0),
    ("Hz", [0, 0, -1, 0], 1.0),
    ("N", [1, 1, -2, 0], 1.0),
    ("J", [1, 2, -2, 0], 1.0),
    ("W", [1, 2, -3, 0], 1.0),
    ("Pa", [1, -1, -2, 0], 1.0),
    ("l", [0, 3, 0, 0], 1e-3),
    ("L", [0, 3, 0, 0], 1e-3),
    ("min", [0, 0, 1, 0], 60.0),
    ("ft", [0, 1, 0, 0], 0.3048),
    ("1", [0, 0, 0, 0], 1.0),
];

/// What a unit is in base units; None if it is not understood.
pub(crate) fn base_unit(text: &str) -> Option<BaseUnit> {
    let mut unit = BaseUnit::default();
    for (i, side) in text.split('/').enumerate() {
        let sign = if i == 0 { 1 } else { -1 };
        for factor in side.split('.') {
            multiply(&mut unit, factor, sign)?;
        }
    }
    Some(unit)
}

/// Multiplies by a symbol with an exponent behind it: `m2`, `s-1`.
fn multiply(unit: &mut BaseUnit, factor: &str, sign: i32) -> Option<()> {
    let end = factor.find(|c: char| c.is_ascii_digit() || c == '-').filter(|end| *end > 0);
    let (symbol, exponent) = factor.split_at(end.unwrap_or(factor.len()));
    let exponent: i32 = if exponent.is_empty() { 1 } else { exponent.parse().ok()? };
    let (_, exponents, size) = SYMBOLS.iter().find(|(name, ..)| *name == symbol)?;
    let [kg, m, s, rad] = exponents.map(|e| e * exponent * sign);
    for (place, change) in [(0, kg), (1, m), (2, s), (7, rad)] {
        unit.exponents[place] += change;
    }
    unit.factor *= size.powi(exponent * sign);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_all_models_are_understood() {
        let newton_second = base_unit("N.s/m").unwrap();
        assert_eq!(newton_second.to_string(), "kg.s-1");
        assert_eq!(base_unit("m/s2").unwrap().to_string(), "m.s-2");
        assert_eq!(base_unit("rad/s").unwrap().to_string(), "s-1.rad");
        assert_eq!(base_unit("deg").unwrap().factor, std::f64::consts::PI / 180.0);
        assert_eq!(base_unit("furlong"), None);
        for entry in costep_models::MODELS.iter().chain(costep_fmu_runtime::SUBJECTS) {
            let (_, model) = entry.model(&[]).unwrap();
            let parameters = entry.parameters.iter().map(|spec| spec.unit.to_owned());
            let ports = model.parts.iter().flat_map(|part| {
                let description = part.description().clone();
                description.inputs.into_iter().chain(description.outputs).filter_map(|port| port.unit)
            });
            for unit in parameters.chain(ports) {
                assert!(base_unit(&unit).is_some(), "{unit}");
            }
        }
    }
}
