//! The table, and the same for programs.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Outcome;

/// Passed and failed checks of one row.
type Rows<'a> = BTreeMap<(&'a str, &'a str, &'a str, &'a str), (usize, usize)>;

fn rows(outcomes: &[Outcome]) -> Rows<'_> {
    let mut rows = Rows::new();
    for outcome in outcomes {
        let key = (
            outcome.krate,
            outcome.layer,
            outcome.revision.as_str(),
            outcome.transport,
        );
        let (passed, failed) = rows.entry(key).or_default();
        match outcome.failure {
            None => *passed += 1,
            Some(_) => *failed += 1,
        }
    }
    rows
}

/// Passed and failed checks in all.
pub(super) fn totals(outcomes: &[Outcome]) -> (usize, usize) {
    let failed = outcomes
        .iter()
        .filter(|outcome| outcome.failure.is_some())
        .count();
    (outcomes.len() - failed, failed)
}

/// What failed, then the table, then the count.
pub(super) fn text(outcomes: &[Outcome], uncovered: &[String]) -> String {
    let mut out = String::new();
    for outcome in outcomes {
        if let Some(failure) = &outcome.failure {
            out.push_str(&format!(
                "FAILED {} {}: {failure}\n\n",
                outcome.layer, outcome.name
            ));
        }
    }
    let header = ("crate", "layer", "revision", "transport", "pass", "fail");
    let mut line = |(krate, layer, revision, transport, pass, fail): (&str, &str, &str, &str, &str, &str)| {
        let text = format!("{krate:<12} {layer:<12} {revision:<11} {transport:<10} {pass:>6} {fail:>6}");
        out.push_str(text.trim_end());
        out.push('\n');
    };
    line(header);
    for ((krate, layer, revision, transport), (passed, failed)) in rows(outcomes) {
        let (passed, failed) = (passed.to_string(), failed.to_string());
        line((krate, layer, revision, transport, &passed, &failed));
    }
    if !uncovered.is_empty() {
        out.push_str(&format!(
            "\nrows that no transcript and no test names: {}\n",
            uncovered.join(" ")
        ));
    }
    let (passed, failed) = totals(outcomes);
    out.push_str(&format!("\n{passed} passed, {failed} failed\n"));
    out
}

/// The same, as one JSON document.
pub(super) fn json(outcomes: &[Outcome], uncovered: &[String]) -> Value {
    let rows: Vec<Value> = rows(outcomes)
        .into_iter()
        .map(|((krate, layer, revision, transport), (passed, failed))| {
            json!({"crate": krate, "layer": layer, "revision": revision, "transport": transport,
                   "pass": passed, "fail": failed})
        })
        .collect();
    let failures: Vec<Value> = outcomes
        .iter()
        .filter_map(|outcome| {
            let failure = outcome.failure.as_ref()?;
            Some(json!({"layer": outcome.layer, "name": outcome.name, "difference": failure}))
        })
        .collect();
    let (passed, failed) = totals(outcomes);
    json!({"rows": rows, "failures": failures, "uncovered": uncovered, "passed": passed, "failed": failed})
}
