use std::marker::PhantomData;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcp_exchange::{Outgoing, Scope};
use mcp_jsonrpc::{Call, ParamKey, RawJson};
use mcp_session::{Binding, RoundState, StateSealer, open_round, seal_round};
use mcp_types::wire;
use mcp_types::{
    ClientCapabilities, CreateMessageParams, CreateMessageResult, ElicitAction, ElicitFormParams,
    ElicitParams, ElicitResult, ElicitSchema, ElicitUrlParams, ElicitationCapability, EmptyParams,
    InputRequest, InputRequiredResult, JsonObject, ListRootsResult, Map, Revision, RootsCapability,
    SamplingCapability, method,
};
use serde::de::DeserializeOwned;

use crate::error::{AskError, Failure};

/// Something that a handler may ask the client.
pub trait Question: Send {
    /// What the answer is read as.
    type Answer: Send;

    /// The method.
    const METHOD: &'static str;

    /// What the client must have declared, and what to call it in an error.
    fn requires(&self) -> (&'static str, ClientCapabilities);

    /// Whether a client with these capabilities can be asked.
    fn is_supported(&self, declared: &ClientCapabilities) -> bool;

    /// The parameters for this revision.
    ///
    /// # Errors
    /// When the question cannot be put in this revision.
    fn params(&self, revision: Revision) -> Result<RawJson, wire::EncodeError>;

    /// Reads the answer.
    ///
    /// # Errors
    /// A text that says what is wrong with it.
    fn answer(&self, raw: &RawJson) -> Result<Self::Answer, String>;
}

/// A question to the client's user. Made by [`Elicit::form`], [`Elicit::fields`] or [`Elicit::url`].
///
/// 2025-11-25: client/elicitation. Never ask for secrets by a form.
#[derive(Debug, Clone)]
pub struct Elicit<T = JsonObject> {
    params: ElicitParams,
    read: PhantomData<fn() -> T>,
}

/// What the user did with a question.
#[derive(Debug, Clone, PartialEq)]
pub enum Elicited<T> {
    /// Agreed, and filled this in.
    Accept(T),
    /// Refused.
    Decline,
    /// Closed it without an answer.
    Cancel,
}

impl<T> Elicited<T> {
    /// What was filled in; none where the user did not agree.
    pub fn accepted(self) -> Option<T> {
        match self {
            Elicited::Accept(value) => Some(value),
            Elicited::Decline | Elicited::Cancel => None,
        }
    }
}

impl Elicit<JsonObject> {
    /// A form with these fields. The answer is checked against them.
    pub fn fields(message: impl Into<String>, schema: ElicitSchema) -> Self {
        Self {
            params: ElicitFormParams::new(message, schema).into(),
            read: PhantomData,
        }
    }
}

impl<T: DeserializeOwned> Elicit<T> {
    /// A form with these fields, whose answer is read as `T`.
    pub fn form(message: impl Into<String>, schema: ElicitSchema) -> Self {
        Self {
            params: ElicitFormParams::new(message, schema).into(),
            read: PhantomData,
        }
    }
}

impl Elicit<()> {
    /// Asks to open a URL; accepting means consent, not that it was done. `id` names this elicitation in
    /// 2025-11-25.
    pub fn url(message: impl Into<String>, url: impl Into<String>, id: impl Into<String>) -> Self {
        let params = ElicitUrlParams::new(message, url).with_elicitation_id(id.into());
        Self {
            params: params.into(),
            read: PhantomData,
        }
    }
}

impl<T: DeserializeOwned + Send> Question for Elicit<T> {
    type Answer = Elicited<T>;
    const METHOD: &'static str = method::ELICITATION_CREATE;

    fn requires(&self) -> (&'static str, ClientCapabilities) {
        let (name, capability) = match &self.params {
            ElicitParams::Url(_) => (
                "elicitation by URL",
                ElicitationCapability::default().with_url(JsonObject::new()),
            ),
            _ => (
                "elicitation",
                ElicitationCapability::default().with_form(JsonObject::new()),
            ),
        };
        (name, ClientCapabilities::default().with_elicitation(capability))
    }

