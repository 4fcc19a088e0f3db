use std::collections::HashMap;

use mcp_jsonrpc::RawJson;
use serde_json::Value;

use crate::error::{Kind, SchemaError};

/// Bounds on a schema. They hold before anything compiles it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaLimits {
    /// Bytes of the text. Default 256 KiB.
    pub max_bytes: usize,
    /// Nesting of objects and arrays, the root included. Default 64.
    pub max_depth: usize,
    /// Subschemas in the text. Default 2,000.
    pub max_subschemas: usize,
    /// `$ref`s that follow one another for a single value. Default 32.
    pub max_reference_hops: usize,
    /// Subschemas that apply to a single value once references are followed. Keeps doubling definitions
    /// (`a` is twice `b`, `b` is twice `c`, ...) out. Default 10,000.
    pub max_expansion: usize,
}

impl Default for SchemaLimits {
    fn default() -> Self {
        Self {
            max_bytes: 256 * 1024,
            max_depth: 64,
            max_subschemas: 2_000,
            max_reference_hops: 32,
            max_expansion: 10_000,
        }
    }
}

/// Checks a schema against limits, and that all its references stay inside it.
///
/// # Errors
/// When it is over a limit, refers to itself without end or to another document, or is no schema at all.
pub fn check_bounds(schema: &RawJson, limits: &SchemaLimits) -> Result<(), SchemaError> {
    read(schema, limits).map(|_| ())
}

/// As [`check_bounds`]; returns the tree that it needed.
pub(crate) fn read(schema: &RawJson, limits: &SchemaLimits) -> Result<Value, SchemaError> {
    let bytes = schema.as_bytes();
    if bytes.len() > limits.max_bytes {
        return Err(over(format_args!("is longer than {} bytes", limits.max_bytes)));
    }
    // Before a tree is made: its reader has a depth limit of its own and another text for it.
    if text_depth(bytes) > limits.max_depth {
        return Err(over(format_args!("is nested deeper than {}", limits.max_depth)));
    }
    let root: Value = serde_json::from_slice(bytes)
        .map_err(|e| SchemaError::new(Kind::Invalid, format_args!("the schema is not readable: {e}")))?;
    if !root.is_object() && !root.is_boolean() {
        return Err(SchemaError::new(
            Kind::Invalid,
            "a schema is an object or a boolean",
        ));
    }
    let mut walk = Walk {
        root: &root,
        limits,
        seen: HashMap::new(),
        resources: Vec::new(),
        anchors: HashMap::new(),
        references: Vec::new(),
    };
    walk.enter("", "")?;
    walk.resolve()?;
    walk.expand("", 0)?;
    // What nothing refers to is compiled all the same.
    let all: Vec<String> = walk.seen.keys().cloned().collect();
    for pointer in all {
        walk.expand(&pointer, 0)?;
    }
    Ok(root)
}

fn over(what: impl std::fmt::Display) -> SchemaError {
    SchemaError::new(Kind::TooLarge, format_args!("the schema {what}"))
}

