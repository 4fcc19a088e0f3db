use std::fmt;

use super::shown::shown;

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitStatus {
    /// It ended by itself with this code.
    Code(i32),
    /// A signal ended it (Unix).
    Signal(i32),
    /// Not known: the runtime stopped, or the system did not let the process end in time.
    Unknown,
}

impl ExitStatus {
    /// True for code 0.
    pub fn is_success(self) -> bool {
        self == ExitStatus::Code(0)
    }

    pub(super) fn new(status: std::process::ExitStatus) -> Self {
        #[cfg(unix)]
        if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
            return ExitStatus::Signal(signal);
        }
        status.code().map_or(ExitStatus::Unknown, ExitStatus::Code)
    }
}

impl fmt::Display for ExitStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExitStatus::Code(code) => write!(f, "exit code {code}"),
            ExitStatus::Signal(signal) => write!(f, "ended by signal {signal}"),
            ExitStatus::Unknown => f.write_str("exit code not known"),
        }
    }
}

/// How far a close had to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    /// The program ended on its own, or when its input was closed.
    ByItself,
    /// Its group was asked to end (`SIGTERM`).
    Terminated,
    /// Its group had to be killed (`SIGKILL`).
    Killed,
}

/// The end of a child in one value. `Display` is the text for a user: program, exit code, last lines of standard error.
#[derive(Clone, PartialEq, Eq)]
pub struct ExitReport {
    pub(super) program: String,
    pub(super) status: ExitStatus,
    pub(super) ending: Ending,
    pub(super) stderr_tail: String,
}

impl ExitReport {
    /// The program as it was given to [`Command::new`](super::Command::new), without arguments.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// How the program itself ended.
    pub fn status(&self) -> ExitStatus {
        self.status
    }

    /// How far the close had to go, seen from when this report was made.
    pub fn ending(&self) -> Ending {
        self.ending
    }

    /// The last bytes of standard error as text, raw: show it through [`shown`].
    pub fn stderr_tail(&self) -> &str {
        &self.stderr_tail
    }
}

/// Lines of standard error in the text for a user.
const LINES: usize = 20;

impl fmt::Display for ExitReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" finished: {}", shown(&self.program), self.status)?;
        let lines: Vec<&str> = self
            .stderr_tail
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        for line in &lines[lines.len().saturating_sub(LINES)..] {
            write!(f, "\n  stderr: {}", shown(line))?;
        }
        Ok(())
    }
}

/// The tail is left out: it is text of somebody else, of any length.
impl fmt::Debug for ExitReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExitReport")
            .field("program", &self.program)
            .field("status", &self.status)
            .field("ending", &self.ending)
            .field("stderr_tail", &format_args!("{} bytes", self.stderr_tail.len()))
            .finish()
    }
}
