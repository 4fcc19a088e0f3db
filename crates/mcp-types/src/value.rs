//! Small values that several entities share: ordered maps, numbers, progress tokens.

use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;

use mcp_jsonrpc::RawJson;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::entity::Key;
use crate::wire::{Wire, Writer};

/// A JSON object that keeps the order of its members. Meant for few members: a look-up walks them.
///
/// Of members with the same name, the last one read stays.
#[derive(Clone, PartialEq)]
pub struct Map<V>(Vec<(String, V)>);

/// An object whose members nobody here interprets, each value as it came.
pub type JsonObject = Map<RawJson>;

/// The `_meta` of a request, notification, result or entity.
pub type Meta = JsonObject;

impl<V> Map<V> {
    /// No members.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&V> {
        self.0
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value)
    }

    /// Whether `key` is a member.
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Sets a member: in place when it exists, else at the end. Gives back the old value.
    pub fn insert(&mut self, key: impl Into<String>, value: V) -> Option<V> {
        let key = key.into();
        if let Some((_, old)) = self.0.iter_mut().find(|(name, _)| *name == key) {
            return Some(std::mem::replace(old, value));
        }
        self.0.push((key, value));
        None
    }

    /// Takes a member out; the others keep their order.
    pub fn remove(&mut self, key: &str) -> Option<V> {
        let at = self.0.iter().position(|(name, _)| name == key)?;
        Some(self.0.remove(at).1)
    }

    /// The members in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &V)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// The names in order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(key, _)| key.as_str())
    }

    /// How many members.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a member just read. Names are made unique by [`Map::settle`], once for all: doing it here would
    /// let a peer cause quadratic work.
    pub(crate) fn push(&mut self, key: String, value: V) {
        self.0.push((key, value));
    }

    /// Drops all but the last of members with the same name.
    pub(crate) fn settle(&mut self) {
        if self.0.len() < 2 {
            return;
        }
        let mut seen = HashSet::with_capacity(self.0.len());
        let keep: Vec<bool> = {
            let mut keep: Vec<bool> = self
                .0
                .iter()
                .rev()
                .map(|(key, _)| seen.insert(key.as_str()))
                .collect();
            keep.reverse();
            keep
        };
        let mut keep = keep.into_iter();
        self.0.retain(|_| keep.next().unwrap_or(true));
    }
}

impl Map<RawJson> {
    /// Sets a member to the encoding of `value`.
    ///
    /// # Errors
    /// When `value` cannot be encoded.
    pub fn insert_value<T: Serialize + ?Sized>(
        &mut self,
        key: impl Into<String>,
        value: &T,
    ) -> Result<(), mcp_jsonrpc::ParseError> {
        self.insert(key, RawJson::encode(value)?);
        Ok(())
    }

    /// The value of `key` as a string, when it is one.
    pub fn str(&self, key: &str) -> Option<String> {
        self.get(key)?.parse().ok()
    }
}

impl<V> Default for Map<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V: fmt::Debug> fmt::Debug for Map<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<K: Into<String>, V> FromIterator<(K, V)> for Map<V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(members: I) -> Self {
        let mut map = Self(
            members
                .into_iter()
                .map(|(key, value)| (key.into(), value))
                .collect(),
        );
        map.settle();
        map
    }
}

impl<K: Into<String>, V, const N: usize> From<[(K, V); N]> for Map<V> {
    fn from(members: [(K, V); N]) -> Self {
        members.into_iter().collect()
    }
}

impl<V> IntoIterator for Map<V> {
    type Item = (String, V);
    type IntoIter = std::vec::IntoIter<(String, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<V: Wire> Wire for Map<V> {
    fn write(&self, out: &mut Writer<'_>) {
        let mut members = out.object();
        for (key, value) in self.iter() {
            members.open(key, value);
        }
        members.end();
    }
}

impl<V: Wire> Serialize for Map<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        crate::wire::serialize(self, serializer)
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Map<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor<V>(PhantomData<V>);
        impl<'de, V: Deserialize<'de>> de::Visitor<'de> for Visitor<V> {
            type Value = Map<V>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: de::MapAccess<'de>>(self, mut access: A) -> Result<Map<V>, A::Error> {
                let mut map = Map::new();
                while let Some(Key(key)) = access.next_key()? {
                    map.push(key.into_owned(), access.next_value()?);
                }
                map.settle();
                Ok(map)
            }
        }
        deserializer.deserialize_map(Visitor(PhantomData))
    }
}

/// A JSON number. Whole ones print without a fraction: `1`, not `1.0`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Number(f64);

impl Number {
    /// The value.
    pub const fn as_f64(self) -> f64 {
        self.0
    }

    /// The value, when it is whole and exactly representable.
    pub fn as_i64(self) -> Option<i64> {
        // Above 2^53 a double no longer tells neighbouring integers apart.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        (self.0.fract() == 0.0 && self.0.abs() <= EXACT).then_some(self.0 as i64)
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self(value)
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self(value as f64)
    }
}

