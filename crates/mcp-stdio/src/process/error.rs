use std::io;
use std::path::PathBuf;

use super::shown::shown;

/// Why a program could not be started. The text names the program and, if it was searched for, the `PATH` used.
/// Arguments and environment values never appear in it, since they may be secrets.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct SpawnError(#[from] Kind);

#[derive(Debug, thiserror::Error)]
pub(super) enum Kind {
    #[error("the command is empty")]
    Empty,
    #[error("cannot find \"{}\" on PATH ({}); give the full path or add PATH to env", shown(.program), shown(.path))]
    NotOnPath { program: String, path: String },
    #[error("cannot find \"{}\": there is no such file", shown(.program))]
    NoSuchFile { program: String },
    #[error("\"{}\" is not an executable file", shown(&.file.to_string_lossy()))]
    NotExecutable { file: PathBuf },
    #[error("cannot start \"{}\": the working directory {} is not a directory", shown(.program), shown(&.cwd.to_string_lossy()))]
    WorkingDirectory { program: String, cwd: PathBuf },
    #[error("cannot start \"{}\" outside a tokio runtime", shown(.program))]
    NoRuntime { program: String },
    #[error("cannot start \"{}\": {source}", shown(.program))]
    Io { program: String, source: io::Error },
}

impl SpawnError {
    /// The program does not exist where it was looked for: a matter of configuration or installation.
    pub fn is_not_found(&self) -> bool {
        matches!(
            self.0,
            Kind::Empty | Kind::NotOnPath { .. } | Kind::NoSuchFile { .. }
        )
    }

    /// There is a file, but it may not be run.
    pub fn is_not_executable(&self) -> bool {
        matches!(self.0, Kind::NotExecutable { .. })
    }

    /// The system refused for now (too many processes, no memory, ...): trying again later may work.
    pub fn is_system(&self) -> bool {
        matches!(self.0, Kind::Io { .. })
    }
}
