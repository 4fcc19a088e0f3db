//! The fields of an entry: who writes them, and what they are here.

use super::format::Format;

/// What a field is for us, whatever it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Field {
    Type,
    Command,
    Args,
    Env,
    EnvFile,
    Inherit,
    Cwd,
    Url,
    Headers,
    HeadersHelper,
    Disabled,
    Enabled,
    Required,
    Timeout,
    CallTimeoutMs,
    StartupTimeout,
    AllowTools,
    DenyTools,
    Sandbox,
    /// Known, without meaning here.
    Ignored,
    /// Words for people.
    Remark,
}

use Format::{ClaudeCode, Crush, Native, VsCode};

const ALL: &[Format] = &[Native, ClaudeCode, VsCode, Crush];

/// Spelling, meaning, and the formats it belongs to.
const FIELDS: &[(&str, Field, &[Format])] = &[
    ("type", Field::Type, ALL),
    ("command", Field::Command, ALL),
    ("args", Field::Args, ALL),
    ("env", Field::Env, ALL),
    ("url", Field::Url, ALL),
    ("headers", Field::Headers, ALL),
    ("timeout", Field::Timeout, &[Native, ClaudeCode, Crush]),
    ("cwd", Field::Cwd, &[Native, VsCode]),
    ("disabled", Field::Disabled, &[Native, Crush]),
    ("enabled", Field::Enabled, &[]),
    ("required", Field::Required, &[Native]),
    ("enabled_tools", Field::AllowTools, &[Native, Crush]),
    ("disabled_tools", Field::DenyTools, &[Native, Crush]),
    ("disabledTools", Field::DenyTools, &[]),
    ("env_file", Field::EnvFile, &[Native]),
    ("envFile", Field::EnvFile, &[VsCode]),
    ("inherit_env", Field::Inherit, &[Native]),
    ("startup_timeout", Field::StartupTimeout, &[Native]),
    ("request_timeout_ms", Field::CallTimeoutMs, &[ClaudeCode]),
    ("headersHelper", Field::HeadersHelper, &[ClaudeCode]),
    ("transport", Field::Type, &[]),
    ("serverUrl", Field::Url, &[]),
    ("httpUrl", Field::Url, &[]),
    ("sandboxEnabled", Field::Sandbox, &[VsCode]),
    ("sandbox", Field::Ignored, &[VsCode]),
    ("dev", Field::Ignored, &[VsCode]),
    ("alwaysLoad", Field::Ignored, &[ClaudeCode]),
    ("oauth", Field::Ignored, ALL),
    ("description", Field::Remark, ALL),
    ("$schema", Field::Remark, ALL),
];

/// Meaning of a spelling, and whether it is the format's own.
pub(super) fn find(name: &str, format: Format) -> Option<(Field, bool)> {
    FIELDS
        .iter()
        .find(|(known, ..)| *known == name)
        .map(|(_, field, own)| (*field, own.contains(&format)))
}

/// The field somebody probably meant.
pub(super) fn suggestion(name: &str) -> Option<&'static str> {
    let close = |known: &str| distance(&name.to_lowercase(), &known.to_lowercase());
    let (best, known) = FIELDS
        .iter()
        .map(|(known, ..)| (close(known), *known))
        .min_by_key(|(distance, _)| *distance)?;
    (best <= 2 && best * 2 < known.len()).then_some(known)
}

/// Levenshtein distance; long names are not worth the time.
fn distance(a: &str, b: &str) -> usize {
    const LONGEST: usize = 32;
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(LONGEST + 1).collect(), b.chars().collect());
    if a.len() > LONGEST {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let next = (diagonal + usize::from(x != y))
                .min(row[j] + 1)
                .min(row[j + 1] + 1);
            diagonal = row[j + 1];
            row[j + 1] = next;
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_misses_get_a_suggestion() {
        for (name, want) in [
            ("comand", Some("command")),
            ("commnd", Some("command")),
            ("Args", Some("args")),
            ("zebra", None),
            ("x", None),
        ] {
            assert_eq!(suggestion(name), want, "{name}");
        }
        assert_eq!(suggestion(&"command".repeat(1000)), None);
    }
}
