use mcp_exchange::{Outgoing, Session};
use mcp_jsonrpc::RawJson;
use mcp_types::method::{self, Side};
use mcp_types::wire;
use mcp_types::{ClientCapabilities, Revision};

use crate::cx::Base;
use crate::error::AskError;
use crate::round::Mode;

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

    /// Why it can be put to nobody, where its author made a mistake.
    fn fault(&self) -> Option<&str> {
        None
    }

    /// Reads the answer.
    ///
    /// # Errors
    /// A text that says what is wrong with it.
    fn answer(&self, raw: &RawJson) -> Result<Self::Answer, String>;
}

/// Asks, in whichever era the call came.
pub(crate) async fn ask<Q: Question>(base: &Base, key: &str, question: Q) -> Result<Q::Answer, AskError> {
    let (scope, round) = (&base.scope, &base.round);
    let revision = scope.revision();
    if round.mode() == Mode::Quiet {
        return Err(AskError::lost("the client cannot be asked during this request"));
    }
    if round.is_over() {
        return Err(AskError::lost(
            "the call is over, so nothing more can be asked in it",
        ));
    }
    if let Some(fault) = question.fault() {
        return Err(AskError::lost(fault.to_owned()));
    }
    // A question that this revision has no word for cannot have been declared in it either.
    let exists = if revision.is_stateless() {
        method::may_be_asked(Q::METHOD)
    } else {
        method::lookup(Q::METHOD, Side::Server, revision).is_some()
    };
    if !exists || !question.is_supported(&scope.peer().capabilities) {
        let (what, required) = question.requires();
        return Err(AskError::unsupported(what, &required, revision.is_stateless()));
    }
    if round.mode() == Mode::Replay {
        return round.ask(key, &question, revision);
    }
    if let Some(answer) = round.known(key, &question) {
        return answer.map_err(|why| AskError::malformed(why, false));
    }
    let session = scope.session();
    // A transport may give a call no way to ask that came before the handshake was finished; the session has one after.
    let early = session.filter(|_| round.mode() == Mode::LiveEarly);
    let Some(link) = scope.asker().or(early.map(Session::link)) else {
        return Err(AskError::lost("there is no way to ask the client here"));
    };
    let params = question.params(revision).map_err(AskError::inexpressible)?;
    let call = Outgoing::new(Q::METHOD, Some(params.into_bytes()));
    let outcome = tokio::time::timeout(base.settings.ask_timeout, async {
        if let Some(seat) = session.and_then(|session| base.settings.hub.seat(session)) {
            seat.opened().await;
        }
        let incoming = link.open(link.next_id(), call).await?;
        incoming.answer().await
    });
    match outcome.await {
        Err(_) => Err(AskError::lost("the client did not answer in time")),
        Ok(Err(error)) => Err(AskError::lost(error.to_string())),
        Ok(Ok(Err(error))) => Err(AskError::refused(error)),
        Ok(Ok(Ok(raw))) => {
            let answer = question
                .answer(&raw)
                .map_err(|why| AskError::malformed(why, false))?;
            round.learn(key, raw.detach());
            Ok(answer)
        }
    }
}
