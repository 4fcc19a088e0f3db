use crate::screen;

/// Why the command ends with a code other than 0: a text for the person who typed it.
#[derive(Debug)]
pub(crate) struct Failure {
    code: u8,
    text: String,
}

impl Failure {
    /// The operation failed. Exit code 1.
    pub(crate) fn operation(text: impl Into<String>) -> Self {
        Self {
            code: 1,
            text: text.into(),
        }
    }

    /// The operation failed, and everything was said already. Exit code 1.
    pub(crate) fn silent() -> Self {
        Self::operation("")
    }

    /// The command cannot be run as it was given, or the configuration cannot be read. Exit code 2.
    pub(crate) fn usage(text: impl Into<String>) -> Self {
        Self {
            code: 2,
            text: text.into(),
        }
    }

    /// Somebody stopped the command, who needs no words about it.
    pub(crate) fn stopped(code: u8) -> Self {
        Self {
            code,
            text: String::new(),
        }
    }

    pub(crate) fn code(&self) -> u8 {
        self.code
    }

    pub(crate) fn print(&self) {
        if !self.text.is_empty() {
            screen::note(&self.text);
        }
    }
}
