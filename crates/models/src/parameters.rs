//! Parameters of models: declared once, checked once, read by name.

use costep_core::{Code, Error, Result};

/// A parameter of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParameterSpec {
    /// Its name.
    pub name: &'static str,
    /// Its unit as text.
    pub unit: &'static str,
    /// Taken when nothing is said.
    pub default: f64,
    /// Least value.
    pub min: f64,
    /// Greatest value.
    pub max: f64,
    /// Whether it counts something.
    pub whole: bool,
    /// What it is.
    pub help: &'static str,
}

impl ParameterSpec {
    /// A parameter that may be any finite number.
    pub const fn free(name: &'static str, unit: &'static str, default: f64, help: &'static str) -> Self {
        Self { name, unit, default, min: f64::MIN, max: f64::MAX, whole: false, help }
    }

    /// A parameter that is zero or more.
    pub const fn not_negative(
        name: &'static str,
        unit: &'static str,
        default: f64,
        help: &'static str,
    ) -> Self {
        Self { name, unit, default, min: 0.0, max: f64::MAX, whole: false, help }
    }

    /// A parameter that is more than zero.
    pub const fn positive(name: &'static str, unit: &'static str, default: f64, help: &'static str) -> Self {
        Self { name, unit, default, min: f64::MIN_POSITIVE, max: f64::MAX, whole: false, help }
    }

    /// The inner step of the fixed-step solvers.
    pub const fn micro_step(default: f64) -> Self {
        Self::positive("micro_step", "s", default, "inner step of the solvers euler and rk4")
    }

    /// What is allowed, for people.
    pub fn allowed(&self) -> String {
        match (self.min, self.max) {
            (f64::MIN, f64::MAX) => "any number".into(),
            (0.0, f64::MAX) => "zero or more".into(),
            (f64::MIN_POSITIVE, f64::MAX) => "more than zero".into(),
            (min, max) if self.whole => format!("an integer from {min} to {max}"),
            (min, max) => format!("{min} to {max}"),
        }
    }
}

/// A checked value for every parameter of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    values: Vec<(&'static ParameterSpec, f64)>,
}

impl Parameters {
    /// The given values, checked against the declaration, with defaults for the others.
    pub fn check(model: &str, specs: &'static [ParameterSpec], given: &[(String, f64)]) -> Result<Self> {
        let mut values: Vec<_> = specs.iter().map(|spec| (spec, spec.default)).collect();
        for (name, value) in given {
            let slot = values.iter_mut().find(|(spec, _)| spec.name == name).ok_or_else(|| {
                Error::new(Code::UnknownParameter, format!("model `{model}` has no parameter `{name}`"))
                    .hint(format!("`costep models {model}` lists those that it has"))
                    .suggest(name, specs.iter().map(|spec| spec.name))
            })?;
            let is_whole = !slot.0.whole || value.fract() == 0.0;
            if !(slot.0.min <= *value && *value <= slot.0.max && is_whole) {
                let message = format!("parameter `{name}` of model `{model}` cannot be {value}");
                return Err(
                    Error::new(Code::BadValue, message).hint(format!("allowed: {}", slot.0.allowed()))
                );
            }
            slot.1 = *value;
        }
        Ok(Self { values })
    }

    /// All parameters and their values, in the order of the declaration.
    pub fn iter(&self) -> impl Iterator<Item = (&'static ParameterSpec, f64)> {
        self.values.iter().copied()
    }

    /// The value of a parameter.
    ///
    /// # Panics
    /// If the model did not declare it; the tests build every model.
    pub fn get(&self, name: &str) -> f64 {
        let found = self.values.iter().find(|(spec, _)| spec.name == name);
        found.unwrap_or_else(|| panic!("parameter `{name}` is not declared")).1
    }
}
