//! The one way in which entities are declared: members in wire order, each with how it is read and written.
//!
//! | Kind | Field type | Absent or null reads as | Written |
//! |---|---|---|---|
//! | `required` | the type | error | always; argument of `new` |
//! | `expected` | the type | its default | always; argument of `new` |
//! | `always` | the type | its default | always; not an argument of `new` |
//! | `optional` | `Option` | `None` | when set |
//! | `list` | `Vec` | empty | when not empty |
//! | `flag` | `bool` | `false` | when true |
//! | `raw` | `Option<RawJson>` | `None`, but a null stays a null | when set |
//! | `object` | [`JsonObject`](crate::JsonObject) | empty | when not empty |
//! | `capability` | `Option` | `None`, as is all but an object | when set |
//! | `switch` | `bool` | `false`, as is all but `true` | when true |
//! | `cached` | `Option` | `None` | when set, with its default in a stateless revision |
//!
//! Which revisions know a member is not said here but in [`table`](crate::wire::table).

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use mcp_jsonrpc::RawJson;
use serde::de::DeserializeOwned;
use serde::de::value::StrDeserializer;
use serde::{Deserialize, Deserializer, de};

use crate::value::JsonObject;

/// A member name, borrowed from the input when it has no escapes.
pub(crate) struct Key<'a>(pub(crate) Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Key<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a member name")
            }
            fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(name)))
            }
            fn visit_str<E>(self, name: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(name.into())))
            }
            fn visit_string<E>(self, name: String) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(name)))
            }
        }
        deserializer.deserialize_str(Visitor)
    }
}

/// What is read from the members of an object.
pub(crate) trait FromMembers: Sized {
    /// Reads the members that `map` still has.
    fn from_members<'de, A: de::MapAccess<'de>>(map: A) -> Result<Self, A::Error>;
}

/// `Deserialize` of an entity.
pub(crate) fn deserialize<'de, T: FromMembers, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Visitor<T>(PhantomData<T>);
    impl<'de, T: FromMembers> de::Visitor<'de> for Visitor<T> {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::from_members(map)
        }
    }
    deserializer.deserialize_map(Visitor(PhantomData))
}

/// Reads a capability: an object means that it is there, anything else that it is not (P060).
pub(crate) fn capability<'de, T: DeserializeOwned, A: de::MapAccess<'de>>(
    map: &mut A,
) -> Result<Option<T>, A::Error> {
    let raw: RawJson = map.next_value()?;
    Ok(raw.is_object().then(|| raw.parse().ok()).flatten())
}

/// Reads a flag: only `true` sets it.
pub(crate) fn switch<'de, A: de::MapAccess<'de>>(map: &mut A) -> Result<bool, A::Error> {
    Ok(map.next_value::<RawJson>()?.as_bytes() == b"true")
}

/// Replays members that had to be read before it was known what they belong to.
pub(crate) struct Replay<E> {
    members: <JsonObject as IntoIterator>::IntoIter,
    value: Option<RawJson>,
    error: PhantomData<E>,
}

impl<E> Replay<E> {
    pub(crate) fn new(members: JsonObject) -> Self {
        Self {
            members: members.into_iter(),
            value: None,
            error: PhantomData,
        }
    }
}

impl<'de, E: de::Error> de::MapAccess<'de> for Replay<E> {
    type Error = E;

    fn next_key_seed<K: de::DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, E> {
        let Some((key, value)) = self.members.next() else {
            return Ok(None);
        };
        self.value = Some(value);
        seed.deserialize(StrDeserializer::new(&key)).map(Some)
    }

    fn next_value_seed<V: de::DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, E> {
        let value = self
            .value
            .take()
            .ok_or_else(|| E::custom("a value without its name"))?;
        let bytes = value.into_bytes();
        // A reader, not a slice: what is read must not borrow from a buffer that ends here.
        let mut deserializer = serde_json::Deserializer::from_reader(&*bytes);
        seed.deserialize(&mut deserializer).map_err(E::custom)
    }
}

