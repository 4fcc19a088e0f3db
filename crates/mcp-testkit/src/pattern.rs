use std::collections::BTreeMap;

use serde_json::Value;

use crate::error::TestError;

/// Stands for anything.
const ANY: &str = "...";

/// The values that `"$name"` took in patterns before.
#[derive(Debug, Clone, Default)]
pub struct Bindings(BTreeMap<String, Value>);

impl Bindings {
    /// The value of a name.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Puts values in place of the names in a message; unknown ones stay.
    pub fn fill(&self, message: &mut Value) {
        match message {
            Value::String(text) => {
                if let Some(value) = text.strip_prefix('$').and_then(|name| self.0.get(name)) {
                    *message = value.clone();
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.fill(item)),
            Value::Object(members) => members.values_mut().for_each(|member| self.fill(member)),
            _ => {}
        }
    }
}

/// Whether a value looks as a pattern says: equal, but for `"..."` (any value; as the last element, any further ones;
/// as a member, any further ones) and `"$name"` (the value that this name took before, or else takes now).
///
/// # Errors
/// All differences, each with where it is. Names are bound only where there are none.
pub fn matches(pattern: &Value, value: &Value, bindings: &mut Bindings) -> Result<(), TestError> {
    let mut differences = Vec::new();
    let mut fresh = bindings.clone();
    compare(pattern, value, "", &mut fresh, &mut differences);
    if differences.is_empty() {
        *bindings = fresh;
        return Ok(());
    }
    Err(TestError::new(format!(
        "{}\n  expected {pattern}\n  got      {value}",
        differences.join("\n")
    )))
}

fn compare(pattern: &Value, value: &Value, at: &str, bindings: &mut Bindings, out: &mut Vec<String>) {
    match (pattern, value) {
        (Value::String(any), _) if any == ANY => {}
        (Value::String(name), _) if name.starts_with('$') && name.len() > 1 => {
            let known = bindings
                .0
                .entry(name[1..].to_owned())
                .or_insert_with(|| value.clone());
            if known != value {
                out.push(format!("{}: expected {known} ({name}), got {value}", place(at)));
            }
        }
        (Value::Array(patterns), Value::Array(values)) => {
            let (patterns, open) = match patterns.split_last() {
                Some((last, rest)) if last == ANY => (rest, true),
                _ => (&patterns[..], false),
            };
            for (index, pattern) in patterns.iter().enumerate() {
                let at = format!("{at}/{index}");
                match values.get(index) {
                    Some(value) => compare(pattern, value, &at, bindings, out),
                    None => out.push(format!("{at}: missing, expected {pattern}")),
                }
            }
            if !open {
                for (index, value) in values.iter().enumerate().skip(patterns.len()) {
                    out.push(format!("{at}/{index}: not expected, got {value}"));
                }
            }
        }
        (Value::Object(patterns), Value::Object(values)) => {
            for (key, pattern) in patterns.iter().filter(|(key, _)| *key != ANY) {
                let at = format!("{at}/{key}");
                match values.get(key) {
                    Some(value) => compare(pattern, value, &at, bindings, out),
                    None => out.push(format!("{at}: missing, expected {pattern}")),
                }
            }
            if !patterns.contains_key(ANY) {
                for (key, value) in values.iter().filter(|(key, _)| !patterns.contains_key(*key)) {
                    out.push(format!("{at}/{key}: not expected, got {value}"));
                }
            }
        }
        _ if equal(pattern, value) => {}
        _ => out.push(format!("{}: expected {pattern}, got {value}", place(at))),
    }
}

/// Numbers of equal value are equal, however they are written.
fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || (one.as_f64() == other.as_f64() && (one.is_f64() || other.is_f64()))
        }
        _ => one == other,
    }
}

fn place(at: &str) -> &str {
    if at.is_empty() { "the whole" } else { at }
}

/// A message on one line, cut in the middle where it is very long.
pub fn pretty(message: &Value) -> String {
    const MOST: usize = 2000;
    let text = message.to_string();
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}... ({} bytes)", &text[..end], text.len()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(pattern: Value, value: Value) -> Result<Bindings, TestError> {
        let mut bindings = Bindings::default();
        matches(&pattern, &value, &mut bindings).map(|()| bindings)
    }

    #[test]
    fn equal_is_equal_and_extra_members_are_told() {
        assert!(check(json!({"a": [1, 2.0]}), json!({"a": [1.0, 2]})).is_ok());
        let error = check(json!({"a": 1}), json!({"a": "1", "b": 2}))
            .unwrap_err()
            .to_string();
        assert!(error.contains("/a: expected 1, got \"1\""), "{error}");
        assert!(error.contains("/b: not expected, got 2"), "{error}");
        assert!(check(json!({"a": 1}), json!({})).is_err());
        assert!(check(json!([1]), json!([1, 2])).is_err());
    }

    #[test]
    fn dots_stand_for_values_elements_and_members() {
        assert!(check(json!("..."), json!(null)).is_ok());
        assert!(check(json!([1, "..."]), json!([1, 2, 3])).is_ok());
        assert!(check(json!([1, "..."]), json!([1])).is_ok());
        assert!(check(json!({"a": 1, "...": 0}), json!({"a": 1, "b": 2})).is_ok());
        assert!(check(json!({"a": "..."}), json!({})).is_err());
    }

    #[test]
    fn names_take_a_value_once() {
        let bindings = check(json!(["$x", "$x"]), json!([{"y": 1}, {"y": 1}])).unwrap();
        assert_eq!(bindings.value("x"), Some(&json!({"y": 1})));
        assert!(check(json!(["$x", "$x"]), json!([1, 2])).is_err());
        let mut message = json!({"a": ["$x", "$other"]});
        bindings.fill(&mut message);
        assert_eq!(message, json!({"a": [{"y": 1}, "$other"]}));
    }
}
