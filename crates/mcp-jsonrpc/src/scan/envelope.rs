//! One message: where its members are, and what they make it.

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;

use super::reader::{Reader, Stop};
use crate::error::{ErrorObject, Peerhood, ScanError, ScanErrorKind};
use crate::id::RequestId;
use crate::limits::Limits;
use crate::message::{Call, Message, ParamKey, Request, Response};
use crate::raw::RawJson;

/// The members of a message that count, in the order of [`Members::spans`].
const NAMES: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];
const JSONRPC: usize = 0;
const ID: usize = 1;
const METHOD: usize = 2;
const PARAMS: usize = 3;
const RESULT: usize = 4;
const ERROR: usize = 5;

/// The longest name that matters, written with nothing but `\u` escapes.
const LONGEST_NAME: usize = 6 * "inputResponses".len();

/// What went wrong with a message that is valid JSON, and where.
type Fault = (ScanErrorKind, &'static str, usize);

/// What the walk over one message's object found.
#[derive(Default)]
struct Members {
    start: usize,
    spans: [Option<Range<usize>>; NAMES.len()],
    params: Params,
    id_twice: bool,
    depth: usize,
    fault: Option<Fault>,
}

/// What the walk over a params object found.
#[derive(Default)]
pub(super) struct Params {
    /// Ranges of the known members, from the start of params.
    pub(super) keys: [(u32, u32); ParamKey::COUNT],
    twice: Option<usize>,
    depth: usize,
}

/// Reads the object at whose brace the reader stands. The outer error is one of syntax and ends the frame; the
/// inner one is about this message only.
pub(super) fn message(
    reader: &mut Reader<'_>,
    frame: &Bytes,
    limits: &Limits,
) -> Result<Result<Message, ScanError>, Stop> {
    let mut members = walk(reader)?;
    if members.depth > limits.max_depth {
        members.fault = Some((ScanErrorKind::TooDeep, "nested too deep", members.start));
    }
    Ok(conclude(members, frame, limits))
}

/// The error of a message that is no object.
pub(super) fn not_an_object(at: usize) -> ScanError {
    ScanError::plain(ScanErrorKind::Envelope, "a message must be an object", at)
}

fn walk(reader: &mut Reader<'_>) -> Result<Members, Stop> {
    let mut members = Members {
        start: reader.at,
        ..Members::default()
    };
    let mut inner = 0;
    reader.at += 1;
    if !reader.take(b'}') {
        loop {
            reader.next_token();
            let key_at = reader.at;
            let name = position(reader.key()?);
            let object = reader.next_token() == Some(b'{');
            let start = reader.at;
            match name {
                Some(PARAMS) if object => {
                    let params = params(reader)?;
                    inner = inner.max(params.depth);
                    if let Some(at) = params.twice {
                        members.fault.get_or_insert((
                            ScanErrorKind::Envelope,
                            "a member of params is there twice",
                            at,
                        ));
                    }
                    members.params = params;
                }
                _ => inner = inner.max(reader.value()?),
            }
            if let Some(name) = name
                && members.spans[name].replace(start..reader.at).is_some()
            {
                members.id_twice |= name == ID;
                members
                    .fault
                    .get_or_insert((ScanErrorKind::Envelope, "a member is there twice", key_at));
            }
            if !reader.more(b'}')? {
                break;
            }
        }
    }
    members.depth = inner + 1;
    Ok(members)
}

/// Which member of a message a name stands for.
fn position(raw: &[u8]) -> Option<usize> {
    match raw {
        b"jsonrpc" => Some(JSONRPC),
        b"id" => Some(ID),
        b"method" => Some(METHOD),
        b"params" => Some(PARAMS),
        b"result" => Some(RESULT),
        b"error" => Some(ERROR),
        _ => {
            let name = unescaped_name(raw)?;
            NAMES.iter().position(|known| *known == name)
        }
    }
}

/// Reads the params object at whose brace the reader stands.
pub(super) fn params(reader: &mut Reader<'_>) -> Result<Params, Stop> {
    let start = reader.at;
    let offset = |at: usize| u32::try_from(at - start).unwrap_or_default();
    let mut found = Params::default();
    let mut inner = 0;
    reader.at += 1;
    if !reader.take(b'}') {
        loop {
            reader.next_token();
            let key_at = reader.at;
            let key = param_key(reader.key()?);
            reader.next_token();
            let value_at = reader.at;
            inner = inner.max(reader.value()?);
            if let Some(key) = key {
                let slot = &mut found.keys[key as usize];
                if slot.1 > 0 {
                    found.twice.get_or_insert(key_at);
                }
                *slot = (offset(value_at), offset(reader.at));
            }
            if !reader.more(b'}')? {
                break;
            }
        }
    }
    found.depth = inner + 1;
    Ok(found)
}

fn param_key(raw: &[u8]) -> Option<ParamKey> {
    match raw {
        b"name" => Some(ParamKey::Name),
        b"uri" => Some(ParamKey::Uri),
        b"arguments" => Some(ParamKey::Arguments),
        b"_meta" => Some(ParamKey::Meta),
        b"inputResponses" => Some(ParamKey::InputResponses),
        b"requestState" => Some(ParamKey::RequestState),
        _ => {
            let name = unescaped_name(raw)?;
            ParamKey::ALL
                .iter()
                .find(|(_, known)| *known == name)
                .map(|(key, _)| *key)
        }
    }
}

/// A name that has escapes and could be one of ours. A parser behind us would resolve them, so we must.
fn unescaped_name(raw: &[u8]) -> Option<String> {
    if raw.len() > LONGEST_NAME || !raw.contains(&b'\\') {
        return None;
    }
    let quoted = [b"\"", raw, b"\""].concat();
    serde_json::from_slice(&quoted).ok()
}

/// The text of a value that is a string. None when it is none, or has half a surrogate pair.
fn text(value: &[u8]) -> Option<Cow<'_, str>> {
    let raw = value.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if raw.contains(&b'\\') {
        serde_json::from_slice(value).ok().map(Cow::Owned)
    } else {
        std::str::from_utf8(raw).ok().map(Cow::Borrowed)
    }
}

