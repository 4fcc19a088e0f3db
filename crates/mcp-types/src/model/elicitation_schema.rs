use std::fmt;

use mcp_jsonrpc::{JsonKind, RawJson};

use crate::entity::{entity, tagged};
use crate::value::{JsonObject, Map, Number};
use crate::wire::{Members, Wire, Writer};
use crate::{Revision, Revisions};

entity! {
    /// A form: a flat object of primitive values. Members keep their order.
    #[derive(Default)]
    ElicitSchema [tag "type" "object"] {
        /// The dialect.
        optional dialect/with_dialect: String = "$schema",
        /// The fields.
        always properties/with_properties: Map<PropertySchema> = "properties",
        /// The names of the fields that must be filled in.
        list required/with_required: String = "required",
    }
}

impl ElicitSchema {
    /// Adds a field that may stay empty.
    #[must_use]
    pub fn optional(mut self, name: impl Into<String>, schema: impl Into<PropertySchema>) -> Self {
        self.properties.insert(name, schema.into());
        self
    }

    /// Adds a field that must be filled in.
    #[must_use]
    pub fn required(mut self, name: impl Into<String>, schema: impl Into<PropertySchema>) -> Self {
        let name = name.into();
        self.required.push(name.clone());
        self.optional(name, schema)
    }

    /// Checks what was filled in. Members that are no fields are let through.
    ///
    /// # Errors
    /// The first field that breaks its rule.
    pub fn check(&self, content: &RawJson) -> Result<(), ContentError> {
        let content: JsonObject = content
            .parse()
            .map_err(|_| ContentError::new("", "the content must be an object"))?;
        for name in &self.required {
            if !content.contains_key(name) {
                return Err(ContentError::new(name, "must be filled in"));
            }
        }
        for (name, schema) in self.properties.iter() {
            if let Some(value) = content.get(name) {
                schema
                    .check(value)
                    .map_err(|rule| ContentError::new(name, rule))?;
            }
        }
        Ok(())
    }
}

/// Which field of a form breaks which rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentError {
    field: String,
    rule: String,
}

impl ContentError {
    fn new(field: &str, rule: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            rule: rule.into(),
        }
    }

    /// The field; empty when the content as a whole is wrong.
    pub fn field(&self) -> &str {
        &self.field
    }
}

impl fmt::Display for ContentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.field.as_str() {
            "" => f.write_str(&self.rule),
            field => write!(f, "{field}: {}", self.rule),
        }
    }
}

impl std::error::Error for ContentError {}

tagged! {
    /// One field of a form.
    PropertySchema by "type" {
        /// A text, or a choice of one among several.
        String(StringSchema) = "string",
        /// A number.
        Number(NumberSchema) = "number",
        /// A whole number.
        Integer(IntegerSchema) = "integer",
        /// Yes or no.
        Boolean(BooleanSchema) = "boolean",
        /// A choice of some among several; since 2025-11-25.
        Array(MultiSelectSchema) = "array",
    }
}

impl PropertySchema {
    /// A choice of one among `values`.
    pub fn choice(values: impl IntoIterator<Item = impl Into<String>>) -> StringSchema {
        StringSchema::new().with_values(values)
    }

    /// A choice of one among values with names for people.
    pub fn titled_choice(values: impl IntoIterator<Item = TitledValue>) -> StringSchema {
        StringSchema::new().with_one_of(values)
    }

    /// A choice of some among `values`.
    pub fn choices(values: impl IntoIterator<Item = impl Into<String>>) -> MultiSelectSchema {
        MultiSelectSchema::new(ChoiceItems::new().with_values(values))
    }

    /// A choice of some among values with names for people.
    pub fn titled_choices(values: impl IntoIterator<Item = TitledValue>) -> MultiSelectSchema {
        MultiSelectSchema::new(ChoiceItems::new().with_any_of(values))
    }

    fn check(&self, value: &RawJson) -> Result<(), String> {
        match self {
            PropertySchema::String(schema) => schema.check(value),
            PropertySchema::Number(schema) => check_number(value, schema.minimum, schema.maximum).map(|_| ()),
            PropertySchema::Integer(schema) => {
                match check_number(value, schema.minimum, schema.maximum)?.fract() == 0.0 {
                    true => Ok(()),
                    false => Err("must be a whole number".into()),
                }
            }
            PropertySchema::Boolean(_) if value.kind() == JsonKind::Bool => Ok(()),
            PropertySchema::Boolean(_) => Err("must be true or false".into()),
            PropertySchema::Array(schema) => schema.check(value),
            PropertySchema::Unknown(_) => Ok(()),
        }
    }
}

