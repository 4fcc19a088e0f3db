//! Results that are not complete: what the server asks is answered, and the request sent again (2026-07-28:
//! basic/patterns/mrtr).

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use bytes::BufMut;
use mcp_jsonrpc::{RawJson, encode};
use mcp_types::{InputRequest, InputRequiredResult, wire};
use serde::Deserialize;

use crate::client::Client;
use crate::error::ClientError;
use crate::params::Members;
use crate::questions::NoAnswer;
use crate::request::{Request, Rounds};

/// How often a server that is busy may send a request away.
const MAX_SHED: u32 = 3;
/// How long to wait before the first such retry; each further one waits twice as long.
const BACKOFF: Duration = Duration::from_millis(250);
/// Questions of one round.
const MAX_QUESTIONS: usize = 64;

impl<T> Request<T> {
    pub(crate) async fn perform(&mut self, members: Members) -> Result<RawJson, ClientError> {
        let own = members.len();
        let (mut result, mut params) = self.send(members).await?;
        if self.rounds == Rounds::Ignore || !self.client.revision().is_stateless() {
            return Ok(result);
        }
        let (mut rounds, mut shed) = (0, 0);
        loop {
            match kind_of(&result, &self.method)? {
                Kind::Complete => return Ok(result),
                Kind::InputRequired if self.rounds == Rounds::Answer => {}
                Kind::InputRequired => {
                    let text = format!("the server's answer to {} may not ask for input", self.method);
                    return Err(ClientError::protocol(text));
                }
            }
            let asked: InputRequiredResult = result
                .parse()
                .map_err(|error| ClientError::unreadable(&self.method, error))?;
            // The same members as before, then the answers; `_meta` comes anew.
            let mut members =
                Members::again(params.as_deref().and_then(|all| all.get(..own)).unwrap_or(b"{"));
            if asked.input_requests.is_empty() {
                if asked.request_state.is_none() {
                    let text = format!(
                        "the server wants {} again and says neither why nor how",
                        self.method
                    );
                    return Err(ClientError::protocol(text));
                }
                shed += 1;
                if shed > MAX_SHED {
                    let text = format!("the server sent {} away {MAX_SHED} times", self.method);
                    return Err(ClientError::protocol(text));
                }
                tokio::time::sleep(BACKOFF * (1 << (shed - 1))).await;
            } else {
                rounds += 1;
                let max = self.client.0.bounds.max_rounds;
                if rounds > max {
                    let text = format!("the server asked for input more than {max} times for one call");
                    return Err(ClientError::protocol(text));
                }
                let questions: Vec<(&str, &InputRequest)> = asked.input_requests.iter().collect();
                answer_all(&self.client, &self.method, &questions, &mut members).await?;
            }
            if let Some(state) = &asked.request_state {
                members.string("requestState", state);
            }
            (result, params) = self.send(members).await?;
        }
    }
}

/// Answers all questions of a round at once, and writes the answers.
async fn answer_all(
    client: &Client,
    method: &str,
    questions: &[(&str, &InputRequest)],
    members: &mut Members,
) -> Result<(), ClientError> {
    if questions.len() > MAX_QUESTIONS {
        let text = format!("the server asked {} questions at once", questions.len());
        return Err(ClientError::protocol(text));
    }
    let inner = &*client.0;
    let answering = questions.iter().map(|(_, question)| {
        let params = question.params.as_ref().filter(|params| !params.is_null());
        inner
            .inlet
            .questions
            .answer(&question.method, params, inner.revision)
    });
    let answers = all(answering.collect()).await;
    let out = members.key("inputResponses");
    for (at, ((key, question), answer)) in questions.iter().zip(answers).enumerate() {
        let answer = answer.map_err(|none| match none {
            NoAnswer::Fault(error) => ClientError::protocol(format!(
                "the server asked for {} on behalf of {}: {}",
                question.method, method, error.message
            )),
            NoAnswer::Refused(error) => {
                ClientError::cancelled(format!("{} was refused: {}", question.method, error.message))
            }
        })?;
        out.put_u8(if at == 0 { b'{' } else { b',' });
        encode::string(out, key);
        out.put_u8(b':');
        wire::encode(out, &answer, inner.revision).map_err(ClientError::encode)?;
    }
    out.put_u8(b'}');
    Ok(())
}

enum Kind {
    Complete,
    InputRequired,
}

/// What kind of result this is. Absent means complete, and a kind that nobody knows is an error.
fn kind_of(result: &RawJson, method: &str) -> Result<Kind, ClientError> {
    // Nearly all servers write it first, and then the rest need not be looked at.
    if result.as_bytes().starts_with(br#"{"resultType":"complete""#) {
        return Ok(Kind::Complete);
    }
    #[derive(Deserialize)]
    struct Typed {
        #[serde(rename = "resultType")]
        result_type: Option<String>,
    }
    let typed: Typed = result
        .parse()
        .map_err(|error| ClientError::unreadable(method, error))?;
    match typed.result_type.as_deref() {
        None | Some("complete") => Ok(Kind::Complete),
        Some("input_required") => Ok(Kind::InputRequired),
        Some(other) => Err(ClientError::protocol(format!(
            "the server's answer to {method} is of the unknown kind {other:?}"
        ))),
    }
}

/// Runs futures at once, in one task, and gives their outputs in order.
async fn all<F: Future>(futures: Vec<F>) -> Vec<F::Output> {
    let mut running: Vec<Pin<Box<F>>> = futures.into_iter().map(Box::pin).collect();
    let mut outputs: Vec<Option<F::Output>> = running.iter().map(|_| None).collect();
    poll_fn(|cx| {
        let mut pending = false;
        for (future, output) in running.iter_mut().zip(&mut outputs) {
            if output.is_none() {
                match future.as_mut().poll(cx) {
                    Poll::Ready(value) => *output = Some(value),
                    Poll::Pending => pending = true,
                }
            }
        }
        if pending { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    outputs.into_iter().flatten().collect()
}
