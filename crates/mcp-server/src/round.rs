use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcp_jsonrpc::{Call, ErrorObject, ParamKey, RawJson};
use mcp_session::{Binding, RoundState, StateSealer, open_round, seal_round};
use mcp_types::{InputRequest, InputRequiredResult, JsonObject, Map, Revision};

use crate::ask::Question;
use crate::error::{AskError, Failure};

/// Where questions stand in one call.
///
/// In the stateless era: what is known from earlier rounds, and what is asked in this one. In the stateful era a
/// question is a request of its own, and what is known is what this run of the handler got to know, so that a key means
/// the same in both.
#[derive(Debug)]
pub(crate) struct Round {
    mode: Mode,
    over: AtomicBool,
    state: Mutex<State>,
}

/// How a question is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// As a request to the client.
    Live,
    /// As a request to the client, once the handshake is finished: the call came before that.
    LiveEarly,
    /// As part of the result, after which the call comes again.
    Replay,
    /// Not at all.
    Quiet,
}

#[derive(Debug, Default)]
struct State {
    /// Answers and remembered values: in the stateless era of earlier rounds, sealed by us.
    known: RoundState,
    /// What came with this call. Only what the handler asks for is kept; other keys are ignored
    /// (2026-07-28: basic/patterns/mrtr).
    fresh: Vec<Fresh>,
    asked: Vec<(String, InputRequest)>,
}

#[derive(Debug)]
struct Fresh {
    key: String,
    answer: RawJson,
    used: bool,
}

/// Marks the end of a call when it goes: a clone of its `Cx` may live on in a task.
pub(crate) struct End(Arc<Round>);

impl Drop for End {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::Release);
    }
}

impl Round {
    fn new(mode: Mode, state: State) -> Self {
        Self {
            mode,
            over: AtomicBool::new(false),
            state: Mutex::new(state),
        }
    }

    /// For a call of the stateful era, which may have come before the handshake was finished.
    pub(crate) fn live(early: bool) -> Self {
        let mode = if early { Mode::LiveEarly } else { Mode::Live };
        Self::new(mode, State::default())
    }

    /// For a request during which nothing may be asked.
    pub(crate) fn quiet() -> Self {
        Self::new(Mode::Quiet, State::default())
    }

    /// For a call of the stateless era, with what it brings along: the answers of this round, and the sealed ones of
    /// earlier rounds.
    pub(crate) fn replay(
        call: &Call,
        principal: Option<&str>,
        sealer: &dyn StateSealer,
    ) -> Result<Self, Failure> {
        let mut state = State::default();
        match call.param_str(ParamKey::RequestState) {
            Ok(None) => {}
            Ok(Some(token)) => {
                state.known =
                    open_round(sealer, &Binding::new(principal, call), &token).map_err(|error| {
                        if error.is_state() {
                            Failure::invalid_params(format!("Invalid params: {error}"))
                        } else {
                            tracing::error!(%error, "a requestState could not be opened");
                            Failure::protocol(ErrorObject::internal("Internal error"))
                        }
                    })?;
            }
            Err(_) => {
                return Err(Failure::invalid_params(
                    "Invalid params: requestState is not a string",
                ));
            }
        }
        if let Some(responses) = call.param(ParamKey::InputResponses) {
            let responses: JsonObject = responses
                .parse()
                .map_err(|_| Failure::invalid_params("Invalid params: inputResponses is not an object"))?;
            let fresh = responses.iter().map(|(key, answer)| Fresh {
                key: key.to_owned(),
                answer: answer.clone(),
                used: false,
            });
            state.fresh = fresh.collect();
        }
        Ok(Self::new(Mode::Replay, state))
    }

    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    /// Whether the call was answered or dropped.
    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    pub(crate) fn end(self: &Arc<Self>) -> End {
        End(Arc::clone(self))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer to a question, or the interrupt that ends this run of the handler.
    pub(crate) fn ask<Q: Question>(
        &self,
        key: &str,
        question: &Q,
        revision: Revision,
    ) -> Result<Q::Answer, AskError> {
        // What was sealed was used before, so it stands.
        if let Some(answer) = self.known(key, question) {
            return answer.map_err(|why| AskError::malformed(why, true));
        }
        let mut state = self.lock();
        let State { fresh, asked, .. } = &mut *state;
        if let Some(fresh) = fresh.iter_mut().find(|fresh| fresh.key == key) {
            let answer = question
                .answer(&fresh.answer)
                .map_err(|why| AskError::malformed(why, true))?;
            fresh.used = true;
            return Ok(answer);
        }
        let params = question.params(revision).map_err(AskError::inexpressible)?;
        if asked.iter().all(|(asked, _)| asked != key) {
            asked.push((key.to_owned(), InputRequest::new(Q::METHOD).with_params(params)));
        }
        Err(AskError::interrupt())
    }

    /// An answer that this call has already.
    pub(crate) fn known<Q: Question>(&self, key: &str, question: &Q) -> Option<Result<Q::Answer, String>> {
        let state = self.lock();
        let mut answers = state.known.answers.iter();
        answers
            .find(|(known, _)| known == key)
            .map(|(_, raw)| question.answer(raw))
    }

    /// Keeps an answer that was asked for and read.
    pub(crate) fn learn(&self, key: &str, answer: RawJson) {
        self.lock().known.answers.push((key.to_owned(), answer));
    }

    pub(crate) fn remembered(&self, key: &str) -> Option<RawJson> {
        let state = self.lock();
        let mut remembered = state.known.remembered.iter();
        remembered
            .find(|(known, _)| known == key)
            .map(|(_, value)| value.clone())
    }

    pub(crate) fn remember(&self, key: &str, value: RawJson) {
        self.lock().known.remembered.push((key.to_owned(), value));
    }

    /// The answer to a call that was interrupted: all questions of this round, and everything needed to come back.
    pub(crate) fn need_input(
        &self,
        call: &Call,
        principal: Option<&str>,
        sealer: &dyn StateSealer,
        lifetime: Duration,
    ) -> Result<InputRequiredResult, Failure> {
        let mut state = self.lock();
        let asked: Map<InputRequest> = std::mem::take(&mut state.asked).into_iter().collect();
        let mut result = InputRequiredResult::default().with_input_requests(asked);
        let mut known = state.known.clone();
        let used = state.fresh.iter().filter(|fresh| fresh.used);
        known
            .answers
            .extend(used.map(|fresh| (fresh.key.clone(), fresh.answer.clone())));
        if !known.answers.is_empty() || !known.remembered.is_empty() || result.input_requests.is_empty() {
            known.rounds += 1;
            let token =
                seal_round(sealer, Binding::new(principal, call), lifetime, known).map_err(|error| {
                    tracing::error!(%error, "a requestState could not be sealed");
                    Failure::protocol(ErrorObject::internal("Internal error"))
                })?;
            result = result.with_request_state(token);
        }
        Ok(result)
    }
}
