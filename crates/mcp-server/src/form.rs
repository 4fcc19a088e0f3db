//! Forms and lists of arguments from the schemas of Rust types.

use mcp_jsonrpc::RawJson;
use mcp_types::{ElicitSchema, JsonObject, PromptArgument, PropertySchema};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// The fields of a form (2025-11-25: client/elicitation, "Requested Schema"), or which one cannot be in a form.
pub(crate) fn fields<T: JsonSchema + DeserializeOwned>() -> Result<ElicitSchema, String> {
    let (members, required) = members::<T>()?;
    let mut form = ElicitSchema::new();
    for (name, schema) in members {
        let what =
            || format!("a form cannot have the field {name:?}: it is no text, number, boolean or choice");
        let field = field(&schema).ok_or_else(what)?;
        let field = RawJson::encode(&field)
            .and_then(|field| field.parse::<PropertySchema>())
            .map_err(|error| format!("the field {name:?} of a form: {error}"))?;
        form = if required.contains(&name) {
            form.required(name, field)
        } else {
            form.optional(name, field)
        };
    }
    Ok(form)
}

/// The arguments of a prompt, which are strings (2025-11-25: server/prompts), or which one is none.
pub(crate) fn arguments<T: JsonSchema + DeserializeOwned>() -> Result<Vec<PromptArgument>, String> {
    let (members, required) = members::<T>()?;
    let mut arguments = Vec::with_capacity(members.len());
    for (name, schema) in members {
        let Some(field) = field(&schema).filter(|field| field["type"] == "string") else {
            return Err(format!("its argument {name:?} is no string"));
        };
        let text = |key| field.get(key).and_then(Value::as_str);
        let mut argument = PromptArgument::new(name.as_str());
        argument.title = text("title").map(str::to_owned);
        argument.description = text("description").map(str::to_owned);
        if required.contains(&name) {
            argument.required = Some(true);
        }
        arguments.push(argument);
    }
    Ok(arguments)
}

type Members = (Vec<(String, Value)>, Vec<String>);

/// The properties of a type's schema in their order, and the names of those that are required.
fn members<T: JsonSchema + DeserializeOwned>() -> Result<Members, String> {
    let derived = mcp_schema::derive::<T>().map_err(|error| error.to_string())?;
    let schema: JsonObject = derived.json.parse().map_err(|error| error.to_string())?;
    let read = |key: &str| schema.get(key).cloned();
    let properties = match read("properties") {
        Some(properties) => properties.parse().map_err(|error| error.to_string())?,
        None => JsonObject::new(),
    };
    let mut members = Vec::with_capacity(properties.len());
    for (name, schema) in properties.iter() {
        members.push((
            name.to_owned(),
            schema.parse().map_err(|error| error.to_string())?,
        ));
    }
    let required = match read("required") {
        Some(required) => required.parse().map_err(|error| error.to_string())?,
        None => Vec::new(),
    };
    Ok((members, required))
}

/// The members of a property's schema that a form may have. None for what no form has.
fn field(schema: &Value) -> Option<Value> {
    let schema = without_null(schema)?;
    let kind = match schema.get("type").and_then(Value::as_str) {
        Some(kind) => kind,
        // Documented variants: a choice with names for people.
        None if schema.contains_key("oneOf") => "string",
        None => return None,
    };
    let allowed: &[&str] = match kind {
        "string" => &["minLength", "maxLength", "enum"],
        "number" | "integer" => &["minimum", "maximum"],
        "boolean" => &[],
        "array" => &["minItems", "maxItems"],
        _ => return None,
    };
    let mut out = Map::new();
    out.insert("type".to_owned(), kind.into());
    for key in ["title", "description", "default"].iter().chain(allowed) {
        if let Some(value) = schema.get(*key).filter(|value| !value.is_null()) {
            out.insert((*key).to_owned(), value.clone());
        }
    }
    match kind {
        "string" => {
            let formats = ["email", "uri", "date", "date-time"];
            if let Some(format) = schema
                .get("format")
                .filter(|format| formats.iter().any(|one| **format == **one))
            {
                out.insert("format".to_owned(), format.clone());
            }
            if let Some(variants) = schema.get("oneOf") {
                out.insert("oneOf".to_owned(), choices(variants)?);
            }
        }
        "array" => {
            let items = schema.get("items").map(field)??;
            let items = match (items.get("enum"), items.get("oneOf")) {
                (Some(values), _) => json!({"type": "string", "enum": values}),
                (None, Some(variants)) => json!({"anyOf": variants}),
                (None, None) => return None,
            };
            out.insert("items".to_owned(), items);
        }
        _ => {}
    }
    Some(Value::Object(out))
}

