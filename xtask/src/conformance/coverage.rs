//! Which rows of the list of pitfalls no transcript and no test names.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The rows that this workspace should show something for.
const ROWS: std::ops::RangeInclusive<u32> = 1..=68;

/// The rows that are named nowhere: not in a transcript, nor in the name or comment of a test.
pub(super) fn uncovered() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut named = BTreeSet::new();
    for folder in ["crates", "xtask/conformance", "xtask/tests"] {
        collect(&root.join(folder), &mut named);
    }
    ROWS.filter(|row| !named.contains(row))
        .map(|row| format!("P{row:03}"))
        .collect()
}

fn collect(folder: &Path, named: &mut BTreeSet<u32>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            if !path.ends_with("target") {
                collect(&path, named);
            }
            continue;
        }
        let known = path
            .extension()
            .is_some_and(|ending| ending == "rs" || ending == "txt" || ending == "json");
        if let (true, Ok(text)) = (known, fs::read_to_string(&path)) {
            rows_in(&text, named);
        }
    }
}

/// Adds every `P001` and `p001_` of a text.
fn rows_in(text: &str, named: &mut BTreeSet<u32>) {
    let bytes = text.as_bytes();
    for at in 0..bytes.len().saturating_sub(3) {
        let starts = matches!(bytes[at], b'P' | b'p') && (at == 0 || !bytes[at - 1].is_ascii_alphanumeric());
        let ends = bytes.get(at + 4).is_none_or(|next| !next.is_ascii_alphanumeric());
        let digits = text.get(at + 1..at + 4).filter(|_| starts && ends);
        if let Some(Ok(row)) = digits.map(str::parse) {
            named.insert(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_in_comments_and_in_names() {
        let mut named = BTreeSet::new();
        rows_in(
            "// P001, P012: x\nfn p045_too_deep() {} P1234 XP002 é P007",
            &mut named,
        );
        assert_eq!(named.into_iter().collect::<Vec<_>>(), [1, 7, 12, 45]);
    }
}
