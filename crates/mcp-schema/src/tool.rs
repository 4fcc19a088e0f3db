use mcp_jsonrpc::{JsonKind, RawJson};
use serde_json::value::RawValue;

use crate::error::{Kind, SchemaError};
use crate::members::Members;

/// Checks that a schema can be the `inputSchema` of a tool: an object with `type: "object"` at its root, and
/// `properties` and `required` of the right kind where they are there (2025-11-25: server/tools).
///
/// Servers refuse a tool that fails this; clients drop it with a warning and keep the others.
///
/// # Errors
/// When it cannot be one; the text says why.
pub fn check_tool_input_schema(schema: &RawJson) -> Result<(), SchemaError> {
    let members = Members::of(schema)?;
    match members.find("type").map(RawValue::get) {
        Some(r#""object""#) => {}
        Some(other) => {
            let text = format_args!("the input schema of a tool has type \"object\", not {other}");
            return Err(SchemaError::new(Kind::NotObject, text));
        }
        None => {
            let text = "the input schema of a tool has type \"object\", and this one has no type";
            return Err(SchemaError::new(Kind::NotObject, text));
        }
    }
    if members
        .find("properties")
        .is_some_and(|value| !value.get().starts_with('{'))
    {
        return Err(SchemaError::new(Kind::Invalid, "properties is not an object"));
    }
    if let Some(required) = members.find("required")
        && serde_json::from_str::<Vec<String>>(required.get()).is_err()
    {
        return Err(SchemaError::new(Kind::Invalid, "required is not a list of names"));
    }
    Ok(())
}

/// The schema as a model's API wants it: with `type: "object"` and `properties` added where they are missing.
///
/// All else stays byte for byte. Only for the copy that goes to a model; pins are taken of the schema as it came.
/// Anything but an object gives the schema of an object without known properties.
#[must_use]
pub fn complete_for_model(schema: &RawJson) -> RawJson {
    let whole =
        || RawJson::from_text(r#"{"type":"object","properties":{}}"#).unwrap_or(RawJson::empty_object());
    if schema.kind() != JsonKind::Object {
        return whole();
    }
    let Ok(members) = Members::of(schema) else {
        return whole();
    };
    let mut added = Vec::new();
    if members.find("type").is_none() {
        added.push(r#""type":"object""#);
    }
    if members.find("properties").is_none() {
        added.push(r#""properties":{}"#);
    }
    let Some(open) = schema.as_str().strip_suffix('}') else {
        return whole();
    };
    if added.is_empty() {
        return schema.clone();
    }
    let comma = if members.0.is_empty() { "" } else { "," };
    RawJson::from_text(format!("{open}{comma}{}}}", added.join(","))).unwrap_or_else(|_| schema.clone())
}
