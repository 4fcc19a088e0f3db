use std::fmt;

use mcp_exchange::BoxHandler;
use mcp_types::{ClientCapabilities, Revision, meta::keys};
use serde_json::Value;

use crate::drive::{Answer, Driver};
use crate::error::TestError;
use crate::pattern::pretty;

/// What a call gave in both eras.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Replayed {
    /// The result or error; the same in both, without what the stateless era adds to each result.
    pub outcome: Value,
    /// How often the replayed call came back for input.
    pub rounds: usize,
    /// How many questions the client was asked, live and replayed: the same in both.
    pub questions: usize,
}

/// A call that gave one thing live and another replayed, or could not be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Divergence(String);

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Divergence {}

impl From<TestError> for Divergence {
    fn from(error: TestError) -> Self {
        Self(error.to_string())
    }
}

/// Makes one call in both eras: live in 2025-11-25, where the handler waits for the client's answers, and replayed in
/// 2026-07-28, where it is run again with them. `make` gives a fresh handler for each, so that what one leaves behind
/// is not seen by the other; `answer` is the client, given method and parameters of a question.
///
/// A handler that passes keeps the contract of asking: what comes before a question may run again, and effects
/// come after the last question or are remembered.
///
/// # Errors
/// When the outcomes differ, or the numbers of questions do.
pub async fn replay_both_ways<A>(
    make: impl Fn() -> BoxHandler,
    method: &str,
    params: &Value,
    capabilities: &ClientCapabilities,
    answer: A,
) -> Result<Replayed, Divergence>
where
    A: Fn(&str, &Value) -> Answer + Clone + Send + Sync + 'static,
{
    let driver = |revision| {
        Driver::new(make(), revision)
            .capabilities(capabilities.clone())
            .answering(answer.clone())
    };
    let (live, replay) = (driver(Revision::LATEST_HANDSHAKE), driver(Revision::V2026_07_28));
    let (one, _) = live.complete(method, params).await?;
    let (other, rounds) = replay.complete(method, params).await?;
    let (one, other) = (outcome(one), outcome(other));
    if one != other {
        let (one, other) = (pretty(&one), pretty(&other));
        return Err(Divergence(format!(
            "{method}:\n  live     {one}\n  replayed {other}"
        )));
    }
    let (questions, again) = (live.questions(), replay.questions());
    if questions.len() != again.len() {
        return Err(Divergence(format!(
            "{method}: asked live {questions:?}, replayed {again:?}"
        )));
    }
    Ok(Replayed {
        outcome: one,
        rounds,
        questions: questions.len(),
    })
}

/// The result or error of an answer, without what the stateless era adds.
fn outcome(mut answer: Value) -> Value {
    if let Some(error) = answer.get_mut("error") {
        return serde_json::json!({"error": error.take()});
    }
    let mut result = answer["result"].take();
    if let Some(members) = result.as_object_mut() {
        for added in ["resultType", "ttlMs", "cacheScope"] {
            members.remove(added);
        }
        if let Some(meta) = members.get_mut("_meta").and_then(Value::as_object_mut) {
            meta.remove(keys::SERVER_INFO);
            if meta.is_empty() {
                members.remove("_meta");
            }
        }
    }
    result
}
