//! Values that a user gives to variables by name, checked and brought to the variable's own type.

use costep_core::quantity::{split_quantity, with_point};
use costep_core::{Code, Error, Result};

use crate::description::ModelDescription;
use crate::description::enumerations::{Causality, Initial, Variability, VariableType};
use crate::description::value::{Number, Values};
use crate::description::variable::{Item, TypeDefinition, Variable};
use crate::short;

/// When a variable is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// In configuration mode: structural parameters.
    Configuration,
    /// Before the initialisation: parameters and start values.
    Before,
    /// In the initialisation: inputs.
    Within,
}

/// A variable and its value.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Index of the variable.
    pub variable: usize,
    /// Its name.
    pub name: String,
    /// Its value reference.
    pub reference: u32,
    /// One value for each of its elements, of its own type and with the sign that the FMU has it.
    pub values: Values,
    /// When it is set.
    pub moment: Moment,
}

/// Checks names, types, ranges and numbers of elements. Structural parameters come first.
pub fn settings(description: &ModelDescription, given: &[(String, Values)]) -> Result<Vec<Setting>> {
    let mut settings: Vec<Setting> = Vec::with_capacity(given.len());
    for (name, values) in given {
        let variable = description.require(name)?;
        if settings.iter().any(|other| other.variable == variable) {
            let message = format!("the variable `{name}` is given twice");
            return Err(Error::new(Code::Duplicate, message));
        }
        settings.push(setting(description, name, variable, values)?);
    }
    settings.sort_by_key(|setting| setting.moment != Moment::Configuration);
    let sizes: Vec<(usize, u64)> = settings.iter().filter_map(size).collect();
    for setting in &mut settings {
        let elements = elements(description, setting.variable, &sizes)?;
        let count = setting.values.len();
        if count != elements {
            let name = &description.variables()[setting.variable].name;
            return Err(wrong_count(name, count, elements));
        }
        let variable = &description.variables()[setting.variable];
        if variable.is_negated() {
            let values = setting.values.clone().negated();
            setting.values =
                values.ok_or_else(|| wrong(&variable.name, "it has no value with the other sign"))?;
        }
    }
    Ok(settings)
}

/// A value that a user gives to a variable by name, as one of the variable's own type; an error if it cannot be set or
/// does not fit type or range. The number of elements may depend on other values and is not looked at.
pub fn fit_value(description: &ModelDescription, name: &str, values: &Values) -> Result<Values> {
    setting(description, name, description.require(name)?, values).map(|setting| setting.values)
}

/// Length of the explicit Euler steps that an FMU says it takes, under these settings.
pub fn euler_step(description: &ModelDescription, settings: &[Setting]) -> Option<f64> {
    let stated = description.annotations.solver.as_ref()?;
    let Some(name) = &stated.parameter else { return Some(stated.step) };
    // A name that does not exist makes the whole statement doubtful.
    let variable = description.find(name)?;
    match settings.iter().find(|setting| setting.variable == variable).map(|setting| &setting.values) {
        None => Some(stated.step),
        Some(Values::Float64(values)) => values.first().copied().filter(|step| *step > 0.0),
        Some(_) => None,
    }
}

/// Sizes that structural parameters set: (variable, value).
pub fn sizes(settings: &[Setting]) -> Vec<(usize, u64)> {
    settings.iter().filter_map(size).collect()
}

fn size(setting: &Setting) -> Option<(usize, u64)> {
    match (&setting.values, setting.moment) {
        (Values::UInt64(values), Moment::Configuration) => Some((setting.variable, *values.first()?)),
        _ => None,
    }
}

/// Number of elements of a variable under these sizes.
pub fn elements(description: &ModelDescription, variable: usize, sizes: &[(usize, u64)]) -> Result<usize> {
    let start = |index: usize| match &description.variables()[index].start {
        Some(Values::UInt64(values)) => values.first().copied().unwrap_or(0),
        _ => 0,
    };
    let size_of = |index: usize| {
        sizes.iter().find(|(at, _)| *at == index).map_or_else(|| start(index), |(_, size)| *size)
    };
    // The same limit as for the elements that a model description declares.
    const MOST: usize = 1 << 24;
    description.elements(variable, size_of).filter(|elements| *elements < MOST).ok_or_else(|| {
        wrong(&description.variables()[variable].name, "it has more elements than can be handled")
    })
}

