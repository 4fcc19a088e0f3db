//! Parameters on their way out. A request's own members are written first, straight into the buffer that is sent;
//! `_meta` is appended behind them, so that nothing is copied or encoded twice.

use bytes::{BufMut, Bytes, BytesMut};
use mcp_jsonrpc::{Call, ParamKey, RawJson, RequestId, encode};
use mcp_types::meta::keys;
use mcp_types::wire::{self, Wire};
use mcp_types::{ClientCapabilities, Implementation, JsonObject, LoggingLevel, Revision};

use crate::error::ClientError;

/// An object that is not closed yet: `{` and its members so far.
#[derive(Debug)]
pub(crate) struct Members {
    out: BytesMut,
    /// An empty object is written, too.
    explicit: bool,
}

impl Members {
    pub(crate) fn new() -> Self {
        let mut out = BytesMut::with_capacity(256);
        out.put_u8(b'{');
        Self { out, explicit: false }
    }

    /// What is left where they were taken out; allocates nothing.
    pub(crate) fn taken() -> Self {
        Self {
            out: BytesMut::new(),
            explicit: false,
        }
    }

    /// The members of an encoded object. Anything else has none.
    pub(crate) fn of(object: &RawJson) -> Self {
        let bytes = object.as_bytes();
        let members = bytes
            .strip_prefix(b"{")
            .and_then(|rest| rest.strip_suffix(b"}"))
            .unwrap_or_default()
            .trim_ascii();
        let mut out = BytesMut::with_capacity(members.len() + 256);
        out.put_u8(b'{');
        out.put_slice(members);
        Self { out, explicit: false }
    }

    /// The members of an entity.
    pub(crate) fn of_entity<T: Wire>(entity: &T, revision: Revision) -> Result<Self, ClientError> {
        let mut out = BytesMut::with_capacity(256);
        wire::encode(&mut out, entity, revision).map_err(ClientError::encode)?;
        out.truncate(out.len().saturating_sub(1));
        Ok(Self { out, explicit: false })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.out.len() <= 1
    }

    /// Starts a member. `key` is one of ours: it needs no escapes.
    pub(crate) fn key(&mut self, key: &str) -> &mut BytesMut {
        if !self.is_empty() {
            self.out.put_u8(b',');
        }
        self.out.put_u8(b'"');
        self.out.put_slice(key.as_bytes());
        self.out.put_slice(b"\":");
        &mut self.out
    }

    pub(crate) fn string(&mut self, key: &str, value: &str) {
        encode::string(self.key(key), value);
    }

    pub(crate) fn len(&self) -> usize {
        self.out.len()
    }

    /// What is there so far: an object that is not closed.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.out
    }

    /// Forgets all after this length.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.out.truncate(len);
    }

    /// Writes an object even where it is empty.
    pub(crate) fn explicit(mut self) -> Self {
        self.explicit = true;
        self
    }

    /// Appends `_meta`, where there is any, and closes the object. None for an empty one.
    pub(crate) fn close(mut self, meta: &MetaParts<'_>) -> Option<Bytes> {
        meta.write(&mut self);
        if self.is_empty() && !self.explicit {
            return None;
        }
        self.out.put_u8(b'}');
        Some(self.out.freeze())
    }

    /// A copy, for another round with the same members.
    pub(crate) fn again(members: &[u8]) -> Self {
        let mut out = BytesMut::with_capacity(members.len() + 512);
        out.put_slice(members);
        Self { out, explicit: false }
    }
}

/// What goes into one request's `_meta`.
pub(crate) struct MetaParts<'a> {
    /// Members that every request of this client has, encoded, without braces; empty in the stateful era.
    pub(crate) common: &'a [u8],
    /// Members that the caller added.
    pub(crate) extra: &'a JsonObject,
    /// Asks for log messages of this request, in the stateless era.
    pub(crate) log_level: Option<LoggingLevel>,
    /// Asks for progress under this token.
    pub(crate) progress: Option<&'a RequestId>,
}

impl MetaParts<'_> {
    fn write(&self, members: &mut Members) {
        let bare = self.extra.is_empty() && self.log_level.is_none() && self.progress.is_none();
        if self.common.is_empty() && bare {
            return;
        }
        let out = members.key("_meta");
        out.put_u8(b'{');
        out.put_slice(self.common);
        let mut first = self.common.is_empty();
        let mut comma = |out: &mut BytesMut| {
            if !std::mem::take(&mut first) {
                out.put_u8(b',');
            }
        };
        for (key, value) in self.extra.iter() {
            comma(out);
            encode::string(out, key);
            out.put_u8(b':');
            out.put_slice(value.as_bytes());
        }
        if let Some(level) = self.log_level {
            comma(out);
            encode::string(out, keys::LOG_LEVEL);
            out.put_u8(b':');
            encode::string(out, level.as_str());
        }
        if let Some(token) = self.progress {
            comma(out);
            out.put_slice(b"\"progressToken\":");
            encode::id(out, token);
        }
        out.put_u8(b'}');
    }
}

