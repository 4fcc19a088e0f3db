//! Filling the templates of one server in, when it is about to start.

use std::path::{Path, PathBuf};

use super::diagnostic::{Code, ConfigError, Diagnostic, Reporter, Severity};
use super::env_file;
use super::spec::{HttpSpec, RemoteMode, ServerSpec, StdioSpec, Transport};
use super::surroundings::{Secret, Surroundings};
use super::template::{Gap, Odd, Template};

/// A server ready to start. `Debug` shows no value that came from the file or a variable.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Launch {
    /// Start a program.
    Stdio(StdioLaunch),
    /// Connect to a URL.
    Http(HttpLaunch),
}

/// A program to start.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StdioLaunch {
    /// The program: a bare name for a search in `PATH`, or an absolute path.
    pub command: Secret,
    /// Its arguments.
    pub args: Vec<Secret>,
    /// Variables the file sets, without those of `env_file`.
    pub env: Vec<(String, Secret)>,
    /// Variables to keep from the child.
    pub env_unset: Vec<String>,
    /// More variables of ours to pass on.
    pub inherit: Vec<String>,
    /// A file with more variables.
    pub env_file: Option<PathBuf>,
    /// The working directory.
    pub cwd: Option<PathBuf>,
}

/// A URL to connect to.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpLaunch {
    /// Which transport.
    pub mode: RemoteMode,
    /// The endpoint.
    pub url: Secret,
    /// Headers for every request.
    pub headers: Vec<(String, Secret)>,
    /// A program that prints headers; not filled in, since it runs only with consent of its own.
    pub headers_helper: Option<String>,
}

impl StdioLaunch {
    /// All variables for the child: those of the file, with those of `env` on top.
    ///
    /// # Errors
    /// If there is an `env_file` that cannot be read.
    pub fn merged_env(&self) -> Result<Vec<(String, Secret)>, ConfigError> {
        let Some(path) = &self.env_file else {
            return Ok(self.env.clone());
        };
        let text = std::fs::read_to_string(path).map_err(|source| ConfigError::read(path, source))?;
        let mut all = env_file::parse(&text);
        all.retain(|(name, _)| {
            !self.env.iter().any(|(set, _)| set == name) && !self.env_unset.contains(name)
        });
        all.extend(self.env.iter().cloned());
        Ok(all)
    }
}

impl ServerSpec {
    /// Every variable the entry mentions, once each, in order. Lets a host show what is set without showing values.
    pub fn variables(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for template in self.templates() {
            for name in template.variables() {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }

    fn templates(&self) -> Vec<&Template> {
        match &self.transport {
            Ok(Transport::Stdio(stdio)) => std::iter::once(&stdio.command)
                .chain(&stdio.args)
                .chain(stdio.env.iter().filter_map(|(_, value)| value.as_ref()))
                .chain(&stdio.env_file)
                .chain(&stdio.cwd)
                .collect(),
            Ok(Transport::Http(http)) => std::iter::once(&http.url)
                .chain(http.headers.iter().map(|(_, value)| value))
                .collect(),
            Err(_) => Vec::new(),
        }
    }

    /// Fills the templates in. The second part of the answer are warnings.
    ///
    /// # Errors
    /// The one reason why this server cannot start: the entry itself, a variable that is not set, and so on. It names
    /// the server, the field and the variable, never a value.
    pub fn resolve(&self, around: &Surroundings) -> Result<(Launch, Vec<Diagnostic>), Diagnostic> {
        let transport = self.transport.as_ref().map_err(Diagnostic::clone)?;
        let mut reporter = Reporter::new(&self.path);
        reporter.about(Some(&self.name));
        let mut resolver = Resolver {
            spec: self,
            around,
            reporter,
        };
        let launch = match transport {
            Transport::Stdio(stdio) => Launch::Stdio(resolver.stdio(stdio)?),
            Transport::Http(http) => Launch::Http(resolver.http(http)?),
        };
        let mut warnings = resolver.reporter.finish();
        warnings.retain(|found| found.severity == Severity::Warning);
        Ok((launch, warnings))
    }
}

struct Resolver<'a> {
    spec: &'a ServerSpec,
    around: &'a Surroundings,
    reporter: Reporter,
}

impl Resolver<'_> {
    fn stdio(&mut self, spec: &StdioSpec) -> Result<StdioLaunch, Diagnostic> {
        let command = self.fill("command", &spec.command)?.0;
        let mut env = Vec::new();
        let mut env_unset = Vec::new();
        for (name, value) in &spec.env {
            match value {
                Some(value) => env.push((
                    name.clone(),
                    Secret::new(self.fill(&format!("env.{name}"), value)?.0),
                )),
                None => env_unset.push(name.clone()),
            }
        }
        let mut args = Vec::new();
        for (at, arg) in spec.args.iter().enumerate() {
            args.push(Secret::new(self.fill(&format!("args[{at}]"), arg)?.0));
        }
        Ok(StdioLaunch {
            command: Secret::new(self.command(command)?),
            args,
            env,
            env_unset,
            inherit: spec.inherit.clone(),
            env_file: spec
                .env_file
                .as_ref()
                .map(|file| self.path("env_file", file))
                .transpose()?,
            cwd: spec.cwd.as_ref().map(|cwd| self.path("cwd", cwd)).transpose()?,
        })
    }