/// When a variable is set; nothing if it cannot be.
fn moment_of(variable: &Variable) -> Option<Moment> {
    match variable.causality {
        _ if variable.variability == Variability::Constant => None,
        Causality::StructuralParameter => Some(Moment::Configuration),
        Causality::Input => Some(Moment::Within),
        Causality::Parameter => Some(Moment::Before),
        _ if matches!(variable.initial, Some(Initial::Exact | Initial::Approx)) => Some(Moment::Before),
        _ => None,
    }
}

/// What can be set, with the first names.
fn settable(description: &ModelDescription) -> String {
    const NAMED: usize = 6;
    let can_be = |variable: &&Variable| moment_of(variable).is_some();
    let mut names: Vec<String> = description
        .variables()
        .iter()
        .filter(can_be)
        .take(NAMED + 1)
        .map(|variable| short(&variable.name))
        .collect();
    let what = "parameters, inputs and start values can be set";
    if names.is_empty() {
        return format!("{what}, of which the FMU has none");
    }
    if names.len() > NAMED {
        names[NAMED] = "...".into();
    }
    format!("{what}: {}", names.join(", "))
}

fn setting(description: &ModelDescription, name: &str, index: usize, values: &Values) -> Result<Setting> {
    let variable = &description.variables()[index];
    let Some(moment) = moment_of(variable) else {
        let error = wrong(name, &format!("it is a {} {}", variable.variability, variable.causality));
        return Err(error.hint(settable(description)));
    };
    let declared = variable.declared_type.map(|at| &description.types[at]);
    if let (Values::String(words), VariableType::Enumeration, Some(declared)) =
        (values, variable.kind, declared)
        && let Some(word) = words.iter().find(|word| declared.item(word).is_none())
    {
        return Err(no_item(name, word, &declared.items));
    }
    let values = fit(values, variable.kind, declared)
        .map_err(|cause| wrong(name, &cause).hint(instead(values, variable)))?;
    check_item(name, declared, &values)?;
    check_range(name, variable, &values)?;
    let name = variable.name.clone();
    Ok(Setting { variable: index, name, reference: variable.value_reference, values, moment })
}

/// What is to be written instead of values of another type.
fn instead(values: &Values, variable: &Variable) -> String {
    let words: &[String] = if let Values::String(words) = values { words } else { &[] };
    let better = words.iter().find_map(|word| instead_of_text(word.trim(), variable));
    better.unwrap_or_else(|| format!("write {}", expected(variable.kind)))
}

/// The same for a text: a number or a truth in quotes, one with a decimal comma, one with a unit.
fn instead_of_text(word: &str, variable: &Variable) -> Option<String> {
    let is_float = matches!(variable.kind, VariableType::Float32 | VariableType::Float64);
    let unquoted = || Some(format!("`\"{word}\"` is text: write `{word}`, without quotes"));
    match variable.kind {
        VariableType::Boolean | VariableType::Clock if matches!(word, "true" | "false") => return unquoted(),
        VariableType::Boolean | VariableType::Clock => return None,
        VariableType::String | VariableType::Binary | VariableType::Enumeration => return None,
        _ if word.parse::<f64>().is_ok_and(|number| is_float || number.fract() == 0.0) => return unquoted(),
        _ => {}
    }
    let corrected = with_point(word);
    let text = corrected.as_deref().unwrap_or(word);
    let Some((number, unit)) = split_quantity(text) else {
        return corrected.filter(|_| is_float).map(|number| format!("write a decimal point: `{number}`"));
    };
    Some(match variable.unit() {
        Some(own) if own != unit => {
            format!("write the number alone, converted from `{}` to `{}`", short(unit), short(own))
        }
        Some(own) => format!("write the number alone, in `{}`: `{number}`", short(own)),
        None => format!("write the number alone, the variable has no unit: `{number}`"),
    })
}

