//! Asks a `Deserialize` implementation what it wants, without having a value for it.
//!
//! serde names the fields of a struct in their declared order, and says for each value whether it wants a string,
//! an integer of 32 bits and so on. A schema says none of that reliably: its map of properties is sorted, and a
//! hand-written schema may differ from the type. So a deserializer that holds no data walks to one place in the
//! type, notes what is asked for there and stops with an error. No `T` is ever made.

use std::cell::Cell;

use serde::de::value::{Error, StrDeserializer};
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

/// What a type wants at one place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Hint {
    Bool,
    /// The least and the greatest value.
    Int(i128, i128),
    Float,
    Char,
    Str,
    Option,
    Unit,
    Seq,
    Tuple(usize),
    Map,
    /// Names in declared order, aliases included.
    Struct(&'static [&'static str]),
    Enum(&'static [&'static str]),
    /// Anything, or something that has no counterpart in JSON.
    Other,
}

/// One step from a value into a part of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Step {
    Some,
    Item,
    Value,
    Field(&'static str),
}

/// What `T` wants at the end of `path`; [`Hint::Other`] if the path does not lead anywhere.
pub(crate) fn look<T: DeserializeOwned>(path: &[Step]) -> Hint {
    let found = Cell::new(Hint::Other);
    // Always an error: a probe has no values.
    let _ = T::deserialize(Probe { path, found: &found });
    found.get()
}

#[derive(Clone, Copy)]
struct Probe<'a> {
    path: &'a [Step],
    found: &'a Cell<Hint>,
}

impl Probe<'_> {
    fn stop<V>(self, hint: Hint) -> Result<V, Error> {
        if self.path.is_empty() {
            self.found.set(hint);
        }
        Err(Error::custom("only looking"))
    }

    /// The probe for the rest of the path, if the path goes on with `step`.
    fn after(self, step: Step) -> Option<Self> {
        let (first, path) = self.path.split_first()?;
        (*first == step).then_some(Self { path, ..self })
    }
}

macro_rules! stops {
    ($($method:ident => $hint:expr;)*) => {$(
        fn $method<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
            self.stop($hint)
        }
    )*};
}

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = Error;

    stops! {
        deserialize_any => Hint::Other;
        deserialize_bool => Hint::Bool;
        deserialize_i8 => Hint::Int(i8::MIN.into(), i8::MAX.into());
        deserialize_i16 => Hint::Int(i16::MIN.into(), i16::MAX.into());
        deserialize_i32 => Hint::Int(i32::MIN.into(), i32::MAX.into());
        deserialize_i64 => Hint::Int(i64::MIN.into(), i64::MAX.into());
        deserialize_u8 => Hint::Int(0, u8::MAX.into());
        deserialize_u16 => Hint::Int(0, u16::MAX.into());
        deserialize_u32 => Hint::Int(0, u32::MAX.into());
        deserialize_u64 => Hint::Int(0, u64::MAX.into());
        deserialize_f32 => Hint::Float;
        deserialize_f64 => Hint::Float;
        deserialize_char => Hint::Char;
        deserialize_str => Hint::Str;
        deserialize_string => Hint::Str;
        deserialize_bytes => Hint::Other;
        deserialize_byte_buf => Hint::Other;
        deserialize_unit => Hint::Unit;
        deserialize_identifier => Hint::Other;
        deserialize_ignored_any => Hint::Other;
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.after(Step::Some) {
            Some(inner) => visitor.visit_some(inner),
            None => self.stop(Hint::Option),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, _: V) -> Result<V::Value, Error> {
        self.stop(Hint::Unit)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        // serde_json marks its raw values by a newtype of a private name.
        if name.starts_with('$') {
            return self.stop(Hint::Other);
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.after(Step::Item) {
            Some(inner) => visitor.visit_seq(One {
                key: "",
                value: Some(inner),
            }),
            None => self.stop(Hint::Seq),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, _: V) -> Result<V::Value, Error> {
        self.stop(Hint::Tuple(len))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        len: usize,
        _: V,
    ) -> Result<V::Value, Error> {
        self.stop(Hint::Tuple(len))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.after(Step::Value) {
            Some(inner) => visitor.visit_map(One {
                key: "key",
                value: Some(inner),
            }),
            None => self.stop(Hint::Map),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        if let Some(&Step::Field(key)) = self.path.first()
            && let Some(inner) = self.after(Step::Field(key))
        {
            return visitor.visit_map(One {
                key,
                value: Some(inner),
            });
        }
        self.stop(Hint::Struct(fields))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        self.stop(Hint::Enum(variants))
    }
}

/// An object or array of one member.
struct One<'a> {
    key: &'static str,
    value: Option<Probe<'a>>,
}

impl<'de> MapAccess<'de> for One<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        match self.value {
            Some(_) => seed.deserialize(StrDeserializer::new(self.key)).map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        match self.value.take() {
            Some(value) => seed.deserialize(value),
            None => Err(Error::custom("no more values")),
        }
    }
}

impl<'de> SeqAccess<'de> for One<'_> {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Error> {
        match self.value.take() {
            Some(value) => seed.deserialize(value).map(Some),
            None => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    #[allow(dead_code)]
    struct Inner {
        z: u8,
        a: Vec<Option<String>>,
    }

    #[derive(Deserialize)]
    #[allow(dead_code)]
    struct Outer {
        second: Option<Box<Inner>>,
        first: (),
        raw: serde_json::Value,
    }

    #[test]
    fn every_place_of_a_type_can_be_looked_at() {
        assert_eq!(look::<Outer>(&[]), Hint::Struct(&["second", "first", "raw"]));
        let second = [Step::Field("second"), Step::Some];
        assert_eq!(look::<Outer>(&second[..1]), Hint::Option);
        assert_eq!(look::<Outer>(&second), Hint::Struct(&["z", "a"]));
        let z = [second[0], second[1], Step::Field("z")];
        assert_eq!(look::<Outer>(&z), Hint::Int(0, 255));
        let text = [second[0], second[1], Step::Field("a"), Step::Item, Step::Some];
        assert_eq!(look::<Outer>(&text), Hint::Str);
        assert_eq!(look::<Outer>(&[Step::Field("first")]), Hint::Unit);
        assert_eq!(look::<Outer>(&[Step::Field("raw")]), Hint::Other);
        assert_eq!(look::<Outer>(&[Step::Field("nothing")]), Hint::Other);
    }
}
