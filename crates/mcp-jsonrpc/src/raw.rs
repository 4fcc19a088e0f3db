use std::fmt;

use bytes::Bytes;
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::error::{ParseError, ScanError};
use crate::limits::Limits;
use crate::scan;

/// One syntactically valid JSON value, kept as the bytes in which it came.
///
/// Usually a slice of the frame it arrived in, so a clone costs a reference count and keeps the whole frame
/// alive; [`RawJson::detach`] copies it out. Surrounding white space is never part of it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RawJson(Bytes);

/// What sort of JSON value a [`RawJson`] holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum JsonKind {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

impl RawJson {
    /// Takes bytes that hold one JSON value, after checking them.
    ///
    /// # Errors
    /// When the bytes are not exactly one JSON value in UTF-8, or break `limits`.
    pub fn from_bytes(bytes: Bytes, limits: &Limits) -> Result<Self, ScanError> {
        scan::value(bytes, limits)
    }

    /// Takes text that holds one JSON value, under the default [`Limits`].
    ///
    /// # Errors
    /// As [`RawJson::from_bytes`].
    pub fn from_text(text: impl Into<String>) -> Result<Self, ScanError> {
        Self::from_bytes(Bytes::from(text.into()), &Limits::default())
    }

    /// Encodes a value.
    ///
    /// # Errors
    /// When the value's `Serialize` fails, or a map has keys that are not strings.
    pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Self, ParseError> {
        serde_json::to_vec(value)
            .map(|bytes| Self(bytes.into()))
            .map_err(ParseError::new)
    }

    /// Bytes that are known to hold one JSON value: written by serde_json or found by the scanner.
    pub(crate) fn trusted(bytes: Bytes) -> Self {
        Self(bytes)
    }

    /// `{}`.
    pub const fn empty_object() -> Self {
        Self(Bytes::from_static(b"{}"))
    }

    /// `null`.
    pub const fn null() -> Self {
        Self(Bytes::from_static(b"null"))
    }

    /// Parses into a type, which may borrow from this value.
    ///
    /// # Errors
    /// When the value has not the shape of `T`.
    pub fn parse<'a, T: Deserialize<'a>>(&'a self) -> Result<T, ParseError> {
        serde_json::from_slice(&self.0).map_err(ParseError::new)
    }

    /// The JSON text.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The JSON text. Walks it once, to show that it is UTF-8.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// The JSON text as shared bytes.
    pub fn into_bytes(self) -> Bytes {
        self.0
    }

    /// Copies the value out of the frame that it is a slice of, so that the frame can be freed.
    #[must_use]
    pub fn detach(self) -> Self {
        Self(Bytes::copy_from_slice(&self.0))
    }

    /// What sort of value this is, from its first byte.
    pub fn kind(&self) -> JsonKind {
        match self.0.first() {
            Some(b'{') => JsonKind::Object,
            Some(b'[') => JsonKind::Array,
            Some(b'"') => JsonKind::String,
            Some(b't' | b'f') => JsonKind::Bool,
            Some(b'n') => JsonKind::Null,
            _ => JsonKind::Number,
        }
    }

    /// Whether this is an object.
    pub fn is_object(&self) -> bool {
        self.kind() == JsonKind::Object
    }

    pub(crate) fn is_empty_array(&self) -> bool {
        let inner = self.0.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]"));
        inner.is_some_and(|inner| inner.trim_ascii().is_empty())
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        self.kind() == JsonKind::Null
    }
}

/// The JSON text, up to 200 bytes of it.
impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.as_str();
        match text.char_indices().nth(200) {
            Some((cut, _)) => write!(f, "{}... ({} bytes)", &text[..cut], text.len()),
            None => f.write_str(text),
        }
    }
}

impl fmt::Display for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Written as it is by serde_json. Costs one more walk over the bytes, as serde_json takes raw text from nobody
/// unchecked; the functions of [`encode`](crate::encode) take it without.
impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::from_slice::<&RawValue>(&self.0)
            .map_err(S::Error::custom)?
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Box::<RawValue>::deserialize(deserializer).map_err(D::Error::custom)?;
        let text: Box<str> = value.into();
        Ok(Self(Bytes::from(String::from(text))))
    }
}