    fn is_supported(&self, declared: &ClientCapabilities) -> bool {
        declared
            .elicitation
            .as_ref()
            .is_some_and(|elicitation| match &self.params {
                ElicitParams::Url(_) => elicitation.has_url(),
                _ => elicitation.has_form(),
            })
    }

    fn params(&self, revision: Revision) -> Result<RawJson, wire::EncodeError> {
        wire::to_raw(&self.params, revision)
    }

    fn answer(&self, raw: &RawJson) -> Result<Elicited<T>, String> {
        let result: ElicitResult = raw.parse().map_err(|error| error.to_string())?;
        match (result.action, &self.params) {
            (ElicitAction::Decline, _) => Ok(Elicited::Decline),
            (ElicitAction::Accept, ElicitParams::Form(form)) => {
                let content = RawJson::encode(&result.content.unwrap_or_default());
                let content = content.map_err(|error| error.to_string())?;
                form.requested_schema
                    .check(&content)
                    .map_err(|error| error.to_string())?;
                content
                    .parse()
                    .map(Elicited::Accept)
                    .map_err(|error| error.to_string())
            }
            // Consent carries no content.
            (ElicitAction::Accept, _) => RawJson::null()
                .parse()
                .map(Elicited::Accept)
                .map_err(|error| error.to_string()),
            _ => Ok(Elicited::Cancel),
        }
    }
}

/// Asks the client's model.
///
/// 2025-11-25: client/sampling.
#[derive(Debug, Clone)]
pub struct Sample(pub CreateMessageParams);

impl Question for Sample {
    type Answer = CreateMessageResult;
    const METHOD: &'static str = method::SAMPLING_CREATE_MESSAGE;

    fn requires(&self) -> (&'static str, ClientCapabilities) {
        let mut sampling = SamplingCapability::default();
        if self.uses_tools() {
            sampling = sampling.with_tools(JsonObject::new());
        }
        ("sampling", ClientCapabilities::default().with_sampling(sampling))
    }

    fn is_supported(&self, declared: &ClientCapabilities) -> bool {
        declared
            .sampling
            .as_ref()
            .is_some_and(|sampling| !self.uses_tools() || sampling.tools.is_some())
    }

    fn params(&self, revision: Revision) -> Result<RawJson, wire::EncodeError> {
        wire::to_raw(&self.0, revision)
    }

    fn answer(&self, raw: &RawJson) -> Result<CreateMessageResult, String> {
        raw.parse().map_err(|error| error.to_string())
    }
}

impl Sample {
    fn uses_tools(&self) -> bool {
        !self.0.tools.is_empty() || self.0.tool_choice.is_some()
    }
}

/// Asks for the client's roots: which folders it works in. Guidance, not access control.
///
/// 2025-11-25: client/roots.
#[derive(Debug, Clone, Copy, Default)]
pub struct ListRoots;

impl Question for ListRoots {
    type Answer = ListRootsResult;
    const METHOD: &'static str = method::ROOTS_LIST;

    fn requires(&self) -> (&'static str, ClientCapabilities) {
        (
            "roots",
            ClientCapabilities::default().with_roots(RootsCapability::default()),
        )
    }

    fn is_supported(&self, declared: &ClientCapabilities) -> bool {
        declared.roots.is_some()
    }

    fn params(&self, revision: Revision) -> Result<RawJson, wire::EncodeError> {
        wire::to_raw(&EmptyParams::default(), revision)
    }