/// The members of `_meta` that every stateless request carries (2026-07-28: basic/index, "_meta"), encoded once.
pub(crate) fn common_meta(
    revision: Revision,
    capabilities: &ClientCapabilities,
    info: &Implementation,
) -> Result<Bytes, ClientError> {
    if !revision.is_stateless() {
        return Ok(Bytes::new());
    }
    let mut out = Members::new();
    out.string(keys::PROTOCOL_VERSION, revision.name());
    wire::encode(out.key(keys::CLIENT_CAPABILITIES), capabilities, revision).map_err(ClientError::encode)?;
    wire::encode(out.key(keys::CLIENT_INFO), info, revision).map_err(ClientError::encode)?;
    Ok(out.out.freeze().slice(1..))
}

/// Splits a caller's parameters into its own members and its `_meta`, so that ours can be added to the latter.
pub(crate) fn split_meta(params: &RawJson) -> Result<(Members, JsonObject), ClientError> {
    // The scan finds `_meta` in passing; only who sends one pays for more.
    let Some(meta) = Call::new("", Some(params.clone())).param(ParamKey::Meta) else {
        return Ok((Members::of(&encode::compact(params)), JsonObject::new()));
    };
    let bad = |error| ClientError::usage(format!("the parameters cannot be used: {error}"));
    let mut members: JsonObject = params.parse().map_err(bad)?;
    members.remove("_meta");
    let meta = meta
        .parse::<Option<JsonObject>>()
        .map_err(bad)?
        .unwrap_or_default();
    let mut out = Members::new();
    for (key, value) in members.iter() {
        if !out.is_empty() {
            out.out.put_u8(b',');
        }
        encode::string(&mut out.out, key);
        out.out.put_u8(b':');
        out.out.put_slice(encode::compact(value).as_bytes());
    }
    Ok((out, meta))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closed(members: Members, meta: &MetaParts<'_>) -> String {
        let bytes = members.close(meta).unwrap_or_default();
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    fn raw(text: &str) -> RawJson {
        RawJson::from_text(text).unwrap()
    }

    #[test]
    fn p035_nothing_is_sent_for_nothing() {
        let none = MetaParts {
            common: b"",
            extra: &JsonObject::new(),
            log_level: None,
            progress: None,
        };
        assert_eq!(Members::new().close(&none), None);
        assert_eq!(closed(Members::of(&raw("{ \n}")), &none), "");
        assert_eq!(closed(Members::of(&raw("{\"a\":1 }")), &none), r#"{"a":1}"#);
    }

    #[test]
    fn meta_goes_behind_the_members() {
        let extra = JsonObject::from([("traceparent", raw("\"00-1\""))]);
        let id = RequestId::from(7);
        let all = MetaParts {
            common: br#""x":1"#,
            extra: &extra,
            log_level: None,
            progress: Some(&id),
        };
        let mut members = Members::new();
        members.string("name", "a\"b");
        assert_eq!(
            closed(members, &all),
            r#"{"name":"a\"b","_meta":{"x":1,"traceparent":"00-1","progressToken":7}}"#
        );
        let token = MetaParts {
            common: b"",
            extra: &JsonObject::new(),
            log_level: None,
            progress: Some(&id),
        };
        assert_eq!(closed(Members::new(), &token), r#"{"_meta":{"progressToken":7}}"#);
    }

    #[test]
    fn p032_a_callers_own_meta_is_kept_and_the_rest_stays_byte_for_byte() {
        let (members, meta) =
            split_meta(&raw(r#"{"n":9007199254740993.0,"_meta":{"a":1},"z":"é"}"#)).unwrap();
        assert_eq!(&members.out[..], r#"{"n":9007199254740993.0,"z":"é""#.as_bytes());
        assert_eq!(meta.get("a"), Some(&raw("1")));
        let (members, meta) = split_meta(&raw("{\"a\":\n 1}")).unwrap();
        assert_eq!(&members.out[..], b"{\"a\":1");
        assert!(meta.is_empty());
    }
}
