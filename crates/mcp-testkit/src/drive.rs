use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::BytesMut;
use mcp_exchange::{
    BoxHandler, BoxLink, Closed, Exchange, Handler, Incoming, Link, LinkError, Outbox, Outgoing, Peer,
    ScopeBuilder, Session, call_slot,
};
use mcp_jsonrpc::{Call, ErrorObject, RawJson, Request, RequestId};
use mcp_types::{ClientCapabilities, Revision};
use serde_json::{Value, json};

use crate::error::TestError;

/// How many times a call may come back for input.
const MAX_ROUNDS: usize = 10;

/// What a client answers to a question.
#[derive(Debug, Clone)]
pub enum Answer {
    /// A result.
    Result(Value),
    /// An error; the stateless era has none, so a call ends there.
    Error(ErrorObject),
}

type Answering = Arc<dyn Fn(&str, &Value) -> Answer + Send + Sync>;

/// Calls a handler without a transport, as the client of one revision: questions are answered by a function, events
/// are kept.
pub struct Driver {
    handler: BoxHandler,
    revision: Revision,
    peer: Arc<Peer>,
    session: Option<Session>,
    /// What the handler runs beside the session; it goes on while a call is awaited.
    attending: Mutex<Option<Attending>>,
    answering: Answering,
    next_id: AtomicI64,
    heard: Arc<Heard>,
}

type Attending = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What came out beside answers.
#[derive(Default)]
struct Heard {
    events: Mutex<Vec<Value>>,
    questions: Mutex<Vec<String>>,
}

impl Heard {
    fn event(&self, frame: &[u8]) {
        let event = serde_json::from_slice(frame).unwrap_or_default();
        self.events
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(event);
    }

    fn question(&self, method: &str) {
        let mut questions = self.questions.lock().unwrap_or_else(PoisonError::into_inner);
        questions.push(method.to_owned());
    }
}

/// Always has room.
impl Outbox for Heard {
    fn try_send(&self, frame: BytesMut) -> Result<(), BytesMut> {
        self.event(&frame);
        Ok(())
    }

    fn room(&self) -> Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        Box::pin(async { true })
    }
}

/// The client's end for live questions.
struct Answers {
    answering: Answering,
    heard: Arc<Heard>,
    next_id: AtomicI64,
}

impl Link for Answers {
    fn next_id(&self) -> RequestId {
        self.next_id.fetch_add(1, Ordering::Relaxed).into()
    }

    async fn open(&self, _: RequestId, call: Outgoing) -> Result<Incoming, LinkError> {
        let params = match &call.params {
            Some(params) => serde_json::from_slice(params)
                .map_err(|error| LinkError::usage(format!("the parameters are no JSON: {error}")))?,
            None => Value::Null,
        };
        self.heard.question(&call.method);
        let outcome = match (self.answering)(&call.method, &params) {
            Answer::Result(result) => Ok(RawJson::from_text(result.to_string())
                .map_err(|error| LinkError::usage(format!("the answer is no JSON: {error}")))?),
            Answer::Error(error) => Err(error),
        };
        let (slot, incoming) = call_slot();
        slot.done(outcome);
        Ok(incoming)
    }

    async fn notify(&self, note: Outgoing) -> Result<(), LinkError> {
        let params = note.params.as_deref().unwrap_or(b"null");
        let params: Value = serde_json::from_slice(params).unwrap_or_default();
        let text = json!({"jsonrpc": "2.0", "method": note.method, "params": params}).to_string();
        self.heard.event(text.as_bytes());
        Ok(())
    }

    async fn closed(&self) -> Closed {
        std::future::pending().await
    }

    async fn close(&self) -> Closed {
        Closed::new("closed by us", true)
    }
}

impl Driver {
    /// Calls this handler in this revision. The client declares nothing and answers every question with
    /// -32601.
    pub fn new(handler: impl Handler, revision: Revision) -> Self {
        let mut driver = Self {
            handler: BoxHandler::new(handler),
            revision,
            peer: Arc::new(Peer::new(revision)),
            session: None,
            attending: Mutex::default(),
            answering: Arc::new(|method, _| Answer::Error(ErrorObject::method_not_found(method))),
            next_id: AtomicI64::new(1),
            heard: Arc::default(),
        };
        driver.connect();
        driver
    }