/// What is written for a value of this type.
fn expected(kind: VariableType) -> &'static str {
    match kind {
        VariableType::Float32 | VariableType::Float64 => "a number: `2.5`",
        VariableType::Boolean | VariableType::Clock => "`true` or `false`",
        VariableType::String | VariableType::Binary => "a text in quotes",
        VariableType::Enumeration => "the name or number of an item",
        _ => "an integer that fits into its type",
    }
}

fn wrong(name: &str, cause: &str) -> Error {
    Error::new(Code::FmuValue, format!("the variable `{name}` cannot be set like this")).because(cause)
}

/// One value for all elements would be a guess: it is as likely that the others were forgotten.
fn wrong_count(name: &str, count: usize, elements: usize) -> Error {
    let given = if count == 1 { "1 value is given".to_owned() } else { format!("{count} values are given") };
    let needed = if elements == 1 { "1 element".to_owned() } else { format!("{elements} elements") };
    let error = wrong(name, &format!("{given} for {needed}"));
    match elements {
        0 => error.hint("leave it out: the size that is set makes it empty"),
        1 => error.hint("write one value"),
        elements => error.hint(format!("write all {elements} in a list, `[..., ...]`, row by row")),
    }
}

/// An error if a value of an enumeration is none of its items. Those that declare none take any value.
fn check_item(name: &str, declared: Option<&TypeDefinition>, values: &Values) -> Result<()> {
    let (Values::Enumeration(values), Some(declared)) = (values, declared) else { return Ok(()) };
    match values.iter().find(|value| !declared.has_item(**value)) {
        None => Ok(()),
        Some(value) => Err(no_item(name, &value.to_string(), &declared.items)),
    }
}

/// The error of a value, or of a name, that is none of the items of an enumeration.
pub fn no_item(name: &str, value: &str, items: &[Item]) -> Error {
    const MOST: usize = 20;
    let shown = items.iter().take(MOST).map(|item| format!("{} = {}", item.name, item.value));
    let more = (items.len() > MOST).then(|| format!("{} others", items.len() - MOST));
    let shown: Vec<String> = shown.chain(more).collect();
    let error = Error::new(Code::FmuValue, format!("{value} is no item of `{name}`"));
    error.hint(format!("choose one of: {}", shown.join(", ")))
}

fn check_range(name: &str, variable: &Variable, values: &Values) -> Result<()> {
    let (min, max) = (variable.attributes.min, variable.attributes.max);
    let outside = |number: Number| {
        min.is_some_and(|min| number.is_below(min)) || max.is_some_and(|max| max.is_below(number))
    };
    match values.find(outside) {
        None => Ok(()),
        Some(number) => {
            let error = wrong(name, &format!("{number} is not {}", range(min, max)));
            Err(error.hint(format!("choose {}", allowed(min, max))))
        }
    }
}

/// The same, shorter where both are plain: `0.1 to 50`.
pub fn allowed(min: Option<Number>, max: Option<Number>) -> String {
    match (min, max) {
        (Some(min), Some(max)) if !is_above_zero(min) => format!("{min} to {max}"),
        _ => range(min, max),
    }
}

/// Whether a bound stands for all that is more than zero.
fn is_above_zero(min: Number) -> bool {
    matches!(min, Number::Float(min) if min > 0.0 && min <= f64::MIN_POSITIVE)
}

/// What lies between two bounds, in words.
fn range(min: Option<Number>, max: Option<Number>) -> String {
    let min = min.map(|min| match min {
        min if is_above_zero(min) => "more than zero".to_owned(),
        min => format!("{min} or more"),
    });
    let max = max.map(|max| format!("{max} or less"));
    min.into_iter().chain(max).collect::<Vec<_>>().join(" and ")
}

