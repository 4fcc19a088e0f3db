//! Text with references, parsed once and filled in later.

use std::collections::HashMap;
use std::fmt;

use super::surroundings::Surroundings;

/// A value as written in a file, with references to variables. `Debug` and [`Template::masked`] show the references
/// and hide the text between them; [`Template::source`] is the whole.
#[derive(Clone, PartialEq, Eq)]
pub struct Template {
    source: String,
    parts: Vec<Part>,
    syntax: Syntax,
    odd: Vec<Odd>,
}

#[derive(Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Variable {
        name: String,
        default: Option<Template>,
        demand: Option<String>,
    },
    Input(String),
    Place(Folder),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Folder {
    Workspace,
    WorkspaceName,
    Home,
    Separator,
}

/// Something in the text that looks like a reference and is none here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Odd {
    /// A reference in another format's spelling.
    Foreign { text: String, name: String },
    /// An operator that is not supported.
    Operator(String),
    /// `$(...)`.
    Command,
}

/// Which spellings a format has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Syntax {
    /// `${NAME}`
    pub(super) braces: bool,
    /// `$NAME`
    pub(super) bare: bool,
    /// `${NAME:-default}`
    pub(super) defaults: bool,
    /// `${NAME:?message}`
    pub(super) demands: bool,
    /// `${env:NAME}`
    pub(super) env_prefix: bool,
    /// `${workspaceFolder}` and its kin
    pub(super) folders: bool,
    /// `${input:id}`
    pub(super) inputs: bool,
    /// `$(...)` would be run by the host itself, so leaving it as text would mislead.
    pub(super) commands: bool,
    /// An unset variable counts as empty.
    pub(super) unset_is_empty: bool,
    /// An empty variable counts as unset where there is a default.
    pub(super) empty_is_unset: bool,
}

/// Why a template could not be filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Gap {
    Variable { name: String, message: Option<String> },
    Input(String),
    Home,
}

/// A filled-in template.
pub(super) struct Filled {
    pub(super) text: String,
    /// Variables that were not set and taken as empty.
    pub(super) empty: Vec<String>,
}

/// Defaults within defaults beyond this depth are text.
const NESTING: usize = 8;

impl Template {
    pub(super) fn parse(source: &str, syntax: Syntax) -> Self {
        Self::parse_at(source, syntax, 0)
    }

    /// The text as written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Every variable it mentions, in order, those in defaults too.
    pub fn variables(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for part in &self.parts {
            if let Part::Variable { name, default, .. } = part {
                names.push(name.as_str());
                names.extend(default.iter().flat_map(Template::variables));
            }
        }
        names
    }

    /// For showing where literal text may be a secret: `***` for text, references as they are.
    pub fn masked(&self) -> String {
        self.parts
            .iter()
            .map(|part| match part {
                Part::Text(_) => "***".to_owned(),
                Part::Variable {
                    name, default: None, ..
                } => format!("${{{name}}}"),
                Part::Variable {
                    name,
                    default: Some(_),
                    ..
                } => format!("${{{name}:-***}}"),
                Part::Input(id) => format!("${{input:{id}}}"),
                Part::Place(folder) => format!("${{{}}}", folder.name()),
            })
            .collect()
    }

    pub(super) fn odd(&self) -> impl Iterator<Item = &Odd> {
        let nested = self.parts.iter().filter_map(|part| match part {
            Part::Variable {
                default: Some(default),
                ..
            } => Some(&default.odd),
            _ => None,
        });
        self.odd.iter().chain(nested.flatten())
    }

    fn parse_at(source: &str, syntax: Syntax, depth: usize) -> Self {
        let mut template = Self {
            source: source.to_owned(),
            parts: Vec::new(),
            syntax,
            odd: Vec::new(),
        };
        let closes = closing_braces(source);
        let mut rest = source;
        while let Some(at) = rest.find('$') {
            template.text(&rest[..at]);
            rest = &rest[at..];
            let close = closes
                .get(&(source.len() - rest.len()))
                .map(|close| close + rest.len() - source.len());
            let taken = template.reference(rest, close, depth).unwrap_or_else(|| {
                template.text("$");
                1
            });
            rest = &rest[taken..];
        }
        template.text(rest);
        template
    }

    fn text(&mut self, text: &str) {
        match self.parts.last_mut() {
            _ if text.is_empty() => {}
            Some(Part::Text(last)) => last.push_str(text),
            _ => self.parts.push(Part::Text(text.to_owned())),
        }
    }

    /// Reads what starts with `$`, where `close` is the place of its closing brace. `None` if it is no reference, so
    /// that the `$` is text and reading goes on behind it.
    fn reference(&mut self, rest: &str, close: Option<usize>, depth: usize) -> Option<usize> {
        let after = &rest[1..];
        if self.syntax.commands && after.starts_with('(') {
            self.odd.push(Odd::Command);
            return None;
        }
        if after.starts_with('{') {
            let close = close?;
            let whole = &rest[..=close];
            let part = self.braced(&rest[2..close], whole, depth)?;
            self.parts.push(part);
            return Some(whole.len());
        }
        let name = name_at(after);
        if !self.syntax.bare || name.is_empty() {
            return None;
        }
        self.parts.push(Part::Variable {
            name: name.to_owned(),
            default: None,
            demand: None,
        });
        Some(1 + name.len())
    }