    /// The client declares these capabilities.
    #[must_use]
    pub fn capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.peer = Arc::new(Peer::new(self.revision).with_capabilities(capabilities));
        self.connect();
        self
    }

    /// The client is shown to be this.
    #[must_use]
    pub fn principal(mut self, principal: &str) -> Self {
        self.peer = Arc::new(Peer::clone(&self.peer).with_principal(principal));
        self.connect();
        self
    }

    /// The client answers questions like this, given method and parameters.
    #[must_use]
    pub fn answering(mut self, answer: impl Fn(&str, &Value) -> Answer + Send + Sync + 'static) -> Self {
        self.answering = Arc::new(answer);
        self.connect();
        self
    }

    fn connect(&mut self) {
        self.session = (!self.revision.is_stateless()).then(|| {
            let link = Answers {
                answering: Arc::clone(&self.answering),
                heard: Arc::clone(&self.heard),
                next_id: AtomicI64::new(0),
            };
            Session::new(Arc::clone(&self.peer), BoxLink::new(link))
        });
        let attending = self
            .session
            .clone()
            .map(|session| self.handler.attend_boxed(session));
        self.attending = Mutex::new(attending);
    }

    /// Calls once. Gives back the whole answer: in the stateless era perhaps one that requires input.
    ///
    /// # Errors
    /// When the answer is no JSON.
    ///
    /// # Cancel safety
    /// Dropping it drops the handler's future.
    pub async fn call(&self, method: &str, params: Value) -> Result<Value, TestError> {
        let id: RequestId = self.next_id.fetch_add(1, Ordering::Relaxed).into();
        let params = RawJson::from_text(params.to_string()).map_err(TestError::new)?;
        let token = params
            .parse::<Value>()
            .ok()
            .and_then(|params| params.get("_meta")?.get("progressToken").cloned())
            .and_then(|token| RawJson::from_text(token.to_string()).ok());
        let request = Request {
            id: id.clone(),
            call: Call::new(method, Some(params)),
        };
        let outbox: Arc<dyn Outbox> = Arc::clone(&self.heard) as Arc<dyn Outbox>;
        let scope = ScopeBuilder::new(id, Arc::clone(&self.peer), outbox)
            .session(self.session.clone())
            .asker(self.session.as_ref().map(|session| session.link().clone()))
            .progress_token(token)
            .build();
        let mut work = self.handler.call_boxed(Exchange::new(request, scope.clone()));
        let reply = poll_fn(|cx| {
            let mut attending = self.attending.lock().unwrap_or_else(PoisonError::into_inner);
            if attending
                .as_mut()
                .is_some_and(|future| future.as_mut().poll(cx).is_ready())
            {
                *attending = None;
            }
            drop(attending);
            work.as_mut().poll(cx)
        })
        .await;
        scope.close();
        serde_json::from_slice(&reply.into_frame()).map_err(TestError::new)
    }

    /// Calls, and in the stateless era again with the answers to what is asked, until there is a final answer.
    /// Gives it back with the number of rounds: how often the client was asked.
    ///
    /// # Errors
    /// As [`Driver::call`]; when it comes back more than 10 times; and when a question of the stateless era is
    /// answered with an error.
    pub async fn complete(&self, method: &str, params: &Value) -> Result<(Value, usize), TestError> {
        let mut now = params.clone();
        for round in 0..=MAX_ROUNDS {
            let answer = self.call(method, now).await?;
            if answer["result"]["resultType"] != "input_required" {
                return Ok((answer, round));
            }
            now = params.clone();
            if let Some(asked) = answer["result"]["inputRequests"].as_object() {
                for (key, question) in asked {
                    let method = question["method"].as_str().unwrap_or_default();
                    self.heard.question(method);
                    match (self.answering)(method, &question["params"]) {
                        Answer::Result(result) => now["inputResponses"][key] = result,
                        Answer::Error(error) => {
                            return Err(TestError::new(format!(
                                "the client cannot answer {method}: {error}"
                            )));
                        }
                    }
                }
            }
            if let Some(state) = answer["result"].get("requestState") {
                now["requestState"] = state.clone();
            }
        }
        Err(TestError::new(format!(
            "the call still requires input after {MAX_ROUNDS} rounds"
        )))
    }

    /// The notifications that came so far.
    pub fn events(&self) -> Vec<Value> {
        self.heard
            .events
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The methods of the questions that the client was asked so far.
    pub fn questions(&self) -> Vec<String> {
        self.heard
            .questions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver")
            .field("revision", &self.revision)
            .finish_non_exhaustive()
    }
}
