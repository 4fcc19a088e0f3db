use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The id of a request: a string or a 64-bit integer, never null.
///
/// `1` and `"1"` are different ids. An id is echoed in the type and value in which it came
/// (JSON-RPC 2.0 section 4; MCP `RequestId`).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RequestId {
    /// An integer id; never allocates.
    Number(i64),
    /// A string id.
    String(Box<str>),
}

impl RequestId {
    /// Whether `answer` answers this pending id: equal, or (for peers that turn numbers into strings) the
    /// decimal string of a pending number. Never the other way round.
    pub fn is_answered_by(&self, answer: &RequestId) -> bool {
        match (self, answer) {
            (RequestId::Number(n), RequestId::String(s)) => s.parse() == Ok(*n) && **s == *n.to_string(),
            _ => self == answer,
        }
    }
}

impl From<i64> for RequestId {
    fn from(id: i64) -> Self {
        RequestId::Number(id)
    }
}

impl From<&str> for RequestId {
    fn from(id: &str) -> Self {
        RequestId::String(id.into())
    }
}

impl From<String> for RequestId {
    fn from(id: String) -> Self {
        RequestId::String(id.into())
    }
}

/// As in a log: numbers plain, strings quoted.
impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RequestId::Number(n) => write!(f, "{n}"),
            RequestId::String(s) => write!(f, "{s:?}"),
        }
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            RequestId::Number(n) => serializer.serialize_i64(*n),
            RequestId::String(s) => serializer.serialize_str(s),
        }
    }
}

impl<'de> Deserialize<'de> for RequestId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = RequestId;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a 64-bit integer")
            }
            fn visit_i64<E: de::Error>(self, n: i64) -> Result<RequestId, E> {
                Ok(RequestId::Number(n))
            }
            fn visit_u64<E: de::Error>(self, n: u64) -> Result<RequestId, E> {
                i64::try_from(n)
                    .map(RequestId::Number)
                    .map_err(|_| E::custom("integer out of range"))
            }
            fn visit_str<E: de::Error>(self, s: &str) -> Result<RequestId, E> {
                Ok(RequestId::String(s.into()))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::RequestId;

    #[test]
    fn a_decimal_string_answers_a_pending_number_but_not_the_other_way_round() {
        assert!(RequestId::from(0).is_answered_by(&"0".into()));
        assert!(!RequestId::from(0).is_answered_by(&"00".into()));
        assert!(!RequestId::from("0").is_answered_by(&0.into()));
        assert!(RequestId::from(-5).is_answered_by(&(-5).into()));
    }
}
