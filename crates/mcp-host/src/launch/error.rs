use std::time::Duration;

use mcp_bridge::BridgeError;
use mcp_client::ClientError;

use crate::config::{ConfigError, Diagnostic};

/// Why a server could not be started. The text is for people, and safe to print where the server's is not: show it
/// through [`shown`](mcp_stdio::process::shown).
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct LaunchError(#[from] Kind);

#[derive(Debug, thiserror::Error)]
enum Kind {
    #[error("{}", config_text(.0))]
    Config(Diagnostic),
    #[error("env_file: {0}")]
    EnvFile(ConfigError),
    #[error("{0}")]
    Url(mcp_exchange::LinkError),
    #[error("{0}")]
    Client(ClientError),
    #[error("{0}")]
    Bridge(BridgeError),
    #[error("not ready within {} s; \"startup_timeout\" in its entry gives it more{tail}", time.as_secs_f64())]
    Slow { time: Duration, tail: String },
    #[error("starting it failed unexpectedly")]
    Lost,
}

/// The server's name stands before it already.
fn config_text(found: &Diagnostic) -> String {
    format!(
        "{} ({}:{}:{})",
        found.message,
        found.path.display(),
        found.line,
        found.column
    )
}

impl LaunchError {
    pub(super) fn config(found: Diagnostic) -> Self {
        Kind::Config(found).into()
    }

    pub(super) fn env_file(error: ConfigError) -> Self {
        Kind::EnvFile(error).into()
    }

    pub(super) fn url(error: mcp_exchange::LinkError) -> Self {
        Kind::Url(error).into()
    }

    pub(super) fn client(error: ClientError) -> Self {
        Kind::Client(error).into()
    }

    pub(super) fn bridge(error: BridgeError) -> Self {
        Kind::Bridge(error).into()
    }

    pub(super) fn slow(time: Duration, last: &[String]) -> Self {
        let tail = last.iter().map(|line| format!("\n  stderr: {line}")).collect();
        Kind::Slow { time, tail }.into()
    }

    pub(super) fn lost() -> Self {
        Kind::Lost.into()
    }

    /// Whether the configuration is at fault; trying again changes nothing.
    pub fn is_config(&self) -> bool {
        matches!(self.0, Kind::Config(_) | Kind::EnvFile(_) | Kind::Bridge(_))
    }

    /// Whether the server took too long.
    pub fn is_timeout(&self) -> bool {
        match &self.0 {
            Kind::Slow { .. } => true,
            Kind::Client(error) => error.is_timeout(),
            _ => false,
        }
    }

    /// What the client said, where the program was started but no connection came about.
    pub fn as_client_error(&self) -> Option<&ClientError> {
        match &self.0 {
            Kind::Client(error) => Some(error),
            _ => None,
        }
    }
}
