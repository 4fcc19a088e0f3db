use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// A value that may be secret. It can be used, not printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value, for handing it to where it belongs.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// What references in a file are filled in from: variables, the workspace, answers to inputs.
#[derive(Clone)]
pub struct Surroundings {
    workspace: PathBuf,
    variables: Variables,
    inputs: BTreeMap<String, Secret>,
}

#[derive(Clone)]
enum Variables {
    Process,
    Given(BTreeMap<String, String>),
}

impl Surroundings {
    /// A workspace, and the variables of this process.
    pub fn new(workspace: impl Into<PathBuf>) -> Self {
        Self {
            workspace: workspace.into(),
            variables: Variables::Process,
            inputs: BTreeMap::new(),
        }
    }

    /// Only these variables instead of the process's own.
    pub fn with_variables<N: Into<String>, V: Into<String>>(
        mut self,
        all: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        self.variables = Variables::Given(
            all.into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        );
        self
    }

    /// The answer to `${input:id}`.
    pub fn with_input(mut self, id: impl Into<String>, value: impl Into<String>) -> Self {
        self.inputs.insert(id.into(), Secret::new(value));
        self
    }

    /// The workspace.
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// Whether a variable is set. Its value stays inside.
    pub fn is_set(&self, name: &str) -> bool {
        self.variable(name).is_some()
    }

    pub(super) fn variable(&self, name: &str) -> Option<String> {
        match &self.variables {
            // A value that is not Unicode cannot become JSON text; it counts as unset.
            Variables::Process => std::env::var(name).ok(),
            Variables::Given(all) => all.get(name).cloned(),
        }
    }

    pub(super) fn input(&self, id: &str) -> Option<&Secret> {
        self.inputs.get(id)
    }

    pub(super) fn home(&self) -> Option<PathBuf> {
        let name = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
        self.variable(name)
            .filter(|home| !home.is_empty())
            .map(PathBuf::from)
    }
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings")
            .field("workspace", &self.workspace)
            .field("inputs", &self.inputs.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
