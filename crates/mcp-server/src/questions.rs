use std::marker::PhantomData;

use mcp_jsonrpc::RawJson;
use mcp_types::wire;
use mcp_types::{
    ClientCapabilities, CreateMessageParams, CreateMessageResult, ElicitAction, ElicitFormParams,
    ElicitParams, ElicitResult, ElicitSchema, ElicitUrlParams, ElicitationCapability, EmptyParams,
    JsonObject, ListRootsResult, Revision, RootsCapability, SamplingCapability, method,
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::ask::Question;
use crate::form;

/// A question to the client's user. Made by [`Elicit::of`], [`Elicit::form`], [`Elicit::fields`] or
/// [`Elicit::url`].
///
/// 2025-11-25: client/elicitation. Never ask for secrets by a form.
///
/// ```
/// use mcp_server::{Cx, Elicit, Failure};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Name {
///     /// Who approves it.
///     name: String,
/// }
///
/// async fn deploy(cx: Cx) -> Result<String, Failure> {
///     let answer = cx.ask("who", Elicit::of::<Name>("Who approves?")).await?;
///     Ok(match answer.accepted() {
///         Some(who) => format!("deployed for {}", who.name),
///         None => "not deployed".into(),
///     })
/// }
/// # let _ = mcp_server::Tool::new("deploy", deploy);
/// ```
#[derive(Debug, Clone)]
pub struct Elicit<T = JsonObject> {
    params: Result<ElicitParams, String>,
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
    /// A form with the fields of `A`, as its schema has them: doc comments become descriptions.
    ///
    /// The fields must be strings, numbers, booleans, enums of unit variants, lists of such enums, or an `Option` of
    /// one of these. With any other type every [`Cx::ask`](crate::Cx::ask) of it fails and says which field is at
    /// fault.
    pub fn of<A: DeserializeOwned + JsonSchema>(message: impl Into<String>) -> Elicit<A> {
        Elicit {
            params: form::fields::<A>().map(|schema| ElicitFormParams::new(message, schema).into()),
            read: PhantomData,
        }
    }

    /// A form with these fields. The answer is checked against them.
    pub fn fields(message: impl Into<String>, schema: ElicitSchema) -> Self {
        Self {
            params: Ok(ElicitFormParams::new(message, schema).into()),
            read: PhantomData,
        }
    }
}

impl<T: DeserializeOwned> Elicit<T> {
    /// A form with these fields, whose answer is read as `T`.
    pub fn form(message: impl Into<String>, schema: ElicitSchema) -> Self {
        Self {
            params: Ok(ElicitFormParams::new(message, schema).into()),
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
            params: Ok(params.into()),
            read: PhantomData,
        }
    }
}

impl<T: DeserializeOwned + Send> Question for Elicit<T> {
    type Answer = Elicited<T>;
    const METHOD: &'static str = method::ELICITATION_CREATE;

    fn requires(&self) -> (&'static str, ClientCapabilities) {
        let (name, capability) = match &self.params {
            Ok(ElicitParams::Url(_)) => (
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
                Ok(ElicitParams::Url(_)) => elicitation.has_url(),
                _ => elicitation.has_form(),
            })
    }

    fn params(&self, revision: Revision) -> Result<RawJson, wire::EncodeError> {
        match &self.params {
            Ok(params) => wire::to_raw(params, revision),
            // Never put: see `fault`.
            Err(_) => Ok(RawJson::empty_object()),
        }
    }

    fn fault(&self) -> Option<&str> {
        self.params.as_ref().err().map(String::as_str)
    }

    fn answer(&self, raw: &RawJson) -> Result<Elicited<T>, String> {
        let result: ElicitResult = raw.parse().map_err(|error| error.to_string())?;
        match (result.action, &self.params) {
            (ElicitAction::Decline, _) => Ok(Elicited::Decline),
            (ElicitAction::Accept, Ok(ElicitParams::Form(form))) => {
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
