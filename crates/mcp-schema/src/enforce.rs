//! Whether serde alone refuses everything that a derived schema refuses.
//!
//! Two proofs together: every keyword is one of a short list and agrees with what the type asks serde for at that
//! place; and a sample value made on the way parses, while it does not without a required member, or with an
//! unknown one where the schema closes the object. Whatever is not proved counts as not enforced.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::probe::{self, Hint, Step};

/// Keywords that say something and forbid nothing. `format` is one under 2020-12, where only a meta-schema that
/// nobody uses makes it an assertion.
const ANNOTATIONS: [&str; 12] = [
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "format",
    "$comment",
    "$defs",
    "$schema",
    "x-mcp-header",
];

/// Nested deeper than this a type is not followed; recursive types end here.
const MAX_DEPTH: usize = 16;

/// Whether parsing into `T` makes a validator for `schema` superfluous. The root must be an object.
pub(crate) fn by_serde<T: DeserializeOwned>(schema: &Value) -> bool {
    let mut proof = Proof {
        root: schema,
        look: probe::look::<T>,
        path: Vec::new(),
        changes: Vec::new(),
    };
    let Some(sample) = proof.sample(schema, "", 0) else {
        return false;
    };
    let parses = |value: &Value| serde_json::from_value::<T>(value.clone()).is_ok();
    sample.is_object()
        && parses(&sample)
        && proof.changes.iter().all(|change| {
            let mut changed = sample.clone();
            change.apply(&mut changed) && !parses(&changed)
        })
}

/// A change to the sample that the schema forbids.
enum Change {
    Remove { object: String, name: String },
    Add { object: String },
}

impl Change {
    fn apply(&self, sample: &mut Value) -> bool {
        match self {
            Self::Remove { object, name } => {
                member_map(sample, object).is_some_and(|m| m.remove(name).is_some())
            }
            Self::Add { object } => member_map(sample, object)
                .is_some_and(|m| m.insert("no such argument".to_owned(), Value::Null).is_none()),
        }
    }
}

fn member_map<'a>(sample: &'a mut Value, pointer: &str) -> Option<&'a mut Map<String, Value>> {
    sample.pointer_mut(pointer)?.as_object_mut()
}

struct Proof<'a> {
    root: &'a Value,
    look: fn(&[Step]) -> Hint,
    path: Vec<Step>,
    changes: Vec<Change>,
}