/// Declares an entity. See the module text for the kinds.
macro_rules! entity {
    (
        $(#[$attribute:meta])*
        $name:ident $( [ $($head:tt)* ] )? {
            $(
                $(#[$doc:meta])*
                $kind:ident $field:ident $(/ $setter:ident)? : $ty:ty = $key:literal $(if $shown:path)?
            ),* $(,)?
        }
        $(settle $settle:path;)?
        $(tail $tail:path;)?
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub struct $name {
            $( $(#[$doc])* pub $field: $crate::entity::entity_field!($kind $ty), )*
            /// Members that are in no schema, as they came.
            pub extra: $crate::value::JsonObject,
        }

        impl $name {
            $crate::entity::entity_new! { [] [] $( $kind $field: $ty, )* }
            $( $( $crate::entity::entity_setter! { $kind $field $setter $ty } )? )*
        }

        impl $crate::entity::FromMembers for $name {
            fn from_members<'de, A: ::serde::de::MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
                $( let mut $field: Option<$crate::entity::entity_field!($kind $ty)> = None; )*
                let mut extra = $crate::value::JsonObject::new();
                while let Some($crate::entity::Key(key)) = map.next_key()? {
                    match &*key {
                        $( $key => $field = Some($crate::entity::entity_read!($kind map $ty)), )*
                        $( $crate::entity::entity_head!(key $($head)*) => {
                            map.next_value::<::serde::de::IgnoredAny>()?;
                        } )?
                        _ => extra.push(key.into_owned(), map.next_value()?),
                    }
                }
                extra.settle();
                #[allow(unused_mut)]
                let mut this = Self { $( $field: $crate::entity::entity_finish!($kind $field $key A), )* extra };
                $( $settle(&mut this); )?
                Ok(this)
            }
        }

        impl $crate::wire::Wire for $name {
            fn write(&self, out: &mut $crate::wire::Writer<'_>) {
                #[allow(dead_code)]
                const ENTITY: &str = stringify!($name);
                let mut members = out.object();
                $( $crate::entity::entity_head!(write members $($head)*); )?
                $(
                    if true $( && $shown(self, members.writer()) )? {
                        const KNOWN: $crate::Revisions = $crate::wire::table::known(stringify!($name), $key);
                        $crate::entity::entity_write!($kind members $key KNOWN self.$field);
                    }
                )*
                members.extra(&self.extra);
                $( $tail(self, &mut members); )?
                members.end();
            }
        }

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::wire::serialize(self, serializer)
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::entity::deserialize(deserializer)
            }
        }
    };
}

macro_rules! entity_field {
    (required $ty:ty) => { $ty };
    (expected $ty:ty) => { $ty };
    (always $ty:ty) => { $ty };
    (optional $ty:ty) => { Option<$ty> };
    (capability $ty:ty) => { Option<$ty> };
    (cached $ty:ty) => { Option<$ty> };
    (raw $ty:ty) => { Option<$ty> };
    (list $ty:ty) => { Vec<$ty> };
    (flag $ty:ty) => { $ty };
    (switch $ty:ty) => { $ty };
    (object $ty:ty) => { $ty };
}

macro_rules! entity_new {
    ([$($arg:tt)*] [$($init:tt)*] required $field:ident: $ty:ty, $($rest:tt)*) => {
        $crate::entity::entity_new! { [$($arg)* $field: impl Into<$ty>,] [$($init)* $field: $field.into(),] $($rest)* }
    };
    ([$($arg:tt)*] [$($init:tt)*] expected $field:ident: $ty:ty, $($rest:tt)*) => {
        $crate::entity::entity_new! { [$($arg)* $field: impl Into<$ty>,] [$($init)* $field: $field.into(),] $($rest)* }
    };
    ([$($arg:tt)*] [$($init:tt)*] $kind:ident $field:ident: $ty:ty, $($rest:tt)*) => {
        $crate::entity::entity_new! { [$($arg)*] [$($init)* $field: Default::default(),] $($rest)* }
    };
    ([$($arg:tt)*] [$($init:tt)*]) => {
        /// With what the schema demands, and nothing else.
        pub fn new($($arg)*) -> Self {
            Self { $($init)* extra: $crate::value::JsonObject::new() }
        }
    };
}

macro_rules! entity_setter {
    (optional $field:ident $setter:ident $ty:ty) => {
        #[doc = concat!("Sets [`", stringify!($field), "`](Self::", stringify!($field), ").")]
        #[must_use]
        pub fn $setter(mut self, $field: impl Into<$ty>) -> Self {
            self.$field = Some($field.into());
            self
        }
    };
    (capability $field:ident $setter:ident $ty:ty) => {
        $crate::entity::entity_setter! { optional $field $setter $ty }
    };
    (raw $field:ident $setter:ident $ty:ty) => {
        $crate::entity::entity_setter! { optional $field $setter $ty }
    };
    (cached $field:ident $setter:ident $ty:ty) => {
        $crate::entity::entity_setter! { optional $field $setter $ty }
    };
    (list $field:ident $setter:ident $ty:ty) => {
        #[doc = concat!("Sets [`", stringify!($field), "`](Self::", stringify!($field), ").")]
        #[must_use]
        pub fn $setter(mut self, $field: impl IntoIterator<Item = impl Into<$ty>>) -> Self {
            self.$field = $field.into_iter().map(Into::into).collect();
            self
        }
    };
    ($kind:ident $field:ident $setter:ident $ty:ty) => {
        #[doc = concat!("Sets [`", stringify!($field), "`](Self::", stringify!($field), ").")]
        #[must_use]
        pub fn $setter(mut self, $field: impl Into<$ty>) -> Self {
            self.$field = $field.into();
            self
        }
    };
}

macro_rules! entity_read {
    (required $map:ident $ty:ty) => {
        $map.next_value::<$ty>()?
    };
    (raw $map:ident $ty:ty) => {
        Some($map.next_value::<$ty>()?)
    };
    (optional $map:ident $ty:ty) => {
        $map.next_value::<Option<$ty>>()?
    };
    (cached $map:ident $ty:ty) => {
        $map.next_value::<Option<$ty>>()?
    };
    (list $map:ident $ty:ty) => {
        $map.next_value::<Option<Vec<$ty>>>()?.unwrap_or_default()
    };
    (capability $map:ident $ty:ty) => {
        $crate::entity::capability(&mut $map)?
    };
    (switch $map:ident $ty:ty) => {
        $crate::entity::switch(&mut $map)?
    };
    ($kind:ident $map:ident $ty:ty) => {
        $map.next_value::<Option<$ty>>()?.unwrap_or_default()
    };
}

macro_rules! entity_finish {
    (required $field:ident $key:literal $map:ident) => {
        $field.ok_or_else(|| <$map::Error as ::serde::de::Error>::missing_field($key))?
    };
    ($kind:ident $field:ident $key:literal $map:ident) => {
        $field.unwrap_or_default()
    };
}

macro_rules! entity_write {
    (required $members:ident $key:literal $known:ident $value:expr) => {
        $members.member($key, $known, &$value)
    };
    (expected $members:ident $key:literal $known:ident $value:expr) => {
        $members.member($key, $known, &$value)
    };
    (always $members:ident $key:literal $known:ident $value:expr) => {
        $members.member($key, $known, &$value)
    };
    (flag $members:ident $key:literal $known:ident $value:expr) => {
        if $value {
            $members.member($key, $known, &true)
        }
    };
    (switch $members:ident $key:literal $known:ident $value:expr) => {
        if $value {
            $members.member($key, $known, &true)
        }
    };
    (list $members:ident $key:literal $known:ident $value:expr) => {
        if !$value.is_empty() {
            $members.member($key, $known, &$value)
        }
    };
    (object $members:ident $key:literal $known:ident $value:expr) => {
        if !$value.is_empty() {
            $members.member($key, $known, &$value)
        }
    };
    (cached $members:ident $key:literal $known:ident $value:expr) => {
        match &$value {
            Some(value) => $members.member($key, $known, value),
            None if $members.writer().is_stateless() => {
                // The schema demands it here; the default is what may be done with an uncached result.
                $members.member($key, $known, &$crate::entity::default_of(&$value))
            }
            None => {}
        }
    };
    ($kind:ident $members:ident $key:literal $known:ident $value:expr) => {
        if let Some(value) = &$value {
            $members.member($key, $known, value)
        }
    };
}

/// The constant member that comes first: `result` for results that have `resultType` in stateless revisions,
/// `tag "key" "word"` for entities that name their own kind.
macro_rules! entity_head {
    (key result) => {
        "resultType"
    };
    (key tag $key:literal $word:literal) => {
        $key
    };
    (write $members:ident result) => {
        if $members.writer().is_stateless() {
            $members.member("resultType", $crate::Revisions::ALL, "complete");
        }
    };
    (write $members:ident tag $key:literal $word:literal) => {
        $members.member($key, $crate::wire::table::known(ENTITY, $key), $word)
    };
}

pub(crate) fn default_of<T: Default>(_: &Option<T>) -> T {
    T::default()
}

/// Declares a closed set of words.
macro_rules! words {
    ($(#[$attribute:meta])* $name:ident { $( $(#[$doc:meta])* $variant:ident = $word:literal ),* $(,)? }) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, ::serde::Serialize, ::serde::Deserialize)]
        #[non_exhaustive]
        pub enum $name { $( $(#[$doc])* #[serde(rename = $word)] $variant, )* }

        impl $name {
            /// The word on the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $( $name::$variant => $word, )* }
            }

            /// The value of a word.
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $( $word => Some($name::$variant), )* _ => None }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

/// Declares a union of entities told apart by one member. What it does not know, it keeps as it came.
macro_rules! tagged {
    (
        $(#[$attribute:meta])*
        $name:ident by $tag:literal $(else $default:ident)? {
            $( $(#[$doc:meta])* $variant:ident($ty:ty) = $word:literal ),* $(,)?
        }
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum $name {
            $( $(#[$doc])* $variant($ty), )*
            /// A kind that no known revision has, as it came.
            Unknown(::mcp_jsonrpc::RawJson),
        }

        $(
            impl From<$ty> for $name {
                fn from(value: $ty) -> Self {
                    $name::$variant(value)
                }
            }
        )*

        impl $name {
            #[allow(dead_code)]
            pub(crate) fn write_plain(&self, out: &mut $crate::wire::Writer<'_>) {
                match self {
                    $( $name::$variant(value) => $crate::wire::Wire::write(value, out), )*
                    $name::Unknown(raw) => out.raw(raw),
                }
            }
        }

        impl $crate::entity::FromMembers for $name {
            fn from_members<'de, A: ::serde::de::MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
                use ::serde::de::Error as _;
                let mut members = $crate::value::JsonObject::new();
                // Nearly every peer writes the tag first: then nothing is gathered.
                if let Some($crate::entity::Key(key)) = map.next_key()? {
                    if key == $tag {
                        let $crate::entity::Key(word) = map.next_value()?;
                        match &*word {
                            $( $word => return $crate::entity::FromMembers::from_members(map).map($name::$variant), )*
                            other => members.push(
                                $tag.into(),
                                ::mcp_jsonrpc::RawJson::encode(other).map_err(A::Error::custom)?,
                            ),
                        }
                    } else {
                        members.push(key.into_owned(), map.next_value()?);
                    }
                }
                while let Some($crate::entity::Key(key)) = map.next_key()? {
                    members.push(key.into_owned(), map.next_value()?);
                }
                members.settle();
                let word = members.str($tag);
                match word.as_deref() {
                    $( Some($word) => {
                        let replay = $crate::entity::Replay::<A::Error>::new(members);
                        $crate::entity::FromMembers::from_members(replay).map($name::$variant)
                    } )*
                    $( None if !members.contains_key($tag) => {
                        let replay = $crate::entity::Replay::<A::Error>::new(members);
                        $crate::entity::FromMembers::from_members(replay).map($name::$default)
                    } )?
                    _ => ::mcp_jsonrpc::RawJson::encode(&members)
                        .map($name::Unknown)
                        .map_err(A::Error::custom),
                }
            }
        }

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::wire::serialize(self, serializer)
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::entity::deserialize(deserializer)
            }
        }
    };
}

/// A set of words that looks the same in every revision.
macro_rules! plain_words {
    ($($name:ident),*) => { $(
        impl $crate::wire::Wire for $name {
            fn write(&self, out: &mut $crate::wire::Writer<'_>) {
                out.string(self.as_str());
            }
        }
    )* };
}

pub(crate) use {
    entity, entity_field, entity_finish, entity_head, entity_new, entity_read, entity_setter, entity_write,
    plain_words, tagged, words,
};
