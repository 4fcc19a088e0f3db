use mcp_jsonrpc::RawJson;

use crate::Revision;
use crate::entity::{entity, words};
use crate::value::Meta;
use crate::wire::{Wire, Writer};

words! {
    /// How bad it is; they compare by severity (RFC 5424).
    ///
    /// The first form of 2024-10-07 knows only debug, info, warning and error; there the others are written as
    /// the nearest of those.
    LoggingLevel {
        /// For whoever debugs.
        Debug = "debug",
        /// Usual events.
        Info = "info",
        /// Usual but worth notice.
        Notice = "notice",
        /// Not yet an error.
        Warning = "warning",
        /// An operation failed.
        Error = "error",
        /// A component failed.
        Critical = "critical",
        /// Somebody must act now.
        Alert = "alert",
        /// The system is unusable.
        Emergency = "emergency",
    }
}

impl Wire for LoggingLevel {
    fn write(&self, out: &mut Writer<'_>) {
        let level = if out.is_before(Revision::V2024_11_05) {
            match self {
                LoggingLevel::Notice => LoggingLevel::Info,
                LoggingLevel::Critical | LoggingLevel::Alert | LoggingLevel::Emergency => LoggingLevel::Error,
                other => *other,
            }
        } else {
            *self
        };
        out.string(level.as_str());
    }
}

entity! {
    /// Parameters of `logging/setLevel`.
    SetLevelParams {
        /// The least severity to be sent.
        required level: LoggingLevel = "level",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}

entity! {
    /// Parameters of `notifications/message`. Never put secrets or personal data in one.
    LogMessageParams {
        /// How bad it is.
        required level: LoggingLevel = "level",
        /// Which part of the server says so.
        optional logger/with_logger: String = "logger",
        /// What happened, any JSON.
        required data: RawJson = "data",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}
