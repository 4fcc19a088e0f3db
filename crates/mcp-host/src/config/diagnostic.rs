use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The server concerned is not started.
    Error,
    /// The file means something, perhaps not what was meant.
    Warning,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// What kind of problem it is; `as_str` gives the stable name for programs.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code { $($(#[$doc])* $name,)* }

        impl Code {
            /// The name, such as `unset-variable`.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $text,)* }
            }
        }
    };
}

codes! {
    /// The servers stand under another format's key.
    WrongTopKey = "wrong-top-key",
    /// The file lists no servers.
    NoServers = "no-servers",
    /// Neither a command nor a URL.
    MissingEndpoint = "missing-endpoint",
    /// A command and a URL.
    MixedTransport = "mixed-transport",
    /// A transport this host does not have.
    UnsupportedTransport = "unsupported-transport",
    /// No type was given where the format wants one.
    TransportInferred = "transport-inferred",
    /// A field has a value of the wrong kind.
    BadValue = "bad-value",
    /// A field of another format; read anyway.
    ForeignField = "foreign-field",
    /// A field that means nothing here.
    IgnoredField = "ignored-field",
    /// A field nobody knows.
    UnknownField = "unknown-field",
    /// The entry asks for a restriction this host cannot give.
    UnsupportedRestriction = "unsupported-restriction",
    /// A variable that is needed is not set.
    UnsetVariable = "unset-variable",
    /// A variable is not set and was taken as empty, as this format does.
    UnsetVariableEmpty = "unset-variable-empty",
    /// A value that has to be asked for is not there.
    MissingInput = "missing-input",
    /// A reference in the syntax of another format; it stays as text.
    ForeignSyntax = "foreign-syntax",
    /// A shell operator that is not supported; it stays as text.
    UnsupportedExpansion = "unsupported-expansion",
    /// `$(...)`, which is never run.
    CommandSubstitutionRefused = "command-substitution-refused",
    /// The command looks like a whole command line.
    CommandHasSpaces = "command-has-spaces",
    /// A time too short to be meant.
    TimeoutIgnored = "timeout-ignored",
    /// A time whose unit was guessed.
    TimeoutUnitGuessed = "timeout-unit-guessed",
    /// The same key twice; the last one counts.
    DuplicateKey = "duplicate-key",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One thing noticed in a file, with its place. `Display` gives a full line for a user; values of variables are never
/// part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// Whether the server still starts.
    pub severity: Severity,
    /// The kind, for programs.
    pub code: Code,
    /// The file.
    pub path: PathBuf,
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
    /// The server concerned, if any.
    pub server: Option<String>,
    /// What and how to fix it.
    pub message: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: ", self.path.display(), self.line, self.column)?;
        if self.severity == Severity::Warning {
            f.write_str("warning: ")?;
        }
        if let Some(server) = &self.server {
            write!(f, "server {server:?}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Diagnostic {}

/// A place in a file, both counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
}

/// Collects diagnostics for one file.
#[derive(Debug)]
pub(super) struct Reporter {
    path: PathBuf,
    server: Option<String>,
    all: Vec<Diagnostic>,
}

impl Reporter {
    pub(super) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            server: None,
            all: Vec::new(),
        }
    }

    /// The server that what follows is about.
    pub(super) fn about(&mut self, server: Option<&str>) {
        self.server = server.map(str::to_owned);
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn warn(&mut self, code: Code, place: Place, message: impl Into<String>) {
        let warning = self.make(Severity::Warning, code, place, message.into());
        self.all.push(warning);
    }

    /// Notes an error and hands it back, so that the entry can keep it.
    pub(super) fn error(&mut self, code: Code, place: Place, message: impl Into<String>) -> Diagnostic {
        let error = self.make(Severity::Error, code, place, message.into());
        self.all.push(error.clone());
        error
    }

    fn make(&self, severity: Severity, code: Code, place: Place, message: String) -> Diagnostic {
        let (path, server) = (self.path.clone(), self.server.clone());
        Diagnostic {
            severity,
            code,
            path,
            line: place.line,
            column: place.column,
            server,
            message,
        }
    }

    pub(super) fn finish(self) -> Vec<Diagnostic> {
        self.all
    }
}

/// Why a whole file could not be used.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ConfigError(#[from] Kind);

#[derive(Debug, thiserror::Error)]
enum Kind {
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{}: larger than {limit} bytes", path.display())]
    TooLarge { path: PathBuf, limit: u64 },
    #[error("{}:{line}:{column}: {text}", path.display())]
    Parse {
        path: PathBuf,
        line: usize,
        column: usize,
        text: String,
    },
}

impl ConfigError {
    pub(super) fn read(path: &Path, source: io::Error) -> Self {
        Kind::Read {
            path: path.to_owned(),
            source,
        }
        .into()
    }

    pub(super) fn too_large(path: &Path, limit: u64) -> Self {
        Kind::TooLarge {
            path: path.to_owned(),
            limit,
        }
        .into()
    }

    pub(super) fn parse(path: &Path, place: Place, text: impl Into<String>) -> Self {
        Kind::Parse {
            path: path.to_owned(),
            line: place.line,
            column: place.column,
            text: text.into(),
        }
        .into()
    }

    /// There is no such file.
    pub fn is_not_found(&self) -> bool {
        matches!(&self.0, Kind::Read { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// The text is at fault; [`ConfigError::position`] says where.
    pub fn is_parse(&self) -> bool {
        matches!(self.0, Kind::Parse { .. })
    }

    /// Line and column of a fault in the text, both counted from 1.
    pub fn position(&self) -> Option<(usize, usize)> {
        match self.0 {
            Kind::Parse { line, column, .. } => Some((line, column)),
            _ => None,
        }
    }
}
