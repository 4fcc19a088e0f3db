//! What a child sees of its parent's environment.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// The two families of rules: which names pass, and whether their case counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rules {
    /// Six names, case counts.
    Unix,
    /// Twelve names, compared without case; the child keeps the parent's spelling.
    Windows,
}

impl Rules {
    /// The rules of the system this was compiled for.
    pub const fn here() -> Self {
        if cfg!(windows) {
            Rules::Windows
        } else {
            Rules::Unix
        }
    }

    fn same_name(self, a: &OsStr, b: &OsStr) -> bool {
        match self {
            Rules::Unix => a == b,
            Rules::Windows => a.eq_ignore_ascii_case(b),
        }
    }
}

/// Names that pass from parent to child without being asked for.
pub const fn inherited(rules: Rules) -> &'static [&'static str] {
    match rules {
        Rules::Unix => &["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"],
        Rules::Windows => &[
            "APPDATA",
            "HOMEDRIVE",
            "HOMEPATH",
            "LOCALAPPDATA",
            "PATH",
            "PROCESSOR_ARCHITECTURE",
            "PROGRAMFILES",
            "SYSTEMDRIVE",
            "SYSTEMROOT",
            "TEMP",
            "USERNAME",
            "USERPROFILE",
        ],
    }
}

/// Variables that make a program load code before its own.
const LOADERS: [&str; 11] = [
    "BASH_ENV",
    "ENV",
    "LD_AUDIT",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "NODE_OPTIONS",
    "PERL5OPT",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RUBYOPT",
    "_JAVA_OPTIONS",
];

/// A child's whole environment. Its values are secrets as far as we know, so `Debug` shows names only.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// Every variable the child gets.
    pub variables: BTreeMap<OsString, OsString>,
    /// Configured names a user should look at twice: they load code, or hold an exported shell function. Sorted.
    pub warnings: Vec<OsString>,
}

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment")
            .field("names", &self.variables.keys().collect::<Vec<_>>())
            .field("warnings", &self.warnings)
            .finish()
    }
}

/// Builds the child's environment: the inherited list, then `also_inherit`, then `configured` on top.
///
/// Inherited values that start with `()` are exported shell functions and are left out; a configured one is the
/// user's own word and stays, with a warning. A configured `None` removes the name.
pub fn child_environment<P>(
    rules: Rules,
    parent: P,
    also_inherit: &[OsString],
    configured: &BTreeMap<OsString, Option<OsString>>,
) -> Environment
where
    P: IntoIterator<Item = (OsString, OsString)>,
{
    let passes = |name: &OsStr| {
        inherited(rules)
            .iter()
            .any(|known| rules.same_name(name, OsStr::new(known)))
            || also_inherit.iter().any(|asked| rules.same_name(name, asked))
    };
    let mut environment = Environment::default();
    for (name, value) in parent {
        if passes(&name) && !is_function(&value) {
            environment.variables.insert(name, value);
        }
    }
    for (name, value) in configured {
        environment
            .variables
            .retain(|present, _| !rules.same_name(present, name));
        let Some(value) = value else { continue };
        if is_function(value) || is_loader(name) {
            environment.warnings.push(name.clone());
        }
        environment.variables.insert(name.clone(), value.clone());
    }
    environment
}

fn is_function(value: &OsStr) -> bool {
    value.as_encoded_bytes().starts_with(b"()")
}

/// Whether setting `name` makes programs load code of the setter's choice.
pub fn is_loader(name: &OsStr) -> bool {
    LOADERS.iter().any(|loader| name == *loader) || name.as_encoded_bytes().starts_with(b"DYLD_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Vectors {
        unix_inherited: Vec<String>,
        windows_inherited: Vec<String>,
        cases: Vec<Case>,
    }

    #[derive(serde::Deserialize)]
    struct Case {
        id: String,
        os: String,
        parent: BTreeMap<String, String>,
        configured: BTreeMap<String, String>,
        child: BTreeMap<String, String>,
        #[serde(default)]
        warn: Vec<String>,
    }

    #[test]
    fn p191_the_policy_vectors_hold() {
        let text = include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/data/environment.json"
        ));
        let vectors: Vectors = serde_json::from_str(text).unwrap();
        assert_eq!(vectors.unix_inherited, inherited(Rules::Unix));
        assert_eq!(vectors.windows_inherited, inherited(Rules::Windows));
        assert!(!vectors.cases.is_empty());
        for case in vectors.cases {
            let rules = if case.os == "windows" {
                Rules::Windows
            } else {
                Rules::Unix
            };
            let parent = case.parent.iter().map(|(k, v)| (k.into(), v.into()));
            let configured = case
                .configured
                .iter()
                .map(|(k, v)| (k.into(), Some(v.into())))
                .collect();
            let got = child_environment(rules, parent, &[], &configured);
            let want: BTreeMap<OsString, OsString> =
                case.child.iter().map(|(k, v)| (k.into(), v.into())).collect();
            assert_eq!(got.variables, want, "{}", case.id);
            assert_eq!(
                got.warnings,
                case.warn.iter().map(OsString::from).collect::<Vec<_>>(),
                "{}",
                case.id
            );
        }
    }

    #[test]
    fn a_name_can_be_asked_for_or_removed() {
        let parent = [("LANG", "C"), ("HOME", "/h"), ("SECRET", "s")].map(|(k, v)| (k.into(), v.into()));
        let configured = BTreeMap::from([("HOME".into(), None)]);
        let got = child_environment(Rules::Unix, parent, &["LANG".into()], &configured);
        assert_eq!(got.variables, BTreeMap::from([("LANG".into(), "C".into())]));
    }

    #[test]
    fn debug_shows_names_and_no_values() {
        let configured = BTreeMap::from([("TOKEN".into(), Some("hunter2".into()))]);
        let shown = format!("{:?}", child_environment(Rules::Unix, [], &[], &configured));
        assert!(shown.contains("TOKEN") && !shown.contains("hunter2"), "{shown}");
    }
}
