//! From one entry of a file to a [`ServerSpec`].

use std::time::Duration;

use super::diagnostic::{Code, Diagnostic, Place, Reporter};
use super::document::{Member, Node, Value};
use super::fields::{Field, find, suggestion};
use super::format::{Format, Timeout};
use super::spec::{HttpSpec, RemoteMode, ServerSpec, StdioSpec, Timeouts, ToolFilter, Transport};
use super::template::Template;

/// Reads every entry by itself: a bad one leaves the others alone.
pub(super) fn read_all(format: Format, servers: &Node, reporter: &mut Reporter) -> Vec<ServerSpec> {
    let mut specs: Vec<ServerSpec> = Vec::new();
    for member in last_of_each(servers, reporter) {
        // A bare map may carry its schema beside the servers.
        if member.name == "$schema" {
            continue;
        }
        reporter.about(Some(&member.name));
        specs.push(Entry::read(format, member, reporter));
    }
    reporter.about(None);
    specs
}

/// The members of an object, the last one of each name, with a warning for the others.
fn last_of_each<'a>(node: &'a Node, reporter: &mut Reporter) -> Vec<&'a Member> {
    let members = node.members().unwrap_or_default();
    let mut last = std::collections::HashMap::new();
    for (at, member) in members.iter().enumerate() {
        if last.insert(member.name.as_str(), at).is_some() {
            let text = format!("{:?} is defined twice; the last one counts", member.name);
            reporter.warn(Code::DuplicateKey, member.place, text);
        }
    }
    members
        .iter()
        .enumerate()
        .filter(|(at, member)| last[member.name.as_str()] == *at)
        .map(|(_, member)| member)
        .collect()
}

type Problem = Diagnostic;

/// What an entry has said so far.
struct Entry<'a> {
    format: Format,
    place: Place,
    reporter: &'a mut Reporter,
    kind: Option<(String, Place)>,
    command: Option<(Template, Place)>,
    args: Vec<Template>,
    env: Vec<(String, Option<Template>)>,
    env_file: Option<Template>,
    inherit: Vec<String>,
    cwd: Option<Template>,
    url: Option<Template>,
    headers: Vec<(String, Template)>,
    headers_helper: Option<Template>,
    disabled: bool,
    required: bool,
    timeouts: Timeouts,
    tools: ToolFilter,
    suggestion: Option<String>,
}

impl<'a> Entry<'a> {
    fn read(format: Format, member: &Member, reporter: &'a mut Reporter) -> ServerSpec {
        let mut entry = Self {
            format,
            place: member.place,
            reporter,
            kind: None,
            command: None,
            args: Vec::new(),
            env: Vec::new(),
            env_file: None,
            inherit: Vec::new(),
            cwd: None,
            url: None,
            headers: Vec::new(),
            headers_helper: None,
            disabled: false,
            required: false,
            timeouts: Timeouts::default(),
            tools: ToolFilter::default(),
            suggestion: None,
        };
        let transport = entry.fields(member).and_then(|()| entry.transport());
        let path = entry.reporter.path().to_owned();
        ServerSpec {
            name: member.name.clone(),
            disabled: entry.disabled,
            required: entry.required,
            transport,
            timeouts: entry.timeouts,
            tools: entry.tools,
            line: member.place.line,
            path,
            place: member.place,
        }
    }

    /// Reads all fields, past the first error too, so that `disabled` counts wherever it stands.
    fn fields(&mut self, member: &Member) -> Result<(), Problem> {
        if member.name.is_empty() || member.name.chars().any(char::is_control) {
            return Err(self.bad(member.place, "a server needs a name without control characters"));
        }
        if member.node.members().is_none() {
            return Err(self.bad(
                member.node.place,
                format!("must be an object, found {}", member.node.kind()),
            ));
        }
        let mut first = Ok(());
        for field in last_of_each(&member.node, self.reporter) {
            let result = self.field(field);
            first = first.and(result);
        }
        first
    }

