//! What editors know of project files: a JSON Schema (draft 7), made from the keys that the reader accepts and from the options that
//! methods and sources of models declare.

use costep_core::{OptionKind, OptionSpec};
use costep_engine::CONTROLS;
use costep_methods::registry::all_options;
use costep_models::ModelEntry;
use serde_json::{Map, Value, json};

use crate::groups::DEFAULT_GROUP;
use crate::keys::{self, Key, Kind};
use crate::models::SOURCE;
use crate::overrides::DEFAULT_METHOD;
use crate::registry::Registry;
use crate::step_control::FIXED;

/// A time as text: a number and a unit.
const TIME: &str = r"^\s*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*(ns|us|µs|μs|ms|s|min|h)\s*$";
/// The same, above zero.
const LENGTH: &str = r"^\s*\+?([0-9]*[1-9][0-9]*\.?[0-9]*|[0-9]*\.[0-9]*[1-9][0-9]*)([eE][-+]?[0-9]+)?\s*(ns|us|µs|μs|ms|s|min|h)\s*$";
/// A number as text, as values of the command line are.
const NUMBER: &str = r"^\s*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*$";
/// Names of parts and groups.
const NAME: &str = r"^[\w-]+(/[\w-]+)*$";

impl Registry {
    /// The schema of project files, in which the methods, sources, models and solvers of this registry may be named.
    pub fn schema(&self) -> Value {
        let mut schema = table(keys::ROOT, self);
        schema["allOf"] = json!(whole_models(self));
        let head = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "title": "Project of costep",
            "description": "Tables and keys of a system.toml; docs/project.md explains them",
        });
        if let (Value::Object(schema), Value::Object(mut whole)) = (schema.take(), head) {
            whole.extend(schema);
            return Value::Object(whole);
        }
        schema
    }
}

/// A table of keys.
fn table(keys: &[Key], registry: &Registry) -> Value {
    let mut properties = Map::new();
    for key in keys {
        let mut value = kind(key.kind, registry);
        if let Value::Object(object) = &mut value {
            object.insert("description".into(), json!(key.help));
        }
        properties.insert(key.name.into(), value);
    }
    let required: Vec<&str> = keys.iter().filter(|key| key.is_required).map(|key| key.name).collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false, "required": required })
}

fn kind(kind: Kind, registry: &Registry) -> Value {
    match kind {
        Kind::Text => json!({ "type": "string", "maxLength": 500, "pattern": r"\S" }),
        Kind::Word(words) => json!({ "enum": words }),
        Kind::Model => json!({ "enum": registry.models().map(|model| model.id).collect::<Vec<_>>() }),
        Kind::Solver => {
            let names = registry.solvers().names().collect::<Vec<_>>().join("|");
            json!({ "type": "string", "pattern": format!("^({names})(:.+)?$") })
        }
        Kind::Control => {
            json!({ "enum": CONTROLS.iter().map(|control| control.id).chain([FIXED]).collect::<Vec<_>>() })
        }
        Kind::Time => number_or(json!({}), TIME),
        Kind::Length => number_or(json!({ "exclusiveMinimum": 0 }), LENGTH),
        Kind::Number => number(),
        Kind::Positive => json!({ "type": "number", "exclusiveMinimum": 0 }),
        Kind::NotNegative => json!({ "type": "number", "minimum": 0, "maximum": f64::MAX }),
        Kind::Truth => json!({ "type": "boolean" }),
        Kind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        Kind::Order => json!({ "type": "array", "items": { "type": "string" }, "uniqueItems": true }),
        Kind::SomeTexts => json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 }),
        Kind::Points => json!({ "type": "array", "minItems": 1, "items": pair() }),
        Kind::Threads => {
            json!({ "anyOf": [{ "const": "auto" }, { "type": "integer", "minimum": 1, "maximum": 256 }] })
        }
        Kind::Column => json!({ "type": ["string", "integer"] }),
        Kind::Rates => {
            let rate = json!({ "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "string", "pattern": r"^1/\s*[0-9]+$" }] });
            json!({ "type": "object", "additionalProperties": rate })
        }
        Kind::Bounds => by_names(pair()),
        Kind::Numbers => json!({ "type": "object", "additionalProperties": number() }),
        Kind::Values => by_names(json!({ "type": ["number", "string", "boolean", "array"] })),
        Kind::Map => json!({ "type": "object", "additionalProperties": { "type": ["integer", "string"] } }),
        Kind::Matrix => json!({ "type": "array", "items": { "type": "array", "items": number() } }),
        Kind::Row => json!({ "type": "array", "items": number() }),
        Kind::PortNames => json!({ "anyOf": [
            { "type": "array", "items": { "type": "string" }, "uniqueItems": true },
            { "type": "object", "additionalProperties": { "type": "string" } },
        ] }),
        Kind::Table(keys) => table(keys, registry),
        Kind::Named(keys) => named(table(keys, registry)),
        Kind::Natives(keys) => {
            let mut part = table(keys, registry);
            part["allOf"] = json!(registry.models().map(native).collect::<Vec<_>>());
            named(part)
        }
        Kind::Schedule(keys) => {
            let mut schedule = table(keys, registry);
            let is_sequential =
                json!({ "properties": { "kind": { "const": "sequential" } }, "required": ["kind"] });
            schedule["if"] = json!({ "required": ["order"] });
            schedule["then"] = is_sequential;
            schedule
        }
        Kind::Ports(keys) => ports(&table(keys, registry)),
        Kind::List(keys) => list(keys, registry),
        Kind::Method => method(registry, false),
        Kind::Groups => {
            let mut groups = named(method(registry, true));
            groups["propertyNames"]["not"] = json!({ "const": DEFAULT_GROUP });
            groups
        }
        Kind::Models => models(registry),
    }
}

