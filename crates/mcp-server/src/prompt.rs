use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use mcp_jsonrpc::RawJson;
use mcp_schema::ArgumentError;
use mcp_types::{GetPromptResult, Icon, Map, Meta, PromptArgument, PromptMessage};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::completion::{Completer, CompleterWith, erase_completer};
use crate::cx::{Base, Cx};
use crate::error::{BuildError, Failure};
use crate::form;

/// What a prompt may return: messages, with a description if it likes.
pub trait PromptOutput: Send {
    /// The result on the wire.
    ///
    /// # Errors
    /// When the prompt could not be made.
    fn into_prompt(self) -> Result<GetPromptResult, Failure>;
}

impl PromptOutput for GetPromptResult {
    fn into_prompt(self) -> Result<GetPromptResult, Failure> {
        Ok(self)
    }
}

impl PromptOutput for Vec<PromptMessage> {
    fn into_prompt(self) -> Result<GetPromptResult, Failure> {
        Ok(GetPromptResult::new(self))
    }
}

/// One message of the user.
impl PromptOutput for String {
    fn into_prompt(self) -> Result<GetPromptResult, Failure> {
        Ok(GetPromptResult::new(vec![PromptMessage::user(self)]))
    }
}

impl<T: PromptOutput, E: Into<Failure> + Send> PromptOutput for Result<T, E> {
    fn into_prompt(self) -> Result<GetPromptResult, Failure> {
        self.map_err(Into::into)?.into_prompt()
    }
}

pub(crate) type PromptFuture = Pin<Box<dyn Future<Output = Result<GetPromptResult, Failure>> + Send>>;
type MakeWith<S> = Box<dyn Fn(Base, Arc<S>, Map<String>) -> PromptFuture + Send + Sync>;

/// A prompt to register: its definition and how its messages are made.
pub struct Prompt<S = ()> {
    definition: mcp_types::Prompt,
    make: MakeWith<S>,
    completers: Vec<(String, CompleterWith<S>)>,
    /// Why the type of its arguments cannot be used.
    fault: Option<String>,
}

impl<S: Send + Sync + 'static> Prompt<S> {
    /// A prompt of this name, made by `async fn(Cx<S>, Map<String>) -> impl PromptOutput`, which gets the
    /// arguments; those that are required are there.
    pub fn new<F, Fut>(name: impl Into<String>, make: F) -> Self
    where
        F: Fn(Cx<S>, Map<String>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: PromptOutput> + Send + 'static,
    {
        Self {
            definition: mcp_types::Prompt::new(name),
            make: Box::new(move |base, state, arguments| {
                let work = make(Cx::new(base, state), arguments);
                Box::pin(async move { work.await.into_prompt() })
            }),
            completers: Vec::new(),
            fault: None,
        }
    }

    /// A prompt of this name, made by `async fn(Cx<S>, Args) -> impl PromptOutput`. `Args` derives `Deserialize` and
    /// `JsonSchema`; its fields are the arguments, its doc comments their descriptions. They must be strings, enums of
    /// unit variants or an `Option` of one of these, since prompts have no other arguments.
    ///
    /// ```
    /// use mcp_server::{Cx, Prompt};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Review {
    ///     /// Which note.
    ///     note: String,
    /// }
    ///
    /// async fn review(_cx: Cx, args: Review) -> String {
    ///     format!("List the open questions in {}.", args.note)
    /// }
    ///
    /// let prompt = Prompt::typed("review", review).description("Review a note");
    /// # let _ = prompt;
    /// ```
    pub fn typed<A, F, Fut>(name: impl Into<String>, make: F) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(Cx<S>, A) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: PromptOutput> + Send + 'static,
    {
        let (arguments, fault) = match form::arguments::<A>() {
            Ok(arguments) => (arguments, None),
            Err(fault) => (Vec::new(), Some(fault)),
        };
        Self {
            definition: mcp_types::Prompt::new(name).with_arguments(arguments),
            make: Box::new(move |base, state, arguments| {
                let read = RawJson::encode(&arguments).map_err(|error| error.to_string());
                let read =
                    read.and_then(|raw| mcp_schema::parse_args::<A>(&raw).map_err(ArgumentError::into_text));
                match read {
                    Ok(args) => {
                        let work = make(Cx::new(base, state), args);
                        Box::pin(async move { work.await.into_prompt() })
                    }
                    Err(text) => Box::pin(std::future::ready(Err(Failure::invalid_params(text)))),
                }
            }),
            completers: Vec::new(),
            fault,
        }
    }

    /// The name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.definition.title = Some(title.into());
        self
    }

    /// What it is for.
    #[must_use]
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.definition.description = Some(text.into());
        self
    }

    /// Adds an argument.
    #[must_use]
    pub fn argument(mut self, argument: PromptArgument) -> Self {
        self.definition.arguments.push(argument);
        self
    }

    /// Adds an argument that must be given.
    #[must_use]
    pub fn required(self, name: impl Into<String>) -> Self {
        self.argument(PromptArgument::new(name).with_required(true))
    }

    /// Pictures of it.
    #[must_use]
    pub fn icons(mut self, icons: impl IntoIterator<Item = Icon>) -> Self {
        self.definition.icons = icons.into_iter().collect();
        self
    }

    /// Metadata.
    #[must_use]
    pub fn meta(mut self, meta: Meta) -> Self {
        self.definition.meta = meta;
        self
    }

    /// Completes an argument: see [`Completion`](crate::Completion).
    #[must_use]
    pub fn complete<F, Fut>(mut self, argument: impl Into<String>, complete: F) -> Self
    where
        F: Fn(Cx<S>, crate::Completion) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Vec<String>> + Send + 'static,
    {
        self.completers.push((argument.into(), erase_completer(complete)));
        self
    }

    pub(crate) fn erase(self, state: &Arc<S>) -> Result<(Box<str>, PromptEntry), BuildError> {
        let Self {
            definition,
            make,
            completers,
            fault,
        } = self;
        if let Some(fault) = fault {
            return Err(BuildError::new(format!("prompt {:?}: {fault}", definition.name)));
        }
        for (argument, _) in &completers {
            if definition.arguments.iter().all(|known| known.name != *argument) {
                let name = &definition.name;
                return Err(BuildError::new(format!(
                    "prompt {name:?} has no argument {argument:?} to complete"
                )));
            }
        }
        let owned = Arc::clone(state);
        let name = definition.name.as_str().into();
        let entry = PromptEntry {
            definition,
            make: Box::new(move |base, arguments| make(base, Arc::clone(&owned), arguments)),
            completers: completers
                .into_iter()
                .map(|(name, with)| (name, with(Arc::clone(state))))
                .collect(),
        };
        Ok((name, entry))
    }
}

/// A registered prompt.
pub(crate) struct PromptEntry {
    pub(crate) definition: mcp_types::Prompt,
    pub(crate) make: Box<dyn Fn(Base, Map<String>) -> PromptFuture + Send + Sync>,
    pub(crate) completers: Vec<(String, Completer)>,
}

impl PromptEntry {
    /// The first required argument that is not there.
    pub(crate) fn missing<'a>(&'a self, arguments: &Map<String>) -> Option<&'a str> {
        let required = self
            .definition
            .arguments
            .iter()
            .filter(|argument| argument.required == Some(true));
        required
            .map(|argument| argument.name.as_str())
            .find(|name| !arguments.contains_key(name))
    }
}