    fn field(&mut self, member: &Member) -> Result<(), Problem> {
        let name = member.name.as_str();
        let Some((field, own)) = find(name, self.format) else {
            let hint = suggestion(name).map(|known| format!("; did you mean {known:?} instead of {name:?}?"));
            self.suggestion = self.suggestion.take().or(hint.clone());
            let text = format!("unknown field {name:?}{}", hint.unwrap_or_default());
            self.reporter.warn(Code::UnknownField, member.place, text);
            return Ok(());
        };
        if !own && field != Field::Timeout {
            let text = format!("{name:?} is a field of other hosts; read anyway");
            self.reporter.warn(Code::ForeignField, member.place, text);
        }
        let node = &member.node;
        match field {
            Field::Type => self.kind = Some((self.text(name, node)?.to_owned(), node.place)),
            Field::Command => self.command = Some((self.template(name, node)?, node.place)),
            Field::Args => self.args = self.templates(name, node)?,
            Field::Env => self.env = self.variables(node)?,
            Field::EnvFile => self.env_file = Some(self.template(name, node)?),
            Field::Inherit => self.inherit = self.names(name, node)?,
            Field::Cwd => self.cwd = Some(self.template(name, node)?),
            Field::Url => self.url = Some(self.template(name, node)?),
            Field::Headers => self.headers = self.headers(node)?,
            Field::HeadersHelper => self.headers_helper = Some(self.template(name, node)?),
            Field::Disabled => self.disabled = self.truth(name, node)?,
            Field::Enabled => self.disabled = !self.truth(name, node)?,
            Field::Required => self.required = self.truth(name, node)?,
            Field::Timeout => self.timeout(node)?,
            Field::CallTimeoutMs => self.timeouts.call = Some(self.duration(name, node, 0.001)?),
            Field::StartupTimeout => self.timeouts.startup = Some(self.duration(name, node, 1.0)?),
            Field::AllowTools => self.tools.allow = Some(self.names(name, node)?),
            Field::DenyTools => self.tools.deny = self.names(name, node)?,
            Field::Sandbox => {
                if self.truth(name, node)? {
                    let text = "asks for a sandbox this host cannot give";
                    return Err(self
                        .reporter
                        .error(Code::UnsupportedRestriction, member.place, text));
                }
            }
            Field::Ignored => {
                let text = format!("{name:?} has no meaning here and was ignored");
                self.reporter.warn(Code::IgnoredField, member.place, text);
            }
            Field::Remark => {}
        }
        Ok(())
    }

    fn transport(&mut self) -> Result<Transport, Problem> {
        let kind = self.kind.take();
        let mode = match kind.as_ref().map(|(kind, _)| kind.as_str()) {
            None => None,
            Some("stdio" | "local") => Some(None),
            Some("http" | "streamable-http" | "streamable_http" | "streamableHttp") => {
                Some(Some(RemoteMode::StreamableHttp))
            }
            Some("sse") => Some(Some(RemoteMode::Sse)),
            Some(other) => {
                let text = format!("type {other:?} is not supported; use \"stdio\", \"http\" or \"sse\"");
                let place = kind.as_ref().map_or(self.place, |(_, place)| *place);
                return Err(self.reporter.error(Code::UnsupportedTransport, place, text));
            }
        };
        match (self.command.take(), self.url.take(), mode) {
            (Some(_), Some(_), _) => {
                let text = "has both \"command\" and \"url\"; keep one";
                Err(self.reporter.error(Code::MixedTransport, self.place, text))
            }
            (Some((command, place)), None, None | Some(None)) => {
                Ok(Transport::Stdio(self.stdio(command, place)?))
            }
            (None, Some(url), mode) if mode != Some(None) => {
                let mode = mode.flatten().unwrap_or(RemoteMode::Auto);
                if mode == RemoteMode::Auto && !self.format.infers_transport() {
                    let text = "no \"type\"; trying Streamable HTTP, then SSE";
                    self.reporter.warn(Code::TransportInferred, self.place, text);
                }
                let headers = std::mem::take(&mut self.headers);
                Ok(Transport::Http(HttpSpec {
                    mode,
                    url,
                    headers,
                    headers_helper: self.headers_helper.take(),
                }))
            }
            (_, _, mode) => {
                let needs = match mode {
                    None => "needs \"command\" (local) or \"url\" (remote)",
                    Some(None) => "of this type needs \"command\"",
                    Some(Some(_)) => "of this type needs \"url\"",
                };
                let hint = self.suggestion.take().unwrap_or_default();
                Err(self
                    .reporter
                    .error(Code::MissingEndpoint, self.place, format!("{needs}{hint}")))
            }
        }
    }

    fn stdio(&mut self, command: Template, place: Place) -> Result<StdioSpec, Problem> {
        let text = command.source();
        if text.trim().is_empty() {
            return Err(self.bad(place, "\"command\" is empty"));
        }
        let path_like = text.starts_with(['/', '~', '.', '$']) || text.get(1..2) == Some(":");
        if !path_like && text.trim().contains(char::is_whitespace) {
            let text =
                "\"command\" looks like a whole command line; move the words after the program into \"args\"";
            self.reporter.warn(Code::CommandHasSpaces, place, text);
        }
        Ok(StdioSpec {
            command,
            args: std::mem::take(&mut self.args),
            env: std::mem::take(&mut self.env),
            inherit: std::mem::take(&mut self.inherit),
            env_file: self.env_file.take(),
            cwd: self.cwd.take(),
        })
    }

