use std::borrow::Cow;
use std::fmt;

use mcp_jsonrpc::RawJson;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::error::{Kind, SchemaError};

/// The members of one JSON object in their order, values as they came. A map would lose order and numbers.
pub(crate) struct Members<'a>(pub(crate) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Members<'a> {
    pub(crate) fn of(raw: &'a RawJson) -> Result<Self, SchemaError> {
        if !raw.is_object() {
            return Err(SchemaError::new(
                Kind::NotObject,
                "the schema is not a JSON object",
            ));
        }
        raw.parse()
            .map_err(|e| SchemaError::new(Kind::Invalid, format_args!("the schema is not readable: {e}")))
    }

    /// The last member of a name, which is the one that most readers take.
    pub(crate) fn find(&self, name: &str) -> Option<&'a RawValue> {
        let found = self.0.iter().rev().find(|(key, _)| key == name);
        found.map(|(_, value)| *value)
    }
}

#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((key, value)) = map.next_entry::<Key<'de>, &RawValue>()? {
                    members.push((key.0, value));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Read)
    }
}
