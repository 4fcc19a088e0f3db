//! Logs on standard error, one safe line each.

use std::fmt::{self, Write};

use mcp_stdio::process::shown;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::screen;

/// A server logs warnings; the other commands say themselves what a person should know.
pub(crate) fn start(verbose: bool, serving: bool) {
    let most = match (verbose, serving) {
        (true, _) => Level::INFO,
        (false, true) => Level::WARN,
        (false, false) => return,
    };
    // Nothing else in this program sets one.
    let _ = tracing::subscriber::set_global_default(Lines { most });
}

/// Spans are not shown, so they need no numbers of their own.
struct Lines {
    most: Level,
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() <= self.most
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut text = Text::default();
        event.record(&mut text);
        let level = event.metadata().level().as_str().to_ascii_lowercase();
        let line = format!("mcp: {level}: {}{}", text.message, text.fields);
        screen::error_line(&shown(&line).replace('\n', "\n  "));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[derive(Default)]
struct Text {
    message: String,
    fields: String,
}

impl Visit for Text {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a String cannot fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}
