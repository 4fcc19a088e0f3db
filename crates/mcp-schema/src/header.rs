use std::collections::HashSet;

use mcp_jsonrpc::RawJson;
use serde_json::Value;

use crate::bounds::{self, SchemaLimits};
use crate::error::{Kind, SchemaError};

/// An argument that HTTP repeats as a header `Mcp-Param-NAME` (2026-07-28: basic/transports).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeaderParam {
    /// The names of the properties that lead to the argument, outermost first.
    pub path: Vec<String>,
    /// The value of `x-mcp-header`: the header's name after `Mcp-Param-`.
    pub name: String,
    /// The type of the argument.
    pub kind: HeaderParamType,
}

/// The types that a header can carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderParamType {
    /// As it is, encoded where needed.
    String,
    /// In decimal.
    Integer,
    /// `true` or `false`.
    Boolean,
}

/// The header parameters of a tool's input schema, by path.
///
/// # Errors
/// When an annotation breaks the rules: its name is no header token or not unique, the argument is no string,
/// integer or boolean, or is reached by more than `properties`. A client on HTTP drops such a tool.
pub fn header_params(schema: &RawJson) -> Result<Vec<HeaderParam>, SchemaError> {
    // Nearly every schema: no tree is made.
    if memmem(schema.as_bytes(), b"x-mcp-header").is_none() {
        return Ok(Vec::new());
    }
    let root = bounds::read(schema, &SchemaLimits::default())?;
    let mut walk = Walk {
        path: Vec::new(),
        names: HashSet::new(),
        found: Vec::new(),
    };
    walk.visit(&root, true)?;
    Ok(walk.found)
}

fn memmem(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

struct Walk {
    path: Vec<String>,
    names: HashSet<String>,
    found: Vec<HeaderParam>,
}

impl Walk {
    fn visit(&mut self, schema: &Value, reachable: bool) -> Result<(), SchemaError> {
        if let Some(name) = schema.get("x-mcp-header") {
            let param = self.param(schema, name, reachable)?;
            self.found.push(param);
        }
        for child in bounds::children(schema, "") {
            match child.property {
                Some(property) => {
                    self.path.push(property.to_owned());
                    self.visit(child.schema, reachable)?;
                    self.path.pop();
                }
                None => self.visit(child.schema, false)?,
            }
        }
        Ok(())
    }

    fn param(&mut self, schema: &Value, name: &Value, reachable: bool) -> Result<HeaderParam, SchemaError> {
        let at = self.path.join(".");
        let bad = |why: &str| SchemaError::new(Kind::Header, format_args!("x-mcp-header of {at:?} {why}"));
        let name = name.as_str().ok_or_else(|| bad("is not a string"))?;
        if name.is_empty() || !name.bytes().all(is_token) {
            return Err(bad("is not a header token"));
        }
        if !reachable || self.path.is_empty() {
            return Err(bad(
                "is on something that is not reached through properties alone",
            ));
        }
        let kind = match schema.get("type") {
            Some(Value::String(kind)) => kind.as_str(),
            // An optional value is a union with null; a null is not sent.
            Some(Value::Array(kinds)) => match kinds.as_slice() {
                [Value::String(kind), null] | [null, Value::String(kind)] if null == "null" => kind.as_str(),
                _ => "",
            },
            _ => "",
        };
        let kind = match kind {
            "string" => HeaderParamType::String,
            "integer" => HeaderParamType::Integer,
            "boolean" => HeaderParamType::Boolean,
            _ => return Err(bad("is on something else than a string, integer or boolean")),
        };
        if !self.names.insert(name.to_ascii_lowercase()) {
            return Err(bad("is there twice"));
        }
        Ok(HeaderParam {
            path: self.path.clone(),
            name: name.to_owned(),
            kind,
        })
    }
}

/// `tchar` of RFC 9110 section 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
