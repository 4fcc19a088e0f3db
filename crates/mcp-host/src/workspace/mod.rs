//! File tools that stay inside one folder.
//!
//! This is the logic only: plain, blocking functions with typed arguments, to be registered as tools by a server.
//! Call them from a thread that may block.
//!
//! The folder is opened once, and every access goes through that handle, component by component and without following
//! links out of it, so there is no moment between a check and its use. Hard links cannot be told from ordinary files:
//! what is linked into the folder is inside it.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use mcp_host::workspace::{Limits, ListFiles, ReadFile, Workspace};
//!
//! let folder = std::env::temp_dir().join("mcp-host-doc");
//! std::fs::create_dir_all(&folder)?;
//! std::fs::write(folder.join("notes.txt"), "buy milk\n")?;
//!
//! let workspace = Workspace::open(&folder, Limits::default())?;
//! assert_eq!(workspace.list_files(&ListFiles::default())?, "notes.txt");
//! assert_eq!(workspace.read_file(&ReadFile::new("notes.txt"))?, "buy milk\n");
//! let error = workspace.read_file(&ReadFile::new("../../etc/passwd")).unwrap_err();
//! assert_eq!(error.to_string(), "path escapes the workspace");
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok(())
//! # }
//! ```

mod cut;
mod edit;
mod error;
mod glob;
mod limits;
mod list;
mod path;
mod read;
mod root;
mod search;
mod write;

#[cfg(test)]
mod scratch;

pub use edit::EditFile;
pub use error::WorkspaceError;
pub use limits::Limits;
pub use list::ListFiles;
pub use read::ReadFile;
pub use root::Workspace;
pub use search::SearchFiles;
pub use write::WriteFile;