    fn braced(&mut self, body: &str, whole: &str, depth: usize) -> Option<Part> {
        if self.syntax.folders
            && let Some(folder) = Folder::named(body)
        {
            return Some(Part::Place(folder));
        }
        if let Some(id) = body.strip_prefix("input:") {
            return self.syntax.inputs.then(|| Part::Input(id.to_owned()));
        }
        let (own, inner) = match body.strip_prefix("env:") {
            Some(inner) => (self.syntax.env_prefix, inner),
            None => (self.syntax.braces, body),
        };
        let name = name_at(inner);
        if name.is_empty() {
            return None;
        }
        let operator = &inner[name.len()..];
        if !own {
            self.odd.push(Odd::Foreign {
                text: whole.to_owned(),
                name: name.to_owned(),
            });
            return None;
        }
        let name = name.to_owned();
        if operator.is_empty() {
            return Some(Part::Variable {
                name,
                default: None,
                demand: None,
            });
        }
        if let Some(default) = operator
            .strip_prefix(":-")
            .filter(|_| self.syntax.defaults && depth < NESTING)
        {
            let default = Template::parse_at(default, self.syntax, depth + 1);
            return Some(Part::Variable {
                name,
                default: Some(default),
                demand: None,
            });
        }
        if let Some(message) = operator.strip_prefix(":?").filter(|_| self.syntax.demands) {
            return Some(Part::Variable {
                name,
                default: None,
                demand: Some(message.to_owned()),
            });
        }
        self.odd.push(Odd::Operator(whole.to_owned()));
        None
    }

    /// Fills the references in, once: what a variable holds is text, whatever it looks like.
    pub(super) fn fill(&self, around: &Surroundings) -> Result<Filled, Gap> {
        let mut filled = Filled {
            text: String::new(),
            empty: Vec::new(),
        };
        self.fill_into(around, &mut filled)?;
        Ok(filled)
    }

    fn fill_into(&self, around: &Surroundings, filled: &mut Filled) -> Result<(), Gap> {
        for part in &self.parts {
            match part {
                Part::Text(text) => filled.text.push_str(text),
                Part::Input(id) => match around.input(id) {
                    Some(value) => filled.text.push_str(value.expose()),
                    None => return Err(Gap::Input(id.clone())),
                },
                Part::Place(folder) => filled.text.push_str(&folder.find(around).ok_or(Gap::Home)?),
                Part::Variable {
                    name,
                    default,
                    demand,
                } => {
                    let value = around.variable(name);
                    let value = value.filter(|value| !(self.syntax.empty_is_unset && value.is_empty()));
                    match (value, default) {
                        (Some(value), _) => filled.text.push_str(&value),
                        (None, Some(default)) => default.fill_into(around, filled)?,
                        (None, None) if self.syntax.unset_is_empty && demand.is_none() => {
                            filled.empty.push(name.clone());
                        }
                        (None, None) => {
                            return Err(Gap::Variable {
                                name: name.clone(),
                                message: demand.clone(),
                            });
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Template({})", self.masked())
    }
}

impl Folder {
    fn named(name: &str) -> Option<Self> {
        [
            Folder::Workspace,
            Folder::WorkspaceName,
            Folder::Home,
            Folder::Separator,
        ]
        .into_iter()
        .find(|folder| folder.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Folder::Workspace => "workspaceFolder",
            Folder::WorkspaceName => "workspaceFolderBasename",
            Folder::Home => "userHome",
            Folder::Separator => "/",
        }
    }

    fn find(self, around: &Surroundings) -> Option<String> {
        let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
        Some(match self {
            Folder::Workspace => text(around.workspace()),
            Folder::WorkspaceName => around
                .workspace()
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default(),
            Folder::Home => text(&around.home()?),
            Folder::Separator => std::path::MAIN_SEPARATOR.to_string(),
        })
    }
}

/// The name of a variable at the start of the text.
fn name_at(text: &str) -> &str {
    let end = text
        .char_indices()
        .find(|(at, c)| !(c.is_ascii_alphabetic() || *c == '_' || *at > 0 && c.is_ascii_digit()))
        .map_or(text.len(), |(at, _)| at);
    &text[..end]
}

/// Where each `${` is closed: from the place of its `$` to that of its `}`. One pass, whatever the nesting, because a
/// file is read before anybody has agreed to it.
fn closing_braces(source: &str) -> HashMap<usize, usize> {
    let mut closes = HashMap::new();
    let mut open = Vec::new();
    let mut dollar = None;
    for (at, byte) in source.bytes().enumerate() {
        match byte {
            b'{' => open.extend(dollar),
            b'}' => {
                if let Some(start) = open.pop() {
                    closes.insert(start, at);
                }
            }
            _ => {}
        }
        dollar = (byte == b'$').then_some(at);
    }
    closes
}