    fn timeout(&mut self, node: &Node) -> Result<(), Problem> {
        match self.format.timeout() {
            Timeout::CallSeconds => {
                let seconds = self.duration("timeout", node, 1.0)?;
                self.timeouts.call = Some(if seconds >= Duration::from_secs(1000) {
                    let text =
                        "a timeout of 1000 or more was read as milliseconds; this format counts seconds";
                    self.reporter.warn(Code::TimeoutUnitGuessed, node.place, text);
                    seconds / 1000
                } else {
                    seconds
                });
            }
            Timeout::CallMilliseconds => {
                let call = self.duration("timeout", node, 0.001)?;
                if call < Duration::from_secs(1) {
                    let text = format!(
                        "timeout {} ms is below 1 s and was ignored; this format counts milliseconds",
                        call.as_millis()
                    );
                    self.reporter.warn(Code::TimeoutIgnored, node.place, text);
                } else {
                    self.timeouts.call = Some(call);
                }
            }
            Timeout::StartupSeconds => self.timeouts.startup = Some(self.duration("timeout", node, 1.0)?),
            Timeout::None => {
                let text = "\"timeout\" has no meaning in this format and was ignored";
                self.reporter.warn(Code::IgnoredField, node.place, text);
            }
        }
        Ok(())
    }

    fn duration(&mut self, name: &str, node: &Node, unit: f64) -> Result<Duration, Problem> {
        let number = match &node.value {
            Value::Number(text) => text.parse::<f64>().ok().filter(|number| *number > 0.0),
            _ => None,
        };
        number
            .and_then(|number| Duration::try_from_secs_f64(number * unit).ok())
            .ok_or_else(|| {
                self.bad(
                    node.place,
                    format!("{name:?} must be a number above zero, found {}", node.kind()),
                )
            })
    }

    fn bad(&mut self, place: Place, text: impl Into<String>) -> Problem {
        self.reporter.error(Code::BadValue, place, text)
    }

    fn text<'n>(&mut self, name: &str, node: &'n Node) -> Result<&'n str, Problem> {
        node.as_str().ok_or_else(|| {
            self.bad(
                node.place,
                format!("{name:?} must be text, found {}", node.kind()),
            )
        })
    }

    fn truth(&mut self, name: &str, node: &Node) -> Result<bool, Problem> {
        match node.value {
            Value::Bool(value) => Ok(value),
            _ => Err(self.bad(
                node.place,
                format!("{name:?} must be true or false, found {}", node.kind()),
            )),
        }
    }

    fn template(&mut self, name: &str, node: &Node) -> Result<Template, Problem> {
        let text = self.text(name, node)?;
        Ok(Template::parse(text, self.format.syntax()))
    }

    fn list<'n>(&mut self, name: &str, node: &'n Node) -> Result<&'n [Node], Problem> {
        match &node.value {
            Value::Array(items) => Ok(items),
            _ => Err(self.bad(
                node.place,
                format!("{name:?} must be a list, found {}", node.kind()),
            )),
        }
    }

    fn scalar(&mut self, name: &str, node: &Node) -> Result<String, Problem> {
        node.scalar().ok_or_else(|| {
            self.bad(
                node.place,
                format!("{name:?} must hold text, found {}", node.kind()),
            )
        })
    }

    fn templates(&mut self, name: &str, node: &Node) -> Result<Vec<Template>, Problem> {
        let syntax = self.format.syntax();
        let items = self.list(name, node)?;
        items
            .iter()
            .map(|item| Ok(Template::parse(&self.scalar(name, item)?, syntax)))
            .collect()
    }

    fn names(&mut self, name: &str, node: &Node) -> Result<Vec<String>, Problem> {
        let items = self.list(name, node)?;
        items
            .iter()
            .map(|item| self.text(name, item).map(str::to_owned))
            .collect()
    }

    fn object<'n>(&mut self, name: &str, node: &'n Node) -> Result<Vec<&'n Member>, Problem> {
        if node.members().is_none() {
            return Err(self.bad(
                node.place,
                format!("{name:?} must be an object, found {}", node.kind()),
            ));
        }
        Ok(last_of_each(node, self.reporter))
    }

    fn variables(&mut self, node: &Node) -> Result<Vec<(String, Option<Template>)>, Problem> {
        let syntax = self.format.syntax();
        let mut all = Vec::new();
        for member in self.object("env", node)? {
            let name = member.name.clone();
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(self.bad(member.place, format!("{name:?} cannot be the name of a variable")));
            }
            let value = match member.node.value {
                Value::Null => None,
                _ => Some(Template::parse(
                    &self.scalar(&format!("env.{name}"), &member.node)?,
                    syntax,
                )),
            };
            all.push((name, value));
        }
        Ok(all)
    }

    fn headers(&mut self, node: &Node) -> Result<Vec<(String, Template)>, Problem> {
        let syntax = self.format.syntax();
        let mut all = Vec::new();
        for member in self.object("headers", node)? {
            let name = member.name.clone();
            let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
            if name.is_empty() || !name.bytes().all(token) {
                return Err(self.bad(member.place, format!("{name:?} cannot be the name of a header")));
            }
            let value = self.scalar(&format!("headers.{name}"), &member.node)?;
            all.push((name, Template::parse(&value, syntax)));
        }
        Ok(all)
    }
}
