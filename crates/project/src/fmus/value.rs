//! Values of parameters and start values between project files and FMI.

use costep_fmu_file::settings::fit_value;
use costep_fmu_file::{Dimension, ModelDescription, Values, VariableType};

use crate::document::{Node, Value};

/// The value of a node for a variable of this type, or what is wrong with it. Whether it fits type and range is
/// checked by the FMU's description.
pub(crate) fn read(node: &Node, kind: VariableType) -> Result<Values, String> {
    match &node.value {
        Value::List(items) => read_list(items, kind),
        single => read_list(std::slice::from_ref(&Node { value: single.clone(), origin: node.origin }), kind),
    }
}

fn read_list(items: &[Node], kind: VariableType) -> Result<Values, String> {
    let Some(first) = items.first() else { return Err("it is an empty list".into()) };
    let mixed = |item: &Node| format!("it mixes {} and {}", first.value.kind(), item.value.kind());
    match &first.value {
        Value::Text(_) => {
            let text = |item: &Node| match &item.value {
                Value::Text(text) => Ok(text.clone()),
                _ => Err(mixed(item)),
            };
            let texts = items.iter().map(text).collect::<Result<Vec<_>, _>>()?;
            if kind == VariableType::Binary {
                return texts.iter().map(|text| bytes(text)).collect::<Result<_, _>>().map(Values::Binary);
            }
            Ok(Values::String(texts))
        }
        Value::Truth(_) => {
            let truth = |item: &Node| match item.value {
                Value::Truth(truth) => Ok(truth),
                _ => Err(mixed(item)),
            };
            items.iter().map(truth).collect::<Result<_, _>>().map(Values::Boolean)
        }
        Value::Integer(_) | Value::Real(_) => read_numbers(items, &mixed),
        Value::Date | Value::Table(_) | Value::List(_) => {
            Err(format!("it is {}, not a number, text, true or false", first.value.kind()))
        }
    }
}

/// Integers stay whole, so that all 64 bits of an integer are kept.
fn read_numbers(items: &[Node], mixed: &dyn Fn(&Node) -> String) -> Result<Values, String> {
    let integer = |item: &Node| if let Value::Integer(value) = item.value { Some(value) } else { None };
    if let Some(integers) = items.iter().map(integer).collect() {
        return Ok(Values::Int64(integers));
    }
    let real = |item: &Node| match item.value {
        Value::Integer(value) => Ok(value as f64),
        Value::Real(value) if value.is_finite() => Ok(value),
        Value::Real(value) => Err(format!("{value} is not a finite number")),
        _ => Err(mixed(item)),
    };
    items.iter().map(real).collect::<Result<_, _>>().map(Values::Float64)
}

/// Bytes from hexadecimal digits, as start values of FMI are written.
fn bytes(text: &str) -> Result<Vec<u8>, String> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    };
    let bytes = text.as_bytes().chunks(2).map(pair).collect::<Option<_>>();
    bytes.ok_or_else(|| "bytes are written as pairs of hexadecimal digits".into())
}

/// The values as they are written in a project file, without brackets around a single one.
pub(crate) fn written(values: &Values, quoted: impl Fn(&str) -> String) -> String {
    let items: Vec<String> = match values {
        Values::Int64(v) => v.iter().map(i64::to_string).collect(),
        Values::Boolean(v) => v.iter().map(bool::to_string).collect(),
        Values::String(v) => v.iter().map(|text| quoted(text)).collect(),
        Values::Binary(v) => v.iter().map(|bytes| quoted(&hexadecimal(bytes))).collect(),
        Values::Float64(_) | Values::Float32(_) => {
            (0..values.len()).filter_map(|i| values.number(i)).map(|x| format!("{x:?}")).collect()
        }
        // Their numbers are whole, and one with a decimal point would be taken for a real.
        whole => (0..whole.len()).filter_map(|i| whole.number(i)).map(|x| x.to_string()).collect(),
    };
    match &items[..] {
        [single] => single.clone(),
        _ => format!("[{}]", items.join(", ")),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The number that a port starts with: a variable, or an element of an array such as `u[2,1]`.
pub(crate) fn start_of_port(fmu: &ModelDescription, port: &str, set: &[(String, Values)]) -> Option<f64> {
    let (variable, element) = find_port(fmu, port)?;
    let given = set.iter().find(|(name, _)| fmu.find(name) == Some(variable));
    let values = match given {
        Some((name, values)) => &fit_value(fmu, name, values).ok()?,
        None => fmu.variables()[variable].start.as_ref()?,
    };
    values.number(if values.len() == 1 { 0 } else { element })
}

/// The variable that a port belongs to, and which of its elements it is.
pub(crate) fn find_port(fmu: &ModelDescription, port: &str) -> Option<(usize, usize)> {
    if let Some(variable) = fmu.find(port) {
        return Some((variable, 0));
    }
    let (name, places) = port.strip_suffix(']')?.rsplit_once('[')?;
    let variable = fmu.find(name)?;
    let mut element = 0_u64;
    let places: Vec<u64> = places.split(',').map(|place| place.parse().ok()).collect::<Option<_>>()?;
    for (place, dimension) in places.iter().zip(&fmu.variables()[variable].dimensions) {
        let size = match dimension {
            Dimension::Fixed(size) => *size,
            Dimension::Variable(index) => {
                fmu.variables()[*index].start.as_ref().and_then(|start| start.number(0)).unwrap_or(1.0) as u64
            }
        };
        element = element.checked_mul(size)?.checked_add(place.checked_sub(1)?)?;
    }
    Some((variable, usize::try_from(element).ok()?))
}