impl Wire for PropertySchema {
    fn write(&self, out: &mut Writer<'_>) {
        if matches!(self, PropertySchema::Array(_)) && out.is_before(Revision::V2025_11_25) {
            out.refuse("a choice of several values");
        }
        self.write_plain(out);
    }
}

entity! {
    /// A text, or a choice of one among several: by `enum`, or by `oneOf` with names for people (before 2025-11-25
    /// written as `enum` and `enumNames`).
    #[derive(Default)]
    StringSchema [tag "type" "string"] {
        /// Name for people.
        optional title/with_title: String = "title",
        /// What it is for.
        optional description/with_description: String = "description",
        /// At least so many characters.
        optional min_length/with_min_length: u64 = "minLength",
        /// At most so many characters.
        optional max_length/with_max_length: u64 = "maxLength",
        /// `email`, `uri`, `date` or `date-time`.
        optional format/with_format: String = "format",
        /// The values to choose from.
        list values/with_values: String = "enum",
        /// Names for people, in the order of the values.
        list value_names/with_value_names: String = "enumNames",
        /// The values to choose from, with names for people.
        list one_of/with_one_of: TitledValue = "oneOf" if titles_exist,
        /// What is filled in at first.
        optional default/with_default: String = "default" if defaults_exist,
    }
    tail write_old_titles;
}

fn titles_exist(_: &StringSchema, out: &Writer<'_>) -> bool {
    !out.is_before(Revision::V2025_11_25)
}

fn defaults_exist(_: &StringSchema, out: &Writer<'_>) -> bool {
    out.shows(crate::wire::table::known("StringSchema", "default"))
}

fn write_old_titles(schema: &StringSchema, members: &mut Members<'_, '_>) {
    if !titles_exist(schema, members.writer()) && !schema.one_of.is_empty() {
        let (values, names): (Vec<&str>, Vec<&str>) =
            schema.one_of.iter().map(|one| (&*one.value, &*one.title)).unzip();
        members.member("enum", Revisions::ALL, &values);
        members.member("enumNames", Revisions::ALL, &names);
    }
}

impl StringSchema {
    fn check(&self, value: &RawJson) -> Result<(), String> {
        let text: String = value.parse().map_err(|_| "must be a text")?;
        let length = text.chars().count() as u64;
        if self.min_length.is_some_and(|least| length < least) {
            return Err("is too short".into());
        }
        if self.max_length.is_some_and(|most| length > most) {
            return Err("is too long".into());
        }
        if !self.values.is_empty() && !self.values.contains(&text)
            || !self.one_of.is_empty() && !self.one_of.iter().any(|one| one.value == text)
        {
            return Err("is none of the choices".into());
        }
        match self.format.as_deref() {
            Some(format) if !has_format(&text, format) => Err(format!("is no {format}")),
            _ => Ok(()),
        }
    }
}

entity! {
    /// A number.
    #[derive(Default)]
    NumberSchema [tag "type" "number"] {
        /// Name for people.
        optional title/with_title: String = "title",
        /// What it is for.
        optional description/with_description: String = "description",
        /// Not less than this.
        optional minimum/with_minimum: Number = "minimum",
        /// Not more than this.
        optional maximum/with_maximum: Number = "maximum",
        /// What is filled in at first.
        optional default/with_default: Number = "default",
    }
}

entity! {
    /// A whole number.
    #[derive(Default)]
    IntegerSchema [tag "type" "integer"] {
        /// Name for people.
        optional title/with_title: String = "title",
        /// What it is for.
        optional description/with_description: String = "description",
        /// Not less than this.
        optional minimum/with_minimum: Number = "minimum",
        /// Not more than this.
        optional maximum/with_maximum: Number = "maximum",
        /// What is filled in at first.
        optional default/with_default: Number = "default",
    }
}

fn check_number(value: &RawJson, minimum: Option<Number>, maximum: Option<Number>) -> Result<f64, String> {
    let number: f64 = value.parse().map_err(|_| "must be a number")?;
    if minimum.is_some_and(|least| number < least.as_f64()) {
        return Err("is too small".into());
    }
    if maximum.is_some_and(|most| number > most.as_f64()) {
        return Err("is too large".into());
    }
    Ok(number)
}