/// A value that is an integer of 64 bits, written without fraction and exponent.
fn integer(value: &[u8]) -> Option<i64> {
    std::str::from_utf8(value).ok()?.parse().ok()
}

/// What a message's `id` says.
enum Id {
    Absent,
    Null,
    Is(RequestId),
    Bad(&'static str, usize),
}

impl Id {
    fn read(span: Option<&Range<usize>>, frame: &[u8], limits: &Limits) -> Self {
        let Some(span) = span else {
            return Id::Absent;
        };
        let value = &frame[span.clone()];
        let bad = |what| Id::Bad(what, span.start);
        match value[0] {
            b'n' => Id::Null,
            // An escape makes at most six bytes of one.
            b'"' if value.len() - 2 > limits.max_id_bytes.saturating_mul(6) => bad("the id is too long"),
            b'"' => match text(value) {
                Some(text) if text.len() > limits.max_id_bytes => bad("the id is too long"),
                Some(text) => Id::Is(RequestId::String(text.into())),
                None => bad("the id is not readable text"),
            },
            b'-' | b'0'..=b'9' => match integer(value) {
                Some(number) => Id::Is(RequestId::Number(number)),
                None => bad("the id is not a 64-bit integer"),
            },
            _ => bad("the id is neither string nor integer"),
        }
    }
}

/// Makes a message of what the walk found.
fn conclude(members: Members, frame: &Bytes, limits: &Limits) -> Result<Message, ScanError> {
    let [jsonrpc, id, method, params, result, error] = members.spans;
    let peerhood = match (&method, &result, &error) {
        (Some(_), _, _) => Peerhood::Call,
        (None, None, None) => Peerhood::Unknown,
        _ => Peerhood::Answer,
    };
    let id_span = if members.id_twice { None } else { id };
    let id = Id::read(id_span.as_ref(), frame, limits);
    let id_fault: Option<Fault> = match (&id, &id_span) {
        (Id::Bad(what, at), _) => Some((ScanErrorKind::Envelope, what, *at)),
        (Id::Null, Some(span)) if peerhood != Peerhood::Answer => {
            Some((ScanErrorKind::Envelope, "the id is null", span.start))
        }
        _ => None,
    };
    let id = match id {
        Id::Is(id) => Some(id),
        _ => None,
    };
    let start = members.start;
    let version_fault = match &jsonrpc {
        Some(span) if text(&frame[span.clone()]).as_deref() == Some("2.0") => None,
        Some(span) => Some((ScanErrorKind::Envelope, "jsonrpc is not \"2.0\"", span.start)),
        None => Some((ScanErrorKind::Envelope, "jsonrpc is missing", start)),
    };
    let body = match members.fault.or(version_fault).or(id_fault) {
        Some(fault) => Err(fault),
        None => match (method, result, error) {
            (Some(method), None, None) => call(frame, method, params, members.params.keys).map(Body::Call),
            (None, Some(result), None) => Ok(Body::Answer(Ok(slice(frame, result)))),
            (None, result, Some(error)) => answer(frame, result, error).map(Body::Answer),
            (Some(_), ..) => Err((
                ScanErrorKind::Envelope,
                "both a method and a result or error",
                start,
            )),
            (None, None, None) => Err((
                ScanErrorKind::Envelope,
                "neither method nor result nor error",
                start,
            )),
        },
    };
    match body {
        Ok(Body::Call(call)) => Ok(match id {
            Some(id) => Message::Request(Request { id, call }),
            None => Message::Notification(call),
        }),
        Ok(Body::Answer(outcome)) => Ok(Message::Response(Response { id, outcome })),
        Err((kind, what, offset)) => Err(ScanError {
            kind,
            what: what.into(),
            offset,
            id,
            peerhood,
        }),
    }
}

enum Body {
    Call(Call),
    Answer(Result<RawJson, ErrorObject>),
}

fn slice(frame: &Bytes, span: Range<usize>) -> RawJson {
    RawJson::trusted(frame.slice(span))
}

fn call(
    frame: &Bytes,
    method: Range<usize>,
    params: Option<Range<usize>>,
    keys: [(u32, u32); ParamKey::COUNT],
) -> Result<Call, Fault> {
    let method = match text(&frame[method.clone()]) {
        Some(Cow::Borrowed(_)) => frame.slice(method.start + 1..method.end - 1),
        Some(Cow::Owned(text)) => Bytes::from(text),
        None => {
            return Err((
                ScanErrorKind::Envelope,
                "the method is not readable text",
                method.start,
            ));
        }
    };
    let params = match params {
        None => None,
        Some(span) => match frame[span.start] {
            b'{' | b'[' => Some(slice(frame, span)),
            b'n' => None,
            _ => {
                return Err((
                    ScanErrorKind::Params,
                    "params is neither object nor array",
                    span.start,
                ));
            }
        },
    };
    Ok(Call { method, params, keys })
}

/// An answer that has an `error` member.
fn answer(
    frame: &Bytes,
    result: Option<Range<usize>>,
    error: Range<usize>,
) -> Result<Result<RawJson, ErrorObject>, Fault> {
    let bad = |what| Err((ScanErrorKind::Envelope, what, error.start));
    match (frame[error.start], result) {
        (b'n', Some(result)) => Ok(Ok(slice(frame, result))),
        (b'n', None) => bad("neither result nor error"),
        (_, Some(_)) => bad("both a result and an error"),
        (b'{', None) => error_object(frame, error).map(Err),
        (_, None) => bad("the error is not an object"),
    }
}

/// The error object in `span`, whose syntax is known to be right. The last of several equal members wins.
fn error_object(frame: &Bytes, span: Range<usize>) -> Result<ErrorObject, Fault> {
    let fault = |what| (ScanErrorKind::Envelope, what, span.start);
    let mut found = [const { None }; 3];
    let mut reader = Reader::new(&frame[..span.end]);
    reader.at = span.start + 1;
    let mut read = || -> Result<(), Stop> {
        if reader.take(b'}') {
            return Ok(());
        }
        loop {
            let key = reader.key()?;
            let key = match unescaped_name(key) {
                Some(name) => Cow::Owned(name.into_bytes()),
                None => Cow::Borrowed(key),
            };
            reader.next_token();
            let value_at = reader.at;
            reader.value()?;
            let value = Some(value_at..reader.at);
            match &*key {
                b"code" => found[0] = value,
                b"message" => found[1] = value,
                b"data" => found[2] = value,
                _ => {}
            }
            if !reader.more(b'}')? {
                return Ok(());
            }
        }
    };
    read().map_err(|Stop| fault("the error is not readable"))?;
    let [code, message, data] = found;
    let is_null = |value: &Range<usize>| frame[value.start] == b'n';
    let code = code
        .and_then(|value| integer(&frame[value]))
        .ok_or(fault("the error has no integer code"))?;
    let message = match message.filter(|value| !is_null(value)) {
        None => Cow::Borrowed(""),
        Some(value) => match text(&frame[value]) {
            Some(text) => Cow::Owned(text.into_owned()),
            None => return Err(fault("the error's message is not readable text")),
        },
    };
    let data = data
        .filter(|value| !is_null(value))
        .map(|value| slice(frame, value));
    Ok(ErrorObject { code, message, data })
}
