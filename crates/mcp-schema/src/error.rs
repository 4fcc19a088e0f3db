use std::fmt;

use crate::text;

/// A schema that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct SchemaError {
    kind: Kind,
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Invalid,
    NotObject,
    Dialect,
    RemoteReference,
    TooLarge,
    Header,
}

impl SchemaError {
    pub(crate) fn new(kind: Kind, text: impl fmt::Display) -> Self {
        Self {
            kind,
            text: text::cut(&text.to_string(), 500),
        }
    }

    /// Whether the schema is of a dialect that is not known here (2025-11-25: basic, JSON Schema usage).
    pub fn is_unknown_dialect(&self) -> bool {
        self.kind == Kind::Dialect
    }

    /// Whether the schema needs another document, which is never loaded.
    pub fn is_remote_reference(&self) -> bool {
        self.kind == Kind::RemoteReference
    }

    /// Whether the schema is over one of the [`SchemaLimits`](crate::SchemaLimits), or refers to itself without end.
    pub fn is_over_limit(&self) -> bool {
        self.kind == Kind::TooLarge
    }

    /// Whether the schema does not describe an object, as the input of a tool must.
    pub fn is_not_object(&self) -> bool {
        self.kind == Kind::NotObject
    }

    /// Whether an `x-mcp-header` annotation breaks the rules (2026-07-28: server/tools).
    pub fn is_header(&self) -> bool {
        self.kind == Kind::Header
    }
}

/// Arguments that do not fit. The text is for the model that sent them: it names the argument.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct ArgumentError {
    text: String,
    missing: bool,
}

impl ArgumentError {
    pub(crate) fn missing(name: &str) -> Self {
        Self {
            text: format!("Missing argument: {}", text::cut(name, 200)),
            missing: true,
        }
    }

    pub(crate) fn unknown(name: &str) -> Self {
        Self::other(format!("Unknown argument: {}", text::cut(name, 200)))
    }

    /// `path` is empty for the arguments as a whole.
    pub(crate) fn invalid(path: &str, reason: &str) -> Self {
        let reason = text::cut(reason, 300);
        Self::other(match path {
            "" => format!("Invalid arguments: {reason}"),
            path => format!("Invalid argument {}: {reason}", text::cut(path, 200)),
        })
    }

    pub(crate) fn other(text: String) -> Self {
        Self { text, missing: false }
    }

    #[cfg(feature = "validate")]
    pub(crate) fn followed_by(mut self, others: impl Iterator<Item = Self>, more: bool) -> Self {
        for other in others {
            self.text.push_str("; ");
            self.text.push_str(&other.text);
        }
        if more {
            self.text.push_str("; and more");
        }
        self
    }

    /// Whether an argument is missing, and nothing worse was found before that.
    pub fn is_missing(&self) -> bool {
        self.missing
    }

    /// The text, which an error result of the tool shows.
    pub fn into_text(self) -> String {
        self.text
    }
}
