use super::source::SourceError;

/// What a [`Registry`](super::Registry) could not do.
#[derive(Debug, Clone, thiserror::Error)]
#[error(transparent)]
pub struct BridgeError(#[from] Kind);

#[derive(Debug, Clone, thiserror::Error)]
enum Kind {
    #[error("Unknown tool: {0}")]
    UnknownTool(String),
    #[error("there is no server {0:?}")]
    NoServer(String),
    #[error("a server {0:?} is there already")]
    Attached(String),
    #[error("no more than {0} servers can be attached")]
    TooMany(usize),
    #[error(
        "tools of the server {server:?} would be named like those of the host, which start with {reserved:?}"
    )]
    Reserved { server: String, reserved: String },
    #[error("{name} may not be called: {reason}")]
    Refused { name: String, reason: String },
    #[error("{error}")]
    Source {
        server: String,
        #[source]
        error: SourceError,
    },
}

impl BridgeError {
    pub(super) fn unknown_tool(name: &str) -> Self {
        Self(Kind::UnknownTool(name.chars().take(200).collect()))
    }

    pub(super) fn no_server(name: &str) -> Self {
        Self(Kind::NoServer(name.to_owned()))
    }

    pub(super) fn attached(name: &str) -> Self {
        Self(Kind::Attached(name.to_owned()))
    }

    pub(super) fn too_many(max: usize) -> Self {
        Self(Kind::TooMany(max))
    }

    pub(super) fn reserved(server: &str, reserved: &str) -> Self {
        let (server, reserved) = (server.to_owned(), reserved.to_owned());
        Self(Kind::Reserved { server, reserved })
    }

    pub(super) fn refused(name: &str, reason: String) -> Self {
        let name = name.to_owned();
        Self(Kind::Refused { name, reason })
    }

    pub(super) fn source(server: &str, error: SourceError) -> Self {
        let server = server.to_owned();
        Self(Kind::Source { server, error })
    }

    /// Whether no tool has that name.
    pub fn is_unknown_tool(&self) -> bool {
        matches!(self.0, Kind::UnknownTool(_))
    }

    /// Whether the gate said no.
    pub fn is_refused(&self) -> bool {
        matches!(self.0, Kind::Refused { .. })
    }

    /// Whether a server cannot be attached because of its name.
    pub fn is_name_conflict(&self) -> bool {
        matches!(self.0, Kind::Attached(_) | Kind::Reserved { .. })
    }

    /// What the source said, and the server's name, when it was asked and gave no result.
    pub fn as_source(&self) -> Option<(&str, &SourceError)> {
        match &self.0 {
            Kind::Source { server, error } => Some((server, error)),
            _ => None,
        }
    }
}

/// Something that keeps a server or a tool out of a snapshot, or that a person should know. The rest is not touched.
#[derive(Debug, Clone)]
pub struct Problem {
    server: String,
    tool: Option<String>,
    text: String,
}

impl Problem {
    pub(super) fn of_server(server: &str, text: impl Into<String>) -> Self {
        Self {
            server: server.to_owned(),
            tool: None,
            text: text.into(),
        }
    }

    pub(super) fn of_tool(server: &str, tool: &str, text: impl Into<String>) -> Self {
        Self {
            tool: Some(tool.to_owned()),
            ..Self::of_server(server, text)
        }
    }

    /// The server's name.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The tool's own name, if it is about one tool.
    pub fn tool(&self) -> Option<&str> {
        self.tool.as_deref()
    }

    /// What it is, without the names.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.tool {
            Some(tool) => write!(f, "{}: tool {tool:?}: {}", self.server, self.text),
            None => write!(f, "{}: {}", self.server, self.text),
        }
    }
}
