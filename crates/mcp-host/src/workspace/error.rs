use std::io;

/// Why a workspace tool failed, in words for the model or user that called it. Names relative paths only.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct WorkspaceError(#[from] Kind);

#[derive(Debug, thiserror::Error)]
pub(super) enum Kind {
    #[error("path escapes the workspace")]
    Escape,
    #[error("the path is empty")]
    EmptyPath,
    #[error("the path is longer than {limit} bytes")]
    LongPath { limit: usize },
    #[error("the path has a control, separator or invisible character")]
    BadCharacter,
    #[error("{path}: no such file or folder")]
    NotFound { path: String },
    #[error("{path}: not a regular file")]
    NotAFile { path: String },
    #[error("{path}: not a folder")]
    NotAFolder { path: String },
    #[error("{path}: binary file of {size} bytes; only text can be read")]
    Binary { path: String, size: u64 },
    #[error("{path}: {size} bytes; the limit is {limit}")]
    TooLarge { path: String, size: u64, limit: u64 },
    #[error("{path}: has {lines} lines; there is no line {asked}")]
    NoSuchLine {
        path: String,
        lines: usize,
        asked: usize,
    },
    #[error("{0}")]
    Argument(String),
    #[error("{path}: the old text does not occur")]
    NoMatch { path: String },
    #[error("{path}: the old text occurs {count} times; add lines around it until it occurs once")]
    ManyMatches { path: String, count: usize },
    #[error("{path}: {source}")]
    Io { path: String, source: io::Error },
    #[error("cannot open the workspace: {0}")]
    Open(io::Error),
}

impl WorkspaceError {
    /// The path led out of the workspace.
    pub fn is_escape(&self) -> bool {
        matches!(self.0, Kind::Escape)
    }

    /// There is nothing at that path.
    pub fn is_not_found(&self) -> bool {
        matches!(self.0, Kind::NotFound { .. })
    }

    /// A limit of [`Limits`](super::Limits) was reached.
    pub fn is_limit(&self) -> bool {
        matches!(self.0, Kind::TooLarge { .. } | Kind::LongPath { .. })
    }

    /// Sorts a failure of the file system. The confining layer reports an attempt to leave as "permission denied"
    /// without a number from the system behind it.
    pub(super) fn io(path: &str, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::PermissionDenied if source.raw_os_error().is_none() => Kind::Escape,
            io::ErrorKind::NotFound => Kind::NotFound { path },
            io::ErrorKind::NotADirectory => Kind::NotFound { path },
            io::ErrorKind::IsADirectory => Kind::NotAFile { path },
            _ => Kind::Io { path, source },
        }
        .into()
    }
}
