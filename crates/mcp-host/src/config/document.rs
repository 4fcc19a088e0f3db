//! JSON with comments as a tree that knows its places.

use std::path::Path;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::ParseErrorKind;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::diagnostic::{ConfigError, Place};

#[derive(Debug)]
pub(super) struct Node {
    pub(super) value: Value,
    pub(super) place: Place,
}

#[derive(Debug)]
pub(super) enum Value {
    Null,
    Bool(bool),
    /// As written.
    Number(String),
    String(String),
    Array(Vec<Node>),
    /// In order, with duplicates.
    Object(Vec<Member>),
}

#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) node: Node,
}

impl Node {
    pub(super) fn members(&self) -> Option<&[Member]> {
        match &self.value {
            Value::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The member of this name; the last of several.
    pub(super) fn member(&self, name: &str) -> Option<&Member> {
        self.members()?.iter().rev().find(|member| member.name == name)
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// What a string field accepts: text, and the JSON spelling of numbers and truth values.
    pub(super) fn scalar(&self) -> Option<String> {
        match &self.value {
            Value::String(text) | Value::Number(text) => Some(text.clone()),
            Value::Bool(value) => Some(value.to_string()),
            _ => None,
        }
    }

    pub(super) fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "null",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::String(_) => "text",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        }
    }
}

pub(super) fn read(text: &str, path: &Path) -> Result<Node, ConfigError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // Comments and trailing commas, as people write them; nothing else of the looser dialects, whose files no other
    // host would read.
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options).map_err(|error| {
        let place = Places::new(text).at(error.range().start);
        ConfigError::parse(path, place, words(error.kind()))
    })?;
    let places = Places::new(text);
    match parsed.value {
        Some(value) => Ok(convert(value, &places)),
        None => Err(ConfigError::parse(path, places.at(0), "the file is empty")),
    }
}

fn words(kind: &ParseErrorKind) -> String {
    match kind {
        ParseErrorKind::MultipleRootJsonValues => {
            "a second JSON value starts here; put all servers inside one \"mcpServers\" object".to_owned()
        }
        ParseErrorKind::ExpectedComma => "expected ',' or the end of the list or object".to_owned(),
        ParseErrorKind::ExpectedStringObjectProperty | ParseErrorKind::UnexpectedTokenInObject => {
            "expected a name in double quotes".to_owned()
        }
        other => {
            let text = other.to_string();
            let mut chars = text.chars();
            chars
                .next()
                .map(|first| first.to_lowercase().chain(chars).collect())
                .unwrap_or_default()
        }
    }
}

/// The parser bounds the depth, so the recursion here is bounded too.
fn convert(value: ast::Value<'_>, places: &Places<'_>) -> Node {
    let place = places.at(value.range().start);
    let value = match value {
        ast::Value::NullKeyword(_) => Value::Null,
        ast::Value::BooleanLit(literal) => Value::Bool(literal.value),
        ast::Value::NumberLit(literal) => Value::Number(literal.value.to_owned()),
        ast::Value::StringLit(literal) => Value::String(literal.value.into_owned()),
        ast::Value::Array(array) => Value::Array(
            array
                .elements
                .into_iter()
                .map(|element| convert(element, places))
                .collect(),
        ),
        ast::Value::Object(object) => Value::Object(
            object
                .properties
                .into_iter()
                .map(|property| Member {
                    place: places.at(property.range.start),
                    name: property.name.into_string(),
                    node: convert(property.value, places),
                })
                .collect(),
        ),
    };
    Node { value, place }
}

/// From byte offsets to lines and columns.
struct Places<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Places<'a> {
    fn new(text: &'a str) -> Self {
        let starts = std::iter::once(0)
            .chain(text.match_indices('\n').map(|(at, _)| at + 1))
            .collect();
        Self { text, starts }
    }

    fn at(&self, offset: usize) -> Place {
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let start = self.starts[line - 1];
        let column = self
            .text
            .get(start..offset)
            .map_or(0, |before| before.chars().count())
            + 1;
        Place { line, column }
    }
}
