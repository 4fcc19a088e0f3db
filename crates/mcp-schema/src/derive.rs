use std::collections::HashMap;

use mcp_jsonrpc::RawJson;
use schemars::generate::{Contract, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::enforce;
use crate::error::{Kind, SchemaError};
use crate::probe::{self, Hint, Step};

/// A schema made from a type.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Derived {
    /// The schema. Its members come in a fixed order: `type`, `properties`, `required`, `additionalProperties`,
    /// `$defs`, then the rest sorted; properties as the type declares them.
    pub json: RawJson,
    /// Whether [`parse_args`](crate::parse_args) refuses all that the schema refuses, so that no validator is
    /// needed. Proved, not assumed: what cannot be proved is `false`.
    ///
    /// serde is stricter in places: it refuses `1.0` for an integer, which JSON Schema allows. It also reads two
    /// other spellings of a valid value that the schema does not list: `{"variant": null}` for a unit variant, and
    /// an array of its fields for a nested struct. The handler gets the same typed value either way.
    pub enforced: bool,
}

/// The schema of a tool's arguments, in JSON Schema 2020-12 with `type: object` at its root.
///
/// A type without arguments, `()` or a unit struct, gives `{"type":"object","additionalProperties":false}`. Other
/// types get `additionalProperties: false` from serde's `deny_unknown_fields` and never otherwise, since that is
/// when extra arguments are refused.
///
/// # Errors
/// When the type is not read from a JSON object.
pub fn derive<T: JsonSchema + DeserializeOwned>() -> Result<Derived, SchemaError> {
    let mut schema = generate::<T>(Contract::Deserialize);
    if probe::look::<T>(&[]) == Hint::Unit {
        let none = Value::Object(no_arguments());
        return Ok(Derived {
            json: raw(&none, &HashMap::new())?,
            enforced: true,
        });
    }
    require_object(&mut schema, T::schema_name().as_ref())?;
    let schema = Value::Object(schema);
    let mut orders = Orders {
        root: &schema,
        look: probe::look::<T>,
        path: Vec::new(),
        found: HashMap::new(),
    };
    orders.visit(&schema, 0);
    Ok(Derived {
        json: raw(&schema, &orders.found)?,
        enforced: enforce::by_serde::<T>(&schema),
    })
}

/// The schema of a tool's structured result: what serde writes for `T`.
///
/// Properties that are always written come first, as declared, then the others by name.
///
/// # Errors
/// When the schema of `T` is no JSON object.
pub fn derive_output<T: JsonSchema>() -> Result<RawJson, SchemaError> {
    raw(
        &Value::Object(generate::<T>(Contract::Serialize)),
        &HashMap::new(),
    )
}

fn no_arguments() -> Map<String, Value> {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema
}

fn generate<T: JsonSchema>(contract: Contract) -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().with(|s| {
        s.meta_schema = None;
        s.inline_subschemas = true;
        s.contract = contract;
    });
    let schema: Schema = settings.into_generator().into_root_schema_for::<T>();
    let mut schema = match schema.to_value() {
        Value::Object(schema) => schema,
        // `true`: anything.
        _ => Map::new(),
    };
    // schemars titles the root with the name of the Rust type, which tells a model nothing.
    if schema.get("title").and_then(Value::as_str) == Some(T::schema_name().as_ref()) {
        schema.remove("title");
    }
    schema
}

fn require_object(schema: &mut Map<String, Value>, name: &str) -> Result<(), SchemaError> {
    match schema.get("type") {
        Some(Value::String(kind)) if kind == "object" => Ok(()),
        // A struct under `Option`: arguments are an object all the same.
        Some(Value::Array(kinds)) if kinds.iter().any(|kind| kind == "object") => {
            schema.insert("type".to_owned(), json!("object"));
            Ok(())
        }
        Some(_) => Err(SchemaError::new(
            Kind::NotObject,
            format_args!("{name} is not read from a JSON object, as the arguments of a tool must be"),
        )),
        // A choice of structs, or anything: the root's type narrows it to objects.
        None => {
            schema.insert("type".to_owned(), json!("object"));
            Ok(())
        }
    }
}

type Found = HashMap<*const Value, &'static [&'static str]>;

/// Finds the declared order of the properties of each subschema, by its address.
struct Orders<'a> {
    root: &'a Value,
    look: fn(&[Step]) -> Hint,
    path: Vec<Step>,
    found: Found,
}

