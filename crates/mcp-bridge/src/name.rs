//! Names for the model side.
//!
//! Model APIs take `[A-Za-z0-9_-]`, at most 64 characters; servers may name tools as they like. So a name is
//! `mcp__SERVER__TOOL` with one `_` for each other character, cut to the limit. Two tools may come out equal;
//! then their original names decide, so that names depend on the set of tools and never on who answered first.
//! A name is never split to find the way back: that is what the table is for.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use sha2::{Digest, Sha256};

/// Characters in a name, for APIs that do not say otherwise.
pub const MAX_NAME: usize = 64;

/// What happens to names that are equal or too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum NameScheme {
    /// In the order of the original tool names, then of the servers, both by their bytes: the first keeps the
    /// name, the others get `_2`, `_3` and so on, the base cut so that the number fits. A number that another
    /// tool's own name already has is skipped.
    #[default]
    Counter,
    /// `_` and eight hex digits of SHA-256 over server, NUL and tool: a name that does not change with the set.
    Digest,
}

/// How names are given.
#[derive(Debug, Clone)]
pub struct Naming {
    scheme: NameScheme,
    max: usize,
    kept: BTreeMap<(String, String), String>,
}

impl Default for Naming {
    fn default() -> Self {
        Self {
            scheme: NameScheme::Counter,
            max: MAX_NAME,
            kept: BTreeMap::new(),
        }
    }
}

/// The names given to a set of tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    by_server: BTreeMap<String, BTreeMap<String, String>>,
    clashes: Vec<Vec<(String, String)>>,
}

impl Names {
    /// The name of a tool.
    pub fn name_of(&self, server: &str, tool: &str) -> Option<&str> {
        self.by_server.get(server)?.get(tool).map(String::as_str)
    }

    /// Server, tool and name of each tool, in the order of the servers and then of the tools.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.by_server.iter().flat_map(|(server, tools)| {
            let tools = tools.iter();
            tools.map(move |(tool, name)| (server.as_str(), tool.as_str(), name.as_str()))
        })
    }

    /// The tools, as server and tool, whose names were equal before they were told apart.
    pub fn clashes(&self) -> &[Vec<(String, String)>] {
        &self.clashes
    }

    fn insert(&mut self, pair: Pair<'_>, name: String) {
        let tools = self.by_server.entry(pair.server.to_owned()).or_default();
        tools.insert(pair.tool.to_owned(), name);
    }
}

/// Ordered by tool, then by server: the order in which equal names are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Pair<'a> {
    tool: &'a str,
    server: &'a str,
}

impl Naming {
    /// Uses another scheme.
    #[must_use]
    pub fn with_scheme(mut self, scheme: NameScheme) -> Self {
        self.scheme = scheme;
        self
    }

    /// Sets the greatest length, for an API that takes more or fewer than [`MAX_NAME`] characters. At least 32.
    #[must_use]
    pub fn with_max(mut self, max: usize) -> Self {
        self.max = max.max(32);
        self
    }

    /// Keeps a name that a tool was approved under, whatever the set becomes. No other tool gets it, even while
    /// this one is away.
    ///
    /// A name that some other tool keeps already is not kept twice: the first stays. The name is taken as it is, so
    /// it should be one that came from [`assign`](Self::assign).
    #[must_use]
    pub fn with_kept(mut self, server: &str, tool: &str, name: &str) -> Self {
        if !self.kept.values().any(|kept| kept == name) {
            self.kept
                .insert((server.to_owned(), tool.to_owned()), name.to_owned());
        }
        self
    }

