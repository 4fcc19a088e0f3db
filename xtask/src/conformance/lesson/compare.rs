//! The lesson's lines beside ours.

use mcp_testkit::{Bindings, matches};
use mcp_types::Revision;
use serde_json::Value;

use super::example::{Example, Kind};
use super::{Lines, Outcome};

/// One outcome for each line that either side has; one for the whole where ours did not get there.
pub(super) fn outcomes(example: &Example, revision: Option<Revision>, ours: Lines) -> Vec<Outcome> {
    let outcome = |name: String, failure| Outcome {
        layer: "lesson",
        krate: example.krate,
        revision: revision.map_or("-", |revision| revision.name()).to_owned(),
        transport: example.transport,
        name,
        failure,
    };
    let ours = match ours {
        Ok(ours) => ours,
        Err(why) => {
            return vec![outcome(
                example.name.clone(),
                Some(format!("it did not end: {why}")),
            )];
        }
    };
    let count = example.output.len().max(ours.len());
    let mut all = Vec::with_capacity(count);
    for at in 0..count {
        let name = format!("{}, line {}", example.name, at + 1);
        let failure = match (example.output.get(at), ours.get(at)) {
            (Some(_), Some(ours)) => line(example, at, ours),
            (Some(theirs), None) => Some(format!("\n  lesson  {theirs}\n  ours    (ends before)")),
            (None, ours) => Some(format!(
                "\n  lesson  (ends before)\n  ours    {}",
                ours.map_or("", String::as_str)
            )),
        };
        all.push(outcome(name, failure));
    }
    all
}

/// The outcome of a file that cannot be read.
pub(super) fn broken(text: &'static str, why: &str) -> Outcome {
    Outcome {
        layer: "lesson",
        krate: "xtask",
        revision: "-".to_owned(),
        transport: "-",
        name: text.lines().next().unwrap_or_default().to_owned(),
        failure: Some(format!("its file cannot be used: {why}")),
    }
}

/// How one line differs from the lesson's, under its exceptions.
fn line(example: &Example, at: usize, ours: &str) -> Option<String> {
    let lesson = example.output.get(at)?;
    let mut expected = lesson.clone();
    let mut said = ours.to_owned();
    let mut reasons = String::new();
    for exception in example.exceptions_of(at + 1) {
        match &exception.kind {
            Kind::Replace(old, new) => expected = expected.replace(old.as_str(), new),
            Kind::Cut => said = cut_like(&said, lesson),
            Kind::Played => {}
        }
        reasons.push_str(&format!("\n  except  {}", exception.reason));
    }
    let difference = difference(&expected, &said)?;
    let changed = match expected == *lesson {
        true => String::new(),
        false => format!("\n  so      {expected}"),
    };
    Some(format!(
        "\n  lesson  {lesson}{reasons}{changed}\n  ours    {said}\n  {difference}"
    ))
}

/// Cuts a line where the lesson cut its own. One that is not longer stays, and differs then.
fn cut_like(line: &str, lesson: &str) -> String {
    let kept = lesson.chars().count() - "...".len();
    match line.char_indices().nth(kept) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.to_owned(),
    }
}

fn difference(expected: &str, ours: &str) -> Option<String> {
    if expected == ours {
        return None;
    }
    if let (Some((before, theirs)), Some((start, mine))) = (message_in(expected), message_in(ours))
        && before == start
    {
        if theirs == mine {
            return None;
        }
        // The pattern language of transcripts is used for its words only.
        return Some(match matches(&theirs, &mine, &mut Bindings::default()) {
            Err(why) => why.to_string().replace('\n', "\n  "),
            Ok(()) => "the messages differ".to_owned(),
        });
    }
    let same = expected
        .chars()
        .zip(ours.chars())
        .take_while(|(a, b)| a == b)
        .count();
    let rest = |text: &str| text.chars().skip(same).take(40).collect::<String>();
    Some(format!(
        "from character {}: expected {:?}, got {:?}",
        same + 1,
        rest(expected),
        rest(ours)
    ))
}

/// The JSON-RPC message at the end of a line, and what stands before it.
fn message_in(line: &str) -> Option<(&str, Value)> {
    let (before, _) = line.split_at(line.find('{')?);
    let message: Value = serde_json::from_str(&line[before.len()..]).ok()?;
    message.get("jsonrpc")?;
    Some((before, message))
}