impl Proof<'_> {
    /// A value that fits, if the schema is proved to be enforced at this place.
    fn sample(&mut self, schema: &Value, pointer: &str, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        let Value::Object(schema) = schema else {
            return (schema == &Value::Bool(true)).then_some(Value::Null);
        };
        let keywords: Vec<&str> = schema
            .keys()
            .map(String::as_str)
            .filter(|k| !ANNOTATIONS.contains(k))
            .collect();
        if keywords.is_empty() {
            return Some(Value::Null);
        }
        if keywords == ["$ref"] {
            let target = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
            let target = self.root.pointer(target)?;
            return self.sample(target, pointer, depth + 1);
        }
        let hint = (self.look)(&self.path);
        if hint == Hint::Option {
            let inner = without_null(schema)?;
            return self.within(Step::Some, &inner, pointer, depth);
        }
        if keywords == ["oneOf"] || keywords == ["enum", "type"] || keywords == ["type", "enum"] {
            return one_of_names(schema, hint);
        }
        let only = |allowed: &[&str]| keywords.iter().all(|k| *k == "type" || allowed.contains(k));
        match (schema.get("type")?.as_str()?, hint) {
            ("string", Hint::Str) if only(&[]) => Some(json!("")),
            ("string", Hint::Char) if only(&["minLength", "maxLength"]) => {
                let one = Some(&json!(1));
                (schema.get("minLength") == one && schema.get("maxLength") == one).then(|| json!("a"))
            }
            ("boolean", Hint::Bool) if only(&[]) => Some(json!(false)),
            ("null", Hint::Unit) if only(&[]) => Some(Value::Null),
            ("number", Hint::Float | Hint::Int(..)) if only(&[]) => Some(json!(0)),
            ("integer", Hint::Int(least, greatest)) if only(&["minimum", "maximum"]) => {
                let allows = |name, ok: &dyn Fn(i128) -> bool| match schema.get(name) {
                    None => true,
                    Some(bound) => whole(bound).is_some_and(ok),
                };
                let fits = allows("minimum", &|bound| bound <= least)
                    && allows("maximum", &|bound| bound >= greatest);
                fits.then(|| json!(0))
            }
            ("array", Hint::Seq) if only(&["items"]) => {
                let items = schema.get("items").unwrap_or(&Value::Bool(true));
                let item = self.within(Step::Item, items, &format!("{pointer}/0"), depth)?;
                Some(json!([item]))
            }
            ("object", Hint::Map) if only(&["additionalProperties"]) => {
                let values = schema.get("additionalProperties").unwrap_or(&Value::Bool(true));
                let value = self.within(Step::Value, values, &format!("{pointer}/key"), depth)?;
                Some(json!({ "key": value }))
            }
            ("object", Hint::Struct(fields)) if only(&["properties", "required", "additionalProperties"]) => {
                self.structure(schema, fields, pointer, depth)
            }
            _ => None,
        }
    }

    fn structure(
        &mut self,
        schema: &Map<String, Value>,
        fields: &'static [&'static str],
        pointer: &str,
        depth: usize,
    ) -> Option<Value> {
        let mut sample = Map::new();
        if let Some(properties) = schema.get("properties") {
            for (name, property) in properties.as_object()? {
                let field = fields.iter().find(|field| *field == name)?;
                let at = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
                let value = self.within(Step::Field(field), property, &at, depth)?;
                sample.insert(name.clone(), value);
            }
        }
        // An alias or a hidden field is taken by the type and unknown to the schema.
        let closed = match schema.get("additionalProperties") {
            None | Some(Value::Bool(true)) => false,
            Some(Value::Bool(false)) => true,
            Some(_) => return None,
        };
        if closed {
            if fields.iter().any(|field| !sample.contains_key(*field)) {
                return None;
            }
            self.changes.push(Change::Add {
                object: pointer.to_owned(),
            });
        }
        if let Some(required) = schema.get("required") {
            for name in required.as_array()? {
                self.changes.push(Change::Remove {
                    object: pointer.to_owned(),
                    name: name.as_str()?.to_owned(),
                });
            }
        }
        Some(Value::Object(sample))
    }

    fn within(&mut self, step: Step, schema: &Value, pointer: &str, depth: usize) -> Option<Value> {
        self.path.push(step);
        let sample = self.sample(schema, pointer, depth + 1);
        self.path.pop();
        sample
    }
}

fn whole(number: &Value) -> Option<i128> {
    let signed = number.as_i64().map(i128::from);
    signed.or_else(|| number.as_u64().map(i128::from))
}

/// The schema of an optional value without its `null`. A schema that does not allow null is stricter than the type.
fn without_null(schema: &Map<String, Value>) -> Option<Value> {
    let null = json!({ "type": "null" });
    if let Some(Value::Array(choices)) = schema.get("anyOf") {
        let only = schema
            .keys()
            .all(|k| k == "anyOf" || ANNOTATIONS.contains(&k.as_str()));
        return match choices.as_slice() {
            [inner, last] if *last == null && only => Some(inner.clone()),
            _ => None,
        };
    }
    let mut inner = schema.clone();
    match schema.get("type")?.as_array()?.as_slice() {
        [first, last] if last == "null" => inner.insert("type".to_owned(), first.clone()),
        _ => return None,
    };
    if let Some(Value::Array(names)) = inner.get_mut("enum") {
        let before = names.len();
        names.retain(|name| !name.is_null());
        if names.len() == before {
            return None;
        }
    }
    Some(Value::Object(inner))
}

/// An enum of unit variants: a list of strings, or one constant each where variants are described.
fn one_of_names(schema: &Map<String, Value>, hint: Hint) -> Option<Value> {
    let Hint::Enum(variants) = hint else {
        return None;
    };
    let choices: Vec<&Map<String, Value>> = match schema.get("oneOf") {
        Some(choices) => choices
            .as_array()?
            .iter()
            .map(Value::as_object)
            .collect::<Option<_>>()?,
        None => vec![schema],
    };
    let mut names: Vec<&str> = Vec::new();
    for choice in choices {
        let known =
            |k: &String| ["type", "const", "enum"].contains(&k.as_str()) || ANNOTATIONS.contains(&k.as_str());
        if !choice.keys().all(known) || choice.get("type")? != "string" {
            return None;
        }
        match (choice.get("const"), choice.get("enum")) {
            (Some(name), None) => names.push(name.as_str()?),
            (None, Some(list)) => {
                for name in list.as_array()? {
                    names.push(name.as_str()?);
                }
            }
            _ => return None,
        }
    }
    let all = variants.iter().all(|variant| names.contains(variant));
    let first = variants.first()?;
    all.then(|| json!(first))
}