impl Orders<'_> {
    fn visit(&mut self, schema: &Value, depth: usize) {
        if depth > 32 || self.found.contains_key(&std::ptr::from_ref(schema)) {
            return;
        }
        let hint = (self.look)(&self.path);
        if hint == Hint::Option {
            self.within(Step::Some, schema, depth);
            return;
        }
        let Value::Object(members) = schema else {
            return;
        };
        if let Some(target) = members.get("$ref").and_then(Value::as_str)
            && let Some(target) = target.strip_prefix('#').and_then(|p| self.root.pointer(p))
        {
            self.visit(target, depth + 1);
        }
        if let Some(Value::Array(choices)) = members.get("anyOf") {
            for choice in choices {
                self.visit(choice, depth + 1);
            }
        }
        match hint {
            Hint::Struct(fields) => {
                if let Some(Value::Object(properties)) = members.get("properties") {
                    self.found.insert(std::ptr::from_ref(schema), fields);
                    for field in fields {
                        if let Some(property) = properties.get(*field) {
                            self.within(Step::Field(field), property, depth);
                        }
                    }
                }
            }
            Hint::Seq => {
                if let Some(items) = members.get("items") {
                    self.within(Step::Item, items, depth);
                }
            }
            Hint::Map => {
                if let Some(values) = members.get("additionalProperties") {
                    self.within(Step::Value, values, depth);
                }
            }
            _ => {}
        }
    }

    fn within(&mut self, step: Step, schema: &Value, depth: usize) {
        self.path.push(step);
        self.visit(schema, depth + 1);
        self.path.pop();
    }
}

fn raw(schema: &Value, orders: &Found) -> Result<RawJson, SchemaError> {
    let mut text = String::new();
    write_schema(&mut text, schema, orders);
    RawJson::from_text(text).map_err(|e| SchemaError::new(Kind::Invalid, e))
}

/// Writes a value in schema position, with its keywords and properties in order.
fn write_schema(out: &mut String, schema: &Value, orders: &Found) {
    let Value::Object(members) = schema else {
        write_plain(out, schema);
        return;
    };
    let keywords = in_order(members, &|keyword| (rank(keyword), 0));
    write_object(out, &keywords, members, |out, keyword, value| {
        match (keyword, value) {
            ("properties", Value::Object(properties)) => {
                let fields = orders
                    .get(&std::ptr::from_ref(schema))
                    .copied()
                    .unwrap_or_default();
                let required: Vec<&str> = match members.get("required") {
                    Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
                    _ => Vec::new(),
                };
                let place =
                    |list: &[&str], name: &str| list.iter().position(|n| *n == name).unwrap_or(usize::MAX);
                let names = in_order(properties, &|name| (place(fields, name), place(&required, name)));
                write_object(out, &names, properties, |out, _, value| {
                    write_schema(out, value, orders)
                });
            }
            ("$defs", Value::Object(definitions)) => {
                let names = in_order(definitions, &|_| (0, 0));
                write_object(out, &names, definitions, |out, _, value| {
                    write_schema(out, value, orders)
                });
            }
            ("items" | "additionalProperties" | "not", value) => write_schema(out, value, orders),
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(list)) => {
                out.push('[');
                for (i, value) in list.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    write_schema(out, value, orders);
                }
                out.push(']');
            }
            (_, value) => write_plain(out, value),
        }
    });
}

/// The names of `members` by their places, then by themselves.
fn in_order<'a>(members: &'a Map<String, Value>, place: &dyn Fn(&str) -> (usize, usize)) -> Vec<&'a String> {
    let mut placed: Vec<((usize, usize), &String)> = members.keys().map(|name| (place(name), name)).collect();
    placed.sort_unstable();
    placed.into_iter().map(|(_, name)| name).collect()
}

fn rank(keyword: &str) -> usize {
    let first = ["type", "properties", "required", "additionalProperties", "$defs"];
    first.iter().position(|k| *k == keyword).unwrap_or(first.len())
}

fn write_object(
    out: &mut String,
    names: &[&String],
    members: &Map<String, Value>,
    mut write: impl FnMut(&mut String, &str, &Value),
) {
    out.push('{');
    for (i, name) in names.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        write_plain(out, &Value::from(name.as_str()));
        out.push(':');
        write(out, name, members.get(*name).unwrap_or(&Value::Null));
    }
    out.push('}');
}

fn write_plain(out: &mut String, value: &Value) {
    out.push_str(&value.to_string());
}
