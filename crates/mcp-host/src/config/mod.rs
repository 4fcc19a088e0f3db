//! Files in which people list their servers.
//!
//! Reading has two steps with consent in between. [`HostConfig::load`] understands the file: it gives every server as
//! written, with [`Template`]s, and looks at no variable. [`ServerSpec::resolve`] fills the templates in for one server
//! that is about to start. What is wrong with one server never stops the others, and no text printed here holds a
//! resolved value.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use mcp_host::config::{HostConfig, Launch, Surroundings};
//!
//! let text = r#"{
//!   // comments and trailing commas are fine
//!   "mcpServers": {
//!     "notes": { "command": "notes-server", "args": ["--dir", "${NOTES:-/srv/notes}"] },
//!     "tracker": { "url": "https://tracker.example.com/mcp", "headers": { "Authorization": "Bearer ${TOKEN}" } },
//!   }
//! }"#;
//! let config = HostConfig::parse(text, "/home/ada/app/mcp-host.json")?;
//! let around = Surroundings::new(&config.workspace).with_variables([("HOME", "/home/ada")]);
//!
//! let (launch, _warnings) = config.servers[0].resolve(&around)?;
//! let Launch::Stdio(notes) = launch else { unreachable!() };
//! assert_eq!(notes.args[1].expose(), "/srv/notes");
//!
//! let problem = config.servers[1].resolve(&around).unwrap_err();
//! assert!(problem.to_string().contains("TOKEN"));
//! # Ok(())
//! # }
//! ```

mod diagnostic;
mod discover;
mod document;
mod entry;
mod env_file;
mod fields;
mod format;
mod resolve;
mod spec;
mod surroundings;
mod template;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

pub use diagnostic::{Code, ConfigError, Diagnostic, Severity};
pub use discover::{discover, workspace_root};
pub use format::Format;
pub use resolve::{HttpLaunch, Launch, StdioLaunch};
pub use spec::{HttpSpec, RemoteMode, ServerSpec, StdioSpec, Timeouts, ToolFilter, Transport};
pub use surroundings::{Secret, Surroundings};
pub use template::Template;

use diagnostic::Reporter;

/// Largest configuration file that is read, in bytes.
const LARGEST: u64 = 4 * 1024 * 1024;

/// A configuration file as understood.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HostConfig {
    /// The file.
    pub path: PathBuf,
    /// Whose rules it was read by.
    pub format: Format,
    /// The folder relative paths in the file start from, see [`workspace_root`].
    pub workspace: PathBuf,
    /// Every entry, in the order of the file; those that cannot be used too.
    pub servers: Vec<ServerSpec>,
    /// Everything noticed while reading, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
}

impl HostConfig {
    /// Reads a file.
    ///
    /// # Errors
    /// If the file cannot be read, is no JSON (with comments), or holds no servers in a known form.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ConfigError> {
        use std::io::Read;
        let path = path.as_ref();
        let path = std::path::absolute(path).map_err(|source| ConfigError::read(path, source))?;
        let failed = |source| ConfigError::read(&path, source);
        let mut text = String::new();
        let file = std::fs::File::open(&path).map_err(failed)?;
        if file.metadata().map_err(failed)?.is_dir() {
            return Err(failed(std::io::Error::from(std::io::ErrorKind::IsADirectory)));
        }
        file.take(LARGEST + 1).read_to_string(&mut text).map_err(failed)?;
        Self::parse(&text, path)
    }

    /// Reads the text of a file that lies at `path`, which should be absolute.
    ///
    /// # Errors
    /// As for [`HostConfig::load`], without the reading.
    pub fn parse(text: &str, path: impl Into<PathBuf>) -> Result<Self, ConfigError> {
        let path = path.into();
        if text.len() as u64 > LARGEST {
            return Err(ConfigError::too_large(&path, LARGEST));
        }
        let root = document::read(text, &path)?;
        let mut reporter = Reporter::new(&path);
        let (format, servers) = format::detect(&path, &root, &mut reporter)?;
        let servers = servers
            .map(|map| entry::read_all(format, map, &mut reporter))
            .unwrap_or_default();
        let workspace = workspace_root(&path);
        Ok(Self {
            format,
            workspace,
            servers,
            diagnostics: reporter.finish(),
            path,
        })
    }
}