impl From<i32> for Number {
    fn from(value: i32) -> Self {
        Self(value.into())
    }
}

impl From<u32> for Number {
    fn from(value: u32) -> Self {
        Self(value.into())
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_i64() {
            Some(whole) => write!(f, "{whole}"),
            None => write!(f, "{}", self.0),
        }
    }
}

impl Wire for Number {
    fn write(&self, out: &mut Writer<'_>) {
        match self.as_i64() {
            Some(whole) => whole.write(out),
            None if self.0.is_finite() => out.plain(&self.0),
            None => out.refuse("a number that is not finite"),
        }
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.as_i64() {
            Some(whole) => serializer.serialize_i64(whole),
            None => serializer.serialize_f64(self.0),
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        f64::deserialize(deserializer).map(Self)
    }
}

/// What ties progress notices to their request: chosen by the requester, echoed in the type in which it came.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ProgressToken {
    /// An integer.
    Number(i64),
    /// A string.
    String(Box<str>),
}

impl From<i64> for ProgressToken {
    fn from(token: i64) -> Self {
        ProgressToken::Number(token)
    }
}

impl From<&str> for ProgressToken {
    fn from(token: &str) -> Self {
        ProgressToken::String(token.into())
    }
}

impl From<String> for ProgressToken {
    fn from(token: String) -> Self {
        ProgressToken::String(token.into())
    }
}

impl Wire for ProgressToken {
    fn write(&self, out: &mut Writer<'_>) {
        match self {
            ProgressToken::Number(n) => n.write(out),
            ProgressToken::String(s) => out.string(s),
        }
    }
}

impl Serialize for ProgressToken {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            ProgressToken::Number(n) => serializer.serialize_i64(*n),
            ProgressToken::String(s) => serializer.serialize_str(s),
        }
    }
}

impl<'de> Deserialize<'de> for ProgressToken {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = ProgressToken;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a 64-bit integer")
            }
            fn visit_i64<E: de::Error>(self, n: i64) -> Result<ProgressToken, E> {
                Ok(ProgressToken::Number(n))
            }
            fn visit_u64<E: de::Error>(self, n: u64) -> Result<ProgressToken, E> {
                i64::try_from(n)
                    .map(ProgressToken::Number)
                    .map_err(|_| E::custom("integer out of range"))
            }
            fn visit_str<E: de::Error>(self, s: &str) -> Result<ProgressToken, E> {
                Ok(ProgressToken::String(s.into()))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// Milliseconds. Reads anything that is no usable duration (negative, not a number) as zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Millis(pub u64);

impl From<u64> for Millis {
    fn from(milliseconds: u64) -> Self {
        Self(milliseconds)
    }
}

impl Wire for Millis {
    fn write(&self, out: &mut Writer<'_>) {
        self.0.write(out);
    }
}

impl Serialize for Millis {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0)
    }
}

impl<'de> Deserialize<'de> for Millis {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = RawJson::deserialize(deserializer)?;
        // A float cast saturates: negative numbers become 0, huge ones the maximum.
        Ok(Self(raw.parse::<f64>().map_or(0, |value| value as u64)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_print_without_a_fraction() {
        for (value, text) in [
            (1.0, "1"),
            (0.5, "0.5"),
            (-3.0, "-3"),
            (1e300, "1e+300"),
            (0.0, "0"),
        ] {
            assert_eq!(serde_json::to_string(&Number::from(value)).unwrap(), text);
        }
        assert_eq!(serde_json::from_str::<Number>("7").unwrap(), Number::from(7));
    }

    #[test]
    fn of_two_members_with_one_name_the_last_stays() {
        let map: JsonObject = serde_json::from_str(r#"{"a":1,"b":2,"a":3}"#).unwrap();
        assert_eq!(serde_json::to_string(&map).unwrap(), r#"{"b":2,"a":3}"#);
    }

    #[test]
    fn insert_keeps_the_place_of_a_member() {
        let mut map = Map::from([("a", 1u64), ("b", 2)]);
        assert_eq!(map.insert("a", 5), Some(1));
        assert_eq!(map.insert("c", 6), None);
        assert_eq!(serde_json::to_string(&map).unwrap(), r#"{"a":5,"b":2,"c":6}"#);
        assert_eq!(map.remove("b"), Some(2));
        assert_eq!(map.keys().collect::<Vec<_>>(), ["a", "c"]);
    }

    #[test]
    fn a_duration_that_makes_no_sense_is_zero() {
        for text in ["-5", "\"soon\"", "{}", "null"] {
            assert_eq!(serde_json::from_str::<Millis>(text).unwrap(), Millis(0));
        }
        assert_eq!(serde_json::from_str::<Millis>("1500.0").unwrap(), Millis(1500));
    }
}