/// A whole model brings its own parts, connections and parameters; without one there are no parameters at the top.
fn whole_models(registry: &Registry) -> Vec<Value> {
    let names = |model: Value| json!({ "properties": { "system": model }, "required": ["system"] });
    let own = ["native", "fmu", "linear", "connect"].map(|table| json!({ "required": [table] }));
    let mut rules = vec![json!({
        "if": names(json!({ "required": ["model"] })),
        "then": { "not": { "anyOf": own } },
        "else": { "not": { "required": ["parameters"] } },
    })];
    rules.extend(registry.models().map(|entry| {
        let is_this = json!({ "properties": { "model": { "const": entry.id } }, "required": ["model"] });
        json!({ "if": names(is_this), "then": { "properties": { "parameters": parameters(entry) } } })
    }));
    rules
}

/// What a native part of a model may say.
fn native(entry: &'static ModelEntry) -> Value {
    let mut properties = json!({ "set": parameters(entry) });
    // Where something is counted, the parts that there are follow from it.
    let is_fixed = entry.parameters.iter().all(|parameter| !parameter.whole);
    if let (true, Ok((_, model))) = (is_fixed, entry.model(&[])) {
        let parts: Vec<_> = model.parts.iter().map(|part| part.description().name.clone()).collect();
        properties["part"] = json!({ "enum": parts });
    }
    let is_this = json!({ "properties": { "model": { "const": entry.id } }, "required": ["model"] });
    json!({ "if": is_this, "then": { "properties": properties } })
}

