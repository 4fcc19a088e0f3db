//! What a server asks of its client, and who answers it: the same handlers serve the requests of the stateful era
//! and the input_required rounds of the stateless one.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};

use mcp_jsonrpc::{ErrorObject, RawJson};
use mcp_types::wire::{self, Wire};
use mcp_types::{
    ClientCapabilities, CreateMessageParams, CreateMessageResult, ElicitFormParams, ElicitParams,
    ElicitResult, ElicitUrlParams, ElicitationCapability, JsonObject, ListRootsResult, Revision, Root,
    RootsCapability, SamplingCapability, method,
};
use serde::de::DeserializeOwned;

type Answering<P, R> = Box<dyn Fn(P) -> Pin<Box<dyn Future<Output = R> + Send>> + Send + Sync>;

/// The handlers that the host has. What has none is not declared, and not answered.
#[derive(Default)]
pub(crate) struct Questions {
    pub(crate) sample: Option<Answering<CreateMessageParams, Result<CreateMessageResult, ErrorObject>>>,
    pub(crate) sampling_tools: bool,
    pub(crate) elicit_form: Option<Answering<ElicitFormParams, ElicitResult>>,
    pub(crate) elicit_url: Option<Answering<ElicitUrlParams, ElicitResult>>,
    pub(crate) roots: Option<Mutex<Vec<Root>>>,
}

/// Erases a handler's type.
pub(crate) fn boxed<P, R, F>(handler: impl Fn(P) -> F + Send + Sync + 'static) -> Answering<P, R>
where
    F: Future<Output = R> + Send + 'static,
{
    Box::new(move |params| Box::pin(handler(params)))
}

/// Why a question has no answer.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    /// It may not be asked here, or is malformed: the server is at fault.
    Fault(ErrorObject),
    /// The handler refused.
    Refused(ErrorObject),
}

impl NoAnswer {
    /// What a server hears about it in the stateful era.
    pub(crate) fn into_error(self) -> ErrorObject {
        match self {
            NoAnswer::Fault(error) | NoAnswer::Refused(error) => error,
        }
    }
}

/// An answer, as the server may see it.
pub(crate) enum Answer {
    Sample(CreateMessageResult),
    Elicit(ElicitResult),
    Roots(ListRootsResult),
}

impl Wire for Answer {
    fn write(&self, out: &mut wire::Writer<'_>) {
        match self {
            Answer::Sample(result) => result.write(out),
            Answer::Elicit(result) => result.write(out),
            Answer::Roots(result) => result.write(out),
        }
    }
}

impl Questions {
    /// Adds what the handlers can do to what the host declares otherwise.
    pub(crate) fn declare(&self, mut capabilities: ClientCapabilities) -> ClientCapabilities {
        if self.roots.is_some() {
            capabilities.roots = Some(RootsCapability::new().with_list_changed(true));
        }
        if self.sample.is_some() {
            let mut sampling = SamplingCapability::new();
            sampling.tools = self.sampling_tools.then(JsonObject::new);
            capabilities.sampling = Some(sampling);
        }
        if self.elicit_form.is_some() || self.elicit_url.is_some() {
            let mut elicitation = ElicitationCapability::new();
            elicitation.form = self.elicit_form.as_ref().map(|_| JsonObject::new());
            elicitation.url = self.elicit_url.as_ref().map(|_| JsonObject::new());
            capabilities.elicitation = Some(elicitation);
        }
        capabilities
    }

    /// Answers a question.
    pub(crate) async fn answer(
        &self,
        method: &str,
        params: Option<&RawJson>,
        revision: Revision,
    ) -> Result<Answer, NoAnswer> {
        let unknown = || NoAnswer::Fault(ErrorObject::method_not_found(method));
        match method {
            method::SAMPLING_CREATE_MESSAGE => {
                let handler = self.sample.as_ref().ok_or_else(unknown)?;
                let params: CreateMessageParams = parse(params)?;
                if !self.sampling_tools && (!params.tools.is_empty() || params.tool_choice.is_some()) {
                    return Err(invalid("this client did not declare sampling with tools"));
                }
                handler(params)
                    .await
                    .map(Answer::Sample)
                    .map_err(NoAnswer::Refused)
            }
            method::ELICITATION_CREATE => {
                if self.elicit_form.is_none() && self.elicit_url.is_none() {
                    return Err(unknown());
                }
                let undeclared = |mode| invalid(format!("this client did not declare elicitation by {mode}"));
                let result = match parse(params)? {
                    ElicitParams::Form(form) => match &self.elicit_form {
                        Some(handler) => handler(form).await,
                        None => return Err(undeclared("form")),
                    },
                    ElicitParams::Url(url) => match &self.elicit_url {
                        Some(handler) if revision >= Revision::V2025_11_25 => handler(url).await,
                        _ => return Err(undeclared("url")),
                    },
                    _ => return Err(undeclared("a mode that it does not know")),
                };
                Ok(Answer::Elicit(result))
            }
            method::ROOTS_LIST => match &self.roots {
                Some(roots) => {
                    let roots = roots.lock().unwrap_or_else(PoisonError::into_inner).clone();
                    Ok(Answer::Roots(ListRootsResult::new(roots)))
                }
                None => Err(unknown()),
            },
            _ => Err(unknown()),
        }
    }
}

fn invalid(text: impl std::fmt::Display) -> NoAnswer {
    NoAnswer::Fault(ErrorObject::invalid_params(format!("Invalid params: {text}")))
}

fn parse<T: DeserializeOwned>(params: Option<&RawJson>) -> Result<T, NoAnswer> {
    let empty = RawJson::empty_object();
    params.unwrap_or(&empty).parse().map_err(invalid)
}
