use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;

use super::child::Child;
use super::environment::{Environment, Rules, child_environment};
use super::error::{Kind, SpawnError};
use super::resolve::resolve;
use super::stderr::{Sink, StderrLine};
use super::supervise::Grace;
use crate::Options;

/// A program to start as a server, and how.
///
/// Arguments go to the program one by one; no shell is involved. `Debug` shows neither arguments nor values of
/// variables.
///
/// ```no_run
/// # async fn start() -> Result<(), mcp_stdio::process::SpawnError> {
/// use mcp_stdio::process::Command;
///
/// let mut child = Command::new("weather-server").arg("--units=metric").env("API_KEY", "...").spawn()?;
/// let (input, output) = (child.take_stdin(), child.take_stdout());
/// // ... talk to it ...
/// drop((input, output));
/// let report = child.close().await;
/// assert!(report.status().is_success());
/// # Ok(())
/// # }
/// ```
#[must_use = "a command does nothing until it is spawned"]
#[derive(Clone)]
pub struct Command {
    program: OsString,
    args: Vec<OsString>,
    env: BTreeMap<OsString, Option<OsString>>,
    inherit: Vec<OsString>,
    cwd: Option<PathBuf>,
    stderr: Option<SharedSink>,
    tail: usize,
    grace: Grace,
    options: Options,
}

type SharedSink = Arc<dyn Fn(StderrLine<'_>) + Send + Sync>;

impl Command {
    /// Bytes of standard error kept for reports unless told otherwise.
    pub const STDERR_TAIL: usize = 64 * 1024;

    /// A program by name (looked up in the child's `PATH`) or by path.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: BTreeMap::new(),
            inherit: Vec::new(),
            cwd: None,
            stderr: None,
            tail: Self::STDERR_TAIL,
            grace: Grace::default(),
            options: Options::default(),
        }
    }

    /// Adds one argument.
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets a variable for the child. A `PATH` set here is also the one the program is looked up in.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.insert(name.into(), Some(value.into()));
        self
    }

    /// Sets variables for the child.
    pub fn envs<N: Into<OsString>, V: Into<OsString>>(
        mut self,
        all: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        self.env.extend(
            all.into_iter()
                .map(|(name, value)| (name.into(), Some(value.into()))),
        );
        self
    }

    /// Keeps a variable from the child, even one that would be inherited.
    pub fn env_remove(mut self, name: impl Into<OsString>) -> Self {
        self.env.insert(name.into(), None);
        self
    }

    /// Passes one more of our own variables on, if it is set.
    pub fn inherit(mut self, name: impl Into<OsString>) -> Self {
        self.inherit.push(name.into());
        self
    }

    /// The child's working directory; ours by default.
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// Calls `sink` with every line of standard error, as it comes. It runs on the runtime: do not block in it.
    pub fn on_stderr(mut self, sink: impl Fn(StderrLine<'_>) + Send + Sync + 'static) -> Self {
        self.stderr = Some(Arc::new(sink));
        self
    }

    /// How many of the last bytes of standard error to keep for reports; [`Command::STDERR_TAIL`] by default.
    pub fn stderr_tail(mut self, bytes: usize) -> Self {
        self.tail = bytes;
        self
    }

    /// How long each step of a close may take.
    pub fn grace(mut self, grace: Grace) -> Self {
        self.grace = grace;
        self
    }

    /// What the child will see, and which configured variables deserve a warning.
    pub fn environment(&self) -> Environment {
        child_environment(Rules::here(), std::env::vars_os(), &self.inherit, &self.env)
    }

    /// The file that would be started.
    ///
    /// # Errors
    /// See [`resolve`](super::resolve::resolve).
    pub fn resolve(&self) -> Result<PathBuf, SpawnError> {
        let environment = self.environment();
        resolve(&self.program, path_of(&environment), self.cwd.as_deref())
    }

    /// Bounds of the connection to it, where it is used as a transport.
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    pub(crate) fn connection_options(&self) -> &Options {
        &self.options
    }

    /// Starts the program. Must be called inside a tokio runtime with IO and time enabled, which then also runs the
    /// tasks that drain standard error and watch the child.
    ///
    /// # Errors
    /// If the program cannot be found or started. Nothing is left behind then.
    pub fn spawn(self) -> Result<Child, SpawnError> {
        let program = self.program.to_string_lossy().into_owned();
        let environment = self.environment();
        let file = resolve(&self.program, path_of(&environment), self.cwd.as_deref())?;
        if let Some(cwd) = self.cwd.as_ref().filter(|cwd| !cwd.is_dir()) {
            return Err(Kind::WorkingDirectory {
                program,
                cwd: cwd.clone(),
            }
            .into());
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return Err(Kind::NoRuntime { program }.into());
        };

        let mut command = tokio::process::Command::new(file);
        command.args(&self.args).env_clear().envs(&environment.variables);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        #[cfg(unix)]
        command.process_group(0);
        match command.spawn() {
            Ok(child) => Ok(Child::start(
                &runtime,
                program,
                child,
                self.stderr
                    .map(|sink| Box::new(move |line: StderrLine<'_>| sink(line)) as Sink),
                self.tail,
                self.grace,
            )),
            Err(source) => Err(Kind::Io { program, source }.into()),
        }
    }
}

fn path_of(environment: &Environment) -> Option<&OsStr> {
    let is_path = |name: &OsStr| {
        if cfg!(windows) {
            name.eq_ignore_ascii_case("PATH")
        } else {
            name == "PATH"
        }
    };
    environment
        .variables
        .iter()
        .find(|(name, _)| is_path(name))
        .map(|(_, value)| value.as_os_str())
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Command")
            .field("program", &self.program)
            .field("args", &self.args.len())
            .field("env", &self.env.keys().collect::<Vec<_>>())
            .field("inherit", &self.inherit)
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}