    fn answer(&self, raw: &RawJson) -> Result<ListRootsResult, String> {
        raw.parse().map_err(|error| error.to_string())
    }
}

/// Where questions stand in one call of the stateless era: what is known from earlier rounds, and what is asked in
/// this one.
#[derive(Debug, Default)]
pub(crate) struct Round {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    known: RoundState,
    asked: Vec<(String, InputRequest)>,
}

impl Round {
    /// Reads what a call brings along: the answers of this round, and the sealed ones of earlier rounds.
    pub(crate) fn open(
        call: &Call,
        principal: Option<&str>,
        sealer: &dyn StateSealer,
    ) -> Result<Self, Failure> {
        let mut known = match call.param_str(ParamKey::RequestState) {
            Ok(None) => RoundState::default(),
            Ok(Some(token)) => open_round(sealer, &Binding::new(principal, call), &token)
                .map_err(|error| Failure::invalid_params(format!("Invalid params: {error}")))?,
            Err(_) => {
                return Err(Failure::invalid_params(
                    "Invalid params: requestState is not a string",
                ));
            }
        };
        if let Some(responses) = call.param(ParamKey::InputResponses) {
            let responses: JsonObject = responses
                .parse()
                .map_err(|_| Failure::invalid_params("Invalid params: inputResponses is not an object"))?;
            for (key, answer) in responses.iter() {
                known.answers.retain(|(known, _)| known != key);
                known.answers.push((key.to_owned(), answer.clone().detach()));
            }
        }
        Ok(Self {
            state: Mutex::new(State {
                known,
                asked: Vec::new(),
            }),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask<Q: Question>(&self, key: &str, question: &Q, revision: Revision) -> Result<Q::Answer, AskError> {
        let mut state = self.lock();
        if let Some((_, raw)) = state.known.answers.iter().find(|(known, _)| known == key) {
            return question.answer(raw).map_err(|why| AskError::malformed(why, true));
        }
        let params = question
            .params(revision)
            .map_err(|error| AskError::lost(error.to_string()))?;
        if state.asked.iter().all(|(asked, _)| asked != key) {
            state
                .asked
                .push((key.to_owned(), InputRequest::new(Q::METHOD).with_params(params)));
        }
        Err(AskError::interrupt())
    }

    pub(crate) fn remembered(&self, key: &str) -> Option<RawJson> {
        self.lock()
            .known
            .remembered
            .iter()
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
        if !known.answers.is_empty() || !known.remembered.is_empty() || result.input_requests.is_empty() {
            known.rounds += 1;
            let token = seal_round(sealer, Binding::new(principal, call), lifetime, known)
                .map_err(|error| Failure::protocol(mcp_jsonrpc::ErrorObject::internal(error.to_string())))?;
            result = result.with_request_state(token);
        }
        Ok(result)
    }
}

/// Asks, in whichever era the call came.
pub(crate) async fn ask<Q: Question>(
    scope: &Scope,
    round: Option<&Round>,
    timeout: Duration,
    key: &str,
    question: Q,
) -> Result<Q::Answer, AskError> {
    let revision = scope.revision();
    if !question.is_supported(&scope.peer().capabilities) {
        let (what, required) = question.requires();
        return Err(AskError::unsupported(what, &required, revision.is_stateless()));
    }
    if let Some(round) = round {
        return round.ask(key, &question, revision);
    }
    let Some(link) = scope.asker() else {
        return Err(AskError::lost("there is no way to ask the client here"));
    };
    let params = question
        .params(revision)
        .map_err(|error| AskError::lost(error.to_string()))?;
    let call = Outgoing::new(Q::METHOD, Some(params.into_bytes()));
    let outcome = tokio::time::timeout(timeout, async {
        let incoming = link.open(link.next_id(), call).await?;
        incoming.answer().await
    });
    match outcome.await {
        Err(_) => Err(AskError::lost("the client did not answer in time")),
        Ok(Err(error)) => Err(AskError::lost(error.to_string())),
        Ok(Ok(Err(error))) => Err(AskError::refused(error)),
        Ok(Ok(Ok(raw))) => question
            .answer(&raw)
            .map_err(|why| AskError::malformed(why, false)),
    }
}
