//! What each revision may see of a value.
//!
//! Types hold the widest vocabulary. Writing one for a peer goes through [`encode`], with the revision the peer
//! speaks: members and forms that revision does not know are left out or replaced. Which ones is said in two
//! places: the table in `wire/table.rs` lists the members, and the few types that change form do so in their own [`Wire`].
//!
//! `Serialize` on the same types writes everything they hold, for logs and tests; it is not meant for a peer.

mod members;
pub(crate) mod table;

use std::fmt;

use bytes::{BufMut, BytesMut};
use mcp_jsonrpc::{RawJson, RequestId};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

pub(crate) use members::Members;

use crate::{Revision, Revisions};

/// A value that knows what each revision may see of it.
///
/// Every entity of this crate, lists and maps of them, and [`RawJson`] (as it is) are such values. Put any
/// other serializable value on the wire with [`Open`].
pub trait Wire {
    /// Writes the value as one JSON value.
    fn write(&self, out: &mut Writer<'_>);
}

/// Appends `value` as a peer that speaks `revision` may see it.
///
/// # Errors
/// When the value cannot be said in `revision` (an `input_required` result before 2026-07-28, a URL elicitation
/// before 2025-11-25), or holds a number that is not finite. `out` is then as before.
pub fn encode<T: Wire + ?Sized>(
    out: &mut BytesMut,
    value: &T,
    revision: Revision,
) -> Result<(), EncodeError> {
    run(out, value, Some(revision))
}

/// As [`encode`], into a value of its own.
///
/// # Errors
/// As [`encode`].
pub fn to_raw<T: Wire + ?Sized>(value: &T, revision: Revision) -> Result<RawJson, EncodeError> {
    let mut out = BytesMut::with_capacity(256);
    run(&mut out, value, Some(revision))?;
    RawJson::from_bytes(out.freeze(), &mcp_jsonrpc::Limits::default()).map_err(|error| EncodeError {
        what: error.to_string().into(),
        revision: Some(revision),
    })
}

fn run<T: Wire + ?Sized>(
    out: &mut BytesMut,
    value: &T,
    revision: Option<Revision>,
) -> Result<(), EncodeError> {
    let before = out.len();
    let mut writer = Writer {
        out,
        revision,
        error: None,
    };
    value.write(&mut writer);
    match writer.error {
        None => Ok(()),
        Some(error) => {
            out.truncate(before);
            Err(error)
        }
    }
}

/// `Serialize` of an entity: everything it holds.
pub(crate) fn serialize<T: Wire + ?Sized, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    use serde::ser::Error;
    let mut out = BytesMut::with_capacity(256);
    run(&mut out, value, None).map_err(S::Error::custom)?;
    serde_json::from_slice::<&RawValue>(&out)
        .map_err(S::Error::custom)?
        .serialize(serializer)
}

/// Why a value could not be written for a revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodeError {
    what: std::borrow::Cow<'static, str>,
    revision: Option<Revision>,
}

impl EncodeError {
    /// The revision that was asked for.
    pub fn revision(&self) -> Option<Revision> {
        self.revision
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.revision {
            Some(revision) => write!(f, "{} cannot be written for {revision}", self.what),
            None => write!(f, "{} cannot be written", self.what),
        }
    }
}

impl std::error::Error for EncodeError {}

/// Where a [`Wire`] value writes itself, and for whom.
pub struct Writer<'a> {
    out: &'a mut BytesMut,
    revision: Option<Revision>,
    error: Option<EncodeError>,
}

impl<'w> Writer<'w> {
    /// The revision to write for; `None` means everything there is.
    pub fn revision(&self) -> Option<Revision> {
        self.revision
    }

    /// Whether what exists in `revisions` may be written.
    pub fn shows(&self, revisions: Revisions) -> bool {
        self.revision.is_none_or(|revision| revisions.contains(revision))
    }

    /// Whether the peer speaks a revision older than `revision`.
    pub fn is_before(&self, revision: Revision) -> bool {
        self.revision.is_some_and(|own| own < revision)
    }

    /// Whether the peer speaks a stateless revision.
    pub(crate) fn is_stateless(&self) -> bool {
        self.revision.is_some_and(Revision::is_stateless)
    }

    /// Makes the encoding fail: `what` cannot be said in this revision. The first reason stays.
    pub fn refuse(&mut self, what: impl Into<std::borrow::Cow<'static, str>>) {
        let revision = self.revision;
        self.error.get_or_insert_with(|| EncodeError {
            what: what.into(),
            revision,
        });
    }

    /// Writes a JSON value as it is.
    pub fn raw(&mut self, value: &RawJson) {
        self.out.put_slice(value.as_bytes());
    }

    /// Writes a string.
    pub fn string(&mut self, text: &str) {
        mcp_jsonrpc::encode::string(self.out, text);
    }

    /// Writes a value of serde's world.
    pub fn plain<T: Serialize + ?Sized>(&mut self, value: &T) {
        if let Err(error) = serde_json::to_writer((&mut *self.out).writer(), value) {
            self.refuse(error.to_string());
        }
    }

    /// Starts an object.
    pub(crate) fn object(&mut self) -> Members<'_, 'w> {
        Members::start(self)
    }
}

/// Any serializable value, written for every revision in the same way.
#[derive(Debug, Clone, Copy)]
pub struct Open<T>(pub T);

impl<T: Serialize> Wire for Open<T> {
    fn write(&self, out: &mut Writer<'_>) {
        out.plain(&self.0);
    }
}

impl Wire for RawJson {
    fn write(&self, out: &mut Writer<'_>) {
        out.raw(self);
    }
}

impl Wire for str {
    fn write(&self, out: &mut Writer<'_>) {
        out.string(self);
    }
}

impl Wire for String {
    fn write(&self, out: &mut Writer<'_>) {
        out.string(self);
    }
}

impl Wire for bool {
    fn write(&self, out: &mut Writer<'_>) {
        out.out.put_slice(if *self { b"true" } else { b"false" });
    }
}

impl Wire for i64 {
    fn write(&self, out: &mut Writer<'_>) {
        out.plain(self);
    }
}

impl Wire for u64 {
    fn write(&self, out: &mut Writer<'_>) {
        out.plain(self);
    }
}

impl Wire for RequestId {
    fn write(&self, out: &mut Writer<'_>) {
        match self {
            RequestId::Number(n) => n.write(out),
            RequestId::String(s) => out.string(s),
        }
    }
}

impl<T: Wire + ?Sized> Wire for &T {
    fn write(&self, out: &mut Writer<'_>) {
        (**self).write(out);
    }
}

impl<T: Wire + ?Sized> Wire for Box<T> {
    fn write(&self, out: &mut Writer<'_>) {
        (**self).write(out);
    }
}

impl<T: Wire> Wire for [T] {
    fn write(&self, out: &mut Writer<'_>) {
        out.out.put_u8(b'[');
        for (at, value) in self.iter().enumerate() {
            if at > 0 {
                out.out.put_u8(b',');
            }
            value.write(out);
        }
        out.out.put_u8(b']');
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn write(&self, out: &mut Writer<'_>) {
        self.as_slice().write(out);
    }
}
