use mcp_jsonrpc::RawJson;
use serde::de::DeserializeOwned;
use serde_path_to_error::{Path, Segment as At};

use crate::error::ArgumentError;
use crate::members::Members;
use crate::probe::{self, Hint};
use crate::text::{self, Segment};

/// Reads the arguments of a call.
///
/// A type of no arguments may be `()`: it takes `{}` and nothing else.
///
/// # Errors
/// When the arguments do not fit. The text names the argument, with a dotted path where it is nested:
/// `Missing argument: filter.limit`, `Unknown argument: NAME`, `Invalid argument NAME: REASON`.
pub fn parse_args<T: DeserializeOwned>(arguments: &RawJson) -> Result<T, ArgumentError> {
    if arguments.is_object()
        && let Ok(parsed) = serde_json::from_slice(arguments.as_bytes())
    {
        return Ok(parsed);
    }
    parse_slowly(arguments)
}

/// The second parse, which follows the path. Only failures and `()` come here.
#[cold]
fn parse_slowly<T: DeserializeOwned>(arguments: &RawJson) -> Result<T, ArgumentError> {
    let members = Members::of(arguments).map_err(|_| ArgumentError::invalid("", "expected an object"))?;
    if probe::look::<T>(&[]) == Hint::Unit {
        if let Some((name, _)) = members.0.first() {
            return Err(ArgumentError::unknown(name));
        }
        return serde_json::from_str("null").map_err(|e| ArgumentError::invalid("", &e.to_string()));
    }
    let mut reader = serde_json::Deserializer::from_slice(arguments.as_bytes());
    serde_path_to_error::deserialize(&mut reader).map_err(|e| explain(e.path(), &e.inner().to_string()))
}

fn explain(path: &Path, message: &str) -> ArgumentError {
    let mut path = text::locate(path.iter().filter_map(|segment| match segment {
        At::Map { key } => Some(Segment::Member(key.into())),
        At::Seq { index } => Some(Segment::Index(*index)),
        At::Enum { variant } => Some(Segment::Member(variant.into())),
        At::Unknown => None,
    }));
    // serde_json adds a position in a text that the sender never saw as such.
    let message = message
        .rsplit_once(" at line ")
        .map_or(message, |(reason, _)| reason);
    // These two texts are serde's own; a type that words them otherwise gets the general form.
    if let Some(name) = quoted(message, "missing field `") {
        text::join(&mut path, name);
        return ArgumentError::missing(&path);
    }
    if let Some(name) = quoted(message, "unknown field `") {
        // The path may or may not end with the field itself.
        if path != name && !path.ends_with(&format!(".{name}")) {
            text::join(&mut path, name);
        }
        return ArgumentError::unknown(&path);
    }
    ArgumentError::invalid(&path, message)
}

fn quoted<'a>(message: &'a str, start: &str) -> Option<&'a str> {
    let rest = message.strip_prefix(start)?;
    rest.split_once('`').map(|(name, _)| name)
}
