//! The keys of `_meta`, and what a stateless request says in it.

use std::borrow::Cow;
use std::fmt;

use mcp_jsonrpc::{ParseError, RawJson};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, de};
use serde_json::value::RawValue;

use crate::entity::Key;
use crate::model::{ClientCapabilities, Implementation, LoggingLevel};
use crate::value::ProgressToken;
use crate::{Revision, Revisions};

/// Reserved keys.
pub mod keys {
    /// The revision of this request.
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// What the client can do, for this request only.
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    /// Who the client is.
    pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    /// The least severity of log messages wanted.
    pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    /// The id of the `subscriptions/listen` request that a notification belongs to.
    pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
    /// Who the server is, on results.
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    /// The task a message belongs to (2025-11-25).
    pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
    /// What ties progress notices to their request.
    pub const PROGRESS_TOKEN: &str = "progressToken";
    /// W3C trace context.
    pub const TRACEPARENT: &str = "traceparent";
    /// W3C trace context, vendor part.
    pub const TRACESTATE: &str = "tracestate";
    /// W3C baggage.
    pub const BAGGAGE: &str = "baggage";
}

/// What a request says in its `_meta`, read in one pass and borrowed from it.
///
/// Nothing is demanded here: which keys a request must have depends on its revision. A null counts as absent.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RequestMeta<'a> {
    /// The revision of this request, by name. Its presence makes the request a stateless one.
    pub protocol_version: Option<Cow<'a, str>>,
    /// What the client can do, as JSON text.
    pub client_capabilities: Option<&'a str>,
    /// Who the client is, as JSON text.
    pub client_info: Option<&'a str>,
    /// The least severity of log messages wanted.
    pub log_level: Option<LoggingLevel>,
    /// Wants progress, under this token.
    pub progress_token: Option<ProgressToken>,
    /// W3C trace context.
    pub traceparent: Option<Cow<'a, str>>,
    /// W3C trace context, vendor part.
    pub tracestate: Option<Cow<'a, str>>,
    /// W3C baggage.
    pub baggage: Option<Cow<'a, str>>,
}

impl<'a> RequestMeta<'a> {
    /// Reads the `_meta` of a request.
    ///
    /// # Errors
    /// When it is no object, or a reserved key has a value of the wrong type. That is invalid params (-32602).
    pub fn parse(meta: &'a RawJson) -> Result<Self, ParseError> {
        meta.parse()
    }

    /// What the client can do. `None` when it does not say so, or says it by anything but an object.
    pub fn parse_client_capabilities(&self) -> Option<ClientCapabilities> {
        serde_json::from_str(self.client_capabilities?).ok()
    }

    /// Who the client is. What cannot be read counts as not said: it is for display only.
    pub fn parse_client_info(&self) -> Option<Implementation> {
        serde_json::from_str(self.client_info?).ok()
    }
}

impl<'de> Deserialize<'de> for RequestMeta<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = RequestMeta<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<RequestMeta<'de>, A::Error> {
                let mut meta = RequestMeta::default();
                while let Some(Key(key)) = map.next_key()? {
                    match &*key {
                        keys::PROTOCOL_VERSION => meta.protocol_version = text(&mut map)?,
                        keys::CLIENT_CAPABILITIES => meta.client_capabilities = raw(&mut map)?,
                        keys::CLIENT_INFO => meta.client_info = raw(&mut map)?,
                        keys::LOG_LEVEL => meta.log_level = map.next_value()?,
                        keys::PROGRESS_TOKEN => meta.progress_token = map.next_value()?,
                        keys::TRACEPARENT => meta.traceparent = text(&mut map)?,
                        keys::TRACESTATE => meta.tracestate = text(&mut map)?,
                        keys::BAGGAGE => meta.baggage = text(&mut map)?,
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(meta)
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}

fn text<'de, A: de::MapAccess<'de>>(map: &mut A) -> Result<Option<Cow<'de, str>>, A::Error> {
    Ok(map.next_value::<Option<Key<'de>>>()?.map(|text| text.0))
}

fn raw<'de, A: de::MapAccess<'de>>(map: &mut A) -> Result<Option<&'de str>, A::Error> {
    let raw: &'de RawValue = map.next_value()?;
    Ok(Some(raw.get()).filter(|text| *text != "null"))
}