fn text_depth(bytes: &[u8]) -> usize {
    let (mut depth, mut deepest, mut inside, mut escaped) = (0usize, 0, false, false);
    for byte in bytes {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if inside => escaped = true,
            b'"' => inside = !inside,
            _ if inside => {}
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Where a subschema sits in its parent.
pub(crate) struct Child<'a> {
    pub(crate) pointer: String,
    pub(crate) schema: &'a Value,
    /// Whether it applies to the same value as its parent.
    pub(crate) in_place: bool,
    /// The name of the property, where the keyword is `properties`.
    pub(crate) property: Option<&'a str>,
}

/// The subschemas right under a schema, of every dialect from draft-04 on.
pub(crate) fn children<'a>(schema: &'a Value, at: &str) -> Vec<Child<'a>> {
    let mut found = Vec::new();
    let Value::Object(members) = schema else {
        return found;
    };
    for (keyword, value) in members {
        let (many, in_place) = match keyword.as_str() {
            "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else" => (false, true),
            "items" | "prefixItems" | "additionalItems" | "unevaluatedItems" | "contains" => (false, false),
            "additionalProperties" | "unevaluatedProperties" | "propertyNames" | "contentSchema" => {
                (false, false)
            }
            "properties" | "patternProperties" | "$defs" | "definitions" => (true, false),
            "dependentSchemas" | "dependencies" => (true, true),
            _ => continue,
        };
        let at = format!("{at}/{}", escape(keyword));
        let mut add = |pointer: String, schema: &'a Value, property: Option<&'a str>| {
            if schema.is_object() || schema.is_boolean() {
                found.push(Child {
                    pointer,
                    schema,
                    in_place,
                    property,
                });
            }
        };
        match value {
            Value::Object(named) if many => {
                for (name, schema) in named {
                    let property = (keyword == "properties").then_some(name.as_str());
                    add(format!("{at}/{}", escape(name)), schema, property);
                }
            }
            Value::Array(list) if !many => {
                for (i, schema) in list.iter().enumerate() {
                    add(format!("{at}/{i}"), schema, None);
                }
            }
            one if !many => add(at, one, None),
            _ => {}
        }
    }
    found
}

fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// What the subschemas that apply to one value cost, or that this is being found out further up.
#[derive(Clone, Copy)]
enum Cost {
    Unknown,
    Pending,
    Known { nodes: usize, hops: usize },
}

