use std::fmt;

use jsonschema::error::ValidationErrorKind;
use jsonschema::paths::LocationSegment;
use jsonschema::{Draft, PatternOptions, ValidationError};
use mcp_jsonrpc::RawJson;
use serde_json::Value;

use crate::bounds::{self, SchemaLimits};
use crate::error::{ArgumentError, Kind, SchemaError};
use crate::text::{self, Segment};

/// Problems listed in one error.
const MAX_PROBLEMS: usize = 5;

/// A compiled schema.
///
/// Knows 2020-12, which holds where `$schema` is missing, 2019-09 and drafts 7, 6 and 4. `format` is an
/// annotation in all of them. Regular expressions run in linear time, so look-around and back-references are not
/// available. Numbers are compared as 64-bit integers or doubles; the value itself is only read, never rewritten.
pub struct Validator(jsonschema::Validator);

impl Validator {
    /// Compiles a schema. Opens no file and no connection.
    ///
    /// # Errors
    /// When the dialect is unknown, the schema is over a limit, refers to another document, or is not valid.
    pub fn compile(schema: &RawJson, limits: &SchemaLimits) -> Result<Self, SchemaError> {
        let mut root = bounds::read(schema, limits)?;
        let draft = dialect(&root)?;
        if let Some(members) = root.as_object_mut() {
            // Spellings of it that the compiler does not know are as good.
            members.remove("$schema");
        }
        jsonschema::options()
            .with_draft(draft)
            .offline()
            .should_validate_formats(false)
            .with_pattern_options(PatternOptions::regex())
            .build(&root)
            .map(Self)
            .map_err(|e| SchemaError::new(Kind::Invalid, format_args!("the schema is not valid: {e}")))
    }

    /// Checks the arguments of a call.
    ///
    /// # Errors
    /// When they do not fit. The text lists up to five problems, missing arguments first, in the words of
    /// [`parse_args`](crate::parse_args).
    pub fn check(&self, arguments: &RawJson) -> Result<(), ArgumentError> {
        let value: Value = serde_json::from_slice(arguments.as_bytes())
            .map_err(|e| ArgumentError::invalid("", &e.to_string()))?;
        if self.0.is_valid(&value) {
            return Ok(());
        }
        let mut problems: Vec<(u8, ArgumentError)> = self
            .0
            .iter_errors(&value)
            .take(MAX_PROBLEMS + 1)
            .flat_map(explain)
            .collect();
        problems.sort_by_key(|(rank, _)| *rank);
        let more = problems.len() > MAX_PROBLEMS;
        problems.truncate(MAX_PROBLEMS);
        let mut rest = problems.into_iter().map(|(_, problem)| problem);
        let Some(first) = rest.next() else {
            return Err(ArgumentError::invalid("", "they do not fit the schema"));
        };
        Err(first.followed_by(rest, more))
    }
}

impl fmt::Debug for Validator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Validator")
            .field("draft", &self.0.draft())
            .finish()
    }
}

fn dialect(root: &Value) -> Result<Draft, SchemaError> {
    let Some(uri) = root.get("$schema") else {
        return Ok(Draft::Draft202012);
    };
    let unknown = || {
        SchemaError::new(
            Kind::Dialect,
            format_args!("the schema is of an unknown dialect: {uri}"),
        )
    };
    let text = uri.as_str().ok_or_else(unknown)?.trim_end_matches('#');
    let rest = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"));
    match rest.and_then(|rest| rest.strip_prefix("json-schema.org/")) {
        Some("draft/2020-12/schema") => Ok(Draft::Draft202012),
        Some("draft/2019-09/schema") => Ok(Draft::Draft201909),
        Some("draft-07/schema") => Ok(Draft::Draft7),
        Some("draft-06/schema") => Ok(Draft::Draft6),
        Some("draft-04/schema") => Ok(Draft::Draft4),
        _ => Err(unknown()),
    }
}

/// The problems that one error tells of, each with its rank in the list: missing arguments, missing members of
/// arguments, the rest.
fn explain(error: ValidationError<'_>) -> Vec<(u8, ArgumentError)> {
    let path = text::locate(error.instance_path().into_iter().map(|segment| match segment {
        LocationSegment::Property(name) => Segment::Member(name),
        LocationSegment::Index(index) => Segment::Index(index),
    }));
    let below = |name: &str| {
        let mut path = path.clone();
        text::join(&mut path, name);
        path
    };
    match error.kind() {
        ValidationErrorKind::Required {
            property: Value::String(name),
        } => vec![(u8::from(!path.is_empty()), ArgumentError::missing(&below(name)))],
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            let names = unexpected.iter().take(MAX_PROBLEMS);
            names
                .map(|name| (2, ArgumentError::unknown(&below(name))))
                .collect()
        }
        _ => {
            // The plain text quotes the value, which may be the whole of the arguments.
            let mut reason = error.to_string();
            if reason.chars().nth(200).is_some() {
                reason = error.masked().to_string();
            }
            vec![(2, ArgumentError::invalid(&path, &reason))]
        }
    }
}
