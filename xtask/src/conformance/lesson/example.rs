//! How an example is written down.
//!
//! A Markdown file: a title, one line `crate C, revision R..., transport T`, and the sections `Input` and `Output`, each
//! with one fenced block, the second one copied from the lesson as it is. A section `Exceptions` may follow, a list of
//! `LINES KIND: reason`. A reason may go on in the next lines. The kinds:
//!
//! | Kind | What it does |
//! |---|---|
//! | ``replace `A` by `B` `` | `B` is expected where the lesson prints `A` |
//! | ``drop `A` `` | nothing is expected there |
//! | `cut` | the lesson's line ends in `...`; ours is cut at the same place |
//! | `played` | nothing; what leads to the line is played in another way than the demo does |

use mcp_types::Revision;

use super::Input;

/// One example.
#[derive(Debug, Clone)]
pub(super) struct Example {
    /// `example 5`.
    pub(super) name: String,
    pub(super) krate: &'static str,
    pub(super) transport: &'static str,
    revisions: Vec<Option<Revision>>,
    input: Input,
    /// The lesson's lines.
    pub(super) output: Vec<String>,
    pub(super) exceptions: Vec<Exception>,
}

/// What is not as the lesson prints it.
#[derive(Debug, Clone)]
pub(super) struct Exception {
    /// Which lines, counted from 1.
    pub(super) lines: Vec<usize>,
    pub(super) kind: Kind,
    pub(super) reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Replace(String, String),
    Cut,
    Played,
}

impl Example {
    pub(super) fn parse(text: &'static str) -> Result<Self, String> {
        let mut lines = text.lines();
        let title = lines.next().and_then(|line| line.strip_prefix("# Example "));
        let (number, _) = title
            .and_then(|title| title.split_once(':'))
            .ok_or("the title is not `# Example N: ...`")?;
        let about = lines.find(|line| !line.is_empty()).unwrap_or_default();
        let (krate, revisions, transport) =
            about_line(about).ok_or_else(|| format!("not `crate C, revision R, transport T`: {about}"))?;
        let example = Self {
            name: format!("example {number}"),
            krate,
            transport,
            revisions: revisions.split(' ').map(revision).collect::<Result<_, _>>()?,
            input: block(text, "Input")?,
            output: block(text, "Output")?.into_iter().map(str::to_owned).collect(),
            exceptions: exceptions(text)?,
        };
        example.check()?;
        Ok(example)
    }

    /// An exception that says nothing about a line must not stay unnoticed.
    fn check(&self) -> Result<(), String> {
        for exception in &self.exceptions {
            if exception.reason.is_empty() {
                return Err(format!("no reason is given: {exception:?}"));
            }
            for number in &exception.lines {
                let line = number.checked_sub(1).and_then(|at| self.output.get(at));
                let line = line.ok_or_else(|| format!("there is no line {number}: {exception:?}"))?;
                let fits = match &exception.kind {
                    Kind::Replace(old, _) => line.contains(old.as_str()),
                    Kind::Cut => line.ends_with("..."),
                    Kind::Played => true,
                };
                if !fits {
                    return Err(format!("line {number} is not like that: {exception:?}"));
                }
            }
        }
        Ok(())
    }

    /// The revisions to play it in; one `None` where revisions do not matter.
    pub(super) fn revisions(&self) -> Vec<Option<Revision>> {
        self.revisions.clone()
    }

    pub(super) fn input(&self) -> Input {
        self.input.clone()
    }

    /// The exceptions of a line, counted from 1.
    pub(super) fn exceptions_of(&self, line: usize) -> impl Iterator<Item = &Exception> {
        self.exceptions
            .iter()
            .filter(move |exception| exception.lines.contains(&line))
    }
}

fn about_line(line: &'static str) -> Option<(&'static str, &'static str, &'static str)> {
    let (krate, rest) = line.strip_prefix("crate ")?.split_once(", revision ")?;
    let (revisions, transport) = rest.split_once(", transport ")?;
    Some((krate, revisions, transport))
}

fn revision(name: &str) -> Result<Option<Revision>, String> {
    match name {
        "-" => Ok(None),
        name => Revision::from_name(name)
            .map(Some)
            .ok_or_else(|| format!("no revision {name}")),
    }
}

/// The lines of a section's fenced block.
fn block(text: &'static str, section: &str) -> Result<Input, String> {
    let heading = format!("## {section}");
    let mut lines = text.lines();
    let found = lines.any(|line| line == heading) && lines.any(|line| line == "```");
    let mut inside: Input = Vec::new();
    for line in lines.take_while(|_| found) {
        if line == "```" {
            return Ok(inside);
        }
        inside.push(line);
    }
    Err(format!("no block under {heading:?}"))
}

fn exceptions(text: &str) -> Result<Vec<Exception>, String> {
    let lines = text.lines().skip_while(|line| *line != "## Exceptions").skip(1);
    let mut items: Vec<String> = Vec::new();
    for line in lines.filter(|line| !line.is_empty()) {
        match (line.strip_prefix("- "), items.last_mut()) {
            (Some(item), _) => items.push(item.to_owned()),
            (None, Some(item)) => {
                item.push(' ');
                item.push_str(line.trim());
            }
            (None, None) => return Err(format!("not an exception: {line}")),
        }
    }
    let read = |item: &String| exception(item).ok_or_else(|| format!("not an exception: {item}"));
    items.iter().map(read).collect()
}

fn exception(item: &str) -> Option<Exception> {
    let (numbers, rest) = item.split_once(' ')?;
    let lines: Result<_, _> = numbers.split(',').map(str::parse).collect();
    let (kind, rest) = if let Some(rest) = rest.strip_prefix("replace `") {
        let (old, rest) = rest.split_once("` by `")?;
        let (new, rest) = rest.split_once('`')?;
        (Kind::Replace(old.to_owned(), new.to_owned()), rest)
    } else if let Some(rest) = rest.strip_prefix("drop `") {
        let (old, rest) = rest.split_once('`')?;
        (Kind::Replace(old.to_owned(), String::new()), rest)
    } else if let Some(rest) = rest.strip_prefix("cut") {
        (Kind::Cut, rest)
    } else {
        (Kind::Played, rest.strip_prefix("played")?)
    };
    Some(Exception {
        lines: lines.ok()?,
        kind,
        reason: rest.strip_prefix(": ")?.trim().to_owned(),
    })
}
