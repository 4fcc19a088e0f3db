use bytes::BufMut;

use super::{Wire, Writer};
use crate::Revisions;
use crate::value::JsonObject;

/// The members of an object being written.
pub(crate) struct Members<'m, 'w> {
    writer: &'m mut Writer<'w>,
    first: bool,
}

impl<'m, 'w> Members<'m, 'w> {
    pub(super) fn start(writer: &'m mut Writer<'w>) -> Self {
        writer.out.put_u8(b'{');
        Self { writer, first: true }
    }

    /// The writer, to ask for whom this is.
    pub(crate) fn writer(&self) -> &Writer<'w> {
        self.writer
    }

    /// See [`Writer::refuse`].
    pub(crate) fn refuse(&mut self, what: &'static str) {
        self.writer.refuse(what);
    }

    /// A member that exists in `known`. `key` is one of ours: it needs no escapes.
    pub(crate) fn member<T: Wire + ?Sized>(&mut self, key: &'static str, known: Revisions, value: &T) {
        if self.writer.shows(known) {
            self.comma();
            self.writer.out.reserve(key.len() + 3);
            self.writer.out.put_u8(b'"');
            self.writer.out.put_slice(key.as_bytes());
            self.writer.out.put_slice(b"\":");
            value.write(self.writer);
        }
    }

    /// A member whose name is not ours.
    pub(crate) fn open<T: Wire + ?Sized>(&mut self, key: &str, value: &T) {
        self.comma();
        self.writer.string(key);
        self.writer.out.put_u8(b':');
        value.write(self.writer);
    }

    /// Members that came from a peer and are in no schema.
    pub(crate) fn extra(&mut self, extra: &JsonObject) {
        for (key, value) in extra.iter() {
            self.open(key, value);
        }
    }

    pub(crate) fn end(self) {
        self.writer.out.put_u8(b'}');
    }

    fn comma(&mut self) {
        if !std::mem::take(&mut self.first) {
            self.writer.out.put_u8(b',');
        }
    }
}