/// The parameters of a model, each with what it can be.
fn parameters(entry: &ModelEntry) -> Value {
    let mut properties = Map::new();
    for parameter in entry.parameters {
        let mut limits = json!({ "minimum": parameter.min, "maximum": parameter.max });
        if parameter.whole {
            limits["multipleOf"] = json!(1);
        }
        let mut value = number_or(limits, NUMBER);
        value["description"] = json!(format!("{} ({})", parameter.help, parameter.unit));
        value["default"] = json!(parameter.default);
        properties.insert(parameter.name.into(), value);
    }
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

/// A finite number, or text that is one.
fn number() -> Value {
    number_or(json!({ "minimum": f64::MIN, "maximum": f64::MAX }), NUMBER)
}

/// A number with these limits, or text of this pattern.
fn number_or(mut limits: Value, pattern: &str) -> Value {
    limits["type"] = json!("number");
    json!({ "anyOf": [limits, { "type": "string", "pattern": pattern }] })
}

fn pair() -> Value {
    json!({ "type": "array", "items": number(), "minItems": 2, "maxItems": 2 })
}

/// Values by names with dots, which make tables where they are not in quotes.
fn by_names(value: Value) -> Value {
    let nested =
        json!({ "type": "object", "additionalProperties": { "anyOf": [value, { "type": "object" }] } });
    json!({ "type": "object", "additionalProperties": { "anyOf": [value, nested] } })
}

/// Tables by names with a dot, which make tables of tables where they are not in quotes.
fn ports(value: &Value) -> Value {
    let deeper =
        json!({ "type": "object", "minProperties": 1, "additionalProperties": { "type": "object" } });
    let nested = json!({ "type": "object", "additionalProperties": { "anyOf": [value, deeper] } });
    json!({ "type": "object", "patternProperties": { r"\.": value }, "additionalProperties": nested })
}

fn named(value: Value) -> Value {
    json!({ "type": "object", "propertyNames": { "pattern": NAME, "maxLength": 64 }, "additionalProperties": value })
}

/// A list of tables; of the shapes of an external input there is one.
fn list(keys: &[Key], registry: &Registry) -> Value {
    let mut items = table(keys, registry);
    let shapes: Vec<Value> =
        keys.iter().filter(|key| key.is_one_of).map(|key| json!({ "required": [key.name] })).collect();
    if !shapes.is_empty() {
        items["oneOf"] = json!(shapes);
    }
    json!({ "type": "array", "items": items })
}

/// A method with its own options, by its `id`.
fn method(registry: &Registry, has_inputs: bool) -> Value {
    let methods: Vec<_> = registry.methods().iter().collect();
    let ids: Vec<&str> = methods.iter().map(|entry| entry.id).collect();
    let rules = methods.iter().map(|entry| {
        let sources = registry.methods().sources();
        let mut properties = options(all_options(entry, sources));
        properties.insert("id".into(), json!({}));
        if !entry.models.is_empty() {
            let known: Vec<&str> = sources.iter().map(|source| source.id).collect();
            properties.insert(SOURCE.into(), json!({ "enum": known }));
        }
        if has_inputs {
            properties.insert("inputs".into(), json!({ "type": "array", "items": { "type": "string" } }));
        }
        let is_this = json!({ "properties": { "id": { "const": entry.id } }, "required": ["id"] });
        let condition = match entry.id == DEFAULT_METHOD {
            true => json!({ "anyOf": [is_this, { "not": { "required": ["id"] } }] }),
            false => is_this,
        };
        json!({ "if": condition, "then": { "properties": properties, "additionalProperties": false } })
    });
    json!({ "type": "object", "properties": { "id": { "enum": ids } }, "allOf": rules.collect::<Vec<_>>() })
}

/// A source of models with its options.
fn models(registry: &Registry) -> Value {
    let sources: Vec<_> = registry.methods().sources().iter().collect();
    let ids: Vec<&str> = sources.iter().map(|entry| entry.id).collect();
    let rules = sources.iter().map(|entry| {
        let mut properties = options(entry.options);
        properties.insert(SOURCE.into(), json!({}));
        let condition = json!({ "properties": { SOURCE: { "const": entry.id } }, "required": [SOURCE] });
        json!({ "if": condition, "then": { "properties": properties, "additionalProperties": false } })
    });
    json!({ "type": "object", "properties": { SOURCE: { "enum": ids } }, "required": [SOURCE], "allOf": rules.collect::<Vec<_>>() })
}

fn options<'a>(specs: impl IntoIterator<Item = &'a OptionSpec>) -> Map<String, Value> {
    let property = |spec: &OptionSpec| {
        let mut value = match spec.kind {
            OptionKind::Bool { default } => json!({ "type": "boolean", "default": default }),
            OptionKind::Integer { default, min, max } => {
                json!({ "type": "integer", "minimum": min, "maximum": max, "default": default })
            }
            OptionKind::Real { default, min, max } => {
                json!({ "type": "number", "minimum": min, "maximum": max, "default": default })
            }
            OptionKind::Choice(words) => json!({ "enum": words, "default": words[0] }),
            OptionKind::File => json!({ "type": "string" }),
        };
        value["description"] = json!(spec.help);
        (spec.name.to_owned(), value)
    };
    specs.into_iter().map(property).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_of_the_reader_is_in_the_schema() {
        let schema = Registry::standard().schema();
        for table in keys::ROOT {
            assert!(schema["properties"][table.name].is_object(), "{}", table.name);
        }
        let methods = schema["properties"]["method"]["properties"]["id"]["enum"].as_array().unwrap();
        assert!(methods.contains(&json!("predictive")) && methods.contains(&json!("monolithic")));
    }
}
