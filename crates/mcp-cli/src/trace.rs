//! Messages on standard error, with secrets masked.

use std::sync::Arc;

use mcp_host::config::{HostConfig, Launch, Surroundings, Transport};
use mcp_stdio::process::shown;
use mcp_stdio::{Direction, Trace};

use crate::screen;

/// Shorter values are words such as `1` or `info`; masking those would garble every message.
const SHORTEST: usize = 6;

/// Values that must not be printed: what the configuration puts into variables and headers, and arguments that are
/// made from variables.
#[derive(Debug, Clone, Default)]
pub(crate) struct Masks(Arc<Vec<String>>);

impl Masks {
    pub(crate) fn of(config: &HostConfig, around: &Surroundings) -> Self {
        let mut values = Vec::new();
        for spec in config.servers.iter().filter(|spec| !spec.disabled) {
            let Ok((launch, _)) = spec.resolve(around) else {
                continue;
            };
            match (&launch, &spec.transport) {
                (Launch::Stdio(launch), Ok(Transport::Stdio(stdio))) => {
                    let env = launch.merged_env().unwrap_or_default();
                    values.extend(env.iter().map(|(_, value)| value.expose().to_owned()));
                    let args = launch.args.iter().zip(&stdio.args);
                    values.extend(
                        args.filter(|(_, template)| !template.variables().is_empty())
                            .map(|(value, _)| value.expose().to_owned()),
                    );
                }
                (Launch::Http(launch), _) => {
                    values.extend(launch.headers.iter().map(|(_, value)| value.expose().to_owned()));
                }
                _ => {}
            }
        }
        Self::new(values)
    }

    fn new(mut values: Vec<String>) -> Self {
        values.retain(|value| value.len() >= SHORTEST);
        // As it stands in a message, too.
        let quoted: Vec<String> = values
            .iter()
            .filter_map(|value| serde_json::to_string(value).ok())
            .map(|json| json.trim_matches('"').to_owned())
            .collect();
        values.extend(quoted);
        // A value that is part of another one must not tear it.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        values.dedup();
        Self(Arc::new(values))
    }

    fn apply(&self, text: &str) -> String {
        let mut text = mask_members(text);
        for value in self.0.iter() {
            text = text.replace(value, "***");
        }
        text
    }
}

/// Prints each message; `server` says whose it is where there are several.
pub(crate) fn printer(server: Option<&str>, masks: Masks) -> Trace {
    let name = server
        .map(|name| format!("[{}] ", screen::one_line(name)))
        .unwrap_or_default();
    Trace::new(move |direction, message| {
        let arrow = match direction {
            Direction::Sent => "->",
            Direction::Received => "<-",
        };
        let text = masks.apply(&String::from_utf8_lossy(message));
        screen::error_line(&format!("{arrow} {name}{}", shown(&text)));
    })
}

/// Masks the text of members whose names say that it is a secret, whatever else the message is.
fn mask_members(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut secret = false;
    while let Some(start) = rest.find('"') {
        let (before, string) = rest.split_at(start);
        out.push_str(before);
        // Anything but a colon between a name and the next string means that it was no name of that string.
        secret &= before.trim() == ":";
        let length = string_length(string);
        let (string, after) = string.split_at(length);
        match secret {
            true => out.push_str("\"***\""),
            false => out.push_str(string),
        }
        secret = after.trim_start().starts_with(':') && names_secret(string);
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Bytes of the JSON string that the text begins with, quotes included.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn names_secret(name: &str) -> bool {
    let name: String = name
        .to_lowercase()
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    let says = [
        "password",
        "passwd",
        "secret",
        "apikey",
        "authorization",
        "credential",
        "privatekey",
    ];
    says.iter().any(|word| name.contains(word)) || (name.ends_with("token") && name != "progresstoken")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_the_configuration_are_masked_in_any_form() {
        let masks = Masks::new(vec!["s3cr\"et-value".to_owned(), "info".to_owned()]);
        let text = masks.apply(r#"{"a":"Bearer s3cr\"et-value","b":"info"}"#);
        assert_eq!(text, r#"{"a":"Bearer ***","b":"info"}"#);
    }

    #[test]
    fn members_that_say_they_are_secret_are_masked() {
        for (text, want) in [
            (r#"{"api_key":"x","b":"y"}"#, r#"{"api_key":"***","b":"y"}"#),
            (r#"{"Access-Token" : "x"}"#, r#"{"Access-Token" : "***"}"#),
            (r#"{"progressToken":"x"}"#, r#"{"progressToken":"x"}"#),
            (r#"{"password":["x"],"b":"y"}"#, r#"{"password":["x"],"b":"y"}"#),
            (r#"{"password":"a\"b","c":1}"#, r#"{"password":"***","c":1}"#),
            (r#"["password","x"]"#, r#"["password","x"]"#),
            ("no json", "no json"),
            (r#"{"password":"torn"#, r#"{"password":"***""#),
        ] {
            assert_eq!(mask_members(text), want);
        }
    }
}