/// The schema of what is there, where the schema is one of an `Option`.
fn without_null(schema: &Value) -> Option<Map<String, Value>> {
    let mut members = schema.as_object()?.clone();
    if let Some(Value::Array(kinds)) = members.get("type") {
        let mut kinds = kinds.iter().filter(|kind| *kind != "null");
        let (kind, None) = (kinds.next()?.clone(), kinds.next()) else {
            return None;
        };
        members.insert("type".to_owned(), kind);
    }
    if let Some(Value::Array(values)) = members.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(forms)) = members.get("anyOf") {
        let mut forms = forms
            .iter()
            .filter(|form| form.get("type").is_none_or(|kind| kind != "null"));
        let (Some(Value::Object(form)), None) = (forms.next(), forms.next()) else {
            return None;
        };
        let form = form.clone();
        members.remove("anyOf");
        for (key, value) in form {
            members.entry(key).or_insert(value);
        }
    }
    Some(members)
}

/// `oneOf` as schemars writes documented variants, as a form has it: values with names for people.
fn choices(variants: &Value) -> Option<Value> {
    let variants = variants.as_array()?.iter().map(|variant| {
        let value = variant.get("const")?.as_str()?;
        let title = ["title", "description"]
            .iter()
            .find_map(|key| variant.get(*key)?.as_str());
        Some(json!({"const": value, "title": title.unwrap_or(value)}))
    });
    variants.collect::<Option<Vec<_>>>().map(Value::Array)
}

#[cfg(test)]
mod tests {
    use mcp_jsonrpc::RawJson;
    use mcp_types::{Revision, wire};
    use schemars::JsonSchema;
    use serde::Deserialize;

    use super::{arguments, fields};

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    #[allow(dead_code)]
    enum Colour {
        Red,
        Green,
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    enum Size {
        /// Up to 40.
        Small,
        /// All above.
        Large,
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Order {
        /// Who gets it.
        name: String,
        count: u8,
        weight: Option<f64>,
        gift: bool,
        colour: Option<Colour>,
        size: Size,
        also: Vec<Colour>,
    }

    fn written(revision: Revision) -> String {
        wire::to_raw(&fields::<Order>().unwrap(), revision)
            .unwrap()
            .as_str()
            .to_owned()
    }

    #[test]
    fn a_flat_type_makes_a_form_and_keeps_the_order_of_its_fields() {
        assert_eq!(
            written(Revision::V2025_11_25),
            concat!(
                r#"{"type":"object","properties":{"name":{"type":"string","description":"Who gets it."},"#,
                r#""count":{"type":"integer","minimum":0,"maximum":255},"weight":{"type":"number"},"#,
                r#""gift":{"type":"boolean"},"colour":{"type":"string","enum":["red","green"]},"#,
                r#""size":{"type":"string","oneOf":[{"const":"Small","title":"Up to 40."},{"const":"Large","title":"All above."}]},"#,
                r#""also":{"type":"array","items":{"type":"string","enum":["red","green"]}}},"#,
                r#""required":["name","count","gift","size","also"]}"#
            )
        );
    }

    #[test]
    fn a_type_that_is_not_flat_is_refused_by_the_name_of_the_field() {
        #[derive(Deserialize, JsonSchema)]
        #[allow(dead_code)]
        struct Nested {
            inner: Order,
        }
        let error = fields::<Nested>().unwrap_err();
        assert!(error.contains("\"inner\""), "{error}");
        assert!(fields::<Vec<String>>().is_err());
    }

    #[test]
    fn the_arguments_of_a_prompt_are_strings() {
        #[derive(Deserialize, JsonSchema)]
        #[allow(dead_code)]
        struct Review {
            /// Which note.
            note: String,
            tone: Option<Colour>,
        }
        let arguments = super::arguments::<Review>().unwrap();
        let written = RawJson::encode(&arguments).unwrap();
        assert_eq!(
            written.as_str(),
            r#"[{"name":"note","description":"Which note.","required":true},{"name":"tone"}]"#
        );
        let error = self::arguments::<Order>().unwrap_err();
        assert!(error.contains("\"count\""), "{error}");
    }
}