/// The values as those of another type, without loss; `Float64` and `Int64` are also the numbers a user writes.
fn fit(values: &Values, kind: VariableType, declared: Option<&TypeDefinition>) -> Result<Values, String> {
    match (values, kind) {
        (Values::Boolean(v), VariableType::Boolean) => return Ok(Values::Boolean(v.clone())),
        (Values::String(v), VariableType::String) => return Ok(Values::String(v.clone())),
        (Values::Binary(v), VariableType::Binary) => return Ok(Values::Binary(v.clone())),
        (Values::String(v), VariableType::Enumeration) => {
            let value = |name: &String| {
                let item = declared.and_then(|declared| declared.item(name));
                item.ok_or_else(|| format!("`{name}` is not one of its items"))
            };
            return Ok(Values::Enumeration(v.iter().map(value).collect::<Result<_, _>>()?));
        }
        _ => {}
    }
    let Some(numbers) = values.numbers() else { return Err(format!("its type is {kind}")) };
    let numbers: Vec<Number> = numbers.collect();
    fn all<T>(
        numbers: &[Number],
        one: impl Fn(i128) -> Option<T>,
        kind: VariableType,
    ) -> Result<Vec<T>, String> {
        let convert = |number: &Number| {
            let whole = match number {
                Number::Integer(value) => Some(*value),
                Number::Float(value) if value.fract() == 0.0 && value.abs() < 1e18 => Some(*value as i128),
                Number::Float(_) => None,
            };
            whole.and_then(&one).ok_or_else(|| format!("{number} is not a value of type {kind}"))
        };
        numbers.iter().map(convert).collect()
    }
    Ok(match kind {
        VariableType::Float64 => Values::Float64(numbers.iter().map(|n| n.to_f64()).collect()),
        VariableType::Float32 => Values::Float32(numbers.iter().map(|n| n.to_f64() as f32).collect()),
        VariableType::Int8 => Values::Int8(all(&numbers, |n| n.try_into().ok(), kind)?),
        VariableType::UInt8 => Values::UInt8(all(&numbers, |n| n.try_into().ok(), kind)?),
        VariableType::Int16 => Values::Int16(all(&numbers, |n| n.try_into().ok(), kind)?),
        VariableType::UInt16 => Values::UInt16(all(&numbers, |n| n.try_into().ok(), kind)?),
        VariableType::Int32 => Values::Int32(all(&numbers, |n| n.try_into().ok(), kind)?),
        VariableType::UInt32 => Values::UInt32(all(&numbers, |n| n.try_into().ok(), kind)?),
        VariableType::Int64 => Values::Int64(all(&numbers, |n| n.try_into().ok(), kind)?),
        VariableType::UInt64 => Values::UInt64(all(&numbers, |n| n.try_into().ok(), kind)?),
        VariableType::Enumeration => Values::Enumeration(all(&numbers, |n| n.try_into().ok(), kind)?),
        VariableType::Boolean | VariableType::String | VariableType::Binary | VariableType::Clock => {
            return Err(format!("its type is {kind}"));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_chosen_is_said() {
        let text = r#"<fmiModelDescription fmiVersion="3.0" modelName="gearbox" instantiationToken="t">
            <CoSimulation modelIdentifier="gearbox"/>
            <TypeDefinitions><EnumerationType name="Gear"><Item name="reverse" value="-2"/><Item name="first gear" value="5"/>
            </EnumerationType></TypeDefinitions>
            <ModelVariables>
              <Float64 name="m" valueReference="0" causality="parameter" variability="fixed" start="1" min="0.1" max="50"/>
              <Enumeration name="gear" declaredType="Gear" valueReference="1" causality="input" start="5"/>
            </ModelVariables><ModelStructure/></fmiModelDescription>"#;
        let fmu = ModelDescription::parse(text).unwrap();
        let refusal = |name, values| fit_value(&fmu, name, &values).unwrap_err().to_string();
        let items = "help: choose one of: reverse = -2, first gear = 5";
        let number = refusal("gear", Values::Int64(vec![3]));
        assert!(number.contains("3 is no item of `gear`") && number.contains(items), "{number}");
        let word = refusal("gear", Values::String(vec!["first".into()]));
        assert!(word.contains("first is no item of `gear`") && word.contains(items), "{word}");
        assert_eq!(
            fit_value(&fmu, "gear", &Values::String(vec!["first gear".into()])),
            Ok(Values::Enumeration(vec![5]))
        );
        let mass = refusal("m", Values::Float64(vec![200.0]));
        assert!(mass.contains("help: choose 0.1 to 50"), "{mass}");
    }

    #[test]
    fn texts_for_numbers_are_explained() {
        let text = r#"<fmiModelDescription fmiVersion="3.0" modelName="cart" instantiationToken="t">
            <CoSimulation modelIdentifier="cart"/><UnitDefinitions><Unit name="kg"/></UnitDefinitions><ModelVariables>
              <Float64 name="m" valueReference="0" causality="parameter" variability="fixed" start="1" unit="kg"/>
              <Float64 name="k" valueReference="1" causality="parameter" variability="fixed" start="1"/>
              <Int32 name="n" valueReference="2" causality="parameter" variability="fixed" start="1"/>
              <Boolean name="on" valueReference="3" causality="parameter" variability="fixed" start="true"/>
            </ModelVariables><ModelStructure/></fmiModelDescription>"#;
        let fmu = ModelDescription::parse(text).unwrap();
        for (name, word, hint) in [
            ("m", "20", "`\"20\"` is text: write `20`, without quotes"),
            ("m", "20kg", "write the number alone, in `kg`: `20`"),
            ("m", "20 g", "write the number alone, converted from `g` to `kg`"),
            ("m", "20,5", "write a decimal point: `20.5`"),
            ("m", "20,5 kg", "write the number alone, in `kg`: `20.5`"),
            ("m", "heavy", "write a number: `2.5`"),
            ("k", "20kg", "write the number alone, the variable has no unit: `20`"),
            ("n", "3", "`\"3\"` is text: write `3`, without quotes"),
            ("n", "3,5", "write an integer that fits into its type"),
            ("on", "true", "`\"true\"` is text: write `true`, without quotes"),
            ("on", "yes", "write `true` or `false`"),
        ] {
            let error = fit_value(&fmu, name, &Values::String(vec![word.into()])).unwrap_err();
            assert_eq!(error.help(), hint, "{name} = {word}");
        }
    }

    #[test]
    fn arrays_get_as_many_values_as_they_have_elements() {
        let text = r#"<fmiModelDescription fmiVersion="3.0" modelName="pid" instantiationToken="t">
            <CoSimulation modelIdentifier="pid"/><ModelVariables>
              <Float64 name="gains" valueReference="0" causality="parameter" variability="fixed" start="1">
                <Dimension start="2"/></Float64>
            </ModelVariables><ModelStructure/></fmiModelDescription>"#;
        let fmu = ModelDescription::parse(text).unwrap();
        let set = |values: &[f64]| settings(&fmu, &[("gains".into(), Values::Float64(values.to_vec()))]);
        assert!(set(&[0.1, 0.2]).is_ok());
        for (values, words) in [
            (&[0.1][..], "1 value is given for 2 elements"),
            (&[0.1; 3], "3 values are given for 2 elements"),
        ] {
            let text = set(values).unwrap_err().to_string();
            assert!(text.contains(words) && text.contains("write all 2 in a list"), "{text}");
        }
    }

    #[test]
    fn numbers_are_brought_to_the_type_without_loss() {
        let fits = |value: f64, kind| fit(&Values::Float64(vec![value]), kind, None);
        assert_eq!(fits(3.0, VariableType::Int8), Ok(Values::Int8(vec![3])));
        assert!(fits(3.5, VariableType::Int8).is_err());
        assert!(fits(300.0, VariableType::Int8).is_err());
        assert!(fits(1.0, VariableType::Boolean).is_err());
        assert_eq!(fit(&Values::Int64(vec![7]), VariableType::Float64, None), Ok(Values::Float64(vec![7.0])));
        assert!(fit(&Values::String(vec!["a".into()]), VariableType::Float64, None).is_err());
    }
}
