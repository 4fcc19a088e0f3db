use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use mcp_types::{GetPromptResult, Icon, Map, Meta, PromptArgument, PromptMessage};

use crate::completion::{Completer, CompleterWith, erase_completer};
use crate::cx::{Core, Cx};
use crate::error::{BuildError, Failure};

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
type MakeWith<S> = Box<dyn Fn(Core, Arc<S>, Map<String>) -> PromptFuture + Send + Sync>;

/// A prompt to register: its definition and how its messages are made.
pub struct Prompt<S = ()> {
    definition: mcp_types::Prompt,
    make: MakeWith<S>,
    completers: Vec<(String, CompleterWith<S>)>,
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
            make: Box::new(move |core, state, arguments| {
                let work = make(Cx::new(core, state), arguments);
                Box::pin(async move { work.await.into_prompt() })
            }),
            completers: Vec::new(),
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

    pub(crate) fn erase(self, state: &Arc<S>) -> Result<PromptEntry, BuildError> {
        let Self {
            definition,
            make,
            completers,
        } = self;
        for (argument, _) in &completers {
            if definition.arguments.iter().all(|known| known.name != *argument) {
                let name = &definition.name;
                return Err(BuildError::new(format!(
                    "prompt {name:?} has no argument {argument:?} to complete"
                )));
            }
        }
        let owned = Arc::clone(state);
        Ok(PromptEntry {
            definition,
            make: Box::new(move |core, arguments| make(core, Arc::clone(&owned), arguments)),
            completers: completers
                .into_iter()
                .map(|(name, with)| (name, with(Arc::clone(state))))
                .collect(),
        })
    }
}

/// A registered prompt.
pub(crate) struct PromptEntry {
    pub(crate) definition: mcp_types::Prompt,
    pub(crate) make: Box<dyn Fn(Core, Map<String>) -> PromptFuture + Send + Sync>,
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