struct Walk<'a> {
    root: &'a Value,
    limits: &'a SchemaLimits,
    /// Every subschema by its pointer, with those that apply to the same value and whether a reference leads there.
    seen: HashMap<String, (Cost, Vec<(String, bool)>)>,
    /// `$id` and pointer of each embedded resource.
    resources: Vec<(&'a str, String)>,
    /// Pointer of the resource and name, to pointer.
    anchors: HashMap<(String, &'a str), String>,
    /// Pointer of the resource, pointer of the schema, reference.
    references: Vec<(String, String, &'a str)>,
}

impl<'a> Walk<'a> {
    /// Notes a subschema and all below it. `base` is the pointer of the resource that it is part of.
    fn enter(&mut self, pointer: &str, base: &str) -> Result<(), SchemaError> {
        if self.seen.contains_key(pointer) {
            return Ok(());
        }
        let Some(schema) = self.root.pointer(pointer) else {
            return Ok(());
        };
        if self.seen.len() >= self.limits.max_subschemas {
            return Err(over(format_args!(
                "has more than {} subschemas",
                self.limits.max_subschemas
            )));
        }
        let text = |name: &str| schema.get(name).and_then(Value::as_str);
        let mut base = base;
        // Draft-04 spells it `id`. A `#name` there is an anchor.
        if let Some(id) = text("$id").or_else(|| text("id")) {
            match id.strip_prefix('#') {
                Some(name) => drop(self.anchors.insert((base.to_owned(), name), pointer.to_owned())),
                None => {
                    base = pointer;
                    self.resources
                        .push((id.trim_end_matches('#'), pointer.to_owned()));
                }
            }
        }
        for keyword in ["$anchor", "$dynamicAnchor"] {
            if let Some(name) = text(keyword) {
                self.anchors.insert((base.to_owned(), name), pointer.to_owned());
            }
        }
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            if let Some(reference) = text(keyword) {
                self.references
                    .push((base.to_owned(), pointer.to_owned(), reference));
            }
        }
        let below = children(schema, pointer);
        let in_place = below.iter().filter(|child| child.in_place);
        let in_place = in_place.map(|child| (child.pointer.clone(), false)).collect();
        self.seen.insert(pointer.to_owned(), (Cost::Unknown, in_place));
        // Bounded by `max_depth`, which the text keeps.
        for child in below {
            self.enter(&child.pointer, base)?;
        }
        Ok(())
    }

    /// Follows every reference, also to places that no keyword makes a schema.
    fn resolve(&mut self) -> Result<(), SchemaError> {
        while let Some((base, from, reference)) = self.references.pop() {
            let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
            if is_meta_schema(document) {
                continue;
            }
            let resource = match document {
                "" => base,
                _ => self.resource(document).ok_or_else(|| {
                    SchemaError::new(
                        Kind::RemoteReference,
                        format_args!("the schema refers to {reference}, and other documents are not loaded"),
                    )
                })?,
            };
            let fragment = percent_decoded(fragment);
            let target = if fragment.is_empty() || fragment.starts_with('/') {
                Some(format!("{resource}{fragment}"))
            } else {
                self.anchors.get(&(resource.clone(), fragment.as_str())).cloned()
            };
            let target = target
                .filter(|pointer| self.root.pointer(pointer).is_some())
                .ok_or_else(|| {
                    let text = format_args!("the schema refers to {reference}, which is not there");
                    SchemaError::new(Kind::Invalid, text)
                })?;
            self.enter(&target, &resource)?;
            if let Some((_, in_place)) = self.seen.get_mut(&from) {
                in_place.push((target, true));
            }
        }
        Ok(())
    }

    /// The embedded resource that a reference without its fragment names. Full resolution of relative URIs is
    /// left to the compiler, which cannot load anything either.
    fn resource(&self, document: &str) -> Option<String> {
        let relative = document.trim_start_matches("./");
        let named =
            |id: &str| id == document || id.strip_suffix(relative).is_some_and(|dir| dir.ends_with('/'));
        let found = self.resources.iter().find(|(id, _)| named(id));
        // Also the other way round: `$id: "item"`, reference `https://example.com/item`.
        let found = found.or_else(|| {
            let ends = |id: &str| document.strip_suffix(id).is_some_and(|dir| dir.ends_with('/'));
            self.resources.iter().find(|(id, _)| !id.is_empty() && ends(id))
        });
        found.map(|(_, pointer)| pointer.clone())
    }

    /// Adds up what applies to one value. `hops` is the count of references on the way here, which bounds the
    /// recursion together with `max_depth`.
    fn expand(&mut self, pointer: &str, hops: usize) -> Result<(usize, usize), SchemaError> {
        let below = match self.seen.get_mut(pointer) {
            None => return Ok((0, 0)),
            Some((Cost::Known { nodes, hops }, _)) => return Ok((*nodes, *hops)),
            Some((Cost::Pending, _)) => {
                return Err(over("refers to itself without end"));
            }
            Some((cost @ Cost::Unknown, below)) => {
                *cost = Cost::Pending;
                below.clone()
            }
        };
        let most = self.limits.max_reference_hops;
        let too_far = || over(format_args!("has more than {most} references in a row"));
        if hops > most {
            return Err(too_far());
        }
        let (mut nodes, mut furthest) = (1usize, 0);
        for (child, by_reference) in below {
            let step = usize::from(by_reference);
            let (cost, further) = self.expand(&child, hops + step)?;
            nodes = nodes.saturating_add(cost);
            furthest = furthest.max(further + step);
        }
        if furthest > most {
            return Err(too_far());
        }
        if nodes > self.limits.max_expansion {
            return Err(over(format_args!(
                "applies more than {} subschemas to one value",
                self.limits.max_expansion
            )));
        }
        if let Some((cost, _)) = self.seen.get_mut(pointer) {
            *cost = Cost::Known {
                nodes,
                hops: furthest,
            };
        }
        Ok((nodes, furthest))
    }
}

/// The meta-schemas, which come with every validator.
fn is_meta_schema(document: &str) -> bool {
    let rest = document
        .strip_prefix("https://")
        .or_else(|| document.strip_prefix("http://"));
    rest.is_some_and(|rest| rest.starts_with("json-schema.org/draft"))
}

fn percent_decoded(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let code = (byte == b'%').then(|| after.get(..2)).flatten();
        let code = code.and_then(|hex| std::str::from_utf8(hex).ok());
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(decoded) => {
                bytes.push(decoded);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
