//! One pass over a frame: syntax, depth, and where the parts of each message are.

mod envelope;
mod reader;
mod text;

use bytes::Bytes;

use crate::error::{Peerhood, ScanError, ScanErrorKind};
use crate::limits::Limits;
use crate::message::{Frame, ParamKey};
use crate::raw::RawJson;

use reader::{Reader, Stop};
pub(crate) use text::plain_run;

/// Reads one frame in one pass.
///
/// White space around the value is allowed, anything else after it is not. Names and methods are compared after
/// their escapes are resolved, so `"\u006dethod"` is `"method"` and is there twice beside it. The stack use does
/// not depend on the input.
///
/// # Errors
/// When the frame is not one message or batch, or breaks `limits`. An element of a batch that is valid JSON and
/// no message is an error in its own place in [`Frame::Batch`].
pub fn scan(frame: Bytes, limits: &Limits) -> Result<Frame, ScanError> {
    check_bytes(&frame, limits)?;
    let mut reader = Reader::new(&frame);
    match whole(&mut reader, &frame, limits) {
        Ok(result) => result,
        Err(Stop) => Err(syntax(&reader)),
    }
}

/// Reads a frame to its end. The outer error is one of syntax, here as everywhere below.
fn whole(reader: &mut Reader<'_>, frame: &Bytes, limits: &Limits) -> Result<Result<Frame, ScanError>, Stop> {
    let first = reader.next_token();
    let start = reader.at;
    let result = match first {
        Some(b'{') => envelope::message(reader, frame, limits)?.map(Frame::One),
        Some(b'[') => batch(reader, frame, limits)?,
        _ => {
            reader.value()?;
            Err(envelope::not_an_object(start))
        }
    };
    reader.end()?;
    Ok(result)
}

fn batch(reader: &mut Reader<'_>, frame: &Bytes, limits: &Limits) -> Result<Result<Frame, ScanError>, Stop> {
    let start = reader.at;
    reader.at += 1;
    let mut messages = Vec::new();
    let mut count = 0;
    if !reader.take(b']') {
        loop {
            count += 1;
            let first = reader.next_token();
            let at = reader.at;
            // What is over the limit is still checked for syntax, but not kept.
            if count > limits.max_batch {
                reader.value()?;
            } else if first == Some(b'{') {
                messages.push(envelope::message(reader, frame, limits)?);
            } else {
                reader.value()?;
                messages.push(Err(envelope::not_an_object(at)));
            }
            if !reader.more(b']')? {
                break;
            }
        }
    }
    let bad = |what: &'static str| Err(ScanError::plain(ScanErrorKind::BadBatch, what, start));
    Ok(match count {
        0 => bad("an empty batch"),
        _ if count > limits.max_batch => bad("too many messages in one batch"),
        _ => Ok(Frame::Batch(messages)),
    })
}

/// Checks bytes that should hold one value, and cuts off the white space around it.
pub(crate) fn value(bytes: Bytes, limits: &Limits) -> Result<RawJson, ScanError> {
    check_bytes(&bytes, limits)?;
    let mut reader = Reader::new(&bytes);
    reader.next_token();
    let start = reader.at;
    let mut read = || {
        let depth = reader.value()?;
        let end = reader.at;
        reader.end()?;
        Ok((depth, end))
    };
    match read() {
        Ok((depth, _)) if depth > limits.max_depth => {
            Err(ScanError::plain(ScanErrorKind::TooDeep, "nested too deep", start))
        }
        Ok((_, end)) => Ok(RawJson::trusted(bytes.slice(start..end))),
        Err(Stop) => Err(syntax(&reader)),
    }
}

/// Finds the known members of params that are already known to be valid JSON. The last of several wins.
pub(crate) fn param_keys(params: &RawJson) -> [(u32, u32); ParamKey::COUNT] {
    if !params.is_object() {
        return Default::default();
    }
    envelope::params(&mut Reader::new(params.as_bytes()))
        .map(|found| found.keys)
        .unwrap_or_default()
}

fn check_bytes(bytes: &[u8], limits: &Limits) -> Result<(), ScanError> {
    // Ranges inside params are kept as u32.
    if bytes.len() > limits.max_bytes.min(u32::MAX as usize) {
        return Err(ScanError::plain(
            ScanErrorKind::TooLong,
            "too long",
            limits.max_bytes,
        ));
    }
    // The first check is quicker by far, and enough for most messages.
    if bytes.is_ascii() {
        return Ok(());
    }
    match std::str::from_utf8(bytes) {
        Ok(_) => Ok(()),
        Err(error) => Err(ScanError::plain(
            ScanErrorKind::Syntax,
            "not UTF-8",
            error.valid_up_to(),
        )),
    }
}

impl ScanError {
    /// An error of a frame as a whole, of which nothing else is known.
    fn plain(kind: ScanErrorKind, what: &'static str, offset: usize) -> Self {
        Self {
            kind,
            what: what.into(),
            offset,
            id: None,
            peerhood: Peerhood::Unknown,
        }
    }
}

/// The error that the reader stopped for.
fn syntax(reader: &Reader<'_>) -> ScanError {
    ScanError::plain(ScanErrorKind::Syntax, reader.wrong, reader.at)
}