entity! {
    /// Yes or no.
    #[derive(Default)]
    BooleanSchema [tag "type" "boolean"] {
        /// Name for people.
        optional title/with_title: String = "title",
        /// What it is for.
        optional description/with_description: String = "description",
        /// What is filled in at first.
        optional default/with_default: bool = "default",
    }
}

entity! {
    /// A choice of some among several.
    MultiSelectSchema [tag "type" "array"] {
        /// Name for people.
        optional title/with_title: String = "title",
        /// What it is for.
        optional description/with_description: String = "description",
        /// At least so many.
        optional min_items/with_min_items: u64 = "minItems",
        /// At most so many.
        optional max_items/with_max_items: u64 = "maxItems",
        /// The values to choose from.
        required items: ChoiceItems = "items",
        /// What is filled in at first.
        list default/with_default: String = "default",
    }
}

impl MultiSelectSchema {
    fn check(&self, value: &RawJson) -> Result<(), String> {
        let chosen: Vec<String> = value.parse().map_err(|_| "must be a list of texts")?;
        if self.min_items.is_some_and(|least| (chosen.len() as u64) < least) {
            return Err("has too few values".into());
        }
        if self.max_items.is_some_and(|most| chosen.len() as u64 > most) {
            return Err("has too many values".into());
        }
        let items = &self.items;
        let known = |value: &String| {
            items.values.contains(value) || items.any_of.iter().any(|one| one.value == *value)
        };
        match chosen.iter().all(known) {
            true => Ok(()),
            false => Err("has a value that is none of the choices".into()),
        }
    }
}

entity! {
    /// The values of a [`MultiSelectSchema`]: by `enum`, or by `anyOf` with names for people.
    #[derive(Default)]
    ChoiceItems {
        /// `string`, with `enum`.
        optional kind: String = "type",
        /// The values.
        list values/with_plain_values: String = "enum",
        /// The values, with names for people.
        list any_of/with_any_of: TitledValue = "anyOf",
    }
}

impl ChoiceItems {
    /// Plain values.
    #[must_use]
    pub fn with_values(mut self, values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.kind = Some("string".into());
        self.with_plain_values(values)
    }
}

entity! {
    /// A value with a name for people.
    TitledValue {
        /// The value.
        required value: String = "const",
        /// Its name.
        required title: String = "title",
    }
}

/// Whether `text` looks like what `format` names. Unknown formats hold for everything.
fn has_format(text: &str, format: &str) -> bool {
    match format {
        "email" => text.rsplit_once('@').is_some_and(|(user, host)| {
            !user.is_empty() && !host.is_empty() && !text.contains(char::is_whitespace)
        }),
        "uri" => text.split_once(':').is_some_and(|(scheme, rest)| {
            scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                && scheme
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
                && !rest.is_empty()
                && !text.contains(char::is_whitespace)
        }),
        "date" => is_date(text),
        "date-time" => text
            .split_once(['T', 't', ' '])
            .is_some_and(|(date, time)| is_date(date) && is_time(time)),
        _ => true,
    }
}

fn digits(text: &str, count: usize) -> Option<u32> {
    (text.len() == count && text.bytes().all(|b| b.is_ascii_digit()))
        .then(|| text.parse().ok())
        .flatten()
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else {
        return false;
    };
    let (Some(year), Some(month), Some(day)) = (digits(year, 4), digits(month, 2), digits(day, 2)) else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u32::from(leap),
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// RFC 3339 `full-time`: an offset is needed, a leap second allowed.
fn is_time(text: &str) -> bool {
    let (clock, offset) = match text.find(['Z', 'z', '+', '-']) {
        Some(at) => text.split_at(at),
        None => return false,
    };
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let within = |text: &str, most: &[u32]| {
        let parts: Vec<&str> = text.split(':').collect();
        parts.len() == most.len()
            && parts
                .iter()
                .zip(most)
                .all(|(part, most)| digits(part, 2).is_some_and(|value| value <= *most))
    };
    within(clock, &[23, 59, 60])
        && !fraction.is_empty()
        && fraction.bytes().all(|b| b.is_ascii_digit())
        && (matches!(offset, "Z" | "z") || within(&offset[1..], &[23, 59]))
}