/// Whether `key` may be a key of `_meta`: an optional prefix of dotted labels and a slash, then a name.
pub fn is_valid_key(key: &str) -> bool {
    match key.rsplit_once('/') {
        Some((prefix, name)) => prefix.split('.').all(is_label) && is_name(name),
        None => is_name(key),
    }
}

/// Whether `key` is reserved to the specification in `revision`.
///
/// 2025-06-18 reserves each prefix with a label `mcp` or `modelcontextprotocol` before another label, later ones
/// those whose second label is such a one.
pub fn is_reserved_key(key: &str, revision: Revision) -> bool {
    let Some((prefix, _)) = key.split_once('/') else {
        return matches!(
            key,
            keys::PROGRESS_TOKEN | keys::TRACEPARENT | keys::TRACESTATE | keys::BAGGAGE
        );
    };
    let ours = |label: &str| matches!(label, "mcp" | "modelcontextprotocol");
    let labels: Vec<&str> = prefix.split('.').collect();
    if Revisions::since(Revision::V2025_11_25).contains(revision) {
        labels.get(1).copied().is_some_and(ours)
    } else if revision == Revision::V2025_06_18 {
        labels.windows(2).any(|pair| ours(pair[0]))
    } else {
        false
    }
}

fn is_label(label: &str) -> bool {
    let bytes = label.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'-')
}

fn is_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else {
        return true;
    };
    first.is_ascii_alphanumeric()
        && last.is_ascii_alphanumeric()
        && bytes
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_pass_finds_the_reserved_keys() {
        let raw = RawJson::from_text(
            r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","a/b":[1],"progressToken":7,
                "io.modelcontextprotocol/clientCapabilities":{"sampling":{}},"traceparent":"00-x",
                "io.modelcontextprotocol/clientInfo":null,"io.modelcontextprotocol/logLevel":"notice"}"#,
        )
        .unwrap();
        let meta = RequestMeta::parse(&raw).unwrap();
        assert_eq!(meta.protocol_version.as_deref(), Some("2026-07-28"));
        assert_eq!(meta.progress_token, Some(7.into()));
        assert_eq!(meta.client_capabilities, Some(r#"{"sampling":{}}"#));
        assert!(meta.parse_client_capabilities().unwrap().sampling.is_some());
        assert_eq!(
            (meta.client_info, meta.log_level),
            (None, Some(LoggingLevel::Notice))
        );
        assert_eq!(meta.traceparent.as_deref(), Some("00-x"));
    }

    #[test]
    fn a_reserved_key_of_the_wrong_type_is_an_error() {
        for text in [
            "[]",
            r#"{"progressToken":1.5}"#,
            r#"{"io.modelcontextprotocol/logLevel":"loud"}"#,
            r#"{"io.modelcontextprotocol/protocolVersion":1}"#,
        ] {
            assert!(
                RequestMeta::parse(&RawJson::from_text(text).unwrap()).is_err(),
                "{text}"
            );
        }
    }

    #[test]
    fn key_syntax() {
        for good in [
            "a",
            "",
            "progressToken",
            "com.example/a-b_c.d",
            "x/",
            "io.modelcontextprotocol/related-task",
        ] {
            assert!(is_valid_key(good), "{good}");
        }
        for bad in ["-a", "a_", "1x.com/a", "a..b/c", "x-/a", "/a", "a/b/c", "b\u{e9}"] {
            assert!(!is_valid_key(bad), "{bad}");
        }
    }

    #[test]
    fn the_reserved_prefixes_changed_with_2025_11_25() {
        let (old, new) = (Revision::V2025_06_18, Revision::V2025_11_25);
        for (key, in_old, in_new) in [
            ("mcp.dev/x", true, false),
            ("dev.mcp/x", false, true),
            ("com.example.mcp/x", false, false),
            ("io.modelcontextprotocol/x", false, true),
            ("api.modelcontextprotocol.org/x", true, true),
        ] {
            assert_eq!(is_reserved_key(key, old), in_old, "{key}");
            assert_eq!(is_reserved_key(key, new), in_new, "{key}");
        }
        assert!(is_reserved_key("progressToken", old));
    }
}