    fn http(&mut self, spec: &HttpSpec) -> Result<HttpLaunch, Diagnostic> {
        let (url, _) = self.fill("url", &spec.url)?;
        if !(url.starts_with("http://") || url.starts_with("https://")) {
            let text = "\"url\" must start with http:// or https://";
            return Err(self.reporter.error(Code::BadValue, self.spec.place, text));
        }
        let mut headers = Vec::new();
        for (name, value) in &spec.headers {
            let field = format!("headers.{name}");
            let (value, has_gap) = self.fill(&field, value)?;
            // "Bearer " with nothing behind it is as empty as nothing.
            if has_gap && value.trim().is_empty() {
                continue;
            }
            if value.contains(['\r', '\n', '\0']) {
                let text = format!("{field} has a line break in its value");
                return Err(self.reporter.error(Code::BadValue, self.spec.place, text));
            }
            headers.push((name.clone(), Secret::new(value)));
        }
        let headers_helper = spec
            .headers_helper
            .as_ref()
            .map(|helper| helper.source().to_owned());
        Ok(HttpLaunch {
            mode: spec.mode,
            url: Secret::new(url),
            headers,
            headers_helper,
        })
    }

    /// The text, and whether a variable in it was taken as empty.
    fn fill(&mut self, field: &str, template: &Template) -> Result<(String, bool), Diagnostic> {
        let place = self.spec.place;
        for odd in template.odd() {
            match odd {
                Odd::Command => {
                    let text = format!("{field}: $(...) is not run from configuration files");
                    return Err(self.reporter.error(Code::CommandSubstitutionRefused, place, text));
                }
                Odd::Operator(text) => {
                    let text = format!("{field}: {text} is sent as text");
                    self.reporter.warn(Code::UnsupportedExpansion, place, text);
                }
                Odd::Foreign { text, name } if self.around.is_set(name) => {
                    let text =
                        format!("{field}: {text} is sent as text; this format writes variables another way");
                    self.reporter.warn(Code::ForeignSyntax, place, text);
                }
                Odd::Foreign { .. } => {}
            }
        }
        match template.fill(self.around) {
            Ok(filled) => {
                for name in &filled.empty {
                    let text = format!("{field}: {name} is not set; used as empty");
                    self.reporter.warn(Code::UnsetVariableEmpty, place, text);
                }
                Ok((filled.text, !filled.empty.is_empty()))
            }
            Err(gap) => Err(self.gap(field, &gap)),
        }
    }

    fn gap(&mut self, field: &str, gap: &Gap) -> Diagnostic {
        let (code, text) = match gap {
            Gap::Variable {
                name,
                message: Some(message),
            } if !message.is_empty() => (
                Code::UnsetVariable,
                format!("needs {name} ({field}); it is not set: {message}"),
            ),
            Gap::Variable { name, .. } => (
                Code::UnsetVariable,
                format!("needs {name} ({field}); it is not set. Set it, or write ${{{name}:-default}}"),
            ),
            Gap::Input(id) => (Code::MissingInput, format!("waits for input {id:?} ({field})")),
            Gap::Home => (
                Code::UnsetVariable,
                format!("needs the home folder ({field}), which is not known"),
            ),
        };
        self.reporter.error(code, self.spec.place, text)
    }

    /// A bare name stays one, for the search in `PATH`; a path becomes absolute.
    fn command(&mut self, command: String) -> Result<String, Diagnostic> {
        let separators: &[char] = if cfg!(windows) { &['/', '\\'] } else { &['/'] };
        if !command.contains(separators) && command != "~" {
            return Ok(command);
        }
        Ok(self.absolute("command", &command)?.to_string_lossy().into_owned())
    }

    fn path(&mut self, field: &str, template: &Template) -> Result<PathBuf, Diagnostic> {
        let (text, _) = self.fill(field, template)?;
        self.absolute(field, &text)
    }

    fn absolute(&mut self, field: &str, text: &str) -> Result<PathBuf, Diagnostic> {
        let home_path = text.strip_prefix("~/").or((text == "~").then_some(""));
        let path = match home_path {
            Some(rest) => match self.around.home() {
                Some(home) => home.join(rest),
                None => return Err(self.gap(field, &Gap::Home)),
            },
            None => self.around.workspace().join(text),
        };
        Ok(clean(&path))
    }
}

/// Takes `.` out, for readable paths. `..` stays: behind a link it means something else.
fn clean(path: &Path) -> PathBuf {
    path.components()
        .filter(|part| !matches!(part, std::path::Component::CurDir))
        .collect()
}