    /// Names all tools, given as server and tool. The order in which they come does not matter; a tool that
    /// comes twice is one tool.
    pub fn assign<'a>(&self, tools: impl IntoIterator<Item = (&'a str, &'a str)>) -> Names {
        let pairs: BTreeSet<Pair<'a>> = tools
            .into_iter()
            .map(|(server, tool)| Pair { tool, server })
            .collect();
        let mut names = Names::default();
        let mut open = Vec::new();
        for pair in pairs {
            match self.kept.get(&(pair.server.to_owned(), pair.tool.to_owned())) {
                Some(name) => names.insert(pair, name.clone()),
                None => open.push((pair, cut(&qualified(pair.server, pair.tool), self.max).to_owned())),
            }
        }
        let mut groups: BTreeMap<&str, Vec<Pair<'_>>> = BTreeMap::new();
        for (pair, base) in &open {
            groups.entry(base).or_default().push(*pair);
        }
        for group in groups.values().filter(|group| group.len() > 1) {
            let owned = |pair: &Pair<'_>| (pair.server.to_owned(), pair.tool.to_owned());
            names.clashes.push(group.iter().map(owned).collect());
        }
        let mut numbers = Numbers {
            max: self.max,
            taken: self.kept.values().cloned().collect(),
            own: groups.keys().copied().collect(),
            next: HashMap::new(),
        };
        for (pair, base) in &open {
            let group = groups.get(base.as_str()).map_or(&[][..], Vec::as_slice);
            let name = match self.scheme {
                NameScheme::Counter => numbers.take(base, true),
                NameScheme::Digest if keeps_plain_name(*pair, base, group) => numbers.take(base, true),
                NameScheme::Digest => numbers.take(&digested(*pair, self.max), false),
            };
            names.insert(*pair, name);
        }
        names
    }
}

/// The name of one tool that is alone: `mcp__SERVER__TOOL` in legal characters, cut to [`MAX_NAME`].
pub fn qualify(server: &str, tool: &str) -> String {
    cut(&qualified(server, tool), MAX_NAME).to_owned()
}

/// One `_` for each character outside `[A-Za-z0-9_-]`.
pub fn clean(text: &str) -> String {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    text.chars().map(|c| if legal(c) { c } else { '_' }).collect()
}

/// What all names of a server's tools start with, as long as they are not cut before it ends.
pub fn server_prefix(server: &str) -> String {
    format!("mcp__{}__", clean(server))
}

fn qualified(server: &str, tool: &str) -> String {
    server_prefix(server) + &clean(tool)
}

/// The first `max` characters of a name, which is ASCII.
fn cut(name: &str, max: usize) -> &str {
    name.get(..max).unwrap_or(name)
}

/// Hands out names that are free.
struct Numbers<'a> {
    max: usize,
    taken: HashSet<String>,
    /// What the tools are called without a number.
    own: HashSet<&'a str>,
    /// Where to go on counting for a base: else many equal names would take the square of their count.
    next: HashMap<String, usize>,
}

impl Numbers<'_> {
    /// `base`, or with the first number that is free. `is_own` says that the base is the tool's own name, which
    /// keeps only other tools from it.
    fn take(&mut self, base: &str, is_own: bool) -> String {
        if !self.taken.contains(base) && (is_own || !self.own.contains(base)) {
            self.taken.insert(base.to_owned());
            return base.to_owned();
        }
        let mut number = self.next.get(base).copied().unwrap_or(2);
        let name = loop {
            let suffix = format!("_{number}");
            let room = (self.max - 3).min(self.max.saturating_sub(suffix.len()));
            let name = format!("{}{suffix}", cut(base, room));
            number += 1;
            if !self.own.contains(name.as_str()) && !self.taken.contains(&name) {
                break name;
            }
        };
        self.next.insert(base.to_owned(), number);
        self.taken.insert(name.clone());
        name
    }
}

/// Under [`NameScheme::Digest`]: a name that nothing was done to, and that is alone or the only one of its group
/// that nothing was done to.
fn keeps_plain_name(pair: Pair<'_>, base: &str, group: &[Pair<'_>]) -> bool {
    let whole = |pair: &Pair<'_>| qualified(pair.server, pair.tool).len() == base.len();
    let untouched = |pair: &Pair<'_>| whole(pair) && format!("mcp__{}__{}", pair.server, pair.tool) == base;
    match group {
        [_] => whole(&pair),
        group => untouched(&pair) && group.iter().filter(|pair| untouched(pair)).count() == 1,
    }
}

fn digested(pair: Pair<'_>, max: usize) -> String {
    let mut digest = Sha256::new();
    digest.update(pair.server.as_bytes());
    digest.update([0]);
    digest.update(pair.tool.as_bytes());
    let digest: String = digest
        .finalize()
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    // `mcp__`, `__`, `_` and the digest.
    let room = max - 16;
    let server = legible(clean(pair.server));
    let tool = legible(clean(pair.tool));
    let tool = cut(&tool, room - server.len().min(12));
    let server = cut(&server, room - tool.len());
    format!("mcp__{server}__{tool}_{digest}")
}

/// A part without a letter or digit tells a model nothing.
fn legible(part: String) -> String {
    match part.bytes().any(|byte| byte.is_ascii_alphanumeric()) {
        true => part,
        false => "x".to_owned(),
    }
}
